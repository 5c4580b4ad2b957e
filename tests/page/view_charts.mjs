/* SPDX-License-Identifier: BSD-3-Clause */
/* Looks at charts of several values, at the order of rows, and at what is of one function, in the page of fvmpi view.
 * view_charts.mjs FOLDER METRICS LATE: addresses of scorep-metrics and of scorep-late. Each line of stdout is what was
 * looked at, { check, wrong }: wrong is null, or words. */
import path from "node:path";
import { TIMEOUT, accessible, launch, look, opened, same, settled } from "./browser.mjs";

const [folder, metrics, late] = process.argv.slice(2);
const SOON = 300; /* ms */
const FIRST = "ru_maxrss (Bytes)",
  SECOND = "ru_utime (s/s)";

const hash = page => page.evaluate(() => decodeURIComponent(location.hash));
const reload = async page => {
  await page.reload();
  await page.waitForSelector("#sums tbody tr", TIMEOUT);
  await settled(page, SOON);
};

/* What the chart shows at the pointer, and what the server has there. */
const atPointer = (page, part) =>
  page.evaluate(async at => {
    const { view } = document.getElementById("picture"),
      x = view.wide * at,
      found = [],
      drawn = [];

    view.charts.point(x);
    const [chart] = view.charts.shown,
      [times, ...lines] = chart.plot.data,
      isNear = (a, b) => Math.abs(a - b) < 2;
    for (const { key, values, window, pens } of chart.axes) {
      const { from, to, count } = window,
        i = Math.floor(((view.at(x) - from) / (to - from)) * count);

      for (const [k, { curve }] of values.entries()) {
        const answer = await view.trace.ask("values", { from, to, count, series: curve.number }),
          data = new Float64Array(await answer.arrayBuffer());

        drawn.push(
          isNear(times[i], from + ((to - from) * i) / count) && isNear(times[i + 1] - times[i], (to - from) / count),
          lines
            .splice(0, 3)
            .every((line, of) => line.slice(1).every((value, k) => Object.is(value ?? NaN, data[3 * k + of]))),
        );
        found.push({ key, dash: pens[k].dash.join(), row: curve.row, value: shortly(data[3 * i + 2]) });
      }
    }
    const told = [...chart.told.querySelectorAll(".curve")].map(of => of.textContent.replace(/\s+/g, " ").trim());
    view.charts.point(null);
    const { min, max } = chart.plot.scales.x;
    drawn.push(min === view.from && max === view.to, !lines.length, isNear(chart.plot.bbox.left, NAMES_WIDE));
    return { found, told, drawn, scales: chart.axes.map(({ scale }) => scale.most) };
  }, part);

/* Two names in one chart: each has its own scale and its own dashes, and the legend the values at the pointer. */
async function several(page) {
  await page.selectOption("select[aria-label='values that are charted below']", FIRST);
  await settled(page, SOON);
  await page.selectOption("select[aria-label='values that are added to this chart']", SECOND);
  await settled(page, SOON);
  const { found, told, drawn, scales } = await atPointer(page, 0.7),
    wanted = found.map(({ row, value }) => `rank ${row}: ${value}`),
    dashes = key => new Set(found.filter(of => of.key === key).map(({ dash }) => dash));
  const kept = await hash(page);
  await reload(page);
  const again = await atPointer(page, 0.7);

  return (
    same("told", told, wanted) ||
    same(
      "drawn",
      drawn,
      drawn.map(() => true),
    ) ||
    same("curves", found.length, 4) ||
    (scales[0] > 1000 * scales[1] ? null : "scales: " + scales) ||
    same("dashes", [...dashes(FIRST), ...dashes(SECOND)].length, new Set([...dashes(FIRST), ...dashes(SECOND)]).size) ||
    (kept.includes(`values=${FIRST}~${SECOND}`) ? null : kept) ||
    same("opened again", again.told, told)
  );
}

async function ofRanks(page) {
  const filter = "input[aria-label='ranks of this chart']",
    set = async text => {
      await page.fill(filter, text);
      await page.keyboard.press("Tab");
      await settled(page, SOON);
      return (await atPointer(page, 0.5)).found.map(({ row }) => row);
    },
    one = await set("1"),
    kept = await hash(page);
  await reload(page);
  const again = (await atPointer(page, 0.5)).found.map(({ row }) => row);
  await set("nonsense");
  const invalid = await page.getAttribute(filter, "aria-invalid"),
    all = await set("");

  return (
    same(
      "rows",
      [one, again, all],
      [
        [1, 1],
        [1, 1],
        [0, 1, 0, 1],
      ],
    ) ||
    (kept.includes(`${SECOND}@1`) ? null : kept) ||
    same("nonsense", invalid, "true")
  );
}

/* A name is taken out again; another chart is below the first one. */
async function apart(page) {
  await page.selectOption("select[aria-label='values that are added to this chart']", "-" + FIRST);
  await settled(page, SOON);
  await page.selectOption("select[aria-label='values that are charted below']", FIRST);
  await settled(page, SOON);
  const charts = await page.evaluate(() =>
    document.getElementById("picture").view.charts.shown.map(({ place }) => place),
  );
  await page.locator(".strip:has(.chart-canvas) button:text-is('close')").first().click();
  await settled(page, SOON);
  const left = await page.locator(".chart-canvas").count();

  return same("charts", [charts, left], [[SECOND, FIRST], 1]);
}

const rowsInOrder = page => page.evaluate(() => document.getElementById("picture").view.rows.numbers);
async function sortBy(page, sort) {
  await page.selectOption("select[aria-label='order of rows']", sort);
  await settled(page, SOON);
  return rowsInOrder(page);
}

async function byValue(page) {
  const wanted = await page.evaluate(async key => {
    const { view } = document.getElementById("picture"),
      { curves } = view.series.find(of => of.key === key),
      highest = [];

    for (const { number, row } of curves) {
      const answer = await view.trace.ask("values", { from: 0, to: view.about.span_ns, count: 1, series: number });
      highest.push([new Float64Array(await answer.arrayBuffer())[1], row]);
    }
    return highest.sort((a, b) => b[0] - a[0]).map(([, row]) => row);
  }, SECOND);
  return same("highest first", await sortBy(page, "value:" + SECOND), wanted);
}

/* By what the server has of each row in view; the address keeps it. */
async function ordered(page) {
  const of = async (name, column) =>
      page.evaluate(
        async ([words, i]) => {
          const { view } = document.getElementById("picture"),
            { number } = view.about.regions.find(region => region.name === words),
            { rows } = await view.trace.json("shares", { from: 4e8, to: 16e8, region: number });

          return rows.sort((a, b) => b[i] - a[i] || a[0] - b[0]).map(([row]) => row);
        },
        [name, column],
      ),
    found = [],
    wanted = [];

  await page.evaluate(() => document.getElementById("picture").view.go(4e8, 16e8));
  await settled(page, SOON);
  for (const name of ["MPI_Barrier", "nap", "MPI_Recv"]) {
    found.push(await sortBy(page, "function:" + name));
    wanted.push(await of(name, 2));
  }
  const kept = await hash(page);
  await reload(page);
  const again = await rowsInOrder(page);
  found.push(await sortBy(page, "name"));
  wanted.push([0, 1, 2, 3]);
  await page.evaluate(() => {
    colourRules.all = [{ match: "^nap$", colour: "#123456", name: "rest" }];
    document.getElementById("picture").view.colourDialog.changed();
  });
  found.push(await sortBy(page, "group:rest"));
  wanted.push(await of("nap", 3));
  await page.evaluate(() => localStorage.clear());
  await page.keyboard.press("Control+k");
  await page.keyboard.type("sort rows MPI_Send");
  const offered = await page.locator("#commands li").allInnerTexts();
  await page.keyboard.press("Enter");
  await settled(page, SOON);
  const listed = await page.locator("select[aria-label='order of rows'] option:checked").innerText();
  await page.evaluate(() => (location.hash = "#0-1000000000,0.00,24.000&sort=function:nonsense"));
  await settled(page, SOON);
  const none = await page.inputValue("select[aria-label='order of rows']");

  return (
    same("rows", found, wanted) ||
    (kept.includes("sort=function:MPI_Recv") ? null : kept) ||
    same("opened again", again, found[2]) ||
    same("palette", [offered[0], listed], ["sort rows by time of MPI_Send", "time of MPI_Send"]) ||
    same("no such function", none, "rank")
  );
}

/* Lines of messages are those of the selected function, as its calls have them. */
async function ofFunction(page) {
  const count = () =>
    page.evaluate(async () => {
      const { view } = document.getElementById("picture"),
        { messages } = await view.trace.messages(0, view.about.span_ns, 1e9),
        calls = [];

      for (let row = 0; row < view.about.rows.length; row++)
        calls.push((await view.trace.slices(row, 0, view.about.span_ns, 0)).slices);
      const isOf = (row, ns) =>
        calls[row].some(call => call.region === selection.region && call.begin <= ns && ns <= call.begin + call.ns);

      return {
        all: messages.length,
        own: messages.filter(m => isOf(m.from, m.sent) || isOf(m.to, m.received)).length,
        shown: view.messages.messages.length,
      };
    });

  await page.evaluate(() => document.getElementById("picture").view.goToAll());
  await settled(page, SOON);
  await page.locator("#sums button.pick:text-is('MPI_Recv')").click();
  await settled(page, SOON);
  const before = await count();
  await page.focus("#picture");
  await page.keyboard.press("M");
  await settled(page, SOON);
  const chosen = await count(),
    told = await page.locator("#told").innerText(),
    kept = await hash(page);
  await page.keyboard.press("Escape");
  await settled(page, SOON);
  const none = await count();
  await page.keyboard.press("M");
  await settled(page, SOON);

  return (
    same("all", [before.shown, none.shown], [before.all, before.all]) ||
    same("of the function", chosen.shown, before.own) ||
    (before.own && before.own < before.all ? null : JSON.stringify(before)) ||
    (told.includes("messages of MPI_Recv only") && kept.includes("messagesof=function") ? null : told + kept)
  );
}

/* The command says the window in seconds, and the trace as it was named. */
async function report(page) {
  await page.evaluate(() => document.getElementById("picture").view.go(5e8, 125e7));
  await settled(page, SOON);
  await page.keyboard.press("Control+k");
  await page.keyboard.type("report of this window");
  await page.keyboard.press("Enter");
  const found = await page.inputValue("#report textarea"),
    title = await page.evaluate(() => document.getElementById("picture").view.about.title),
    quoted = await page.evaluate(() => ["a/b.otf2", "my dir", "it's", "$(x)"].map(shellWord));
  await page.click("#report button:text-is('close')");

  return (
    same("command", found, `fvmpi report ${title} --from 0.5 --to 1.25 --html report-0.5-1.25.html`) ||
    same("words of a shell", quoted, ["a/b.otf2", "'my dir'", "'it'\\''s'", "'$(x)'"])
  );
}

async function main() {
  const browser = await launch();
  const { page, faults, close } = await opened(browser, metrics);

  await look("several values in one chart", several(page));
  await look("a chart of some ranks", ofRanks(page));
  await look("accessible with charts", accessible(page));
  await page.screenshot({ path: path.join(folder, "view-charts.png") });
  await look("values that are taken out", apart(page));
  await look("rows by a value", byValue(page));
  await look("charts: nothing goes wrong", Promise.resolve(faults.join("; ")));
  await close();
  const second = await opened(browser, late);
  await look("rows by functions, groups and names", ordered(second.page));
  await look("messages of a function", ofFunction(second.page));
  await look("the command of a report", report(second.page));
  await look("order: nothing goes wrong", Promise.resolve(second.faults.join("; ")));
  await browser.close();
}

await main();
