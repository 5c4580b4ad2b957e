/* SPDX-License-Identifier: BSD-3-Clause */
/* A browser without a screen, and what every page must stand: nothing in it goes wrong, and axe-core finds nothing
 * against it. */
import fs from "node:fs";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";

const axe = fs.readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
/* What the browser would start beside each page, for a second of a processor: its own pages below the line of
 * addresses, and a process for a page to come. The last list counts: what the driver's has for these pages stands here
 * as well. */
const WITHOUT = [
  "WebUIOmniboxPopup",
  "WebUIOmniboxAimPopup",
  "SpareRendererForSitePerProcess",
  "HttpsUpgrades",
  "MediaRouter",
  "NetworkTimeServiceQuerying",
  "OptimizationHints",
  "PaintHolding",
  "PreconnectToSearch",
];
const FLAGS = [
  "--disable-features=" + WITHOUT.join(","),
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

export const same = (what, found, wanted) =>
  JSON.stringify(found) === JSON.stringify(wanted)
    ? null
    : `${what}: found ${JSON.stringify(found)}, wanted ${JSON.stringify(wanted)}`;

/* A line of what was looked at: the promise gives null, or what is wrong. */
export async function look(check, promise) {
  const wrong = await promise.catch(error => error.message);

  process.stdout.write(JSON.stringify({ check, wrong: wrong || null }) + "\n");
}

export const launch = () =>
  chromium.launch({ executablePath: process.env.CHROMIUM || "/usr/bin/chromium", args: FLAGS });

/* A new page, and what it did that it must not: errors, warnings, dialogs, requests of other addresses. */
export async function watched(browser, addresses, options) {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    acceptDownloads: true,
    ...options,
  });
  const page = await context.newPage();
  const faults = [];

  page.on("console", message => {
    if (["error", "warning"].includes(message.type())) faults.push(message.text());
  });
  page.on("pageerror", error => faults.push(error.message));
  page.on("dialog", dialog => {
    faults.push("a dialog: " + dialog.message());
    dialog.dismiss();
  });
  page.on("request", request => {
    if (!addresses.test(request.url())) faults.push("a request: " + request.url());
  });
  return { page, faults, close: () => context.close() };
}

/* Lines of the tree of where everybody is, as the text has them. */
export const branchesOf = page =>
  page.locator(".where .branch").evaluateAll(all =>
    all.map(branch => {
      let indent = "";

      for (let at = branch.closest("ul").parentElement.closest("ul"); at; at = at.parentElement.closest("ul"))
        indent += "  ";
      return indent + branch.textContent;
    }),
  );

/* What each wait may take, ms: much more than it does. */
export const TIMEOUT = { timeout: 60000 };

/* fvmpi view's page has all that it asked its server for; pause: ms until what is being done asks. */
export async function settled(page, pause = 0) {
  if (pause) await page.waitForTimeout(pause);
  await page.waitForFunction(() => document.documentElement.dataset.loads === "0", null, TIMEOUT);
}

/* fvmpi view's page at an address, once it has its table. */
export async function opened(browser, address, options, rows = "#sums tbody tr") {
  const watch = await watched(browser, new RegExp("^(data|blob):|^" + new URL(address).origin + "/"), options);

  await watch.page.goto(address);
  await watch.page.waitForSelector(rows, TIMEOUT);
  await settled(watch.page);
  return watch;
}

/* of: what of the page is judged, { include } or { exclude }, where the rest was judged before. */
export async function accessible(page, of = null) {
  if (!(await page.evaluate(() => "axe" in window))) await page.evaluate(axe);
  const { violations } = await page.evaluate(
    of => axe.run(of || document, { resultTypes: ["violations"], selectors: false }),
    of,
  );

  return violations
    .map(
      violation =>
        `${violation.id} (${violation.impact}): ${violation.nodes.length} times, ` +
        violation.nodes[0].html.slice(0, 120),
    )
    .join("; ");
}
