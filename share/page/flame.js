/* In page.html, view.html. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Where time goes by call path: a flame graph from the root down, and who calls a function and whom it calls. Of
 * samples, and of functions that the compiler instrumented. */

const FRAME = 19; /* pixels of a row */
const NARROW = 0.6; /* pixels below which a frame is not drawn */
const DEEPEST = 60; /* rows that are shown at once */

/* Tables that are trees: `columns` of a name, of time with callees and without, and of all that MPI and threads'
 * waiting are parts of. */
const TREES = {
  call_tree: {
    id: "flame",
    title: "CPU time by call path",
    of: "CPU time",
    known: " (estimate, by samples)",
    columns: {
      name: "procedure",
      time: "inclusive_time_s",
      own: "exclusive_time_s",
      all: "inclusive_ticks",
      mpi: "inclusive_mpi_ticks",
      sync: "inclusive_sync_ticks",
    },
  },
  instrumented_paths: {
    id: "calls",
    title: "Time of instrumented functions by call path",
    of: "time",
    known: " (exact)",
    columns: { name: "tree", time: "time_s", own: "self_s", all: "time_s", mpi: "mpi_s" },
  },
};

/* { name, time, own, mpi, sync, parent, children } of each node; parents stand before their children. */
function callTree(table, columns) {
  const nodes = new Map(),
    roots = [];

  for (let row = 0; row < table.rows; row++) {
    const get = column => (column ? table.get(column, row) || 0 : 0);
    const all = get(columns.all),
      parent = nodes.get(table.get("parent_id", row)) || null;
    const node = {
      name: String(get(columns.name)).trim(),
      time: get(columns.time),
      own: get(columns.own),
      mpi: all && get(columns.mpi) / all,
      sync: all && get(columns.sync) / all,
      parent,
      children: [],
      depth: parent ? parent.depth + 1 : 0,
    };

    nodes.set(table.get("id", row), node);
    (parent ? parent.children : roots).push(node);
  }
  nodes.forEach(node => node.children.sort((a, b) => b.time - a.time));
  roots.sort((a, b) => b.time - a.time);
  return {
    name: "all",
    time: roots.reduce((sum, node) => sum + node.time, 0),
    own: 0,
    mpi: 0,
    sync: 0,
    parent: null,
    children: roots,
    depth: -1,
  };
}

/* tree: { id, title, of, known }, and where colours, words or the choice are others than the page's: colour(node),
 * words(node, root), choose(node). */
class Flame {
  constructor(root, tree) {
    this.tree = tree;
    this.root = this.focus = root;
    this.frames = [];
    this.above = [];
    this.words = make("p", { class: "note", role: "status" });
    this.around = make("div", { class: "beside" });
    this.picture = canvas(
      () => this.rows * FRAME + 2,
      tree.title + ": callers above, callees below; the width is the time. The table of the call tree has the numbers",
      (c, width) => this.draw(c, width),
      (x, y) => this.pick(x, y),
    );
    this.picture.addEventListener("mousemove", event => this.tell(this.at(event.offsetX, event.offsetY)));
    this.element = make(
      "section",
      { id: tree.id, "aria-label": `Flame graph: ${tree.title}` },
      make("h3", null, tree.title),
      make("p", { class: "tools" }, make("button", { type: "button", onclick: () => this.zoom(this.root) }, "all")),
      make("figure", null, this.picture, this.words),
      this.around,
    );
    selection.onChange(() => this.drawAround());
    this.drawAround();
    this.zoom(this.root);
  }

  /* Another tree; what was looked at is, if it has that, too. */
  replace(root) {
    const names = [];
    let node = root;

    for (let at = this.focus; at && at !== this.root; at = at.parent) names.unshift(at.name);
    for (const name of names) node = node && node.children.find(child => child.name === name);
    this.root = root;
    this.drawAround();
    this.zoom(node || root);
  }

  depth(node) {
    return node.children.reduce((most, child) => Math.max(most, this.depth(child) + 1), 0);
  }

  get rows() {
    return Math.max(Math.min(this.above.length + this.depth(this.focus), DEEPEST), 1);
  }

  zoom(node) {
    this.focus = node;
    this.above = [];
    for (let at = node; at; at = at.parent || (at === this.root ? null : this.root)) this.above.unshift(at);
    this.picture.dispatchEvent(new Event("redraw"));
    this.tell(node);
  }

  /* The rows above the focus, then its part of the tree. */
  draw(c, width) {
    this.frames = [];
    c.textBaseline = "middle";
    this.above.forEach((of, row) => this.frame(c, of, 0, width, row));
    let y = this.above.length;
    for (let level = [[this.focus, 0, width]]; level.length && y < DEEPEST; y++) {
      const next = [];

      for (const [of, left, wide] of level) {
        let x = left;

        for (const child of of.children) {
          const share = of.time ? (child.time / of.time) * wide : 0;

          if (share >= NARROW) {
            this.frame(c, child, x, share, y);
            next.push([child, x, share]);
          }
          x += share;
        }
      }
      level = next;
    }
  }

  frame(c, node, left, wide, row) {
    const top = row * FRAME,
      kind = node.mpi > 0.5 ? "mpi" : node.sync > 0.5 ? "threads" : "compute",
      chosen = node.name === selection.get("function");

    c.globalAlpha = chosen ? 0.55 : this.tree.colour ? 0.4 : 0.22;
    c.fillStyle = chosen ? colours("accent") : this.tree.colour ? this.tree.colour(node) : colours(kind);
    c.fillRect(left, top, Math.max(wide - 1, 0.5), FRAME - 1);
    c.globalAlpha = 1;
    this.frames.push({ node, left, top, wide });
    if (wide < 24) return;
    c.save();
    c.beginPath();
    c.rect(left, top, wide - 4, FRAME);
    c.clip();
    c.fillStyle = colours("text");
    c.fillText(node.name, left + 4, top + FRAME / 2);
    c.restore();
  }

  at(x, y) {
    const found = this.frames.find(of => x >= of.left && x < of.left + of.wide && y >= of.top && y < of.top + FRAME);

    return found ? found.node : null;
  }

  pick(x, y) {
    const node = this.at(x, y);

    if (!node) return;
    if (node !== this.root && selection.get("function") !== node.name) this.choose(node);
    this.zoom(node);
  }

  choose(node) {
    if (this.tree.choose) this.tree.choose(node);
    else selection.toggle("function", node.name);
  }

  tell(node) {
    if (node && this.tree.words) this.words.textContent = this.tree.words(node, this.root);
    else if (node)
      this.words.textContent =
        node.name +
        ": " +
        seconds(node.time) +
        " of " +
        this.tree.of +
        " with what it calls, " +
        percent(this.root.time ? node.time / this.root.time : 0) +
        this.tree.known +
        (node.own ? ", " + seconds(node.own) + " itself" : "") +
        (node.mpi >= 0.005 ? ", " + percent(node.mpi) + " of it in MPI" : "") +
        (node.sync >= 0.005 ? ", " + percent(node.sync) + " waiting for threads" : "");
  }

  /* Callers and callees of the function that is selected; of recursion the outermost call. */
  drawAround() {
    const name = selection.get("function"),
      callers = new Map(),
      callees = new Map();
    let all = 0;
    const add = (map, key, time) => map.set(key, (map.get(key) || 0) + time);
    const below = node => {
      if (node.own) add(callees, "(itself)", node.own);
      for (const child of node.children)
        if (child.name === name) below(child);
        else add(callees, child.name, child.time);
    };
    const visit = node => {
      if (node.name === name) {
        all += node.time;
        add(callers, node.parent ? node.parent.name : "(none)", node.time);
        below(node);
      } else {
        node.children.forEach(visit);
      }
    };

    if (name !== null) visit(this.root);
    const list = (title, map) =>
      make(
        "div",
        null,
        make("h4", null, title),
        make(
          "ul",
          { class: "shares" },
          ...[...map]
            .sort((a, b) => b[1] - a[1])
            .slice(0, 12)
            .map(([of, time]) => {
              const bar = make("i", { class: "fill compute" });

              bar.style.width = (all ? (100 * time) / all : 0) + "%";
              return make(
                "li",
                null,
                make("span", { class: "bar" }, bar),
                make("span", { class: "value" }, seconds(time)),
                of.startsWith("(")
                  ? of
                  : make(
                      "button",
                      { type: "button", class: "pick", onclick: () => selection.toggle("function", of) },
                      of,
                    ),
              );
            }),
        ),
      );

    this.around.replaceChildren(
      ...(all ? [list("Callers of " + name, callers), list("What " + name + " calls", callees)] : []),
    );
  }
}

function flame(tables, name) {
  const table = tables.get(name);

  return table && table.rows ? new Flame(callTree(table, TREES[name].columns), TREES[name]).element : null;
}
