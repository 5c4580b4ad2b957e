/* In view.html. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* The panel of what was clicked on: a call, where it was called, and whom it waited for. */

class Details {
  constructor(view) {
    Object.assign(this, panelOf(this, view, "details", "Details", "right"));
    this.place = make(
      "div",
      { id: "details" },
      make("p", { class: "note" }, "A click on the timeline shows what was there."),
    );
    this.element.append(this.place);
  }

  async load() {} /* what was clicked on stays */

  async show(slice, view) {
    if (!slice) return;
    const { about } = view,
      region = about.regions[slice.region],
      row = about.rows[slice.row],
      lines = [
        view.all.length > 1 ? about.title : null,
        rowName(row) + " on " + row.host,
        nanoseconds(slice.ns) + " from " + tick(slice.begin, 1),
        slice.sampled ? "by samples of the CPU clock" : null,
        slice.wait ? "waited for " + nanoseconds(slice.wait) : null,
      ],
      path = slice.context === null ? [] : (await view.trace.json("path", { context: slice.context })).path;

    if (view.selected !== slice) return;
    this.place.replaceChildren(
      make("h2", null, region.name),
      ...lines.filter(Boolean).map(line => make("p", null, line)),
      ...(slice.cause === null ? [] : [make("p", null, "for ", rowCell(view, slice.cause))]),
      make(
        "p",
        { class: "tools" },
        make("button", { type: "button", onclick: () => selection.toggle(slice.region) }, "select the function"),
        make(
          "button",
          {
            type: "button",
            onclick: () => {
              selection.choose(slice.region);
              this.view.bench.show("find", true);
            },
          },
          "find its calls",
        ),
      ),
      ...(path.length
        ? [
            make("h3", null, "called from"),
            make(
              "ol",
              { class: "path" },
              ...path.map(([name, file, line]) =>
                make("li", null, name + (file ? "  " + file.replace(/.*\//, "") + (line ? ":" + line : "") : "")),
              ),
            ),
          ]
        : []),
    );
  }
}
