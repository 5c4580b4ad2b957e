/* In page.html. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls of functions that were measured one by one: each over the time of the run, how many took how long, percentiles
 * and trend. */

const STRIPS = 8; /* ranks that have a picture of their own */
const POINT = ["compute", "wait", "mpi", "threads", "poor", "quiet"]; /* of ranks, or threads, in one picture */
const CALM = 0.95 /* so many calls have at most ... */,
  OUTLIER = 2; /* ... this part of the scale; what is above twice that is marked at the edge */

/* The column of the instances that a judged metric is nearest to: CPU time outside of MPI is not kept for single
 * calls. */
function columnOf(metric, events) {
  const at = events.indexOf(metric);

  return at >= 0 ? "event_" + (at + 1) : metric === "time_s" ? "time_s" : "cpu_s";
}

/* A scale from 0 on which all but a few calls can be told apart. */
function robustMost(values) {
  const sorted = [...values].sort((x, y) => x - y),
    most = sorted[sorted.length - 1] || 1,
    calm = sorted[Math.min(Math.ceil(CALM * sorted.length), sorted.length) - 1];

  return sorted.length > 8 && calm > 0 && most > OUTLIER * calm ? OUTLIER * calm : most;
}

class Instances {
  constructor(tables) {
    this.instances = tables.get("sampled_instances");
    this.metrics = tables.get("sampled_metrics");
    this.histogram = tables.get("sampled_histogram");
    this.recent = tables.get("sampled_recent");
    this.events = tables.has("sampling_events")
      ? tables
          .get("sampling_events")
          .all()
          .map(of => of.event)
      : [];
    this.contexts = new Map(); /* of a function: its ids, one for each calling context */
    for (let row = 0; row < this.instances.rows; row++) {
      const name = this.instances.get("function", row) || "?";

      if (!this.contexts.has(name)) this.contexts.set(name, new Set());
      this.contexts.get(name).add(this.instances.get("function_id", row));
    }
    const varies = this.metrics.all().find(of => of.varies && this.contexts.has(of.function));

    this.name = varies ? varies.function : [...this.contexts.keys()][0];
    this.key = null;
    this.apart = false;
    this.whole = false;
    this.tools = make("p", { class: "tools" });
    this.picture = make("div");
    this.words = make("figcaption");
    this.spread = make("div");
    this.last = make("div");
    this.element = make(
      "section",
      { id: "instances", "aria-label": "Measured calls over time" },
      make("h3", null, "Measured calls over time"),
      this.tools,
      make("figure", null, this.picture, this.words),
      make("figure", null, this.spread),
      make("figure", null, this.last),
    );
    selection.onChange(() => this.follow());
    this.change();
  }

  /* What the function is judged by: what varies, else its CPU time. */
  judgedKey() {
    const of = this.metrics.all().filter(row => this.isShown(row.function_id) && row.varies !== null),
      found = of.find(row => row.varies) || of[0];

    return found ? columnOf(found.metric, this.events) : "cpu_s";
  }

  isShown(id) {
    return this.contexts.get(this.name).has(id);
  }

  title(column) {
    const at = /^event_(\d)$/.exec(column.key);

    return (at && this.events[at[1] - 1]) || column.title || column.key;
  }

  /* Ranks, or threads where a rank has several. */
  seriesOf(table, row) {
    const rank = table.get("rank", row);

    return this.byThread ? rank + "." + table.get("thread", row) : String(rank);
  }

  seriesWords(series) {
    const [rank, thread] = series.split(".");

    return "rank " + rank + (thread === undefined ? "" : ", thread " + thread);
  }

  /* A function that is selected elsewhere is shown here. */
  follow() {
    const wanted = selection.get("function");

    if (this.contexts.has(wanted) && wanted !== this.name) {
      this.name = wanted;
      this.key = null;
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
    return Array.from({ length: this.instances.rows }, (_, row) => row).filter(row =>
      this.isShown(this.instances.get("function_id", row)),
    );
  }

  change() {
    const values = this.values(),
      rows = this.rows();

    if (this.key === null) this.key = this.judgedKey();
    if (!values.some(column => column.key === this.key)) this.key = "time_s";
    this.byThread = rows.some(row => this.instances.get("thread", row) !== this.instances.get("thread", rows[0]));
    this.series = [...new Set(rows.map(row => this.seriesOf(this.instances, row)))];
    const whole = make("input", {
      type: "checkbox",
      onchange: () => {
        this.whole = whole.checked;
        this.draw();
      },
    });
    whole.checked = this.whole;
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
        [...this.contexts.keys()].map(name => [name, name.slice(0, 80)]),
        this.name,
        name => {
          this.name = name;
          this.key = null;
          this.change();
        },
      ),
      chooser(
        "value",
        values.map(column => [column.key, this.title(column)]),
        this.key,
        key => {
          this.key = key;
          this.change();
        },
      ),
      make("label", null, apart, " a picture for each rank"),
      make("label", null, whole, " scale up to the longest call"),
    );
    this.draw();
  }

  strip(rows, bounds, told) {
    const column = this.instances.byKey.get(this.key),
      begin = this.instances.byKey.get("begin_s");
    let places = [],
      inverse = null;
    const draw = (c, width, height) => {
      const at = drawAxes(
        c,
        { left: 70, top: 12, width: width - 90, height: height - 36 },
        { least: bounds.begin, most: bounds.end, column: begin },
        { least: 0, most: bounds.most, column },
      );
      const wanted = selection.get("rank");

      places = rows.map(row => ({
        row,
        x: at.x(this.instances.get("begin_s", row)),
        y: at.y(Math.min(this.instances.get(this.key, row), bounds.most)),
        isAbove: this.instances.get(this.key, row) > bounds.most,
      }));
      for (const { row, x, y, isAbove } of places) {
        const chosen = wanted === this.instances.get("rank", row);

        c.globalAlpha = wanted === null || chosen ? 0.8 : 0.2;
        c.fillStyle = chosen && !this.byThread ? colours("accent") : this.colour(this.seriesOf(this.instances, row));
        if (isAbove) {
          c.beginPath();
          c.moveTo(x - 4, y);
          c.lineTo(x, y - 8);
          c.lineTo(x + 4, y);
          c.fill();
        } else c.fillRect(x - 2, y - 2, 4, 4);
      }
      c.globalAlpha = 1;
      inverse = x => bounds.begin + ((x - 70) / (width - 90)) * (bounds.end - bounds.begin);
      drawStretch(c, time => Math.min(Math.max(at.x(time), 70), width - 20), 12, height - 36);
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

  colour(series) {
    return colours(POINT[this.series.length > POINT.length ? 0 : this.series.indexOf(series)]);
  }

  legend() {
    return make(
      "p",
      { class: "legend" },
      ...(this.series.length > POINT.length
        ? [count(this.series.length) + (this.byThread ? " threads" : " ranks")]
        : this.series.map(series => {
            const key = make("i", { class: "key " + POINT[this.series.indexOf(series)] });

            return make("span", null, key, this.seriesWords(series));
          })),
    );
  }

  draw() {
    const rows = this.rows().filter(row => this.instances.get(this.key, row) !== null),
      column = this.instances.byKey.get(this.key);
    const all = rows.map(row => this.instances.get(this.key, row)),
      begins = rows.map(row => this.instances.get("begin_s", row));
    const ranks = [...new Set(rows.map(row => this.instances.get("rank", row)))].sort((a, b) => a - b);
    const longest = Math.max(...all) || 1,
      bounds = {
        begin: Math.min(...begins),
        end: Math.max(...begins),
        most: this.whole ? longest : robustMost(all),
      },
      title = this.title(column);

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
        this.legend(),
      );
    const above = all.filter(value => value > bounds.most).length;

    this.words.textContent =
      count(rows.length) +
      " measured calls: " +
      title +
      ". " +
      column.doc +
      (above
        ? " Above the scale: " + plural(above, "call") + ", the longest " + worded(column, longest) + " (triangles)."
        : "") +
      this.toldOf(all, column);
    this.drawSpread(all, column);
    this.drawLast(column);
  }

  /* Which of the measured metrics the value is. */
  metric() {
    const at = /^event_(\d)$/.exec(this.key);

    return at ? this.events[at[1] - 1] : { time_s: "time_s", cpu_s: "cpu_time_s" }[this.key];
  }

  toldOf(all, column) {
    const of = this.metrics.all().filter(row => this.isShown(row.function_id) && row.metric === this.metric()),
      sorted = [...all].sort((x, y) => x - y);
    const quantile = part => worded(column, sorted[Math.min(Math.ceil(part * sorted.length), sorted.length) - 1]);

    if (sorted.length < 8) return "";
    const trend =
      of.length !== 1 || of[0].trend_change === null
        ? ""
        : "; over the run it " +
          (of[0].trend_significant
            ? (of[0].trend_change > 0 ? "grows by " : "falls by ") + percent(Math.abs(of[0].trend_change))
            : "shows no certain trend") +
          " (estimate)";

    return " Half have at most " + quantile(0.5) + ", 90 % " + quantile(0.9) + ", 99 % " + quantile(0.99) + trend + ".";
  }

  /* Of all measured calls where the run kept a histogram, else of those in the picture. */
  drawSpread(all, column) {
    const kept = new Map();

    for (const of of this.histogram.all())
      if (this.isShown(of.function_id) && of.metric === this.metric())
        kept.set(of.begin, (kept.get(of.begin) || 0) + of.count);
    const bars = kept.size
      ? [...kept].sort((x, y) => x[0] - y[0]).map(([begin, n]) => ({ label: worded(column, begin), value: n }))
      : histogramOf(all, column);

    this.spread.replaceChildren(
      upright("number of calls by " + this.title(column) + "; each bar begins at its value", bars, value =>
        count(Math.round(value)),
      ),
      make("figcaption", null, "number of measured calls with at least this value, up to the next bar"),
    );
  }

  /* The last calls of each thread one after the other: a saw, a step or a ramp shows that a random choice hides. */
  drawLast(column) {
    const lines = new Map();

    for (let row = 0; this.recent && row < this.recent.rows; row++) {
      const value = this.recent.get(this.key, row),
        series = this.seriesOf(this.recent, row);

      if (!this.isShown(this.recent.get("function_id", row)) || value === null) continue;
      lines.set(series, [...(lines.get(series) || []), [this.recent.get("begin_s", row), value]]);
    }
    lines.forEach((line, series) =>
      lines.set(
        series,
        line.sort((x, y) => x[0] - y[0]).map(([, value]) => value),
      ),
    );
    const values = [...lines.values()].flat(),
      longest = Math.max(...[...lines.values()].map(line => line.length));

    this.last.replaceChildren();
    if (longest < 2) return;
    const most = this.whole ? Math.max(...values) || 1 : robustMost(values);
    const draw = (c, width, height) => {
      const at = drawAxes(
        c,
        { left: 70, top: 12, width: width - 90, height: height - 36 },
        { least: 1, most: longest, column: { type: "whole" } },
        { least: 0, most, column },
      );

      lines.forEach((line, series) => {
        c.strokeStyle = this.colour(this.series.includes(series) ? series : this.series[0]);
        c.lineWidth = 1.5;
        c.beginPath();
        line.forEach((value, i) => c.lineTo(at.x(i + 1), at.y(Math.min(value, most))));
        c.stroke();
      });
    };

    this.last.append(
      canvas(140, this.title(column) + " of the last measured calls, in their order", draw),
      make(
        "figcaption",
        null,
        "the last " + longest + " measured calls of each thread, in their order: " + this.title(column),
      ),
    );
  }
}

function instances(tables) {
  const table = tables.get("sampled_instances");

  return table && table.rows ? new Instances(tables).element : null;
}
