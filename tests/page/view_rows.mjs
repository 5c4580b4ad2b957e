/* SPDX-License-Identifier: BSD-3-Clause */
/* Looks at the lines of the page of fvmpi view, and what lies over and below them. view_rows.mjs FOLDER ADDRESS, of two
 * ranks with three threads each (tests/planted/hybrid.c). Each line of stdout is what was looked at, { check, wrong }:
 * wrong is null, or words. */
import path from "node:path";
import { TIMEOUT, accessible, launch, look, opened, same, settled } from "./browser.mjs";

const [folder, address] = process.argv.slice(2);
const SOON = 300; /* ms */

const lines = page => page.evaluate(() => Number(document.getElementById("picture").dataset.lines));
const label = page => page.getAttribute("#picture", "aria-label");
const told = page => page.locator("#told").innerText();

async function press(page, key) {
  await page.focus("#picture");
  await page.keyboard.press(key);
  await settled(page, SOON);
}

/* An MPI may have threads of its own, which are rows as well: on one rank, or on each. */
const HEADINGS = 2; // one for each rank
let threads = []; // of each rank
let rows = 0;

async function groups(page) {
  const all = await lines(page);

  await press(page, "[");
  const folded = await lines(page);
  await page.waitForFunction(() => location.hash.includes("fold="), null, TIMEOUT);
  await press(page, "]");
  const open = await lines(page);
  await page.mouse.click(...(await placeOf(page, 60, 30)));
  await settled(page, SOON);
  const one = await lines(page);
  await page.mouse.click(...(await placeOf(page, 60, 30)));
  await page.uncheck(".rows-bar input[type=checkbox]");
  await settled(page, SOON);
  const flat = await lines(page);
  await page.check(".rows-bar input[type=checkbox]");
  await settled(page, SOON);
  const ranks = await page.evaluate(() => document.getElementById("picture").view.about.rows.map(row => row.rank));

  threads = [0, 1].map(rank => ranks.filter(of => of === rank).length);
  rows = ranks.length;
  return same(
    "lines",
    [all, folded, open, one, flat, Math.min(...threads) > 1],
    [HEADINGS + rows, HEADINGS, HEADINGS + rows, HEADINGS + threads[1], rows, true],
  );
}
async function placeOf(page, x, y) {
  const box = await page.locator("#picture").boundingBox();

  return [box.x + x, box.y + y];
}

async function filtered(page) {
  const texts = [];

  for (const ranks of ["1", "0-7", "nonsense", ""]) {
    await page.fill("input[aria-label='ranks that are shown']", ranks);
    await page.keyboard.press("Enter");
    await page.keyboard.press("Tab");
    await settled(page, SOON);
    texts.push(await label(page));
  }
  return same(
    "rows",
    texts.map(text => text.match(/\d+/)[0]),
    [threads[1], rows, rows, rows].map(String),
  );
}

/* Ranks that there are not are told; a main thread has another name than its group; rows take the room that there is,
 * which is the same whatever is told below them. */
async function named(page) {
  const only = async ranks => {
      await page.fill("input[aria-label='ranks that are shown']", ranks);
      await page.keyboard.press("Enter");
      await settled(page, SOON);
      return page.evaluate(() => {
        const { view } = document.getElementById("picture");

        return {
          ...{ tall: view.rowTall, room: view.tall - view.top, names: view.rows.lines.map(({ name }) => name) },
          note: view.rows.note.textContent,
          isInvalid: view.rows.filter.getAttribute("aria-invalid"),
        };
      });
    },
    none = await only("999999"),
    one = await only("1:0"),
    all = await only(""),
    [before, after] = await page.evaluate(() => {
      const { view } = document.getElementById("picture"),
        usual = view.told.textContent,
        before = view.canvas.clientHeight;

      view.told.textContent = "words ".repeat(300);
      const after = view.canvas.clientHeight;
      view.told.textContent = usual;
      return [before, after];
    });

  return (
    same("no such rank", [none.note, none.isInvalid, all.isInvalid], ["there is no such rank", "true", "false"]) ||
    same("names", new Set(all.names).size, all.names.length) ||
    same("one row", one.tall, Math.min(one.room, 160)) ||
    same("height", after, before)
  );
}

/* What is coloured by a number, or pale since a function is selected, has its entries alone in the legend. */
async function legends(page) {
  const legend = async () => {
      await settled(page, SOON);
      return page.locator(".legend span").allInnerTexts();
    },
    colour = value => page.selectOption("select[aria-label='what colours the rows']", value),
    own = "the program's own functions";

  await colour("wait");
  const radars = await legend();
  await colour("");
  await page.click("#sums button:text-is('MPI_Barrier')");
  const chosen = await legend();
  await press(page, "Escape");
  const usual = await legend();
  return (
    same("colour", [radars[0], radars.some(words => words.includes("MPI"))], ["waiting, 0 % to 100 %", false]) ||
    same("function", [chosen[0], chosen[2]], ["MPI_Barrier", "all else"]) ||
    same(
      "own functions",
      [radars, chosen, usual].map(all => all.some(words => words.startsWith(own))),
      [false, false, true],
    )
  );
}

/* The one that waits most comes first. */
async function sorted(page) {
  const order = () => page.evaluate(() => address.get("sort"));

  await page.selectOption("select[aria-label='order of rows']", "wait");
  await settled(page, SOON);
  const by = await order();
  await press(page, "w");
  const isOld = await page.isVisible("button:text-is('sort again')");
  await page.click("button:text-is('sort again')");
  await settled(page, SOON);
  const isAgain = await page.isHidden("button:text-is('sort again')");
  await page.selectOption("select[aria-label='order of rows']", "rank");
  await press(page, "f");
  return same("sorted", [by, isOld, isAgain, await order()], ["wait", true, true, null]);
}

async function charted(page) {
  await page.selectOption("select[aria-label='values that are charted below']", "memory allocated (bytes)");
  await settled(page, SOON);
  const caption = () => page.locator(".strip:has(.chart-canvas) figcaption .note").innerText(),
    usual = await caption(),
    box = await page.locator(".chart-canvas").boundingBox();
  await page.mouse.move(box.x + box.width - 3, box.y + 20);
  const pointed = await caption();
  await page.mouse.move(5, 5);
  return (
    same("curves", usual.split(/\s+(?=rank)/), ["memory allocated (bytes)", "rank 0", "rank 1"]) ||
    (/rank 0: [\d.]+/.test(pointed) ? null : "at the pointer: " + pointed)
  );
}

/* Where nothing is known of a main thread it computes: in a colour that the legend names. How much that is depends on
 * samples: here it is all of each other line. */
async function computing(page) {
  await press(page, "f");
  const found = await page.evaluate(() => {
    const { view } = document.getElementById("picture"),
      { canvas, tiles, palette } = view,
      none = new Uint8Array(tiles.all),
      isAll = i => Math.floor(i / tiles.count) % 2 === 0,
      seen = { all: 0, wrong: 0 };

    view.overlays.clear();
    view.messages = { messages: [], left_out: 0 };
    view.slices = new Map();
    view.tiles = {
      ...tiles,
      parts: new Uint8Array(tiles.parts.length),
      waits: none,
      regions: new Uint32Array(tiles.all).fill(NO_REGION),
      computing: none.map((_, i) => (isAll(i) ? 255 : 0)),
    };
    view.paint();
    showLegend(view);
    const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", { willReadFrequently: true });
    copy.drawImage(canvas, 0, 0);
    const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
    for (let line = 0; line < tiles.lines - 1; line++)
      for (let x = 205; x < canvas.clientWidth - 5; x += 50) {
        const y = view.y(tiles.first + line) + 8,
          at = 4 * (Math.floor(y * devicePixelRatio) * canvas.width + Math.floor(x * devicePixelRatio)),
          wanted = channels(line % 2 ? palette.ground : palette.computing),
          isLine = channels(palette.line).every((channel, k) => Math.abs(channel - data[at + k]) < 3); /* of the axis */

        seen.all++;
        seen.wrong += !isLine && wanted.some((channel, k) => Math.abs(channel - data[at + k]) > 2) ? 1 : 0;
      }
    return { ...seen, legend: document.querySelector(".legend").innerText };
  });
  await press(page, "f");
  const { all, wrong, legend: words } = found;

  return all > 50 && !wrong && words.includes("outside of calls, function not known") ? null : JSON.stringify(found);
}

/* Of lines that are too low for stacked parts each pixel has the colour of one, and all parts are everywhere: a stack
 * that is scaled down would be bands that nothing has, and a mixed colour is none of the legend's. */
async function mixed(page) {
  const found = await page.evaluate(() => {
    const { view } = document.getElementById("picture"),
      lines = 300,
      columns = 400,
      all = lines * columns,
      { classes } = view.about,
      tiles = { from: 0, to: 400, count: columns, first: 0, merge: 1, lines, all },
      tall = Math.round(lines * 1.3),
      c = new OffscreenCanvas(400, tall).getContext("2d", { willReadFrequently: true }),
      parts = new Uint8Array(classes.length * all).fill(0);

    parts.fill(120, all, 2 * all);
    drawTiles(
      c,
      {
        ...tiles,
        parts,
        regions: new Uint32Array(all).fill(NO_REGION),
        regionParts: new Uint8Array(all),
        waits: new Uint8Array(all).fill(60),
        computing: new Uint8Array(all).fill(80),
      },
      { about: view.about, rowTall: 1.3, x: ns => ns, y: row => row * 1.3 },
      view.palette,
    );
    const { data } = c.getImageData(0, 0, 400, tall),
      pixels = new Uint32Array(data.buffer),
      third = Math.floor(tall / 3) * 400,
      shares = [0, 1, 2].map(k => {
        const count = {};

        for (const pixel of pixels.subarray(k * third, (k + 1) * third)) count[pixel] = (count[pixel] || 0) + 1 / third;
        return count;
      }),
      { palette } = view;
    return { shares, wanted: [palette.classes[1], palette.computing, palette.wait].map(pixelOf) };
  });
  const { shares, wanted } = found,
    [first, ...others] = shares,
    colours = Object.keys(first).map(Number),
    isEven = others.every(other => colours.every(colour => Math.abs(first[colour] - other[colour]) < 0.05));

  return (
    same(
      "colours",
      colours.filter(colour => colour && !wanted.includes(colour)),
      [],
    ) || (isEven && wanted.every(colour => first[colour] > 0.02) ? null : JSON.stringify(found))
  );
}

async function stacked(page) {
  await press(page, "k");
  const title = await page.locator(".strip:has(.stack-canvas) b").innerText();
  await press(page, "k");
  return same("stack", [title, await page.locator(".stack-canvas").count()], ["stack of rank 0", 0]);
}

/* Rows coloured by a number: the colour of a pixel is that of the highest value of its row then, as the server has
 * it. */
async function radar(page) {
  const select = "select[aria-label='what colours the rows']",
    options = await page.locator(select + " option").allInnerTexts();

  if (options.length < 4) return "no values: " + options;
  const found = [];
  for (const choice of ["wait", "value:" + options[3]]) {
    await page.selectOption(select, choice);
    await settled(page, SOON);
    await page.waitForTimeout(200);
    found.push(
      await page.evaluate(async () => {
        const { view } = document.getElementById("picture"),
          { radar: of, canvas } = view,
          { data } = of,
          copy = new OffscreenCanvas(canvas.width, canvas.height).getContext("2d", { willReadFrequently: true }),
          ratio = devicePixelRatio,
          wrong = [];
        let seen = 0;

        copy.drawImage(canvas, 0, 0);
        const { data: pixels } = copy.getImageData(0, 0, canvas.width, canvas.height);
        for (let line = 0; line < data.lines; line++)
          for (let i = 5; i < data.count - 5; i += 7) {
            const value = data.values[line * data.count + i],
              x = Math.floor((120 + view.x(data.from + ((i + 0.5) * (data.to - data.from)) / data.count)) * ratio),
              /* where one line of a message crosses the row, another place shows it */
              places = [3, view.rowTall / 2, view.rowTall - 4].map(
                deep => 4 * (Math.floor((view.y(data.first + line) + deep) * ratio) * canvas.width + x),
              );

            if (isNaN(value)) continue;
            const wanted = of
              .colour(value / data.most)
              .match(/\d+/g)
              .map(Number);
            seen++;
            if (places.every(at => wanted.some((channel, k) => Math.abs(channel - pixels[at + k]) > 2)))
              wrong.push([line, i, value]);
          }
        const { curves } = of.chart || { curves: [] },
          asked = curves.length
            ? new Float64Array(
                await (
                  await view.trace.ask("values", {
                    ...{ from: data.from, to: data.to, count: data.count, series: curves[0].number },
                  })
                ).arrayBuffer(),
              )
            : null,
          line = curves.length ? view.rows.lineOf[curves[0].row] : -1,
          differs = asked
            ? [...Array(data.count).keys()].filter(i => asked[3 * i + 1] > data.values[line * data.count + i]).length
            : 0;

        return { seen, wrong: wrong.length, differs, legend: document.querySelector(".radar").innerText.trim() };
      }),
    );
  }
  await page.selectOption(select, "");
  await settled(page, SOON);
  const [wait, values] = found,
    isGood = ({ seen, wrong, differs }) => seen > 5 && wrong < seen / 10 && !differs;

  return isGood(wait) && isGood(values) && /0 %\s*100 %/.test(wait.legend) ? null : JSON.stringify(found);
}

/* A call of a collective operation: its members. */
async function together(page) {
  await page.locator("#sums tr:has(button:text-is('MPI_Barrier')) button.longest").click();
  await page.waitForSelector("#details h2", TIMEOUT);
  await settled(page, SOON);
  const text = await told(page),
    drawn = await page.evaluate(() => {
      const { view } = document.getElementById("picture"),
        found = { lines: 0, largest: 0 },
        ignore = () => {},
        c = { beginPath: ignore, moveTo: ignore, lineTo: ignore, closePath: ignore, fill: ignore },
        { rowTall } = view;

      view.rowTall = 2;
      view.overlays.paintMembers(
        {
          ...c,
          stroke: () => found.lines++,
          fillRect: (x, y, wide) => (found.largest = Math.max(found.largest, wide)),
        },
        view.palette,
      );
      view.rowTall = rowTall;
      return found;
    });

  await press(page, "f");
  const wrong = same("of small rows", drawn, { lines: 0, largest: 2 });
  if (wrong) return wrong;
  return text.includes("the collective operation has 2 members") ? null : text;
}

/* A wait: what the row that was late did until then, summed up here from its calls. */
async function because(page) {
  const found = await page.evaluate(async () => {
    const { view } = document.getElementById("picture"),
      { calls } = await view.trace.links("blocked", {
        ...{ from: 0, to: view.about.span_ns, least: 0, count: 1, first: 0, rows: view.about.rows.length },
      }),
      [{ begin, wait, cause }] = calls,
      { slices } = await view.trace.slices(cause, begin, begin + wait, 0),
      own = new Map(),
      part = ({ begin: since, ns }) => Math.min(since + ns, begin + wait) - Math.max(since, begin);

    for (const slice of slices) {
      const within = slices.filter(
          of => of.depth === slice.depth + 1 && of.begin >= slice.begin && of.begin + of.ns <= slice.begin + slice.ns,
        ),
        { name } = view.about.regions[slice.region];

      own.set(name, (own.get(name) || 0) + part(slice) - within.reduce((sum, of) => sum + Math.max(part(of), 0), 0));
    }
    const [[most, ns]] = [...own, ["nothing", 0]].sort((a, b) => b[1] - a[1]),
      done = ns > wait / 10 ? most + " " + nanoseconds(ns) : "";
    await view.select(calls[0]);
    return `In that time ${rowName(view.about.rows[cause])} was in ${done}`;
  });

  await settled(page, SOON);
  const text = await page.locator("#details").innerText();
  return text.replaceAll("~", "").includes(found) ? null : found + ": " + text;
}

/* ... and who called what it did most: a call of that name is in one of the other. */
async function calledBy(page) {
  const text = await page.locator("#details").innerText(),
    [, inner, outer] = text.match(/; most in (.+?) <- ([^<;\n]+?)(?: <-|;|\n|$)/) || [];
  const known = await page.evaluate(
    async ([name, around]) => {
      const { view } = document.getElementById("picture"),
        { begin, wait, cause } = view.selected,
        { slices } = await view.trace.slices(cause, begin, begin + wait, 0),
        nameOf = slice => view.about.regions[slice.region].name;

      return slices.some(
        of =>
          nameOf(of) === name &&
          slices.some(
            at =>
              nameOf(at) === around &&
              at.depth === of.depth - 1 &&
              at.begin <= of.begin &&
              at.begin + at.ns >= of.begin,
          ),
      );
    },
    [inner, outer],
  );

  return !inner || known ? null : text; /* it may be in one function alone */
}

/* Of calls in each other, each is in a place of its own. */
async function inEachOther(page) {
  const found = await page.evaluate(() => {
    const { view } = document.getElementById("picture"),
      row = view.rows.lines.find(({ group }) => !group).rows[0],
      { slices, rowTall } = view;

    view.rowTall = 62;
    const low = view.y(view.rows.lineOf[row]);
    view.slices = new Map([[row, { slices: [{ depth: 0 }, { depth: 1 }, { depth: 2 }] }]]);
    const places = [0, 1, 2].map(depth => Math.round(view.yOfCall({ row, depth }) - low));
    view.slices = new Map();
    places.push(Math.round(view.yOfCall({ row, depth: 2 }) - low));
    Object.assign(view, { slices, rowTall });
    return places;
  });

  return same("places", found, [10, 30, 50, 31]);
}

async function critical(page) {
  const colours = () =>
    page.evaluate(() => {
      const canvas = document.getElementById("picture");

      return canvas.toDataURL();
    });
  const before = await colours();
  await press(page, "c");
  const after = await colours();
  await press(page, "x");
  const without = await colours();
  await press(page, "x");
  return before !== after && after !== without ? null : "nothing is drawn";
}

/* A rule gives functions a colour and a place in the legend, also when the page is opened again. */
async function coloured(page) {
  await press(page, "o");
  await page.click("#colours button:text-is('add')");
  await page.fill("#colours input[aria-label='expression']", "^MPI_(Barrier|Reduce)$");
  await page.fill("#colours input[aria-label='name of the group']", "meeting");
  await page.fill("#colours input[aria-label='colour']", "#123456");
  await page.keyboard.press("Tab");
  const count = await page.locator("#colours tbody td:nth-child(4)").innerText();
  await page.click("#colours button:text-is('close')");
  await page.reload();
  await page.waitForSelector("#sums tbody tr", TIMEOUT);
  await settled(page, SOON);
  const legend = await page.locator(".legend").innerText(),
    /* at once: rows may be drawn anew meanwhile, and what is in no page has no colour */
    key = await page.evaluate(() => {
      const named = [...document.querySelectorAll("#sums tr button")].find(of => of.textContent === "MPI_Barrier");

      return getComputedStyle(named.closest("tr").querySelector(".key")).backgroundColor;
    });
  await page.evaluate(() =>
    localStorage.setItem("fvmpi-view-colours", '[{"match": "(", "colour": "#ffffff"}, 7, null]'),
  );
  await page.reload();
  await page.waitForSelector("#sums tbody tr", TIMEOUT);
  await settled(page, SOON);
  await page.evaluate(() => localStorage.clear());
  return same("rule", [count, key, legend.includes("meeting")], ["2", "rgb(18, 52, 86)", true]);
}

/* A line of a group is no call: what it has is told in the place of the call before. */
async function grouped(page) {
  const x = await page.evaluate(() => {
    const { tiles, wide } = document.getElementById("picture").view,
      column = tiles.regionParts.slice(0, tiles.count).findIndex((part, i) => part && i > tiles.count / 4);

    return NAMES_WIDE + ((column + 0.5) * wide) / tiles.count; /* where something was done */
  });
  await page.mouse.click(...(await placeOf(page, x, 30)));
  await settled(page, SOON);
  await page
    .locator("#details")
    .getByText(/^\.\.\.$/)
    .waitFor({ state: "detached", timeout: SOON }); /* sums come */
  const details = await page.locator("#details").innerText();
  await page.mouse.move(...(await placeOf(page, 420, 32)));
  const title = await page.getAttribute("#picture", "title"),
    wanted = `rank 0: the mean of ${threads[0]} rows`;

  return (
    same("told", [details.split("\n")[0], title.slice(0, wanted.length)], [wanted, wanted]) ||
    (/ \d+ %$/.test(title) && / \d+\.\d %/.test(details) ? null : title + "; " + details)
  );
}

/* Calls are selected by keys, in the order of their begins; zooming is undone; nonsense as ranks is said. */
async function byKeys(page) {
  const seen = () =>
      page.evaluate(() => {
        const { view } = document.getElementById("picture");

        return [view.from, view.to];
      }),
    chosen = () =>
      page.evaluate(() => {
        const { row, begin, depth } = document.getElementById("picture").view.selected;

        return [row, begin, depth].join();
      });
  const key = async of => {
    await press(page, of);
    await settled(page, SOON);
  };

  await key("Escape");
  await key("f");
  await page.waitForTimeout(250); /* a place is one to go back to when the view rests there */
  const all = await seen();
  await key("w");
  await page.waitForTimeout(250);
  const near = await seen();
  await key("Backspace");
  const back = await seen();
  await key("\\");
  const forth = await seen();
  await key("w");
  await page.waitForTimeout(250);
  for (const of of ["Backspace", "Backspace"]) await press(page, of); /* at once */
  await settled(page, SOON);
  const twice = await seen();
  await key("f");
  const steps = [];
  for (const of of [".", ".", ".", ","]) {
    await key(of);
    steps.push(await chosen());
  }
  const wanted = await page.evaluate(async () => {
    const { view } = document.getElementById("picture"),
      { slices } = await view.trace.slices(view.selected.row, 0, view.about.span_ns, 0);

    return slices
      .sort((a, b) => a.begin - b.begin || a.depth - b.depth)
      .slice(0, 3)
      .map(({ row, begin, depth }) => [row, begin, depth].join());
  });
  await page.fill("input[aria-label='ranks that are shown']", "first");
  await page.keyboard.press("Enter");
  await settled(page, SOON);
  const note = await page.locator(".rows-bar .note").first().innerText();
  await page.fill("input[aria-label='ranks that are shown']", "");
  await page.keyboard.press("Enter");
  return (
    same("back and forth, and back twice", [back, forth, twice], [all, near, all]) ||
    same("zoomed", near[1] - near[0] < all[1] - all[0], true) ||
    same("steps", steps, [...wanted, wanted[1]]) ||
    same("ranks", note, "all ranks: say some as 0-3,8 or 0:1")
  );
}

/* What is selected, looked for, sorted and chosen is there again, by the address alone. */
async function addressed(page) {
  await page.click("#tab-find");
  await page.fill("#panel-find input", "MPI_Barrier");
  await page.waitForSelector("#calls tbody tr", TIMEOUT);
  await page.locator("#calls th button", { hasText: "duration" }).click();
  await page.selectOption("#panel-find select", "seen");
  await page.click("#tab-functions");
  await page.selectOption("#panel-functions select[aria-label=times]", "rows");
  await page.locator("#sums th button", { hasText: "least" }).click();
  await page.locator("#sums th button", { hasText: "least" }).click();
  await press(page, ".");
  await settled(page, SOON);
  const looks = () =>
    page.evaluate(() => {
      const { view } = document.getElementById("picture"),
        { bench, find } = view,
        { table } = bench.panels.get("functions");

      return [
        ...[view.selected && view.selected.begin, find.text.value, find.where.value],
        ...[find.table.sorted, table.sorted, table.down, table.columns.map(({ key }) => key)],
      ];
    });
  const before = await looks();
  await page.waitForTimeout(400);
  await page.reload();
  await page.waitForSelector("#sums tbody tr", TIMEOUT);
  await settled(page, SOON);
  const after = await looks();
  await page.evaluate(() => (location.hash = "call=1e99,-1,x&find=%00&sort-sums=nothing,up&times=2&waits=&matrix=x"));
  await settled(page, SOON);
  const usual = (await looks()).slice(4, 6);
  await press(page, "Escape");
  return same("after", after, before) || same("usual", usual, ["exclusive", true]) || (before[0] ? null : "no call");
}

async function main() {
  const browser = await launch();
  const options = { viewport: { width: 1280, height: 900 } };
  const { page, faults } = await opened(browser, address, options);

  await look("groups of rows fold", groups(page));
  await look("rows of some ranks", filtered(page));
  await look("names and heights of rows", named(page));
  await look("the legend of what is shown", legends(page));
  await look("rows sorted by what they wait", sorted(page));
  await look("values along time", charted(page));
  await look("rows coloured by numbers", radar(page));
  await look("computing", computing(page));
  await look("low lines", mixed(page));
  await look("the call stack of a row", stacked(page));
  await look("the members of a collective operation", together(page));
  await look("calls in each other", inEachOther(page));
  await look("what was done while a call waited", because(page));
  await look("who called what was done then", calledBy(page));
  await look("a click on a group", grouped(page));
  await look("waits and the critical path", critical(page));
  await look("colours and groups of functions", coloured(page));
  await look("keys: calls, and back to an earlier view", byKeys(page));
  await look("what the address has", addressed(page));
  await look("accessible", accessible(page));
  await page.screenshot({ path: path.join(folder, "view-rows.png") });
  await look("nothing goes wrong", Promise.resolve(faults.join("; ")));
  await browser.close();
}

await main();
