/* In live.html. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* A job that runs, as fvmpi live's lines "job" and "told" say it: ranks x time, who waits for whom now, what took time
 * so far. */

const JOB_COLUMNS = 3600,
  JOB_RANKS_SHOWN = 64;
const JOB_VALUES = [
  ["mpi_s", "in MPI"],
  ["wait_s", "waiting in MPI"],
  ["cpu_s", "on a processor, all threads"],
];
const JOB_STATES = {
  active: "outside of MPI",
  waits: "waits",
  matched: "in MPI, data under way",
  recent: "in MPI, for less than 1 s",
  asks: "asks in vain",
  untold: "in MPI",
};

class Job {
  constructor() {
    this.columns = []; /* { time_s, job }: between one and the next stands what was in between */
    this.told = null;
  }

  /* One line, parsed. True: it was the job's. */
  take(line) {
    const has = (object, ...lists) => object && lists.every(list => Array.isArray(object[list]));

    if (has(line.job, "rank", "state", "elapsed_of_rank_s", "mpi_s", "wait_s", "cpu_s")) {
      this.columns.push({ time_s: line.time_s, job: line.job });
      if (this.columns.length > JOB_COLUMNS) this.columns.splice(0, JOB_COLUMNS >> 3);
    } else if (has(line.told, "hosts", "waits", "causes", "problems", "findings")) {
      this.told = line.told;
    } else {
      return false;
    }
    return true;
  }

  last() {
    return this.columns.length ? this.columns[this.columns.length - 1].job : null;
  }

  /* Of the time from the column before: null, if the rank was not there. */
  share(column, row, key) {
    const now = this.columns[column].job,
      earlier = column ? this.columns[column - 1].job : null;
    const before = earlier && earlier.elapsed_s <= now.elapsed_s ? earlier : null; /* else another run's */
    const place = before ? (before.rank[row] === now.rank[row] ? row : before.rank.indexOf(now.rank[row])) : -1;
    const since = name => now[name][row] - (place >= 0 ? before[name][place] : 0),
      elapsed = since("elapsed_of_rank_s");

    return elapsed > 0 && now[key][row] !== null && (place < 0 || before[key][place] !== null)
      ? Math.min(Math.max(since(key) / elapsed, 0), 1)
      : null;
  }

  /* Which column holds a time. */
  at(time) {
    return this.columns.findIndex((column, i) => time <= column.time_s && (!i || time > this.columns[i - 1].time_s));
  }

  hostOf(row) {
    let first = 0;

    for (const { host, count: ranks } of this.told ? this.told.hosts : []) {
      if (row < first + ranks) return host;
      first += ranks;
    }
    return "";
  }
}

class JobView {
  constructor(element, state) {
    this.element = element;
    this.state = state; /* { stretch(), job(), pointer } */
    this.key = "mpi_s";
    this.headline = make("p", { class: "verdict", id: "job-headline" });
    this.where = make("p", { class: "note", role: "status" });
    this.picture = canvas(
      170,
      "ranks from top to bottom, time from left to right; darker: a larger part of the rank's time",
      (c, width, height) => this.draw(c, width, height),
    );
    this.ramp = make("i", { class: "key ramp" });
    this.lineWords = make("span");
    this.picture.addEventListener("pointermove", event => this.point(event.offsetX, event.offsetY));
    this.elsewhere = make("p", { class: "note" });
    this.now = make("div", { id: "job-now" });
    this.whereAll = make("div", { id: "job-where", hidden: "" });
    this.whereTold = "";
    this.findings = make("div", { id: "job-findings" });
    this.sensors = make("tbody");
    this.sensorsNote = make("p", { class: "note" });
    this.sensorsTable = make(
      "div",
      { id: "job-sensors", hidden: "" },
      make("h3", null, "Sensors of the job's nodes"),
      scrolled(
        "sensors of the job's nodes",
        make(
          "table",
          null,
          make(
            "thead",
            null,
            make(
              "tr",
              null,
              ...["node", "event", "lately", "mean", "most", "unit"].map((name, i) =>
                make("th", { scope: "col", class: i < 2 || i === 5 ? "left" : null }, name),
              ),
            ),
          ),
          this.sensors,
        ),
      ),
      this.sensorsNote,
    );
    this.body = make("tbody");
    const ranks = scrolled(
      "ranks",
      make(
        "table",
        null,
        make(
          "thead",
          null,
          make(
            "tr",
            null,
            ...["rank", "host", "when last seen", "in MPI lately", "in MPI so far", "waiting so far"].map((name, i) =>
              make("th", { scope: "col", class: i === 1 || i === 2 ? "left" : null }, name),
            ),
          ),
        ),
        this.body,
      ),
    );
    const over_time = make(
      "figure",
      { class: "chart" },
      make(
        "figcaption",
        null,
        chooser("colour: part of the time", JOB_VALUES, this.key, value => {
          this.key = value;
          this.redraw();
        }),
        make("span", { class: "note" }, "0 %", this.ramp, "100 %", this.lineWords),
      ),
      this.picture,
      this.where,
    );

    element.append(
      make("h2", null, "The job"),
      this.headline,
      make("div", null, this.whereAll, over_time, this.now, ranks, this.sensorsTable),
      make("div", null, this.findings),
      this.elsewhere,
    );
  }

  redraw() {
    this.picture.dispatchEvent(new Event("redraw"));
  }

  x(time, width) {
    const { from, to } = this.state.stretch();
    return 84 + ((time - from) / (to - from || 1)) * Math.max(width - 96, 1);
  }

  draw(c, width, height) {
    const job = this.state.job(),
      last = job && job.last(),
      { from, to } = this.state.stretch();

    if (!last) return;
    const ranks = last.rank.length,
      rows = Math.min(ranks, height - 20),
      tall = (height - 20) / rows,
      steps = Array.from({ length: 65 }, (_, step) => shade(step / 64));

    this.ramp.style.background = `linear-gradient(to right, ${steps[0]}, ${steps[64]})`;
    this.lineWords.textContent =
      ranks > rows ? "; each line is the mean of " + Math.ceil(ranks / rows) + " ranks" : "; each line is a rank";
    c.fillStyle = colours("quiet");
    c.textAlign = "right";
    c.textBaseline = "top";
    c.fillText("rank " + last.rank[0], 78, 0);
    if (ranks > 1) {
      c.textBaseline = "bottom";
      c.fillText("rank " + last.rank[ranks - 1], 78, height - 20);
    }
    c.save();
    c.beginPath();
    c.rect(84, 0, Math.max(width - 96, 1), height - 20);
    c.clip();
    job.columns.forEach((column, i) => {
      const begin = i ? job.columns[i - 1].time_s : column.time_s - 1,
        left = this.x(begin, width),
        wide = this.x(column.time_s, width) - left;

      if (column.time_s < from || begin > to) return;
      for (let y = 0; y < rows; y++) {
        const first = Math.floor((y * ranks) / rows),
          end = Math.max(Math.floor(((y + 1) * ranks) / rows), first + 1);
        const shares = Array.from({ length: end - first }, (_, k) =>
          first + k < column.job.rank.length ? job.share(i, first + k, this.key) : null,
        ).filter(share => share !== null);

        if (!shares.length) continue;
        c.fillStyle = steps[Math.round((64 * shares.reduce((sum, share) => sum + share, 0)) / shares.length)];
        c.fillRect(left, y * tall, wide + 0.5, tall - (tall > 4 ? 1 : 0));
      }
    });
    c.restore();
    c.fillStyle = colours("quiet");
    c.textBaseline = "top";
    c.textAlign = "left";
    c.fillText(clock(shown(), from, 0), 84, height - 16);
    c.textAlign = "right";
    c.fillText(clock(shown(), to, 0), width - 12, height - 16);
  }

  point(x, y) {
    const job = this.state.job(),
      last = job && job.last(),
      { from, to } = this.state.stretch(),
      width = this.picture.clientWidth;
    const time = from + ((x - 84) / Math.max(width - 96, 1)) * (to - from),
      row = last ? Math.min(Math.max(Math.floor((y / 150) * last.rank.length), 0), last.rank.length - 1) : -1,
      column = job ? job.at(time) : -1;
    const share =
      column >= 0 && row >= 0 && row < job.columns[column].job.rank.length ? job.share(column, row, this.key) : null;

    this.where.textContent =
      share === null
        ? ""
        : "rank " +
          last.rank[row] +
          ", " +
          clock(shown(), time, 0) +
          ": " +
          percent(share) +
          " " +
          JOB_VALUES.find(([key]) => key === this.key)[1];
  }

  list(element, heading, items) {
    element.replaceChildren(
      ...(items.length
        ? [make("h3", null, heading), make("ul", null, ...items.map(item => make("li", null, ...[item].flat())))]
        : []),
    );
  }

  show() {
    const job = this.state.job(),
      last = job && job.last(),
      told = job && job.told;

    this.redraw();
    if (!last) {
      this.headline.textContent = "No data yet.";
      return;
    }
    const ended = last.state.filter(state => state === "ended").length,
      word = last.is_over ? "It has ended" : "It runs";
    this.headline.textContent =
      told && told.headline && (told.is_lasting || last.is_over)
        ? told.headline
        : word +
          ": " +
          plural(last.rank.length, "rank") +
          ", " +
          seconds(last.elapsed_s) +
          (ended && !last.is_over ? ", " + count(ended) + " ended" : "");
    this.headline.classList.toggle("bad", Boolean(told && told.headline && (told.is_lasting || last.is_over)));
    this.rows(job, last);
    if (!told) return;
    const host = shown().header.host;
    this.elsewhere.textContent = told.hosts.some(of => of.host === host)
      ? "Below: what " + host + " counts while you watch."
      : "Below: what " +
        host +
        " counts, but no rank of the job runs there. Start fvmpi live on a host of the job to see its sensors.";
    this.showWhere(told);
    this.showSensors(told);
    const hidden = told.waiting - told.waits.length;
    this.list(
      this.now,
      told.is_lasting ? "Which rank waits for which, for a second or more" : "Which rank waits for which now",
      [...told.causes, ...told.waits, ...(hidden > 0 ? [plural(hidden, "more rank") + " wait"] : [])],
    );
    this.list(this.findings, "Findings of the first " + seconds(told.elapsed_s) + ", largest loss first", [
      ...told.problems,
      ...told.findings.map(of => [
        of.title + (of.lost_s !== null ? ", " + seconds(of.lost_s) + " of the ranks' time" : "") + ": " + of.text,
        make("div", { class: "next" }, of.next),
      ]),
    ]);
  }

  /* Anew only if it is another one: what was folded out stays so. */
  showWhere({ where, findings }) {
    const hang = findings.find(of => of.name === "hang"),
      words = JSON.stringify([where, hang && hang.text]);

    if (words === this.whereTold) return;
    this.whereTold = words;
    this.whereAll.hidden = !where;
    this.whereAll.replaceChildren(...(where ? [make("h3", null, "Where everybody is"), whereView(where, hang)] : []));
  }

  /* Recorded by the job itself, with --sensors. */
  showSensors({ sensors = [], sensors_all: all = 0 }) {
    const told = (unit, value) => (value === null ? "-" : unit === "bytes" ? bytes(value) : digits(value));

    this.sensorsTable.hidden = !sensors.length;
    this.sensors.replaceChildren(
      ...sensors.map(of =>
        make(
          "tr",
          null,
          make("th", { scope: "row", class: "left" }, of.host),
          make("td", { class: "left" }, of.event),
          ...[of.last, of.mean, of.most].map(value => make("td", null, told(of.unit, value))),
          make("td", { class: "left" }, of.kind !== "gauge" ? of.unit + "/s" : of.unit === "bytes" ? "" : of.unit),
        ),
      ),
    );
    this.sensorsNote.textContent =
      all > sensors.length ? plural(all - sensors.length, "more event") + ": in the report" : "";
  }

  rows(job, last) {
    const column = job.columns.length - 1,
      part = (key, row) =>
        last[key][row] === null || !(last.elapsed_of_rank_s[row] > 0)
          ? "-"
          : percent(last[key][row] / last.elapsed_of_rank_s[row]);

    this.body.replaceChildren(
      ...last.rank.slice(0, JOB_RANKS_SHOWN).map((rank, row) => {
        const lately = job.share(column, row, "mpi_s");

        return make(
          "tr",
          null,
          make("th", { scope: "row" }, String(rank)),
          make("td", { class: "left" }, job.hostOf(row)),
          make("td", { class: "left" }, JOB_STATES[last.state[row]] || last.state[row]),
          ...[lately === null ? "-" : percent(lately), part("mpi_s", row), part("wait_s", row)].map(text =>
            make("td", null, text),
          ),
        );
      }),
      ...(last.rank.length > JOB_RANKS_SHOWN
        ? [
            make(
              "tr",
              null,
              make(
                "td",
                { class: "left", colspan: 6 },
                plural(last.rank.length - JOB_RANKS_SHOWN, "more rank") + ": in the picture",
              ),
            ),
          ]
        : []),
    );
  }
}

/* The job's trace, as far as it is written, in fvmpi view: a process of its own, which is started when it is asked
 * for. */
function timelineLink() {
  const place = make("span", { id: "timeline", hidden: true }),
    button = make("button", { type: "button" }, "timeline of the job");
  let later = 0;

  async function look(isWanted = false) {
    const {
      job,
      state: is,
      address,
    } = await (
      isWanted ? await fetch(url("/view"), { method: "POST", body: "" }) : await fetch(url("/timeline"))
    ).json();

    place.hidden = !job;
    clearTimeout(later);
    if (is === "serves")
      place.replaceChildren(
        make("a", { href: address, target: "_blank", rel: "noopener noreferrer" }, "timeline of the job"),
        " (port " + new URL(address).port + ")",
      );
    else place.replaceChildren(button, is === "ended" ? " It could not be made; fvmpi live's terminal says why." : "");
    button.disabled = is === "starts";
    if (is === "starts") later = setTimeout(() => look().catch(() => {}), 500);
  }
  button.onclick = () => look(true).catch(error => trouble("The timeline could not be started: " + error.message));
  look().catch(() => {});
  return place;
}
