/* In page.html, measure.html. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* What is selected, in all views at once, and in the address: #rank=3&callsite=7&time=1.5-2.25; and what the timeline
 * shows: &view=1-3, hides: &hidden=io,memory, and else has chosen (stage.js): &sort=wait. */

const CHOSEN = ["rank", "callsite", "function", "thread", "time"];

const selection = {
  chosen: new Map() /* CHOSEN -> value; "time" -> "1.5-2.25", s from the run's begin */,
  seen: null /* what the timeline is zoomed to, as "time"; null: all */,
  hidden: null /* lanes of the timeline that are not drawn; null: none */,
  places: new Map() /* what else the timeline has in the address */,
  about: null /* what the timeline has; and the region there that is selected, null: none */,
  region: null,
  listeners: [],

  has(kind) {
    return kind === "view" ? this.seen !== null : this.chosen.has(kind);
  },

  get(kind) {
    return this.chosen.has(kind) ? this.chosen.get(kind) : null;
  },

  toggle(kind, value) {
    if (value === null || this.chosen.get(kind) === value) this.chosen.delete(kind);
    else this.chosen.set(kind, value);
    this.tell();
  },

  /* The stretch of time, { from, to } in s; null: none. */
  stretch() {
    return spanOf(this.get("time"));
  },

  selectStretch(from, to) {
    const words = spanWords(from, to);

    if (this.get("time") !== words) this.toggle("time", words);
  },

  /* From and to in s; null: all. Browsers bear few changes of the address in a second. */
  see(view) {
    this.seen = view && spanWords(view.from, view.to);
    clearTimeout(this.later);
    this.later = setTimeout(() => this.setAddress(), 200);
  },
  hide(lanes) {
    this.hidden = lanes.length ? lanes : null;
    this.setAddress();
  },

  clear() {
    this.chosen.clear();
    this.tell();
  },

  onChange(listener) {
    this.listeners.push(listener);
  },

  setAddress() {
    const address = new URLSearchParams(
      [
        ...this.chosen,
        ...this.places,
        ...(this.seen ? [["view", this.seen]] : []),
        ...(this.hidden ? [["hidden", this.hidden]] : []),
      ].map(([kind, value]) => [kind, String(value)]),
    ).toString();

    history.replaceState(null, "", address ? "#" + address : location.pathname + location.search);
  },

  tell() {
    this.setAddress();
    this.listeners.forEach(listener => listener());
  },

  fromAddress() {
    for (const [kind, value] of new URLSearchParams(location.hash.slice(1)))
      if (kind === "view") this.seen = value;
      else if (kind === "hidden") this.hidden = value.split(",");
      else if (CHOSEN.includes(kind))
        this.chosen.set(kind, ["function", "time"].includes(kind) ? value : Number(value));
      else this.places.set(kind, value);
  },

  words() {
    const unit = { type: "real", unit: "s" },
      span = this.stretch();
    const said = ([kind, value]) =>
      kind === "time"
        ? span
          ? "from " + worded(unit, span.from) + " to " + worded(unit, span.to)
          : ""
        : kind === "callsite"
          ? "call site #" + (value + 1)
          : kind + " " + value;

    return [...this.chosen].map(said).filter(Boolean).join(", ");
  },
};

/* A stretch of time, { from, to } in s, as "1.5-2.25", and back; null: it is none. */
function spanWords(from, to) {
  return [Math.max(Math.min(from, to), 0), Math.max(from, to)]
    .map(time => time.toFixed(9).replace(/\.?0+$/, ""))
    .join("-");
}
function spanOf(words) {
  const [from, to] = (words || "").split("-").map(Number);

  return to > from ? { from, to } : null;
}

/* Which of a table's columns say what kind. */
function selectable(table) {
  const kinds = {
    rank: ["rank"],
    thread: ["thread"],
    callsite: table.name === "callsites" ? ["id"] : ["callsite_id"],
    function: ["function", "procedure"],
  };

  return Object.entries(kinds)
    .map(([kind, keys]) => [kind, keys.find(key => table.has(key))])
    .filter(([, key]) => key);
}

/* Tables whose rows stand in time; not ranks, which begin and end, too. */
const OF_TIME = ["timeline", "sampled_instances", "sensor_series"];

/* Does the row have all that is selected, as far as its table has such columns? null: nothing of it. */
function isSelected(table, row) {
  let found = null;

  const span = OF_TIME.includes(table.name) ? selection.stretch() : null;

  if (span) {
    const begin = table.get("begin_s", row),
      end = table.has("end_s") ? table.get("end_s", row) : begin + (table.has("time_s") ? table.get("time_s", row) : 0);

    found = begin < span.to && end > span.from;
  }
  for (const [kind, key] of selectable(table)) {
    const wanted = selection.get(kind);

    if (wanted !== null) found = (found === null || found) && table.get(key, row) === wanted;
  }
  return found;
}
