/* In page.html. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* What the page's timeline says: of what was clicked, why it waited, and of a stretch of time that is selected. */

const HOPS = 2; /* ranks that waited themselves, and are told of a call that waited */

class StageWords {
  constructor(tables, trace, lanes) {
    Object.assign(this, { tables, trace, lanes });
    this.sites = tables.get("callsites");
    this.hasSamples = trace.all.some(({ samples }) => samples.count);
    this.summary = make("div", { id: "stretch" });
  }

  name(site) {
    return site === null || site >= this.sites.rows ? "(not known)" : this.sites.get("function", site);
  }
  /* What a sample is of. */
  code({ sync, own }) {
    return sync ? SYNC : this.lanes.word(own);
  }

  /* What the page does not know. */
  unknown() {
    const { unknown, isAnalysed, hasAllWaits, all } = this.trace;

    return [
      unknown.messages
        ? "Of " +
          plural(unknown.messages, "message end") +
          " the other end is not known. These messages, and waiting for them, are not shown."
        : "",
      !hasAllWaits && all.some(({ rank }) => rank !== all[0].rank)
        ? "Only waiting in blocking messages and collective operations is shown. " +
          (isAnalysed ? "fvmpi view shows all." : "Run fvunify, then make the page again: it shows all.")
        : "",
      unknown.waitsFromHere ? "There were too many messages: waiting for the last ones is not shown." : "",
      unknown.waits ? "The waiting of " + plural(unknown.waits, "collective call") + " is not known." : "",
    ]
      .filter(Boolean)
      .join(" ");
  }

  /* ---- why a call waited ---- */

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
        .map(([name, time]) => name + " " + nanoseconds(time)),
      rest = to - from - known;

    if (rest > 0.1 * (to - from))
      said.push(
        nanoseconds(rest) +
          " without a call" +
          (this.hasSamples ? " or a sample" : "") +
          (this.trace.leftOut.calls ? " that is shown" : ""),
      );
    return said.join(", ") + (waits && hops ? "; " + this.because(waits, hops - 1) : "");
  }
  /* What the rank that the call waited for did in that time: it may be waiting, too. */
  because(call, hops = HOPS) {
    if (!call.wait || !call.waitsFor || call.waitsFor[0] < 0) return "";
    const [rank, thread] = call.waitsFor;

    return (
      (hops === HOPS
        ? "in that time "
        : "rank " + call.rank + " itself waited " + nanoseconds(call.wait) + " for rank " + rank + "; in that time ") +
      "rank " +
      rank +
      (thread ? ", thread " + thread + "," : "") +
      " was in " +
      this.doing(rank, thread, call.begin, call.begin + call.wait, hops)
    );
  }

  /* ---- a stretch of time ---- */

  /* What was done in the one that is selected, on the selected rank or all: calls by time, functions by the CPU time
   * that their samples stand for. */
  sumUp() {
    const span = selection.stretch(),
      rank = selection.get("rank");

    if (!span) {
      this.summary.replaceChildren();
      return;
    }
    const [from, to] = [span.from * 1e9, span.to * 1e9],
      rows = this.trace.rows(from, to).filter(row => rank === null || row.rank === rank),
      { calls, codes } = this.sums(rows, from, to),
      words = this.stretch(span, rank, rows);
    const bars = (sums, colour, pick) =>
      sums.sorted().map(([name, time]) => ({
        label: name,
        value: nanoseconds(time),
        parts: [[time, name === SYNC ? "threads" : colour]],
        pick: pick && name !== SYNC ? () => pick(name) : null,
      }));

    this.summary.replaceChildren(
      ...[
        lying("stretch-calls", "MPI" + words.title, bars(calls, "mpi"), [], "of " + words.of),
        lying(
          "stretch-code",
          "CPU time of functions" + words.title,
          bars(codes, "compute", name => selection.toggle("function", name)),
          [],
          "by samples outside of MPI, of " + words.of,
        ),
        ...this.lanes.present
          .filter(({ layer }) => layer !== undefined)
          .map(lane => this.lanes.sums(lane, rows, from, to, words)),
      ].filter(Boolean),
    );
  }
  sums(rows, from, to) {
    const calls = new Sums(),
      codes = new Sums(),
      within = (begin, end) => Math.min(end, to) - Math.max(begin, from);

    for (const row of rows) {
      eachIn(row, from, to, i => calls.add(this.name(row.sites[i]), within(row.begin[i], row.end[i])));
      eachIn(row.samples, from, to, i => {
        if (row.samples.end[i] <= to && !row.samples.inside[i])
          codes.add(this.code(this.trace.paths[row.samples.paths[i]]), row.samples.cpu[i]);
      });
    }
    return { calls, codes };
  }
  stretch(span, rank, rows) {
    const left = this.trace.leftOut.calls;

    return {
      title: " from " + seconds(span.from) + " to " + seconds(span.to) + (rank === null ? "" : " on rank " + rank),
      of:
        plural(rows.length, "thread") +
        ", " +
        seconds((span.to - span.from) * rows.length) +
        " in all" +
        (left ? "; without " + count(left) + " shorter calls, whose samples count as outside of MPI" : ""),
    };
  }
}

/* Below the timeline, in the place of a panel. */
const stageDetails = () =>
  class extends Details {
    constructor(view, words) {
      super(view);
      this.words = words;
    }
    moreLines({ bytes: size, lane, object, waitsFor, begin, wait, row }, view) {
      const because = wait ? this.words.because({ begin, wait, waitsFor, rank: view.about.rows[row].rank }) : "";

      return [
        size ? bytes(size) + (lane === "mpi" ? " sent and received" : "") : "",
        object && lane === "waits" ? "waits for " + object : object && lane !== "io" ? object : "",
        because ? because[0].toUpperCase() + because.slice(1) : "",
      ]
        .filter(Boolean)
        .map(words => make("p", { class: "because" }, words));
    }
    /* What was clicked is selected everywhere already. */
    tools() {
      return "";
    }
  };
