/* In page.html. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* A traced run's calls, messages, samples and spans, as the page has them (src/views/page/page_timeline.h). What draws
 * them asks trace_file.js. */

/* The first index whose value is above. */
function firstAbove(values, value) {
  let low = 0,
    high = values.length;

  while (low < high) {
    const middle = (low + high) >> 1;

    if (values[middle] > value) high = middle;
    else low = middle + 1;
  }
  return low;
}

/* Sums by a key, the largest first. */
class Sums {
  constructor() {
    this.of = new Map();
  }
  add(key, value) {
    this.of.set(key, (this.of.get(key) || 0) + value);
  }
  sorted() {
    return [...this.of].sort((a, b) => b[1] - a[1]);
  }
}

/* Calls, or samples, of a row in a stretch of time, one after the other, by their indices. */
function eachIn({ begin, end, count }, from, to, does) {
  for (let i = firstAbove(end, from); i < count && begin[i] < to; i++) does(i);
}

/* Arrays of numbers, times in ns from the begin. */
function decodeRow(row) {
  const count = row.sites.length,
    begin = new Float64Array(count),
    end = new Float64Array(count);
  let at = 0;

  for (let i = 0; i < count; i++) {
    begin[i] = at + row.gaps[i];
    end[i] = at = begin[i] + row.durations[i];
  }
  const wait = new Float64Array(count),
    waitsFor = new Map(); /* by call: [rank, thread] */

  for (let i = 0; i < row.waits.length; i += 4) {
    wait[row.waits[i]] = row.waits[i + 1];
    waitsFor.set(row.waits[i], [row.waits[i + 2], row.waits[i + 3]]);
  }
  return {
    rank: row.rank,
    thread: row.thread,
    meetings: decodeMeetings(row.meetings),
    count,
    begin,
    end,
    bytes: row.bytes,
    sites: row.sites,
    wait,
    waitsFor,
    samples: decodeSamples(row.samples, { count, begin, end }),
    lanes: new Map(row.lanes.map(lane => [lane.layer, decodeLane(lane)])),
  };
}

/* By call: { comm, sequence } of its collective operation. */
function decodeMeetings(numbers) {
  const found = new Map();
  let call = 0,
    sequence = 0;

  for (let i = 0; i < numbers.length; i += 3) {
    call += numbers[i];
    sequence += numbers[i + 2];
    found.set(call, { comm: numbers[i + 1], sequence });
  }
  return found;
}

/* Spans that may be in each other, by their begins; until: the latest end so far. */
function decodeLane({ steps, durations, depths, bytes, names, objects, paths }) {
  const count = steps.length,
    begin = new Float64Array(count),
    end = new Float64Array(count),
    until = new Float64Array(count);
  let at = 0;

  for (let i = 0; i < count; i++) {
    begin[i] = at += steps[i];
    end[i] = at + durations[i];
    until[i] = Math.max(end[i], i ? until[i - 1] : 0);
  }
  return { count, begin, end, until, depths, bytes, names, objects, paths };
}

/* Those of a lane in a stretch of time, each after those that it is in. */
function eachSpan({ begin, end, until, count }, from, to, does) {
  for (let i = firstAbove(until, from); i < count && begin[i] < to; i++) if (end[i] > from) does(i);
}

/* A sample stands for the CPU time of a tick. It is drawn before it, as far as there is no other, and outside of calls,
 * where it was not in one. */
function decodeSamples({ tick, gaps, ticks, paths }, calls) {
  const count = gaps.length,
    begin = new Float64Array(count),
    end = new Float64Array(count),
    cpu = Float64Array.from(ticks, n => n * tick),
    inside = new Uint8Array(count);
  let at = 0;

  for (let i = 0; i < count; i++) {
    const before = at;

    end[i] = at += gaps[i];
    inside[i] = inCall(calls, at) ? 1 : 0;
    const last = firstAbove(calls.end, at) - 1,
      least = !inside[i] && last >= 0 ? Math.max(calls.end[last], before) : before;
    begin[i] = Math.max(at - cpu[i], least);
  }
  return { count, begin, end, cpu, paths, inside };
}

/* Is the row in a call at that time? */
function inCall(row, time) {
  const i = firstAbove(row.end, time);

  return i < row.count && row.begin[i] <= time;
}

const SYNC = "waiting for threads"; /* what a sample is of that waits for threads */

class Trace {
  constructor(data) {
    Object.assign(this, {
      of: data.messages,
      paths: data.paths,
      frames: data.frames,
      comms: data.comms,
      leftOut: {
        calls: data.left_out,
        messages: data.messages_left_out,
        samples: data.samples_left_out,
        spans: data.spans_left_out,
      },
      unknown: { messages: data.unmatched, waits: data.waits_unknown, waitsFromHere: data.waits_cut },
      isAnalysed: data.analysed,
      hasAllWaits: data.waits_analysed,
    });
    this.all = data.rows.map(decodeRow);
    this.end =
      Math.max(
        data.end || 0,
        ...this.all.flatMap(row => [row, row.samples].map(({ end, count }) => (count ? end[count - 1] : 0))),
        ...this.all.flatMap(row => [...row.lanes.values()].map(({ until, count }) => (count ? until[count - 1] : 0))),
      ) || 1;
    this.rowOf = new Map(this.all.map(row => [row.rank + ":" + row.thread, row]));
  }

  /* Of each thread, in the order of `threads`: calls and samples in that stretch of time at least, sorted. */
  rows(from, to) {
    return this.all;
  }
  row(rank, thread, from, to) {
    return this.rowOf.get(rank + ":" + thread);
  }

  /* The name of a span, as an index in frames; null: not known. */
  spanName({ names, paths }, i) {
    const path = names[i] < 0 && paths[i] >= 0 ? this.paths[paths[i]] : null;

    return names[i] >= 0 ? names[i] : path && path.frames.length ? path.frames[0] : null;
  }

  /* Times of a layer's spans in a stretch of time by their names, of some rows: each without what is in it. */
  spanTimes(layer, rows = this.all, from = 0, to = Infinity) {
    const sums = new Sums();

    for (const { lanes } of rows) {
      const lane = lanes.get(layer),
        outer = []; /* names by depth */

      if (lane)
        eachSpan(lane, from, to, i => {
          const depth = lane.depths[i],
            time = Math.min(lane.end[i], to) - Math.max(lane.begin[i], from);

          outer[depth] = this.spanName(lane, i);
          sums.add(outer[depth], time);
          if (depth && outer[depth - 1] !== undefined) sums.add(outer[depth - 1], -time);
        });
    }
    return sums;
  }
}

async function loadTrace() {
  const scripts = [...document.querySelectorAll("script.timeline")];

  if (!scripts.length) return null;
  const trace = new Trace(JSON.parse(await inflate(scripts.map(script => script.textContent))));

  scripts.forEach(script => script.remove());
  return trace;
}
