/* SPDX-License-Identifier: BSD-3-Clause */
/* Findings of memory: ranks whose memory grows, time in the allocator, and memory on another NUMA node. */
#include "profile/findings/findings.h"
#include "profile/memory/memory.h"
#include "profile/profile.h"
#include "tool/words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FAR      0.5                  /* of a stack or a heap: on other nodes */
#define A_STACK  (UINT64_C(64) << 10) /* bytes on other nodes that are worth a word */
#define A_HEAP   (UINT64_C(32) << 20)
#define GROWN    0.10                /* of the peak: what came since the run was half as old */
#define NOTICED  (UINT64_C(8) << 20) /* bytes: growth that is worth a word */
#define LATE     0.75                /* of the run: a mark that is so late is no half of it */
#define KNOWN    0.25                /* of the growth: a call path, or the allocator, with less does not explain it */
#define OFTEN    0.25                /* of all allocations: a call path with so many is named */
#define REPEATED 1000                /* calls of the allocator: of fewer it is not what is called too often */
#define SAMPLES  16 /* of small allocations: from so many on their number is known well enough for that */

/* ---- growth ---- */

/* Bytes a second that came between two ages of the run. */
static double rate(uint64_t before, double before_s, uint64_t after, double after_s)
{
    return after_s > before_s ? ((double)after - (double)before) / (after_s - before_s) : 0;
}

/* The rank when its run was about half as old: the last mark, which is between half and all of it, or the one
 * before. */
struct middle {
    uint64_t bytes;
    double age_s;
};

static struct middle middle_of(const struct fv_rank *r)
{
    return r->half_s > LATE * r->app_time_s ? (struct middle){ r->resident_quarter, r->quarter_s }
                                            : (struct middle){ r->resident_half, r->half_s };
}

/* What a call path of the rank has had more of since then. */
static double growth_since(const struct fv_allocation_part *part, unsigned log2_ticks)
{
    return fv_allocation_live(&part->sum) - fv_allocation_live_at(part, log2_ticks);
}

static unsigned mark_of(const struct fv_model *m, const struct fv_rank *r)
{
    double ticks = middle_of(r).age_s * m->clocks[r->clock].hz;

    return ticks > 1 ? (unsigned)lround(log2(ticks)) : 0;
}

/* What the call paths of each rank that have more since then have more, in all; the caller frees it. */
static double *allocated_since(const struct fv_model *m)
{
    double *sums = fv_xcalloc(m->rank_count + 1, sizeof(*sums));

    for (size_t i = 0; i < fv_model_memory(m)->part_count; i++) {
        const struct fv_allocation_part *part = &fv_model_memory(m)->parts[i];
        sums[part->rank] += fmax(growth_since(part, mark_of(m, &m->ranks[part->rank])), 0);
    }
    return sums;
}

/* Bytes by which each rank grew since then; the caller frees them. Where each object is known, what fvmpi keeps of them
 * grows with them: no more is the program's than it allocated. */
static uint64_t *growths_of(const struct fv_model *m)
{
    uint64_t *growths = fv_xcalloc(m->rank_count + 1, sizeof(*growths));
    double *allocated = allocated_since(m);

    for (size_t i = 0; i < m->rank_count; i++) {
        uint64_t before = middle_of(&m->ranks[i]).bytes, peak = m->ranks[i].resident_peak;

        growths[i] = before && peak > before ? peak - before : 0;
    }
    for (size_t i = 0; i < fv_model_memory(m)->rank_count; i++) {
        const struct fv_allocation_rank *a = &fv_model_memory(m)->ranks[i];

        if (a->mode == FV_MEMORY_EXACT)
            growths[a->rank] = (uint64_t)fmin((double)growths[a->rank], allocated[a->rank]);
    }
    free(allocated);
    return growths;
}

/* As much in the time since the middle as in that before, give or take a factor of 4: steady. Where the last mark is so
 * late that hardly anything of the run is behind it, what came there says nothing: how late it is depends on how long
 * the run took, and a run ends with what allocates nothing. */
static bool is_growing(const struct fv_rank *r, uint64_t growth)
{
    const bool is_late = r->half_s > LATE * r->app_time_s && r->resident_eighth;
    const struct middle middle = is_late ? middle_of(r) : (struct middle){ r->resident_half, r->half_s };
    double late = rate(middle.bytes, middle.age_s, r->resident_peak, r->app_time_s);
    double early = is_late ? rate(r->resident_eighth, r->eighth_s, middle.bytes, middle.age_s)
                           : rate(r->resident_quarter, r->quarter_s, middle.bytes, middle.age_s);

    return r->resident_quarter && growth > NOTICED && (double)growth > GROWN * (double)r->resident_peak &&
           late > 0.25 * early && late < 4 * early;
}

/* The call path that most of the growth is of, and its bytes; NULL: it is of none, or that is not known well enough. */
static const struct fv_allocation_part *grower(const struct fv_model *m, const struct fv_rank *r, uint64_t all_growth,
                                               double *bytes)
{
    const struct fv_allocations *all = fv_model_memory(m);
    const struct fv_allocation_part *most = NULL;
    unsigned mark = mark_of(m, r);
    double sum = 0;

    *bytes = 0;
    for (size_t i = 0; i < all->part_count; i++) {
        double growth = all->parts[i].rank == (uint32_t)(r - m->ranks) ? growth_since(&all->parts[i], mark) : 0;

        sum += fmax(growth, 0);
        if (growth <= *bytes)
            continue;
        *bytes = growth;
        most = &all->parts[i];
    }
    return most && *bytes > 0.5 * sum && *bytes > KNOWN * (double)all_growth &&
                   *bytes > 2 * fv_allocation_error(&most->sum)
               ? most
               : NULL;
}

/* It is of mmap() and the like, which are not recorded. True: that was said. */
static bool say_unallocated(const struct fv_profile *v, struct fv_findings *f, struct fv_finding *finding,
                            const struct fv_rank *r, uint64_t all_growth, char *who, size_t room)
{
    double *sums = allocated_since(v->model), allocated = sums[r - v->model->ranks];
    char bytes[FV_WORD];

    free(sums);
    if (allocated > KNOWN * (double)all_growth)
        return false;
    snprintf(who, room, ". Only %s of that was allocated by malloc() and the like",
             fv_words_bytes((uint64_t)allocated, bytes));
    fv_finding_next(f, finding, "look for mmap(), sbrk() or shared memory, whose memory is not recorded");
    return true;
}

/* Which function allocated it, and what to do. */
static void say_grower(const struct fv_profile *v, struct fv_findings *f, struct fv_finding *finding,
                       const struct fv_rank *r, uint64_t all_growth, char *who, size_t room)
{
    const struct fv_model *m = v->model;
    char bytes[FV_WORD], where[300];
    struct fv_frame frame;
    double growth;

    who[0] = '\0';
    if (!fv_model_memory(m)->rank_count) {
        fv_finding_next(f, finding, "fvmpi run --memory names the function that allocates it");
        return;
    }
    if (say_unallocated(v, f, finding, r, all_growth, who, room))
        return;
    fv_finding_next(f, finding, "allocations that are never freed: %s",
                    FV_FINDING_COMMAND(m, "report", "--table", "memory", "--sort=-live_bytes"));
    const struct fv_allocation_part *part = grower(m, r, all_growth, &growth);
    if (!part || !fv_path_first(v->symbols, part->node, &frame))
        return;
    finding->function = frame.function;
    finding->file = frame.file;
    finding->line = frame.line;
    snprintf(who, room, ". %s%s of that was allocated by %s", fv_allocation_is_exact(&part->sum) ? "" : "About ",
             fv_words_bytes((uint64_t)fmin(growth, (double)all_growth), bytes),
             fv_frame_words(&frame, v->symbols, where, sizeof(where)));
}

FV_FINDING(memory)
{
    const struct fv_model *m = v->model;
    char from[FV_WORD], to[FV_WORD], age[FV_WORD], speed[FV_WORD], whose[60] = "", who[400];
    const struct fv_rank *most = NULL;
    struct fv_rank_list list = FV_RANK_LIST_INIT;
    uint32_t count = 0;
    uint64_t *growths = growths_of(m), growth = 0; /* growth: of `most` */

    for (size_t i = 0; i < m->rank_count; i++) {
        const struct fv_rank *r = &m->ranks[i];

        if (!is_growing(r, growths[i]))
            continue;
        fv_rank_list_add(&list, r->world_rank);
        count++;
        if (most && growths[i] <= growth)
            continue;
        most = r;
        growth = growths[i];
    }
    free(growths);
    if (!most)
        return;
    struct fv_finding *finding = fv_finding_add(f, NAN, FV_EVIDENCE_ESTIMATE); /* a peak may be read some time late */
    const struct middle middle = middle_of(most);
    const uint64_t end_bytes = middle.bytes + growth;
    finding->rank = (uint32_t)(most - m->ranks);
    if (count > 1)
        snprintf(whose, sizeof(whose), "rank %d most, ", most->world_rank);
    say_grower(v, f, finding, most, growth, who, sizeof(who));
    fv_finding_say(
        f, finding,
        "memory of rank%s %s grew in both halves of the run: %sfrom %s at about %s to %s, about %s a second%s",
        fv_words_s(count), fv_rank_list_text(&list), whose, fv_words_bytes(middle.bytes, from),
        fv_words_seconds(middle.age_s, age), fv_words_bytes(end_bytes, to),
        fv_words_bytes((uint64_t)rate(middle.bytes, middle.age_s, end_bytes, most->app_time_s), speed), who);
}

/* ---- time in the allocator ---- */

/* Of the rank's time, an estimate: of several threads their part of it. */
static double allocator_s(const struct fv_model *m, const struct fv_allocation_rank *a, double seconds)
{
    const struct fv_rank *r = &m->ranks[a->rank];
    double threads = isfinite(r->cpu_s) && r->app_time_s > 0 ? fmax(r->cpu_s / r->app_time_s, 1) : 1;

    return fmin(seconds / threads, r->app_time_s);
}

static double allocations_of(const struct fv_allocations *all)
{
    double calls = 0;

    for (size_t i = 0; i < all->rank_count; i++)
        for (int k = 0; k < FV_ALLOCATION_CALLS; k++)
            calls += (double)all->ranks[i].calls[k];
    return calls;
}

/* What allocates most often, if its number is known well; NULL: none does so much more than others. */
static const struct fv_allocation_place *most_often(const struct fv_allocations *all)
{
    const struct fv_allocation_place *most = NULL;

    for (size_t i = 0; i < all->place_count; i++)
        if (!most || all->places[i].sum.allocated.count > most->sum.allocated.count)
            most = &all->places[i];
    if (!most || most->sum.allocated.count < OFTEN * allocations_of(all))
        return NULL;
    return fv_allocation_is_exact(&most->sum) || most->sum.allocated.samples >= SAMPLES ? most : NULL;
}

FV_FINDING(allocator)
{
    const struct fv_model *m = v->model;
    double sum = 0, variance = 0;
    char part[FV_WORD], count[FV_WORD], where[300], who[400] = "";
    struct fv_frame frame;

    for (size_t i = 0; i < fv_model_memory(m)->rank_count; i++) {
        const struct fv_allocation_rank *a = &fv_model_memory(m)->ranks[i];
        double error = allocator_s(m, a, a->allocator_error_s);

        sum += allocator_s(m, a, a->allocator_s);
        variance += error * error;
    }
    if (allocations_of(fv_model_memory(m)) < REPEATED || !fv_finding_worth(v, sum - 2 * sqrt(variance)))
        return;
    struct fv_finding *finding = fv_finding_add(f, sum, FV_EVIDENCE_ESTIMATE);
    const struct fv_allocation_place *most = most_often(fv_model_memory(m));
    if (most && fv_path_first(v->symbols, most->node, &frame)) {
        finding->function = frame.function;
        finding->file = frame.file;
        finding->line = frame.line;
        snprintf(who, sizeof(who), ". %s allocates most often, %s%s time%s",
                 fv_frame_words(&frame, v->symbols, where, sizeof(where)),
                 fv_allocation_is_exact(&most->sum) ? "" : "about ",
                 fv_words_count((uint64_t)most->sum.allocated.count, count),
                 fv_words_s((uint64_t)most->sum.allocated.count));
    }
    fv_finding_say(f, finding, "malloc(), free() and the like take about %s of the time%s",
                   fv_words_percent(sum, m->efficiency.total_s, part), who);
    fv_finding_next(f, finding, "reuse memory instead of allocating it again, or try another allocator; call paths: %s",
                    FV_FINDING_COMMAND(m, "report", "--table", "memory", "--sort=-allocations"));
}

/* ---- NUMA nodes ---- */

static bool is_far(const struct fv_allocation_seat *s, bool heap)
{
    return s->is_heap == heap && s->far >= (heap ? A_HEAP : A_STACK) &&
           (double)s->far > FAR * (double)(s->near + s->far);
}

/* How many threads have it far; the one with most. */
static size_t far_ones(const struct fv_allocations *all, bool heap, const struct fv_allocation_seat **most,
                       uint32_t *ranks)
{
    uint32_t last = FV_NONE;
    size_t count = 0;

    *most = NULL;
    *ranks = 0;
    for (size_t i = 0; i < all->seat_count; i++) {
        const struct fv_allocation_seat *s = &all->seats[i];

        if (!is_far(s, heap))
            continue;
        count++;
        *ranks += s->rank != last;
        last = s->rank;
        *most = !*most || s->far > (*most)->far ? s : *most;
    }
    return count;
}

static void say_far(const struct fv_profile *v, struct fv_findings *f, bool heap)
{
    const struct fv_model *m = v->model;
    const struct fv_allocation_seat *most;
    char far[FV_WORD];
    uint32_t ranks;
    const size_t count = far_ones(fv_model_memory(m), heap, &most, &ranks);

    if (!most)
        return;
    struct fv_finding *finding = fv_finding_add(f, NAN, FV_EVIDENCE_EXACT);
    finding->rank = most->rank;
    fv_finding_say(
        f, finding,
        "the %s of %zu thread%s on %u rank%s is mostly on another NUMA node than the thread. Thread %u of rank %d "
        "ran on node %u, and %s of it are on other nodes, mostly on node %u",
        heap ? "heap" : "stack", count, fv_words_s(count), ranks, fv_words_s(ranks), most->thread,
        m->ranks[most->rank].world_rank, most->node, fv_words_bytes(most->far, far), most->far_node);
    fv_finding_next(f, finding, "%s; by thread: %s",
                    heap ? "write each array first in the thread that uses it, or spread it: numactl --interleave=all"
                         : "bind threads before they use their stacks (OMP_PROC_BIND=close, OMP_PLACES=cores), and use "
                           "numactl --localalloc",
                    FV_FINDING_COMMAND(m, "report", "--table", "memory_places"));
}

FV_FINDING(far_memory)
{
    say_far(v, f, true);
    say_far(v, f, false);
}
