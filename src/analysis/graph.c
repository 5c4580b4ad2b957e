/* SPDX-License-Identifier: BSD-3-Clause */
/* See graph.h: what is looked at backwards. The waits of all ranks, the latest first, in windows of time that
 * all processes have together. */
#include "analysis/graph_parts.h"
#include "tool/heap.h"

#include <string.h>

struct back {
    const struct fv_graph *g;
    struct fv_heap heap;         /* of own lines, by their next wait */
    uint32_t *call;              /* by line: those from here on are done */
    struct fv_graph_wait *waits; /* found: the first ones are next */
    size_t count, room, window;
};

/* The next wait of a line, going back. */
static bool find_wait(struct back *b, uint32_t line, struct fv_heap_item *out)
{
    const struct fv_steps *steps = b->g->steps;

    while (b->call[line]) {
        b->call[line] = fv_call_before(steps, line, b->call[line]);
        fv_steps_visited(steps, 1);
        const struct fv_step *s = fv_step(steps, line, b->call[line]);
        uint64_t wait = fv_step_wait(steps, s);

        if (!wait || s->cause_line == line)
            continue;
        *out = (struct fv_heap_item){ UINT64_MAX - (s->begin + wait), 0, line };
        return true;
    }
    return false;
}

static void find_lines(struct back *b)
{
    const struct fv_steps *steps = b->g->steps;
    struct fv_heap_item next;

    for (uint32_t i = 0; i < steps->line_count; i++) {
        if (!fv_steps_are_own(steps, i))
            continue;
        b->call[i] = steps->lines[i].count;
        if (find_wait(b, i, &next))
            fv_heap_push(&b->heap, next);
    }
}

/* As many as a window has, and all that end at the same time as the last of them. Says when that is; 0: all
 * are found. */
static uint64_t fill(struct back *b)
{
    while (b->heap.count) {
        struct fv_heap_item *first = &b->heap.items[0], next;
        uint64_t end = UINT64_MAX - first->time;
        uint32_t line = first->number;

        if (b->count >= b->window && b->waits[b->count - 1].end != end)
            return b->waits[b->count - 1].end;
        FV_GROW(b->waits, b->room, b->count + 1);
        b->waits[b->count++] = (struct fv_graph_wait){ end, line, b->call[line] };
        if (find_wait(b, line, &next))
            fv_heap_replace(&b->heap, next);
        else
            fv_heap_pop(&b->heap);
    }
    return 0;
}

/* How many of those found ended at `until` or later. */
static size_t count_until(const struct back *b, uint64_t until)
{
    size_t i = 0;

    while (i < b->count && b->waits[i].end >= until)
        i++;
    return i;
}

static void forget(struct back *b, size_t done)
{
    b->count -= done;
    if (b->count)
        memmove(b->waits, b->waits + done, b->count * sizeof(*b->waits));
}

void fv_graph_backwards(struct fv_graph *g)
{
    struct back b = { .g = g, .window = fv_graph_window(g, 576) };
    struct fv_critical *critical = fv_critical_begin(g);
    struct fv_delays *delays = g->only_path ? NULL : fv_delays_begin(g);
    uint64_t until;

    b.call = fv_xcalloc((size_t)g->steps->line_count + 1, sizeof(*b.call));
    find_lines(&b);
    do {
        until = fill(&b);
        fv_transport_max(g->transport, &until, 1);
        size_t count = count_until(&b, until);
        fv_critical_window(critical, b.waits, count);
        if (delays)
            fv_delays_window(delays, b.waits, count);
        fv_critical_follow(critical, !until);
        if (delays)
            fv_delays_follow(delays);
        forget(&b, count);
    } while (until);
    if (delays)
        fv_delays_end(delays);
    fv_critical_end(critical);
    fv_heap_release(&b.heap);
    free(b.call);
    free(b.waits);
}
