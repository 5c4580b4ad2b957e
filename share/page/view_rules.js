/* In page.html, view.html. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Colours that who looks has chosen: rules, of which the first one that fits a function's name counts. Functions of one
 * rule are a group with one colour, which the legend names. They stay in the browser, for all traces. */

const COLOUR_STORAGE = "fvmpi-view-colours",
  MOST_RULES = 100;

/* What text matches; null: it is no expression. */
function expressionOf(text) {
  try {
    return text ? new RegExp(text) : null;
  } catch {
    return null;
  }
}

const colourRules = {
  all: [],

  /* Anybody may have written there. */
  load() {
    let stored = [];

    try {
      stored = JSON.parse(localStorage.getItem(COLOUR_STORAGE)) || [];
    } catch {
      stored = [];
    }
    this.all = (Array.isArray(stored) ? stored : [])
      .filter(rule => rule && typeof rule.match === "string" && /^#[0-9a-f]{6}$/i.test(rule.colour))
      .slice(0, MOST_RULES)
      .map(({ match, colour, name }) => ({ match, colour, name: typeof name === "string" ? name : "" }));
  },
  keep() {
    try {
      localStorage.setItem(COLOUR_STORAGE, JSON.stringify(this.all));
    } catch {
      /* the browser keeps nothing: they are there until the page is closed */
    }
  },
  /* Of a name; null: none. */
  of(name) {
    return this.all.find(({ match }) => (expressionOf(match) || { test: () => false }).test(name)) || null;
  },
  /* Over the colours of a palette's regions. */
  apply(palette, about) {
    for (const { number, name } of about.regions) {
      const rule = this.of(name);

      if (rule) palette.regions[number] = rule.colour;
    }
  },
};
