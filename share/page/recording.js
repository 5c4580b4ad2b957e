/* In live.html. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* What was sampled, as lines of fvmpi-record-1 say it: of a file, or as it comes. */

const KEPT_VALUES = 4e6; /* numbers in all; then the oldest samples go */

class Recording {
  constructor(header) {
    if (!header || header.schema !== "fvmpi-record-1")
      throw new Error("not a recording: its first line lacks the schema fvmpi-record-1");
    this.header = header;
    this.series = [];
    this.takeSeries(header);
    this.times = [];
    this.rows =
      []; /* values of the series, in their order; later ones may have more, those of another node have its own alone */
    this.labels = []; /* { time_s, text } */
    this.breaks = []; /* times behind which there was a pause, or samples are missing */
    this.interval_s = header.interval_s;
    this.job = header.job === undefined ? null : new Job();
    this.values = 0;
  }

  /* One line, parsed. True: there are further series, or the interval is another one. */
  take(line) {
    if (Array.isArray(line.values) && Number.isFinite(line.time_s)) {
      this.takeSample(line);
    } else if (this.job && this.job.take(line)) {
      return false;
    } else if (typeof line.label === "string") {
      this.labels.push({ time_s: line.time_s, text: line.label });
    } else if (line.paused === true) {
      this.breaks.push(line.time_s);
    } else if (Array.isArray(line.added)) {
      line.added.forEach((series, i) => {
        this.series[line.first + i] = series;
      });
      return true;
    } else if (Number.isFinite(line.interval_s)) {
      this.interval_s = line.interval_s;
      return true;
    }
    return false;
  }

  /* Other nodes' series have numbers far behind ours, so that there are holes between. */
  takeSeries(header) {
    [{ first: 0, added: header.series }, ...(header.others || [])].forEach(({ first, added }) =>
      added.forEach((series, i) => {
        this.series[first + i] = series;
      }),
    );
  }

  /* Those of other nodes come later than ours of the same time. */
  takeSample(line) {
    const place = this.at(line.time_s),
      row = line.first ? [] : line.values;

    if (this.times[place] === line.time_s || (!line.first && !line.values.length)) return;
    if (line.first)
      line.values.forEach((value, i) => {
        row[line.first + i] = value;
      });
    this.times.splice(place, 0, line.time_s);
    this.rows.splice(place, 0, row);
    this.values += line.values.length;
    if (this.values > KEPT_VALUES) this.forget(this.times.length >> 3);
  }

  forget(count) {
    this.rows.slice(0, count).forEach(row =>
      row.forEach(() => {
        this.values--;
      }),
    );
    this.times.splice(0, count);
    this.rows.splice(0, count);
    this.labels = this.labels.filter(label => label.time_s >= this.begin());
  }

  missed() {
    if (this.times.length) this.breaks.push(this.end());
  }
  begin() {
    return this.times.length ? this.times[0] : 0;
  }
  end() {
    return this.times.length ? this.times[this.times.length - 1] : 0;
  }

  /* The first sample at this time or behind it. */
  at(time) {
    let low = 0,
      high = this.times.length;

    while (low < high) {
      const middle = (low + high) >> 1;

      if (this.times[middle] < time) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /* What a series was at a time: a sample says what was since the one before it. At the end, where the next one is
   * still to come, the last that is known. Null: not known. */
  value(series, time) {
    const near = this.at(time),
      known = i => this.rows[i][series] !== null && this.rows[i][series] !== undefined;

    for (let i = near; i < Math.min(this.times.length, near + 4096); i++) if (known(i)) return this.rows[i][series];
    for (let i = Math.min(near, this.times.length) - 1; i >= Math.max(near - 4096, 0); i--)
      if (known(i)) return this.rows[i][series];
    return null;
  }

  /* Of the samples in a stretch of time: { least, most, mean, count }. */
  sums(series, from, to) {
    const found = { least: Infinity, most: -Infinity, mean: 0, count: 0 };

    for (let i = this.at(from); i < this.times.length && this.times[i] <= to; i++) {
      const value = this.rows[i][series];

      if (value === null || value === undefined) continue;
      found.least = Math.min(found.least, value);
      found.most = Math.max(found.most, value);
      found.mean += value;
      found.count++;
    }
    found.mean /= found.count || 1;
    return found;
  }
}

/* A whole file. A torn last line is one that a kill left. */
function parseRecording(text) {
  const lines = text.split("\n").filter(line => line.trim());
  let recording = null,
    wrong = 0;

  lines.forEach((line, i) => {
    let object;

    try {
      object = JSON.parse(line);
    } catch {
      wrong += i + 1 < lines.length;
      return;
    }
    if (object === null || typeof object !== "object") wrong++;
    else if (!recording) recording = new Recording(object);
    else if (object.schema) throw new Error("it has a second header; load one file at a time");
    else recording.take(object);
  });
  if (!recording) throw new Error("it is empty or has no line of JSON");
  recording.wrong = wrong;
  return recording;
}
