/* In page.html, view.html. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* A matrix of who sent what to whom: square cells, with labels at both sides as far as there is room. A cell says what
 * it is when it is pointed at. */

const CELL = { least: 3, most: 28, label: 13, gaps: 12 }; /* pixels */

/* replace({ labels, value(from, to): null or a number, words(from, to), ends: [words, words] }); pick(from, to);
 * isChosen(i): its row is marked; fits: with its caption it is not taller than what it stands in. */
class Matrix {
  constructor(told, pick, { isChosen = () => false, fits = false } = {}) {
    Object.assign(this, { told, isChosen, fits });
    this.data = { labels: [], value: () => null, words: () => "", ends: ["", ""] };
    this.words = make("p", { class: "note", role: "status" });
    this.ends = [make("span"), make("span")];
    this.picture = canvas(
      () => this.tall,
      told,
      (c, width) => this.draw(c, width),
      (x, y) => this.at(x, y, pick),
    );
    this.picture.addEventListener("mousemove", event =>
      this.at(event.offsetX, event.offsetY, (from, to) => {
        this.words.textContent = this.data.words(from, to);
      }),
    );
    this.caption = this.scale();
    this.element = make("figure", { class: "matrix" }, this.picture, this.caption, this.words);
    this.element.view = this;
  }

  scale() {
    return make(
      "figcaption",
      null,
      this.fits
        ? "senders down, receivers across; "
        : this.told + ": senders from top to bottom, receivers from left to right; ",
      make(
        "span",
        { class: "scale", "aria-hidden": "true" },
        this.ends[0],
        " ",
        ...[0, 0.25, 0.5, 0.75, 1].map(part => {
          const box = make("i", { class: "key" }),
            colour = () => (box.style.background = shade(part));

          matchMedia("(prefers-color-scheme: dark)").addEventListener("change", colour);
          colour();
          return box;
        }),
        " ",
        this.ends[1],
      ),
    );
  }

  replace(data) {
    if (this.fits && !this.watch) {
      this.watch = new ResizeObserver(() => this.picture.dispatchEvent(new Event("redraw")));
      [this.element.parentElement, this.caption].forEach(of => this.watch.observe(of));
    }
    this.data = data;
    data.ends.forEach((words, i) => (this.ends[i].textContent = words));
    this.words.textContent = "";
    this.picture.dispatchEvent(new Event("redraw"));
  }

  get margin() {
    return 8 + 7 * Math.max(...this.data.labels.map(label => label.length), 1);
  }
  get side() {
    const { parentElement: place } = this.element || {},
      room = Math.min(
        ((this.picture ? this.picture.clientWidth : 0) || 400) - this.margin,
        this.fits ? ((place ? place.clientHeight : 0) || 400) - this.below - CELL.label - CELL.gaps : Infinity,
      ),
      least = this.fits ? 1 : CELL.least;

    return Math.min(Math.max(room / Math.max(this.data.labels.length, 1), least), CELL.most);
  }
  /* The caption, and a line of words. */
  get below() {
    return (this.caption ? this.caption.offsetHeight : 0) + CELL.label + 4;
  }
  get tall() {
    return Math.ceil(this.data.labels.length * this.side) + CELL.label + 4;
  }

  at(x, y, does) {
    const column = Math.floor((x - this.margin) / this.side),
      row = Math.floor((y - CELL.label - 2) / this.side),
      { length } = this.data.labels;

    if (row >= 0 && column >= 0 && row < length && column < length) does(row, column);
  }

  draw(c) {
    const { labels, value } = this.data,
      { side, margin } = this,
      top = CELL.label + 2,
      every = Math.max(1, Math.ceil(CELL.label / side)),
      across = Math.max(1, Math.ceil((margin - 2) / side)),
      steps = Array.from({ length: 65 }, (_, step) => shade(step / 64)),
      gap = side > 6 ? 1 : 0;

    c.fillStyle = colours("raised");
    c.fillRect(margin, top, labels.length * side, labels.length * side);
    for (let from = 0; from < labels.length; from++)
      for (let to = 0; to < labels.length; to++) {
        const part = value(from, to);

        if (part === null) continue;
        c.fillStyle = steps[Math.round(64 * Math.min(part, 1))];
        c.fillRect(margin + to * side, top + from * side, side - gap, side - gap);
      }
    c.strokeStyle = colours("accent");
    c.lineWidth = 2;
    labels.forEach((_, i) => {
      if (this.isChosen(i))
        c.strokeRect(margin + 1, top + i * side + 1, labels.length * side - 2, Math.max(side - 2, 1));
    });
    c.fillStyle = colours("text");
    c.font = c.font.replace(/^\d+px/, "11px");
    c.textBaseline = "middle";
    labels.forEach((label, i) => {
      c.textAlign = "right";
      if (i % every === 0) c.fillText(label, margin - 4, top + (i + 0.5) * side);
      c.textAlign = "left";
      if (i % across === 0) c.fillText(label, margin + i * side, CELL.label / 2);
    });
  }
}

const MOST_LABELS = 256;

/* Who sent how much to whom in a run; of many ranks the mean of those that share a pixel. */
function matrixOf(matrix) {
  if (!matrix.rows || !matrix.has("from")) return null;
  const cells = new Map();
  let most = 0,
    size = 0;

  for (let row = 0; row < matrix.rows; row++) {
    const [from, to, sent] = ["from", "to", "bytes"].map(key => matrix.get(key, row));

    size = Math.max(size, from + 1, to + 1);
    most = Math.max(most, sent);
    cells.set(from * 1e6 + to, sent);
  }
  const told = "bytes sent, of " + bytes(most) + ", the most of a pair",
    value = (from, to) => (most && cells.has(from * 1e6 + to) ? cells.get(from * 1e6 + to) / most : null),
    choose = rank => selection.toggle("rank", rank);

  if (size > MOST_LABELS)
    return heat(
      told + ": senders from top to bottom, receivers from left to right",
      size,
      size,
      value,
      () => (selection.get("rank") === null ? [] : [[selection.get("rank")]]),
      choose,
    );
  const view = new Matrix(told, choose, { isChosen: rank => rank === selection.get("rank") });
  view.replace({
    labels: Array.from({ length: size }, (_, rank) => String(rank)),
    value,
    words: (from, to) => "rank " + from + " to " + to + ": " + bytes(cells.get(from * 1e6 + to) || 0),
    ends: [bytes(0), bytes(most)],
  });
  return view.element;
}
