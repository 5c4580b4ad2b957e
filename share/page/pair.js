/* In page.html. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Two of all that is known over time, in one picture: each has an axis of its own, one on the left, one on the right.
 * They are sensors, memory and MPI of ranks, and values of measured calls and of instances of sections. */

/* All series: { name, unit, points: [{ begin, end, value }] by begin }; end equals begin where a value is of a
 * moment. */
function timeSeries(tables) {
  return [
    ...sensorSeries(tables),
    ...memorySeries(tables),
    ...mpiSeries(tables),
    ...callSeries(tables),
    ...sectionSeries(tables),
  ]
    .filter(({ points }) => points.some(({ value }) => value))
    .map(of => ({ ...of, points: of.points.sort((a, b) => a.begin - b.begin) }));
}

/* Rows of a table as series, one for each name. take: a row as [name, begin, end, value]; null: none. */
function grouped(table, unit, take) {
  const found = new Map();

  if (table)
    for (const row of table.all()) {
      const [name, begin, end, value] = take(row) || [];

      if (name === undefined || value === null || value === undefined) continue;
      if (!found.has(name)) found.set(name, { name, unit, points: [] });
      found.get(name).points.push({ begin, end, value });
    }
  return [...found.values()];
}

function sensorSeries(tables) {
  const sensors = tables.get("sensors").all(),
    hosts = new Set(sensors.map(({ host }) => host)).size,
    points = pointsBySensor(tables.get("sensor_series"));

  return sensors
    .filter(({ id }) => points.has(id))
    .map(({ id, event, unit, host }) => ({
      name: event + (hosts > 1 ? " on " + host : ""),
      unit,
      points: points.get(id).map(({ begin, end, mean }) => ({ begin, end, value: mean })),
    }));
}

function memorySeries(tables) {
  return grouped(tables.get("memory_series"), "bytes", of => [
    "memory of rank " + of.rank,
    of.begin_s,
    of.end_s,
    of.last_bytes,
  ]);
}

const MPI_SHARE = "part of the time in MPI, rank ";

function mpiSeries(tables) {
  const ranks = tables.get("ranks"),
    bins = tables.get("timeline"),
    lasts = bins && bins.rows && bins.has("end_s") ? bins.get("end_s", 0) - bins.get("begin_s", 0) : 0;

  return lasts
    ? ranks.all().map(of => ({
        name: MPI_SHARE + of.rank,
        unit: "share",
        points: (of.mpi_shares || [])
          .map((value, i) => ({ begin: i * lasts, end: (i + 1) * lasts, value }))
          .filter(({ value }) => value !== null),
      }))
    : [];
}

function callSeries(tables) {
  const events = tables.has("sampling_events")
      ? tables
          .get("sampling_events")
          .all()
          .map(of => of.event)
      : [],
    of = (key, unit, word) =>
      grouped(tables.get("sampled_instances"), unit, row => [
        word + " of calls of " + (row.function || "?"),
        row.begin_s,
        row.begin_s,
        row[key],
      ]);

  return [
    ...of("time_s", "s", "time"),
    ...of("cpu_s", "s", "CPU time"),
    ...events.flatMap((event, i) => of("event_" + (i + 1), "", event)),
  ];
}

function sectionSeries(tables) {
  return grouped(tables.get("section_instances"), "s", of => [
    "time of section " + of.section + ", rank " + of.rank,
    of.begin_s,
    of.begin_s,
    of.elapsed_s,
  ]);
}

const PAIR = ["compute", "wait"]; /* colours of the left one and the right one */

class Pair {
  constructor(series, span, labels) {
    const other = series.findIndex(({ unit }) => unit !== series[0].unit); /* else one scale would do */

    Object.assign(this, { series, span, labels, chosen: [0, Math.max(other, 1)] });
    this.picture = canvas(
      180,
      "two series over the run, one with its axis on the left, one with its axis on the right; " +
        "their values are in the tables",
      (c, width) => this.draw(c, width),
    );
    this.under = make("span", { class: "quiet" });
    dragged(this.picture, (from, to) => selection.selectStretch(this.timeAt(from), this.timeAt(to)));
    this.picture.addEventListener("pointermove", event => this.tell(this.timeAt(event.offsetX)));
    this.picture.addEventListener("pointerleave", () => {
      this.under.textContent = "";
    });
    this.element = make(
      "section",
      { id: "pair", "aria-label": "Two over time" },
      make("h3", null, "Two over time, each with its own axis"),
      make("p", { class: "note" }, "Drag to select a stretch of time"),
      make("p", { class: "tools" }, ...[0, 1].map(side => this.choice(side))),
      make(
        "figure",
        null,
        this.picture,
        make(
          "figcaption",
          null,
          "A line has the mean between two samples; dots are values of single calls.",
          this.under,
        ),
      ),
    );
    this.element.view = this;
  }

  choice(side) {
    return make(
      "span",
      null,
      make("i", { class: "key " + PAIR[side] }),
      chooser(
        side ? "right axis" : "left axis",
        this.series.map(({ name }, i) => [String(i), name]),
        String(this.chosen[side]),
        value => {
          this.chosen[side] = Number(value);
          this.picture.dispatchEvent(new Event("redraw"));
        },
      ),
    );
  }

  box(width) {
    return { left: 90, top: 20, width: Math.max(width - 180, 10), height: 130 };
  }
  timeAt(x) {
    const { left, width } = this.box(this.picture.clientWidth);

    return Math.min(Math.max((x - left) / width, 0), 1) * this.span;
  }

  of(side) {
    return this.series[this.chosen[side]];
  }

  /* What it is at a time: of the interval there, or the last value before; null: none. */
  valueAt({ points }, time) {
    const at = points.findLast(point => point.begin <= time);

    return at && (at.end === at.begin || time <= at.end) ? at.value : null;
  }

  word({ unit }, value) {
    return ["s", "share"].includes(unit) ? worded({ type: "real", unit }, value) : sensed(value, unit);
  }

  tell(time) {
    this.under.textContent =
      " At " +
      seconds(time) +
      ": " +
      [0, 1]
        .map(side => [this.of(side), this.valueAt(this.of(side), time)])
        .map(([of, value]) => of.name + " " + (value === null ? "not known" : this.word(of, value)))
        .join(", ");
  }

  draw(c, width) {
    const box = this.box(width);

    [0, 1].forEach(side => {
      const of = this.of(side),
        values = of.points.map(({ value }) => value),
        range = values.reduce(({ least, most }, v) => ({ least: Math.min(least, v), most: Math.max(most, v) }), {
          least: 0,
          most: 0,
        });
      const axis = {
        least: range.least,
        most: range.most > range.least ? range.most + 0.04 * (range.most - range.least) : range.least + 1,
        column: null,
      };
      const at = side
        ? this.scale(box, axis)
        : drawAxes(c, box, { least: 0, most: this.span, column: { type: "real", unit: "s" } }, axis);

      this.drawScale(c, box, side, of, axis, at);
      this.drawPoints(c, of.points, at, colours(PAIR[side]));
    });
    drawLabels(
      c,
      this.labels,
      time => this.scale(box, { least: 0, most: 1 }).x(time),
      box.left,
      box.left + box.width,
      box.top,
      box.height,
    );
    drawStretch(c, time => this.scale(box, { least: 0, most: 1 }).x(time), box.top, box.height);
  }

  /* As drawAxes(), without a grid. */
  scale(box, { least, most }) {
    return {
      x: time => box.left + (time / (this.span || 1)) * box.width,
      y: value => box.top + box.height - ((value - least) / (most - least)) * box.height,
    };
  }

  /* Numbers in the colour of their line, and above them its unit. */
  drawScale(c, box, side, of, { least, most }, at) {
    const edge = side ? box.left + box.width + 6 : box.left - 6;

    c.fillStyle = colours("text");
    c.textAlign = side ? "left" : "right";
    c.textBaseline = "middle";
    for (const value of ticks(least, most, 4)) c.fillText(this.word(of, value), edge, at.y(value));
    c.fillStyle = colours(PAIR[side]);
    c.fillRect(side ? box.left + box.width : box.left - 2, box.top, 2, box.height);
    c.textAlign = "left";
  }

  drawPoints(c, points, at, colour) {
    c.strokeStyle = c.fillStyle = colour;
    c.lineWidth = 1.5;
    c.beginPath();
    points.forEach(({ begin, end, value }, i) => {
      if (end === begin) {
        c.fillRect(at.x(begin) - 1.5, at.y(value) - 1.5, 3, 3);
        return;
      }
      if (i && Math.abs(points[i - 1].end - begin) < 1e-9) c.lineTo(at.x(begin), at.y(value));
      else c.moveTo(at.x(begin), at.y(value));
      c.lineTo(at.x(end), at.y(value));
    });
    c.stroke();
  }
}

/* The picture of MPI alone is with the ranks. */
function eventPair(tables) {
  const series = timeSeries(tables),
    nodes = tables.get("sensor_nodes").all(),
    span = Math.max(tables.get("run").get("elapsed_s", 0) || 0, ...nodes.map(node => node.end_s || 0));

  return series.length > 1 && span && series.some(({ name }) => !name.startsWith(MPI_SHARE))
    ? new Pair(series, span, tables.get("labels").all()).element
    : null;
}
