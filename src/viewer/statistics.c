/* SPDX-License-Identifier: BSD-3-Clause */
/* Answers of fvmpi view that sum up a stretch of time, and calls that are looked for (viewer.h). */
#include "viewer/answer.h"

#if FV_MICROHTTPD

#define NODES 20000 /* in an answer */
#define WAITS 5000
#define CALLS 2000

struct fv_timeline_window fv_viewer_window(const struct shown *v, struct MHD_Connection *connection,
                                           struct fv_web_request *r)
{
    const struct window w = window_of(v, connection);
    const uint64_t rows = v->timeline->header->rows.count;
    const char *only = fv_web_query(connection, "only");
    struct fv_timeline_window out = { (uint64_t)w.from, (uint64_t)w.to, w.first, w.rows, NULL };

    if (!only)
        return out;
    FV_GROW(r->body, r->room, rows + 1);
    memset(r->body, 0, rows + 1);
    for (uint64_t first, last; fv_viewer_take_rows(&only, rows, &first, &last);)
        memset(r->body + first, 1, last - first + 1);
    out.first = 0;
    out.rows = (uint32_t)rows;
    out.wanted = r->body;
    return out;
}

/* ---- regions ---- */

static void tell_sum(struct fv_json *json, uint64_t number, const struct fv_timeline_sum *s)
{
    TELL_NUMBERS(json, number, s->count, s->inclusive_ns, s->exclusive_ns, s->longest_ns, s->wait_ns, s->sampled,
                 s->shortest_ns, s->whole_ns, s->least_ns, s->most_ns, s->least_row, s->most_row);
}

static void tell_counted(struct fv_json *json, const struct fv_timeline_file *t, const struct fv_timeline_window *w)
{
    const struct fv_timeline_counted counted = fv_timeline_count(t, w);

    fv_json_unsigned(json, "rows", counted.rows);
    fv_json_unsigned(json, "rows_ns", counted.ns);
}

enum MHD_Result fv_viewer_sums(void *context, struct MHD_Connection *connection, struct fv_web_request *r)
{
    const struct shown *v = shown_of(context, connection);
    const struct fv_timeline_window w = fv_viewer_window(v, connection, r);
    const uint64_t regions = v->timeline->header->regions.count;
    struct fv_timeline_sum *sums = fv_xcalloc(regions + 1, sizeof(*sums));
    struct answer *a = begin_answer();

    fv_timeline_sums(v->timeline, &w, sums);
    tell_counted(&a->json, v->timeline, &w);
    fv_json_array(&a->json, "regions");
    for (uint64_t i = 0; i < regions; i++)
        if (sums[i].count || sums[i].sampled)
            tell_sum(&a->json, i, &sums[i]);
    fv_json_end(&a->json);
    free(sums);
    return end_answer(v, connection, a);
}

enum MHD_Result fv_viewer_shares(void *context, struct MHD_Connection *connection, struct fv_web_request *r)
{
    const struct shown *v = shown_of(context, connection);
    const struct fv_timeline_window w = fv_viewer_window(v, connection, r);
    const double regions = (double)v->timeline->header->regions.count;
    struct fv_timeline_sum *sums = fv_xcalloc((size_t)w.rows + 1, sizeof(*sums));
    struct answer *a = begin_answer();

    fv_timeline_sums_by_row(v->timeline, &w, (uint32_t)number(connection, "region", 0, regions, regions), sums);
    fv_json_array(&a->json, "rows");
    for (uint32_t i = 0; i < w.rows; i++)
        if (fv_timeline_counts(v->timeline, &w, w.first + i))
            tell_sum(&a->json, w.first + i, &sums[i]);
    fv_json_end(&a->json);
    free(sums);
    return end_answer(v, connection, a);
}

/* ---- call paths ---- */

static int by_inclusive(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x < y) - (x > y);
}

/* The time below which nodes are left out, so that not more than NODES are told. */
static uint64_t least_told(const struct fv_timeline_tree *tree)
{
    uint64_t *all = fv_xcalloc(tree->count + 1, sizeof(*all)), least = 0;

    for (size_t i = 0; i < tree->count; i++)
        all[i] = tree->nodes[i].inclusive_ns;
    if (tree->count > NODES) {
        qsort(all, tree->count, sizeof(*all), by_inclusive);
        least = all[NODES - 1] + 1;
    }
    free(all);
    return least;
}

/* A node of which one is left out has more time than it and is not, so that the numbers of parents are known. */
enum MHD_Result fv_viewer_tree(void *context, struct MHD_Connection *connection, struct fv_web_request *r)
{
    const struct shown *v = shown_of(context, connection);
    const struct fv_timeline_window w = fv_viewer_window(v, connection, r);
    struct fv_timeline_tree tree;
    struct answer *a = begin_answer();

    fv_timeline_tree_make(v->timeline, &w, &tree);
    const uint64_t least = least_told(&tree);
    uint32_t *numbers = fv_xcalloc(tree.count + 1, sizeof(*numbers)), told = 0;

    tell_counted(&a->json, v->timeline, &w);
    fv_json_array(&a->json, "nodes");
    for (size_t i = 0; i < tree.count; i++) {
        const struct fv_timeline_node *n = &tree.nodes[i];
        const uint32_t parent = n->parent == FV_NONE ? FV_TIMELINE_NONE : numbers[n->parent];

        numbers[i] = FV_TIMELINE_NONE;
        if (n->inclusive_ns < least || (n->parent != FV_NONE && parent == FV_TIMELINE_NONE))
            continue;
        numbers[i] = told++;
        TELL_NUMBERS(&a->json, known(parent), n->region, n->count, n->inclusive_ns, n->exclusive_ns, n->wait_ns,
                     n->sampled);
    }
    fv_json_end(&a->json);
    fv_json_unsigned(&a->json, "left_out", tree.count - told);
    free(numbers);
    fv_timeline_tree_release(&tree);
    return end_answer(v, connection, a);
}

/* ---- waiting ---- */

static int by_wait(const void *a, const void *b)
{
    const struct fv_timeline_wait *x = a, *y = b;

    return x->ns != y->ns           ? (x->ns < y->ns ? 1 : -1)
           : x->region != y->region ? (x->region > y->region ? 1 : -1)
                                    : (x->cause > y->cause) - (x->cause < y->cause);
}

enum MHD_Result fv_viewer_waits(void *context, struct MHD_Connection *connection, struct fv_web_request *r)
{
    const struct shown *v = shown_of(context, connection);
    const struct fv_timeline_window w = fv_viewer_window(v, connection, r);
    struct fv_timeline_waits waits;
    struct answer *a = begin_answer();

    fv_timeline_waits_make(v->timeline, &w, &waits);
    if (waits.count)
        qsort(waits.items, waits.count, sizeof(*waits.items), by_wait);
    const size_t count = waits.count < WAITS ? waits.count : WAITS;
    fv_json_unsigned(&a->json, "left_out", waits.count - count);
    fv_json_array(&a->json, "waits");
    for (size_t i = 0; i < count; i++) {
        const struct fv_timeline_wait *wait = &waits.items[i];

        TELL_NUMBERS(&a->json, wait->region, known(wait->cause), wait->count, wait->ns, wait->longest_ns);
    }
    fv_json_end(&a->json);
    fv_timeline_waits_release(&waits);
    return end_answer(v, connection, a);
}

/* ---- calls ---- */

bool *fv_viewer_regions(const struct shown *v, struct MHD_Connection *connection)
{
    const uint64_t regions = v->timeline->header->regions.count;
    const char *text = fv_web_query(connection, "region");
    bool *wanted = fv_xcalloc(regions + 1, sizeof(*wanted));

    while (text && *text) {
        char *end;
        const unsigned long long region = strtoull(text, &end, 10);

        if (end == text)
            break;
        if (region < regions)
            wanted[region] = true;
        text = *end ? end + 1 : end;
    }
    return wanted;
}

/* Rows of "0-3,7"; NULL: any. */
static char *wanted_partners(const struct shown *v, struct MHD_Connection *connection)
{
    const uint64_t rows = v->timeline->header->rows.count;
    const char *text = fv_web_query(connection, "partner");
    char *wanted = text ? fv_xcalloc(rows + 1, 1) : NULL;

    for (uint64_t first, last; text && fv_viewer_take_rows(&text, rows, &first, &last);)
        memset(wanted + first, 1, last - first + 1);
    return wanted;
}

static void tell_found(struct fv_json *json, const struct fv_timeline_search *s)
{
    fv_json_unsigned(json, "all", s->all);
    fv_json_unsigned(json, "all_ns", s->all_ns);
    fv_json_unsigned(json, "in_range", s->in_range);
    fv_json_unsigned(json, "left_out", s->in_range - s->count);
    fv_json_array(json, "bars");
    for (uint64_t k = 0; k < FV_TIMELINE_BARS; k++)
        if (s->bars[k])
            TELL_NUMBERS(json, k, s->bars[k]);
    fv_json_end(json);
    fv_json_array(json, "calls");
    for (size_t i = 0; i < s->count; i++) {
        const struct fv_timeline_seen *c = &s->found[i].seen;

        TELL_NUMBERS(json, c->begin_ns, c->ns, c->wait_ns, c->region, c->depth, known(c->context), known(c->cause),
                     c->is_sampled, s->found[i].row, c->comm != FV_TIMELINE_NONE);
    }
    fv_json_end(json);
}

enum MHD_Result fv_viewer_calls(void *context, struct MHD_Connection *connection, struct fv_web_request *r)
{
    const struct shown *v = shown_of(context, connection);
    const struct fv_timeline_window w = fv_viewer_window(v, connection, r);
    bool *wanted = fv_viewer_regions(v, connection);
    char *rows = wanted_partners(v, connection);
    const bool has_bytes = fv_web_query(connection, "least_bytes") || fv_web_query(connection, "most_bytes");
    const struct fv_timeline_partners partners = { rows, (uint64_t)number(connection, "least_bytes", 0, 1e18, 0),
                                                   (uint64_t)number(connection, "most_bytes", 0, 1e18, 1e18) };
    struct fv_timeline_search s = { .wanted = wanted,
                                    .partners = rows || has_bytes ? &partners : NULL,
                                    .least_ns = (uint64_t)number(connection, "least", 0, 1e18, 0),
                                    .most_ns = (uint64_t)number(connection, "most", 0, 1e18, 1e18),
                                    .order = (enum fv_timeline_order)number(connection, "order", FV_TIMELINE_LONGEST,
                                                                            FV_TIMELINE_LATEST, FV_TIMELINE_LONGEST),
                                    .most = (size_t)number(connection, "count", 1, CALLS, CALLS) };
    struct answer *a = begin_answer();

    fv_timeline_find(v->timeline, &w, &s);
    tell_found(&a->json, &s);
    free(s.found);
    free(rows);
    free(wanted);
    return end_answer(v, connection, a);
}
#endif
