/* In view.html. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Two traces: the second one below the first, on the same axis of time, moved so that what is to be compared stands
 * below each other; and the differences of their functions. */

/* ---- what stands below what ---- */

const ALIGNMENTS = {
    begin: "their begins",
    end: "their ends",
    label: "a label",
    call: "a call of the first row that has it",
    shift: "a time that is typed in",
  },
  MOST_ALIGNED = 2000; /* calls, as the server has it */

/* The moments of a label, in order. */
async function momentsOfLabel(view, text) {
  const { labels } = await view.trace.json("labels", { from: 0, to: view.about.span_ns });

  return labels.filter(([, , of]) => of === text).map(([ns]) => ns);
}
/* Of the first n calls of a function, in the first row that has any. */
async function momentsOfCalls(view, name, n) {
  const region = view.about.regions.find(of => of.name === name),
    numbers = region ? view.trace.numbersOf(region.number) : [];

  if (!numbers.length) return [];
  const { rows } = await view.trace.json("shares", { region: numbers[0] }),
    row = rows.map(sumOf).find(({ count: calls }) => calls);
  if (!row) return [];
  const { calls } = await view.trace.calls({
    region: numbers.join(","),
    only: String(row.region),
    order: ORDERS.earliest,
    count: n,
  });
  return calls.map(({ begin }) => begin);
}

class Alignment {
  constructor(second) {
    this.second = second;
    this.kind = make(
      "select",
      { "aria-label": "what stands below each other", onchange: () => this.choose() },
      ...Object.entries(ALIGNMENTS).map(([value, words]) => make("option", { value }, words)),
    );
    const field = (label, attributes) =>
      make("input", { "aria-label": label, onchange: () => this.choose(), ...attributes });
    this.what = field("label, function or time", { type: "text", placeholder: "name", list: "alignments" });
    this.number = field("which of them", { type: "number", min: "1", max: String(MOST_ALIGNED), value: "1" });
    this.number.className = "short";
    this.names = make("datalist", { id: "alignments" });
    this.note = make("span", { class: "note", role: "status", "aria-live": "polite" });
    this.element = make(
      "p",
      { class: "tools rows-bar align" },
      make("b", null, second.about.title),
      make("label", null, "aligned by ", this.kind),
      this.what,
      this.number,
      this.names,
      this.note,
      second.told,
    );
    this.loads = new Latest(() => this.apply());
    this.read();
  }

  /* "call:3:MPI_Bcast" */
  read() {
    const [, kind, n, what] = (address.get("align") || "").match(/^(\w+)(?::(\d+):(.*))?$/) || [];

    this.kind.value = ALIGNMENTS[kind] ? kind : "begin";
    this.number.value = n || "1";
    this.what.value = what || "";
    this.show();
  }
  show() {
    const { value } = this.kind;

    this.what.hidden = ["begin", "end"].includes(value);
    this.number.hidden = !["label", "call"].includes(value);
    this.what.placeholder = { label: "label", call: "function", shift: "1.5 ms, or -20us" }[value] || "";
  }
  choose() {
    this.show();
    const { value } = this.kind,
      hasWhat = !this.what.hidden;

    address.set(
      "align",
      value === "begin" ? null : value + (hasWhat ? ":" + this.number.value + ":" + this.what.value : ""),
    );
    return this.loads.ask();
  }
  /* Labels, or functions, of both. */
  async suggest() {
    const { value } = this.kind,
      names = new Set();

    if (value === "label") {
      const { labels } = await this.second.trace.json("labels", { from: 0, to: this.second.about.span_ns });
      labels.forEach(([, , text]) => names.add(text));
    } else if (value === "call")
      this.second.trace.regions.forEach(region => names.add(this.second.about.regions[region].name));
    this.names.replaceChildren(...[...names].slice(0, MOST_ALIGNED).map(name => make("option", { value: name })));
  }
  /* ns that the second trace is moved by; null: that is not in both. */
  async shift() {
    const { second, what, number } = this,
      { main } = second,
      n = Math.min(Math.max(Math.round(Number(number.value)) || 1, 1), MOST_ALIGNED),
      text = what.value.trim(),
      moments = {
        label: view => momentsOfLabel(view, text),
        call: view => momentsOfCalls(view, text, n),
      }[this.kind.value];

    if (this.kind.value === "end") return main.about.span_ns - second.about.span_ns;
    if (this.kind.value === "shift") {
      const ns = timeOf(text.replace(/^[-+]/, ""));

      return ns === null ? null : text.startsWith("-") ? -ns : ns;
    }
    if (!moments) return 0;
    const [first, other] = [(await moments(main))[n - 1], (await moments(second))[n - 1]];
    return first === undefined || other === undefined ? null : first - other;
  }
  async apply() {
    await this.suggest();
    const shift = await this.shift(),
      isAsked = this.what.hidden || this.what.value.trim();

    this.what.setAttribute("aria-invalid", String(shift === null && Boolean(isAsked)));
    this.note.textContent =
      shift === null
        ? isAsked
          ? "not in both: aligned by their begins"
          : ""
        : shift
          ? "its begin is " + nanoseconds(Math.abs(shift)) + (shift > 0 ? " later" : " earlier")
          : "";
    this.second.setShift(shift || 0);
  }
}

/* ---- differences ---- */

const MEASURES = {
  exclusive: { words: "time itself", of: sum => sum.exclusive, isTime: true },
  exclusive_row: { words: "time itself, mean over rows", of: (sum, rows) => sum.exclusive / rows, isTime: true },
  inclusive: { words: "time with callees", of: sum => sum.inclusive, isTime: true },
  count: { words: "calls", of: sum => sum.count, isCount: true },
  mean: { words: "mean duration", of: sum => (sum.count ? sum.whole / sum.count : null), isWhole: true },
  longest: { words: "longest call", of: sum => (sum.count ? sum.longest : null), isWhole: true },
  wait: { words: "waiting", of: sum => sum.wait },
};

class Comparison {
  constructor(view, second) {
    Object.assign(this, panelOf(this, view, "compare", "Compare", "bottom"));
    this.second = second;
    this.measure = "exclusive";
    this.pairs = [];
    this.text = make("input", {
      type: "search",
      placeholder: "name",
      "aria-label": "names that contain",
      oninput: () => this.show(),
    });
    this.table = new LongTable("differences", "functions of both traces", this.columns(), {
      sorted: "difference",
      isChosen: row => row.region === selection.region,
    });
    this.element.append(
      make(
        "p",
        { class: "tools" },
        rowsChooser(view),
        keptChooser(
          "measure",
          "what is compared",
          Object.entries(MEASURES).map(([key, { words }]) => [key, words]),
          this.measure,
          value => {
            this.measure = value;
            this.table.setColumns(this.columns());
            this.show();
          },
        ),
        this.text,
        this.table.csvButton(),
        this.note,
      ),
      this.table.element,
    );
    selection.onChange(() => this.table.draw());
  }

  columns() {
    const { isCount, words } = MEASURES[this.measure],
      unit = isCount ? count : nanoseconds,
      csv = isCount ? "" : "_ns",
      signed = value => (value > 0 ? "+" : value < 0 ? "-" : "") + unit(Math.abs(value)),
      value = (key, title, doc, more) => ({
        ...{ key, title, doc, wide: 8, csvTitle: key + csv, value: row => row[key] },
        words: (of, row) => tilde(row.isEstimate) + unit(of),
        ...more,
      });

    return [
      regionColumn(this.view, "function", 18),
      value("a", "A", words + " in " + this.view.about.title),
      value("b", "B", words + " in " + this.second.about.title),
      value("difference", "B - A", "sorted by its size", {
        words: (of, row) => tilde(row.isEstimate) + signed(of),
        order: row => (row.difference === null ? null : Math.abs(row.difference)),
      }),
      value("ratio", "B / A", "empty: nothing in A", {
        csvTitle: "ratio",
        words: (of, row) => tilde(row.isEstimate) + of.toFixed(3),
      }),
    ];
  }

  /* Of both the same stretch of the axis, by region. */
  async sumsOf(view) {
    const window = windowOf(view),
      sums = new Map();

    if (!view.seen) return { sums, rows: window.rows };
    const { regions, rows } = await view.trace.json("sums", window);
    for (const sum of regions.map(sumOf)) {
      const region = view.trace.region(sum.region),
        known = sums.get(region);

      if (!known) sums.set(region, { ...sum, region });
      else {
        for (const key of ["count", "inclusive", "exclusive", "wait", "whole", "sampled"]) known[key] += sum[key];
        known.longest = Math.max(known.longest, sum.longest);
      }
    }
    return { sums, rows };
  }
  async load() {
    const [a, b] = [await this.sumsOf(this.view), await this.sumsOf(this.second)];

    this.rows = [a.rows, b.rows];
    this.pairs = [...new Set([...a.sums.keys(), ...b.sums.keys()])].map(region => ({
      region,
      sums: [a.sums.get(region) || null, b.sums.get(region) || null],
    }));
    this.show();
  }
  show() {
    const text = this.text.value.toLowerCase(),
      { regions } = this.view.about,
      { of, isTime, isWhole } = MEASURES[this.measure],
      none = { exclusive: 0, inclusive: 0, count: 0, whole: 0, wait: 0 };

    this.table.setRows(
      this.pairs
        .filter(({ region }) => regions[region].name.toLowerCase().includes(text))
        .map(({ region, sums }) => {
          const [a, b] = sums.map((sum, i) => of(sum || none, this.rows[i])),
            isKnown = a !== null && b !== null;

          return {
            ...{ region, a, b, difference: isKnown ? b - a : null, ratio: isKnown && a ? b / a : null },
            isEstimate: isTime && sums.some(sum => sum && sum.sampled),
          };
        }),
    );
    if (this.rows)
      this.note.textContent =
        "A: " +
        this.view.about.title +
        ", " +
        plural(this.rows[0], "row") +
        "; B: " +
        this.second.about.title +
        ", " +
        plural(this.rows[1], "row") +
        (isWhole ? ofWholeCalls(this.view, MEASURES[this.measure].words) : "");
  }
}
