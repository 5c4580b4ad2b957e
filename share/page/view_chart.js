/* In view.html. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* A chart of values along time: sensors, counters, memory, metrics. Each name has an axis of its own, and dashes of its
 * own: several can be in one chart, also of some ranks alone. In the address charts are "NAME~NAME@RANKS", with |
 * between them. */

const MOST_AXES = 4 /* of a chart */,
  MOST_CURVES = 8 /* of an axis; more are drawn as one band */,
  MOST_ASKED = 64 /* series at once, as the server has it */,
  DASHES = [[], [7, 3], [2, 2], [9, 3, 2, 3]];

/* Curves of one axis: each { curve, data }, and the pen of each; above MOST_CURVES one pen, of their band. */
class ChartAxis {
  constructor({ key, curves }) {
    Object.assign(this, { key, curves, values: [], left: 0, window: null });
  }
  get isBand() {
    return this.values.length > MOST_CURVES;
  }
  /* What take() is given, once all axes have theirs. */
  async load(view, wanted, { from, to, count }) {
    const fits = this.curves.filter(({ row }) => wanted(view.about.rows[row].rank)),
      asked = fits.slice(0, MOST_ASKED),
      series = asked.map(({ number }) => number).join(","),
      data = asked.length
        ? new Float64Array(await (await view.trace.ask("values", { from, to, count, series })).arrayBuffer())
        : new Float64Array(0);

    return {
      left: fits.length - asked.length,
      values: asked.map((curve, i) => ({ curve, data: data.subarray(3 * count * i, 3 * count * (i + 1)) })),
      window: { from, to, count },
    };
  }
  take(loaded) {
    Object.assign(this, loaded);
    this.joined = this.isBand ? this.band() : null;
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
  get scale() {
    let most = 0,
      least = 0;

    for (const { data } of this.values)
      for (const value of data) {
        if (value > most) most = value;
        if (value < least) least = value;
      }
    return { least, most: most > least ? most : least + 1 };
  }
  /* Dashes say which axis it is; in a chart with one axis, which curve. */
  pensFrom(first, number, isAlone, palette) {
    const pen = i => ({
      colour: curveColour(first + i, palette),
      dash: DASHES[(isAlone ? i : number) % DASHES.length],
      wide: isAlone && i >= DASHES.length ? 3 : 1.5,
    });

    this.pens = this.isBand ? [pen(0)] : this.values.map((_, i) => pen(i));
    return first + this.pens.length;
  }
  /* What is drawn: { data, pen, name }. */
  lines(view) {
    return this.isBand
      ? [{ data: this.joined, pen: this.pens[0], name: "mean of " + plural(this.values.length, "series") }]
      : this.values.map(({ curve, data }, i) => ({ data, pen: this.pens[i], name: curveName(curve, view) }));
  }
}

class Chart {
  constructor(view, all, ranks = "") {
    Object.assign(this, { view, axes: all.map(of => new ChartAxis(of)), ranks });
    this.canvas = make("canvas", { class: "chart-canvas", role: "img" });
    this.told = make("span", { class: "note curves" });
    this.more = make("select", {
      "aria-label": "values that are added to this chart",
      onchange: event => this.add(event.target.value),
    });
    this.filter = make("input", {
      type: "search",
      class: "short",
      value: ranks,
      placeholder: "all",
      "aria-label": "ranks of this chart",
      onchange: event => this.setRanks(event.target.value.trim()),
    });
    this.element = strip(
      this.told,
      [make("label", { class: "tool" }, "ranks ", this.filter), this.more],
      () => view.charts.remove(this),
      this.canvas,
    );
    this.canvas.addEventListener("pointermove", event => {
      view.charts.point(event.offsetX - NAMES_WIDE);
    });
    this.canvas.addEventListener("pointerleave", () => view.charts.point(null));
    this.name();
  }
  get place() {
    return this.axes.map(({ key }) => key).join("~") + (this.ranks ? "@" + this.ranks : "");
  }
  has(key) {
    return this.axes.some(of => of.key === key);
  }
  name() {
    const { all } = this.view.charts,
      left = all.filter(({ key }) => !this.has(key)),
      isSeveral = this.axes.length > 1;

    this.canvas.setAttribute("aria-label", this.axes.map(({ key }) => key).join(", ") + " along time");
    this.element.classList.toggle("tall", isSeveral);
    this.more.hidden = !left.length || this.axes.length >= MOST_AXES;
    this.more.replaceChildren(
      make("option", { value: "" }, "with ..."),
      ...left.map(({ key }) => make("option", { value: key }, key)),
      ...(isSeveral ? this.axes.map(({ key }) => make("option", { value: "-" + key }, "without " + key)) : []),
    );
    if (isSeveral) this.more.hidden = false;
  }
  /* "-NAME": it is taken out. */
  add(key) {
    const chosen = this.view.charts.all.find(of => of.key === key);

    if (chosen && !this.has(key) && this.axes.length < MOST_AXES) this.axes = [...this.axes, new ChartAxis(chosen)];
    else if (!chosen) this.axes = this.axes.filter(of => "-" + of.key !== key);
    this.name();
    this.view.charts.changed();
  }
  setRanks(text) {
    const isGood = !text || ranksOf(text) !== null;

    this.filter.setAttribute("aria-invalid", String(!isGood));
    this.ranks = isGood ? text : "";
    this.view.charts.changed();
  }

  async load(from, to, count) {
    const { axes, view } = this,
      wanted = ranksOf(this.ranks) || (() => true),
      loaded = [];
    let first = 0;

    for (const axis of axes) loaded.push(await axis.load(view, wanted, { from, to, count }));
    axes.forEach((axis, i) => {
      axis.take(loaded[i]);
      first = axis.pensFrom(first, i, axes.length === 1, view.palette);
    });
    this.legend();
  }

  /* ---- the picture ---- */

  paint() {
    const { view } = this,
      { palette } = view,
      c = context(this.canvas),
      { picture, tall } = c,
      axes = this.axes.filter(({ window }) => window),
      y =
        ({ least, most }) =>
        value =>
          tall - 3 - ((value - least) / (most - least)) * (tall - 8);

    picture.fillStyle = palette.ground;
    picture.fillRect(0, 0, c.wide, tall);
    axes.forEach((axis, i) => this.paintScale(picture, axis, i, tall));
    picture.save();
    picture.translate(NAMES_WIDE, 0);
    picture.beginPath();
    picture.rect(0, 0, view.wide, tall);
    picture.clip();
    paintGrid(picture, { ...gridOf(view), top: 0, tall }, palette);
    for (const axis of axes)
      axis.lines(view).forEach(({ data, pen }) => this.paintCurve(picture, axis, data, pen, y(axis.scale)));
    if (view.charts.pointed !== null) {
      picture.fillStyle = palette.text;
      picture.fillRect(view.charts.pointed, 0, 1, tall);
    }
    picture.restore();
    this.tell();
  }
  /* Beside each other at the left; of several, each with its dashes. */
  paintScale(picture, axis, i, tall) {
    const { palette } = this.view,
      { least, most } = axis.scale,
      wide = NAMES_WIDE / this.axes.length,
      right = NAMES_WIDE - 6 - (this.axes.length - 1 - i) * wide,
      at = (value, y) => picture.fillText(shortly(value, wide < 50 ? 3 : 4), right - 3, y, wide - 8);

    picture.fillStyle = palette.quiet;
    picture.textAlign = "right";
    at(most, 12);
    if (tall > 100) at((most + least) / 2, tall / 2 + 4);
    at(least, tall - 3);
    picture.textAlign = "left";
    if (this.axes.length === 1 || !axis.pens || !axis.pens.length) return;
    usePen(picture, axis.pens[0]);
    picture.beginPath();
    picture.moveTo(right + 1, 2);
    picture.lineTo(right + 1, tall - 2);
    picture.stroke();
    picture.setLineDash([]);
  }
  /* The range in each stretch, pale, and the last value of it. */
  paintCurve(picture, axis, data, pen, y) {
    const { view } = this,
      { from, to, count } = axis.window,
      x = i => view.x(from + ((to - from) * i) / count);

    picture.fillStyle = pen.colour;
    picture.globalAlpha = this.axes.length > 1 ? 0.18 : 0.3;
    for (let i = 0; i < count; i++) {
      const [least, most] = data.subarray(3 * i, 3 * i + 2);

      if (!isNaN(least)) picture.fillRect(x(i), y(most), x(i + 1) - x(i) + 0.5, Math.max(y(least) - y(most), 1));
    }
    picture.globalAlpha = 1;
    usePen(picture, pen);
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
    picture.setLineDash([]);
  }

  /* ---- what the curves are ---- */

  /* An entry for each curve; tell() writes its value at the pointer. */
  legend() {
    const parts = [];

    this.entries = [];
    for (const axis of this.axes.filter(({ window }) => window)) {
      const { key, left, values } = axis;

      parts.push(parts.length ? " " : "", make("b", null, key));
      for (const { data, pen, name } of axis.lines(this.view)) {
        const value = make("span");

        this.entries.push({ axis, data, value });
        parts.push(" ", make("span", { class: "curve" }, penKey(pen), name, value));
      }
      if (left) parts.push(" (" + values.length + " of " + (values.length + left) + " series)");
    }
    this.told.replaceChildren(...parts);
  }
  tell() {
    const { view } = this,
      { pointed } = view.charts;

    for (const { axis, data, value } of this.entries || []) {
      const { from, to, count } = axis.window,
        i = Math.min(Math.max(Math.floor(((view.at(pointed) - from) / (to - from)) * count), 0), count - 1),
        [least, most, last] = data.subarray(3 * i, 3 * i + 3),
        range = axis.isBand && !isNaN(last) ? ", " + shortly(least) + " to " + shortly(most) : "";

      value.textContent = pointed === null ? "" : ": " + (isNaN(last) ? "none" : shortly(last) + range);
    }
  }
}

/* A thin line needs more contrast than an area (WCAG 2). */
const LEAST_CONTRAST = 2.5;
function curveColour(i, { ground, text }) {
  const colour = functionColour(i),
    [dark, light] = [luminance(colour), luminance(ground)].sort((a, b) => a - b);

  return (light + 0.05) / (dark + 0.05) < LEAST_CONTRAST ? mixed(colour, text) : colour;
}
function usePen(picture, { colour, dash, wide }) {
  picture.strokeStyle = colour;
  picture.lineWidth = wide;
  picture.setLineDash(dash);
}

/* A piece of the line. */
function penKey(pen) {
  const key = make("canvas", { class: "pen", width: 30, height: 10 }),
    picture = key.getContext("2d");

  usePen(picture, pen);
  picture.beginPath();
  picture.moveTo(0, 5);
  picture.lineTo(30, 5);
  picture.stroke();
  return key;
}
