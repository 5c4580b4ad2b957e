/* In page.html, view.html. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* The matrix of messages, for those that are too many to be lines: who sent how much to whom in what is in view, of the
 * rows that are in view. It covers a part of the rows, so it is there when it is asked for, and has a cross that closes
 * it. It is painted, so that pictures that are saved have it as well. */

const CROWD = {
  most: 240,
  part: 0.6,
  head: 16,
  foot: 18,
  edge: 8,
  cross: 16,
}; /* pixels; part: of the picture, at most */

class Crowd {
  constructor(view) {
    this.view = view;
    this.isOpen = address.get("messages") === "matrix";
    this.data = null; /* { groups, merge, cells, most, count, unit, others } */
  }
  get isShown() {
    return this.isOpen && this.data !== null && this.view.isCrowded;
  }
  get note() {
    const words = plural(this.view.messageCount, "message");

    return this.isOpen ? words + " as a matrix: m closes it" : words + ": press m for the matrix, zoom in for lines";
  }

  async load(from, to) {
    if (!this.isOpen || !this.view.isCrowded) {
      this.data = null;
      return;
    }
    const rows = this.view.rowsInView,
      within = { from: Math.round(from), to: Math.round(to) },
      { merge, cells } = await this.view.trace.json("traffic", { ...within, ...rows, ...this.view.messageRegion });

    this.data = this.matrixOf(merge, cells);
  }
  /* Groups of rows of which any is in view; all others are the last one. */
  matrixOf(merge, cells) {
    const { view } = this,
      seen = view.rows.seen(Math.max(0, Math.floor(view.firstRow)), view.rowsShown),
      groups = [...new Set(seen.map(row => Math.floor(row / merge)))].sort((a, b) => a - b),
      place = new Map(groups.map((group, i) => [group, i])),
      others = groups.length,
      at = group => (place.has(group) ? place.get(group) : others),
      sums = new Map();
    let hasOthers = false;

    for (const [from, to, n, size] of cells) {
      const [x, y] = [at(to), at(from)],
        key = y * (others + 1) + x,
        sum = sums.get(key) || { from: y, to: x, count: 0, bytes: 0 };

      if (x === others && y === others) continue;
      hasOthers = hasOthers || x === others || y === others;
      sums.set(key, { ...sum, count: sum.count + n, bytes: sum.bytes + size });
    }
    this.label = 0; /* as wide as the longest one, once it is painted */
    const all = [...sums.values()],
      unit = all.some(cell => cell.bytes) ? "bytes" : "count";

    return {
      ...{ groups, merge, unit, cells: all, byPlace: sums },
      size: groups.length + (hasOthers ? 1 : 0),
      most: all.reduce((most, cell) => Math.max(most, cell[unit]), 0),
      count: all.reduce((sum, cell) => sum + cell.count, 0),
    };
  }
  name(i) {
    const { groups, merge } = this.data,
      { rows } = this.view.about,
      short = row => rows[row].rank + (rows[row].thread ? ":" + rows[row].thread : "");

    if (i === groups.length) return "others";
    const first = groups[i] * merge,
      last = Math.min(first + merge, rows.length) - 1;
    return last > first ? short(first) + "-" + short(last) : short(first);
  }

  /* ---- the picture ---- */

  /* Where it is: at the right, as large as there is room for. */
  get box() {
    const { view } = this,
      room = Math.min(
        CROWD.most,
        (view.tall - view.top) * CROWD.part - CROWD.head - CROWD.foot,
        view.wide * CROWD.part,
      ),
      side = Math.max(Math.floor(room), 40),
      wide = side + this.label;

    return {
      left: view.wide - wide - CROWD.edge,
      top: view.tall - side - CROWD.head - CROWD.foot - CROWD.edge,
      side,
      wide,
      tall: side + CROWD.head + CROWD.foot,
    };
  }
  paint(c, isVector) {
    const { view, data } = this,
      { palette } = view;

    this.label = this.label || this.measure(c);
    const { left, top, side, wide, tall } = this.box,
      x = left + this.label,
      y = top + CROWD.head;

    c.fillStyle = palette.ground;
    c.fillRect(left - 4, top - 2, wide + 8, tall + 4);
    c.strokeStyle = palette.line;
    c.lineWidth = 1;
    c.strokeRect(left - 4, top - 2, wide + 8, tall + 4);
    c.fillStyle = palette.raised;
    c.fillRect(x, y, side, side);
    if (isVector) this.paintCells(c, x, y, side);
    else c.drawImage(this.layer(side), x, y, side, side);
    this.paintWords(c, x, y, side);
    c.fillStyle = palette.text;
    for (const words of ["messages: senders down, receivers across", "senders \u2193, receivers \u2192"])
      if (c.measureText(words).width <= wide - CROWD.cross) {
        c.fillText(words, left, top + 11);
        break;
      }
    if (!isVector) this.paintCross(c, left + wide - CROWD.cross, top);
    c.fillStyle = palette.quiet;
    if (c.measureText(this.scale(data)).width <= wide) c.fillText(this.scale(data), left, top + tall - 5);
  }
  paintCross(c, x, y) {
    c.strokeStyle = this.view.palette.text;
    c.lineWidth = 1.5;
    c.beginPath();
    for (const way of [0, 1]) {
      c.moveTo(x + 4, y + 3 + 8 * way);
      c.lineTo(x + 12, y + 11 - 8 * way);
    }
    c.stroke();
  }
  measure(c) {
    const names = Array.from({ length: this.data.size }, (_, i) => c.measureText(this.name(i)).width);

    return Math.ceil(Math.max(...names, 0)) + 6;
  }
  scale({ most, unit }) {
    return "most of a pair: " + (unit === "bytes" ? bytes(most) : plural(most, "message"));
  }
  paintCells(c, x, y, side) {
    const { size, cells, unit, most } = this.data,
      step = side / size,
      gap = step > 6 ? 1 : 0;

    for (const cell of cells) {
      c.fillStyle = shade(most ? cell[unit] / most : 0);
      c.fillRect(x + cell.to * step, y + cell.from * step, Math.max(step - gap, 1), Math.max(step - gap, 1));
    }
  }
  /* Labels at the left as far as there is room. */
  paintWords(c, x, y, side) {
    const { size } = this.data,
      step = side / size,
      every = Math.max(1, Math.ceil(13 / step));

    c.fillStyle = this.view.palette.text;
    c.textAlign = "right";
    for (let i = 0; i < size; i += every) c.fillText(this.name(i), x - 3, y + (i + 0.5) * step + 4);
    c.textAlign = "left";
  }
  /* Made once for each answer: a frame costs the same for any number of cells. */
  layer(side) {
    const { data, view } = this,
      ratio = devicePixelRatio || 1;

    if (data.layer && data.side === side && data.palette === view.palette) return data.layer;
    data.layer = make("canvas", { width: side * ratio, height: side * ratio });
    const c = data.layer.getContext("2d");
    c.scale(ratio, ratio);
    this.paintCells(c, 0, 0, side);
    data.side = side;
    data.palette = view.palette;
    return data.layer;
  }

  /* ---- what is pointed at ---- */

  /* The cell there; null: it is not on the matrix; an empty one has no messages; { isCross } */
  at(px, py) {
    if (!this.isShown) return null;
    const { left, top, side, wide, tall } = this.box,
      { size, byPlace, groups } = this.data,
      to = Math.floor(((px - left - this.label) / side) * size),
      from = Math.floor(((py - top - CROWD.head) / side) * size);

    if (px < left || py < top || px > left + wide || py > top + tall) return null;
    if (px > left + wide - CROWD.cross && py < top + CROWD.head) return { isCross: true };
    if (to < 0 || from < 0 || to >= size || from >= size) return {};
    return byPlace.get(from * (groups.length + 1) + to) || { from, to, count: 0, bytes: 0 };
  }
  words(cell) {
    if (cell.isCross) return "close the matrix (m)";
    return cell.from === undefined
      ? "messages of the rows in view; m closes the matrix"
      : `${this.name(cell.from)} to ${this.name(cell.to)}: ${plural(cell.count, "message")}, ${bytes(cell.bytes)}`;
  }
  pick({ from, to, isCross }) {
    if (isCross) {
      this.view.all[0].toggleMessages();
      return;
    }
    const { groups, merge } = this.data,
      rows = [from, to].filter(i => i < groups.length).map(i => groups[i] * merge);

    if (rows.length) this.view.goToRows(Math.min(...rows), Math.max(...rows) + merge);
  }
}
