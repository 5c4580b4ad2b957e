/* SPDX-License-Identifier: BSD-3-Clause */
/* What the passes of graph.h have in common; only they include this. */
#ifndef FV_GRAPH_PARTS_H
#define FV_GRAPH_PARTS_H

#include "analysis/graph.h"

#include <stdlib.h>

/* A wait of this process for another line: when it was over, and whose it was. */
struct fv_graph_wait {
    uint64_t end;
    uint32_t line, call;
};

/* What fv_graph_backwards() tells of all waits: in windows of time, the latest first. All are collective. Of a
 * window first both are told, then both follow: the first process leads the path while the last one sums up. */
struct fv_critical *fv_critical_begin(struct fv_graph *g);
void fv_critical_window(struct fv_critical *p, const struct fv_graph_wait *waits, size_t count);
void fv_critical_follow(struct fv_critical *p, bool last);
void fv_critical_end(struct fv_critical *p);

struct fv_delays *fv_delays_begin(struct fv_graph *g);
void fv_delays_window(struct fv_delays *d, const struct fv_graph_wait *waits, size_t count);
void fv_delays_follow(struct fv_delays *d);
void fv_delays_end(struct fv_delays *d);

static inline void fv_graph_charge(struct fv_graph *g, enum fv_tally_what what, uint32_t line, uint32_t site,
                                   enum fv_where where, uint64_t ns)
{
    if (ns)
        fv_tallies_add(g->out, &(struct fv_tally){ what, site, g->steps->lines[line].rank, where, 0, 0, 1, ns });
}

/* How many things of so many bytes a window may have of each process, all of which come to the first: what
 * the caches hold, but where each window is a round of messages rather what memory does. */
static inline size_t fv_graph_window(const struct fv_graph *g, size_t bytes)
{
    uint64_t processes = (uint64_t)g->transport->size, most = 32768 * processes,
             count = g->memory / (bytes * (processes + 1));

    return count < 256 ? 256 : count > most ? most : count;
}

/* in[i] gets what process i has for process `to`, which knows its own; of `size` empty ones. */
static inline void fv_graph_gather(const struct fv_graph *g, int to, const struct fv_bytes *own, struct fv_bytes *in)
{
    const struct fv_transport *t = g->transport;

    if (t->rank != to)
        fv_transport_put(t, to, own);
    for (int i = 0; t->rank == to && i < t->size; i++)
        if (i != to)
            fv_transport_get(t, i, &in[i]);
}

/* The out[i] of process `from` is appended to process i's `in`. */
static inline void fv_graph_scatter(const struct fv_graph *g, int from, const struct fv_bytes *out, struct fv_bytes *in)
{
    const struct fv_transport *t = g->transport;

    if (t->rank != from)
        fv_transport_get(t, from, in);
    else
        fv_bytes_put(in, out[from].data, out[from].count);
    for (int i = 0; t->rank == from && i < t->size; i++)
        if (i != from)
            fv_transport_put(t, i, &out[i]);
}

static inline void fv_graph_clear(const struct fv_graph *g, struct fv_bytes *bytes)
{
    fv_bytes_clear_each(bytes, g->transport->size);
}

static inline void fv_graph_free(const struct fv_graph *g, struct fv_bytes *bytes)
{
    fv_bytes_free_each(bytes, g->transport->size);
}

#endif
