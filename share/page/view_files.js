/* In view.html. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* The panel of operations on files in view, by file and by the interface that it was used with. */

const FILE_KEYS = [
    "interface",
    "opens",
    "reads",
    "writes",
    "others",
    "read",
    "written",
    "unknown",
    "ns",
    "moving",
    "longest",
    "begin",
    "row",
  ],
  INTERFACES = ["MPI-IO", "POSIX", "stdio"]; /* enum fv_def_io */

class Files {
  constructor(view) {
    Object.assign(this, panelOf(this, view, "files", "I/O by file", "bottom"));
    this.files = [];
    this.text = make("input", {
      type: "search",
      placeholder: "file",
      "aria-label": "files whose names contain",
      oninput: () => this.show(),
    });
    this.table = new LongTable("files", "operations on files in view", this.columns(), { sorted: "ns" });
    this.element.append(
      make("p", { class: "tools" }, rowsChooser(view), this.text, this.table.csvButton(), this.note),
      this.table.element,
    );
  }

  columns() {
    const number = (key, title, doc) => ({ ...whole(key, title, doc), wide: 4.5, value: file => file[key] || null }),
      size = (key, of) => ({
        ...{ key, title: key, doc: `bytes of ${of} that have a part of what is shown` },
        ...{ csvTitle: key + "_bytes", wide: 6, words: bytes },
        value: file => (file[of] ? file[key] : null),
      });

    return [
      {
        key: "name",
        title: "file",
        isText: true,
        wide: 17,
        value: file => file.name,
        cell: file => this.nameCell(file),
      },
      {
        key: "interface",
        title: "by",
        doc: "the functions that it was used with",
        isText: true,
        wide: 5.5,
        value: file => INTERFACES[file.interface] || "others",
      },
      number("opens", "opens"),
      number("reads", "reads"),
      number("writes", "writes"),
      { ...number("others", "other", "closing, moving, synchronising"), csvTitle: "others" },
      size("read", "reads"),
      size("written", "writes"),
      time("ns", "time", "of all these operations, in what is shown"),
      {
        key: "rate",
        title: "bandwidth",
        doc: "bytes read and written, by the time of these reads and writes",
        csvTitle: "bandwidth_bytes_per_s",
        wide: 7,
        value: file => (file.moving ? ((file.read + file.written) * 1e9) / file.moving : null),
        words: rate => bytes(rate) + "/s",
      },
      time("longest", "longest", "operation", { cell: (file, words) => this.longestCell(file, words) }),
    ];
  }
  /* Where the file is, if there are several hosts. */
  nameCell({ name, host }) {
    return make(
      "span",
      { class: "name", title: name + (host ? " on " + host : "") },
      make("span", { class: "path" }, ...nameParts(name)),
    );
  }
  longestCell(file, words) {
    return make(
      "button",
      {
        type: "button",
        class: "pick longest",
        "data-focus": "longest" + file.name + file.interface,
        title: "go to the longest operation on " + file.name,
        onclick: () => this.go(file),
      },
      words,
    );
  }
  /* To the innermost call around it. */
  async go({ row, begin, longest }) {
    const { slices } = await this.view.trace.slices(row, begin, begin + Math.max(longest, 1), 0),
      around = slices.filter(slice => slice.begin <= begin && slice.begin + slice.ns >= begin + longest);

    if (around.length) this.view.goToCall(around[around.length - 1]);
    else this.view.goToTime(begin);
  }

  async load() {
    const { files, left_out } = await this.view.trace.json("files", windowOf(this.view));

    this.files = files.map(([name, host, numbers]) => ({
      name,
      host,
      ...Object.fromEntries(FILE_KEYS.map((key, i) => [key, numbers[i]])),
    }));
    this.leftOut = left_out;
    this.show();
  }
  show() {
    const text = this.text.value.toLowerCase(),
      shown = this.files.filter(file => file.name.toLowerCase().includes(text)),
      sum = key => shown.reduce((all, file) => all + file[key], 0);

    this.table.setRows(shown);
    this.note.textContent = [
      plural(new Set(shown.map(file => file.name + "\n" + file.host)).size, "file") +
        ", " +
        bytes(sum("read")) +
        " read, " +
        bytes(sum("written")) +
        " written",
      sum("unknown") ? plural(sum("unknown"), "operation") + " whose bytes are not known" : "",
      this.leftOut ? "left out: " + plural(this.leftOut, "file") + " with the least time" : "",
      this.view.about.left_out.io ? "the index has no room for them (--index-max)" : "",
    ]
      .filter(Boolean)
      .join("; ");
  }
}
