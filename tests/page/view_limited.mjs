/* SPDX-License-Identifier: BSD-3-Clause */
/* Looks at the page of fvmpi view --index-max, of a trace that has no room in the index. view_limited.mjs FOLDER
 * ADDRESS. Each line of stdout is what was looked at, { check, wrong }: wrong is null, or words. Screenshots go to the
 * folder. */
import path from "node:path";
import { accessible, launch, look, opened, settled } from "./browser.mjs";

const [folder, address] = process.argv.slice(2);
const LEFT_OUT = /[\d,]+ calls shorter than .* left out of the index/;

/* Below the picture, and in each panel that counts calls. */
async function said(page) {
  const told = await page.locator("#told").innerText(),
    wrong = [];

  if (!LEFT_OUT.test(told) || !/[\d,]+ messages left out of the index/.test(told)) wrong.push("told: " + told);
  for (const name of ["functions", "tree", "flame", "waiting", "find"]) {
    await page.click("#tab-" + name);
    await settled(page);
    const note = await page.locator(`#panel-${name} .limited`).innerText();
    if (!LEFT_OUT.test(note) || !note.includes("--index-max")) wrong.push(name + ": " + note);
  }
  await page.click("#tab-messages");
  await settled(page);
  const note = await page.locator("#panel-messages .note").first().innerText();
  if (!note.includes("no room for messages")) wrong.push("messages: " + note);
  await page.click("#tab-functions");
  await settled(page);
  return wrong.join("; ");
}

const browser = await launch();
for (const [name, options] of Object.entries({ light: {}, dark: { colorScheme: "dark" } })) {
  const { page, faults, close } = await opened(browser, address, options);

  if (name === "light") await look("what is left out is said", said(page));
  await page.screenshot({ path: path.join(folder, `view-limited-${name}.png`) });
  await look(name + ": accessible", accessible(page));
  await look(name + ": nothing goes wrong", Promise.resolve(faults.join("; ")));
  await close();
}
await browser.close();
