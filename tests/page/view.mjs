/* SPDX-License-Identifier: BSD-3-Clause */
/* Looks at the page of fvmpi view in a browser. view.mjs FOLDER ADDRESS, of the archive scorep-late. Each line of stdout is what was looked at, { check, wrong }:
 * wrong is null, or words. Screenshots go to the folder. */
import path from "node:path";
import { accessible, launch, look, same, watched } from "./browser.mjs";

const [folder, address] = process.argv.slice(2);
const TIMEOUT = { timeout: 30000 };
const LOOKS = { light: {}, dark: { colorScheme: "dark" }, large: { viewport: { width: 1920, height: 1080 } } };

async function open(browser, options, hash = "") {
  const watch = await watched(browser, new RegExp("^(data|blob):|^" + new URL(address).origin + "/"), options);

  await watch.page.goto(address + hash);
  await watch.page.waitForSelector("#sums tbody tr", TIMEOUT);
  return watch;
}

const settled = page => page.waitForFunction(() => document.documentElement.dataset.loads === "0", null, TIMEOUT);

/* Colours of the picture: computing is never blank where an archive has functions. */
async function drawn(page) {
  const colours = await page.evaluate(() => {
    const canvas = document.getElementById("picture"),
      data = canvas.getContext("2d").getImageData(120, 30, canvas.width - 140, 20).data,
      found = new Set();

    for (let i = 0; i < data.length; i += 4) found.add(data.slice(i, i + 3).join());
    return found.size;
  });

  return colours > 3 ? null : colours + " colours in the picture";
}

async function keys(page) {
  const range = () => page.evaluate(() => location.hash.slice(1).split(",")[0].split("-").map(Number));

  await page.focus("#picture");
  await page.waitForFunction(() => location.hash.startsWith("#0-"), null, TIMEOUT);
  await page.keyboard.press("w");
  await page.waitForFunction(() => !location.hash.startsWith("#0-"), null, TIMEOUT);
  const [from, to] = await range();
  await page.keyboard.press("d");
  await page.waitForFunction(before => !location.hash.startsWith("#" + before), from + "-" + to, TIMEOUT);
  const [later] = await range();
  await page.keyboard.press("f");
  await page.waitForFunction(() => location.hash.startsWith("#0-"), null, TIMEOUT);
  return from > 0 && later > from ? null : `w: ${from} to ${to}; d: from ${later}`;
}

/* A click on the longest call of a function leads to it, and says where it was called. */
async function found(page) {
  await page.click("#sums button:text-is('culprit_p2p')");
  await page.waitForSelector("#details h2", TIMEOUT);
  await settled(page);
  return same("chosen", await page.locator("#details h2").innerText(), "culprit_p2p");
}

async function main() {
  const browser = await launch();

  for (const [name, options] of Object.entries(LOOKS)) {
    const { page, faults, close } = await open(browser, options);

    await settled(page);
    await look(name + ": drawn", drawn(page));
    if (name === "light") {
      await look("keys", keys(page));
      await look("a function's longest call", found(page));
    }
    await look(name + ": accessible", accessible(page));
    await page.screenshot({ path: path.join(folder, "view-" + name + ".png") });
    await look(name + ": nothing goes wrong", Promise.resolve(faults.join("; ")));
    await close();
  }
  const { page, close } = await open(browser, {}, "#1000000000-1100000000,1.00,40.000");
  await look(
    "the address says what is shown",
    page
      .evaluate(() => document.getElementById("told").textContent)
      .then(text => (text.includes("100 ms from 1.00 s") ? null : text)),
  );
  await close();
  await browser.close();
}

await main();
