/* In page.html. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of functions that were measured one by one: each over the time of the run, how many took how long, percentiles and trend. */

const STRIPS = 8; /* ranks that have a picture of their own */
const POINT = ["compute", "wait", "mpi", "threads", "poor", "quiet"]; /* of ranks in one picture */

class Instances {
  constructor(tables) {
    this.instances = tables.get("sampled_instances");
    this.metrics = tables.get("sampled_metrics");
    this.histogram = tables.get("sampled_histogram");
    this.names = new Map();
    for (let row = 0; row < this.instances.rows; row++)
      this.names.set(this.instances.get("function_id", row), this.instances.get("function", row));
    const varies = this.metrics.all().find(of => of.varies && this.names.has(of.function_id));

    this.id = varies ? varies.function_id : [...this.names.keys()][0];
    this.key = "time_s";
    this.apart = false;
    this.tools = make("p", { class: "tools" });
    this.picture = make("div");
    this.words = make("figcaption");
    this.spread = make("div");
    this.element = make(
      "section",
      { id: "instances", "aria-label": "Measured calls over time" },
      make("h3", null, "Measured calls over time"),
      this.tools,
      make("figure", null, this.picture, this.words),
      make("figure", null, this.spread),
    );
    selection.onChange(() => this.follow());
    this.change();
  }

  /* A function that is selected elsewhere is shown here. */
  follow() {
    const wanted = selection.get("function"),
      found = [...this.names].find(([, name]) => name === wanted);

    if (found && found[0] !== this.id) {
      this.id = found[0];
      this.change();
    }
  }

  /* Values that some instance of the function has. */
  values() {
    const rows = this.rows();

    return this.instances.columns.filter(
      column =>
        /^(time_s|cpu_s|event_\d+)$/.test(column.key) && rows.some(row => this.instances.get(column.key, row) !== null),
    );
  }

  rows() {
    return Array.from({ length: this.instances.rows }, (_, row) => row).filter(
      row => this.instances.get("function_id", row) === this.id,
    );
  }

  change() {
    const values = this.values();

    if (!values.some(column => column.key === this.key)) this.key = "time_s";
    const apart = make("input", {
      type: "checkbox",
      onchange: () => {
        this.apart = apart.checked;
        this.draw();
      },
    });
    apart.checked = this.apart;
    this.tools.replaceChildren(
      chooser(
        "function",
        [...this.names].map(([id, name]) => [String(id), name.slice(0, 80)]),
        String(this.id),
        id => {
          this.id = Number(id);
          this.change();
        },
      ),
      chooser(
        "value",
        values.map(column => [column.key, column.title || column.key]),
        this.key,
        key => {
          this.key = key;
          this.change();
        },
      ),
      make("label", null, apart, " a picture for each rank"),
    );
    this.draw();
  }

  strip(rows, bounds, told) {
    const column = this.instances.byKey.get(this.key),
      begin = this.instances.byKey.get("begin_s"),
      ranks = [...new Set(this.rows().map(row => this.instances.get("rank", row)))];
    let places = [],
      inverse = null;
    const draw = (c, width, height) => {
      const at = drawAxes(
        c,
        { left: 70, top: 8, width: width - 90, height: height - 32 },
        { least: bounds.begin, most: bounds.end, column: begin },
        { least: 0, most: bounds.most, column },
      );
      const wanted = selection.get("rank");

      places = rows.map(row => ({
        row,
        x: at.x(this.instances.get("begin_s", row)),
        y: at.y(this.instances.get(this.key, row)),
      }));
      for (const { row, x, y } of places) {
        const rank = this.instances.get("rank", row),
          chosen = wanted === rank;

        c.globalAlpha = wanted === null || chosen ? 0.8 : 0.2;
        c.fillStyle = colours(chosen ? "accent" : POINT[ranks.length > POINT.length ? 0 : ranks.indexOf(rank)]);
        c.fillRect(x - 2, y - 2, 4, 4);
      }
      c.globalAlpha = 1;
      inverse = x => bounds.begin + ((x - 70) / (width - 90)) * (bounds.end - bounds.begin);
      drawStretch(c, time => Math.min(Math.max(at.x(time), 70), width - 20), 8, height - 32);
    };
    const pick = (x, y) => {
      const near = places
        .map(place => [Math.hypot(place.x - x, place.y - y), place.row])
        .sort((a, b) => a[0] - b[0])[0];

      if (near && near[0] < 12) selection.toggle("rank", this.instances.get("rank", near[1]));
    };
    return dragged(canvas(told.height, told.text, draw, pick), (from, to) =>
      selection.selectStretch(inverse(from), inverse(to)),
    );
  }

  draw() {
    const rows = this.rows().filter(row => this.instances.get(this.key, row) !== null),
      column = this.instances.byKey.get(this.key);
    const all = rows.map(row => this.instances.get(this.key, row)),
      begins = rows.map(row => this.instances.get("begin_s", row));
    const ranks = [...new Set(rows.map(row => this.instances.get("rank", row)))].sort((a, b) => a - b);
    const bounds = { begin: Math.min(...begins), end: Math.max(...begins), most: Math.max(...all) || 1 },
      title = column.title || column.key;

    if (this.apart)
      this.picture.replaceChildren(
        ...ranks.slice(0, STRIPS).flatMap(rank => [
          make("p", { class: "note" }, "rank " + rank),
          this.strip(
            rows.filter(row => this.instances.get("rank", row) === rank),
            bounds,
            { height: 110, text: title + " of calls of rank " + rank + " over the time of the run" },
          ),
        ]),
        ...(ranks.length > STRIPS
          ? [make("p", { class: "note" }, "and " + (ranks.length - STRIPS) + " more ranks")]
          : []),
      );
    else
      this.picture.replaceChildren(
        this.strip(rows, bounds, {
          height: 240,
          text: title + " of each measured call (upwards) by its begin (to the right)",
        }),
        make(
          "p",
          { class: "legend" },
          ...(ranks.length > POINT.length
            ? [count(ranks.length) + " ranks"]
            : ranks.map(rank => {
                const key = make("i", { class: "key " + POINT[this.rankPlace(rank)] });

                return make("span", null, key, "rank " + rank);
              })),
        ),
      );
    this.words.textContent = count(rows.length) + " measured calls: " + title + ". " + column.doc + this.toldOf();
    this.drawSpread();
  }

  rankPlace(rank) {
    return [...new Set(this.rows().map(row => this.instances.get("rank", row)))].indexOf(rank);
  }

  /* Which of the measured metrics the value is. */
  metric() {
    return { time_s: "time_s", cpu_s: "cpu_time_s" }[this.key] || null;
  }

  toldOf() {
    const of = this.metrics.all().find(row => row.function_id === this.id && row.metric === this.metric()),
      unit = { type: "real", unit: "s" };

    if (!of || of.p50 === null) return "";
    const trend =
      of.trend_change === null
        ? ""
        : "; over the run it " +
          (of.trend_significant
            ? (of.trend_change > 0 ? "grows by " : "falls by ") + percent(Math.abs(of.trend_change))
            : "shows no certain trend") +
          " (estimate)";

    return (
      " Half took at most " +
      worded(unit, of.p50) +
      ", 90 % " +
      worded(unit, of.p90) +
      ", 99 % " +
      worded(unit, of.p99) +
      trend +
      "."
    );
  }

  drawSpread() {
    const bars = this.histogram.all().filter(of => of.function_id === this.id && of.metric === this.metric()),
      unit = { type: "real", unit: "s" };

    this.spread.replaceChildren(
      ...(bars.length
        ? [
            upright(
              "number of calls by duration; each bar begins at its duration",
              bars.map(of => ({ label: worded(unit, of.begin), value: of.count })),
              value => count(Math.round(value)),
            ),
            make("figcaption", null, "number of measured calls with at least this duration, up to the next bar"),
          ]
        : []),
    );
  }
}

function instances(tables) {
  const table = tables.get("sampled_instances");

  return table && table.rows ? new Instances(tables).element : null;
}
