/* In page.html, live.html. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Where everybody is when a run hangs: the finding, places with their ranks, and all call paths as a tree. By tables
 * looked_places and looked_tree, which `fvmpi where` prints, too. */

const WHERE_PLACES = 10; /* that are not folded */

function placeItem({ rank_text: ranks, place, text, suspect }) {
  return make(
    "li",
    null,
    make("div", { class: suspect ? "bad" : null }, ranks + ": " + place),
    ...(text || "")
      .split("\n")
      .filter(Boolean)
      .map(remark => make("div", { class: "note" }, remark)),
  );
}

/* What a branch's threads are all in stands in one line. */
function branchItem(node, below) {
  const chain = [node];

  for (let last = node; ; chain.push(last)) {
    const [child] = below.get(last.id) || [];

    if (!child || child.thread_count !== node.thread_count) break;
    last = child;
  }
  const children = below.get(chain[chain.length - 1].id);

  return make(
    "li",
    null,
    make(
      "div",
      { class: chain.some(of => of.suspect) ? "branch bad" : "branch" },
      node.rank_text + ": " + chain.map(of => of.label).join(" > "),
    ),
    children ? make("ul", null, ...children.map(child => branchItem(child, below))) : null,
  );
}

function branches(tree) {
  const below = new Map();

  tree.forEach(node => below.set(node.parent_id, [...(below.get(node.parent_id) || []), node]));
  return make("ul", { class: "tree" }, ...(below.get(null) || []).map(node => branchItem(node, below)));
}

const leftOut = (all, shown, word) =>
  all > shown
    ? make("p", { class: "note" }, plural(all - shown, "more " + word) + ": fvmpi report --all has them")
    : null;

/* `of`: { at_s, look_count, places, places_all, tree, tree_all }; `hang`: the finding, or undefined. */
function whereView(of, hang) {
  const shown = of.places.slice(0, WHERE_PLACES),
    folded = of.places.slice(WHERE_PLACES);

  return make(
    "div",
    { class: "where" },
    hang ? make("p", { class: "verdict bad" }, hang.text) : null,
    make(
      "p",
      { class: "note" },
      of.at_s === null
        ? "no thread was interrupted"
        : plural(of.look_count, "look") + ", the last one at " + seconds(of.at_s),
    ),
    make("ul", { class: "places" }, ...shown.map(placeItem)),
    folded.length
      ? make(
          "details",
          null,
          make("summary", null, plural(folded.length, "more place")),
          make("ul", { class: "places" }, ...folded.map(placeItem)),
        )
      : null,
    leftOut(of.places_all, of.places.length, "place"),
    ...(of.places_all > 1
      ? [
          make("h3", null, "The same as a tree"),
          make("p", { class: "note" }, "from main inwards, with the ranks of each branch"),
          branches(of.tree),
          leftOut(of.tree_all, of.tree.length, "function"),
        ]
      : []),
  );
}

/* Of a page with tables; null: nobody looked. */
function whereOf(tables) {
  const [looks, places, tree] = ["looks", "looked_places", "looked_tree"].map(name => tables.get(name));

  if (!looks || !looks.rows || !tree || !tree.rows) return null;
  return whereView(
    {
      ...looks.all()[0],
      places: places.all(),
      places_all: places.all_rows,
      tree: tree.all(),
      tree_all: tree.all_rows,
    },
    tables
      .get("findings")
      .all()
      .find(finding => finding.name === "hang"),
  );
}
