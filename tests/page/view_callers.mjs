/* SPDX-License-Identifier: BSD-3-Clause */
/* Looks at call stacks on the page of fvmpi view, of a run whose functions are not recorded: view_callers.mjs FOLDER
 * ADDRESS. Each line of stdout is what was looked at, { check, wrong }: wrong is null, or words. */
import path from "node:path";
import { launch, look, opened, same, settled } from "./browser.mjs";

const [folder, address] = process.argv.slice(2);

const browser = await launch(),
  { page, faults } = await opened(browser, address);

/* Above each call its callers, as long as it lasts, and it below the innermost. */
const above = () =>
  page.evaluate(async () => {
    const { view } = document.getElementById("picture"),
      { stacks } = view.charts,
      wrong = [];
    let seen = 0;

    for (const { row } of stacks.places) {
      const { slices } = stacks.of(row);

      for (const { of, depth } of slices.filter(slice => slice.of && !slice.of.sampled && slice.of.context !== null)) {
        const { path } = await view.trace.json("path", { context: of.context }),
          callers = slices
            .filter(({ isCaller, begin, ns }) => isCaller && begin <= of.begin && begin + ns >= of.begin + of.ns)
            .sort((a, b) => a.depth - b.depth)
            .map(({ region }) => stacks.callers.regions[region].name),
          wanted = path.map(([name]) => name).reverse();

        seen++;
        if (callers.join() !== wanted.join() || depth !== wanted.length)
          wrong.push(`at ${of.begin}: ${callers}, depth ${depth}; wanted ${wanted}`);
      }
    }
    return { seen, wrong: wrong.slice(0, 3) };
  });

await page.focus("#picture");
await page.keyboard.press("K");
await settled(page);
const { seen, wrong } = await above();
await look(
  "callers stand above calls",
  Promise.resolve(seen > 3 && !wrong.length ? null : JSON.stringify([seen, wrong])),
);
await page.screenshot({ path: path.join(folder, "view-callers.png") });
const [lane, calls] = await page.evaluate(() => {
  const { stacks } = document.getElementById("picture").view.charts,
    { slices } = stacks.of(stacks.places[0].row),
    caller = slices.filter(({ isCaller }) => isCaller).reduce((a, b) => (b.ns > a.ns ? b : a)),
    { view } = stacks;

  return [{ x: 120 + view.x(caller.begin + caller.ns / 2), y: 5 + caller.depth * stacks.laneTall }, view.selected];
});
await page.locator(".stack-canvas").click({ position: lane });
await settled(page);
await look(
  "a caller is no call that can be chosen",
  page
    .evaluate(() => document.getElementById("picture").view.selected)
    .then(selected => same("selected", [calls, selected], [null, null])),
);
await look("nothing goes wrong", Promise.resolve(faults.join("; ")));
await browser.close();
