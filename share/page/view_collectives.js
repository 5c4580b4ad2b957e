/* In view.html. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* The panel of collective operations in view, by kind: how long they took, what they moved, and how far apart their
 * members arrived. */

const KIND_KEYS = [
  "region",
  "operations",
  "calls",
  "ns",
  "wait",
  "sent",
  "received",
  "alone",
  "partial",
  "spread",
  "longest",
  "begin",
  "end",
  "late",
];

/* Collective operations of which no records say who takes part. */
const ON_FILES = /^MPI_File_(open|close|sync|(iread|iwrite|read|write|set)_.*(all|ordered|view|size))$/i;

class Collectives {
  constructor(view) {
    Object.assign(this, panelOf(this, view, "collectives", "Collectives", "bottom"));
    this.table = new LongTable("kinds", "collective operations in view", this.columns(), {
      sorted: "ns",
      isChosen: row => row.region === selection.region,
    });
    this.element.append(
      make("p", { class: "tools" }, rowsChooser(view), this.table.csvButton(), this.note),
      this.table.element,
    );
    selection.onChange(() => this.table.draw());
  }

  columns() {
    const { view } = this,
      known = (key, title, doc, more = {}) =>
        time(key, title, doc, { value: kind => (kind.known ? kind[key] : null), ...more }),
      size = (key, title, doc) => ({
        key,
        title,
        doc,
        csvTitle: key + "_bytes",
        wide: 6,
        value: kind => kind[key],
        words: bytes,
      });

    return [
      regionColumn(view, "operation", 13),
      {
        ...whole("operations", "operations", "of which a call is in view"),
        value: kind => kind.operations || null,
      },
      whole("calls", "calls", "of the rows, that have a part of what is shown"),
      time("ns", "time", "of these calls; of non-blocking operations until they are complete"),
      time("wait", "waiting", "in these calls, from the analysis of waiting", { value: kind => kind.wait || null }),
      known("mean", "mean spread", "from the first member's arrival to the last one's, mean of the operations", {
        csvTitle: "spread_mean_ns",
      }),
      known("longest", "longest spread", "of the operation whose members arrived furthest apart", {
        csvTitle: "spread_longest_ns",
        cell: (kind, words) => words && this.longestCell(kind, words),
      }),
      rowColumn(view, "late", "last to arrive", "the row that arrived last in that operation"),
      size("sent", "notional sent", "bytes as archives count them: as if each rank sent to each, itself included"),
      size("received", "notional received", "bytes as archives count them: as if each rank sent to each"),
    ];
  }
  longestCell(kind, words) {
    return make(
      "button",
      {
        type: "button",
        class: "pick longest",
        "data-focus": "apart" + kind.region,
        title: "go to the " + this.view.about.regions[kind.region].name + " whose members are furthest apart",
        onclick: () => this.go(kind),
      },
      words,
    );
  }

  /* The whole operation, with some time around it, and in it the call that was last. */
  async go({ region, begin, end, longest, late }) {
    const { view } = this,
      around = Math.max((end - begin) / 8, 50),
      last = begin + longest,
      { calls } = await view.trace.calls({
        from: last,
        to: last + 1,
        only: String(late),
        region,
        order: ORDERS.earliest,
        count: 1,
      });

    view.rows.reveal(late);
    if (calls.length) view.select(calls[0]);
    view.go(begin - around, end + around);
    if (!(view.yOf(late) >= view.top && view.yOf(late) <= view.tall)) view.goToRow(late);
  }

  async load() {
    const { kinds } = await this.view.trace.json("collectives", windowOf(this.view)),
      rows = kinds.map(numbers => Object.fromEntries(KIND_KEYS.map((key, i) => [key, numbers[i]])));

    for (const kind of rows) {
      kind.known = kind.operations - kind.partial;
      kind.mean = kind.known ? kind.spread / kind.known : null;
      if (!kind.known) kind.late = null;
    }
    this.table.setRows(rows);
    this.note.textContent = this.words(rows);
  }
  words(rows) {
    const sum = key => rows.reduce((all, kind) => all + kind[key], 0),
      { left_out: left } = this.view.about;

    return [
      plural(sum("operations"), "operation"),
      sum("partial") ? count(sum("partial")) + " without the calls of all members: they have no spread" : "",
      sum("alone") ? plural(sum("alone"), "call") + " that belong to no known operation" : "",
      this.view.about.regions.some(({ name }) => ON_FILES.test(name))
        ? "those on files are in Functions and Waiting"
        : "",
      left.collectives ? "the index has no room for them (--index-max)" : "",
    ]
      .filter(Boolean)
      .join("; ");
  }
}
