/* In page.html, live.html. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* What the machine did meanwhile: a line for each event of a node, along the run, one below the other. */

const LINES_MOST = 40;

/* Rows of sensor_series by the sensor that they are of. */
function pointsBySensor(series) {
  const found = new Map();

  for (let row = 0; row < series.rows; row++) {
    const id = series.get("sensor_id", row);

    if (!found.has(id)) found.set(id, []);
    found.get(id).push({
      begin: series.get("begin_s", row),
      end: series.get("end_s", row),
      mean: series.get("mean", row),
      most: series.get("most", row),
    });
  }
  return found;
}

/* A value with its unit, short: bytes by their size, others by digits. */
function sensed(value, unit) {
  return unit.startsWith("bytes") ? bytes(value) + unit.slice(5) : digits(value) + (unit ? " " + unit : "");
}

/* One event: steps from sample to sample, behind them what was the most. Dragging selects a stretch of time. */
function sensorLine(sensor, points, span, labels) {
  const left = 90,
    right = 12,
    height = 96,
    under = make("span", { class: "quiet" });
  const least = Math.min(0, ...points.map(point => point.mean)),
    most = Math.max(...points.map(point => point.most), least) || 1;
  const told =
    sensor.event +
    ", " +
    sensor.unit +
    ", over the run of " +
    seconds(span) +
    ": mean " +
    sensed(sensor.mean, sensor.unit) +
    ", most " +
    sensed(sensor.most, sensor.unit);
  const brief = value => sensed(value, sensor.unit.startsWith("bytes") ? "bytes" : ""); /* beside the unit */
  const timeAt = (x, width) => Math.min(Math.max((x - left) / (width - left - right), 0), 1) * span;
  const draw = (c, width) => {
    const box = { left, top: 8, width: width - left - right, height: height - 30 };
    const at = drawAxes(
      c,
      box,
      { least: 0, most: span, column: { type: "real", unit: "s" } },
      { least, most, column: null },
    );

    c.fillStyle = colours("quiet");
    c.textAlign = "right";
    c.textBaseline = "middle";
    [least, most].forEach(value => c.fillText(brief(value), left - 6, at.y(value)));
    c.textAlign = "left";
    c.fillStyle = c.strokeStyle = colours("compute");
    c.globalAlpha = 0.2;
    points.forEach(point =>
      c.fillRect(
        at.x(point.begin),
        at.y(point.most),
        at.x(point.end) - at.x(point.begin),
        at.y(point.mean) - at.y(point.most),
      ),
    );
    c.globalAlpha = 1;
    c.lineWidth = 1.5;
    c.beginPath();
    points.forEach((point, i) => {
      if (i && points[i - 1].end === point.begin) c.lineTo(at.x(point.begin), at.y(point.mean));
      else c.moveTo(at.x(point.begin), at.y(point.mean));
      c.lineTo(at.x(point.end), at.y(point.mean));
    });
    c.stroke();
    drawLabels(c, labels, at.x, left, width - right, box.top, box.height);
    drawStretch(c, at.x, box.top, box.height);
  };
  const picture = canvas(height, told, draw);

  dragged(picture, (from, to) =>
    selection.selectStretch(timeAt(from, picture.clientWidth), timeAt(to, picture.clientWidth)),
  );
  picture.addEventListener("pointermove", event => {
    const time = timeAt(event.offsetX, picture.clientWidth),
      point = points.find(of => of.begin <= time && time < of.end);

    under.textContent = point ? " at " + seconds(time) + ": " + sensed(point.mean, sensor.unit) : "";
  });
  picture.addEventListener("pointerleave", () => {
    under.textContent = "";
  });
  return make(
    "figure",
    { class: "sensor" },
    make("figcaption", null, make("b", null, sensor.event), " " + sensor.unit + ", mean " + brief(sensor.mean), under),
    sensor.about ? make("p", { class: "note" }, sensor.about) : null,
    picture,
  );
}

/* Events that never were anything but 0 are named only. */
function sensorLines(tables) {
  const sensors = tables.get("sensors"),
    series = tables.get("sensor_series"),
    nodes = tables.get("sensor_nodes"),
    place = make("div"),
    labels = tables.get("labels").all();

  if (!sensors || !sensors.rows || !series.rows) return null;
  const all = sensors.all(),
    points = pointsBySensor(series),
    hosts = [...new Set(all.map(sensor => sensor.host))];
  const span = Math.max(tables.get("run").get("elapsed_s", 0) || 0, ...nodes.all().map(node => node.end_s || 0));
  const show = host => {
    const here = all.filter(sensor => sensor.host === host && points.has(sensor.id)),
      live = here.filter(sensor => sensor.most || sensor.least),
      still = here.filter(sensor => !sensor.most && !sensor.least);

    place.replaceChildren(
      make(
        "div",
        { class: "several" },
        ...live.slice(0, LINES_MOST).map(sensor => sensorLine(sensor, points.get(sensor.id), span, labels)),
      ),
      ...(live.length > LINES_MOST
        ? [make("p", { class: "note" }, count(live.length - LINES_MOST) + " more are in the tables")]
        : []),
      ...(still.length
        ? [make("p", { class: "note" }, "0 all the time: " + still.map(sensor => sensor.event).join(", "))]
        : []),
    );
  };

  show(hosts[0]);
  return make(
    "section",
    { id: "sensor-lines", "aria-label": "Sensors over time" },
    make("h3", null, "Sensors over time"),
    make("p", { class: "note" }, "of the whole machine, not of this job alone. Drag to select a stretch of time"),
    hosts.length > 1
      ? make(
          "p",
          { class: "tools" },
          chooser(
            "node",
            hosts.map(host => [host, host]),
            hosts[0],
            show,
          ),
        )
      : null,
    place,
  );
}
