/* In page.html. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of a traced run over time, ranks below each other: zoomed and moved down to single calls, with the messages of
 * what is selected, and below each rank's calls lanes of what else it did (lanes.js). Above what pixels can show, calls
 * are drawn as the part of the time that they fill. */

const LEFT = 62,
  LEFT_OF_LANES = 104; /* pixels of names: of ranks, of their lanes as well */
const LINES = 2000,
  FEW = 200; /* messages that are drawn at once: of what is selected, of all */
const COLOURS = 6; /* of functions of MPI, and of the program: longest first; the last is of all others */
const FUNCTIONS = 1; /* their layer (lanes.js) */
const STACK = 12; /* callers that are told of a sample */
const HOPS = 2; /* ranks that waited themselves, and are told of a call that waited */
const KINDS = Array.from({ length: COLOURS }, (_, i) => "call" + i);

class Timeline {
  constructor(tables, trace) {
    const sites = tables.get("callsites"),
      times = new Sums();

    Object.assign(this, {
      trace,
      sites,
      end: trace.end,
      call: null,
      sample: null,
      span: null,
      labels: tables.get("labels").all(),
    });
    const seen = spanOf(selection.seen);

    this.view = seen ? this.within(seen.from * 1e9, (seen.to - seen.from) * 1e9) : { from: 0, to: this.end };
    this.functions = Array.from({ length: sites.rows }, (_, row) => sites.get("function", row));
    for (const [site, time] of trace.callTimes().of) times.add(this.name(site), time);
    this.order = times.sorted().map(([name]) => name);
    const code = trace.codeTimes();
    this.sampled = new Set(code.of.keys());
    for (const [name, time] of trace.spanTimes(FUNCTIONS).of) if (!code.of.has(name)) code.add(name, time);
    const codes = code.sorted().map(([frame]) => frame);
    this.codes = codes.filter(frame => frame !== SYNC);
    this.hasSync = codes.length > this.codes.length;
    this.hasSamples = trace.all.some(({ samples }) => samples.count);
    this.codeColours = new Map(this.codes.map((frame, i) => [frame, "code" + Math.min(i, COLOURS - 1)]));
    this.lanes = new Lanes(trace, () => this.canvas.dispatchEvent(new Event("redraw")));
    this.hasLanes = this.lanes.names.size > 0;
    this.left = this.hasLanes ? LEFT_OF_LANES : LEFT;
    this.canvas = canvas(
      () => this.layout() + 24,
      "calls over time: a row for each thread that calls MPI, or of which the trace has more. " +
        "The table of call sites has their sums",
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
      this.lanes.choice(),
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
            (this.hasLanes
              ? "Each other thing that a thread did has a lane; what is in something else is below it. "
              : "") +
            "The pale part of a call is waiting for a late rank. " +
            "It is shown for receives, blocking sends and blocking collectives; " +
            "fvunify also finds it for other calls. " +
            "Keys: w and s zoom, a and d move. " +
            "Drag to move, double-click to zoom in, drag with Shift to select a stretch of time." +
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
    const list = (title, names, kinds, rest, kind) =>
      make(
        "p",
        { class: "legend" },
        title && this.hasLanes ? make("small", null, title + ": ") : null,
        ...names
          .slice(0, kinds.length - 1)
          .map((name, i) => make("span", null, make("i", { class: "key " + kinds[i] }), pick(name, kind))),
        names.length >= kinds.length
          ? make("span", null, make("i", { class: "key " + kinds[kinds.length - 1] }), rest)
          : null,
      );

    const sampled = this.codes.filter(frame => this.sampled.has(frame));

    return [
      list("MPI calls", this.order, KINDS, "other MPI functions"),
      ...(this.codes.length && this.hasSamples
        ? [
            list(
              "samples",
              sampled.map(frame => this.frame(frame)),
              [...new Set([...sampled.map(frame => this.codeColours.get(frame)), "code" + (COLOURS - 1)])],
              "other functions",
              "function",
            ),
          ]
        : []),
      ...(this.hasSync ? [list("", [SYNC], ["threads", "quiet"], "")] : []),
      ...this.lanes.legends((lane, name) => this.colourOf(lane, name), pick),
    ];
  }

  leftOut() {
    const { leftOut, unknown } = this.trace;

    return (
      (leftOut.calls
        ? " The longest calls of each rank; " +
          count(leftOut.calls) +
          " shorter ones are left out; fvmpi view shows all."
        : "") +
      (leftOut.messages ? " The largest messages; " + count(leftOut.messages) + " others are left out." : "") +
      (leftOut.samples ? " Of the samples " + count(leftOut.samples) + " are left out; others represent them." : "") +
      this.lanes.leftOut() +
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
          drag.from -
            ((event.offsetX - drag.x) / (this.canvas.clientWidth - this.left)) * (this.view.to - this.view.from),
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

  /* Of a span: functions have the colours that their samples have, names of other layers tints of one colour. */
  colourOf({ key }, name) {
    return key === "functions"
      ? { key: this.codeColours.get(name) || "code" + (COLOURS - 1), tint: 1 }
      : { key: "lane-" + key, tint: TINTS[this.lanes.ordinals.get(key).get(name) % TINTS.length] };
  }

  layout() {
    this.lanes.layout();
    return (this.height = this.lanes.height);
  }

  /* What is told of goes with what is selected. */
  follow() {
    if (this.call && selection.get("callsite") !== this.call.site) this.call = null;
    if (this.sample && selection.get("function") !== this.frame(this.sample.path.own)) this.sample = null;
    if (this.span && this.span.lane.layer === FUNCTIONS && selection.get("function") !== this.frame(this.span.name))
      this.span = null;
    this.tell();
    this.sumUp();
  }

  /* Where a time stands, and what time a place is of, as part of the view. */
  x(time, width = this.canvas.clientWidth) {
    return this.left + ((time - this.view.from) / (this.view.to - this.view.from)) * (width - this.left);
  }
  part(x, width = this.canvas.clientWidth) {
    return Math.max(x - this.left, 0) / Math.max(width - this.left, 1);
  }
  timeAt(x, width = this.canvas.clientWidth) {
    return this.view.from + this.part(x, width) * (this.view.to - this.view.from);
  }

  draw(c, width) {
    const x = time => this.x(time, width),
      { left } = this,
      rank = selection.get("rank"),
      band = rank === null ? null : this.lanes.bandOf(rank);

    c.fillStyle = colours("raised");
    c.fillRect(left, 0, width - left, this.height);
    c.save();
    c.beginPath();
    c.rect(left, 0, width - left, this.height);
    c.clip();
    this.drawLanes(c, x, width);
    if (band) {
      c.strokeStyle = colours("accent");
      c.lineWidth = 2;
      c.strokeRect(left + 1, band.top + 1, width - left - 2, Math.max(band.tall - 2, 2));
    }
    this.drawMessages(c, x);
    drawLabels(c, this.labels, time => x(time * 1e9), left, width, 0, this.height);
    drawStretch(c, time => x(time * 1e9), 0, this.height);
    c.restore();
    this.drawNames(c, width);
  }

  drawLanes(c, x, width) {
    const fill = KINDS.map(kind => colours(kind)),
      kindOf = new Map(this.order.map((name, i) => [name, Math.min(i, KINDS.length - 1)])),
      kinds = this.functions.map(name => kindOf.get(name) ?? KINDS.length - 1),
      codes = Array.from({ length: COLOURS }, (_, i) => colours("code" + i)),
      wanted = selection.get("callsite"),
      chosen = this.trace.frames.indexOf(selection.get("function"));

    for (const { row, lanes } of this.lanes.rows)
      for (const place of lanes) {
        const { lane, top, tall } = place,
          high = Math.max(tall - (tall > 4 ? 1 : 0), 0.5);

        if (lane.key === "mpi") this.drawRow(c, row, top, high, { x, width, fill, kinds, wanted });
        else if (lane.key === "samples") this.drawSamples(c, row.samples, top, high, { x, width, codes });
        else
          this.lanes.draw(c, row, place, {
            view: this.view,
            x,
            width,
            left: this.left,
            colourOf: (of, name) => this.colourOf(of, name),
            chosen: lane.layer === FUNCTIONS && chosen >= 0 ? chosen : undefined,
          });
      }
  }

  /* Ranks and lanes, as many as there is room for. */
  drawNames(c, width) {
    let free = 0;

    c.fillStyle = colours("quiet");
    c.textBaseline = "middle";
    for (const {
      row: { rank, thread },
      top,
      tall,
      lanes,
    } of this.lanes.rows) {
      const first = this.hasLanes && tall >= 14 ? lanes[0].tall : tall;

      const middle = Math.max(top + first / 2, 6);
      if (middle >= free) {
        c.fillText(rank + (thread ? ":" + thread : ""), 4, middle);
        free = middle + 14;
      }
      if (this.hasLanes) this.drawLaneNames(c, lanes);
    }
    this.drawTimes(c, width);
  }

  drawLaneNames(c, lanes) {
    c.save();
    c.font = "10px " + getComputedStyle(document.body).fontFamily;
    c.textAlign = "right";
    for (const { lane, top, tall } of lanes)
      if (tall >= 9) c.fillText(lane.short || lane.title, this.left - 6, top + tall / 2);
    c.restore();
  }

  /* Times with as many digits as tell them apart. */
  drawTimes(c, width) {
    const times = ticks(this.view.from * 1e-9, this.view.to * 1e-9, Math.max(width / 160, 2)),
      step = times.length > 1 ? times[1] - times[0] : 1;

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
      const left = Math.max(x(row.begin[i]), this.left),
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

  /* Of samples that share a pixel the first one is drawn. A function that is selected stands out with all that it
   * calls. */
  drawSamples(c, samples, top, tall, { x, width, codes }) {
    const colourOf = new Map(this.codes.map((frame, i) => [frame, Math.min(i, COLOURS - 1)])),
      wanted = selection.get("function"),
      chosen = wanted === null ? -1 : this.trace.frames.indexOf(wanted);
    let at = this.left;

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

  drawMessages(c, x) {
    const found = this.shown();

    if (found.length > LINES || (!this.call && selection.get("rank") === null && found.length > FEW)) return;
    c.strokeStyle = colours("text");
    c.lineWidth = 1;
    for (const { from, to, sent, received } of found) {
      const [begin, end] = [from, to].map(rank => this.lanes.middleOf(rank));

      if (begin === null || end === null) continue;
      c.beginPath();
      c.moveTo(x(sent), begin);
      c.lineTo(x(received), end);
      c.stroke();
    }
  }

  /* The call there; null: the program computes. */
  at(x, y, width) {
    const { place, lane } = this.lanes.at(y),
      time = this.timeAt(x, width),
      slack = (2 / width) * (this.view.to - this.view.from);

    if (!lane || lane.lane.key !== "mpi") return null;
    const { row } = place;
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
    const { place, lane } = this.lanes.at(y),
      row = place && (!lane || lane.lane.layer === undefined) ? place.row : null,
      time = this.timeAt(x, width),
      slack = (8 / width) * (this.view.to - this.view.from);
    const i = row ? firstAbove(row.samples.end, time) : 0;

    return row && i < row.samples.count && row.samples.begin[i] <= time + slack
      ? { rank: row.rank, thread: row.thread, at: row.samples.end[i], path: this.trace.paths[row.samples.paths[i]] }
      : null;
  }

  /* What a thread did in a stretch of time, in words, longest first: its calls, and by samples its functions outside of
   * them; what is no tenth is left out. */
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

  /* What is in another lane there; null: nothing, or the place is of calls or samples. */
  spanAt(x, y, width) {
    const { place, lane } = this.lanes.at(y);

    return lane && lane.lane.layer !== undefined
      ? this.lanes.spanAt(place.row, lane, y, this.timeAt(x, width), (3 / width) * (this.view.to - this.view.from))
      : null;
  }

  pick(x, y, width) {
    const { place } = this.lanes.at(y);

    if (!place) return;
    if (x < this.left) {
      selection.toggle("rank", place.row.rank);
      return;
    }
    const call = this.at(x, y, width),
      same = call && this.call && call.begin === this.call.begin && call.rank === this.call.rank;

    this.call = same ? null : call;
    this.sample = call ? null : this.sampleAt(x, y, width);
    const span = call ? null : this.spanAt(x, y, width);
    if (span && span.lane.layer === FUNCTIONS && selection.get("function") !== this.frame(span.name))
      selection.toggle("function", this.frame(span.name));
    this.span = span;
    if (this.call && selection.get("callsite") !== this.call.site) selection.toggle("callsite", this.call.site);
    if (this.sample && selection.get("function") !== this.frame(this.sample.path.own))
      selection.toggle("function", this.frame(this.sample.path.own));
    this.tell();
    this.canvas.dispatchEvent(new Event("redraw"));
  }

  tell() {
    const unit = { type: "real", unit: "s" },
      { from, to } = this.view,
      { call, sample, span } = this,
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
        : span
          ? ". " +
            this.frame(span.name) +
            thread(span) +
            ": at " +
            at(span.begin) +
            ", for " +
            worded(unit, (span.end - span.begin) * 1e-9) +
            (span.bytes ? ", " + bytes(span.bytes) : "") +
            (span.object ? (span.lane.key === "waits" ? ", waits for " : ", ") + span.object : "")
          : messages > (selection.get("rank") === null ? FEW : LINES)
            ? ". Messages are drawn where there are fewer: zoom in, or select a rank or a call"
            : "");
    const path = sample ? sample.path : span ? span.path : null,
      frames = path ? path.frames.slice(0, STACK).map(index => this.frame(index)) : [],
      more = path ? path.frames.length + path.more - frames.length : 0;
    this.stack.textContent = path
      ? (sample ? "A sample" + thread(sample) + " at " + at(sample.at) : "Call path") +
        ": " +
        (frames.join(" <- ") || "it is not known") +
        (more > 0 ? " <- " + plural(more, "more caller") : "")
      : "";
  }

  /* What was done in the stretch of time that is selected, on the selected rank or all: calls by time, functions by the
   * CPU time that their samples stand for. */
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
        ...this.lanes.present
          .filter(({ layer }) => layer !== undefined)
          .map(lane => this.lanes.sums(lane, rows, from, to, { title, of })),
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
