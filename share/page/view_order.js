/* In page.html, view.html. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* The order of rows: by rank, host or name, or by what each row has of the stretch of time in view, most first:
 * waiting, the time of a class, of a function with what it calls, or of a group of functions, or the highest of values
 * along time. In the address: "wait", "class:I/O", "function:NAME", "group:NAME", "value:NAME". */

const SORTS = { rank: "rank", host: "host", name: "name", wait: "waiting", mpi: "time of MPI" },
  MEASURED = /^(wait|mpi|(class|function|group|value):.*)$/s,
  MOST_SORTS = 30 /* functions in the list; the palette has all */,
  MOST_GROUPED = 200; /* functions of a group that are asked for */

const byWords = new Intl.Collator("en", { numeric: true });

class RowOrder {
  constructor(view) {
    this.view = view;
    this.loaded = null; /* what `measure` is of */
    this.measure = null; /* by row */
    this.choice = make("select", {
      "aria-label": "order of rows",
      onchange: event => view.rows.sortBy(event.target.value),
    });
  }
  isMeasured(sort) {
    return MEASURED.test(sort);
  }
  isSort(sort) {
    return Boolean(SORTS[sort]) || (this.isMeasured(sort) && this.words(sort) !== null);
  }
  /* null: there is no such thing in any trace. */
  words(sort) {
    const [, kind, name] = sort.match(/^([a-z]+):(.*)$/s) || [],
      { about, series } = this.view;

    if (SORTS[sort]) return SORTS[sort];
    if (kind === "class") {
      const of = about.classes.find(({ name: word }) => word === name);

      return of ? "time of " + of.about : null;
    }
    if (kind === "function") return about.regions.some(of => of.name === name) ? "time of " + name : null;
    if (kind === "group") return colourRules.all.some(of => of.name === name) ? "time of " + name : null;
    return kind === "value" && series.some(({ key }) => key === name) ? "highest " + name : null;
  }

  /* ---- the list ---- */

  /* What the list has: [title of a group, values]. */
  get sorts() {
    const { about, series } = this.view,
      has = i => about.regions.some(region => region.class === i && region.ns),
      functions = about.regions
        .filter(({ ns }) => ns)
        .sort((a, b) => b.ns - a.ns)
        .slice(0, MOST_SORTS);

    return [
      ["", Object.keys(SORTS).filter(sort => sort !== "mpi" || this.view.all.some(of => hasMpi(of.about)))],
      ["time of a class", about.classes.flatMap(({ name }, i) => (has(i) ? ["class:" + name] : []))],
      ["time of a group", colourRules.all.filter(({ name }) => name).map(({ name }) => "group:" + name)],
      ["highest value", series.map(({ key }) => "value:" + key)],
      ["time of a function", functions.map(({ name }) => "function:" + name)],
    ].map(([title, values]) => [title, [...new Set(values)]]);
  }
  show(sort) {
    const all = this.sorts,
      option = value => make("option", { value, selected: value === sort }, this.words(value));

    if (!all.some(([, values]) => values.includes(sort))) all[0][1].push(sort);
    this.choice.replaceChildren(
      ...all
        .filter(([, values]) => values.length)
        .flatMap(([label, values]) =>
          label ? [make("optgroup", { label }, ...values.map(option))] : values.map(option),
        ),
    );
    this.choice.value = sort;
  }

  /* ---- numbers ---- */

  sorted(numbers, sort) {
    const { rows } = this.view.about,
      measure = this.isMeasured(sort) && this.loaded === sort ? this.measure : null,
      key = measure
        ? (a, b) => measure[b] - measure[a]
        : {
            host: (a, b) => byWords.compare(rows[a].host, rows[b].host),
            name: (a, b) => byWords.compare(rowName(rows[a]), rowName(rows[b])),
          }[sort] || (() => 0);

    return numbers.sort((a, b) => key(a, b) || a - b);
  }
  async load(sort, window) {
    const [, kind, name] = sort.match(/^([a-z]+):(.*)$/s) || [],
      { view } = this;

    if (kind === "function") this.measure = await this.ofRegions([name], window, 2);
    else if (kind === "group") this.measure = await this.ofGroup(name, window);
    else if (kind === "value") this.measure = await this.ofValues(name, window);
    else {
      const { rows } = await view.trace.json("rows", window),
        classes = view.about.classes.flatMap(({ name: word }, i) =>
          (sort === "mpi" ? MPI_CLASSES : [name]).includes(word) ? [i] : [],
        );

      this.measure = rows.map(([wait, ...of]) => (sort === "wait" ? wait : classes.reduce((sum, i) => sum + of[i], 0)));
    }
    this.loaded = sort;
  }
  /* Of functions with these names; column: of /shares, 2 with what they call, 3 without. */
  async ofRegions(names, { from, to }, column) {
    const { view } = this,
      wanted = new Set(names),
      numbers = view.about.regions
        .filter(of => wanted.has(of.name))
        .flatMap(({ number }) => view.trace.numbersOf(number)),
      sums = new Float64Array(view.about.rows.length);

    for (const region of numbers) {
      const { rows } = await view.trace.json("shares", { from: Math.round(from), to: Math.round(to), region });

      for (const row of rows) sums[row[0]] += row[column];
    }
    return sums;
  }
  ofGroup(group, window) {
    const names = this.view.about.regions
      .filter(({ name, ns }) => ns && (colourRules.of(name) || {}).name === group)
      .sort((a, b) => b.ns - a.ns)
      .slice(0, MOST_GROUPED)
      .map(({ name }) => name);

    return this.ofRegions(names, window, 3);
  }
  /* Rows of one process or node have its values. */
  async ofValues(key, { from, to }) {
    const { view } = this,
      { rows } = view.about,
      chart = view.series.find(of => of.key === key),
      highest = new Float64Array(rows.length).fill(-Infinity),
      curves = chart ? chart.curves : [],
      fits = {
        thread: (curve, row) => curve.row === row,
        process: (curve, row) => rows[curve.row].rank === rows[row].rank,
        node: (curve, row) => rows[curve.row].host === rows[row].host,
      };

    for (let i = 0; i < curves.length; i += MOST_ASKED) {
      const part = curves.slice(i, i + MOST_ASKED),
        series = part.map(({ number }) => number).join(","),
        data = new Float64Array(await (await view.trace.ask("values", { from, to, count: 1, series })).arrayBuffer());

      part.forEach((curve, k) =>
        rows.forEach((_, row) => {
          if (data[3 * k + 1] > highest[row] && fits[curve.of](curve, row)) highest[row] = data[3 * k + 1];
        }),
      );
    }
    return highest.map(value => (value === -Infinity ? -Number.MAX_VALUE : value));
  }
}
