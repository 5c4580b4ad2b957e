/* SPDX-License-Identifier: BSD-3-Clause */
/* Instances of a section that the user named are iterations: those that were recorded by themselves, judged as what is
 * found from the calls (iterations/judge.h). */
#include "profile/sections/section_gather.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEAST 8 /* instances of a rank */

/* Of one name: sections that differ in their number alone are the steps of one loop. */
struct named {
    const struct fv_section_instance_view **item; /* of each rank, of its first thread, by time */
    size_t count;
};

static int by_thread(const void *a, const void *b)
{
    const struct fv_section_instance_view *x = *(const struct fv_section_instance_view *const *)a,
                                          *y = *(const struct fv_section_instance_view *const *)b;

    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    return (x->begin_s > y->begin_s) - (x->begin_s < y->begin_s);
}

static bool is_one_after_the_other(const struct fv_section_instance_view *const *item, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (item[i]->begin_s < item[i - 1]->end_s)
            return false;
    return true;
}

/* Instances of the first thread of the rank of item[at]; *next: of the next rank. */
static size_t of_rank(const struct named *n, size_t at, size_t *next)
{
    size_t count = 0;

    for (*next = at; *next < n->count && n->item[*next]->rank == n->item[at]->rank; ++*next)
        count += n->item[*next]->thread == n->item[at]->thread;
    return count;
}

/* The rank that begins at `at`, if it has as many as the first. */
static bool is_alike(const struct named *n, size_t at, size_t *next, size_t count)
{
    return of_rank(n, at, next) == count && is_one_after_the_other(n->item + at, count);
}

/* Does the section have instances that were not recorded by themselves? */
static bool is_part(const struct fv_sections_view *s, const struct named *n)
{
    uint64_t count = 0;

    for (size_t i = 0; i < s->count; i++)
        if (!s->items[i].whole && !strcmp(s->items[i].name, n->item[0]->name))
            count += s->items[i].instances.count;
    return count > n->count;
}

static void judge(struct fv_section_series *to, const struct named *n, size_t count)
{
    struct fv_iteration_unit *u = &to->unit;
    double *seconds = fv_xcalloc(count, sizeof(*seconds)), mpi_s = 0, all_s = 0;
    float *load = fv_xcalloc(count * u->ranks, sizeof(*load));
    uint32_t rank = 0;

    for (size_t at = 0, next; at < n->count; at = next) {
        if (!is_alike(n, at, &next, count))
            continue;
        for (size_t i = 0; i < count; i++) {
            const struct fv_section_instance_view *v = n->item[at + i];

            seconds[i] += v->time_s / u->ranks;
            load[i * u->ranks + rank] = (float)(v->time_s - v->mpi_s);
            mpi_s += v->mpi_s;
            all_s += v->time_s;
        }
        rank++;
    }
    u->times = fv_judge_times(seconds, count);
    u->load = fv_judge_load(load, u->ranks, seconds, count);
    u->longest_at_s = n->item[u->times.longest]->begin_s;
    u->mpi_s = mpi_s / (double)count / u->ranks;
    u->computing_s = all_s / (double)count / u->ranks - u->mpi_s;
    free(seconds);
    free(load);
}

static void add_series(struct fv_sections_view *s, const struct named *n)
{
    size_t next;
    const size_t count = of_rank(n, 0, &next);
    struct fv_section_series *to;

    if (count < LEAST || !is_one_after_the_other(n->item, count))
        return;
    FV_GROW(s->series, s->series_room, s->series_count + 1);
    to = &s->series[s->series_count++];
    *to = (struct fv_section_series){ .name = n->item[0]->name,
                                      .is_part = is_part(s, n),
                                      .unit = { .is_main = true,
                                                .count = count,
                                                .begin_s = n->item[0]->begin_s,
                                                .end_s = n->item[count - 1]->end_s,
                                                .wait_s = NAN,
                                                .site = FV_NONE,
                                                .cause_site = FV_NONE,
                                                .cause_rank = FV_NONE } };
    for (size_t at = 0; at < n->count; at = next)
        to->unit.ranks += is_alike(n, at, &next, count);
    judge(to, n, count);
}

void fv_section_find_series(struct fv_sections_view *s)
{
    struct named n = { .item = fv_xcalloc(s->instance_count + 1, sizeof(*n.item)) };

    for (size_t at = 0, next; at < s->instance_count; at = next) {
        n.count = 0;
        for (next = at; next < s->instance_count && !strcmp(s->instances[next].name, s->instances[at].name); next++)
            n.item[n.count++] = &s->instances[next];
        qsort(n.item, n.count, sizeof(*n.item), by_thread);
        add_series(s, &n);
    }
    free(n.item);
}
