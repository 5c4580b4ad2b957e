/* In view.html. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* The picture of a stretch of time: tiles of rows as stacked parts of their classes, slices by depth with their names,
 * messages. */

const CLASS_COLOURS = {
  function: "code0",
  "point-to-point": "call0",
  collective: "call1",
  "one-sided": "call3",
  MPI: "call4",
  OpenMP: "lane-openmp",
  threads: "threads",
  "I/O": "lane-io",
  memory: "lane-memory",
};
/* Hues of functions, as far from each other as can be, without the greens of MPI; then darker and lighter ones. */
const HUES = [275, 25, 330, 215, 50, 5, 245, 305],
  SHADES = [
    [0.55, 0.5],
    [0.75, 0.72],
    [0.45, 0.34],
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
    for (const name of ["ground", "raised", "line", "text", "quiet", "accent", "wait"]) this[name] = colours(name);
  }
  /* All others are pale where one is selected. */
  region(number) {
    return selection.region === null || selection.region === number ? this.own(number) : this.line;
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

function mixed(a, b) {
  const [x, y] = [a, b].map(channels);

  return "rgb(" + x.map((value, i) => Math.round((value + y[i]) / 2)).join(",") + ")";
}

function functionColour(i) {
  const [saturation, light] = SHADES[Math.floor(i / HUES.length) % SHADES.length],
    hue = HUES[i % HUES.length],
    part = n => {
      const k = (n + hue / 30) % 12,
        value = light - saturation * Math.min(light, 1 - light) * Math.max(-1, Math.min(k - 3, 9 - k, 1));

      return Math.round(255 * value);
    };

  return "rgb(" + [0, 8, 4].map(part).join(",") + ")";
}

/* One stack a stretch: the region that has most in its colour, the rest of each class behind it; waiting at the bottom
 * edge. */
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
      if (tiles.waits[at]) {
        const edge = Math.max(((tall / 4) * tiles.waits[at]) / 255, tall > 6 ? 1 : 0);

        c.fillStyle = palette.wait;
        c.fillRect(left, top + tall - gap - edge, wide + 0.5, edge);
      }
    }
  }
}

/* Of one row, deeper ones below those that they are in. */
function paintSlices(c, slices, row, view, palette) {
  const top = view.y(view.rows.lineOf[row]),
    deep = Math.max(...slices.map(slice => slice.depth + 1), 1),
    tall = (view.rowTall - 2) / deep;

  c.fillStyle = palette.ground;
  c.fillRect(0, top, view.wide, view.rowTall);
  for (const slice of slices) {
    const left = Math.max(view.x(slice.begin), -2),
      right = Math.min(view.x(slice.begin + slice.ns), view.wide + 2),
      at = top + slice.depth * tall,
      colour = palette.region(slice.region);

    if (right < 0 || left > view.wide) continue;
    c.fillStyle = colour;
    c.globalAlpha = slice.sampled ? 0.75 : 1;
    c.fillRect(left, at, Math.max(right - left, 1), Math.max(tall - 0.5, 1));
    c.globalAlpha = 1;
    if (slice.wait) {
      c.fillStyle = palette.wait;
      c.fillRect(left, at + tall - 4, Math.max(Math.min(view.x(slice.begin + slice.wait), right) - left, 1), 3);
    }
    if (
      view.selected &&
      view.selected.row === row &&
      view.selected.begin === slice.begin &&
      view.selected.depth === slice.depth
    ) {
      c.strokeStyle = palette.accent;
      c.lineWidth = 2;
      c.strokeRect(left + 1, at + 1, Math.max(right - left - 2, 1), tall - 2);
    }
    if (right - left > 30 && tall >= 11) {
      c.save();
      c.beginPath();
      c.rect(left + 2, at, right - left - 4, tall);
      c.clip();
      c.fillStyle = readable(colour);
      c.fillText(view.about.regions[slice.region].name, Math.max(left, 0) + 3, at + tall / 2 + 4);
      c.restore();
    }
  }
}

function paintMessages(c, messages, view, palette) {
  c.strokeStyle = palette.text;
  c.lineWidth = 1;
  c.globalAlpha = 0.6;
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

function paintAxis(c, view, palette) {
  c.fillStyle = palette.ground;
  c.fillRect(0, 0, view.wide, view.top);
  c.fillStyle = palette.quiet;
  eachTick(view, (x, t, step) => c.fillText(tick(t, step), x + 3, view.top - 6));
}

/* As fine as the steps are. */
function tick(ns, step) {
  const decimals = Math.max(0, -Math.floor(Math.log10(step / 1e9) + 1e-9));

  return (ns / 1e9).toFixed(Math.min(decimals, 9)) + " s";
}

/* A stream of an accelerator has a name. */
const rowName = ({ rank, thread, name }) => "rank " + rank + (name ? " " + name : thread ? " thread " + thread : "");
const NO_REGION = 0xffffffff;
