/* SPDX-License-Identifier: BSD-3-Clause */
/* See replay.h. Instrumented functions and worksharing of OpenMP are in each other: where one ends, what began inside
 * of it and has no end of its own yet (a function that an exception left, a construct that was cancelled) ends before
 * it. */
#include "merge/replay_state.h"

/* It is told once: its own end, which may come later, is nothing then. */
static void end_function(struct fv_rank_replay *r, struct fv_stream *s, size_t at, uint64_t time)
{
    if (s->functions[at] != FV_NONE)
        fv_rank_put(r, s, &(struct fv_record){ .kind = FV_REC_INSTANCE_END, .context = s->functions[at], .op = 1 },
                    time);
    s->functions[at] = FV_NONE;
}

static void leave_work(struct fv_rank_replay *r, struct fv_stream *s, uint64_t time)
{
    const struct fv_open_work w = s->works[--s->work_count];

    for (size_t i = s->function_count; i-- > w.functions;)
        end_function(r, s, i, time);
    fv_rank_put(r, s, &(struct fv_record){ .kind = FV_REC_WORK_LEAVE, .ref = w.function }, time);
}

/* ---- instrumented functions ---- */

void fv_nested_leave(struct fv_rank_replay *r, struct fv_stream *s, uint64_t open, uint64_t time)
{
    while (s->function_count > open) {
        if (s->work_count && s->works[s->work_count - 1].functions >= s->function_count)
            leave_work(r, s, time);
        else
            end_function(r, s, --s->function_count, time);
    }
}

void fv_nested_enter(struct fv_rank_replay *r, struct fv_stream *s, uint64_t node, uint64_t time)
{
    uint32_t entry = fv_numbers_get(&r->map->nodes, node);

    if (entry != FV_NONE && !(r->replay->defs->tree.nodes[entry].flags & FV_DEF_ENTRY))
        entry = FV_NONE;
    FV_GROW(s->functions, s->function_room, s->function_count + 1);
    s->functions[s->function_count++] = entry;
    if (entry != FV_NONE)
        fv_rank_put(r, s, &(struct fv_record){ .kind = FV_REC_INSTANCE, .context = entry }, time);
}

/* ---- worksharing ---- */

void fv_nested_leave_works(struct fv_rank_replay *r, struct fv_stream *s, size_t teams, uint64_t time)
{
    while (s->work_count && s->works[s->work_count - 1].teams >= teams)
        leave_work(r, s, time);
}

static bool is_task(const struct fv_rank_replay *r, const struct fv_open_work *w)
{
    return w->function == fv_rank_thread_call(r, FV_THREAD_WORK(FV_OMP_WORK_TASK));
}

/* Of one team, or in one task, a thread is in one at a time: what has no end of its own ends with the next, or with
 * what it is in. */
static void leave_others(struct fv_rank_replay *r, struct fv_stream *s, uint32_t but, uint64_t time)
{
    while (s->work_count) {
        const struct fv_open_work *top = &s->works[s->work_count - 1];

        if (top->teams != s->team_count || top->function == but || is_task(r, top))
            break;
        leave_work(r, s, time);
    }
}

static void begin_work(struct fv_rank_replay *r, struct fv_stream *s, uint32_t function, uint64_t path, uint64_t time)
{
    uint32_t node = fv_numbers_get(&r->map->nodes, path);

    FV_GROW(s->works, s->work_room, s->work_count + 1);
    s->works[s->work_count++] = (struct fv_open_work){ function, s->team_count, s->function_count };
    fv_rank_put(
        r, s, &(struct fv_record){ .kind = FV_REC_WORK_ENTER, .ref = function, .context = node == FV_NONE ? 0 : node },
        time);
}

static void end_work(struct fv_rank_replay *r, struct fv_stream *s, uint32_t function, uint64_t time)
{
    leave_others(r, s, function, time);
    if (s->work_count && s->works[s->work_count - 1].function == function &&
        s->works[s->work_count - 1].teams == s->team_count)
        leave_work(r, s, time);
}

void fv_nested_work(struct fv_rank_replay *r, struct fv_stream *s)
{
    const uint64_t *f = s->item.field;
    uint64_t time = fv_rank_time(r, s, s->item.begin);
    uint32_t function = fv_rank_thread_call(r, FV_THREAD_WORK(f[1] % FV_OMP_WORK_KINDS));

    if (function == FV_NONE)
        return;
    if (s->item.kind == FV_EV_WORK_END) {
        end_work(r, s, function, time);
        return;
    }
    if (f[1] != FV_OMP_WORK_TASK)
        leave_others(r, s, FV_NONE, time);
    begin_work(r, s, function, f[2], time);
}
