/* In page.html. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* What a thread did, by kinds (enum fv_trace_layer in src/profile/trace_excerpt.h): which of them the timeline shows is
 * chosen, and is in the address; sums of each; and what of them the page has no room for. */

const LANES = [
  { key: "sections", title: "sections", layer: 0 },
  { key: "functions", title: "instrumented functions", layer: 1 },
  { key: "openmp", title: "OpenMP", layer: 2 },
  { key: "mpi", title: "MPI calls" },
  { key: "waits", title: "waiting for threads", layer: 3 },
  { key: "io", title: "I/O", layer: 4 },
  { key: "memory", title: "memory calls", layer: 5 },
  { key: "samples", title: "samples" },
]; /* of those that begin and end together the first one is around the others */

class Lanes {
  /* changed: is called when others are chosen. */
  constructor(trace, changed) {
    this.trace = trace;
    this.changed = changed;
    this.present = LANES.filter(({ key, layer }) => trace.all.some(row => this.countOf(row, key, layer)));
    this.hidden = new Set(this.present.map(({ key }) => key).filter(key => (selection.hidden || []).includes(key)));
  }

  countOf(row, key, layer) {
    return layer === undefined
      ? (key === "mpi" ? row : row.samples).count
      : row.lanes.has(layer)
        ? row.lanes.get(layer).count
        : 0;
  }

  word(name) {
    return name === null ? "(not known)" : this.trace.frames[name];
  }

  /* What is drawn: a box for each lane. */
  choice() {
    const box = ({ key, title }) => {
      const input = make("input", {
        type: "checkbox",
        onchange: () => {
          if (input.checked) this.hidden.delete(key);
          else this.hidden.add(key);
          selection.hide([...this.hidden]);
          this.changed();
        },
      });

      input.checked = !this.hidden.has(key);
      return make("label", null, input, " " + title);
    };
    return make("p", { class: "tools lanes" }, ...(this.present.length > 1 ? ["show ", ...this.present.map(box)] : []));
  }

  /* Bars of a layer in a stretch of time. */
  sums({ key, title, layer }, rows, from, to, words) {
    const isCode = key === "functions",
      bars = this.trace
        .spanTimes(layer, rows, from, to)
        .sorted()
        .filter(([, time]) => time > 0)
        .map(([name, time]) => ({
          label: this.word(name),
          value: seconds(time * 1e-9),
          parts: [[time, isCode ? "compute" : "lane-" + key]],
          pick: isCode ? () => selection.toggle("function", this.word(name)) : null,
        }));

    return lying(
      "stretch-" + key,
      title[0].toUpperCase() + title.slice(1) + words.title,
      bars,
      [],
      "each without what is in it; of " + words.of,
    );
  }

  /* "28,102 shorter MPI calls" and so on; "": all is there. */
  leftOut() {
    const { leftOut } = this.trace,
      said = [
        [leftOut.calls, "shorter MPI calls"],
        [leftOut.messages, "smaller messages"],
        [leftOut.samples, "samples, for which others stand"],
        ...LANES.filter(({ layer }) => layer !== undefined).map(({ title, layer }) => [
          leftOut.spans[layer],
          "shorter spans of " + title,
        ]),
      ].filter(([n]) => n);

    return said.length
      ? "Left out of this page: " +
          said.map(([n, words]) => count(n) + " " + words).join("; ") +
          ". fvmpi view shows all."
      : "";
  }
}
