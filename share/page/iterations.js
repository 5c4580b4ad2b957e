/* In page.html. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Iterations of the program one by one: how long each took, and what of that was computing, MPI and waiting. */

/* What a bar is made of, from below: [colour, what it is, seconds of a row]. Without a trace only waiting is known. */
const ITERATION_PARTS = [
  ["compute", "computing", row => (row.computing_s === null ? row.duration_s - row.wait_s : row.computing_s)],
  ["mpi", "MPI", row => (row.mpi_s === null ? 0 : Math.max(row.mpi_s - row.wait_s, 0))],
  ["wait", "waiting in collective calls", row => row.wait_s],
];

function iterationWords(row) {
  const known = (name, value) => (value === null ? "" : ", " + name + " " + seconds(value));

  return (
    " " +
    (row.merged > 1 ? row.number + " to " + (row.number + row.merged - 1) : "no. " + row.number) +
    " at " +
    seconds(row.begin_s) +
    ": " +
    seconds(row.duration_s) +
    known("computing", row.computing_s) +
    known("MPI", row.mpi_s) +
    known("waiting", row.wait_s) +
    (row.slowest_rank === null ? "" : ", slowest rank " + row.slowest_rank)
  );
}

/* One unit. Dragging selects the time of these iterations. */
function iterationBars(unit, rows) {
  const left = 90,
    right = 12,
    height = 170,
    under = make("span", { class: "quiet" }),
    last = rows[rows.length - 1],
    numbers = last.number + last.merged,
    most = Math.max(...rows.map(row => row.duration_s)) || 1,
    traced = rows.some(row => row.computing_s !== null);
  const told =
    plural(unit.count, "iteration") +
    (unit.function ? " in " + unit.function : "") +
    ": mean " +
    seconds(unit.mean_s) +
    ", longest " +
    seconds(unit.longest_s) +
    ", number " +
    unit.longest_number;
  const rowAt = (x, width) => {
    const number = ((x - left) / (width - left - right)) * numbers;

    return rows.find(row => row.number <= number && number < row.number + row.merged);
  };
  const draw = (c, width) => {
    const box = { left, top: 8, width: width - left - right, height: height - 30 };
    const at = drawAxes(
      c,
      box,
      { least: 0, most: numbers, column: { type: "whole", unit: "" } },
      { least: 0, most, column: { type: "real", unit: "s" } },
    );

    rows.forEach(row => {
      let sum = 0;

      for (const [colour, , part] of ITERATION_PARTS) {
        const value = Math.max(part(row), 0);

        c.fillStyle = colours(colour);
        c.fillRect(
          at.x(row.number),
          at.y(sum + value),
          Math.max(at.x(row.number + row.merged) - at.x(row.number), 0.5),
          at.y(sum) - at.y(sum + value),
        );
        sum += value;
      }
    });
  };
  const picture = canvas(height, told, draw);

  dragged(picture, (from, to) => {
    const first = rowAt(from, picture.clientWidth) || rows[0],
      end = rowAt(to, picture.clientWidth) || last;

    selection.selectStretch(first.begin_s, end.begin_s + end.duration_s * end.merged);
  });
  picture.addEventListener("pointermove", event => {
    const row = rowAt(event.offsetX, picture.clientWidth);

    under.textContent = row ? iterationWords(row) : "";
  });
  picture.addEventListener("pointerleave", () => {
    under.textContent = "";
  });
  return make(
    "figure",
    null,
    make(
      "figcaption",
      null,
      make("b", null, plural(unit.count, "iteration")),
      unit.function ? " in " + unit.function + (unit.place ? " at " + unit.place : "") : "",
      under,
    ),
    picture,
    make(
      "p",
      { class: "legend" },
      ...ITERATION_PARTS.filter(([colour]) => traced || colour !== "mpi").map(([colour, word]) =>
        make("span", null, make("i", { class: "key " + colour }), traced || colour === "wait" ? word : "all else"),
      ),
    ),
  );
}

function iterations(tables) {
  const units = tables.get("iterations"),
    numbers = tables.get("iterations_by_number");

  if (!units || !units.rows || !numbers.rows) return null;
  const rows = numbers.all(),
    outermost = units
      .all()
      .map(unit => [unit, rows.filter(row => row.unit_id === unit.unit_id)])
      .filter(([, of]) => of.length);

  return make(
    "section",
    { id: "iterations", "aria-label": "Iterations by number" },
    make("h3", null, "Iterations"),
    make("p", { class: "note" }, "by number; means over ranks. Drag to select their time"),
    ...outermost.map(([unit, of]) => iterationBars(unit, of)),
  );
}
