/* SPDX-License-Identifier: BSD-3-Clause */
/* Looks at the page of fvmpi view where messages are too many to be lines. view_crowd.mjs FOLDER ADDRESS, of a trace
 * with many messages. Each line of stdout is what was looked at, { check, wrong }: wrong is null, or words. Screenshots
 * go to the folder. */
import fs from "node:fs";
import path from "node:path";
import { TIMEOUT, accessible, launch, look, opened, same, settled } from "./browser.mjs";

const [folder, address] = process.argv.slice(2);
const SOON = 300; /* ms */

const told = page => page.locator("#told").innerText();

/* What the matrix has, and what the server has of the same stretch, of all rows. */
const matrix = page =>
  page.evaluate(async () => {
    const { view } = document.getElementById("picture"),
      { isShown, data } = view.crowd,
      sum = (all, key) => all.reduce((n, cell) => n + cell[key], 0);

    if (!isShown) return { isShown };
    const { cells } = await view.trace.json("traffic", {
      from: Math.round(view.seen.from),
      to: Math.round(view.seen.to),
    });
    return {
      ...{ isShown, size: data.size, count: sum(data.cells, "count"), bytes: sum(data.cells, "bytes") },
      wanted: { count: sum(cells, 2), bytes: sum(cells, 3) },
    };
  });

async function many(page) {
  const found = await matrix(page),
    words = await told(page);

  return (
    same("shown", found.isShown, true) ||
    same("sums", [found.count, found.bytes], [found.wanted.count, found.wanted.bytes]) ||
    (/[\d,]+ messages are a matrix: zoom in/.test(words) ? null : words)
  );
}

/* Its cells: the colour of the pair that has most, what is said of it, and where a click leads to. */
async function cell(page) {
  const place = await page.evaluate(() => {
      const { view } = document.getElementById("picture"),
        { data, box } = view.crowd,
        most = data.cells.find(of => of[data.unit] === data.most),
        step = box.side / data.size;

      return { x: 120 + box.left + 34 + (most.to + 0.5) * step, y: box.top + 16 + (most.from + 0.5) * step, ...most };
    }),
    canvas = await page.locator("#picture").boundingBox(),
    pixel = await page.evaluate(({ x, y }) => {
      const of = document.getElementById("picture"),
        copy = new OffscreenCanvas(of.width, of.height).getContext("2d");

      copy.drawImage(of, 0, 0);
      return [...copy.getImageData(x * devicePixelRatio, y * devicePixelRatio, 1, 1).data].slice(0, 3).join();
    }, place),
    shade = await page.evaluate(() => channels(window.eval("shade(1)")).join());
  await page.mouse.move(canvas.x + place.x, canvas.y + place.y);
  const title = await page.evaluate(() => document.getElementById("picture").title);
  await page.mouse.click(canvas.x + place.x, canvas.y + place.y);
  await settled(page, SOON);
  const rows = await page.evaluate(() => document.getElementById("picture").view.rowsInView.rows),
    all = await page.evaluate(() => document.getElementById("picture").view.about.rows.length);
  await page.focus("#picture");
  await page.keyboard.press("f");
  await settled(page, SOON);
  return (
    same("colour", pixel, shade) ||
    (/ to .*: [\d,]+ messages?, /.test(title) ? null : "title: " + title) ||
    (rows < all ? null : rows + " rows in view of " + all)
  );
}

/* Few messages are lines; without messages there is neither. */
async function few(page) {
  await page.evaluate(() => {
    const { view } = document.getElementById("picture");

    view.go(view.about.span_ns / 2, view.about.span_ns / 2 + 20000);
  });
  await settled(page, SOON);
  const { isShown } = await matrix(page),
    lines = await page.evaluate(() => document.getElementById("picture").view.messages.messages.length);
  await page.focus("#picture");
  await page.keyboard.press("f");
  await page.keyboard.press("m");
  await settled(page, SOON);
  const without = await matrix(page);
  await page.keyboard.press("m");
  await settled(page, SOON);
  return same("few", [isShown, lines > 0, without.isShown], [false, true, false]);
}

/* In a picture that is saved, too. */
async function saved(page) {
  await page.keyboard.press("Control+k");
  await page.keyboard.type("picture as svg");
  const [download] = await Promise.all([page.waitForEvent("download", TIMEOUT), page.keyboard.press("Enter")]),
    svg = fs.readFileSync(await download.path(), "utf8");

  return svg.includes(">messages: senders down, receivers across</text>") && svg.includes("most of a pair: ")
    ? null
    : svg.slice(0, 300);
}

const browser = await launch();
for (const [name, options] of Object.entries({ light: {}, dark: { colorScheme: "dark" } })) {
  const { page, faults, close } = await opened(browser, address, options);

  await page.screenshot({ path: path.join(folder, `view-crowd-${name}.png`) });
  await look(name + ": accessible", accessible(page));
  if (name === "light") {
    await look("many messages are a matrix", many(page));
    await look("its cells", cell(page));
    await look("few messages are lines", few(page));
    await look("a picture of it", saved(page));
  }
  await look(name + ": nothing goes wrong", Promise.resolve(faults.join("; ")));
  await close();
}
await browser.close();
