/* In view.html. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* What is taken away: the picture as SVG or PNG, the address, and places with notes, which the server keeps beside the
 * trace. */

/* ---- pictures ---- */

const escaped = text =>
  String(text).replace(/[&<>"]/g, sign => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[sign]);
const rounded = value => String(Math.round(value * 100) / 100);

/* As much of a canvas's context as the timeline is painted with; what is painted becomes elements of an SVG picture. */
class SvgContext {
  constructor(wide, tall) {
    Object.assign(this, { wide, tall, lines: [], states: [], depth: 0, x: 0, y: 0, path: "", clips: 0, dash: [] });
    Object.assign(this, {
      fillStyle: "#000",
      strokeStyle: "#000",
      lineWidth: 1,
      globalAlpha: 1,
      font: "11px sans-serif",
    });
    Object.assign(this, { textAlign: "left", textBaseline: "alphabetic" });
    this.measure = make("canvas").getContext("2d");
  }

  save() {
    const { fillStyle, strokeStyle, lineWidth, globalAlpha, font, textAlign, textBaseline, x, y, depth, dash } = this;

    this.states.push({
      fillStyle,
      strokeStyle,
      lineWidth,
      globalAlpha,
      font,
      textAlign,
      textBaseline,
      x,
      y,
      depth,
      dash,
    });
  }
  restore() {
    const state = this.states.pop();

    if (!state) return;
    for (; this.depth > state.depth; this.depth--) this.lines.push("</g>");
    Object.assign(this, state);
  }
  translate(x, y) {
    this.x += x;
    this.y += y;
  }
  scale() {}
  clip() {
    const id = "clip" + this.clips++;

    this.lines.push(`<clipPath id="${id}"><path d="${this.path}"/></clipPath><g clip-path="url(#${id})">`);
    this.depth++;
  }

  at(x, y) {
    return rounded(x + this.x) + " " + rounded(y + this.y);
  }
  beginPath() {
    this.path = "";
  }
  closePath() {
    this.path += "Z";
  }
  moveTo(x, y) {
    this.path += "M" + this.at(x, y);
  }
  lineTo(x, y) {
    this.path += (this.path ? "L" : "M") + this.at(x, y);
  }
  quadraticCurveTo(x1, y1, x, y) {
    this.path += "Q" + this.at(x1, y1) + " " + this.at(x, y);
  }
  bezierCurveTo(x1, y1, x2, y2, x, y) {
    this.path += "C" + this.at(x1, y1) + " " + this.at(x2, y2) + " " + this.at(x, y);
  }
  arc(x, y, radius, from, to) {
    const whole = Math.abs(to - from) >= 2 * Math.PI - 1e-6,
      end = whole ? to - 1e-3 : to,
      at = angle => this.at(x + radius * Math.cos(angle), y + radius * Math.sin(angle));

    this.path += (this.path && !whole ? "L" : "M") + at(from);
    this.path += `A${radius} ${radius} 0 ${Math.abs(end - from) > Math.PI ? 1 : 0} ${to > from ? 1 : 0} ` + at(end);
  }
  rect(x, y, wide, tall) {
    this.path += `M${this.at(x, y)}h${rounded(wide)}v${rounded(tall)}h${rounded(-wide)}Z`;
  }
  setLineDash(dash) {
    this.dash = dash;
  }
  createPattern() {
    return null;
  }
  hatchRect(x, y, wide, tall, colour) {
    this.hatch = colour;
    this.fillStyle = "url(#hatch)";
    this.fillRect(x, y, wide, tall);
  }
  get hatchWords() {
    return this.hatch
      ? `<defs><pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" ` +
          `patternTransform="rotate(45)"><rect width="2.2" height="6" fill="${escaped(this.hatch)}"/>` +
          "</pattern></defs>\n"
      : "";
  }
  measureText(text) {
    this.measure.font = this.font;
    return this.measure.measureText(text);
  }

  /* A pattern has no words in SVG: its place is the text's colour. */
  paint(style) {
    return (
      `"${escaped(typeof style === "string" ? style : "gray")}"` +
      (this.globalAlpha < 1 ? ` opacity="${rounded(this.globalAlpha)}"` : "")
    );
  }
  stroked() {
    const dash = this.dash.length ? ` stroke-dasharray="${this.dash.join(" ")}"` : "";

    return `fill="none" stroke=${this.paint(this.strokeStyle)} stroke-width="${this.lineWidth}"${dash}`;
  }
  fillRect(x, y, wide, tall) {
    const left = Math.max(x + this.x, -10),
      right = Math.min(x + this.x + wide, this.wide + 10);

    if (right <= left || tall <= 0 || y + this.y > this.tall) return;
    this.lines.push(
      `<rect x="${rounded(left)}" y="${rounded(y + this.y)}" width="${rounded(right - left)}" ` +
        `height="${rounded(tall)}" fill=${this.paint(this.fillStyle)}/>`,
    );
  }
  strokeRect(x, y, wide, tall) {
    this.lines.push(
      `<path d="M${this.at(x, y)}h${rounded(wide)}v${rounded(tall)}h${rounded(-wide)}Z" ${this.stroked()}/>`,
    );
  }
  fill() {
    if (this.path) this.lines.push(`<path d="${this.path}" fill=${this.paint(this.fillStyle)}/>`);
  }
  stroke() {
    if (this.path) this.lines.push(`<path d="${this.path}" ${this.stroked()}/>`);
  }
  fillText(text, x, y) {
    const anchor = { right: "end", end: "end", center: "middle" }[this.textAlign] || "start",
      base = { middle: "central", top: "hanging" }[this.textBaseline] || "auto",
      [size, ...family] = this.font.split(" ");

    this.lines.push(
      `<text x="${rounded(x + this.x)}" y="${rounded(y + this.y)}" font-size="${parseFloat(size)}" ` +
        `font-family="${escaped(family.join(" "))}" text-anchor="${anchor}" dominant-baseline="${base}" ` +
        `fill=${this.paint(this.fillStyle)}>${escaped(text)}</text>`,
    );
  }

  text() {
    while (this.states.length) this.restore();
    return (
      `<svg xmlns="http://www.w3.org/2000/svg" width="${this.wide}" height="${this.tall}" ` +
      `viewBox="0 0 ${this.wide} ${this.tall}">\n` +
      this.hatchWords +
      this.lines.join("\n") +
      "\n</svg>\n"
    );
  }
}

const pictureName = (view, kind) =>
  "timeline-" + [view.from, view.to].map(ns => (ns / 1e9).toFixed(6).replace(/0+$/, "0")).join("-") + "." + kind;

/* What colours mean stands below the picture; of two traces, the second one is below the first. */
const CAPTION_TALL = 22;

/* Where each trace's picture is, in pixels: { view, top, tall }. */
function placesOf(view) {
  let top = 0;

  return view.all.map(of => {
    const place = { view: of, top, tall: of.canvas.clientHeight };

    top += place.tall + CAPTION_TALL;
    return place;
  });
}
function paintCaption(c, view, top) {
  const { palette, radar, about } = view,
    steps = radar.isOn ? 16 : 0,
    words = [view.all.length > 1 ? about.title : "", steps ? "colour: " + radar.choiceWords : ""].filter(Boolean);

  c.fillStyle = palette.ground;
  c.fillRect(0, top, view.canvas.clientWidth, CAPTION_TALL);
  c.fillStyle = palette.text;
  c.fillText(words.join("; "), NAMES_WIDE, top + 15);
  const left = NAMES_WIDE + c.measureText(words.join("; ")).width + 12;
  for (let i = 0; i < steps; i++) {
    c.fillStyle = radar.colour(i / (steps - 1));
    c.fillRect(left + 6 * i, top + 5, 6, 12);
  }
}

/* Where the call stacks are, below all pictures: { top, tall }. */
function stacksPlace({ charts: { stacks } }, { top, tall }) {
  return { top: top + tall + CAPTION_TALL, tall: stacks.isShown ? stacks.tall : 0 };
}

function saveSvg(view) {
  const places = placesOf(view),
    below = stacksPlace(view, places.at(-1)),
    c = new SvgContext(view.canvas.clientWidth, below.top + below.tall);

  c.font = "11px sans-serif";
  for (const { view: of, top, tall } of places) {
    c.save();
    c.translate(0, top);
    of.paintOn({ picture: c, wide: c.wide, tall, isVector: true });
    paintCaption(c, of, tall);
    c.restore();
  }
  if (below.tall) {
    c.save();
    c.translate(0, below.top);
    view.charts.stacks.paintOn({ picture: c, wide: c.wide, tall: below.tall });
    c.restore();
  }
  download(pictureName(view, "svg"), c.text(), "image/svg+xml");
}
function savePng(view) {
  const places = placesOf(view),
    below = stacksPlace(view, places.at(-1)),
    { canvas: stacks } = view.charts.stacks,
    ratio = devicePixelRatio || 1,
    out = make("canvas", {
      width: view.canvas.clientWidth * ratio,
      height: (below.top + below.tall) * ratio,
    }),
    c = out.getContext("2d");

  c.scale(ratio, ratio);
  c.font = "11px " + getComputedStyle(document.body).fontFamily;
  for (const { view: of, top, tall } of places) {
    c.drawImage(of.canvas, 0, top, of.canvas.clientWidth, tall);
    paintCaption(c, of, top + tall);
  }
  if (below.tall) c.drawImage(stacks, 0, below.top, stacks.clientWidth, below.tall);
  out.toBlob(blob => download(pictureName(view, "png"), blob, "image/png"));
}

/* The stretch that is in view, of all rows, for ui.perfetto.dev. */
async function savePerfetto(view) {
  const stretch = { from: Math.floor(view.from), to: Math.ceil(view.to) };

  try {
    const answer = await view.trace.ask("perfetto", stretch);
    download(pictureName(view, "pftrace"), await answer.blob(), "application/octet-stream");
  } catch (error) {
    view.tellShortly(error.message);
  }
}

/* ---- a report ---- */

/* A word of a shell's command. */
const shellWord = text => (/^[\w./@%+=:,-]+$/.test(text) ? text : "'" + text.replace(/'/g, "'\\''") + "'");

/* The command that reports what is in view, as a page. */
function reportCommand(view) {
  const { from, to } = view.seen || view.bounds,
    second = ns => (ns / 1e9).toFixed(9).replace(/\.?0+$/, ""),
    [begin, end] = [second(Math.floor(from)), second(Math.ceil(to))];

  return (
    `fvmpi report ${shellWord(view.about.title)} --from ${begin} --to ${end} ` + `--html report-${begin}-${end}.html`
  );
}
async function showReport(view) {
  const words = reportCommand(view),
    text = make("textarea", { readonly: true, rows: "3", "aria-label": "command" }, words),
    told = make("p", { class: "note", role: "status" }),
    dialog = make(
      "dialog",
      { id: "report", "aria-label": "report of this window" },
      make("h2", null, "Report of this window"),
      make("p", null, "This command writes a page of this stretch of time, which can be mailed:"),
      text,
      told,
      make("p", { class: "tools" }, make("button", { type: "button", onclick: () => dialog.close() }, "close")),
    );

  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  text.select();
  told.textContent = await navigator.clipboard.writeText(words).then(
    () => "It is copied.",
    () => "Copy it by hand.",
  );
}

/* ---- the address ---- */

/* Where the browser gives no access to what is copied, the address is shown to be copied by hand. */
async function copyLink(view) {
  view.writePlace();
  const url = location.origin + location.pathname + location.search + address.text();

  try {
    await navigator.clipboard.writeText(url);
    view.tellShortly("The address is copied. It has the token: with it, anyone can look while the server runs.");
  } catch {
    view.tellShortly(url);
  }
}

/* ---- bookmarks ---- */

class Bookmarks {
  constructor(view) {
    Object.assign(this, panelOf(this, view, "marks", "Bookmarks", "right"));
    this.marks = [];
    this.text = make("input", {
      type: "text",
      id: "mark-note",
      maxlength: "500",
      placeholder: "note",
      "aria-label": "note of a new bookmark",
      onkeydown: event => event.key === "Enter" && this.add(),
    });
    this.list = make("ul", { id: "marks" });
    this.element.append(
      make(
        "p",
        { class: "tools" },
        this.text,
        make("button", { type: "button", onclick: () => this.add() }, "keep this place"),
      ),
      this.note,
      this.list,
    );
  }

  get storage() {
    return "fvmpi view: " + this.view.about.title;
  }
  get own() {
    try {
      return JSON.parse(localStorage.getItem(this.storage)) || [];
    } catch {
      return [];
    }
  }
  set own(marks) {
    try {
      localStorage.setItem(this.storage, JSON.stringify(marks.slice(-500)));
    } catch {
      /* a browser that keeps nothing */
    }
  }

  /* Those of the server, then those that it could not keep. */
  async load() {
    const { bookmarks } = await this.view.trace.json("bookmarks", {}),
      places = new Set(bookmarks.map(([place]) => place));

    this.marks = [
      ...bookmarks.map(([place, note]) => ({ place, note, isOwn: false })),
      ...this.own.filter(({ place }) => !places.has(place)).map(mark => ({ ...mark, isOwn: true })),
    ];
    this.show();
  }
  show() {
    this.list.replaceChildren(
      ...this.marks.map(mark =>
        make(
          "li",
          null,
          make(
            "button",
            { type: "button", class: "pick", title: mark.place, onclick: () => this.go(mark) },
            mark.note || mark.place,
          ),
          mark.isOwn ? make("small", null, " in this browser alone") : null,
          " ",
          make(
            "button",
            {
              type: "button",
              class: "tool",
              "aria-label": "forget " + (mark.note || mark.place),
              onclick: () => this.forget(mark),
            },
            "forget",
          ),
        ),
      ),
    );
    if (!this.marks.length)
      this.list.replaceChildren(make("li", { class: "note" }, "None yet. They are kept beside the trace."));
  }
  go(mark) {
    clearTimeout(address.later);
    address.later = 0;
    location.hash = mark.place;
  }

  async send(path, mark) {
    const answer = await fetch(path + "?" + new URLSearchParams({ token: viewToken }), {
      method: "POST",
      body: mark.place + "\n" + mark.note,
    });

    return answer.ok ? null : (await answer.text()).trim();
  }
  async add() {
    this.view.writePlace();
    const mark = { place: address.text().slice(1), note: this.text.value.trim() },
      why = await this.send("bookmark", mark).catch(error => error.message);

    this.text.value = "";
    if (why) this.own = [...this.own.filter(({ place }) => place !== mark.place), mark];
    this.note.textContent = why ? "It is kept in this browser alone: " + why : "";
    await this.load();
  }
  async forget(mark) {
    const why = mark.isOwn ? null : await this.send("forget", mark).catch(error => error.message);

    this.own = this.own.filter(({ place }) => place !== mark.place);
    this.note.textContent = why || "";
    await this.load();
  }
}
