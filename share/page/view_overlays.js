/* In page.html, view.html. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* What lies over the rows: arrows from waits to who caused them, the chain behind the selected wait, the critical path,
 * the calls of a selected collective operation, and moments that were marked. */

const MOST_WAITS = 200 /* arrows; more are too many to be told apart */,
  MEMBER_ROW = 8 /* pixels of a row, from which lines through members can be told from what is below them */,
  LABEL_WIDE = 150;

class Overlays {
  constructor(view) {
    this.view = view;
    this.shows = { waits: address.get("waits") !== "no", path: address.get("path") === "yes" };
    this.clear();
    this.chain = [];
    this.members = null;
    this.messages = []; /* of the selected call */
  }
  clear() {
    this.blocked = { calls: [], left_out: 0 };
    this.critical = { stretches: [], left_out: 0 };
    this.labels = { labels: [], left_out: 0 };
  }

  toggle(name) {
    this.shows[name] = !this.shows[name];
    address.set(name, this.shows[name] === (name === "waits") ? null : this.shows[name] ? "yes" : "no");
    this.view.changed();
  }

  async load(from, to, pixel) {
    const { trace } = this.view,
      none = { calls: [], stretches: [], left_out: 0 },
      least = Math.floor(4 * pixel);

    this.least = least;
    this.blocked = this.shows.waits
      ? await trace.links("blocked", { from, to, least, count: MOST_WAITS, ...this.view.rowsInView })
      : none;
    this.critical = this.shows.path ? await trace.json("critical", { from, to, least: Math.floor(pixel / 2) }) : none;
    this.labels = await trace.json("labels", { from, to });
  }
  /* What belongs to the selected call. */
  async select(slice) {
    this.chain = this.messages = [];
    this.members = null;
    if (!slice) return;
    const { row, begin, depth } = slice,
      { trace } = this.view,
      messages = await messagesOf(this.view, slice);

    if (this.view.selected === slice) this.messages = messages.messages;

    if (slice.wait && slice.cause !== null) {
      const { calls } = await trace.links("chain", { row, begin, depth });

      if (this.view.selected === slice) this.chain = [slice, ...calls];
    }
    if (slice.isTogether) {
      const found = await trace.links("together", { row, begin, depth });

      if (this.view.selected === slice) this.members = found;
    }
    this.view.draw();
    this.view.tell();
  }

  words() {
    const { calls, left_out: left } = this.blocked;

    return [
      calls.length
        ? "arrows: " +
          (left ? "the " + MOST_WAITS + " longest of " + count(calls.length + left) + " waits" : "waits") +
          (this.least ? " of " + nanoseconds(this.least) + " and longer" : "")
        : "",
      this.critical.left_out
        ? plural(this.critical.left_out, "short part") + " of the critical path not drawn: zoom in"
        : "",
      this.shows.path && !this.view.about.critical
        ? "no critical path: it leads over processes, and needs an analysis"
        : "",
      this.chain.length > 1
        ? "the wait that is selected has " + plural(this.chain.length - 1, "wait") + " behind it"
        : "",
      this.members
        ? "the collective operation has " +
          plural(this.members.members, "member") +
          (this.members.calls.length < this.members.members ? ", " + this.members.calls.length + " of them near" : "")
        : "",
      this.labels.left_out ? plural(this.labels.left_out, "label") + " not shown" : "",
    ].filter(Boolean);
  }

  paint(c, palette) {
    if (this.shows.path) this.paintPath(c, palette);
    this.blocked.calls.forEach(call => this.paintDelay(c, palette, call));
    if (this.members) this.paintMembers(c, palette);
    c.globalAlpha = 0.55;
    this.blocked.calls.forEach(call => this.paintArrow(c, palette.late, call, 1));
    c.globalAlpha = 1;
    if (this.messages.length) paintMessages(c, this.messages, this.view, palette.accent, 2);
    this.chain.forEach(call => this.paintArrow(c, palette.accent, call, 2));
  }

  /* From the end of a wait to the row that came late; of the selected one also how long it waited. */
  paintArrow(c, colour, { row, cause, begin, wait, depth }, wide) {
    const { view } = this,
      from = view.yOfCall({ row, depth }),
      to = view.yOf(cause),
      x = view.x(begin + wait),
      way = to > from ? -1 : 1;

    if (from === to || isNaN(from + to)) return;
    c.strokeStyle = c.fillStyle = colour;
    c.lineWidth = wide;
    c.beginPath();
    if (wide > 1) c.moveTo(Math.max(view.x(begin), 0), from);
    else c.moveTo(x, from);
    c.lineTo(x, from);
    c.lineTo(x, to);
    c.stroke();
    c.beginPath();
    c.moveTo(x, to);
    c.lineTo(x - 4, to + 7 * way);
    c.lineTo(x + 4, to + 7 * way);
    c.fill();
  }
  /* Above a row: others wait for it then. */
  paintDelay(c, palette, { cause, begin, wait }) {
    const { view } = this,
      y = view.yOf(cause) - view.rowTall / 2;

    if (isNaN(y) || view.rowTall < 4) return;
    c.fillStyle = palette.late;
    c.fillRect(view.x(begin), y, Math.max(view.x(begin + wait) - view.x(begin), 1), Math.min(3, view.rowTall / 5));
  }
  /* At the lower edge of the rows: names are in the middle. */
  paintPath(c, palette) {
    const { view } = this,
      tall = Math.min(Math.max(view.rowTall / 5, 2), 5),
      below = Math.max(view.rowTall / 2 - tall / 2 - 3, 0);
    let last = null;

    c.strokeStyle = palette.text;
    c.lineWidth = 1;
    c.beginPath();
    for (const [row, begin, end] of this.critical.stretches) {
      const y = view.yOf(row) + below,
        x = view.x(begin);

      if (!isNaN(y)) {
        c.fillStyle = palette.ground;
        c.fillRect(x, y - tall / 2 - 1, Math.max(view.x(end) - x, 1), tall + 2);
        c.fillStyle = palette.text;
        c.fillRect(x, y - tall / 2, Math.max(view.x(end) - x, 1), tall);
        if (last && Math.abs(last.x - x) < 2) {
          c.moveTo(x, last.y);
          c.lineTo(x, y);
        }
        last = { x: view.x(end), y };
      }
    }
    c.stroke();
  }
  /* One line through where they begin, one through where they end; of rows that are too small for that each of them. */
  paintMembers(c, palette) {
    const { view } = this,
      places = this.members.calls
        .map(call => ({ y: view.yOfCall(call), from: view.x(call.begin), to: view.x(call.begin + call.ns) }))
        .filter(({ y }) => !isNaN(y))
        .sort((a, b) => a.y - b.y);

    if (!places.length) return;
    c.strokeStyle = c.fillStyle = palette.accent;
    c.lineWidth = 1.5;
    c.beginPath();
    places.forEach(({ y, from }, i) => (i ? c.lineTo(from, y) : c.moveTo(from, y)));
    for (const { y, to } of places.slice().reverse()) c.lineTo(to, y);
    c.closePath();
    c.globalAlpha = 0.15;
    c.fill();
    c.globalAlpha = 1;
    const size = Math.min(Math.max(view.rowTall, 1), 4);
    if (view.rowTall >= MEMBER_ROW) c.stroke();
    for (const { y, from, to } of places)
      for (const x of [from, to]) c.fillRect(x - size / 2, y - size / 2, size, size);
  }
  /* Flags on the axis, of which none covers another one. */
  paintLabels(c, palette) {
    const { view } = this;
    let free = -Infinity;

    for (const [ns, , text] of this.labels.labels) {
      const x = view.x(ns);

      c.strokeStyle = c.fillStyle = palette.text;
      c.lineWidth = 1;
      c.setLineDash([3, 3]);
      c.beginPath();
      c.moveTo(x, 0);
      c.lineTo(x, view.tall);
      c.stroke();
      c.setLineDash([]);
      if (x < free) continue;
      const wide = Math.min(c.measureText(text).width + 8, LABEL_WIDE);

      c.fillRect(x, 0, wide, 13);
      c.fillStyle = palette.ground;
      c.fillText(text, x + 4, 10, LABEL_WIDE - 8);
      free = x + wide + 2;
    }
  }
}

/* Messages that a call sent or received, both ends told; none of a call that has more than can be drawn, which
 * `left_out` counts. */
async function messagesOf(view, { row, begin, ns }) {
  if (!view.about.messages) return { messages: [], left_out: 0 };
  const end = begin + ns,
    found = await view.trace.messages(begin, end + 1, MOST_LINES, { only: row }),
    isIn = time => time >= begin && time <= end;

  return {
    ...found,
    messages: found.messages.filter(
      ({ sent, received, from, to }) => (from === row && isIn(sent)) || (to === row && isIn(received)),
    ),
  };
}

const OVERLAY_COMMANDS = [
  [
    "x",
    "show or hide the arrows from waits to the rows that caused them",
    { x: view => view.overlays.toggle("waits") },
  ],
  ["c", "show or hide the critical path", { c: view => view.overlays.toggle("path") }],
];
