/* In view.html. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* What the server has of a trace (src/viewer/viewer.h). Of two traces the second one has the first one's numbers of
 * regions here, as far as they are the same: what is selected, and its colour, are so in both. */

const TROUBLE = "The server does not answer: ";
const viewToken = new URLSearchParams(location.search).get("token") || "";

/* Names that more than one region has. */
function repeated(regions) {
  const seen = new Set();

  return regions.map(({ name }) => name).filter(name => seen.has(name) || !seen.add(name));
}

class ServedTrace {
  constructor(number) {
    this.number = number;
    this.regions = null; /* the server's number -> ours; null: the same */
    this.shown = {}; /* which of those that the server has had; from `about` on the same one */
  }

  /* `body`: what is posted. */
  async ask(path, values, body) {
    const of = this.number ? { trace: this.number } : {},
      answer = await fetch(
        path + "?" + new URLSearchParams({ ...values, ...of, ...this.shown, token: viewToken }),
        body === undefined ? {} : { method: "POST", body },
      );

    if (!answer.ok) throw new Error((await answer.text()).trim());
    return answer;
  }
  async json(path, values) {
    return (await this.ask(path, values)).json();
  }

  /* ---- regions ---- */

  /* Those of the first trace, then those that only this one has. What has a name alone is the same in both, whatever
   * its file is. */
  join(first, own) {
    const twice = new Set([...repeated(first), ...repeated(own)]),
      key = ({ name, class: of, file }) => [name, of, twice.has(name) ? file.replace(/.*\//, "") : ""].join("\n"),
      all = first.map(region => ({ ...region })),
      numbers = new Map(all.map(region => [key(region), region.number]));

    this.regions = own.map(region => {
      const known = numbers.get(key(region));

      if (known !== undefined) {
        all[known].count += region.count;
        all[known].ns += region.ns;
        return known;
      }
      numbers.set(key(region), all.length);
      all.push({ ...region, number: all.length });
      return all.length - 1;
    });
    return all;
  }
  region(number) {
    return this.regions ? this.regions[number] : number;
  }
  /* The server's numbers of one of ours. */
  numbersOf(region) {
    return this.regions ? this.regions.flatMap((of, i) => (of === region ? [i] : [])) : [region];
  }

  /* ---- what there is ---- */

  async about() {
    const about = await this.json("about", {});

    this.shown = { number: about.number };
    about.rows = about.rows.map(([rank, thread, host, depth, name]) => ({ rank, thread, host, depth, name }));
    about.regions = about.regions.map(([name, of, file, count, ns], number) => ({
      ...{ number, name, class: of, file, count, ns },
    }));
    return about;
  }
  /* Arrays as the server lays them out. */
  async tiles({ from, to, count, first, merge, text }) {
    const lines = text.split(";").length,
      data = await (await this.ask("tiles", { from, to, count }, text)).arrayBuffer(),
      all = lines * count,
      classes = all ? data.byteLength / all - 7 : 0,
      regions = new Uint32Array(data, 0, all);

    return {
      ...{ from, to, count, first, merge, lines, all },
      regions: this.regions ? regions.map(number => (number === NO_REGION ? number : this.region(number))) : regions,
      regionParts: new Uint8Array(data, 4 * all, all),
      waits: new Uint8Array(data, 5 * all, all),
      parts: new Uint8Array(data, 6 * all, classes * all),
      computing: new Uint8Array(data, (6 + classes) * all),
    };
  }
  async slices(row, from, to, least) {
    const { slices, left_out } = await this.json("slices", { row, from, to, least });

    return {
      leftOut: left_out,
      slices: slices
        .map(slice => this.call([...slice.slice(0, 8), row, slice[8]]))
        .sort((a, b) => a.depth - b.depth || a.begin - b.begin),
    };
  }
  /* With an end in `rows`; none, but how many, where they are more than `most`. `rows` may have a region, of whose
   * calls they are. */
  async messages(from, to, most, rows = {}) {
    const { messages, left_out } = await this.json("messages", { from, to, most, ...rows });

    return {
      left_out,
      messages: messages.map(([sent, received, source, target, size, tag, comm]) => ({
        ...{ sent, received, from: source, to: target, bytes: size, tag, comm },
      })),
    };
  }

  /* ---- calls ---- */

  /* As viewer/statistics.c has them. */
  call([begin, ns, wait, region, depth, context, cause, sampled, row, together]) {
    return {
      ...{ begin, ns, wait, region: this.region(region), depth, context, cause, sampled, row },
      isTogether: together === 1,
    };
  }
  async calls(values) {
    const found = await this.json("calls", values);

    return { ...found, calls: found.calls.map(call => this.call(call)) };
  }
  /* As viewer/links.c has them. */
  async links(path, values) {
    const found = await this.json(path, values);

    return {
      ...found,
      calls: found.calls.map(([row, begin, ns, wait, region, depth, context, cause, sampled, together]) =>
        this.call([begin, ns, wait, region, depth, context, cause, sampled, row, together]),
      ),
    };
  }
}
