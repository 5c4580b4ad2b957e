/* In page.html, view.html. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* What panels have in common. */

const nanoseconds = ns => seconds(ns / 1e9);

const rowCell = (view, row) =>
  row === null
    ? ""
    : make(
        "button",
        { type: "button", class: "pick", title: "show this row", onclick: () => view.goToRow(row) },
        rowName(view.about.rows[row]),
      );

const SUM_KEYS = [
  "region",
  "count",
  "inclusive",
  "exclusive",
  "longest",
  "wait",
  "sampled",
  "shortest",
  "whole",
  "least",
  "most",
  "leastRow",
  "mostRow",
];
const sumOf = numbers => Object.fromEntries(SUM_KEYS.map((key, i) => [key, numbers[i]]));

/* Before a number. */
const tilde = isEstimate => (isEstimate ? "~" : "");

/* What the server's file has no room for (fvmpi view --index-max). */
const leftOutCalls = ({ left_out: { calls, least_ns: least } }) =>
  calls ? plural(calls, "call") + " shorter than " + seconds(least / 1e9) + " left out of the index" : "";
const limitedWords = about =>
  [
    leftOutCalls(about),
    about.left_out.messages ? plural(about.left_out.messages, "message") + " left out of the index" : "",
    about.left_out.critical ? "the critical path left out of the index" : "",
    about.left_out.series ? count(about.left_out.series) + " series of values left out of the index" : "",
  ].filter(Boolean);
const LIMITED = {
  ofCalls: ["functions", "tree", "flame", "waiting", "find", "compare", "alike"],
  words: about => {
    const words = leftOutCalls(about);

    return words && words + " (--index-max): their time counts as that of what called them";
  },
};

/* What all panels have: an element, and what loads what they show, when they are seen. */
function panelOf(panel, view, name, title, side) {
  const loads = new Latest(() => panel.load()),
    limited = LIMITED.ofCalls.includes(name) ? view.all.map(({ about }) => LIMITED.words(about)).find(Boolean) : "";

  return {
    view,
    name,
    title,
    side,
    note: make("p", { class: "note", role: "status" }),
    element: make(
      "div",
      { class: "panel" },
      make("h2", { class: "unseen" }, title),
      limited ? make("p", { class: "note limited" }, limited) : null,
    ),
    refresh: () => loads.ask(),
  };
}
