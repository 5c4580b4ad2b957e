/* In page.html, live.html, measure.html, view.html. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Values as words: three digits and a unit, as in the text report. */

function digits(value) {
  const size = Math.abs(value);

  return value.toFixed(size >= 100 || value === 0 ? 0 : size >= 10 ? 1 : 2);
}

function scaled(value, steps) {
  const size = Math.abs(value);
  const [unit, of] = steps.find(([, least]) => size >= least) || steps[steps.length - 1];

  return digits(value / of) + " " + unit;
}

const seconds = value =>
  value === 0
    ? "0 s"
    : scaled(value, [
        ["s", 1],
        ["ms", 1e-3],
        ["us", 1e-6],
        ["ns", 1e-9],
      ]);
const bytes = value =>
  Math.abs(value) < 1024
    ? Math.round(value) + " B"
    : scaled(value, [
        ["TiB", 2 ** 40],
        ["GiB", 2 ** 30],
        ["MiB", 2 ** 20],
        ["KiB", 2 ** 10],
      ]);
const percent = value => (100 * value).toFixed(1) + " %";
const count = value => (Number.isInteger(value) ? value.toLocaleString("en-US") : digits(value));

const plural = (n, word) => count(n) + " " + word + (n === 1 ? "" : "s");

function worded(column, value) {
  if (value === null) return "";
  switch (column.type) {
    case "truth":
      return value ? "yes" : "no";
    case "text":
      return value;
    case "reals":
      return value.length + " values";
  }
  switch (column.unit) {
    case "s":
      return seconds(value);
    case "bytes":
      return bytes(value);
    case "share":
      return percent(value);
    case "ratio":
      return value.toFixed(2);
    case "id":
      return String(value);
  }
  return count(value);
}

/* An element with text and children: text is never HTML. */
function make(tag, attributes, ...children) {
  const element = document.createElement(tag);

  for (const [key, value] of Object.entries(attributes || {}))
    if (key.startsWith("on")) element.addEventListener(key.slice(2), value);
    else if (value !== null && value !== false) element.setAttribute(key, value === true ? "" : value);
  element.append(...children.filter(child => child !== null && child !== undefined));
  return element;
}

/* What is wider than the page scrolls, also by keys. */
function scrolled(label, ...children) {
  return make("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": label }, ...children);
}

function quoted(value) {
  const word = value === null ? "" : String(value),
    text =
      typeof value === "string" && /^[=+@-]./.test(word) && isNaN(word)
        ? "'" + word
        : word; /* no formula in a spreadsheet */

  return /[",\n]/.test(text) ? '"' + text.replaceAll('"', '""') + '"' : text;
}

function download(name, text, type) {
  const link = make("a", { href: URL.createObjectURL(new Blob([text], { type })), download: name });

  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
