/* In view.html. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* The panel of rows that spend the time in view alike (view_clusters.js): those first that differ most from the largest
 * group. It is of all rows, so that its groups stay when one of them is shown alone. */

const ALIKE_STEP = 250000 /* calls that the server reads for an answer, about */,
  ALIKE_LIMITS = { 2: "2 %", 5: "5 %", 10: "10 %", 20: "20 %" },
  ALIKE_BY = { function: "function", class: "kind of function" },
  ALIKE_WORDS = 3 /* differences that are told */,
  ALIKE_LEAST = 0.01; /* part of the time */

/* "0-3,8:1": ranks of which all rows are there, then threads of others. */
function rowsText(about, rows) {
  const of = new Map(),
    all = new Map(),
    threads = new Map();

  for (const { rank } of about.rows) all.set(rank, (all.get(rank) || 0) + 1);
  for (const row of rows) of.set(about.rows[row].rank, (of.get(about.rows[row].rank) || 0) + 1);
  const isWhole = rank => of.get(rank) === all.get(rank);
  for (const row of rows) {
    const { rank, thread } = about.rows[row];

    if (!isWhole(rank)) threads.set(thread, [...(threads.get(thread) || []), rank]);
  }
  const byNumber = (a, b) => a - b,
    whole = rangesOf([...of.keys()].filter(isWhole).sort(byNumber));
  return [
    whole,
    ...[...threads]
      .sort(([a], [b]) => a - b)
      .map(([thread, ranks]) =>
        rangesOf(ranks.sort(byNumber))
          .split(",")
          .map(range => range + ":" + thread)
          .join(","),
      ),
  ]
    .filter(Boolean)
    .join(",");
}

class Alike {
  constructor(view) {
    Object.assign(this, panelOf(this, view, "alike", "Processes alike", "bottom"));
    this.readAddress();
    this.profiles = null;
    this.table = new LongTable("groups", "groups of rows that spend the time alike", this.columns(), {
      sorted: "differs",
      isChosen: group => group.text === view.rows.ranks,
      rowTall: TWO_LINES,
    });
    this.element.append(
      make(
        "p",
        { class: "tools" },
        this.choice("rows of a group differ by at most", "limit", ALIKE_LIMITS),
        this.choice("of the time by", "by", ALIKE_BY),
        this.table.csvButton(),
        this.note,
      ),
      this.table.element,
    );
    address.keep(() => this.takeAddress());
  }
  readAddress() {
    const [limit, by] = (address.get("alike") || "").split(",");

    this.limit = ALIKE_LIMITS[limit] ? limit : "10";
    this.by = ALIKE_BY[by] ? by : "function";
  }
  /* Another address is shown. */
  takeAddress() {
    this.readAddress();
    this.element.querySelectorAll("select").forEach((select, i) => (select.value = [this.limit, this.by][i]));
  }
  choice(label, key, entries) {
    return chooser(label, Object.entries(entries), this[key], value => {
      this[key] = value;
      address.set("alike", this.limit === "10" && this.by === "function" ? null : this.limit + "," + this.by);
      this.refresh();
    });
  }

  columns() {
    const part = (key, title, doc, wide) => ({ key, title, doc, wide, value: group => group[key], words: percent });

    return [
      {
        key: "ranks",
        title: this.view.about.rows.some(({ thread }) => thread) ? "ranks: threads" : "ranks",
        isText: true,
        wide: 8,
        value: group => group.text,
        order: group => group.rows[0],
        cell: group => this.rowsCell(group),
      },
      { key: "rows", title: "rows", wide: 4.5, value: group => group.rows.length, words: count },
      part(
        "differs",
        "differs",
        "the part of the time that it spends otherwise than the largest group; of single rows, than the mean",
        5.5,
      ),
      part("height", "within", "the most that two of its rows differ by", 5.5),
      {
        key: "top",
        title: "its time",
        doc: "by what has most; sorted by the largest part",
        isText: true,
        wide: 8,
        value: group => this.topWords(group.mean),
        order: group => Math.max(...group.mean),
        cell: group => this.bar(group.mean),
      },
      {
        key: "words",
        title: "what is different",
        isText: true,
        wide: 34,
        value: group => group.words,
        cell: ({ words }) => make("span", { class: "two-lines", title: words }, words),
      },
    ];
  }
  rowsCell({ text }) {
    const { view } = this,
      isShown = text === view.rows.ranks;

    return make(
      "span",
      { class: "name" },
      make(
        "button",
        {
          type: "button",
          class: "pick",
          "data-focus": "group" + text,
          "aria-pressed": String(isShown),
          title: (isShown ? "show all rows again, not only " : "show only these rows: ") + text,
          onclick: () => {
            view.rows.ranks = view.rows.filter.value = isShown ? "" : text;
            view.rows.changed();
            this.table.draw();
          },
        },
        text.replaceAll(",", ", "),
      ),
    );
  }
  bar(mean) {
    return make(
      "span",
      { class: "partition", role: "img", "aria-label": this.topWords(mean), title: this.topWords(mean) },
      ...this.largest(mean).map(i => {
        const piece = make("i");

        piece.style.width = 100 * mean[i] + "%";
        piece.style.background = this.features[i].colour;
        return piece;
      }),
    );
  }

  /* ---- profiles ---- */

  /* In steps, so that no answer takes long; null: something else is in view by now. */
  async read({ from, to }) {
    const { view } = this,
      { rows, slices, span_ns: span } = view.about,
      ofRow = (slices / rows.length) * Math.min((to - from) / span, 1) + 1,
      step = Math.min(Math.max(Math.floor(ALIKE_STEP / ofRow), 1), 1024),
      found = [];

    for (let first = 0; first < rows.length; first += step) {
      if (first) this.note.textContent = `reading: ${count(first)} of ${plural(rows.length, "row")}`;
      found.push(...(await view.trace.json("profiles", { from, to, first, rows: step })).rows);
      const now = windowOf(view);

      if (now.from !== from || now.to !== to) return null;
    }
    return found;
  }
  async load() {
    const { from, to } = windowOf(this.view),
      isOther = !this.profiles || this.profiles.from !== from || this.profiles.to !== to;

    if (isOther) {
      const rows = await this.read({ from, to });

      if (!rows) return;
      this.profiles = { from, to, rows };
    }
    await this.group();
  }

  /* What parts are of: functions or classes, what is in none, and those that have little. */
  featuresOf(rows) {
    const { view } = this,
      { regions, classes } = view.about,
      keyOf = region => (this.by === "class" ? regions[region].class : region),
      keys = new Set(rows.flatMap(row => row.slice(1, -1).filter((_, i) => i % 2 === 0)).map(keyOf)),
      named = [...keys].map(key => ({
        key,
        name: this.by === "class" ? classes[key].about : regions[key].name,
        colour: this.by === "class" ? view.palette.classes[key] : view.palette.own(key),
      }));

    this.place = new Map(named.map(({ key }, i) => [key, i]));
    this.placeOf = region => this.place.get(keyOf(region));
    return [
      ...named,
      { name: "functions of less than 0.025 %", colour: "var(--line)" },
      { name: "outside of functions", colour: "transparent" },
    ];
  }
  async group() {
    const { from, to, rows } = this.profiles;

    this.features = this.featuresOf(rows);
    const wide = this.features.length,
      parts = new Float32Array(rows.length * wide);
    rows.forEach(([, ...told], i) => {
      const at = i * wide,
        ns = to - from || 1;
      let left = 1;

      for (let k = 0; k + 1 < told.length; k += 2) parts[at + this.placeOf(told[k])] += told[k + 1] / ns;
      parts[at + wide - 2] = told[told.length - 1] / ns;
      for (let k = 0; k + 1 < wide; k++) left -= parts[at + k];
      parts[at + wide - 1] = Math.max(left, 0);
    });
    const { groups, isEstimate } = await alikeRows(parts, wide, rows.length, Number(this.limit) / 100);
    this.isEstimate = isEstimate;
    this.show(
      groups.map(({ rows: members, height }) => ({ ...this.meanOf(parts, members), height })),
      this.meanOf(parts, [...rows.keys()]),
    );
  }
  /* Places in the profiles: rows without events have none. */
  meanOf(parts, places) {
    const wide = this.features.length,
      mean = new Float64Array(wide);

    for (const at of places) for (let k = 0; k < wide; k++) mean[k] += parts[at * wide + k] / places.length;
    const rows = places.map(at => this.profiles.rows[at][0]);
    return { rows, mean, text: rowsText(this.view.about, rows) };
  }

  /* ---- words ---- */

  /* What is in no function comes last. */
  largest(mean) {
    const none = mean.length - 1;

    return [...mean.keys()]
      .filter(i => mean[i] > 0)
      .sort((a, b) => Number(a === none) - Number(b === none) || mean[b] - mean[a]);
  }
  topWords(mean) {
    return this.largest(mean)
      .slice(0, ALIKE_WORDS)
      .map(i => this.features[i].name + " " + percent(mean[i]))
      .join(", ");
  }
  wordsOf(group, usual) {
    if (group === usual) return "the largest group";
    const change = i => group.mean[i] - usual.mean[i],
      most = [...group.mean.keys()]
        .filter(i => Math.abs(change(i)) >= ALIKE_LEAST)
        .sort((a, b) => Math.abs(change(b)) - Math.abs(change(a)))
        .slice(0, ALIKE_WORDS);

    return most
      .map(i => {
        const [own, other] = [group.mean[i], usual.mean[i]].map(part => Math.round(100 * part));

        return `${this.features[i].name} ${own} %, not ${other} %`;
      })
      .join("; ");
  }
  /* What others are held against: the largest group; where each is one row, the mean of all. */
  usualOf(groups, all) {
    const [largest] = [...groups].sort((a, b) => b.rows.length - a.rows.length || a.rows[0] - b.rows[0]);

    return groups.length === 1 || largest.rows.length > 1 ? largest : all;
  }
  show(groups, whole) {
    const usual = this.usualOf(groups, whole),
      all = this.profiles.rows.length,
      idle = this.view.about.rows.length - all;

    for (const group of groups) {
      group.differs = group.mean.reduce((sum, part, i) => sum + Math.abs(part - usual.mean[i]), 0) / 2;
      group.words = this.wordsOf(group, usual);
    }
    this.table.setRows(groups);
    this.note.textContent =
      (groups.length === 1
        ? `All ${count(all)} rows spend this time alike`
        : plural(all, "row") + " in " + plural(groups.length, "group")) +
      (idle ? "; " + plural(idle, "row") + " without events in none" : "") +
      (this.isEstimate ? "; an estimate: too many rows are different" : "") +
      (this.view.about.samples ? "; functions by samples are estimates" : "");
  }
}
