/* SPDX-License-Identifier: BSD-3-Clause */
/* See diff.h. A run is reduced to its sums by call path as soon as it is read: many runs cost no more memory
 * than one and the names of the paths. */
#include "diff/diff.h"
#include "profile/counters/counters.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct fv_diff_metric_word fv_diff_metrics[] = { FV_DIFF_METRIC_LIST(FV_DIFF_METRIC_WORD) };
const struct fv_diff_metric_word fv_diff_run_metrics[] = { FV_RUN_METRIC_LIST(FV_DIFF_METRIC_WORD) };
const struct fv_diff_metric_word fv_diff_entry_metrics[] = { FV_ENTRY_METRIC_LIST(FV_DIFF_METRIC_WORD) };
const char *const fv_diff_join_names[] = { FV_DIFF_JOIN_KINDS(FV_LIST_WORD) NULL };

/* ---- one run ---- */

/* Of all ranks outside of MPI; NAN: some did not count it. */
static double counted_in_all(const struct fv_model *m, const char *quantity)
{
    double sum = 0;

    for (uint32_t i = 0; i < m->rank_count; i++)
        sum += fv_counts_of(fv_model_counts(m), 0, i, quantity, true);
    return sum;
}

static void keep_run(struct fv_diff *d, struct fv_diff_side *side, const struct fv_profile *profile)
{
    const struct fv_model *m = profile->model;
    const struct fv_finding *disturbed = fv_findings_named(profile->findings, FV_FINDING_DISTURBED);
    const struct fv_efficiency *e = &m->efficiency;
    double ranks = (double)m->rank_count, calls = 0, bytes = 0;

    FV_GROW(side->runs, side->room, side->count + 1);
    struct fv_diff_run *r = &side->runs[side->count++];
    *r = (struct fv_diff_run){ .directory = fv_arena_string(&d->arena, m->directory),
                               .command = fv_arena_string(&d->arena, m->command),
                               .mpi = fv_arena_string(&d->arena, m->mpi),
                               .program = fv_arena_string(&d->arena, fv_base_name(m->program)),
                               .ranks = m->passed_by ? (size_t)m->world_size : m->rank_count,
                               .read = m->rank_count,
                               .programs = m->program_count,
                               .complete = m->part_complete,
                               .wait_kind = { e->own_wait_kind, e->wait_kind },
                               .analysis = m->causes.source == FV_CAUSES_TRACE,
                               .analysis_lost_s = m->causes.elsewhere_s / ranks,
                               .hybrid = m->hybrid.sums,
                               .instructions = counted_in_all(m, "instructions"),
                               .cycles = counted_in_all(m, "cycles"),
                               .no_processor_s = disturbed ? disturbed->lost_s / ranks : 0,
                               .efficiency = { NAN, NAN } };
    if (r->analysis) {
        r->efficiency[0] = e->serialization;
        r->efficiency[1] = e->transfer;
    }
    if (m->program_count) {
        r->build_id_bytes = m->programs[0].build_id_bytes;
        memcpy(r->build_id, m->programs[0].build_id, sizeof(r->build_id));
    }
    for (size_t i = 0; i < m->site_count; i++) {
        calls += (double)m->sites[i].stat.calls;
        bytes += (double)m->sites[i].stat.bytes_sent + (double)m->sites[i].stat.bytes_received;
    }
    r->value[FV_RUN_ELAPSED] = m->elapsed_s;
    r->value[FV_RUN_COMPUTE] = e->compute_s / ranks;
    r->value[FV_RUN_MPI] = e->mpi_s / ranks;
    r->wait_s[FV_WAITS_PROFILE] = e->own_wait_s / ranks;
    r->wait_s[FV_WAITS_ANALYSIS] = e->wait_s / ranks + r->analysis_lost_s;
    r->value[FV_RUN_CALLS] = calls / ranks;
    r->value[FV_RUN_BYTES] = bytes / ranks;
    r->value[FV_RUN_PARALLEL] = e->parallel;
    r->value[FV_RUN_LOAD_BALANCE] = e->load_balance;
    r->value[FV_RUN_COMMUNICATION] = e->communication;
}

/* ---- its call paths ---- */

static void fill_frame(struct fv_diff_frame *out, const struct fv_frame *f, const struct fv_profile *profile)
{
    const struct fv_model *m = profile->model;
    const struct fv_module *module = &m->tree.modules[f->module];
    bool program = m->program_count == 1 && !strcmp(module->name, fv_base_name(m->program));
    char label[128];

    *out = (struct fv_diff_frame){ .function = f->function,
                                   .file = f->file ? fv_base_name(f->file) : NULL,
                                   .line = f->line,
                                   .offset = f->offset,
                                   .module = program ? FV_DIFF_PROGRAM : module->name,
                                   .build_id_bytes = module->build_id_bytes,
                                   .inlined = f->inlined };
    memcpy(out->build_id, module->build_id, sizeof(out->build_id));
    if (!f->function && (f->module == FV_MODEL_CUT || f->module == FV_MODEL_LOST))
        out->function = fv_frame_label(f, profile->symbols, label, sizeof(label)); /* a constant */
}

/* Makes the strings of a path the diff's own. */
static void own_path(struct fv_diff *d, struct fv_diff_path *p)
{
    struct fv_diff_frame *frames = fv_arena_take(&d->arena, (p->count + 1) * sizeof(*frames));

    for (size_t i = 0; i < p->count; i++) {
        frames[i] = p->frames[i];
        if (frames[i].function)
            frames[i].function = fv_arena_string(&d->arena, frames[i].function);
        if (frames[i].file)
            frames[i].file = fv_arena_string(&d->arena, frames[i].file);
        frames[i].module = fv_arena_string(&d->arena, frames[i].module);
    }
    p->frames = frames;
    p->function = fv_arena_string(&d->arena, p->function);
}

static struct fv_diff_sample *sample_at(struct fv_diff_path *p, size_t run)
{
    FV_GROW(p->samples, p->sample_room, run + 1);
    for (; p->sample_count <= run; p->sample_count++)
        p->samples[p->sample_count] = (struct fv_diff_sample){ .wait_s = { NAN, NAN }, .balance = NAN };
    return &p->samples[run];
}

static void add_wait(struct fv_diff_sample *to, enum fv_diff_waits which, double wait_s, enum fv_wait_kind kind,
                     double ranks)
{
    double wait = kind == FV_WAIT_UNKNOWN ? NAN : wait_s / ranks, *sum = &to->wait_s[which];

    to->wait_kind[which] = to->there ? fv_wait_kind_of(1u << to->wait_kind[which] | 1u << kind) : kind;
    *sum = isnan(*sum) ? wait : isnan(wait) ? *sum : *sum + wait;
}

static void add_sample(struct fv_diff_sample *to, const struct fv_model *m, const struct fv_site *s)
{
    double ranks = (double)m->rank_count, time = s->stat.sum_s / ranks;

    if (!to->there || time > to->time_s) /* two that read the same: what cannot be added is the longer's */
        to->balance = s->rank_max > 0 ? time / s->rank_max : NAN;
    add_wait(to, FV_WAITS_PROFILE, s->own_wait_s, s->own_wait_kind, ranks);
    add_wait(to, FV_WAITS_ANALYSIS, s->wait_s, s->wait_kind, ranks);
    to->there = true;
    to->time_s += time;
    to->calls += (double)s->stat.calls / ranks;
    to->bytes += ((double)s->stat.bytes_sent + (double)s->stat.bytes_received) / ranks;
}

static void take_paths(struct fv_diff *d, struct fv_diff_side *side, const struct fv_profile *profile)
{
    const struct fv_model *m = profile->model;
    struct fv_path path = { 0 };
    struct fv_diff_frame *frames = NULL;
    size_t room = 0;

    for (size_t i = 0; i < m->site_count; i++) {
        struct fv_diff_path found = { .function = m->functions[m->sites[i].function].name };

        fv_path_of(&path, profile->symbols, m->sites[i].node);
        FV_GROW(frames, room, path.count + 1);
        for (size_t k = 0; k < path.count; k++)
            fill_frame(&frames[k], &path.frames[k], profile);
        found.frames = frames;
        found.count = path.count;
        fv_diff_path_seal(&found);
        uint32_t at = fv_diff_paths_find(&side->paths, &found);
        if (at == FV_NONE) {
            own_path(d, &found);
            at = fv_diff_paths_add(&side->paths, &found);
        }
        add_sample(sample_at(&side->paths.items[at], side->count - 1), m, &m->sites[i]);
    }
    free(frames);
    fv_path_release(&path);
}

void fv_diff_add(struct fv_diff *d, unsigned which, const struct fv_profile *profile)
{
    const struct fv_problems *problems = &profile->model->problems;

    keep_run(d, &d->side[which], profile);
    take_paths(d, &d->side[which], profile);
    fv_diff_tables_take(d, which, profile);
    fv_diff_facts_take(&d->facts[which], &d->arena, profile->model);
    for (size_t i = 0; i < problems->count; i++) {
        const char *file = problems->items[i].file;

        if (i < profile->recorded_problems && (!file || strcmp(file, FV_ANALYSIS_FILE)))
            continue; /* what is incomplete, fvmpi report says */
        fv_problem_add(&d->notes, problems->items[i].kind, NULL, "%s: %s%s%s", profile->model->directory,
                       file ? file : "", file ? ": " : "", problems->items[i].text);
    }
}

int fv_diff_load(struct fv_diff *d, unsigned side, const char *path, const struct fv_choice *choice)
{
    struct fv_profile *profile;
    int err = fv_profile_open(&(char *){ (char *)path }, 1, &(struct fv_profile_options){ .choice = choice }, &profile);

    if (err)
        return err;
    fv_diff_add(d, side, profile);
    fv_profile_close(profile);
    return 0;
}

void fv_diff_release(struct fv_diff *d)
{
    for (unsigned s = 0; s < 2; s++) {
        free(d->side[s].runs);
        free(d->facts[s].seen);
        fv_diff_paths_release(&d->side[s].paths);
        for (unsigned t = 0; t < FV_DIFF_TABLES; t++)
            fv_diff_entries_release(&d->side[s].tables[t]);
    }
    free(d->paths);
    free(d->functions);
    free(d->entries);
    free(d->differing);
    fv_problems_release(&d->notes);
    fv_arena_release(&d->arena);
    *d = (struct fv_diff){ 0 };
}
