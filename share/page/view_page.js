/* In view.html. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* The page of fvmpi view: its parts, mouse and keys. */

const VIEW_KEYS = [
  ["w, s", "zoom in, out", { w: view => view.zoom(1 / 1.5), s: view => view.zoom(1.5) }],
  [
    "a, d, left, right",
    "move in time",
    {
      a: view => view.pan(-0.25),
      d: view => view.pan(0.25),
      ArrowLeft: view => view.pan(-0.1),
      ArrowRight: view => view.pan(0.1),
    },
  ],
  [
    "up, down",
    "move over the rows",
    {
      ArrowUp: view => view.go(view.from, view.to, view.firstRow - 1),
      ArrowDown: view => view.go(view.from, view.to, view.firstRow + 1),
    },
  ],
  ["+, -", "taller, smaller rows", { "+": view => view.tallerRows(1.3), "-": view => view.tallerRows(1 / 1.3) }],
  ["f", "all of the run, all rows", { f: view => (view.fitRows(), view.go(0, view.about.span_ns)) }],
  ["m", "messages on, off", { m: view => ((view.showsMessages = !view.showsMessages), view.changed()) }],
];

function takeMouse(view) {
  const { canvas } = view,
    place = event => ({ x: event.offsetX - NAMES_WIDE, y: event.offsetY });

  canvas.addEventListener(
    "wheel",
    event => {
      const { x, y } = place(event);

      event.preventDefault();
      if (event.ctrlKey) view.zoom(1.002 ** event.deltaY, view.at(x));
      else if (event.altKey) view.tallerRows(1.002 ** -event.deltaY, y);
      else if (event.shiftKey || event.deltaX) view.pan((event.deltaX || event.deltaY) / view.wide);
      else view.go(view.from, view.to, view.firstRow + event.deltaY / view.rowTall / 2);
    },
    { passive: false },
  );
  canvas.addEventListener("pointerdown", event => {
    const { x, y } = place(event);

    canvas.setPointerCapture(event.pointerId);
    view.drag = { x, y, now: x };
  });
  canvas.addEventListener("pointermove", event => {
    const { x, y } = place(event);

    if (view.drag) {
      view.drag.now = x;
      view.draw();
      return;
    }
    const slice = view.sliceAt(x, y);
    canvas.title = slice ? view.about.regions[slice.region].name + ", " + seconds(slice.ns / 1e9) : "";
  });
  canvas.addEventListener("pointerup", event => {
    const { x, y } = place(event),
      { drag } = view;

    view.drag = null;
    if (drag && Math.abs(x - drag.x) > 4) view.go(view.at(Math.min(x, drag.x)), view.at(Math.max(x, drag.x)));
    else view.select(view.sliceAt(x, y));
  });
  view.map.addEventListener("pointerdown", event => {
    const middle = ((event.offsetX - NAMES_WIDE) / (view.map.clientWidth - NAMES_WIDE)) * view.about.span_ns,
      half = (view.to - view.from) / 2;

    view.go(middle - half, middle + half);
  });
}

function takeKeys(view) {
  document.addEventListener("keydown", event => {
    if (event.ctrlKey || event.altKey || event.metaKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName))
      return;
    for (const [, , does] of VIEW_KEYS)
      if (does[event.key]) {
        event.preventDefault();
        does[event.key](view);
      }
    if (event.key === "?") document.getElementById("help").open = !document.getElementById("help").open;
  });
}

function helpOf() {
  return make(
    "details",
    { id: "help" },
    make("summary", null, "Keys and mouse (?)"),
    make(
      "table",
      null,
      make(
        "tbody",
        null,
        ...[
          ...VIEW_KEYS,
          ["wheel", "move over the rows; with Shift in time; with Ctrl zoom; with Alt taller rows"],
          ["drag", "zoom to what is chosen"],
          ["click", "what was there, and where it was called"],
        ].map(([keys, what]) =>
          make("tr", null, make("td", { class: "left" }, keys), make("td", { class: "left" }, what)),
        ),
      ),
    ),
  );
}

function legendOf(view) {
  return make(
    "p",
    { class: "legend" },
    ...view.about.classes
      .map((of, i) => [of, view.palette.classes[i], view.about.regions.some(region => region.class === i && region.ns)])
      .filter(([, , any]) => any)
      .map(([of, colour]) => {
        const key = make("i", { class: "key" });

        key.style.background = colour;
        return make("span", null, key, of.about);
      }),
  );
}

const SUM_HEADS = ["function", "time itself", "of all", "with callees", "calls", "longest", "waiting"];

async function showView() {
  const about = await loadAbout(),
    view = new View(about);

  document.title = about.title + " - fvmpi view";
  document.getElementById("title").textContent = about.title;
  document.getElementById("identity").textContent = [
    plural(about.rows.length, "row"),
    seconds(about.span_ns / 1e9),
    plural(about.slices, "call"),
    plural(about.samples, "sample"),
    plural(about.messages, "message") +
      (about.unmatched ? ", " + plural(about.unmatched, "end") + " without the other" : ""),
  ].join(", ");
  document
    .getElementById("view")
    .append(
      view.map,
      view.canvas,
      make(
        "aside",
        null,
        view.told,
        legendOf(view),
        view.details,
        make("h2", null, "What the rows do here"),
        about.samples
          ? make("p", { class: "note" }, "~: by samples of the CPU clock, an estimate; all else is exact")
          : null,
        scrolled(
          "Functions in the stretch of time that is shown",
          make(
            "table",
            { id: "sums" },
            make(
              "thead",
              null,
              make("tr", null, ...SUM_HEADS.map((head, i) => make("th", { class: i ? null : "left" }, head))),
            ),
            view.sums,
          ),
        ),
        helpOf(),
      ),
    );
  takeMouse(view);
  takeKeys(view);
  await startView(view);
}

async function startView(view) {
  const rows = view.about.rows.length,
    merge = Math.max(1, Math.ceil(rows / MAP_TALL));

  view.paint();
  if (view.isFit) view.fitRows();
  view.whole = await loadTiles({ from: 0, to: view.about.span_ns, count: 512, first: 0, rows, merge });
  new ResizeObserver(() => view.changed()).observe(view.canvas);
  addEventListener("hashchange", () => (view.readAddress(), view.changed()));
  matchMedia("(prefers-color-scheme: dark)").addEventListener(
    "change",
    () => ((view.palette = new Palette(view.about)), view.changed()),
  );
}

showView().catch(error => {
  document.getElementById("trouble").textContent = "The page could not be made: " + error.message;
});
