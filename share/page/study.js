/* In page.html. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* First screens of several runs: a study of scaling, and two sides compared. stacks.js has speedup stacks. */

/* ---- scaling ---- */

const SCALED = [
  ["global", 0],
  ["parallel", 1],
  ["load_balance", 2],
  ["communication", 2],
  ["serialization", 3],
  ["transfer", 3],
  ["openmp", 2],
  ["computation", 1],
];

function sizeOf(points, row) {
  const threads = points.get("thread_count", row),
    ranks = points.get("rank_count", row);

  return count(ranks) + (threads !== null && threads !== ranks ? " x " + digits(threads / ranks) : "");
}

/* Efficiencies by size: a sign, not a colour alone, marks what is below the mark. */
function efficiencyBySize(points) {
  const rows = SCALED.filter(([key]) => points.byKey.get(key).values.some(value => value !== null)),
    sizes = Array.from({ length: points.rows }, (_, row) => row);
  const cell = value =>
    value === null
      ? make("td", null, "")
      : make(
          "td",
          { class: value >= limits.good ? null : "bad" },
          percent(value) + (value >= limits.good ? " \u2713" : " \u26a0"),
        );

  return make(
    "table",
    { id: "by-size" },
    make(
      "thead",
      null,
      make(
        "tr",
        null,
        make("th", { class: "left" }, "efficiency, on"),
        ...sizes.map(row => make("th", null, sizeOf(points, row))),
      ),
    ),
    make(
      "tbody",
      null,
      ...rows.map(([key, deep]) => {
        const name = make("td", { class: "left", title: points.byKey.get(key).doc }, points.byKey.get(key).title);

        name.style.paddingLeft = 16 * deep + "px";
        return make("tr", null, name, ...sizes.map(row => cell(points.get(key, row))));
      }),
    ),
  );
}

/* Lines over the sizes: { name, colour, values }; a value that is not known leaves a gap. */
function curves(told, sizes, lines, y, height = 230) {
  const draw = (c, width) => {
    const at = drawAxes(
      c,
      { left: 70, top: 10, width: width - 100, height: height - 36 },
      { least: sizes[0], most: sizes[sizes.length - 1], column: { type: "whole", unit: "" } },
      y,
    );

    for (const { values, colour, dashed } of lines) {
      let down = false;

      c.strokeStyle = c.fillStyle = colours(colour);
      c.lineWidth = 2;
      c.setLineDash(dashed ? [5, 4] : []);
      c.beginPath();
      values.forEach((value, i) => {
        if (value === null) down = false;
        else if (down) c.lineTo(at.x(sizes[i]), at.y(value));
        else c.moveTo(at.x(sizes[i]), at.y(value));
        down = value !== null;
      });
      c.stroke();
      if (!dashed)
        values.forEach((value, i) => {
          if (value !== null) c.fillRect(at.x(sizes[i]) - 3, at.y(value) - 3, 6, 6);
        });
    }
    c.setLineDash([]);
  };

  return make(
    "figure",
    null,
    canvas(height, told, draw),
    make(
      "p",
      { class: "legend" },
      ...lines.map(({ name, colour, dashed }) =>
        make("span", null, make("i", { class: "key " + colour + (dashed ? " dashed" : "") }), name),
      ),
    ),
    make("figcaption", null, told),
  );
}

function speedupCurve(points) {
  const sizes = points.byKey.get("factor").values,
    speedups = points.byKey.get("speedup").values;

  if (speedups.every(value => value === null))
    return make(
      "p",
      { class: "note" },
      "The speedup depends on whether the problem grew with the ranks: give fvmpi scaling --strong or --weak.",
    );
  return curves(
    "speedup by times as many ranks, measured and ideal",
    sizes,
    [
      { name: "measured", colour: "compute", values: speedups },
      { name: "ideal", colour: "quiet", values: sizes, dashed: true },
    ],
    { least: 0, most: Math.max(...sizes, ...speedups), column: { type: "real", unit: "ratio" } },
  );
}

/* A part's time at each size, and what it would be. */
function partCurve(tables) {
  const parts = tables.get("parts"),
    times = tables.get("part_times"),
    place = make("div");
  const rows = Array.from({ length: parts.rows }, (_, row) => row),
    nameOf = row => parts.get("name", row) + " (" + parts.get("table", row).replaceAll("_", " ") + ")";
  const of = row =>
    times.all().filter(time => time.table === parts.get("table", row) && time.name === parts.get("name", row));
  const show = row => {
    const points = of(row),
      sizes = points.map(point => point.rank_count),
      ideal = points.map(point => point.ideal_s),
      all = points.map(point => point.time_s);

    place.replaceChildren(
      curves(
        "time of a rank in " + nameOf(row) + " by number of ranks, measured and ideal",
        sizes,
        [
          { name: "measured", colour: "compute", values: all },
          { name: "ideal", colour: "quiet", values: ideal, dashed: true },
        ],
        { least: 0, most: Math.max(...all, ...ideal) || 1, column: { type: "real", unit: "s" } },
      ),
    );
  };

  if (!parts.rows) return null;
  show(0);
  return make(
    "section",
    { id: "part-curve", "aria-label": "A part of the program by size" },
    make("h3", null, "A part of the program by size"),
    make(
      "p",
      { class: "tools" },
      chooser(
        "part",
        rows.slice(0, 200).map(row => [String(row), nameOf(row).slice(0, 90)]),
        "0",
        row => show(Number(row)),
      ),
    ),
    place,
  );
}

/* What an efficiency is called in words. */
function worst(tables) {
  const key = tables.get("scaling").get("worst", 0);

  return key === null ? null : tables.get("points").byKey.get(key);
}

function drawScaling(tables) {
  const points = tables.get("points"),
    runs = tables.get("runs"),
    last = points.rows - 1,
    of = tables.get("scaling"),
    fell = worst(tables),
    parts = tables.get("parts");
  const command = runs.get("command", 0),
    kind = of.get("kind", 0),
    speedup = points.get("speedup", last),
    place = document.getElementById("findings");
  const lost = parts
    .all()
    .filter(part => part.table !== "sections" && part.lost_s > 0.01 * points.get("elapsed_s", last))
    .slice(0, 3);

  document.title = "fvmpi scaling: " + command;
  document.getElementById("title").textContent = "Scaling of " + command;
  document.getElementById("identity").textContent = [
    kind === "untold" ? "strong or weak scaling: not given" : kind + " scaling",
    sizeOf(points, 0) + " to " + sizeOf(points, last) + " ranks",
    plural(runs.rows, "run"),
  ].join(" \u00b7 ");
  drawProblems(tables, runs);
  place.append(
    make("h2", null, "Result"),
    make(
      "p",
      { class: "verdict" },
      seconds(points.get("elapsed_s", 0)) +
        " \u2192 " +
        seconds(points.get("elapsed_s", last)) +
        (speedup === null
          ? ""
          : ": speedup " +
            speedup.toFixed(2) +
            " of " +
            digits(points.get("factor", last)) +
            ", " +
            percent(points.get("of_ideal", last))),
    ),
    fell
      ? make(
          "p",
          null,
          "Largest decrease: ",
          make("b", null, fell.title),
          ", " + percent(fell.values[0]) + " \u2192 " + percent(fell.values[last]) + ". " + fell.doc,
        )
      : make("p", null, "No efficiency decreased."),
    lost.length ? make("h3", null, "What limits scaling") : null,
    lost.length
      ? make(
          "ol",
          null,
          ...lost.map(part =>
            make(
              "li",
              null,
              make("b", null, seconds(part.lost_s)),
              " of a rank more than ideal: " +
                part.name +
                (part.place ? " at " + part.place : "") +
                " (" +
                part.table.replaceAll("_", " ") +
                "): " +
                seconds(part.last_s) +
                ", ideal " +
                seconds(part.ideal_s),
            ),
          ),
        )
      : null,
  );
  document
    .getElementById("efficiency")
    .append(
      make("h2", null, "Efficiency by size"),
      make(
        "p",
        { class: "note" },
        "POP metrics, each the product of those below it; " + 100 * limits.good + " % and more is called acceptable",
      ),
      scrolled("Efficiency by size", efficiencyBySize(points)),
    );
  document.getElementById("strip").append(make("h2", null, "Speedup"), speedupCurve(points));
}

/* ---- two sides ---- */

/* What a rank's time is made of: MPI functions, and computing by procedures, or, without samples, by what is between
 * calls. They do not overlap. */
function partsOfTime(tables) {
  const entries = tables.get("entries").all(),
    procedures = entries.filter(of => of.table === "cpu_procedures");

  return [
    ...tables.get("mpi_functions").all(),
    ...(procedures.length ? procedures : entries.filter(of => of.table === "regions")),
  ].filter(of => of.time_a_s !== null || of.time_b_s !== null);
}

/* What changed most, a bar for each side. */
function changeBars(tables) {
  const rows = partsOfTime(tables)
    .map(of => ({ ...of, by: (of.time_b_s || 0) - (of.time_a_s || 0) }))
    .sort((a, b) => Math.abs(b.by) - Math.abs(a.by))
    .slice(0, 12);
  const most = Math.max(...rows.map(of => Math.max(of.time_a_s || 0, of.time_b_s || 0)), 0);
  const bar = (value, kind) => {
    const fill = make("i", { class: "fill " + kind });

    fill.style.width = (most ? (100 * (value || 0)) / most : 0) + "%";
    return make("span", { class: "bar" }, fill);
  };

  return rows.length
    ? make(
        "table",
        { id: "changes" },
        make(
          "thead",
          null,
          make(
            "tr",
            null,
            ...["A", "B"].map(title => make("th", { class: "left" }, title)),
            ...["A", "B", "change"].map(title => make("th", null, title)),
            make("th", { class: "left" }, "what"),
          ),
        ),
        make(
          "tbody",
          null,
          ...rows.map(of =>
            make(
              "tr",
              null,
              make("td", null, bar(of.time_a_s, "compute")),
              make("td", null, bar(of.time_b_s, "wait")),
              make("td", null, of.time_a_s === null ? "" : seconds(of.time_a_s)),
              make("td", null, of.time_b_s === null ? "" : seconds(of.time_b_s)),
              make(
                "td",
                null,
                (of.by > 0 ? "+" : of.by < 0 ? "\u2212" : "") + seconds(Math.abs(of.by)) + (of.significant ? " *" : ""),
              ),
              make(
                "td",
                { class: "left" },
                (of.function || of.label || of.name) +
                  (of.place ? " at " + of.place : "") +
                  (of.table === "regions" ? " (computing between calls)" : of.table ? " (CPU time)" : " (MPI)"),
              ),
            ),
          ),
        ),
      )
    : null;
}

function drawDiff(tables) {
  const changes = tables.get("run_changes").all(),
    [a, b] = ["runs_a", "runs_b"].map(name => tables.get(name)),
    elapsed = changes.find(of => of.metric === "elapsed_s");
  const place = document.getElementById("findings"),
    found = tables
      .get("entries")
      .all()
      .filter(of => of.table === "findings" && of.name !== "no_processor");
  const ratio =
    elapsed && elapsed.ratio
      ? elapsed.ratio > 1
        ? "B takes " + percent(elapsed.ratio - 1) + " longer"
        : "B takes " + percent(1 - elapsed.ratio) + " less time"
      : "";

  document.title = "fvmpi diff: " + a.get("command", 0);
  document.getElementById("title").textContent = "A: " + a.get("command", 0) + " \u2192 B: " + b.get("command", 0);
  document.getElementById("identity").textContent = [a, b]
    .map(
      (side, i) =>
        "AB"[i] +
        ": " +
        side
          .all()
          .map(run => run.directory + " (" + plural(run.rank_count, "rank") + ")")
          .join(", "),
    )
    .join(" \u00b7 ");
  drawProblems(tables, a, b);
  place.append(
    make("h2", null, "What changed"),
    make(
      "p",
      { class: "verdict" },
      elapsed
        ? elapsed.a_words +
            " \u2192 " +
            elapsed.b_words +
            (ratio ? ": " + ratio : "") +
            (elapsed.significant === false
              ? ", which may be noise"
              : elapsed.significant
                ? ", which is significant"
                : "")
        : "",
    ),
    found.length ? make("h3", null, "Findings") : null,
    found.length
      ? make(
          "ul",
          null,
          ...found
            .slice(0, 6)
            .map(of =>
              make(
                "li",
                null,
                make("b", null, of.joined === "only_a" ? "gone: " : of.joined === "only_b" ? "new: " : "in both: "),
                of.text || of.label || of.name,
                "; lost " +
                  [of.time_a_s, of.time_b_s]
                    .map(value => (value === null ? "\u2013" : seconds(value)))
                    .join(" \u2192 "),
              ),
            ),
        )
      : null,
  );
  document
    .getElementById("efficiency")
    .append(
      make("h2", null, "The runs"),
      make("p", { class: "note" }, "means of a rank, except elapsed"),
      make(
        "table",
        { id: "run-changes" },
        make(
          "thead",
          null,
          make(
            "tr",
            null,
            make("th", { class: "left" }, "value"),
            make("th", null, "A"),
            make("th", null, "B"),
            make("th", null, "change"),
          ),
        ),
        make(
          "tbody",
          null,
          ...changes
            .filter(of => of.a !== null || of.b !== null)
            .map(of =>
              make(
                "tr",
                null,
                make("td", { class: "left" }, of.name),
                make("td", null, of.a_words || ""),
                make("td", null, of.b_words || ""),
                make("td", null, (of.change_words || "") + (of.significant ? " *" : "")),
              ),
            ),
        ),
      ),
      tables.get("comparison").get("noise_known", 0)
        ? make("p", { class: "note" }, "* significant: more than the runs of one side differ (p < 0.05)")
        : make("p", { class: "note" }, "With one run a side, noise is not known: use fvmpi diff A1 A2 A3 -- B1 B2 B3"),
    );
  document
    .getElementById("strip")
    .append(make("h2", null, "The largest changes"), changeBars(tables) || make("p", null, "None."));
}

/* What the reader must know before any number. */
function drawProblems(tables, ...sides) {
  const incomplete = sides.flatMap(side => side.all()).filter(run => !run.complete).length,
    place = document.getElementById("completeness"),
    problems = tables.get("problems");
  const disturbed = (sides.length > 1 ? sides : [])
    .map((side, i) => ["AB"[i], side.all().reduce((sum, run) => sum + (run.no_processor_s || 0), 0) / side.rows])
    .filter(([, lost]) => lost > 0);
  const said = problems
    ? problems.all().map(of => of.text || Object.values(of).find(value => typeof value === "string"))
    : [];

  const noise = disturbed.length
    ? [
        "\u26a0 noisy: ranks were runnable but had no processor for " +
          disturbed.map(([name, lost]) => seconds(lost) + " of a rank of " + name).join(", ") +
          ". Times include this",
      ]
    : [];

  place.textContent = [
    incomplete ? "\u26a0 INCOMPLETE: " + incomplete + " of the runs" : "\u2713 all runs are complete",
    ...noise,
    ...said,
  ].join(" \u00b7 ");
  place.className = incomplete || noise.length ? "bad" : "";
}
