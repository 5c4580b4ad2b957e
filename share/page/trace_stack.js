/* In page.html. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* What one thread did, as slices in each other, and as pieces: the time of each slice without what is in it. Pieces
 * follow each other without gaps; what is of no slice has null. So any stretch of time is found by its begin, and is
 * summed up in one pass. */

const TOUCH_NS = 2; /* times are rounded: what overlaps by so little follows */

/* By begin; of those that begin together the one that the others are in is the first one. */
const comesFirst = (a, b) => a.begin - b.begin || b.ns - a.ns || a.order - b.order;

/* Gives each slice its depth, and all pieces from 0 to `end`. */
function piecesOf(slices, end) {
  const found = { begin: [], end: [], of: [] },
    open = [];
  let at = 0;
  const goTo = (time, of) => {
    if (time <= at) return;
    found.begin.push(at);
    found.end.push((at = time));
    found.of.push(of);
  };
  const closeUntil = time => {
    while (open.length && open[open.length - 1].stop <= time + TOUCH_NS) {
      const { slice, stop } = open.pop();

      goTo(stop, slice);
    }
  };

  for (const slice of slices.sort(comesFirst)) {
    closeUntil(slice.begin);
    const outer = open[open.length - 1],
      stop = slice.begin + slice.ns;

    goTo(slice.begin, outer ? outer.slice : null);
    slice.depth = open.length;
    slice.outer = outer ? outer.slice : null;
    open.push({ slice, stop: outer ? Math.min(stop, outer.stop) : stop });
  }
  closeUntil(Infinity);
  goTo(end, null);
  return found;
}

class Stack {
  /* find(pieces): slices that are in the pieces: by samples. */
  constructor(slices, end, find) {
    const more = find(piecesOf(slices, end));

    this.slices = more.length ? [...slices, ...more] : slices;
    const { begin, end: ends, of } = piecesOf(this.slices, end);
    this.pieces = { begin: Float64Array.from(begin), end: Float64Array.from(ends), of, count: of.length };
    this.until = new Float64Array(this.slices.length);
    this.slices.forEach((slice, i) => {
      this.until[i] = Math.max(slice.begin + slice.ns, i ? this.until[i - 1] : 0);
    });
    this.waits = this.slices.filter(({ wait }) => wait);
    this.waitEnds = Float64Array.from(this.waits, ({ begin, wait }) => begin + wait);
    this.begin = this.slices.length ? this.slices[0].begin : 0;
    this.end = this.slices.length ? this.until[this.slices.length - 1] : 0;
  }

  /* does(slice): those of which there is something in a stretch of time. */
  each(from, to, does) {
    const { slices, until } = this;

    for (let i = firstAbove(until, from); i < slices.length && slices[i].begin < to; i++)
      if (slices[i].begin + slices[i].ns > from || slices[i].begin >= from) does(slices[i]);
  }
  /* Is it so of a slice that touches the time? The last ones that began until then, and all that these are in. */
  hasAt(time, isSo) {
    const { slices } = this;
    let low = 0,
      high = slices.length;

    while (low < high) {
      const middle = (low + high) >> 1;

      if (slices[middle].begin < time + TOUCH_NS) low = middle + 1;
      else high = middle;
    }
    for (let i = low - 1; i >= Math.max(low - 3, 0); i--)
      for (let slice = slices[i]; slice; slice = slice.outer)
        if (slice.begin + slice.ns > time - TOUCH_NS && isSo(slice)) return true;
    return false;
  }
  /* does(slice or null, from, to) */
  eachPiece(from, to, does) {
    const { begin, end, of, count } = this.pieces;

    for (let i = firstAbove(end, from); i < count && begin[i] < to; i++)
      does(of[i], Math.max(begin[i], from), Math.min(end[i], to));
  }
  /* does(slice, from, to): of those that wait. */
  eachWait(from, to, does) {
    for (let i = firstAbove(this.waitEnds, from); i < this.waits.length && this.waits[i].begin < to; i++)
      does(this.waits[i], Math.max(this.waits[i].begin, from), Math.min(this.waitEnds[i], to));
  }
}

/* What rows have of each tile of a stretch of time. As the server's bytes: see viewer.h. */
class Tiling {
  constructor(from, to, count, lines, classes, regions) {
    const all = count * lines;

    Object.assign(this, { from, count, lines, regions, all, step: (to - from) / count });
    this.sums = Array.from({ length: classes + 2 }, () => new Float64Array(count)); /* of a line */
    [this.waiting, this.computing] = this.sums.slice(classes);
    this.byRegion = new Float64Array(count * regions);
    this.touched = [];
    this.classes = new Set(); /* that the line has */
    this.found = {
      regions: new Uint32Array(all).fill(NO_REGION),
      regionParts: new Uint8Array(all),
      waits: new Uint8Array(all),
      parts: new Uint8Array(classes * all),
      computing: new Uint8Array(all),
    };
  }

  /* does(tile, ns) */
  spread(from, to, does) {
    const { step, count } = this,
      last = Math.min(Math.ceil((to - this.from) / step), count);

    for (let i = Math.max(Math.floor((from - this.from) / step), 0); i < last; i++) {
      const begin = this.from + i * step,
        ns = Math.min(to, begin + step) - Math.max(from, begin);

      if (ns > 0) does(i, ns);
    }
  }
  /* isMain: where it did nothing that is known, it computes. */
  add(stack, isMain, classOf) {
    const to = this.from + this.step * this.count;

    stack.eachPiece(this.from, to, (slice, begin, end) => {
      if (slice) this.addRegion(slice.region, classOf(slice.region), begin, end);
      else if (isMain && end > stack.begin && begin < stack.end)
        this.spread(Math.max(begin, stack.begin), Math.min(end, stack.end), (i, ns) => (this.computing[i] += ns));
    });
    stack.eachWait(this.from, to, (slice, begin, end) => this.spread(begin, end, (i, ns) => (this.waiting[i] += ns)));
  }
  addRegion(region, of, begin, end) {
    const i = Math.floor((begin - this.from) / this.step);

    this.classes.add(of);
    if (end <= this.from + (i + 1) * this.step) this.addPart(region, of, i, end - begin);
    else this.spread(begin, end, (tile, ns) => this.addPart(region, of, tile, ns));
  }
  addPart(region, of, tile, ns) {
    const at = tile * this.regions + region;

    this.sums[of][tile] += ns;
    if (!this.byRegion[at]) this.touched.push(at);
    this.byRegion[at] += ns;
  }
  /* A line has all of its rows; they are as many. */
  endLine(line, rows) {
    const { count, sums, found, byRegion, all } = this,
      scale = 255 / (this.step * Math.max(rows, 1)),
      most = new Float64Array(count);

    for (const at of this.touched) {
      const i = Math.floor(at / this.regions);

      if (byRegion[at] > most[i]) {
        most[i] = byRegion[at];
        found.regions[line * count + i] = at % this.regions;
        found.regionParts[line * count + i] = partOf(most[i], scale);
      }
      byRegion[at] = 0;
    }
    for (let i = 0; i < count; i++) {
      const at = line * count + i;
      let left = 255;

      for (const k of this.classes) left -= found.parts[k * all + at] = partOf(sums[k][i], scale);
      found.waits[at] = partOf(this.waiting[i], scale);
      found.computing[at] = Math.min(Math.round(this.computing[i] * scale), Math.max(left, 0));
    }
    sums.forEach(of => of.fill(0));
    this.touched = [];
    this.classes.clear();
  }
}

/* What is there is seen. */
const partOf = (ns, scale) => (ns * scale <= 1e-9 ? 0 : Math.min(Math.max(Math.round(ns * scale), 1), 255));
