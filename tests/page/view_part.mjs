/* SPDX-License-Identifier: BSD-3-Clause */
/* Looks at the page of fvmpi view while it shows a trace's first part. view_part.mjs FOLDER ADDRESS MAKER: the process
 * that makes the whole, which is stopped. Each line of stdout is what was looked at, { check, wrong }: wrong is null,
 * or words. */
import path from "node:path";
import { TIMEOUT, accessible, launch, look, opened } from "./browser.mjs";

const [folder, address, maker] = process.argv.slice(2);

const browser = await launch(),
  { page, faults } = await opened(browser, address),
  calls = () => page.evaluate(() => document.getElementById("picture").view.about.slices),
  word = () => page.textContent("#part");

const before = await calls(),
  said = await word();
await look("it says that it is a part", Promise.resolve(/first part of each process/.test(said) ? null : said));
await look("accessible", accessible(page));
await page.screenshot({ path: path.join(folder, "view-part.png") });
process.kill(Number(maker), "SIGCONT");
await page.keyboard.press("ArrowRight");
await page.waitForSelector("#more:not([hidden])", TIMEOUT);
await look("who has moved is asked", Promise.resolve((await calls()) === before ? null : "it was taken away"));
await page.click("#more");
await page.waitForFunction(n => (document.getElementById("picture") || {}).view?.about.slices > n, before, TIMEOUT);
await look("the whole is shown", Promise.resolve((await word()) === "" ? null : await word()));
await look("nothing goes wrong", Promise.resolve(faults.join("; ")));
await browser.close();
