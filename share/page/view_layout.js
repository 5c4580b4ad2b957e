/* In view.html. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* The workbench around the timeline: panels as tabs of two docks, at the right and below, that can be resized, moved
 * and closed; and the page's address, which has all of that. */

/* What the address says behind its "#": the place first, then key=value for what is not as usual. */
const address = {
  place: "",
  parts: new Map(),
  listeners: [],

  read() {
    const [place, ...parts] = location.hash.slice(1).split("&");

    this.place = place;
    this.parts = new Map(
      parts.map(part => part.split("=")).map(([key, value]) => [key, decodeURIComponent(value || "")]),
    );
  },
  get(key) {
    return this.parts.has(key) ? this.parts.get(key) : null;
  },
  set(key, value) {
    if (value === null) this.parts.delete(key);
    else this.parts.set(key, value);
    this.write();
  },
  text() {
    return (
      "#" + [this.place, ...[...this.parts].map(([key, value]) => key + "=" + encodeURIComponent(value))].join("&")
    );
  },
  /* Browsers bear few changes of the address in a second. */
  write() {
    this.later =
      this.later ||
      setTimeout(() => {
        this.later = 0;
        history.replaceState(null, "", this.text());
      }, 100);
  },
};

const DOCKS = {
    right: { title: "at the right", usual: 280, least: 180 },
    bottom: { title: "below", usual: 280, least: 90 },
  },
  STEP = 24; /* pixels that an arrow key moves a splitter by */

class Dock {
  constructor(bench, side) {
    this.bench = bench;
    this.side = side;
    this.size = DOCKS[side].usual;
    this.tabs = [];
    this.open = null;
    this.strip = make("div", { class: "tabs", role: "tablist", "aria-label": "panels " + DOCKS[side].title });
    this.tools = make("div", { class: "dock-tools" });
    this.body = make("div", { class: "dock-body" });
    this.element = make(
      "section",
      { class: "dock", id: "dock-" + side, "aria-label": "panels " + DOCKS[side].title },
      make("div", { class: "dock-head" }, this.strip, this.tools),
      this.body,
    );
    this.splitter = make("div", {
      class: "splitter " + side,
      role: "separator",
      tabindex: "0",
      "aria-label": "size of the panels " + DOCKS[side].title,
      "aria-orientation": side === "right" ? "vertical" : "horizontal",
      "aria-valuemin": DOCKS[side].least,
    });
    this.takePointer();
    this.strip.addEventListener("keydown", event => this.key(event));
    for (const type of ["dragover", "drop"]) this.element.addEventListener(type, event => this.drop(event));
  }

  takePointer() {
    const { splitter, side } = this,
      grow = by => this.resize(this.size + by);
    let from = null;

    splitter.addEventListener("pointerdown", event => {
      splitter.setPointerCapture(event.pointerId);
      from = { at: side === "right" ? event.clientX : event.clientY, size: this.size };
    });
    splitter.addEventListener("pointermove", event => {
      if (from) this.resize(from.size + from.at - (side === "right" ? event.clientX : event.clientY));
    });
    splitter.addEventListener("pointerup", () => {
      from = null;
      this.bench.changed();
    });
    splitter.addEventListener("keydown", event => {
      const by = { ArrowLeft: STEP, ArrowUp: STEP, ArrowRight: -STEP, ArrowDown: -STEP }[event.key];

      if (!by) return;
      event.preventDefault();
      event.stopPropagation();
      grow(by);
      this.bench.changed();
    });
  }

  resize(size) {
    const all = this.side === "right" ? this.bench.element.clientWidth : this.bench.element.clientHeight,
      most = Math.max((all || 2000) - 160, DOCKS[this.side].least);

    this.size = Math.round(Math.min(Math.max(size, DOCKS[this.side].least), most));
    this.splitter.setAttribute("aria-valuenow", this.size);
    this.splitter.setAttribute("aria-valuemax", most);
    this.bench.element.style.setProperty("--" + this.side, (this.tabs.length ? this.size : 0) + "px");
  }

  key(event) {
    const at = this.tabs.indexOf(event.target.dataset.panel),
      to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: this.tabs.length - 1 }[event.key];

    if (event.key === "Delete" && at >= 0) this.bench.close(this.tabs[at]);
    else if (to !== undefined && this.tabs.length) this.bench.show(this.tabs.at(to % this.tabs.length), true);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /* A tab that is dragged here, before the tab that it is dropped on. */
  drop(event) {
    const name = this.bench.dragged,
      before = event.target.closest ? event.target.closest("[role=tab]") : null;

    if (!name) return;
    event.preventDefault();
    if (event.type === "drop") this.bench.move(name, this.side, before && before.dataset.panel);
  }

  draw(focus) {
    const { bench } = this,
      other = this.side === "right" ? "bottom" : "right";

    this.element.hidden = this.splitter.hidden = !this.tabs.length;
    this.strip.replaceChildren(
      ...this.tabs.map(name => {
        const tab = make(
          "button",
          {
            type: "button",
            role: "tab",
            id: "tab-" + name,
            draggable: "true",
            "data-panel": name,
            "aria-selected": String(name === this.open),
            "aria-controls": name === this.open ? "panel-" + name : null,
            tabindex: name === this.open ? "0" : "-1",
            onclick: () => bench.show(name),
            ondragstart: () => (bench.dragged = name),
            ondragend: () => (bench.dragged = null),
          },
          bench.panels.get(name).title,
        );

        return tab;
      }),
    );
    this.tools.replaceChildren(
      ...(this.open
        ? [
            tool("move", "move this panel " + DOCKS[other].title, () => bench.move(this.open, other)),
            tool("close", "close this panel", () => bench.close(this.open)),
          ]
        : []),
    );
    this.body.replaceChildren(...(this.open ? [bench.panels.get(this.open).element] : []));
    this.resize(this.size);
    if (focus && this.open) this.strip.querySelector("[aria-selected=true]").focus();
  }

  /* "340:details*,marks" */
  words() {
    return this.size + ":" + this.tabs.map(name => name + (name === this.open ? "*" : "")).join(",");
  }
}

const tool = (word, told, does) =>
  make("button", { type: "button", class: "tool", title: told, "aria-label": told, onclick: does }, word);

/* panels: { name, title, side, element, refresh() }, in the order of their tabs. What is not seen is refreshed when it
 * is shown. */
class Bench {
  constructor(stage, panels) {
    this.panels = new Map(panels.map(panel => [panel.name, panel]));
    this.docks = { right: new Dock(this, "right"), bottom: new Dock(this, "bottom") };
    this.stale = new Set(this.panels.keys());
    this.dragged = null;
    this.element = stage.parentElement;
    this.element.append(
      this.docks.bottom.splitter,
      this.docks.bottom.element,
      this.docks.right.splitter,
      this.docks.right.element,
    );
    for (const panel of panels) {
      panel.element.id = "panel-" + panel.name;
      panel.element.setAttribute("role", "tabpanel");
      panel.element.setAttribute("aria-labelledby", "tab-" + panel.name);
    }
    this.usual();
    this.usualWords = { right: this.docks.right.words(), bottom: this.docks.bottom.words() };
    this.fromAddress();
  }

  usual() {
    for (const [side, dock] of Object.entries(this.docks)) {
      dock.tabs = [...this.panels.values()].filter(panel => panel.side === side).map(panel => panel.name);
      dock.open = dock.tabs[0] || null;
      dock.size = DOCKS[side].usual;
    }
    this.draw();
  }
  fromAddress() {
    const seen = new Set();

    for (const [side, dock] of Object.entries(this.docks)) {
      const [size, names] = (address.get(side) || this.usualWords[side]).split(":"),
        tabs = (names || "").split(",").filter(name => this.panels.has(name.replace("*", "")));

      dock.size = Number(size) || DOCKS[side].usual;
      dock.tabs = tabs.map(name => name.replace("*", "")).filter(name => !seen.has(name) && seen.add(name));
      dock.open = (tabs.find(name => name.endsWith("*")) || dock.tabs[0] || "").replace("*", "") || null;
      if (!dock.tabs.includes(dock.open)) dock.open = dock.tabs[0] || null;
    }
    this.draw();
  }

  dockOf(name) {
    return Object.values(this.docks).find(dock => dock.tabs.includes(name)) || null;
  }
  isSeen(name) {
    return Object.values(this.docks).some(dock => dock.open === name);
  }

  draw(focus) {
    for (const [side, dock] of Object.entries(this.docks)) dock.draw(focus === side);
    this.refresh();
  }
  changed() {
    for (const [side, dock] of Object.entries(this.docks))
      address.set(side, dock.words() === this.usualWords[side] ? null : dock.words());
  }
  /* Opens it where it is, or where it belongs. */
  show(name, focus = false) {
    const dock = this.dockOf(name) || this.docks[this.panels.get(name).side];

    if (!dock.tabs.includes(name)) dock.tabs.push(name);
    dock.open = name;
    this.draw(focus && dock.side);
    this.changed();
  }
  close(name) {
    const dock = this.dockOf(name);

    if (!dock) return;
    const at = dock.tabs.indexOf(name);
    dock.tabs.splice(at, 1);
    dock.open = dock.tabs[Math.min(at, dock.tabs.length - 1)] || null;
    this.draw(dock.side);
    this.changed();
  }
  move(name, side, before = null) {
    const from = this.dockOf(name),
      to = this.docks[side];

    if (from) {
      from.tabs.splice(from.tabs.indexOf(name), 1);
      if (from.open === name) from.open = from.tabs[0] || null;
    }
    to.tabs.splice(before && to.tabs.includes(before) ? to.tabs.indexOf(before) : to.tabs.length, 0, name);
    to.open = name;
    this.draw(side);
    this.changed();
  }

  /* All that is in them is of another stretch of time. */
  age() {
    this.stale = new Set(this.panels.keys());
    this.refresh();
  }
  refresh() {
    for (const name of [...this.stale].filter(of => this.isSeen(of))) {
      this.stale.delete(name);
      this.panels.get(name).refresh();
    }
  }
}
