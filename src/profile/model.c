/* SPDX-License-Identifier: BSD-3-Clause */
/* See model.h: the order of construction, and everything that is a sum over what the parts found. */
#include "profile/model.h"
#include "base/secret.h"
#include "profile/build.h"
#include "tool/pop.h"
#include "tool/words.h"
#include "trace/format_words.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- functions and ranks ---- */

static void sum_functions(struct fv_model *m)
{
    uint32_t *seen = fv_xcalloc(m->function_count * (m->rank_count + 1), sizeof(*seen));
    uint8_t *kinds = fv_xcalloc(m->function_count, sizeof(*kinds));

    for (size_t i = 0; i < m->site_count; i++) {
        const struct fv_site *s = &m->sites[i];
        struct fv_func *f = &m->functions[s->function];

        fv_call_stat_add(&f->stat, &s->stat);
        f->sites++;
        if (s->stat.calls) {
            f->wait_s += s->wait_s;
            kinds[s->function] |= (uint8_t)(1u << s->wait_kind);
        }
        for (uint32_t k = 0; k < s->ranks; k++) {
            uint32_t *flag = &seen[s->function * m->rank_count + m->site_ranks[s->first + k].rank];

            f->ranks += !*flag;
            *flag = 1;
        }
    }
    for (size_t i = 0; i < m->function_count; i++)
        m->functions[i].wait_kind = fv_wait_kind_of(kinds[i]);
    free(kinds);
    free(seen);
}

static int by_size_class(const void *a, const void *b)
{
    const struct fv_size_class *x = a, *y = b;

    if (x->function != y->function)
        return x->function < y->function ? -1 : 1;
    if (x->comm_size != y->comm_size)
        return x->comm_size < y->comm_size ? -1 : 1;
    return (x->bucket > y->bucket) - (x->bucket < y->bucket);
}

/* Longest first, and those that were never called are left out unless a rank is in them. */
static void order_functions(struct fv_model *m)
{
    struct fv_timed_item *order = fv_xcalloc(m->function_count, sizeof(*order));
    uint32_t *renumbered = fv_xcalloc(m->function_count, sizeof(*renumbered));
    struct fv_func *sorted = fv_xcalloc(m->function_count, sizeof(*sorted));

    for (uint32_t i = 0; i < m->function_count; i++)
        order[i] = (struct fv_timed_item){ i, m->functions[i].stat.sum_s };
    if (m->function_count)
        qsort(order, m->function_count, sizeof(*order), fv_timed_longer);
    for (uint32_t i = 0; i < m->function_count; i++) {
        renumbered[order[i].id] = i;
        sorted[i] = m->functions[order[i].id];
    }
    for (size_t i = 0; i < m->site_count; i++)
        m->sites[i].function = renumbered[m->sites[i].function];
    for (size_t i = 0; i < m->rank_count; i++)
        if (m->ranks[i].in_call.function != FV_NONE)
            m->ranks[i].in_call.function = renumbered[m->ranks[i].in_call.function];
    for (size_t i = 0; i < m->thread_count; i++)
        if (m->threads[i].in_call.function != FV_NONE)
            m->threads[i].in_call.function = renumbered[m->threads[i].in_call.function];
    for (size_t i = 0; i < m->size_class_count; i++)
        m->size_classes[i].function = renumbered[m->size_classes[i].function];
    if (m->size_class_count)
        qsort(m->size_classes, m->size_class_count, sizeof(*m->size_classes), by_size_class);
    free(m->functions);
    free(order);
    free(renumbered);
    m->functions = sorted;
    m->function_room = m->function_count;
}

static void sum_ranks(struct fv_model *m)
{
    for (size_t i = 0; i < m->site_rank_count; i++) {
        struct fv_rank *r = &m->ranks[m->site_ranks[i].rank];

        r->wait_time_s += m->site_ranks[i].wait_s;
        r->wait_kinds |= fv_build_wait_kinds(m, &m->site_ranks[i]);
    }
    for (size_t i = 0; i < m->rank_count; i++) {
        struct fv_rank *r = &m->ranks[i];
        double mpi_s = 0;

        for (uint32_t k = 0; k < r->threads; k++)
            mpi_s += m->threads[r->first_thread + k].mpi_time_s;
        r->wait_share = mpi_s > 0 ? fmin(r->wait_time_s / mpi_s, 1) : 0;
        if (r->mpi_threads > 1 && r->wait_time_s > 0) { /* the main thread may wait more, or less, than the others */
            r->wait_kinds |= 1u << FV_WAIT_ESTIMATE;
            r->own_wait_kinds |= 1u << FV_WAIT_ESTIMATE;
        }
        if (m->causes.source != FV_CAUSES_TRACE) {
            r->own_wait_s = r->wait_time_s;
            r->own_wait_kinds = r->wait_kinds;
        }
        m->efficiency.own_wait_s += mpi_s > 0 ? fmin(r->own_wait_s / mpi_s, 1) * fmin(r->mpi_time_s, r->app_time_s) : 0;
    }
}

/* ---- the run ---- */

static void set_efficiencies(struct fv_efficiency *e, const struct fv_pop_sums *sums)
{
    struct fv_pop pop = fv_pop_of(sums, e->ideal_s);

    e->serial_s = sums->elapsed_s;
    e->parallel = pop.parallel;
    e->load_balance = pop.load_balance;
    e->communication = pop.communication;
    e->serialization = pop.serialization;
    e->transfer = pop.transfer;
}

/* With processes that MPI_Comm_spawn started, or that were connected. */
static bool is_with_another_world(const struct fv_def_comm *c)
{
    for (uint32_t i = 0; i < c->run_count + c->remote_run_count; i++)
        if (c->runs[i].first < 0)
            return true;
    return false;
}

static void measure(struct fv_model *m)
{
    struct fv_efficiency *e = &m->efficiency;
    struct fv_pop_sums sums = { 0 };
    unsigned kinds = 0, own_kinds = 0;

    for (size_t i = 0; i < m->rank_count; i++) {
        const struct fv_rank *r = &m->ranks[i];
        double mpi = fmin(r->mpi_time_s, r->app_time_s);

        fv_pop_add(&sums, r->app_time_s, mpi + r->polled_s);
        e->total_s += r->app_time_s;
        e->mpi_s += mpi;
        e->polled_s += r->polled_s;
        e->asked_s += fmin(r->asked_s, mpi);
        e->compute_s += fmax(r->app_time_s - mpi - r->polled_s, 0);
        e->wait_s += fv_rank_wait_s(r, mpi);
        kinds |= r->wait_kinds;
        own_kinds |= r->own_wait_kinds;
        e->thread_s += r->app_time_s * (r->mpi_threads > 1 ? r->mpi_threads : 1);
        m->elapsed_s = r->end_s > m->elapsed_s ? r->end_s : m->elapsed_s;
    }
    for (size_t i = 0; i < m->function_count && m->causes.source != FV_CAUSES_TRACE; i++) {
        e->long_s += m->functions[i].long_s;
        e->files_s += fv_func_shares_file(&m->functions[i]) ? m->functions[i].stat.sum_s : 0;
    }
    for (size_t i = 0; i < m->function_count; i++)
        e->unjudged_s += fv_func_asks(&m->functions[i]) ? m->functions[i].stat.sum_s : 0;
    e->unjudged_s = fmax(e->unjudged_s - e->asked_s, 0);
    for (size_t i = 0; i < m->comm_count && m->causes.source == FV_CAUSES_TRACE; i++)
        e->elsewhere_s += is_with_another_world(&m->comms[i].def) ? m->comms[i].stat.sum_s : 0;
    e->wait_kind = fv_wait_kind_of_all(kinds);
    e->own_wait_kind = fv_wait_kind_of_all(own_kinds);
    set_efficiencies(e, &sums);
    const bool is_alone = m->shown_ranks && m->rank_count == 1; /* with whom would it be balanced? */
    if (m->calls_left_out || m->shown_threads || is_alone)
        e->parallel = e->load_balance = e->communication = e->serialization = e->transfer = NAN;
}

bool fv_model_is_of_program(const struct fv_model *m, uint32_t module)
{
    for (size_t i = 0; i < m->program_count; i++)
        if (fv_module_is_of_program(&m->tree.modules[module], m->programs[i].path))
            return true;
    return false;
}

bool fv_model_is_of_archive(const struct fv_model *m)
{
    return isnan(m->overhead.time_s);
}

double fv_overhead_share(const struct fv_model *m)
{
    double total_s = m->efficiency.total_s;

    for (size_t i = 0; i < m->rank_count; i++)
        total_s += m->ranks[i].paused_s;
    return total_s > 0 ? m->overhead.time_s / total_s : NAN;
}

/* It is of an archive. */
static void forget_overhead(struct fv_model *m)
{
    m->overhead.time_s = m->overhead.sampling_s = m->overhead.once_s = NAN;
    for (size_t i = 0; i < m->rank_count; i++)
        m->ranks[i].tool_s = NAN;
    for (size_t i = 0; i < m->thread_count; i++)
        m->threads[i].tool_s = NAN;
}

static void measure_overhead(struct fv_model *m)
{
    struct fv_overhead *o = &m->overhead;

    for (size_t i = 0; i < FV_SUBJECT_COUNT; i++)
        if (fv_subjects[i]->cost)
            fv_subjects[i]->cost(m, o);
    for (size_t i = 0; i < m->rank_count; i++) {
        const struct fv_rank *r = &m->ranks[i];

        o->time_s += r->tool_s;
        o->once_s += r->tool_once_s;
        o->memory_bytes += r->memory_bytes;
        o->file_bytes += r->file_bytes;
        if (r->memory_bytes > o->rank_memory_bytes)
            o->rank_memory_bytes = r->memory_bytes;
    }
    if (!o->rank_memory_bytes && !(o->time_s > 0)) /* each run of fvmpi takes some of both */
        forget_overhead(m);
    o->share = fv_overhead_share(m);
}

/* Why pieces of files could not be had, and what to do. */
static const char *disk_words(const struct fv_model *m)
{
    uint32_t error = 0;

    for (size_t i = 0; i < m->rank_count; i++)
        error = m->ranks[i].refused_error ? m->ranks[i].refused_error : error;
    return fv_refused_words(error);
}

/* Ranks with such a child; *lacking: with calls that are not in the trace, whoever made them. */
static unsigned count_by_clone(const struct fv_model *m, unsigned *lacking)
{
    unsigned count = 0;

    *lacking = 0;
    for (size_t i = 0; i < m->rank_count; i++) {
        const struct fv_rank *r = &m->ranks[i];

        *lacking += r->dropped[FV_DROP_EVENTS] != 0;
        count += fv_is_by_clone(r->dropped[FV_DROP_EVENTS], r->dropped[FV_DROP_DISK], isfinite(r->trace_stop_s));
    }
    return count;
}

static const struct {
    const char *one, *many, *advice;
} drop_words[FV_DROP_COUNT] = {
    [FV_DROP_CELLS] = { "call was counted without its call path", "calls were counted without their call path",
                        "raise FVMPI_PROFILE_MAX" },
    [FV_DROP_PATHS] = { "call has no call path", "calls have no call path",
                        "there is room for 262,000 frames that differ; keep fewer of each path, as by --depth 8" },
    [FV_DROP_PEERS] = { "message is missing from the communication matrix",
                        "messages are missing from the communication matrix", "its budget was full" },
    [FV_DROP_COMMS] = { "communicator, window or file is not described",
                        "communicators, windows and files are not described", "too many were made" },
    [FV_DROP_CALLS] = { "call was not recorded at all", "calls were not recorded at all",
                        "it was left by longjmp() or to another thread, as fibers do, or there was no memory or "
                        "disk for its thread" },
    [FV_DROP_DISK] = { "piece of a rank file could not be had", "pieces of rank files could not be had", NULL },
    [FV_DROP_REQUESTS] = { "request was not followed: bytes that it moved are missing",
                           "requests were not followed: bytes that they moved are missing",
                           "too many at a time, or made while recording was paused" },
    [FV_DROP_EVENTS] = { "call is counted but not in the trace", "calls are counted but not in the trace", NULL },
    [FV_DROP_MARKS] = { "label was not recorded", "labels were not recorded",
                        "there is room for 1 MiB of them in a rank file" },
};

/* Of several ranks both may be. */
static const char *events_words(const struct fv_model *m)
{
    unsigned lacking, by_clone = count_by_clone(m, &lacking);

    return !by_clone             ? "FVMPI_TRACE_MAX was used up, or the disk was full"
           : by_clone == lacking ? FV_WORDS_BY_CLONE
                                 : "FVMPI_TRACE_MAX was used up, or the disk was full; or " FV_WORDS_BY_CLONE;
}

static void say_drops(struct fv_model *m)
{
    for (unsigned d = 0; d < FV_DROP_COUNT; d++) {
        uint64_t sum = 0;
        unsigned ranks = 0, full = 0; /* of these, on how many the disk was */

        for (size_t i = 0; i < m->rank_count; i++) {
            sum += m->ranks[i].dropped[d];
            ranks += m->ranks[i].dropped[d] != 0;
            full += m->ranks[i].dropped[d] && m->ranks[i].dropped[FV_DROP_DISK];
        }
        if (!sum)
            continue;
        /* a budget that is full asks for no more */
        const bool by_disk = d == FV_DROP_DISK || (full == ranks && d != FV_DROP_REQUESTS && d != FV_DROP_MARKS);
        if (drop_words[d].many)
            fv_problem_add(&m->problems, FV_PROBLEM_DROPPED, NULL, "%llu %s on %u %s (%s)", (unsigned long long)sum,
                           sum == 1 ? drop_words[d].one : drop_words[d].many, ranks, ranks == 1 ? "rank" : "ranks",
                           by_disk               ? disk_words(m)
                           : d == FV_DROP_EVENTS ? events_words(m)
                                                 : drop_words[d].advice);
        else
            fv_problem_add(
                &m->problems, FV_PROBLEM_NOTE, NULL,
                "%llu collective call%s of which %u %s did not keep the time of entry: waiting there is estimated "
                "from the others "
                "(%s)",
                (unsigned long long)sum, fv_words_s(sum), ranks, ranks == 1 ? "rank" : "ranks",
                by_disk ? disk_words(m) : "raise FVMPI_COLLECTIVES_MAX");
    }
}

/* Recording was off from the start, and is. */
static void say_off(struct fv_model *m)
{
    unsigned off = 0;

    for (size_t i = 0; i < m->rank_count; i++)
        off += m->ranks[i].never_on;
    if (off && fv_model_is_of_archive(m))
        fv_problem_add(
            &m->problems, FV_PROBLEM_NOTE, NULL,
            "the trace has nothing of %u %s in this time: recording was paused, or --trace-keep kept what came "
            "later",
            off, off == 1 ? "rank" : "ranks");
    else if (off)
        fv_problem_add(&m->problems, FV_PROBLEM_NOTE, NULL,
                       "%u %s recorded nothing: recording was off from the start%s and was never switched on, which "
                       "MPI_Pcontrol(1) and fvmpi_resume() do%s",
                       off, off == 1 ? "rank" : "ranks",
                       fv_model_option(m, "FVMPI_OFF_AT_START") ? " (--off-at-start)" : "",
                       fv_model_option(m, "FVMPI_OFF_AT_START") ? "; or leave --off-at-start out" : "");
}

static void say_unlisted(struct fv_model *m)
{
    unsigned count = 0;

    for (size_t i = 0; i < m->comm_count; i++)
        count += !fv_def_comm_is_listed(&m->comms[i].def);
    if (count)
        fv_problem_add(&m->problems, FV_PROBLEM_MISSING, NULL,
                       "the members of %u communicator%s are not known: no rank file is there that lists them", count,
                       count == 1 ? "" : "s");
}

/* What MPI_Comm_spawn started has an MPI_COMM_WORLD, and so an experiment, of its own. */
static void say_spawned(struct fv_model *m)
{
    for (size_t i = 0; i < m->function_count; i++)
        if (!strncmp(m->functions[i].name, "MPI_Comm_spawn", 14) && m->functions[i].stat.calls) {
            fv_problem_add(&m->problems, FV_PROBLEM_NOTE, NULL,
                           "%s started processes that are not in this report. They have their own experiment if fvmpi "
                           "started the launcher (fvmpi run -- mpiexec ...)",
                           m->functions[i].name);
            return;
        }
}

/* How well waits between ranks of several hosts are known; a trace has clocks of its own making. */
static void say_clocks(struct fv_model *m)
{
    const struct fv_alignment *a = &m->alignment;
    char error[FV_WORD], sum[FV_WORD];

    if (m->same_clock)
        return;
    if (m->causes.source == FV_CAUSES_TRACE || !a->linked) {
        fv_problem_add(&m->problems, FV_PROBLEM_NOTE, NULL,
                       "ranks ran on %zu different clocks, aligned by their wall clocks%s: waiting is an estimate",
                       m->clock_count, a->linked ? " and messages" : "");
        return;
    }
    if (isfinite(a->error_s) && a->groups <= 1)
        fv_problem_add(&m->problems, FV_PROBLEM_NOTE, NULL,
                       "ranks ran on %zu different clocks, aligned by their collective calls to within %s: waiting is "
                       "an estimate",
                       m->clock_count, fv_words_seconds(a->error_s, error));
    else
        fv_problem_add(&m->problems, FV_PROBLEM_NOTE, NULL,
                       "ranks ran on %zu different clocks, and some cannot be aligned, because no collective call "
                       "of all ranks says how far they are apart: waiting is an estimate",
                       m->clock_count);
    if (a->contradiction_s > 0)
        fv_problem_add(&m->problems, FV_PROBLEM_NOTE, NULL,
                       "clocks did not run evenly: the times of collective calls contradict each other by up to %s",
                       fv_words_seconds(a->contradiction_s, error));
    if (m->waits_in_doubt)
        fv_problem_add(&m->problems, FV_PROBLEM_NOTE, NULL,
                       "%llu wait%s for ranks of other hosts, %s together, %s shorter than the clocks' error "
                       "and counted "
                       "as 0",
                       (unsigned long long)m->waits_in_doubt, m->waits_in_doubt == 1 ? "" : "s",
                       fv_words_seconds(m->wait_in_doubt_s, sum), m->waits_in_doubt == 1 ? "is" : "are");
}

static void say_states(struct fv_model *m)
{
    unsigned long long sites_lost = 0;
    unsigned exited = 0;

    for (size_t i = 0; i < m->site_count; i++)
        if (m->tree.nodes[m->sites[i].node].module == FV_MODEL_LOST)
            sites_lost += m->sites[i].stat.calls;
    if (sites_lost)
        fv_problem_add(&m->problems, FV_PROBLEM_DAMAGED, NULL,
                       "the call paths of %llu %s are in damaged parts of rank files", sites_lost,
                       sites_lost == 1 ? "call" : "calls");
    m->part_complete = true;
    for (size_t i = 0; i < m->rank_count; i++) {
        m->part_complete = m->part_complete && (m->ranks[i].state == FV_RANK_FINALIZED ||
                                                (fv_rank_has_ended(&m->ranks[i]) && !strcmp(m->mpi, "none")));
        exited += m->ranks[i].state == FV_RANK_EXITED && strcmp(m->mpi, "none");
    }
    if (exited)
        fv_problem_add(&m->problems, FV_PROBLEM_NOTE, NULL, "%u %s exited without MPI_Finalize%s", exited,
                       exited == 1 ? "rank" : "ranks",
                       m->own_finalize ? ", as far as fvmpi can see: it is not fvmpi's" : "");
    if (strstr(m->command, FV_SECRET_MARK))
        fv_problem_add(&m->problems, FV_PROBLEM_NOTE, NULL,
                       "arguments that look secret are blanked: " FV_SECRET_MARK
                       " in the command line; the program got them as they were");
    say_clocks(m);
    for (size_t i = 0; i < m->problems.count; i++)
        m->part_complete = m->part_complete && !fv_problem_is_loss(m->problems.items[i].kind);
    m->complete = m->part_complete && m->rank_count + m->unshown == (size_t)(m->world_size > 0 ? m->world_size : 1);
    m->part_complete = m->passed_by ? m->part_complete : m->complete;
}

/* Sums say "all ranks" in many places. */
static void say_choice(struct fv_model *m)
{
    if (m->read_ranks)
        fv_problem_add(
            &m->problems, FV_PROBLEM_NOTE, NULL,
            "--read-ranks %s: the files of %zu of %d ranks were read, and all ranks means these. How long they "
            "waited for others is an estimate, or not known",
            m->read_ranks, m->rank_count + m->unshown, m->world_size);
    if (m->shown_ranks)
        fv_problem_add(&m->problems, FV_PROBLEM_NOTE, NULL,
                       "--rank %s: the report is of %zu of %d ranks, and all ranks means these. Findings and causes of "
                       "waiting need the others, too: they are left out",
                       m->shown_ranks, m->rank_count, m->world_size);
    if (m->shown_threads)
        fv_problem_add(&m->problems, FV_PROBLEM_NOTE, NULL,
                       "--thread %s: the report is of these threads of each rank. What a thread does not have alone is "
                       "left out: findings, causes of waiting, efficiency, phases, memory, sensors, the table of ranks",
                       m->shown_threads);
}

static bool is_shown(const struct fv_experiment *e, const struct fv_file_header *h)
{
    return !e->choice || fv_spans_have(&e->choice->ranks, h->world_rank);
}

static const char *chosen(struct fv_model *m, const struct fv_spans *spans)
{
    return spans->text ? fv_arena_string(&m->arena, spans->text) : NULL;
}

/* Of what the report is to be. */
static void choose(struct fv_build *b, struct fv_model *m, const struct fv_experiment *e)
{
    b->choice = e->choice;
    b->seen = e->seen;
    m->passed_by = e->passed_by;
    for (size_t i = 0; i < e->count; i++)
        b->shown += is_shown(e, fv_reader_header(e->files[i].reader));
    m->unshown = e->count - b->shown;
    if (!e->choice)
        return;
    m->read_ranks = chosen(m, &e->choice->read);
    m->shown_ranks = chosen(m, &e->choice->ranks);
    m->shown_threads = chosen(m, &e->choice->threads);
}

static void open_build(struct fv_build *b, struct fv_model *m, struct fv_experiment *e)
{
    const struct fv_file_header *first = fv_reader_header(e->files[0].reader);

    m->problems = e->problems;
    e->problems = (struct fv_problems){ 0 };
    m->directory = fv_arena_string(&m->arena, e->path ? e->path : "");
    m->operands = fv_arena_string(&m->arena, e->operands ? e->operands : "");
    m->command = fv_arena_string(&m->arena, first->command);
    m->program = fv_arena_string(&m->arena, first->program);
    m->mpi = fv_arena_string(&m->arena, first->mpi);
    m->fvmpi = fv_arena_string(&m->arena, first->fvmpi);
    m->world_size = first->world_size;
    m->rank_count = b->file_count = (uint32_t)e->count;
    m->ranks = fv_xcalloc(e->count, sizeof(*m->ranks));
    choose(b, m, e);
    for (size_t i = 0; i < FV_SUBJECT_COUNT; i++)
        m->data[i] = fv_subjects[i]->bytes ? fv_xcalloc(1, fv_subjects[i]->bytes) : NULL;
    b->model = m;
    b->forks = fv_forks_new(&m->tree);
    b->files = fv_xcalloc(e->count, sizeof(*b->files));
    for (size_t i = 0, shown = 0, others = b->shown; i < e->count; i++) {
        const struct fv_experiment_file *file = &e->files[i];
        const struct fv_file_header *h = fv_reader_header(file->reader);
        struct fv_build_file *to = &b->files[is_shown(e, h) ? shown++ : others++];

        *to = (struct fv_build_file){ .reader = file->reader, .header = h, .name = file->name };
    }
}

static void close_build(struct fv_build *b)
{
    for (size_t i = 0; i < b->file_count; i++) {
        fv_numbers_release(&b->files[i].functions);
        fv_numbers_release(&b->files[i].comms);
        fv_numbers_release(&b->files[i].comm_ranks);
    }
    free(b->files);
    free(b->best);
    fv_forks_free(b->forks);
    fv_index_release(&b->functions);
    fv_index_release(&b->sites);
    fv_index_release(&b->comms);
    fv_index_release(&b->addresses);
    fv_index_release(&b->size_classes);
    fv_index_release(&b->site_sizes);
}

static void join_passes(struct fv_model *m, const struct fv_experiment *e)
{
    for (size_t i = 0; i < FV_SUBJECT_COUNT; i++)
        if (fv_subjects[i]->join)
            fv_subjects[i]->join(m, e->passes, e->pass_count);
}

/* Whom ranks waited for needs all of them. */
static void leave_out_causes(struct fv_causes *c)
{
    c->left_out = c->left_out || c->source == FV_CAUSES_TRACE;
    c->source = FV_CAUSES_NONE;
    c->wait_s = 0;
    c->kind_count = c->elsewhere_count = c->culprit_count = c->late_count = c->computed_count = 0;
}

/* Waiting in a trace is of all ranks that it has. */
static const struct fv_analysis_result *analysis_of(struct fv_model *m, const struct fv_experiment *e)
{
    const bool whole = !e->passed_by && !m->shown_threads;

    if (e->analysed && !whole) {
        m->causes.left_out = true;
        fv_problem_add(&m->problems, FV_PROBLEM_NOTE, FV_ANALYSIS_FILE, "it is of all %s; it is left out",
                       e->passed_by ? "ranks" : "threads");
    }
    return whole ? e->analysed : NULL;
}

static void complete_subjects(struct fv_model *m)
{
    for (size_t i = 0; i < FV_SUBJECT_COUNT; i++)
        if (fv_subjects[i]->complete)
            fv_subjects[i]->complete(m);
}

void fv_model_build(struct fv_model *out, struct fv_symbols *symbols, struct fv_experiment *experiment, bool look_up)
{
    struct fv_build build = { .traced_calls = experiment->traced_calls,
                              .is_part = experiment->is_part,
                              .is_later_part = experiment->is_later_part,
                              .looks_up = look_up };
    struct fv_model *m = out;

    *m = (struct fv_model){ 0 };
    open_build(&build, m, experiment);
    for (enum fv_visit visit = 0; visit < FV_VISITS; visit++) {
        if (visit == FV_VISIT_BOUNDS && m->same_clock)
            continue;
        if (visit == FV_VISIT_REST)
            fv_build_leave_out(&build);
        fv_build_visit(&build, visit);
        if (visit == FV_VISIT_CHARGES)
            fv_build_analysed(&build, analysis_of(m, experiment));
    }
    close_build(&build);
    join_passes(m, experiment);
    fv_build_finish_sites(m, symbols, look_up);
    sum_functions(m);
    order_functions(m);
    fv_build_parts(m);
    sum_ranks(m);
    measure(m);
    measure_overhead(m);
    fv_build_causes(m);
    complete_subjects(m);
    if (m->shown_ranks || m->shown_threads)
        leave_out_causes(&m->causes);
    fv_build_program_times(m);
    say_choice(m);
    say_drops(m);
    say_off(m);
    say_unlisted(m);
    say_states(m);
    say_spawned(m);
}

static void release_subjects(struct fv_model *m)
{
    for (size_t i = 0; i < FV_SUBJECT_COUNT; i++) {
        if (m->data[i] && fv_subjects[i]->release)
            fv_subjects[i]->release(m->data[i]);
        free(m->data[i]);
    }
}

void fv_model_release(struct fv_model *m)
{
    release_subjects(m);
    free(m->clocks);
    free(m->ranks);
    for (size_t i = 0; i < m->program_count; i++)
        free(m->programs[i].runs);
    free(m->programs);
    free(m->options);
    free(m->threads);
    fv_call_tree_release(&m->tree);
    free(m->functions);
    free(m->sites);
    free(m->site_ranks);
    free(m->site_more);
    free(m->region_ranks);
    free(m->comms);
    free(m->site_sizes);
    free(m->size_classes);
    free(m->edges);
    free(m->wait_items);
    free(m->comm_places);
    free(m->causes.kinds);
    free(m->causes.bins);
    free(m->causes.elsewhere);
    free(m->causes.late);
    free(m->causes.computed);
    free(m->causes.culprits);
    free(m->causes.regions);
    free(m->addresses);
    free(m->timeline.share);
    free(m->excerpt.calls);
    free(m->excerpt.messages);
    free(m->excerpt.samples);
    free(m->excerpt.spans);
    fv_problems_release(&m->problems);
    fv_problems_release(&m->module_problems);
    fv_arena_release(&m->arena);
    *m = (struct fv_model){ 0 };
}
