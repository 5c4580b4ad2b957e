/* In view.html. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Panels that sum up what is in view: functions and their shares by row, and waiting. */

const time = (key, title, doc, more = {}) => ({
  key,
  title,
  doc,
  csvTitle: key + "_ns",
  wide: 7,
  value: row => row[key],
  words: nanoseconds,
  ...more,
});
const whole = (key, title, doc) => ({ key, title, doc, wide: 7, value: row => row[key], words: count });
const ofCalls = (key, title, doc) => time(key, title, doc, { value: row => (row.count ? row[key] : null) });

class Functions {
  constructor(view) {
    Object.assign(this, panelOf(this, view, "functions", "Functions", "bottom"));
    this.sums = [];
    this.byRows = false;
    this.text = make("input", {
      type: "search",
      placeholder: "name",
      "aria-label": "names that contain",
      oninput: () => this.show(),
    });
    this.table = new LongTable("sums", "functions in view", this.columns(), {
      sorted: "exclusive",
      isChosen: row => row.region === selection.region,
    });
    this.rowsTable = new LongTable("shares", "the selected function by row", this.rowColumns(), {
      sorted: "exclusive",
    });
    this.rowsTitle = make("h3");
    this.rowsPart = make(
      "div",
      { class: "side", hidden: true },
      make("p", { class: "tools" }, this.rowsTitle, this.rowsTable.csvButton()),
      this.rowsTable.element,
    );
    this.element.append(
      make(
        "p",
        { class: "tools" },
        rowsChooser(view),
        keptChooser(
          "times",
          "times",
          [
            ["calls", "of calls"],
            ["rows", "over rows"],
          ],
          "calls",
          value => {
            this.byRows = value === "rows";
            this.table.setColumns(this.columns());
          },
        ),
        this.text,
        this.table.csvButton(),
        this.note,
      ),
      make("div", { class: "parts stacks" }, this.table.element, this.rowsPart),
    );
    selection.onChange(() => {
      this.table.draw();
      if (view.bench && view.bench.isSeen(this.name)) this.refresh();
    });
  }

  columns() {
    const { view } = this,
      name = regionColumn(view, "function", 14),
      own = time("exclusive", "time itself", "exclusive: without what it calls", {
        wide: 7.5,
        words: (ns, row) => tilde(row.sampled) + nanoseconds(ns),
      }),
      share = {
        key: "share",
        title: "of all",
        doc: "time itself, as part of the time of the rows, each from its first event to its last one",
        wide: 5,
        value: row => row.exclusive / this.all,
        words: (part, row) => tilde(row.sampled) + percent(part),
      };

    return this.byRows
      ? [
          name,
          own,
          share,
          time("least", "least", "time itself of the row that has least"),
          time("mean", "mean", "time itself, mean over rows", { value: row => row.exclusive / this.rowCount }),
          time("most", "most", "time itself of the row that has most"),
          rowColumn(view, "mostRow", "most in", "the row that has most"),
          {
            key: "imbalance",
            title: "most / mean",
            doc: "1: all rows have as much",
            wide: 6,
            value: row => (row.exclusive ? (row.most * this.rowCount) / row.exclusive : null),
            words: part => part.toFixed(2),
          },
        ]
      : [
          name,
          own,
          share,
          time("inclusive", "with callees", "inclusive: with what it calls", {
            wide: 7.5,
            words: (ns, row) => tilde(row.sampled) + nanoseconds(ns),
          }),
          { ...whole("count", "calls", "that have a part of what is shown"), value: row => row.count || null },
          ofCalls("shortest", "shortest", "whole calls"),
          ofCalls("mean", "mean", "whole calls"),
          ofCalls("longest", "longest", "whole calls", {}),
          time("wait", "waiting", "of that, from the analysis of waiting", { value: row => row.wait || null }),
        ].map(column =>
          column.key === "longest"
            ? {
                ...column,
                cell: (row, words) =>
                  words &&
                  make(
                    "button",
                    {
                      type: "button",
                      class: "pick longest",
                      title: "go to the longest call of " + view.about.regions[row.region].name,
                      onclick: () => view.goToLongest(row.region, windowOf(this.view)),
                    },
                    words,
                  ),
              }
            : column,
        );
  }
  rowColumns() {
    const { view } = this;

    return [
      rowColumn(view, "region", "row") /* the server's sums of a row have it there */,
      time("exclusive", "time itself", "exclusive", {
        wide: 9,
        words: (ns, row) => tilde(row.sampled) + nanoseconds(ns),
        cell: (row, words) => bar(words, this.most ? row.exclusive / this.most : 0),
      }),
      { ...whole("count", "calls"), value: row => row.count || null },
      ofCalls("mean", "mean", "whole calls"),
      ofCalls("longest", "longest", "whole calls"),
      time("wait", "waiting", "from the analysis of waiting", { value: row => row.wait || null }),
    ];
  }

  async load() {
    const window = windowOf(this.view),
      { regions, rows, rows_ns: all } = await this.view.trace.json("sums", window);

    this.all = all;
    this.rowCount = rows;
    this.idleRows = window.rows - rows;
    this.sums = regions.map(sumOf);
    for (const sum of this.sums) sum.mean = sum.count ? sum.whole / sum.count : null;
    this.show();
    await this.loadRows(window);
  }
  async loadRows(window) {
    const { region } = selection;

    this.rowsPart.hidden = region === null;
    if (region === null) return;
    const { rows } = await this.view.trace.json("shares", { ...window, region }),
      sums = rows.map(sumOf);

    for (const sum of sums) sum.mean = sum.count ? sum.whole / sum.count : null;
    this.most = Math.max(...sums.map(sum => sum.exclusive), 0);
    this.rowsTitle.textContent = this.view.about.regions[region].name + " by row";
    this.rowsTable.setRows(sums);
  }
  show() {
    const text = this.text.value.toLowerCase(),
      { regions } = this.view.about;

    this.table.setRows(
      text ? this.sums.filter(sum => regions[sum.region].name.toLowerCase().includes(text)) : this.sums,
    );
    const rest = this.all ? 1 - this.sums.reduce((sum, { exclusive }) => sum + exclusive, 0) / this.all : 0;

    this.note.textContent =
      plural(this.table.rows.length, "function") +
      (this.byRows ? "" : ofWholeCalls(this.view, "shortest, mean and longest")) +
      (rest >= 0.0005 ? "; " + percent(rest) + " of the time in none that is known" : "") +
      (this.idleRows ? "; " + plural(this.idleRows, "row") + " without events: not counted" : "") +
      (this.table.rows.some(row => row.sampled) ? "; ~: an estimate, by samples" : "");
  }
}

/* Words over a bar. */
function bar(words, part) {
  const fill = make("i");

  fill.style.width = 100 * part + "%";
  return make("span", { class: "heat" }, fill, make("span", null, words));
}

/* ---- waiting ---- */

const WAIT_GROUPS = {
  both: { title: "by function and row", keys: ["region", "cause"] },
  region: { title: "by function", keys: ["region"] },
  cause: { title: "by the row that was late", keys: ["cause"] },
};

/* What there is to say against waiting, as the report says it. */
function waitDoubts({ missing, early, estimated_ns, clocks }) {
  const words = [
    missing ? "one side is missing of " + count(missing) + " messages or collectives" : "",
    early ? plural(early, "message") + " came before " + (early === 1 ? "it was" : "they were") + " sent" : "",
    clocks > 1 ? "clocks of hosts were aligned" : "",
  ].filter(Boolean);

  return {
    isEstimate: words.length > 0,
    words: words.length
      ? "; an estimate: " + words.join(", ")
      : estimated_ns
        ? "; exact but for " + nanoseconds(estimated_ns) + " of the whole run's"
        : "",
  };
}

class Waiting {
  constructor(view) {
    Object.assign(this, panelOf(this, view, "waiting", "Waiting", "bottom"));
    this.group = "both";
    this.waits = [];
    this.table = new LongTable("waits", "waiting in view", this.columns(), { sorted: "ns" });
    this.element.append(
      make(
        "p",
        { class: "tools" },
        rowsChooser(view),
        keptChooser(
          "waits",
          "waiting",
          Object.entries(WAIT_GROUPS).map(([key, { title }]) => [key, title]),
          this.group,
          value => {
            this.group = value;
            this.table.setColumns(this.columns());
            this.show();
          },
        ),
        this.table.csvButton(),
        this.note,
      ),
      this.table.element,
    );
    selection.onChange(() => this.table.draw());
  }

  columns() {
    const { view } = this,
      columns = {
        region: regionColumn(view, "function that waited", 18),
        cause: rowColumn(view, "cause", "for", "the row that was late"),
      };

    return [
      ...WAIT_GROUPS[this.group].keys.map(key => columns[key]),
      time("ns", "waiting", "in what is shown", {
        csvTitle: "waiting_ns",
        wide: 10,
        cell: (row, words) => bar(words, row.ns / this.most),
      }),
      {
        key: "share",
        title: "of all waiting",
        wide: 7,
        value: row => row.ns / this.all,
        words: percent,
      },
      whole("count", "calls", "that waited"),
      time("longest", "longest wait", "a call's whole wait"),
    ];
  }

  async load() {
    const { waits, left_out } = await this.view.trace.json("waits", windowOf(this.view));

    this.waits = waits.map(([region, cause, n, ns, longest]) => ({ region, cause, count: n, ns, longest }));
    this.leftOut = left_out;
    this.show();
  }
  show() {
    const { keys } = WAIT_GROUPS[this.group],
      groups = new Map();

    for (const wait of this.waits) {
      const key = keys.map(of => wait[of]).join(),
        sum = groups.get(key);

      if (sum) {
        sum.count += wait.count;
        sum.ns += wait.ns;
        sum.longest = Math.max(sum.longest, wait.longest);
      } else groups.set(key, { ...wait });
    }
    const rows = [...groups.values()];
    this.all = rows.reduce((sum, row) => sum + row.ns, 0);
    this.most = Math.max(...rows.map(row => row.ns), 1);
    this.table.setRows(rows);
    const doubts = waitDoubts(this.view.about.doubts);

    this.note.textContent =
      (rows.length
        ? tilde(doubts.isEstimate) +
          nanoseconds(this.all) +
          " of waiting" +
          ofWholeCalls(this.view, "longest waits") +
          doubts.words
        : "No call that is shown waited" + (doubts.words ? ", as far as is known" + doubts.words : ".")) +
      (this.leftOut ? "; left out: the " + plural(this.leftOut, "smallest pair") : "");
  }
}
