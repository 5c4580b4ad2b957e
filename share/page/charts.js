/* In page.html, live.html, measure.html, view.html. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Charts on canvas: bars of the ranks, and matrices of colours. Each stands above the table that it is made of. */

const colours = name =>
  getComputedStyle(document.documentElement)
    .getPropertyValue("--" + name)
    .trim();

/* A canvas as wide as its place, drawn anew when that, or what is selected, changes, or it gets the event "redraw";
 * told: what stands in it, for who does not see it. tall: pixels, or what says how many there are. */
function canvas(tall, told, draw, pick) {
  const element = make("canvas", { role: "img", "aria-label": told });
  const redraw = () => {
    const width = element.clientWidth,
      height = typeof tall === "function" ? tall() : tall,
      ratio = devicePixelRatio || 1;

    if (!width) return;
    element.style.height = height + "px";
    element.width = width * ratio;
    element.height = height * ratio;
    const context = element.getContext("2d");
    context.scale(ratio, ratio);
    context.font = "12px " + getComputedStyle(document.body).fontFamily;
    draw(context, width, height);
  };
  let waiting = 0;
  const soon = () => {
    waiting =
      waiting ||
      requestAnimationFrame(() => {
        waiting = 0;
        redraw();
      });
  };

  element.style.height = (typeof tall === "function" ? tall() : tall) + "px";
  new ResizeObserver(soon).observe(element);
  selection.onChange(soon);
  element.addEventListener("redraw", soon);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", soon);
  if (pick) element.addEventListener("click", event => pick(event.offsetX, event.offsetY, element.clientWidth));
  return element;
}

/* A stretch that is dragged over, in pixels from left to right; the click that ends it picks nothing. `when`: which
 * drags. */
function dragged(element, stretch, when = () => true) {
  let from = null,
    moved = false;

  element.addEventListener("pointerdown", event => {
    from = when(event) ? event.offsetX : null;
    moved = false;
    if (from !== null) element.setPointerCapture(event.pointerId); /* it may end beyond the picture */
  });
  element.addEventListener("pointerup", event => {
    const to = Math.min(Math.max(event.offsetX, 0), element.clientWidth);

    moved = from !== null && Math.abs(to - from) > 4;
    if (moved) stretch(Math.min(from, to), Math.max(from, to));
    from = null;
  });
  element.addEventListener(
    "click",
    event => {
      if (moved) event.stopImmediatePropagation();
      moved = false;
    },
    true,
  );
  return element;
}

/* The selected stretch of time, where x() says where times stand. */
function drawStretch(c, x, top, height) {
  const span = selection.stretch();

  if (!span) return;
  c.globalAlpha = 0.15;
  c.fillStyle = colours("accent");
  c.fillRect(x(span.from), top, x(span.to) - x(span.from), height);
  c.globalAlpha = 1;
  c.strokeStyle = colours("accent");
  c.lineWidth = 1;
  c.strokeRect(x(span.from), top + 0.5, x(span.to) - x(span.from), height - 1);
}

/* Moments that were marked: a line each, with its text where there is room. */
function drawLabels(c, labels, x, left, right, top, height) {
  let free = left;

  c.textAlign = "left";
  c.textBaseline = "top";
  for (const label of labels) {
    const at = x(label.at_s),
      wide = c.measureText(label.text.slice(0, 40)).width;

    if (at < left || at > right) continue;
    c.fillStyle = colours("accent");
    c.fillRect(at - 0.5, top, 1, height);
    if (at >= free && at + wide + 8 < right) {
      c.fillText(label.text.slice(0, 40), at + 4, top);
      free = at + wide + 12;
    }
  }
}

/* Red, green and blue of "#123456" or "rgb(1,2,3)". */
const channels = colour =>
  colour.startsWith("#")
    ? colour.match(/[0-9a-f]{2}/gi).map(two => parseInt(two, 16))
    : colour.match(/\d+/g).map(Number);

/* Between two of the page's colours. */
function blend(from, to, part) {
  const [first, last] = [from, to].map(name => channels(colours(name)));

  return "rgb(" + first.map((value, i) => Math.round(value + (last[i] - value) * part)).join(",") + ")";
}

/* From the page's ground to the colour that stands out most: by lightness alone, which also those see who see no
 * colours. */
const shade = part => blend("least", "most", part);

/* From one colour over the page's ground, at 0.5, to another. */
const diverging = part => (part < 0.5 ? blend("least", "compute", 1 - 2 * part) : blend("least", "poor", 2 * part - 1));

/* Black or white, whichever is the easier to read on a colour (WCAG 2, relative luminance). */
const readable = colour => (luminance(colour) > 0.179 ? "#000" : "#fff");
function luminance(colour) {
  const [red, green, blue] = channels(colour).map(value => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });

  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

const PARTS = [
  ["compute_share", "computing", "compute"],
  ["thread_wait_share", "waiting for threads", "threads"],
  ["mpi_share", "other time in MPI", "mpi"],
  ["wait_share", "waiting for ranks", "wait"],
];

/* Of a rank's time: computing, of that waiting for its threads, MPI, of that waiting; polling is waiting as well. */
function parts(ranks, row) {
  const [compute, threads, mpi, wait] = PARTS.map(([key]) => ranks.get(key, row) || 0);
  const polled = ranks.get("polled_share", row) || 0,
    asked = ranks.get("asked_s", row) / ranks.get("app_time_s", row) || 0;

  const waits = Math.min(wait, Math.max(mpi - asked, 0));

  return [Math.max(compute - threads, 0), threads, Math.max(mpi - waits - asked, 0), waits + polled + asked];
}

function legend(present) {
  return make(
    "p",
    { class: "legend" },
    ...PARTS.filter((_, i) => present[i]).map(([, word, colour]) =>
      make("span", null, make("i", { class: "key " + colour }), word),
    ),
  );
}

/* Of bars side by side: few are no wider than that. */
const WIDEST = 90;
const barWidth = (width, bars) => Math.min(width / bars, WIDEST);

/* A bar for each rank, by rank; above 500 ranks a band for each group of neighbours, with their mean. */
function rankBars(ranks) {
  const group = Math.ceil(ranks.rows / 500),
    bars = Math.ceil(ranks.rows / group);
  const values = Array.from({ length: bars }, (_, bar) => {
    const rows = Array.from({ length: Math.min(group, ranks.rows - bar * group) }, (_, i) => bar * group + i);
    const each = rows.map(row => parts(ranks, row));

    return PARTS.map((_, part) => each.reduce((sum, of) => sum + of[part], 0) / rows.length);
  });
  const height = 160;
  const draw = (c, width) => {
    const step = barWidth(width, bars);

    values.forEach((of, bar) => {
      let y = height;

      of.forEach((share, part) => {
        c.fillStyle = colours(PARTS[part][2]);
        c.fillRect(bar * step, y - share * height, Math.max(step - (step > 4 ? 1 : 0), 0.5), share * height);
        y -= share * height;
      });
      if (Math.floor(selection.get("rank") / group) === bar && selection.get("rank") !== null) {
        c.strokeStyle = colours("text");
        c.lineWidth = 2;
        c.strokeRect(bar * step + 1, 1, Math.max(step - 2, 1), height - 2);
      }
    });
  };
  const told =
    "time of " +
    plural(ranks.rows, "rank") +
    ", left to right: computing, MPI and waiting, each as part of the rank's time" +
    (group > 1 ? "; a bar is the mean of " + group + " ranks" : "");

  return make(
    "figure",
    null,
    legend(PARTS.map((_, part) => values.some(of => of[part] > 0))),
    canvas(height, told, draw, (x, y, width) => {
      const bar = Math.floor(x / barWidth(width, bars));

      if (bar < bars) selection.toggle("rank", ranks.get("rank", bar * group));
    }),
    make("figcaption", null, told + "; a click selects the rank"),
  );
}

const SQUARE = { most: 48, least: 6, width: 620 }; /* pixels */

/* Of square cells; 0: they are too many. */
function squareSide(rows, columns) {
  const side = Math.min(SQUARE.most, Math.floor(SQUARE.width / columns));

  return side >= SQUARE.least && rows * side <= 2 * SQUARE.width ? side : 0;
}

/* rows x columns of numbers 0..1 as colours; rows may be many more than pixels: the mean of those that share one.
 * lasts: s, where columns are the time of the run. */
function heat(
  told,
  rows,
  columns,
  value,
  marks,
  pick,
  { ends = ["0 %", "100 %"], lasts = 0, palette = shade, side = 0 } = {},
) {
  const height = side ? rows * side : Math.max(Math.min(rows * 14, 320), 60);
  const draw = (c, width) => {
    const steps = Array.from({ length: 65 }, (_, step) => palette(step / 64));
    const tall = Math.min(rows, height),
      wide = Math.min(columns, Math.floor(width));

    for (let y = 0; y < tall; y++) {
      const from = Math.floor((y * rows) / tall),
        to = Math.max(Math.floor(((y + 1) * rows) / tall), from + 1);

      for (let x = 0; x < wide; x++) {
        const first = Math.floor((x * columns) / wide),
          end = Math.max(Math.floor(((x + 1) * columns) / wide), first + 1);
        let sum = 0,
          n = 0;

        for (let row = from; row < to; row++)
          for (let column = first; column < end; column++) {
            const v = value(row, column);

            if (v !== null) {
              sum += v;
              n++;
            }
          }
        if (n) {
          c.fillStyle = steps[Math.round(64 * Math.min(sum / n, 1))];
          c.fillRect(
            (x * width) / wide,
            (y * height) / tall,
            width / wide + 0.5,
            height / tall + (height / tall > 4 ? -1 : 0.5),
          );
        }
      }
    }
    for (const [row, column] of marks()) {
      /* no column: all of the row */
      const whole = column === undefined;

      c.strokeStyle = colours("accent");
      c.lineWidth = 2;
      c.strokeRect(
        (whole ? 0 : (column * width) / columns) + 1,
        (row * height) / rows + 1,
        (whole ? width : width / columns) - 2,
        Math.max(height / rows - 2, 2),
      );
    }
    if (lasts) drawStretch(c, time => (time / lasts) * width, 0, height);
  };
  const scale = make(
    "span",
    { class: "scale", "aria-hidden": "true" },
    ends[0] + " ",
    ...[0, 0.25, 0.5, 0.75, 1].map(part => {
      const box = make("i", { class: "key" });
      const colour = () => {
        box.style.background = palette(part);
      };

      matchMedia("(prefers-color-scheme: dark)").addEventListener("change", colour);
      colour();
      return box;
    }),
    " " + ends[1],
  );

  const place = (at, long, count) => Math.min(Math.max(Math.floor((at / long) * count), 0), count - 1);
  const picture = canvas(height, told, draw, (x, y, width) => pick(place(y, height, rows), place(x, width, columns)));

  if (side) picture.style.width = columns * side + "px"; /* cells are squares */
  if (lasts)
    dragged(picture, (from, to) =>
      selection.selectStretch((from / picture.clientWidth) * lasts, (to / picture.clientWidth) * lasts),
    );
  return make(
    "figure",
    null,
    picture,
    make("figcaption", null, told, lasts ? "; drag to select a stretch of time" : "", " ", scale),
  );
}

/* Part of each bin of time that each rank was in MPI. */
function timeHeat(tables) {
  const ranks = tables.get("ranks"),
    bins = tables.get("timeline");
  const rows = Array.from({ length: ranks.rows }, (_, row) => ranks.get("mpi_shares", row));
  const columns = Math.max(0, ...rows.map(row => (row ? row.length : 0)));

  const lasts =
    bins && bins.rows && bins.has("end_s")
      ? columns * (bins.get("end_s", 0) - bins.get("begin_s", 0))
      : 0; /* all are as long */

  return columns
    ? heat(
        "part of the time in MPI: ranks from top to bottom, time from left to right",
        rows.length,
        columns,
        (row, column) => (rows[row] ? rows[row][column] : null),
        () => [...rows.keys()].filter(row => ranks.get("rank", row) === selection.get("rank")).map(row => [row]),
        row => selection.toggle("rank", ranks.get("rank", row)),
        { lasts },
      )
    : null;
}
