/* SPDX-License-Identifier: BSD-3-Clause */
/* Looks at the page of fvmpi live in a browser. live.mjs FOLDER ADDRESS sensors, or nodes, or job TREE WORDS...: of a
 * job, a file with the lines of its tree, and words that its headline has. Each line of stdout is what was looked at, {
 * check, wrong }: wrong is null, or words. Screenshots go to the folder. */
import fs from "node:fs";
import path from "node:path";
import { TIMEOUT, accessible, branchesOf, launch, look, same, watched } from "./browser.mjs";

const [folder, address, what, tree, ...words] = process.argv.slice(2);
const LOOKS = { light: {}, dark: { colorScheme: "dark" }, narrow: { viewport: { width: 480, height: 900 } } };

async function open(browser, options) {
  const { page, faults, close } = await watched(
    browser,
    new RegExp("^(data|blob):|^" + new URL(address).origin + "/"),
    options,
  );

  await page.goto(address);
  await page.waitForSelector("html[data-ready=yes]", TIMEOUT);
  return { page, faults, close };
}

const chart = event => `figure[data-event="${event}"]`;
const pointed = (page, event) =>
  page.waitForFunction(
    selector => {
      const cell = document.querySelector(selector + " tbody td:nth-child(2)");
      return cell && !["", "-"].includes(cell.textContent);
    },
    chart(event),
    TIMEOUT,
  );

/* An event is chosen: its chart comes, and has values; it is removed again. */
async function choice(page) {
  await page.click("#choose > summary");
  await page.fill("#search", "meminfo.MemTotal");
  await page.check('#events input[data-event="meminfo.MemTotal"]');
  await pointed(page, "meminfo.MemTotal");
  const value = await page
    .locator(chart("meminfo.MemTotal") + " tbody td")
    .first()
    .innerText();

  /* 2 MiB all the time, beside another event, on an axis of its own; without its chart it is nowhere */
  const [other] = await page.evaluate(() => state.chosen.filter(event => event !== "meminfo.MemTotal"));
  await page.locator(chart(other) + " figcaption select").selectOption("meminfo.MemTotal");
  await page.waitForFunction(event => charts.get(event).range, other, TIMEOUT);
  const range = await page.evaluate(event => charts.get(event).range, other);
  await page.click(chart("meminfo.MemTotal") + " figcaption button");
  return [
    same("value", value, "2.00 MiB"),
    same("right axis", range, { event: "meminfo.MemTotal", least: 0, most: 2 ** 21 }),
    same("right axis of none", await page.evaluate(event => charts.get(event).second, other), null),
    same("charts left", await page.locator(chart("meminfo.MemTotal")).count(), 0),
    same(
      "right axis of nothing",
      (await page.locator("figure.chart figcaption").allInnerTexts()).join().match(/none/),
      null,
    ),
  ]
    .filter(Boolean)
    .join("; ");
}

async function label(page) {
  await page.fill("#label", "<b>here</b>");
  await page.click("#set-label button");
  await page.waitForSelector("#labels li", TIMEOUT);
  return same("label", (await page.locator("#labels li").innerText()).includes("<b>here</b>"), true);
}

async function pause(page) {
  await page.click("#pause");
  const pressed = await page.getAttribute("#pause", "aria-pressed");

  await page.click("#pause");
  return [same("paused", pressed, "true"), same("goes on", await page.getAttribute("#pause", "aria-pressed"), "false")]
    .filter(Boolean)
    .join("; ");
}

async function interval(page) {
  await page.fill("#interval", "1e9");
  await page.evaluate(() => document.querySelector("#set-interval").requestSubmit());
  const kept = await page.locator("#trouble").innerText();

  await page.fill("#interval", "0.02");
  await page.click("#set-interval button");
  await page.waitForFunction(() => state.live.interval_s === 0.02, null, TIMEOUT);
  return same("said of a wrong one", kept, ""); /* the browser itself refuses it */
}

/* What was saved can be loaded, and the present comes back. */
async function save(page) {
  const [download] = await Promise.all([page.waitForEvent("download", TIMEOUT), page.click("#save")]),
    file = path.join(folder, "saved.jsonl");

  await download.saveAs(file);
  const lines = fs
    .readFileSync(file, "utf8")
    .split("\n")
    .filter(Boolean)
    .map(line => JSON.parse(line));
  await page.setInputFiles("#file", file);
  await page.waitForFunction(
    () => document.querySelector("#identity").textContent.startsWith("a recording of "),
    null,
    TIMEOUT,
  );
  const loaded = await page.evaluate(() => ({
    samples: state.file.times.length,
    labels: state.file.labels.map(of => of.text),
  }));
  await page.click("#unload");
  return [
    same("samples", loaded.samples, lines.filter(line => line.values).length),
    same("labels", loaded.labels, ["<b>here</b>"]),
    same("back", await page.evaluate(() => state.file), null),
  ]
    .filter(Boolean)
    .join("; ");
}

/* How it stands, with all its ranks; their picture has colours. */
async function job(page) {
  await page.waitForFunction(
    all => {
      const text = document.querySelector("#job-headline")?.textContent || "";
      return all.every(word => text.includes(word));
    },
    words,
    TIMEOUT,
  );
  const colours = await page.evaluate(() => {
    const canvas = document.querySelector("#job canvas"),
      data = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data;
    return new Set(new Uint32Array(data.buffer)).size;
  });
  const rows = await page.locator('#job [aria-label="ranks"] tbody tr').allInnerTexts(),
    ranks = await page.evaluate(() => state.live.job.last().rank.length);

  const sensors = await page.evaluate(() => state.live.job.told.sensors.length),
    told = await page.locator("#job-sensors tbody tr").count(),
    legend = await page.locator("#job figcaption .note").innerText();

  return [
    /^0 %\s*100 %; each line is (a rank|the mean of \d+ ranks)$/.test(legend) ? null : "legend: " + legend,
    same("rows", rows.length, ranks),
    same("sensors", told, sensors),
    colours > 2 ? null : `${colours} colours in the picture`,
  ]
    .filter(Boolean)
    .join("; ");
}

/* The tree is the text's, but for threads that only those who look themselves see; the finding stands on top. */
async function where(page) {
  await page.waitForSelector("#job-where:not([hidden]) .branch", TIMEOUT);
  const isMain = line => !/another thread/.test(line),
    wanted = fs.readFileSync(tree, "utf8").split("\n").filter(isMain),
    found = (await branchesOf(page)).filter(isMain),
    told = await page.evaluate(() => state.live.job.told.findings.find(of => of.name === "hang").text);

  return [
    same("tree", found, wanted),
    same("suspects", (await page.locator("#job-where .branch.bad").count()) > 0, true),
    same("finding", await page.locator("#job-where .where > :first-child").innerText(), told),
  ]
    .filter(Boolean)
    .join("; ");
}

/* Another node's lines, in the chart of the same event and in one of its own. */
async function nodes(page) {
  const names = event => page.locator(chart(event) + " tbody th").allInnerTexts(),
    wanted = [await page.evaluate(() => state.live.header.host), "<node 2>"].map(host => host + ": all together");

  await page.waitForFunction(
    selector => document.querySelectorAll(selector + " tbody tr").length === 2,
    chart("net.rx_bytes"),
    TIMEOUT,
  );
  await page.click("#choose > summary");
  await page.fill("#search", "made.up");
  await page.check('#events input[data-event="made.up"]');
  await pointed(page, "made.up");
  return [
    same(
      "lines",
      (await names("net.rx_bytes")).map(name => name.trim()),
      wanted,
    ),
    same(
      "its own",
      (await names("made.up")).map(name => name.trim()),
      wanted.slice(1),
    ),
    same(
      "value",
      await page
        .locator(chart("made.up") + " tbody td")
        .first()
        .innerText(),
      "7.00",
    ),
  ]
    .filter(Boolean)
    .join("; ");
}

/* In a window that is wide enough, three in a row. */
async function besides(page) {
  const tops = await page
    .locator("#charts figure")
    .evaluateAll(figures => figures.map(figure => Math.round(figure.getBoundingClientRect().top)));

  return same("in the first row", tops.filter(top => top === tops[0]).length, Math.min(tops.length, 3));
}

const STEPS = {
  nodes: { "lines of another node": nodes },
  sensors: {
    "charts beside each other": besides,
    "an event is chosen": choice,
    "a label": label,
    pause: pause,
    interval: interval,
    "save and load": save,
  },
  job: { "the job": job, "where everybody is": where },
};

const browser = await launch();
for (const [how, options] of Object.entries(LOOKS)) {
  const { page, faults, close } = await open(browser, options);

  for (const [check, step] of how === "light" || what === "job" ? Object.entries(STEPS[what]) : [])
    await look(`${how}, ${check}`, step(page));
  await look(`${how}, accessible`, accessible(page));
  await look(
    `${how}, as wide as the window`,
    page.evaluate(() =>
      document.documentElement.scrollWidth > innerWidth ? `${document.documentElement.scrollWidth} pixels` : null,
    ),
  );
  await page.screenshot({ path: path.join(folder, `live-${what}-${how}.png`), fullPage: true });
  await look(`${how}, nothing wrong`, Promise.resolve(faults.join("; ")));
  await close();
}
await browser.close();
