/* SPDX-License-Identifier: BSD-3-Clause */
/* Where a rank ran an interpreter of Python whose frames are in no call path, it is said so. */
#include "profile/build.h"
#include "profile/samples/costs.h"

#include <stdlib.h>
#include <string.h>

struct interpreters {
    struct fv_interpreter_record unknown; /* of the first rank that has one */
    uint32_t ranks;                       /* that have one */
    uint64_t unread;
    uint32_t unread_ranks;
};

static void *begin_interpreters(struct fv_build *b)
{
    (void)b;
    return fv_xcalloc(1, sizeof(struct interpreters));
}

static void read_interpreters(struct fv_build *b, void *state, uint32_t rank)
{
    struct fv_cursor c = fv_cursor(b->files[rank].reader, FV_CHUNK_INTERPRETER);
    const struct fv_interpreter_record *r = fv_cursor_next(&c);
    struct interpreters *s = state;

    if (!r)
        return;
    if (r->state == FV_INTERPRETER_UNKNOWN && !s->ranks++)
        s->unknown = *r;
    s->unread += r->unread;
    s->unread_ranks += r->unread > 0;
}

/* A sample may come while the interpreter changes its frames. As few of them as chance has of all samples (2 sqrt(n))
 * change nothing that they tell. */
static bool is_much(const struct fv_costs *costs, uint64_t unread)
{
    return (double)unread * (double)unread > 4 * (double)costs->ticks;
}

static void finish_interpreters(struct fv_build *b, void *state)
{
    const struct interpreters *s = state;
    const char *version = s->unknown.version;

    if (s->ranks)
        fv_problem_add(&b->model->problems, FV_PROBLEM_NOTE, NULL,
                       "Python %.*s: fvmpi cannot read frames of this version; call sites show functions of the "
                       "interpreter (%u %s)",
                       (int)strnlen(version, sizeof(s->unknown.version)), version, s->ranks,
                       s->ranks == 1 ? "rank" : "ranks");
    if (is_much(fv_model_costs(b->model), s->unread))
        fv_problem_add(&b->model->problems, FV_PROBLEM_NOTE, NULL,
                       "frames of Python could not be read %llu %s on %u %s: these call paths and samples show "
                       "functions of the interpreter",
                       (unsigned long long)s->unread, s->unread == 1 ? "time" : "times", s->unread_ranks,
                       s->unread_ranks == 1 ? "rank" : "ranks");
    free(state);
}

const struct fv_track fv_track_interpreters = {
    .name = "interpreters",
    .visit = FV_VISIT_CALLS,
    .types = { FV_CHUNK_INTERPRETER },
    .begin = begin_interpreters,
    .read = read_interpreters,
    .finish = finish_interpreters,
};
