/* In page.html. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Any value over ranks or threads: a bar for each row, and how many rows have how much; several values one above the
 * other. */

const COMPARED = 4;

/* Tables whose rows are each of a rank, with what tells apart the rows that one has. */
function distributed(tables) {
  return [...tables.values()].filter(
    table =>
      table.rows &&
      table.has("rank") &&
      numbersOf(table).length &&
      !["findings", "sampled_instances"].includes(table.name),
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

/* The column of text whose values are what the rows are of, besides their rank: function, section, lock. null: none */
function subjectOf(table) {
  return (
    table.columns.find(
      column => column.type === "text" && /^(function|procedure|section|lock|kind|metric)$/.test(column.key),
    ) || null
  );
}

/* A value that ranks have: a table, what its rows are of, and a column, each to be chosen. */
class RankValue {
  constructor(tables, name, key, changed) {
    this.tables = new Map(distributed(tables).map(table => [table.name, table]));
    this.table = this.tables.get(name);
    this.key = key;
    this.of = null;
    this.changed = changed;
    this.settle();
  }

  get column() {
    return this.table.byKey.get(this.key);
  }

  get title() {
    return this.column.title || this.column.key;
  }

  subjects() {
    const subject = subjectOf(this.table);

    return subject
      ? [...new Set(Array.from({ length: this.table.rows }, (_, row) => this.table.get(subject.key, row)))]
      : [];
  }

  /* What the table does not have is replaced. */
  settle() {
    const numbers = numbersOf(this.table),
      subjects = this.subjects();

    if (!numbers.includes(this.table.byKey.get(this.key)))
      this.key = (numbers.find(column => column.unit === "s") || numbers[0]).key;
    if (!subjects.includes(this.of)) this.of = subjects.length ? subjects[0] : null;
  }

  /* Rows of what was chosen, by rank. */
  rows() {
    const subject = subjectOf(this.table),
      all = Array.from({ length: this.table.rows }, (_, row) => row);

    return all
      .filter(
        row => (!subject || this.table.get(subject.key, row) === this.of) && this.table.get(this.key, row) !== null,
      )
      .sort(
        (a, b) =>
          this.table.get("rank", a) - this.table.get("rank", b) ||
          (this.table.get("thread", a) || 0) - (this.table.get("thread", b) || 0),
      );
  }

  choosers() {
    const subject = subjectOf(this.table),
      subjects = this.subjects();
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
      ...(subject
        ? [
            chooser(
              subject.title || subject.key,
              subjects.map((of, i) => [String(i), of === null ? "(none)" : of.slice(0, 60)]),
              String(subjects.indexOf(this.of)),
              change(i => {
                this.of = subjects[i];
              }),
            ),
          ]
        : []),
      chooser(
        "value",
        numbersOf(this.table).map(column => [column.key, column.title || column.key]),
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
