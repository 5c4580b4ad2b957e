/* In page.html. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Source files of the program: what each line took by samples, and what its MPI calls did. */

/* File -> line -> { own, all, mpi, procedure, callsites }. */
function lineTimes(tables) {
  const files = new Map(),
    lines = tables.get("cpu_lines"),
    sites = tables.get("callsites");
  const at = (file, line) => {
    if (!files.has(file)) files.set(file, new Map());
    if (!files.get(file).has(line))
      files.get(file).set(line, { own: 0, all: 0, mpi: 0, procedure: null, callsites: [] });
    return files.get(file).get(line);
  };

  for (let row = 0; lines && row < lines.rows; row++)
    Object.assign(at(lines.get("file", row), lines.get("line", row)), {
      own: lines.get("exclusive_time_s", row) || 0,
      all: lines.get("inclusive_time_s", row) || 0,
      procedure: lines.get("procedure", row),
    });
  for (let row = 0; sites && row < sites.rows; row++)
    if (sites.get("file", row) !== null) {
      const of = at(sites.get("file", row), sites.get("line", row));

      of.mpi += sites.get("time_sum_s", row) || 0;
      of.callsites.push({ id: sites.get("id", row), name: sites.get("function", row) });
    }
  return files;
}

/* All CPU time by samples outside of MPI, and all time in MPI calls, also of what has no file here. */
function timeOfAll(tables) {
  const sum = (table, of) =>
    table
      ? Array.from({ length: table.rows }, (_, row) => of(key => table.get(key, row))).reduce((a, b) => a + b, 0)
      : 0;
  const computing = get =>
    get("exclusive_ticks")
      ? (get("exclusive_time_s") * (get("exclusive_ticks") - get("exclusive_mpi_ticks"))) / get("exclusive_ticks")
      : 0;

  return sum(tables.get("cpu_procedures"), computing) + sum(tables.get("callsites"), get => get("time_sum_s") || 0);
}

const HOT = 0.5; /* of what the costliest line of the file takes */
const MAP_WIDTH = 18,
  MAPPED = 24; /* lines: fewer are all in sight */

/* What a line takes, by samples and in MPI calls. */
const costOf = of => of.own + of.mpi;

class SourceView {
  constructor(tables, sources) {
    this.times = lineTimes(tables);
    const weight = file =>
      [...(this.times.get(file.name) || new Map()).values()].reduce((sum, of) => sum + costOf(of), 0);
    const all = timeOfAll(tables);

    this.files = sources.files.map(file => ({ ...file, weight: weight(file) })).sort((a, b) => b.weight - a.weight);
    this.choice = make(
      "select",
      { "aria-label": "Source file", onchange: () => this.show(this.files[this.choice.value]) },
      ...this.files.map((file, i) =>
        make(
          "option",
          { value: i },
          file.name + (file.weight ? ": " + seconds(file.weight) + ", " + percent(file.weight / all) : ""),
        ),
      ),
    );
    this.words = make("p", { class: "note" });
    this.lines = make("div", { class: "lines", tabindex: "0", role: "region", "aria-label": "Source lines" });
    this.marks = [];
    this.map = this.jumpMap();
    this.element = make(
      "section",
      { id: "source", "aria-label": "Source" },
      make("h3", null, "Source lines"),
      make("p", { class: "tools" }, this.choice),
      this.words,
      make("div", { class: "mapped" }, this.lines, this.map),
      sources.left_out
        ? make("p", { class: "note" }, sources.left_out + " more files are cut: the page would be too large")
        : null,
    );
    selection.onChange(() => this.follow());
    this.show(this.files[0]);
  }

  show(file) {
    const times = this.times.get(file.name) || new Map(),
      most = Math.max(...[...times.values()].map(costOf), 0);
    const rows = file.parts.flatMap((part, i) => [
      ...(i ? [this.gap()] : []),
      ...part.lines.map((text, k) => this.line(part.first + k, text, times.get(part.first + k), most)),
    ]);
    const known = new Set(file.parts.flatMap(part => part.lines.map((_, k) => part.first + k)));

    rows.push(
      ...[...times]
        .filter(([line]) => !known.has(line))
        .sort((a, b) => a[0] - b[0])
        .map(([line, of]) => this.line(line, "", of, most)),
    );
    this.file = file;
    this.choice.value = this.files.indexOf(file);
    this.words.textContent =
      (file.why
        ? "The file could not be read (" +
          file.why +
          "): lines by number. fvmpi report --source-path OLD=NEW gives its new place. "
        : "") +
      (file.changed ? "The file changed after the run began: lines may be off. " : "") +
      "CPU time of the line itself and with what it calls (sampled), and time in MPI calls made there, " +
      "over all ranks; beside the file's name, both, and their part of the same of the whole run. " +
      "Red: at least half of the costliest line of the file. " +
      "A strip beside long files has all lines that take time: a click goes there.";
    this.lines.replaceChildren(
      make(
        "table",
        null,
        make(
          "thead",
          null,
          make(
            "tr",
            null,
            ...["itself", "with calls", "in MPI", "line"].map(title => make("th", null, title)),
            make("th", { class: "left" }, "source"),
          ),
        ),
        make("tbody", null, ...rows),
      ),
    );
    this.marks = rows
      .map((row, i) => ({ row, place: (i + 0.5) / rows.length, part: row.of && most ? costOf(row.of) / most : 0 }))
      .filter(mark => mark.part > 0);
    this.map.hidden = rows.length < MAPPED;
    this.map.dispatchEvent(new Event("redraw"));
  }

  /* All lines of the file from top to bottom, and which of them take time. */
  jumpMap() {
    const height = 460;
    const draw = (c, width) => {
      c.fillStyle = colours("raised");
      c.fillRect(0, 0, width, height);
      for (const { place, part } of this.marks) {
        c.fillStyle = colours(part >= HOT ? "poor" : "compute");
        c.fillRect(0, place * height - 1, Math.max(width * Math.sqrt(part), 3), 3);
      }
    };
    const pick = (_, y) => {
      const near = this.marks.map(mark => [Math.abs(mark.place * height - y), mark.row]).sort((a, b) => a[0] - b[0])[0];

      if (near) this.lines.scrollTop = Math.max(near[1].offsetTop - 80, 0);
    };
    const map = canvas(height, "lines that take time, from the first to the last of the file", draw, pick);

    map.classList.add("map");
    map.style.width = MAP_WIDTH + "px";
    return map;
  }

  gap() {
    return make("tr", { class: "gap" }, make("td", { colspan: "5", class: "left" }, "…"));
  }

  line(number, text, of, most) {
    const cell = (value, kind) => {
      const bar = value && kind ? make("i", { class: kind }) : null;

      if (bar) bar.style.width = (most ? (100 * value) / most : 0) + "%";
      return make("td", { class: "heat" }, bar, value ? seconds(value) : "");
    };
    const row = make(
      "tr",
      null,
      cell(of && of.own, "compute"),
      cell(of && of.all),
      cell(of && of.mpi, "mpi"),
      make("td", null, String(number)),
      make("td", { class: "left code" }, text),
    );

    row.of = of;
    if (of && most && costOf(of) >= HOT * most) row.classList.add("hot");
    if (of && (of.procedure !== null || of.callsites.length)) {
      row.addEventListener("click", () => this.pick(of));
    }
    return row;
  }

  pick(of) {
    if (of.callsites.length) selection.toggle("callsite", of.callsites[0].id);
    else selection.toggle("function", of.procedure);
  }

  /* Of a call site its line, of a function its first. */
  follow() {
    const site = selection.get("callsite"),
      name = selection.get("function");
    const isChosen = of =>
      site !== null ? of.callsites.some(call => call.id === site) : name !== null && of.procedure === name;
    const has = file => [...(this.times.get(file.name) || new Map()).values()].some(isChosen);

    if (!has(this.file)) {
      const other = this.files.find(has);

      if (other) this.show(other);
    }
    let first = null;
    for (const row of this.lines.querySelectorAll("tbody tr")) {
      const chosen = Boolean(row.of) && isChosen(row.of);

      row.setAttribute("aria-selected", chosen);
      first = first || (chosen ? row : null);
    }
    if (first) this.lines.scrollTop = Math.max(first.offsetTop - 80, 0);
  }
}

function sourceLines(tables) {
  return tables.sources.files.length ? new SourceView(tables, tables.sources).element : null;
}
