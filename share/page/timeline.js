/* Calls of a traced run over time, ranks below each other: zoomed and moved down to single calls, with the messages of what is selected, and below each
 * rank's calls the functions that its samples met. Above what pixels can show, calls are drawn as the part of the time that they fill. */

const ROW = 16, HIGH = 28;  /* pixels of a rank; of few ranks */
const LEFT = 62;            /* pixels of their names */
const TALLEST = 640;        /* pixels of all ranks */
const LINES = 2000, FEW = 200; /* messages that are drawn at once: of what is selected, of all */
const CODES = 6;            /* colours of functions that samples met, likewise */
const STACK = 12;           /* callers that are told of a sample */
const HOPS = 2;             /* ranks that waited themselves, and are told of a call that waited */
const KINDS = ["compute", "wait", "mpi", "threads", "poor", "quiet"]; /* of functions, those that take longest first; the last is of all others */

/* Arrays of numbers, times in ns from the begin. */
function decodeRow(row) {
  const count = row.sites.length, begin = new Float64Array(count), end = new Float64Array(count);
  let at = 0;

  for (let i = 0; i < count; i++) {
    begin[i] = at + row.gaps[i];
    end[i] = at = begin[i] + row.durations[i];
  }
  const wait = new Float64Array(count), waitsFor = new Map(); /* by call: [rank, thread] */

  for (let i = 0; i < row.waits.length; i += 4) {
    wait[row.waits[i]] = row.waits[i + 1];
    waitsFor.set(row.waits[i], [row.waits[i + 2], row.waits[i + 3]]);
  }
  return { rank: row.rank, thread: row.thread, count, begin, end, bytes: row.bytes, sites: row.sites, wait, waitsFor, samples: decodeSamples(row.samples, { count, begin, end }) };
}

/* A sample stands for the CPU time of a tick. It is drawn before it, as far as there is no other, and outside of calls, where it was not in one. */
function decodeSamples({ tick, gaps, ticks, paths }, calls) {
  const count = gaps.length, begin = new Float64Array(count), end = new Float64Array(count), cpu = Float64Array.from(ticks, n => n * tick), inside = new Uint8Array(count);
  let at = 0;

  for (let i = 0; i < count; i++) {
    const before = at;

    end[i] = at += gaps[i];
    inside[i] = inCall(calls, at) ? 1 : 0;
    const last = firstAbove(calls.end, at) - 1, least = !inside[i] && last >= 0 ? Math.max(calls.end[last], before) : before;
    begin[i] = Math.max(at - cpu[i], least);
  }
  return { count, begin, end, cpu, paths, inside };
}

/* Is the row in a call at that time? */
function inCall(row, time) {
  const i = firstAbove(row.end, time);

  return i < row.count && row.begin[i] <= time;
}

/* Sums by a key, the largest first. */
class Sums {
  constructor() { this.of = new Map(); }
  add(key, value) { this.of.set(key, (this.of.get(key) || 0) + value); }
  sorted() { return [...this.of].sort((a, b) => b[1] - a[1]); }
}

/* The first index whose value is above. */
function firstAbove(values, value) {
  let low = 0, high = values.length;

  while (low < high) {
    const middle = (low + high) >> 1;

    if (values[middle] > value)
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

class Timeline {
  constructor(tables, data) {
    const sites = tables.get("callsites"), times = new Sums(), codes = new Sums();

    Object.assign(this, { messages: data.messages, paths: data.paths, frames: data.frames, sites, call: null, sample: null });
    this.rows = data.rows.map(decodeRow);
    this.end = Math.max(data.end || 0, ...this.rows.map(row => Math.max(row.count ? row.end[row.count - 1] : 0, row.samples.count ? row.samples.end[row.samples.count - 1] : 0))) || 1;
    this.view = { from: 0, to: this.end };
    this.functions = Array.from({ length: sites.rows }, (_, row) => sites.get("function", row));
    for (const row of this.rows) {
      row.sites.forEach((site, i) => times.add(this.name(site), row.end[i] - row.begin[i]));
      row.samples.paths.forEach((path, i) => codes.add(this.paths[path].own, row.samples.cpu[i]));
    }
    this.order = times.sorted().map(([name]) => name);
    this.codes = codes.sorted().map(([frame]) => frame);
    this.leftOutCalls = data.left_out;
    this.rowOf = new Map(this.rows.map(row => [row.rank + ":" + row.thread, row]));
    this.placeOf = new Map(this.rows.map((row, i) => [row.rank, i]).reverse());
    this.height = Math.min(this.rows.length * (this.rows.length > 12 ? ROW : HIGH) * (this.codes.length ? 1.4 : 1), TALLEST);
    this.canvas = canvas(this.height + 24, "calls over time, a row for each thread that calls MPI or has samples; the table of call sites has their sums", (c, width) => this.draw(c, width), (x, y, width) => this.pick(x, y, width));
    this.canvas.tabIndex = 0;
    this.told = make("p", { class: "note", role: "status" });
    this.stack = make("p", { class: "note", id: "stack" });
    this.summary = make("div", { id: "stretch" });
    this.bind();
    this.element = make("section", { id: "timeline", "aria-label": "Calls over time" }, make("h3", null, "Calls over time"), this.tools(),
      make("figure", null, this.canvas, ...this.legends(), this.told, this.stack, make("figcaption", null, "Calls of MPI from left to right, ranks from top to bottom; between them the program computes" +
        (this.codes.length ? ": the strip below a rank's calls has the function of the program that samples of the CPU clock met. " : ". ") +
        "The pale part of a call is waiting for a rank that sent, received or came late: in receives, blocking sends and blocking collectives. Of other calls it is not known here; fvunify knows more. Keys: w and s zoom, a and d move; drag moves, a double click zooms in, dragging with Shift selects a stretch of time." + this.leftOut(data))), this.summary);
    this.element.view = this;
    selection.onChange(() => this.follow());
    this.tell();
    this.sumUp();
  }

  legends() {
    const pick = (name, kind) => kind ? make("button", { type: "button", class: "pick", onclick: () => selection.toggle(kind, name) }, name.length > 60 ? name.slice(0, 59) + "\u2026" : name) : name;
    const list = (names, kinds, rest, kind) => make("p", { class: "legend" }, ...names.slice(0, kinds.length - 1).map((name, i) => make("span", null, make("i", { class: "key " + kinds[i] }), pick(name, kind))),
                                              names.length >= kinds.length ? make("span", null, make("i", { class: "key " + kinds[kinds.length - 1] }), rest) : null);

    return [list(this.order, KINDS, "other functions of MPI"), ...this.codes.length ? [list(this.codes.map(frame => this.frame(frame)), Array.from({ length: CODES }, (_, i) => "code" + i), "other functions", "function")] : []];
  }

  leftOut(data) {
    return (data.left_out ? " The longest calls of each rank; " + count(data.left_out) + " shorter ones are left out: fvunify and Vampir show all." : "") +
      (data.messages_left_out ? " The largest messages; " + count(data.messages_left_out) + " others are left out." : "") + (data.samples_left_out ? " Of the samples " + count(data.samples_left_out) + " are left out, for which others stand." : "") +
      (data.unmatched ? " Of " + plural(data.unmatched, "message end") + " the other end is not known: these messages, and waiting for them, are not here." : "") +
      (data.waits_cut ? " There were too many messages to tell who waited for the last ones." : "") +
      (data.waits_unknown ? " Of " + plural(data.waits_unknown, "collective call") + " nobody knows here how long they waited." : "");
  }

  frame(index) {
    return index === null ? "(not known)" : this.frames[index];
  }

  name(site) {
    return site === null ? "(not known)" : this.functions[site];
  }

  tools() {
    const button = (words, does) => make("button", { type: "button", onclick: does }, words);

    return make("p", { class: "tools" }, button("zoom in", () => this.zoom(0.5)), button("zoom out", () => this.zoom(2)), button("\u2190 earlier", () => this.move(-0.4)), button("later \u2192", () => this.move(0.4)),
                button("all", () => this.clamp(0, this.end)),
                button("select what is in view", () => selection.selectStretch(this.view.from * 1e-9, this.view.to * 1e-9)),
                button("zoom to the selected time", () => { const span = selection.stretch(); if (span) this.clamp(span.from * 1e9, (span.to - span.from) * 1e9); }));
  }

  clamp(from, span) {
    const wide = Math.min(Math.max(span, 100), this.end), begin = Math.min(Math.max(from, 0), this.end - wide);

    this.view = { from: begin, to: begin + wide };
    this.tell();
    this.canvas.dispatchEvent(new Event("redraw"));
  }

  /* About the middle, or another part of the view. */
  zoom(by, part = 0.5) {
    const span = this.view.to - this.view.from, wide = Math.min(span * by, this.end);

    this.clamp(this.view.from + (span - wide) * part, wide);
  }

  move(part) {
    const span = this.view.to - this.view.from;

    this.clamp(this.view.from + span * part, span);
  }

  bind() {
    const keys = { w: () => this.zoom(0.5), s: () => this.zoom(2), a: () => this.move(-0.2), d: () => this.move(0.2) };
    let drag = null;

    this.canvas.addEventListener("keydown", event => {
      if (keys[event.key]) {
        event.preventDefault();
        event.stopPropagation();
        keys[event.key]();
      }
    });
    dragged(this.canvas, (from, to) => selection.selectStretch(this.timeAt(from) * 1e-9, this.timeAt(to) * 1e-9), event => event.shiftKey);
    dragged(this.canvas, () => {}, event => !event.shiftKey); /* it moves: below */
    this.canvas.addEventListener("pointerdown", event => { drag = event.shiftKey ? null : { x: event.offsetX, from: this.view.from }; });
    this.canvas.addEventListener("pointermove", event => {
      if (drag && event.buttons & 1 && Math.abs(event.offsetX - drag.x) > 3)
        this.clamp(drag.from - (event.offsetX - drag.x) / (this.canvas.clientWidth - LEFT) * (this.view.to - this.view.from), this.view.to - this.view.from);
    });
    window.addEventListener("pointerup", () => { drag = null; });
    this.canvas.addEventListener("dblclick", event => this.zoom(0.25, this.part(event.offsetX)));
    this.canvas.addEventListener("wheel", event => {
      if (event.ctrlKey) {
        event.preventDefault();
        this.zoom(event.deltaY < 0 ? 0.7 : 1.4, this.part(event.offsetX));
      }
    }, { passive: false });
  }

  /* What is told of goes with what is selected. */
  follow() {
    if (this.call && selection.get("callsite") !== this.call.site)
      this.call = null;
    if (this.sample && selection.get("function") !== this.frame(this.sample.path.own))
      this.sample = null;
    this.tell();
    this.sumUp();
  }

  rowHeight() { return this.height / this.rows.length; }

  /* Where a time stands, and what time a place is of, as part of the view. */
  x(time, width = this.canvas.clientWidth) { return LEFT + (time - this.view.from) / (this.view.to - this.view.from) * (width - LEFT); }
  part(x, width = this.canvas.clientWidth) { return Math.max(x - LEFT, 0) / Math.max(width - LEFT, 1); }
  timeAt(x, width = this.canvas.clientWidth) { return this.view.from + this.part(x, width) * (this.view.to - this.view.from); }

  /* What calls have of a row, the strip of samples below them has the rest; no strip where there is no room. */
  callsHeight(tall) { return this.codes.length && tall >= 8 ? Math.round(tall * 0.65) : tall; }

  draw(c, width) {
    const { from, to } = this.view, x = time => this.x(time, width), tall = this.rowHeight();
    const fill = KINDS.map(kind => colours(kind)), kindOf = new Map(this.order.map((name, i) => [name, Math.min(i, KINDS.length - 1)]));
    const kinds = this.functions.map(name => kindOf.get(name) ?? KINDS.length - 1), wanted = selection.get("callsite"), rank = selection.get("rank");

    c.fillStyle = colours("raised");
    c.fillRect(LEFT, 0, width - LEFT, this.height);
    c.save();
    c.beginPath();
    c.rect(LEFT, 0, width - LEFT, this.height);
    c.clip();
    const high = this.callsHeight(tall), codes = Array.from({ length: CODES }, (_, i) => colours("code" + i)), gap = tall > 4 ? 1 : 0;
    this.rows.forEach((row, i) => {
      this.drawRow(c, row, i * tall, Math.max(high - (high < tall ? 0 : gap), 0.5), { x, width, fill, kinds, wanted });
      if (high < tall)
        this.drawSamples(c, row.samples, i * tall + high, tall - high - gap - 1, { x, width, codes });
    });
    if (rank !== null && this.placeOf.has(rank)) {
      c.strokeStyle = colours("accent");
      c.lineWidth = 2;
      c.strokeRect(LEFT + 1, this.placeOf.get(rank) * tall + 1, width - LEFT - 2, Math.max(tall - 2, 2));
    }
    this.drawMessages(c, x, width, tall);
    drawStretch(c, time => x(time * 1e9), 0, this.height);
    c.restore();
    this.drawNames(c, width, tall);
  }

  /* Ranks, as many as there is room for, and times with as many digits as tell them apart. */
  drawNames(c, width, tall) {
    const every = Math.ceil(14 / tall), times = ticks(this.view.from * 1e-9, this.view.to * 1e-9, Math.max(width / 160, 2)), step = times.length > 1 ? times[1] - times[0] : 1;

    c.fillStyle = colours("quiet");
    c.textBaseline = "middle";
    this.rows.forEach((row, i) => {
      if (i % every === 0)
        c.fillText(row.rank + (row.thread ? ":" + row.thread : ""), 4, (i + 0.5) * tall);
    });
    c.textBaseline = "top";
    for (const time of times)
      c.fillText(time.toFixed(Math.min(Math.max(Math.ceil(-Math.log10(step) - 1e-9), 0), 9)) + " s", this.x(time * 1e9, width) + 2, this.height + 6);
  }

  /* Calls narrower than a pixel share it: it is as dark as they fill it. */
  drawRow(c, row, top, tall, { x, width, fill, kinds, wanted }) {
    let at = -1, filled = 0, kind = 0;
    const flush = () => {
      if (at >= 0 && filled > 0) {
        c.globalAlpha = Math.min(0.15 + filled, 1);
        c.fillStyle = fill[kind];
        c.fillRect(at, top, 1, tall);
        c.globalAlpha = 1;
      }
      filled = 0;
    };

    for (let i = firstAbove(row.end, this.view.from); i < row.count && row.begin[i] < this.view.to; i++) {
      const left = Math.max(x(row.begin[i]), LEFT), right = Math.min(x(row.end[i]), width), of = row.sites[i] === null ? KINDS.length - 1 : kinds[row.sites[i]];
      const chosen = wanted !== null && row.sites[i] === wanted;

      if (right - left < 1 && !chosen) {
        if (Math.floor(left) !== at) {
          flush();
          at = Math.floor(left);
          kind = of;
        }
        filled += right - left;
        continue;
      }
      c.fillStyle = chosen && right - left < 5 ? colours("accent") : fill[of];
      c.fillRect(left, top, Math.max(right - left, 1), tall);
      const waited = Math.min(x(row.begin[i] + row.wait[i]), right);

      if (row.wait[i] && waited - left > 2) {
        c.globalAlpha = 0.6;
        c.fillStyle = colours("ground");
        c.fillRect(left, top, waited - left, tall);
        c.globalAlpha = 1;
      }
      if (chosen && right - left >= 5) {
        c.strokeStyle = colours("text");
        c.lineWidth = 2;
        c.strokeRect(left + 1, top + 1, right - left - 2, tall - 2);
      }
      if (right - left > 60 && tall >= 12) {
        c.save();
        c.beginPath();
        c.rect(left, top, right - left - 3, tall);
        c.clip();
        c.fillStyle = colours(row.wait[i] && waited - left > 2 ? "text" : "ground");
        c.textBaseline = "middle";
        c.fillText(this.name(row.sites[i]), left + 3, top + tall / 2);
        c.restore();
      }
    }
    flush();
  }

  /* Of samples that share a pixel the first one is drawn. A function that is selected stands out with all that it calls. */
  drawSamples(c, samples, top, tall, { x, width, codes }) {
    const colourOf = new Map(this.codes.map((frame, i) => [frame, Math.min(i, CODES - 1)])), wanted = selection.get("function"), chosen = wanted === null ? -1 : this.frames.indexOf(wanted);
    let at = LEFT;

    for (let i = firstAbove(samples.end, this.view.from); i < samples.count && samples.begin[i] < this.view.to; i++) {
      const left = Math.max(x(samples.begin[i]), at), right = Math.min(x(samples.end[i]), width), path = this.paths[samples.paths[i]];

      if (right < at)
        continue;
      c.fillStyle = chosen >= 0 && path.frames.includes(chosen) ? colours("accent") : codes[colourOf.get(path.own)];
      c.fillRect(left, top, Math.max(right - left, 1), tall);
      at = Math.max(right, left + 1);
    }
  }

  /* Of the call that is chosen, else of the rank; of all where few are in view. */
  shown() {
    const { from, to, sent, flight } = this.messages, found = [], rank = selection.get("rank"), call = this.call;

    for (let i = 0; i < sent.length && found.length <= LINES; i++) {
      const end = sent[i] + flight[i];

      if (Math.max(sent[i], end) < this.view.from || Math.min(sent[i], end) > this.view.to)
        continue;
      if (call ? (from[i] === call.rank && sent[i] >= call.begin - 2 && sent[i] <= call.end) || (to[i] === call.rank && end >= call.begin && end <= call.end + 2) : rank === null || from[i] === rank || to[i] === rank)
        found.push(i);
    }
    return found;
  }

  drawMessages(c, x, width, tall) {
    const found = this.shown(), { from, to, sent, flight } = this.messages;

    if (found.length > LINES || (!this.call && selection.get("rank") === null && found.length > FEW))
      return;
    c.strokeStyle = colours("text");
    c.lineWidth = 1;
    for (const i of found) {
      if (!this.placeOf.has(from[i]) || !this.placeOf.has(to[i]))
        continue;
      c.beginPath();
      c.moveTo(x(sent[i]), (this.placeOf.get(from[i]) + 0.5) * tall);
      c.lineTo(x(sent[i] + flight[i]), (this.placeOf.get(to[i]) + 0.5) * tall);
      c.stroke();
    }
  }

  rowAt(y) { return this.rows[Math.floor(y / this.rowHeight())]; }

  /* The call there; null: the program computes. */
  at(x, y, width) {
    const row = this.rowAt(y), time = this.timeAt(x, width), slack = 2 / width * (this.view.to - this.view.from), tall = this.rowHeight();

    if (!row || y % tall >= this.callsHeight(tall))
      return null;
    const within = firstAbove(row.end, time), near = i => i >= 0 && i < row.count && row.begin[i] <= time + slack && row.end[i] >= time - slack;
    const i = [within, within - 1].find(near);

    return i === undefined ? null : { rank: row.rank, thread: row.thread, site: row.sites[i], begin: row.begin[i], end: row.end[i], bytes: row.bytes[i], wait: row.wait[i], waitsFor: row.waitsFor.get(i) };
  }

  /* The sample that stands for the time there, or the next one behind it within some pixels. */
  sampleAt(x, y, width) {
    const row = this.rowAt(y), time = this.timeAt(x, width), slack = 8 / width * (this.view.to - this.view.from);
    const i = row ? firstAbove(row.samples.end, time) : 0;

    return row && i < row.samples.count && row.samples.begin[i] <= time + slack ? { rank: row.rank, thread: row.thread, at: row.samples.end[i], path: this.paths[row.samples.paths[i]] } : null;
  }

  /* What a thread did in a stretch of time, in words, longest first: its calls, and by samples its functions outside of them; what is no tenth is left out. */
  doing(rank, thread, from, to, hops) {
    const row = this.rowOf.get(rank + ":" + thread), sums = new Sums(), within = (begin, end) => Math.min(end, to) - Math.max(begin, from);
    let known = 0, waits = null;
    const add = (name, time) => { sums.add(name, time); known += time; };

    for (let i = row ? firstAbove(row.end, from) : 0; row && i < row.count && row.begin[i] < to; i++) {
      add(this.name(row.sites[i]), within(row.begin[i], row.end[i]));
      if (row.wait[i] > 0.1 * (to - from) && (!waits || row.wait[i] > waits.wait))
        waits = { begin: row.begin[i], wait: row.wait[i], waitsFor: row.waitsFor.get(i), rank };
    }
    for (let i = row ? firstAbove(row.samples.end, from) : 0; row && i < row.samples.count && row.samples.begin[i] < to; i++)
      if (!row.samples.inside[i])
        add(this.frame(this.paths[row.samples.paths[i]].own), Math.max(within(row.samples.begin[i], row.samples.end[i]), 0));
    const said = sums.sorted().filter(([, time]) => time > 0.1 * (to - from)).slice(0, 3).map(([name, time]) => name + " " + seconds(time * 1e-9)), rest = to - from - known;

    if (rest > 0.1 * (to - from))
      said.push(seconds(rest * 1e-9) + " without a call" + (this.codes.length ? " or a sample" : "") + (this.leftOutCalls ? " that is here" : ""));
    return said.join(", ") + (waits && hops ? this.because(waits, hops - 1) : "");
  }

  /* For whom the call waited, and what that rank did meanwhile: which may be waiting, too. */
  because(call, hops = HOPS) {
    if (!call.wait)
      return "";
    const [rank, thread] = call.waitsFor;

    return "; " + (hops === HOPS ? "waited " : "rank " + call.rank + " itself waited ") + seconds(call.wait * 1e-9) + " for rank " + rank + (thread ? ", thread " + thread : "") + ", which had " +
      this.doing(rank, thread, call.begin, call.begin + call.wait, hops);
  }

  pick(x, y, width) {
    const row = this.rowAt(y);

    if (!row)
      return;
    if (x < LEFT) {
      selection.toggle("rank", row.rank);
      return;
    }
    const call = this.at(x, y, width), same = call && this.call && call.begin === this.call.begin && call.rank === this.call.rank;

    this.call = same ? null : call;
    this.sample = call ? null : this.sampleAt(x, y, width);
    if (this.call && selection.get("callsite") !== this.call.site)
      selection.toggle("callsite", this.call.site);
    if (this.sample && selection.get("function") !== this.frame(this.sample.path.own))
      selection.toggle("function", this.frame(this.sample.path.own));
    this.tell();
    this.canvas.dispatchEvent(new Event("redraw"));
  }

  tell() {
    const unit = { type: "real", unit: "s" }, { from, to } = this.view, { call, sample } = this, thread = of => " on rank " + of.rank + (of.thread ? ", thread " + of.thread : "");
    const where = site => { const path = site === null ? null : this.sites.get("path", site), line = path && this.sites.get("line", site); return path ? " in " + path + (line ? " (line " + line + ")" : "") : ""; };
    const messages = this.shown().length, at = time => (time * 1e-9).toFixed(Math.min(Math.max(Math.ceil(3 - Math.log10((to - from) * 1e-9)), 0), 9)) + " s";

    this.told.textContent = "from " + at(from) + " to " + at(to) + (call ? ". " + this.name(call.site) + where(call.site) + thread(call) + ": at " + at(call.begin) + ", for " + worded(unit, (call.end - call.begin) * 1e-9) +
      (call.bytes ? ", " + bytes(call.bytes) + " sent and received" : "") + this.because(call) + (messages ? "; " + plural(messages, "message") : "")
      : messages > (selection.get("rank") === null ? FEW : LINES) ? ". Messages are drawn where there are fewer: zoom in, or select a rank or a call" : "");
    const frames = sample ? sample.path.frames.slice(0, STACK).map(index => this.frame(index)) : [], more = sample ? sample.path.frames.length + sample.path.more - frames.length : 0;
    this.stack.textContent = sample ? "A sample" + thread(sample) + " at " + at(sample.at) + ": " + (frames.join(" <- ") || "its call path is not known") + (more > 0 ? " <- " + plural(more, "more caller") : "") : "";
  }

  /* What was done in the stretch of time that is selected, on the selected rank or all: calls by time, functions by the CPU time that their samples stand for. */
  sumUp() {
    const span = selection.stretch(), rank = selection.get("rank"), calls = new Sums(), codes = new Sums();

    if (!span) {
      this.summary.replaceChildren();
      return;
    }
    const [from, to] = [span.from * 1e9, span.to * 1e9], rows = this.rows.filter(row => rank === null || row.rank === rank), within = (begin, end) => Math.min(end, to) - Math.max(begin, from);
    for (const row of rows) {
      for (let i = firstAbove(row.end, from); i < row.count && row.begin[i] < to; i++)
        calls.add(this.name(row.sites[i]), within(row.begin[i], row.end[i]));
      for (let i = firstAbove(row.samples.end, from); i < row.samples.count && row.samples.end[i] <= to; i++)
        if (!row.samples.inside[i])
          codes.add(this.frame(this.paths[row.samples.paths[i]].own), row.samples.cpu[i]);
    }
    const bars = (sums, colour, pick) => sums.sorted().map(([name, time]) => ({ label: name, value: seconds(time * 1e-9), parts: [[time, colour]], pick: pick && (() => pick(name)) }));
    const title = " from " + seconds(span.from) + " to " + seconds(span.to) + (rank === null ? "" : " on rank " + rank), of = plural(rows.length, "thread") + ", " + seconds((span.to - span.from) * rows.length) + " in all" + (this.leftOutCalls ? "; without " + count(this.leftOutCalls) + " shorter calls, whose samples count as outside of MPI" : "");
    this.summary.replaceChildren(...[lying("stretch-calls", "MPI" + title, bars(calls, "mpi"), [], "of " + of), lying("stretch-code", "CPU time of functions" + title, bars(codes, "compute", name => selection.toggle("function", name)), [],
      "by samples outside of MPI, of " + of)].filter(Boolean));
  }
}

async function loadTimeline() {
  const scripts = [...document.querySelectorAll("script.timeline")];

  if (!scripts.length)
    return null;
  const data = JSON.parse(await inflate(scripts.map(script => script.textContent)));

  scripts.forEach(script => script.remove());
  return data;
}

/* It is read when it is looked at. */
function timeline(tables) {
  if (!document.querySelector("script.timeline"))
    return null;
  const place = make("div");

  loadTimeline().then(data => place.append(new Timeline(tables, data).element));
  return place;
}
