/* In view.html. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* A table of any number of rows, of which only those exist that are seen. Columns: { key, title, doc, wide (em),
 * isText, value(row), words(value, row), cell(row, words): what stands in the cell; null: the words; order(row): what
 * it is sorted by, csv(row): what is saved, if not the value }. arrange(rows, compare): in another order than that of
 * all rows; rowTall: pixels. */

const LONG_ROW = 22,
  TWO_LINES = 40; /* pixels, as in page.css */

class LongTable {
  constructor(
    id,
    told,
    columns,
    { sorted = null, choose = null, isChosen = () => false, arrange = null, rowTall = LONG_ROW } = {},
  ) {
    Object.assign(this, { id, told, columns, choose, isChosen, rowTall });
    this.arrange = arrange || ((rows, compare) => rows.sort(compare));
    this.usual = sorted;
    this.sorted = sorted;
    this.down = true;
    this.rows = this.inOrder = [];
    this.head = make("tr");
    this.body = make("tbody");
    this.widths = make("colgroup");
    this.table = make("table", { id, "aria-label": told }, this.widths, make("thead", null, this.head), this.body);
    this.element = make("div", { class: "long", tabindex: "0", role: "region", "aria-label": told }, this.table);
    this.element.addEventListener("scroll", () => this.soon());
    new ResizeObserver(() => this.soon()).observe(this.element);
    this.setColumns(columns);
    address.keep(() => {
      this.takeOrder();
      this.sort();
    });
  }

  /* "time", "time,up"; what is no column here is none. */
  takeOrder() {
    const [key, way] = (address.get("sort-" + this.id) || "").split(","),
      isThere = of => this.columns.some(column => column.key === of);

    this.down = !isThere(key) || way !== "up";
    this.sorted = [key, this.usual].find(isThere) || null;
    this.drawHead();
  }
  setColumns(columns) {
    this.columns = columns;
    this.widths.replaceChildren(
      ...columns.map(column => {
        const col = make("col");

        if (column.wide) col.style.width = column.wide + "em";
        return col;
      }),
    );
    this.table.style.minWidth = columns.reduce((sum, column) => sum + (column.wide || 16), 0) + "em";
    this.takeOrder();
    this.setRows(this.rows);
  }
  setRows(rows) {
    this.rows = rows;
    this.sort();
  }

  sort() {
    const column = this.columns.find(of => of.key === this.sorted),
      sign = this.down ? -1 : 1,
      value = row => (column.order || column.value)(row);

    this.inOrder = column
      ? this.arrange([...this.rows], (a, b) => {
          const x = value(a),
            y = value(b);

          return x === null || y === null ? (x === null) - (y === null) : sign * (x < y ? -1 : x > y ? 1 : 0);
        })
      : this.rows;
    this.draw();
  }
  sortBy(column) {
    this.down = this.sorted === column.key ? !this.down : !column.isText;
    this.sorted = column.key;
    address.set(
      "sort-" + this.id,
      this.down && this.sorted === this.usual ? null : this.sorted + (this.down ? "" : ",up"),
    );
    this.drawHead();
    this.sort();
  }

  drawHead() {
    this.head.replaceChildren(
      ...this.columns.map(column => {
        const way = this.sorted === column.key ? (this.down ? "descending" : "ascending") : "none";

        return make(
          "th",
          { scope: "col", "aria-sort": way, class: column.isText ? "left" : null },
          make(
            "button",
            { type: "button", title: column.doc || column.title, onclick: () => this.sortBy(column) },
            column.title + (way === "none" ? "" : this.down ? " \u25be" : " \u25b4"),
          ),
        );
      }),
    );
  }

  soon() {
    this.waiting =
      this.waiting ||
      requestAnimationFrame(() => {
        this.waiting = 0;
        this.draw();
      });
  }

  /* Rows that are seen, some more, and room for the others above and below. */
  draw() {
    const all = this.inOrder.length,
      first = Math.max(Math.floor(this.element.scrollTop / this.rowTall) - 10, 0),
      seen = Math.ceil((this.element.clientHeight || 600) / this.rowTall) + 20,
      from = Math.max(Math.min(first, all - seen), 0),
      to = Math.min(from + seen, all),
      focused = this.body.contains(document.activeElement) ? document.activeElement.dataset.focus : null;

    this.table.setAttribute("aria-rowcount", all + 1);
    this.body.replaceChildren(
      ...(from ? [this.room(from)] : []),
      ...this.inOrder.slice(from, to).map((row, i) => this.drawRow(row, from + i)),
      ...(to < all ? [this.room(all - to)] : []),
    );
    if (focused) {
      const again = [...this.body.querySelectorAll("[data-focus]")].find(of => of.dataset.focus === focused);

      if (again) again.focus({ preventScroll: true });
    }
  }
  room(rows) {
    const element = make("tr", { class: "room", "aria-hidden": "true" });

    element.style.height = rows * this.rowTall + "px";
    return element;
  }
  drawRow(row, at) {
    return make(
      "tr",
      {
        "aria-rowindex": at + 2,
        "aria-selected": this.isChosen(row) ? "true" : null,
        onclick: this.choose && (event => event.target.closest("button") || this.choose(row)),
      },
      ...this.columns.map(column => {
        const value = column.value(row),
          words = value === null || value === undefined ? "" : column.words ? column.words(value, row) : String(value),
          cell = column.cell ? column.cell(row, words) : null;

        return make(
          "td",
          { class: column.isText ? "left" : null, title: column.isText && !cell ? words : null },
          ...(cell === null ? [words] : Array.isArray(cell) ? cell : [cell]),
        );
      }),
    );
  }

  csv() {
    return (
      [
        this.columns.map(column => quoted(column.csvTitle || column.title)).join(","),
        ...this.inOrder.map(row =>
          this.columns
            .map(column => (column.csv || column.value)(row))
            .map(value => quoted(value === undefined ? null : value))
            .join(","),
        ),
      ].join("\n") + "\n"
    );
  }
  csvButton() {
    return make(
      "button",
      {
        type: "button",
        title: "save this table: " + this.told,
        onclick: () => download(this.id + ".csv", this.csv(), "text/csv"),
      },
      "CSV",
    );
  }
}
