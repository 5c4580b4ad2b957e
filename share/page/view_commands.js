/* In view.html. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* All that can be done, as one list: keys, a palette that is searched (Ctrl+K or /), and the help. A command: { keys:
 * ["w"], words, does(view) }. */

const commands = [];

/* From rows of [keys in words, words, { key: does(view) }]. */
function addCommands(rows) {
  for (const [, words, does] of rows) {
    const byFunction = new Map();

    for (const [key, run] of Object.entries(does || {})) byFunction.set(run, [...(byFunction.get(run) || []), key]);
    const each = words.split(", ");
    [...byFunction].forEach(([run, keys], i) =>
      commands.push({
        keys,
        words: byFunction.size > 1 && each.length === byFunction.size ? each[i] : words,
        does: run,
      }),
    );
  }
}

const keyWord = key =>
  ({ ArrowLeft: "left", ArrowRight: "right", ArrowUp: "up", ArrowDown: "down", " ": "space", Escape: "Esc" })[key] ||
  key;

const isTyped = target => /^(INPUT|SELECT|TEXTAREA)$/.test(target.tagName);

/* Keys of the timeline go to what has the focus first: tabs, tables and sliders have their own arrows. */
function takeKeys(view) {
  document.addEventListener("keydown", event => {
    const { key, target } = event;

    if ((event.ctrlKey || event.metaKey) && key.toLowerCase() === "k") {
      event.preventDefault();
      view.palettes.open();
      return;
    }
    if (event.ctrlKey || event.altKey || event.metaKey || isTyped(target) || document.querySelector("dialog[open]"))
      return;
    if (key.startsWith("Arrow") && target.closest(".long, .scrolling, .panel")) return;
    const command = commands.find(of => of.keys.includes(key));

    if (!command) return;
    event.preventDefault();
    command.does(view);
  });
}

/* ---- the palette ---- */

const FOUND_COMMANDS = 40; /* of what is no command, when some text is typed in */

class CommandPalette {
  constructor(view) {
    this.view = view;
    this.found = [];
    this.at = 0;
    this.input = make("input", {
      type: "text",
      id: "command",
      role: "combobox",
      autocomplete: "off",
      "aria-label": "command, function, label, row or time",
      "aria-controls": "commands",
      "aria-expanded": "true",
      placeholder: "a command, a function, rank 3, 1.25s, 300ms-310ms",
      oninput: () => this.search(),
      onkeydown: event => this.key(event),
    });
    this.list = make("ul", { id: "commands", role: "listbox", "aria-label": "what can be done" });
    this.none = make("p", { class: "note", role: "status" });
    this.dialog = make("dialog", { id: "palette", "aria-label": "commands" }, this.input, this.list, this.none);
    this.dialog.addEventListener("click", event => event.target === this.dialog && this.dialog.close());
    document.body.append(this.dialog);
  }

  open(text = "") {
    this.input.value = text;
    this.dialog.showModal();
    this.search();
    this.input.focus();
  }

  key(event) {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];

    if (by) {
      event.preventDefault();
      this.at = (this.at + by + this.found.length) % Math.max(this.found.length, 1);
      this.draw();
    } else if (event.key === "Enter") {
      event.preventDefault();
      this.run(this.at);
    }
  }
  run(at) {
    const command = this.found[at];

    this.dialog.close();
    if (command) command.does(this.view);
  }

  search() {
    const text = this.input.value.trim().toLowerCase(),
      words = text.split(/\s+/).filter(Boolean),
      fits = name => words.every(word => name.toLowerCase().includes(word));

    this.found = [
      ...this.places(text),
      ...commands.filter(({ words: name }) => fits(name)),
      ...(words.length ? [...this.names(fits), ...this.choices(fits), ...this.labels(fits)] : []).slice(
        0,
        FOUND_COMMANDS,
      ),
    ];
    this.at = 0;
    this.draw();
  }
  /* A time, a stretch of time, or a rank. */
  places(text) {
    const { view } = this,
      { rows, span_ns: span } = view.about,
      [from, to] = text.split(/-|\bto\b/).map(timeOf),
      rank = text.match(/^(?:rank|row)?\s*(\d+)(?::(\d+))?$/),
      found = [];

    if (from !== null && from !== undefined && to) {
      const end = Math.min(to, span);

      if (end > from)
        found.push({
          keys: [],
          words: "show " + nanoseconds(from) + " to " + nanoseconds(end) + (to > span ? ", where it ends" : ""),
          does: () => view.go(from, end),
        });
    } else if (from !== null && from <= span)
      found.push({ keys: [], words: "go to " + nanoseconds(from), does: () => view.goToTime(from) });
    const row = rank ? rows.findIndex(of => of.rank === Number(rank[1]) && of.thread === Number(rank[2] || 0)) : -1;
    if (row >= 0)
      found.push(
        { keys: [], words: "go to " + rowName(rows[row]), does: () => view.goToRow(row) },
        { keys: [], words: "call stack of " + rowName(rows[row]), does: () => view.charts.stacks.toggle([row]) },
      );
    return found;
  }
  /* Orders of the rows, what colours them, and values along time. */
  choices(fits) {
    const { view } = this,
      of = (list, word, does) =>
        [...list.options]
          .filter(({ value, disabled }) => value !== undefined && !disabled)
          .map(({ value, text }) => ({ keys: [], words: word + text, does: () => does(value) })),
      { radar, rows, charts } = view;

    return [
      ...of(rows.order.choice, "sort rows by ", value => rows.sortBy(value)),
      ...of(radar.choice, "colour rows by ", value => radar.choose(value)),
      ...of(charts.choice, "chart values: ", value => charts.add(value)).slice(1),
      ...(charts.shown.length
        ? of(charts.shown.at(-1).more, "in the last chart: ", value => charts.shown.at(-1).add(value)).slice(1)
        : []),
    ].filter(({ words }) => fits(words));
  }
  labels(fits) {
    const { view } = this;

    return view.labels
      .filter(([, , text]) => fits(text))
      .slice(0, FOUND_COMMANDS)
      .map(([ns, , text]) => ({
        keys: [],
        words: "go to label " + text + " at " + tick(ns, 1000),
        does: () => view.goToTime(ns),
      }));
  }
  names(fits) {
    const { view } = this,
      known = new Set(this.choices(() => true).map(({ words }) => words)),
      all = view.about.regions.filter(({ ns }) => ns).sort((a, b) => b.ns - a.ns);

    return [
      ...all.map(({ name, number }) => ({
        keys: [],
        words: "find calls of " + name,
        does: () => {
          selection.choose(number);
          view.bench.show("find", true);
        },
      })),
      ...all.map(({ name }) => ({
        keys: [],
        words: "sort rows by time of " + name,
        does: () => view.rows.sortBy("function:" + name),
      })),
    ].filter(({ words }) => !known.has(words) && fits(words));
  }

  draw() {
    this.list.replaceChildren(
      ...this.found.map((command, i) =>
        make(
          "li",
          { role: "option", id: "command-" + i, "aria-selected": String(i === this.at), onclick: () => this.run(i) },
          make("span", null, command.words),
          make("span", null, ...command.keys.map(key => make("kbd", null, keyWord(key)))),
        ),
      ),
    );
    this.list.hidden = !this.found.length;
    this.none.textContent = this.found.length ? "" : "nothing found";
    if (this.found.length) this.input.setAttribute("aria-activedescendant", "command-" + this.at);
    else this.input.removeAttribute("aria-activedescendant");
    const chosen = this.list.children[this.at];
    if (chosen) chosen.scrollIntoView({ block: "nearest" });
  }
}

/* ---- help ---- */

const MOUSE = [
  ["wheel", "scroll the rows; with Shift, move in time; with Ctrl, zoom; with Alt, make rows taller"],
  ["drag", "zoom to that stretch of time"],
  ["drag above", "in the picture of the whole run: move the window"],
  ["click", "details of the call there, and its call path"],
  ["click with Shift", "show or hide the call stacks of the rows there"],
  ["drag a tab", "move its panel: to other tabs, or to the edge of a group"],
  ["Delete, Shift with an arrow", "on a tab: close its panel, change the size of its group"],
];

function helpOf() {
  const row = (keys, words) =>
      make("tr", null, make("td", { class: "left" }, ...keys), make("td", { class: "left" }, words)),
    dialog = make(
      "dialog",
      { id: "help", "aria-label": "keys and mouse" },
      make("h2", null, "Keys and mouse"),
      make("button", { type: "button", class: "tool", onclick: () => dialog.close() }, "close"),
      scrolled(
        "keys and mouse",
        make(
          "table",
          null,
          make(
            "tbody",
            null,
            ...commands
              .filter(({ keys }) => keys.length)
              .map(({ keys, words }) =>
                row(
                  keys.map(key => make("kbd", null, keyWord(key))),
                  words,
                ),
              ),
            row(
              [make("kbd", null, "Ctrl"), make("kbd", null, "K")],
              "search commands, functions, labels, rows and times",
            ),
            ...MOUSE.map(([what, words]) => row([what], words)),
            ...commands.filter(({ keys }) => !keys.length).map(({ words }) => row(["Ctrl K"], words)),
          ),
        ),
      ),
    );

  document.body.append(dialog);
  return dialog;
}
