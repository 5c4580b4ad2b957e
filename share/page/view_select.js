/* In view.html. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* The region that is selected in all panels and in the timeline, which pales all others; and what panels share. */

const selection = {
  region: null,
  about: null,
  listeners: [],

  onChange(listener) {
    this.listeners.push(listener);
  },
  /* Of a function that is seen in a flame graph: its name. */
  get(kind) {
    return kind === "function" && this.region !== null ? this.about.regions[this.region].name : null;
  },
  stretch() {
    return null;
  },
  choose(region) {
    this.region = region;
    address.set("function", region === null ? null : this.about.regions[region].name);
    this.tell();
  },
  toggle(region) {
    this.choose(region === this.region ? null : region);
  },
  fromAddress() {
    const name = address.get("function"),
      region = name === null ? null : this.about.regions.find(of => of.name === name);

    this.region = region ? region.number : null;
    this.tell();
  },
  tell() {
    this.listeners.forEach(listener => listener());
  },
};

/* "1.25s", "300 ms", "2:30", or a number of s: ns; null: it is no time. */
function timeOf(text) {
  const units = { "": 1e9, s: 1e9, ms: 1e6, us: 1e3, "\u00b5s": 1e3, "\u03bcs": 1e3, ns: 1, min: 60e9, h: 3600e9 },
    clock = text.trim().match(/^(?:(\d+):)?(\d+):(\d\d(?:\.\d+)?)$/),
    found = text.trim().match(/^(\d+(?:[.]\d*)?|[.]\d+)(e-?\d+)?\s*([a-z\u00b5\u03bc]*)$/i);

  if (clock) return Math.round(((Number(clock[1] || 0) * 60 + Number(clock[2])) * 60 + Number(clock[3])) * 1e9);
  if (!found || !(found[3].toLowerCase() in units)) return null;
  return Math.round(Number(found[1] + (found[2] || "")) * units[found[3].toLowerCase()]);
}

/* "8K", "1.5 MiB" or a number: bytes; null: it is none. */
function bytesOf(text) {
  const found = text.trim().match(/^(\d+(?:[.]\d*)?)\s*([kmgt]?)(?:i?b)?$/i);

  return found ? Math.round(Number(found[1]) * 1024 ** ["", "k", "m", "g", "t"].indexOf(found[2].toLowerCase())) : null;
}

/* Begin and end of a long name, of which the middle is left out where there is no room. */
const LONG_NAME = 20,
  NAME_END = 9; /* characters */
const nameParts = name =>
  name.length > LONG_NAME
    ? [make("span", null, name.slice(0, -NAME_END)), make("span", null, name.slice(-NAME_END))]
    : [name];

/* A region's name with its colour; a click selects it in all panels. */
function regionCell(view, number) {
  const key = make("i", { class: "key" }),
    { name, file } = view.about.regions[number];

  key.style.background = view.palette.own(number);
  return [
    key,
    make(
      "button",
      {
        type: "button",
        class: "pick",
        "data-focus": "region" + number,
        "aria-pressed": String(number === selection.region),
        title: name + (file ? ", " + file : "") + ": select it everywhere",
        onclick: () => selection.toggle(number),
      },
      ...nameParts(name),
    ),
  ];
}
/* The column of rows that have a region. */
const regionColumn = (view, title, wide) => ({
  key: "region",
  title,
  isText: true,
  wide,
  value: row => view.about.regions[row.region].name,
  cell: row => make("span", { class: "name" }, ...regionCell(view, row.region)),
});
/* The column of a row; of none null. */
const rowColumn = (view, key, title, doc) => ({
  key,
  title,
  doc,
  isText: true,
  wide: 7,
  value: of => of[key],
  words: row => rowName(view.about.rows[row]),
  cell: of => rowCell(view, of[key]),
  csv: of => (of[key] === null ? null : rowName(view.about.rows[of[key]])),
});

/* What is asked for: the stretch in view, and the rows that are chosen. */
function windowOf(view) {
  const rows = panelRows.all ? { first: 0, rows: view.about.rows.length } : view.rowsInView,
    within = ns => Math.round(Math.min(Math.max(ns, 0), view.about.span_ns));

  return { from: within(view.from), to: within(view.to), ...rows };
}

/* Times are of what is in view. `what` is of whole calls: is said where some may be cut. */
function ofWholeCalls(view, what) {
  const { from, to } = windowOf(view);

  return from > 0 || to < view.about.span_ns ? "; " + what + " of whole calls" : "";
}

/* A chooser (axes.js) whose choice is in the address. take(value): also once the address has another one. */
function keptChooser(key, label, entries, usual, take) {
  const known = value => entries.some(([of]) => of === value),
    element = chooser(label, entries, usual, value => {
      address.set(key, value === usual ? null : value);
      take(value);
    }),
    select = element.querySelector("select");

  address.keep(() => {
    const wanted = known(address.get(key)) ? address.get(key) : usual;

    if (select.value === wanted) return;
    select.value = wanted;
    take(wanted);
  });
  return element;
}

/* Whether panels are of the rows in view, or of all. */
const panelRows = { all: false };

function rowsChooser(view) {
  return make(
    "label",
    null,
    "of ",
    make(
      "select",
      {
        "aria-label": "rows that are summed up",
        onchange: event => {
          panelRows.all = event.target.value === "all";
          address.set("rows", panelRows.all ? "all" : null);
          document.querySelectorAll("select.rows").forEach(of => (of.value = event.target.value));
          view.bench.age();
        },
        class: "rows",
      },
      make("option", { value: "seen", selected: !panelRows.all }, "the rows in view"),
      make("option", { value: "all", selected: panelRows.all }, "all rows"),
    ),
  );
}
