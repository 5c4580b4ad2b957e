/* SPDX-License-Identifier: BSD-3-Clause */
/* See units.h. */
#include "profile/iterations/units.h"

#include "tool/vec.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define CORE       0.8  /* of the pieces: that have a call site of the core */
#define ALIKE      0.7  /* of the pieces: that have the core in its order */
#define CALLS      0.7  /* of the calls: that are of the core */
#define SINGLE     1.3  /* calls in a piece that has any, at most: more than one there speaks against the anchor */
#define SAME_LOOP  1.5  /* times as many pieces */
#define AS_CLEAR   0.05 /* of scores */
#define LONG_PAUSE 20   /* times the median, and ... */
#define LONG_PART  0.2  /* ... of the run */
#define OWN        0.5  /* of an outer loop's time outside of the inner one: it is no branch */
#define OWN_VARIES 0.2  /* the same where the rounds of the inner loop vary widely */
#define VARIES     0.1  /* of the median rounds: from the tenth to the ninetieth percentile */
#define WIDELY     0.3
#define IN_CALLER  2 /* frames: a loop in the function that calls the one with the call */
#define LOOPS_MOST 64

/* Of a call site. */
struct tally {
    size_t count, first, last;
};
/* Pieces that end with an anchor. */
struct loop {
    uint32_t anchor;
    size_t pieces, first_call, last_call;
    uint8_t *core; /* by symbol */
    double score, median_s, covered_s;
    uint32_t depth;
};
struct finder {
    const struct fv_call_sequence *s;
    struct tally *tally;
    size_t *in, *times, *doubled, *seen; /* by symbol: pieces that have it, its calls, pieces with several; a stamp */
    double *reals;                       /* as many as calls */
    struct loop loops[LOOPS_MOST];
    size_t loop_count;
};

static double span_s(const struct fv_call_sequence *s)
{
    return s->count > 1 ? s->begin_s[s->count - 1] - s->end_s[0] : 0;
}

static bool is_call(const struct fv_call_sequence *s, uint32_t symbol)
{
    return !s->calls || symbol < s->calls;
}

/* ---- frames ---- */

/* How many frames two call sites have in common. */
static uint32_t common(const struct fv_call_sequence *s, uint32_t a, uint32_t b)
{
    const struct fv_unit_path *x = &s->path[a], *y = &s->path[b];
    uint32_t i = 0;

    while (i < x->depth && i < y->depth && x->nodes[i] == y->nodes[i])
        i++;
    return i;
}

static uint32_t depth_of(const struct fv_call_sequence *s, const struct loop *l)
{
    uint32_t depth = s->path ? s->path[l->anchor].depth : 0;

    for (uint32_t i = 0; s->path && i < s->symbols; i++)
        if (l->core[i]) {
            uint32_t of = common(s, l->anchor, i);

            depth = of < depth ? of : depth;
        }
    return depth;
}

/* ---- one anchor ---- */

static void count_pieces(struct finder *f, struct loop *l)
{
    const struct fv_call_sequence *s = f->s;
    const struct tally *t = &f->tally[l->anchor];
    size_t piece = 1;

    for (uint32_t i = 0; i < s->symbols; i++)
        f->in[i] = f->times[i] = f->doubled[i] = f->seen[i] = 0;
    for (size_t i = t->first + 1; i <= t->last; i++) {
        uint32_t of = s->symbol[i];

        f->times[of]++;
        if (f->seen[of] < 2 * piece) {
            f->seen[of] = 2 * piece;
            f->in[of]++;
        } else if (f->seen[of] == 2 * piece) {
            f->seen[of]++;
            f->doubled[of]++;
        }
        piece += of == l->anchor;
    }
}

/* The core, and what speaks against its being all: false, it is too little of the calls. */
static bool find_core(struct finder *f, struct loop *l, double *doubled)
{
    const struct fv_call_sequence *s = f->s;
    size_t calls = 0, all = 0, pieces = f->tally[l->anchor].count - 1;

    *doubled = 0;
    for (uint32_t i = 0; i < s->symbols; i++) {
        all += is_call(s, i) ? f->times[i] : 0;
        if ((double)f->in[i] < CORE * (double)pieces)
            continue;
        l->core[i] = 1;
        calls += is_call(s, i) ? f->times[i] : 0;
        if ((double)f->times[i] < SINGLE * (double)f->in[i])
            *doubled = fmax(*doubled, (double)f->doubled[i] / (double)pieces);
    }
    return (double)calls >= CALLS * (double)all;
}

/* The part of the pieces in which the core's call sites come in one order: the most frequent, by the majority vote of
 * Boyer and Moore. */
static double alike(struct finder *f, const struct loop *l)
{
    const struct fv_call_sequence *s = f->s;
    const struct tally *t = &f->tally[l->anchor];
    uint64_t *hash = fv_xcalloc(t->count, sizeof(*hash)), most = 0;
    size_t piece = 0, votes = 0, same = 0;

    for (uint32_t i = 0; i < s->symbols; i++)
        f->seen[i] = 0;
    for (size_t i = t->first + 1; i <= t->last; i++) {
        uint32_t of = s->symbol[i];

        if (l->core[of] && f->seen[of] != piece + 1) {
            f->seen[of] = piece + 1;
            hash[piece] = fv_mix2(hash[piece], of + 1);
        }
        piece += of == l->anchor;
    }
    for (size_t i = 0; i < piece; i++) {
        if (!votes)
            most = hash[i];
        votes = hash[i] == most ? votes + 1 : votes - 1;
    }
    for (size_t i = 0; i < piece; i++)
        same += hash[i] == most;
    free(hash);
    return piece ? (double)same / (double)piece : 0;
}

/* The first iteration begins with the first call of the core that no other iteration's end parts from the anchor. */
static void find_begin(struct finder *f, struct loop *l)
{
    const struct tally *t = f->tally;
    size_t first = t[l->anchor].first;

    for (uint32_t i = 0; i < f->s->symbols; i++)
        if (l->core[i] && t[i].first < first && t[i].count >= t[l->anchor].count)
            first = t[i].first;
    l->first_call = first;
}

/* Times of its pieces, without pauses. */
static void measure(struct finder *f, struct loop *l)
{
    const struct fv_call_sequence *s = f->s;
    const struct tally *t = &f->tally[l->anchor];
    double begin = s->end_s[t->first], limit;
    size_t n = 0;

    for (size_t i = t->first + 1; i <= t->last; i++)
        if (s->symbol[i] == l->anchor) {
            f->reals[n++] = s->end_s[i] - begin;
            begin = s->end_s[i];
        }
    l->median_s = n ? fv_select(f->reals, n, 0.5) : 0;
    limit = fmax(LONG_PAUSE * l->median_s, LONG_PART * span_s(s));
    l->covered_s = s->end_s[t->first] - s->begin_s[l->first_call];
    for (size_t i = 0; i < n; i++)
        l->covered_s += f->reals[i] <= limit ? f->reals[i] : 0;
}

/* False: it is no anchor. */
static bool look_at(struct finder *f, uint32_t anchor, struct loop *l)
{
    double doubled, same;

    *l = (struct loop){ .anchor = anchor, .pieces = f->tally[anchor].count, .last_call = f->tally[anchor].last };
    l->core = fv_xcalloc(f->s->symbols, 1);
    count_pieces(f, l);
    if (find_core(f, l, &doubled) && (same = alike(f, l)) >= ALIKE) {
        l->score = same - doubled;
        find_begin(f, l);
        measure(f, l);
        l->depth = depth_of(f->s, l);
        if (l->covered_s >= FV_UNIT_PART * span_s(f->s))
            return true;
    }
    free(l->core);
    return false;
}

/* ---- all anchors ---- */

static bool overlap(const struct loop *a, const struct loop *b)
{
    return a->first_call < b->last_call && b->first_call < a->last_call;
}

/* Of a loop that it is the same as, the better one stays: the clearer, else that with more pieces, else the later. */
static void add_loop(struct finder *f, const struct loop *l)
{
    for (size_t i = 0; i < f->loop_count; i++) {
        struct loop *of = &f->loops[i];
        double more = (double)l->pieces / (double)of->pieces;

        if (!overlap(of, l) || more >= SAME_LOOP || more <= 1 / SAME_LOOP)
            continue;
        bool is_better = fabs(l->score - of->score) > AS_CLEAR ? l->score > of->score
                         : l->pieces != of->pieces             ? l->pieces > of->pieces
                                                               : f->tally[l->anchor].first > f->tally[of->anchor].first;
        free(is_better ? of->core : l->core);
        if (is_better)
            *of = *l;
        return;
    }
    if (f->loop_count < LOOPS_MOST)
        f->loops[f->loop_count++] = *l;
    else
        free(l->core);
}

struct candidate {
    uint32_t symbol;
    size_t count, first;
};

static int by_count(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;

    if (x->count != y->count)
        return x->count < y->count ? -1 : 1;
    return (x->first > y->first) - (x->first < y->first);
}

static int by_calls(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;

    return x->count == y->count ? by_count(b, a) : x->count > y->count ? -1 : 1;
}

/* Call sites with as many calls, at the same time: the one that comes last stands for all. Returns how many are
 * left. */
static size_t fold_candidates(const struct finder *f, struct candidate *c, size_t count)
{
    size_t kept = 0;

    qsort(c, count, sizeof(*c), by_count);
    for (size_t i = 0; i < count; i++) {
        bool same = kept && c[kept - 1].count == c[i].count && c[i].first < f->tally[c[kept - 1].symbol].last;

        kept += !same;
        c[kept - 1] = c[i];
    }
    return kept;
}

static int by_pieces(const void *a, const void *b)
{
    const struct loop *x = a, *y = b;

    if (x->pieces != y->pieces)
        return x->pieces < y->pieces ? -1 : 1;
    return (x->first_call > y->first_call) - (x->first_call < y->first_call);
}

static void find_loops(struct finder *f)
{
    struct candidate *c = fv_xcalloc(f->s->symbols, sizeof(*c));
    size_t count = 0;

    for (uint32_t i = 0; i < f->s->symbols; i++)
        if (f->tally[i].count >= FV_UNIT_LEAST)
            c[count++] = (struct candidate){ i, f->tally[i].count, f->tally[i].first };
    count = count ? fold_candidates(f, c, count) : 0;
    if (count > LOOPS_MOST) {
        qsort(c, count, sizeof(*c), by_calls);
        count = LOOPS_MOST;
    }
    for (size_t i = 0; i < count; i++) {
        struct loop l;

        if (look_at(f, c[i].symbol, &l))
            add_loop(f, &l);
    }
    free(c);
    if (f->loop_count)
        qsort(f->loops, f->loop_count, sizeof(*f->loops), by_pieces);
}

/* ---- loops in each other ---- */

/* What an outer loop is to an inner one. */
struct nest {
    double own;                      /* of the outer one's time: beside the inner one's median */
    size_t rounds;                   /* of the inner one in each of the outer one, where they are as many in all; 0 */
    bool varies, widely, lacks;      /* the inner one's rounds; what is beside it takes the place of some of its core */
    bool both, deeper, maybe_deeper; /* frames: see is_branch() */
};

/* Rounds of the inner loop in each piece of the outer one, and what the round longer takes in which that ends. */
static void count_rounds(struct finder *f, const struct loop *outer, const struct loop *inner, struct nest *n)
{
    const struct fv_call_sequence *s = f->s;
    size_t rounds = 0, pieces = 0, core = 0, has = 0, lacking = 0;
    double begin = s->begin_s[outer->first_call], own_s = 0;
    bool ends = false;

    for (uint32_t i = 0; i < s->symbols; i++) {
        core += inner->core[i];
        f->seen[i] = 0;
    }
    for (size_t i = outer->first_call, round = 1; i <= outer->last_call; i++) {
        uint32_t of = s->symbol[i];

        has += inner->core[of] && f->seen[of] != round;
        f->seen[of] = round;
        if (of == outer->anchor) {
            ends = true;
            f->reals[pieces++] = (double)rounds;
            rounds = 0;
        }
        if (of != inner->anchor)
            continue;
        own_s += ends ? fmax(s->end_s[i] - begin - inner->median_s, 0) : 0;
        lacking += ends && has < core;
        begin = s->end_s[i];
        ends = false;
        has = 0;
        rounds++;
        round++;
    }
    double most = fv_select(f->reals, pieces, 0.5),
           spread = fv_select(f->reals, pieces, 0.9) - fv_select(f->reals, pieces, 0.1);
    n->varies = spread >= 2 && spread > VARIES * most;
    n->rounds = spread > 0 || inner->pieces != (size_t)most * outer->pieces ? 0 : (size_t)most;
    n->widely = n->varies && spread > WIDELY * most;
    n->own = outer->covered_s > 0 ? own_s / outer->covered_s : 0;
    n->lacks = lacking > pieces / 2;
}

/* Calls beside the inner loop leave its path in different frames: some of them in a function that it is called by, and
 * others in one further in, which so has the inner loop, or calls what has it. */
static void compare_frames(const struct finder *f, const struct loop *outer, const struct loop *inner, struct nest *n)
{
    const struct fv_call_sequence *s = f->s;
    uint32_t least = UINT32_MAX, most = 0;

    /* one call site may be in a loop of its function, or of the one that calls it */
    n->maybe_deeper = s->path && inner->depth > outer->depth;
    n->deeper =
        n->maybe_deeper && inner->depth > outer->depth + (inner->depth == s->path[inner->anchor].depth ? IN_CALLER : 0);
    for (uint32_t i = 0; s->path && i < s->symbols; i++)
        if (outer->core[i] && !inner->core[i] && is_call(s, i)) {
            uint32_t depth = common(s, inner->anchor, i);

            least = depth < least ? depth : least;
            most = depth > most ? depth : most;
        }
    n->both = least < most;
}

/* "if (step % 50 == 0) save();" in a loop, and a loop of 50 rounds with a save() behind it, make the same calls. It is
 * a loop around the inner one if at least half of its time is beside that; if it calls something else both in the
 * function that has the inner loop and outside of it; if the number of rounds varies, and it is in another function; or
 * if that varies widely, and it may be in another function, or a fifth of the time is beside it and takes the place of
 * nothing. */
static bool is_branch(struct finder *f, const struct loop *outer, const struct loop *inner, bool *is_listed)
{
    struct nest n;

    count_rounds(f, outer, inner, &n);
    compare_frames(f, outer, inner, &n);
    *is_listed = n.deeper && n.rounds > 1;
    return !(n.own >= OWN || n.both || (n.varies && n.deeper) ||
             (n.widely && (n.maybe_deeper || (n.own >= OWN_VARIES && !n.lacks))));
}

static bool is_in(const struct loop *outer, const struct loop *inner)
{
    return inner->pieces > outer->pieces && overlap(outer, inner) && inner->first_call + 1 >= outer->first_call &&
           inner->covered_s <= outer->covered_s * 1.2;
}

/* The next loop in it that covers most of its time; NULL: none. */
static const struct loop *within(const struct finder *f, const struct loop *outer)
{
    for (const struct loop *l = outer + 1; l < f->loops + f->loop_count; l++)
        if (overlap(outer, l) && l->pieces > outer->pieces && l->covered_s >= 0.5 * outer->covered_s)
            return l;
    return NULL;
}

static uint32_t call_at(const struct finder *f, const struct loop *l, uint32_t anchor)
{
    for (size_t i = f->tally[anchor].first; i < l->last_call; i++)
        if (is_call(f->s, f->s->symbol[i]))
            return f->s->symbol[i];
    return l->anchor;
}

static struct fv_unit_cut cut_of(const struct finder *f, const struct loop *l)
{
    const struct tally *t = f->tally;
    uint32_t begin = l->anchor, end = l->anchor, first = l->anchor, last = l->anchor, most = 0;
    uint8_t *core = fv_xcalloc(f->s->symbols, 1);

    memcpy(core, l->core, f->s->symbols);
    for (uint32_t i = 0; i < f->s->symbols; i++)
        if (core[i] && t[i].count == l->pieces && f->s->spread && f->s->spread[i] > most)
            most = f->s->spread[begin = end = i];
    for (uint32_t i = 0; i < f->s->symbols; i++) {
        if (!core[i])
            continue;
        first = t[i].first < t[first].first ? i : first;
        last = t[i].first > t[last].first ? i : last;
        if (t[i].count != l->pieces || (f->s->spread && f->s->spread[i] < most))
            continue;
        begin = t[i].first < t[begin].first ? i : begin;
        end = t[i].first > t[end].first && is_call(f->s, i) ? i : end;
    }
    bool is_end = begin != first && end == last && is_call(f->s, end);
    return (struct fv_unit_cut){ .anchor = is_end ? end : begin, .first = first, .is_end = is_end, .core = core };
}

static size_t put(const struct finder *f, const struct loop *l, uint32_t inside, bool is_main, struct fv_unit *out,
                  size_t count)
{
    struct fv_unit_cut cut;

    if (count < FV_UNITS_MOST) {
        cut = cut_of(f, l);
        out[count++] = (struct fv_unit){ .cut = cut,
                                         .call = call_at(f, l, cut.anchor),
                                         .inside = inside,
                                         .is_main = is_main,
                                         .count = l->pieces,
                                         .depth = l->depth,
                                         .begin_s = f->s->begin_s[l->first_call],
                                         .end_s = f->s->end_s[l->last_call],
                                         .covered_s = l->covered_s };
    }
    return count;
}

/* The unit, in the loops that it may be a branch of. */
struct choice {
    const struct loop *unit, *around[LOOPS_MOST]; /* around: the outermost first */
    size_t around_count;
};

/* A loop, or the one within it that is the unit. */
static void resolve(struct finder *f, const struct loop *l, struct choice *out)
{
    const struct loop *inner;
    bool is_listed;

    out->around_count = 0;
    while ((inner = within(f, l)) && is_branch(f, l, inner, &is_listed)) {
        if (is_listed)
            out->around[out->around_count++] = l;
        l = inner;
    }
    out->unit = l;
}

static int by_begin(const void *a, const void *b)
{
    const struct loop *x = ((const struct choice *)a)->unit, *y = ((const struct choice *)b)->unit;

    return (x->first_call > y->first_call) - (x->first_call < y->first_call);
}

/* Loops that do not overlap; those that cover most of the run are chosen first. Returns how many, by their begin. */
static size_t outermost(struct finder *f, struct choice out[LOOPS_MOST])
{
    size_t count = 0;

    for (size_t k = 0; k < 2 * f->loop_count; k++) {
        const struct loop *l = &f->loops[k % f->loop_count];
        bool is_most = l->covered_s >= FV_UNIT_ALL * span_s(f->s), is_free = is_most == (k < f->loop_count);

        for (size_t i = 0; i < count; i++)
            is_free = is_free && !overlap(out[i].unit, l);
        if (is_free)
            resolve(f, l, &out[count++]);
    }
    if (count)
        qsort(out, count, sizeof(*out), by_begin);
    return count;
}

/* A unit, behind those around it, and before those inside of it. */
static size_t put_all(const struct finder *f, const struct choice *c, struct fv_unit *out, size_t count)
{
    uint32_t inside = FV_NONE;

    for (size_t i = 0; i < c->around_count; i++) {
        count = put(f, c->around[i], inside, false, out, count);
        inside = (uint32_t)count - 1;
    }
    count = put(f, c->unit, inside, true, out, count);
    inside = (uint32_t)count - 1;
    for (const struct loop *of = c->unit + 1; of < f->loops + f->loop_count; of++)
        if (is_in(c->unit, of) && of->pieces >= 2 * c->unit->pieces)
            count = put(f, of, inside, false, out, count);
    return count;
}

static size_t choose(struct finder *f, struct fv_unit *out)
{
    struct choice *choices = fv_xcalloc(LOOPS_MOST, sizeof(*choices));
    size_t count = 0, outer = outermost(f, choices);
    double covered_s = 0;

    for (size_t i = 0; i < outer; i++) {
        count = put_all(f, &choices[i], out, count);
        covered_s += choices[i].unit->covered_s;
    }
    free(choices);
    if (covered_s >= FV_UNIT_ALL * span_s(f->s))
        return count;
    fv_units_release(out, count);
    return 0;
}

void fv_units_release(struct fv_unit *units, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free((void *)(uintptr_t)units[i].cut.core);
}

size_t fv_units_find(const struct fv_call_sequence *s, struct fv_unit out[FV_UNITS_MOST])
{
    struct finder f = { .s = s };
    size_t count = 0;

    if (s->count < FV_UNIT_LEAST || !s->symbols)
        return 0;
    f.tally = fv_xcalloc(s->symbols, sizeof(*f.tally));
    size_t *numbers = fv_xcalloc(s->symbols, 4 * sizeof(*numbers));
    f.in = numbers;
    f.times = numbers + s->symbols;
    f.doubled = numbers + 2 * (size_t)s->symbols;
    f.seen = numbers + 3 * (size_t)s->symbols;
    f.reals = fv_xcalloc(s->count, sizeof(*f.reals));
    for (size_t i = 0; i < s->count; i++) {
        struct tally *t = &f.tally[s->symbol[i]];

        t->first = t->count++ ? t->first : i;
        t->last = i;
    }
    find_loops(&f);
    count = choose(&f, out);
    for (size_t i = 0; i < f.loop_count; i++)
        free(f.loops[i].core);
    free(f.tally);
    free(numbers);
    free(f.reals);
    return count;
}
