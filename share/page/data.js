/* In page.html. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* The run's tables, as src/views/page/page.c writes them. */

/* Titles have short words for the text's sake. */
const heading = title => title.replace(/\bcov\b/, "variation");

/* Keys of columns, in what others mean, are said by their titles: keys are for --where and --table. */
function meanings(columns) {
  const titles = new Map(columns.filter(({ key }) => /[_.]/.test(key)).map(({ key, title }) => [key, heading(title)]));

  return columns.map(column => ({
    ...column,
    title: heading(column.title),
    doc: (column.doc || "").replace(/[a-z]\w*(?:\.[a-z]\w*)*/gi, word =>
      titles.get(word) ? '"' + titles.get(word) + '"' : word,
    ),
  }));
}

class Table {
  constructor(described, values, words) {
    Object.assign(this, described);
    this.words = words;
    this.columns = meanings(described.columns).map((column, i) => ({ ...column, values: values[i] }));
    this.byKey = new Map(this.columns.map(column => [column.key, column]));
    this.shown = (described.shown || "")
      .split(/\s+/)
      .filter(Boolean)
      .map(key => key.split("/")[0])
      .filter(key => this.byKey.has(key) && this.byKey.get(key).type !== "reals"); /* those are in charts */
    if (!this.shown.length) this.shown = this.columns.slice(0, 8).map(column => column.key);
    const known = this.shown.filter(key => this.isKnown(key));

    if (known.length) this.shown = known;
  }

  has(key) {
    return this.byKey.has(key);
  }

  /* Of any row. */
  isKnown(key) {
    return this.byKey.get(key).values.some(value => value !== null && value !== undefined);
  }

  /* Nothing is known of any row. */
  isBlank() {
    return !this.columns.some(column => this.isKnown(column.key));
  }

  /* null: not known */
  get(key, row) {
    const column = this.byKey.get(key);
    const value = column ? column.values[row] : null;

    if (value === null || value === undefined) return null;
    return column.type === "text" ? this.words[value] : column.type === "truth" ? value === 1 : value;
  }

  isEstimate(column, row) {
    return column.estimate || (column.kind && this.get(column.kind, row) === "estimate");
  }

  /* Rows as objects, of small tables. */
  all() {
    return Array.from({ length: this.rows }, (_, row) =>
      Object.fromEntries(this.columns.map(column => [column.key, this.get(column.key, row)])),
    );
  }
}

async function inflate(pieces) {
  const bytes = await Promise.all(
    pieces.map(async text => (await fetch("data:application/octet-stream;base64," + text)).arrayBuffer()),
  );

  return new Response(new Blob(bytes).stream().pipeThrough(new DecompressionStream("gzip"))).text();
}

/* From where on something is said, as the text has it: numbers and words. */
const limits = {};

/* Tables of a part of the page by name, with lines of source files (page_sources.h). Tables without rows are there,
 * too: they say what records them. */
async function loadTables(part) {
  const scripts = [...document.querySelectorAll(part)];
  const [described, values, sources] = JSON.parse(await inflate(scripts.map(script => script.textContent)));

  scripts.forEach(script => script.remove());
  Object.assign(limits, described.limits);
  return Object.assign(
    new Map(described.tables.map((table, i) => [table.name, new Table(table, values[i], described.words)])),
    { sources, schema: described.schema, function: described.function },
  );
}

/* The first screen's are drawn before the others are read. */
const loadFirst = () => loadTables("script.first.data");

async function loadRest(first) {
  const rest = await loadTables("script.data:not(.first)");

  return Object.assign(new Map([...first, ...rest]), {
    sources: rest.sources,
    schema: first.schema,
    function: first.function,
  });
}
