/* In page.html. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* A table that is sorted by its heads, searched, reduced to what is selected, and saved as CSV. Rows are drawn a
 * hundred at a time. */

const ROWS = 100;

class TableView {
  constructor(table) {
    this.table = table;
    this.keys = table.shown;
    this.sorted = null;
    this.down = true;
    this.most = 20;
    this.text = "";
    this.onlySelected = false;
    this.head = make("tr");
    this.body = make("tbody");
    this.more = make("button", {
      type: "button",
      onclick: () => {
        this.most += ROWS;
        this.draw();
      },
    });
    this.search = make("input", {
      type: "search",
      placeholder: "search",
      "aria-label": "search in " + table.title,
      oninput: () => {
        this.text = this.search.value.toLowerCase();
        this.draw();
      },
    });
    this.element = make(
      "div",
      { class: "table" },
      this.tools(),
      scrolled(table.title, make("table", { id: "table-" + table.name }, make("thead", null, this.head), this.body)),
      this.more,
    );
    this.element.view = this;
    selection.onChange(() => this.draw());
    this.draw();
  }

  tools() {
    const all = make("input", {
      type: "checkbox",
      onchange: () => {
        this.keys = all.checked ? this.table.columns.map(column => column.key) : this.table.shown;
        this.draw();
      },
    });
    const only = make("input", {
      type: "checkbox",
      onchange: () => {
        this.onlySelected = only.checked;
        this.draw();
      },
    });

    return make(
      "p",
      { class: "tools" },
      this.search,
      make("label", null, all, " all columns"),
      make("label", null, only, " only what is selected"),
      make(
        "button",
        { type: "button", onclick: () => download(this.table.name + ".csv", this.csv(), "text/csv") },
        "CSV",
      ),
    );
  }

  rows() {
    const t = this.table;
    let rows = Array.from({ length: t.rows }, (_, row) => row);

    if (this.text)
      rows = rows.filter(row =>
        this.keys.some(key => worded(t.byKey.get(key), t.get(key, row)).toLowerCase().includes(this.text)),
      );
    if (this.onlySelected) rows = rows.filter(row => isSelected(t, row) !== false);
    if (this.sorted) {
      const sign = this.down ? -1 : 1;

      rows.sort((a, b) => {
        const x = t.get(this.sorted, a),
          y = t.get(this.sorted, b);

        return x === null || y === null ? (x === null) - (y === null) : sign * (x < y ? -1 : x > y ? 1 : 0) || a - b;
      });
    }
    return rows;
  }

  csv() {
    const keys = this.table.columns.filter(column => column.type !== "reals").map(column => column.key);

    return (
      [keys.join(","), ...this.rows().map(row => keys.map(key => quoted(this.table.get(key, row))).join(","))].join(
        "\n",
      ) + "\n"
    );
  }

  sortBy(key) {
    this.down = this.sorted === key ? !this.down : this.table.byKey.get(key).type !== "text";
    this.sorted = key;
    this.draw();
  }

  drawHead() {
    this.head.replaceChildren(
      ...this.keys.map(key => {
        const column = this.table.byKey.get(key);
        const sorted = this.sorted === key ? (this.down ? "descending" : "ascending") : "none";

        return make(
          "th",
          { scope: "col", "aria-sort": sorted, class: column.type === "text" ? "left" : null },
          make(
            "button",
            { type: "button", title: column.doc, onclick: () => this.sortBy(key) },
            (column.title || key) + (sorted === "none" ? "" : this.down ? " \u25be" : " \u25b4"),
          ),
        );
      }),
    );
  }

  /* Reasons by key of the cells of a row that may show a bottleneck: columns `marked` and `mark` have one for each. */
  marks(row) {
    const reasons = new Map(),
      keys = this.table.byKey.has("marked") && this.table.get("marked", row);

    if (keys)
      keys.split(" ").forEach((key, i) => {
        const reason = this.table.get("mark", row).split("; ")[i];

        reasons.set(key, reasons.has(key) ? reasons.get(key) + "; " + reason : reason);
      });
    return reasons;
  }

  drawRow(row) {
    const t = this.table,
      kinds = new Map(selectable(t).map(([kind, key]) => [key, kind])),
      marks = this.marks(row);

    return make(
      "tr",
      { "aria-selected": isSelected(t, row) === true ? "true" : null },
      ...this.keys.map(key => {
        const column = t.byKey.get(key),
          value = t.get(key, row);
        const text =
          (value !== null && column.type !== "text" && t.isEstimate(column, row) ? "~" : "") + worded(column, value);
        const cell = make("td", {
          class: marks.has(key) ? "marked" : column.type === "text" ? "left" : null,
          title: marks.get(key) || (text.length > 60 ? text : null),
        });

        if (kinds.has(key) && value !== null)
          cell.append(
            make(
              "button",
              { type: "button", class: "pick", onclick: () => selection.toggle(kinds.get(key), value) },
              text,
            ),
          );
        else cell.append(text);
        return cell;
      }),
    );
  }

  draw() {
    const rows = this.rows();

    this.drawHead();
    this.body.replaceChildren(...rows.slice(0, this.most).map(row => this.drawRow(row)));
    this.more.hidden = rows.length <= this.most;
    this.more.textContent = "more of " + count(rows.length) + " rows";
  }
}
