/* What is selected, in all views at once, and in the address: #rank=3&callsite=7. */

const selection = {
  chosen: new Map(), /* "rank", "callsite", "function", "thread" -> value */
  listeners: [],

  get(kind) { return this.chosen.has(kind) ? this.chosen.get(kind) : null; },

  toggle(kind, value) {
    if (value === null || this.chosen.get(kind) === value)
      this.chosen.delete(kind);
    else
      this.chosen.set(kind, value);
    this.tell();
  },

  clear() {
    this.chosen.clear();
    this.tell();
  },

  onChange(listener) { this.listeners.push(listener); },

  tell() {
    const address = new URLSearchParams([...this.chosen].map(([kind, value]) => [kind, String(value)])).toString();

    history.replaceState(null, "", address ? "#" + address : location.pathname + location.search);
    this.listeners.forEach(listener => listener());
  },

  fromAddress() {
    for (const [kind, value] of new URLSearchParams(location.hash.slice(1)))
      this.chosen.set(kind, kind === "function" ? value : Number(value));
    this.listeners.forEach(listener => listener());
  },

  words() { return [...this.chosen].map(([kind, value]) => (kind === "callsite" ? "call site" : kind) + " " + value).join(", "); },
};

/* Which of a table's columns say what kind. */
function selectable(table) {
  const kinds = { rank: ["rank"], thread: ["thread"], callsite: table.name === "callsites" ? ["id"] : ["callsite_id"], function: ["function", "procedure"] };

  return Object.entries(kinds).map(([kind, keys]) => [kind, keys.find(key => table.has(key))]).filter(([, key]) => key);
}

/* Does the row have all that is selected, as far as its table has such columns? null: nothing of it. */
function isSelected(table, row) {
  let found = null;

  for (const [kind, key] of selectable(table)) {
    const wanted = selection.get(kind);

    if (wanted !== null)
      found = (found === null || found) && table.get(key, row) === wanted;
  }
  return found;
}
