/* SPDX-License-Identifier: BSD-3-Clause */
/* Looks at the page of fvmpi view in a browser. view.mjs FOLDER ADDRESS, of the archive scorep-late. Each line of
 * stdout is what was looked at, { check, wrong }: wrong is null, or words. Screenshots go to the folder. */
import fs from "node:fs";
import path from "node:path";
import zlib from "node:zlib";
import { TIMEOUT, accessible, launch, look, opened, same, settled } from "./browser.mjs";

const [folder, address] = process.argv.slice(2);
const LOOKS = { light: {}, dark: { colorScheme: "dark" }, large: { viewport: { width: 1920, height: 1080 } } };
const PANELS = {
  tree: "#calltree tbody tr",
  flame: "#flamegraph canvas",
  messages: "#pairs tbody tr",
  waiting: "#waits tbody tr",
  find: "#calls",
  marks: "#marks li",
  details: "#details",
  functions: "#sums tbody tr",
};

const open = (browser, options, hash = "") => opened(browser, address + hash, options);

/* Colours of the picture, once it is painted: computing is never blank where an archive has functions. */
async function drawn(page) {
  await page.waitForFunction(
    () => {
      const canvas = document.getElementById("picture"),
        /* a copy: the browser warns of a canvas that is read often */
        copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", { willReadFrequently: true }),
        found = new Set();

      copy.drawImage(canvas, 0, 0);
      const { data } = copy.getImageData(120, 30, canvas.width - 140, 20);
      for (let i = 0; i < data.length; i += 4) found.add(data.slice(i, i + 3).join());
      return found.size > 3;
    },
    null,
    TIMEOUT,
  );
  return null;
}

const range = page => page.evaluate(() => location.hash.slice(1).split(",")[0].split("-").map(Number));

/* The address when it is another than before, and stands still. */
async function moved(page, before) {
  await page.waitForFunction(old => location.hash !== old, before, TIMEOUT);
  await page.waitForTimeout(300);
  await settled(page);
}

async function keys(page) {
  await page.focus("#picture");
  await page.waitForFunction(() => location.hash.startsWith("#0-"), null, TIMEOUT);
  await page.keyboard.press("w");
  await page.waitForFunction(() => !location.hash.startsWith("#0-"), null, TIMEOUT);
  const [from, to] = await range(page);
  await page.keyboard.press("d");
  await page.waitForFunction(before => !location.hash.startsWith("#" + before), from + "-" + to, TIMEOUT);
  const [later] = await range(page);
  await page.keyboard.press("f");
  await page.waitForFunction(() => location.hash.startsWith("#0-"), null, TIMEOUT);
  return from > 0 && later > from ? null : `w: ${from} to ${to}; d: from ${later}`;
}

const cells = (page, table, name) => page.locator(`#${table} tr:has(button:text-is('${name}')) td`).allInnerTexts();

/* The longest call of a function: what its cell says, and where it leads to. */
async function longest(page) {
  const row = page.locator("#sums tr:has(button:text-is('culprit_p2p'))");

  await row.locator("button.longest").click();
  await page.waitForSelector("#details h2", TIMEOUT);
  await settled(page);
  await page.keyboard.press("f");
  return same("chosen", await page.locator("#details h2").innerText(), "culprit_p2p");
}

async function sorted(page) {
  const column = async () => {
    const texts = await page.locator("#sums tbody tr:not(.room) td:nth-child(5)").allInnerTexts();

    return texts.map(Number);
  };

  await page.click("#sums th button:has-text('calls')");
  const down = await column();
  await page.click("#sums th button:has-text('calls')");
  const up = await column();
  await page.click("#sums th button:has-text('time itself')");
  const is = (list, way) => list.every((n, i) => !i || way * (n - list[i - 1]) >= 0);
  return is(down, -1) && is(up, 1) && down[0] > up[0] ? null : `down ${down}; up ${up}`;
}

/* A function that is selected is so everywhere: its rows beside the table, what is looked for, the address. */
async function selected(page) {
  await page.click("#sums button:text-is('MPI_Recv')");
  await page.waitForSelector("#shares tbody tr", TIMEOUT);
  await settled(page);
  const first = (await page.locator("#shares tbody td").allInnerTexts()).slice(0, 3),
    calls = (await cells(page, "sums", "MPI_Recv"))[4];
  await page.click("#tab-find");
  await settled(page);
  const found = await page.locator("#calls tbody tr:not(.room)").count();
  await page.waitForFunction(() => location.hash.includes("function=MPI_Recv"), null, TIMEOUT);
  return same("calls", calls, "10") || same("row", [first[0], first[2]], ["rank 1", "10"]) || same("found", found, 10);
}

/* From call to call, by duration and by name. */
async function found(page) {
  const note = () => page.locator("#panel-find > .note").innerText(),
    begin = () => page.locator("#details p:nth-of-type(2)").innerText();

  await page.click("#panel-find button:text-is('slowest')");
  await settled(page);
  const slowest = await begin();
  await page.focus("#picture");
  let hash = await page.evaluate(() => location.hash);
  await page.keyboard.press("n");
  await moved(page, hash);
  const next = await begin();
  hash = await page.evaluate(() => location.hash);
  await page.keyboard.press("p");
  await moved(page, hash);
  const back = await begin();
  const box = await page.locator("#panel-find canvas").boundingBox();
  await page.mouse.move(box.x + box.width * 0.72, box.y + 30);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width - 2, box.y + 30, { steps: 4 });
  await page.mouse.up();
  await settled(page);
  const brushed = await note();
  await page.click("#panel-find button:text-is('clear')");
  await page.fill("#panel-find input[list]", "/^MPI_(Recv|Wait)$/");
  await page.keyboard.press("Enter");
  await page.waitForFunction(
    () => document.querySelector("#panel-find > .note").textContent.startsWith("20 calls"),
    null,
    TIMEOUT,
  );
  await page.keyboard.press("Escape");
  return slowest.startsWith("44.0 ms") && next !== slowest && back === slowest && /; \d of them/.test(brushed)
    ? null
    : `slowest ${slowest}, next ${next}, back ${back}, brushed ${brushed}`;
}

/* Times, functions and panels by what is typed in. */
async function palette(page) {
  const type = async words => {
    const hash = await page.evaluate(() => location.hash);

    await page.keyboard.press("Control+k");
    await page.keyboard.type(words);
    await page.keyboard.press("Enter");
    return hash;
  };
  let before = await type("1.25s-1300ms");

  await moved(page, before);
  const stretch = await range(page);
  before = await type("1.5 s");
  await moved(page, before);
  const there = await range(page);
  await type("panel: call tree");
  const open = await page.locator("[role=tab][aria-selected=true]").allInnerTexts();
  await page.keyboard.press("f");
  return (
    same("a stretch", stretch, [1250000000, 1300000000]) ||
    same("a time", there, [1475000000, 1525000000]) ||
    (open.includes("Call tree") ? null : "panels: " + open)
  );
}

/* Where panels are is in the address, and comes back with it. */
async function layout(page) {
  const tabs = side => page.locator(`#dock-${side} [role=tab]`).allInnerTexts(),
    size = () => page.evaluate(() => document.getElementById("dock-right").clientWidth);

  await page.click("#tab-waiting");
  await page.click("#dock-bottom button:text-is('move')");
  await page.focus("#tab-details");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Delete"); /* of the bookmarks */
  const before = await size();
  await page.focus(".splitter.right");
  await page.keyboard.press("ArrowLeft");
  const after = await size(),
    wanted = ["Details", "Waiting"];
  await page.waitForFunction(() => location.hash.includes("right="), null, TIMEOUT);
  await page.waitForTimeout(200);
  const right = await tabs("right");
  await page.reload();
  await page.waitForSelector("#waits tbody tr", TIMEOUT);
  await settled(page);
  const again = await tabs("right"),
    kept = await size();
  await page.keyboard.press("Control+k");
  await page.keyboard.type("where they were at first");
  await page.keyboard.press("Enter");
  await settled(page);
  const first = await tabs("right");
  await page.dragAndDrop("#tab-find", "#tab-marks");
  const dragged = await tabs("right");
  await page.keyboard.press("Control+k");
  await page.keyboard.type("where they were at first");
  await page.keyboard.press("Enter");
  await settled(page);
  return (
    same("moved and closed", right, wanted) ||
    same("later", [again, kept], [wanted, after]) ||
    same("as at first", first, ["Details", "Bookmarks"]) ||
    same("dragged", dragged, ["Details", "Find", "Bookmarks"]) ||
    (after > before ? null : `splitter: ${before}, then ${after}`)
  );
}

async function bookmarks(page, faults) {
  await page.keyboard.press("b");
  await page.keyboard.type("<b>here</b> & there");
  await page.keyboard.press("Enter");
  await page.waitForSelector("#marks button.pick", TIMEOUT);
  await page.waitForFunction(() => location.hash.includes("marks*"), null, TIMEOUT);
  await page.reload();
  await page.waitForSelector("#sums tbody tr", TIMEOUT);
  await page.click("#tab-marks");
  await page.waitForSelector("#marks button.pick", TIMEOUT);
  const mark = page.locator("#marks button.pick"),
    words = await mark.innerText(),
    hash = await page.evaluate(() => location.hash.split(",")[0]);
  await page.focus("#picture");
  await page.keyboard.press("w");
  await page.waitForFunction(before => !location.hash.startsWith(before + ","), hash, TIMEOUT);
  await mark.click();
  await page.waitForFunction(before => location.hash.startsWith(before + ","), hash, TIMEOUT);
  await page.click("#marks button:text-is('forget')");
  await page.waitForFunction(() => !document.querySelector("#marks button"), null, TIMEOUT);
  /* Where the server cannot keep it, the browser does. */
  await page.route(/\/bookmark\?/, route => route.fulfill({ status: 503, body: "Read-only file system" }));
  await page.fill("#mark-note", "own");
  await page.keyboard.press("Enter");
  await page.waitForSelector("#marks small", TIMEOUT);
  const note = await page.locator("#panel-marks > .note").innerText();
  faults.splice(
    faults.findIndex(fault => fault.includes("503")),
    1,
  );
  await page.unroute(/\/bookmark\?/);
  await page.reload();
  await page.waitForSelector("#marks small", TIMEOUT);
  await page.click("#marks button:text-is('forget')");
  await page.waitForFunction(() => !document.querySelector("#marks button"), null, TIMEOUT);
  return (
    same("note", words, "<b>here</b> & there") ||
    same("not kept", note, "It is kept in this browser alone: Read-only file system")
  );
}

/* What is taken away: the text of a file that is saved. */
async function saved(page, does) {
  const [download] = await Promise.all([page.waitForEvent("download", TIMEOUT), does()]);

  return fs.readFileSync(await download.path());
}
async function taken(page) {
  const command = words => async () => {
    await page.keyboard.press("Control+k");
    await page.keyboard.type(words);
    await page.keyboard.press("Enter");
  };
  const svg = (await saved(page, command("picture as svg"))).toString(),
    png = await saved(page, command("picture as png")),
    trace = await saved(page, command("window for perfetto"));
  await page.click("#tab-functions");
  await settled(page);
  const csv = (await saved(page, () => page.click("#panel-functions button:text-is('CSV')"))).toString();
  const isWhole = await page.evaluate(
    text => !new DOMParser().parseFromString(text, "image/svg+xml").querySelector("parsererror"),
    svg,
  );

  return (
    (isWhole && svg.includes(">rank 0</text>") && svg.split("<rect").length > 100
      ? null
      : "SVG: " + svg.slice(0, 300)) ||
    same("PNG", png.subarray(1, 4).toString(), "PNG") ||
    same("Perfetto", zlib.gunzipSync(trace).includes("MPI_Recv"), true) ||
    (/^function,exclusive_ns,/.test(csv) && /^MPI_Recv,\d+,/m.test(csv) ? null : "CSV: " + csv.slice(0, 200))
  );
}

async function help(page) {
  await page.focus("#picture");
  await page.keyboard.press("?");
  const text = await page.locator("#help[open]").innerText(),
    wrong = await accessible(page);

  await page.keyboard.press("Escape");
  await page.keyboard.press("/");
  const more = await accessible(page);
  await page.keyboard.press("Escape");
  return (text.includes("zoom in") && text.includes("SVG") ? null : text) || wrong || more;
}

/* Each panel shows something, and axe-core finds nothing against it. */
async function panels(page, name) {
  for (const [panel, what] of Object.entries(PANELS)) {
    await page.click("#tab-" + panel);
    await page.waitForSelector(what, TIMEOUT);
    await settled(page);
    await page.screenshot({ path: path.join(folder, `view-${name}-${panel}.png`) });
    const wrong = await accessible(page);

    if (wrong) return panel + ": " + wrong;
  }
  return null;
}

async function main() {
  const browser = await launch();

  for (const [name, options] of Object.entries(LOOKS)) {
    const { page, faults, close } = await open(browser, options);

    await settled(page);
    await look(name + ": drawn", drawn(page));
    await look(name + ": accessible", accessible(page));
    await page.screenshot({ path: path.join(folder, "view-" + name + ".png") });
    if (name === "light") {
      await look("keys", keys(page));
      await look("a function's longest call", longest(page));
      await look("a table that is sorted", sorted(page));
      await look("a function that is selected", selected(page));
      await look("calls that are found", found(page));
      await look("the palette of commands", palette(page));
      await look("the panels' places", layout(page));
      await look("bookmarks", bookmarks(page, faults));
      await look("pictures and tables that are saved", taken(page));
      await look("help", help(page));
    }
    await look(name + ": panels", panels(page, name));
    await look(name + ": nothing goes wrong", Promise.resolve(faults.join("; ")));
    await close();
  }
  const { page, close } = await open(browser, {}, "#1000000000-1100000000,1.00,40.000");
  await settled(page);
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
