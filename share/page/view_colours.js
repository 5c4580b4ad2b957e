/* In view.html. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* The dialog of colours and groups (view_rules.js): a line for each rule. */

class ColourDialog {
  constructor(view) {
    this.view = view;
    this.list = make("tbody");
    this.element = make(
      "dialog",
      { id: "colours", "aria-label": "colours and groups of functions" },
      make("h2", null, "Colours and groups of functions"),
      make(
        "p",
        { class: "note" },
        "A function has the colour of the first expression that its name matches: ^MPI_ matches all of MPI. " +
          "If you name the group, the legend lists it. Your browser keeps these rules.",
      ),
      make(
        "table",
        null,
        make(
          "thead",
          null,
          make(
            "tr",
            null,
            ...["expression", "group", "colour", "functions", ""].map(title => make("th", { class: "left" }, title)),
          ),
        ),
        this.list,
      ),
      make(
        "p",
        { class: "tools" },
        make("button", { type: "button", onclick: () => this.add("", "#c2410c") }, "add"),
        make("button", { type: "button", onclick: () => this.addSelected() }, "add the selected function"),
        make("button", { type: "button", onclick: () => this.element.close() }, "close"),
      ),
    );
    document.body.append(this.element);
  }
  open() {
    this.draw();
    this.element.showModal();
  }
  add(match, colour) {
    if (colourRules.all.length < MOST_RULES) colourRules.all.unshift({ match, colour, name: "" });
    this.draw();
    const first = this.list.querySelector("input");
    if (first) first.focus();
    this.changed();
  }
  addSelected() {
    if (selection.region === null) return;
    const { name } = this.view.about.regions[selection.region];

    this.add("^" + name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&") + "$", "#c2410c");
  }
  changed() {
    colourRules.keep();
    this.view.all.forEach(view => (view.palette = new Palette(view.about)));
    showLegend(this.view);
    this.view.rows.order.show(this.view.rows.sort);
    this.view.bench.age();
    this.view.all.forEach(view => view.draw());
  }
  draw() {
    this.list.replaceChildren(...colourRules.all.map((rule, i) => this.line(rule, i)));
  }
  line(rule, i) {
    const found = make("td"),
      tell = () => {
        const fits = expressionOf(rule.match);

        found.textContent = fits
          ? count(this.view.about.regions.filter(({ name }) => fits.test(name)).length)
          : "not a regular expression";
      },
      text = (key, label) =>
        make("input", {
          value: rule[key],
          "aria-label": label,
          onchange: event => {
            rule[key] = event.target.value;
            tell();
            this.changed();
          },
        });

    tell();
    return make(
      "tr",
      null,
      make("td", { class: "left" }, text("match", "expression")),
      make("td", { class: "left" }, text("name", "name of the group")),
      make(
        "td",
        { class: "left" },
        make("input", {
          type: "color",
          value: rule.colour,
          "aria-label": "colour",
          onchange: event => {
            rule.colour = event.target.value;
            this.changed();
          },
        }),
      ),
      found,
      make(
        "td",
        null,
        make(
          "button",
          {
            type: "button",
            class: "tool",
            "aria-label": "remove this rule",
            onclick: () => {
              colourRules.all.splice(i, 1);
              this.draw();
              this.changed();
            },
          },
          "remove",
        ),
      ),
    );
  }
}

const COLOUR_COMMANDS = [["o", "colours and groups of functions", { o: view => view.colourDialog.open() }]];
