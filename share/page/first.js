/* In page.html. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* What a reader sees first: identity, findings, efficiencies, where the time went. */

function drawIdentity(tables) {
  const [run] = tables.get("run").all(),
    options = tables.get("options");

  document.title = "fvmpi: " + run.command;
  document.getElementById("title").textContent = run.command;
  document.getElementById("identity").textContent = [
    plural(run.rank_count, "rank"),
    run.mpi,
    run.start,
    seconds(run.elapsed_s),
    options && options.rows
      ? "fvmpi run " +
        options
          .all()
          .map(option => Object.values(option).filter(value => typeof value === "string")[0])
          .join(" ")
      : null,
    "fvmpi " + run.fvmpi,
  ]
    .filter(Boolean)
    .join(" \u00b7 ");
  const cost =
    run.overhead_time_s === null
      ? ""
      : "; fvmpi itself took " +
        seconds(run.overhead_time_s) +
        " of all ranks' time (" +
        percent(run.overhead_share) +
        ", estimate)";
  const complete = document.getElementById("completeness");

  if (run.ended) complete.before(...run.ended.split("\n").map(line => make("p", { class: "verdict bad" }, line)));
  const part = [
    ["--read-ranks", run.choice_read_ranks],
    ["--rank", run.choice_shown_ranks],
    ["--thread", run.choice_shown_threads],
    ["--function", tables.function],
  ]
    .filter(([, list]) => list)
    .map(words => words.join(" "))
    .join(", ");

  complete.textContent =
    (run.complete
      ? part
        ? ""
        : "\u2713 complete: "
      : run.choice_read_ranks
        ? "not all was read: "
        : "\u26a0 INCOMPLETE: ") +
    (part ? "a part (" + part + "), " : "") +
    run.reported_count +
    " of " +
    plural(run.rank_count, "rank") +
    cost;
  complete.className = run.complete || run.choice_read_ranks ? "" : "bad";
  if (tables.function)
    complete.after(
      make("p", { id: "of-function", class: "verdict" }, "This page is of " + tables.function + " alone."),
      make(
        "p",
        { class: "note" },
        "Tables have its rows, and those of what it called. " +
          "The page without --function has the whole run, and its timeline.",
      ),
    );
  if (run.not_recorded) complete.after(make("p", { class: "note" }, run.not_recorded));
}

/* Title and loss, the sentences, how well it is known, what to do next. */
function findingParts(finding) {
  const lost =
    finding.lost_s === null
      ? ""
      : (finding.evidence === "estimate" ? "about " : "") +
        seconds(finding.lost_s) +
        (finding.lost_share === null ? "" : ", " + percent(finding.lost_share));
  const isSaid = finding.evidence === "samples" && finding.text.includes("(sampled)");

  return [
    make("b", null, finding.title + (lost ? ", " + lost : "") + ": "),
    finding.text,
    isSaid ? null : make("small", null, " (" + finding.evidence + ")"),
    finding.rank === null
      ? null
      : make(
          "button",
          { type: "button", class: "pick", onclick: () => selection.toggle("rank", finding.rank) },
          "select rank " + finding.rank,
        ),
    finding.next ? make("div", { class: "next" }, "\u2192 " + finding.next) : null,
  ].filter(Boolean);
}

function drawFindings(tables) {
  const all = tables.get("findings").all(),
    place = document.getElementById("findings");
  const notJudged = tables.get("run").all()[0].not_judged;
  /* It makes all times say less, so it stands before them, as in the text. */
  const noisy = all.filter(finding => finding.name === "no_processor"),
    findings = all.filter(finding => finding.name !== "no_processor");
  const list = from => make("ol", null, ...from.map(finding => make("li", null, ...findingParts(finding))));

  place.append(
    make("h2", null, "Findings"),
    ...noisy.map(finding => make("p", { class: "bad" }, ...findingParts(finding))),
    make(
      "p",
      { class: "note" },
      "largest loss first, in time of all ranks" + (noisy.length ? "; what the machine did is last" : ""),
    ),
  );
  if (!findings.length)
    place.append(
      make(
        "p",
        null,
        tables.function
          ? "None names " + tables.function + "."
          : (noisy.length ? "No others" : "None") +
              (notJudged ? "." : ": no cause that fvmpi knows costs " + limits.worth + " or more."),
      ),
    );
  else place.append(list(findings.slice(0, 3)));
  if (findings.length > 3)
    place.append(make("details", null, make("summary", null, findings.length - 3 + " more"), list(findings.slice(3))));
  if (notJudged) place.append(make("p", { class: "note" }, "Not judged: " + notJudged));
}

/* Efficiencies as a tree: each is the product of those below it. */
const TREE = ["parallel", ["load_balance"], ["communication", ["serialization"], ["transfer"]]];

function drawBranch([key, ...below], table) {
  const value = table.get(key, 0),
    column = table.byKey.get(key);

  if (value === null) return null;
  const good = value >= limits.good,
    bar = make("i", { class: "fill " + (good ? "good" : "poor") }),
    mark = make("i", { class: "mark" });

  mark.style.left = 100 * limits.good + "%";
  bar.style.width = 100 * Math.min(value, 1) + "%";
  return make(
    "li",
    null,
    make(
      "div",
      { class: "efficiency", title: column.doc },
      make("span", { class: "name" }, (below.length || key === "parallel" ? "" : "") + key.replace("_", " ")),
      make("span", { class: "bar" }, bar, mark),
      make("span", { class: "value" }, percent(value) + (good ? " \u2713" : " \u26a0")),
    ),
    below.length ? make("ul", null, ...below.map(branch => drawBranch(branch, table))) : null,
  );
}

function drawEfficiency(tables) {
  const table = tables.get("efficiency"),
    place = document.getElementById("efficiency");

  if (tables.function) return; /* it is of the run */
  const tree = table && table.rows ? drawBranch(TREE, table) : null;

  place.append(
    make("h2", null, "Efficiency"),
    make("p", { class: "note" }, "POP metrics; " + 100 * limits.good + " % and more (the mark) is called acceptable"),
    tree
      ? make("ul", { class: "tree" }, tree)
      : make("p", null, "Not known: it is of whole ranks, with the times of all their threads."),
  );
}

function drawStrip(tables) {
  const ranks = tables.get("ranks"),
    place = document.getElementById("strip");

  if (tables.get("run").all()[0].choice_shown_threads || tables.function)
    return; /* ranks have the times of processes */
  place.classList.add("short"); /* beside the findings */
  place.append(make("h2", null, "Where the time went"));
  if (!ranks || !ranks.rows) {
    place.append(make("p", null, "Nothing was recorded."));
    return;
  }
  let all = 0;
  const sums = PARTS.map(() => 0);
  for (let row = 0; row < ranks.rows; row++) {
    const time = ranks.get("app_time_s", row) || 0;

    all += time;
    parts(ranks, row).forEach((share, part) => {
      sums[part] += share * time;
    });
  }
  const bar = make(
    "div",
    {
      class: "whole",
      role: "img",
      "aria-label": PARTS.map(([, word], i) => word + " " + percent(all ? sums[i] / all : 0)).join(", "),
    },
    ...PARTS.map(([, , colour], i) => {
      const piece = make("i", { class: colour });

      piece.style.width = (all ? (100 * sums[i]) / all : 0) + "%";
      return piece;
    }),
  );
  place.append(
    bar,
    make(
      "p",
      { class: "legend" },
      ...PARTS.map(([, word, colour], i) =>
        sums[i] > 0
          ? make(
              "span",
              null,
              make("i", { class: "key " + colour }),
              word + " " + percent(sums[i] / all) + ", " + seconds(sums[i]),
            )
          : null,
      ).filter(Boolean),
    ),
  );
}
