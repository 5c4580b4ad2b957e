/* In page.html. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Message sizes: of functions and communicators as a picture, and the histogram of a call site. */

const SIZE_VALUES = [
  ["sent_count", "sent: number"],
  ["bytes_sent", "sent: bytes"],
  ["received_count", "received: number"],
  ["bytes_received", "received: bytes"],
  ["time_s", "time"],
];

const SIZE_ROWS = 60;

/* Function and size of its communicators by size class, with a value as colour. */
class Sizes {
  constructor(table) {
    this.table = table;
    this.rows = table.all();
    this.values = SIZE_VALUES.filter(([key]) => this.rows.some(row => row[key] > 0));
    this.key = this.values.some(([key]) => key === "bytes_sent")
      ? "bytes_sent"
      : this.values.length
        ? this.values[0][0]
        : "time_s";
    this.tools = make("p", { class: "tools" });
    this.place = scrolled("Message sizes by function and communicator");
    this.note = make("p", { class: "note" });
    this.element = make(
      "section",
      { id: "sizes", "aria-label": "Message sizes, as a picture" },
      make("h3", null, "Message sizes by function and size of communicator"),
      this.tools,
      this.place,
      this.note,
    );
    this.draw();
  }

  draw() {
    const column = this.table.byKey.get(this.key),
      rows = this.rows.filter(row => row[this.key] > 0),
      lows = [...new Set(rows.map(row => row.low_bytes))].sort((a, b) => a - b),
      most = rows.reduce((largest, row) => Math.max(largest, row[this.key]), 0);
    const named = row => row.function + (row.comm_size === null ? "" : ", " + plural(row.comm_size, "rank")),
      names = [...new Set(rows.map(named))],
      at = new Map(rows.map(row => [named(row) + " " + row.low_bytes, row[this.key]]));
    const cell = value => {
      const box = make("td", null, value ? worded(column, value) : "");

      if (value && most) {
        box.style.background = shade(0.15 + (0.85 * Math.log1p(value)) / Math.log1p(most));
        box.style.color = readable(box.style.background);
      }
      return box;
    };

    this.note.textContent =
      names.length > SIZE_ROWS
        ? "the first " + SIZE_ROWS + " of " + count(names.length) + "; table size_classes has all"
        : "";
    this.tools.replaceChildren(
      chooser("value", this.values, this.key, key => {
        this.key = key;
        this.draw();
      }),
    );
    this.place.replaceChildren(
      make(
        "table",
        { class: "cells" },
        make(
          "thead",
          null,
          make(
            "tr",
            null,
            make("th", { class: "left" }, "function, ranks of its communicators; sizes from"),
            ...lows.map(low => make("th", null, bytes(low))),
          ),
        ),
        make(
          "tbody",
          null,
          ...names
            .slice(0, SIZE_ROWS)
            .map(name =>
              make("tr", null, make("td", { class: "left" }, name), ...lows.map(low => cell(at.get(name + " " + low)))),
            ),
        ),
      ),
    );
  }
}

function messageSizes(table) {
  return table && table.rows ? new Sizes(table).element : null;
}

/* ---- of a call site ---- */

/* The histogram of the call site that is selected; else of the one that its chooser names, at first the longest. */
class SiteSizes {
  constructor(tables) {
    this.table = tables.get("site_sizes");
    this.sites = new Map();
    this.table.all().forEach(row => {
      if (!this.sites.has(row.callsite_id)) this.sites.set(row.callsite_id, []);
      this.sites.get(row.callsite_id).push(row);
    });
    this.site = this.sites.keys().next().value;
    this.key = null;
    this.tools = make("p", { class: "tools" });
    this.picture = make("div");
    this.caption = make("figcaption");
    this.element = make(
      "section",
      { id: "site-sizes", "aria-label": "Message sizes of a call site" },
      make("h3", null, "Message sizes of a call site"),
      make("figure", null, this.tools, this.picture, this.caption),
    );
    this.draw();
    selection.onChange(() => this.draw());
  }

  shown() {
    const selected = selection.get("callsite");

    return this.sites.has(selected) ? selected : this.site;
  }

  chooseSite(id) {
    this.site = Number(id);
    if (selection.get("callsite") !== this.site) selection.toggle("callsite", this.site);
  }

  draw() {
    const id = this.shown(),
      rows = this.sites.get(id),
      values = SIZE_VALUES.filter(([key]) => rows.some(row => row[key] > 0));
    const named = ([of, [row]]) => [
      String(of),
      "#" + row.number + " " + row.function + (row.called_by ? ", " + row.called_by : ""),
    ];

    if (!values.some(([key]) => key === this.key)) this.key = values[0][0];
    this.tools.replaceChildren(
      chooser("call site", [...this.sites].map(named), String(id), site => this.chooseSite(site)),
      chooser("value", values, this.key, key => {
        this.key = key;
        this.draw();
      }),
    );
    const column = this.table.byKey.get(this.key),
      all = this.allClasses(rows);

    this.picture.replaceChildren(upright("messages by size", all, value => worded(column, value)));
    this.caption.textContent =
      rows.map(row => sizeWords(row) + ": " + worded(column, row[this.key])).join("; ") +
      ". Sizes that occurred, in powers of two; table site_sizes has the numbers.";
  }

  /* Empty ones between them, too. */
  allClasses(rows) {
    const at = new Map(rows.map(row => [row.low_bytes, row])),
      classes = [];

    for (let low = rows[0].low_bytes; low <= rows[rows.length - 1].low_bytes; low = low ? 2 * low : 1)
      classes.push({ label: bytes(low), value: at.has(low) ? at.get(low)[this.key] : 0 });
    return classes;
  }
}

function sizeWords(row) {
  return row.smallest_bytes === null
    ? "from " + bytes(row.low_bytes)
    : row.smallest_bytes === row.largest_bytes
      ? bytes(row.smallest_bytes)
      : bytes(row.smallest_bytes) + " to " + bytes(row.largest_bytes);
}

function siteSizes(tables) {
  const table = tables.get("site_sizes");

  return table && table.rows ? new SiteSizes(tables).element : null;
}
