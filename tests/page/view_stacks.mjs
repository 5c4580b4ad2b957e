/* SPDX-License-Identifier: BSD-3-Clause */
/* Looks at the call stacks of several rows on the page of fvmpi view. view_stacks.mjs FOLDER ADDRESS NAME. Each line of
 * stdout is what was looked at, { check, wrong }: wrong is null, or words. Screenshots go to the folder. */
import fs from "node:fs";
import path from "node:path";
import { TIMEOUT, accessible, launch, look, opened, same, settled } from "./browser.mjs";

const [folder, address, name] = process.argv.slice(2);
const SOON = 300; /* ms */
const FIELD = "input[aria-label='ranks whose call stacks are shown']";

async function press(page, key) {
  await page.focus("#picture");
  await page.keyboard.press(key);
  await settled(page, SOON);
}
const title = page => page.locator(".strip:has(.stack-canvas) b").innerText();
const hash = page => page.evaluate(() => address.get("stack"));
const isShown = async page => (await page.locator(".stack-canvas").count()) > 0;
/* Rows that are shown, from top to bottom. */
const shown = page =>
  page.evaluate(() => document.getElementById("picture").view.charts.stacks.places.map(({ row }) => row));
const rows = page => page.evaluate(() => document.getElementById("picture").view.about.rows.length);

async function clickRow(page, row) {
  const place = await page.evaluate(of => {
      const { view } = document.getElementById("picture");

      return { x: 120 + view.wide / 2, y: view.yOf(of) };
    }, row),
    box = await page.locator("#picture").boundingBox();

  await page.keyboard.down("Shift");
  await page.mouse.click(box.x + place.x, box.y + place.y);
  await page.keyboard.up("Shift");
  await settled(page, SOON);
}

/* By keys, by clicks, by their ranks, by the palette; all of it in the address. */
async function chosen(page) {
  const all = await rows(page),
    found = [];

  await press(page, "k");
  found.push(await title(page), await hash(page));
  await clickRow(page, all - 1);
  found.push(await title(page), await hash(page), await shown(page));
  await page.fill(FIELD, "1");
  await page.keyboard.press("Enter");
  await settled(page, SOON);
  const isKept = await page.evaluate(of => document.activeElement.matches(of), FIELD);
  found.push(await shown(page), isKept);
  await page.fill(FIELD, "no rank");
  await page.keyboard.press("Enter");
  await settled(page, SOON);
  found.push(await shown(page), await page.getAttribute(FIELD, "aria-invalid"));
  await page.keyboard.press("Control+k");
  await page.keyboard.type("rank 0");
  await page.locator("#commands li:has-text('call stack of rank 0')").click();
  await settled(page, SOON);
  found.push(await shown(page), await page.inputValue(FIELD));
  await clickRow(page, 0);
  await clickRow(page, 1);
  found.push(await isShown(page), await hash(page));
  return same("found", found, [
    ...["stack of rank 0", "0"],
    ...["stacks of 2 rows", "0," + (all - 1), [0, all - 1]],
    ...[[1], true],
    ...[[1], "true"],
    ...[[0, 1], "0-1"],
    ...[false, null],
  ]);
}

/* Rows in view, as many as there may be; others are counted. Escape from it by the same key. */
async function most(page) {
  const all = await rows(page),
    first = Math.min(all, 8);

  await press(page, "K");
  const words = await page.locator(".strip:has(.stack-canvas) .note").innerText(),
    found = [await shown(page), new RegExp(`^${all - first} rows? left out: 8 stacks at most`).test(words)];
  if (all > 8) {
    await clickRow(page, all - 1);
    await page.fill(FIELD, "0-7");
    await page.keyboard.press("Enter");
    await settled(page, SOON);
    await clickRow(page, all - 1);
    found.push(await shown(page), /8 call stacks at most/.test(await page.locator("#told").innerText()));
    await press(page, "K");
  }
  await press(page, "K");
  found.push(await isShown(page));
  const numbers = [...Array(first).keys()];
  return same("found", found, [numbers, all > 8, ...(all > 8 ? [numbers, true] : []), false]);
}

/* Each call is drawn at its depth, in its row, in its colour, where the timeline has its time. */
const painted = page =>
  page.evaluate(async () => {
    const { view } = document.getElementById("picture"),
      { stacks } = view.charts,
      { canvas } = stacks,
      ratio = devicePixelRatio,
      copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", { willReadFrequently: true }),
      wrong = [];
    let seen = 0;

    stacks.paint();
    copy.drawImage(canvas, 0, 0);
    const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
    for (const { row, top, tall } of stacks.places) {
      const least = Math.floor((view.to - view.from) / view.wide / 2),
        { slices } = await view.trace.slices(row, Math.round(view.from), Math.round(view.to), least),
        deep = slices.reduce((most, { depth }) => Math.max(most, depth + 1), 1);

      if (tall !== deep * stacks.laneTall + 2) wrong.push(`row ${row}: ${deep} deep, ${tall} pixels`);
      for (const { begin, ns, wait, region, depth, sampled } of slices) {
        const left = Math.max(view.x(begin + wait), 0),
          right = Math.min(view.x(begin + ns), view.wide);

        if (right - left < 8) continue;
        const x = 120 + right - 3,
          y = top + depth * stacks.laneTall /* above its name */,
          at = 4 * (Math.floor(y * ratio) * canvas.width + Math.floor(x * ratio)),
          wanted = channels(sampled ? view.palette.sampled(region) : view.palette.region(region));

        seen++;
        if (wanted.some((channel, k) => Math.abs(channel - data[at + k]) > 2))
          wrong.push(`row ${row}, ${view.about.regions[region].name}: ${data.slice(at, at + 3)}, wanted ${wanted}`);
      }
    }
    return { seen, wrong: wrong.slice(0, 3) };
  });
/* Where calls are wide enough to be drawn: there are millions of the large trace. */
async function zoom(page) {
  await page.evaluate(
    part => {
      const { view } = document.getElementById("picture"),
        { span_ns: span } = view.about;

      view.go(0.4 * span, (0.4 + part) * span);
    },
    name === "large" ? 0.001 : 0.5,
  );
  await settled(page, SOON);
}
async function drawn(page) {
  const whole = await painted(page);

  await zoom(page);
  const part = await painted(page);
  return part.seen > 8 && !whole.wrong.length && !part.wrong.length ? null : JSON.stringify({ whole, part });
}

/* As the address has them: when it is opened again, and when it changes. The order is the timeline's. */
async function kept(page) {
  await page.fill(FIELD, "0-1");
  await page.keyboard.press("Enter");
  await settled(page, SOON);
  await page.reload();
  await page.waitForSelector(".stack-canvas", TIMEOUT);
  await settled(page, SOON);
  const found = [await shown(page)];
  await page.evaluate(() => (location.hash = address.text().replace(/stack=[^&]*/, "stack=1,77777,x")));
  await settled(page, SOON);
  found.push(await shown(page));
  await page.evaluate(() => (location.hash = address.text().replace(/stack=[^&]*/, "stack=0-2")));
  await settled(page, SOON);
  await page.selectOption("select[aria-label='order of rows']", "wait");
  await settled(page, SOON);
  found.push(
    await page.evaluate(() => {
      const { view } = document.getElementById("picture"),
        lines = view.charts.stacks.places.map(({ row }) => view.rows.lineOf[row]);

      return lines.length === 3 && lines.every((line, i) => !i || line > lines[i - 1]);
    }),
  );
  await page.selectOption("select[aria-label='order of rows']", "rank");
  await settled(page, SOON);
  return same("shown", found, [[0, 1], [1], true]);
}

/* Pictures that are saved have them below the rows. */
async function saved(page) {
  const save = async kind => {
      await page.keyboard.press("Control+k");
      await page.keyboard.type("picture as " + kind);
      const [download] = await Promise.all([page.waitForEvent("download", TIMEOUT), page.keyboard.press("Enter")]);

      return fs.readFileSync(await download.path());
    },
    { top, tall, names } = await page.evaluate(() => {
      const { view } = document.getElementById("picture"),
        { stacks } = view.charts;

      return {
        top: view.canvas.clientHeight,
        tall: stacks.canvas.clientHeight,
        names: stacks.places.map(({ row }) => rowName(view.about.rows[row])),
      };
    }),
    svg = (await save("SVG")).toString(),
    png = await save("PNG"),
    texts = [...svg.matchAll(/<text[^>]* y="([\d.]+)"[^>]*>([^<]*)</g)],
    below = texts.filter(([, y]) => Number(y) > top + 22).map(([, , words]) => words),
    ends = [Number(svg.match(/height="(\d+)"/)[1]), png.readUInt32BE(20)];

  return (
    same("height", ends, [top + 22 + tall, top + 22 + tall]) ||
    same(
      "rows",
      names.filter(words => !below.includes(words)),
      [],
    ) ||
    (below.length > names.length ? null : "no calls: " + below)
  );
}

/* What is clicked on is selected; a name leads to its row; with Shift it goes. */
async function clicked(page) {
  await zoom(page);
  const { row, x, y, from } = await page.evaluate(() => {
      const { view } = document.getElementById("picture"),
        { places, laneTall } = view.charts.stacks,
        { row: last, top } = places[1],
        { slices } = view.charts.stacks.of(last),
        longest = slices.filter(slice => !slice.isCaller).reduce((a, b) => (b.ns > a.ns ? b : a)),
        middle = Math.max(longest.begin, view.from) + Math.min(longest.begin + longest.ns, view.to);

      return {
        row: last,
        from: longest.begin,
        x: 120 + view.x(middle / 2),
        y: top + longest.depth * laneTall + 4,
      };
    }),
    canvas = page.locator(".stack-canvas");

  await canvas.click({ position: { x, y } });
  await settled(page, SOON);
  const found = await page.evaluate(() => {
    const { selected } = document.getElementById("picture").view;

    return selected && [selected.row, selected.begin];
  });
  await canvas.click({ position: { x: 20, y }, modifiers: ["Shift"] });
  await settled(page, SOON);
  const left = await shown(page);
  await press(page, "Escape");
  return same("found", [found, left.includes(row), left.length], [[row, from], false, 2]);
}

const browser = await launch();
for (const [theme, options] of Object.entries({ light: {}, dark: { colorScheme: "dark" } })) {
  const { page, faults, close } = await opened(browser, address, options);

  if (theme === "light") {
    await look("call stacks of rows that are chosen", chosen(page));
    await look("not more than there is room for", most(page));
  }
  await press(page, "K");
  await look(theme + ": each call in its row, at its depth and time", drawn(page));
  await page.screenshot({ path: path.join(folder, `view-${name}-stacks-${theme}.png`) });
  await look(theme + ": accessible", accessible(page));
  if (theme === "light") {
    await look("pictures that are saved", saved(page));
    await look("kept in the address", kept(page));
    await look("clicks", clicked(page));
  }
  await look(theme + ": nothing goes wrong", Promise.resolve(faults.join("; ")));
  await close();
}
await browser.close();
