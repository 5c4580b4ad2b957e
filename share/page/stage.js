/* In page.html. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* The timeline of fvmpi view (view.js) in the report's page, of what the page has of a trace (trace_file.js): without
 * panels, but with what all of the page's subjects select. */

const STAGE = { row: 15, least: 28, most: 160, all: [120, 560] }; /* pixels: of a depth, of a row, of all */

/* What view_layout.js has for fvmpi view: here the selection has the address. */
const address = {
  get: key => selection.places.get(key) ?? null,
  set(key, value) {
    if (value === null) selection.places.delete(key);
    else selection.places.set(key, value);
    selection.setAddress();
  },
};
const TROUBLE = "The timeline could not be drawn: ";

/* Made when all scripts have run: a class that is extended is not there before. */
const stageView = () =>
  class extends View {
    constructor(trace, about, words) {
      super(trace, about);
      this.details = new (stageDetails())(this, words);
      this.bench = { age() {} }; /* there are no panels */
    }
    makeCharts() {
      return null;
    }
    writeCall() {} /* its call site is in the address */
    readAddress() {
      const seen = spanOf(selection.seen);

      if (seen) Object.assign(this, { from: seen.from * 1e9, to: Math.min(seen.to * 1e9, this.about.span_ns) });
      this.isFit = true;
    }
    writePlace() {
      const isAll = this.from < 1 && this.to > this.about.span_ns - 1; /* ns */

      selection.see(isAll ? null : { from: this.from * 1e-9, to: this.to * 1e-9 });
    }
    /* Messages of the selected rank only. */
    get messageRegion() {
      const rank = selection.get("rank");

      return { ...super.messageRegion, ...(rank === null ? {} : { rank }) };
    }
    /* As tall as its rows want to be, within bounds. */
    fitHeight() {
      const deepest = this.about.rows.reduce((most, { depth }) => Math.max(most, depth), 1),
        row = Math.min(Math.max(deepest * STAGE.row + 2, STAGE.least), STAGE.most),
        [least, most] = STAGE.all;

      this.canvas.style.height = Math.min(Math.max(this.rows.lines.length * row + AXIS_TALL, least), most) + "px";
    }
    async load() {
      if (this.canvas.clientWidth) await super.load();
    }
    paint() {
      if (this.canvas.clientWidth) super.paint();
    }
    paintOn(c) {
      super.paintOn(c);
      const { picture } = c;

      picture.save();
      picture.translate(NAMES_WIDE, 0);
      picture.beginPath();
      picture.rect(0, this.top, this.wide, this.tall);
      picture.clip();
      this.paintSite(picture);
      this.paintRank(picture);
      drawStretch(picture, s => this.x(s * 1e9), this.top, this.tall - this.top);
      picture.restore();
    }
    /* Calls of the selected call site are underlined. */
    paintSite(c) {
      const wanted = selection.get("callsite");

      if (wanted === null || this.rowTall < NAMED_ROW) return;
      c.fillStyle = this.palette.accent;
      for (const [row, { slices }] of this.slices) {
        const tall = depthTall(slices, this.rowTall);

        for (const { site, begin, ns, depth } of slices)
          if (site === wanted)
            c.fillRect(
              this.x(begin),
              this.y(this.rows.lineOf[row]) + (depth + 1) * tall - 3.5,
              Math.max(this.x(begin + ns) - this.x(begin), 1),
              3,
            );
      }
    }
    paintRank(c) {
      const rank = selection.get("rank");

      if (rank === null) return;
      c.strokeStyle = this.palette.accent;
      c.lineWidth = 2;
      this.about.rows.forEach((of, row) => {
        const y = this.yOf(row) - this.rowTall / 2;

        if (of.rank === rank && !isNaN(y)) c.strokeRect(1, y + 1, this.wide - 2, Math.max(this.rowTall - 3, 1));
      });
    }

    /* ---- what is selected everywhere ---- */

    /* A call is of a call site; what else there is, of a function. */
    select(slice, tile = null) {
      super.select(slice, tile);
      if (!slice) return;
      const { site, lane } = slice,
        { name } = this.about.regions[slice.region];

      if (lane === "mpi" && site !== null && selection.get("callsite") !== site) selection.toggle("callsite", site);
      if (["samples", "functions"].includes(lane) && name !== SYNC && selection.get("function") !== name)
        selection.toggle("function", name);
    }
    /* What was clicked goes when something else is selected. */
    takeSelection() {
      const name = selection.get("function"),
        region = name === null ? null : this.about.regions.find(of => of.name === name && of.ns),
        { selected } = this;

      selection.region = region ? region.number : null;
      if (selected && selected.lane === "mpi" && selection.get("callsite") !== selected.site) this.select(null);
      if (selected && selected.sampled && name !== this.about.regions[selected.region].name) this.select(null);
      showLegend(this);
      this.changed();
    }
  };

/* ---- the section ---- */

const STAGE_KEYS = () =>
  [...VIEW_KEYS, ...ROW_COMMANDS, ...OVERLAY_COMMANDS.slice(0, 1)].map(([keys, words, does]) => ({
    keys,
    words,
    does,
  }));

function takeStageKeys(view) {
  const all = Object.assign({}, ...STAGE_KEYS().map(({ does }) => does));

  view.canvas.addEventListener("keydown", event => {
    const does = all[event.key];

    if (!does || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    event.stopPropagation();
    does(view);
  });
}

function stageTools(view) {
  const button = (words, does) => make("button", { type: "button", onclick: does }, words);

  return make(
    "p",
    { class: "tools" },
    button("zoom in", () => view.zoom(0.5)),
    button("zoom out", () => view.zoom(2)),
    button("\u2190 earlier", () => view.pan(-0.4)),
    button("later \u2192", () => view.pan(0.4)),
    button("all", () => view.goToAll()),
    button("select what is in view", () => selection.selectStretch(view.from * 1e-9, view.to * 1e-9)),
    button("zoom to the selected time", () => {
      const span = selection.stretch();

      if (span) view.go(span.from * 1e9, span.to * 1e9);
    }),
  );
}

/* Functions by their colours, those with most time. */
const STAGE_NAMES = 8;
function stageNames(view) {
  const all = view.about.regions.filter(of => of.class === 0 && of.ns && of.name !== "(not known)"),
    most = all.sort((a, b) => b.ns - a.ns).slice(0, STAGE_NAMES),
    short = name => (name.length > 60 ? name.slice(0, 59) + "\u2026" : name);

  return make(
    "p",
    { class: "legend" },
    ...most.map(({ number, name }) =>
      legendEntry(
        colourKey(view.palette.own(number)),
        make(
          "button",
          { type: "button", class: "pick", onclick: () => selection.toggle("function", name) },
          short(name),
        ),
      ),
    ),
    all.length > most.length ? make("span", null, "and " + plural(all.length - most.length, "other function")) : null,
  );
}

const STAGE_WORDS =
  "A row for each thread: its calls of MPI, and below what they are in, all else that it did. " +
  "Waiting for a late rank is hatched, in receives, blocking sends and blocking collectives; " +
  "fvunify also finds it for other calls. ";
const STAGE_HANDS =
  "Drag to zoom in, drag with Shift to select a stretch of time, click for details and messages. " +
  "A click on a rank's name selects it. Ctrl and the wheel zoom. Keys: w, s, a, d; ? lists all.";

class Stage {
  constructor(tables, trace) {
    const source = new FileTrace(trace, tables);

    this.lanes = new Lanes(trace, () => this.hide());
    source.hide(this.lanes.hidden);
    const about = source.about(),
      words = new StageWords(tables, trace, this.lanes),
      view = new (stageView())(source, about, words);

    Object.assign(this, { trace, source, view, words });
    selection.about = about;
    this.names = make("div");
    this.element = make(
      "section",
      { id: "timeline", "aria-label": "Calls over time" },
      make("h3", null, "Calls over time"),
      stageTools(view),
      this.lanes.choice(),
      view.rows.bar(),
      view.map,
      view.canvas,
      (view.legend = legendOf(view)),
      this.names,
      view.told,
      make("p", { id: "trouble", class: "bad", role: "status" }),
      view.details.place,
      make("p", { class: "note" }, STAGE_WORDS + STAGE_HANDS),
      make("p", { class: "note", id: "left-out" }, [this.lanes.leftOut(), words.unknown()].filter(Boolean).join(" ")),
      words.summary,
    );
    this.element.view = view;
    this.element.stage = this;
    takeMouse(view, {
      onStretch: (from, to) => selection.selectStretch(Math.max(from, 0) * 1e-9, Math.min(to, about.span_ns) * 1e-9),
      onName: row => selection.toggle("rank", about.rows[row].rank),
    });
    takeMap(view);
    takeStageKeys(view);
    view.fitHeight();
    view.radar.open();
  }

  /* Once it is in the page. */
  async start() {
    const { view } = this;

    this.show();
    view.labels = (await this.source.json("labels", { from: 0, to: this.trace.end })).labels;
    await loadWhole(view);
    await view.rows.fromAddress();
    new ResizeObserver(() => {
      view.tall = view.canvas.clientHeight;
      if (view.isFit) view.fitRows();
      view.changed();
    }).observe(view.canvas);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.show());
    selection.onChange(() => {
      view.takeSelection();
      this.words.sumUp();
    });
    view.takeSelection();
    this.words.sumUp();
  }
  show() {
    const { view } = this;

    view.palette = new Palette(view.about);
    this.names.replaceChildren(stageNames(view));
    showLegend(view);
    view.changed();
  }
  /* Others are chosen: what was clicked may be gone. */
  async hide() {
    const { view } = this;

    this.source.hide(this.lanes.hidden);
    view.about.rows = this.source.about().rows;
    view.select(null);
    view.fitHeight();
    await loadWhole(view);
    view.changed();
  }
}

/* It is read when it is looked at. */
function timeline(tables) {
  if (!document.querySelector("script.timeline")) return null;
  const place = make("div");

  loadTrace()
    .then(trace => {
      const stage = new Stage(tables, trace);

      place.append(stage.element);
      return stage.start();
    })
    .catch(error => place.append(make("p", { class: "bad" }, "The timeline could not be drawn: " + error.message)));
  return place;
}
