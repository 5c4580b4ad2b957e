/* SPDX-License-Identifier: BSD-3-Clause */
/* Looks at panels of fvmpi view that sum up what is in view: view_statistics.mjs FOLDER ADDRESS NAME. Each line of
 * stdout is what was looked at, { check, wrong }: wrong is null, or words. Screenshots go to the folder. */
import path from "node:path";
import { TIMEOUT, accessible, launch, look, opened, same, settled } from "./browser.mjs";

const [folder, address, name] = process.argv.slice(2);
const PANELS = { collectives: "#kinds tbody tr" };

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

  if (theme === "light")
    await look("collective operations, and where their members are furthest apart", collectives(page));
  await look(theme + ": panels", panels(page, theme));
  await look(theme + ": nothing goes wrong", Promise.resolve(faults.join("; ")));
  await close();
}
await browser.close();
