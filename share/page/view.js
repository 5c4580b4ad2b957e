/* In page.html, view.html. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* The timeline: what a source has of a trace, which is a server (view_trace.js) or the page itself (trace_file.js), for
 * the stretch of time and the rows that are looked at. */

const NAMES_WIDE = 120,
  AXIS_TALL = 20,
  MAP_TALL = 44,
  LEAST_ROW = 2 /* pixels: more rows than that are merged */,
  NAMED_ROW = 18 /* from here on rows show their slices */,
  MOST_LINES = 500,
  MOST_PAST = 100 /* views to go back to */,
  MOST_TALL = 160; /* pixels: rows that have all the room are no taller */

/* Does one thing after the other, and of those that come meanwhile only the last. */
class Latest {
  constructor(does) {
    this.does = does;
    this.next = null;
    this.busy = false;
  }
  async ask(...what) {
    this.next = what;
    if (this.busy) return;
    this.busy = true;
    tellLoads(1);
    while (this.next) {
      const now = this.next;

      this.next = null;
      try {
        await this.does(...now);
        document.getElementById("trouble").textContent = "";
      } catch (error) {
        document.getElementById("trouble").textContent = TROUBLE + error.message;
      }
    }
    this.busy = false;
    tellLoads(-1);
  }
}

/* How many questions are on their way, for who waits until the page has settled. */
function tellLoads(more) {
  const { dataset } = document.documentElement;

  dataset.loads = Number(dataset.loads || 0) + more;
}

class View {
  /* id: of the picture; others are compared with this one, below it. */
  constructor(trace, about, id = "picture") {
    this.trace = trace;
    this.about = about;
    this.palette = new Palette(about);
    this.all = [this];
    Object.assign(this, { from: 0, to: about.span_ns, firstRow: 0, rowTall: 24, top: AXIS_TALL, wide: 800, tall: 400 });
    this.tiles = this.whole = this.selected = this.hovered = null;
    this.slices = new Map();
    this.messages = { messages: [], left_out: 0 };
    this.showsMessages = address.get("messages") !== "no";
    this.isOfFunction = address.get("messagesof") === "function";
    this.place = null; /* where the view has come to rest */
    this.past = [];
    this.future = [];
    this.canvas = make("canvas", { id, tabindex: "0", role: "img", "aria-label": "Timeline of all rows" });
    this.map = make("canvas", {
      id: "map",
      role: "img",
      "aria-label": "The whole run; the part that is shown is marked",
    });
    this.told = make("p", {
      id: id === "picture" ? "told" : "told-" + id,
      class: "note",
      role: "status",
      "aria-live": "polite",
    });
    this.rows = new Rows(this);
    this.overlays = new Overlays(this);
    this.crowd = new Crowd(this);
    this.charts = this.makeCharts();
    this.series = []; /* charts that there may be */
    this.labels = []; /* of the whole run: [ns, row, text] */
    this.radar = new Radar(this);
    this.details = new Details(this);
    this.loads = new Latest(() => this.load());
    this.readAddress();
  }
  makeCharts() {
    return new Charts(this);
  }

  x(ns) {
    return ((ns - this.from) / (this.to - this.from)) * this.wide;
  }
  y(row) {
    return this.top + (row - this.firstRow) * this.rowTall;
  }
  at(x) {
    return this.from + (x / this.wide) * (this.to - this.from);
  }
  rowAt(y) {
    return Math.floor(this.firstRow + (y - this.top) / this.rowTall);
  }
  /* Of a row, in whatever line it is; NaN: in none. */
  yOf(row) {
    return this.rows.lineOf[row] < 0 ? NaN : this.y(this.rows.lineOf[row]) + this.rowTall / 2;
  }
  /* Calls of a row that are drawn one by one. */
  drawnIn(row) {
    const { slices } = this.slices.get(row) || { slices: [] };

    return this.rowTall >= NAMED_ROW && !(this.radar.isOn && this.radar.data) ? slices : [];
  }
  /* The middle of a call, or of its row where calls are not drawn. */
  yOfCall({ row, depth }) {
    const drawn = this.drawnIn(row);

    return drawn.length && this.rows.lineOf[row] >= 0
      ? this.y(this.rows.lineOf[row]) + (depth + 0.5) * depthTall(drawn, this.rowTall)
      : this.yOf(row);
  }
  get rowsShown() {
    return Math.min(this.rows.lines.length, Math.ceil((this.tall - this.top) / this.rowTall) + 1);
  }
  /* Moments that can be shown; and the part of them that this trace has and is in view, null: none. */
  get bounds() {
    return { from: 0, to: this.about.span_ns };
  }
  get seen() {
    const from = Math.max(this.from, 0),
      to = Math.min(this.to, this.about.span_ns);

    return to > from ? { from, to } : null;
  }
  /* What the times at the axis are of. */
  get axis() {
    return this;
  }
  get merge() {
    return Math.max(1, Math.ceil(LEAST_ROW / this.rowTall));
  }

  /* Are there more messages than can be lines? */
  get messageCount() {
    return this.messages.messages.length + this.messages.left_out;
  }
  get isCrowded() {
    return this.messageCount > MOST_LINES;
  }
  /* Of too many, the matrix; else the lines. */
  toggleMessages() {
    if (this.all.some(view => view.isCrowded)) this.crowd.isOpen = !this.crowd.isOpen;
    else this.showsMessages = !this.showsMessages;
    address.set("messages", this.showsMessages ? (this.crowd.isOpen ? "matrix" : null) : "no");
    this.changed();
  }

  /* Messages of the selected function alone, or of all. */
  toggleOfFunction() {
    this.isOfFunction = !this.isOfFunction;
    address.set("messagesof", this.isOfFunction ? "function" : null);
    this.changed();
    if (this.isOfFunction && selection.region === null)
      this.tellShortly("messages of the selected function: select one, by a click on its name");
  }
  get messageRegion() {
    const { region } = selection;

    return this.all[0].isOfFunction && region !== null ? { region: this.trace.numbersOf(region).join(",") } : {};
  }

  /* ---- moving ---- */

  readAddress() {
    const [, from, to, row, tall] = (address.place.match(/^([\d.]+)-([\d.]+),([\d.]+),([\d.]+)$/) || []).map(Number);

    if (to > from) Object.assign(this, { from, to, firstRow: row, rowTall: tall });
    this.isFit = !(to > from);
  }
  /* All rows in the height that there is. */
  fitRows() {
    this.isFit = true;
    this.firstRow = 0;
    this.rowTall = Math.min(Math.max((this.tall - this.top) / this.rows.lines.length, 0.05), MOST_TALL);
  }
  go(from, to, firstRow = this.firstRow, rowTall = this.rowTall) {
    const { bounds } = this,
      width = Math.min(Math.max(to - from, 20), bounds.to - bounds.from),
      begin = Math.min(Math.max(from, bounds.from), bounds.to - width);

    this.placeRows(firstRow, rowTall);
    this.from = begin;
    this.to = begin + width;
    this.changed();
  }
  placeRows(firstRow, rowTall) {
    const shown = (this.tall - this.top) / rowTall;

    this.isFit = this.isFit && firstRow === this.firstRow && rowTall === this.rowTall;
    this.rowTall = rowTall;
    this.firstRow = Math.min(Math.max(firstRow, 0), Math.max(this.rows.lines.length - shown, 0));
  }
  goToAll() {
    this.all.forEach(view => view.fitRows());
    this.go(this.bounds.from, this.bounds.to);
  }
  zoom(factor, at = (this.from + this.to) / 2) {
    this.go(at - (at - this.from) * factor, at + (this.to - at) * factor);
  }
  pan(part) {
    const by = (this.to - this.from) * part;

    this.go(this.from + by, this.to + by);
  }
  /* Selects the next call of the row, or the one before; without a selected call, from the begin of what is in view. */
  async step(by) {
    const { span_ns: span } = this.about,
      at = this.selected || {
        ...{ row: this.rows.seen(Math.max(0, Math.floor(this.firstRow)), this.rowsShown)[0], depth: -1 },
        ...{ begin: Math.max(Math.round(this.from), 0), ns: (this.to - this.from) / 64 },
      },
      isWanted = ({ begin, depth }) => by * (begin - at.begin || depth - at.depth) > 0;

    let wide = 1000 /* ns */,
      edge = at.begin;

    while (by > 0 ? edge <= span : edge >= 0) {
      const from = by > 0 ? edge : Math.max(edge - wide, 0),
        to = by > 0 ? edge + wide : edge + 1,
        { slices, leftOut } = await this.trace.slices(at.row, from, to, 0),
        found = slices
          .filter(slice => isWanted(slice) && slice.begin >= from)
          .sort((a, b) => by * (a.begin - b.begin || a.depth - b.depth));

      if (leftOut && wide > 1) {
        wide = Math.ceil(wide / 64); /* short ones are missing */
        continue;
      }
      if (found.length) {
        this.select(found[0]);
        if (found[0].begin < this.from || found[0].begin > this.to) this.goToTime(found[0].begin);
        return;
      }
      edge = by > 0 ? to : from - 1;
      wide *= 8;
    }
    this.tellShortly(by > 0 ? "this row has no later call" : "this row has no earlier call");
  }
  tallerRows(factor, y = this.top) {
    const row = this.firstRow + (y - this.top) / this.rowTall,
      tall = Math.min(Math.max(this.rowTall * factor, 0.05), 200);

    this.go(this.from, this.to, row - (y - this.top) / tall, tall);
  }
  changed() {
    clearTimeout(this.later);
    this.later = setTimeout(() => {
      this.settle();
      this.bench.age();
    }, 200);
    for (const view of this.all) {
      view.follow();
      view.draw();
      view.loads.ask();
    }
  }
  follow() {}
  /* Where the view has come to rest is where `back` comes to. */
  settle() {
    const { from, to, firstRow, rowTall, isFit } = this,
      before = this.place;

    this.writePlace();
    this.place = { from, to, firstRow, rowTall, isFit };
    const isNew = before && Object.entries(before).some(([key, value]) => this.place[key] !== value);

    if (isNew && !this.isGoing) {
      this.past.push(before);
      this.past.splice(0, this.past.length - MOST_PAST);
      this.future.splice(0);
    }
    this.isGoing = false;
  }
  /* from: this.past, or this.future; to: the other one. */
  goBack(from, to) {
    this.settle(); /* it may still move */
    if (!from.length) {
      this.tellShortly(from === this.past ? "there is no view before this one" : "there is no later view");
      return;
    }
    const { from: begin, to: end, firstRow, rowTall, isFit } = from.pop();

    to.push(this.place);
    this.isGoing = true;
    this.go(begin, end, firstRow, rowTall);
    this.isFit = isFit;
    this.settle();
  }
  writePlace() {
    address.place = [
      Math.round(this.from) + "-" + Math.round(this.to),
      this.firstRow.toFixed(2),
      this.rowTall.toFixed(3),
    ].join(",");
    address.write();
  }
  /* The server's first and rows; `only`, where these do not follow each other. A list that is too long for an address:
   * all from the first to the last. */
  get rowsInView() {
    const first = Math.max(0, Math.floor(this.firstRow)),
      seen = this.rows.seen(first, this.rowsShown),
      only = rangesOf(seen),
      all = { first: seen[0] || 0, rows: seen.length },
      isList = /,/.test(only);

    this.isOfMore = isList && only.length >= ONLY_LONGEST;
    if (this.isOfMore) return { ...all, rows: seen[seen.length - 1] - seen[0] + 1 };
    return isList ? { ...all, only } : all;
  }
  goToRow(row) {
    const shown = (this.tall - this.top) / this.rowTall;

    this.rows.reveal(row);
    this.go(this.from, this.to, this.rows.lineOf[row] - shown / 2);
  }
  /* From a row to another one. */
  goToRows(first, end) {
    const lines = [...this.rows.lineOf.slice(first, end)].filter(line => line >= 0),
      least = Math.min(...lines),
      tall = Math.min(Math.max((this.tall - this.top) / (Math.max(...lines) + 1 - least), 0.05), MOST_TALL);

    if (lines.length) this.go(this.from, this.to, least, tall);
  }
  goToTime(ns) {
    const wide = this.to - this.from,
      half = wide < this.about.span_ns / 2 ? wide / 2 : this.about.span_ns / 20; /* of the whole run a tenth */

    this.go(ns - half, ns + half);
  }
  /* The call in the middle, its row in view and tall enough to show it. */
  goToCall(slice) {
    this.rows.reveal(slice.row);
    const tall = Math.max(this.rowTall, NAMED_ROW + 6),
      line = this.rows.lineOf[slice.row],
      shown = (this.tall - this.top) / tall,
      isSeen = line >= this.firstRow && line + 1 <= this.firstRow + shown;

    this.select(slice);
    this.go(
      slice.begin - slice.ns,
      slice.begin + 2 * Math.max(slice.ns, 1),
      isSeen && tall === this.rowTall ? this.firstRow : line - shown / 2,
      tall,
    );
  }
  async goToLongest(region, window) {
    const { calls } = await this.trace.calls({ ...window, region, count: 1 });

    if (calls.length) this.goToCall(calls[0]);
  }

  /* ---- what is looked at ---- */

  async load() {
    const { seen, merge } = this,
      first = Math.floor(Math.floor(this.firstRow) / merge) * merge,
      lines = Math.min(this.rowsShown + merge, this.rows.lines.length - first);

    if (lines <= 0 || !seen) {
      this.tiles = null;
      this.slices = new Map();
      this.messages = { messages: [], left_out: 0 };
      this.overlays.clear();
      this.draw();
      this.tell();
      return;
    }
    const { from, to } = seen,
      pixel = (this.to - this.from) / this.wide,
      count = Math.max(64, Math.min(Math.round((to - from) / pixel), 4096));
    this.tiles = await this.trace.tiles({ from, to, count, first, merge, text: this.rows.text(first, lines, merge) });
    await this.radar.load(this.tiles);
    this.draw();
    this.slices = await this.loadOpenRows(this.rows.lines.slice(first, first + lines), seen, pixel);
    this.messages =
      this.showsMessages && this.about.messages
        ? await this.trace.messages(from, to, MOST_LINES, { ...this.rowsInView, ...this.messageRegion })
        : { messages: [], left_out: 0 };
    await this.overlays.load(from, to, pixel);
    if (this.charts) await this.charts.load(from, to, count);
    this.draw();
    await this.crowd.load(from, to);
    this.draw();
    this.tell();
    this.rows.showNote();
  }
  /* Of lines that are tall enough, and one row each. */
  async loadOpenRows(lines, { from, to }, pixel) {
    const slices = new Map();

    if (this.rowTall >= NAMED_ROW)
      for (const { group, rows } of lines)
        if (!group) slices.set(rows[0], await this.trace.slices(rows[0], from, to, Math.floor(pixel / 2)));
    return slices;
  }
  tell() {
    const words = [
        this.seen ? "shown: " + stretchWords(Math.max(this.from, 0), this.to) : "nothing of this trace is then",
      ],
      leftOut = [...this.slices.values()].reduce((sum, { leftOut: n }) => sum + n, 0);

    if (this.radar.words()) words.push(this.radar.words());
    if (this.merge > 1)
      words.push("more rows than there is room for: " + this.merge + " in a line, of which each pixel shows a part");
    if (this.isOfMore) words.push("too many rows for a list: the panels are of all rows between these");
    if (leftOut) words.push(plural(leftOut, "short call") + " not drawn by themselves: zoom in");
    if (this.messageRegion.region) words.push("messages of " + selection.get("function") + " only");
    if (this.isCrowded) words.push(this.crowd.note);
    else if (this.about.messages && !this.showsMessages) words.push("messages are hidden: press m for lines");
    showLegend(this.all[0]);
    this.told.textContent = [...words, ...this.overlays.words(), ...limitedWords(this.about)].join("; ");
  }
  /* Until something else is told. */
  tellShortly(words) {
    this.told.textContent = words;
  }

  /* ---- the picture ---- */

  draw() {
    if (!this.waiting)
      this.waiting = requestAnimationFrame(() => {
        this.waiting = 0;
        this.paint();
      });
  }
  paint() {
    this.paintOn(context(this.canvas));
    if (this.all[0] === this) this.paintMap();
    if (this.charts) this.charts.paint();
  }
  paintOn(c) {
    const { picture } = c,
      offset = NAMES_WIDE;

    this.wide = c.wide - offset;
    this.tall = c.tall;
    picture.fillStyle = this.palette.ground;
    picture.fillRect(0, 0, c.wide, c.tall);
    picture.save();
    picture.translate(offset, 0);
    picture.beginPath();
    picture.rect(0, 0, this.wide, this.tall);
    picture.clip();
    paintGrid(picture, this.axis, this.palette);
    const isRadar = this.radar.isOn && this.radar.data;
    if (isRadar) this.radar.paint(picture, c.isVector);
    else if (this.tiles) (c.isVector ? paintTiles : drawTiles)(picture, this.tiles, this, this.palette);
    for (const row of this.slices.keys())
      if (this.drawnIn(row).length) paintSlices(picture, this.drawnIn(row), row, this, this.palette);
    if (!this.isCrowded) paintMessages(picture, this.messages.messages, this, this.palette.text, 1);
    this.overlays.paint(picture, this.palette);
    for (const row of this.slices.keys())
      if (this.drawnIn(row).length) paintNames(picture, this.drawnIn(row), row, this, this.palette);
    if (this.crowd.isShown) this.crowd.paint(picture, c.isVector);
    paintAxis(picture, this.axis, this.palette);
    this.overlays.paintLabels(picture, this.palette);
    if (this.drag) {
      picture.fillStyle = this.palette.accent;
      picture.globalAlpha = 0.25;
      picture.fillRect(
        Math.min(this.drag.x, this.drag.now),
        this.top,
        Math.abs(this.drag.now - this.drag.x),
        this.tall,
      );
      picture.globalAlpha = 1;
    }
    picture.restore();
    paintLineNames(picture, this, this.palette);
  }
  /* Each trace has a part of the height. */
  paintMap() {
    const c = context(this.map),
      { bounds } = this,
      wide = c.wide - NAMES_WIDE,
      x = ns => ((ns - bounds.from) / (bounds.to - bounds.from)) * wide,
      part = c.tall / this.all.length;

    c.picture.fillStyle = this.palette.raised;
    c.picture.fillRect(0, 0, c.wide, c.tall);
    c.picture.translate(NAMES_WIDE, 0);
    this.all.forEach((of, i) => {
      const tall = part - (i + 1 < this.all.length ? 2 : 0),
        rowTall = tall / of.about.rows.length;

      if (of.whole)
        drawTiles(
          c.picture,
          of.whole,
          {
            about: of.about,
            rowTall,
            x: ns => x(ns + this.from - of.from),
            y: row => part * i + row * rowTall,
          },
          of.palette,
        );
    });
    c.picture.strokeStyle = this.palette.accent;
    c.picture.lineWidth = 2;
    c.picture.strokeRect(x(this.from), 1, Math.max(x(this.to) - x(this.from), 2), c.tall - 2);
  }

  /* ---- what is pointed at ---- */

  groupAt(y) {
    return y > this.top && this.rows.lines[this.rowAt(y)] ? this.rows.lines[this.rowAt(y)].group : null;
  }
  /* null: of none, or of several. */
  rowOf(y) {
    const line = y > this.top ? this.rows.lines[this.rowAt(y)] : null;

    return line && !line.group ? line.rows[0] : null;
  }
  sliceAt(x, y) {
    const line = this.rows.lines[this.rowAt(y)],
      row = line && !line.group ? line.rows[0] : -1,
      time = this.at(x),
      here = ((this.slices.get(row) || {}).slices || []).filter(
        slice => slice.begin <= time && time <= slice.begin + slice.ns,
      );

    if (!here.length) return null;
    const depth = Math.floor(
      (y - this.y(this.rows.lineOf[row])) / depthTall(this.slices.get(row).slices, this.rowTall),
    );
    return here.find(slice => slice.depth === depth) || here[here.length - 1];
  }
  /* Where no single call is drawn: the stretch and the rows that a pixel stands for, and their parts, in words. */
  tileAt(x, y) {
    const { tiles } = this,
      line = tiles && y > this.top ? Math.floor((this.rowAt(y) - tiles.first) / tiles.merge) : -1,
      column = tiles ? Math.floor(((this.at(x) - tiles.from) / (tiles.to - tiles.from)) * tiles.count) : -1;

    if (line < 0 || column < 0 || line >= tiles.lines || column >= tiles.count) return null;
    const step = (tiles.to - tiles.from) / tiles.count,
      begin = tiles.from + column * step,
      first = tiles.first + line * tiles.merge,
      lines = this.rows.lines.slice(first, first + tiles.merge),
      words = lines.length > 1 ? lines[0].name + " to " + lines[lines.length - 1].name : lineWords(lines[0]);

    return {
      ...{ words, from: begin, to: begin + step, rows: this.rows.rowsOf(first, first + lines.length) },
      parts: tileParts(tiles, line * tiles.count + column, this.about),
    };
  }
  /* Of the rows of the line there. */
  toggleStacks(y) {
    const line = y > this.top ? this.rows.lines[this.rowAt(y)] : null;

    if (!this.charts) this.tellShortly("call stacks are of the first trace");
    else if (line) this.charts.stacks.toggle(line.rows);
  }
  /* Of a call, or of a line that stands for several rows. */
  wordsAt(x, y) {
    const slice = this.sliceAt(x, y),
      line = y > this.top ? this.rows.lines[this.rowAt(y)] : null;

    if (slice)
      return (
        this.about.regions[slice.region].name +
        ", " +
        nanoseconds(slice.ns) +
        (slice.wait ? ", waited " + nanoseconds(slice.wait) : "")
      );
    if (!line) return "";
    const tile = this.tileAt(x, y);
    return tile && tile.parts.length ? tile.words + ": " + tile.parts.join(", ") : lineWords(line);
  }
  writeCall(slice) {
    address.set("call", slice && this === this.all[0] ? [slice.row, slice.begin, slice.depth].join() : null);
  }
  /* tile: what there is in the place of a call, see tileAt(). */
  select(slice, tile = null) {
    this.writeCall(slice);
    for (const view of this.all) {
      view.selected = view === this ? slice : null;
      view.overlays.select(view.selected);
      view.draw();
    }
    this.details.show(slice, this, tile);
    showLegend(this.all[0]);
  }
}

/* The call that the address names. */
async function selectFromAddress(view) {
  const [row, begin, depth] = (address.get("call") || "").split(",").map(Number),
    isThere =
      Number.isInteger(row) && row >= 0 && row < view.about.rows.length && begin >= 0 && begin <= view.about.span_ns,
    { slices } = isThere ? await view.trace.slices(row, begin, begin + 1, 0) : { slices: [] },
    wanted = slices.find(slice => slice.begin === begin && slice.depth === depth);

  if (wanted || view.selected) view.select(wanted || null);
}

/* A trace that is compared, below the first one. Its times are its own: `shift` later they are those of the first one,
 * which has the place, the axis and the panels. */
class SecondView extends View {
  constructor(trace, about, main) {
    super(trace, about, "second");
    this.main = main;
    this.shift = 0;
    this.all = main.all = [main, this];
    this.charts = null; /* they are of the first trace */
    this.details = main.details;
    this.overlays.shows = main.overlays.shows;
    Object.defineProperty(main, "bounds", { get: () => this.bothBounds() });
    this.align = new Alignment(this);
    this.follow();
  }

  bothBounds() {
    const { shift } = this;

    return {
      from: Math.min(0, shift),
      to: Math.max(this.main.about.span_ns, this.about.span_ns + shift),
    };
  }
  get bounds() {
    const { from, to } = this.bothBounds();

    return { from: from - this.shift, to: to - this.shift };
  }
  get axis() {
    return { ...gridOf(this.main), x: ns => this.x(ns - this.shift), wide: this.wide, top: this.top, tall: this.tall };
  }
  readAddress() {
    this.isFit = true;
  }
  writePlace() {}
  follow() {
    this.from = this.main.from - this.shift;
    this.to = this.main.to - this.shift;
    this.showsMessages = this.main.showsMessages;
    this.crowd.isOpen = this.main.crowd.isOpen;
  }
  changed() {
    this.main.changed();
  }
  go(from, to, firstRow = this.firstRow, rowTall = this.rowTall) {
    this.placeRows(firstRow, rowTall);
    this.main.go(from + this.shift, to + this.shift);
  }
  goToAll() {
    this.main.goToAll();
  }
  setShift(shift) {
    this.shift = shift;
    this.main.go(this.main.from, this.main.to);
  }
}

/* The canvas at the device's pixels, cleared. */
function context(canvas) {
  const ratio = devicePixelRatio || 1,
    wide = canvas.clientWidth,
    tall = canvas.clientHeight,
    picture = canvas.getContext("2d");

  canvas.width = wide * ratio;
  canvas.height = tall * ratio;
  picture.scale(ratio, ratio);
  picture.font = "11px " + getComputedStyle(document.body).fontFamily;
  return { picture, wide, tall };
}
