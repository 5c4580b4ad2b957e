/* In view.html. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Below the timeline, on its axis of time: charts of values (view_chart.js), and the call stack of one row in all its
 * depth. */

const STACK_TALL = 15;

/* Series of one name and unit have one axis. */
function chartsOf(series) {
  const charts = new Map();

  series.forEach(({ name, unit, row, of, is_rate: isRate }, number) => {
    const [what, source] = name.split("@"),
      key = what + (unit || isRate ? " (" + (unit || "1") + (isRate ? "/s" : "") + ")" : "");

    if (!charts.has(key)) charts.set(key, { key, curves: [] });
    charts.get(key).curves.push({ number, row, of, source: source || null });
  });
  return [...charts.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
}

const curveName = ({ row, of, source }, { about }) =>
  source ||
  (of === "node" ? about.rows[row].host : of === "process" ? "rank " + about.rows[row].rank : rowName(about.rows[row]));

/* A picture below the rows, with its title, words, and a button that closes it. */
function strip(title, words, close, picture) {
  return make(
    "figure",
    { class: "strip" },
    make(
      "figcaption",
      null,
      title,
      ...words,
      make("button", { type: "button", class: "tool", onclick: close }, "close"),
    ),
    picture,
  );
}

/* What eachTick() needs, of a View, whose getters are not copied. */
const gridOf = view => ({ from: view.from, to: view.to, wide: view.wide, x: ns => view.x(ns) });

/* Some digits, and a power of a thousand. */
function shortly(value, digits = 4) {
  const size = Math.abs(value),
    [word, of] = [
      ["G", 1e9],
      ["M", 1e6],
      ["k", 1e3],
    ].find(([, least]) => size >= least) || ["", 1];

  return Number((value / of).toPrecision(digits)) + (word && " " + word);
}

/* The call stack of a row, at all depths. */
class Stack {
  constructor(view) {
    this.view = view;
    this.row = address.get("stack") === null ? null : Number(address.get("stack"));
    this.slices = [];
    this.leftOut = 0;
    this.canvas = make("canvas", { class: "stack-canvas", role: "img" });
    this.title = make("b");
    this.told = make("span", { class: "note" });
    this.element = strip(
      this.title,
      [this.told],
      () => this.show(null),
      make("div", { class: "scrolling" }, this.canvas),
    );
    this.canvas.addEventListener("click", event => {
      const time = view.at(event.offsetX - NAMES_WIDE),
        depth = Math.floor(event.offsetY / STACK_TALL);

      view.select(this.slices.find(s => s.depth === depth && s.begin <= time && time <= s.begin + s.ns) || null);
    });
  }
  show(row) {
    this.row = row;
    address.set("stack", row === null ? null : String(row));
    this.view.charts.draw();
    this.view.changed();
  }
  get isShown() {
    return this.row !== null && this.row < this.view.about.rows.length;
  }
  async load(from, to) {
    if (!this.isShown) return;
    const { slices, leftOut } = await this.view.trace.slices(
      this.row,
      from,
      to,
      Math.floor((to - from) / this.view.wide / 2),
    );

    this.slices = slices;
    this.leftOut = leftOut;
  }
  paint() {
    const { view } = this,
      deep = Math.max(...this.slices.map(slice => slice.depth + 1), 1);

    this.title.textContent = "stack of " + rowName(view.about.rows[this.row]);
    this.told.textContent = this.leftOut ? plural(this.leftOut, "short call") + " not drawn: zoom in" : "";
    this.canvas.setAttribute("aria-label", this.title.textContent + " along time");
    this.canvas.style.height = deep * STACK_TALL + 2 + "px";
    const { picture, wide, tall } = context(this.canvas);

    picture.fillStyle = view.palette.ground;
    picture.fillRect(0, 0, wide, tall);
    picture.translate(NAMES_WIDE, 0);
    picture.beginPath();
    picture.rect(0, 0, view.wide, tall);
    picture.clip();
    if (this.slices.length)
      paintSlices(
        picture,
        this.slices,
        this.row,
        {
          ...gridOf(view),
          about: view.about,
          selected: view.selected,
          rows: { lineOf: { [this.row]: 0 } },
          rowTall: deep * STACK_TALL + 2,
          y: () => 0,
        },
        view.palette,
      );
  }
}

/* All of them, one below the other. */
class Charts {
  constructor(view) {
    this.view = view;
    this.all = [];
    this.shown = [];
    this.pointed = null;
    this.stack = new Stack(view);
    this.choice = make("select", {
      "aria-label": "values that are charted below",
      onchange: event => {
        this.add(event.target.value);
        event.target.value = "";
      },
    });
    this.element = make("div", {
      class: "strips",
      tabindex: "0",
      role: "group",
      "aria-label": "charts below the timeline",
    });
  }
  async open() {
    const { series } = await this.view.trace.json("series", {});

    this.all = this.view.series = chartsOf(series);
    this.choice.hidden = !this.all.length;
    this.choice.replaceChildren(
      make("option", { value: "" }, "add values ..."),
      ...this.all.map(({ key }) => make("option", { value: key }, key)),
    );
    this.readAddress();
  }
  readAddress() {
    const wanted = address.get("values") || "";

    if (wanted === this.place) return;
    this.shown = [];
    wanted.split("|").forEach(place => this.put(place));
    this.draw();
  }
  get place() {
    return this.shown.map(({ place }) => place).join("|");
  }
  put(place) {
    const [keys, ranks] = place.split("@"),
      chosen = keys
        .split("~")
        .map(key => this.all.find(of => of.key === key))
        .filter(Boolean);

    if (chosen.length) this.shown.push(new Chart(this.view, chosen.slice(0, MOST_AXES), ranks || ""));
  }
  add(key) {
    if (!this.shown.some(({ place }) => place === key)) this.put(key);
    this.changed();
  }
  remove(chart) {
    this.shown = this.shown.filter(of => of !== chart);
    this.changed();
  }
  changed() {
    address.set("values", this.place || null);
    this.draw();
    this.view.changed();
  }
  draw() {
    this.element.replaceChildren(
      ...(this.stack.isShown ? [this.stack.element] : []),
      ...this.shown.map(({ element }) => element),
    );
    this.element.hidden = !this.element.children.length;
  }
  async load(from, to, count) {
    await this.stack.load(from, to);
    for (const chart of this.shown) await chart.load(from, to, count);
  }
  paint() {
    if (this.stack.isShown) this.stack.paint();
    this.shown.forEach(chart => chart.paint());
  }
  point(x) {
    this.pointed = x !== null && x >= 0 ? x : null;
    this.shown.forEach(chart => chart.paint());
  }
}

const SERIES_COMMANDS = [
  [
    "k",
    "show or hide the call stack of the selected row",
    {
      k: view => {
        const row = view.selected
          ? view.selected.row
          : (view.rows.lines[Math.floor(view.firstRow)] || { rows: [0] }).rows[0];

        view.charts.stack.show(view.charts.stack.row === row ? null : row);
      },
    },
  ],
];
