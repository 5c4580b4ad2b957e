/* In page.html. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Lanes of the timeline: what a thread does beside MPI, each kind in a lane of its own below its calls (enum
 * fv_trace_layer in src/profile/trace_excerpt.h). Which are drawn is chosen, and is in the address. Rows have the lanes
 * that they have something in. */

const LANES = [
  { key: "mpi", title: "MPI calls", short: "MPI", tall: [15, 26] } /* pixels: of many rows, of few */,
  { key: "sections", title: "sections", layer: 0, tall: [7, 12] },
  { key: "functions", title: "instrumented functions", short: "functions", layer: 1, tall: [6, 11] },
  { key: "samples", title: "samples", tall: [7, 12] },
  { key: "openmp", title: "OpenMP", layer: 2, tall: [7, 12] },
  { key: "waits", title: "waiting for threads", short: "waits", layer: 3, tall: [7, 11] },
  { key: "io", title: "I/O", layer: 4, tall: [7, 11] },
  { key: "memory", title: "memory calls", short: "memory", layer: 5, tall: [7, 11] },
];
const FEW_ROWS = 12;
const TALLEST = 640,
  TALLEST_OF_LANES = 960; /* pixels of all rows */
const MOST_DEPTHS = 6; /* spans in each other that are drawn below each other */
const TINTS = [1, 0.7, 0.45, 0.85]; /* of names of a layer, those that take longest first */
const NAMES = 5; /* of a layer in its legend */

class Lanes {
  /* changed: is told when others are chosen. */
  constructor(trace, changed) {
    const deepest = layer =>
      trace.all.reduce(
        (most, { lanes }) => (lanes.has(layer) ? lanes.get(layer).depths.reduce((a, b) => Math.max(a, b), most) : most),
        0,
      ) + 1;

    this.trace = trace;
    this.changed = changed;
    this.present = LANES.filter(({ key, layer }) => trace.all.some(row => this.countOf(row, key, layer)));
    this.depths = new Map(
      this.present.map(({ key, layer }) => [key, layer === undefined ? 1 : Math.min(deepest(layer), MOST_DEPTHS)]),
    );
    this.names = new Map(
      this.present
        .filter(({ layer }) => layer !== undefined)
        .map(({ key, layer }) => [
          key,
          trace
            .spanTimes(layer)
            .sorted()
            .map(([name]) => name),
        ]),
    );
    this.ordinals = new Map([...this.names].map(([key, names]) => [key, new Map(names.map((name, i) => [name, i]))]));
    this.hidden = new Set(this.present.map(({ key }) => key).filter(key => (selection.hidden || []).includes(key)));
    this.alone = false; /* the selected rank */
  }

  countOf(row, key, layer) {
    return layer === undefined
      ? (key === "mpi" ? row : row.samples).count
      : row.lanes.has(layer)
        ? row.lanes.get(layer).count
        : 0;
  }

  get shown() {
    return this.present.filter(({ key }) => !this.hidden.has(key));
  }

  /* Where each row and lane stands; a row without any is left out. */
  layout() {
    const rank = this.alone ? selection.get("rank") : null,
      rows = this.trace.all
        .map(row => ({ row, lanes: this.shown.filter(({ key, layer }) => this.countOf(row, key, layer)) }))
        .filter(({ row, lanes }) => lanes.length && (rank === null || row.rank === rank)),
      few = rows.length <= FEW_ROWS ? 1 : 0,
      most = this.present.some(({ layer }) => layer !== undefined) ? TALLEST_OF_LANES : TALLEST,
      wanted = ({ key, tall }) => tall[few] * this.depths.get(key) + 1,
      all = rows.reduce((sum, { lanes }) => sum + 2 + lanes.reduce((tall, lane) => tall + wanted(lane), 0), 0),
      scale = Math.min(most / Math.max(all, 1), 1);
    let top = 0;

    this.rows = rows.map(({ row, lanes }) => {
      const begin = top,
        of = lanes.map(lane => {
          const at = top;
          top += wanted(lane) * scale;
          return { lane, top: at, tall: wanted(lane) * scale };
        });
      top += 2 * scale;
      return { row, top: begin, tall: top - begin, lanes: of };
    });
    this.height = Math.max(top, 40);
  }

  /* The row at a height, and its lane. */
  at(y) {
    const place = this.rows.find(({ top, tall }) => y >= top && y < top + tall),
      lane = place && place.lanes.find(({ top, tall }) => y >= top && y < top + tall);

    return { place, lane };
  }

  /* Where a rank's messages begin and end, and what stands for it; null: it is not drawn. */
  middleOf(rank) {
    const place = this.rows.find(({ row }) => row.rank === rank);

    return place ? place.lanes[0].top + place.lanes[0].tall / 2 : null;
  }
  bandOf(rank) {
    const places = this.rows.filter(({ row }) => row.rank === rank),
      last = places[places.length - 1];

    return places.length ? { top: places[0].top, tall: last.top + last.tall - places[0].top } : null;
  }

  /* Spans of a row: those in each other below each other. One narrower than a pixel is a pale line; of several in a
   * pixel one is drawn. */
  draw(c, row, { lane, top, tall }, { view, x, width, left: edge, colourOf, chosen }) {
    const of = row.lanes.get(lane.layer),
      depths = this.depths.get(lane.key),
      high = (tall - (tall > 4 ? 1 : 0)) / depths,
      at = new Array(depths).fill(-1);

    eachSpan(of, view.from, view.to, i => {
      const left = Math.max(x(of.begin[i]), edge),
        right = Math.min(x(of.end[i]), width),
        depth = Math.min(of.depths[i], depths - 1),
        name = this.trace.spanName(of, i),
        wide = right - left;

      if (wide < 1 && Math.floor(left) <= at[depth]) return;
      at[depth] = Math.floor(left);
      const colour = colourOf(lane, name);
      c.globalAlpha = (wide < 1 ? Math.max(wide, 0.5) : 1) * (chosen === name && name !== null ? 1 : colour.tint);
      c.fillStyle = chosen === name && name !== null ? colours("accent") : colours(colour.key);
      c.fillRect(
        left,
        top + depth * high,
        Math.max(wide - (wide > 4 ? 1 : 0), 1),
        Math.max(high - (high > 4 ? 1 : 0), 0.5),
      );
      c.globalAlpha = 1;
      if (wide > 40 && high >= 10) this.write(c, this.word(name), colour, left, top + depth * high, wide, high);
    });
  }

  write(c, word, { key, tint }, left, top, wide, high) {
    c.save();
    c.beginPath();
    c.rect(left, top, wide - 3, high);
    c.clip();
    c.font = "10px " + getComputedStyle(document.body).fontFamily;
    c.fillStyle = tint < 0.8 ? colours("text") : readable(blend(key, key, 0));
    c.textBaseline = "middle";
    c.fillText(word, left + 3, top + high / 2);
    c.restore();
  }

  word(name) {
    return name === null ? "(not known)" : this.trace.frames[name];
  }

  /* The span at a place, the innermost within some pixels; null: none. */
  spanAt(row, { lane, top, tall }, y, time, slack) {
    const of = row.lanes.get(lane.layer),
      depth = Math.floor(((y - top) / tall) * this.depths.get(lane.key));
    let found = null;

    eachSpan(of, time - slack, time + slack, i => {
      if (of.depths[i] <= depth) found = i;
    });
    return found === null
      ? null
      : {
          rank: row.rank,
          thread: row.thread,
          lane,
          name: this.trace.spanName(of, found),
          begin: of.begin[found],
          end: of.end[found],
          bytes: of.bytes[found],
          object: of.objects[found] < 0 ? null : this.trace.frames[of.objects[found]],
          path: of.paths[found] < 0 ? null : this.trace.paths[of.paths[found]],
        };
  }

  /* What is drawn: a box for each lane. */
  choice() {
    const box = ({ key, title }) => {
      const input = make("input", {
        type: "checkbox",
        onchange: () => {
          if (input.checked) this.hidden.delete(key);
          else this.hidden.add(key);
          selection.hide([...this.hidden]);
          this.changed();
        },
      });

      input.checked = !this.hidden.has(key);
      return make("label", null, input, " " + title);
    };
    const alone = make("input", {
      type: "checkbox",
      onchange: () => {
        this.alone = alone.checked;
        this.changed();
      },
    });

    return make(
      "p",
      { class: "tools lanes" },
      ...(this.present.length > 1 ? this.present.map(box) : []),
      make("label", null, alone, " the selected rank alone"),
    );
  }

  /* A line for each layer that is there. pick: of a function's name. */
  legends(colourOf, pick) {
    return this.present
      .filter(({ layer }) => layer !== undefined)
      .map(lane => {
        const names = this.names.get(lane.key),
          entry = name => {
            const { key, tint } = colourOf(lane, name),
              swatch = make("i", { class: "key" });

            swatch.style.cssText = "background: var(--" + key + "); opacity: " + tint;
            return make(
              "span",
              null,
              swatch,
              lane.key === "functions" ? pick(this.word(name), "function") : this.word(name),
            );
          };

        return make(
          "p",
          { class: "legend" },
          make("small", null, lane.title + ": "),
          ...names.slice(0, NAMES).map(entry),
          names.length > NAMES ? make("span", null, "and " + plural(names.length - NAMES, "other name")) : null,
        );
      });
  }

  /* Bars of a layer in a stretch of time. */
  sums({ key, title, layer }, rows, from, to, words) {
    const isCode = key === "functions",
      bars = this.trace
        .spanTimes(layer, rows, from, to)
        .sorted()
        .filter(([, time]) => time > 0)
        .map(([name, time]) => ({
          label: this.word(name),
          value: seconds(time * 1e-9),
          parts: [[time, isCode ? "compute" : "lane-" + key]],
          pick: isCode ? () => selection.toggle("function", this.word(name)) : null,
        }));

    return lying(
      "stretch-" + key,
      title[0].toUpperCase() + title.slice(1) + words.title,
      bars,
      [],
      "each without what is in it; of " + words.of,
    );
  }

  leftOut() {
    const said = this.present
      .filter(({ layer }) => layer !== undefined && this.trace.leftOut.spans[layer])
      .map(({ title, layer }) => title + " " + count(this.trace.leftOut.spans[layer]));

    return said.length
      ? " Of the other lanes the longest of each rank are shown; shorter ones are left out: " + said.join(", ") + "."
      : "";
  }
}
