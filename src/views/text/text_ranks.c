/* SPDX-License-Identifier: BSD-3-Clause */
/* Message sizes, peers, communicators, and a line for each rank. */
#include "views/text/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

FV_TEXT_SECTION(sizes)
{
    struct fv_text_table t;
    const struct fv_relation *r;

    fv_text_table_begin(&t, p, v, "message_sizes");
    r = t.sheet.relation;
    t.sheet.top = SIZE_MAX;
    for (size_t i = 0; i < fv_relation_count(r, &t.tables, NULL); i++)
        fv_text_table_add(&t, fv_relation_row(r, &t.tables, NULL, i), FV_PLAIN);
    if (t.sheet.table.rows)
        fv_page_heading(
            p, "Message sizes",
            "bytes that a rank sent or received in one call, and the time of those calls (not of completing them)");
    fv_text_table_end(&t, NULL, NULL);
}

FV_TEXT_SECTION(peers)
{
    struct fv_text_table t;
    size_t count;

    fv_text_table_begin(&t, p, v, "matrix");
    t.sheet.top = fv_text_few(p);
    const void **pairs = fv_text_table_sorted(&t, NULL, "bytes", &count);
    for (size_t i = 0; i < count; i++)
        fv_text_table_add(&t, pairs[i], FV_PLAIN);
    if (count)
        fv_page_heading(p, "Heaviest peers", "world ranks; what one sent to the other, point to point and one-sided");
    fv_text_table_end(&t, "pair", " of ranks");
    free(pairs);
}

FV_TEXT_SECTION(comms)
{
    size_t count, used = 0;
    struct fv_text_table t;

    for (size_t i = 0; i < v->model->comm_count; i++)
        used += v->model->comms[i].stat.calls > 0;
    if (used < 2) /* with MPI_COMM_WORLD alone the table says nothing new */
        return;
    fv_page_heading(
        p, "Communicators",
        "on which calls were made; waiting, logged: in collective calls for which each rank's entry time is known");
    fv_text_table_begin(&t, p, v, "communicators");
    const void **comms = fv_text_table_sorted(&t, NULL, "time_s", &count);
    for (size_t i = 0; i < count; i++)
        if (((const struct fv_comm_view *)comms[i])->stat.calls)
            fv_text_table_add(&t, comms[i], FV_PLAIN);
    fv_text_table_end(&t, "communicator", "");
    free(comms);
}

/* ---- threads ---- */

/* By rank, of those with more than `less`. */
static void put_threads(const struct fv_page *p, const struct fv_profile *v, uint32_t less, const char *about)
{
    const struct fv_model *m = v->model;
    struct fv_text_table t;

    fv_text_table_begin(&t, p, v, "threads");
    for (size_t i = 0; i < m->rank_count; i++)
        for (uint32_t k = 0; m->ranks[i].threads > less && k < m->ranks[i].threads; k++)
            fv_sheet_add(&t.sheet, &m->ranks[i], &m->threads[m->ranks[i].first_thread + k], FV_PLAIN);
    if (t.sheet.table.rows)
        fv_page_heading(p, "Threads", about);
    fv_text_table_end(&t, "thread", "");
}

/* ---- ranks ---- */

/* Which ranks to show when there are too many: those that died first, then those that others waited for
 * longest, then the lowest ranks. */
struct ranked {
    double score;
    size_t index;
};

static int by_score(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;

    if (x->score != y->score)
        return x->score > y->score ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

FV_TEXT_SECTION(ranks)
{
    const struct fv_model *m = v->model;

    if (m->shown_threads) {
        put_threads(p, v, 0, "those that were chosen");
        return;
    }
    if (fv_text_serial(m) && m->rank_count < 2)
        return;
    struct ranked *order = fv_xcalloc(m->rank_count, sizeof(*order));
    bool *chosen = fv_xcalloc(m->rank_count, sizeof(*chosen)), threads = false, ended = true;
    struct fv_text_table t;

    for (size_t i = 0; i < m->rank_count; i++) {
        const struct fv_rank *r = &m->ranks[i];
        bool finalized = r->state == FV_RANK_FINALIZED;

        order[i] = (struct ranked){ fmax(fv_rank_caused_s(m, r), 0) + (finalized ? 0 : 1e9), i };
        threads |= r->threads > 1;
        ended &= finalized;
    }
    qsort(order, m->rank_count, sizeof(*order), by_score);
    fv_text_table_begin(&t, p, v, "ranks");
    if (m->program_count == 1)
        fv_sheet_hide(&t.sheet, "program");
    if (!threads)
        fv_sheet_hide(&t.sheet, "thread_count");
    if (ended)
        fv_sheet_hide(&t.sheet, "state");
    else
        t.sheet.share = SIZE_MAX; /* a rank that died is shown, however long others waited for it */
    for (size_t i = 0; i < m->rank_count; i++)
        chosen[order[i].index] = fv_sheet_choose(&t.sheet, NULL, &m->ranks[order[i].index]);
    for (size_t i = 0; i < m->rank_count; i++)
        if (chosen[i])
            fv_sheet_put(&t.sheet, NULL, &m->ranks[i], m->ranks[i].state == FV_RANK_FINALIZED ? FV_PLAIN : FV_RED);
    fv_page_heading(p, "Ranks",
                    m->causes.source == FV_CAUSES_TRACE
                        ? "others waited: for this rank directly, whichever rank began the delay"
                        : "others waited: in collectives, for this rank to come");
    fv_text_table_end(&t, "rank", ", that others waited for less");
    free(chosen);
    free(order);
    if (threads)
        put_threads(p, v, 1, /* of one thread the ranks have it already */
                    "elapsed and CPU time of recorded threads; a number may stand for several, one after the other");
}
