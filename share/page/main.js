/* In page.html. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Two charts, if both are there: half as wide. */
const beside = (...charts) =>
  charts.every(Boolean) ? make("div", { class: "halves" }, ...charts) : charts.find(Boolean) || null;

/* The subjects below the first screen: each folds, and draws its charts and tables when it is first opened. `opened_by`: what is selected in the address; `needs`: a run without that does not have the subject, and its tables are among all others. `isPicture`: its tables stay folded. */

const SUBJECTS = [
  {
    title: "Ranks",
    tables: ["ranks", "threads", "programs"],
    charts: tables =>
      tables.get("ranks").rows
        ? [rankBars(tables.get("ranks")), timeHeat(tables), new GridView(tables).element, distributions(tables)]
        : [],
    open: true,
  },
  {
    title: "Timeline",
    tables: ["timeline"],
    charts: tables => [timeline(tables)],
    opened_by: ["time", "view"],
    needs: () => document.querySelector("script.timeline"),
    isPicture: true,
  },
  {
    title: "Iterations",
    tables: ["iterations", "iterations_by_number"],
    charts: tables => [iterations(tables)],
  },
  {
    title: "Machine",
    tables: [
      "labels",
      "machines",
      "environment",
      "affinity",
      "sensors",
      "sensor_sections",
      "sensor_instances",
      "sensor_nodes",
      "sensor_series",
      "counters",
      "counter_sections",
      "counter_metrics",
      "counter_metric_threads",
      "counter_phases",
      "counter_phase_metrics",
      "noise",
      "noise_projection",
      "noise_ranks",
      "other_processes",
    ],
    charts: tables => [sensorLines(tables), eventPair(tables), cycleBars(tables)],
  },
  {
    title: "Call sites and MPI functions",
    tables: ["callsites", "callsites_by_rank", "site_sizes", "mpi_functions", "message_sizes"],
    charts: tables => [siteSizes(tables), tables.get("cpu_lines").rows ? null : sourceLines(tables)],
    opened_by: ["callsite"],
  },
  {
    title: "Communication",
    tables: ["matrix", "communicators", "grids", "size_classes", "sizes_sent", "sizes_received"],
    charts: tables => [matrixOf(tables.get("matrix")), nodeView(tables), messageSizes(tables.get("size_classes"))],
  },
  {
    title: "Waiting and computing",
    tables: ["regions", "region_procedures", "culprits", "late_procedures", "wait_kinds", "waiting_by_rank"],
    charts: tables => [beside(waitKinds(tables), blame(tables)), criticalPath(tables)],
  },
  {
    title: "CPU time by samples",
    tables: ["cpu_procedures", "cpu_lines", "cpu_loops", "cpu_procedures_by_thread", "call_tree"],
    charts: tables => [flame(tables, "call_tree"), tables.get("cpu_lines").rows ? sourceLines(tables) : null],
    opened_by: ["function"],
  },
  {
    title: "Functions with measured calls",
    tables: [
      "sampled_totals",
      "sampled_functions",
      "sampled_by_thread",
      "sampled_metrics",
      "sampled_histogram",
      "sampled_instances",
    ],
    charts: tables => [instances(tables)],
  },
  {
    title: "Instrumented functions",
    tables: [
      "instrumented",
      "instrumented_paths",
      "instrumented_ranks",
      "function_warm_up",
      "instrumented_counts",
      "streams",
      "instrumented_lost",
    ],
    charts: tables => [flame(tables, "instrumented_paths")],
    opened_by: ["function"],
  },
  {
    title: "Threads and locks",
    tables: ["thread_waiting", "locks", "phases", "worksharing", "hybrid_efficiency"],
    charts: tables => [speedupStacks(tables)],
  },
  { title: "Files", tables: ["io", "io_files", "io_ranks"], charts: tables => [fileBars(tables)] },
  {
    title: "Memory",
    tables: [
      "memory",
      "memory_path_ranks",
      "memory_libraries",
      "memory_ranks",
      "memory_functions",
      "memory_sections",
      "memory_system",
      "memory_places",
      "memory_series",
    ],
    charts: tables => [memoryLines(tables)],
  },
  {
    title: "Sections",
    tables: [
      "sections",
      "section_names",
      "sections_by_rank",
      "section_threads",
      "section_sheet_processes",
      "section_sheet",
      "section_functions",
      "section_instances",
    ],
    charts: tables => [sectionBars(tables), processBars(tables), sheetBars(tables)],
    needs: tables => tables.get("sections").rows > 1 /* the first is the whole run */,
  },
];

/* What a page of each schema shows: its first screen, and its subjects. */
const SCREENS = {
  "fvmpi-profile-2": {
    first: [drawIdentity, drawFindings, drawEfficiency, drawStrip],
    subjects: SUBJECTS,
    told: ["findings", "efficiency", "run"],
  },
  "fvmpi-scaling-1": {
    first: [drawScaling],
    told: ["scaling"],
    subjects: [
      {
        title: "Parts of the program",
        tables: ["parts", "part_times"],
        charts: tables => [partCurve(tables)],
        open: true,
      },
      { title: "Sizes and runs", tables: ["points", "runs"] },
    ],
  },
  "fvmpi-stacks-1": {
    first: [drawStacks],
    told: [],
    subjects: [
      {
        title: "Throughput",
        tables: ["throughputs", "shares", "throughput_curve"],
        charts: tables => [shareBars(tables)],
        open: true,
      },
      { title: "Phases", tables: ["stacks"], charts: tables => [phaseStacks(tables), phaseCurves(tables)], open: true },
      { title: "One thread at a time: time by cache", tables: ["curves"], charts: tables => [cacheCurves(tables)] },
      { title: "Runs", tables: ["runs"] },
    ],
  },
  "fvmpi-diff-2": {
    first: [drawDiff],
    told: ["comparison"],
    subjects: [
      { title: "What changed", tables: ["entries", "mpi_functions", "callsites"], open: true },
      { title: "Runs", tables: ["differences", "run_changes", "runs_a", "runs_b"] },
    ],
  },
};

function describe(table) {
  const view = make(
    "details",
    { class: "of-table" },
    make("summary", null, table.title || table.name, make("small", null, " " + plural(table.all_rows, "row"))),
    make("p", { class: "note" }, table.doc),
    table.all_rows > table.rows
      ? make(
          "p",
          { class: "note bad" },
          "\u26a0 the first " +
            count(table.rows) +
            " of " +
            plural(table.all_rows, "row") +
            ": --html-max limits the page; fvmpi report --csv DIR writes all",
        )
      : null,
    table.rows > table.exact_rows
      ? make(
          "p",
          { class: "note" },
          "behind row " + count(table.exact_rows) + ", values are rounded to four digits; --csv DIR writes all of them",
        )
      : null,
  );

  view.addEventListener("toggle", () => {
    if (view.open && !view.querySelector("div.table")) view.append(new TableView(table).element);
  });
  return view;
}

function drawSubject(subject, tables) {
  const own = subject.tables.map(name => tables.get(name)).filter(table => table && table.rows);
  const element = make(
    "details",
    { class: "subject", open: false },
    make("summary", null, make("h2", null, subject.title)),
  );
  const fill = () => {
    if (!element.open || element.children.length > 1) return;
    element.append(...(subject.charts ? subject.charts(tables).filter(Boolean) : []), ...own.map(describe));
    const first = element.querySelector("details.of-table");

    if (first && !subject.isPicture) first.open = true;
  };

  element.addEventListener("toggle", fill);
  element.open =
    Boolean(subject.open || tables.function) || (subject.opened_by || []).some(kind => selection.has(kind));
  return own.length ? element : null;
}

function drawSubjects(tables, screen) {
  const isBlank = name => Boolean(tables.get(name)?.isBlank()),
    subjects = screen.subjects
      .filter(({ needs }) => !needs || needs(tables))
      .map(subject => ({ ...subject, tables: subject.tables.filter(name => !isBlank(name)) })),
    told = new Set(subjects.flatMap(subject => subject.tables).concat(screen.told));
  const rest = { title: "All other tables", tables: [...tables.keys()].filter(name => !told.has(name)) };

  document
    .getElementById("subjects")
    .append(...[...subjects, rest].map(subject => drawSubject(subject, tables)).filter(Boolean));
}

function drawSelection() {
  const place = document.getElementById("selection"),
    words = selection.words();

  place.hidden = !words;
  place.replaceChildren(
    ...(words
      ? ["selected: " + words + " ", make("button", { type: "button", onclick: () => selection.clear() }, "clear")]
      : []),
  );
}

const KEYS = [
  ["?", "this help"],
  ["/", "search in the first open table"],
  ["Esc", "clear the selection"],
  ["e", "unfold all subjects"],
  ["f", "fold all subjects"],
  [
    "w s a d",
    "in the timeline: zoom in and out, earlier and later; Shift and dragging selects a stretch of time, Ctrl and the wheel zoom",
  ],
];

function bindKeys() {
  const help = document.getElementById("help");

  help.append(
    make("h2", null, "Keys"),
    make(
      "dl",
      null,
      ...KEYS.flatMap(([key, does]) => [make("dt", null, make("kbd", null, key)), make("dd", null, does)]),
    ),
    make("button", { type: "button", onclick: () => help.close() }, "close"),
  );
  document.addEventListener("keydown", event => {
    if (event.target.matches("input[type=search], textarea") || event.ctrlKey || event.metaKey || event.altKey) return;
    const fold = open =>
      document.querySelectorAll("details.subject").forEach(subject => {
        subject.open = open;
      });

    if (event.key === "?") help.showModal();
    else if (event.key === "Escape") selection.clear();
    else if (event.key === "e" || event.key === "f") fold(event.key === "e");
    else if (event.key === "/") {
      const search = document.querySelector("details[open] details[open] input[type=search]");

      event.preventDefault();
      if (search) search.focus();
    }
  });
}

async function start() {
  const first = await loadFirst(),
    screen = SCREENS[first.schema];

  document.getElementById("as-text").open = false;
  screen.first.forEach(draw => draw(first));
  bindKeys();
  selection.onChange(drawSelection);
  await new Promise(drawn => requestAnimationFrame(() => setTimeout(drawn)));
  performance.mark("first screen");
  const tables = await loadRest(first);
  requestAnimationFrame(() => {
    selection.fromAddress();
    drawSubjects(tables, screen);
    selection.tell();
    document.documentElement.dataset.ready = "yes";
  });
}

/* When all scripts have run. */
queueMicrotask(() =>
  start().catch(error => {
    document.getElementById("completeness").textContent =
      "This browser could not show the page (" + error.message + "). The first lines of the report are below as text.";
  }),
);
