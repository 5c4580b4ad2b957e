/* In view.html. */
/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups of rows that spend their time alike. A row is a vector of parts of its time, which are 1 together. Two rows
 * differ by half the sum of the absolute differences of their parts: the part of the time that they spend differently
 * (Bray and Curtis, Ecological Monographs 27, 1957). Groups are those of complete linkage (Defays, The Computer Journal
 * 20, 1977): two become one as long as no two rows in it differ by more than a limit, those first that differ least.
 * Chains of nearest neighbours find them in n^2 steps (Murtagh, The Computer Journal 26, 1983).
 *
 * Of more rows than `linked`, each first joins a leader that it differs from by a quarter of the limit at most
 * (Hartigan, Clustering Algorithms, 1975), and leaders are grouped by half of it: what rows of a group differ by is
 * again not more than the limit. Only if leaders are too many as well, rows join the nearest one, and groups are an
 * estimate. */

const MOST_LINKED = 2000,
  PAUSE_MS = 20;

function difference(parts, wide, i, k) {
  let sum = 0;

  for (let a = i * wide, b = k * wide, end = a + wide; a < end; a++, b++) sum += Math.abs(parts[a] - parts[b]);
  return sum / 2;
}

/* The page lives on while much is computed. */
function pauses() {
  let since = performance.now();

  return async () => {
    if (performance.now() - since < PAUSE_MS) return;
    await new Promise(resolve => setTimeout(resolve, 0));
    since = performance.now();
  };
}

async function differences(parts, wide, rows, pause) {
  const n = rows.length,
    far = new Float32Array(n * n);

  for (let i = 0; i < n; i++) {
    for (let k = 0; k < i; k++) far[i * n + k] = far[k * n + i] = difference(parts, wide, rows[i], rows[k]);
    await pause();
  }
  return far;
}

/* The nearest of those that are open; `before` of equal ones. */
function nearestOf(far, n, open, at, before) {
  let nearest = before,
    least = before < 0 ? Infinity : far[at * n + before];

  for (let k = 0; k < n; k++)
    if (open[k] && k !== at && far[at * n + k] < least) {
      least = far[at * n + k];
      nearest = k;
    }
  return { nearest, least };
}

/* Complete linkage: [{ members, height }], indices; height: the most that two members differ by. Who is nearest to each
 * other becomes one; whose nearest is further than the limit is a group. `far` is used up. */
async function linkedGroups(far, n, limit, pause) {
  const groups = Array.from({ length: n }, (_, i) => ({ members: [i], height: 0 })),
    open = new Uint8Array(n).fill(1),
    ready = [];
  let chain = [];

  for (;;) {
    if (!chain.length) {
      const first = open.indexOf(1);

      if (first < 0) return ready;
      chain = [first];
    }
    const at = chain[chain.length - 1],
      before = chain.length > 1 ? chain[chain.length - 2] : -1,
      { nearest, least } = nearestOf(far, n, open, at, before);

    if (!(least <= limit)) {
      open[at] = 0;
      ready.push(groups[at]);
      chain.pop();
    } else if (nearest === before) {
      chain.length -= 2;
      open[nearest] = 0;
      groups[at] = { members: groups[at].members.concat(groups[nearest].members), height: least };
      for (let k = 0; k < n; k++) far[at * n + k] = far[k * n + at] = Math.max(far[at * n + k], far[nearest * n + k]);
    } else chain.push(nearest);
    await pause();
  }
}

/* [{ row, members }] */
async function leadersOf(parts, wide, count, limit, most, pause) {
  const leaders = [];
  let isEstimate = false;

  for (let row = 0; row < count; row++) {
    let best = null,
      least = Infinity;

    for (const leader of leaders) {
      const far = difference(parts, wide, leader.row, row);

      if (far < least) [best, least] = [leader, far];
      if (least <= limit) break;
    }
    if (least <= limit) best.members.push(row);
    else if (leaders.length < most) leaders.push({ row, members: [row] });
    else {
      best.members.push(row);
      isEstimate = true;
    }
    await pause();
  }
  return { leaders, isEstimate };
}

/* Of `count` rows of `wide` parts: { groups: [{ rows, height }], isEstimate }; height: null: not known. */
async function alikeRows(parts, wide, count, limit, linked = MOST_LINKED) {
  const pause = pauses(),
    isLed = count > linked,
    { leaders, isEstimate } = isLed
      ? await leadersOf(parts, wide, count, limit / 4, linked, pause)
      : { leaders: Array.from({ length: count }, (_, row) => ({ row, members: [row] })), isEstimate: false },
    rows = leaders.map(({ row }) => row),
    far = await differences(parts, wide, rows, pause),
    groups = await linkedGroups(far, rows.length, isLed ? limit / 2 : limit, pause);

  return {
    isEstimate,
    groups: groups.map(({ members, height }) => ({
      rows: members.flatMap(i => leaders[i].members).sort((a, b) => a - b),
      height: isLed ? null : height,
    })),
  };
}
