/* SPDX-License-Identifier: BSD-3-Clause */
/* Locks and barriers: what threads waited for, where, and which thread kept them waiting. Most of it is one table; the
 * sites of the worst follow. */
#include "views/text/verdict.h"
#include "base/list.h"
#include "base/options.h"
#include "profile/threads/locks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_BYTES   1200
#define WORST        3u   /* locks and barriers whose sites are told */
#define PLACES       2u   /* of each: where threads wait, and where it is held */
#define SITES_JUDGED 64u  /* of each; they come by waiting */
#define MOST_CALLERS 2u   /* of a place that is the only one */
#define WORTH        0.01 /* of all waiting: of locks with less the table says enough */
#define IDLE         0.05 /* of it: from then on idle workers are told */
#define MAIN         0.25 /* of it: from then on main threads are */
#define HELD         0.25 /* of the time: a lock that is held longer is told, whoever waits for it */
#define SHOWN        20u  /* groups of threads that wait */

/* ---- totals ---- */

static void put_totals(const struct fv_page *p, const struct fv_profile *v)
{
    const struct fv_locks *l = fv_model_locks(v->model);
    char text[1000], seconds[FV_WORD], part[FV_WORD], all[FV_WORD];
    bool done[FV_SYNC_KINDS] = { false };

    snprintf(text, sizeof(text), "threads waited %s, %s of their %s", fv_words_seconds(l->own_wait_s, seconds),
             fv_words_percent(l->own_wait_s, l->thread_s, part), fv_words_seconds(l->thread_s, all));
    for (bool first = true; l->own_wait_s > 0; first = false) {
        unsigned most = 0;

        for (unsigned i = 1; i < FV_SYNC_KINDS; i++)
            if (!done[i] && l->own_kind_s[i] > (most ? l->own_kind_s[most] : 0))
                most = i;
        if (!most)
            break;
        done[most] = true;
        fv_words_add(text, sizeof(text), "%s %s %s", first ? ":" : ",", fv_sync_kind_name(most),
                     fv_words_percent(l->own_kind_s[most], l->thread_s, part));
    }
    if (l->in_mpi_s > 0)
        fv_words_add(text, sizeof(text), "; %s more inside MPI calls, which is MPI time",
                     fv_words_seconds(l->in_mpi_s, seconds));
    if (l->in_mpi_s > 0 && v->model->rank_count > 1) {
        size_t most = 0;

        for (size_t i = 1; i < v->model->rank_count; i++)
            most = l->ranks[i].in_mpi_s > l->ranks[most].in_mpi_s ? i : most;
        fv_words_add(text, sizeof(text), " (most on rank %d: %s)", v->model->ranks[most].world_rank,
                     fv_words_seconds(l->ranks[most].in_mpi_s, seconds));
    }
    if (v->model->causes.lock_wait_s > 0)
        fv_words_add(text, sizeof(text), ". By the trace, ranks waited %s in MPI for ranks that locks had made late",
                     fv_words_seconds(v->model->causes.lock_wait_s, seconds));
    fv_page_paragraph(p, FV_PLAIN, 2, "%s", text);
}

/* The lock that threads are most in each other's way at; NULL: none. Those inside MPI are last. */
static const struct fv_lock_view *most_contended(const struct fv_locks *l)
{
    const struct fv_lock_view *most = NULL;

    for (size_t i = 0; i < l->count; i++) {
        const struct fv_lock_view *k = &l->items[i];

        if (k->inside_mpi && most)
            break;
        if (fv_lock_contention_s(k) > (most ? fv_lock_contention_s(most) : 0))
            most = k;
    }
    return most;
}

/* Main threads that wait for the others' work: then this is what the time went into. */
static void add_main(const struct fv_model *m, char *out, size_t bytes)
{
    char waited[FV_WORD], cpu[FV_WORD];
    double others_s = 0;

    if (!(fv_model_locks(m)->main_s > MAIN * fv_model_locks(m)->own_wait_s))
        return;
    for (size_t i = 0; i < m->rank_count; i++)
        others_s += m->ranks[i].own_threads_s;
    fv_words_add(out, bytes, "; %s of it in main threads", fv_words_seconds(fv_model_locks(m)->main_s, waited));
    if (others_s > 0)
        fv_words_add(out, bytes, ", while the other threads computed for %s", fv_words_seconds(others_s, cpu));
}

/* The culprit belongs on the first screen. That workers have nothing to do, or that the main thread waits for what they
 * do, is no contention. */
char *fv_text_threads_waited(const struct fv_profile *v, char *out, size_t bytes)
{
    const struct fv_locks *l = fv_model_locks(v->model);
    const struct fv_lock_view *most = most_contended(l);
    char seconds[FV_WORD], part[FV_WORD], name[NAME_BYTES];

    snprintf(out, bytes, "threads waited %s for each other, %s of their time", fv_words_seconds(l->own_wait_s, seconds),
             fv_words_percent(l->own_wait_s, l->thread_s, part));
    add_main(v->model, out, bytes);
    if (l->idle_s > IDLE * l->own_wait_s)
        fv_words_add(out, bytes, "; workers without tasks: %s", fv_words_seconds(l->idle_s, seconds));
    if (most && !most->inside_mpi && fv_lock_contention_s(most) > WORTH * l->own_wait_s)
        fv_words_add(out, bytes, "; most: %s (%s), %s", fv_view_lock_label(v, most, name, sizeof(name)),
                     fv_sync_kind_name(most->kind), fv_words_seconds(fv_lock_contention_s(most), seconds));
    return out;
}

/* ---- the table ---- */

/* Where threads take turns, none needs to wait yet, but no more of them can work; unless several hold it at a time. */
static bool is_held(const struct fv_lock_view *k)
{
    return k->kind != FV_SYNC_RWLOCK && k->threads > k->ranks && fv_lock_hold_share(k) >= HELD;
}

/* Locks that no thread waited for are no trouble, nor that the first thread waits for the others' end: where
 * rows are few they are left out. */
static void put_table(const struct fv_page *p, const struct fv_profile *v, bool *shown)
{
    const struct fv_locks *l = fv_model_locks(v->model);
    struct fv_text_table t;

    fv_text_table_begin(&t, p, v, "locks");
    for (size_t i = 0; i < l->count; i++) {
        const struct fv_lock_view *k = &l->items[i];
        bool join = k->kind == FV_SYNC_JOIN;

        if (!p->brief || (!join && (!t.sheet.shown_rows || k->n.wait_s > 0 || is_held(k))))
            shown[i] = fv_text_table_add(&t, k, fv_lock_contention_s(k) > 0.1 * l->thread_s ? FV_YELLOW : FV_PLAIN);
    }
    t.sheet.all_rows = l->count;
    fv_text_table_end(&t, "row", p->brief ? " of locks and joins" : " of locks");
}

/* ---- who waits, who holds ---- */

#define ROLE_LIST(X)     X(WAITS, "waits") X(HOLDS, "holds") X(SIGNALS, "signals")
#define ROLE(name, word) name,
enum role { ROLE_LIST(ROLE) ROLES };

/* Call sites that read the same, of one role. */
struct place {
    char words[700];
    double weight;
};
struct places {
    struct place items[SITES_JUDGED];
    size_t count;
    double sum;
};

static void add_place(struct places *g, const struct fv_profile *v, uint32_t node, unsigned callers, double weight)
{
    struct place *new = &g->items[g->count];
    size_t i = 0;

    g->sum += weight;
    if (!(weight > 0) || g->count == SITES_JUDGED)
        return;
    fv_path_words(v->symbols, node, callers, new->words, sizeof(new->words));
    while (i < g->count && strcmp(g->items[i].words, new->words))
        i++;
    g->count += i == g->count;
    g->items[i].weight = (new == &g->items[i] ? 0 : g->items[i].weight) + weight;
}

static int by_weight(const void *a, const void *b)
{
    const struct place *x = a, *y = b;

    return (x->weight < y->weight) - (x->weight > y->weight);
}

static void put_role(const struct fv_page *p, const char *role, const char *text)
{
    fprintf(p->out, "      %s%-8s%s ", fv_page_on(p, FV_DIM), role, fv_page_off(p));
    fv_page_words(p, text, 15);
}

static void put_places(const struct fv_page *p, const char *role, struct places *g)
{
    char text[2 * sizeof(g->items[0].words)] = "", part[FV_WORD];

    if (!g->count)
        return;
    qsort(g->items, g->count, sizeof(*g->items), by_weight);
    for (size_t i = 0; i < g->count && i < PLACES; i++)
        fv_words_add(text, sizeof(text), "%s%s (%s)", i ? ", " : "", g->items[i].words,
                     fv_words_percent(g->items[i].weight, g->sum, part));
    if (g->count > PLACES)
        fv_words_add(text, sizeof(text), ", and %zu more", g->count - PLACES);
    put_role(p, role, text);
}

static double weight_of(const struct fv_lock_site *s, enum role role, bool owners)
{
    switch (role) {
    case WAITS: return s->n.wait_s;
    case HOLDS: return owners ? s->n.blocked_s : s->n.hold_s;
    default: return (double)s->n.signals;
    }
}

/* Where a program takes its locks in a function of its own, that one alone says nothing: then with callers,
 * as far as the paths are known. Those of an OpenMP region are the library's. */
static void find_places(struct places *g, const struct fv_profile *v, const struct fv_lock_view *k, enum role role)
{
    const struct fv_locks *l = fv_model_locks(v->model);
    bool owners = l->modes & FV_THREADS_OWNER;
    unsigned most = k->kind == FV_SYNC_OMP ? 0 : MOST_CALLERS;

    for (unsigned callers = 0; callers <= most; callers++) {
        unsigned paths = 0;

        g->count = 0;
        g->sum = 0;
        for (uint32_t i = 0; i < k->sites; i++) {
            const struct fv_lock_site *s = &l->sites[k->first_site + i];
            double weight = weight_of(s, role, owners);

            add_place(g, v, s->node, callers, weight);
            paths += weight > 0;
        }
        if (g->count != 1 || paths < 2)
            return;
    }
}

static void put_sites(const struct fv_page *p, const struct fv_profile *v, const struct fv_lock_view *k)
{
    static const char *const names[] = { ROLE_LIST(FV_LIST_WORD) };
    struct places *g = fv_xcalloc(1, sizeof(*g));

    for (unsigned role = 0; role < ROLES; role++) {
        find_places(g, v, k, (enum role)role);
        put_places(p, names[role], g);
    }
    free(g);
}

/* "thread 2 of rank 0"; of a single rank "thread 2". */
static char *name_thread(const struct fv_model *m, const struct fv_lock_part *part, char out[60])
{
    snprintf(out, 60, "thread %u", part->thread);
    if (m->rank_count > 1)
        fv_words_add(out, 60, " of rank %d", m->ranks[part->rank].world_rank);
    return out;
}

/* The thread that is last most often, of those of its rank, keeps the others waiting. */
static void put_last(const struct fv_page *p, const struct fv_profile *v, const struct fv_lock_view *k)
{
    const struct fv_lock_part *part = k->parts ? &fv_model_locks(v->model)->parts[k->first_part] : NULL, *last = part,
                              *least = part, *most = part;
    uint64_t rounds = 0;
    char text[400], low[FV_WORD], high[FV_WORD], name[3][60];

    for (uint32_t i = 0; i < k->parts; i++) {
        least = part[i].n.wait_s < least->n.wait_s ? &part[i] : least;
        most = part[i].n.wait_s > most->n.wait_s ? &part[i] : most;
        last = part[i].n.last > last->n.last ? &part[i] : last;
    }
    if (!last || !last->n.last)
        return;
    for (uint32_t i = 0; i < k->parts; i++)
        rounds += part[i].rank == last->rank ? part[i].n.last : 0;
    snprintf(text, sizeof(text), "%s in %llu of %llu rounds; a thread waited %s (%s) to %s (%s) in all",
             name_thread(v->model, last, name[0]), (unsigned long long)last->n.last, (unsigned long long)rounds,
             fv_words_seconds(least->n.wait_s, low), name_thread(v->model, least, name[1]),
             fv_words_seconds(most->n.wait_s, high), name_thread(v->model, most, name[2]));
    put_role(p, "last", text);
}

/* How much of the time it was held, and that those who wait there have nothing to do. */
static void put_shares(const struct fv_page *p, const struct fv_lock_view *k)
{
    char text[300], part[FV_WORD], seconds[FV_WORD];

    if (k->idle_s > 0) {
        snprintf(text, sizeof(text), "workers without tasks: %s; no other thread blocks them",
                 fv_words_seconds(k->idle_s, seconds));
        put_role(p, "idle", text);
    }
    if (is_held(k)) {
        snprintf(text, sizeof(text),
                 "for %s of the time, by one thread after the other: only one at a time can work there",
                 fv_words_percent(fv_lock_hold_share(k), 1, part));
        put_role(p, "held", text);
    }
}

/* Of those that the table shows. */
static void put_worst(const struct fv_page *p, const struct fv_profile *v, const bool *in_table)
{
    const struct fv_locks *l = fv_model_locks(v->model);
    size_t shown = 0, most = p->brief && p->top > WORST ? WORST : p->top;
    char name[NAME_BYTES];

    for (size_t i = 0; i < l->count && shown < most; i++) {
        const struct fv_lock_view *k = &l->items[i];
        bool waited = k->n.wait_s > 0 && (!p->brief || !shown || k->n.wait_s >= WORTH * l->wait_s);

        if (!in_table[i] || !(waited || is_held(k)))
            continue;
        fputs(shown ? "" : "\n", p->out);
        fv_page_item(p, FV_BOLD, 2, "%s", fv_view_lock_words(v, k, name, sizeof(name)));
        put_shares(p, k);
        put_sites(p, v, k);
        if (k->kind == FV_SYNC_BARRIER)
            put_last(p, v, k);
        shown++;
    }
    if (shown && !(l->modes & FV_THREADS_OWNER))
        fv_page_paragraph(p, FV_DIM, 2, "--threads=hold,owner shows where a lock is held while others wait");
}

/* ---- losses ---- */

static void put_lost(const struct fv_page *p, const struct fv_locks *l)
{
    const struct fv_text_loss rows[] = {
        { l->lost.missed, "operation", "in signal handlers that interrupted fvmpi: not counted" },
        { l->lost.overflow, "operation", "without room for a record of their own: counted by kind alone" },
        { l->lost.holds, "hold", "not measured: the thread held too many locks" },
        { l->lost.lives, "thread", "without a record of their life: missing in phases and in the time of threads" },
    };

    fv_text_losses(p, "", rows, sizeof(rows) / sizeof(*rows));
}

FV_TEXT_SECTION(locks)
{
    const struct fv_locks *l = fv_model_locks(v->model);

    if (!l->recorded)
        return;
    bool *shown = fv_xcalloc(l->count, sizeof(*shown));
    fv_page_heading(p, "Locks and barriers", "waiting of threads for each other, summed over threads and ranks");
    put_totals(p, v);
    if (l->count)
        put_table(p, v, shown);
    put_worst(p, v, shown);
    put_lost(p, l);
    free(shown);
}

/* ---- threads that wait now ---- */

static int by_place(const void *a, const void *b)
{
    const struct fv_lock_wait *x = a, *y = b;

    if (x->lock != y->lock)
        return x->lock < y->lock ? -1 : 1;
    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return (x->thread > y->thread) - (x->thread < y->thread);
}

static void put_group(const struct fv_page *p, const struct fv_profile *v, const struct fv_lock_wait *w, size_t count)
{
    const struct fv_model *m = v->model;
    char who[100], name[NAME_BYTES], place[700], seconds[FV_WORD], time[60] = "";
    double longest = 0;
    uint32_t ranks = 1;

    for (size_t i = 0; i < count; i++) {
        longest = fmax(longest, w[i].seconds);
        ranks += i && w[i].rank != w[i - 1].rank;
    }
    if (count == 1)
        snprintf(who, sizeof(who), "thread %u (%u) of rank %d", w->thread, w->tid, m->ranks[w->rank].world_rank);
    else if (ranks == 1)
        snprintf(who, sizeof(who), "%zu threads of rank %d", count, m->ranks[w->rank].world_rank);
    else
        snprintf(who, sizeof(who), "%zu threads of %u ranks", count, ranks);
    if (longest > 0)
        snprintf(time, sizeof(time), ", for %s%s", count > 1 ? "up to " : "", fv_words_seconds(longest, seconds));
    fv_page_item(p, FV_PLAIN, 2, "%s: %s %s, in %s%s", who, fv_sync_kind_name(w->kind),
                 w->lock == FV_NONE ? ""
                                    : fv_view_lock_words(v, &fv_model_locks(m)->items[w->lock], name, sizeof(name)),
                 fv_path_words(v->symbols, w->node, 2, place, sizeof(place)), time);
}

FV_TEXT_SECTION(thread_waits)
{
    const struct fv_locks *l = fv_model_locks(v->model);
    struct fv_lock_wait *sorted = fv_xcalloc(l->now_count, sizeof(*sorted));
    size_t groups = 0, shown = 0, end;

    if (l->now_count) {
        memcpy(sorted, l->now, l->now_count * sizeof(*sorted));
        qsort(sorted, l->now_count, sizeof(*sorted), by_place);
        fv_page_heading(p, "Threads that wait for other threads", "when last seen");
    }
    for (size_t i = 0; i < l->now_count; i = end) {
        for (end = i + 1;
             end < l->now_count && sorted[end].lock == sorted[i].lock && sorted[end].node == sorted[i].node;)
            end++;
        if (groups++ < SHOWN || p->top == SIZE_MAX) {
            put_group(p, v, &sorted[i], end - i);
            shown++;
        }
    }
    fv_page_cut(p, shown, groups, "group", " of threads");
    free(sorted);
}
