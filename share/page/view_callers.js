/* In view.html. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Callers of a row's calls and samples. They are not recorded as calls: what is known is that they were there while one
 * of these lasted, and so long they are drawn. */

const MOST_PATHS = 300; /* of a window */

class Callers {
  constructor({ trace, about }) {
    this.trace = trace;
    this.regions = [...about.regions]; /* and functions that are none of them */
    this.numbers = new Map(about.regions.filter(region => !region.class).map(({ name, number }) => [name, number]));
    this.paths = new Map(); /* context -> names, innermost first */
  }

  async load(slices) {
    const missing = new Set(slices.map(slice => slice.context).filter(of => of !== null && !this.paths.has(of)));

    await Promise.all(
      [...missing].slice(0, MOST_PATHS).map(async context => {
        const { path } = await this.trace.json("path", { context });

        this.paths.set(
          context,
          path.map(([name]) => name),
        );
      }),
    );
  }
  number(name) {
    if (!this.numbers.has(name)) {
      this.numbers.set(name, this.regions.length);
      this.regions.push({ number: this.regions.length, name, class: 0, file: "" });
    }
    return this.numbers.get(name);
  }
  /* Their numbers, outermost first. Paths of functions may have themselves. */
  of(slice) {
    const path = this.paths.get(slice.context) || [],
      { name } = this.regions[slice.region],
      own = path[0] === name ? 0 : ownFrame(path, slice, name);

    return path
      .slice(own + 1)
      .reverse()
      .map(name => this.number(name));
  }
  /* Slices with their callers above them; `of` of each is the slice as it was. Callers that go on behind a gap of at
   * most so many ns are one. */
  around(slices, gap) {
    const outer = slices.filter(slice => !slice.depth),
      frames = outer.map(slice => this.of(slice)),
      open = [],
      found = [];

    outer.forEach(({ begin, ns }, i) => {
      let isSame = true;

      frames[i].forEach((region, depth) => {
        const last = open[depth];

        isSame = isSame && !!last && last.region === region && begin - (last.begin + last.ns) <= gap;
        if (!isSame) {
          open[depth] = { begin, ns, region, depth, wait: 0, sampled: true, isCaller: true };
          found.push(open[depth]);
        }
        open[depth].ns = begin + ns - open[depth].begin;
      });
      open.length = frames[i].length;
    });
    let at = 0;
    const inside = slices
      .slice()
      .sort((a, b) => a.begin - b.begin || a.depth - b.depth)
      .map(slice => {
        while (at + 1 < outer.length && outer[at + 1].begin <= slice.begin) at++;
        return { ...slice, depth: slice.depth + (frames[at] || []).length, of: slice };
      });

    return [...found, ...inside];
  }
}
