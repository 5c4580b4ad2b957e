/* SPDX-License-Identifier: BSD-3-Clause */
/* See build.h: the visits to the rank files, by the tracks of all subjects. */
#include "profile/build.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- their order ---- */

struct order {
    const struct fv_track *tracks[FV_SUBJECT_COUNT * FV_SUBJECT_TRACKS];
    bool is_put[FV_SUBJECT_COUNT * FV_SUBJECT_TRACKS]; /* of those in the order of subjects */
    size_t count;
};

static void put(struct order *o, const struct order *all, size_t at)
{
    const struct fv_track *track = all->tracks[at];

    if (o->is_put[at])
        return;
    o->is_put[at] = true;
    for (size_t i = 0; i < FV_TRACK_NEEDS && track->needs[i]; i++)
        for (size_t k = 0; k < all->count; k++)
            if (!strcmp(all->tracks[k]->name, track->needs[i]))
                put(o, all, k);
    o->tracks[o->count++] = track;
}

/* In a visit tracks read a rank, and finish, in the order of subjects, but behind those that they need. */
static void order_tracks(struct order *o)
{
    struct order all = { .count = 0 };

    for (size_t i = 0; i < FV_SUBJECT_COUNT; i++)
        for (size_t k = 0; k < FV_SUBJECT_TRACKS && fv_subjects[i]->tracks[k]; k++)
            all.tracks[all.count++] = fv_subjects[i]->tracks[k];
    for (size_t i = 0; i < all.count; i++)
        put(o, &all, i);
}

/* ---- the visits ---- */

static bool wants(const struct fv_track *t, const struct fv_reader *reader)
{
    size_t count;
    const struct fv_chunk *chunk = fv_reader_chunks(reader, &count);
    bool wanted = !t->types[0];

    for (size_t i = 0; i < count && !wanted; i++)
        wanted = chunk[i].type < 256 &&
                 memchr(t->types, (int)chunk[i].type, strnlen((const char *)t->types, FV_TRACK_TYPES));
    return wanted;
}

struct shown_rank {
    const struct fv_build *build;
    uint32_t rank;
};

static bool is_shown(const void *context, uint32_t thread)
{
    const struct shown_rank *of = context;

    return fv_build_shows(of->build, of->rank, thread);
}

/* What is not shown is read for those that waited for it. */
static bool reads(const struct fv_build *b, const struct fv_track *track, enum fv_visit visit, uint32_t rank)
{
    return track->visit == visit && wants(track, b->files[rank].reader) &&
           (rank < b->shown || track->of_ranks || track->of_all) && !(track->of_process && b->model->shown_threads);
}

static void visit_rank(struct fv_build *b, const struct order *o, enum fv_visit visit, void *const *state,
                       uint32_t rank)
{
    struct fv_reader *reader = b->files[rank].reader;
    const struct shown_rank shown = { b, rank };
    bool awake = false;
    int err;

    for (size_t i = 0; i < o->count; i++) {
        if (!reads(b, o->tracks[i], visit, rank))
            continue;
        err = awake ? 0 : fv_reader_wake(reader);
        if (err && !b->files[rank].changed) {
            b->files[rank].changed = true;
            fv_problem_add(&b->model->problems, FV_PROBLEM_DAMAGED, b->model->ranks[rank].file,
                           err == -FV_ENOMEM ? "there is no memory to read it" : "it changed while it was read");
        }
        if (err == -FV_ENOMEM) /* else zeros stand for what is gone */
            return;
        awake = true;
        fv_reader_choose(reader, o->tracks[i]->of_all || !b->model->shown_threads ? NULL : is_shown, &shown);
        o->tracks[i]->read(b, state[i], rank);
    }
    fv_reader_rest(reader);
}

/* What a file's numbers mean in the model. Its names of functions stay: other ranks may ask for them. */
static void forget_numbers(struct fv_build_file *f)
{
    fv_numbers_release(&f->paths);
    fv_numbers_release(&f->modules);
    for (struct fv_own_numbers *own; (own = f->own);) {
        f->own = own->next;
        fv_numbers_release(&own->numbers);
        free(own);
    }
    for (size_t k = 0; k < f->cell_maps; k++) {
        free(f->cells[k].cells);
        free(f->cells[k].waits);
    }
    free(f->cells);
    f->cells = NULL;
    f->cell_maps = 0;
}

bool fv_build_shows(const struct fv_build *b, uint32_t rank, uint32_t thread)
{
    return rank < b->shown && (!b->choice || thread == FV_NO_THREAD || fv_spans_have(&b->choice->threads, thread));
}

void fv_build_leave_out(struct fv_build *b)
{
    struct fv_model *m = b->model;
    const struct fv_rank *last = &m->ranks[b->shown - 1];

    if (b->shown < b->file_count)
        m->efficiency.ideal_s = NAN; /* of all ranks */
    m->rank_count = b->shown;
    m->thread_count = last->first_thread + last->threads;
    while (m->site_rank_count && m->site_ranks[m->site_rank_count - 1].rank >= b->shown)
        m->site_rank_count--;
}

void fv_build_visit(struct fv_build *b, enum fv_visit visit)
{
    void *state[FV_SUBJECT_COUNT * FV_SUBJECT_TRACKS] = { NULL };
    struct order order = { .count = 0 }, *o = &order;

    order_tracks(o);
    for (size_t i = 0; i < o->count; i++)
        if (o->tracks[i]->visit == visit && o->tracks[i]->begin)
            state[i] = o->tracks[i]->begin(b);
    for (uint32_t rank = 0; rank < b->file_count; rank++) {
        visit_rank(b, o, visit, state, rank);
        if (visit + 1 == FV_VISITS)
            forget_numbers(&b->files[rank]);
    }
    for (size_t i = 0; i < o->count; i++)
        if (o->tracks[i]->visit == visit && o->tracks[i]->finish)
            o->tracks[i]->finish(b, state[i]);
}
