/* SPDX-License-Identifier: BSD-3-Clause */
/* Opens the timeline of a job from the page of fvmpi live. live_timeline.mjs FOLDER ADDRESS. Each line of stdout is
 * what was looked at, { check, wrong }: wrong is null, or words. */
import path from "node:path";
import { TIMEOUT, accessible, launch, look, watched } from "./browser.mjs";

const [folder, address] = process.argv.slice(2);

async function opened(page) {
  await page.click("#timeline button");
  await page.waitForSelector("#timeline a", TIMEOUT);
  const [tab] = await Promise.all([page.context().waitForEvent("page", TIMEOUT), page.click("#timeline a")]);
  await tab.waitForSelector("#sums tbody tr", TIMEOUT);
  return null;
}

const browser = await launch();
for (const [name, options] of Object.entries({ light: {}, dark: { colorScheme: "dark" } })) {
  const { page, faults, close } = await watched(browser, /./, options);

  await page.goto(address);
  await page.waitForSelector("#timeline:not([hidden])", TIMEOUT);
  if (name === "light") await look("the timeline of the job", opened(page));
  await look(name + ": accessible", accessible(page));
  await page.screenshot({ path: path.join(folder, `live-timeline-${name}.png`) });
  await look(name + ": nothing goes wrong", Promise.resolve(faults.join("; ")));
  await close();
}
await browser.close();
