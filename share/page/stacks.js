/* In page.html. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* First screen and charts of speedup stacks: threads, and copies or ranks that share a node. */

/* ---- threads ---- */

const STACKED = [
  ["speedup", "compute", "speedup"],
  ["lost_to_serial", "mpi", "lost to serial time"],
  ["lost_to_waiting", "wait", "to waiting"],
  ["lost_to_imbalance", "threads", "to imbalance"],
  ["lost_to_few_cpus", "poor", "to few processors"],
  ["lost_to_work", "code2", "to slower work"],
  ["lost_to_overhead", "code0", "to overhead"],
  ["lost_to_cache", "code1", "to the shared cache"],
  ["lost_to_memory", "code3", "to memory"],
  ["lost_to_sharing", "code2", "to cache and memory"],
];
/* Slower work is one, or taken apart: into three, or, where cache and memory can't be told apart, into two. */
function lostIn(of, key) {
  const three = of.lost_to_cache !== null,
    two = !three && of.lost_to_sharing !== null;

  return { lost_to_work: three || two, lost_to_cache: !three, lost_to_memory: !three, lost_to_sharing: !two }[key]
    ? 0
    : of[key];
}
const whyRejected = verdict =>
  ({
    no_t1: "no run with one thread has it",
    t1_varies: "runs with one thread differ by more than " + limits.t1_spread,
    off_cpu: "threads were off their processors for more than " + limits.off_cpu + " of their time",
    too_large: "a speedup above 1.05 N",
  })[verdict];

const APART = ["lost_to_overhead", "lost_to_cache", "lost_to_memory", "lost_to_sharing"];
const toldOf = rows => STACKED.filter(([key]) => !APART.includes(key) || rows.some(of => lostIn(of, key)));

/* Stacks, one on top of the other: what is less than 0 has no width, and is in the table. */
function stackBars(id, told, rows, labelOf) {
  const known = rows.filter(of => of.verdict === "good"),
    without = rows.filter(of => of.verdict !== "good");
  const bars = known.map(of => ({
    label: labelOf(of),
    value: digits(of.speedup),
    parts: STACKED.map(([key, colour]) => [Math.max(lostIn(of, key) || 0, 0), colour]),
  }));

  return make(
    "div",
    null,
    bars.length
      ? lying(
          id,
          told,
          bars,
          toldOf(known).map(([, colour, word]) => [colour, word]),
          "the parts of a bar add up to N, the number of threads",
        )
      : null,
    ...without.map(of => make("p", { class: "note" }, labelOf(of) + ": no stack: " + whyRejected(of.verdict))),
  );
}

const threadsOf = of => plural(of.thread_count, "thread");

function phaseStacks(tables) {
  const rows = tables
    .get("stacks")
    .all()
    .filter(of => of.name !== null && of.thread_count > 1);

  return rows.length
    ? stackBars("phase-stacks", "Stacks of the phases", rows, of => of.name + ", " + threadsOf(of))
    : null;
}

/* Speedups by number of threads: measured, what they would be, and ideal. What is known at one number alone has no
 * line. waitless: its name. */
function threadCurves(told, points, waitless, height) {
  const sizes = points.map(of => of.thread_count),
    lines = [
      { name: "measured", colour: "compute", values: points.map(of => of.speedup) },
      { name: waitless, colour: "wait", values: points.map(of => of.speedup_waitless) },
      { name: "one alone with its part of the cache", colour: "code1", values: points.map(of => of.speedup_pirate) },
      { name: "ideal", colour: "quiet", values: sizes, dashed: true },
    ].filter(({ values }) => values.filter(value => value !== null).length > 1);

  return curves(
    told,
    sizes,
    lines,
    { least: 0, most: Math.max(...lines.flatMap(({ values }) => values)), column: { type: "real", unit: "ratio" } },
    height,
  );
}

const GRAPHS = 12; /* of phases */

/* A graph for each phase that several numbers of threads have, by time. */
function phaseCurves(tables) {
  const phases = new Map();

  for (const of of tables.get("stacks").all())
    if (of.name !== null && of.speedup !== null) phases.set(of.name, [...(phases.get(of.name) || []), of]);
  const all = [...phases].filter(([, points]) => points.length > 1);

  return all.length
    ? make(
        "section",
        { id: "phase-curves", "aria-label": "Speedups of the phases" },
        make("h3", null, "Speedups of the phases"),
        make(
          "div",
          { class: "several" },
          ...all
            .slice(0, GRAPHS)
            .map(([name, points]) =>
              make(
                "div",
                null,
                make("h4", null, name),
                threadCurves("speedup of " + name + " by number of threads", points, "if no thread waited", 170),
              ),
            ),
        ),
        all.length > GRAPHS
          ? make("p", { class: "note" }, plural(all.length - GRAPHS, "more phase") + " with less time: in the table")
          : null,
      )
    : null;
}

/* Of the phase that has most points, with most threads. */
function cacheCurves(tables) {
  const rows = tables
      .get("curves")
      .all()
      .filter(of => of.slowdown !== null),
    names = [...new Set(rows.map(of => of.name))];
  const most = Math.max(...rows.map(of => of.thread_count)),
    at = rows.filter(of => of.thread_count === most),
    parts = [...new Set(at.map(of => of.cache_share))].sort((a, b) => a - b);
  const lines = names
    .map((name, i) => ({
      name: name === null ? "the whole program" : name,
      colour: ["compute", "wait", "threads", "code1", "code2", "code3"][i % 6],
      values: parts.map(
        part => at.filter(of => of.name === name && of.cache_share === part).map(of => of.slowdown)[0] ?? null,
      ),
    }))
    .filter(line => line.values.filter(value => value !== null).length > 1);

  return parts.length > 1 && lines.length
    ? curves(
        "time relative to that with all of the shared cache, by its percentage: one of " +
          plural(most, "thread") +
          " alone",
        parts.map(part => Math.round(part * 100)),
        lines,
        {
          least: 0,
          most: Math.max(...lines.flatMap(line => line.values.filter(value => value !== null))),
          column: { type: "real", unit: "ratio" },
        },
      )
    : null;
}

/* ---- copies and ranks that share a node ---- */

const SHARED = [
  ["throughput", "compute", "throughput"],
  ["lost_to_waiting", "wait", "lost to waiting"],
  ["lost_to_few_cpus", "poor", "to few processors"],
  ["lost_to_cache", "code1", "to the shared cache"],
  ["lost_to_memory", "code3", "to memory"],
  ["lost_to_sharing", "code2", "to cache and memory"],
];
const UNTOLD = of =>
  of.is_off_cpu
    ? "off their processors for more than " + limits.off_cpu + " of the time"
    : "the cost of sharing is not known: " + of.separation.replaceAll("_", " ");

function throughputBars(points) {
  const known = points.filter(of => of.throughput !== null),
    told = SHARED.filter(([key]) => known.some(of => lostIn(of, key)));
  const bars = known.map(of => ({
    label: of.count + " " + of.kind,
    value: digits(of.throughput),
    parts: SHARED.map(([key, colour]) => [Math.max(lostIn(of, key) || 0, 0), colour]),
  }));

  return make(
    "div",
    null,
    bars.length
      ? lying(
          "throughput-stacks",
          "Throughput by number",
          bars,
          told.map(([, colour, word]) => [colour, word]),
          "the parts of a bar add up to N",
        )
      : null,
    ...points
      .filter(of => of.throughput === null)
      .map(of => make("p", { class: "note" }, of.count + " " + of.kind + ": no stack: " + UNTOLD(of))),
  );
}

/* Of the largest number: what each takes alone, and what sharing adds. */
function shareBars(tables) {
  const points = tables.get("throughputs").all(),
    last = points[points.length - 1];
  const rows = last
    ? tables
        .get("shares")
        .all()
        .filter(of => of.kind === last.kind && of.count === last.count && of.alone_s !== null)
    : [];
  const parts = of =>
    of.part_s === null
      ? [
          [of.alone_s, "compute"],
          [Math.max(of.sharing_s, 0), "code2"],
        ]
      : [
          [of.alone_s, "compute"],
          [Math.max(of.cache_s, 0), "code1"],
          [Math.max(of.memory_s, 0), "code3"],
        ];

  return rows.length
    ? lying(
        "shares",
        "Cost of sharing for each",
        rows.map(of => ({
          label: (of.kind === "ranks" ? "rank " : "copy ") + of.rank,
          value: seconds(of.together_s),
          parts: parts(of),
        })),
        [
          ["compute", "alone"],
          ...(rows[0].part_s === null
            ? [["code2", "cache and memory"]]
            : [
                ["code1", "the shared cache"],
                ["code3", "memory"],
              ]),
        ],
        "outside of MPI, without waiting for a processor",
      )
    : null;
}

function drawThroughput(tables, points) {
  const last = points[points.length - 1],
    runs = tables.get("runs"),
    command = runs.get("command", 0),
    place = document.getElementById("findings");
  const losses = SHARED.slice(1)
    .map(([key, , word]) => [lostIn(last, key), word])
    .filter(([lost]) => lost !== null && lost >= 0.05 * last.count)
    .sort((a, b) => b[0] - a[0]);

  document.title = "fvmpi stacks: " + command;
  document.getElementById("title").textContent = "Throughput of " + command;
  document.getElementById("identity").textContent = [
    points.map(of => of.count).join(", ") + " " + last.kind + " of a node",
    plural(runs.rows, "run"),
  ].join(" \u00b7 ");
  place.append(
    ...[
      make("h2", null, "Result"),
      make(
        "p",
        { class: "verdict" },
        last.throughput === null
          ? last.count + " " + last.kind + ": " + UNTOLD(last)
          : last.count + " " + last.kind + " do as much as " + last.throughput.toFixed(2) + " alone",
      ),
      losses.length
        ? make(
            "ol",
            null,
            ...losses.map(([lost, word]) =>
              make(
                "li",
                null,
                make("b", null, lost.toFixed(2)),
                " of " + last.count + " " + (word.startsWith("lost") ? word : "lost " + word),
              ),
            ),
          )
        : null,
      last.is_least && last.lost_to_sharing !== null
        ? make(
            "p",
            { class: "note" },
            "These losses are lower bounds: a rank works for " +
              seconds(last.turn_s) +
              " at a time, and filling the cache takes up to " +
              seconds(last.fill_s) +
              ".",
          )
        : null,
    ].filter(Boolean),
  );
  document.getElementById("efficiency").append(make("h2", null, "Throughput by number"), throughputBars(points));
  drawThroughputCurve(points.filter(of => of.throughput !== null));
}

/* One alone is one. */
function drawThroughputCurve(points) {
  const numbers = [1, ...points.map(of => of.count)];

  if (points.length > 1)
    document.getElementById("strip").append(
      make("h2", null, "Throughput"),
      curves(
        "throughput by number: measured, with only caches shared, and ideal",
        numbers,
        [
          { name: "measured", colour: "compute", values: [1, ...points.map(of => of.throughput)] },
          {
            name: "with only caches shared",
            colour: "wait",
            values: [1, ...points.map(of => (of.lost_to_cache === null ? null : of.count - of.lost_to_cache))],
          },
          { name: "ideal", colour: "quiet", values: numbers, dashed: true },
        ],
        { least: 0, most: Math.max(...numbers), column: { type: "real", unit: "ratio" } },
      ),
    );
}

function drawStacks(tables) {
  const throughputs = tables.get("throughputs").all();
  if (throughputs.length) {
    drawThroughput(tables, throughputs);
    return;
  }
  const points = tables
      .get("stacks")
      .all()
      .filter(of => of.name === null),
    first = points[0],
    last = points[points.length - 1],
    runs = tables.get("runs"),
    command = runs.get("command", 0);
  const sizes = points.map(of => of.thread_count),
    place = document.getElementById("findings");
  const losses = STACKED.slice(1)
    .map(([key, , word]) => [lostIn(last, key), word])
    .filter(([lost]) => lost !== null && lost >= 0.05 * last.thread_count)
    .sort((a, b) => b[0] - a[0]);

  document.title = "fvmpi stacks: " + command;
  document.getElementById("title").textContent = "Threads of " + command;
  document.getElementById("identity").textContent = [sizes.join(", ") + " threads", plural(runs.rows, "run")].join(
    " \u00b7 ",
  );
  place.append(
    make("h2", null, "Result"),
    make(
      "p",
      { class: "verdict" },
      seconds(first.elapsed_s) +
        " \u2192 " +
        seconds(last.elapsed_s) +
        (last.speedup === null ? "" : ": speedup " + last.speedup.toFixed(2) + " of " + last.thread_count),
    ),
    last.verdict === "good"
      ? make(
          "ol",
          null,
          ...losses.map(([lost, word]) =>
            make("li", null, make("b", null, lost.toFixed(2)), " of " + last.thread_count + " lost " + word),
          ),
        )
      : make("p", null, "No stack: " + whyRejected(last.verdict) + "."),
  );
  document
    .getElementById("efficiency")
    .append(
      make("h2", null, "Stacks of the whole program"),
      stackBars("program-stacks", "Stacks of the whole program", points, threadsOf),
    );
  document
    .getElementById("strip")
    .append(
      make("h2", null, "Speedup"),
      points.every(({ speedup }) => speedup === null)
        ? make("p", { class: "note" }, "There is no run with one thread.")
        : threadCurves(
            "speedup by number of threads: the whole program, its phases without waits, and ideal",
            points,
            "its phases without waits",
          ),
    );
}
