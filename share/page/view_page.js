/* In view.html. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* The page of fvmpi view: its parts and keys. */

const openPalette = view => view.palettes.open();
const PANEL_COMMANDS = [
  ["/", "search commands, functions, labels, rows and times", { "/": openPalette, g: openPalette }],
  ["?", "list of all keys", { "?": view => view.help.showModal() }],
  [
    "n, p",
    "the next call that Find looks for, the previous call that Find looks for",
    { n: view => view.find.step(1), p: view => view.find.step(-1) },
  ],
  ["Esc", "select nothing", { Escape: view => (selection.choose(null), view.select(null)) }],
  [
    "b",
    "add a bookmark of this view",
    { b: view => (view.bench.show("marks"), document.getElementById("mark-note").focus()) },
  ],
];
const PLAIN_COMMANDS = [
  ["go to the slowest call that Find looks for", view => (view.bench.show("find"), view.find.slowest())],
  ["copy the address of this view", copyLink],
  ["save the picture as SVG", saveSvg],
  ["save the picture as PNG", savePng],
  ["save this window for Perfetto", savePerfetto],
  ["report of this window: the command that makes a page to mail", showReport],
  ["reset panels to where they were at first", view => view.bench.usual()],
];

const OF_BOTH = ["compare", "details", "marks"]; /* panels */

function addAllCommands(view, panels) {
  addCommands(VIEW_KEYS);
  [ROW_COMMANDS, OVERLAY_COMMANDS, STACK_COMMANDS, COLOUR_COMMANDS].forEach(addCommands);
  addCommands(PANEL_COMMANDS);
  panels.forEach(({ name, title }, i) =>
    commands.push({
      keys: i < 9 ? [String(i + 1)] : [],
      words: "panel: " + title,
      does: () => view.bench.show(name, true),
    }),
  );
  for (const [words, does] of PLAIN_COMMANDS) commands.push({ keys: [], words, does });
}

function identityOf(about) {
  return [
    about.doubts.is_damaged ? "A part of this trace is missing or damaged, fvunify says which" : "",
    plural(about.rows.length, "row"),
    seconds(about.span_ns / 1e9),
    plural(about.slices, "call"),
    plural(about.samples, "sample"),
    plural(about.messages, "message") +
      (about.unmatched ? ", " + plural(about.unmatched, "end") + " without the other" : ""),
  ]
    .filter(Boolean)
    .join(", ");
}

/* Of two traces: what is of which. */
function tellWhose(below, panels) {
  below.align.element.querySelector("b").prepend("B: ");
  for (const { name, element } of panels) {
    const tools = element.querySelector(".tools");

    if (tools && !OF_BOTH.includes(name)) tools.prepend(make("b", { title: below.main.about.title }, "A"));
  }
}

async function showView() {
  await null; /* all scripts have run then */
  const trace = new ServedTrace(0),
    about = await trace.about();

  address.read();
  colourRules.load();
  panelRows.all = address.get("rows") === "all";
  selection.about = about;
  const second = about.second === null ? null : new ServedTrace(1),
    other = second && (await second.about());
  if (other) about.regions = other.regions = second.join(about.regions, other.regions);
  const view = new View(trace, about),
    below = other && new SecondView(second, other, view),
    stage = make(
      "div",
      { class: "stage" },
      view.map,
      view.rows.bar(),
      make(
        "div",
        { class: "pictures" },
        ...(below ? [make("p", { class: "tools rows-bar" }, make("b", null, "A: " + about.title))] : []),
        view.canvas,
        ...(below ? [below.align.element, below.canvas] : []),
      ),
      view.charts.element,
      make("div", { class: "status" }, (view.legend = legendOf(view)), view.told),
    );

  const title = other ? about.title + " and " + other.title : about.title;
  document.title = title + " - fvmpi view";
  document.getElementById("title").textContent = title;
  document.getElementById("identity").textContent = other
    ? "A: " + identityOf(about) + "; B: " + identityOf(other)
    : identityOf(about);
  view.find = new Find(view);
  const panels = [
    ...(below ? [new Comparison(view, below)] : []),
    new Functions(view),
    new CallTree(view),
    new FlamePanel(view),
    ...(about.messages || about.left_out.messages ? [new Messages(view)] : []),
    new Waiting(view),
    ...(about.collectives ? [new Collectives(view)] : []),
    ...(about.io ? [new Files(view)] : []),
    ...(about.rows.length > 1 ? [new Alike(view)] : []),
    view.find,
    view.details,
    new Bookmarks(view),
  ];
  if (below) tellWhose(below, panels);
  addAllCommands(view, panels);
  view.palettes = new CommandPalette(view);
  view.help = helpOf();
  view.colourDialog = new ColourDialog(view);
  document
    .getElementById("tools")
    .append(
      ...followTraces(trace, about.number + (other ? other.number : 0)),
      make("button", { type: "button", onclick: () => view.palettes.open() }, "Commands (Ctrl K)"),
      make("button", { type: "button", onclick: () => view.help.showModal() }, "Keys (?)"),
    );
  view.bench = new Bench(document.getElementById("view"), stage, panels);
  view.canvas.view = view;
  view.all.forEach(of => takeMouse(of));
  takeMap(view);
  takeKeys(view);
  await startView(view);
}

const GROWS_MS = 5000,
  MAKES_MS = 500;

/* A trace that is still written: what is new is shown when that is asked for. Of a large one its first part is shown
 * until the whole can be: at once where nobody has moved in it, else when that is asked for. */
function followTraces(trace, shown) {
  const button = make("button", { type: "button", id: "more", hidden: true }, "more was written: show it"),
    note = make("span", { id: "part", role: "status" });
  let isAsked = false,
    hasMoved = false,
    timer = null;

  function reload() {
    const { view } = document.getElementById("picture");

    /* All of it stays all of it. */
    if (view.isFit && view.from <= view.bounds.from && view.to >= view.bounds.to) {
      address.place = "";
      history.replaceState(null, "", address.text());
    }
    location.reload();
  }
  function tell({ percent, failed }) {
    note.textContent = failed
      ? "the first part of each process; the whole could not be made: the terminal says why"
      : percent === null
        ? ""
        : "the first part of each process; the whole is being made: " + percent + " %";
  }
  async function look() {
    const answer = await trace.json("more", {}),
      isNew = answer.number !== shown;

    if (isNew && (isAsked || !hasMoved)) {
      reload();
      return;
    }
    button.hidden = !answer.more && !isNew;
    if (isNew) {
      note.textContent = "not all of what there is now";
      button.textContent = "show it";
      button.onclick = reload;
    } else tell(answer);
    wait(isAsked || (answer.percent !== null && !answer.failed) ? MAKES_MS : GROWS_MS);
  }
  function wait(ms) {
    clearTimeout(timer);
    timer = setTimeout(() => look().catch(() => wait(GROWS_MS)), ms);
  }
  for (const move of ["pointerdown", "wheel", "keydown"])
    addEventListener(move, () => (hasMoved = true), { capture: true, passive: true });
  button.onclick = async () => {
    button.disabled = true;
    button.textContent = "reading ...";
    isAsked = true;
    await trace.ask("renew", {}, "");
    wait(MAKES_MS);
  };
  look().catch(() => wait(GROWS_MS));
  return [note, button];
}

async function startView(view) {
  await view.charts.open();
  for (const of of view.all.slice(1)) of.series = chartsOf((await of.trace.json("series", {})).series);
  view.radar.open();
  view.all.forEach(of => of.paint());
  view.all.filter(of => of.isFit).forEach(of => of.fitRows());
  for (const of of view.all) await loadWhole(of);
  view.labels = (await view.trace.json("labels", {})).labels;
  if (view.all[1]) {
    await view.all[1].align.choose();
    if (view.isFit) view.goToAll();
  }
  await view.rows.fromAddress();
  await selectFromAddress(view);
  const sizes = new ResizeObserver(() => {
    for (const of of view.all) {
      of.tall = of.canvas.clientHeight;
      if (of.isFit) of.fitRows();
    }
    view.changed();
  });
  view.all.forEach(of => sizes.observe(of.canvas));
  addEventListener("hashchange", () => {
    address.read();
    view.readAddress();
    address.takers.forEach(take => take());
    view.rows.fromAddress().then(() => view.changed());
    view.bench.fromAddress();
    view.charts.readAddress();
    view.radar.chosen = address.get("colour") || "";
    view.radar.open();
    view.showsMessages = address.get("messages") !== "no";
    view.isOfFunction = address.get("messagesof") === "function";
    view.crowd.isOpen = address.get("messages") === "matrix";
    selection.fromAddress();
    selectFromAddress(view);
    view.changed();
  });
  selection.onChange(() => {
    showLegend(view);
    if (view.isOfFunction) view.changed();
    else view.all.forEach(of => of.draw());
  });
  selection.fromAddress();
  matchMedia("(prefers-color-scheme: dark)").addEventListener(
    "change",
    () => (view.all.forEach(of => (of.palette = new Palette(of.about))), view.changed()),
  );
}

showView().catch(error => {
  document.getElementById("trouble").textContent = "The page could not be made: " + error.message;
});
