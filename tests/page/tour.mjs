/* SPDX-License-Identifier: BSD-3-Clause */
/* A picture of a page: tour.mjs PAGE.html OUT.png [SUBJECT]. Of its first screen, or of the charts of a subject. */
import path from "node:path";
import { launch, watched } from "./browser.mjs";

const [html, out, subject] = process.argv.slice(2);
const WIDTH = 860,
  MOST = { first: 560, subject: 360 }; /* pixels */

async function open(page) {
  await page.goto("file://" + path.resolve(html));
  await page.waitForSelector("html[data-ready=yes]", { timeout: 20000 });
}

/* The first screen ends where its last part does. */
const bottom = page => page.locator("#screen").evaluate(element => element.getBoundingClientRect().bottom);

/* Opens it, without its tables. */
async function charts(page) {
  const details = page.locator("details.subject", { has: page.locator("h2", { hasText: subject }) }).first();

  if (!(await details.evaluate(element => element.open))) await details.locator("summary").first().click();
  await page.waitForTimeout(500);
  await details.evaluate(element => element.querySelectorAll("details.of-table").forEach(table => table.remove()));
  await details.evaluate(element => element.scrollIntoView());
  return details.evaluate(element => {
    const { top, height } = element.getBoundingClientRect();
    return { top: top + window.scrollY, height };
  });
}

const browser = await launch();
const { page } = await watched(browser, /^(file|data|blob):/, { viewport: { width: WIDTH, height: 900 } });

await open(page);
const { top, height } = subject ? await charts(page) : { top: 0, height: await bottom(page) };
await page.screenshot({
  path: out,
  fullPage: true,
  clip: { x: 0, y: top, width: WIDTH, height: Math.min(height, subject ? MOST.subject : MOST.first) },
});
await browser.close();
