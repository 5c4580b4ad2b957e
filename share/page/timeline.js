/* In page.html. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of a traced run over time, ranks below each other: zoomed and moved down to single calls, with the messages of what is selected, and below each
 * rank's calls the functions that its samples met. Above what pixels can show, calls are drawn as the part of the time that they fill. */

const ROW = 16,
  HIGH = 28; /* pixels of a rank; of few ranks */
const LEFT = 62; /* pixels of their names */
const TALLEST = 640; /* pixels of all ranks */
const LINES = 2000,
  FEW = 200; /* messages that are drawn at once: of what is selected, of all */
const COLOURS = 6; /* of functions of MPI, and of the program: those that take longest first; the last is of all others */
const STACK = 12; /* callers that are told of a sample */
const HOPS = 2; /* ranks that waited themselves, and are told of a call that waited */
const KINDS = Array.from({ length: COLOURS }, (_, i) => "call" + i);

class Timeline {
  constructor(tables, trace) {
    const sites = tables.get("callsites"),
      times = new Sums(),
      { threads } = trace;

    Object.assign(this, { trace, sites, end: trace.end, call: null, sample: null, labels: tables.get("labels").all() });
    const seen = spanOf(selection.seen);

    this.view = seen ? this.within(seen.from * 1e9, (seen.to - seen.from) * 1e9) : { from: 0, to: this.end };
    this.functions = Array.from({ length: sites.rows }, (_, row) => sites.get("function", row));
    for (const [site, time] of trace.callTimes().of) times.add(this.name(site), time);
    this.order = times.sorted().map(([name]) => name);
    const codes = trace
      .codeTimes()
      .sorted()
      .map(([frame]) => frame);
    this.codes = codes.filter(frame => frame !== SYNC);
    this.hasSync = codes.length > this.codes.length;
    this.hasSamples = codes.length > 0;
    this.placeOf = new Map(threads.map(({ rank }, i) => [rank, i]).reverse());
    this.height = Math.min(threads.length * (threads.length > 12 ? ROW : HIGH) * (this.hasSamples ? 1.4 : 1), TALLEST);
    this.canvas = canvas(
      this.height + 24,
      "calls over time: a row for each thread that calls MPI or has samples. The table of call sites has their sums",
      (c, width) => this.draw(c, width),
      (x, y, width) => this.pick(x, y, width),
    );
    this.canvas.tabIndex = 0;
    this.told = make("p", { class: "note", role: "status" });
    this.stack = make("p", { class: "note", id: "stack" });
    this.summary = make("div", { id: "stretch" });
    this.bind();
    this.element = make(
      "section",
      { id: "timeline", "aria-label": "Calls over time" },
      make("h3", null, "Calls over time"),
      this.tools(),
      make(
        "figure",
        null,
        this.canvas,
        ...this.legends(),
        this.told,
        this.stack,
        make(
          "figcaption",
          null,
          "MPI calls from left to right, ranks from top to bottom; between calls the program computes" +
            (this.hasSamples
              ? ". The strip below a rank's calls shows functions of the program, from samples of the CPU clock. "
              : ". ") +
            "The pale part of a call is waiting for a late rank. It is shown for receives, blocking sends and blocking collectives; fvunify also finds it for other calls. Keys: w and s zoom, a and d move. Drag to move, double-click to zoom in, drag with Shift to select a stretch of time." +
            this.leftOut(),
        ),
      ),
      this.summary,
    );
    this.element.view = this;
    selection.onChange(() => this.follow());
    this.tell();
    this.sumUp();
  }

  legends() {
    const pick = (name, kind) =>
      kind
        ? make(
            "button",
            { type: "button", class: "pick", onclick: () => selection.toggle(kind, name) },
            name.length > 60 ? name.slice(0, 59) + "\u2026" : name,
          )
        : name;
    const list = (names, kinds, rest, kind) =>
      make(
        "p",
        { class: "legend" },
        ...names
          .slice(0, kinds.length - 1)
          .map((name, i) => make("span", null, make("i", { class: "key " + kinds[i] }), pick(name, kind))),
        names.length >= kinds.length
          ? make("span", null, make("i", { class: "key " + kinds[kinds.length - 1] }), rest)
          : null,
      );

    return [
      list(this.order, KINDS, "other MPI functions"),
      ...(this.codes.length
        ? [
            list(
              this.codes.map(frame => this.frame(frame)),
              Array.from({ length: COLOURS }, (_, i) => "code" + i),
              "other functions",
              "function",
            ),
          ]
        : []),
      ...(this.hasSync ? [list([SYNC], ["threads", "quiet"], "")] : []),
    ];
  }

  leftOut() {
    const { leftOut, unknown } = this.trace;

    return (
      (leftOut.calls
        ? " The longest calls of each rank; " +
          count(leftOut.calls) +
          " shorter ones are left out; fvunify and Vampir show all."
        : "") +
      (leftOut.messages ? " The largest messages; " + count(leftOut.messages) + " others are left out." : "") +
      (leftOut.samples ? " Of the samples " + count(leftOut.samples) + " are left out; others represent them." : "") +
      (unknown.messages
        ? " Of " +
          plural(unknown.messages, "message end") +
          " the other end is not known. These messages, and waiting for them, are not shown."
        : "") +
      (unknown.waitsFromHere ? " There were too many messages: waiting for the last ones is not shown." : "") +
      (unknown.waits ? " The waiting of " + plural(unknown.waits, "collective call") + " is not known." : "")
    );
  }

  /* What a sample is of. */
  code(path) {
    return path.sync ? SYNC : this.frame(path.own);
  }

  frame(index) {
    return index === null ? "(not known)" : this.trace.frames[index];
  }

  name(site) {
    return site === null ? "(not known)" : this.functions[site];
  }

  tools() {
    const button = (words, does) => make("button", { type: "button", onclick: does }, words);

    return make(
      "p",
      { class: "tools" },
      button("zoom in", () => this.zoom(0.5)),
      button("zoom out", () => this.zoom(2)),
      button("\u2190 earlier", () => this.move(-0.4)),
      button("later \u2192", () => this.move(0.4)),
      button("all", () => this.clamp(0, this.end)),
      button("select what is in view", () => selection.selectStretch(this.view.from * 1e-9, this.view.to * 1e-9)),
      button("zoom to the selected time", () => {
        const span = selection.stretch();
        if (span) this.clamp(span.from * 1e9, (span.to - span.from) * 1e9);
      }),
    );
  }

  /* What there is of a stretch of time. */
  within(from, span) {
    const wide = Math.min(Math.max(span, 100), this.end),
      begin = Math.min(Math.max(from, 0), this.end - wide);

    return { from: begin, to: begin + wide };
  }

  clamp(from, span) {
    this.view = this.within(from, span);
    selection.see(
      this.view.to - this.view.from < this.end ? { from: this.view.from * 1e-9, to: this.view.to * 1e-9 } : null,
    );
    this.tell();
    this.canvas.dispatchEvent(new Event("redraw"));
  }

  /* About the middle, or another part of the view. */
  zoom(by, part = 0.5) {
    const span = this.view.to - this.view.from,
      wide = Math.min(span * by, this.end);

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
    dragged(
      this.canvas,
      (from, to) => selection.selectStretch(this.timeAt(from) * 1e-9, this.timeAt(to) * 1e-9),
      event => event.shiftKey,
    );
    dragged(
      this.canvas,
      () => {},
      event => !event.shiftKey,
    ); /* it moves: below */
    this.canvas.addEventListener("pointerdown", event => {
      drag = event.shiftKey ? null : { x: event.offsetX, from: this.view.from };
    });
    this.canvas.addEventListener("pointermove", event => {
      if (drag && event.buttons & 1 && Math.abs(event.offsetX - drag.x) > 3)
        this.clamp(
          drag.from - ((event.offsetX - drag.x) / (this.canvas.clientWidth - LEFT)) * (this.view.to - this.view.from),
          this.view.to - this.view.from,
        );
    });
    window.addEventListener("pointerup", () => {
      drag = null;
    });
    this.canvas.addEventListener("dblclick", event => this.zoom(0.25, this.part(event.offsetX)));
    this.canvas.addEventListener(
      "wheel",
      event => {
        if (event.ctrlKey) {
          event.preventDefault();
          this.zoom(event.deltaY < 0 ? 0.7 : 1.4, this.part(event.offsetX));
        }
      },
      { passive: false },
    );
  }

  /* What is told of goes with what is selected. */
  follow() {
    if (this.call && selection.get("callsite") !== this.call.site) this.call = null;
    if (this.sample && selection.get("function") !== this.frame(this.sample.path.own)) this.sample = null;
    this.tell();
    this.sumUp();
  }

  rowHeight() {
    return this.height / this.trace.threads.length;
  }

  /* Where a time stands, and what time a place is of, as part of the view. */
  x(time, width = this.canvas.clientWidth) {
    return LEFT + ((time - this.view.from) / (this.view.to - this.view.from)) * (width - LEFT);
  }
  part(x, width = this.canvas.clientWidth) {
    return Math.max(x - LEFT, 0) / Math.max(width - LEFT, 1);
  }
  timeAt(x, width = this.canvas.clientWidth) {
    return this.view.from + this.part(x, width) * (this.view.to - this.view.from);
  }

  /* What calls have of a row, the strip of samples below them has the rest; no strip where there is no room. */
  callsHeight(tall) {
    return this.hasSamples && tall >= 8 ? Math.round(tall * 0.65) : tall;
  }

  draw(c, width) {
    const { from, to } = this.view,
      x = time => this.x(time, width),
      tall = this.rowHeight();
    const fill = KINDS.map(kind => colours(kind)),
      kindOf = new Map(this.order.map((name, i) => [name, Math.min(i, KINDS.length - 1)]));
    const kinds = this.functions.map(name => kindOf.get(name) ?? KINDS.length - 1),
      wanted = selection.get("callsite"),
      rank = selection.get("rank");

    c.fillStyle = colours("raised");
    c.fillRect(LEFT, 0, width - LEFT, this.height);
    c.save();
    c.beginPath();
    c.rect(LEFT, 0, width - LEFT, this.height);
    c.clip();
    const high = this.callsHeight(tall),
      codes = Array.from({ length: COLOURS }, (_, i) => colours("code" + i)),
      gap = tall > 4 ? 1 : 0;
    this.trace.rows(from, to).forEach((row, i) => {
      this.drawRow(c, row, i * tall, Math.max(high - (high < tall ? 0 : gap), 0.5), { x, width, fill, kinds, wanted });
      if (high < tall) this.drawSamples(c, row.samples, i * tall + high, tall - high - gap - 1, { x, width, codes });
    });
    if (rank !== null && this.placeOf.has(rank)) {
      c.strokeStyle = colours("accent");
      c.lineWidth = 2;
      c.strokeRect(LEFT + 1, this.placeOf.get(rank) * tall + 1, width - LEFT - 2, Math.max(tall - 2, 2));
    }
    this.drawMessages(c, x, width, tall);
    drawLabels(c, this.labels, time => x(time * 1e9), LEFT, width, 0, this.height);
    drawStretch(c, time => x(time * 1e9), 0, this.height);
    c.restore();
    this.drawNames(c, width, tall);
  }

  /* Ranks, as many as there is room for, and times with as many digits as tell them apart. */
  drawNames(c, width, tall) {
    const every = Math.ceil(14 / tall),
      times = ticks(this.view.from * 1e-9, this.view.to * 1e-9, Math.max(width / 160, 2)),
      step = times.length > 1 ? times[1] - times[0] : 1;

    c.fillStyle = colours("quiet");
    c.textBaseline = "middle";
    this.trace.threads.forEach(({ rank, thread }, i) => {
      if (i % every === 0) c.fillText(rank + (thread ? ":" + thread : ""), 4, (i + 0.5) * tall);
    });
    c.textBaseline = "top";
    for (const time of times)
      c.fillText(
        time.toFixed(Math.min(Math.max(Math.ceil(-Math.log10(step) - 1e-9), 0), 9)) + " s",
        this.x(time * 1e9, width) + 2,
        this.height + 6,
      );
  }

  /* Calls narrower than a pixel share it: it is as dark as they fill it. */
  drawRow(c, row, top, tall, { x, width, fill, kinds, wanted }) {
    let at = -1,
      filled = 0,
      kind = 0;
    const flush = () => {
      if (at >= 0 && filled > 0) {
        c.globalAlpha = Math.min(0.15 + filled, 1);
        c.fillStyle = fill[kind];
        c.fillRect(at, top, 1, tall);
        c.globalAlpha = 1;
      }
      filled = 0;
    };

    eachIn(row, this.view.from, this.view.to, i => {
      const left = Math.max(x(row.begin[i]), LEFT),
        right = Math.min(x(row.end[i]), width),
        of = row.sites[i] === null ? KINDS.length - 1 : kinds[row.sites[i]];
      const chosen = wanted !== null && row.sites[i] === wanted;

      if (right - left < 1 && !chosen) {
        if (Math.floor(left) !== at) {
          flush();
          at = Math.floor(left);
          kind = of;
        }
        filled += right - left;
        return;
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
    });
    flush();
  }

  /* Of samples that share a pixel the first one is drawn. A function that is selected stands out with all that it calls. */
  drawSamples(c, samples, top, tall, { x, width, codes }) {
    const colourOf = new Map(this.codes.map((frame, i) => [frame, Math.min(i, COLOURS - 1)])),
      wanted = selection.get("function"),
      chosen = wanted === null ? -1 : this.trace.frames.indexOf(wanted);
    let at = LEFT;

    eachIn(samples, this.view.from, this.view.to, i => {
      const left = Math.max(x(samples.begin[i]), at),
        right = Math.min(x(samples.end[i]), width),
        path = this.trace.paths[samples.paths[i]];

      if (right < at) return;
      c.fillStyle =
        chosen >= 0 && path.frames.includes(chosen)
          ? colours("accent")
          : path.sync
            ? colours("threads")
            : codes[colourOf.get(path.own)];
      c.fillRect(left, top, Math.max(right - left, 1), tall);
      at = Math.max(right, left + 1);
    });
  }

  /* Of the call that is chosen, else of the rank; of all where few are in view. */
  shown() {
    const found = [],
      rank = selection.get("rank"),
      call = this.call;
    const ofCall = ({ from, to, sent, received }) =>
      (from === call.rank && sent >= call.begin - 2 && sent <= call.end) ||
      (to === call.rank && received >= call.begin && received <= call.end + 2);

    this.trace.eachMessage(this.view.from, this.view.to, message => {
      if (call ? ofCall(message) : rank === null || message.from === rank || message.to === rank) found.push(message);
      return found.length > LINES;
    });
    return found;
  }

  drawMessages(c, x, width, tall) {
    const found = this.shown();

    if (found.length > LINES || (!this.call && selection.get("rank") === null && found.length > FEW)) return;
    c.strokeStyle = colours("text");
    c.lineWidth = 1;
    for (const { from, to, sent, received } of found) {
      if (!this.placeOf.has(from) || !this.placeOf.has(to)) continue;
      c.beginPath();
      c.moveTo(x(sent), (this.placeOf.get(from) + 0.5) * tall);
      c.lineTo(x(received), (this.placeOf.get(to) + 0.5) * tall);
      c.stroke();
    }
  }

  rowAt(y) {
    return this.trace.rows(this.view.from, this.view.to)[Math.floor(y / this.rowHeight())];
  }

  /* The call there; null: the program computes. */
  at(x, y, width) {
    const row = this.rowAt(y),
      time = this.timeAt(x, width),
      slack = (2 / width) * (this.view.to - this.view.from),
      tall = this.rowHeight();

    if (!row || y % tall >= this.callsHeight(tall)) return null;
    const within = firstAbove(row.end, time),
      near = i => i >= 0 && i < row.count && row.begin[i] <= time + slack && row.end[i] >= time - slack;
    const i = [within, within - 1].find(near);

    return i === undefined
      ? null
      : {
          rank: row.rank,
          thread: row.thread,
          site: row.sites[i],
          begin: row.begin[i],
          end: row.end[i],
          bytes: row.bytes[i],
          wait: row.wait[i],
          waitsFor: row.waitsFor.get(i),
        };
  }

  /* The sample that stands for the time there, or the next one behind it within some pixels. */
  sampleAt(x, y, width) {
    const row = this.rowAt(y),
      time = this.timeAt(x, width),
      slack = (8 / width) * (this.view.to - this.view.from);
    const i = row ? firstAbove(row.samples.end, time) : 0;

    return row && i < row.samples.count && row.samples.begin[i] <= time + slack
      ? { rank: row.rank, thread: row.thread, at: row.samples.end[i], path: this.trace.paths[row.samples.paths[i]] }
      : null;
  }

  /* What a thread did in a stretch of time, in words, longest first: its calls, and by samples its functions outside of them; what is no tenth is left out. */
  doing(rank, thread, from, to, hops) {
    const row = this.trace.row(rank, thread, from, to),
      sums = new Sums(),
      within = (begin, end) => Math.min(end, to) - Math.max(begin, from);
    let known = 0,
      waits = null;
    const add = (name, time) => {
      sums.add(name, time);
      known += time;
    };

    if (row) {
      eachIn(row, from, to, i => {
        add(this.name(row.sites[i]), within(row.begin[i], row.end[i]));
        if (row.wait[i] > 0.1 * (to - from) && (!waits || row.wait[i] > waits.wait))
          waits = { begin: row.begin[i], wait: row.wait[i], waitsFor: row.waitsFor.get(i), rank };
      });
      eachIn(row.samples, from, to, i => {
        if (!row.samples.inside[i])
          add(
            this.code(this.trace.paths[row.samples.paths[i]]),
            Math.max(within(row.samples.begin[i], row.samples.end[i]), 0),
          );
      });
    }
    const said = sums
        .sorted()
        .filter(([, time]) => time > 0.1 * (to - from))
        .slice(0, 3)
        .map(([name, time]) => name + " " + seconds(time * 1e-9)),
      rest = to - from - known;

    if (rest > 0.1 * (to - from))
      said.push(
        seconds(rest * 1e-9) +
          " without a call" +
          (this.hasSamples ? " or a sample" : "") +
          (this.trace.leftOut.calls ? " that is shown" : ""),
      );
    return said.join(", ") + (waits && hops ? this.because(waits, hops - 1) : "");
  }

  /* For whom the call waited, and what that rank did meanwhile: which may be waiting, too. */
  because(call, hops = HOPS) {
    if (!call.wait) return "";
    const [rank, thread] = call.waitsFor;

    return (
      "; " +
      (hops === HOPS ? "waited " : "rank " + call.rank + " itself waited ") +
      seconds(call.wait * 1e-9) +
      " for rank " +
      rank +
      (thread ? ", thread " + thread : "") +
      ", which in that time was in " +
      this.doing(rank, thread, call.begin, call.begin + call.wait, hops)
    );
  }

  pick(x, y, width) {
    const row = this.rowAt(y);

    if (!row) return;
    if (x < LEFT) {
      selection.toggle("rank", row.rank);
      return;
    }
    const call = this.at(x, y, width),
      same = call && this.call && call.begin === this.call.begin && call.rank === this.call.rank;

    this.call = same ? null : call;
    this.sample = call ? null : this.sampleAt(x, y, width);
    if (this.call && selection.get("callsite") !== this.call.site) selection.toggle("callsite", this.call.site);
    if (this.sample && selection.get("function") !== this.frame(this.sample.path.own))
      selection.toggle("function", this.frame(this.sample.path.own));
    this.tell();
    this.canvas.dispatchEvent(new Event("redraw"));
  }

  tell() {
    const unit = { type: "real", unit: "s" },
      { from, to } = this.view,
      { call, sample } = this,
      thread = of => " on rank " + of.rank + (of.thread ? ", thread " + of.thread : "");
    const where = site => {
      const path = site === null ? null : this.sites.get("path", site),
        line = path && this.sites.get("line", site);
      return path ? " in " + path + (line ? " (line " + line + ")" : "") : "";
    };
    const messages = this.shown().length,
      at = time =>
        (time * 1e-9).toFixed(Math.min(Math.max(Math.ceil(3 - Math.log10((to - from) * 1e-9)), 0), 9)) + " s";

    this.told.textContent =
      "from " +
      at(from) +
      " to " +
      at(to) +
      (call
        ? ". " +
          this.name(call.site) +
          where(call.site) +
          thread(call) +
          ": at " +
          at(call.begin) +
          ", for " +
          worded(unit, (call.end - call.begin) * 1e-9) +
          (call.bytes ? ", " + bytes(call.bytes) + " sent and received" : "") +
          this.because(call) +
          (messages ? "; " + plural(messages, "message") : "")
        : messages > (selection.get("rank") === null ? FEW : LINES)
          ? ". Messages are drawn where there are fewer: zoom in, or select a rank or a call"
          : "");
    const frames = sample ? sample.path.frames.slice(0, STACK).map(index => this.frame(index)) : [],
      more = sample ? sample.path.frames.length + sample.path.more - frames.length : 0;
    this.stack.textContent = sample
      ? "A sample" +
        thread(sample) +
        " at " +
        at(sample.at) +
        ": " +
        (frames.join(" <- ") || "its call path is not known") +
        (more > 0 ? " <- " + plural(more, "more caller") : "")
      : "";
  }

  /* What was done in the stretch of time that is selected, on the selected rank or all: calls by time, functions by the CPU time that their samples stand for. */
  sumUp() {
    const span = selection.stretch(),
      rank = selection.get("rank"),
      calls = new Sums(),
      codes = new Sums();

    if (!span) {
      this.summary.replaceChildren();
      return;
    }
    const [from, to] = [span.from * 1e9, span.to * 1e9],
      rows = this.trace.rows(from, to).filter(row => rank === null || row.rank === rank),
      within = (begin, end) => Math.min(end, to) - Math.max(begin, from);
    for (const row of rows) {
      eachIn(row, from, to, i => calls.add(this.name(row.sites[i]), within(row.begin[i], row.end[i])));
      eachIn(row.samples, from, to, i => {
        if (row.samples.end[i] <= to && !row.samples.inside[i])
          codes.add(this.code(this.trace.paths[row.samples.paths[i]]), row.samples.cpu[i]);
      });
    }
    const bars = (sums, colour, pick) =>
      sums.sorted().map(([name, time]) => ({
        label: name,
        value: seconds(time * 1e-9),
        parts: [[time, name === SYNC ? "threads" : colour]],
        pick: pick && name !== SYNC ? () => pick(name) : null,
      }));
    const title = " from " + seconds(span.from) + " to " + seconds(span.to) + (rank === null ? "" : " on rank " + rank),
      of =
        plural(rows.length, "thread") +
        ", " +
        seconds((span.to - span.from) * rows.length) +
        " in all" +
        (this.trace.leftOut.calls
          ? "; without " + count(this.trace.leftOut.calls) + " shorter calls, whose samples count as outside of MPI"
          : "");
    this.summary.replaceChildren(
      ...[
        lying("stretch-calls", "MPI" + title, bars(calls, "mpi"), [], "of " + of),
        lying(
          "stretch-code",
          "CPU time of functions" + title,
          bars(codes, "compute", name => selection.toggle("function", name)),
          [],
          "by samples outside of MPI, of " + of,
        ),
      ].filter(Boolean),
    );
  }
}

/* It is read when it is looked at. */
function timeline(tables) {
  if (!document.querySelector("script.timeline")) return null;
  const place = make("div");

  loadTrace().then(trace => place.append(new Timeline(tables, trace).element));
  return place;
}
