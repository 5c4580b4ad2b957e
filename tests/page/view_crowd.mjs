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

async function press(page, key) {
  await page.focus("#picture");
  await page.keyboard.press(key);
  await settled(page, SOON);
}

const savedSvg = async page => {
  await page.keyboard.press("Control+k");
  await page.keyboard.type("picture as svg");
  const [download] = await Promise.all([page.waitForEvent("download", TIMEOUT), page.keyboard.press("Enter")]);

  return fs.readFileSync(await download.path(), "utf8");
};

/* It covers rows: it is there when it is asked for, and what closes it is in sight. */
async function unasked(page) {
  const { isShown } = await matrix(page),
    words = await told(page),
    svg = await savedSvg(page);

  return (
    same("shown", isShown, false) ||
    (/[\d,]+ messages: press m for the matrix/.test(words) ? null : words) ||
    (/senders .*receivers/.test(svg) ? "it is in the picture that is saved" : null)
  );
}

async function many(page) {
  await press(page, "m");
  const found = await matrix(page),
    words = await told(page),
    cross = await page.evaluate(() => {
      const { box } = document.getElementById("picture").view.crowd;

      return { x: 120 + box.left + box.wide - 8, y: box.top + 7 };
    }),
    canvas = await page.locator("#picture").boundingBox();
  await page.waitForFunction(() => location.hash.includes("messages=matrix"), null, TIMEOUT);
  await page.mouse.click(canvas.x + cross.x, canvas.y + cross.y);
  await settled(page, SOON);
  const closed = await matrix(page);
  await press(page, "m");

  return (
    same("shown, closed", [found.isShown, closed.isShown], [true, false]) ||
    same("sums", [found.count, found.bytes], [found.wanted.count, found.wanted.bytes]) ||
    (/[\d,]+ messages as a matrix: m closes it/.test(words) ? null : words)
  );
}

/* Words have the room that they need, also long ones. */
const readable = page =>
  page.evaluate(() => {
    const { crowd, canvas } = document.getElementById("picture").view,
      c = canvas.getContext("2d"),
      wrong = [],
      watched = new Proxy(c, {
        get(of, key) {
          if (key !== "fillText") return typeof of[key] === "function" ? of[key].bind(of) : of[key];
          return (words, x, y, room) => room !== undefined && c.measureText(words).width > room && wrong.push(words);
        },
        set: (of, key, value) => ((of[key] = value), true),
      });

    crowd.name = () => "1016-1023";
    crowd.label = 0;
    crowd.paint(watched, true);
    delete crowd.name;
    crowd.label = crowd.measure(c);
    document.getElementById("picture").view.draw();
    return [...new Set(wrong)].join(", ");
  });

/* Messages and waits are those of the rows that are shown: of some ranks others are left out. */
async function ofShownRows(page) {
  const ask = text => page.fill("input[aria-label='ranks that are shown']", text);

  await ask("0-1");
  await page.keyboard.press("Enter");
  await settled(page, SOON);
  const found = await page.evaluate(async () => {
    const { view } = document.getElementById("picture"),
      { from, to } = view.seen,
      rows = view.about.rows.flatMap(({ rank }, row) => (rank < 2 ? [row] : [])),
      only = rows.join(","),
      { cells } = await view.trace.json("traffic", { from: Math.round(from), to: Math.round(to), only }),
      waits = view.overlays.blocked.calls;

    return {
      ...{ messages: view.messageCount, wanted: cells.reduce((n, cell) => n + cell[2], 0) },
      others: waits.filter(({ row }) => !rows.includes(row)).length,
      waits: waits.length,
      short: waits.filter(({ wait }) => wait < view.overlays.least).length,
    };
  });
  const words = await told(page);
  await ask("");
  await page.keyboard.press("Enter");
  await settled(page, SOON);
  return (
    same("messages", found.messages, found.wanted) ||
    same("waits of other rows, shorter ones", [found.others, found.short], [0, 0]) ||
    (!found.waits || /arrows: .*waits of [\d.]+ [mun]?s and longer/.test(words) ? null : words)
  );
}

const find = (page, key, value) =>
  page.evaluate(
    async ([field, text]) => {
      const { find } = document.getElementById("picture").view;

      find.fields[field].value = text;
      await find.load();
      return find.note.textContent;
    },
    [key, value],
  );

/* Of calls that begin at one time each is gone to, and back again; what is no limit finds nothing, and says why. */
async function everyCall(page) {
  const found = await find(page, "text", "app+0x2000");
  const walked = await page.evaluate(async () => {
    const { view } = document.getElementById("picture"),
      { calls } = await view.trace.calls({ ...view.find.asked, order: 1 }),
      at = calls.findIndex((call, i) => i && call.begin === calls[i - 1].begin),
      where = () => [view.selected.begin, view.selected.row].join(),
      seen = [];

    if (at < 0) return null;
    view.goToCall(calls[at - 1]);
    for (const by of [1, 1, -1, -1]) {
      await view.find.step(by);
      seen.push(where());
    }
    return { seen, wanted: [0, 1, 0, -1].map(i => [calls[at + i].begin, calls[at + i].row].join()) };
  });
  const wrong = [
    await find(page, "rows", "9999"),
    (await find(page, "rows", ""), await find(page, "least", "abc")),
    (await find(page, "least", ""), await find(page, "text", "app+0x2000")),
  ];

  if (!walked) return "no two calls begin at one time";
  return (
    same("calls", walked.seen, walked.wanted) ||
    same("said", wrong, ["No calls: there is no rank 9999.", "No calls: abc is no duration.", found])
  );
}

/* Names of rows: none over another one, none cut, however small the rows are. */
const names = page =>
  page.evaluate(() => {
    const { view } = document.getElementById("picture"),
      { rowTall, tall } = view,
      wrong = [];

    for (const of of [3, 6, 9, 13, 19, 31]) {
      view.rowTall = of;
      const y = [];
      paintLineNames({ fillText: (words, x, at) => words.includes("rank") && y.push(at) }, view, view.palette);
      if (y.some((at, i) => at > tall - 3 || (i && at - y[i - 1] < 12))) wrong.push(of + " pixels: " + y);
    }
    view.rowTall = rowTall;
    return wrong.join("; ");
  });

/* Of many ranks the panel's matrix and its caption are in sight; numbers are whole. */
async function fits(page) {
  await page.click("#tab-messages");
  await settled(page, SOON);
  await page.evaluate(() =>
    document
      .getElementById("picture")
      .view.bench.panels.get("messages")
      .matrix.replace({
        labels: Array.from({ length: 128 }, (_, i) => 8 * i + "-" + (8 * i + 7)),
        ...{ value: () => 0.5, words: () => "", ends: ["0 B", "1.00 GiB"] },
      }),
  );
  await settled(page, SOON);
  const found = await page.evaluate(() => {
    const place = document.querySelector("#panel-messages .third").getBoundingClientRect(),
      inside = of => document.querySelector("#panel-messages .matrix " + of).getBoundingClientRect().bottom;

    document
      .getElementById("picture")
      .view.bench.panels.get("messages")
      .sizesTable.setRows([{ power: 11, count: 16828416, bytes: 2 ** 34 }]);
    return {
      over: ["canvas", "figcaption"].filter(of => inside(of) > place.bottom + 1),
      cut: [...document.querySelectorAll("#sizes td")].filter(of => of.scrollWidth > of.clientWidth).length,
    };
  });
  await page.click("#tab-functions");
  return same("over the edge, cut", found, { over: [], cut: 0 });
}

/* Its cells: the colour of the pair that has most, what is said of it, and where a click leads to. */
async function cell(page) {
  const place = await page.evaluate(() => {
      const { view } = document.getElementById("picture"),
        { data, box } = view.crowd,
        most = data.cells.find(of => of[data.unit] === data.most),
        step = box.side / data.size;

      return {
        x: 120 + box.left + view.crowd.label + (most.to + 0.5) * step,
        y: box.top + 16 + (most.from + 0.5) * step,
        ...most,
      };
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

/* Of the function that is selected, in the picture and in the panel: as the server has its messages; all again. */
async function ofFunction(page, theme) {
  const select = "select[aria-label='calls that sent or received']",
    found = () =>
      page.evaluate(async () => {
        const { view } = document.getElementById("picture"),
          { crowd, bench } = view,
          { traffic, note } = bench.panels.get("messages"),
          region = selection.region === null ? {} : { region: selection.region },
          own = await view.trace.json("traffic", { ...windowOf(view), ...region }),
          all = await view.trace.json("traffic", windowOf(view)),
          sum = (cells, key) => cells.reduce((n, cell) => n + cell[key], 0),
          sums = cells => [sum(cells, "count"), sum(cells, "bytes")];

        return {
          picture: crowd.isShown && sums(crowd.data.cells),
          panel: sums(traffic.cells),
          own: [sum(own.cells, 2), sum(own.cells, 3)],
          all: [sum(all.cells, 2), sum(all.cells, 3)],
          note: note.textContent,
          hash: address.get("messagesof"),
        };
      }),
    choose = async value => {
      await page.selectOption(select, value);
      await settled(page, SOON + 200);
    };

  await page.click("#tab-messages");
  await choose("function");
  const unselected = await found();
  await page.evaluate(() => {
    const { regions } = document.getElementById("picture").view.about,
      own = regions.filter(({ name, ns }) => ns && !name.startsWith("MPI_"));

    selection.choose(own.sort((a, b) => a.ns - b.ns)[0].number);
  });
  await settled(page, SOON + 200);
  const chosen = await found();
  await page.screenshot({ path: path.join(folder, `view-crowd-function-${theme}.png`) });
  await press(page, "M");
  await settled(page, SOON + 200);
  const back = await found(),
    value = await page.inputValue(select);
  await press(page, "Escape");
  await page.click("#tab-functions");

  return (
    same("picture", [chosen.picture, back.picture], [chosen.own, chosen.all]) ||
    same("panel", [chosen.panel, back.panel, unselected.panel], [chosen.own, chosen.all, chosen.all]) ||
    (chosen.own[0] && chosen.own[0] < chosen.all[0] ? null : JSON.stringify(chosen)) ||
    (/of calls of app/.test(chosen.note) ? null : chosen.note) ||
    (/select a function/.test(unselected.note) ? null : unselected.note) ||
    same("address", [chosen.hash, back.hash, value], ["function", null, "all"])
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
  await settled(page, SOON);
  await page.keyboard.press("m");
  await settled(page, SOON);
  const without = await matrix(page);
  await press(page, "m");
  return same("few", [isShown, lines > 0, without.isShown], [false, true, false]);
}

/* In a picture that is saved, too. */
async function saved(page) {
  const svg = await savedSvg(page);

  return /senders .*receivers/.test(svg) && svg.includes("most of a pair: ") ? null : svg.slice(0, 300);
}

const browser = await launch();
for (const [name, options] of Object.entries({ light: {}, dark: { colorScheme: "dark" } })) {
  const { page, faults, close } = await opened(browser, address, options);

  await page.screenshot({ path: path.join(folder, `view-crowd-${name}.png`) });
  await look(name + ": accessible", accessible(page));
  if (name === "light") {
    await look("no matrix that was not asked for", unasked(page));
    await look("many messages are a matrix", many(page));
    await look("its labels can be read", readable(page));
    await look("its cells", cell(page));
    await look("the panel of messages has room for all", fits(page));
    await look("messages of a function", ofFunction(page, name));
    await look("few messages are lines", few(page));
    await look("a picture of it", saved(page));
    await look("messages and waits of the rows that are shown", ofShownRows(page));
    await look("names of rows can be read", names(page));
    await look("every call, in time", everyCall(page));
  } else {
    await press(page, "m");
    await look(name + ": messages of a function", ofFunction(page, name));
  }
  await look(name + ": nothing goes wrong", Promise.resolve(faults.join("; ")));
  await close();
}
await browser.close();
