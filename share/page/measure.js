/* In measure.html. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* The page of fvmpi doctor --measure: plots of the tables of its JSON, which stands in the page. */

const LOST = [
  ["preempted_share", "preempted", "wait"],
  ["tick_share", "tick", "compute"],
  ["interrupt_share", "other interrupts", "threads"],
  ["steal_share", "steal", "poor"],
  ["unexplained_share", "unexplained", "quiet"],
];
const LINES = ["compute", "wait", "mpi", "threads", "code0", "code2", "call2", "accent"];

/* Rows of a table that JSON has as columns and rows. */
const objects = table => table.rows.map(row => Object.fromEntries(table.columns.map((key, i) => [key, row[i]])));
const section = (id, title, remark, ...inside) =>
  make(
    "section",
    { id, "aria-label": title },
    make("h3", null, title),
    make("p", { class: "note" }, remark),
    ...inside,
  );
/* The least exponent of a plot is that of this. */
const log = value => Math.log10(Math.max(value, 1e-12));

/* Grid and labels where an axis is logarithmic: [value, label]. */
function labelled(c, box, x, y, xs, ys) {
  const at = drawAxes(c, box, { ...x, column: null }, { ...y, column: null });

  c.fillStyle = colours("quiet");
  c.textAlign = "right";
  c.textBaseline = "middle";
  ys.filter(([value]) => value >= y.least && value <= y.most).forEach(([value, label]) =>
    c.fillText(label, box.left - 6, at.y(value)),
  );
  c.textAlign = "center";
  c.textBaseline = "top";
  xs.filter(([value]) => value >= x.least && value <= x.most).forEach(([value, label]) =>
    c.fillText(label, at.x(value), box.top + box.height + 4),
  );
  c.textAlign = "left";
  return at;
}

const decades = (least, most, word) =>
  Array.from({ length: Math.floor(most) - Math.ceil(least) + 1 }, (_, i) => [
    Math.ceil(least) + i,
    word(10 ** (Math.ceil(least) + i)),
  ]);
const inPlot = (width, height) => ({ left: 74, top: 8, width: width - 74 - 14, height: height - 30 });

function path(c, points) {
  c.beginPath();
  points.forEach(([x, y], i) => (i ? c.lineTo(x, y) : c.moveTo(x, y)));
  c.stroke();
}

function keys(entries) {
  return make(
    "p",
    { class: "legend" },
    ...entries.map(([word, colour]) => {
      const key = make("i", { class: "key " + colour });

      key.style.background = "var(--" + colour + ")";
      return make("span", null, key, word);
    }),
  );
}

/* ---- noise ---- */

const TRIALS_MOST = 16; /* processors with a picture of their own */

/* Percentiles above the mode, the tail drawn out: a line for each processor. */
function curves(rows) {
  const lines = rows.map(row => ({ cpu: row.cpu, points: objects(row.curve) }));
  const most = Math.max(...lines.map(line => Math.max(...line.points.map(point => -log(1 - point.part)))), 1);
  const values = lines.flatMap(line => line.points.map(point => 100 * point.above_share)).filter(value => value > 0);
  const least = Math.max(log(Math.min(...values, 1)), -4),
    top = Math.max(log(Math.max(...values, 1)), least + 1);
  const told = "percentiles above the mode in percent, of " + plural(lines.length, "processor");
  const draw = (c, width, height) => {
    const at = labelled(
      c,
      inPlot(width, height),
      { least: 0, most },
      { least, most: top },
      [[0, "0"], [log(2), "50 %"], ...[1, 2, 3, 4, 5].map(n => [n, +(100 * (1 - 10 ** -n)).toFixed(3) + " %"])],
      decades(least, top, value => value + " %"),
    );

    c.lineWidth = 1.5;
    lines.forEach((line, i) => {
      c.strokeStyle = colours(LINES[i % LINES.length]);
      path(
        c,
        line.points.map(point => [at.x(-log(1 - point.part)), at.y(Math.max(log(100 * point.above_share), least))]),
      );
    });
  };

  return make(
    "figure",
    null,
    lines.length <= LINES.length ? keys(lines.map((line, i) => ["processor " + line.cpu, LINES[i]])) : null,
    canvas(220, told, draw),
    make("figcaption", null, "x: share of the samples that are not above y; y: percent above the mode"),
  );
}

/* All samples in their order: a ramp at the begin, a spell that is slow, single spikes. */
function trials(row, most) {
  const parts = objects(row.trials),
    number = parts.length ? parts[parts.length - 1].first + parts[parts.length - 1].count : 0;
  const unit = { type: "real", unit: "s" },
    least = Math.min(...parts.map(part => part.least_s));
  const draw = (c, width, height) => {
    const at = drawAxes(
      c,
      { left: 70, top: 8, width: width - 90, height: height - 32 },
      { least: 0, most: number, column: { type: "whole" } },
      { least: log(least), most: log(most), column: null },
    );

    c.fillStyle = colours("quiet");
    c.textAlign = "right";
    c.textBaseline = "middle";
    const isApart = at.y(log(least)) - at.y(log(row.mode_s)) > 14;
    for (const value of isApart ? [least, row.mode_s, most] : [row.mode_s, most])
      c.fillText(worded(unit, value), 64, at.y(log(value)));
    c.textAlign = "left";
    for (const part of parts) {
      const x = at.x(part.first + part.count / 2),
        high = at.y(log(part.most_s)),
        low = at.y(log(part.least_s));

      c.fillStyle = colours("wait");
      c.fillRect(x - 0.5, high, 1, Math.max(low - high, 1));
      c.fillStyle = colours("compute");
      c.fillRect(x - 1, at.y(log(part.mean_s)) - 1, 2, 2);
    }
  };

  return make(
    "figure",
    { class: "trials" },
    canvas(110, "samples of processor " + row.cpu + " in their order, and how long each took", draw),
    make("figcaption", null, "processor " + row.cpu),
  );
}

/* An event in the same samples, below their times: their means, in parts. */
function countsInOrder(row, parts, at, event) {
  const known = parts.filter(part => part.counts[at] !== null && part.counts[at] !== undefined),
    number = parts[parts.length - 1].first + parts[parts.length - 1].count,
    most = Math.max(...known.map(part => part.counts[at]), 0),
    found = event.correlation;
  const draw = (c, width, height) => {
    const place = drawAxes(
      c,
      { left: 70, top: 6, width: width - 90, height: height - 12 },
      { least: 0, most: number, column: null },
      { least: 0, most: most || 1, column: null },
    );

    c.fillStyle = colours("quiet");
    c.textAlign = "right";
    c.textBaseline = "middle";
    for (const value of most ? [0, most] : [0]) c.fillText(count(value), 64, place.y(value));
    c.textAlign = "left";
    c.fillStyle = colours("threads");
    for (const part of known) c.fillRect(place.x(part.first + part.count / 2) - 1, place.y(part.counts[at]) - 1, 2, 2);
  };

  return make(
    "figure",
    { class: "counts" },
    canvas(64, event.event + " in the samples of processor " + row.cpu + " in their order", draw),
    make(
      "figcaption",
      null,
      event.event +
        ", mean " +
        count(event.mean) +
        " a sample" +
        (found === null ? "" : ", correlation with the times " + found.toFixed(2)),
    ),
  );
}

/* The times of a processor's samples, and below them the events that were counted in them. */
function trialsAndCounts(row, most, counts) {
  const parts = objects(row.trials),
    events = counts.filter(of => of.cpu === row.cpu && of.phase === row.phase);

  return [
    trials(row, most),
    ...(parts.some(part => part.counts.length) ? events.map((event, i) => countsInOrder(row, parts, i, event)) : []),
  ];
}

function inOrder(rows, counts) {
  const known = rows.filter(row => objects(row.trials).length && row.min_s > 0),
    most = Math.max(...known.map(row => row.max_s));

  if (!known.length) return null;
  return make(
    "details",
    null,
    make("summary", null, "In their order"),
    make(
      "p",
      { class: "note" },
      "x: number of the sample; y: its time, logarithmic: mean (dots), least to largest (bars)",
    ),
    ...known.slice(0, TRIALS_MOST).flatMap(row => trialsAndCounts(row, most, counts)),
    known.length > TRIALS_MOST ? make("p", { class: "note" }, "and " + (known.length - TRIALS_MOST) + " more") : null,
  );
}

function noise(data) {
  const kinds = [...new Set(data.noise.map(row => row.test + ", " + row.phase))],
    place = make("div");
  const show = kind => {
    const rows = data.noise.filter(row => row.test + ", " + row.phase === kind);

    place.replaceChildren(...[curves(rows), inOrder(rows, data.noise_counts)].filter(Boolean));
  };

  if (!kinds.length) return null;
  show(kinds[0]);
  return section(
    "noise",
    "Noise",
    "fixed work: time of the same work; fixed time: work done in periods of equal length, shown as lost time",
    make(
      "p",
      { class: "tools" },
      chooser(
        "test",
        kinds.map(kind => [kind, kind]),
        kinds[0],
        show,
      ),
    ),
    place,
  );
}

/* ---- detours ---- */

/* A dot for each gap. */
function gapsOf(row, least, most) {
  const gaps = objects(row.gaps),
    span = row.watched_s + row.blind_s;
  const told =
    "gaps of processor " + row.cpu + ", " + row.phase + ", over " + seconds(span) + ": " + count(row.gap_count);
  const draw = (c, width, height) => {
    const at = labelled(
      c,
      inPlot(width, height),
      { least: 0, most: span },
      { least, most },
      ticks(0, span, 6).map(value => [value, seconds(value)]),
      decades(least, most, seconds),
    );

    gaps.forEach(gap => {
      c.fillStyle = colours(gap.delay_s > gap.length_s / 2 ? "wait" : "compute");
      c.fillRect(at.x(gap.begin_s) - 1, at.y(log(gap.length_s)) - 1, 3, 3);
    });
  };

  return make(
    "figure",
    { class: "gaps" },
    make(
      "figcaption",
      null,
      make("b", null, "processor " + row.cpu + ", " + row.phase),
      " " +
        count(row.gap_count) +
        " gaps" +
        (gaps.length < row.gap_count ? ", the " + count(gaps.length) + " longest drawn" : "") +
        ", lost " +
        (100 * row.lost_share).toPrecision(3) +
        " %",
    ),
    canvas(120, told, draw),
  );
}

/* Where the time of gaps went. */
function lost(row) {
  const bar = make("span", { class: "bar stack" });

  LOST.forEach(([key, , colour]) => {
    const part = make("i");

    part.style.width = 100 * (row[key] || 0) + "%";
    part.style.background = "var(--" + colour + ")";
    bar.append(part);
  });
  return make(
    "li",
    null,
    make("span", null, "processor " + row.cpu + ", " + row.phase),
    make("span", { class: "value" }, (100 * row.lost_share).toPrecision(3) + " %"),
    bar,
  );
}

function periods(rows) {
  const found = rows.flatMap(row =>
    row.periods.map(period => [
      row.cpu,
      row.phase,
      period.among,
      seconds(period.period_s),
      percent(period.gaps_share),
      period.strength.toFixed(2),
      period.what || "",
    ]),
  );

  return found.length
    ? table("periods", ["processor", "others", "among", "period", "of the gaps", "strength", "cause"], found)
    : make("p", { class: "note" }, "no significant period");
}

function detours(data) {
  const rows = data.detours,
    lengths = rows.flatMap(row => objects(row.gaps).map(gap => gap.length_s));
  const least = log(data.measurement.threshold_s),
    most = Math.max(log(lengths.reduce((a, b) => Math.max(a, b), 0)), least + 1);

  if (!rows.length) return null;
  return section(
    "detours",
    "Detours",
    "gaps of at least " +
      seconds(data.measurement.threshold_s) +
      " of a loop that only reads the clock: their lengths over time",
    keys([
      ["mostly preempted", "wait"],
      ["other", "compute"],
    ]),
    ...rows.map(row => gapsOf(row, least, most)),
    make("h4", null, "Where the time went"),
    keys(LOST.map(([, word, colour]) => [word, colour])),
    make("ul", { class: "shares wide" }, ...rows.map(lost)),
    make("h4", null, "Periods"),
    periods(rows),
  );
}

/* ---- memory ---- */

/* Lines over a logarithmic axis: [{ colour, points: [[x, y]] }]; marks: [x, label]. */
function logLines(told, lines, word, marks) {
  const xs = lines.flatMap(line => line.points.map(([x]) => Math.log2(x))),
    ys = lines.flatMap(line => line.points.map(([, y]) => log(y)));
  const least = Math.min(...xs),
    most = Math.max(...xs),
    low = Math.min(...ys),
    high = Math.max(...ys, low + 0.5);
  const draw = (c, width, height) => {
    const labels = Array.from({ length: Math.floor(most) - Math.ceil(least) + 1 }, (_, i) => Math.ceil(least) + i)
      .filter(n => n % 2 === 0)
      .map(n => [n, word(2 ** n)]);
    const box = inPlot(width, height),
      at = labelled(
        c,
        box,
        { least, most },
        { least: low, most: high },
        labels,
        ticks(low, high, 4).map(value => [value, seconds(10 ** value)]),
      );

    marks
      .filter(([x]) => Math.log2(x) >= least && Math.log2(x) <= most)
      .forEach(([x, label]) => {
        c.fillStyle = c.strokeStyle = colours("accent");
        path(c, [
          [at.x(Math.log2(x)), box.top],
          [at.x(Math.log2(x)), box.top + box.height],
        ]);
        c.fillText(label, at.x(Math.log2(x)) + 4, box.top + 2);
      });
    c.lineWidth = 1.5;
    lines.forEach(line => {
      c.strokeStyle = colours(line.colour);
      path(
        c,
        line.points.map(([x, y]) => [at.x(Math.log2(x)), at.y(log(y))]),
      );
    });
  };

  return make("figure", null, canvas(240, told, draw));
}

function table(id, heads, rows) {
  return scrolled(
    id,
    make(
      "table",
      { id },
      make("thead", null, make("tr", null, ...heads.map(head => make("th", null, head)))),
      make(
        "tbody",
        null,
        ...rows.map(row => make("tr", null, ...row.map(cell => make("td", null, cell === null ? "" : String(cell))))),
      ),
    ),
  );
}

const above = value =>
  value === null ? "" : (Math.abs(value) < 1000 ? Number(value.toPrecision(3)) : Math.round(value)) + " %";

function branches(data) {
  const rows = data.branches,
    cost = data.measurement.misprediction_s;

  return rows.length
    ? section(
        "branches",
        "Branches",
        "a loop with one branch, on the first processor" +
          (cost === null ? "" : "; a wrongly predicted branch costs " + seconds(Math.max(cost, 0))),
        table(
          "branches",
          ["directions", "samples", "mode", "p50", "p99", "max", "max %"],
          rows.map(row => [
            row.pattern,
            count(row.samples),
            seconds(row.mode_s),
            seconds(row.p50_s),
            row.p99_s === null ? "" : seconds(row.p99_s),
            seconds(row.max_s),
            above(row.max_percent),
          ]),
        ),
      )
    : null;
}

function latency(data) {
  const rows = data.memory_latency;

  if (!rows.length) return null;
  return section(
    "latency",
    "Latency by working set",
    "a pointer chase on the first processor; marks: sizes of caches, source: " +
      (data.measurement.sizes_from || "not known"),
    keys([
      ["median", "compute"],
      ["largest of the repeated measurements", "wait"],
    ]),
    logLines(
      "latency of a step by working set",
      [
        { colour: "wait", points: rows.map(row => [row.bytes, row.max_s]) },
        { colour: "compute", points: rows.map(row => [row.bytes, row.p50_s]) },
      ],
      bytes,
      data.caches.map(cache => [cache.bytes, cache.level]),
    ),
    table(
      "levels",
      ["level", "from", "to", "latency", "p50 %", "p90 %", "p99 %", "max %"],
      data.memory_levels.map(row => [
        row.level,
        bytes(row.from_bytes),
        bytes(row.to_bytes),
        seconds(row.latency_s),
        above(row.p50_percent),
        above(row.p90_percent),
        above(row.p99_percent),
        above(row.max_percent),
      ]),
    ),
  );
}

function pages(data) {
  const rows = data.memory_tlb;

  return rows.length
    ? section(
        "tlb",
        "Latency by pages",
        "pointer chase through one line of each page, and through as many adjacent lines",
        keys([
          ["one line of each page", "compute"],
          ["adjacent lines", "quiet"],
        ]),
        logLines(
          "latency of a step by number of pages",
          [
            { colour: "quiet", points: rows.map(row => [row.pages, row.dense_s]) },
            { colour: "compute", points: rows.map(row => [row.pages, row.paged_s]) },
          ],
          count,
          data.measurement.tlb_pages ? [[data.measurement.tlb_pages, "reach"]] : [],
        ),
      )
    : null;
}

function bandwidth(data) {
  const rows = data.memory_bandwidth;

  return rows.length
    ? section(
        "bandwidth",
        "Bandwidth",
        "bytes that loops read and write; reads caused by writes are not counted",
        table(
          "bandwidths",
          ["loop", "processors", "arrays", "a second", "p90 %", "max %"],
          rows.map(row => [
            row.kernel,
            row.processors,
            bytes(row.bytes),
            bytes(row.bytes_per_s),
            above(row.p90_percent),
            above(row.max_percent),
          ]),
        ),
      )
    : null;
}

/* ---- the page ---- */

function conditions(data) {
  const m = data.measurement;

  return [
    [
      data.machine.host,
      data.machine.kernel && "Linux " + data.machine.kernel,
      "processors " + m.cpus,
      m.elapsed_s.toFixed(1) + " s",
      "clock: " + m.clock,
    ]
      .filter(Boolean)
      .join(", "),
    m.interrupted && "interrupted: results until then",
    m.guest && "virtual machine: results show the guest, including what the host does",
    ...data.noise_events
      .filter(({ refused }) => refused !== null)
      .map(({ event, refused }) => event + " is not counted: " + refused),
    m.others_processors === null
      ? "not known whether other tasks ran at the same time"
      : "other tasks used " + m.others_processors.toPrecision(2) + " processors on average at the same time",
  ].filter(Boolean);
}

function start() {
  const data = JSON.parse(document.getElementById("data").textContent);

  document.getElementById("title").textContent = "Noise and memory of " + (data.machine.host || "this machine");
  document.getElementById("conditions").replaceChildren(...conditions(data).flatMap(line => [line, make("br")]));
  document
    .getElementById("measured")
    .append(...[noise, detours, branches, latency, pages, bandwidth].map(part => part(data)).filter(Boolean));
}

/* When all scripts have run. */
queueMicrotask(start);
