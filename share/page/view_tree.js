/* In view.html. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Panels of the call paths in view: a tree whose branches open, and a flame graph. */

/* { name, region, time, own, wait, count, sampled, parent, children, depth, path }, as flame.js has them; s. */
async function loadTree(view, window) {
  const { nodes, left_out, rows_ns: whole } = await view.trace.json("tree", window),
    all = [],
    root = {
      name: "all",
      region: null,
      time: 0,
      own: 0,
      mpi: 0,
      sync: 0,
      parent: null,
      children: [],
      depth: -1,
      path: "",
      whole: whole / 1e9 /* time of the rows, with what no region has */,
    };

  for (const [parent, region, calls, inclusive, own, wait, sampled] of nodes) {
    const above = parent === null ? null : all[parent],
      { name, class: of } = view.about.regions[region],
      node = {
        name,
        region,
        time: inclusive / 1e9,
        own: own / 1e9,
        wait: wait / 1e9,
        count: calls,
        sampled,
        mpi: 0,
        sync: 0,
        class: of,
        parent: above,
        children: [],
        depth: above ? above.depth + 1 : 0,
        path: (above ? above.path : "") + "/" + region,
      };

    all.push(node);
    (above || root).children.push(node);
    for (let at = node; sampled && at && !at.isEstimate; at = at.parent) at.isEstimate = true;
  }
  for (const node of [root, ...all]) node.children.sort((a, b) => b.time - a.time);
  root.time = root.children.reduce((sum, node) => sum + node.time, 0);
  return { root, leftOut: left_out };
}

const leftOutWords = n => (n ? "; left out: " + plural(n, "call path") + " with the least time" : "");

const pathNames = node => (node.parent ? [...pathNames(node.parent), node.name] : [node.name]);

/* Of nodes those below the same one in order, each with its own below it. */
function branchesInOrder(nodes, compare) {
  const below = new Map(),
    found = [],
    add = node => {
      found.push(node);
      (below.get(node) || []).sort(compare).forEach(add);
    };

  for (const node of nodes) below.set(node.parent, [...(below.get(node.parent) || []), node]);
  (below.get(null) || []).sort(compare).forEach(add);
  return found;
}

class CallTree {
  constructor(view) {
    Object.assign(this, panelOf(this, view, "tree", "Call tree", "bottom"));
    this.root = null;
    this.open = new Set(); /* paths */
    this.table = new LongTable("calltree", "call paths in view", this.columns(), {
      isChosen: node => node.region === selection.region,
      sorted: "time",
      arrange: (nodes, compare) => branchesInOrder(nodes, compare),
    });
    this.element.append(
      make(
        "p",
        { class: "tools" },
        rowsChooser(view),
        ...[
          ["open all", () => this.each(node => this.open.add(node.path))],
          ["close all", () => this.open.clear()],
          ["hottest path", () => this.openHottest()],
        ].map(([words, does]) => make("button", { type: "button", onclick: () => (does(), this.show()) }, words)),
        this.table.csvButton(),
        this.note,
      ),
      this.table.element,
    );
    selection.onChange(() => this.table.draw());
  }

  columns() {
    return [
      {
        key: "path",
        title: "call path",
        isText: true,
        doc: "each branch is sorted",
        value: node => node.name,
        csv: node => pathNames(node).join(" > "),
        cell: node => this.nameCell(node),
      },
      {
        ...time("time", "with callees", "inclusive"),
        wide: 8,
        words: (s, node) => tilde(node.isEstimate) + seconds(s),
        csvTitle: "inclusive_s",
      },
      {
        key: "share",
        title: "of all",
        doc: "time with callees, as part of the time of the rows, each from its first event to its last one",
        wide: 5,
        value: node => (this.root && this.root.whole ? node.time / this.root.whole : 0),
        words: percent,
      },
      {
        ...time("own", "time itself", "exclusive"),
        words: (s, node) => tilde(node.sampled) + seconds(s),
        csvTitle: "exclusive_s",
      },
      { ...whole("count", "calls"), value: node => node.count || null },
      { ...time("wait", "waiting"), value: node => node.wait || null, words: s => seconds(s), csvTitle: "waiting_s" },
    ];
  }
  nameCell(node) {
    const indent = make("span", { class: "indent" }),
      isOpen = this.open.has(node.path);

    indent.style.width = node.depth + "em";
    return make(
      "span",
      { class: "name" },
      indent,
      node.children.length
        ? make(
            "button",
            {
              type: "button",
              class: "twist",
              "data-focus": node.path,
              "aria-expanded": String(isOpen),
              "aria-label": "callees of " + node.name,
              onclick: () => {
                if (isOpen) this.open.delete(node.path);
                else this.open.add(node.path);
                this.show();
              },
            },
            isOpen ? "\u25be" : "\u25b8",
          )
        : make("span", { class: "twist" }),
      ...regionCell(this.view, node.region),
    );
  }

  each(does, node = this.root) {
    for (const child of node ? node.children : []) {
      does(child);
      this.each(does, child);
    }
  }
  openHottest() {
    for (let node = this.root; node && node.children.length; node = node.children[0]) this.open.add(node.path);
  }

  async load() {
    const { root, leftOut } = await loadTree(this.view, windowOf(this.view)),
      isFirst = !this.root;

    this.root = root;
    this.leftOut = leftOut;
    if (isFirst) this.openHottest();
    this.show();
  }
  show() {
    const rows = [],
      add = node => {
        for (const child of node.children) {
          rows.push(child);
          if (this.open.has(child.path)) add(child);
        }
      };

    if (this.root) add(this.root);
    this.table.setRows(rows);
    this.note.textContent = plural(rows.length, "call path") + " shown" + leftOutWords(this.leftOut);
  }
}

function flameWords({ name, time, own }, root) {
  const [of, part] = [seconds(time), root.whole ? percent(time / root.whole) : "0 %"];

  if (name === "all" && time === root.time) return `all functions: ${of}, ${part} of the time of the rows`;
  return `${name}: ${of} with callees, ${part} of the time of the rows` + (own ? `; ${seconds(own)} itself` : "");
}

class FlamePanel {
  constructor(view) {
    Object.assign(this, panelOf(this, view, "flame", "Flame graph", "bottom"));
    this.flame = null;
    this.place = make("div", {
      class: "scrolling",
      tabindex: "0",
      role: "region",
      "aria-label": "frames of the stretch",
    });
    this.element.append(make("p", { class: "tools" }, rowsChooser(view), this.note), this.place);
  }
  async load() {
    const { view } = this,
      { root, leftOut } = await loadTree(view, windowOf(this.view));

    this.note.textContent = "Click on a function to select it and to see its branch alone" + leftOutWords(leftOut);
    if (this.flame) {
      this.flame.replace(root);
      return;
    }
    this.flame = new Flame(root, {
      id: "flamegraph",
      title: "Time of the rows by call path",
      words: (node, root) => flameWords(node, root),
      colour: node => (node.region === null ? colours("quiet") : view.palette.own(node.region)),
      choose: node => selection.choose(node.region),
    });
    this.place.append(this.flame.element);
  }
}
