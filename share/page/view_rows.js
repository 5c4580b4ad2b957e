/* In page.html, view.html. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* The lines of the timeline: rows in groups by host, rank and thread, which fold; sorted (view_order.js), and filtered
 * by rank. A line is one row, or a group: the mean of its rows, which its own lines follow, unless it is folded. */

const MPI_CLASSES = ["point-to-point", "collective", "one-sided", "MPI"],
  ONLY_LONGEST = 8000; /* characters of a list of rows in an address */

const hasMpi = ({ classes, regions }) =>
  regions.some(({ class: of, ns }) => ns && MPI_CLASSES.includes(classes[of].name));

/* "0-3,7": of numbers in any order; those that follow each other together. */
function rangesOf(numbers) {
  const parts = [];

  for (let i = 0; i < numbers.length; i++) {
    const first = numbers[i];

    while (i + 1 < numbers.length && numbers[i + 1] === numbers[i] + 1) i++;
    parts.push(first === numbers[i] ? String(first) : first + "-" + numbers[i]);
  }
  return parts.join(",");
}

/* "0-3,7:1", of which 1 is a thread, as a test; null: it is not such a list. */
function ranksOf(text) {
  const parts = text.split(/[\s,]+/).filter(Boolean),
    ranges = parts.map(part => part.match(/^(\d+)(?:-(\d+))?(?::(\d+))?$/));

  if (!parts.length || ranges.includes(null)) return null;
  return (rank, thread) =>
    ranges.some(
      ([, first, last, of]) =>
        rank >= Number(first) && rank <= Number(last || first) && (of === undefined || thread === Number(of)),
    );
}

class Rows {
  constructor(view) {
    this.view = view;
    this.about = view.about;
    this.order = new RowOrder(view);
    this.readAddress();
  }

  readAddress() {
    this.sort = address.get("sort") || "rank";
    this.grouped = address.get("groups") !== "no";
    this.ranks = address.get("ranks") || "";
    this.isGood = true; /* what was typed in as ranks */
    this.folded = new Set((address.get("fold") || "").split(",").filter(Boolean));
    this.make();
  }
  writeAddress() {
    address.set("sort", this.sort === "rank" ? null : this.sort);
    address.set("groups", this.grouped ? null : "no");
    address.set("ranks", this.ranks || null);
    address.set("fold", this.folded.size ? [...this.folded].join(",") : null);
  }

  /* ---- lines ---- */

  /* Rows that are wanted, sorted: what has most comes first. */
  sorted() {
    const { rows } = this.about,
      wanted = ranksOf(this.ranks) || (() => true),
      numbers = rows.map((row, i) => i).filter(i => wanted(rows[i].rank, rows[i].thread));

    return this.order.sorted(numbers, this.sort);
  }
  make() {
    const { rows } = this.about;

    this.lines = [];
    this.lineOf = new Int32Array(rows.length).fill(-1);
    this.numbers = this.sorted();
    this.view.canvas.setAttribute(
      "aria-label",
      "Timeline of " + plural(this.numbers.length, "row") + ", which can be moved and zoomed by keys: ? lists them",
    );
    if (this.grouped)
      this.addGroups(this.numbers, [row => "host " + rows[row].host, row => "rank " + rows[row].rank], 0);
    else this.numbers.forEach(row => this.addRow(row, 0, null));
    this.view.canvas.dataset.lines = this.lines.length;
  }
  addRow(row, level, above) {
    const own = rowName(this.about.rows[row]),
      name = own === above ? own + " thread 0" : own;

    this.lineOf[row] = this.lines.length;
    this.lines.push({ name, rows: [row], own: [row], level, group: null });
  }
  /* A group of one is none, and so is the only one. above: the name of the group that they are in. */
  addGroups(numbers, keys, level, above = null) {
    const groups = new Map();

    if (!keys.length) {
      numbers.forEach(row => this.addRow(row, level, above));
      return;
    }
    for (const row of numbers) {
      const key = keys[0](row);

      if (!groups.has(key)) groups.set(key, []);
      groups.get(key).push(row);
    }
    const isOne = groups.size === 1 && keys.length > 1;
    for (const [name, members] of groups)
      if (isOne || members.length === 1) this.addGroups(members, keys.slice(1), level);
      else this.addGroup(name, members, keys, level);
  }
  addGroup(name, members, keys, level) {
    const isFolded = this.folded.has(name),
      at = this.lines.length;

    this.lines.push({ name, rows: members, own: isFolded ? members : [], level, group: name, isFolded });
    if (isFolded) members.forEach(row => (this.lineOf[row] = at));
    else this.addGroups(members, keys.slice(1), level + 1, name);
  }

  /* Of lines that are drawn as one; a group's line stands for no row whose own line is there. */
  rowsOf(first, end) {
    const lines = this.lines.slice(first, end),
      own = lines.flatMap(line => line.own);

    return lines.length === 1 || !own.length ? lines[0].rows : own;
  }
  /* What the server takes: see viewer/lines.c. */
  text(first, count, merge) {
    const texts = [];

    for (let line = first; line < first + count; line += merge)
      texts.push(
        rangesOf(
          this.rowsOf(line, Math.min(line + merge, first + count))
            .slice()
            .sort((a, b) => a - b),
        ),
      );
    return texts.join(";");
  }
  /* Rows that lines stand for. */
  seen(first, count) {
    return [...new Set(this.lines.slice(first, first + count).flatMap(line => line.rows))].sort((a, b) => a - b);
  }

  /* ---- what is chosen ---- */

  changed() {
    this.writeAddress();
    for (const view of this.view.all) view.rows.take(this);
    this.view.changed();
    this.showNote();
  }
  take({ sort, grouped, ranks, folded, sortedAt }) {
    const { view } = this;

    Object.assign(this, { sort, grouped, ranks, folded, sortedAt });
    this.make();
    view.tiles = null; /* of lines that are no more */
    view.slices = new Map();
    view.fitRows();
  }
  toggle(group) {
    if (!this.folded.delete(group)) this.folded.add(group);
    this.changed();
  }
  /* All groups of the outer level, or none. */
  foldAll(isFolded) {
    const outer = Math.min(...this.lines.filter(line => line.group).map(line => line.level));

    this.folded = new Set(
      isFolded ? this.lines.filter(line => line.group && line.level === outer).map(line => line.group) : [],
    );
    this.changed();
  }
  /* So that its own line is there. */
  reveal(row) {
    while (this.lineOf[row] >= 0 && this.lines[this.lineOf[row]].isFolded) {
      this.folded.delete(this.lines[this.lineOf[row]].group);
      this.make();
    }
    if (this.lineOf[row] < 0) {
      this.ranks = this.filter.value = "";
      this.make();
    }
    this.writeAddress();
  }
  async sortBy(sort) {
    const { from, to } = this.view;

    this.sort = this.order.isSort(sort) ? sort : "rank";
    this.order.show(this.sort);
    this.sortedAt = null;
    if (this.order.isMeasured(this.sort)) {
      for (const view of this.view.all)
        await view.rows.order.load(this.sort, view.seen || { from: 0, to: view.about.span_ns });
      this.sortedAt = { from, to };
    }
    this.changed();
  }
  /* As the address has it; the place of rows in it is kept. */
  async fromAddress() {
    const { view } = this,
      { firstRow, rowTall, isFit } = view;

    view.all.forEach(of => of.rows.readAddress());
    this.filter.value = this.ranks;
    this.groups.checked = this.grouped;
    if (this.order.isMeasured(this.sort) || !this.order.isSort(this.sort)) await this.sortBy(this.sort);
    else this.order.show(this.sort);
    if (!isFit) Object.assign(view, { firstRow, rowTall, isFit });
  }
  showNote() {
    if (!this.note) return;
    const { sortedAt, view } = this,
      isOld = sortedAt && (sortedAt.from !== view.from || sortedAt.to !== view.to),
      left = this.about.rows.length - this.numbers.length,
      hasAny = view.all.some(of => of.rows.numbers.length);

    this.again.hidden = !isOld;
    this.filter.setAttribute("aria-invalid", String(!this.isGood || !hasAny));
    this.note.textContent = [
      this.isGood ? "" : "all ranks: say some as 0-3,8 or 0:1",
      !hasAny ? "there is no such rank" : left ? plural(left, "row") + " left out" : "",
      isOld ? "sorted by another stretch of time" : "",
    ]
      .filter(Boolean)
      .join("; ");
  }

  bar() {
    this.groups = make("input", {
      type: "checkbox",
      checked: this.grouped,
      onchange: event => {
        this.grouped = event.target.checked;
        this.changed();
      },
    });
    this.filter = make("input", {
      type: "search",
      class: "short",
      value: this.ranks,
      placeholder: "0-3,8",
      "aria-label": "ranks that are shown",
      onchange: event => {
        const text = event.target.value.trim(),
          isGood = !text || ranksOf(text) !== null;

        this.isGood = isGood;
        this.ranks = isGood ? text : "";
        this.changed();
      },
    });
    this.note = make("span", { class: "note", role: "status" });
    this.again = make("button", { type: "button", hidden: true, onclick: () => this.sortBy(this.sort) }, "sort again");
    return make(
      "p",
      { class: "tools rows-bar" },
      make("label", null, "rows by ", this.order.choice),
      make("label", null, this.groups, " groups"),
      make("label", null, "ranks ", this.filter),
      this.view.charts && this.view.charts.choice,
      this.view.radar.element,
      this.again,
      this.note,
    );
  }
}

const ROW_COMMANDS = [
  [
    "[, ]",
    "fold all groups of rows, unfold all groups of rows",
    { "[": view => view.rows.foldAll(true), "]": view => view.rows.foldAll(false) },
  ],
];

/* The name of each line, and the mark of a group: as many as can be read. Above them, what times are after. */
function paintLineNames(c, view, palette) {
  const { lines } = view.rows,
    { merge, axis } = view,
    least = 13,
    room = view.rowTall * merge;
  let last = -Infinity;

  c.fillStyle = palette.quiet;
  c.fillText(axisOf(axis, axis.to - axis.from).originWords, 4, view.top - 6, NAMES_WIDE - 8);

  for (let i = Math.max(0, Math.floor(view.firstRow)); i < lines.length; i += merge) {
    const y = Math.max(view.y(i), view.top) + Math.min(room, 14) / 2 + 5,
      { name, level, group, isFolded, rows } = lines[i];

    if (y > view.tall - 3) break;
    if (y - last < least || y > Math.max(view.y(i) + room, view.y(i) + least + 3)) continue;
    last = y;
    c.fillStyle = group && !isFolded ? palette.quiet : palette.text;
    c.fillText(
      (group ? (isFolded ? "\u25b8 " : "\u25be ") : "") +
        name +
        (isFolded ? " (" + rows.length + ")" : "") +
        (merge > 1 ? " ..." : ""),
      4 + 8 * level,
      y,
      NAMES_WIDE - 8 - 8 * level,
    );
  }
}
