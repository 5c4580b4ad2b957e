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
  find: "#panel-find > .note",
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

/* Colours of classes, of the functions with most time, of waiting, of who caused it, and of what is selected: how far
 * from each other, in CIE L*a*b*. */
const apart = page =>
  page.evaluate(() => {
    const linear = value => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4),
      curve = value => (value > 0.008856 ? Math.cbrt(value) : 7.787 * value + 16 / 116),
      lab = colour => {
        const [r, g, b] = channels(colour).map(value => linear(value / 255)),
          [x, y, z] = [
            (0.4124 * r + 0.3576 * g + 0.1805 * b) / 0.95047,
            0.2126 * r + 0.7152 * g + 0.0722 * b,
            (0.0193 * r + 0.1192 * g + 0.9505 * b) / 1.08883,
          ].map(curve);

        return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
      },
      { palette, about } = document.getElementById("picture").view,
      all = [
        ...about.classes.map(({ name }, i) => [name, palette.classes[i]]),
        ...Array.from({ length: 10 }, (_, i) => ["function " + i, functionColour(i)]),
        ...["wait", "accent", "late"].map(name => [name, colours(name)]),
      ],
      wrong = [];

    all.forEach(([name, colour], i) => {
      for (const [other, second] of all.slice(i + 1)) {
        const a = lab(colour),
          b = lab(second || "#000"),
          far = Math.hypot(...a.map((value, k) => value - b[k]));

        if (far < 20) wrong.push(`${name} and ${other}: ${far.toFixed(0)}`);
      }
    });
    return wrong.join(", ");
  });

/* What is drawn has an entry of its own, and what waits is hatched, also in pictures. */
async function legend(page) {
  await page.focus("#picture");
  await page.keyboard.press("Escape");
  await page.click("#tab-functions");
  await page.click("#tab-details");
  await page.locator("#sums tr:has(button:text-is('MPI_Recv')) button.longest").click();
  await page.waitForSelector("#details h2", TIMEOUT);
  await settled(page);
  await page.focus("#picture");
  await page.keyboard.press("c");
  await page.waitForTimeout(300);
  await settled(page);
  const text = await page.locator(".legend").innerText(),
    looks = await page
      .locator(".legend .key")
      .evaluateAll(all => all.map(key => key.className + getComputedStyle(key).background)),
    isHatched = await page.evaluate(() => {
      const { view } = document.getElementById("picture"),
        c = new SvgContext(view.canvas.clientWidth, view.canvas.clientHeight);

      view.paintOn({ picture: c, wide: c.wide, tall: c.tall, isVector: true });
      return c.text().includes('fill="url(#hatch)"');
    }),
    wanted = ["each in its own colour", "waiting", "caused a wait", "delay", "critical path", "selected call"];
  await page.keyboard.press("c");
  await page.keyboard.press("f");
  await page.keyboard.press("Escape");
  await settled(page);
  return (
    same(
      "missing",
      wanted.filter(words => !text.includes(words)),
      [],
    ) ||
    same("looks", looks.length - new Set(looks).size, 0) ||
    same("hatched", isHatched, true)
  );
}

/* Labels of the axis: units by zoom, after an origin that is stated; right of their lines; none is cut. */
async function axis(page) {
  const read = ([from, to]) =>
      page.evaluate(
        ([begin, end]) => {
          const { view } = document.getElementById("picture"),
            c = document.createElement("canvas").getContext("2d"),
            found = [],
            lines = [],
            canvas = {
              measureText: words => c.measureText(words),
              fillText: (words, x) =>
                found.push([words, x + c.measureText(words).width <= view.wide, lines.includes(x - 3)]),
              fillRect() {},
            },
            { from: a, to: b } = view;

          Object.assign(view, { from: begin, to: end });
          eachTick(view.axis, x => lines.push(x));
          paintAxis(canvas, view.axis, view.palette);
          const isWhole = found.every(([, whole, isRight]) => whole && isRight),
            labels = found.map(([words]) => words);
          found.length = 0;
          paintLineNames(canvas, view, view.palette);
          Object.assign(view, { from: a, to: b });
          return { isWhole, first: labels[0], last: labels.at(-1), origin: found[0][0] };
        },
        [from, to],
      ),
    wanted = [
      [[0, 2e9], /^0(\.0)? s$/, /^[12]\.\d s$/, "since the start"],
      [[1e9, 1.1e9], /^10\d\d ms$/, /^1\d\d\d ms$/, "since the start"],
      [[1.5e9, 1.5001e9], /^0 us$/, /^(80|90|100) us$/, "1.500 s +"],
      [[1.5000001e9, 1.5000006e9], /^[12]\d\d ns$/, /^[56]\d\d ns$/, "1.500000 s +"],
    ];

  for (const [window, first, last, origin] of wanted) {
    const found = await read(window);

    if (!found.isWhole || !first.test(found.first) || !last.test(found.last) || found.origin !== origin)
      return window + ": " + JSON.stringify(found);
  }
  return null;
}

/* Also where the panels are narrow names can be read, and the first column stays. */
async function narrow(page) {
  await page.setViewportSize({ width: 900, height: 800 });
  await page.click("#tab-functions");
  await page.evaluate(() => {
    const { view } = document.getElementById("picture");

    view.about.regions.forEach(
      region => (region.name += region.name.length > 8 ? "_that_has_a_long_name_to_its_end" : ""),
    );
    document.querySelector("#panel-functions input[type=search]").dispatchEvent(new Event("input"));
  });
  const cells = await page.locator("#sums tbody tr:not(.room)").evaluateAll(rows =>
      rows.map(row => {
        const button = row.querySelector(".pick"),
          begin = button.querySelector("span") || button;

        return {
          name: button.textContent,
          isRead: begin.clientWidth >= Math.min(begin.scrollWidth, 25),
          isTold: button.title.includes(button.textContent),
        };
      }),
    ),
    stays = await page.evaluate(() => {
      const table = document.querySelector("#panel-functions .long"),
        cell = () => table.querySelector("tbody tr:not(.room) td").getBoundingClientRect().left,
        before = cell();

      table.scrollLeft = 150;
      return table.scrollLeft > 0 && Math.abs(cell() - before) < 2;
    });
  await page.click("#sums button.pick >> nth=0");
  await page.waitForSelector("#shares tbody tr", TIMEOUT);
  await settled(page);
  const [first, second] = await page.evaluate(() =>
    ["sums", "shares"].map(id => {
      const { x, y } = document.getElementById(id).parentElement.getBoundingClientRect();

      return { x, y };
    }),
  );
  await page.keyboard.press("Escape");
  await page.reload();
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.waitForSelector("#sums tbody tr", TIMEOUT);
  await settled(page);
  return (
    same(
      "names",
      cells.filter(({ isRead, isTold }) => !isRead || !isTold),
      [],
    ) ||
    same("stays", stays, true) ||
    (second.y > first.y + 60 && second.x < first.x + 60
      ? null
      : "beside each other: " + JSON.stringify([first, second]))
  );
}

/* The window of the whole run is moved, and stays as wide. */
async function dragged(page) {
  await page.evaluate(() => document.getElementById("picture").view.go(4e8, 8e8));
  await settled(page, 300);
  const place = await page.evaluate(() => {
      const { view } = document.getElementById("picture"),
        wide = view.map.clientWidth - 120;

      return { x: 120 + (wide * 6e8) / view.about.span_ns, step: (wide * 3e8) / view.about.span_ns };
    }),
    map = await page.locator("#map").boundingBox();
  await page.mouse.move(map.x + place.x, map.y + 20);
  await page.mouse.down();
  await page.mouse.move(map.x + place.x + place.step, map.y + 20, { steps: 4 });
  await page.mouse.up();
  await settled(page, 400);
  const [from, to] = await range(page);
  await page.focus("#picture");
  await page.keyboard.press("f");
  await settled(page, 300);
  return Math.abs(from - 7e8) < 2e7 && Math.abs(to - from - 4e8) < 1e3 ? null : `${from} to ${to}`;
}

/* Calls by the messages that they sent or received; a text that is no expression; labels. */
async function byMessages(page) {
  const note = () => page.locator("#panel-find > .note").innerText(),
    fill = async (label, text) => {
      await page.fill(`#panel-find input[aria-label^='${label}']`, text);
      await page.keyboard.press("Enter");
      await settled(page, 100);
    },
    limits = { partner: "rank of the other end", size: "bytes of a message" };

  await page.click("#tab-find");
  await fill("functions", "/^MPI_(Recv|Wait|Send)$/");
  const wanted = await page.evaluate(async () => {
    const { view } = document.getElementById("picture"),
      { calls } = await view.trace.calls({ ...view.find.asked, count: 2000 }),
      { messages } = await view.trace.messages(0, view.about.span_ns, 1e9),
      isOf = call => m =>
        [
          [m.from, m.sent, m.to],
          [m.to, m.received, m.from],
        ].some(
          ([row, ns, partner]) =>
            row === call.row &&
            ns >= call.begin &&
            ns <= call.begin + call.ns &&
            view.about.rows[partner].rank === rank,
        ),
      { rank } = view.about.rows[messages[0].from],
      most = Math.max(...messages.map(m => m.bytes));

    return {
      ...{ most, rank, all: calls.length },
      partner: calls.filter(call => messages.some(isOf(call))).length,
      large: calls.filter(call => messages.some(m => m.bytes === most && isOf(call)(m))).length,
    };
  });
  await fill(limits.partner, String(wanted.rank));
  const partner = parseInt(await note(), 10);
  await fill(limits.size, String(wanted.most));
  const large = parseInt(await note(), 10);
  await fill(limits.size, wanted.most + 1 + "-" + wanted.most * 2);
  const none = parseInt(await note(), 10);
  await fill(limits.size, "many");
  const invalid = await page.getAttribute(`#panel-find input[aria-label^='${limits.size}']`, "aria-invalid");
  await fill(limits.size, "");
  await fill(limits.partner, "");
  await fill("functions", "/(/");
  const wrong = await note();
  await page.evaluate(() => (document.getElementById("picture").view.labels = [[1e9, 0, "Step <1>"]]));
  await fill("functions", "step");
  const labels = await page.locator(".labels li").allInnerTexts();
  await fill("functions", "MPI_Recv");
  return (
    same("found", [partner, large, none], [wanted.partner, wanted.large, 0]) ||
    (wanted.partner && wanted.partner < wanted.all ? null : "partners of all: " + JSON.stringify(wanted)) ||
    same("no bytes", invalid, "true") ||
    same("no expression", wrong, "/(/ is not a regular expression.") ||
    same("labels", labels, ["Step <1> at 1.000000 s, rank 0"])
  );
}

/* One meaning of a part of the whole; one word for one thing. */
async function words(page) {
  await page.click("#tab-functions");
  await settled(page);
  const found = await page.evaluate(async () => {
      const { view } = document.getElementById("picture"),
        panels = view.bench.panels,
        { root } = await loadTree(view, windowOf(view)),
        twice = commands.map(({ words: of }) => of).filter((of, i, all) => all.indexOf(of) < i);

      return { tree: root.whole, functions: panels.get("functions").all / 1e9, twice, isKnown: Boolean(view.find) };
    }),
    tilde = await page.locator("#panel-functions .note").last().textContent();

  await page.click("#tab-flame");
  await settled(page);
  const flame = await page.locator("#flamegraph .note").innerText(),
    isInSight = await page.evaluate(() => {
      const { api } = document.getElementById("picture").view.bench.dock.getPanel("flame").group,
        { height } = api;

      api.setSize({ height: 180 });
      const [note, panel] = ["#flamegraph .note", "#panel-flame"].map(of => document.querySelector(of)),
        is = note.getBoundingClientRect().bottom <= panel.getBoundingClientRect().bottom;
      api.setSize({ height });
      return is;
    });
  await page.click("#tab-functions");
  await page.keyboard.press("Control+k");
  await page.keyboard.type("rows by waiting");
  const choices = await page.locator("#commands li").allInnerTexts();
  await page.keyboard.press("Escape");
  return (
    same("of all", found.tree, found.functions) ||
    same("told twice", found.twice, []) ||
    same("palette", choices, ["sort rows by waiting", "colour rows by waiting"]) ||
    (/^all functions: [\d.]+ m?s, [\d.]+ % of the time of the rows$/.test(flame) ? null : flame) ||
    same("in sight", isInSight, true) ||
    (tilde.includes("~") ? tilde : null)
  );
}

/* The messages of a call, and their other ends. */
async function ofCall(page) {
  const text = await page.evaluate(async () => {
    const { view } = document.getElementById("picture"),
      { messages } = await view.trace.messages(0, view.about.span_ns, 1e9),
      [first] = messages,
      { slices } = await view.trace.slices(first.to, first.received - 1, first.received, 0),
      call = slices.at(-1);

    view.bench.show("details");
    view.select(call);
    const sender = view.about.rows[first.from].rank;

    return `from rank ${sender}: ${bytes(first.bytes)}, tag ${first.tag}, ${commWords(view.about, first.comm)}`;
  });

  await page.waitForSelector(".messages li", TIMEOUT);
  const lines = await page.locator(".messages li").allInnerTexts();
  await page.focus("#picture");
  await page.keyboard.press("Escape");
  return lines.some(line => line.startsWith(text)) ? null : `${text} in ${lines}`;
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

  const shown = () => page.locator("#details h2").isVisible();

  /* rows that are made anew are no longer those that are clicked: on a busy machine also behind this */
  for (let tries = 0; tries < 5 && !(await shown()); tries++) {
    await settled(page);
    await row.locator("button.longest").click();
    await page.waitForSelector("#details h2", { timeout: 10000 }).catch(() => null);
  }
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
  before = await type("1.5s-9000s");
  await moved(page, before);
  const rest = await range(page),
    span = await page.evaluate(() => document.getElementById("picture").view.about.span_ns);
  await type("panel: call tree");
  const open = await page.locator("[role=tab][aria-selected=true]").allInnerTexts();
  await page.keyboard.press("f");
  return (
    same("a stretch", stretch, [1250000000, 1300000000]) ||
    same("a time", there, [1475000000, 1525000000]) ||
    same("a stretch to behind the end", rest, [1500000000, span]) ||
    (open.includes("Call tree") ? null : "panels: " + open)
  );
}

/* Without text all commands; what there is not is said. */
async function commandsOf(page) {
  const note = () => page.locator("#palette .note").innerText(),
    listed = () => page.locator("#commands li").count();

  await page.keyboard.press("Control+k");
  const all = await listed(),
    wanted = await page.evaluate(() => commands.length),
    usual = await note();
  await page.keyboard.type("zzzz");
  const [none, said] = [await listed(), await note()],
    wrong = await accessible(page);
  await page.keyboard.press("Escape");
  return same("listed", [all, usual, none, said], [wanted, "", 0, "nothing found"]) || wrong;
}

/* Before anything is looked for: no empty table, and keys that go to calls say why they do not. */
async function nothingFound(page) {
  const hidden = () =>
    page.locator("#panel-find").evaluate(of => [...of.querySelectorAll("canvas, .long")].map(el => !el.clientHeight));

  await page.click("#tab-find");
  await settled(page);
  const before = await hidden(),
    cut = await page.evaluate(() => {
      const input = document.querySelector("#panel-find input[list]"),
        c = document.createElement("canvas").getContext("2d");

      c.font = getComputedStyle(input).font;
      return c.measureText(input.placeholder).width > input.clientWidth - 8;
    });
  await page.focus("#picture");
  await page.keyboard.press("n");
  const told = await page.locator("#told").innerText();
  await page.fill("#panel-find input[list]", "MPI_Recv");
  await page.keyboard.press("Enter");
  await page.waitForSelector("#calls tbody tr", TIMEOUT);
  await settled(page);
  const after = await hidden(),
    at = await page.locator("#calls tbody td").first().innerText(),
    over = await page.evaluate(() => {
      const { view } = document.getElementById("picture"),
        words = [],
        bars = [],
        c = { fillText: (text, x, y) => words.push(y), fillRect: (x, y) => bars.push(y), measureText: () => ({}) };

      view.find.draw(c, 400);
      return Math.min(...words) + 12 > Math.min(...bars);
    });
  await page.fill("#panel-find input[list]", "");
  await page.keyboard.press("Enter");
  await settled(page);
  await page.click("#tab-functions");
  return (
    same(
      "hidden",
      [before, after],
      [
        [true, true],
        [false, false],
      ],
    ) ||
    same("cut, words over bars", [cut, over], [false, false]) ||
    (/^no calls to go to/.test(told) ? null : "n: " + told) ||
    (/^\d\.\d{9} s$/.test(at) ? null : "at " + at)
  );
}

/* Titles of the panels at one side of the timeline, group by group. */
const groupsAt = (page, side) =>
    page.evaluate(of => {
      const { bench } = document.getElementById("picture").view;

      return bench.dock.groups
        .filter(({ panels }) => panels[0].id !== "timeline" && bench.sideOf(panels[0].id) === of)
        .map(({ panels }) => panels.map(({ id }) => bench.panels.get(id).title));
    }, side),
  tabOf = (page, name) => page.locator("[role=tab]", { has: page.locator("#tab-" + name) });

async function asAtFirst(page) {
  await page.keyboard.press("Control+k");
  await page.keyboard.type("where they were at first");
  await page.keyboard.press("Enter");
  await settled(page);
}

/* Where panels are is in the address, and comes back with it. */
async function layout(page) {
  const wide = () => tabOf(page, "details").evaluate(of => of.closest(".dv-groupview").clientWidth);

  await page.click("#tab-waiting");
  await page.click(".dv-groupview:has(#tab-waiting) button:text-is('move')");
  await tabOf(page, "details").click();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Delete"); /* of the bookmarks */
  const before = await wide();
  await tabOf(page, "details").click();
  await page.keyboard.press("Shift+ArrowLeft");
  const after = await wide(),
    wanted = [["Details", "Waiting"]];
  await page.click("#tab-waiting");
  await page.waitForFunction(() => location.hash.includes("details.waiting*"), null, TIMEOUT);
  const right = await groupsAt(page, "right");
  await page.reload();
  await page.waitForSelector("#waits tbody tr", TIMEOUT);
  await settled(page);
  const again = await groupsAt(page, "right"),
    kept = await wide();
  await asAtFirst(page);
  const first = await groupsAt(page, "right");
  await page.dragAndDrop("#tab-find", "#tab-marks");
  const dragged = (await groupsAt(page, "right"))[0].sort();
  await asAtFirst(page);
  return (
    same("moved and closed", right, wanted) ||
    same("later", [again, kept], [wanted, after]) ||
    same("as at first", first, [["Details", "Bookmarks"]]) ||
    same("dragged", dragged, ["Bookmarks", "Details", "Find"]) ||
    (after > before ? null : `size: ${before}, then ${after}`)
  );
}

/* A tab that is dragged to the edge of a group is a group of its own beside it: two panels are seen at once. */
async function split(page) {
  const box = await page.locator(".dv-groupview:has(#tab-functions)").boundingBox();

  await page.dragAndDrop("#tab-find", ".dv-groupview:has(#tab-functions) .dv-content-container", {
    targetPosition: { x: box.width - 12, y: box.height / 2 },
  });
  await page.click("#tab-functions");
  await page.waitForFunction(() => location.hash.includes("find"), null, TIMEOUT);
  const beside = await page.evaluate(() =>
    ["#panel-functions", "#panel-find"].map(of => document.querySelector(of).getBoundingClientRect().top > 0),
  );
  await page.reload();
  await page.waitForSelector("#panel-find input", TIMEOUT);
  await settled(page);
  const groups = (await groupsAt(page, "bottom")).map(({ length }) => length),
    wrong = await accessible(page);
  await page.setViewportSize({ width: 800, height: 800 });
  await page.locator(".dv-tabs-overflow-dropdown-default").first().click();
  const last = page.locator(".dv-tabs-overflow-container .tab").last(),
    name = await last.getAttribute("data-panel");
  await last.click();
  const listed = await tabOf(page, name).getAttribute("aria-selected");
  await page.setViewportSize({ width: 1280, height: 800 });
  await asAtFirst(page);
  return (
    same("both seen", beside, [true, true]) ||
    same("panels", groups.slice(1), [1]) ||
    same("from the list of tabs", listed, "true") ||
    wrong
  );
}

/* A window of another size, and back: groups have their sizes again, and what has the focus keeps it. */
async function resized(page) {
  const text = () => page.evaluate(() => document.getElementById("picture").view.bench.text());

  await asAtFirst(page);
  await page.click("#tab-find");
  await page.focus("#panel-find input[list]");
  const before = await text();
  await page.setViewportSize({ width: 600, height: 400 });
  await page.waitForTimeout(200);
  const small = await text();
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.waitForTimeout(200);
  const after = await text(),
    focus = await page.evaluate(() => document.activeElement.matches("#panel-find input[list]"));
  await asAtFirst(page);
  return same("sizes", after, before) || same("smaller, focus", [small !== before, focus], [true, true]);
}

/* What no layout is in an address: panels are as at first. */
async function noLayout(page) {
  const wanted = await page.evaluate(() => document.getElementById("picture").view.bench.usualText()),
    found = await page.evaluate(
      texts =>
        texts.map(text => {
          const { bench } = document.getElementById("picture").view;

          address.parts.set("panels", text);
          bench.fromAddress();
          return bench.text();
        }),
      [
        "h(",
        "x(timeline)",
        "h(details*-280)",
        "h((timeline_find-280)",
        "h" + "(".repeat(60000),
        "h" + "(".repeat(1500) + "timeline" + ")".repeat(1500),
        "h(timeline.details*-280)",
        "h(timeline_<img>-280)",
      ],
    );

  await page.evaluate(() => {
    address.parts.delete("panels");
    document.getElementById("picture").view.bench.fromAddress();
  });
  return same(
    "layouts",
    found,
    found.map(() => wanted),
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

/* Each panel shows something, and axe-core finds nothing against it: in the page, and then against its other colours
 * and sizes. */
async function panels(page, name) {
  for (const [panel, what] of Object.entries(PANELS)) {
    await page.click("#tab-" + panel);
    await page.waitForSelector(what, TIMEOUT);
    await settled(page);
    await page.screenshot({ path: path.join(folder, `view-${name}-${panel}.png`) });
    const wrong = await accessible(page, name === "light" ? null : { include: [".tabs", "#panel-" + panel] });

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
    await look(name + ": colours that can be told apart", apart(page));
    await page.screenshot({ path: path.join(folder, "view-" + name + ".png") });
    if (name === "light") {
      await look("keys", keys(page));
      await look("all commands", commandsOf(page));
      await look("calls before any are looked for", nothingFound(page));
      await look("a function's longest call", longest(page));
      await look("a table that is sorted", sorted(page));
      await look("a function that is selected", selected(page));
      await look("calls that are found", found(page));
      await look("the palette of commands", palette(page));
      await look("the panels' places", layout(page));
      await look("panels beside each other", split(page));
      await look("a window of another size", resized(page));
      await look("no layout in the address", noLayout(page));
      await look("bookmarks", bookmarks(page, faults));
      await look("pictures and tables that are saved", taken(page));
      await look("help", help(page));
      await look("what the legend says", legend(page));
      await look("the axis of time", axis(page));
      await look("narrow panels", narrow(page));
      await look("the window of the whole run", dragged(page));
      await look("calls by their messages, and labels", byMessages(page));
      await look("the messages of a call", ofCall(page));
      await look("words", words(page));
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
      .then(text => (text.includes("100 ms, from 1.0000 s to 1.1000 s") ? null : text)),
  );
  await close();
  await browser.close();
}

await main();
