/* SPDX-License-Identifier: BSD-3-Clause */
/* See align.h.
 *
 * Within the bounds, which offset? Not their middle: where the ranks of one host always come last, one side
 * of the bounds is as loose as they are late, and the middle would take half of that away. What does not
 * depend on who comes late is when they leave: from an operation in which everybody waits for everybody, all
 * go at about the same time. Of the ones in which somebody stayed shortest (who came last, and was not
 * disturbed) the median difference of the ends is taken, and the shortest stay is taken for its error. That is an
 * estimate: a slow network between hosts can delay the ends of one of them more. The bounds are sure, and where
 * they are about as tight, they say the error. If the wall clocks agree with the ends within the error, they
 * stay as they are. Without such operations the wall clock
 * is the best that there is, and is moved as little as the bounds ask for.
 *
 * If one offset for each clock cannot meet the bounds, clocks drifted: then the offset is a polygon through
 * the medians of parts of the run. What still contradicts is measured, and is part of the error. */
#include "profile/align.h"

#include <math.h>
#include <stdlib.h>

enum {
    ROUNDS = 64, /* of relaxing; operations of all ranks need three */
    KNOTS = 32,  /* of a polygon, at most */
    FEW = 8,     /* samples: fewer may all be disturbed */
    TIGHT = 4,   /* times the error by the ends: looser bounds tell how late somebody was, not how clocks differ */
};
#define ROUNDING_S 1e-9
#define STEEPEST   0.01 /* no clock drifts by one part in a hundred */

struct entry {
    uint32_t operation, clock;
    double begin_s, end_s; /* latest begin of those who give, -INFINITY none; first end of those who take,
                            * INFINITY none */
    float stay_s;          /* shortest of its ranks, who all give and take; INFINITY: one does not */
};
struct knot {
    double at_s, shift_s;
};
struct clock {
    struct knot knot[KNOTS];
    uint32_t knots;
    uint32_t group;       /* first clock that it is connected with */
    bool known;           /* while the ends are followed from clock to clock */
    bool linked;          /* a group's first: it has others */
    double shift_s;       /* in addition to the knots' */
    double low_s, high_s; /* what the bounds leave of it against the group's first clock */
    double by_ends_s;     /* error of what the ends say; INFINITY: they say nothing */
    double error_s, violation_s;
};
/* A clock's end in an operation that has a clock which is known already. */
struct sample {
    uint32_t clock;
    float stay_s; /* shortest of the operation */
    double at_s, shift_s;
    double error_s; /* of the known clock */
};
struct fv_align {
    struct clock *clocks;
    uint32_t clock_count;
    struct entry *entries; /* when solving: by operation and clock */
    size_t count, room, most;
    uint64_t mask; /* operations whose hash has one of these bits are not kept */
    struct sample *samples;
    size_t sample_count, sample_room;
};

struct fv_align *fv_align_new(uint32_t clocks, size_t most)
{
    struct fv_align *a = fv_xcalloc(1, sizeof(*a));

    a->clocks = fv_xcalloc((size_t)clocks + 1, sizeof(*a->clocks));
    a->clock_count = clocks;
    a->most = most;
    return a;
}

void fv_align_free(struct fv_align *a)
{
    if (!a)
        return;
    free(a->clocks);
    free(a->entries);
    free(a->samples);
    free(a);
}

/* ---- entries ---- */

static int by_operation(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;

    if (x->operation != y->operation)
        return x->operation < y->operation ? -1 : 1;
    return (x->clock > y->clock) - (x->clock < y->clock);
}

/* Ranks of one clock become one entry. */
static void join_ranks(struct fv_align *a)
{
    size_t count = 0;

    if (a->count)
        qsort(a->entries, a->count, sizeof(*a->entries), by_operation);
    for (size_t i = 0; i < a->count; i++) {
        const struct entry *e = &a->entries[i];
        struct entry *last = count ? &a->entries[count - 1] : NULL;

        if (!last || by_operation(last, e)) {
            a->entries[count++] = *e;
            continue;
        }
        last->begin_s = fmax(last->begin_s, e->begin_s);
        last->end_s = fmin(last->end_s, e->end_s);
        last->stay_s = last->stay_s < INFINITY && e->stay_s < INFINITY ? fminf(last->stay_s, e->stay_s) : INFINITY;
    }
    a->count = count;
}

static bool is_kept(const struct fv_align *a, uint32_t operation)
{
    return !(fv_mix(operation) & a->mask);
}

/* By chance, because what a program does may have a period. */
static void make_room(struct fv_align *a)
{
    join_ranks(a);
    while (a->count > a->most / 2 && ~a->mask) {
        size_t count = 0;

        a->mask = a->mask << 1 | 1;
        for (size_t i = 0; i < a->count; i++)
            if (is_kept(a, a->entries[i].operation))
                a->entries[count++] = a->entries[i];
        a->count = count;
    }
}

void fv_align_add(struct fv_align *a, uint32_t operation, uint32_t clock, double begin_s, double end_s, bool gives,
                  bool takes)
{
    if (!is_kept(a, operation) || clock >= a->clock_count || !(gives || takes) || !(begin_s <= end_s) ||
        !isfinite(begin_s) || !isfinite(end_s))
        return;
    if (a->count >= a->most) {
        make_room(a);
        if (!is_kept(a, operation))
            return;
    }
    FV_GROW(a->entries, a->room, a->count + 1);
    a->entries[a->count++] = (struct entry){ .operation = operation,
                                             .clock = clock,
                                             .begin_s = gives ? begin_s : -INFINITY,
                                             .end_s = takes ? end_s : INFINITY,
                                             .stay_s = gives && takes ? (float)(end_s - begin_s) : INFINITY };
}

static size_t end_of(const struct fv_align *a, size_t first)
{
    size_t end = first + 1;

    while (end < a->count && a->entries[end].operation == a->entries[first].operation)
        end++;
    return end;
}

static double shift_at(const struct clock *c, double time_s)
{
    const struct knot *k = c->knot;
    uint32_t i = 1;

    if (c->knots < 2)
        return c->shift_s + (c->knots ? k->shift_s : 0);
    while (i + 1 < c->knots && time_s > k[i].at_s)
        i++;
    return c->shift_s + k[i - 1].shift_s +
           (time_s - k[i - 1].at_s) * (k[i].shift_s - k[i - 1].shift_s) / (k[i].at_s - k[i - 1].at_s);
}

double fv_align_time(const struct fv_align *a, uint32_t clock, double time_s)
{
    return time_s + shift_at(&a->clocks[clock], time_s);
}

/* ---- bounds ---- */

/* The smallest of an operation, and of those of the other clocks. */
struct extreme {
    double first_s, second_s;
    uint32_t clock;
};

static void look_at(struct extreme *e, uint32_t clock, double time_s)
{
    if (time_s < e->first_s) {
        e->second_s = e->first_s;
        e->first_s = time_s;
        e->clock = clock;
    } else {
        e->second_s = fmin(e->second_s, time_s);
    }
}

static double without(const struct extreme *e, uint32_t clock)
{
    return e->clock == clock ? e->second_s : e->first_s;
}

/* Shortest paths: lowers shifts until in each operation no clock's last begin is after another clock's first
 * end. `up`: raises them, and what is passed are shifts with their sign turned: so is the time, and ends
 * stand for begins. A clock that no path has reached stands at INFINITY. False: it does not come to rest, the
 * bounds contradict each other. */
static bool relax(const struct fv_align *a, double *shift_s, bool up)
{
    double sign = up ? -1 : 1;
    bool moved = true;

    for (unsigned round = 0; moved && round < ROUNDS; round++) {
        moved = false;
        for (size_t i = 0, end; i < a->count; i = end) {
            struct extreme limit = { INFINITY, INFINITY, FV_NONE };

            end = end_of(a, i);
            for (size_t k = i; k < end; k++) {
                const struct entry *e = &a->entries[k];

                look_at(&limit, e->clock, sign * (up ? e->begin_s : e->end_s) + shift_s[e->clock]);
            }
            for (size_t k = i; k < end; k++) {
                const struct entry *e = &a->entries[k];
                double mine = sign * (up ? e->end_s : e->begin_s), most = without(&limit, e->clock) - mine;

                if (!(shift_s[e->clock] > most + ROUNDING_S))
                    continue;
                shift_s[e->clock] = most;
                moved = true;
            }
        }
    }
    return !moved;
}

/* By how much calls end before they could. */
static double find_violations(struct fv_align *a)
{
    double largest_s = 0;

    for (size_t i = 0, end; i < a->count; i = end) {
        struct extreme limit = { INFINITY, INFINITY, FV_NONE };

        end = end_of(a, i);
        for (size_t k = i; k < end; k++)
            look_at(&limit, a->entries[k].clock, a->entries[k].end_s + a->clocks[a->entries[k].clock].shift_s);
        for (size_t k = i; k < end; k++) {
            struct clock *c = &a->clocks[a->entries[k].clock];
            double by_s = a->entries[k].begin_s + c->shift_s - without(&limit, a->entries[k].clock);

            if (!(by_s > ROUNDING_S))
                continue;
            c->violation_s = fmax(c->violation_s, by_s);
            if (limit.clock != FV_NONE)
                a->clocks[limit.clock].violation_s = fmax(a->clocks[limit.clock].violation_s, by_s);
            largest_s = fmax(largest_s, by_s);
        }
    }
    return largest_s;
}

/* How far each clock can be from its group's first. */
static void find_intervals(struct fv_align *a, double *shift_s)
{
    for (int up = 0; up < 2; up++) {
        for (uint32_t k = 0; k < a->clock_count; k++)
            shift_s[k] = a->clocks[k].group == k ? 0 : INFINITY;
        relax(a, shift_s, up);
        for (uint32_t k = 0; k < a->clock_count; k++)
            if (up)
                a->clocks[k].low_s = -shift_s[k];
            else
                a->clocks[k].high_s = shift_s[k];
    }
}

/* Moves the clocks as little as the bounds ask for. They are convex, so that the middle of two answers is
 * one: of moving clocks backwards only, and forwards only. */
static bool meet_bounds(struct fv_align *a)
{
    double *back_s = fv_xcalloc((size_t)a->clock_count * 2, sizeof(*back_s)), *forth_s = back_s + a->clock_count;

    for (uint32_t k = 0; k < a->clock_count; k++) {
        back_s[k] = a->clocks[k].shift_s;
        forth_s[k] = -a->clocks[k].shift_s;
    }
    bool met = relax(a, back_s, false) && relax(a, forth_s, true);
    for (uint32_t k = 0; met && k < a->clock_count; k++)
        a->clocks[k].shift_s = (back_s[k] - forth_s[k]) / 2;
    if (met)
        find_intervals(a, back_s);
    free(back_s);
    return met;
}

/* ---- ends ---- */

/* In this operation all wait for all: the end of the known clocks says where that of each other one is. */
static void sample_operation(struct fv_align *a, const struct entry *e, size_t count)
{
    double end_s = INFINITY, error_s = 0;
    float stay_s = INFINITY;

    for (size_t i = 0; i < count; i++) {
        const struct clock *c = &a->clocks[e[i].clock];
        double mine_s = fv_align_time(a, e[i].clock, e[i].end_s);

        if (!(e[i].stay_s < INFINITY))
            return;
        stay_s = fminf(stay_s, e[i].stay_s);
        if (c->known && mine_s < end_s) {
            end_s = mine_s;
            error_s = c->by_ends_s;
        }
    }
    for (size_t i = 0; end_s < INFINITY && i < count; i++)
        if (!a->clocks[e[i].clock].known) {
            FV_GROW(a->samples, a->sample_room, a->sample_count + 1);
            a->samples[a->sample_count++] =
                (struct sample){ e[i].clock, stay_s, e[i].end_s, end_s - e[i].end_s, error_s };
        }
}

static int by_stay(const void *a, const void *b)
{
    const struct sample *x = a, *y = b;

    if (x->clock != y->clock)
        return x->clock < y->clock ? -1 : 1;
    return (x->stay_s > y->stay_s) - (x->stay_s < y->stay_s);
}

static int by_time(const void *a, const void *b)
{
    const struct sample *x = a, *y = b;

    return (x->at_s > y->at_s) - (x->at_s < y->at_s);
}

static double median_shift(const struct sample *s, size_t count, double *memory)
{
    for (size_t i = 0; i < count; i++)
        memory[i] = s[i].shift_s;
    qsort(memory, count, sizeof(*memory), fv_by_real);
    return (memory[(count - 1) / 2] + memory[count / 2]) / 2;
}

/* Through the medians of parts of the run. */
static void draw_polygon(struct clock *c, struct sample *s, size_t count, double *memory)
{
    size_t parts = count / FEW < KNOTS ? count / FEW : KNOTS;

    qsort(s, count, sizeof(*s), by_time);
    for (size_t i = 0; i < parts; i++) {
        size_t from = count * i / parts, to = count * (i + 1) / parts;
        struct knot k = { (s[(from + to - 1) / 2].at_s + s[(from + to) / 2].at_s) / 2,
                          median_shift(s + from, to - from, memory) };
        const struct knot *last = c->knots ? &c->knot[c->knots - 1] : NULL;

        if (!last || (k.at_s > last->at_s && fabs(k.shift_s - last->shift_s) < STEEPEST * (k.at_s - last->at_s)))
            c->knot[c->knots++] = k;
    }
}

/* Of the samples of one clock, shortest stays first. */
static void place_clock(struct clock *c, struct sample *s, size_t count, bool polygon)
{
    size_t best = count / 4 > FEW ? count / 4 : count < FEW ? count : FEW;
    double *memory = fv_xcalloc(best, sizeof(*memory)), stay_s = s[best - 1].stay_s, known_s = 0;

    for (size_t i = 0; i < best; i++)
        known_s = fmax(known_s, s[i].error_s);
    if (polygon)
        draw_polygon(c, s, best, memory);
    if (c->knots < 2) {
        c->knots = 0;
        c->shift_s = median_shift(s, best, memory);
        if (best < FEW) /* the wall clock is a second witness, and as far as the two disagree, one is wrong */
            known_s += fabs(c->shift_s);
        else if (fabs(c->shift_s) <= stay_s)
            c->shift_s = 0;
    }
    for (size_t i = 0; i < best; i++)
        memory[i] = fabs(shift_at(c, s[i].at_s) - s[i].shift_s);
    qsort(memory, best, sizeof(*memory), fv_by_real);
    c->by_ends_s = known_s + stay_s + memory[best - 1 - best / 10];
    free(memory);
}

/* Clocks that meet a known one in an operation become known. */
static bool step_on(struct fv_align *a, bool polygons)
{
    a->sample_count = 0;
    for (size_t i = 0, end; i < a->count; i = end) {
        end = end_of(a, i);
        sample_operation(a, &a->entries[i], end - i);
    }
    if (a->sample_count)
        qsort(a->samples, a->sample_count, sizeof(*a->samples), by_stay);
    for (size_t i = 0, end; i < a->sample_count; i = end) {
        struct clock *c = &a->clocks[a->samples[i].clock];

        for (end = i; end < a->sample_count && a->samples[end].clock == a->samples[i].clock; end++)
            ;
        place_clock(c, &a->samples[i], end - i, polygons);
        c->known = true;
    }
    return a->sample_count > 0;
}

static void follow_ends(struct fv_align *a, bool polygons)
{
    for (uint32_t k = 0; k < a->clock_count; k++) {
        struct clock *c = &a->clocks[k];

        c->known = c->group == k;
        c->knots = 0;
        c->shift_s = 0;
        c->by_ends_s = c->known ? 0 : INFINITY;
    }
    for (unsigned i = 0; i < ROUNDS && step_on(a, polygons); i++)
        ;
}

/* ---- the answer ---- */

static uint32_t group_of(struct fv_align *a, uint32_t clock)
{
    struct clock *c = a->clocks;

    while (c[clock].group != clock)
        clock = c[clock].group = c[c[clock].group].group;
    return clock;
}

/* Which clocks operations connect. */
static void find_groups(struct fv_align *a)
{
    for (uint32_t k = 0; k < a->clock_count; k++)
        a->clocks[k].group = k;
    for (size_t i = 0, end; i < a->count; i = end) {
        bool gives = false, takes = false;

        end = end_of(a, i);
        for (size_t k = i; k < end; k++) {
            gives = gives || a->entries[k].begin_s > -INFINITY;
            takes = takes || a->entries[k].end_s < INFINITY;
        }
        for (size_t k = i + 1; gives && takes && k < end; k++) {
            uint32_t one = group_of(a, a->entries[i].clock), other = group_of(a, a->entries[k].clock);

            a->clocks[one > other ? one : other].group = one < other ? one : other;
        }
    }
    for (uint32_t k = 0; k < a->clock_count; k++)
        a->clocks[k].group = group_of(a, k);
}

static bool any_polygon(const struct fv_align *a)
{
    for (uint32_t k = 0; k < a->clock_count; k++)
        if (a->clocks[k].knots)
            return true;
    return false;
}

/* From here on shift_s alone is missing from the entries' times. */
static void apply_polygons(struct fv_align *a)
{
    for (size_t i = 0; i < a->count; i++) {
        struct entry *e = &a->entries[i];
        const struct clock *c = &a->clocks[e->clock];

        if (c->knots && e->begin_s > -INFINITY)
            e->begin_s += shift_at(c, e->begin_s) - c->shift_s;
        if (c->knots && e->end_s < INFINITY)
            e->end_s += shift_at(c, e->end_s) - c->shift_s;
    }
}

/* Of a clock that stands at shift_s against its group's first. */
static double error_of(const struct clock *c, bool met, double shift_s)
{
    double sure_s = met ? fmax(c->high_s - shift_s, shift_s - c->low_s) : INFINITY;

    if (sure_s <= TIGHT * c->by_ends_s)
        return sure_s;
    return c->by_ends_s + (met ? 0 : c->violation_s);
}

static void find_errors(struct fv_align *a, bool met, struct fv_alignment *out)
{
    for (uint32_t k = 0; k < a->clock_count; k++) {
        struct clock *c = &a->clocks[k];

        out->groups += c->group == k;
        if (c->group != k)
            c->error_s = error_of(c, met, c->shift_s - a->clocks[c->group].shift_s);
        if (c->group != k && !a->clocks[c->group].linked)
            out->linked += a->clocks[c->group].linked = true;
        out->linked += c->group != k;
        out->error_s = fmax(out->error_s, c->error_s);
    }
}

struct fv_alignment fv_align_solve(struct fv_align *a)
{
    struct fv_alignment result = { 0 };

    join_ranks(a);
    find_groups(a);
    follow_ends(a, false);
    bool met = meet_bounds(a);
    if (!met) {
        follow_ends(a, true);
        result.drift = any_polygon(a);
        apply_polygons(a);
        met = meet_bounds(a);
    }
    if (!met)
        result.contradiction_s = find_violations(a);
    find_errors(a, met, &result);
    return result;
}

double fv_align_error(const struct fv_align *a, uint32_t one, uint32_t other)
{
    const struct clock *x = &a->clocks[one], *y = &a->clocks[other];

    return one == other ? 0 : x->group != y->group ? INFINITY : x->error_s + y->error_s;
}
