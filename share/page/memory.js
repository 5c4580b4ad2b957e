/* In page.html. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* What a rank had allocated along the run, a line for each, those with most first; and which files took the time. */

const MEMORY_LINES = 16;

function memoryLines(tables) {
  const series = tables.get("memory_series"),
    ranks = tables.get("memory_ranks");

  if (!series || !series.rows || !ranks.rows) return null;
  const points = new Map(ranks.all().map(of => [of.rank, []])),
    span = tables.get("run").get("elapsed_s", 0) || 0;

  series
    .all()
    .forEach(of =>
      points.get(of.rank)?.push({ begin: of.begin_s, end: of.end_s, mean: of.last_bytes, most: of.most_bytes }),
    );
  const shown = ranks
      .all()
      .filter(of => points.get(of.rank).length)
      .sort((a, b) => b.peak_bytes - a.peak_bytes),
    labels = tables.get("labels").all();
  const mean = of => {
    const all = points.get(of.rank),
      time = all.reduce((sum, p) => sum + p.end - p.begin, 0);
    return all.reduce((sum, p) => sum + p.mean * (p.end - p.begin), 0) / (time || 1);
  };

  return make(
    "section",
    { id: "memory-lines", "aria-label": "Memory over time" },
    make("h3", null, "Memory over time"),
    make(
      "p",
      { class: "note" },
      "bytes allocated and not freed; the area behind the line is the maximum in between. " +
        "Drag to select a stretch of time",
    ),
    ...shown
      .slice(0, MEMORY_LINES)
      .map(of =>
        sensorLine({ event: "rank " + of.rank, unit: "bytes", mean: mean(of) }, points.get(of.rank), span, labels),
      ),
    shown.length > MEMORY_LINES
      ? make(
          "p",
          { class: "note" },
          count(shown.length - MEMORY_LINES) + " more ranks with less memory are in the tables",
        )
      : null,
  );
}

function fileBars(tables) {
  const rows = tables
    .get("io_files")
    .all()
    .filter(of => of.time_s + of.in_mpi_s > 0);

  return lying(
    "file-bars",
    "Files by time",
    rows.map(of => ({
      label: of.io_file,
      value: seconds(of.time_s + of.in_mpi_s),
      parts: [
        [of.reads_time_s, "mpi"],
        [of.writes_time_s, "wait"],
        [of.other_s, "code0"],
        [of.in_mpi_s, "code1"],
      ],
    })),
    [
      ["mpi", "reading"],
      ["wait", "writing"],
      ["code0", "others: open, seek, sync"],
      ...(rows.some(of => of.in_mpi_s > 0) ? [["code1", "by MPI's functions for files"]] : []),
    ],
    "time of all ranks in calls about them",
  );
}
