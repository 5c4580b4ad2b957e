/* In page.html, view.html. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* The picture of a stretch of time: tiles of rows as stacked parts of their classes, slices by depth with their names,
 * messages. */

const CLASS_COLOURS = {
  function: "of-several",
  "point-to-point": "call0",
  collective: "call1",
  "one-sided": "call3",
  MPI: "call4",
  OpenMP: "lane-openmp",
  threads: "of-threads",
  "I/O": "of-io",
  memory: "of-memory",
};
/* Classes whose calls may wait. */
const WAITING = ["point-to-point", "collective", "one-sided", "MPI", "OpenMP", "threads"];
/* Of functions, from blue to pink: as far from each other, and from all other colours of the page in both themes, as
 * can be. */
const FUNCTIONS = [
  ...["#8955f1", "#557cf1", "#f47bad", "#ad62bc", "#a1aff7", "#18188b"],
  ...["#e2129d", "#723141", "#e6b3bf", "#e212e2", "#1212e2", "#e21258"],
];

/* Colours of the regions: those of MPI by class, functions of the program each its own, by their time. */
class Palette {
  constructor(about) {
    const functions = about.regions.filter(region => region.class === 0).sort((a, b) => b.ns - a.ns);

    this.classes = about.classes.map(({ name }) => colours(CLASS_COLOURS[name] || "quiet"));
    this.regions = about.regions.map(region => this.classes[region.class]);
    functions.forEach((region, i) => {
      this.regions[region.number] = functionColour(i);
    });
    colourRules.apply(this, about);
    for (const name of ["ground", "raised", "line", "text", "quiet", "accent", "wait", "late", "computing"])
      this[name] = colours(name);
    this.paler = new Map();
    this.waiting = about.classes.map(({ name }) => WAITING.includes(name));
  }
  /* Stripes over what waits. */
  hatch(c) {
    if (!this.pattern) {
      const tile = make("canvas", { width: HATCH, height: HATCH }),
        picture = tile.getContext("2d");

      picture.fillStyle = this.wait;
      for (let y = 0; y < HATCH; y++) for (let x = 0; x < HATCH; x++) if (isHatched(x, y)) picture.fillRect(x, y, 1, 1);
      this.pattern = c.createPattern(tile, "repeat");
    }
    return this.pattern;
  }
  /* All others are pale where one is selected. */
  region(number) {
    return selection.region === null || selection.region === number ? this.own(number) : this.line;
  }
  /* Paler: what samples found. */
  sampled(number) {
    const colour = this.region(number);

    if (!this.paler.has(colour)) this.paler.set(colour, mixed(colour, this.ground, 0.75));
    return this.paler.get(colour);
  }
  own(number) {
    return this.regions[number] || this.quiet;
  }
  /* What of a class is not known by region: paler where one of it is selected. */
  rest(of) {
    const { region, about } = selection;

    if (region === null) return this.classes[of];
    return about.regions[region].class === of ? mixed(this.classes[of], this.line) : this.line;
  }
}

function mixed(a, b, part = 0.5) {
  const [x, y] = [a, b].map(channels);

  return "rgb(" + x.map((value, i) => Math.round(value * part + y[i] * (1 - part))).join(",") + ")";
}

/* Of more functions some have the same. */
const functionColour = i => FUNCTIONS[i % FUNCTIONS.length];

const COMPUTING = "outside of calls, function not known"; /* in a colour of its own */

const HATCH = 8; /* pixels from stripe to stripe */
const HATCHED = 3 / HATCH; /* the part of it that is stripes */
const isHatched = (x, y) => (((x + y) % HATCH) + HATCH) % HATCH < HATCHED * HATCH;

function paintHatch(c, left, top, wide, tall, palette) {
  if (c.hatchRect) {
    c.hatchRect(left, top, wide, tall, palette.wait);
    return;
  }
  c.fillStyle = palette.hatch(c);
  c.fillRect(left, top, wide, tall);
}

/* Parts of a column that waits, from the bottom, each { from, to } in 1/255: of the classes that can. Others than the
 * selected one are pale, without stripes. */
function waitsOf(tiles, at, waiting) {
  const found = [],
    wait = tiles.waits[at],
    classes = waiting.length,
    shows = k => selection.region === null || selection.about.regions[selection.region].class === k;
  let sum = 0,
    left = wait;

  for (let k = 0; k < classes && left; k++) {
    const part = tiles.parts[k * tiles.all + at],
      own = waiting[k] ? Math.min(part, left) : 0;

    if (own && shows(k)) found.push({ from: sum, to: sum + own });
    left -= own;
    sum += part;
  }
  return found;
}

/* One stack a stretch: the region that has most in its colour, the rest of each class behind it; waiting is hatched. */
function paintTiles(c, tiles, view, palette) {
  const { count, lines, from, to, merge, first } = tiles,
    step = (to - from) / count;

  for (let line = 0; line < lines; line++) {
    const top = view.y(first + line * merge),
      tall = view.rowTall * merge;

    if (top + tall < view.top || top > view.tall) continue;
    const gap = tall > 8 ? 1 : 0;
    for (let i = 0; i < count; i++) {
      const left = view.x(from + i * step),
        wide = Math.max(view.x(from + (i + 1) * step) - left, 1),
        at = line * count + i;

      if (left + wide < 0 || left > view.wide) continue;
      let bottom = top + tall - gap;
      const box = (colour, part) => {
        const height = ((tall - gap) * part) / 255;

        c.fillStyle = colour;
        c.fillRect(left, bottom - height, wide + 0.5, height);
        bottom -= height;
      };
      const most = tiles.regions[at],
        of = most === NO_REGION ? -1 : view.about.regions[most].class;

      for (let k = 0; k < palette.classes.length; k++) {
        const part = tiles.parts[k * tiles.all + at],
          own = k === of ? Math.min(tiles.regionParts[at], part) : 0;

        if (own) box(palette.region(most), own);
        if (part > own) box(palette.rest(k), part - own);
      }
      if (tiles.computing[at]) box(palette.computing, tiles.computing[at]);
      const high = (tall - gap) / 255;
      for (const { from: low, to: end } of waitsOf(tiles, at, palette.waiting))
        paintHatch(c, left, top + tall - gap - end * high, wide + 0.5, (end - low) * high, palette);
    }
  }
}

/* In the place of outer slices: where most of a stretch is computing. */
function paintComputing(c, row, tall, view, palette) {
  const { tiles } = view,
    line = tiles ? view.rows.lineOf[row] - tiles.first : -1;

  if (!tiles || tiles.merge > 1 || line < 0 || line >= tiles.lines) return;
  const step = (tiles.to - tiles.from) / tiles.count,
    x = i => view.x(tiles.from + i * step);

  c.fillStyle = palette.computing;
  for (let i = 0; i < tiles.count; i++) {
    const first = i;

    while (i < tiles.count && tiles.computing[line * tiles.count + i] > 127) i++;
    if (i > first) c.fillRect(x(first), view.y(tiles.first + line), x(i) - x(first), Math.max(tall - 0.5, 1));
  }
}

/* A name in so many pixels: a long one with its end left out; "" where there is no room. */
const nameWidths = new Map(),
  CUT_NAME = 110; /* pixels of a name that is cut, at least */
function fitting(c, name, room) {
  if (!nameWidths.has(name)) nameWidths.set(name, c.measureText(name).width);
  const wide = nameWidths.get(name);

  if (wide <= room) return name;
  return room < CUT_NAME ? "" : name.slice(0, Math.floor((name.length * (room - 10)) / wide)) + "\u2026";
}

/* Calls are below those that they are in. */
function depthTall(slices, rowTall) {
  return (rowTall - 2) / slices.reduce((most, { depth }) => Math.max(most, depth + 1), 1);
}

/* Of those of a row that are in view: does(slice, its box, colour). */
function eachBox(slices, row, view, palette, does) {
  const top = view.y(view.rows.lineOf[row]),
    tall = depthTall(slices, view.rowTall);

  for (const slice of slices) {
    const left = Math.max(view.x(slice.begin), -2),
      right = Math.min(view.x(slice.begin + slice.ns), view.wide + 2);

    if (right >= 0 && left <= view.wide)
      does(
        slice,
        { left, right, at: top + slice.depth * tall, tall },
        slice.sampled ? palette.sampled(slice.region) : palette.region(slice.region),
      );
  }
}

/* Of one row. */
function paintSlices(c, slices, row, view, palette) {
  const { selected } = view;

  c.fillStyle = palette.ground;
  c.fillRect(0, view.y(view.rows.lineOf[row]), view.wide, view.rowTall);
  paintComputing(c, row, depthTall(slices, view.rowTall), view, palette);
  eachBox(slices, row, view, palette, (slice, { left, right, at, tall }, colour) => {
    c.fillStyle = colour;
    c.fillRect(left, at, Math.max(right - left, 1), Math.max(tall - 0.5, 1));
    if (slice.wait && (selection.region === null || selection.region === slice.region)) {
      const end = Math.min(view.x(slice.begin + slice.wait), right);

      paintHatch(c, left, at, Math.max(end - left, 1), Math.max(tall - 0.5, 1), palette);
    }
    if (selected && selected.row === row && selected.begin === slice.begin && selected.depth === slice.depth) {
      c.strokeStyle = palette.accent;
      c.lineWidth = 2;
      c.strokeRect(left + 1, at + 1, Math.max(right - left - 2, 1), tall - 2);
    }
  });
}

/* Over lines and hatches, which would strike them out. */
function paintNames(c, slices, row, view, palette) {
  eachBox(slices, row, view, palette, (slice, { left, right, at, tall }, colour) => {
    if (right - left <= 30 || tall < 11) return;
    const place = Math.max(left, 0) + 3,
      name = fitting(c, view.about.regions[slice.region].name, Math.min(right, view.wide) - place - 2);

    if (!name) return;
    c.fillStyle = colour;
    c.fillRect(place - 2, at + Math.max(tall / 2 - 7, 2), c.measureText(name).width + 4, Math.min(14, tall - 4));
    c.fillStyle = readable(colour);
    c.fillText(name, place, at + tall / 2 + 4);
  });
}

function paintMessages(c, messages, view, colour, wide) {
  c.strokeStyle = colour;
  c.lineWidth = wide;
  c.globalAlpha = wide > 1 ? 1 : 0.6;
  c.beginPath();
  for (const m of messages) {
    const from = view.yOf(m.from),
      to = view.yOf(m.to);

    if (!(from === to || isNaN(from + to))) {
      c.moveTo(view.x(m.sent), from);
      c.lineTo(view.x(m.received), to);
    }
  }
  c.stroke();
  c.globalAlpha = 1;
}

/* About 100 pixels from each other: does(x, time, step). */
function eachTick(view, does) {
  const all = ticks(view.from, view.to, view.wide / 100),
    step = all.length > 1 ? all[1] - all[0] : view.to - view.from;

  all.forEach(t => does(Math.round(view.x(t)) + 0.5, t, step));
}

function paintGrid(c, view, palette) {
  c.strokeStyle = palette.line;
  c.lineWidth = 1;
  c.beginPath();
  eachTick(view, x => {
    c.moveTo(x, view.top - 5);
    c.lineTo(x, view.tall);
  });
  c.stroke();
}

/* What times are in: the unit of the stretch that is shown; and what they are after, which is 0, or near where that
 * begins if the numbers were long. */
const UNITS = [
    ["s", 1e9],
    ["ms", 1e6],
    ["us", 1e3],
    ["ns", 1],
  ],
  LONG_TIME = 1e4;
const unitOf = ns => UNITS.find(([, size]) => ns >= size) || UNITS[UNITS.length - 1];
const decimalsOf = (ns, size) => Math.max(0, -Math.floor(Math.log10(ns / size) + 1e-9));

function axisOf(view, step) {
  const [unit, size] = unitOf(view.to - view.from),
    above = 1000 * size,
    origin = view.to < LONG_TIME * size || size === 1e9 ? 0 : Math.floor(Math.max(view.from, 0) / above) * above,
    decimals = Math.min(decimalsOf(step, size), 9);

  return {
    origin,
    originWords: origin ? tick(origin, above) + " +" : "since the start",
    words: ns => ((ns - origin) / size).toFixed(decimals) + " " + unit,
  };
}

/* Labels stand at the right of their lines; one that would be cut is left out. */
function paintAxis(c, view, palette) {
  let free = 0;

  c.fillStyle = palette.ground;
  c.fillRect(0, 0, view.wide, view.top);
  c.fillStyle = palette.quiet;
  eachTick(view, (x, t, step) => {
    const words = axisOf(view, step).words(t),
      { width } = c.measureText(words),
      left = x + 3;

    if (left < free || left + width > view.wide) return;
    c.fillText(words, left, view.top - 6);
    free = left + width + 4;
  });
}

/* A moment in s, as fine as the steps are. */
function tick(ns, step) {
  return (ns / 1e9).toFixed(Math.min(decimalsOf(step, 1e9), 9)) + " s";
}

/* "110 ms, from 0.9939 s to 1.1039 s": both in one unit, with four digits of what is between them. */
function stretchWords(from, to) {
  const [unit, size] = unitOf(to),
    decimals = Math.min(Math.max(3 - Math.floor(Math.log10(Math.max(to - from, 1) / size)), 0), Math.log10(size)),
    at = ns => (ns ? (ns / size).toFixed(decimals) + " " + unit : "0 s");

  return nanoseconds(to - from) + ", from " + at(from) + " to " + at(to);
}

/* A stream of an accelerator has a name. */
const rowName = ({ rank, thread, name }) => "rank " + rank + (name ? " " + name : thread ? " thread " + thread : "");
const NO_REGION = 0xffffffff;
