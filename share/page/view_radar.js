/* In page.html, view.html. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Rows coloured by a number in place of what they did: the part of time that waits or is MPI, or values along time,
 * such as counters. Of values the highest one in each pixel is shown; of several rows in a line, the mean of parts, and
 * the highest of values. */

const RADAR_PARTS = { wait: "waiting", mpi: "time in MPI" },
  MOST_RADAR = 1024 /* series */,
  RADAR_STEPS = 64; /* colours */

class Radar {
  constructor(view) {
    this.view = view;
    this.chosen = address.get("colour") || "";
    this.data = null; /* { from, to, count, first, merge, lines, values, most } */
    this.left = 0;
    this.choice = make("select", {
      "aria-label": "what colours the rows",
      onchange: event => this.choose(event.target.value),
    });
    this.legend = make("span", { class: "radar", hidden: true });
    this.element = make("label", null, "colour: ", this.choice, this.legend);
  }
  choose(value) {
    this.chosen = this.choice.value = value;
    address.set("colour", value || null);
    this.view.changed();
  }
  /* One choice for all traces, and one scale. */
  get by() {
    return this.view.all[0].radar.chosen;
  }
  get most() {
    return this.view.all.reduce((most, { radar: { data } }) => Math.max(most, data ? data.most : 0), 0) || 1;
  }
  get chart() {
    return this.view.series.find(({ key }) => "value:" + key === this.by) || null;
  }
  get isOn() {
    return Boolean(RADAR_PARTS[this.by] || this.view.all.some(({ radar }) => radar.chart));
  }
  open() {
    const keys = new Set(this.view.all.flatMap(({ series }) => series.map(({ key }) => key))),
      values = [...keys].sort().map(key => ["value:" + key, key]);

    this.choice.replaceChildren(
      ...[["", "what was done"], ...this.parts(), ...values].map(([value, words]) =>
        make("option", { value, selected: value === this.by }, words),
      ),
    );
  }

  /* Without MPI there is no time in it, but for an address that has it. */
  parts() {
    const has = this.by === "mpi" || this.view.all.some(({ about }) => hasMpi(about));

    return Object.entries(RADAR_PARTS).filter(([key]) => key !== "mpi" || has);
  }

  async load(tiles) {
    this.data = null;
    if (this.isOn)
      this.data = RADAR_PARTS[this.by]
        ? this.ofParts(tiles)
        : this.chart
          ? await this.ofValues(tiles)
          : { ...tiles, values: new Float64Array(tiles.all).fill(NaN), most: 0 };
    this.view.all[0].radar.tell();
    this.view.all.forEach(view => view.draw());
  }
  words() {
    return this.isOn && this.data && !this.chart && !RADAR_PARTS[this.by]
      ? "nothing of " + this.by.replace("value:", "") + " in this trace"
      : "";
  }
  ofParts(tiles) {
    const { about } = this.view,
      mpi = about.classes.flatMap(({ name }, i) => (MPI_CLASSES.includes(name) ? [i] : [])),
      values = Float64Array.from({ length: tiles.all }, (_, at) =>
        this.by === "wait"
          ? tiles.waits[at] / 255
          : Math.min(mpi.reduce((sum, k) => sum + tiles.parts[k * tiles.all + at], 0) / 255, 1),
      );

    return { ...tiles, values, most: 1 };
  }
  /* Series of each row: of its thread, its process or its node. */
  seriesOf(rows) {
    const { rows: all } = this.view.about,
      fits = {
        thread: (curve, row) => curve.row === row,
        process: (curve, row) => all[curve.row].rank === all[row].rank,
        node: (curve, row) => all[curve.row].host === all[row].host,
      };

    return this.chart.curves.filter(curve => rows.some(row => fits[curve.of](curve, row)));
  }
  async ofValues(tiles) {
    const { view } = this,
      { from, to, count, first, merge, lines } = tiles,
      byLine = Array.from({ length: lines }, (_, i) =>
        this.seriesOf(
          view.rows.rowsOf(first + i * merge, Math.min(first + (i + 1) * merge, view.rows.lines.length)),
        ).map(({ number }) => number),
      ),
      wanted = [...new Set(byLine.flat())],
      asked = wanted.slice(0, MOST_RADAR),
      known = new Map(),
      values = new Float64Array(tiles.all).fill(NaN);

    this.left = wanted.length - asked.length;
    for (let i = 0; i < asked.length; i += MOST_ASKED) {
      const part = asked.slice(i, i + MOST_ASKED),
        data = new Float64Array(
          await (await view.trace.ask("values", { from, to, count, series: part.join(",") })).arrayBuffer(),
        );

      part.forEach((number, k) => known.set(number, data.subarray(3 * count * k, 3 * count * (k + 1))));
    }
    byLine.forEach((numbers, line) =>
      numbers
        .filter(number => known.has(number))
        .forEach(number => {
          const data = known.get(number);

          for (let i = 0; i < count; i++) {
            const at = line * count + i,
              value = data[3 * i + 1];

            if (!isNaN(value) && !(values[at] >= value)) values[at] = value;
          }
        }),
    );
    return { ...tiles, values, most: values.reduce((most, value) => (value > most ? value : most), 0) };
  }

  /* What is shown, and its range. */
  get choiceWords() {
    const [least, most] = RADAR_PARTS[this.by] ? ["0 %", "100 %"] : ["0", shortly(this.most)];

    return (RADAR_PARTS[this.by] || this.by.replace("value:", "")) + ", " + least + " to " + most;
  }
  key() {
    const key = make("i", { class: "key ramp" });

    key.style.background = `linear-gradient(to right, ${this.colour(0)}, ${this.colour(1)})`;
    return key;
  }
  tell() {
    this.legend.hidden = !this.isOn;
    if (!this.isOn) return;
    const key = this.key();
    this.legend.replaceChildren(
      ...(RADAR_PARTS[this.by] ? ["0 %", key, "100 %"] : ["0", key, shortly(this.most)]),
      this.left ? " (" + plural(this.left, "series") + " left out)" : "",
    );
  }
  /* The page's colours are asked for once in a palette. */
  colour(part) {
    if (this.palette !== this.view.palette) {
      this.palette = this.view.palette;
      this.steps = Array.from({ length: RADAR_STEPS + 1 }, (_, i) => shade(i / RADAR_STEPS));
    }
    return this.steps[Math.round(Math.min(Math.max(part, 0), 1) * RADAR_STEPS)];
  }
  /* A pixel for each line and stretch. */
  layer() {
    const { data, most } = this;

    if (data.layer && data.palette === this.view.palette && data.scale === most) return data.layer;
    const image = new ImageData(data.count, data.lines),
      pixels = new Uint32Array(image.data.buffer);

    data.values.forEach((value, at) => {
      if (!isNaN(value)) pixels[at] = pixelOf(this.colour(value / most));
    });
    data.layer = make("canvas", { width: data.count, height: data.lines });
    data.layer.getContext("2d").putImageData(image, 0, 0);
    data.palette = this.view.palette;
    data.scale = most;
    return data.layer;
  }
  paint(c, isVector) {
    const { data, view } = this,
      tall = view.rowTall * data.merge,
      left = view.x(data.from);

    if (isVector) this.paintBoxes(c, tall);
    else {
      c.imageSmoothingEnabled = false;
      c.drawImage(this.layer(), left, view.y(data.first), view.x(data.to) - left, tall * data.lines);
    }
    if (tall < 8) return;
    c.fillStyle = view.palette.ground;
    for (let line = 1; line <= data.lines; line++)
      c.fillRect(left, view.y(data.first + line * data.merge) - 1, view.x(data.to) - left, 1);
  }
  paintBoxes(c, tall) {
    const { data, view, most } = this,
      step = (data.to - data.from) / data.count;

    data.values.forEach((value, at) => {
      const line = Math.floor(at / data.count),
        left = view.x(data.from + (at % data.count) * step);

      if (isNaN(value)) return;
      c.fillStyle = this.colour(value / most);
      c.fillRect(
        left,
        view.y(data.first + line * data.merge),
        view.x(data.from + step) - view.x(data.from) + 0.5,
        tall,
      );
    });
  }
}
