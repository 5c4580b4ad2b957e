/* SPDX-License-Identifier: BSD-3-Clause */
/* See findings.h: the rows of the catalogue. */
#include "profile/profile.h"
#include "profile/threads/phases.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

extern fv_find_fn fv_find_no_processor, fv_find_noise, fv_find_late_ranks, fv_find_withheld_progress,
    fv_find_blocked_rank, fv_find_imbalance, fv_find_instruction_balance, fv_find_small_messages,
    fv_find_contended_lock, fv_find_idle_workers, fv_find_thread_imbalance, fv_find_rare_slow_calls,
    fv_find_varying_function, fv_find_waiting, fv_find_startup, fv_find_memory, fv_find_allocator, fv_find_files,
    fv_find_own_cost, fv_find_no_symbols;

/* A row that depends on what others found stands behind them. */
const struct fv_finding_def fv_finding_defs[] = {
    { FV_FINDING_DISTURBED,
      "Ranks were ready to run and had no processor: others took it. Lost: the time that they, or other threads of "
      "theirs, were ready, in MPI and outside.",
      fv_find_no_processor },
    { "noise",
      "Others had the processors of ranks that are not more than the processors of their node. Lost: ranks times how "
      "much earlier collective calls for which all wait would have begun without that, or the time that "
      "others had, if that is more.",
      fv_find_noise },
    { "late_rank", "By the trace: ranks that were slow made others wait. Lost: the waiting that is put down to them.",
      fv_find_late_ranks },
    { "no_progress",
      "By the trace: ranks had posted their messages, or their part of a non-blocking operation, and computed; MPI "
      "moved them only when they made their next call, "
      "for which others waited. Lost: the waiting that is put down to that computing.",
      fv_find_withheld_progress },
    { "blocked_rank",
      "A rank is outside of MPI longest because it had no work for its processor: it slept, or did I/O, and did not "
      "wait for its own "
      "threads. Lost: what the other ranks are shorter outside of MPI than it.",
      fv_find_blocked_rank },
    { "load_imbalance",
      "Ranks compute for different times, in their main threads or in others that these wait for. Lost: what the other "
      "ranks "
      "compute less than the one that computes longest.",
      fv_find_imbalance },
    { "instruction_balance",
      "Where instructions were counted on all ranks (--counters), and one thread does the work of a rank: the rank "
      "that is outside of MPI longest has more work (instructions), or slower work (fewer of them a cycle). Lost: no "
      "time of its "
      "own, it is that of load_imbalance.",
      fv_find_instruction_balance },
    { "small_messages",
      "Messages of up to 1 KiB are so many that their latency counts, and larger ones take little time. Lost: the time "
      "in the "
      "calls that send, receive and wait for them; where ranks may as well take turns to compute, which makes them "
      "wait, too, it says so.",
      fv_find_small_messages },
    { "contended_lock", "Threads wait for a lock. Lost: the part of the threads' time that is, of the ranks'.",
      fv_find_contended_lock },
    { "idle_workers",
      "Workers, which are threads that the program made, wait for work, on a condition or a semaphore that others "
      "signal. Lost: as "
      "of contended_lock.",
      fv_find_idle_workers },
    { "thread_imbalance",
      "Threads of an OpenMP region work for different times. Lost: what the longest of a team works more than the mean "
      "of it.",
      fv_find_thread_imbalance },
    { "rare_slow_calls",
      "A few calls of a function take long, its others are short. Lost: CPU time of the long ones outside of MPI, by "
      "clock samples, less what as "
      "many others take; where several threads of a rank have some, of the one that has most.",
      fv_find_rare_slow_calls },
    { "varying_function",
      "A function's calls take different times. Lost: what its calls take longer than the median of those measured on "
      "the same "
      "call path, of its CPU time; of each rank as of rare_slow_calls.",
      fv_find_varying_function },
    { "unexplained_waiting",
      "A tenth of the ranks' time and more is waiting for which there is no other finding: where, and which pattern "
      "sums over the run have. Lost: that waiting.",
      fv_find_waiting },
    { "startup",
      "MPI_Init and MPI_Finalize take much of a short run. Lost: the time in them, but for waiting in MPI_Finalize for "
      "ranks that come late.",
      fv_find_startup },
    { "growing_memory",
      "The peak of a rank's memory grew in the second half of the run as it did before. Lost: no time.",
      fv_find_memory },
    { "allocator",
      "By the time of some of its calls (--memory) the allocator takes much of the ranks' time. Lost: that time; of "
      "several threads of a rank their part of it.",
      fv_find_allocator },
    { "file_io",
      "Functions for files (--io) take much of the ranks' time, outside of MPI, and no other finding tells of it. "
      "Lost: the time in them; of several threads of a rank their part of it.",
      fv_find_files },
    { "own_cost",
      "fvmpi itself took a tenth of the CPU time and more, by clock samples or by what it measures of itself, most "
      "often because very short functions are instrumented: all times hold that. Lost: that CPU time.",
      fv_find_own_cost },
    { "no_symbols", "Most call sites have no function names. Lost: no time.", fv_find_no_symbols },
};
const size_t fv_finding_def_count = sizeof(fv_finding_defs) / sizeof(*fv_finding_defs);

/* Most seconds first; what has none stays in the order of the catalogue, as do equals. */
static int by_lost(const void *a, const void *b)
{
    const struct fv_finding *x = a, *y = b;
    double mine = isfinite(x->lost_s) ? x->lost_s : -1, other = isfinite(y->lost_s) ? y->lost_s : -1;

    if (mine != other)
        return mine > other ? -1 : 1;
    if (x->def != y->def)
        return x->def < y->def ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return (x->site > y->site) - (x->site < y->site);
}

/* More than the time of all ranks is damage of a file, which is told elsewhere. */
static size_t drop_impossible(struct fv_findings *f, double total_s)
{
    size_t kept = 0;

    for (size_t i = 0; i < f->count; i++)
        if (!(f->items[i].lost_s > total_s))
            f->items[kept++] = f->items[i];
    return kept;
}

/* Of a run that others disturbed, which is said first, that is no news: the program's own findings stand before it, in
 * their order. */
static void put_back_machine(struct fv_findings *f)
{
    struct fv_finding *back = fv_xcalloc(f->count + 1, sizeof(*back));
    size_t kept = 0, moved = 0;

    for (size_t i = 0; i < f->count && isfinite(f->items[i].lost_s); i++) {
        if (f->items[i].by_machine)
            back[moved++] = f->items[i];
        else
            f->items[kept++] = f->items[i];
    }
    for (size_t i = 0; i < moved; i++)
        f->items[kept + i] = back[i];
    free(back);
}

void fv_findings_make(struct fv_findings *out, const struct fv_profile *profile)
{
    *out = (struct fv_findings){ 0 };
    if (fv_model_phases(profile->model)->alone.is) /* who waits there does it for its turn */
        return;
    for (size_t i = 0; i < fv_finding_def_count; i++) {
        out->current = &fv_finding_defs[i];
        out->current->find(profile, out);
    }
    out->count = drop_impossible(out, profile->model->efficiency.total_s);
    if (out->count)
        qsort(out->items, out->count, sizeof(*out->items), by_lost);
    if (fv_findings_named(out, FV_FINDING_DISTURBED))
        put_back_machine(out);
}
