/* In page.html. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* A trace that the page has itself (trace.js), asked as ServedTrace is (view_trace.js): what the timeline wants to know
 * is computed here. A row is a thread. What is in it: calls of MPI, what else the thread did, and outside of these, by
 * samples, functions of the program. */

/* As src/timeline/timeline.h has them. */
const FILE_CLASSES = [
    ["function", "the program's own functions"],
    ["point-to-point", "MPI: messages"],
    ["collective", "MPI: collective operations"],
    ["one-sided", "MPI: one-sided communication"],
    ["MPI", "MPI: all else"],
    ["OpenMP", "worksharing and tasks of OpenMP"],
    ["threads", "waits of threads"],
    ["I/O", "files"],
    ["memory", "the allocator"],
  ].map(([name, about]) => ({ name, about })),
  CLASS = Object.fromEntries(FILE_CLASSES.map(({ name }, i) => [name, i])),
  OF_MPI = {
    p2p: "point-to-point",
    completion: "point-to-point",
    collective: "collective",
    rma: "one-sided",
    io: "I/O",
  },
  OF_LANE = {
    sections: "function",
    functions: "function",
    openmp: "OpenMP",
    waits: "threads",
    io: "I/O",
    memory: "memory",
  },
  SAMPLES_IN = ["sections", "functions", "openmp"]; /* lanes; in others the thread was not in the program */

const FILE_CHAIN = 32 /* waits */,
  FILE_GROUPS = 64; /* of rows, in a matrix of messages */

class FileTrace {
  constructor(trace, tables) {
    Object.assign(this, { trace, tables, regions: null, hidden: new Set(), stacks: [], byMeeting: new Map() });
    this.rowNumbers = new Map(trace.all.map(({ rank, thread }, i) => [rank + ":" + thread, i]));
    this.mainRows = new Map([...trace.all.entries()].reverse().map(([i, { rank }]) => [rank, i]));
    this.makeRegions();
    this.messagesOf = this.makeMessages();
  }
  region(number) {
    return number;
  }
  numbersOf(region) {
    return [region];
  }
  /* Of a thread; of one that is not there its rank's first; null: none. */
  rowAt(rank, thread) {
    return this.rowNumbers.get(rank + ":" + thread) ?? this.mainRows.get(rank) ?? null;
  }

  /* ---- what there is ---- */

  makeRegions() {
    const { tables, trace } = this,
      sites = tables.get("callsites"),
      classes = new Map(
        tables
          .get("mpi_functions")
          .all()
          .map(of => [of.function, CLASS[OF_MPI[of.class] || "MPI"]]),
      );

    this.all = [];
    this.numbers = new Map();
    this.siteNames = Array.from({ length: sites.rows }, (_, row) => sites.get("function", row));
    this.siteRegions = this.siteNames.map(name => this.regionOf(name, classes.get(name) ?? CLASS.MPI));
    for (const row of trace.all.keys())
      for (const slice of this.stack(row).slices) {
        this.all[slice.region].count += slice.sampled ? 0 : 1;
        this.all[slice.region].ns += slice.ns;
      }
  }
  regionOf(name, of) {
    const key = of + "\n" + name;

    if (!this.numbers.has(key)) {
      this.numbers.set(key, this.all.length);
      this.all.push({ number: this.all.length, name, class: of, file: "", count: 0, ns: 0 });
    }
    return this.numbers.get(key);
  }
  about() {
    const { trace, tables } = this,
      ranks = tables.get("ranks"),
      hosts = new Map(Array.from({ length: ranks.rows }, (_, i) => [ranks.get("rank", i), ranks.get("host", i)])),
      stacks = trace.all.map((_, row) => this.stack(row));

    return {
      ...{
        title: "",
        span_ns: trace.end,
        classes: FILE_CLASSES,
        regions: this.all,
        comms: trace.comms.map(([name]) => name),
        io: 0,
        critical: 0,
      },
      rows: trace.all.map(({ rank, thread }, i) => ({
        ...{ rank, thread, host: hosts.get(rank) || "", name: "" },
        depth: stacks[i].slices.reduce((most, { depth }) => Math.max(most, depth + 1), 1),
      })),
      messages: this.messagesOf.length,
      left_out: { calls: 0, messages: 0, critical: 0, series: 0 } /* the page says what is left out (lanes.js) */,
    };
  }

  /* ---- slices ---- */

  /* Lanes (lanes.js) that are not shown. */
  hide(lanes) {
    this.hidden = new Set(lanes);
    this.stacks = [];
    this.byMeeting = new Map(); /* communicator:sequence -> calls, once it is asked for */
  }
  stack(number) {
    const row = this.trace.all[number];

    if (!this.stacks[number])
      this.stacks[number] = new Stack(this.slicesOf(row, number), this.trace.end, pieces =>
        this.hidden.has("samples") ? [] : this.sampledIn(row, number, pieces),
      );
    return this.stacks[number];
  }
  slicesOf(row, number) {
    return LANES.flatMap(({ key, layer }, order) =>
      this.hidden.has(key)
        ? []
        : key === "mpi"
          ? Array.from({ length: row.count }, (_, i) => this.callOf(row, i, number, order))
          : row.lanes.has(layer)
            ? this.spansOf(row.lanes.get(layer), key, number, order)
            : [],
    );
  }
  callOf(row, i, number, order) {
    const site = row.sites[i],
      [rank, thread] = row.waitsFor.get(i) || [];

    return {
      ...{ begin: row.begin[i], ns: row.end[i] - row.begin[i], wait: row.wait[i], order, row: number, depth: 0 },
      region: this.siteRegions[site] ?? this.regionOf("(not known)", CLASS.MPI) /* of a place that the page left out */,
      cause: row.wait[i] ? this.rowAt(rank, thread) : null,
      ...{ lane: "mpi", site, waitsFor: row.waitsFor.get(i), bytes: row.bytes[i], object: null, path: null },
      ...{ context: site === null ? null : this.trace.paths.length + site, sampled: 0 },
      ...{ meeting: row.meetings.get(i) || null, isTogether: row.meetings.has(i) },
    };
  }
  spansOf(of, lane, number, order) {
    const { trace } = this;

    return Array.from({ length: of.count }, (_, i) => {
      const name = trace.spanName(of, i),
        path = of.paths[i] < 0 ? null : of.paths[i],
        ns = of.end[i] - of.begin[i];

      return {
        ...{ begin: of.begin[i], ns, wait: lane === "waits" ? ns : 0, order, row: number, depth: 0, cause: null },
        region: this.regionOf(name === null ? "(not known)" : trace.frames[name], CLASS[OF_LANE[lane]]),
        ...{ lane, site: null, bytes: of.bytes[i], path, context: path, sampled: 0, isTogether: false },
        object: of.objects[i] < 0 ? null : trace.frames[of.objects[i]],
      };
    });
  }
  /* Samples of one function by one path, as far as they follow each other in one piece, are one slice. */
  sampledIn({ samples }, number, pieces) {
    const found = [];
    let last = null,
      at = 0;

    for (let i = 0; i < samples.count; i++) {
      const end = samples.end[i],
        path = samples.paths[i];

      while (at < pieces.end.length - 1 && pieces.end[at] < end) at++;
      const outer = pieces.of[at],
        begin = Math.max(samples.begin[i], pieces.begin[at]),
        region = this.sampledRegion(path),
        isProgram = !outer || (SAMPLES_IN.includes(outer.lane) && outer.region !== region);

      if (samples.inside[i] || !isProgram || end <= begin) continue;
      if (last && last.at === at && last.path === path && last.begin + last.ns + TOUCH_NS >= begin)
        last.ns = end - last.begin;
      else {
        last = {
          ...{ begin, ns: end - begin, wait: 0, order: LANES.length, row: number, depth: 0, cause: null, region },
          ...{ lane: "samples", site: null, bytes: 0, path, context: path, sampled: 1, isTogether: false },
          ...{ object: null, at },
        };
        found.push(last);
      }
    }
    return found;
  }
  sampledRegion(path) {
    const { own, sync } = this.trace.paths[path];

    if (sync) return this.regionOf(SYNC, CLASS.threads);
    return this.regionOf(own === null ? "(not known)" : this.trace.frames[own], CLASS.function);
  }

  async slices(row, from, to, least) {
    const slices = [];
    let leftOut = 0;

    this.stack(row).each(from, to, slice => (slice.ns < least ? leftOut++ : slices.push(slice)));
    return { leftOut, slices: slices.sort((a, b) => a.depth - b.depth || a.begin - b.begin) };
  }
  /* text: lines, as Rows.text() makes them. */
  async tiles({ from, to, count, first, merge, text }) {
    const lines = text.split(";"),
      tiling = new Tiling(from, to, count, lines.length, FILE_CLASSES.length, this.all.length);

    lines.forEach((line, i) => {
      const rows = this.numbersIn(line);

      for (const row of rows)
        tiling.add(this.stack(row), !this.hidden.size && !this.trace.all[row].thread, of => this.all[of].class);
      tiling.endLine(i, rows.filter(row => !this.isIdle(row)).length);
    });
    return { from, to, count, first, merge, lines: lines.length, all: tiling.all, ...tiling.found };
  }
  /* "0-3,7" */
  numbersIn(text) {
    return text.split(",").flatMap(part => {
      const [first, last = first] = part.split("-").map(Number);

      return Array.from({ length: last - first + 1 }, (_, i) => first + i);
    });
  }
  /* Rows that are asked about; null: all. */
  rowsOf({ only, first, rows }) {
    if (only !== undefined) return new Set(this.numbersIn(String(only)));
    return rows === undefined ? null : new Set(Array.from({ length: rows }, (_, i) => first + i));
  }

  /* ---- messages ---- */

  makeMessages() {
    const { from, to, sent, flight, bytes: sizes, from_thread: threads, to_thread: others } = this.trace.of;

    return Array.from(from, (rank, i) => ({
      ...{ sent: sent[i], received: sent[i] + flight[i], bytes: sizes[i] },
      ...{ from: this.rowAt(rank, threads[i]), to: this.rowAt(to[i], others[i]) },
    })).filter(message => message.from !== null && message.to !== null);
  }
  /* On their way then, as viewer/messages.c chooses them. */
  messagesIn(from, to, values) {
    const rows = this.rowsOf(values),
      isIn = message => !rows || rows.has(message.from) || rows.has(message.to),
      own = values.region === undefined ? null : new Set(String(values.region).split(",").map(Number));

    return this.messagesOf.filter(
      message =>
        Math.max(message.sent, message.received) >= from &&
        Math.min(message.sent, message.received) <= to &&
        isIn(message) &&
        (values.rank === undefined || [message.from, message.to].some(row => this.isOf(row, values.rank))) &&
        (!own || this.isCallOf(own, message.from, message.sent) || this.isCallOf(own, message.to, message.received)),
    );
  }
  isOf(row, rank) {
    return this.trace.all[row].rank === rank;
  }
  isCallOf(regions, row, time) {
    return this.stack(row).hasAt(time, slice => regions.has(slice.region));
  }
  async messages(from, to, most, rows = {}) {
    const found = this.messagesIn(from, to, rows).sort((a, b) => b.bytes - a.bytes || a.sent - b.sent);

    return found.length > most ? { messages: [], left_out: found.length } : { messages: found, left_out: 0 };
  }
  traffic(values) {
    const merge = Math.max(Math.ceil(this.trace.all.length / FILE_GROUPS), 1),
      cells = new Map();

    for (const { from, to, bytes: size } of this.messagesIn(values.from, values.to, values)) {
      const place = [from, to].map(row => Math.floor(row / merge)),
        [n, sum] = cells.get(place.join()) || [0, 0];

      cells.set(place.join(), [n + 1, sum + size]);
    }
    return {
      ...{ merge, groups: Math.ceil(this.trace.all.length / merge), sizes: [] },
      cells: [...cells].map(([place, sums]) => [...place.split(",").map(Number), ...sums]),
    };
  }

  /* ---- sums ---- */

  /* Of each row: waiting, then each class. */
  rowTimes({ from, to }) {
    return this.trace.all.map((_, row) => {
      const sums = new Array(FILE_CLASSES.length + 1).fill(0);

      this.stack(row).eachWait(from, to, (slice, begin, end) => (sums[0] += end - begin));
      this.stack(row).eachPiece(from, to, (slice, begin, end) => {
        if (slice) sums[this.all[slice.region].class + 1] += end - begin;
      });
      return sums;
    });
  }
  /* Of a row, by region: [region, calls, time with what is in them, without, ..., slices by samples], as sumOf() has
   * them. */
  regionTimes(row, from, to) {
    const sums = new Map(),
      sum = region => {
        if (!sums.has(region)) sums.set(region, [region, 0, 0, 0, 0, 0, 0]);
        return sums.get(region);
      };

    this.stack(row).each(from, to, slice => {
      const of = sum(slice.region);
      let isIn = false;

      for (let { outer } = slice; outer; { outer } = outer) isIn = isIn || outer.region === slice.region;
      of[slice.sampled ? 6 : 1]++;
      if (!isIn) of[2] += Math.min(slice.begin + slice.ns, to) - Math.max(slice.begin, from);
    });
    this.stack(row).eachPiece(from, to, (slice, begin, end) => {
      if (slice) sum(slice.region)[3] += end - begin;
    });
    return sums;
  }
  sums(values) {
    const rows = this.rowsOf(values),
      all = new Map();

    for (const row of this.trace.all.keys())
      if (!rows || rows.has(row))
        for (const [region, of] of this.regionTimes(row, values.from, values.to))
          all.set(region, all.has(region) ? all.get(region).map((sum, i) => (i ? sum + of[i] : sum)) : of);
    const counted = [...(rows || this.trace.all.keys())].filter(row => !this.isIdle(row)),
      inside = ({ begin, end }) => Math.max(Math.min(end, values.to) - Math.max(begin, values.from), 0);

    return {
      regions: [...all.values()],
      rows: counted.length,
      rows_ns: counted.reduce((sum, row) => sum + inside(this.stack(row)), 0),
    };
  }
  /* As fv_timeline_is_idle() of src/timeline/timeline_read.h. */
  isIdle(row) {
    const { thread, count: calls, samples, lanes } = this.trace.all[row];

    return thread > 0 && !calls && !samples.count && ![...lanes.values()].some(({ count: spans }) => spans);
  }
  shares({ from, to, region }) {
    return {
      rows: this.trace.all.map((_, row) => [
        row,
        ...(this.regionTimes(row, from, to).get(Number(region)) || [0, 0, 0, 0, 0, 0, 0]).slice(1),
      ]),
    };
  }

  /* ---- links ---- */

  blocked({ from, to, least, count: most, ...values }) {
    const rows = this.rowsOf(values),
      found = [];

    for (const row of this.trace.all.keys())
      if (!rows || rows.has(row))
        this.stack(row).eachWait(from, to, slice => {
          if (slice.cause !== null && slice.cause !== row && slice.wait >= least) found.push(slice);
        });
    const calls = found.sort((a, b) => b.wait - a.wait).slice(0, most);
    return { calls, left_out: found.length - calls.length };
  }
  /* The waits behind a wait: whom it waited for may have just waited itself. */
  chain(values) {
    const calls = [];
    let at = this.callAt(values);

    while (at && at.wait && at.cause !== null && calls.length < FILE_CHAIN) {
      const { begin, wait } = at,
        until = begin + wait,
        ends = of => of.begin + of.wait;
      let next = null;

      this.stack(at.cause).eachWait(begin, until + 1, slice => {
        if (ends(slice) <= until && ends(slice) > begin && slice.cause !== null && (!next || ends(slice) > ends(next)))
          next = slice;
      });
      if (!next || (calls.length && ends(next) >= ends(calls[calls.length - 1]))) break;
      calls.push(next);
      at = next;
    }
    return { calls };
  }
  /* The calls of the same collective operation that the page has. */
  together(values) {
    const call = this.callAt(values),
      { meeting } = call || {};

    if (!meeting) return { comm: 0, members: 0, calls: [] };
    const key = ({ comm, sequence }) => comm + ":" + sequence,
      own = key(meeting);

    if (!this.byMeeting.size)
      for (const row of this.trace.all.keys())
        for (const slice of this.stack(row).slices)
          if (slice.meeting) {
            if (!this.byMeeting.has(key(slice.meeting))) this.byMeeting.set(key(slice.meeting), []);
            this.byMeeting.get(key(slice.meeting)).push(slice);
          }
    return { comm: meeting.comm, members: this.trace.comms[meeting.comm][1], calls: this.byMeeting.get(own) };
  }
  callAt({ row, begin, depth }) {
    let found = null;

    this.stack(row).each(begin, begin + 1, slice => {
      if (slice.begin === begin && slice.depth === depth) found = slice;
    });
    return found;
  }
  async links(path, values) {
    return { blocked: of => this.blocked(of), chain: of => this.chain(of), together: of => this.together(of) }[path](
      values,
    );
  }

  /* ---- all else ---- */

  /* [name, file, line] of each, innermost first. */
  path({ context }) {
    const { paths, frames } = this.trace,
      sites = this.tables.get("callsites");

    if (context >= paths.length) {
      const site = context - paths.length;

      return { path: [[sites.get("path", site) || "", sites.get("file", site) || "", sites.get("line", site)]] };
    }
    return { path: paths[context].frames.map(frame => [frames[frame], "", 0]) };
  }
  labels({ from, to }) {
    const all = this.tables
      .get("labels")
      .all()
      .map(({ at_s: at, text }) => [at * 1e9, 0, text]);

    return { labels: all.filter(([ns]) => ns >= from && ns <= to), left_out: 0 };
  }
  async json(path, values) {
    const answers = {
      ...{ path: of => this.path(of), labels: of => this.labels(of), traffic: of => this.traffic(of) },
      ...{ rows: of => ({ rows: this.rowTimes(of) }), sums: of => this.sums(of), shares: of => this.shares(of) },
      together: of => this.together(of),
      critical: () => ({ stretches: [], left_out: 0 }),
      call: of => {
        const call = this.callAt(of);

        return { file: call && call.lane === "io" ? call.object : null };
      },
    };

    return answers[path](values);
  }
}
