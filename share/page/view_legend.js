/* In page.html, view.html. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* What the colours and the lines of the timeline mean: what there is in the trace, and what is shown now. */

const legendEntry = (key, words) => make("span", null, key, words);

function colourKey(...list) {
  const key = make("i", { class: "key" }),
    part = 100 / list.length;

  key.style.background =
    list.length === 1
      ? list[0]
      : `linear-gradient(to right, ${list.map((of, i) => `${of} ${i * part}% ${(i + 1) * part}%`).join(", ")})`;
  return key;
}

/* Functions have a colour each; where a pixel has several, one for the class. */
function functionEntries(view) {
  const { palette, about } = view,
    own = about.regions
      .filter(region => region.class === 0 && region.ns)
      .sort((a, b) => b.ns - a.ns)
      .slice(0, 4)
      .map(({ number }) => palette.own(number));

  return own.length < 2
    ? [legendEntry(colourKey(own[0] || palette.classes[0]), about.classes[0].about)]
    : [
        legendEntry(colourKey(...own), about.classes[0].about + ", each in its own colour"),
        legendEntry(colourKey(palette.classes[0]), "those with less of a pixel"),
      ];
}

/* Of rows in the colour of a number; where a function is selected; else of all. */
function regionEntries(view) {
  const { about, palette, radar } = view,
    { region } = selection,
    has = i => about.regions.some(of => of.class === i && of.ns);

  if (radar.isOn) return [legendEntry(radar.key(), radar.choiceWords)];
  if (region !== null) {
    const { name, class: of } = about.regions[region];

    return [
      legendEntry(colourKey(palette.own(region)), name),
      legendEntry(colourKey(palette.rest(of)), about.classes[of].about + ", with less of a pixel"),
      legendEntry(colourKey(palette.line), "all else"),
    ];
  }
  return [
    ...about.classes.flatMap((of, i) =>
      !has(i) ? [] : i === 0 ? functionEntries(view) : [legendEntry(colourKey(palette.classes[i]), of.about)],
    ),
    ...colourRules.all.filter(({ name }) => name).map(({ colour, name }) => legendEntry(colourKey(colour), name)),
  ];
}

function overlayEntries(view) {
  const { overlays, selected, messages, isCrowded, radar } = view,
    hasWaits = view.whole && view.whole.waits.some(wait => wait),
    key = (name, words, sign) => legendEntry(make("i", { class: "key " + name }, sign), words);

  return [
    hasWaits && !radar.isOn ? key("hatched", "waiting") : null,
    hasWaits && overlays.shows.waits ? key("arrow", "to the row that caused a wait", "\u2191") : null,
    hasWaits && overlays.shows.waits ? key("delay", "delay: others wait for this row") : null,
    overlays.shows.path && overlays.critical.stretches.length ? key("path", "critical path") : null,
    !isCrowded && messages.messages.length ? key("message", "message") : null,
    selected ? key("chosen", view.about.messages ? "selected call, its messages" : "selected call") : null,
  ].filter(Boolean);
}

function legendOf(view) {
  const { palette, radar } = view,
    computes = !radar.isOn && [view.whole, view.tiles].some(tiles => tiles && tiles.computing.some(part => part > 2));

  return make(
    "p",
    { class: "legend" },
    ...regionEntries(view),
    computes ? legendEntry(colourKey(palette.computing), COMPUTING) : null,
    ...overlayEntries(view),
  );
}

/* It is made anew when it says something else. */
function showLegend(view) {
  const fresh = legendOf(view);

  if (!view.legend || view.legend.innerHTML === fresh.innerHTML) return;
  view.legend.replaceWith(fresh);
  view.legend = fresh;
}
