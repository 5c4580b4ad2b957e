/* SPDX-License-Identifier: BSD-3-Clause */
/* See sites.h. */
#include "analysis/sites.h"

#include <stdlib.h>
#include <string.h>

/* ---- call sites ---- */

static int by_key(const void *a, const void *b)
{
    const struct fv_site_key *x = a, *y = b;

    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    return (x->function > y->function) - (x->function < y->function);
}

/* Sorted, and each once. */
static size_t make_unique(struct fv_site_key *keys, size_t count)
{
    return fv_fold(keys, count, sizeof(*keys), by_key, NULL);
}

static void add_site(void *context, uint32_t function, uint32_t node)
{
    const struct fv_site_key key = { function, node };

    fv_bytes_put(context, &key, sizeof(key));
}

static void add_file(struct fv_bytes *out, const struct fv_merge *m, size_t file)
{
    m->source->sites(m, file, add_site, out);
    out->count = make_unique((struct fv_site_key *)(void *)out->data, out->count / sizeof(struct fv_site_key)) *
                 sizeof(struct fv_site_key);
}

void fv_sites_collect(struct fv_sites *s, const struct fv_merge *m)
{
    const struct fv_transport *t = m->transport;
    struct fv_bytes bytes = { 0 };

    for (size_t i = 0; i < m->file_count; i++)
        add_file(&bytes, m, i);
    if (t->rank)
        fv_transport_put(t, 0, &bytes);
    for (int i = 1; !t->rank && i < t->size; i++)
        fv_transport_get(t, i, &bytes);
    if (!t->rank)
        bytes.count =
            make_unique((struct fv_site_key *)(void *)bytes.data, bytes.count / sizeof(*s->items)) * sizeof(*s->items);
    fv_transport_share(t, &bytes);
    s->items = (struct fv_site_key *)(void *)bytes.data;
    s->count = (uint32_t)(bytes.count / sizeof(*s->items));
    s->of_node = fv_xcalloc(m->defs.tree.node_count + 1, sizeof(*s->of_node));
    memset(s->of_node, 0xff, (m->defs.tree.node_count + 1) * sizeof(*s->of_node));
    for (uint32_t i = s->count; i-- > 0;)
        s->of_node[s->items[i].node] = i;
}

uint32_t fv_sites_find(const struct fv_sites *s, uint32_t function, uint32_t node)
{
    uint32_t i = s->of_node[node];

    while (i < s->count && s->items[i].node == node && s->items[i].function != function)
        i++;
    return i < s->count && s->items[i].node == node ? i : FV_NONE;
}

void fv_sites_release(struct fv_sites *s)
{
    free(s->items);
    free(s->of_node);
    *s = (struct fv_sites){ 0 };
}

/* ---- functions ---- */

unsigned fv_call_traits(const char *f)
{
    if (!strncmp(f, "MPI_Test", 8) || !strcmp(f, "MPI_Win_test") || !strcmp(f, "MPI_Iprobe") ||
        !strcmp(f, "MPI_Improbe"))
        return FV_CALL_TEST;
    if (!strcmp(f, "MPI_Probe"))
        return FV_CALL_PROBE;
    if (!strcmp(f, "MPI_Imrecv"))
        return FV_CALL_IMRECV;
    if (!strcmp(f, "MPI_Init") || !strcmp(f, "MPI_Init_thread"))
        return FV_CALL_INIT;
    if (!strncmp(f, "MPI_Pready", 10))
        return FV_CALL_READY;
    return strcmp(f, "MPI_Finalize") ? 0 : FV_CALL_FINALIZE;
}
