/* In page.html. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks on the grid of their Cartesian communicator, by host, or in rows of any length; a value of theirs as colour. */

/* World ranks of "0-3, 7, 0-8/2", in order. */
function ranksIn(text) {
  return (text || "")
    .split(", ")
    .filter(Boolean)
    .flatMap(run => {
      const [, first, last, stride] = run.match(/^(-?\d+)(?:-(\d+))?(?:\/(\d+))?$/);
      const step = Number(stride || 1),
        count = last === undefined ? 1 : (Number(last) - Number(first)) / step + 1;

      return Array.from({ length: count }, (_, i) => Number(first) + i * step);
    });
}

/* What ranks stand on: { name, sizes, places: [rank or null], the last dimension counting fastest }. */
function gridsOf(tables) {
  const communicators = tables.get("communicators").all(),
    dimensions = new Map();

  for (const row of tables.get("grids").all()) dimensions.set(row.uid, [...(dimensions.get(row.uid) || []), row.size]);
  return communicators
    .filter(of => dimensions.has(of.uid) && of.members && dimensions.get(of.uid).length <= 3)
    .sort((a, b) => b.size - a.size)
    .map(of => ({
      name: of.label + ", " + dimensions.get(of.uid).join(" x "),
      sizes: dimensions.get(of.uid),
      places: ranksIn(of.members),
    }));
}

function byHost(ranks) {
  const hosts = new Map();

  for (let row = 0; row < ranks.rows; row++)
    hosts.set(ranks.get("host", row), [...(hosts.get(ranks.get("host", row)) || []), ranks.get("rank", row)]);
  const wide = Math.max(...[...hosts.values()].map(of => of.length));

  return {
    name: "by host",
    sizes: [hosts.size, wide],
    places: [...hosts.values()].flatMap(of => [...of, ...Array(wide - of.length).fill(null)]),
  };
}

function inRows(ranks, columns) {
  const all = Array.from({ length: ranks.rows }, (_, row) => ranks.get("rank", row)),
    rows = Math.ceil(all.length / columns);

  return { name: "", sizes: [rows, columns], places: [...all, ...Array(rows * columns - all.length).fill(null)] };
}

/* How values become colours: parts from 0 to 1, of values that are known. */
const SCALES = {
  zero: { words: "from 0 to most", palette: shade },
  linear: { words: "from least to most", palette: shade },
  logarithmic: { words: "logarithmic", palette: shade },
  mean: { words: "below and above the mean", palette: diverging },
};

function scaleOf(kind, known) {
  const least = Math.min(...known),
    most = Math.max(...known),
    mean = known.reduce((sum, value) => sum + value, 0) / known.length,
    far = Math.max(most - mean, mean - least);
  const positive = known.filter(value => value > 0),
    low = Math.log(Math.min(...positive)),
    high = Math.log(most);

  if (kind === "logarithmic" && positive.length)
    return {
      least: Math.min(...positive),
      most,
      part: value => (value > 0 ? (high > low ? (Math.log(value) - low) / (high - low) : 1) : 0),
    };
  if (kind === "mean")
    return { least: mean - far, most: mean + far, part: value => (far ? 0.5 + (value - mean) / far / 2 : 0.5) };
  const from = kind === "zero" ? Math.min(least, 0) : least;

  return { least: from, most, part: value => (most > from ? (value - from) / (most - from) : 1) };
}

/* A rectangle that is dragged over, as parts of the picture: { left, top, right, bottom }. The click that ends it picks
 * nothing. */
function rectangle(picture, does) {
  const band = make("i", { class: "band", hidden: true });
  let from = null,
    moved = false;
  const now = event => {
    const { clientWidth: width, clientHeight: height } = picture,
      [x, y] = [event.offsetX, event.offsetY].map((at, i) => Math.min(Math.max(at, 0), i ? height : width));

    return {
      left: Math.min(from.x, x) / width,
      right: Math.max(from.x, x) / width,
      top: Math.min(from.y, y) / height,
      bottom: Math.max(from.y, y) / height,
      far: Math.max(Math.abs(from.x - x), Math.abs(from.y - y)) > 4,
    };
  };

  picture.after(band);
  picture.parentElement.classList.add("banded");
  picture.addEventListener("pointerdown", event => {
    from = { x: event.offsetX, y: event.offsetY };
    moved = false;
    picture.setPointerCapture(event.pointerId);
  });
  picture.addEventListener("pointermove", event => {
    if (!from) return;
    const { left, right, top, bottom, far } = now(event);

    band.hidden = !far;
    Object.assign(band.style, {
      left: left * picture.clientWidth + "px",
      top: picture.offsetTop + top * picture.clientHeight + "px",
      width: (right - left) * picture.clientWidth + "px",
      height: (bottom - top) * picture.clientHeight + "px",
    });
  });
  picture.addEventListener("pointerup", event => {
    const found = from && now(event);

    from = null;
    band.hidden = true;
    moved = Boolean(found && found.far);
    if (moved) does(found);
  });
  picture.addEventListener(
    "click",
    event => {
      if (moved) event.stopImmediatePropagation();
      moved = false;
    },
    true,
  );
}

class GridView {
  constructor(tables) {
    const ranks = (this.ranks = tables.get("ranks"));

    this.value = new RankValue(tables, "ranks", "compute_share", () => this.change());
    this.layouts = [...gridsOf(tables), byHost(ranks)];
    this.layer = 0;
    this.scale = "zero";
    this.zoomed = null; /* { top, left, rows, columns } of the plane; null: all of it */
    this.isReversed = false;
    this.least = 0; /* parts of the scale below and above which ranks are left out */
    this.most = 1;
    this.layout = make(
      "select",
      { "aria-label": "arrangement of the ranks", onchange: () => this.rearrange() },
      ...this.layouts.map((of, i) => make("option", { value: i }, of.name)),
      make("option", { value: "rows" }, "rows of ..."),
    );
    this.columns = make("input", {
      type: "number",
      min: 1,
      max: ranks.rows,
      value: Math.ceil(Math.sqrt(ranks.rows)),
      "aria-label": "ranks in a row",
      oninput: () => this.rearrange(),
    });
    this.axis = make(
      "select",
      { "aria-label": "dimension that is cut", onchange: () => this.rearrange() },
      ...["first", "second", "third"].map((name, i) => make("option", { value: i }, "cut the " + name + " dimension")),
    );
    this.slider = make("input", {
      type: "range",
      min: 0,
      value: 0,
      "aria-label": "place in the dimension that is cut",
      oninput: () => {
        this.layer = Number(this.slider.value);
        this.change();
      },
    });
    const threshold = (end, value) =>
      make("input", {
        type: "range",
        min: 0,
        max: 100,
        value: 100 * value,
        "aria-label": "leave out ranks " + (end === "least" ? "below" : "above"),
        oninput: event => {
          this[end] = Number(event.target.value) / 100;
          this.draw();
        },
      });
    this.whole = make("button", { type: "button", onclick: () => this.zoom(null) }, "whole grid");
    this.values = make("p", { class: "tools" });
    this.caption = make("figcaption");
    this.picture = make("div", { class: "beside" });
    this.element = make(
      "figure",
      { id: "grid" },
      make(
        "p",
        { class: "tools" },
        make("label", null, "ranks on ", this.layout),
        this.columns,
        this.axis,
        this.slider,
        chooser(
          "colour",
          Object.entries(SCALES).map(([kind, { words }]) => [kind, words]),
          this.scale,
          kind => {
            this.scale = kind;
            this.draw();
          },
        ),
        make(
          "label",
          null,
          make("input", {
            type: "checkbox",
            onchange: event => {
              this.isReversed = event.target.checked;
              this.draw();
            },
          }),
          " reversed",
        ),
        make("label", null, "leave out below ", threshold("least", 0)),
        make("label", null, "above ", threshold("most", 1)),
        make("button", { type: "button", onclick: () => this.zoom(this.nearer()) }, "zoom in"),
        this.whole,
      ),
      this.values,
      this.picture,
      this.caption,
    );
    this.element.view = this;
    this.change();
  }

  rearrange() {
    this.zoomed = null;
    this.change();
  }

  zoom(to) {
    this.zoomed = to;
    this.draw();
  }

  /* Half as many rows and columns, about the selected rank, or the middle. */
  nearer() {
    const { places, rows, columns } = this.plane(),
      at = places.indexOf(selection.get("rank")),
      from = this.zoomed || { top: 0, left: 0 },
      half = (count, place, first) => {
        const wide = Math.ceil(count / 2);
        return [first + Math.min(Math.max(Math.round(place - wide / 2), 0), count - wide), wide];
      };
    const [top, tall] = half(rows, at < 0 ? rows / 2 : Math.floor(at / columns) + 0.5, from.top),
      [left, wide] = half(columns, at < 0 ? columns / 2 : (at % columns) + 0.5, from.left);

    return { top, left, rows: tall, columns: wide };
  }

  /* To the cells that a rectangle of the picture touches. */
  zoomTo({ left, top, right, bottom }, rows, columns) {
    const from = this.zoomed || { top: 0, left: 0 },
      first = [Math.floor(top * rows), Math.floor(left * columns)],
      end = [Math.max(Math.ceil(bottom * rows), first[0] + 1), Math.max(Math.ceil(right * columns), first[1] + 1)];

    this.zoom({
      top: from.top + first[0],
      left: from.left + first[1],
      rows: Math.min(end[0], rows) - first[0],
      columns: Math.min(end[1], columns) - first[1],
    });
  }

  change() {
    this.values.replaceChildren(...this.value.choosers());
    this.draw();
  }

  /* The ranks in one plane, or in the part of it that is zoomed to: { places, rows, columns, layers }. */
  plane() {
    const own = this.layout.value === "rows",
      at = own ? inRows(this.ranks, Math.max(1, Number(this.columns.value) || 1)) : this.layouts[this.layout.value];
    const sizes = [...Array(3 - at.sizes.length).fill(1), ...at.sizes],
      axis = at.sizes.length === 3 ? Number(this.axis.value) : 0,
      [down, across] = [0, 1, 2].filter(i => i !== axis);

    this.columns.hidden = !own;
    this.layer = Math.min(this.layer, sizes[axis] - 1);
    const places = [],
      part = this.zoomed || { top: 0, left: 0, rows: sizes[down], columns: sizes[across] };
    for (let y = part.top; y < part.top + part.rows; y++)
      for (let x = part.left; x < part.left + part.columns; x++) {
        const of = [0, 0, 0];

        of[axis] = this.layer;
        of[down] = y;
        of[across] = x;
        places.push(at.places[(of[0] * sizes[1] + of[1]) * sizes[2] + of[2]]);
      }
    return { places, rows: part.rows, columns: part.columns, layers: sizes[axis], has3: at.sizes.length === 3 };
  }

  /* Are values of several rows of a rank added up? Of parts, the largest counts. */
  get isSum() {
    const { column } = this.value;

    return column.unit === "s" || column.unit === "bytes" || column.type === "whole";
  }

  byRank() {
    const { table, key } = this.value,
      { isSum } = this,
      found = new Map();

    for (const row of this.value.rows()) {
      const rank = table.get("rank", row),
        value = table.get(key, row),
        before = found.get(rank);

      found.set(rank, before === undefined ? value : isSum ? before + value : Math.max(before, value));
    }
    return found;
  }

  draw() {
    const { places, rows, columns, layers, has3 } = this.plane(),
      { column, title } = this.value,
      byRank = this.byRank();
    const known = [...byRank.values()],
      values = places.map(rank => (byRank.has(rank) ? byRank.get(rank) : null));

    this.whole.hidden = !this.zoomed;
    this.axis.hidden = !has3;
    this.slider.hidden = layers === 1;
    this.slider.max = layers - 1;
    if (!known.length) {
      this.picture.replaceChildren(make("p", null, "Not known for any of them."));
      this.caption.textContent = column.doc;
      return;
    }
    const inView = values.filter(value => value !== null),
      scale = scaleOf(this.scale, known),
      end = part => scale.least + part * (scale.most - scale.least),
      isBelow = value => this.least > 0 && value < end(this.least),
      isAbove = value => this.most < 1 && value > end(this.most) && !isBelow(value),
      isShown = value => value !== null && !isBelow(value) && !isAbove(value),
      palette = SCALES[this.scale].palette;

    this.picture.replaceChildren(
      heat(
        "ranks in " + plural(rows, "row") + " of " + columns + ", by position",
        rows,
        columns,
        (row, place) => {
          const value = values[row * columns + place];
          return isShown(value) ? scale.part(value) : null;
        },
        () =>
          places
            .map((rank, place) =>
              rank === selection.get("rank") && rank !== null ? [Math.floor(place / columns), place % columns] : null,
            )
            .filter(Boolean),
        (row, place) => {
          const rank = places[row * columns + place];

          if (rank !== undefined && rank !== null) selection.toggle("rank", rank);
        },
        {
          ends: [worded(column, scale.least), worded(column, scale.most)],
          palette: this.isReversed ? part => palette(1 - part) : palette,
          side: squareSide(rows, columns),
        },
      ),
      upright(
        "how many ranks have each value: " + title,
        histogramOf((this.zoomed || layers > 1) && inView.length ? inView : known, column),
        value => count(Math.round(value)),
      ),
    );
    rectangle(this.picture.querySelector("canvas"), part => this.zoomTo(part, rows, columns));
    const left = [
        [isBelow, "below", this.least],
        [isAbove, "above", this.most],
      ]
        .map(([is, words, part]) => [inView.filter(is).length, words + " " + worded(column, end(part))])
        .filter(([ranks]) => ranks)
        .map(([ranks, words]) => plural(ranks, "rank") + " " + words),
      part = this.zoomed;

    this.caption.textContent =
      title +
      (layers > 1 ? "; place " + (this.layer + 1) + " of " + layers : "") +
      (part
        ? "; rows " +
          part.top +
          " to " +
          (part.top + part.rows - 1) +
          ", columns " +
          part.left +
          " to " +
          (part.left + part.columns - 1) +
          ", with their " +
          plural(inView.length, "rank")
        : "; drag over cells to zoom") +
      (this.value.rows().length > known.length
        ? "; " + (this.isSum ? "the sum" : "the largest") + " of a rank's rows"
        : "") +
      (left.length ? "; left out: " + left.join(", ") : "") +
      ": " +
      column.doc;
  }
}
