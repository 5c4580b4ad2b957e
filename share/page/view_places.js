/* In view.html. */
/* SPDX-License-Identifier: BSD-3-Clause */
const TIMELINE = "timeline" /* the panel that cannot be closed */,
  NESTED_MOST = 12 /* groups in each other that are read */,
  LEAST = { width: 180, height: 90 }; /* of a group, pixels */

/* Where panels are, as text for the address: "h(...)", children beside each other, or "v(...)", below each other;
 * theirs the other way, in turn. A group is its panels, the open one with "*"; its size in pixels follows, but for what
 * has the timeline, which takes the rest: "h((timeline_find.functions*-280)_details*.marks-280)". */
const layoutText = {
  of({ grid: { root, orientation } }) {
    return (orientation === "HORIZONTAL" ? "h" : "v") + this.node(root);
  },
  node({ type, data }) {
    return type === "leaf"
      ? data.views.map(name => name + (name === data.activeView && name !== TIMELINE ? "*" : "")).join(".")
      : "(" +
          data.map(child => this.node(child) + (holdsTimeline(child) ? "" : "-" + Math.round(child.size))).join("_") +
          ")";
  },

  /* As the library has it; null: this is no layout. Panels that have no title here are left out. */
  read(text, wide, tall, titles) {
    const reader = { left: text.slice(1), known: new Set(titles.keys()), groups: 0, depth: 0 },
      root = /^[hv]\(/.test(text) ? this.readNode(reader) : null,
      isWide = text[0] === "h";

    if (!root || reader.left || root.type !== "branch" || !isWhole(root)) return null;
    this.measure(root, isWide, isWide ? wide : tall, isWide ? tall : wide);
    const names = panelsIn(root);
    return {
      grid: { root, width: wide, height: tall, orientation: isWide ? "HORIZONTAL" : "VERTICAL" },
      panels: Object.fromEntries(names.map(name => [name, dockPanelOf(name, titles.get(name))])),
    };
  },
  readNode(reader) {
    return reader.left.startsWith("(") ? this.readBranch(reader) : this.readGroup(reader);
  },
  take(reader, pattern) {
    const [found] = pattern.exec(reader.left) || [null];

    if (found !== null) reader.left = reader.left.slice(found.length);
    return found;
  },
  /* null: it is none, or nothing is left of it. */
  readBranch(reader) {
    const data = [];

    if (++reader.depth > NESTED_MOST) return null;
    this.take(reader, /^\(/);
    do {
      const child = this.readNode(reader),
        size = this.take(reader, /^-\d{1,5}/);

      if (child) data.push({ ...child, size: size === null ? 0 : Number(size.slice(1)) });
    } while (this.take(reader, /^_/));
    reader.depth--;
    return this.take(reader, /^\)/) && data.length ? { type: "branch", data } : null;
  },
  readGroup(reader) {
    const words = (this.take(reader, /^[a-z*.]+/) || "").split("."),
      views = words.map(name => name.replace("*", "")).filter(name => reader.known.delete(name)),
      open = views.find(name => words.includes(name + "*")) || views[0];

    return views.length ? dockGroupOf(views, open, String(++reader.groups)) : null;
  },
  /* The sizes along and across it. What has the timeline takes what others leave; of a small window at least a
   * third. */
  measure(node, isWide, along, across) {
    if (node.type !== "branch") return;
    const rest = node.data.find(holdsTimeline),
      fixed = node.data.filter(child => child !== rest),
      least = LEAST[isWide ? "width" : "height"],
      wanted = fixed.map(({ size }) => Math.max(size, least)),
      sum = wanted.reduce((a, b) => a + b, 0),
      room = rest ? (along * 2) / 3 : along,
      scale = !rest || sum > room ? room / Math.max(sum, 1) : 1;

    fixed.forEach((child, i) => (child.size = Math.round(wanted[i] * scale)));
    if (rest) rest.size = along - fixed.reduce((all, { size }) => all + size, 0);
    for (const child of node.data) {
      [child.wide, child.tall] = isWide ? [child.size, across] : [across, child.size];
      this.measure(child, !isWide, across, child.size);
    }
  },
};

const panelsIn = ({ type, data }) => (type === "leaf" ? data.views : data.flatMap(panelsIn)),
  leavesIn = node => (node.type === "leaf" ? [node] : node.data.flatMap(leavesIn)),
  holdsTimeline = node => panelsIn(node).includes(TIMELINE),
  /* The timeline has no tab: nothing may be in front of it. */
  isWhole = root => leavesIn(root).some(({ data: { views } }) => views.length === 1 && views[0] === TIMELINE);

/* As dockview-core has them. */
const dockPanelOf = (name, title) => ({ id: name, contentComponent: name, tabComponent: name, title }),
  dockGroupOf = (views, activeView, id) => ({
    type: "leaf",
    data: { views, activeView, id, ...(views.includes(TIMELINE) ? { hideHeader: true, locked: true } : {}) },
  });
