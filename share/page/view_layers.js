/* In page.html, view.html. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Tiles as a bitmap, made once for each answer of the server: moving and zooming only stretches it, so that a frame
 * costs the same for any trace. What paintTiles() paints as boxes, in pixels. */

const tileLayers = new WeakMap(); /* tiles -> { canvas, key } */

/* A colour as a pixel: red is the lowest byte. */
const pixelOf = colour => {
  const [red, green, blue] = channels(colour);

  return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
};

/* From 0 to 1, without a pattern, and for the same pixel the same. */
function noise(x, y) {
  let h = Math.imul(x + 1, 0x9e3779b1) ^ Math.imul(y + 1, 0x85ebca6b);

  h = Math.imul(h ^ (h >>> 15), 0x2c1b3c6d);
  h = Math.imul(h ^ (h >>> 12), 0x297a2d39);
  return ((h ^ (h >>> 15)) >>> 0) / 2 ** 32;
}

class TilePixels {
  /* tall: of a line; isLow: too low for stacked parts: each pixel is of one of them, so many as it has of the
   * stretch. */
  constructor(tiles, tall, isLow, view, palette) {
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
      for (let i = 0; i < tiles.count; i++)
        if (!isLow) this.column(line, i);
        else
          for (let y = line * tall; y < (line + 1) * tall; y++) {
            this.pixel = { at: y * tiles.count + i, part: 255 * noise(i, y), isStripe: noise(y, i) < HATCHED };
            this.column(line, i);
          }
  }

  /* From the bottom up; a part's border is where the sum of those below ends. */
  column(line, i) {
    const { tiles, view } = this,
      at = line * tiles.count + i,
      high = this.pixel ? 255 : this.tall - this.gap,
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
    if (this.pixel) {
      const { at, part, isStripe } = this.pixel;

      if (from <= part && part < to && (isStripe || !isStriped)) this.pixels[at] = pixel;
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
  FINE = 4; /* pixels of a line that shows its parts as a stack: scaled down, that would be bands which nothing has */

function layerOf(tiles, view, palette) {
  const ratio = devicePixelRatio || 1,
    most = Math.max(Math.floor(LAYER_PIXELS / (tiles.count * tiles.lines || 1)), 1),
    own = Math.round(view.rowTall * tiles.merge * ratio),
    isLow = own < FINE,
    tall = Math.min(Math.max(own, 1), most, 200),
    key = [tall, selection.region].join(),
    known = tileLayers.get(tiles);

  if (known && known.key === key && known.palette === palette) return known;
  const { data } = new TilePixels(tiles, tall, isLow, view, palette),
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

  c.imageSmoothingEnabled = false;
  c.drawImage(layer, left, top, view.x(tiles.to) - left, view.rowTall * tiles.merge * tiles.lines);
}
