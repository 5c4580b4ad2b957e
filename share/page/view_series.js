/* In view.html. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Below the timeline, on its axis of time: call stacks (view_stacks.js), and charts of values (view_chart.js). */

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

/* All of them, one below the other. */
class Charts {
  constructor(view) {
    this.view = view;
    this.all = [];
    this.shown = [];
    this.pointed = null;
    this.stacks = new Stacks(view);
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

    this.stacks.readAddress();
    if (wanted !== this.place) {
      this.shown.forEach(chart => chart.close());
      this.shown = [];
      wanted.split("|").forEach(place => this.put(place));
    }
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
    chart.close();
    this.shown = this.shown.filter(of => of !== chart);
    this.changed();
  }
  changed() {
    address.set("values", this.place || null);
    this.draw();
    this.view.changed();
  }
  draw() {
    const wanted = [...(this.stacks.isShown ? [this.stacks.element] : []), ...this.shown.map(({ element }) => element)],
      { children } = this.element;

    /* what stays keeps the focus */
    if (wanted.length !== children.length || wanted.some((element, i) => element !== children[i]))
      this.element.replaceChildren(...wanted);
    this.element.hidden = !wanted.length;
  }
  async load(from, to, count) {
    await this.stacks.load(from, to);
    for (const chart of this.shown) await chart.load(from, to, count);
  }
  paint() {
    if (this.stacks.isShown) this.stacks.paint();
    this.shown.forEach(chart => chart.paint());
  }
  point(x) {
    this.pointed = x !== null && x >= 0 ? x : null;
    this.shown.forEach(chart => chart.point());
  }
}
