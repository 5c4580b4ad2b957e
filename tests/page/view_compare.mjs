/* SPDX-License-Identifier: BSD-3-Clause */
/* Looks at the page of fvmpi view with two traces. view_compare.mjs FOLDER ADDRESS WANTED: JSON: by function the
 * exclusive ns, and the calls, of both traces; and the ns by which the second one is moved so that the second calls of
 * MPI_Barrier stand below each other. Each line of stdout is what was looked at, { check, wrong }: wrong is null, or
 * words. Screenshots go to the folder. */
import fs from "node:fs";
import path from "node:path";
import { TIMEOUT, accessible, launch, look, opened, same, settled } from "./browser.mjs";

const [folder, address, words] = process.argv.slice(2);
const wanted = JSON.parse(words);

const open = (browser, options, hash = "") => opened(browser, address + hash, options, "#differences tbody tr");

/* The table as it is saved: by function A, B, difference and ratio. */
async function saved(page) {
  const [download] = await Promise.all([
      page.waitForEvent("download", TIMEOUT),
      page.click("#panel-compare button:text-is('CSV')"),
    ]),
    [, ...lines] = fs
      .readFileSync(await download.path(), "utf8")
      .trim()
      .split("\n");

  return lines.map(line => line.split(",")).map(([name, ...numbers]) => [name, ...numbers.map(n => n && Number(n))]);
}

async function table(page, wants) {
  const rows = await saved(page),
    found = Object.fromEntries(rows.map(([name, a, b]) => [name, [a, b]])),
    names = Object.keys(wants).filter(name => wants[name].some(Boolean)),
    sizes = rows.map(([, , , difference]) => Math.abs(difference)),
    bad = rows.find(
      ([, a, b, difference, ratio]) => difference !== b - a || (a ? Math.abs(ratio - b / a) > 1e-9 : ratio !== ""),
    );

  return (
    same(
      "functions",
      names.map(name => [name, found[name]]),
      names.map(name => [name, wants[name]]),
    ) ||
    (bad ? "a row: " + bad : null) ||
    (sizes.every((size, i) => !i || size <= sizes[i - 1]) ? null : "not sorted: " + sizes)
  );
}

const views = page =>
  page.evaluate(() =>
    document.getElementById("picture").view.all.map(({ from, to, shift }) => ({ from, to, shift: shift || 0 })),
  );

/* As the page opens, all of both is in view. */
const whole = page =>
  page.evaluate(() => {
    const { all, from, to } = document.getElementById("picture").view,
      ends = all.map(({ about, shift }) => about.span_ns + (shift || 0));

    return from <= 0 && to >= Math.max(...ends) ? null : JSON.stringify([from, to, ends]);
  });

/* Both show the same stretch; keys and the mouse move both. */
async function moves(page) {
  await page.focus("#second");
  await page.keyboard.press("w");
  await settled(page);
  const [first, second] = await views(page);
  const box = await page.locator("#second").boundingBox();
  await page.mouse.move(box.x + 300, box.y + 60);
  await page.mouse.down();
  await page.mouse.move(box.x + 400, box.y + 60, { steps: 3 });
  await page.mouse.up();
  await settled(page);
  const [dragged, below] = await views(page);
  await page.keyboard.press("f");
  await settled(page);
  return first.from > 0 &&
    second.from === first.from &&
    dragged.to - dragged.from < first.to - first.from &&
    below.to === dragged.to
    ? null
    : JSON.stringify([first, second, dragged, below]);
}

/* What is clicked on in the second one is its own call. */
async function chosen(page) {
  const box = await page.locator("#second").boundingBox();

  await page.mouse.click(box.x + 300, box.y + 40);
  await page.waitForSelector("#details h2", TIMEOUT);
  const text = await page.locator("#details").innerText(),
    title = await page.evaluate(() => document.getElementById("picture").view.all[1].about.title);
  return text.includes(title) ? null : text;
}

async function aligned(page, kind, what, number) {
  await page.selectOption(".align select", kind);
  if (what !== undefined) await page.fill(".align input[type=text]", what);
  if (number) await page.fill(".align input[type=number]", number);
  await page.keyboard.press("Tab");
  await settled(page);
  await page.waitForTimeout(300);
  await settled(page);
  const [first, second] = await views(page);

  return { shift: second.shift, isSame: second.from + second.shift === first.from };
}

async function alignments(page) {
  const call = await aligned(page, "call", "MPI_Barrier", "2");
  await page.waitForFunction(() => location.hash.includes("align=call"), null, TIMEOUT);
  await page.screenshot({ path: path.join(folder, "view-compare-call.png") });
  const none = await aligned(page, "call", "no such function", "1"),
    words = await page.locator(".align [role=status]").first().innerText(),
    typed = await aligned(page, "shift", "-20 ms"),
    end = await aligned(page, "end"),
    spans = await page.evaluate(() => document.getElementById("picture").view.all.map(view => view.about.span_ns)),
    begin = await aligned(page, "begin");

  return (
    same("call", call, { shift: wanted.shift, isSame: true }) ||
    same("no call", [none.shift, words], [0, "not in both: aligned by their begins"]) ||
    same("typed in", typed, { shift: -2e7, isSame: true }) ||
    same("end", end.shift, spans[0] - spans[1]) ||
    same("begin", begin.shift, 0)
  );
}

/* Rows of both coloured by a number, on one scale; also in the pictures that are saved. */
async function radar(page) {
  const radars = () =>
    page.evaluate(() =>
      document.getElementById("picture").view.all.map(({ radar: of, canvas }) => {
        const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d"),
          found = new Set();

        copy.drawImage(canvas, 0, 0);
        const { data } = copy.getImageData(130, 24, canvas.width - 140, canvas.height - 30);
        for (let i = 0; i < data.length; i += 4) found.add(data.slice(i, i + 3).join());
        return { isOn: Boolean(of.isOn && of.data), most: of.most, colours: found.size, words: of.words() };
      }),
    );
  await page.selectOption("select[aria-label='what colours the rows']", "mpi");
  await settled(page);
  await page.waitForTimeout(200);
  const [first, second] = await radars();
  await page.screenshot({ path: path.join(folder, "view-compare-radar.png") });
  await page.keyboard.press("Control+k");
  await page.keyboard.type("picture as svg");
  const [download] = await Promise.all([page.waitForEvent("download", TIMEOUT), page.keyboard.press("Enter")]),
    svg = fs.readFileSync(await download.path(), "utf8"),
    titles = await page.evaluate(() => document.getElementById("picture").view.all.map(view => view.about.title)),
    captions = svg.match(/>[^<]*; colour: time in MPI, 0 % to 100 %</g) || [],
    shades = await page.evaluate(text => {
      const boxes = [...new DOMParser().parseFromString(text, "image/svg+xml").querySelectorAll("rect")],
        { view } = document.getElementById("picture"),
        steps = new Set(view.radar.steps),
        below = view.canvas.clientHeight + 22;

      return [
        boxes.filter(box => steps.has(box.getAttribute("fill")) && box.getAttribute("y") < below - 22).length,
        boxes.filter(box => steps.has(box.getAttribute("fill")) && box.getAttribute("y") > below + 20).length,
      ];
    }, svg);
  await page.selectOption("select[aria-label='what colours the rows']", "");
  await settled(page);
  return (
    same("on", [first.isOn, second.isOn, first.most, second.most], [true, true, 1, 1]) ||
    (first.colours > 4 && second.colours > 4 ? null : JSON.stringify([first, second])) ||
    same(
      "captions",
      captions.map(text => text.slice(1).split(";")[0]),
      titles,
    ) ||
    (shades[0] > 50 && shades[1] > 50 ? null : "SVG: " + shades)
  );
}

/* Which picture, and which panel, is of which trace. */
async function whose(page) {
  const names = await page.locator(".pictures b").allInnerTexts(),
    titles = await page.evaluate(() => document.getElementById("picture").view.all.map(view => view.about.title)),
    tools = async panel => {
      await page.click("#tab-" + panel);
      return (await page.locator(`#panel-${panel} .tools`).first().innerText()).startsWith("A");
    };

  return (
    same("pictures", names, ["A: " + titles[0], "B: " + titles[1]]) ||
    same("panels", [await tools("functions"), await tools("find"), await tools("compare")], [true, true, false])
  );
}

/* One colour for a function of both. */
const colours = page =>
  page.evaluate(() => {
    const [first, second] = document.getElementById("picture").view.all,
      of = view => view.about.regions.map(({ name, number }) => name + view.palette.own(number)).join();

    return of(first) === of(second) ? null : "colours";
  });

async function later(browser) {
  const { page, close } = await open(browser, {}, "#0-500000000,0.00,30.000&align=call:2:MPI_Barrier"),
    [first, second] = await views(page);

  await page.waitForFunction(
    shift => document.getElementById("picture").view.all[1].shift === shift,
    wanted.shift,
    TIMEOUT,
  );
  await close();
  return same("place", [first.from, first.to], [0, 5e8]) || (second ? null : "one");
}

const browser = await launch();
for (const [name, options] of Object.entries({ light: {}, dark: { colorScheme: "dark" } })) {
  const { page, faults, close } = await open(browser, options);

  await page.screenshot({ path: path.join(folder, `view-compare-${name}.png`) });
  await look(name + ": accessible", accessible(page));
  if (name === "light") {
    await look("all of both is in view", whole(page));
    await look("times of both", table(page, wanted.exclusive));
    await page.selectOption("#panel-compare select[aria-label='what is compared']", "count");
    await look("calls of both", table(page, wanted.calls));
    await look("one colour in both", colours(page));
    await look("what is of which trace", whose(page));
    await look("one stretch of time", moves(page));
    await look("a call of the second one", chosen(page));
    await look("what stands below what", alignments(page));
    await look("rows coloured by numbers", radar(page));
  }
  await look(name + ": nothing goes wrong", Promise.resolve(faults.join("; ")));
  await close();
}
await look("the address has the alignment", later(browser));
await browser.close();
