/* SPDX-License-Identifier: BSD-3-Clause */
/* Looks at the page of fvmpi view while more is written than it shows. view_growing.mjs FOLDER ADDRESS. Each line of
 * stdout is what was looked at, { check, wrong }: wrong is null, or words. */
import path from "node:path";
import { TIMEOUT, accessible, launch, look, opened } from "./browser.mjs";

const [folder, address] = process.argv.slice(2);

const browser = await launch(),
  { page, faults } = await opened(browser, address);
const calls = () => page.evaluate(() => document.getElementById("picture").view.about.slices);

await page.waitForSelector("#more:not([hidden])", TIMEOUT);
await look("accessible", accessible(page));
await page.screenshot({ path: path.join(folder, "view-growing.png") });
const before = await calls();
await page.click("#more");
await page.waitForFunction(n => (document.getElementById("picture") || {}).view?.about.slices > n, before, TIMEOUT);
await page.waitForSelector("#more[hidden]", { ...TIMEOUT, state: "attached" });
await look("what was written is shown", Promise.resolve((await calls()) > before ? null : "as before"));
await look("nothing goes wrong", Promise.resolve(faults.join("; ")));
await browser.close();
