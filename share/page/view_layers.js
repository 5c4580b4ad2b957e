/* In view.html. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Tiles as a bitmap, made once for each answer of the server: moving and zooming only stretches it, so that a frame
 * costs the same for any trace. What paintTiles() paints as boxes, in pixels. */

const tileLayers = new WeakMap(); /* tiles -> { canvas, key } */

/* A colour as a pixel: red is the lowest byte. */
const pixelOf = colour => {
  const [red, green, blue] = channels(colour);

  return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
};

/* Of pixels, by their parts; what is left of 255 shows the ground. */
class Mixture {
  constructor() {
    Object.assign(this, { red: 0, green: 0, blue: 0, sum: 0 });
  }
  add(pixel, part) {
    this.red += part * (pixel & 255);
    this.green += part * ((pixel >> 8) & 255);
    this.blue += part * ((pixel >> 16) & 255);
    this.sum += part;
  }
  /* In the place of so much of what is there. */
  cover(pixel, part) {
    const left = this.sum ? Math.max(1 - part / this.sum, 0) : 0;

    for (const key of ["red", "green", "blue", "sum"]) this[key] *= left;
    this.add(pixel, part);
  }
  get pixel() {
    const of = value => Math.round(value / (this.sum || 1));

    return (
      ((Math.min(Math.round(this.sum), 255) << 24) | (of(this.blue) << 16) | (of(this.green) << 8) | of(this.red)) >>> 0
    );
  }
}

class TilePixels {
  /* tall: of a line; 1: of a mixture of its parts, because it is too low to show them. */
  constructor(tiles, tall, view, palette) {
    Object.assign(this, { tiles, tall, view });
    this.classes = palette.classes.map((_, k) => pixelOf(palette.rest(k)));
    this.wait = pixelOf(palette.wait);
    this.computing = pixelOf(palette.computing);
    this.waiting = palette.waiting;
    this.regions = view.about.regions.map(({ number }) => pixelOf(palette.region(number)));
    this.gap = tall > 8 ? 1 : 0;
    this.data = new ImageData(tiles.count, tiles.lines * tall);
    this.pixels = new Uint32Array(this.data.data.buffer);
    for (let line = 0; line < tiles.lines; line++)
      for (let i = 0; i < tiles.count; i++) {
        this.mixture = tall === 1 ? new Mixture() : null;
        this.column(line, i);
        if (this.mixture) this.pixels[line * tiles.count + i] = this.mixture.pixel;
      }
  }

  /* From the bottom up; a part's border is where the sum of those below ends. */
  column(line, i) {
    const { tiles, view } = this,
      at = line * tiles.count + i,
      high = this.mixture ? 255 : this.tall - this.gap,
      most = tiles.regions[at],
      of = most === NO_REGION ? -1 : view.about.regions[most].class;
    let sum = 0;

    for (let k = 0; k < this.classes.length; k++) {
      const part = tiles.parts[k * tiles.all + at];

      if (!part) continue;
      const own = k === of ? Math.min(tiles.regionParts[at], part) : 0;
      if (own) this.fill(line, i, (sum / 255) * high, ((sum + own) / 255) * high, this.regions[most]);
      if (part > own) this.fill(line, i, ((sum + own) / 255) * high, ((sum + part) / 255) * high, this.classes[k]);
      sum += part;
    }
    if (tiles.computing[at])
      this.fill(line, i, (sum / 255) * high, ((sum + tiles.computing[at]) / 255) * high, this.computing);
    if (tiles.waits[at])
      for (const { from, to } of waitsOf(tiles, at, this.waiting))
        this.fill(line, i, (from / 255) * high, Math.max((to / 255) * high, (from / 255) * high + 1), this.wait, true);
  }
  fill(line, i, from, to, pixel, isStriped = false) {
    if (this.mixture) {
      if (isStriped) this.mixture.cover(pixel, (to - from) * HATCHED);
      else this.mixture.add(pixel, to - from);
      return;
    }
    const { count } = this.tiles,
      bottom = line * this.tall + this.tall - this.gap - 1,
      end = Math.min(Math.round(to), this.tall - this.gap);

    for (let y = Math.round(from); y < end; y++)
      if (!isStriped || isHatched(i, bottom - y)) this.pixels[(bottom - y) * count + i] = pixel;
  }
}

const LAYER_PIXELS = 1 << 23 /* at most */,
  FINE = 4; /* pixels of a line, below which its parts are mixed: scaled down they would be bands that nothing has */

function layerOf(tiles, view, palette) {
  const ratio = devicePixelRatio || 1,
    most = Math.max(Math.floor(LAYER_PIXELS / (tiles.count * tiles.lines || 1)), 1),
    own = Math.round(view.rowTall * tiles.merge * ratio),
    tall = own < FINE ? 1 : Math.min(own, most, 200),
    key = [tall, selection.region].join(),
    known = tileLayers.get(tiles);

  if (known && known.key === key && known.palette === palette) return known;
  const { data } = new TilePixels(tiles, tall, view, palette),
    layer = make("canvas", { width: data.width, height: data.height });

  layer.getContext("2d").putImageData(data, 0, 0);
  const made = { layer, key, palette };
  tileLayers.set(tiles, made);
  return made;
}

function drawTiles(c, tiles, view, palette) {
  if (!tiles.count || !tiles.lines) return;
  const { layer } = layerOf(tiles, view, palette),
    left = view.x(tiles.from),
    top = view.y(tiles.first);

  c.imageSmoothingEnabled = view.rowTall * tiles.merge < FINE;
  c.drawImage(layer, left, top, view.x(tiles.to) - left, view.rowTall * tiles.merge * tiles.lines);
}
