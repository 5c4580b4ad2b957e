/* In view.html. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* The panel that finds calls: of functions whose names have a text, in what is in view or in the whole run, by
 * duration, as a histogram and as a table. */

const HISTOGRAM_TALL = 92,
  HISTOGRAM_HEAD = 16,
  HISTOGRAM_FOOT = 18 /* pixels */,
  TYPED_MS = 300 /* without another letter */,
  MOST_LABELS_FOUND = 100,
  ORDERS = { longest: 0, earliest: 1, latest: 2 };

/* Where a bar begins, ns (fv_timeline_bar()). */
const barFrom = bar => (4 + (bar % 4)) * 2 ** (Math.floor(bar / 4) - 2);

/* As timeOf() takes it, to the ns. */
function exactTime(ns) {
  const [size, unit] = [
    [1e9, "s"],
    [1e6, "ms"],
    [1e3, "us"],
  ].find(([least]) => ns >= least) || [1, "ns"];

  return ns / size + " " + unit;
}

class Find {
  constructor(view) {
    Object.assign(this, panelOf(this, view, "find", "Find", "bottom"));
    this.found = { all: 0, all_ns: 0, in_range: 0, left_out: 0, bars: [], calls: [] };
    this.brush = null; /* { from, to } ns while it is dragged */
    this.at = -1; /* of the calls in the order of the table */
    const field = (label, placeholder, wide) => {
      const input = make("input", {
        type: "text",
        placeholder,
        "aria-label": label,
        onchange: () => this.ask(),
        oninput: () => this.ask(TYPED_MS),
        onkeydown: event => event.key === "Enter" && this.ask(),
      });

      input.style.width = wide + "em";
      return input;
    };
    this.text = field(
      "functions and labels that contain this, or match /an expression/",
      "function, label, /expression/",
      17.5,
    );
    this.text.setAttribute("list", "regions");
    this.least = field("not shorter than", "from 0 s", 6);
    this.most = field("not longer than", "to any", 6);
    this.row = field("rank, or rank:thread", "all ranks", 5);
    this.partner = field("rank of the other end of a message", "partner", 4.5);
    this.size = field("bytes of a message, or from-to: 1K-8K", "bytes", 4.5);
    this.labels = make("ul", { class: "labels", "aria-label": "labels that were found", hidden: true });
    this.where = make(
      "select",
      { "aria-label": "time that is searched", onchange: () => this.ask() },
      make("option", { value: "all" }, "in the whole run"),
      make("option", { value: "seen" }, "in what is in view"),
    );
    this.picture = canvas(HISTOGRAM_TALL, "histogram of the durations of the calls", (c, width) => this.draw(c, width));
    this.takeBrush();
    this.table = new LongTable("calls", "calls that were found", this.columns(), {
      choose: call => this.go(this.table.inOrder.indexOf(call)),
      isChosen: call => call === this.table.inOrder[this.at],
    });
    const button = (words, title, does) => make("button", { type: "button", title, onclick: does }, words);
    this.element.append(
      make(
        "p",
        { class: "tools" },
        this.text,
        make(
          "datalist",
          { id: "regions" },
          ...view.about.regions.slice(0, 2000).map(({ name }) => make("option", { value: name })),
        ),
        this.where,
        this.row,
        this.least,
        this.most,
        ...(view.about.messages ? [this.partner, this.size] : []),
        button("slowest", "go to the longest call", () => this.slowest()),
        button("previous", "the call before, in time (p)", () => this.step(-1)),
        button("next", "the next call, in time (n)", () => this.step(1)),
        button("clear", "no limits of duration", () => this.setRange(null)),
        this.table.csvButton(),
      ),
      this.note,
      this.labels,
      this.picture,
      this.table.element,
    );
    this.fields = {
      ...{ text: this.text, in: this.where, rows: this.row, least: this.least, most: this.most },
      ...(view.about.messages ? { partner: this.partner, bytes: this.size } : {}),
    };
    selection.onChange(() => this.select());
    this.select();
    address.keep(() => this.readAddress());
  }

  /* What is typed in or chosen, some time after the last letter. */
  ask(after = 0) {
    clearTimeout(this.later);
    if (after) {
      this.later = setTimeout(() => this.ask(), after);
      return;
    }
    this.writeAddress();
    this.refresh();
  }
  writeAddress() {
    const said = new URLSearchParams();

    for (const [key, { value }] of Object.entries(this.fields))
      if (value && (key !== "in" || value !== "all")) said.set(key, value);
    address.set("find", said.toString() || null);
  }
  readAddress() {
    const text = address.get("find"),
      said = new URLSearchParams(text || "");

    if (text === null) return;
    for (const [key, field] of Object.entries(this.fields))
      field.value = key === "in" ? (said.get(key) === "seen" ? "seen" : "all") : said.get(key) || "";
    if (this.view.bench && this.view.bench.isSeen("find")) this.refresh();
    else if (this.view.bench) this.view.bench.stale.add("find");
  }

  columns() {
    const { view } = this;

    return [
      {
        key: "begin",
        title: "at",
        doc: "when it began",
        csvTitle: "begin_ns",
        wide: 9,
        value: call => call.begin,
        words: ns => tick(ns, 1),
        cell: (call, words) =>
          make(
            "button",
            {
              type: "button",
              class: "pick",
              "data-focus": call.row + "@" + call.begin + "/" + call.depth,
              onclick: () => this.go(this.table.inOrder.indexOf(call)),
            },
            words,
          ),
      },
      time("ns", "duration", "whole call", { csvTitle: "duration_ns" }),
      { ...rowColumn(view, "row", "row"), cell: null },
      {
        key: "region",
        title: "function",
        isText: true,
        wide: 16,
        value: call => view.about.regions[call.region].name,
      },
      time("wait", "waiting", "from the analysis of waiting", { value: call => call.wait || null }),
      rowColumn(view, "cause", "for", "the row that was late"),
    ];
  }

  /* What is selected is looked for. */
  select() {
    if (selection.region === null) return;
    this.text.value = this.view.about.regions[selection.region].name;
    if (this.view.bench && this.view.bench.isSeen("find")) this.refresh();
    else if (this.view.bench) this.view.bench.stale.add("find");
  }

  /* A test of names; null: the text is no regular expression. */
  get matches() {
    const text = this.text.value.trim(),
      expression = text.match(/^\/(.+)\/$/);

    if (!expression) return name => text !== "" && name.toLowerCase().includes(text.toLowerCase());
    try {
      const matches = new RegExp(expression[1], "i");

      return name => matches.test(name);
    } catch {
      return null;
    }
  }
  regions() {
    const text = this.text.value.trim(),
      { regions } = this.view.about,
      { matches } = this,
      equal = regions.filter(region => region.name === text);

    if (equal.length) return equal;
    return matches ? regions.filter(region => matches(region.name)) : [];
  }
  /* Of "3", "3:1" or "0-3,8"; null: the field is empty, or no ranks that there are. */
  rowsOf(field) {
    const text = field.value.trim().replace(/^rank\s*/, ""),
      isIn = ranksOf(text),
      { rows } = this.view.about,
      found = isIn ? rows.flatMap(({ rank, thread }, row) => (isIn(rank, thread) ? [row] : [])) : [];

    this.check(field, !text || found.length > 0, "there is no rank " + text);
    return found.length ? rangesOf(found) : null;
  }
  rows() {
    const only = this.rowsOf(this.row);

    return only === null ? { first: 0, rows: this.view.about.rows.length } : { only };
  }
  /* Limits of messages: of the other end, and of bytes. */
  messages() {
    const partner = this.rowsOf(this.partner),
      text = this.size.value.trim(),
      sizes = text ? text.split("-").map(bytesOf) : [],
      isGood = sizes.length < 3 && !sizes.includes(null);

    this.check(this.size, isGood, text + " is no number of bytes");
    return {
      ...(partner === null ? {} : { partner }),
      ...(sizes.length && isGood ? { least_bytes: sizes[0], most_bytes: sizes[sizes.length - 1] } : {}),
    };
  }
  setValid(field, isValid) {
    field.setAttribute("aria-invalid", String(!isValid));
  }
  /* What is wrong is said in place of what all calls are. */
  check(field, isValid, words) {
    this.setValid(field, isValid);
    if (!isValid) this.wrong.push(words);
  }
  durationOf(field) {
    const text = field.value.trim(),
      ns = timeOf(text);

    this.check(field, !text || ns !== null, text + " is no duration");
    return ns;
  }
  get asked() {
    this.wrong = [];
    const { view } = this,
      least = this.durationOf(this.least),
      most = this.durationOf(this.most),
      isAll = this.where.value === "all",
      regions = this.regions().map(region => region.number);

    return {
      ...this.rows(),
      ...this.messages(),
      from: isAll ? 0 : Math.round(view.from),
      to: isAll ? view.about.span_ns : Math.round(view.to),
      region: regions.slice(0, 1000).join(","),
      least: least || 0,
      ...(most === null ? {} : { most }),
    };
  }

  async load() {
    const { asked } = this;

    this.at = -1;
    this.setValid(this.text, this.matches !== null);
    this.showLabels();
    if (!asked.region || this.wrong.length) {
      this.found = { all: 0, all_ns: 0, in_range: 0, left_out: 0, bars: [], calls: [] };
      this.show(
        this.wrong.length
          ? "No calls: " + this.wrong.join("; ") + "."
          : this.matches === null
            ? this.text.value.trim() + " is not a regular expression."
            : this.text.value.trim()
              ? "No function has such a name."
              : "Type a name, or choose a function.",
      );
      return;
    }
    this.found = await this.view.trace.calls(asked);
    this.show();
  }
  /* Moments that were marked, whose text it is. */
  showLabels() {
    const { view, matches } = this,
      found = matches ? view.labels.filter(([, , text]) => matches(text)) : [];

    this.labels.hidden = !found.length;
    this.labels.replaceChildren(
      ...found
        .slice(0, MOST_LABELS_FOUND)
        .map(([ns, row, text]) =>
          make(
            "li",
            null,
            make("button", { type: "button", class: "pick", onclick: () => view.goToTime(ns) }, text),
            " at " + tick(ns, 1000) + ", " + rowName(view.about.rows[row]),
          ),
        ),
      ...(found.length > MOST_LABELS_FOUND
        ? [make("li", { class: "note" }, plural(found.length - MOST_LABELS_FOUND, "more label"))]
        : []),
    );
  }
  show(words = null) {
    const { all, all_ns, in_range, left_out, bars, calls } = this.found;

    this.picture.hidden = !bars.length;
    this.table.element.hidden = !calls.length;
    this.table.setRows(calls);
    this.picture.dispatchEvent(new Event("redraw"));
    this.note.textContent =
      words ||
      plural(all, "call") +
        ", " +
        nanoseconds(all_ns) +
        " in all" +
        (in_range === all ? "" : "; " + count(in_range) + " of them have this duration") +
        (left_out
          ? "; in the table: the longest " + count(calls.length) + ", " + count(left_out) + " are left out"
          : "");
  }

  /* ---- going from call to call ---- */

  go(at) {
    const call = this.table.inOrder[at];

    if (!call) return;
    this.at = at;
    this.view.goToCall(call);
    this.table.draw();
  }
  slowest() {
    const calls = this.table.inOrder,
      best = calls.reduce((most, call, i) => (most < 0 || call.ns > calls[most].ns ? i : most), -1);

    if (best < 0) this.tellNone();
    this.go(best);
  }
  tellNone() {
    this.view.tellShortly("no calls to go to: say in Find which ones, or select a function");
  }
  /* Of calls that begin at one time the order is that of rows, then of depth. */
  async nextOf(asked, by) {
    const { selected } = this.view,
      from = selected ? selected.begin : Math.round(this.view.from),
      order = by > 0 ? ORDERS.earliest : ORDERS.latest,
      find = async limits => (await this.view.trace.calls({ ...asked, order, ...limits })).calls,
      isBehind = call => by * (call.row - selected.row || call.depth - selected.depth) > 0,
      atOnce = selected ? (await find({ from, to: from + 1 })).find(isBehind) : null;

    if (atOnce) return atOnce;
    const [next] = await find({ count: 1, ...(by > 0 ? { from: from + 1 } : { to: Math.max(from, 1) }) });

    return next;
  }
  /* In time from the one that is selected, also to those that the table has not. */
  async step(by) {
    const { asked } = this;

    if (!asked.region || this.wrong.length) {
      this.tellNone();
      return;
    }
    if (this.where.value === "seen") Object.assign(asked, { from: 0, to: this.view.about.span_ns });
    const next = await this.nextOf(asked, by);

    if (!next) {
      this.note.textContent = by > 0 ? "There is no later one." : "There is no earlier one.";
      this.view.tellShortly(this.note.textContent);
      return;
    }
    this.at = this.table.inOrder.findIndex(
      call => call.begin === next.begin && call.row === next.row && call.depth === next.depth,
    );
    this.view.goToCall(next);
    this.table.draw();
  }

  /* ---- the histogram ---- */

  get range() {
    const bars = this.found.bars.map(([bar]) => bar);

    return bars.length ? { first: Math.min(...bars), last: Math.max(...bars) } : { first: 0, last: 0 };
  }
  takeBrush() {
    dragged(this.picture, (left, right) => {
      const { first, last } = this.range,
        step = this.picture.clientWidth / (last - first + 1);

      this.setRange({
        from: barFrom(first + Math.floor(left / step)),
        to: barFrom(first + Math.floor(right / step) + 1) - 1,
      });
    });
  }
  setRange(range) {
    this.least.value = range ? exactTime(Math.ceil(range.from)) : "";
    this.most.value = range ? exactTime(Math.floor(range.to)) : "";
    this.ask();
  }
  draw(c, width) {
    const { bars } = this.found,
      { first, last } = this.range,
      step = width / (last - first + 1),
      most = Math.max(...bars.map(([, n]) => n), 1),
      tall = HISTOGRAM_TALL - HISTOGRAM_HEAD - HISTOGRAM_FOOT,
      low = HISTOGRAM_HEAD + tall,
      least = timeOf(this.least.value || "0") || 0,
      longest = timeOf(this.most.value || "") || Infinity;

    c.textBaseline = "top";
    for (const [bar, n] of bars) {
      const high = Math.max((tall * Math.log1p(n)) / Math.log1p(most), 2),
        isIn = barFrom(bar + 1) > least && barFrom(bar) <= longest;

      c.fillStyle = colours(isIn ? "compute" : "line");
      c.fillRect((bar - first) * step, low - high, Math.max(Math.min(step - 1, 40), 1), high);
    }
    c.fillStyle = colours("quiet");
    for (let bar = first, free = 0; bar <= last && bars.length; bar++) {
      const words = seconds(barFrom(bar) / 1e9);

      const { width: wide } = c.measureText(words),
        x = (bar - first) * step;

      if (x < free || x + wide > width) continue;
      c.fillText(words, x, low + 3);
      free = x + wide + 16;
    }
    if (bars.length) c.fillText("calls by duration, logarithmic, the most: " + count(most) + "; drag to choose", 4, 1);
  }
}
