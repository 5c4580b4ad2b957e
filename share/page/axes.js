/* In page.html, live.html, measure.html, view.html. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Axes of charts that have numbers on both sides. */

/* Round numbers between two values, about so many. */
function ticks(least, most, about) {
  const raw = (most - least) / about || 1,
    power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map(n => n * power).find(size => size >= raw * 0.999),
    first = Math.ceil(least / step - 1e-9);

  return Array.from({ length: Math.max(Math.floor(most / step + 1e-9) - first + 1, 0) }, (_, i) => (first + i) * step);
}

/* Draws a grid with its numbers into a box { left, top, width, height }. An axis: { least, most, column }; without a
 * column it has no numbers. Returns where values stand, { x, y }. */
function drawAxes(c, box, x, y) {
  const across = value => box.left + ((value - x.least) / (x.most - x.least || 1)) * box.width;
  const up = value => box.top + box.height - ((value - y.least) / (y.most - y.least || 1)) * box.height;
  const line = (x1, y1, x2, y2) => {
    c.beginPath();
    c.moveTo(x1, y1);
    c.lineTo(x2, y2);
    c.stroke();
  };

  c.strokeStyle = colours("line");
  c.fillStyle = colours("quiet");
  c.lineWidth = 1;
  c.textBaseline = "middle";
  c.textAlign = "right";
  for (const value of ticks(y.least, y.most, Math.max(box.height / 40, 1))) {
    line(box.left, up(value), box.left + box.width, up(value));
    if (y.column) c.fillText(worded(y.column, value), box.left - 6, up(value));
  }
  c.textBaseline = "top";
  c.textAlign = "center";
  for (const value of ticks(x.least, x.most, Math.max(box.width / 110, 1)).filter(
    value => !x.column || x.column.type !== "whole" || Number.isInteger(value),
  )) {
    line(across(value), box.top, across(value), box.top + box.height);
    if (x.column) c.fillText(worded(x.column, value), across(value), box.top + box.height + 4);
  }
  c.textAlign = "left";
  return { x: across, y: up };
}

/* Upright bars side by side: [{ label, value }]. word: a value in words; chosen(i): is it selected? */
function upright(told, bars, word, pick = null, chosen = () => false, height = 140) {
  const most = Math.max(...bars.map(bar => bar.value || 0), 0),
    low = height - 18;
  const draw = (c, width) => {
    const left = 70,
      step = barWidth(width - left - 8, bars.length);
    const at = drawAxes(
      c,
      { left, top: 8, width: step * bars.length, height: low - 8 },
      { least: 0, most: bars.length, column: null },
      { least: 0, most: most || 1, column: null },
    );
    const every = Math.ceil(90 / step);

    c.fillStyle = colours("quiet");
    c.textAlign = "right";
    c.textBaseline = "middle";
    [0, most].forEach(value => c.fillText(word(value), left - 6, at.y(value)));
    c.textAlign = "left";
    c.textBaseline = "top";
    bars.forEach((bar, i) => {
      c.fillStyle = colours("compute");
      c.fillRect(
        left + i * step,
        at.y(bar.value || 0),
        Math.max(step - (step > 4 ? 1 : 0), 0.5),
        low - at.y(bar.value || 0),
      );
      if (chosen(i)) {
        c.strokeStyle = colours("accent");
        c.lineWidth = 2;
        c.strokeRect(left + i * step + 1, 9, Math.max(step - 2, 1), low - 10);
      }
      if (i % every === 0) {
        c.fillStyle = colours("quiet");
        c.fillText(bar.label, left + i * step, low + 3);
      }
    });
  };
  const pickAt =
    pick &&
    ((x, y, width) => {
      const i = Math.floor((x - 70) / barWidth(width - 78, bars.length));
      if (i >= 0 && i < bars.length) pick(i);
    });

  return canvas(height, told, draw, pickAt);
}

/* How many of the values lie in each of some ranges of equal width. */
function histogramOf(values, column) {
  const least = Math.min(...values),
    most = Math.max(...values),
    count = most > least ? Math.min(Math.ceil(Math.sqrt(values.length)) + 1, 24) : 1;
  const bars = Array.from({ length: count }, (_, i) => ({
    label: worded(column, least + ((most - least) * i) / count),
    value: 0,
  }));

  values.forEach(value => {
    bars[Math.min(Math.floor(((value - least) / (most - least || 1)) * count), count - 1)].value++;
  });
  return bars;
}

/* A <select> of named values. */
function chooser(label, entries, chosen, change) {
  const element = make(
    "select",
    { "aria-label": label, onchange: () => change(element.value) },
    ...entries.map(([value, name]) => make("option", { value, selected: value === chosen }, name)),
  );

  return make("label", null, label + ": ", element);
}
