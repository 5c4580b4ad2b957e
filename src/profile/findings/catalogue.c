/* SPDX-License-Identifier: BSD-3-Clause */
/* See findings.h: the rows of the catalogue. */
#include "profile/profile.h"
#include "profile/threads/phases.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

extern fv_find_fn fv_find_hang, fv_find_no_processor, fv_find_noise, fv_find_late_ranks, fv_find_withheld_progress,
    fv_find_blocked_rank, fv_find_imbalance, fv_find_moving_imbalance, fv_find_slow_iterations,
    fv_find_growing_iterations, fv_find_instruction_balance, fv_find_small_messages, fv_find_polling,
    fv_find_contended_lock, fv_find_idle_workers, fv_find_thread_imbalance, fv_find_rare_slow_calls,
    fv_find_varying_function, fv_find_waiting, fv_find_startup, fv_find_memory, fv_find_allocator, fv_find_far_memory,
    fv_find_files, fv_find_own_cost, fv_find_no_symbols;

/* A row that depends on what others found stands behind them. */
const struct fv_finding_def fv_finding_defs[] = {
    { "hang", "Hang",
      "The run hangs, or hung when it was killed: the rank that holds the others up, and where it is. Titled Held up: "
      "it is outside of MPI, in a call that is not judged, or asks while its child process lives, and may go on. Lost: "
      "not known.",
      fv_find_hang, "looked_threads hang_causes hang_cycles hang_ranks" },
    { FV_FINDING_DISTURBED, "Noisy run",
      "Ranks were runnable but had no processor. Lost: the time that they, or other threads of theirs, were "
      "runnable, in MPI and outside.",
      fv_find_no_processor, "ranks noise_ranks other_processes" },
    { "noise", "Noise",
      "Ranks were preempted on a node that has a processor for each of them. Lost: ranks times how much earlier "
      "collective calls for which all wait would have begun without that, or the time that ranks were preempted, if "
      "that is more.",
      fv_find_noise, "noise noise_ranks noise_projection" },
    { "late_rank", "Late rank",
      "By the trace: ranks that were slow made others wait. Lost: the waiting that the trace puts down to them.",
      fv_find_late_ranks, "culprits late_procedures region_procedures waiting_by_rank" },
    { FV_NO_PROGRESS, "Messages without progress",
      "By the trace: ranks had posted their messages, or their part of a non-blocking operation, and computed; MPI "
      "moved them only in their next call, for which others waited. Lost: the waiting that the trace puts down to "
      "that computing.",
      fv_find_withheld_progress, "culprits late_procedures wait_kinds" },
    { "blocked_rank", "Blocked rank",
      "A rank is outside of MPI longest because it had no work for its processor: it slept, or did I/O, and did not "
      "wait for its own threads. Lost: what the other ranks are shorter outside of MPI than it.",
      fv_find_blocked_rank, "regions_by_rank ranks" },
    { "load_imbalance", "Load imbalance",
      "Ranks compute for different times, in their main threads or in others that these wait for. Lost: what the "
      "other ranks compute less than the one that computes longest.",
      fv_find_imbalance, "regions_by_rank cpu_procedures_by_thread ranks" },
    { "moving_imbalance", "Moving imbalance",
      "Ranks are alike over the run, but not in an iteration: another one is the slowest every few of them. Lost: what "
      "the others are outside of MPI less than the slowest of each iteration, beyond the imbalance of the sums. "
      "Without "
      "a trace: outside of blocking collective calls.",
      fv_find_moving_imbalance, "iterations iterations_by_number" },
    { "slow_iterations", "Slow iterations",
      "Some iterations take longer: one in N, or those in which the program calls something else. Lost: what they take "
      "longer than the median of the others, on all ranks.",
      fv_find_slow_iterations, "iterations iterations_by_number" },
    { "growing_iterations", "Growing iterations",
      "Iterations take longer and longer. Lost: what they take longer than the median of the first tenth, on all "
      "ranks.",
      fv_find_growing_iterations, "iterations iterations_by_number" },
    { "instruction_balance", "Cause of the imbalance",
      "The rank that is outside of MPI longest has more work (instructions), or slower work (fewer of them per cycle). "
      "Needs instructions counted on all ranks (--counters), and one thread that does the work of a rank. Lost: "
      "no time of its own, it is that of load_imbalance.",
      fv_find_instruction_balance, "counter_ranks regions_by_rank" },
    { "polling", "Waiting by polling",
      "A rank calls MPI_Test, MPI_Iprobe or their like again and again at one place, with less than 2 us between: it "
      "waits. Lost: the time of these calls and between them.",
      fv_find_polling, "regions_by_rank callsites_by_rank" },
    { "small_messages", "Many small messages",
      "Messages of up to 1 KiB are so many that their latency counts, and larger ones take little time. Lost: the "
      "time in the calls that send, receive and wait for them. The text says if ranks may as well take turns to "
      "compute, which makes them wait, too.",
      fv_find_small_messages, "message_sizes site_sizes mpi_functions" },
    { "contended_lock", "Contended lock",
      "Threads wait for a lock. Lost: its share of the threads' time, of the ranks' time.", fv_find_contended_lock,
      "locks lock_sites lock_waits" },
    { "idle_workers", "Idle workers",
      "Workers, which are threads that the program made, wait for work, on a condition or a semaphore that others "
      "signal. Lost: as for contended_lock.",
      fv_find_idle_workers, "lock_sites phases threads" },
    { "thread_imbalance", "Imbalance of threads",
      "Threads of an OpenMP region work for different times. Lost: what the longest of a team works more than the "
      "mean of it.",
      fv_find_thread_imbalance, "phases phases_by_rank worksharing" },
    { "rare_slow_calls", "Rare slow calls",
      "A few calls of a function take long, its others are short. Lost: CPU time of the long ones outside of MPI, by "
      "clock samples, less what as many others take. If several threads of a rank have some, the one with most counts.",
      fv_find_rare_slow_calls, "sampled_totals sampled_total_by_thread sampled_instances" },
    { "varying_function", "Varying function",
      "A function's calls take different times. Lost: what its calls take longer than the median of those measured "
      "on the same call path, of its CPU time; of each rank as for rare_slow_calls.",
      fv_find_varying_function, "sampled_totals sampled_functions sampled_instances" },
    { "unexplained_waiting", "Waiting without a known cause",
      "At least a tenth of the ranks' time is waiting that no other finding explains: where, and which pattern sums "
      "over the run have. Lost: that waiting.",
      fv_find_waiting, "callsites callsites_by_rank wait_kinds" },
    { "startup", "Start and end",
      "MPI_Init and MPI_Finalize take much of a short run. Lost: the time in them, but for waiting in MPI_Finalize "
      "for ranks that come late.",
      fv_find_startup, "mpi_functions ranks" },
    { "growing_memory", "Growing memory",
      "The peak of a rank's memory grew in the second half of the run as it did before. Lost: no time.", fv_find_memory,
      "ranks memory_series" },
    { "far_memory", "Memory on another NUMA node",
      "Most of a thread's stack, or of the heap that it uses, is on another NUMA node than its processor (--memory). "
      "Lost: not known.",
      fv_find_far_memory, "memory_places" },
    { "allocator", "Time in the allocator",
      "By the time of some of its calls (--memory) the allocator takes much of the ranks' time. Lost: that time; of "
      "several threads of a rank their part of it.",
      fv_find_allocator, "memory_functions memory" },
    { "file_io", "Time in file functions",
      "Functions for files (--io) take much of the ranks' time, outside of MPI, and no other finding has it. Lost: "
      "the time in them; of several threads of a rank their part of it.",
      fv_find_files, "io io_files io_ranks" },
    { "own_cost", "Overhead of fvmpi",
      "fvmpi itself took at least a tenth of the clock samples, or of the CPU time by what it measures of itself, most "
      "often because very short functions are instrumented. All times include this. Lost: that CPU time.",
      fv_find_own_cost, "ranks instrumented" },
    { "no_symbols", "No function names", "Most call sites have no function names. Lost: no time.", fv_find_no_symbols,
      "problems" },
};
const size_t fv_finding_def_count = sizeof(fv_finding_defs) / sizeof(*fv_finding_defs);
_Static_assert(sizeof(fv_finding_defs) / sizeof(*fv_finding_defs) <= FV_FINDING_DEFS_MOST, "no room for their names");

/* Of a run that hangs nothing else matters. */
static bool is_hang(const struct fv_finding *f)
{
    return f->def->find == fv_find_hang;
}

/* Most seconds first; what has none stays in the order of the catalogue, as do equals. */
static int by_lost(const void *a, const void *b)
{
    const struct fv_finding *x = a, *y = b;
    double mine = isfinite(x->lost_s) ? x->lost_s : -1, other = isfinite(y->lost_s) ? y->lost_s : -1;

    if (is_hang(x) != is_hang(y))
        return is_hang(x) ? -1 : 1;
    if (mine != other)
        return mine > other ? -1 : 1;
    if (x->def != y->def)
        return x->def < y->def ? -1 : 1;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return (x->site > y->site) - (x->site < y->site);
}

/* More than the time of all ranks is damage of a file, about which there is a remark. */
static size_t drop_impossible(struct fv_findings *f, double total_s)
{
    size_t kept = 0;

    for (size_t i = 0; i < f->count; i++)
        if (!(f->items[i].lost_s > total_s))
            f->items[kept++] = f->items[i];
    return kept;
}

/* Of a disturbed run, which is said first, ranks wait for others that have no processor: what has a cause in the
 * program stands before waiting that has none, and all of the program before what the machine did. */
static int place_of(const struct fv_finding *f)
{
    if (f->by_machine)
        return 3;
    if (!isfinite(f->lost_s) && !is_hang(f))
        return 2;
    return !strcmp(f->def->name, "unexplained_waiting");
}

/* In each place in their order. */
static void put_causes_first(struct fv_findings *f)
{
    struct fv_finding *sorted = fv_xcalloc(f->count + 1, sizeof(*sorted));
    size_t count = 0;

    for (int place = 0; place < 4; place++)
        for (size_t i = 0; i < f->count; i++)
            if (place_of(&f->items[i]) == place)
                sorted[count++] = f->items[i];
    memcpy(f->items, sorted, count * sizeof(*sorted));
    free(sorted);
}

void fv_findings_make(struct fv_findings *out, const struct fv_profile *profile)
{
    *out = (struct fv_findings){ 0 };
    if (fv_model_phases(profile->model)->alone.is) /* threads that wait there do it for their turn */
        return;
    for (size_t i = 0; i < fv_finding_def_count; i++) {
        out->current = &fv_finding_defs[i];
        out->current->find(profile, out);
    }
    out->count = drop_impossible(out, profile->model->efficiency.total_s);
    if (out->count)
        qsort(out->items, out->count, sizeof(*out->items), by_lost);
    if (fv_findings_named(out, FV_FINDING_DISTURBED))
        put_causes_first(out);
}
