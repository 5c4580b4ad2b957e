/* SPDX-License-Identifier: BSD-3-Clause */
/* How long frames of fvmpi view's page take while a large trace is moved and zoomed, and how many rows its tables have.
 * view_frames.mjs FOLDER ADDRESS. Each line of stdout is what was looked at, { check, wrong }: wrong is null, or words.
 * The times are printed to stderr. */
import path from "node:path";
import { TIMEOUT, launch, look, opened, settled } from "./browser.mjs";

const [folder, address] = process.argv.slice(2);
const PAINT_MS = { median: 16, p95: 50 };

/* Median and 95th percentile, ms, of what painting takes and of the time from frame to frame, while each frame is
 * another stretch of time. Of a third of the run, whose rows are tiles, and of a part that shows single calls, also
 * with the call stacks of eight rows. */
const measured = page =>
  page.evaluate(async () => {
    const { view } = document.getElementById("picture"),
      paint = view.paint.bind(view),
      { span_ns: span } = view.about,
      found = {};
    let costs = [];

    view.paint = () => {
      const begin = performance.now();

      paint();
      costs.push(performance.now() - begin);
    };
    const of = values => {
      values.sort((a, b) => a - b);
      return { median: values[Math.floor(values.length / 2)], p95: values[Math.floor(values.length * 0.95)] };
    };
    const frames = async does => {
      const gaps = [];
      let last = performance.now();

      costs = [];
      for (let i = 0; i < 90; i++) {
        does(i);
        await new Promise(requestAnimationFrame);
        const now = performance.now();
        gaps.push(now - last);
        last = now;
      }
      return { paint: of(costs), gap: of(gaps) };
    };

    found.still = await frames(() => view.draw());
    for (const [name, wide, tall] of [
      ["tiles", span / 3, 6],
      ["calls", span / 200, 24],
    ]) {
      view.go(span / 3, span / 3 + wide, 0, tall);
      await new Promise(resolve => setTimeout(resolve, 1500));
      found[name + ", pan"] = await frames(i => view.pan(i < 45 ? 0.01 : -0.01));
      found[name + ", zoom"] = await frames(i => view.zoom(i < 45 ? 0.97 : 1 / 0.97));
    }
    view.charts.stacks.show([...Array(8).keys()]);
    await new Promise(resolve => setTimeout(resolve, 1500));
    found["calls and stacks, pan"] = await frames(i => view.pan(i < 45 ? 0.01 : -0.01));
    view.charts.stacks.show([]);
    return found;
  });

/* Frames come as often as without a change, as far as the machine is that fast now. */
function judged(found) {
  const { still, ...moved } = found,
    wrong = [];

  for (const [name, { paint, gap }] of Object.entries(moved)) {
    if (paint.median > PAINT_MS.median || gap.median > Math.max(2 * still.gap.median, PAINT_MS.p95))
      wrong.push(`${name}: median ${paint.median} ms to paint, ${gap.median} ms a frame`);
    if (gap.p95 > Math.max(10 * still.gap.p95, 10 * PAINT_MS.p95))
      wrong.push(`${name}: 95th percentile ${gap.p95} ms a frame, ${still.gap.p95} when nothing moves`);
  }
  return wrong.join("; ");
}

/* Only rows that are seen exist. */
async function rows(page) {
  await page.click("#tab-find");
  await page.fill("#panel-find input[list]", "MPI_Send");
  await page.keyboard.press("Enter");
  await page.waitForSelector("#calls tbody tr", TIMEOUT);
  await settled(page);
  const read = () =>
    page.evaluate(() => {
      const table = document.getElementById("calls"),
        own = [...table.querySelectorAll("tbody tr:not(.room)")];

      return { all: Number(table.getAttribute("aria-rowcount")), made: own.length, first: own[0].ariaRowIndex };
    });
  const before = await read();
  await page.evaluate(() => (document.getElementById("calls").parentElement.scrollTop = 20000));
  await page.waitForFunction(
    () => Number(document.querySelector("#calls tbody tr:not(.room)").ariaRowIndex) > 500,
    null,
    TIMEOUT,
  );
  const after = await read();
  return before.all > 1500 && before.made < 100 && after.made < 100 && before.first === "2"
    ? null
    : JSON.stringify([before, after]);
}

const browser = await launch(),
  { page, faults } = await opened(browser, address);

await page.screenshot({ path: path.join(folder, "view-large-trace.png") });
const found = await measured(page);
process.stderr.write(JSON.stringify(found) + "\n");
await look("frames", Promise.resolve(judged(found)));
await settled(page);
await look("rows of tables", rows(page));
await look("nothing goes wrong", Promise.resolve(faults.join("; ")));
await browser.close();
