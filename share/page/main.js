/* In page.html. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Two charts, if both are there: half as wide. */
const beside = (...charts) =>
  charts.every(Boolean) ? make("div", { class: "halves" }, ...charts) : charts.find(Boolean) || null;

/* The subjects below the first screen, by the group of their tables (subject.h): each folds, and draws its charts and
 * tables when it is first opened. Groups that stand not here come behind them. `opened_by`: what is selected in the
 * address; `needs`: a run without that does not have the subject, and its tables are among all others. `isPicture`: its
 * tables stay folded. `unknown`: why it has nothing, as text. */

const SUBJECTS = [
  { group: "Where everybody is", charts: tables => [whereOf(tables)], open: true, isPicture: true },
  {
    group: "Ranks",
    charts: tables =>
      tables.get("ranks").rows
        ? [rankBars(tables.get("ranks")), timeHeat(tables), new GridView(tables).element, distributions(tables)]
        : [],
    open: true,
  },
  {
    group: "Timeline",
    charts: tables => [timeline(tables)],
    opened_by: ["time", "view"],
    needs: () => document.querySelector("script.timeline"),
    isPicture: true,
  },
  {
    group: "Iterations",
    charts: tables => [iterations(tables)],
    unknown: tables => tables.get("run").all()[0].iterations_unknown,
  },
  {
    group: "Machine",
    charts: tables => [sensorLines(tables), eventPair(tables), cycleBars(tables)],
  },
  {
    group: "Call sites and MPI functions",
    charts: tables => [siteSizes(tables), tables.get("cpu_lines").rows ? null : sourceLines(tables)],
    opened_by: ["callsite"],
  },
  {
    group: "Communication",
    charts: tables => [matrixOf(tables.get("matrix")), nodeView(tables), messageSizes(tables.get("size_classes"))],
  },
  {
    group: "Waiting and computing",
    charts: tables => [beside(waitKinds(tables), blame(tables)), criticalPath(tables)],
  },
  {
    group: "CPU time by samples",
    charts: tables => [flame(tables, "call_tree"), tables.get("cpu_lines").rows ? sourceLines(tables) : null],
    opened_by: ["function"],
  },
  {
    group: "Functions with measured calls",
    charts: tables => [instances(tables)],
  },
  {
    group: "Instrumented functions",
    charts: tables => [flame(tables, "instrumented_paths")],
    opened_by: ["function"],
  },
  {
    group: "Threads and locks",
    charts: tables => [speedupStacks(tables)],
  },
  { group: "Files", charts: tables => [fileBars(tables)] },
  {
    group: "Memory",
    charts: tables => [memoryLines(tables)],
  },
  {
    group: "Sections",
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
        group: "Parts of the program",
        charts: tables => [partCurve(tables)],
        open: true,
      },
    ],
  },
  "fvmpi-stacks-1": {
    first: [drawStacks],
    told: [],
    subjects: [
      {
        group: "Throughput",
        charts: tables => [shareBars(tables)],
        open: true,
      },
      { group: "Phases", charts: tables => [phaseStacks(tables), phaseCurves(tables)], open: true },
      { group: "One thread at a time: time by cache", charts: tables => [cacheCurves(tables)] },
    ],
  },
  "fvmpi-diff-2": {
    first: [drawDiff],
    told: ["comparison"],
    subjects: [{ group: "What changed", open: true }],
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
          "behind row " +
            count(table.exact_rows) +
            ", values are rounded to three digits; --csv DIR writes all of them",
        )
      : null,
  );

  view.addEventListener("toggle", () => {
    if (view.open && !view.querySelector("div.table")) view.append(new TableView(table).element);
  });
  return view;
}

function drawSubject(subject, tables) {
  const own = subject.tables.map(name => tables.get(name)).filter(table => table && table.rows),
    unknown = subject.unknown && subject.unknown(tables);
  const element = make(
    "details",
    { class: "subject", open: false },
    make("summary", null, make("h2", null, subject.group)),
  );
  const fill = () => {
    if (!element.open || element.children.length > 1) return;
    if (unknown) element.append(make("p", { class: "note" }, unknown));
    element.append(...(subject.charts ? subject.charts(tables).filter(Boolean) : []), ...own.map(describe));
    const first = element.querySelector("details.of-table");

    if (first && !subject.isPicture) first.open = true;
  };

  element.addEventListener("toggle", fill);
  element.open =
    Boolean(subject.open || tables.function) || (subject.opened_by || []).some(kind => selection.has(kind));
  return own.length || unknown ? element : null;
}

/* The subjects of a screen with the names of their tables: {group, charts, ..., tables}, and what is left behind
 * them. */
function subjectsOf(tables, screen) {
  const groups = new Map(screen.subjects.map(({ group }) => [group, []])),
    shown = [...tables.keys()].filter(name => !screen.told.includes(name));

  for (const name of shown.filter(name => tables.get(name).group && !tables.get(name).isBlank())) {
    const { group } = tables.get(name);

    groups.set(group, [...(groups.get(group) || []), name]);
  }
  const subjects = [...groups]
      .map(([group, names]) => ({ ...screen.subjects.find(row => row.group === group), group, tables: names }))
      .filter(({ needs }) => !needs || needs(tables)),
    placed = new Set(subjects.flatMap(subject => subject.tables));

  return [...subjects, { group: "All other tables", tables: shown.filter(name => !placed.has(name)) }];
}

function drawSubjects(tables, screen) {
  document.getElementById("subjects").append(
    ...subjectsOf(tables, screen)
      .map(subject => drawSubject(subject, tables))
      .filter(Boolean),
  );
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
];
/* Of the timeline, while it has the focus. */
const TIMELINE_KEYS = () => [
  ...STAGE_KEYS().map(({ keys, words }) => [keys, words]),
  ["drag", "zoom to that stretch of time; with Shift, select it for all subjects"],
  ["wheel", "with Ctrl, zoom; with Shift, move in time; with Alt, make rows taller"],
];

function bindKeys() {
  const help = document.getElementById("help"),
    list = rows =>
      make(
        "dl",
        null,
        ...rows.flatMap(([key, does]) => [make("dt", null, make("kbd", null, key)), make("dd", null, does)]),
      );

  help.append(
    make("h2", null, "Keys"),
    list(KEYS),
    ...(document.querySelector("script.timeline") ? [make("h3", null, "In the timeline"), list(TIMELINE_KEYS())] : []),
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
