/* In view.html. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* The workbench around the timeline: panels as tabs of groups that are resized, moved, split and closed. By
 * dockview-core; ours is what it has no keys for, and where panels are in the address (view_places.js). */

const RIGHT = 285,
  BELOW = 285 /* pixels of groups, as they are at first */,
  STEP = 24; /* pixels that an arrow key changes a group by */

const tool = (word, hint, does) =>
  make("button", { type: "button", class: "tool", title: hint, "aria-label": hint, onclick: does }, word);

/* panels: { name, title, side: "right" or "bottom", element, refresh() }, in the order of their tabs. What is not seen
 * is refreshed when it is shown. */
class Bench {
  constructor(element, stage, panels) {
    this.element = element;
    this.panels = new Map(panels.map(panel => [panel.name, panel]));
    this.stale = new Set(this.panels.keys());
    this.titles = new Map([[TIMELINE, "Timeline"], ...panels.map(({ name, title }) => [name, title])]);
    for (const panel of panels) panel.element.id = "panel-" + panel.name;
    this.dock = globalThis["dockview-core"].createDockview(element, {
      createComponent: ({ name }) => this.content(name === TIMELINE ? stage : this.panels.get(name).element),
      createTabComponent: ({ name }) => this.tab(name),
      createRightHeaderActionComponent: group => this.tools(group),
      theme: { name: "fvmpi", className: "dockview-theme-fvmpi" },
      disableFloatingGroups: true,
      disableAutoResizing: true,
    });
    this.fromAddress();
    this.dock.onDidLayoutChange(() => (this.changed(), this.refresh()));
    this.dock.onDidActivePanelChange(() => this.refresh());
    element.addEventListener("keydown", event => this.key(event));
    /* A click opens a tab, at once. The library would when it is pressed, and scroll it away from below the pointer
     * that begins to drag it. */
    element.addEventListener("pointerdown", event => this.press(event), { capture: true });
    element.addEventListener("click", event => this.click(event));
    new ResizeObserver(() => this.fit()).observe(element);
  }

  content(element) {
    const box = make("div", { class: "dock-body" }, element);

    return { element: box, init() {} };
  }
  tab(name) {
    const element = make("span", { class: "tab", "data-panel": name }, this.titles.get(name));

    /* Others are in the list of tabs that have no room. */
    return { element, init: ({ tabLocation }) => tabLocation === "header" && (element.id = "tab-" + name) };
  }
  tools(group) {
    const element = make(
      "div",
      { class: "dock-tools" },
      tool("move", "move this panel to the right, or below the timeline", () => this.move(group.activePanel.id)),
      tool("close", "close this panel", () => group.activePanel.api.close()),
    );

    return { element, init() {}, dispose() {} };
  }

  panelOfTab(tab) {
    return this.dock.getPanel(tab.querySelector(".tab").dataset.panel);
  }
  press(event) {
    if (event.pointerType === "mouse" && event.target.closest("[role=tab]")) event.stopPropagation();
  }
  click(event) {
    const tab = event.target.closest("[role=tab]");

    if (tab) this.panelOfTab(tab).api.setActive();
  }
  /* Arrows, Enter and Delete are the library's; Shift with an arrow changes the size. */
  key(event) {
    const tab = event.target.closest("[role=tab]"),
      [side, by] =
        {
          ArrowLeft: ["width", STEP],
          ArrowRight: ["width", -STEP],
          ArrowUp: ["height", STEP],
          ArrowDown: ["height", -STEP],
        }[event.key] || [];

    if (!tab || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.shiftKey && side) {
      const { api } = this.panelOfTab(tab).group;

      api.setSize({ [side]: Math.max(api[side] + by, LEAST[side]) });
      event.preventDefault();
    }
    if (/^(Arrow|Home|End|Enter|Delete| )/.test(event.key)) event.stopPropagation();
  }

  /* ---- where panels are ---- */

  usualText() {
    const names = side => [...this.panels.values()].filter(panel => panel.side === side).map(({ name }) => name),
      group = ([first, ...more], size) => "_" + [first + "*", ...more].join(".") + "-" + size;

    return `h((${TIMELINE}${group(names("bottom"), BELOW)})${group(names("right"), RIGHT)})`;
  }
  text() {
    return layoutText.of(this.dock.toJSON());
  }
  read(text) {
    return layoutText.read(text, this.element.clientWidth, this.element.clientHeight, this.titles);
  }
  /* Is it a layout? */
  put(text) {
    const layout = this.read(text);

    if (layout) {
      this.dock.layout(this.element.clientWidth, this.element.clientHeight);
      this.dock.fromJSON(layout, { reuseExistingPanels: true });
      this.wanted = text;
      this.fitted = this.text();
      this.refresh();
    }
    return Boolean(layout);
  }
  usual() {
    this.put(this.usualText());
    address.set("panels", null);
  }
  fromAddress() {
    const wanted = address.get("panels") || this.usualText();

    if (wanted !== this.wanted && !this.put(wanted)) this.put(this.usualText());
  }
  /* To a window of another size: groups have the size that was wanted, as far as there is room, and the timeline has
   * what is left. Nothing is made anew, so that what has the focus keeps it. */
  fit() {
    const { clientWidth, clientHeight } = this.element;

    if (!clientWidth || (clientWidth === this.dock.width && clientHeight === this.dock.height)) return;
    this.dock.layout(clientWidth, clientHeight);
    const layout = this.read(this.wanted); /* null: somebody put groups into each other deeper than is read */
    for (const { data, wide, tall } of layout ? leavesIn(layout.grid.root) : [])
      if (!data.views.includes(TIMELINE))
        this.dock.getPanel(data.views[0]).group.api.setSize({ width: wide, height: tall });
    this.fitted = this.text();
  }
  /* What fits is no change. */
  changed() {
    const now = this.text();

    if (now === this.fitted) return;
    this.wanted = this.fitted = now;
    address.set("panels", now === this.usualText() ? null : now);
  }

  isSeen(name) {
    const panel = this.dock.getPanel(name);

    return Boolean(panel) && panel.group.activePanel === panel;
  }
  /* Opens it where it is, or where it belongs. */
  show(name, focus = false) {
    const panel = this.dock.getPanel(name);

    if (panel) panel.api.setActive();
    else this.add(name);
    if (focus)
      document
        .getElementById("tab-" + name)
        .closest("[role=tab]")
        .focus();
  }
  /* Beside those of that side; else in a group of its own. */
  add(name, side = this.panels.get(name).side) {
    const beside = this.dock.panels.find(({ id }) => id !== TIMELINE && this.sideOf(id) === side),
      position = beside
        ? { referencePanel: beside.id }
        : side === "right"
          ? { direction: "right" }
          : { referencePanel: TIMELINE, direction: "below" };

    this.dock.addPanel({
      ...{ id: name, component: name, tabComponent: name, title: this.titles.get(name), position },
      ...(beside ? {} : side === "right" ? { initialWidth: RIGHT } : { initialHeight: BELOW }),
    });
  }
  /* Of a panel that there is. */
  sideOf(name) {
    const [own, timeline] = [name, TIMELINE].map(of => this.dock.getPanel(of).group.element.getBoundingClientRect());

    return own.left >= timeline.right - 2 ? "right" : "bottom";
  }
  close(name) {
    const panel = this.dock.getPanel(name);

    if (panel) panel.api.close();
  }
  /* To the other side. */
  move(name) {
    const side = this.sideOf(name) === "right" ? "bottom" : "right";

    this.close(name);
    this.add(name, side);
  }

  /* ---- what is in them ---- */

  /* All of it is of another stretch of time. */
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
