/* SPDX-License-Identifier: BSD-3-Clause */
/* What run it was: command, ranks, MPI, time, what fvmpi took of it, and whether all of it was recorded. */
#include "views/text/text.h"
#include "base/shell.h"
#include "profile/machine/facts.h"
#include "profile/samples/samples.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NAMES 10 /* columns of the names of fields */

static size_t count_hosts(const struct fv_model *m)
{
    struct fv_arena arena = { 0 };
    struct fv_index seen = { 0 };
    const char **hosts = NULL;
    size_t count = 0, room = 0;

    for (size_t i = 0; i < m->rank_count; i++)
        FV_INTERN_NAME(seen, hosts, count, room, &arena, m->ranks[i].host);
    free(hosts);
    fv_index_release(&seen);
    fv_arena_release(&arena);
    return count;
}

static void put_overhead(const struct fv_page *p, const struct fv_model *m)
{
    const struct fv_overhead *o = &m->overhead;
    char seconds[FV_WORD], percent[FV_WORD], part[60], memory[FV_WORD], disk[FV_WORD], sampling[FV_WORD], own[80] = "";

    if (o->sampling_s > 0)
        snprintf(own, sizeof(own), " (%s of it sampling, over all threads)", fv_words_seconds(o->sampling_s, sampling));
    if (fv_model_is_of_archive(m))
        return;
    if (o->share > 1)
        snprintf(part, sizeof(part), "longer than they ran");
    else
        snprintf(part, sizeof(part), "%s of their time", fv_words_percent(o->share, 1, percent));
    fv_text_field(p, NAMES, "overhead", "%s over all ranks%s, %s; memory %s a rank at most, files %s",
                  fv_words_seconds(o->time_s, seconds), own, part, fv_words_bytes(o->rank_memory_bytes, memory),
                  fv_words_bytes(o->file_bytes, disk));
}

static void put_trace(const struct fv_page *p, const struct fv_model *m)
{
    char count[FV_WORD], bytes[FV_WORD], stop[FV_WORD], from[FV_WORD], early[100] = "";
    bool analysed = m->causes.source == FV_CAUSES_TRACE || m->causes.left_out;
    uint64_t calls = 0, size = 0;
    double first_stop = INFINITY, from_s = -INFINITY, end_s = 0;
    unsigned ranks = 0, stopped = 0;

    for (size_t i = 0; i < m->rank_count; i++) {
        const struct fv_rank *r = &m->ranks[i];

        ranks += r->traced;
        calls += r->trace_calls;
        size += r->trace_bytes;
        stopped += r->trace_stop_s >= 0;
        first_stop = r->trace_stop_s < first_stop ? r->trace_stop_s : first_stop;
        from_s = r->trace_from_s > from_s ? r->trace_from_s : from_s;
        end_s = r->end_s > end_s ? r->end_s : end_s;
    }
    if (!ranks)
        return;
    if (isfinite(from_s))
        snprintf(early, sizeof(early), "; of all ranks it has the last %s, from %s on",
                 fv_words_seconds(end_s > from_s ? end_s - from_s : 0, stop), fv_words_seconds(from_s, from));
    if (stopped)
        snprintf(early, sizeof(early), "; ends early on %u rank%s, first after %s", stopped, fv_words_s(stopped),
                 fv_words_seconds(first_stop, stop));
    fv_text_field(p, NAMES, "trace", "%s calls in %s%s%.400s%s", fv_words_count(calls, count),
                  fv_words_bytes(size, bytes), analysed ? "" : "; to analyse it and write an OTF2 archive: ",
                  analysed ? "" : FV_COMMAND("fvunify", m->directory), early);
}

/* The run is not the program's own. */
static void put_barriers(const struct fv_page *p, const struct fv_model *m)
{
    bool is_before = m->barrier == FV_BARRIER_BEFORE;
    const char *before = is_before ? "before" : "after";
    uint64_t inserted = 0;
    char some[80] = "";

    if (!m->barrier)
        return;
    for (size_t i = 0; i < m->site_count; i++)
        inserted += m->sites[i].barriers;
    if (m->barrier_ranks < (uint32_t)m->world_size)
        snprintf(some, sizeof(some), "; by %u of %d ranks, on communicators that have no others", m->barrier_ranks,
                 m->world_size);
    if (!m->barrier_ranks)
        fv_text_field(p, NAMES, "perturbed", "no, though with --barrier %s: the ranks did not agree to insert barriers",
                      before);
    else if (!inserted)
        fv_text_field(p, NAMES, "perturbed", "no: there were no calls into which --barrier %s inserts a barrier",
                      before);
    else
        fv_text_field(p, NAMES, "perturbed", "barriers were inserted %s collectives; %s%s", before,
                      is_before
                          ? "the waiting of these calls is the time in the barrier, the rest is transfer"
                          : "the waiting of these calls includes the time in the barrier, for the last rank to be done",
                      some);
}

/* The rank that lived longest was killed: when is not known. */
static bool ends_unseen(const struct fv_model *m)
{
    const struct fv_rank *last = &m->ranks[0];

    for (size_t i = 1; i < m->rank_count; i++)
        if (m->ranks[i].end_s > last->end_s)
            last = &m->ranks[i];
    return last->state == FV_RANK_KILLED && !last->aborted;
}

static void put_program(const struct fv_page *p, const struct fv_model *m, uint32_t program)
{
    const struct fv_program *g = &m->programs[program];
    struct fv_rank_list list = FV_RANK_LIST_INIT;
    const double mpi_s = fmax(g->mpi_s - g->asked_s, 0);
    char compute[FV_WORD], polling[FV_TEXT_POLLING], mpi[FV_WORD], wait[FV_TEXT_WAITING];

    for (size_t i = 0; i < m->rank_count; i++)
        if (m->ranks[i].program == program)
            fv_rank_list_add(&list, m->ranks[i].world_rank);
    fv_text_field(p, NAMES, "program", "%s on rank%s %s: %s", g->label, fv_words_s(g->ranks), fv_rank_list_text(&list),
                  g->command);
    fv_text_field(p, NAMES, "", "compute %s, %sMPI %s, %s", fv_words_percent(g->compute_s, g->total_s, compute),
                  fv_text_polling_part(g->polled_s + g->asked_s, g->total_s, polling),
                  fv_words_percent(mpi_s, g->total_s, mpi),
                  fv_text_waiting_part(g->wait_s, mpi_s, false, g->wait_kind, "", wait));
}

/* One program: how it was called. Several, in one launch: each with its ranks and its times. */
static void put_programs(const struct fv_page *p, const struct fv_model *m)
{
    size_t shown = 0, most = fv_text_losses_shown(p);
    uint32_t others = m->programs[0].commands - 1;
    char more[60] = "";

    if (m->program_count == 1) {
        if (others)
            snprintf(more, sizeof(more), " (and %u other command line%s)", others, fv_words_s(others));
        fv_text_field(p, NAMES, "command", "%.1100s%s", m->command, more);
        return;
    }
    for (; shown < m->program_count && shown < most; shown++)
        put_program(p, m, (uint32_t)shown);
    fv_page_cut(p, shown, m->program_count, "program", "");
}

/* The machine of the first rank's host. */
static void put_machine(const struct fv_page *p, const struct fv_model *m)
{
    const struct fv_facts *f = fv_model_facts(m);
    char text[600], other[600], more[80] = "";
    size_t others = 0;

    if (!f->host_count || !*fv_facts_words(&f->hosts[0], text, sizeof(text)))
        return;
    for (size_t i = 1; i < f->host_count; i++)
        others += f->hosts[i].told_by != FV_NONE && strcmp(fv_facts_words(&f->hosts[i], other, sizeof(other)), text);
    if (others)
        snprintf(more, sizeof(more), "; %zu other node%s %s unlike it (--table machines)", others, fv_words_s(others),
                 others == 1 ? "is" : "are");
    fv_text_field(p, NAMES, "machine", "%s%s", text, more);
}

/* As they were given, or could have been. */
static void put_options(const struct fv_page *p, const struct fv_model *m)
{
    char text[1200] = "";

    for (size_t i = 0; i < m->option_count; i++) {
        const struct fv_option_view *o = &m->options[i];
        const char *name = o->flag ? o->flag : o->variable;
        bool is_on = o->flag && !strcmp(o->value, "1");

        fv_words_add(text, sizeof(text), "%s%s%s%s", i ? " " : "", name, is_on ? "" : "=", is_on ? "" : o->value);
        if (o->ranks < m->rank_count)
            fv_words_add(text, sizeof(text), " (%u of %zu ranks)", o->ranks, m->rank_count);
    }
    if (*text)
        fv_text_field(p, NAMES, "options", "%s", text);
}

static void put_samples(const struct fv_page *p, const struct fv_model *m)
{
    const struct fv_samples *s = fv_model_samples(m);
    const char *why = fv_sampled_stopped(s);
    bool is_final = s->stopped == FV_SAMPLER_NOT_HERE || s->stopped == FV_SAMPLER_NO_TIMER;

    if (why)
        fv_text_field(p, NAMES, "samples", "%s: %s%s", s->ticks ? "not of all CPU time" : "none", why,
                      is_final ? "" : "; fvmpi run --sample takes them in another way");
}

/* How it ended. */
static void put_state(const struct fv_page *p, const struct fv_model *m)
{
    enum fv_rank_state last = FV_RANK_FINALIZED;
    unsigned states[FV_RANK_RUNNING + 1] = { 0 };
    char text[300];

    for (size_t i = 0; i < m->rank_count; i++) {
        states[m->ranks[i].state]++;
        last = m->ranks[i].state > last ? m->ranks[i].state : last;
    }
    if (!fv_text_serial(m)) {
        snprintf(text, sizeof(text), "%zu of %d rank%s: %u finalized", m->rank_count, m->world_size,
                 fv_words_s((uint64_t)m->world_size), states[FV_RANK_FINALIZED]);
        for (unsigned i = FV_RANK_EXITED; i <= FV_RANK_RUNNING; i++)
            if (states[i])
                fv_words_add(text, sizeof(text), ", %u %s", states[i], fv_rank_state_name((enum fv_rank_state)i));
    } else if (last == FV_RANK_EXITED && m->ranks[0].exit_seen)
        snprintf(text, sizeof(text), "exited with status %d", m->ranks[0].exit_status);
    else if (last == FV_RANK_REPLACED)
        snprintf(text, sizeof(text), "replaced by another program (exec)");
    else
        snprintf(text, sizeof(text), "%s", fv_rank_state_name(last));
    const bool part = m->passed_by || m->unshown || m->shown_threads;

    fprintf(p->out, "%s", m->part_complete ? "" : fv_page_on(p, FV_RED));
    fv_text_field(p, NAMES, !m->part_complete ? "INCOMPLETE" : part ? "a part" : "complete", "%s", text);
    fputs(fv_page_off(p), p->out);
}

/* Of all ranks together; where one's is not known, nothing is. */
static void put_cpu_time(const struct fv_page *p, const struct fv_model *m)
{
    double user_s = 0, system_s = 0;
    char user[FV_WORD], kernel[FV_WORD];

    for (size_t i = 0; i < m->rank_count; i++) {
        user_s += m->ranks[i].user_s;
        system_s += m->ranks[i].system_s;
    }
    if (isfinite(user_s))
        fv_text_field(p, NAMES, "CPU time", "user %s, system %s%s", fv_words_seconds(user_s, user),
                      fv_words_seconds(system_s, kernel), m->rank_count > 1 ? ", over all ranks" : "");
}

FV_TEXT_SECTION(identity)
{
    const struct fv_model *m = v->model;
    char start[FV_WORD], elapsed[FV_WORD], text[1400];
    size_t hosts = count_hosts(m);

    put_programs(p, m);
    put_options(p, m);
    if (hosts == 1)
        fv_text_field(p, NAMES, "ranks", "%d on %s", m->world_size, m->ranks[0].host);
    else
        fv_text_field(p, NAMES, "ranks", "%d on %zu hosts (%s, ...)", m->world_size, hosts, m->ranks[0].host);
    put_machine(p, m);
    const char *level = m->ranks[0].thread_level;
    snprintf(text, sizeof(text), "%s%s%s", m->mpi, level ? ", " : "", level ? level : "");
    for (char *tab = text; (tab = strchr(tab, '\t'));)
        *tab = ' ';
    if (!fv_text_serial(m) && *m->mpi)
        fv_text_field(p, NAMES, "MPI", "%s", text);
    fv_text_field(p, NAMES, "start", "%s, for %s%s",
                  fv_model_knows_start(m) ? fv_words_time(m->origin_ns, start) : "not known",
                  fv_words_seconds(m->elapsed_s, elapsed), ends_unseen(m) ? " up to the last that was recorded" : "");
    if (!m->shown_threads)
        put_cpu_time(p, m);
    put_overhead(p, m);
    put_trace(p, m);
    put_samples(p, m);
    put_barriers(p, m);
    put_state(p, m);
}
