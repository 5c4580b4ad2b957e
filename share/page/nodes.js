/* In page.html. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* What part of the messages' bytes stays on its node, and an order of ranks with which more would. */

/* Bytes between two ranks, both ways, and the node of each rank. */
function trafficOf(matrix, ranks) {
  const nodes = new Map(),
    between = new Map();
  const add = (a, b, sent) => {
    if (!between.has(a)) between.set(a, new Map());
    between.get(a).set(b, (between.get(a).get(b) || 0) + sent);
  };

  for (let row = 0; row < ranks.rows; row++) nodes.set(ranks.get("rank", row), ranks.get("host", row));
  for (let row = 0; row < matrix.rows; row++) {
    const from = matrix.get("from", row),
      to = matrix.get("to", row),
      sent = matrix.get("bytes", row);

    if (from !== to && nodes.has(from) && nodes.has(to)) {
      add(from, to, sent);
      add(to, from, sent);
    }
  }
  return { nodes, between };
}

function stays(between, nodeOf) {
  let all = 0,
    inside = 0;

  between.forEach((others, rank) =>
    others.forEach((sent, other) => {
      all += sent;
      if (nodeOf.get(rank) === nodeOf.get(other)) inside += sent;
    }),
  );
  return all ? inside / all : null;
}

/* Fills node after node, each with as many ranks as it has now: next comes the rank that talks most to those that are
 * there. A heuristic: there may be better orders. */
function betterOrder(between, nodes) {
  const room = new Map(),
    placed = new Map();

  nodes.forEach(host => room.set(host, (room.get(host) || 0) + 1));
  const left = new Set(nodes.keys()),
    total = rank => [...(between.get(rank) || new Map()).values()].reduce((sum, sent) => sum + sent, 0);
  const totals = new Map([...left].map(rank => [rank, total(rank)]));

  for (const [host, places] of room) {
    const here = new Map(); /* bytes of those that are left with those that are here */

    for (let i = 0; i < places; i++) {
      let best = null;

      for (const rank of left)
        if (
          best === null ||
          (here.get(rank) || 0) > (here.get(best) || 0) ||
          ((here.get(rank) || 0) === (here.get(best) || 0) && i === 0 && totals.get(rank) > totals.get(best))
        )
          best = rank;
      left.delete(best);
      placed.set(best, host);
      (between.get(best) || new Map()).forEach((sent, other) => here.set(other, (here.get(other) || 0) + sent));
    }
  }
  return placed;
}

/* The order as each launcher reads it. */
const LAUNCHERS = [
  [
    "Open MPI: mpiexec --rankfile ranks.openmpi",
    "ranks.openmpi",
    placed => {
      const slots = new Map();

      return [...placed].map(([rank, host]) => {
        const slot = slots.get(host) || 0;
        slots.set(host, slot + 1);
        return "rank " + rank + "=" + host + " slot=" + slot;
      });
    },
  ],
  [
    "MPICH: mpiexec -configfile ranks.mpich, with your program for PROGRAM",
    "ranks.mpich",
    placed => [...placed].map(([, host]) => "-n 1 -host " + host + " PROGRAM"),
  ],
  [
    "Slurm: SLURM_HOSTFILE=ranks.slurm srun --distribution=arbitrary",
    "ranks.slurm",
    placed => [...placed].map(([, host]) => host),
  ],
];

function nodeMatrix(between, nodeOf) {
  const hosts = [...new Set(nodeOf.values())],
    sums = hosts.map(() => hosts.map(() => 0));
  let most = 0;

  between.forEach((others, rank) =>
    others.forEach((sent, other) => {
      const row = hosts.indexOf(nodeOf.get(rank)),
        column = hosts.indexOf(nodeOf.get(other));

      sums[row][column] += sent / 2;
      most = Math.max(most, sums[row][column]);
    }),
  );
  return heat(
    "bytes between nodes, of " +
      bytes(most) +
      ", the most: " +
      hosts.slice(0, 6).join(", ") +
      (hosts.length > 6 ? ", ..." : "") +
      " from top to bottom and from left to right",
    hosts.length,
    hosts.length,
    (row, column) => (most ? sums[row][column] / most : null),
    () => [],
    () => {},
  );
}

function nodeView(tables) {
  const matrix = tables.get("matrix"),
    ranks = tables.get("ranks");

  if (!matrix.rows || !matrix.has("from") || !ranks.rows) return null;
  const { nodes, between } = trafficOf(matrix, ranks),
    now = stays(between, nodes),
    many = new Set(nodes.values()).size > 1;

  if (now === null) return null;
  const view = make(
    "section",
    { id: "nodes", "aria-label": "Nodes" },
    make("h3", null, "Nodes"),
    make(
      "p",
      null,
      percent(now) + " of the bytes between ranks stay on their node" + (many ? "." : ": there is one node."),
    ),
  );
  if (!many) return view;
  const placed = new Map([...betterOrder(between, nodes)].sort((a, b) => a[0] - b[0])),
    then = stays(between, placed);
  view.append(nodeMatrix(between, nodes));
  if (then > now + 0.01)
    view.append(
      make(
        "p",
        null,
        "With another order of the ranks " +
          percent(then) +
          " would (estimate of a simple heuristic that does not know the network):",
      ),
      make(
        "ul",
        null,
        ...LAUNCHERS.map(([words, name, lines]) =>
          make(
            "li",
            null,
            make(
              "button",
              { type: "button", onclick: () => download(name, lines(placed).join("\n") + "\n", "text/plain") },
              name,
            ),
            " " + words,
          ),
        ),
      ),
    );
  else view.append(make("p", { class: "note" }, "A simple heuristic found no better order of the ranks."));
  return view;
}
