/* In live.html. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* The page of fvmpi live: one recording that grows, or one of a file, and charts of the events that were chosen, all of
 * the same stretch of time. */

const selection = {
  onChange() {},
  stretch() {
    return null;
  },
}; /* the report's page has one */

const FIRST_CHARTS = 12,
  CHART_TALL = 130 /* pixels */,
  AXIS_WIDE = 66,
  FOUND_MOST = 60,
  PALETTE = ["compute", "wait", "mpi", "threads", "code0", "code2", "call4", "poor"];
const token = new URLSearchParams(location.search).get("token") || "";
const state = {
  live: null,
  file: null /* recordings */,
  chosen: [] /* "sensor.event", in the order of their charts */,
  off: new Set() /* labels of series that are not drawn */,
  wanted: new Map() /* events that were asked for and have not come yet -> sources too? */,
  span_s: 60 /* that is seen, to the present */,
  view: null /* { from, to }: a stretch that stands still */,
  pointer: null /* a time */,
  events: [] /* of the machine, by sensor */,
};
const byId = id => document.getElementById(id);
const shown = () => state.file || state.live;
const eventOf = series => series.sensor + "." + series.event;
const url = path => path + "?token=" + encodeURIComponent(token);

function trouble(text) {
  byId("trouble").textContent = text || "";
}

async function control(command) {
  try {
    const answer = await fetch(url("/control"), { method: "POST", body: command });

    trouble(answer.ok ? "" : command.split(" ")[0] + ": " + (await answer.text()));
    return answer.ok;
  } catch (error) {
    trouble("no answer from fvmpi live: " + error.message);
    return false;
  }
}

/* ---- what is seen ---- */

function stretch() {
  const recording = shown();

  if (state.view) return state.view;
  if (state.file) return { from: recording.begin(), to: Math.max(recording.end(), recording.begin() + 1e-3) };
  const to = recording ? recording.end() : 0;

  return {
    from: Math.max(to - state.span_s, Math.min(recording ? recording.begin() : 0, to - 1)),
    to: Math.max(to, 1e-3),
  };
}

function clock(recording, time, digitsBehind) {
  const date = new Date(recording.header.start_realtime_ns / 1e6 + 1000 * time);

  return date.toLocaleTimeString("en-GB", {
    hour12: false,
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
    fractionalSecondDigits: digitsBehind || undefined,
  });
}

function setView(view) {
  state.view = view;
  byId("back").disabled = !view;
  byId("pause").setAttribute("aria-pressed", String(Boolean(view)));
  byId("pause").textContent = view && !state.file ? "resume" : "pause";
  soon();
}

/* ---- charts ---- */

/* Series of an event that are drawn, with their places. */
function seriesOf(recording, event) {
  return recording.series
    .map((series, index) => ({ series, index }))
    .filter(({ series }) => series && eventOf(series) === event)
    .map((one, i) => ({ ...one, colour: PALETTE[i % PALETTE.length], dash: Math.floor(i / PALETTE.length) % 4 }));
}

/* A line's name in the chart of its event; the host's, where there are several. */
function nameOf(recording, series) {
  const host = series.host || (recording.series.some(other => other && other.host) ? recording.header.host : "");

  return (host ? host + ": " : "") + (series.source === null ? "all together" : series.source || series.label);
}

/* Through what is known; where a pixel has several samples, from the least to the most of them. */
function drawLine(c, recording, index, at, from, to, width) {
  const first = Math.max(recording.at(from) - 1, 0),
    last = Math.min(recording.at(to) + 1, recording.times.length),
    per = (last - first) / Math.max(width, 1);
  const breaks = recording.breaks.filter(time => time >= from && time <= to);
  let open = false,
    pixel = null,
    least = 0,
    most = 0,
    value = 0,
    before = -Infinity;
  const end = () => {
    if (pixel !== null && per > 2) {
      c.lineTo(pixel, at.y(least));
      c.lineTo(pixel, at.y(most));
      c.lineTo(pixel, at.y(value));
    }
    pixel = null;
  };

  c.beginPath();
  for (let i = first; i < last; i++) {
    const found = recording.rows[i][index],
      time = recording.times[i];

    if (found === null || found === undefined) continue;
    const x = per > 2 ? Math.round(at.x(time)) : at.x(time);
    if (breaks.some(gone => gone >= before && gone < time)) {
      end();
      open = false;
    }
    before = time;
    value = found;
    if (!open) {
      c.moveTo(x, at.y(value));
      open = true;
    } else if (per <= 2) {
      c.lineTo(x, at.y(value));
    }
    if (x !== pixel) {
      end();
      pixel = x;
      least = most = value;
    }
    least = Math.min(least, value);
    most = Math.max(most, value);
  }
  end();
  c.stroke();
}

class Chart {
  constructor(event) {
    this.event = event;
    this.body = make("tbody");
    this.unit = make("span");
    this.second = null; /* an event with its own axis, on the right */
    this.other = make("select", {
      "aria-label": "event on the right axis of the chart of " + event,
      onchange: () => {
        this.second = this.other.value || null;
        soon();
      },
    });
    this.picture = canvas(CHART_TALL, event + " over time", (c, width, height) => this.draw(c, width, height));
    this.element = make(
      "figure",
      { class: "chart", "data-event": event },
      make(
        "figcaption",
        null,
        make("b", null, event),
        this.unit,
        this.other,
        make(
          "button",
          {
            type: "button",
            title: "remove",
            "aria-label": "remove the chart of " + event,
            onclick: () => choose(event, false),
          },
          "\u00d7",
        ),
      ),
      this.picture,
      scrolled(
        "values of " + event,
        make(
          "table",
          { class: "values" },
          make(
            "thead",
            { class: "unseen" },
            make(
              "tr",
              null,
              ...["line", "at the pointer", "least to most, mean"].map(name => make("th", { scope: "col" }, name)),
            ),
          ),
          this.body,
        ),
      ),
    );
    dragged(this.picture, (from, to) => {
      const times = [from, to].map(x => this.timeAt(x));
      if (times[1] > times[0]) setView({ from: times[0], to: times[1] });
    });
    this.picture.addEventListener("pointermove", event => {
      state.pointer = this.timeAt(event.offsetX);
      soon();
    });
    this.picture.addEventListener("pointerleave", () => {
      state.pointer = null;
      soon();
    });
    this.picture.addEventListener("dblclick", () => setView(null));
  }

  box(width, height) {
    return {
      left: AXIS_WIDE,
      top: 8,
      width: Math.max(width - AXIS_WIDE - (this.second ? AXIS_WIDE : 12), 10),
      height: height - 30,
    };
  }

  /* What may stand on the right: other events that have a chart. */
  offer(events) {
    const others = events.filter(event => event !== this.event);

    if (!others.includes(this.second)) this.second = null;
    this.other.hidden = !others.length;
    this.other.replaceChildren(
      make("option", { value: "" }, this.second ? "no right axis" : "add on the right ..."),
      ...others.map(event => make("option", { value: event, selected: event === this.second }, event)),
    );
  }

  /* Dotted, with numbers of its own. */
  drawSecond(c, recording, box, from, to) {
    const lines = seriesOf(recording, this.second).filter(({ series }) => !state.off.has(series.label)),
      sums = lines.map(({ index }) => recording.sums(index, from, to)).filter(sum => sum.count),
      unit = unitOf(lines),
      least = Math.min(0, ...sums.map(sum => sum.least)),
      most = Math.max(...sums.map(sum => sum.most), least) || 1;
    const at = {
      x: time => box.left + ((time - from) / (to - from || 1)) * box.width,
      y: value => box.top + box.height - ((value - least) / (most - least || 1)) * box.height,
    };

    c.save();
    c.beginPath();
    c.rect(box.left, box.top - 2, box.width, box.height + 4);
    c.clip();
    c.setLineDash([2, 3]);
    c.lineWidth = 1.5;
    lines.forEach(({ index }, i) => {
      c.strokeStyle = colours(PALETTE[PALETTE.length - 1 - (i % PALETTE.length)]);
      drawLine(c, recording, index, at, from, to, box.width);
    });
    c.restore();
    c.fillStyle = colours(PALETTE[PALETTE.length - 1]);
    c.textAlign = "left";
    c.textBaseline = "middle";
    [least, most].forEach(value => c.fillText(sensed(value, unit), box.left + box.width + 6, at.y(value)));
    this.range = { event: this.second, least, most };
  }

  timeAt(x) {
    const { from, to } = stretch(),
      box = this.box(this.picture.clientWidth, CHART_TALL);

    return from + Math.min(Math.max((x - box.left) / box.width, 0), 1) * (to - from);
  }

  draw(c, width, height) {
    const recording = shown(),
      box = this.box(width, height);

    if (!recording) return;
    const { from, to } = stretch(),
      lines = seriesOf(recording, this.event),
      seen = lines.filter(({ series }) => !state.off.has(series.label));
    const sums = new Map(lines.map(({ index }) => [index, recording.sums(index, from, to)])),
      known = seen.map(({ index }) => sums.get(index)).filter(sum => sum.count);
    const least = Math.min(0, ...known.map(sum => sum.least)),
      most = Math.max(...known.map(sum => sum.most), least) || 1,
      unit = unitOf(lines);
    const at = drawAxes(c, box, { least: from, most: to, column: null }, { least, most, column: null });

    this.unit.textContent = unit;
    this.words(c, box, recording, at, { from, to, least, most }, unit);
    c.save();
    c.beginPath();
    c.rect(box.left, box.top - 2, box.width, box.height + 4);
    c.clip();
    for (const { index, colour, dash } of seen) {
      c.strokeStyle = colours(colour);
      c.lineWidth = 1.5;
      c.setLineDash([[], [6, 3], [2, 2], [8, 3, 2, 3]][dash]);
      drawLine(c, recording, index, at, from, to, box.width);
    }
    c.setLineDash([]);
    this.marks(c, box, recording, at, from, to);
    c.restore();
    if (this.second) this.drawSecond(c, recording, box, from, to);
    this.table(recording, lines, sums, unit);
  }

  words(c, box, recording, at, { from, to, least, most }, unit) {
    const byteLike = unit.startsWith("bytes") ? unit : "";

    c.fillStyle = colours("quiet");
    c.textAlign = "right";
    c.textBaseline = "middle";
    [least, most].forEach(value => c.fillText(byteLike ? bytes(value) : digits(value), box.left - 6, at.y(value)));
    c.textBaseline = "top";
    c.textAlign = "center";
    const steps = Math.max(Math.floor(box.width / 110), 1),
      behind = (to - from) / steps < 0.2 ? 3 : (to - from) / steps < 2 ? 1 : 0;
    for (let i = 0; i <= steps; i++) {
      c.textAlign = i === 0 ? "left" : i === steps ? "right" : "center";
      c.fillText(
        clock(recording, from + ((to - from) * i) / steps, behind),
        box.left + (box.width * i) / steps,
        box.top + box.height + 4,
      );
    }
    c.textAlign = "left";
  }

  marks(c, box, recording, at, from, to) {
    const upright = (time, colour) => {
      c.strokeStyle = c.fillStyle = colours(colour);
      c.lineWidth = 1;
      c.beginPath();
      c.moveTo(at.x(time), box.top);
      c.lineTo(at.x(time), box.top + box.height);
      c.stroke();
    };

    c.setLineDash([4, 3]);
    c.textBaseline = "top";
    for (const label of recording.labels.filter(label => label.time_s >= from && label.time_s <= to)) {
      upright(label.time_s, "accent");
      c.fillText(label.text.slice(0, 40), at.x(label.time_s) + 3, box.top);
    }
    c.setLineDash([]);
    if (state.pointer !== null && state.pointer >= from && state.pointer <= to) upright(state.pointer, "text");
  }

  /* The legend: a line's name, its value, and between what it was in the stretch of time that is seen. */
  table(recording, lines, sums, unit) {
    const time = state.pointer === null ? recording.end() : state.pointer,
      worded = value => (value === null ? "-" : sensed(value, unit.startsWith("bytes") ? unit : ""));

    if (
      this.body.children.length !== lines.length ||
      lines.some(({ series }, i) => this.body.children[i].dataset.label !== series.label)
    )
      this.body.replaceChildren(...lines.map(line => this.legendRow(recording, line)));
    lines.forEach(({ series, index }, i) => {
      const row = this.body.children[i],
        sum = sums.get(index),
        value = recording.value(index, time);

      row.className = state.off.has(series.label) ? "off" : "";
      row.children[1].textContent =
        worded(value) + (value !== null && series.maximum > 0 ? " (" + percent(value / series.maximum) + ")" : "");
      row.children[2].textContent = sum.count
        ? worded(sum.least) + " to " + worded(sum.most) + ", mean " + worded(sum.mean)
        : "";
    });
  }

  legendRow(recording, { series, colour }) {
    const box = make("input", {
      type: "checkbox",
      onchange: () => {
        state.off[box.checked ? "delete" : "add"](series.label);
        soon();
      },
    });

    box.checked = !state.off.has(series.label);
    return make(
      "tr",
      { "data-label": series.label },
      make(
        "th",
        { class: "left", scope: "row" },
        make("label", null, box, make("span", { class: "key " + colour }), nameOf(recording, series)),
      ),
      make("td"),
      make("td", { class: "left note" }),
    );
  }
}

function unitOf(lines) {
  const series = lines.length ? lines[0].series : null;

  return !series ? "" : series.kind === "gauge" ? series.unit : series.unit === "s" ? "s/s" : series.unit + "/s";
}

const charts = new Map();

function showCharts() {
  for (const event of charts.keys()) if (!state.chosen.includes(event)) charts.delete(event);
  state.chosen.forEach(event => {
    if (!charts.has(event)) charts.set(event, new Chart(event));
  });
  charts.forEach(chart => chart.offer(state.chosen));
  byId("charts").replaceChildren(
    ...(state.chosen.length
      ? state.chosen.map(event => charts.get(event).element)
      : [make("p", { class: "note" }, "No event is chosen.")]),
  );
  soon();
}

let waiting = 0;

function soon() {
  waiting =
    waiting ||
    requestAnimationFrame(() => {
      waiting = 0;
      charts.forEach(chart => chart.picture.dispatchEvent(new Event("redraw")));
      showJob();
      showLabels();
    });
}

/* Where an experiment is followed, or was when this was saved. */
let jobView = null;

function showJob() {
  const recording = shown(),
    job = recording && recording.job;

  byId("job").hidden = !job;
  if (!job) return;
  jobView = jobView || new JobView(byId("job"), { stretch, job: () => shown() && shown().job });
  jobView.show();
}

function showLabels() {
  const recording = shown(),
    place = byId("labels");

  if (!recording || place.dataset.told === recording.header.start_monotonic_ns + "/" + recording.labels.length) return;
  place.dataset.told = recording.header.start_monotonic_ns + "/" + recording.labels.length;
  place.replaceChildren(
    ...(recording.labels.length
      ? [
          make("h2", null, "Labels"),
          make(
            "ul",
            null,
            ...recording.labels.slice(-50).map(label =>
              make(
                "li",
                null,
                make(
                  "button",
                  {
                    type: "button",
                    class: "pick",
                    onclick: () =>
                      setView({ from: label.time_s - state.span_s / 4, to: label.time_s + state.span_s / 4 }),
                  },
                  clock(recording, label.time_s, 1),
                ),
                " " + label.text,
              ),
            ),
          ),
        ]
      : []),
  );
}

/* ---- events ---- */

const isOurs = event => state.events.some(sensor => sensor.events.some(of => sensor.name + "." + of.name === event));

/* Those that are not sampled yet are asked for. */
function choose(event, is, sources = false) {
  const recording = shown(),
    have = recording ? seriesOf(recording, event) : [];

  if (!is) {
    state.chosen = state.chosen.filter(other => other !== event);
  } else {
    if (!state.chosen.includes(event)) state.chosen.push(event);
    if (
      !state.file &&
      isOurs(event) &&
      !have.some(({ series }) => !series.host && (sources ? series.source !== null : series.source === null))
    )
      control("watch " + event + (sources ? "@*" : "")).then(good => {
        if (!good && !have.length) choose(event, false);
      });
  }
  showCharts();
  showEvents();
}

function eventsOfRecording(recording) {
  const found = new Map();

  recording.series.filter(Boolean).forEach(series => {
    const sensor = found.get(series.sensor) || { name: series.sensor, about: "", sources: [""], events: [] };

    found.set(series.sensor, sensor);
    if (!sensor.events.some(event => event.name === series.event))
      sensor.events.push({ name: series.event, unit: series.unit, kind: series.kind, about: series.about || "" });
  });
  return [...found.values()];
}

/* Of other nodes alone. */
function ofOthers() {
  const all = state.live ? eventsOfRecording(state.live) : [];

  return all
    .map(sensor => ({ ...sensor, events: sensor.events.filter(event => !isOurs(sensor.name + "." + event.name)) }))
    .filter(sensor => sensor.events.length);
}

function showEvents() {
  const words = byId("search").value.toLowerCase().split(/\s+/).filter(Boolean),
    all = state.file ? eventsOfRecording(state.file) : [...state.events, ...ofOthers()];
  const found = all
    .flatMap(sensor => sensor.events.map(event => ({ sensor, event, name: sensor.name + "." + event.name })))
    .filter(({ sensor, event, name }) =>
      words.every(word =>
        (name + " " + sensor.about + " " + (event.about || "") + " " + event.unit).toLowerCase().includes(word),
      ),
    );

  byId("found").textContent =
    count(found.length) + " events" + (found.length > FOUND_MOST ? ", the first " + FOUND_MOST : "");
  byId("events").replaceChildren(
    ...found.slice(0, FOUND_MOST).map(({ sensor, event, name }) => {
      const box = make("input", { type: "checkbox", "data-event": name, onchange: () => choose(name, box.checked) });

      box.checked = state.chosen.includes(name);
      return make(
        "li",
        null,
        make("label", null, box, " " + name),
        make("small", null, [event.unit, event.kind].filter(Boolean).join(", ")),
        event.about ? make("small", null, event.about) : null,
        !state.file && sensor.sources.length > 1
          ? make(
              "button",
              { type: "button", "aria-label": "each source of " + name, onclick: () => choose(name, true, true) },
              "each of " + sensor.sources.length,
            )
          : null,
      );
    }),
  );
}

/* ---- what comes ---- */

function tellIdentity() {
  const recording = shown();

  byId("identity").textContent = recording
    ? (state.file ? "a recording of " : "") +
      (recording.job ? recording.header.job + ", followed on " : "") +
      recording.header.host +
      ", " +
      recording.header.kernel
    : "";
  if (recording && document.activeElement !== byId("interval")) byId("interval").value = String(recording.interval_s);
}

function tellStatus(status) {
  byId("status").textContent =
    "fvmpi live takes " +
    ((100 * status.cpu_s) / Math.max(status.seconds, 1e-3)).toFixed(2) +
    " % of a processor; " +
    plural(status.samples, "sample") +
    ", " +
    count(status.late) +
    " late, " +
    count(status.missed) +
    " left out; " +
    plural(status.clients, "page") +
    " open";
}

function takeHeader(header) {
  const is_first = !state.live;

  if (is_first || state.live.header.start_monotonic_ns !== header.start_monotonic_ns)
    state.live = new Recording(header);
  else state.live.takeSeries(header);
  state.live.interval_s = header.interval_s;
  if (is_first) state.chosen = [...new Set(header.series.map(eventOf))].slice(0, FIRST_CHARTS);
  tellIdentity();
  if (!state.file) showCharts();
  showEvents();
  document.documentElement.dataset.ready = "yes";
}

function listen() {
  const source = new EventSource(url("/stream"));

  source.addEventListener("header", event => {
    trouble("");
    takeHeader(JSON.parse(event.data));
  });
  source.addEventListener("status", event => tellStatus(JSON.parse(event.data)));
  source.addEventListener("missed", event => {
    state.live.missed();
    trouble("this page was too slow: " + plural(Number(event.data), "line") + " of samples are missing");
  });
  source.addEventListener("message", event => {
    const changed = event.data
      .split("\n")
      .map(line => state.live.take(JSON.parse(line)))
      .some(Boolean);

    if (changed) {
      tellIdentity();
      showEvents();
    }
    if (!state.file && (!state.view || changed)) soon();
    else if (!state.file) {
      showJob();
      showLabels();
    }
  });
  source.addEventListener("error", () =>
    trouble(
      source.readyState === EventSource.CLOSED
        ? "fvmpi live refused the connection, or has ended"
        : "connection lost; trying again",
    ),
  );
}

/* ---- tools ---- */

async function save() {
  const answer = await fetch(url("/record"));

  if (!answer.ok) return trouble("record: " + (await answer.text()));
  return download("fvmpi-live-" + state.live.header.host + ".jsonl", await answer.text(), "application/x-ndjson");
}

function load(file) {
  const reader = new FileReader();

  reader.addEventListener("load", () => {
    try {
      state.file = parseRecording(reader.result);
      state.chosen_live = state.chosen;
      state.chosen = [...new Set(state.file.series.filter(Boolean).map(eventOf))].slice(0, FIRST_CHARTS);
      trouble(state.file.wrong ? plural(state.file.wrong, "line") + " could not be read" : "");
      byId("unload").hidden = false;
      byId("status").hidden = true;
      showAll();
    } catch (error) {
      trouble(file.name + ": " + error.message);
    }
  });
  reader.addEventListener("error", () => trouble(file.name + ": it cannot be read"));
  reader.readAsText(file);
}

function unload() {
  state.file = null;
  state.chosen = state.chosen_live || [];
  byId("unload").hidden = true;
  byId("status").hidden = false;
  trouble("");
  showAll();
}

function showAll() {
  tellIdentity();
  setView(null);
  charts.clear();
  showCharts();
  showEvents();
}

function makeTools() {
  const button = (id, text, onclick) => make("button", { type: "button", id, onclick }, text);
  const file = make("input", {
    type: "file",
    id: "file",
    accept: ".jsonl,.json,application/x-ndjson",
    onchange: () => {
      if (file.files.length) load(file.files[0]);
      file.value = "";
    },
  });
  const interval = make("input", {
      id: "interval",
      class: "short",
      type: "number",
      min: "0.01",
      max: "60",
      step: "any",
    }),
    label = make("input", { id: "label", type: "text", maxlength: "200" });
  const ask = (id, words, input, text, send) =>
    make(
      "form",
      {
        id,
        onsubmit: event => {
          event.preventDefault();
          send();
        },
      },
      make("label", null, words + ": ", input),
      " ",
      make("button", { type: "submit" }, text),
    );

  byId("tools").append(
    timelineLink(),
    button("pause", "pause", () => setView(state.view ? null : { ...stretch() })),
    button("back", "all again", () => setView(null)),
    chooser(
      "seen",
      [
        ["10", "10 s"],
        ["60", "1 min"],
        ["300", "5 min"],
        ["1800", "30 min"],
        ["1e9", "all samples"],
      ],
      "60",
      value => {
        state.span_s = Number(value);
        setView(null);
      },
    ),
    ask("set-interval", "interval in s, for all viewers", interval, "set", () => control("interval " + interval.value)),
    ask("set-label", "label", label, "mark", async () => {
      if (label.value.trim() && (await control("label " + label.value))) label.value = "";
    }),
    button("save", "save the recording", save),
    make("label", null, "load a recording: ", file),
    button("unload", "back to live data", unload),
  );
  byId("back").disabled = true;
  byId("unload").hidden = true;
  byId("search").addEventListener("input", showEvents);
}

async function start() {
  makeTools();
  listen();
  state.events = await (await fetch(url("/events"))).json();
  showEvents();
}

/* When all scripts have run. */
queueMicrotask(() => start().catch(error => trouble("This browser could not show the page: " + error.message)));
