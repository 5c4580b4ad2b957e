/* In view.html. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* The panel of the messages that are on their way in what is in view: by size, by pair of ranks as a matrix and as a
 * table. */

class Messages {
  constructor(view) {
    Object.assign(this, panelOf(this, view, "messages", "Messages", "bottom"));
    this.unit = "bytes";
    this.traffic = { merge: 1, groups: 0, sizes: [], cells: [] };
    this.sizes = [];
    this.matrix = new Matrix("messages in view", (from, to) => this.pick(from, to), { fits: true });
    this.bars = canvas(150, "messages in view by size", (c, width) => this.drawSizes(c, width));
    this.table = new LongTable("pairs", "pairs of rows and their messages", this.columns(), { sorted: "bytes" });
    this.sizesTable = new LongTable("sizes", "messages by size", this.sizeColumns());
    this.functions = make(
      "select",
      { "aria-label": "calls that sent or received", onchange: () => view.toggleOfFunction() },
      make("option", { value: "all" }, "all"),
      make("option", { value: "function" }, "of the selected function"),
    );
    this.element.append(
      make(
        "p",
        { class: "tools" },
        rowsChooser(view),
        make("label", null, "calls: ", this.functions),
        keptChooser(
          "matrix",
          "show",
          [
            ["bytes", "bytes"],
            ["count", "messages"],
          ],
          this.unit,
          value => {
            this.unit = value;
            this.show();
          },
        ),
        this.table.csvButton(),
        this.note,
      ),
      make(
        "div",
        { class: "parts" },
        make(
          "div",
          { class: "scrolling third", tabindex: "0", role: "region", "aria-label": "matrix" },
          this.matrix.element,
        ),
        make(
          "div",
          { class: "scrolling third", tabindex: "0", role: "region", "aria-label": "sizes" },
          make("figure", null, make("figcaption", null, "by size ", this.sizesTable.csvButton()), this.bars),
          this.sizesTable.element,
        ),
        this.table.element,
      ),
    );
  }

  columns() {
    const group = (key, title) => ({
      key,
      title,
      isText: true,
      wide: 6,
      value: cell => cell[key],
      words: i => this.label(i),
      csv: cell => this.label(cell[key]),
      cell: cell => (this.traffic.merge > 1 ? this.label(cell[key]) : rowCell(this.view, cell[key])),
    });

    return [
      group("from", "from"),
      group("to", "to"),
      whole("count", "messages"),
      { key: "bytes", title: "size", csvTitle: "bytes", wide: 5.5, value: cell => cell.bytes, words: bytes },
      { key: "mean", title: "mean size", wide: 6, value: cell => cell.bytes / cell.count, words: bytes },
    ];
  }
  sizeColumns() {
    return [
      {
        key: "size",
        title: "size",
        isText: true,
        wide: 8.5,
        value: size => size.power,
        words: power => sizeWords(power),
        csv: size => sizeWords(size.power),
      },
      whole("count", "messages"),
      { key: "bytes", title: "bytes", wide: 5, value: size => size.bytes, words: bytes },
    ];
  }

  /* Of one row, or of several. */
  label(group) {
    const { rows } = this.view.about,
      { merge } = this.traffic,
      last = Math.min((group + 1) * merge, rows.length) - 1,
      short = row => rows[row].rank + (rows[row].thread ? ":" + rows[row].thread : "");

    return merge > 1 ? short(group * merge) + "-" + short(last) : short(group);
  }
  pick(from, to) {
    const { merge } = this.traffic;

    this.view.goToRows(Math.min(from, to) * merge, (Math.max(from, to) + 1) * merge);
  }

  async load() {
    const { view } = this,
      { merge, groups, sizes, cells } = await view.trace.json("traffic", {
        ...windowOf(view),
        ...view.messageRegion,
      });

    this.functions.value = view.isOfFunction ? "function" : "all";
    this.traffic = {
      merge,
      groups,
      sizes: sizes.map(([power, n, sum]) => ({ power, count: n, bytes: sum })),
      cells: cells.map(([from, to, n, sum]) => ({ from, to, count: n, bytes: sum })),
    };
    this.show();
  }
  show() {
    const { groups, merge, cells, sizes } = this.traffic,
      byPlace = new Map(cells.map(cell => [cell.from * groups + cell.to, cell])),
      most = Math.max(...cells.map(cell => cell[this.unit]), 0),
      word = this.unit === "bytes" ? bytes : count,
      total = key => cells.reduce((sum, cell) => sum + cell[key], 0);

    this.matrix.replace({
      labels: Array.from({ length: groups }, (_, i) => this.label(i)),
      value: (from, to) => {
        const cell = byPlace.get(from * groups + to);

        return cell && most ? cell[this.unit] / most : null;
      },
      words: (from, to) => {
        const cell = byPlace.get(from * groups + to) || { count: 0, bytes: 0 };

        return `${this.label(from)} to ${this.label(to)}: ${plural(cell.count, "message")}, ${bytes(cell.bytes)}`;
      },
      ends: [word(0), word(most)],
    });
    this.bars.dispatchEvent(new Event("redraw"));
    this.table.setRows(cells);
    this.sizesTable.setRows(sizes);
    this.note.textContent =
      plural(total("count"), "message") +
      ", " +
      bytes(total("bytes")) +
      this.functionWords() +
      (merge > 1 ? "; each label is " + merge + " rows" : "") +
      (this.view.about.left_out.messages ? "; the index has no room for messages (--index-max)" : "");
  }

  functionWords() {
    const name = selection.get("function");

    if (!this.view.isOfFunction) return "";
    return name === null ? "; select a function to see its own" : " of calls of " + name;
  }

  drawSizes(c, width) {
    const { sizes } = this.traffic,
      powers = sizes.map(size => size.power),
      least = Math.min(...powers),
      most = Math.max(...powers),
      highest = Math.max(...sizes.map(size => size[this.unit]), 1),
      step = Math.min((width - 8) / Math.max(most - least + 1, 1), 60),
      tall = 150 - 34;

    c.textBaseline = "top";
    for (const size of sizes) {
      const left = 4 + (size.power - least) * step,
        high = (tall * size[this.unit]) / highest;

      c.fillStyle = colours("mpi");
      c.fillRect(left, 16 + tall - high, Math.max(step - 2, 1), Math.max(high, 1));
    }
    c.fillStyle = colours("quiet");
    c.fillText(sizes.length ? "most: " + (this.unit === "bytes" ? bytes(highest) : count(highest)) : "none", 4, 0);
    for (let power = least, free = 0; power <= most; power++) {
      const left = 4 + (power - least) * step,
        words = power ? roundBytes(2 ** (power - 1)) : "0";

      if (left < free) continue;
      c.fillText(words, left, 150 - 16);
      free = left + c.measureText(words).width + 8;
    }
  }
}

const roundBytes = size => bytes(size).replace(/\.00?(?= )/, ""),
  sizeWords = power => (power ? roundBytes(2 ** (power - 1)) + " to " + roundBytes(2 ** power - 1) : "0 B");
