/* In page.html. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Any value over ranks or threads: a bar for each row, and how many rows have how much; several values one above the
 * other. */

const COMPARED = 4;

/* Tables whose rows are each of a rank, but for those of many moments. */
function distributed(tables) {
  return [...tables.values()].filter(
    table =>
      table.rows &&
      table.has("rank") &&
      numbersOf(table).length &&
      !["findings", "sampled_instances", "timeline"].includes(table.name),
  );
}

function numbersOf(table) {
  return table.columns.filter(
    column =>
      ["whole", "real"].includes(column.type) &&
      column.unit !== "id" &&
      !/^(rank|thread|pid|tid)$|(^|_)id$/.test(column.key),
  );
}

/* The columns that tell apart the rows of one rank or thread: function, then line; section, then event. The first ones
 * that do; none: each has one row. */
const keysByTable = new WeakMap();
function keysOf(table) {
  if (keysByTable.has(table)) return keysByTable.get(table);
  const all = Array.from({ length: table.rows }, (_, row) => row),
    keys = [];
  const differ = columns => new Set(all.map(row => JSON.stringify(columns.map(key => table.get(key, row))))).size;
  const own = ["rank", "thread"].filter(key => table.has(key));
  const isName = column => column.type === "text" || /^(line|number)$/.test(column.key);
  const isNumber = column => column.unit === "id" && (column.key !== "id" || differ(["id"]) < table.rows);
  const others = table.columns.filter(column => !own.includes(column.key)),
    names = [...others.filter(isName), ...others.filter(column => !isName(column) && isNumber(column))];
  let told = differ(own);

  for (const column of names) {
    const more = differ([...own, ...keys.map(key => key.key), column.key]);

    if (more > told) {
      keys.push(column);
      told = more;
    }
  }
  keysByTable.set(table, keys);
  return keys;
}

/* A value that ranks have: a table, what its rows are of, and a column, each to be chosen. */
/* [key, title] of columns; a title that several have is told with the key. */
function titled(columns) {
  const title = column => column.title || column.key;

  return columns.map(column => [
    column.key,
    columns.filter(of => title(of) === title(column)).length > 1
      ? title(column) + " (" + column.key + ")"
      : title(column),
  ]);
}

class RankValue {
  constructor(tables, name, key, changed) {
    this.tables = new Map(distributed(tables).map(table => [table.name, table]));
    this.table = this.tables.get(name);
    this.key = key;
    this.of = []; /* of each of keysOf(), what was chosen */
    this.changed = changed;
    this.settle();
  }

  get column() {
    return this.table.byKey.get(this.key);
  }

  get title() {
    return this.column.title || this.column.key;
  }

  /* Rows of what was chosen by the first keys. */
  chosen(count) {
    const keys = keysOf(this.table).slice(0, count);

    return Array.from({ length: this.table.rows }, (_, row) => row).filter(row =>
      keys.every((key, i) => this.table.get(key.key, row) === this.of[i]),
    );
  }

  /* What a key can be, where those before it are chosen. */
  choices(at) {
    const { key } = keysOf(this.table)[at];

    return [...new Set(this.chosen(at).map(row => this.table.get(key, row)))];
  }

  /* What the table does not have is replaced. */
  settle() {
    const numbers = numbersOf(this.table);

    if (!numbers.includes(this.table.byKey.get(this.key)))
      this.key = (numbers.find(column => column.unit === "s") || numbers[0]).key;
    keysOf(this.table).forEach((_, at) => {
      const choices = this.choices(at);

      if (!choices.includes(this.of[at])) this.of[at] = choices[0];
    });
    this.of.length = keysOf(this.table).length;
  }

  /* Rows of what was chosen, by rank. */
  rows() {
    return this.chosen(keysOf(this.table).length)
      .filter(row => this.table.get(this.key, row) !== null)
      .sort(
        (a, b) =>
          this.table.get("rank", a) - this.table.get("rank", b) ||
          (this.table.get("thread", a) || 0) - (this.table.get("thread", b) || 0),
      );
  }

  choosers() {
    const change = set => value => {
      set(value);
      this.settle();
      this.changed();
    };

    return [
      chooser(
        "rows",
        [...this.tables.values()].map(of => [of.name, of.title || of.name]),
        this.table.name,
        change(name => {
          this.table = this.tables.get(name);
        }),
      ),
      ...keysOf(this.table).map((key, at) => {
        const choices = this.choices(at);

        return chooser(
          key.title || key.key,
          choices.map((of, i) => [String(i), of === null ? "(none)" : worded(key, of).slice(0, 60)]),
          String(choices.indexOf(this.of[at])),
          change(i => {
            this.of[at] = choices[i];
          }),
        );
      }),
      chooser(
        "value",
        titled(numbersOf(this.table)),
        this.key,
        change(key => {
          this.key = key;
        }),
      ),
    ];
  }
}

class Distribution {
  constructor(tables, name) {
    this.value = new RankValue(tables, name, null, () => this.change());
    this.tools = make("p", { class: "tools" });
    this.picture = make("div", { class: "beside" });
    this.caption = make("figcaption");
    this.element = make("figure", { class: "distribution" }, this.tools, this.picture, this.caption);
    this.change();
  }

  change() {
    this.tools.replaceChildren(...this.value.choosers());
    this.draw();
  }

  draw() {
    const { table, key, column, title } = this.value,
      rows = this.value.rows(),
      values = rows.map(row => table.get(key, row));

    if (!values.length) {
      this.picture.replaceChildren(make("p", null, "Not known for any of them."));
      this.caption.textContent = column.doc;
      return;
    }
    const sum = values.reduce((all, value) => all + value, 0),
      name = row =>
        "rank " + table.get("rank", row) + (table.has("thread") ? ", thread " + table.get("thread", row) : "");
    const least = rows[values.indexOf(Math.min(...values))],
      most = rows[values.indexOf(Math.max(...values))];
    const bars = rows.map((row, i) => ({ label: String(table.get("rank", row)), value: values[i] }));

    this.picture.replaceChildren(
      upright(
        title + " by rank, from left to right",
        bars,
        value => worded(column, value),
        i => selection.toggle("rank", table.get("rank", rows[i])),
        i => selection.get("rank") !== null && table.get("rank", rows[i]) === selection.get("rank"),
      ),
      upright("how many have each value: " + title, histogramOf(values, column), value => String(Math.round(value))),
    );
    this.caption.textContent =
      title +
      ": mean " +
      worded(column, sum / values.length) +
      ", least " +
      worded(column, table.get(key, least)) +
      " (" +
      name(least) +
      "), most " +
      worded(column, table.get(key, most)) +
      " (" +
      name(most) +
      ")" +
      (column.unit === "s" || column.unit === "bytes" ? ", sum " + worded(column, sum) : "") +
      ". " +
      column.doc;
  }
}

/* Several, one above the other. */
function distributions(tables) {
  const known = distributed(tables).map(table => table.name);
  const place = make("div", { id: "distributions" });
  const add = make("button", { type: "button", onclick: () => another() }, "compare with another value");
  const another = () => {
    const one = new Distribution(tables, known.includes("ranks") ? "ranks" : known[0]);

    if (place.children.length)
      one.element.append(
        make(
          "button",
          {
            type: "button",
            onclick: () => {
              one.element.remove();
              add.hidden = false;
            },
          },
          "remove",
        ),
      );
    place.append(one.element);
    add.hidden = place.children.length >= COMPARED;
  };

  if (!known.length) return null;
  another();
  return make("section", { "aria-label": "Distribution" }, make("h3", null, "How a value is distributed"), place, add);
}
