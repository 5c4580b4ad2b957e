/* SPDX-License-Identifier: BSD-3-Clause */
/* A subject of a report: what is recorded of one thing, such as files or memory, and the tables made of it. Each has a
 * row, in its *_relations.c; the list below names them, and src/subjects.c makes the table of them that the engine
 * takes (model.c, look_alikes.c, relations.c). The engine knows no subject; its data hang on the model
 * (fv_subject_data()).
 *
 * A new subject: a name in the list, and a folder with its tracks (build.h), its relations (relations.h) and its
 * row. */
#ifndef FV_SUBJECT_H
#define FV_SUBJECT_H

#include <stddef.h>
#include <stdint.h>

/* In the order of JSON. The row of NAME is fv_NAME_subject. */
#define FV_SUBJECTS(X) \
    X(run)             \
    X(facts)           \
    X(calls)           \
    X(iterations)      \
    X(samples)         \
    X(costs)           \
    X(sections)        \
    X(instrumentation) \
    X(locks) X(phases) X(worksharing) X(io) X(memory) X(counters) X(labels) X(sensors) X(noise) X(looks) X(unfinished)

#define FV_SUBJECT_ID(name) FV_SUBJECT_##name,
enum fv_subject_id { FV_SUBJECTS(FV_SUBJECT_ID) FV_SUBJECT_COUNT };
#undef FV_SUBJECT_ID

struct fv_model;
struct fv_track;
struct fv_relation;
struct fv_alikes;
struct fv_overhead;

#define FV_SUBJECT_TRACKS    12
#define FV_SUBJECT_RELATIONS 16
struct fv_subject {
    const char *group; /* of the page: below which heading its tables stand, but for those with a group of their own;
                        * NULL: with all others */
    size_t bytes;      /* of its data, all zeros at first; 0: none, or
                        * `complete` makes them */
    const struct fv_track *tracks[FV_SUBJECT_TRACKS];               /* NULL behind the last, unless the array is full */
    const struct fv_relation *relations[FV_SUBJECT_RELATIONS];      /* in the order of JSON; likewise */
    void (*fold)(struct fv_model *model, struct fv_alikes *alikes); /* makes one of call paths that look alike; NULL: it
                                                                     * has none */
    void (*renumber)(struct fv_model *model, const uint32_t *sites); /* call sites get other numbers: the new one of
                                                                      * each; NULL: it has none */
    void (*join)(struct fv_model *model, const struct fv_model *passes, size_t count); /* takes over what other passes
                                                                                        * of the run recorded, before
                                                                                        * call paths are named; NULL:
                                                                                        * each pass records the same */
    void (*complete)(struct fv_model *model); /* makes what follows from all that is read, when call sites have their
                                               * numbers and what waited for them is known; NULL: nothing */
    void (*cost)(const struct fv_model *model, struct fv_overhead *overhead); /* adds what its recording took beside
                                                                               * fv_rank.tool_s; NULL: nothing */
    void (*release)(void *data); /* frees what the data point to; NULL: nothing */
};
extern const struct fv_subject *const fv_subjects[FV_SUBJECT_COUNT];

/* Of the subject that has the relation; NULL: none. */
const char *fv_subject_group(const struct fv_relation *relation);

/* The call path that stands for one, which looks the same (fv_subject.fold). */
uint32_t fv_alike(struct fv_alikes *alikes, uint32_t node);

#endif
