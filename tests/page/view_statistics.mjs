/* SPDX-License-Identifier: BSD-3-Clause */
/* Looks at panels of fvmpi view that sum up what is in view: view_statistics.mjs FOLDER ADDRESS NAME. Each line of
 * stdout is what was looked at, { check, wrong }: wrong is null, or words. Screenshots go to the folder. */
import fs from "node:fs";
import path from "node:path";
import { TIMEOUT, accessible, launch, look, opened, same, settled } from "./browser.mjs";

const [folder, address, name] = process.argv.slice(2);
const PANELS = { collectives: "#kinds tbody tr", files: "#files tbody tr", alike: "#groups tbody tr" };

const show = async (page, panel) => {
  await page.click("#tab-" + panel);
  await page.waitForSelector(PANELS[panel], TIMEOUT);
  await settled(page, 300);
};

/* The rows are the server's; the longest spread leads to the whole operation and selects the call that was last. */
async function collectives(page) {
  await show(page, "collectives");
  const { wanted, found } = await page.evaluate(async () => {
    const { view } = document.getElementById("picture"),
      { kinds } = await view.trace.json("collectives", windowOf(view)),
      { table } = view.bench.panels.get("collectives");

    return {
      wanted: kinds.map(kind => kind[0]).sort(),
      found: table.rows.map(({ region }) => region).sort(),
    };
  });
  await page.click("#kinds th button:has-text('longest spread')");
  const kind = await page.evaluate(() => {
    const { view } = document.getElementById("picture"),
      [first] = view.bench.panels.get("collectives").table.inOrder;

    return first;
  });
  await page.locator("#kinds button.longest").first().click();
  await page.waitForFunction(
    () => document.getElementById("picture").view.selected !== null && document.querySelector("#details h2"),
    null,
    TIMEOUT,
  );
  await settled(page, 400);
  const there = await page.evaluate(() => {
    const { view } = document.getElementById("picture"),
      { selected, from, to } = view;

    return { from, to, row: selected.row, begin: selected.begin, isSeen: view.rows.lineOf[selected.row] >= 0 };
  });
  await page.focus("#picture");
  await page.keyboard.press("Escape");
  await page.keyboard.press("f");
  await settled(page, 300);
  return (
    same("kinds", found, wanted) ||
    same("row", [there.row, there.isSeen], [kind.late, true]) ||
    same("the last call", there.begin, kind.begin + kind.longest) ||
    (there.from <= kind.begin && there.to >= kind.end && there.to - there.from < 2 * (kind.end - kind.begin) + 200
      ? null
      : JSON.stringify([there, kind]))
  );
}

/* Files that are looked for, and where the longest operation on one is. */
async function files(page) {
  await show(page, "files");
  await page.fill("#panel-files input[type=search]", "TEXT.1");
  await page.click("#files th button:has-text('writes')");
  const cells = await page.locator("#files tbody tr:first-child td").allInnerTexts(),
    note = await page.locator("#panel-files .note").innerText(),
    { begin, longest, row } = await page.evaluate(() => {
      const { table } = document.getElementById("picture").view.bench.panels.get("files");

      return table.inOrder[0];
    });
  await page.locator("#files button.longest").first().click();
  await page.waitForSelector("#details h2", TIMEOUT);
  await settled(page, 400);
  const there = await page.evaluate(() => document.getElementById("picture").view.selected);
  await page.focus("#picture");
  await page.keyboard.press("Escape");
  await page.keyboard.press("f");
  await settled(page, 300);
  await page.fill("#panel-files input[type=search]", "");
  return (
    same("cells", cells.slice(1, 5), ["stdio", "1", "", "3"]) ||
    same("note", note, "1 file, 0 B read, 2.93 KiB written") ||
    same("row", there.row, row) ||
    (there.begin <= begin && there.begin + there.ns >= begin + longest ? null : JSON.stringify([there, begin, longest]))
  );
}

/* Parts of the time by function, of each row, and how much two of them differ. */
async function profilesOf(page) {
  const { rows, ns } = await page.evaluate(async () => {
      const { view } = document.getElementById("picture"),
        { from, to } = windowOf(view),
        { rows: told } = await view.trace.json("profiles", { from, to });

      return { rows: told, ns: to - from };
    }),
    parts = rows.map(([, ...told]) => {
      const of = new Map([["rest", told.at(-1) / ns]]);

      for (let i = 0; i + 1 < told.length; i += 2) of.set(told[i], told[i + 1] / ns);
      return of.set("none", 1 - [...of.values()].reduce((sum, part) => sum + part, 0));
    });

  return (i, k) =>
    [...new Set([...parts[i].keys(), ...parts[k].keys()])].reduce(
      (sum, key) => sum + Math.abs((parts[i].get(key) || 0) - (parts[k].get(key) || 0)),
      0,
    ) / 2;
}
const shown = page =>
  page.evaluate(() => {
    const { view } = document.getElementById("picture"),
      { inOrder } = view.bench.panels.get("alike").table;

    return inOrder.map(({ rows, differs, height, text, words }) => ({ rows, differs, height, text, words }));
  });

/* No two rows of a group differ by more than the limit, and no two groups could be one. */
function isGrouping(groups, far, limit) {
  const most = (a, b) => Math.max(...a.rows.flatMap(i => b.rows.map(k => far(i, k)))),
    wrong = [];

  for (const [i, group] of groups.entries()) {
    if (Math.abs(most(group, group) - group.height) > 1e-5) wrong.push(`height ${group.height} of ${group.text}`);
    if (group.height > limit) wrong.push(group.text + " is too wide");
    if (i && groups[i - 1].differs < group.differs) wrong.push("order: " + group.text);
    for (const other of groups.slice(0, i))
      if (most(group, other) < limit - 1e-5) wrong.push(group.text + " and " + other.text + " are one");
  }
  return wrong.join(", ");
}
async function alike(page) {
  const asked = [];

  page.on("request", request => request.url().includes("/profiles?") && asked.push(request.url()));
  await show(page, "alike");
  const steps = asked.length,
    rows = await page.evaluate(() => document.getElementById("picture").view.about.rows.length),
    wrong = [];
  for (const limit of ["20", "5", "2"]) {
    await page.selectOption("#panel-alike select >> nth=0", limit);
    await settled(page, 200);
    const groups = await shown(page),
      all = groups.flatMap(group => group.rows).sort((a, b) => a - b);

    wrong.push(isGrouping(groups, await profilesOf(page), Number(limit) / 100));
    wrong.push(
      same(
        "rows",
        all,
        Array.from({ length: rows }, (_, i) => i),
      ),
    );
  }
  const [first, ...others] = await shown(page);
  await page.locator("#groups button.pick").first().click();
  await settled(page, 400);
  const alone = await page.evaluate(() => document.getElementById("picture").view.rows.numbers),
    stay = (await shown(page)).length;
  await page.locator("#groups button.pick").first().click();
  await settled(page, 400);
  const again = await page.evaluate(() => document.getElementById("picture").view.rows.numbers.length);
  await page.selectOption("#panel-alike select >> nth=1", "class");
  await settled(page, 300);
  const note = await page.locator("#panel-alike .note").last().innerText();
  await page.evaluate(() => (location.hash = address.text().replace(/&alike=[^&]*/, "")));
  await settled(page, 400);
  const usual = await page
    .locator("#panel-alike select")
    .evaluateAll(selects => selects.map(select => select.value).join());
  return (
    wrong.filter(Boolean).join("; ") ||
    same("alone", alone, first.rows) ||
    same("groups stay", stay, others.length + 1) ||
    same("all again", again, rows) ||
    same("another address", usual, "10,function") ||
    (name === "large" && steps < 4 ? `one answer has it all: ${steps}` : null) ||
    (others.length && !/^.+ \d+ %, not \d+ %(; |$)/.test(first.words) ? first.words : null) ||
    (/rows (in \d+ groups?|spend this time alike)/.test(note) ? null : note)
  );
}

/* Vectors whose groups are known, also of so many that they are grouped in two steps. */
const known = page =>
  page.evaluate(async () => {
    const wide = 4,
      count = 900,
      kinds = [
        [0.7, 0.2, 0.1, 0],
        [0.1, 0.2, 0.7, 0],
        [0.4, 0.1, 0.1, 0.4],
      ],
      kindOf = i => (i % 300 === 7 ? 2 : i % 10 === 3 ? 1 : 0),
      parts = new Float32Array(count * wide);

    for (let i = 0; i < count; i++) {
      const bit = ((i * 7919) % 100) / 5000;

      kinds[kindOf(i)].forEach((part, k) => (parts[i * wide + k] = part + (k === 0 ? -bit : k === 1 ? bit : 0)));
    }
    const wrong = [];
    for (const linked of [2000, 100]) {
      const { groups, isEstimate } = await alikeRows(parts, wide, count, 0.1, linked),
        sizes = groups.map(({ rows }) => rows.length).sort((a, b) => a - b),
        isMixed = groups.some(({ rows }) => new Set(rows.map(kindOf)).size > 1);

      if (sizes.join() !== "3,90,807" || isMixed || isEstimate) wrong.push(linked + ": " + sizes);
    }
    const few = await alikeRows(parts, wide, count, 0.0001, 20);
    if (!few.isEstimate || few.groups.reduce((sum, { rows }) => sum + rows.length, 0) !== count) wrong.push("estimate");
    return wrong.join("; ");
  });

/* What is wrong with the order of a table that is sorted by a column: of rows in a tree, those with one parent. */
const disorder = (page, panel, id, column) =>
  page.evaluate(
    ([name, table, i]) => {
      const { view } = document.getElementById("picture"),
        of = Object.values(view.bench.panels.get(name)).find(part => part instanceof LongTable && part.id === table),
        { order, value, key } = of.columns[i],
        way = document.querySelectorAll(`#${table} th`)[i].getAttribute("aria-sort"),
        last = new Map();

      if (of.sorted !== key || !["ascending", "descending"].includes(way)) return `${table}: not by ${key}: ${way}`;
      for (const row of of.inOrder) {
        const now = (order || value)(row),
          before = last.get(row.parent);

        if (
          last.has(row.parent) &&
          now !== null &&
          (before === null || (way === "ascending" ? now < before : now > before))
        )
          return `${table} by ${key}: ${before}, then ${now}`;
        last.set(row.parent, now);
      }
      return null;
    },
    [panel, id, column],
  );

/* Heads and numbers that are cut in tables that are seen, and tables that are wider than their place. */
const cut = page =>
  page.evaluate(() =>
    [...document.querySelectorAll(".dock-body .panel .long")]
      .filter(of => of.clientHeight)
      .flatMap(of => [
        ...(of.scrollWidth > of.clientWidth + 1 ? [of.getAttribute("aria-label") + " is too wide"] : []),
        ...[...of.querySelectorAll("th, td:not(:has(.name))")]
          .filter(cell => cell.scrollWidth > cell.clientWidth + 1)
          .map(cell => cell.textContent),
      ])
      .join(", "),
  );

/* Every table of every panel: sorted by each column, both ways, and saved; rows have their names there. */
async function tables(page) {
  const all = await page.evaluate(() => {
    const { view } = document.getElementById("picture");

    selection.choose(view.about.regions.find(region => region.name === "MPI_Recv").number);
    return [...view.bench.panels.values()]
      .map(panel => [panel.name, Object.values(panel).filter(part => part instanceof LongTable)])
      .filter(([, parts]) => parts.length)
      .map(([panel, parts]) => [panel, parts.map(({ id, columns }) => [id, columns.map(({ title }) => title)])]);
  });
  const wrong = [];

  for (const [panel, parts] of all) {
    await page.click("#tab-" + panel);
    await settled(page, 300);
    wrong.push(
      same(panel + ": CSV", await page.locator(`#panel-${panel} button:text-is('CSV')`).count(), parts.length),
    );
    for (const [i, [id, titles]] of parts.entries()) {
      await page.waitForSelector(`#${id} tbody tr`, TIMEOUT);
      if (!i) wrong.push(await cut(page));
      for (const column of titles.keys())
        for (let way = 0; way < 2; way++) {
          const head = page.locator(`#${id} th`).nth(column).locator("button");

          if (await head.count()) await head.click();
          wrong.push(await disorder(page, panel, id, column));
        }
      const button = page.locator(`#panel-${panel} button:text-is('CSV')`).nth(i);
      if (!(await button.count())) continue;
      const [download] = await Promise.all([page.waitForEvent("download", TIMEOUT), button.click()]),
        lines = fs
          .readFileSync(await download.path(), "utf8")
          .trim()
          .split("\n"),
        rows = await page.evaluate(of => document.getElementById(of).getAttribute("aria-rowcount"), id);
      wrong.push(same(id + ": file", download.suggestedFilename(), id + ".csv"));
      wrong.push(same(id + ": lines", lines.length, Number(rows)));
      wrong.push(same(id + ": columns", lines[0].split(",").length, titles.length));
      for (const [k, title] of titles.entries())
        if (["row", "for", "most in", "last to arrive"].includes(title)) {
          const names = lines.slice(1).map(line => line.split(",")[k]);

          wrong.push(same(`${id}: ${title}`, names.filter(text => text && !/^rank \d+/.test(text)).slice(0, 3), []));
        }
    }
  }
  await page.evaluate(() => selection.choose(null));
  return wrong.filter(Boolean).join("; ");
}

/* Each panel in a theme: in the whole page, and in dark by itself. */
async function panels(page, theme) {
  for (const panel of Object.keys(PANELS)) {
    if (!(await page.locator("#tab-" + panel).count())) continue;
    await show(page, panel);
    await page.screenshot({ path: path.join(folder, `view-${name}-${panel}-${theme}.png`) });
    const of = theme === "light" ? null : { include: [".tabs", "#panel-" + panel] },
      wrong = (await accessible(page, of)) || (await cut(page));

    if (wrong) return panel + ": " + wrong;
  }
  return null;
}

/* What there is nothing of is not offered: messages, and the time of MPI in a run without it. */
const offered = page =>
  page.evaluate(() => {
    const { view } = document.getElementById("picture"),
      { regions, classes, messages } = view.about,
      has = () => [view.radar.choice, view.rows.order.choice].map(of => [...of.options].some(o => o.value === "mpi")),
      show = () => (view.radar.open(), view.rows.order.show("rank"), has()),
      withMpi = show(),
      known = regions.map(({ ns }) => ns);

    regions.forEach(of => (of.ns = MPI_CLASSES.includes(classes[of.class].name) ? 0 : of.ns));
    const without = show();
    regions.forEach((of, i) => (of.ns = known[i]));
    show();
    return { tab: view.bench.panels.has("messages") === messages > 0, with: withMpi, without };
  });

const browser = await launch();
for (const [theme, options] of Object.entries({ light: {}, dark: { colorScheme: "dark" } })) {
  const { page, faults, close } = await opened(browser, address, options);

  if (theme === "light") {
    const has = panel => page.locator("#tab-" + panel).count();

    if (name === "scorep-late")
      await look("collective operations, and where their spread is longest", collectives(page));
    if (name === "scorep-io") await look("files", files(page));
    else await look("rows that spend their time alike", alike(page));
    if (name === "scorep-late") await look("groups that are known", known(page));
    if (name === "scorep-late") await look("tables are sorted by any column, and saved", tables(page));
    await look(
      "what there is nothing of is not offered",
      offered(page).then(found => same("offered", found, { tab: true, with: [true, true], without: [false, false] })),
    );
    await look(
      "panels of what there is",
      has("files").then(n => same("files", n, name === "scorep-io" ? 1 : 0)),
    );
  }
  await look(theme + ": panels", panels(page, theme));
  await look(theme + ": nothing goes wrong", Promise.resolve(faults.join("; ")));
  await close();
}
await browser.close();
