/* In page.html. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Pictures of bars that lie: waiting, the critical path, speedup stacks of phases, sections. */

const LONGEST_LIST = 12;

/* rows: [{ label, value: in words, parts: [[amount, colour]], pick, isBeside: it belongs to the one before }], in one
 * scale; kinds: [[colour, what it is]] that is told below. */
function lying(id, title, rows, kinds, note) {
  let all = 0;
  const shown = rows.filter(row => (row.isBeside ? all : ++all) <= LONGEST_LIST);
  const most = Math.max(...rows.map(row => row.parts.reduce((sum, [amount]) => sum + amount, 0)), 0);
  const line = row => {
    const bar = make(
      "span",
      { class: "bar stack" },
      ...row.parts
        .filter(([amount]) => amount > 0)
        .map(([amount, colour]) => {
          const part = make("i", { class: colour });

          part.style.width = (most ? (100 * amount) / most : 0) + "%";
          return part;
        }),
    );

    return make(
      "li",
      null,
      bar,
      make("span", { class: "value" }, row.value),
      row.pick
        ? make("button", { type: "button", class: "pick", onclick: row.pick }, row.label)
        : make("span", null, row.label),
    );
  };

  return rows.length
    ? make(
        "section",
        { id, "aria-label": title + ", as bars" },
        make("h3", null, title),
        make("ul", { class: "shares wide" }, ...shown.map(line)),
        kinds.length
          ? make(
              "p",
              { class: "legend" },
              ...kinds.map(([colour, word]) => make("span", null, make("i", { class: "key " + colour }), word)),
            )
          : null,
        make(
          "p",
          { class: "note" },
          note + (all > LONGEST_LIST ? "; the first " + LONGEST_LIST + " of " + count(all) : ""),
        ),
      )
    : null;
}

/* ---- waiting ---- */

function waitKinds(tables) {
  const rows = tables
    .get("wait_kinds")
    .all()
    .filter(of => of.wait_s > 0);

  return lying(
    "wait-kinds",
    "Kinds of waiting",
    rows.map(of => ({
      label: of.label || of.kind,
      value: (of.wait_kind === "estimate" ? "~" : "") + seconds(of.wait_s),
      parts: [[of.wait_s, of.is_transfer ? "mpi" : "wait"]],
    })),
    [["wait", "waiting"], ...(rows.some(of => of.is_transfer) ? [["mpi", "moving data"]] : [])],
    "time of all ranks",
  );
}

/* Which ranks make others wait: directly, and through those who had to wait themselves. */
function blame(tables) {
  const rows = tables
    .get("culprits")
    .all()
    .filter(of => of.cost_s > 0);

  return lying(
    "blame",
    "Which ranks make others wait",
    rows.map(of => ({
      label:
        (of.rank === null ? "" : "rank " + of.rank + ", ") +
        (of.where || of.place || "") +
        (of.when ? " (" + of.when + ")" : ""),
      value: seconds(of.cost_s),
      parts: [
        [of.direct_s === null ? of.cost_s : of.direct_s, "wait"],
        [of.propagated_s || 0, "threads"],
      ],
      pick: of.rank === null ? null : () => selection.toggle("rank", of.rank),
    })),
    [
      ["wait", "others waited for it"],
      ["threads", "passed on by ranks that waited"],
    ],
    "time that others lost",
  );
}

/* Which regions of computing, and the MPI calls behind them, the run's length is made of. */
function criticalPath(tables) {
  const rows = tables
    .get("regions")
    .all()
    .map(of => ({ ...of, computing: of.critical_computing_s || 0, mpi: of.critical_mpi_s || 0 }))
    .filter(of => of.computing + of.mpi > 0)
    .sort((a, b) => b.computing + b.mpi - a.computing - a.mpi);

  return lying(
    "critical-path",
    "Critical path",
    rows.map(of => ({
      label: of.label + (of.place ? ", " + of.place : ""),
      value: seconds(of.computing + of.mpi),
      parts: [
        [of.computing, "compute"],
        [of.mpi, "mpi"],
      ],
    })),
    [
      ["compute", "computing"],
      ["mpi", "the MPI call behind it"],
    ],
    "each part that takes longer makes the run longer",
  );
}

/* ---- counters ---- */

const CYCLE_PARTS = [
  ["retiring", "compute", "of use"],
  ["bad_speculation", "poor", "thrown away after a misprediction"],
  ["frontend_bound", "threads", "without instructions"],
  ["backend_bound", "wait", "waiting for data or units"],
];

/* What each thread's processor did with what it could have done: cycle accounting. */
function cycleBars(tables) {
  const threads = new Map();

  tables
    .get("counter_metric_threads")
    .all()
    .filter(of => of.section === "all")
    .forEach(of => {
      const key = of.rank + "." + of.thread;

      if (!threads.has(key)) threads.set(key, { label: "rank " + of.rank + ", thread " + of.thread, rank: of.rank });
      threads.get(key)[of.metric] = of.metric_value;
    });
  const parts = CYCLE_PARTS.filter(([metric]) => [...threads.values()].some(of => of[metric] > 0));
  const rows = parts.length
    ? [...threads.values()].map(of => ({
        label: of.label,
        value: of.ipc === undefined ? "" : of.ipc.toFixed(2) + " IPC",
        parts: parts.map(([metric, colour]) => [Math.max(of[metric] || 0, 0), colour]),
        pick: () => selection.toggle("rank", of.rank),
      }))
    : [];

  return lying(
    "cycles",
    "Where the processor's cycles went",
    rows,
    parts.map(([, colour, words]) => [colour, words]),
    "for each thread: share of the processor's slots (top-down); if slots are not counted, of the cycles. " +
      "IPC: instructions per cycle",
  );
}

const SHEET_PARTS = [
  ["compute", "work", ["work_s"]],
  ["poor", "thrown away", ["mispredicted_s", "restarts_s", "thrown_away_s"]],
  ["threads", "waiting for instructions", ["late_fetch_s", "narrow_fetch_s", "fetch_s"]],
  ["level0", "waiting for L1", ["l1_s"]],
  ["level1", "waiting for L2", ["l2_s"]],
  ["level2", "waiting for L3", ["l3_s"]],
  ["level3", "waiting for memory", ["dram_s"]],
  ["level4", "waiting for room for stores", ["stores_s"]],
  ["wait", "waiting for loads and stores", ["memory_s"]],
  ["mpi", "waiting for units, or in the back end", ["core_s", "backend_s"]],
  ["good", "in user mode, unknown", ["untold_s"]],
  ["most", "in the kernel", ["kernel_s"]],
  ["quiet", "without a processor", ["off_cpu_s"]],
];
const SHEET_RATES = [
  ["ipc", "IPC", value => digits(value)],
  ["l1_busy", "L1", value => percent(value)],
  ["l2_busy", "L2", value => percent(value)],
  ["memory_busy", "memory", value => percent(value)],
];

/* Behind the bar of a process's first thread: the time that its caches and memory were busy. Caches are busy for parts
 * of the cycles in user mode, the longest of the threads' counts; memory for parts of the process's time. `all`: the
 * process's row. */
function busyRows(all, threads) {
  const longest = key =>
    Math.max(
      ...threads.filter(one => one[key] !== null).map(one => one[key] * (one.time_s - one.kernel_s - one.off_cpu_s)),
    );
  const times = [
    ["L1", longest("l1_busy")],
    ["L2", longest("l2_busy")],
    ["memory", all && all.memory_busy !== null ? all.memory_busy * all.elapsed_s : NaN],
  ];

  return times
    .filter(([, time]) => Number.isFinite(time))
    .map(([name, time]) => ({
      isBeside: true,
      label: nameOf(threads[0]) + ": " + name + " busy",
      value: seconds(time),
      parts: [[time, "busy"]],
    }));
}

function nameOf(of) {
  return of.section + (of.number ? " " + of.number : "") + ", rank " + of.rank;
}

/* Cycle accounting in sections, in seconds, and how busy caches were; `who`: the name of a row; `beside`: rows behind
 * one. */
function sheetsOf(tables, table, who, title, remark, beside = () => []) {
  const rows = tables
    .get(table)
    .all()
    .filter(of => of.section !== "all" && of.off_cpu_s !== null && of.work_s !== null);
  const sum = (of, keys) => keys.reduce((all, key) => all + (of[key] || 0), 0);
  const parts = SHEET_PARTS.filter(([, , keys]) => rows.some(of => sum(of, keys) > 0));
  const rates = of =>
    SHEET_RATES.filter(([key]) => of[key] !== null).map(([key, word, say]) => word + " " + say(of[key]));
  const lines = rows.flatMap((of, i) => [
    {
      label: [nameOf(of) + who(of), ...rates(of)].join(", "),
      value: seconds(of.time_s),
      parts: parts.map(([colour, , keys]) => [sum(of, keys), colour]),
      pick: () => selection.toggle("rank", of.rank),
    },
    ...(i < LONGEST_LIST ? beside(of, rows) : []),
  ]);

  return lying(
    table,
    title,
    lines,
    [
      ...parts.map(([colour, words]) => [colour, words]),
      ...(lines.some(line => line.isBeside) ? [["busy", "busy"]] : []),
    ],
    remark + " (top-down)" + (lines.some(line => line.isBeside) ? ". L1, L2, memory: how busy they were" : ""),
  );
}

function sheetBars(tables) {
  const processes = new Map(
    tables
      .get("section_sheet_processes")
      .all()
      .map(of => [nameOf(of), of]),
  );

  return sheetsOf(
    tables,
    "section_sheet",
    of => ", thread " + of.thread,
    "Where the time of sections went",
    "for each thread: parts of its time in the section",
    (of, rows) => {
      const threads = rows.filter(one => nameOf(one) === nameOf(of));

      return threads[0] === of ? busyRows(processes.get(nameOf(of)), threads) : [];
    },
  );
}

function processBars(tables) {
  return sheetsOf(
    tables,
    "section_sheet_processes",
    () => "",
    "Where the time of processes in sections went",
    "for each process: parts of the time of all its threads in the section",
  );
}

/* ---- phases and sections ---- */

/* Of the speedup that N threads could have: what they have, and what takes the rest. */
function speedupStacks(tables) {
  const rows = tables
    .get("phases")
    .all()
    .filter(of => of.team_max > 1 && of.speedup_bound !== null);
  const lost = of =>
    [
      ["speedup_lost_to_waiting", "wait"],
      ["speedup_lost_to_imbalance", "threads"],
      ["speedup_lost_to_few_cpus", "poor"],
    ].map(([key, colour]) => [Math.max(of[key] || 0, 0), colour]);

  return lying(
    "stacks",
    "Speedup stacks of parallel phases",
    rows.map(of => ({
      label: (of.label || of.function) + ", " + count(of.team_mean) + " threads",
      value: digits(of.speedup_bound),
      parts: [[of.speedup_bound, "compute"], ...lost(of)],
    })),
    [
      ["compute", "upper bound of the speedup"],
      ["wait", "lost to waiting"],
      ["threads", "to imbalance"],
      ["poor", "to few processors"],
    ],
    "estimates from one run; fvmpi stacks is more exact",
  );
}

function sectionBars(tables) {
  const rows = tables
    .get("sections")
    .all()
    .filter(of => of.elapsed_mean_s > 0 && !of.whole);
  const parts = of => {
    const mpi = of.mpi_share === null ? 0 : of.mpi_share * of.elapsed_mean_s,
      wait = of.wait_share === null ? 0 : Math.min(of.wait_share * of.elapsed_mean_s, mpi);

    return [
      [of.elapsed_mean_s - mpi, "compute"],
      [mpi - wait, "mpi"],
      [wait, "wait"],
    ];
  };

  return lying(
    "section-bars",
    "Sections by elapsed time",
    rows.map(of => ({
      label:
        of.section +
        (of.number ? " " + of.number : "") +
        (of.imbalance === null ? "" : ", imbalance " + percent(of.imbalance)),
      value: seconds(of.elapsed_mean_s),
      parts: parts(of),
    })),
    [
      ["compute", "outside of MPI"],
      ["mpi", "MPI"],
      ["wait", "waiting in MPI"],
    ],
    "mean of a rank; nested sections overlap",
  );
}
