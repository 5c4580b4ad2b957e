/* Message sizes, peers, communicators, and a line for each rank. */
#include "report/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- message sizes ---- */

struct size_row {
    struct fv_size_bucket sent, received;
    const struct fv_func *most; /* the function that took most of the time that is shown */
    double most_s;
};

static void gather_sizes(const struct fv_model *m, struct size_row rows[FV_SIZE_BUCKETS])
{
    for (size_t i = 0; i < m->function_count; i++)
        for (unsigned b = 0; b < FV_SIZE_BUCKETS; b++) {
            const struct fv_func *f = &m->functions[i];
            struct size_row *row = &rows[b];
            double seconds = f->sent[b].seconds + f->received[b].seconds;

            row->sent.count += f->sent[b].count;
            row->sent.bytes += f->sent[b].bytes;
            row->sent.seconds += f->sent[b].seconds;
            row->received.count += f->received[b].count;
            row->received.bytes += f->received[b].bytes;
            row->received.seconds += f->received[b].seconds;
            if (seconds > row->most_s) {
                row->most_s = seconds;
                row->most = f;
            }
        }
}

void fv_text_sizes(const struct fv_page *p, const struct fv_model *m)
{
    static const struct fv_column columns[] = {
        { "from", false, false, 0 },  { "below", false, false, 0 },    { "sent", false, false, 0 },
        { "bytes", false, false, 0 }, { "received", false, false, 2 }, { "bytes", false, false, 2 },
        { "time", false, false, 3 },  { "mostly", true, true, 1 },
    };
    struct size_row rows[FV_SIZE_BUCKETS] = { 0 };
    char a[FV_WORD];
    struct fv_table t;

    gather_sizes(m, rows);
    fv_table_init(&t, columns, sizeof(columns) / sizeof(*columns));
    for (unsigned i = 1; i < FV_SIZE_BUCKETS; i++) {
        const struct size_row *r = &rows[i];

        if (!r->sent.count && !r->received.count)
            continue;
        fv_table_row(&t, FV_PLAIN);
        fv_table_set(&t, 0, "%s", fv_words_bytes(fv_view_bucket_low(i), a));
        fv_table_set(&t, 1, "%s", i < 64 ? fv_words_bytes(fv_view_bucket_low(i + 1), a) : "");
        if (r->sent.count) {
            fv_table_set(&t, 2, "%s", fv_words_count(r->sent.count, a));
            fv_table_set(&t, 3, "%s", fv_words_bytes(r->sent.bytes, a));
        }
        if (r->received.count) {
            fv_table_set(&t, 4, "%s", fv_words_count(r->received.count, a));
            fv_table_set(&t, 5, "%s", fv_words_bytes(r->received.bytes, a));
        }
        fv_table_set(&t, 6, "%s", fv_words_seconds(r->sent.seconds + r->received.seconds, a));
        fv_table_set(&t, 7, "%s", r->most ? r->most->name : "");
    }
    if (t.rows) {
        fv_page_heading(p, "Message sizes",
                        "bytes a rank sent or received in one call, and the time of those calls (not of completing them)");
        fv_table_print(&t, p);
    }
    fv_table_release(&t);
}

/* ---- peers ---- */

static int by_bytes(const void *a, const void *b)
{
    const struct fv_edge *x = *(const struct fv_edge *const *)a, *y = *(const struct fv_edge *const *)b;

    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    if (x->messages != y->messages)
        return x->messages > y->messages ? -1 : 1;
    return (x > y) - (x < y);
}

void fv_text_peers(const struct fv_page *p, const struct fv_model *m)
{
    static const struct fv_column columns[] = {
        { "from", false, false, 0 },  { "to", false, false, 0 },     { "messages", false, false, 0 },
        { "bytes", false, false, 0 }, { "of all", false, false, 1 }, { "mean", false, false, 2 },
    };
    size_t top = p->top == SIZE_MAX ? SIZE_MAX : (p->top + 1) / 2,
           rows = m->edge_count < top ? m->edge_count : top;
    const struct fv_edge **order = fv_xcalloc(m->edge_count, sizeof(*order));
    char word[FV_WORD];
    double all = 0;
    struct fv_table t;

    for (size_t i = 0; i < m->edge_count; i++) {
        order[i] = &m->edges[i];
        all += (double)m->edges[i].bytes;
    }
    if (m->edge_count)
        qsort(order, m->edge_count, sizeof(*order), by_bytes);
    fv_table_init(&t, columns, sizeof(columns) / sizeof(*columns));
    for (size_t i = 0; i < rows; i++) {
        const struct fv_edge *e = order[i];

        fv_table_row(&t, FV_PLAIN);
        fv_table_set(&t, 0, "%d", e->from);
        if (e->to >= 0)
            fv_table_set(&t, 1, "%d", e->to);
        else
            fv_table_set(&t, 1, "(another job)"); /* spawned or connected processes */
        fv_table_set(&t, 2, "%s", fv_words_count(e->messages, word));
        fv_table_set(&t, 3, "%s", fv_words_bytes(e->bytes, word));
        fv_table_set(&t, 4, "%s", fv_words_percent((double)e->bytes, all, word));
        fv_table_set(&t, 5, "%s", fv_words_bytes(e->messages ? e->bytes / e->messages : 0, word));
    }
    if (rows) {
        fv_page_heading(p, "Heaviest peers", "world ranks; what one sent to the other, point to point and one-sided");
        fv_table_print(&t, p);
        fv_page_cut(p, rows, m->edge_count, "pair", " of ranks");
    }
    fv_table_release(&t);
    free(order);
}

/* ---- communicators ---- */

static int comm_by_time(const void *a, const void *b)
{
    const struct fv_comm_view *x = *(const struct fv_comm_view *const *)a,
                              *y = *(const struct fv_comm_view *const *)b;

    if (x->time.sum != y->time.sum)
        return x->time.sum > y->time.sum ? -1 : 1;
    return (x > y) - (x < y);
}

static void add_comm(struct fv_table *t, const struct fv_comm_view *c)
{
    char word[FV_WORD];

    fv_table_row(t, FV_PLAIN);
    if (c->name[0])
        fv_table_set(t, 0, "%s", c->name);
    else
        fv_table_set(t, 0, "(unnamed %08x)", (unsigned)c->uid);
    if (c->remote_size)
        fv_table_set(t, 1, "%d + %d", c->size, c->remote_size);
    else
        fv_table_set(t, 1, "%d", c->size);
    fv_table_set(t, 2, "%s", fv_words_seconds(c->time.sum, word));
    fv_table_set(t, 3, "%s", c->wait_s > 0 ? fv_words_seconds(c->wait_s, word) : "");
    fv_table_set(t, 4, "%s", fv_words_count(c->time.calls, word));
    fv_table_set(t, 5, "%s", fv_words_count(c->collectives, word));
    fv_table_set(t, 6, "%s", fv_words_bytes(c->time.bytes_sent, word));
}

void fv_text_comms(const struct fv_page *p, const struct fv_model *m)
{
    static const struct fv_column columns[] = {
        { "communicator", true, true, 0 }, { "ranks", false, false, 0 },
        { "time", false, false, 0 },       { "waiting, logged", false, false, 1 },
        { "calls", false, false, 0 },      { "collectives a rank", false, false, 2 },
        { "sent", false, false, 3 },
    };
    const struct fv_comm_view **order = fv_xcalloc(m->comm_count, sizeof(*order));
    size_t count = 0, rows = 0;
    struct fv_table t;

    for (size_t i = 0; i < m->comm_count; i++)
        if (m->comms[i].time.calls)
            order[count++] = &m->comms[i];
    if (count)
        qsort(order, count, sizeof(*order), comm_by_time);
    fv_table_init(&t, columns, sizeof(columns) / sizeof(*columns));
    for (; rows < count && rows < p->top; rows++)
        add_comm(&t, order[rows]);
    if (count > 1) { /* with MPI_COMM_WORLD alone the table says nothing new */
        fv_page_heading(p, "Communicators",
                        "those that calls were made on; waiting, logged: in the collective calls that the "
                        "wait log holds");
        fv_table_print(&t, p);
        fv_page_cut(p, rows, count, "communicator", "");
    }
    fv_table_release(&t);
    free(order);
}

/* ---- ranks ---- */

/* MPI's share of the time, from begin to end of the run, in `columns` steps. */
static void strip(const struct fv_model *m, size_t rank, size_t columns, bool utf8, char *out)
{
    static const char *const drawn[] = { " ",
                                         "\xe2\x96\x81",
                                         "\xe2\x96\x82",
                                         "\xe2\x96\x83",
                                         "\xe2\x96\x84",
                                         "\xe2\x96\x85",
                                         "\xe2\x96\x86",
                                         "\xe2\x96\x87",
                                         "\xe2\x96\x88" };
    static const char *const plain[] = { " ", ".", ":", "-", "=", "+", "*", "%", "#" };
    const struct fv_timeline *t = &m->timeline;

    out[0] = '\0';
    for (size_t i = 0; i < columns; i++) {
        uint32_t from = (uint32_t)(i * t->bins / columns), to = (uint32_t)((i + 1) * t->bins / columns);
        double sum = 0;

        for (unsigned c = 0; c < FV_CLASS_COUNT; c++)
            for (uint32_t b = from; b < to; b++)
                sum += (double)t->share[(rank * FV_CLASS_COUNT + c) * t->bins + b];
        double share = to > from ? sum / (to - from) : 0;
        unsigned level = share <= 0.005 ? 0 : share >= 1 ? 8 : (unsigned)(share * 8) + (share < 1);
        strcat(out, (utf8 ? drawn : plain)[level > 8 ? 8 : level]);
    }
}

/* How long others waited for the rank itself. */
static double waited_for(const struct fv_model *m, const struct fv_rank *r)
{
    return m->causes.source == FV_CAUSES_TRACE ? r->caused_s : r->delay_s;
}

static void add_rank(struct fv_table *t, const struct fv_page *p, const struct fv_model *m, size_t i,
                     size_t strip_columns)
{
    const struct fv_rank *r = &m->ranks[i];
    char word[FV_WORD], drawing[512];
    uint64_t dropped = 0;

    for (unsigned d = 0; d < FV_DROP_COUNT; d++)
        dropped += d == FV_DROP_COLLECTIVES ? 0 : r->dropped[d];
    fv_table_row(t, r->state == FV_RANK_FINALIZED ? FV_PLAIN : FV_RED);
    fv_table_set(t, 0, "%d", r->world_rank);
    fv_table_set(t, 1, "%s", r->host);
    if (m->program_count > 1)
        fv_table_set(t, 2, "%s", m->programs[r->program].label);
    fv_table_set(t, 3, "%s", fv_words_seconds(r->app_time_s, word));
    fv_table_set(t, 4, "%s",
                 fv_words_percent(r->app_time_s - r->mpi_time_s > 0 ? r->app_time_s - r->mpi_time_s : 0,
                                  r->app_time_s, word));
    fv_table_set(t, 5, "%s", fv_words_percent(r->mpi_time_s, r->app_time_s, word));
    fv_table_set(t, 6, "%s", fv_words_percent(r->wait_share * r->mpi_time_s, r->app_time_s, word));
    fv_table_set(t, 7, "%s", waited_for(m, r) > 0 ? fv_words_seconds(waited_for(m, r), word) : "");
    fv_table_set(t, 8, "%s", dropped ? fv_words_count(dropped, word) : "");
    fv_table_set(t, 9, "%s", r->threads > 1 ? fv_words_count(r->threads, word) : "");
    if (r->in_call.active)
        fv_table_set(t, 10, "%s in %s", fv_rank_state_name(r->state), m->functions[r->in_call.function].name);
    else if (r->state != FV_RANK_FINALIZED)
        fv_table_set(t, 10, "%s", fv_rank_state_name(r->state));
    if (strip_columns) {
        strip(m, i, strip_columns, p->utf8, drawing);
        fv_table_set(t, 11, "%s", drawing);
    }
}

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

static int by_index(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;

    return (x->index > y->index) - (x->index < y->index);
}

void fv_text_ranks(const struct fv_page *p, const struct fv_model *m)
{
    static const struct fv_column columns[] = {
        { "rank", false, false, 0 },    { "host", true, true, 1 },
        { "program", true, true, 3 },   { "time", false, false, 0 },
        { "compute", false, false, 0 }, { "MPI", false, false, 0 },
        { "waiting", false, false, 4 }, { "others waited", false, false, 3 },
        { "dropped", false, false, 6 }, { "threads", false, false, 2 },
        { "state", true, true, 5 },     { "MPI over time", true, false, 2 },
    };
    size_t rows = m->rank_count < p->top ? m->rank_count : p->top,
           strip_columns = p->width >= 90 ? p->width - 70 : 20;
    struct ranked *order = fv_xcalloc(m->rank_count, sizeof(*order));
    struct fv_table t;

    for (size_t i = 0; i < m->rank_count; i++) {
        const struct fv_rank *r = &m->ranks[i];

        order[i] = (struct ranked){ fmax(waited_for(m, r), 0) + (r->state != FV_RANK_FINALIZED ? 1e9 : 0), i };
    }
    qsort(order, m->rank_count, sizeof(*order), by_score);
    qsort(order, rows, sizeof(*order), by_index);
    fv_table_init(&t, columns, sizeof(columns) / sizeof(*columns));
    for (size_t i = 0; i < rows; i++)
        add_rank(&t, p, m, order[i].index, strip_columns > 60 ? 60 : strip_columns);
    fv_page_heading(p, "Ranks",
                    m->causes.source == FV_CAUSES_TRACE ? "others waited: for this rank directly, whoever began the delay"
                                                        : "others waited: in collectives, for this rank to come");
    fv_table_print(&t, p);
    fv_page_cut(p, rows, m->rank_count, "rank", ", that others waited for less");
    fv_table_release(&t);
    free(order);
}
