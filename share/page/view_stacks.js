/* In view.html. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Below the timeline, on its axis of time: call stacks of the rows that are chosen, in all their depth, one below the
 * other in the order of the timeline. */

const MOST_STACKS = 8,
  STACK_TALL = 15 /* pixels of a depth */,
  STACK_SMALL = 12 /* the same, of more than two rows */,
  STACK_GAP = 5;

/* Of "0-3,7" those below `end`. */
function numbersIn(text, end) {
  const parts = text
    .split(",")
    .map(part => part.match(/^(\d+)(?:-(\d+))?$/))
    .filter(Boolean);

  return [
    ...new Set(
      parts.flatMap(([, first, last]) => {
        const count = Math.min(Number(last || first) + 1, end) - Number(first);

        return Array.from({ length: Math.max(count, 0) }, (_, i) => Number(first) + i);
      }),
    ),
  ].sort((a, b) => a - b);
}

/* As many as an address has room for. */
const fewEnough = rows => (rangesOf(rows).length < ONLY_LONGEST ? rows : rows.slice(0, MOST_STACKS));

class Stacks {
  constructor(view) {
    this.view = view;
    this.rows = []; /* that are chosen */
    this.known = new Map(); /* of those that are shown: { slices, leftOut } */
    this.callers = new Callers(view);
    this.places = []; /* { row, top, tall }, pixels */
    this.canvas = make("canvas", { class: "stack-canvas", role: "img" });
    this.title = make("b");
    this.told = make("span", { class: "note" });
    this.field = make("input", {
      type: "search",
      class: "short",
      placeholder: "0-3,8",
      "aria-label": "ranks whose call stacks are shown",
      onchange: event => this.chooseRanks(event.target.value.trim()),
    });
    this.element = strip(
      this.title,
      [make("label", null, "ranks ", this.field), this.told],
      () => this.show([]),
      make(
        "div",
        { class: "scrolling", tabindex: "0", role: "region", "aria-label": "call stacks of rows" },
        this.canvas,
      ),
    );
    this.takePointer();
    this.readAddress();
  }

  takePointer() {
    const { canvas, view } = this;

    canvas.addEventListener("click", event => {
      const { row, slice } = this.at(event);

      if (row === null) return;
      if (event.shiftKey) this.toggle([row]);
      else if (event.offsetX < NAMES_WIDE) view.goToRow(row);
      else if (!slice || !slice.isCaller) view.select(slice && slice.of);
    });
    canvas.addEventListener("pointermove", event => {
      const { row, slice } = this.at(event);

      if (slice)
        canvas.title =
          this.callers.regions[slice.region].name +
          (slice.isCaller ? ", caller of what is below" : ", " + nanoseconds(slice.ns));
      else
        canvas.title = row !== null && event.offsetX < NAMES_WIDE ? "show this row; with Shift: close its stack" : "";
    });
  }
  /* What is pointed at: a row, and its call there. */
  at({ offsetX, offsetY }) {
    const { view } = this,
      place = this.places.find(({ top, tall }) => offsetY >= top && offsetY < top + tall),
      time = view.at(offsetX - NAMES_WIDE);

    if (!place) return { row: null, slice: null };
    const depth = Math.floor((offsetY - place.top) / this.laneTall),
      { slices } = this.of(place.row),
      isThere = slice => slice.depth === depth && slice.begin <= time && time <= slice.begin + slice.ns;

    return { row: place.row, slice: (offsetX >= NAMES_WIDE && slices.find(isThere)) || null };
  }

  /* ---- which rows ---- */

  readAddress() {
    this.rows = numbersIn(address.get("stack") || "", this.view.about.rows.length);
    this.field.value = this.text;
  }
  show(wanted) {
    const { view } = this,
      rows = fewEnough(wanted),
      hadFocus = this.element.contains(document.activeElement);

    this.rows = rows;
    address.set("stack", rows.length ? rangesOf(rows) : null);
    this.field.value = this.text;
    this.field.removeAttribute("aria-invalid");
    view.charts.draw();
    if (hadFocus && !rows.length) view.canvas.focus();
    view.changed();
  }
  /* Adds rows, or takes them away if all of them are there. */
  toggle(rows) {
    const before = new Set(this.rows),
      own = new Set(rows);

    if (rows.every(row => before.has(row))) this.show(this.rows.filter(row => !own.has(row)));
    else if (this.rows.length >= MOST_STACKS)
      this.view.tellShortly(plural(MOST_STACKS, "call stack") + " at most: close one first");
    else this.show([...new Set([...this.rows, ...rows])].sort((a, b) => a - b));
  }
  /* Those, or none if it is those that are there. */
  toggleAll(rows) {
    this.show(rangesOf(fewEnough(rows)) === rangesOf(this.rows) ? [] : rows);
  }
  chooseRanks(text) {
    const { rows } = this.view.about,
      wanted = text ? ranksOf(text) : () => false,
      found = wanted ? [...rows.keys()].filter(row => wanted(rows[row].rank, rows[row].thread)) : [];

    if (found.length || !text) this.show(found);
    else this.field.setAttribute("aria-invalid", "true");
  }
  /* As the field takes it. */
  get text() {
    const { rows } = this.view.about,
      isChosen = new Set(this.rows),
      ranks = new Map();

    rows.forEach(({ rank }, row) => {
      if (!ranks.has(rank)) ranks.set(rank, []);
      ranks.get(rank).push(row);
    });
    const whole = [...ranks].filter(([, all]) => all.every(row => isChosen.has(row))).map(([rank]) => rank),
      isWhole = new Set(whole),
      others = this.rows.filter(row => !isWhole.has(rows[row].rank));
    return [rangesOf(whole.sort((a, b) => a - b)), ...others.map(row => rows[row].rank + ":" + rows[row].thread)]
      .filter(Boolean)
      .join(",");
  }
  get isShown() {
    return this.rows.length > 0;
  }
  /* Rows that have no line come last. They are put in order once, not in each frame. */
  get shown() {
    const { lineOf } = this.view.rows,
      place = row => (lineOf[row] < 0 ? Infinity : lineOf[row]),
      { order } = this;

    if (!order || order.of !== this.rows || order.by !== lineOf) {
      const rows = [...this.rows].sort((a, b) => place(a) - place(b) || a - b).slice(0, MOST_STACKS);

      this.order = { of: this.rows, by: lineOf, rows };
    }
    return this.order.rows;
  }

  /* ---- the picture ---- */

  of(row) {
    return this.known.get(row) || { slices: [], leftOut: 0 };
  }
  async load(from, to) {
    const { view, shown } = this,
      least = Math.floor((to - from) / view.wide / 2),
      found = await Promise.all(shown.map(row => view.trace.slices(row, from, to, least)));

    await this.callers.load(found.flatMap(({ slices }) => slices.filter(slice => !slice.depth)));
    this.known = new Map(
      shown.map((row, i) => [row, { ...found[i], slices: this.callers.around(found[i].slices, 4 * least) }]),
    );
  }
  get laneTall() {
    return this.rows.length > 2 ? STACK_SMALL : STACK_TALL;
  }
  arrange() {
    let top = 0;

    this.places = this.shown.map(row => {
      const deep = this.of(row).slices.reduce((most, { depth }) => Math.max(most, depth + 1), 1),
        place = { row, top, tall: deep * this.laneTall + 2 };

      top += place.tall + STACK_GAP;
      return place;
    });
    this.canvas.style.height = top - STACK_GAP + "px";
  }
  tell() {
    const names = this.places.map(({ row }) => rowName(this.view.about.rows[row])),
      short = this.places.reduce((sum, { row }) => sum + this.of(row).leftOut, 0),
      more = this.rows.length - names.length;

    this.title.textContent = names.length > 1 ? "stacks of " + plural(names.length, "row") : "stack of " + names[0];
    this.told.textContent = [
      more ? `${plural(more, "row")} left out: ${MOST_STACKS} stacks at most` : "",
      short ? plural(short, "short call") + " not drawn: zoom in" : "",
    ]
      .filter(Boolean)
      .join("; ");
    this.canvas.setAttribute("aria-label", "call stacks along time, from top to bottom: " + names.join(", "));
  }
  paint() {
    this.arrange();
    this.tell();
    this.paintOn(context(this.canvas));
  }
  get tall() {
    const { top, tall } = this.places.at(-1) || { top: 0, tall: 0 };

    return top + tall;
  }
  paintOn({ picture, wide, tall }) {
    const { view, places } = this,
      { palette } = view;

    picture.fillStyle = palette.ground;
    picture.fillRect(0, 0, wide, tall);
    for (const { row, top } of places) {
      picture.fillStyle = palette.line;
      if (top) picture.fillRect(0, top - Math.ceil(STACK_GAP / 2), wide, 1);
      picture.fillStyle = palette.text;
      picture.fillText(rowName(view.about.rows[row]), 4, top + 11, NAMES_WIDE - 8);
    }
    picture.translate(NAMES_WIDE, 0);
    picture.beginPath();
    picture.rect(0, 0, view.wide, tall);
    picture.clip();
    for (const place of places) this.paintRow(picture, place);
  }
  paintRow(picture, { row, top, tall }) {
    const { view } = this,
      { slices } = this.of(row),
      { selected } = view,
      own = selected && slices.find(({ of }) => of && of.begin === selected.begin && of.depth === selected.depth),
      of = {
        ...gridOf(view),
        about: this.callers,
        selected: own ? { ...selected, depth: own.depth } : null,
        rows: { lineOf: { [row]: 0 } },
        rowTall: tall,
        y: () => top,
      };

    for (const paint of slices.length ? [paintSlices, paintNames] : []) paint(picture, slices, row, of, view.palette);
  }
}

const STACK_COMMANDS = [
  [
    "k",
    "show or hide the call stack of the selected row, beside those of other rows",
    {
      k: view => {
        const line = view.rows.lines[Math.floor(view.firstRow)] || { rows: [0] };

        view.charts.stacks.toggle([view.selected ? view.selected.row : line.rows[0]]);
      },
    },
  ],
  [
    "K",
    "show or hide the call stacks of the rows in view",
    { K: view => view.charts.stacks.toggleAll(view.rows.seen(Math.max(0, Math.floor(view.firstRow)), view.rowsShown)) },
  ],
];
