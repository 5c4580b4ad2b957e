/* In page.html, view.html. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* What a page with a timeline does with it: keys, mouse, the picture of the whole run. */

const VIEW_KEYS = [
  [
    "., ,",
    "select the next call of the row, select the call of the row before",
    { ".": view => view.step(1), ",": view => view.step(-1) },
  ],
  [
    "Backspace, \\",
    "back to the view before, forward again",
    { Backspace: view => view.goBack(view.past, view.future), "\\": view => view.goBack(view.future, view.past) },
  ],
  ["w, s", "zoom in, zoom out", { w: view => view.zoom(1 / 1.5), s: view => view.zoom(1.5) }],
  [
    "a, d, left, right",
    "earlier, later, a little earlier, a little later",
    {
      a: view => view.pan(-0.25),
      d: view => view.pan(0.25),
      ArrowLeft: view => view.pan(-0.1),
      ArrowRight: view => view.pan(0.1),
    },
  ],
  [
    "up, down",
    "the row above, the row below",
    {
      ArrowUp: view => view.go(view.from, view.to, view.firstRow - 1),
      ArrowDown: view => view.go(view.from, view.to, view.firstRow + 1),
    },
  ],
  ["+, -", "taller rows, smaller rows", { "+": view => view.tallerRows(1.3), "-": view => view.tallerRows(1 / 1.3) }],
  ["f", "show the whole run with all its rows", { f: view => view.goToAll() }],
  ["m", "show or hide messages: lines, or a matrix if there are too many", { m: view => view.toggleMessages() }],
  ["M", "messages of the selected function only, or of all", { M: view => view.toggleOfFunction() }],
];

/* Rows are scrolled as far as there are any: then the page is. */
function takeWheel(view, event, { x, y }) {
  const { rows, rowTall, firstRow } = view,
    last = Math.max(rows.lines.length - (view.tall - view.top) / rowTall, 0),
    row = Math.min(Math.max(firstRow + event.deltaY / rowTall / 2, 0), last);

  if (event.ctrlKey) view.zoom(1.002 ** event.deltaY, view.at(x));
  else if (event.altKey) view.tallerRows(1.002 ** -event.deltaY, y);
  else if (event.shiftKey || event.deltaX) view.pan((event.deltaX || event.deltaY) / view.wide);
  else if (Math.abs(row - firstRow) > 1e-3) view.go(view.from, view.to, row);
  else return;
  event.preventDefault();
}

/* onStretch(from, to): of a stretch that is dragged over with Shift; onName(row): a click on the name of a row. */
function takeMouse(view, { onStretch, onName } = {}) {
  const { canvas } = view,
    place = event => ({ x: event.offsetX - NAMES_WIDE, y: event.offsetY });

  canvas.addEventListener("wheel", event => takeWheel(view, event, place(event)), { passive: false });
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
    const cell = view.crowd.at(x, y);
    canvas.title = cell ? view.crowd.words(cell) : view.wordsAt(x, y);
  });
  canvas.addEventListener("pointerup", event => {
    const { x, y } = place(event),
      { drag } = view,
      cell = view.crowd.at(x, y),
      isClick = drag && Math.abs(x - drag.x) <= 4,
      ends = drag ? [Math.min(x, drag.x), Math.max(x, drag.x)].map(at => view.at(at)) : [];

    view.drag = null;
    if (cell && isClick) view.crowd.pick(cell);
    else if (event.shiftKey && isClick) view.toggleStacks(y);
    else if (x < 0 && isClick && view.groupAt(y)) view.rows.toggle(view.groupAt(y));
    else if (x < 0 && isClick && onName && view.rowOf(y) !== null) onName(view.rowOf(y));
    else if (drag && !isClick) (event.shiftKey && onStretch ? onStretch : (from, to) => view.go(from, to))(...ends);
    else view.select(view.sliceAt(x, y), view.tileAt(x, y));
  });
}
/* The window of the whole run is dragged; elsewhere it goes to the pointer first. */
function takeMap(view) {
  const { map } = view,
    timeAt = event => {
      const { from, to } = view.bounds;

      return from + ((event.offsetX - NAMES_WIDE) / (map.clientWidth - NAMES_WIDE)) * (to - from);
    };
  let grip = null; /* ns from the window's begin */

  map.addEventListener("pointerdown", event => {
    const time = timeAt(event);

    map.setPointerCapture(event.pointerId);
    if (time < view.from || time > view.to) view.goToTime(time);
    grip = time - view.from;
  });
  map.addEventListener("pointermove", event => {
    if (grip === null) return;
    const from = timeAt(event) - grip;

    view.go(from, from + view.to - view.from);
  });
  for (const type of ["pointerup", "pointercancel"]) map.addEventListener(type, () => (grip = null));
}

/* All of its rows over all of its time. */
async function loadWhole(view) {
  const rows = view.about.rows.length,
    merge = Math.max(1, Math.ceil(rows / MAP_TALL)),
    text = Array.from(
      { length: Math.ceil(rows / merge) },
      (_, i) => i * merge + "-" + (Math.min((i + 1) * merge, rows) - 1),
    ).join(";");

  view.whole = await view.trace.tiles({ from: 0, to: view.about.span_ns, count: 512, first: 0, merge, text });
}
