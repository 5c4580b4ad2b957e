/* SPDX-License-Identifier: BSD-3-Clause */
/* Looks at panels of fvmpi view that sum up what is in view: view_statistics.mjs FOLDER ADDRESS NAME. Each line of
 * stdout is what was looked at, { check, wrong }: wrong is null, or words. Screenshots go to the folder. */
import path from "node:path";
import { TIMEOUT, accessible, launch, look, opened, same, settled } from "./browser.mjs";

const [folder, address, name] = process.argv.slice(2);
const PANELS = { collectives: "#kinds tbody tr", files: "#files tbody tr" };

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

/* Each panel in a theme. */
async function panels(page, theme) {
  for (const panel of Object.keys(PANELS)) {
    if (!(await page.locator("#tab-" + panel).count())) continue;
    await show(page, panel);
    await page.screenshot({ path: path.join(folder, `view-${name}-${panel}-${theme}.png`) });
    const wrong = await accessible(page);

    if (wrong) return panel + ": " + wrong;
  }
  return null;
}

const browser = await launch();
for (const [theme, options] of Object.entries({ light: {}, dark: { colorScheme: "dark" } })) {
  const { page, faults, close } = await opened(browser, address, options);

  if (theme === "light") {
    const has = panel => page.locator("#tab-" + panel).count();

    if (name === "scorep-late")
      await look("collective operations, and where their spread is longest", collectives(page));
    if (name === "scorep-io") await look("files", files(page));
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
