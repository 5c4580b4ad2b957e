/* In view.html. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* A chart of values along time: sensors, counters, memory, metrics; uPlot draws it. Each name has an axis of its own,
 * and dashes of its own: several can be in one chart, also of some ranks alone. In the address charts are
 * "NAME~NAME@RANKS", with | between them. */

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
    this.scale = this.scaleOf();
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
  scaleOf() {
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
    this.picture = make("div", { class: "chart-canvas", role: "img" });
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
      this.picture,
    );
    this.picture.addEventListener("pointermove", event => {
      view.charts.point(event.clientX - this.picture.getBoundingClientRect().left - NAMES_WIDE);
    });
    this.picture.addEventListener("pointerleave", () => view.charts.point(null));
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

    this.picture.setAttribute("aria-label", this.axes.map(({ key }) => key).join(", ") + " along time");
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

  get loaded() {
    return this.axes.filter(({ window }) => window);
  }
  paint() {
    const { view, picture, loaded } = this,
      { clientWidth: width, clientHeight: height } = picture,
      looks = JSON.stringify([view.palette.ground, loaded.map(({ key, pens }) => [key, pens])]);

    if (!loaded.length || !width) return;
    if (looks !== this.looks) {
      this.close();
      this.plot = new uPlot(this.options({ width, height }), null, picture);
      Object.assign(this, { looks, drawn: null });
    }
    if (width !== this.plot.width || height !== this.plot.height) this.plot.setSize({ width, height });
    if (this.drawn !== loaded[0].window) this.plot.setData(this.table(), false);
    this.drawn = loaded[0].window;
    this.plot.setScale("x", { min: view.from, max: view.to });
    this.point();
  }
  /* The library listens to the window. */
  close() {
    if (this.plot) this.plot.destroy();
    this.plot = this.looks = null;
  }
  point() {
    const { pointed } = this.view.charts;

    if (this.plot) this.plot.setCursor({ left: pointed === null ? -10 : pointed, top: 0 }, false);
    this.tell();
  }
  /* The ends of the stretches, and of each line what is lowest, highest and last in them. */
  table() {
    const { from, to, count } = this.loaded[0].window,
      times = Array.from({ length: count + 1 }, (_, i) => from + ((to - from) * i) / count),
      values = (data, of) =>
        times.map((_, i) => {
          const value = data[3 * Math.max(i - 1, 0) + of];

          return isNaN(value) ? null : value;
        });

    return [
      times,
      ...this.loaded.flatMap(axis =>
        axis.lines(this.view).flatMap(({ data }) => [0, 1, 2].map(of => values(data, of))),
      ),
    ];
  }
  options(size) {
    const { view, loaded } = this,
      { palette } = view,
      lines = loaded.flatMap((axis, i) => axis.lines(view).map(({ pen }) => ({ pen, scale: "y" + i }))),
      alpha = loaded.length > 1 ? 0.18 : 0.3;

    return {
      ...size,
      padding: [5, 0, 3, 0],
      legend: { show: false },
      cursor: { y: false, points: { show: false }, drag: { x: false, y: false }, bind: NO_EVENTS },
      scales: {
        x: { time: false, range: () => [view.from, view.to] },
        ...Object.fromEntries(loaded.map((axis, i) => ["y" + i, { range: () => [axis.scale.least, axis.scale.most] }])),
      },
      axes: [
        {
          ...{ size: 0, ticks: { show: false }, values: () => [], grid: { stroke: palette.line, width: 1 } },
          splits: () => ticks(view.from, view.to, view.wide / 100),
        },
        ...loaded.map((axis, i) => this.axisOf(axis, i)),
      ],
      series: [{}, ...lines.flatMap(({ pen, scale }) => seriesOf(pen, scale))],
      bands: lines.map(({ pen }, i) => ({ series: [3 * i + 2, 3 * i + 1], fill: paleColour(pen.colour, alpha) })),
    };
  }
  /* Beside each other at the left; of several, each with its dashes. */
  axisOf({ pens }, i) {
    const { palette } = this.view,
      isAlone = this.loaded.length === 1,
      size = NAMES_WIDE / this.loaded.length,
      pen = pens[0];

    return {
      ...{ scale: "y" + i, side: 3, size, gap: 3, space: 24, stroke: palette.quiet, font: FONT },
      ...{ grid: { show: false }, ticks: { show: !isAlone, size: 4, stroke: palette.quiet } },
      border: isAlone || !pen ? { show: false } : { show: true, stroke: pen.colour, width: pen.wide, dash: pen.dash },
      values: (plot, splits) => splits.map(value => shortly(value, size < 50 ? 3 : 4)),
    };
  }

  /* ---- what the curves are ---- */

  /* An entry for each curve; tell() writes its value at the pointer. */
  legend() {
    const parts = [];

    this.entries = [];
    for (const axis of this.loaded) {
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
const paleColour = (colour, alpha) => `rgb(${channels(colour).join(" ")} / ${alpha})`,
  FONT = "11px system-ui, sans-serif",
  NO_EVENTS = Object.fromEntries(
    ["mousedown", "mouseup", "click", "dblclick", "mousemove", "mouseleave", "mouseenter"].map(name => [
      name,
      () => null,
    ]),
  );

/* What is lowest and highest, between which the band is, and what is last in each stretch. */
function seriesOf({ colour, dash, wide }, scale) {
  const edge = { scale, width: 0, paths: uPlot.paths.stepped({ align: -1 }), points: { show: false } };

  return [edge, edge, { scale, stroke: colour, dash, width: wide, points: { show: false } }].map(of => ({ ...of }));
}

/* A piece of the line. */
function penKey(pen) {
  const key = make("canvas", { class: "pen", width: 30, height: 10 }),
    picture = key.getContext("2d");

  picture.strokeStyle = pen.colour;
  picture.lineWidth = pen.wide;
  picture.setLineDash(pen.dash);
  picture.beginPath();
  picture.moveTo(0, 5);
  picture.lineTo(30, 5);
  picture.stroke();
  return key;
}
