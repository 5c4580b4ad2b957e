/* In page.html. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks on the grid of their Cartesian communicator, by host, or in rows of any length; a value of theirs as colour. */

/* World ranks of "0-3, 7, 0-8/2", in order. */
function ranksOf(text) {
  return (text || "")
    .split(", ")
    .filter(Boolean)
    .flatMap(run => {
      const [, first, last, stride] = run.match(/^(-?\d+)(?:-(\d+))?(?:\/(\d+))?$/);
      const step = Number(stride || 1),
        count = last === undefined ? 1 : (Number(last) - Number(first)) / step + 1;

      return Array.from({ length: count }, (_, i) => Number(first) + i * step);
    });
}

/* What ranks stand on: { name, sizes, places: [rank or null], the last dimension counting fastest }. */
function gridsOf(tables) {
  const communicators = tables.get("communicators").all(),
    dimensions = new Map();

  for (const row of tables.get("grids").all()) dimensions.set(row.uid, [...(dimensions.get(row.uid) || []), row.size]);
  return communicators
    .filter(of => dimensions.has(of.uid) && of.members && dimensions.get(of.uid).length <= 3)
    .sort((a, b) => b.size - a.size)
    .map(of => ({
      name: of.label + ", " + dimensions.get(of.uid).join(" x "),
      sizes: dimensions.get(of.uid),
      places: ranksOf(of.members),
    }));
}

function byHost(ranks) {
  const hosts = new Map();

  for (let row = 0; row < ranks.rows; row++)
    hosts.set(ranks.get("host", row), [...(hosts.get(ranks.get("host", row)) || []), ranks.get("rank", row)]);
  const wide = Math.max(...[...hosts.values()].map(of => of.length));

  return {
    name: "by host",
    sizes: [hosts.size, wide],
    places: [...hosts.values()].flatMap(of => [...of, ...Array(wide - of.length).fill(null)]),
  };
}

function inRows(ranks, columns) {
  const all = Array.from({ length: ranks.rows }, (_, row) => ranks.get("rank", row)),
    rows = Math.ceil(all.length / columns);

  return { name: "", sizes: [rows, columns], places: [...all, ...Array(rows * columns - all.length).fill(null)] };
}

class GridView {
  constructor(tables) {
    const ranks = (this.ranks = tables.get("ranks"));
    const numbers = ranks.columns.filter(
      column => ["whole", "real"].includes(column.type) && !["rank", "pid", "program_id"].includes(column.key),
    );

    this.rowOf = new Map(Array.from({ length: ranks.rows }, (_, row) => [ranks.get("rank", row), row]));
    this.layouts = [...gridsOf(tables), byHost(ranks)];
    this.layer = 0;
    this.layout = make(
      "select",
      { "aria-label": "arrangement of the ranks", onchange: () => this.change() },
      ...this.layouts.map((of, i) => make("option", { value: i }, of.name)),
      make("option", { value: "rows" }, "rows of ..."),
    );
    this.columns = make("input", {
      type: "number",
      min: 1,
      max: ranks.rows,
      value: Math.ceil(Math.sqrt(ranks.rows)),
      "aria-label": "ranks in a row",
      oninput: () => this.change(),
    });
    this.value = make(
      "select",
      { "aria-label": "value shown as colour", onchange: () => this.change() },
      ...numbers.map(column =>
        make("option", { value: column.key, selected: column.key === "compute_share" }, column.title || column.key),
      ),
    );
    this.slider = make("input", {
      type: "range",
      min: 0,
      value: 0,
      "aria-label": "place in the first dimension",
      oninput: () => {
        this.layer = Number(this.slider.value);
        this.change();
      },
    });
    this.caption = make("figcaption");
    this.picture = make("div");
    this.element = make(
      "figure",
      null,
      make(
        "p",
        { class: "tools" },
        make("label", null, "ranks on ", this.layout),
        this.columns,
        make("label", null, "colour: ", this.value),
        this.slider,
      ),
      this.picture,
      this.caption,
    );
    this.change();
  }

  change() {
    const own = this.layout.value === "rows",
      at = own ? inRows(this.ranks, Math.max(1, Number(this.columns.value) || 1)) : this.layouts[this.layout.value];
    const column = this.ranks.byKey.get(this.value.value);
    const sizes = [...Array(3 - at.sizes.length).fill(1), ...at.sizes],
      [layers, rows, columns] = sizes;

    this.columns.hidden = !own;
    this.slider.hidden = layers === 1;
    this.slider.max = layers - 1;
    this.layer = Math.min(this.layer, layers - 1);
    const places = at.places.slice(this.layer * rows * columns, (this.layer + 1) * rows * columns);
    const values = places.map(rank => (this.rowOf.has(rank) ? this.ranks.get(column.key, this.rowOf.get(rank)) : null)),
      known = values.filter(value => value !== null);
    const least = known.length ? Math.min(...known) : 0,
      most = known.length ? Math.max(...known) : 0;
    const told =
      (column.title || column.key) +
      (layers > 1 ? "; place " + this.layer + " of " + layers + " in the first dimension" : "");
    const pick = (row, place) => {
      if (places[row * columns + place] !== undefined && places[row * columns + place] !== null)
        selection.toggle("rank", places[row * columns + place]);
    };

    this.picture.replaceChildren(
      heat(
        "ranks in " + rows + " rows of " + columns + ", by position",
        rows,
        columns,
        (row, place) => {
          const value = values[row * columns + place];
          return value === null ? null : most > least ? (value - least) / (most - least) : 1;
        },
        () =>
          places
            .map((rank, place) =>
              rank === selection.get("rank") && rank !== null ? [Math.floor(place / columns), place % columns] : null,
            )
            .filter(Boolean),
        pick,
        { ends: [worded(column, least), worded(column, most)] },
      ),
    );
    this.caption.textContent = told + ": " + column.doc;
  }
}
