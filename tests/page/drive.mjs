/* SPDX-License-Identifier: BSD-3-Clause */
/* Looks at pages of reports in a browser. drive.mjs FOLDER: the folder's pages.json says which; each line of stdout is
 * what was asked for and seen, { page, check, wrong }: wrong is null, or words. */
import fs from "node:fs";
import path from "node:path";
import { accessible, branchesOf, launch, same, settled, watched } from "./browser.mjs";

const folder = process.argv[2];
const asked = JSON.parse(fs.readFileSync(path.join(folder, "pages.json"), "utf8"));

function say(page, check, wrong) {
  process.stdout.write(JSON.stringify({ page, check, wrong: wrong || null }) + "\n");
}

/* A page that is open, and what it did that it must not. */
async function open(browser, file, options) {
  const { page, faults, close } = await watched(browser, /^(file|data|blob):/, options);

  await page.goto("file://" + path.resolve(folder, file));
  await page
    .waitForSelector("html[data-ready=yes]", { timeout: 20000 })
    .catch(() => faults.push("not ready: " + page.url()));
  return { page, faults, close };
}

/* What the report's JSON says stands on the first screen. */
async function first(page, report) {
  const text = selector => page.locator(selector).allInnerTexts();
  const plain = words => words.replace(/\s+/g, " ");
  const listed = report.findings.filter(finding => finding.name !== "no_processor"),
    noisy = report.findings.filter(finding => finding.name === "no_processor");
  const findings = (await text("#findings > ol > li")).map(plain),
    above = (await text("#findings > p.bad")).map(plain); /* that the run was noisy, before all others */
  const wrong = [
    same("title", await page.locator("h1").textContent(), report.run.command),
    same("findings", findings.length, Math.min(listed.length, 3)),
    same("noisy", above.length, noisy.length),
  ];

  [...noisy, ...listed.slice(0, 3)].forEach((finding, i) => {
    const words = [...above, ...findings][i] || "";

    if (!words.includes(plain(finding.text))) wrong.push(`finding ${i}: ${words}`);
  });
  const efficiencies = Object.entries(report.efficiency || {})
    .filter(([, value]) => value !== null)
    .map(([, value]) => (100 * value).toFixed(1) + " %");
  const shown = (await text(".efficiency .value")).map(words => words.replace(/ [^ ]*$/, ""));
  wrong.push(same("efficiencies", shown.sort(), efficiencies.sort()));
  const bottom = await page.locator("#findings").evaluate(element => element.getBoundingClientRect().bottom);
  wrong.push(bottom <= 800 ? null : `findings end at ${bottom} of 800 pixels`);
  return wrong.filter(Boolean).join("; ");
}

/* The page of one function says so, and has the rows of it that the JSON has, in each table. */
async function ofFunction(page, list, name) {
  const words = await page.locator("#of-function").innerText(),
    bars = await page.locator(".efficiency").count();
  const wrong = [
    words.includes(`${name} alone`) ? null : `on top stands ${words}`,
    bars ? `${bars} efficiencies of the run` : null,
    list.some(({ table }) => table === "cpu_procedures") ? null : "the JSON has nothing of it",
    list.some(({ table, rows }) => table === "call_tree" && JSON.stringify(rows).includes('"compute"'))
      ? null
      : "the call tree does not have what it called",
  ];

  await page.evaluate(() =>
    document.querySelectorAll("details").forEach(details => {
      details.open = true;
    }),
  );
  await page.waitForTimeout(200);
  for (const { table, rows } of list.filter(of => of.table !== "findings")) {
    const of = page.locator(`#table-${table}`);
    const found = (await of.count()) ? await of.evaluate(element => element.closest("div.table").view.csv()) : "";

    wrong.push(same(`rows of ${table}`, found ? cells(found).length - 1 : 0, rows.length));
  }
  wrong.push((await page.locator("#table-matrix").count()) ? "the matrix is of all functions" : null);
  return wrong.filter(Boolean).join("; ");
}

/* Of several runs: what fvmpi scaling and fvmpi diff say. */
async function study(page, { points, parts, scaling }) {
  const words = await page.locator("#findings").innerText(),
    cells = await page.locator("#by-size tbody tr").allInnerTexts(),
    last = points[points.length - 1];
  const shown = cells.map(row => row.split(/\s*\t\s*/)),
    global = shown.find(row => row[0] === "global");
  const wrong = [
    same("speedup", words.includes("speedup " + last.speedup.toFixed(2) + " of " + last.factor.toFixed(2)), true),
    same(
      "global",
      global.slice(1).map(cell => cell.replace(/ [^ ]*$/, "")),
      points.map(point => (100 * point.global).toFixed(1) + " %"),
    ),
    same(
      "marks",
      shown
        .flatMap(row => row.slice(1))
        .filter(Boolean)
        .every(cell => (parseFloat(cell) >= 80 ? cell.endsWith("\u2713") : cell.endsWith("\u26a0"))),
      true,
    ),
    same("fell most", words.includes(scaling.worst), true),
  ];

  await page.locator("#part-curve select").selectOption({ index: parts.length - 1 });
  wrong.push(
    same(
      "part",
      (await page.locator("#part-curve figcaption").innerText()).includes(parts[parts.length - 1].name),
      true,
    ),
  );
  return wrong.filter(Boolean).join("; ");
}

/* Copies of a program: the same. */
async function throughput(page, points, [{ command }]) {
  const last = points[points.length - 1],
    words = await page.locator("#findings").innerText(),
    known = points.filter(point => point.throughput !== null);

  return [
    same("title", await page.locator("h1").textContent(), "Throughput of " + command),
    same(
      "verdict",
      words.includes(
        last.throughput === null ? last.count + " copies: " : "do as much as " + last.throughput.toFixed(2) + " alone",
      ),
      true,
    ),
    same("no null", words.includes("null"), false),
    same("bars", await page.locator("#throughput-stacks li").count(), known.length),
    same("reasons", await page.locator("#efficiency").getByText("no stack: ").count(), points.length - known.length),
  ]
    .filter(Boolean)
    .join("; ");
}

/* Runs on several numbers of threads: what fvmpi stacks says, a bar for each stack that it has, and a reason for each
 * that it has not. */
async function threads(page, { speedups, throughputs, runs }) {
  if (throughputs.length) return throughput(page, throughputs, runs);
  const [{ points }] = speedups,
    words = await page.locator("#findings").innerText(),
    last = points[points.length - 1],
    good = all => all.filter(point => point.verdict === "good").length;
  const phases = speedups.slice(1).flatMap(phase => phase.points.filter(point => point.thread_count > 1));

  return [
    same("title", await page.locator("h1").textContent(), "Threads of " + runs[0].command),
    same("speedup", words.includes("speedup " + last.speedup.toFixed(2) + " of " + last.thread_count), true),
    same("bars", await page.locator("#program-stacks li").count(), good(points)),
    same("reasons", await page.locator("#efficiency").getByText("no stack: ").count(), points.length - good(points)),
    same("bars of phases", await page.locator("#phase-stacks li").count(), good(phases)),
    same(
      "graphs of phases",
      await page.locator("#phase-curves h4").allInnerTexts(),
      speedups
        .slice(1)
        .filter(phase => phase.points.filter(point => point.speedup !== null).length > 1)
        .map(({ name }) => name)
        .slice(0, 12),
    ),
  ]
    .filter(Boolean)
    .join("; ");
}

async function sides(page, { run_changes: changes, runs_a: [a], runs_b: [b], entries, mpi_functions: functions }) {
  const procedures = entries.filter(of => of.table === "cpu_procedures"),
    computing = procedures.length ? procedures : entries.filter(of => of.table === "regions");
  const words = await page.locator("#screen").innerText(),
    elapsed = changes.find(change => change.metric === "elapsed_s");
  const identity = await page.locator("#identity").innerText(),
    wrong = [];

  wrong.push(same("ratio", words.includes("B takes " + (100 * Math.abs(elapsed.ratio - 1)).toFixed(1) + " %"), true));
  wrong.push(
    same("rows", await page.locator("#changes tbody tr").count(), Math.min(functions.length + computing.length, 12)),
  );
  for (const finding of entries.filter(of => of.table === "findings" && of.name !== "no_processor").slice(0, 6))
    wrong.push(same("finding", words.includes(finding.text), true));
  wrong.push(
    same(
      "noisy",
      (await page.locator("#completeness").innerText()).includes("noisy"),
      a.no_processor_s + b.no_processor_s > 0,
    ),
  );
  wrong.push(same("sides", identity.includes(a.directory) && identity.includes(b.directory), true));
  return wrong.filter(Boolean).join("; ");
}

/* Lines of the program beside their times; a call site that is selected is marked there. */
async function source(page, report) {
  const site = report.callsites.find(of => of.path.length && of.path[0].line),
    { file, line } = site.path[0];
  const name = file.replace(/.*\//, "");
  const wrong = [];

  await page.evaluate(() =>
    document.querySelectorAll("details.subject").forEach(subject => {
      subject.open = true;
    }),
  );
  await page.waitForTimeout(100);
  await page.evaluate(id => selection.toggle("callsite", id), site.id);
  const row = page.locator("#source tr[aria-selected=true]");
  wrong.push(
    same("lines", (await row.count()) >= 1, true),
    same("file", (await page.locator("#source select option:checked").innerText()).split(": ")[0].endsWith(name), true),
    same(
      "files have no more than all",
      (await page.locator("#source select option").allInnerTexts())
        .map(text => Number((/([0-9.]+) %/.exec(text) || [0, 0])[1]))
        .reduce((a, b) => a + b, 0) <= 100.5,
      true,
    ),
  );
  wrong.push(
    same("line", await row.first().locator("td").nth(3).innerText(), String(line)),
    same("call", (await row.first().locator("td.code").innerText()).includes(site.function), true),
  );
  await page.evaluate(() => selection.clear());
  const [hot, costly] = await page.evaluate(() => {
    const rows = [...document.querySelectorAll("#source tbody tr")].filter(row => row.of),
      most = Math.max(...rows.map(row => costOf(row.of)));

    return [rows.filter(row => row.classList.contains("hot")), rows.filter(row => costOf(row.of) >= most / 2)].map(
      of => of.length,
    );
  });
  wrong.push(same("red lines", hot, costly), same("any", hot > 0, true));
  return wrong.filter(Boolean).join("; ");
}

/* All subjects unfold; the timeline has all that it asked for. */
async function unfolded(page) {
  await page.evaluate(() =>
    document.querySelectorAll("details.subject").forEach(subject => {
      subject.open = true;
    }),
  );
  await page.waitForSelector("#picture", { timeout: 10000 });
  await settled(page, 300);
}

/* Each call and message of each rank; keys zoom, a click says what stands there and selects it. */
async function overTime(page, report, { calls, messages }) {
  await unfolded(page);
  const seen = await page.evaluate(() => {
    const { all: rows, of: messages, end } = document.getElementById("timeline").stage.trace,
      pairs = {};

    messages.from.forEach((from, i) => {
      pairs[from + ">" + messages.to[i]] = (pairs[from + ">" + messages.to[i]] || 0) + 1;
    });
    return {
      ranks: rows.map(row => row.rank),
      counts: rows.map(row => row.count),
      ordered: rows.every(row => row.begin.every((at, i) => row.end[i] >= at && (!i || at >= row.end[i - 1]))),
      pairs,
      end,
      late: messages.flight.filter(flight => flight < 0).length,
    };
  });
  const ranks = report.ranks.map(rank => rank.rank),
    sent = Object.fromEntries(report.matrix.rows.map(([from, to, n]) => [from + ">" + to, n]));
  const wrong = [
    same("rows", seen.ranks, ranks),
    same(
      "calls",
      seen.counts,
      ranks.map(() => calls),
    ),
    same("in order", seen.ordered, true),
    same("messages", seen.pairs, sent),
    same(
      "of a rank",
      Object.values(seen.pairs).every(n => n === messages),
      true,
    ),
    same("received before they were sent", seen.late, 0),
  ];
  const canvas = page.locator("#picture"),
    span = () =>
      page.evaluate(() => {
        const { from, to } = document.getElementById("timeline").view;
        return to - from;
      });

  const all = await span();
  await canvas.focus();
  await page.keyboard.press("w");
  wrong.push(same("zoomed", (all / (await span())).toFixed(2), "1.50"));
  await page.keyboard.press("s");
  await settled(page, 300);
  wrong.push(await drawnMessages(page, messages * ranks.length));
  const { x, y, name } = await page.evaluate(() => {
    /* the longest call of the first row */
    const { view, stage } = document.getElementById("timeline"),
      row = stage.trace.all[0],
      longest = [...row.begin.keys()].sort((a, b) => row.end[b] - row.begin[b] - row.end[a] + row.begin[a])[0];

    return {
      x: NAMES_WIDE + view.x((row.begin[longest] + row.end[longest]) / 2),
      y: view.yOf(0),
      name: stage.words.name(row.sites[longest]),
    };
  });
  await canvas.click({ position: { x, y } });
  await page.waitForSelector("#details h2", { timeout: 10000 });
  wrong.push(same("told", await page.locator("#details h2").innerText(), name));
  wrong.push(
    same(
      "selected",
      await page.evaluate(() => {
        const site = selection.get("callsite");
        return site === null ? null : document.getElementById("timeline").stage.words.name(site);
      }),
      name,
    ),
  );
  await page.screenshot({ path: path.join(folder, "timeline.png") });
  await canvas.click({ position: { x: 10, y } });
  wrong.push(same("a rank", await page.evaluate(() => selection.get("rank")), ranks[0]));
  await page.evaluate(() => selection.clear());
  await canvas.focus();
  await page.keyboard.press("w");
  await page.waitForFunction(() => /view=/.test(location.hash), null, { timeout: 5000 });
  await page.reload();
  await page.waitForSelector("#picture", { timeout: 10000 }); /* the address unfolds it */
  wrong.push(same("zoomed by the address", (all / (await span())).toFixed(2), "1.50"));
  await page.evaluate(() => {
    history.replaceState(null, "", location.pathname);
  });
  await page.reload();
  await page.waitForSelector("html[data-ready=yes]", { timeout: 20000 });
  wrong.push(same("folded", await page.locator("#timeline").count(), 0));
  return wrong.filter(Boolean).join("; ");
}

/* So many messages are lines; m hides and shows them. */
async function drawnMessages(page, wanted) {
  const picture = () => page.locator("#picture").evaluate(canvas => canvas.toDataURL()),
    drawn = () => page.evaluate(() => document.getElementById("timeline").view.messages.messages.length),
    wrong = [same("messages that are drawn", await drawn(), wanted)],
    before = await picture();
  const press = async () => {
    await page.locator("#picture").focus();
    await page.keyboard.press("m");
    await settled(page, 300);
  };

  await press();
  wrong.push(same("hidden", [await drawn(), (await picture()) === before], [0, false]));
  await press();
  wrong.push(same("shown again", [await drawn(), (await picture()) === before], [wanted, true]));
  return wrong.filter(Boolean).join("; ");
}

/* Tiles are sums of the calls, the waits and the samples that the page has: of each row, and of all of them
 * together. */
function tilesOf(page) {
  return page.evaluate(async () => {
    const { view, stage } = document.getElementById("timeline"),
      { trace, source } = stage,
      rows = trace.all.length,
      count = 200,
      [from, to] = [0.1 * trace.end, 0.9 * trace.end],
      step = (to - from) / count,
      ofMpi = view.about.classes.flatMap(({ name }, k) => (MPI_CLASSES.includes(name) ? [k] : [])),
      text = Array.from({ length: rows }, (_, row) => row).join(";"),
      each = await source.tiles({ from, to, count, first: 0, merge: 1, text }),
      mean = await source.tiles({ from, to, count, first: 0, merge: rows, text: "0-" + (rows - 1) }),
      wrong = [];
    /* without what is in a call: allocations, writes, waits for threads */
    const timeOf = (row, begin, end) => {
      let [calls, waits, inside] = [0, 0, 0];
      const within = (a, b) => Math.max(Math.min(b, end) - Math.max(a, begin), 0);

      for (let i = 0; i < row.count; i++) {
        calls += within(row.begin[i], row.end[i]);
        waits += within(row.begin[i], row.begin[i] + row.wait[i]);
        for (const layer of [3, 4, 5]) {
          const lane = row.lanes.get(layer);

          for (let k = 0; lane && k < lane.count; k++)
            if (!lane.depths[k] && lane.begin[k] >= row.begin[i] && lane.end[k] <= row.end[i])
              inside += within(lane.begin[k], lane.end[k]);
        }
      }
      const blocked = row.lanes.get(3);

      for (let k = 0; blocked && k < blocked.count; k++) waits += within(blocked.begin[k], blocked.end[k]);
      return [calls - inside, waits];
    };
    const tell = (what, tiles, at, wanted) => {
      const found = [ofMpi.reduce((sum, k) => sum + tiles.parts[k * tiles.all + at], 0), tiles.waits[at]],
        bytes = wanted.map(ns => (255 * ns) / step);

      if (found.some((value, i) => Math.abs(value - bytes[i]) > 3))
        wrong.push(`${what}, tile ${at % count}: MPI and waits ${found}, wanted ${bytes}`);
    };
    let any = 0;

    for (let i = 0; i < count; i++) {
      const times = trace.all.map(row => timeOf(row, from + i * step, from + (i + 1) * step));

      times.forEach((time, row) => tell("row " + row, each, row * count + i, time));
      tell(
        "all rows",
        mean,
        i,
        [0, 1].map(k => times.reduce((sum, time) => sum + time[k], 0) / rows),
      );
      any += times.reduce((sum, [calls]) => sum + calls, 0);
    }
    return wrong.slice(0, 3).join("; ") || (any ? null : "there are no calls");
  });
}

/* Of each call of a collective operation the calls of all ranks are known, which are together in it; one that is chosen
 * says so. */
async function together(page, ranks) {
  await unfolded(page);
  const seen = await page.evaluate(async () => {
    const { view, stage } = document.getElementById("timeline"),
      { slices } = await stage.source.slices(0, 0, stage.trace.end + 1, 0),
      wrong = [];
    let n = 0;

    for (const { row, begin, depth } of slices.filter(of => of.isTogether)) {
      const { calls, members } = await stage.source.links("together", { row, begin, depth }),
        rows = calls.map(of => of.row).sort();

      n++;
      if (members !== view.about.rows.length || rows.join() !== [...view.about.rows.keys()].join())
        wrong.push(`at ${begin}: ${members} members, calls of rows ${rows}`);
      /* none ends before all have begun: clocks are the same */
      if (Math.max(...calls.map(of => of.begin)) > Math.min(...calls.map(of => of.begin + of.ns)))
        wrong.push(`at ${begin}: they are not in it together`);
    }
    view.goToCall(slices.filter(of => of.isTogether).pop());
    return { n, wrong: wrong.slice(0, 3) };
  });
  await settled(page, 300);
  const words = await page.locator("#details").innerText();

  await page.evaluate(() => {
    document.getElementById("timeline").view.select(null);
    document.getElementById("timeline").view.goToAll();
  });
  return [
    same("collective operations", [seen.n >= 12, seen.wrong], [true, []]),
    same(words, new RegExp(`collective on .*, ${ranks} members`).test(words), true),
  ]
    .filter(Boolean)
    .join("; ");
}

/* Of a run with more calls than the page takes: so many are left out, and it is said what shows them. */
async function leftOutOf(page) {
  await unfolded(page);
  const { calls, places, rows } = await page.evaluate(() => {
      const { trace, view } = document.getElementById("timeline").stage,
        rows = view.trace.siteNames.length,
        own = trace.all.flatMap(row => [...row.sites]).filter(site => site !== null);

      return { calls: trace.leftOut.calls, places: own.filter(site => site >= rows).length, rows };
    }),
    words = await page.locator("#left-out").innerText(),
    wanted = calls.toLocaleString("en-US") + " shorter MPI calls";

  if (!places) return "all places of calls are among the " + rows + " of the table";
  return calls && words.includes(wanted) && /fvmpi view shows all/.test(words) ? null : `${calls} calls: ${words}`;
}

/* Lanes have what the program did, in each other as it did it; one that is not wanted goes, also by the address; a
 * click tells what stands there. */
async function layersOf(page, { files, steps }) {
  await unfolded(page);
  const seen = await page.evaluate(() => {
      const { trace, lanes } = document.getElementById("timeline").stage;

      return {
        lanes: lanes.present.map(({ key }) => key),
        rows: trace.all.map(({ rank, thread, lanes: own }) => ({
          rank,
          thread,
          lanes: LANES.filter(({ layer }) => own.has(layer)).map(({ key, layer }) => ({
            key,
            spans: Array.from({ length: own.get(layer).count }, (_, i) => ({
              name: trace.frames[trace.spanName(own.get(layer), i)],
              begin: own.get(layer).begin[i],
              end: own.get(layer).end[i],
              depth: own.get(layer).depths[i],
              bytes: own.get(layer).bytes[i],
              object: own.get(layer).objects[i] < 0 ? null : trace.frames[own.get(layer).objects[i]],
            })),
          })),
        })),
      };
    }),
    of = (rank, thread, key, name) => {
      const row = seen.rows.find(each => each.rank === rank && each.thread === thread),
        lane = row && row.lanes.find(each => each.key === key);

      return lane ? lane.spans.filter(span => !name || span.name === name) : [];
    };
  const wrong = [];

  for (const key of ["mpi", "sections", "functions", "openmp", "waits", "io", "memory"])
    wrong.push(same("lane " + key, seen.lanes.includes(key), true));
  for (const rank of [0, 1]) {
    const step = of(rank, 0, "sections", "step"),
      within = (span, outer) => outer.filter(each => span.begin >= each.begin && span.end <= each.end).length === 1,
      each = [
        ["sections", "step", 0],
        ["sections", "output", 1],
        ["functions", "outer", 0],
        ["functions", "inner", 1],
      ];

    for (const [key, name, depth] of each) {
      const spans = of(rank, 0, key, name);

      wrong.push(same(name, spans.length, steps));
      wrong.push(same("depth of " + name, [...new Set(spans.map(span => span.depth))], [depth]));
      wrong.push(
        same(
          name + " in a step",
          spans.every(span => within(span, step)),
          true,
        ),
      );
    }
    for (const thread of [0, 1]) {
      const parts = of(rank, thread, "openmp", "omp parallel"),
        waits = of(rank, thread, "waits", "omp implicit barrier");

      wrong.push(same("parallel regions of thread " + thread, parts.length, steps));
      wrong.push(
        same(
          "barriers follow them",
          waits.every(wait => parts.some(part => Math.abs(part.end - wait.begin) <= 2)) /* ns, rounded */,
          true,
        ),
      );
    }
    const written = of(rank, 0, "io", "fwrite");
    wrong.push(
      same(
        "written",
        written.map(({ bytes, object }) => [bytes, object]),
        Array(steps).fill([65536, files[rank]]),
      ),
    );
    wrong.push(
      same("allocated", of(rank, 0, "memory", "malloc").filter(({ bytes }) => bytes === 2 ** 20).length, steps),
    );
  }
  wrong.push(await drawnLanes(page), ...(await chooseLanes(page)));
  return wrong.filter(Boolean).join("; ");
}

/* Each span, call and sample is drawn, in the row of its thread: samples outside of calls in slices of their
 * function. */
function drawnLanes(page) {
  return page.evaluate(async () => {
    const { trace, source } = document.getElementById("timeline").stage,
      wrong = [];

    for (const [number, row] of trace.all.entries()) {
      const { slices } = await source.slices(number, 0, trace.end + 1, 0),
        counts = key => slices.filter(({ lane }) => lane === key).length;

      for (const { key, layer } of LANES)
        if (key !== "samples") {
          const all = layer === undefined ? row.count : row.lanes.has(layer) ? row.lanes.get(layer).count : 0;

          if (counts(key) !== all) wrong.push(`${key} of row ${number}: ${counts(key)} of ${all}`);
        }
      for (const { begin, ns, depth, outer } of slices)
        if (depth !== (outer ? outer.depth + 1 : 0) || (outer && (begin < outer.begin || ns > outer.ns + 2 * TOUCH_NS)))
          wrong.push(`a slice of row ${number} at ${begin} is not in what is around it`);
    }
    return wrong.slice(0, 3).join("; ");
  });
}

async function chooseLanes(page) {
  const canvas = page.locator("#picture"),
    wrong = [],
    drawn = () =>
      page.evaluate(() => {
        const { slices, tiles, about } = document.getElementById("timeline").view,
          of = about.classes.findIndex(({ name }) => name === "I/O");

        return [
          [...slices.values()].some(row => row.slices.some(({ lane }) => lane === "io")),
          tiles.parts.subarray(of * tiles.all, (of + 1) * tiles.all).some(part => part),
        ];
      });
  const place = await page.evaluate(async () => {
    /* the longest call of outer() of rank 0 */
    const { view, stage } = document.getElementById("timeline"),
      { slices } = await stage.source.slices(0, 0, stage.trace.end, 0),
      [longest] = slices
        .filter(({ region, lane }) => lane === "functions" && view.about.regions[region].name === "outer")
        .sort((a, b) => b.ns - a.ns),
      deep = Math.max(...view.slices.get(0).slices.map(({ depth }) => depth + 1));

    return {
      x: NAMES_WIDE + view.x(longest.begin) + 1.5 /* before inner() begins */,
      y: view.y(view.rows.lineOf[0]) + ((longest.depth + 0.5) / deep) * (view.rowTall - 2),
    };
  });

  wrong.push(same("I/O", await drawn(), [true, true]));
  await canvas.click({ position: place });
  await page.waitForSelector("#details h2", { timeout: 10000 });
  const told = await page.locator("#details").innerText();
  wrong.push(same("told: " + told, /^outer\s+rank 0 .*on /.test(told), true));
  wrong.push(same("function", await page.evaluate(() => selection.get("function")), "outer"));
  const legend = await page.locator("#timeline .legend").first().locator("span").allInnerTexts();
  wrong.push(
    same("it stands out: " + legend, [legend[0], legend.includes("all else")], ["outer", true]),
    same("its region", await page.evaluate(() => selection.about.regions[selection.region].name), "outer"),
  );
  await page.evaluate(() => selection.clear());
  await page.screenshot({ path: path.join(folder, "lanes.png") });
  await page.getByLabel("I/O", { exact: true }).uncheck();
  await settled(page, 300);
  wrong.push(same("without I/O", await drawn(), [false, false]));
  await page.reload();
  await page.waitForSelector("html[data-ready=yes]", { timeout: 20000 });
  await unfolded(page);
  wrong.push(same("by the address", await drawn(), [false, false]));
  await page.getByLabel("I/O", { exact: true }).check();
  await settled(page, 300);
  wrong.push(same("with I/O again", await drawn(), [true, true]));
  await page.getByLabel("ranks that are shown").fill("1");
  await page.keyboard.press("Enter");
  await settled(page, 300);
  wrong.push(
    same(
      "alone",
      await page.evaluate(() => {
        const { rows, about } = document.getElementById("timeline").view;

        return [...new Set(rows.lines.flatMap(line => line.rows.map(row => about.rows[row].rank)))];
      }),
      [1],
    ),
  );
  await page.getByLabel("ranks that are shown").fill("");
  await page.keyboard.press("Enter");
  return wrong;
}

/* As many samples wait for threads in the timeline as in the report. */
async function waitsForThreads(page, report) {
  await unfolded(page);
  const found = await page.evaluate(() => {
    const { trace } = document.getElementById("timeline").stage;

    return trace.all.reduce(
      (sum, { samples }) =>
        sum + samples.paths.filter((path, i) => trace.paths[path].sync && !samples.inside[i]).length,
      0,
    );
  });

  return same("samples", found, report.costs.all.sync_ticks) || (found ? "" : "no sample waits for threads");
}

/* The timeline has each sample of a function and its callers; one that is chosen tells them. Of all the time, calls and
 * functions add up to what the tables say. */
async function overSamples(page, report, { own, through, wait_s }) {
  const ticks = (name, of) => report.costs.procedures.find(procedure => procedure.procedure === name)[of].ticks,
    wrong = [],
    text = place => page.locator("#timeline " + place).innerText(),
    click = async position => {
      await settled(page, 300);
      await page.locator("#picture").click({ position });
      await page.waitForSelector("#details h2", { timeout: 10000 });
      await settled(page, 300);
    };

  await unfolded(page);
  const seen = await page.evaluate(
    ([own, through]) => {
      const { view, stage } = document.getElementById("timeline"),
        [inner, outer] = [own, through].map(name => stage.trace.frames.indexOf(name)),
        { all: rows, paths } = stage.trace,
        found = rows.flatMap(row => row.samples.paths.map(path => paths[path]));
      const number = rows.findIndex(row => row.rank === 1),
        [widest] = stage.source
          .stack(number)
          .slices.filter(({ lane, path }) => lane === "samples" && paths[path].frames.includes(outer))
          .sort((a, b) => b.ns - a.ns);

      return {
        own: found.filter(path => path.own === inner).length,
        through: found.filter(path => path.frames.includes(outer)).length,
        samples: found.length,
        x: NAMES_WIDE + view.x(widest.begin + widest.ns / 2),
        y: view.yOf(number),
        ordered: rows.every(row =>
          row.samples.begin.every((at, i) => row.samples.end[i] >= at && (!i || at >= row.samples.end[i - 1])),
        ),
        from: NAMES_WIDE + view.x(0),
        to: NAMES_WIDE + view.x(stage.trace.end),
      };
    },
    [own, through],
  );
  wrong.push(
    same("samples", seen.samples, report.costs.all.ticks),
    same("of the function", [seen.own, seen.through], [ticks(own, "own"), ticks(through, "inclusive")]),
    same("in order", seen.ordered, true),
  );
  const canvas = page.locator("#picture");
  const waits = await page.evaluate(own => {
    const { view, stage } = document.getElementById("timeline"),
      { all: rows, paths, frames } = stage.trace,
      { samples } = rows.find(row => row.rank === 1),
      inner = frames.indexOf(own),
      row = rows.find(row => row.rank === 0),
      waited = row.wait.reduce((sum, wait) => sum + wait, 0) * 1e-9;
    const during = (from, to) =>
      [...samples.paths.keys()]
        .filter(i => paths[samples.paths[i]].own === inner)
        .reduce((sum, i) => sum + Math.max(Math.min(samples.end[i], to) - Math.max(samples.begin[i], from), 0), 0);
    /* the longest for which the other was in its function, and not preempted or elsewhere */
    const longest = [...row.wait.keys()]
      .filter(i => during(row.begin[i], row.begin[i] + row.wait[i]) > row.wait[i] / 2)
      .sort((a, b) => row.wait[b] - row.wait[a])[0];
    const others = [...row.waitsFor.values()].filter(([rank]) => rank > 1).length;
    if (longest !== undefined) {
      const ns = row.end[longest] - row.begin[longest];

      view.go(row.begin[longest] - 4 * ns, row.end[longest] + 4 * ns); /* on a busy machine the run is long */
    }

    return {
      waited,
      others,
      found: longest !== undefined /* not of a rank that was preempted in all of them */,
      x: NAMES_WIDE + view.x((row.begin[longest] + row.end[longest]) / 2),
      y: view.yOf(rows.indexOf(row)),
    };
  }, own);
  wrong.push(
    waits.others || (wait_s !== null && Math.abs(waits.waited - wait_s) > 0.05 * wait_s)
      ? `rank 0 waits ${waits.waited} s, by the analysis ${wait_s}`
      : null,
  );
  if (waits.found) {
    await settled(page, 300);
    await click({ x: waits.x, y: waits.y });
    const why = await text("#details");

    wrong.push(
      same("whom it waited for: " + why, /waited for .*\s+for rank 1\n/.test(why), true),
      same("why: " + why, new RegExp("time rank 1 was in (MPI_Sendrecv [^,]*, )?" + own).test(why), true),
      same(
        "the arrow",
        await page.evaluate(() => {
          const { overlays, about } = document.getElementById("timeline").view;

          return overlays.chain.slice(0, 1).map(({ cause }) => about.rows[cause].rank);
        }),
        [1],
      ),
    );
    await page.keyboard.press("Escape");
    await page.evaluate(() => document.getElementById("timeline").view.goToAll());
    await settled(page, 300);
  }
  await click({ x: seen.x, y: seen.y });
  const path_ = await text("#details");
  wrong.push(
    same("call path: " + path_, new RegExp("rank 1 on .*" + through + ".*main", "s").test(path_), true),
    same("selected", await page.evaluate(() => selection.get("function")), own),
  );
  await page.screenshot({ path: path.join(folder, "samples.png") });
  await page.keyboard.press("Escape");
  await page.locator("#timeline button", { hasText: "select what is in view" }).click();
  const calls = report.mpi_functions.map(f => [f.function, f.time.sum_s]).sort((a, b) => b[1] - a[1])[0],
    words = await text("#stretch-calls");
  wrong.push(
    same(
      "calls of all",
      words.includes(calls[0]) && words.includes(await page.evaluate(value => seconds(value), calls[1])),
      true,
    ),
  );
  wrong.push(
    same("function of all", (await text("#stretch-code")).includes(own), true),
    same("stretch", /selected: from 0 s to /.test(await page.locator("#selection").innerText()), true),
  );
  const end = await page.evaluate(() => document.getElementById("timeline").stage.trace.end),
    heat = page.locator("figure", { hasText: "drag to select a stretch of time" }).locator("canvas");
  const half = async (what, place, from, to) => {
    await page.evaluate(() => selection.clear());
    await place.scrollIntoViewIfNeeded();
    const box = await place.boundingBox();
    await page.mouse.move(box.x + (from + to) / 2, box.y + 30);
    await page.mouse.down();
    await page.mouse.move(box.x + to - 2, box.y + 30, { steps: 4 });
    await page.mouse.up();
    const span = await page.evaluate(() => selection.stretch());
    wrong.push(
      same("half of the " + what, span && Math.abs(((span.to - span.from) * 1e9) / end - 0.5) < 0.02, true),
      same("address", /time=/.test(new URL(page.url()).hash), true),
    );
    wrong.push(same("a rank that is not selected", await page.evaluate(() => selection.get("rank")), null));
  };
  await page.keyboard.down("Shift");
  await half("timeline", canvas, seen.from, seen.to);
  await page.keyboard.up("Shift");
  await half("ranks over time", heat, 0, (await heat.boundingBox()).width);
  await page.evaluate(() => selection.clear());
  return wrong.filter(Boolean).join("; ");
}

/* The histogram of the call site that is selected. */
async function sizesOfSites(page, report) {
  const sized = report.callsites.filter(of => of.site_sizes.length > 0),
    last = sized[sized.length - 1];

  await page.evaluate(() => selection.clear());
  await page
    .locator("summary", { hasText: "Call sites and MPI functions" })
    .first()
    .evaluate(at => {
      at.parentElement.open = true;
    });
  await page.waitForSelector("#site-sizes");
  await page.evaluate(id => selection.toggle("callsite", id), last.id);
  const words = await page.locator("#site-sizes figcaption").innerText(),
    chosen = await page.locator("#site-sizes select").first().inputValue();

  await page.evaluate(() => selection.clear());
  return [
    same("chosen", chosen, String(last.id)),
    same("classes", words.split(". Sizes")[0].split("; ").length, last.site_sizes.length),
  ]
    .filter(Boolean)
    .join("; ");
}

/* The sum over ranks of the last call site that is whole in the table; what lies behind so many rows is rounded. */
async function roundedBehind(page, report) {
  await page.evaluate(async () => {
    document.querySelectorAll("details.of-table").forEach(details => {
      details.open = true;
    });
    await new Promise(done => setTimeout(done, 100));
  });
  const [site, sum, said, exact] = await page.evaluate(ranks => {
    const { table } = document.querySelector("#table-callsites_by_rank").closest(".table").view,
      whole = Math.floor(table.rows / ranks) - 1;
    let sum = 0;

    for (let row = whole * ranks; row < (whole + 1) * ranks; row++) sum += table.get("time_sum_s", row);
    const note = [...document.querySelectorAll("details.of-table .note")].some(n =>
      n.innerText.includes("three digits"),
    );
    return [whole, sum, note, (whole + 1) * ranks <= table.exact_rows];
  }, report.run.rank_count);
  const all = report.callsites[site].time.sum_s;

  if (Math.abs(sum - all) > (exact ? 1e-9 : 5e-3) * all) return `call site ${site}: ${sum} of ${all}`;
  return said === !exact ? "" : `said of rounded values: ${said}, where call site ${site} is exact: ${exact}`;
}

/* A table that lost rows says so, and has those that count most: the first. */
async function leftOut(page, report) {
  const { drawn, ready } = await page.evaluate(() => ({
    drawn: performance.getEntriesByName("first screen")[0].startTime,
    ready: performance.now(),
  }));
  const cut = await page.evaluate(async () => {
    document.querySelectorAll("details.subject").forEach(subject => {
      subject.open = true;
    });
    await new Promise(done => setTimeout(done, 200));
    return [...document.querySelectorAll("details.of-table")]
      .filter(of => of.querySelector(".note.bad"))
      .map(of => of.innerText.split("\n")[0]);
  });
  const sites = await page.evaluate(() => {
    const view = document.querySelector("#table-callsites").closest(".table").view;
    return [view.table.rows, view.table.all_rows, view.table.get("time_sum_s", 0)];
  });

  process.stderr.write(
    `# first screen after ${Math.round(drawn)} ms, all after less than ${Math.round(ready)} ms; ` +
      `${cut.length} tables lost rows\n`,
  );
  return [
    same("call sites", sites[1], report.callsites.length),
    same("the first", sites[2], report.callsites[0].time.sum_s),
    sites[0] < sites[1] === cut.some(words => words.startsWith("Call sites "))
      ? null
      : `said of ${cut}, call sites ${sites}`,
    await roundedBehind(page, report),
  ]
    .filter(Boolean)
    .join("; ");
}

/* Rows of fields, RFC 4180. */
function cells(text) {
  const rows = [[]];

  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^,\r\n]*))(,|\r?\n|$)/g)) {
    rows[rows.length - 1].push(quoted === undefined ? plain : quoted.replaceAll('""', '"'));
    if (end !== ",") rows.push([]);
  }
  return rows.filter(row => row.length > 1 || row[0]);
}

/* Each table that the page saves as CSV has the values that fvmpi wrote. */
async function tables(page, csv) {
  const wrong = [];

  await page.keyboard.press("e");
  await page.waitForTimeout(100);
  await page.evaluate(() =>
    document.querySelectorAll("details.of-table").forEach(details => {
      details.open = true;
    }),
  );
  await page.waitForTimeout(100);
  const seen = [];
  for (const element of await page.locator("div.table").all()) {
    const name = (await element.locator("table").getAttribute("id")).replace("table-", "");
    const found = cells(await element.evaluate(place => place.view.csv())),
      all = cells(fs.readFileSync(path.join(folder, csv, name + ".csv"), "utf8"));
    const wanted = all.map(row => found[0].map(key => row[all[0].indexOf(key)]));

    seen.push(name);
    if (found.length !== wanted.length) wrong.push(`${name}: ${found.length - 1} rows of ${wanted.length - 1}`);
    for (let row = 1; row < Math.min(found.length, wanted.length); row++)
      for (let column = 0; column < found[0].length; column++) {
        const a = found[row][column],
          b = wanted[row][column];

        if (a !== b && !(a !== "" && b !== "" && Number(a) === Number(b)))
          wrong.push(`${name}, row ${row}, ${found[0][column]}: ${a}, not ${b}`);
      }
  }
  const [saved] = await Promise.all([
    page.waitForEvent("download", { timeout: 5000 }),
    page.locator("div.table button", { hasText: "CSV" }).first().click(),
  ]);
  wrong.push(...(saved.suggestedFilename() === seen[0] + ".csv" ? [] : ["saved as " + saved.suggestedFilename()]));
  const missing = fs
    .readdirSync(path.join(folder, csv))
    .map(file => file.replace(".csv", ""))
    .filter(name => !seen.includes(name) && !["findings", "efficiency", "run", "scaling", "comparison"].includes(name));
  if (missing.length) wrong.push("not in the page: " + missing.join(", "));
  return wrong.slice(0, 5).join("; ");
}

/* A head sorts, first the largest first; a search leaves what has the word; a rank that is chosen in one table is
 * chosen in all. */
async function hands(page, report) {
  const wrong = [],
    rows = page.locator("#table-ranks tbody tr"),
    head = page.locator("#table-ranks th button", { hasText: /^time/ });
  const ranks = async () => (await rows.locator("td:first-child").allInnerTexts()).map(Number);
  const byTime = [...report.ranks]
    .sort((a, b) => b.app_time_s - a.app_time_s || a.rank - b.rank)
    .map(rank => rank.rank);

  await head.click();
  wrong.push(
    same("sorted", await ranks(), byTime.slice(0, 20)),
    same("said", await page.locator("#table-ranks th[aria-sort=descending]").count(), 1),
  );
  await head.click();
  wrong.push(same("sorted again", (await ranks())[0], byTime[byTime.length - 1]));
  await rows.first().locator("button.pick").first().click();
  const chosen = (await ranks())[0];
  wrong.push(
    same("selected", await page.locator("#table-ranks tr[aria-selected=true]").count(), 1),
    same("address", new URL(page.url()).hash, "#rank=" + chosen),
  );
  wrong.push(same("told", (await page.locator("#selection").innerText()).includes("rank " + chosen), true));
  const elsewhere = page.locator("#table-threads tr[aria-selected=true] td:first-child");
  if (await page.locator("#table-threads").count())
    wrong.push(same("selected in another table", new Set(await elsewhere.allInnerTexts()).size, 1));
  await page.keyboard.press("Escape");
  wrong.push(same("no more", await page.locator("tr[aria-selected=true]").count(), 0));
  await page
    .locator("#table-ranks")
    .locator("xpath=ancestor::div[@class='table']")
    .locator("input[type=search]")
    .fill("no such word");
  wrong.push(same("searched", await rows.count(), 0));
  await page.keyboard.press("Tab");
  await page.keyboard.press("?");
  wrong.push(same("help", await page.locator("#help").evaluate(dialog => dialog.open), true));
  await page.keyboard.press("Escape");
  return wrong.filter(Boolean).join("; ");
}

/* What pictures say in words is what the tables say; a click into one selects. */
async function pictures(page, report) {
  const wrong = [],
    at = (id, what) => page.locator(`#${id} ${what}`);
  const clicked = async (canvas, x, y) => {
    await canvas.scrollIntoViewIfNeeded();
    await canvas.click({ position: { x, y } });
  };
  const times = report.ranks.map(rank => rank.app_time_s),
    mean = times.reduce((sum, time) => sum + time, 0) / times.length;

  await page.keyboard.press("Escape");
  wrong.push(
    same(
      "distribution",
      (await at("distributions", "figcaption").innerText()).includes(
        "mean " + (await page.evaluate(value => seconds(value), mean)),
      ),
      true,
    ),
  );
  const bars = at("distributions", "canvas").first(),
    { width } = await bars.boundingBox();
  await clicked(
    bars,
    70 +
      (report.ranks.length - 0.5) *
        (await page.evaluate(([wide, n]) => barWidth(wide, n), [width - 78, report.ranks.length])),
    130,
  );
  wrong.push(same("bar", await page.evaluate(() => selection.get("rank")), report.ranks[report.ranks.length - 1].rank));
  await page.keyboard.press("Escape");
  wrong.push(await grid(page, report), await busy(page));
  wrong.push(...(await page.evaluate(severalRows)));
  await page.locator("button", { hasText: "compare with another value" }).click();
  await at("distributions", "figure").last().locator("select").last().selectOption({ index: 1 });
  wrong.push(same("compared", await at("distributions", "figure").count(), 2));
  wrong.push(
    same(
      "scale of calm calls and one long one",
      await page.evaluate(() => robustMost([...Array.from({ length: 30 }, () => 1), 100])),
      2,
    ),
    same("scale of calls alike", await page.evaluate(() => robustMost(Array.from({ length: 30 }, () => 3))), 3),
  );
  for (const { name, calls, series } of await measured(page)) {
    await at("instances", "select").first().selectOption(name);
    const words = await at("instances", "figcaption").first().innerText();
    wrong.push(words.startsWith(calls + " measured calls") ? null : `${name}: ${words}, not ${calls}`);
    if (series <= 6)
      /* colours */
      wrong.push(same(name + ": ranks or threads", await at("instances", ".legend i").count(), series));
  }
  if (await page.locator("#flame").count())
    wrong.push(
      ...(await flame(page, { id: "flame", table: "call_tree", name: "procedure", time: "inclusive_time_s" })),
    );
  return wrong.filter(Boolean).join("; ");
}

/* Any value on the ranks' grid: as the report has it; what is below the threshold is left out, and counted. */
async function grid(page, report) {
  const known = report.ranks.filter(rank => rank.mpi_time_s !== null);

  if (!known.length) return null;
  await page.locator("#grid select[aria-label=value]").selectOption("mpi_time_s");
  await page.locator("#grid select[aria-label=colour]").selectOption("linear");
  const shown = await page.evaluate(() => [...document.getElementById("grid").view.byRank()]);
  const scales = await page.evaluate(() => [
    scaleOf("zero", [1, 4]).part(2),
    scaleOf("linear", [1, 3]).part(2),
    scaleOf("logarithmic", [1, 10, 100]).part(10),
    scaleOf("mean", [0, 1, 5]).part(2),
    scaleOf("mean", [0, 1, 5]).part(5),
  ]);
  const least = page.locator("#grid input[aria-label='leave out ranks below']");

  await least.fill("50");
  const values = known.map(rank => rank.mpi_time_s),
    half = (Math.min(...values) + Math.max(...values)) / 2,
    below = values.filter(value => value < half).length;
  const words = await page.locator("#grid > figcaption").innerText();
  await least.fill("0");
  const most = page.locator("#grid input[aria-label='leave out ranks above']"),
    above = values.filter(value => value > half).length;
  await most.fill("50");
  const upper = await page.locator("#grid > figcaption").innerText();
  await most.fill("100");
  const zoomed = await zoomedGrid(page);
  return [
    zoomed,
    await reversed(page),
    same("left out above", (upper.match(/left out: (\d+) ranks? above/) || [0, 0]).map(Number)[1], above),
    same(
      "grid",
      shown,
      known.map(rank => [rank.rank, rank.mpi_time_s]),
    ),
    same(
      "scales",
      scales.map(part => part.toFixed(3)),
      ["0.500", "0.500", "0.500", "0.500", "1.000"],
    ),
    same("left out", words.includes("left out: "), below > 0),
  ]
    .filter(Boolean)
    .join("; ");
}

/* The colour of the least is then that of the most, as the scale beneath shows. */
async function reversed(page) {
  const box = page.locator("#grid").getByLabel("reversed"),
    ends = () =>
      page.evaluate(() => {
        const steps = [...document.querySelectorAll("#grid .scale .key")].map(key => key.style.background);
        return [steps[0], steps.at(-1)];
      }),
    usual = await ends();

  await box.check();
  const turned = await ends();
  await box.uncheck();
  return same("reversed", turned, usual.reverse()) || (usual[0] === usual[1] ? "one colour for all" : null);
}

/* Sheets of sections, with numbers of a processor that is not here: a bar a thread, and behind a process's first the
 * time that caches and memory were busy. */
async function busy(page) {
  const bars = await page.evaluate(() => {
    const at = {
        section: "loop",
        number: 0,
        rank: 1,
        ipc: 1,
        l2_busy: null,
        memory_busy: null,
        off_cpu_s: 0,
        kernel_s: 0.5,
        work_s: 0.5,
      },
      rows = [0.25, 0.5].map((l1_busy, thread) => ({
        ...at,
        thread,
        l1_busy,
        l2_busy: l1_busy / 2,
        time_s: 2,
        l1_s: 1 - thread,
        dram_s: thread,
      })),
      whole = { ...at, time_s: 4, elapsed_s: 2, l1_busy: 0.4, l2_busy: 0.25, memory_busy: 0.75 },
      tables = new Map([
        ["section_sheet", { all: () => rows }],
        ["section_sheet_processes", { all: () => [whole] }],
      ]);

    return [...sheetBars(tables).querySelectorAll("li")].map(li => [
      li.lastChild.textContent.split(", IPC")[0],
      ...[...li.querySelectorAll(".bar i")].map(part => part.className + " " + part.style.width),
    ]);
  });

  return same("sheet", bars, [
    ["loop, rank 1, thread 0", "compute 25%", "level0 50%", "most 25%"],
    ["loop, rank 1: L1 busy", "busy 37.5%"],
    ["loop, rank 1: L2 busy", "busy 18.75%"],
    ["loop, rank 1: memory busy", "busy 75%"],
    ["loop, rank 1, thread 1", "compute 25%", "level3 50%", "most 25%"],
  ]);
}

/* A rectangle of cells that is dragged over is what is left, and a click in it selects what stands there. */
async function zoomedGrid(page) {
  const view = () =>
      page.evaluate(() => {
        const { places, rows, columns } = document.getElementById("grid").view.plane();
        return { places, rows, columns };
      }),
    picture = page.locator("#grid figure").first().locator("canvas"),
    all = await view();
  const wrong = [];

  if (all.columns < 2) return null;
  await picture.scrollIntoViewIfNeeded();
  const box = await picture.boundingBox();
  await page.mouse.move(box.x + (box.width / all.columns) * (all.columns - 1) + 3, box.y + 2);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width - 3, box.y + box.height / all.rows - 2, { steps: 4 });
  await page.mouse.up();
  const part = await view();
  wrong.push(same("zoomed", part, { places: [all.places[all.columns - 1]], rows: 1, columns: 1 }));
  wrong.push(same("nothing selected", await page.evaluate(() => selection.get("rank")), null));
  await picture.click({ position: { x: 3, y: 3 } });
  wrong.push(same("selected", await page.evaluate(() => selection.get("rank")), part.places[0] ?? null));
  await page.locator("#grid").getByRole("button", { name: "whole grid" }).click();
  wrong.push(same("whole", (await view()).places, all.places));
  await page.locator("#grid").getByRole("button", { name: "zoom in" }).click();
  const near = await view();
  wrong.push(same("the selected rank stays", near.places.includes(part.places[0]), true));
  wrong.push(same("half", near.columns, Math.ceil(all.columns / 2)));
  await page.locator("#grid").getByRole("button", { name: "whole grid" }).click();
  await page.evaluate(() => selection.clear());
  return wrong.filter(Boolean).join("; ") || null;
}

/* In the page: tables of which the choosers of a value leave a rank, or a thread, several rows. */
function severalRows() {
  const { value } = [...document.querySelectorAll("*")].map(element => element.view).find(view => view?.value?.tables);

  return [...value.tables.keys()].flatMap(name => {
    const one = new RankValue(value.tables, name, null, () => {}),
      rows = one
        .rows()
        .map(row => [one.table.get("rank", row), one.table.has("thread") && one.table.get("thread", row)]);
    const count = new Set(rows.map(String)).size;

    return count === rows.length ? [] : [`${name}: ${rows.length} rows of ${count} ranks or threads`];
  });
}

/* Functions of the table of measured calls, and how many there are. */
function measured(page) {
  return page.evaluate(() => {
    const element = document.querySelector("#table-sampled_instances"),
      table = element && element.closest(".table").view.table,
      found = new Map();

    for (let row = 0; table && row < table.rows; row++) {
      const name = table.get("function", row),
        of = found.get(name) || { name, calls: 0, threads: new Set() };

      of.calls++;
      of.threads.add(table.get("rank", row) + "." + table.get("thread", row));
      found.set(name, of);
    }
    return [...found.values()].map(of => ({ ...of, series: of.threads.size, threads: null }));
  });
}

/* The first frame below "all" is the root that took most; the function's callees and itself add up to it. */
/* A line for each event that was ever more than 0; the pointer tells what it was, and a drag selects the time. */
async function sensorsOver(page, report) {
  const events = report.sensors.filter(sensor => sensor.intervals && (sensor.most || sensor.least)),
    first = page.locator("#sensor-lines .sensor").first();

  await first.scrollIntoViewIfNeeded();
  const names = await page.locator("#sensor-lines .sensor b").allInnerTexts(),
    box = await first.locator("canvas").boundingBox();
  const [, begin, end, mean] = report.sensor_series.rows.find(([id]) => id === events[0].id),
    span = Math.max(report.run.elapsed_s, ...report.sensor_nodes.map(node => node.end_s));
  const across = time => box.x + 90 + (time / span) * (box.width - 102);

  await page.mouse.move(across((begin + end) / 2), box.y + 30);
  const told = await first.locator("figcaption").innerText(),
    wanted = await page.evaluate(value => digits(value), mean);
  await page.mouse.down();
  await page.mouse.move(across(span), box.y + 30, { steps: 5 });
  await page.mouse.up();
  const stretch = await page.evaluate(() => selection.stretch());
  await page.keyboard.press("Escape");

  return [
    same(
      "lines",
      names,
      events.map(sensor => sensor.event),
    ),
    told.includes(": " + wanted) ? null : `${told}, not ${wanted}`,
    stretch && Math.abs(stretch.from - (begin + end) / 2) < span / 100 ? null : `selected ${JSON.stringify(stretch)}`,
  ]
    .filter(Boolean)
    .join("; ");
}

/* A bar for each iteration: the pointer tells what the report says of it, and a drag selects the time of several. */
async function iterationsOver(page, report) {
  const { columns, rows } = report.iterations_by_number,
    figure = page.locator("#iterations figure").first(),
    at = (row, key) => rows[row][columns.indexOf(key)],
    row = rows.length - 3;

  await figure.scrollIntoViewIfNeeded();
  const box = await figure.locator("canvas").boundingBox();
  const across = number => box.x + 90 + ((number + 0.5) / rows.length) * (box.width - 102);

  await page.mouse.move(across(row), box.y + 30);
  const told = await figure.locator("figcaption").innerText(),
    wanted = await page.evaluate(
      values => values.map(seconds),
      [at(row, "duration_s"), at(row, "computing_s"), at(row, "mpi_s")],
    );
  await page.mouse.move(across(10), box.y + 30);
  await page.mouse.down();
  await page.mouse.move(across(20), box.y + 30, { steps: 5 });
  await page.mouse.up();
  const stretch = await page.evaluate(() => selection.stretch());
  await page.keyboard.press("Escape");

  return [
    same("figures", await page.locator("#iterations figure").count(), report.iterations.length),
    told.includes(`no. ${at(row, "number")} at `) &&
    told.includes(`: ${wanted[0]}, computing ${wanted[1]}, MPI ${wanted[2]}`)
      ? null
      : `${told}, not ${wanted}`,
    stretch && Math.abs(stretch.from - at(10, "begin_s")) < 1e-6 ? null : `selected ${JSON.stringify(stretch)}`,
  ]
    .filter(Boolean)
    .join("; ");
}

/* Of a run that hung: the finding, places and their tree. */
async function whereAll(page, { looks, findings }, branches) {
  const text = selector => page.locator(".where " + selector).allInnerTexts();

  return [
    same("tree", await branchesOf(page), branches),
    same(
      "places",
      await text("ul.places > li > div:first-child"),
      looks.places.map(place => place.rank_text + ": " + place.place),
    ),
    same("remarks", (await text("ul.places .note")).join("\n"), looks.places.map(place => place.text).join("\n")),
    same("finding", await text("> :first-child"), [findings.find(of => of.name === "hang").text]),
    same("suspects", (await text(".branch.bad")).length > 0, true),
  ]
    .filter(Boolean)
    .join("; ");
}

/* Two series in one picture: each has its own axis, and says what the report says of a time. */
async function pairOver(page, report) {
  const points = sensor => report.sensor_series.rows.filter(([id]) => id === sensor.id),
    all = report.sensors.filter(sensor => points(sensor).length),
    [left, right] = all.filter(sensor => points(sensor).some(([, , , value]) => value));

  if (!right) {
    /* A short run on a busy machine: what is always 0 is not offered. */
    const offered = await page.locator("#pair option").allInnerTexts();

    return same(
      "sensors that are 0",
      all.filter(of => of !== left && offered.includes(of.event)),
      [],
    );
  }
  const begin = Math.max(...[left, right].map(sensor => points(sensor)[0][1])),
    time = begin + 1e-6;

  await page.getByLabel("left axis").selectOption({ label: left.event });
  await page.getByLabel("right axis").selectOption({ label: right.event });
  const wanted = [left, right].map(sensor => points(sensor).find(([, from, to]) => from <= time && time <= to)[3]);
  const seen = await page.evaluate(time => {
    const { view } = document.getElementById("pair");

    view.tell(time);
    return {
      values: [0, 1].map(side => view.valueAt(view.of(side), time)),
      words: [0, 1].map(side => view.word(view.of(side), view.valueAt(view.of(side), time))),
      told: view.under.textContent,
    };
  }, time);

  return [
    same("values", seen.values, wanted),
    same(
      "told",
      [left.event + " " + seen.words[0], right.event + " " + seen.words[1]].every(of => seen.told.includes(of)),
      true,
    ),
  ]
    .filter(Boolean)
    .join("; ");
}

async function flame(page, tree) {
  await page.locator(`#${tree.id} canvas`).scrollIntoViewIfNeeded();
  await page.locator(`#${tree.id} canvas`).click({ position: { x: 30, y: 19 + 9 } });
  const { name, time, sum } = await page.evaluate(tree => {
    const name = selection.get("function"),
      table = document.querySelector("#table-" + tree.table).closest(".table").view.table;
    const root = table
      .all()
      .filter(row => row.parent_id === null)
      .sort((a, b) => b[tree.time] - a[tree.time])[0];

    return {
      name: name === root[tree.name],
      time: seconds(root[tree.time]),
      sum: [...document.querySelectorAll(`#${tree.id} .shares`)].map(list => list.innerText),
    };
  }, tree);
  await page.keyboard.press("Escape");

  return [
    same(tree.id, name, true),
    sum.length === 2 && sum[0].includes(time) ? null : `callers of the root of ${tree.id}: ${sum}, not ${time}`,
  ];
}

/* What a column means is said in words: other columns by their titles, not by the keys that --where takes. */
async function meant(page) {
  const keys = await page.evaluate(() =>
    [...document.querySelectorAll("div.table")].flatMap(({ view: { table } }) => {
      const all = new Set(table.columns.map(({ key }) => key).filter(key => /[_.]/.test(key)));

      return table.columns.flatMap(({ key, title, doc }) =>
        (`${title} ${doc}`.match(/[a-z]\w*(\.[a-z]\w*)*/gi) || [])
          .filter(word => (all.has(word) && !/^event_\d$/.test(word)) || word === "cov") /* of events that have names */
          .map(word => key + ": " + word),
      );
    }),
  );

  return same("keys", keys, []);
}

/* No subject is offered that the run has not; no column of a table is empty. */
async function offered(page, report) {
  const titles = await page.locator("details.subject > summary h2").allInnerTexts(),
    has = title => titles.includes(title);
  const blank = await page.evaluate(() =>
    [...document.querySelectorAll("div.table")]
      .map(({ view }) => view)
      .filter(({ table }) => table.rows && !table.isBlank())
      .flatMap(({ table, keys }) => keys.filter(key => !table.isKnown(key)).map(key => table.name + "." + key)),
  );

  return [
    same(
      "timeline",
      has("Timeline"),
      await page.evaluate(() => Boolean(document.querySelector("script.timeline, #timeline"))),
    ),
    same("sections", has("Sections"), report.sections.length > 1),
    same("files", has("Files"), report.io.length > 0),
    same("columns without values", blank, []),
  ]
    .filter(Boolean)
    .join("; ");
}

/* Ranks that talk in pairs, on two nodes by turns: all could stay; and of a ring half of it does at best, but for its
 * ends. */
function mapped(page) {
  return page.evaluate(() => {
    const nodes = new Map(Array.from({ length: 8 }, (_, rank) => [rank, rank % 2 ? "b" : "a"])),
      between = new Map();
    const talk = (a, b) =>
      [
        [a, b],
        [b, a],
      ].forEach(([from, to]) => between.set(from, (between.get(from) || new Map()).set(to, 10)));

    for (let rank = 0; rank < 8; rank += 2) talk(rank, rank + 1);
    const placed = betterOrder(between, nodes),
      now = stays(between, nodes),
      then = stays(between, placed);
    return now === 0 && then === 1 && [...placed.values()].filter(host => host === "a").length === 4
      ? null
      : `${now} before, ${then} after`;
  });
}

/* A cell of the matrix of messages is a square, and says what it is. */
async function matrix(page, report) {
  const [from, to, , sent] = report.matrix.rows[0],
    picture = page.locator("figure.matrix canvas");

  await page.evaluate(() => document.querySelectorAll("details.subject").forEach(subject => (subject.open = true)));
  await page.waitForTimeout(200);
  const place = await page.evaluate(
    ([row, column]) => {
      const { view } = document.querySelector("figure.matrix"),
        { side, margin } = view;

      return { x: margin + (column + 0.5) * side, y: view.tall - (view.data.labels.length - row - 0.5) * side - 2 };
    },
    [from, to],
  );
  await picture.hover({ position: place });
  const words = await page.locator("figure.matrix [role=status]").innerText(),
    bytes = await page.evaluate(value => bytes(value), sent);
  return same("words of a cell", words, `rank ${from} to ${to}: ${bytes}`);
}

const judged = new Set();

/* The whole page, but for tables that another page had, with the same columns. */
async function accessibleOnce(page) {
  const tables = await page
    .locator("div.table table")
    .evaluateAll(all => all.map(({ id, tHead }) => ({ id, what: id + ": " + tHead.innerText })));
  const exclude = tables.filter(({ what }) => judged.has(what)).map(({ id }) => `div.table:has(#${id})`);

  tables.forEach(({ what }) => judged.add(what));
  return accessible(page, exclude.length ? { exclude } : null);
}

const LOOKS = {
  "fvmpi-profile-2": ["first screen", first],
  "fvmpi-scaling-1": ["study", study],
  "fvmpi-diff-2": ["two sides", sides],
  "fvmpi-stacks-1": ["threads", threads],
};

/* Why there are none is where they would be. */
async function noIterations(page, report) {
  const subject = page.locator("details.subject", { has: page.getByRole("heading", { name: "Iterations", level: 2 }) });

  await subject.locator("summary").first().click();
  return same("note", await subject.locator("p.note").innerText(), report.run.iterations_unknown);
}

const browser = await launch();
for (const {
  name,
  html,
  json,
  csv,
  whole,
  lines,
  large,
  trace,
  layers,
  samples,
  threads,
  calls,
  sensors,
  iterations,
  unknown,
  where,
  many,
  function: one,
} of asked) {
  const report = JSON.parse(fs.readFileSync(path.join(folder, json), "utf8"));
  const { page, faults, close } = await open(browser, html);
  const look = async (check, promise) => say(name, check, await promise.catch(error => error.message));
  const [screen, seen] = one ? ["of a function", ofFunction] : LOOKS[report.schema];

  await look(screen, seen(page, report, one));
  await page.screenshot({ path: path.join(folder, name + ".png") });
  if (large) await look("rows that were left out", leftOut(page, report));
  if (layers) await look("lanes", layersOf(page, layers));
  if (layers) await look("lanes accessible", accessible(page));
  if (trace) await look("over time", overTime(page, report, trace));
  if (trace || layers || samples)
    await look(
      "tiles",
      unfolded(page).then(() => tilesOf(page)),
    );
  if (trace) await look("collective operations", together(page, report.ranks.length));
  if (trace || samples) await look("timeline accessible", accessible(page));
  if (many) await look("what is left out", leftOutOf(page));
  if (trace) await look("matrix of messages", matrix(page, report));
  if (trace) await look("sizes of call sites", sizesOfSites(page, report));
  if (threads) await look("waiting for threads", waitsForThreads(page, report));
  if (samples) await look("samples over time", overSamples(page, report, samples));
  if (lines) await look("source lines", source(page, report));
  if (csv) await look("tables", tables(page, csv));
  if (whole) {
    await look("hands", hands(page, report));
    await look("pictures", pictures(page, report));
    await look("order of ranks", mapped(page));
    await look("what is offered", offered(page, report));
    await look("what columns mean", meant(page));
  }
  if (csv) {
    if (whole) await page.screenshot({ path: path.join(folder, name + "-all.png"), fullPage: true });
    await look("accessible", accessibleOnce(page));
  }
  if (calls)
    await look(
      "calls by path",
      flame(page, { id: "calls", table: "instrumented_paths", name: "tree", time: "time_s" }).then(wrong =>
        wrong.filter(Boolean).join("; "),
      ),
    );
  if (sensors) await look("sensors", sensorsOver(page, report));
  if (iterations) await look("iterations", iterationsOver(page, report));
  if (unknown) await look("no iterations", noIterations(page, report));
  if (where) await look("where everybody is", whereAll(page, report, where));
  if (sensors) await look("two over time", pairOver(page, report));
  say(name, "nothing wrong", faults.join("; "));
  await close();
  for (const [how, options] of whole
    ? Object.entries({ dark: { colorScheme: "dark" }, narrow: { viewport: { width: 480, height: 900 } } })
    : []) {
    const other = await open(browser, html, options);

    await other.page.screenshot({ path: path.join(folder, `${name}-${how}.png`) });
    await look(how, accessible(other.page));
    say(name, how + ": nothing wrong", other.faults.join("; "));
    await other.close();
  }
}
await browser.close();
