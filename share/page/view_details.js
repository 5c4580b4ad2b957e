/* In page.html, view.html. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* The panel of what was clicked on: a call, where it was called, whom it waited for, and its messages. */

const MOST_TOLD = 20 /* messages of a call */,
  MOST_IN_TILE = 5 /* functions of a pixel */,
  MOST_DONE = 3 /* functions while a call waited, ... */,
  MOST_CALLERS = 3; /* ... and those that called the one with most time */

/* By its name; without one by its number in the trace. */
const commWords = ({ comms }, comm) => comms[comm] || "communicator " + comm;

/* Of a line of the timeline. */
const lineWords = ({ name, rows, group }) => (group ? name + ": the mean of " + plural(rows.length, "row") : name);

/* What a stretch of a line has, most first: its parts by class, and of these what was waiting. */
function tileParts(tiles, at, { classes }) {
  const parts = classes.map(({ about }, k) => ({ words: about, part: tiles.parts[k * tiles.all + at] }));

  parts.push({ words: COMPUTING, part: tiles.computing[at] });
  parts.sort((a, b) => b.part - a.part);
  return [...parts, { words: "waiting", part: tiles.waits[at] }]
    .filter(({ part }) => part > 0)
    .map(({ words, part }) => words + " " + Math.max(Math.round(part / 2.55), 1) + " %");
}

/* Where its function is among the names of a call's path, innermost first; -1: the path is that of the caller. Paths of
 * samples lead on into libraries. */
const ownFrame = (names, { sampled }, name) => (sampled ? names.indexOf(name) : -1);

class Details {
  constructor(view) {
    Object.assign(this, panelOf(this, view, "details", "Details", "right"));
    this.place = make("div", { id: "details" });
    this.element.append(this.place);
    this.clear();
  }

  async load() {} /* what was clicked on stays */

  clear() {
    this.place.replaceChildren(make("p", { class: "note" }, "Click on a call to see what it was."));
  }

  /* What is in a pixel, and its functions with most time. */
  async showTile(tile, view) {
    const sums = make("p", { class: "note" }, "...");

    this.tile = tile;
    this.place.replaceChildren(
      make("h2", null, tile.words),
      make("p", null, stretchWords(tile.from, tile.to)),
      ...tile.parts.map(words => make("p", null, words)),
      sums,
      make("p", { class: "note" }, "Zoom in for single calls."),
    );
    const only = rangesOf([...tile.rows].sort((a, b) => a - b)),
      { regions, rows } = await view.trace.json("sums", {
        from: Math.floor(tile.from),
        to: Math.ceil(tile.to),
        only,
      }),
      time = (tile.to - tile.from) * rows;

    if (this.tile !== tile) return;
    sums.replaceWith(
      ...regions
        .map(sumOf)
        .sort((a, b) => b.exclusive - a.exclusive)
        .slice(0, MOST_IN_TILE)
        .map(sum =>
          make(
            "p",
            null,
            view.about.regions[view.trace.region(sum.region)].name,
            " " +
              tilde(sum.sampled) +
              percent(sum.exclusive / time) +
              (sum.count ? ", " + plural(sum.count, "call") : ""),
          ),
        ),
    );
  }

  /* slice: null: what is told is of the tile there, if there is one. */
  async show(slice, view, tile = null) {
    this.tile = null;
    if (!slice) {
      if (tile && tile.parts.length) await this.showTile(tile, view);
      else this.clear();
      return;
    }
    const { about } = view,
      region = about.regions[slice.region],
      row = about.rows[slice.row],
      path = slice.context === null ? [] : (await view.trace.json("path", { context: slice.context })).path,
      lines = [
        view.all.length > 1 ? about.title : null,
        rowName(row) + " on " + row.host,
        stretchWords(slice.begin, slice.begin + slice.ns),
        slice.sampled ? "by samples of the CPU clock" : null,
        slice.wait ? "waited for " + nanoseconds(slice.wait) : null,
      ],
      messages = await messagesOf(view, slice),
      because = await this.moreLines(slice, view),
      more = await view.trace.json("call", { row: slice.row, begin: slice.begin, depth: slice.depth }),
      together = slice.isTogether
        ? await view.trace.json("together", { row: slice.row, begin: slice.begin, depth: slice.depth })
        : null;

    if (view.selected !== slice) return;
    this.place.replaceChildren(
      make("h2", null, region.name),
      ...lines.filter(Boolean).map(words => make("p", null, words)),
      ...(slice.cause === null ? [] : [make("p", null, "for ", rowCell(view, slice.cause))]),
      ...(together && together.members
        ? [
            make(
              "p",
              null,
              "collective on " + commWords(about, together.comm) + ", " + plural(together.members, "member"),
            ),
          ]
        : []),
      ...this.rootLine(view, more),
      more.file ? make("p", { class: "file" }, "file " + more.file) : "",
      ...because,
      this.tools(slice),
      ...this.messageLines(view, slice, messages),
      ...this.pathLines(path, slice, region),
    );
  }

  /* Its main thread's row, if the trace has it. */
  rootLine(view, { root }) {
    const row = view.about.rows.findIndex(({ rank, thread }) => rank === root && !thread);

    return root === undefined ? [] : [make("p", null, "root: ", row < 0 ? "rank " + root : rowCell(view, row))];
  }

  /* What the row that came late did while it was waited for, longest first. */
  async moreLines({ row, begin, wait, cause }, view) {
    if (!wait || cause === null || cause === row) return [];
    const { regions } = await view.trace.json("sums", { from: begin, to: begin + wait, only: String(cause) }),
      sums = regions.map(sumOf).sort((a, b) => b.exclusive - a.exclusive),
      sum = key => sums.reduce((all, of) => all + of[key], 0),
      rest = wait - sum("exclusive"),
      isMuch = ns => ns > wait / 10,
      said = sums
        .filter(({ exclusive }) => isMuch(exclusive))
        .slice(0, MOST_DONE)
        .map(
          ({ region, sampled, exclusive }) =>
            view.about.regions[view.trace.region(region)].name + " " + tilde(sampled) + nanoseconds(exclusive),
        );

    if (isMuch(rest)) said.push("no function that is known " + nanoseconds(rest));
    return [
      make(
        "p",
        { class: "because" },
        "In that time " +
          rowName(view.about.rows[cause]) +
          " was in " +
          (said.join(", ") || "functions of less than a tenth") +
          (await this.mostOf(view, { from: begin, to: begin + wait, only: String(cause) })),
        isMuch(sum("wait")) ? "; of that it waited itself " + nanoseconds(sum("wait")) : "",
      ),
    ];
  }

  /* The call path with most time, if it is of more than one function; a file's page has no tree. */
  async mostOf(view, window) {
    if (!view.bench) return "";
    const { nodes } = await view.trace.json("tree", window),
      most = nodes.reduce((best, node) => (!best || node[4] > best[4] ? node : best), null),
      names = [];

    for (let node = most; node; node = node[0] === null ? null : nodes[node[0]])
      names.push(view.about.regions[view.trace.region(node[1])].name);
    return names.length > 1 ? "; most in " + names.slice(0, MOST_CALLERS + 1).join(" <- ") : "";
  }

  tools({ region }) {
    const button = (words, onclick) => make("button", { type: "button", onclick }, words);

    return make(
      "p",
      { class: "tools" },
      button("select the function", () => selection.toggle(region)),
      button("find its calls", () => {
        selection.choose(region);
        this.view.bench.show("find", true);
      }),
    );
  }

  /* Partner, bytes, tag and communicator of each. */
  messageLines(view, { row }, { messages, left_out: left }) {
    if (left) return [make("p", null, plural(left, "message") + " in its time, too many for a list")];
    if (!messages.length) return [];
    const sum = messages.reduce((all, message) => all + message.bytes, 0);

    return [
      make("h3", null, plural(messages.length, "message") + ", " + bytes(sum)),
      make(
        "ul",
        { class: "messages" },
        ...messages
          .slice(0, MOST_TOLD)
          .map(({ from, to, bytes: size, tag, comm }) =>
            make(
              "li",
              null,
              from === row ? "to " : "from ",
              rowCell(view, from === row ? to : from),
              ": " +
                bytes(size) +
                (comm === undefined ? "" : ", tag " + (tag | 0) + ", " + commWords(view.about, comm)),
            ),
          ),
      ),
      messages.length > MOST_TOLD ? make("p", { class: "note" }, "the largest " + MOST_TOLD) : null,
    ].filter(Boolean);
  }

  pathLines(path, slice, { name }) {
    const names = path.map(([of]) => of),
      own = ownFrame(names, slice, name),
      list = (title, frames) =>
        frames.length
          ? [
              make("h3", null, title),
              make(
                "ol",
                { class: "path" },
                ...frames.map(([of, file, line]) =>
                  make("li", null, of + (file ? "  " + file.replace(/.*\//, "") + (line ? ":" + line : "") : "")),
                ),
              ),
            ]
          : [];

    return [...list("it was in", path.slice(0, own + 1)), ...list("called from", path.slice(own + 1))];
  }
}
