/* In view.html. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* fvmpi view: what the server has of a trace (src/viewer/viewer.h), for the stretch of time and the rows that are looked at. */

const NAMES_WIDE = 120,
  AXIS_TALL = 20,
  MAP_TALL = 44,
  LEAST_ROW = 2 /* pixels: more rows than that are merged */,
  NAMED_ROW = 18 /* from here on rows show their slices */,
  MOST_LINES = 500;

const viewToken = new URLSearchParams(location.search).get("token") || "";

/* `body`: what is posted. */
async function ask(path, values, body) {
  const answer = await fetch(
    path + "?" + new URLSearchParams({ ...values, token: viewToken }),
    body === undefined ? {} : { method: "POST", body },
  );

  if (!answer.ok) throw new Error((await answer.text()).trim());
  return answer;
}
const askJson = async (path, values) => (await ask(path, values)).json();

async function loadAbout() {
  const about = await askJson("about", {});

  about.rows = about.rows.map(([rank, thread, host, depth]) => ({ rank, thread, host, depth }));
  about.regions = about.regions.map(([name, of, file, count, ns], number) => ({
    number,
    name,
    class: of,
    file,
    count,
    ns,
  }));
  return about;
}

/* Arrays as the server lays them out. */
async function loadTiles({ from, to, count, first, merge, text }) {
  const lines = text.split(";").length,
    data = await (await ask("tiles", { from, to, count }, text)).arrayBuffer(),
    all = lines * count;

  return {
    ...{ from, to, count, first, merge, lines, all },
    regions: new Uint32Array(data, 0, all),
    regionParts: new Uint8Array(data, 4 * all, all),
    waits: new Uint8Array(data, 5 * all, all),
    parts: new Uint8Array(data, 6 * all),
  };
}

async function loadSlices(row, from, to, least) {
  const { slices, left_out } = await askJson("slices", { row, from, to, least });

  return {
    leftOut: left_out,
    slices: slices
      .map(slice => callOf([...slice.slice(0, 8), row, slice[8]]))
      .sort((a, b) => a.depth - b.depth || a.begin - b.begin),
  };
}

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
        document.getElementById("trouble").textContent = "The server does not answer: " + error.message;
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
  constructor(about) {
    this.about = about;
    this.palette = new Palette(about);
    Object.assign(this, { from: 0, to: about.span_ns, firstRow: 0, rowTall: 24, top: AXIS_TALL, wide: 800, tall: 400 });
    this.tiles = this.whole = this.selected = this.hovered = null;
    this.slices = new Map();
    this.messages = { messages: [], left_out: 0 };
    this.showsMessages = true;
    this.canvas = make("canvas", { id: "picture", tabindex: "0", role: "img", "aria-label": "Timeline of all rows" });
    this.map = make("canvas", {
      id: "map",
      role: "img",
      "aria-label": "The whole run; the part that is shown is marked",
    });
    this.told = make("p", { id: "told", class: "note", role: "status", "aria-live": "polite" });
    this.rows = new Rows(this);
    this.overlays = new Overlays(this);
    this.charts = new Charts(this);
    this.details = new Details(this);
    this.loads = new Latest(() => this.load());
    this.readAddress();
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
  get rowsShown() {
    return Math.min(this.rows.lines.length, Math.ceil((this.tall - this.top) / this.rowTall) + 1);
  }
  get merge() {
    return Math.max(1, Math.ceil(LEAST_ROW / this.rowTall));
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
    this.rowTall = Math.min(Math.max((this.tall - this.top) / this.rows.lines.length, 0.05), 60);
  }
  go(from, to, firstRow = this.firstRow, rowTall = this.rowTall) {
    const span = this.about.span_ns,
      width = Math.min(Math.max(to - from, 20), span),
      begin = Math.min(Math.max(from, 0), span - width),
      shown = (this.tall - this.top) / rowTall;

    this.isFit = this.isFit && firstRow === this.firstRow && rowTall === this.rowTall;
    this.from = begin;
    this.to = begin + width;
    this.rowTall = rowTall;
    this.firstRow = Math.min(Math.max(firstRow, 0), Math.max(this.rows.lines.length - shown, 0));
    this.changed();
  }
  zoom(factor, at = (this.from + this.to) / 2) {
    this.go(at - (at - this.from) * factor, at + (this.to - at) * factor);
  }
  pan(part) {
    const by = (this.to - this.from) * part;

    this.go(this.from + by, this.to + by);
  }
  tallerRows(factor, y = this.top) {
    const row = this.firstRow + (y - this.top) / this.rowTall,
      tall = Math.min(Math.max(this.rowTall * factor, 0.05), 200);

    this.go(this.from, this.to, row - (y - this.top) / tall, tall);
  }
  changed() {
    clearTimeout(this.later);
    this.later = setTimeout(() => {
      this.writePlace();
      this.bench.age();
    }, 200);
    this.draw();
    this.loads.ask();
  }
  writePlace() {
    address.place = [
      Math.round(this.from) + "-" + Math.round(this.to),
      this.firstRow.toFixed(2),
      this.rowTall.toFixed(3),
    ].join(",");
    address.write();
  }
  /* The server's first and rows; `only`, where these do not follow each other. A list that is too long for an address: all from the first to the last. */
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
      tall = Math.min(Math.max((this.tall - this.top) / (Math.max(...lines) + 1 - least), 0.05), 60);

    if (lines.length) this.go(this.from, this.to, least, tall);
  }
  goToTime(ns) {
    const half = (this.to - this.from) / 2;

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
    const { calls } = await askJson("calls", { ...window, region, count: 1 });

    if (calls.length) this.goToCall(callOf(calls[0]));
  }

  /* ---- what is looked at ---- */

  async load() {
    const { from, to } = this,
      merge = this.merge,
      first = Math.floor(Math.floor(this.firstRow) / merge) * merge,
      lines = Math.min(this.rowsShown + merge, this.rows.lines.length - first),
      count = Math.max(64, Math.min(Math.round(this.wide), 4096));

    if (lines <= 0) {
      this.tiles = null;
      this.slices = new Map();
      this.draw();
      return;
    }
    this.tiles = await loadTiles({ from, to, count, first, merge, text: this.rows.text(first, lines, merge) });
    this.draw();
    this.slices = await this.loadOpenRows(this.rows.lines.slice(first, first + lines));
    this.messages =
      this.showsMessages && this.about.messages ? await this.loadMessages(from, to) : { messages: [], left_out: 0 };
    await this.overlays.load(from, to, (to - from) / this.wide);
    await this.charts.load(from, to, count);
    this.draw();
    this.tell();
    this.rows.showNote();
  }
  /* Of lines that are tall enough, and one row each. */
  async loadOpenRows(lines) {
    const { from, to } = this,
      slices = new Map();

    if (this.rowTall >= NAMED_ROW)
      for (const { group, rows } of lines)
        if (!group) slices.set(rows[0], await loadSlices(rows[0], from, to, Math.floor((to - from) / this.wide / 2)));
    return slices;
  }
  async loadMessages(from, to) {
    const { messages, left_out } = await askJson("messages", { from, to });

    return {
      left_out,
      messages: messages.map(([sent, received, source, target, size, tag]) => ({
        sent,
        received,
        from: source,
        to: target,
        bytes: size,
        tag,
      })),
    };
  }
  tell() {
    const words = ["shown: " + seconds((this.to - this.from) / 1e9) + " from " + seconds(this.from / 1e9)],
      leftOut = [...this.slices.values()].reduce((sum, { leftOut: n }) => sum + n, 0);

    if (this.merge > 1) words.push("more rows than there is room for: each line is the mean of " + this.merge);
    if (this.isOfMore) words.push("too many rows for a list: the panels are of all rows between these");
    if (leftOut) words.push(plural(leftOut, "short call") + " not drawn by themselves: zoom in");
    if (this.messages.messages.length + this.messages.left_out > MOST_LINES)
      words.push(
        plural(this.messages.messages.length + this.messages.left_out, "message") +
          " here: zoom in to see them as lines",
      );
    this.told.textContent = [...words, ...this.overlays.words()].join("; ");
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
    this.paintMap();
    this.charts.paint();
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
    paintGrid(picture, this, this.palette);
    if (this.tiles) (c.isVector ? paintTiles : drawTiles)(picture, this.tiles, this, this.palette);
    for (const [row, { slices }] of this.slices)
      if (slices.length && this.rowTall >= NAMED_ROW) paintSlices(picture, slices, row, this, this.palette);
    if (this.messages.messages.length && this.messages.messages.length + this.messages.left_out <= MOST_LINES)
      paintMessages(picture, this.messages.messages, this, this.palette);
    this.overlays.paint(picture, this.palette);
    paintAxis(picture, this, this.palette);
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
  paintMap() {
    const c = context(this.map),
      rows = this.about.rows.length,
      span = this.about.span_ns,
      view = {
        about: this.about,
        top: 0,
        wide: c.wide - NAMES_WIDE,
        tall: c.tall,
        rowTall: c.tall / rows,
        x: ns => (ns / span) * (c.wide - NAMES_WIDE),
        y: row => (row * c.tall) / rows,
      };

    c.picture.fillStyle = this.palette.raised;
    c.picture.fillRect(0, 0, c.wide, c.tall);
    c.picture.translate(NAMES_WIDE, 0);
    if (this.whole) drawTiles(c.picture, this.whole, view, this.palette);
    c.picture.strokeStyle = this.palette.accent;
    c.picture.lineWidth = 2;
    c.picture.strokeRect(view.x(this.from), 1, Math.max(view.x(this.to) - view.x(this.from), 2), c.tall - 2);
  }

  /* ---- what is pointed at ---- */

  groupAt(y) {
    return y > this.top && this.rows.lines[this.rowAt(y)] ? this.rows.lines[this.rowAt(y)].group : null;
  }
  sliceAt(x, y) {
    const line = this.rows.lines[this.rowAt(y)],
      row = line && !line.group ? line.rows[0] : -1,
      time = this.at(x),
      here = ((this.slices.get(row) || {}).slices || []).filter(
        slice => slice.begin <= time && time <= slice.begin + slice.ns,
      );

    if (!here.length) return null;
    const deep = Math.max(...this.slices.get(row).slices.map(slice => slice.depth + 1)),
      depth = Math.floor(((y - this.y(this.rows.lineOf[row])) / (this.rowTall - 2)) * deep);
    return here.find(slice => slice.depth === depth) || here[here.length - 1];
  }
  select(slice) {
    this.selected = slice;
    this.overlays.select(slice);
    this.draw();
    this.details.show(slice);
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
