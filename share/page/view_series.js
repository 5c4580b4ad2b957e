/* In view.html. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Below the timeline, on its axis of time: charts of values (sensors, counters, memory, metrics), each with an axis of
 * its own, and the call stack of one row in all its depth. */

const CHART_TALL = 84,
  MOST_CURVES = 8 /* of one chart; more are drawn as one band */,
  MOST_ASKED = 64 /* series at once, as the server has it */,
  STACK_TALL = 15;

/* Series of one name and unit are one chart. */
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
    make("figcaption", null, title, words, make("button", { type: "button", class: "tool", onclick: close }, "close")),
    picture,
  );
}

class Chart {
  constructor(view, { key, curves }) {
    Object.assign(this, { view, key, curves, values: null, pointed: null });
    this.canvas = make("canvas", { class: "chart-canvas", role: "img", "aria-label": key + " along time" });
    this.told = make("span", { class: "note" });
    this.element = strip(make("b", null, key), this.told, () => view.charts.remove(key), this.canvas);
    this.canvas.addEventListener("pointermove", event => {
      view.charts.point(event.offsetX - NAMES_WIDE);
    });
    this.canvas.addEventListener("pointerleave", () => view.charts.point(null));
  }

  async load(from, to, count) {
    const asked = this.curves.slice(0, MOST_ASKED),
      data = new Float64Array(
        await (
          await this.view.trace.ask("values", { from, to, count, series: asked.map(({ number }) => number).join(",") })
        ).arrayBuffer(),
      );

    this.values = asked.map((curve, i) => ({ curve, data: data.subarray(3 * count * i, 3 * count * (i + 1)) }));
    this.window = { from, to, count };
  }

  /* Of all curves in each stretch. */
  band() {
    const { count } = this.window,
      out = new Float64Array(3 * count).fill(NaN);

    for (let i = 0; i < count; i++) {
      let sum = 0,
        n = 0;

      for (const { data } of this.values) {
        const [least, most, last] = data.subarray(3 * i, 3 * i + 3);

        if (isNaN(least)) continue;
        out[3 * i] = out[3 * i] <= least ? out[3 * i] : least;
        out[3 * i + 1] = out[3 * i + 1] >= most ? out[3 * i + 1] : most;
        sum += last;
        n++;
      }
      if (n) out[3 * i + 2] = sum / n;
    }
    return out;
  }
  scale() {
    let most = 0,
      least = 0;

    for (const { data } of this.values || [])
      for (const value of data) {
        if (value > most) most = value;
        if (value < least) least = value;
      }
    return { least, most: most > least ? most : least + 1 };
  }

  paint() {
    const { view } = this,
      { palette } = view,
      c = context(this.canvas),
      { picture, tall } = c,
      { least, most } = this.scale(),
      y = value => tall - 3 - ((value - least) / (most - least)) * (tall - 8);

    picture.fillStyle = palette.ground;
    picture.fillRect(0, 0, c.wide, tall);
    picture.fillStyle = palette.quiet;
    picture.textAlign = "right";
    picture.fillText(shortly(most), NAMES_WIDE - 6, 12);
    picture.fillText(shortly(least), NAMES_WIDE - 6, tall - 3);
    picture.textAlign = "left";
    picture.save();
    picture.translate(NAMES_WIDE, 0);
    picture.beginPath();
    picture.rect(0, 0, view.wide, tall);
    picture.clip();
    paintGrid(picture, { ...gridOf(view), top: 0, tall }, palette);
    if (this.values && this.values.length > MOST_CURVES) this.paintCurve(picture, this.band(), palette.accent, y);
    else (this.values || []).forEach(({ data }, i) => this.paintCurve(picture, data, functionColour(i), y));
    if (view.charts.pointed !== null) {
      picture.fillStyle = palette.text;
      picture.fillRect(view.charts.pointed, 0, 1, tall);
    }
    picture.restore();
    this.tell();
  }
  /* The range in each stretch, pale, and the last value of it. */
  paintCurve(picture, data, colour, y) {
    const { view } = this,
      { from, to, count } = this.window,
      x = i => view.x(from + ((to - from) * i) / count);

    picture.fillStyle = picture.strokeStyle = colour;
    picture.globalAlpha = 0.3;
    for (let i = 0; i < count; i++) {
      const [least, most] = data.subarray(3 * i, 3 * i + 2);

      if (!isNaN(least)) picture.fillRect(x(i), y(most), x(i + 1) - x(i) + 0.5, Math.max(y(least) - y(most), 1));
    }
    picture.globalAlpha = 1;
    picture.lineWidth = 1.5;
    picture.beginPath();
    let isDrawn = false;
    for (let i = 0; i < count; i++) {
      const last = data[3 * i + 2];

      if (isNaN(last)) isDrawn = false;
      else {
        if (isDrawn) picture.lineTo(x(i + 1), y(last));
        else picture.moveTo(x(i), y(last));
        isDrawn = true;
      }
    }
    picture.stroke();
  }
  /* The values at the pointer; else what the curves are. */
  tell() {
    const { view } = this,
      { pointed } = view.charts,
      left = this.curves.length - (this.values || []).length;

    if (!this.values) return;
    if (pointed === null) {
      this.told.textContent =
        this.values.length > MOST_CURVES
          ? "least, most and mean of " +
            plural(this.values.length, "series") +
            (left ? ", of " + this.curves.length : "")
          : this.values.map(({ curve }) => curveName(curve, view)).join(", ");
      return;
    }
    const { from, to, count } = this.window,
      i = Math.min(Math.max(Math.floor(((view.at(pointed) - from) / (to - from)) * count), 0), count - 1),
      worded = data => (isNaN(data[3 * i + 2]) ? "none" : shortly(data[3 * i + 2]));

    this.told.textContent =
      this.values.length > MOST_CURVES
        ? "mean " + worded(this.band())
        : this.values.map(({ curve, data }) => curveName(curve, view) + ": " + worded(data)).join(", ");
  }
}

/* What eachTick() needs, of a View, whose getters are not copied. */
const gridOf = view => ({ from: view.from, to: view.to, wide: view.wide, x: ns => view.x(ns) });

/* Four digits, and a power of a thousand. */
function shortly(value) {
  const size = Math.abs(value),
    [word, of] = [
      ["G", 1e9],
      ["M", 1e6],
      ["k", 1e3],
    ].find(([, least]) => size >= least) || ["", 1];

  return Number((value / of).toPrecision(4)) + (word && " " + word);
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
      this.told,
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
    for (const key of (address.get("values") || "").split("|")) this.put(key);
    this.draw();
  }
  put(key) {
    const chart = this.all.find(of => of.key === key);

    if (chart && !this.shown.some(of => of.key === key)) this.shown.push(new Chart(this.view, chart));
  }
  add(key) {
    this.put(key);
    this.changed();
  }
  remove(key) {
    this.shown = this.shown.filter(of => of.key !== key);
    this.changed();
  }
  changed() {
    address.set("values", this.shown.map(({ key }) => key).join("|") || null);
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
