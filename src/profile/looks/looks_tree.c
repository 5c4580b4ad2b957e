/* SPDX-License-Identifier: BSD-3-Clause */
/* See looks_tree.h. */
#include "profile/looks/looks_tree.h"
#include "look/system_calls.h"
#include "profile/hang/hang.h"
#include "tool/words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN_FRAMES 12u /* of a path in words */
enum { LABEL = 400, END = 64 };

/* ---- whose fault it is ---- */

#define MOST_GUILT 2u

uint32_t fv_looked_holds_up(const struct fv_model *m, uint32_t rank)
{
    const struct fv_hang *h = fv_model_hang(m);
    uint32_t waiting = 0;

    for (size_t i = 0; h && !fv_looks_are_past(m, rank) && i < h->cause_count; i++)
        for (uint32_t k = 0; k < h->causes[i].count; k++)
            if (h->causes[i].ranks[k] == rank && h->causes[i].waiting > waiting)
                waiting = h->causes[i].waiting;
    return waiting;
}

/* Of those whose calls do not fit together, or who wait for each other. */
static bool is_culprit(const struct fv_hang *h, uint32_t rank)
{
    for (size_t i = 0; h && i < h->mismatch_count; i++)
        if (h->mismatches[i].culprit == rank)
            return true;
    uint32_t cycle = h ? h->ranks[rank].cycle : FV_NONE;
    return cycle != FV_NONE && !h->mismatch_count && h->cycles[cycle].culprit == rank;
}

/* 2: it does not wait for ranks, and they wait for it, or it is the odd one of those who wait for each other; 1: it
 * waits for those who wait for it. */
static unsigned guilt(const struct fv_model *m, const struct fv_looks_thread *t)
{
    if (t->is_main && (fv_looked_holds_up(m, t->rank) || is_culprit(fv_model_hang(m), t->rank)))
        return 2;
    return t->holder || (t->is_main && fv_model_hang(m) && fv_model_hang(m)->ranks[t->rank].cycle != FV_NONE);
}

/* ---- one thread's path ---- */

/* Frames that say nothing of the program at its inner end: how many. */
static size_t inner_frames(const struct fv_path *p, const struct fv_symbols *s)
{
    size_t i = 0;

    while (i < p->count && (s->modules[p->frames[i].module].kind == FV_MODULE_OF_C ||
                            s->modules[p->frames[i].module].kind == FV_MODULE_OF_FVMPI))
        i++;
    return i < p->count ? i : 0;
}

/* `inner`: the outermost one of those that are left out, which the program called; NULL: none, or not of interest. */
static void read_path(struct fv_path *p, const struct fv_profile *v, uint32_t node, const char **inner)
{
    fv_path_of(p, v->symbols, node);
    size_t skipped = inner_frames(p, v->symbols);
    if (inner)
        *inner = skipped ? p->frames[skipped - 1].function : NULL;
    if (!skipped) /* there may be no frame */
        return;
    p->count -= skipped;
    memmove(p->frames, p->frames + skipped, p->count * sizeof(*p->frames));
}

static bool is_same_function(const struct fv_frame *a, const struct fv_frame *b)
{
    if (a->function && b->function)
        return !strcmp(a->function, b->function) && a->module == b->module;
    return !a->function && !b->function && a->module == b->module && a->begin == b->begin;
}

/* Outer frames of both that are of the same functions. */
static size_t common_frames(const struct fv_path *a, const struct fv_path *b)
{
    size_t n = 0;

    while (n < a->count && n < b->count && is_same_function(&a->frames[a->count - 1 - n], &b->frames[b->count - 1 - n]))
        n++;
    return n;
}

static bool moves(const struct fv_looks_thread *t)
{
    return t->calls > 1 || t->different > 1;
}

/* Where it is: of one that moves, what its places have in common. */
static void path_of(struct fv_path *p, const struct fv_profile *v, const struct fv_looks_thread *t, const char **inner)
{
    const struct fv_looks *l = fv_model_looks(v->model);
    struct fv_path other = { 0 };
    size_t common;

    read_path(p, v, t->node, inner);
    if (!moves(t))
        return;
    common = p->count;
    for (uint32_t i = 0; i < t->places; i++) {
        read_path(&other, v, l->places[t->first_place + i], NULL);
        size_t now = common_frames(p, &other);
        common = now < common ? now : common;
    }
    memmove(p->frames, p->frames + (p->count - common), common * sizeof(*p->frames));
    p->count = common;
    fv_path_release(&other);
}

/* ---- the tree ---- */

/* What stands at its end, beside frames; NULL: nothing. Of a futex the function that waits says more. */
static const char *end_of(const struct fv_looks_thread *t, const struct fv_path *p, const char *inner, char buffer[END])
{
    char name[32], function[40];

    if (moves(t))
        return NULL;
    if (t->function)
        return t->function;
    if (t->how == FV_LOOKED_STOPPED)
        return t->is_main ? "(stopped)" : "(another thread, stopped)";
    if (t->system_call >= 0) {
        const char *call = fv_system_call_name(t->system_call, name);
        bool is_futex = !strcmp(call, "futex") && inner;

        if (is_futex)
            call = fv_words_brief(inner + strspn(inner, "_"), function, sizeof(function));
        snprintf(buffer, END, "%s()%s", call, p->count || t->is_main ? "" : " of another thread");
        return buffer;
    }
    return p->count                    ? NULL
           : t->how == FV_LOOKED_ENDED ? "(ended)"
           : t->tid && !t->is_main     ? "(not known)"
                                       : "(outside of MPI)";
}

static uint32_t child_of(struct fv_look_tree *t, uint32_t parent, const char *label, const struct fv_frame *frame)
{
    uint32_t found = parent != FV_NONE ? t->nodes[parent].child : t->count ? 0 : FV_NONE, last = FV_NONE;

    for (; found != FV_NONE && strcmp(t->nodes[found].label, label); found = t->nodes[found].next)
        last = found;
    if (found != FV_NONE)
        return found;
    found = (uint32_t)t->count;
    FV_GROW(t->nodes, t->room, t->count + 1);
    t->nodes[t->count++] = (struct fv_look_node){
        .parent = parent,
        .depth = parent == FV_NONE ? 0 : t->nodes[parent].depth + 1,
        .child = FV_NONE,
        .next = FV_NONE,
        .label = fv_arena_string(&t->arena, label),
        .function = frame ? frame->function : fv_arena_string(&t->arena, label),
        .file = frame ? frame->file : NULL,
        .line = frame ? frame->line : 0,
    };
    if (last != FV_NONE)
        t->nodes[last].next = found;
    else if (parent != FV_NONE)
        t->nodes[parent].child = found;
    return found;
}

static void count_thread(struct fv_look_node *n, int world_rank)
{
    n->threads++;
    if (n->rank_count && n->ranks[n->rank_count - 1] == world_rank)
        return;
    FV_GROW(n->ranks, n->rank_room, n->rank_count + 1);
    n->ranks[n->rank_count++] = world_rank;
}

/* Of the innermost function of one that moves the line is not told. */
static uint32_t insert(struct fv_look_tree *t, const struct fv_profile *v, const struct fv_looks_thread *thread,
                       struct fv_path *p)
{
    bool is_moving = moves(thread);
    uint32_t node = FV_NONE;
    char label[LABEL], buffer[END];
    const char *inner;
    bool is_of_program = false;

    path_of(p, v, thread, &inner);
    for (size_t i = p->count; i-- > 0;) {
        struct fv_frame frame = p->frames[i];

        is_of_program = is_of_program || fv_model_is_of_program(v->model, frame.module) ||
                        fv_module_is_code(&v->symbols->modules[frame.module]);
        if (is_moving && !i)
            frame.file = NULL;
        node = child_of(t, node, fv_frame_words(&frame, v->symbols, label, sizeof(label)), &p->frames[i]);
    }
    const char *end = end_of(thread, p, inner, buffer);
    if (end || node == FV_NONE)
        node = child_of(t, node, end ? end : "(no common caller)", NULL);
    t->nodes[node].is_of_program = is_of_program;
    for (uint32_t up = node; up != FV_NONE; up = t->nodes[up].parent)
        count_thread(&t->nodes[up], v->model->ranks[thread->rank].world_rank);
    return node;
}

struct end {
    uint32_t node, item;
};

static int by_node(const void *a, const void *b)
{
    const struct end *x = a, *y = b;

    if (x->node != y->node)
        return x->node < y->node ? -1 : 1;
    return (x->item > y->item) - (x->item < y->item);
}

static int by_weight(const void *a, const void *b, void *tree)
{
    const struct fv_look_node *nodes = ((struct fv_look_tree *)tree)->nodes, *x = &nodes[*(const uint32_t *)a],
                              *y = &nodes[*(const uint32_t *)b];

    if (x->guilt != y->guilt)
        return x->guilt > y->guilt ? -1 : 1;
    if (x->has_main != y->has_main)
        return x->has_main ? -1 : 1;
    if (x->is_of_program != y->is_of_program)
        return x->is_of_program ? -1 : 1;
    if (x->rank_count != y->rank_count)
        return x->rank_count > y->rank_count ? -1 : 1;
    return (x > y) - (x < y);
}

/* Branches of those that hold others up come before their siblings. */
static void order_branches(struct fv_look_tree *t)
{
    unsigned *guilts = fv_xcalloc(t->count + 1, sizeof(*guilts));

    t->root = FV_NONE;
    for (size_t n = t->count; n-- > 0;) {
        const struct fv_look_node *node = &t->nodes[n];

        guilts[n] = guilts[n] > node->guilt ? guilts[n] : node->guilt;
        if (node->parent != FV_NONE && guilts[node->parent] < guilts[n])
            guilts[node->parent] = guilts[n];
        t->nodes[n].child = FV_NONE;
    }
    for (unsigned guilt = 0; guilt <= MOST_GUILT; guilt++)
        for (uint32_t n = (uint32_t)t->count; n-- > 0;) {
            struct fv_look_node *node = &t->nodes[n];
            uint32_t *first = node->parent != FV_NONE ? &t->nodes[node->parent].child : &t->root;

            if (guilts[n] != guilt)
                continue;
            node->next = *first;
            *first = n;
        }
    free(guilts);
}

static void order_ends(struct fv_look_tree *t, const struct fv_profile *v, struct end *ends, size_t count)
{
    const struct fv_looks *l = fv_model_looks(v->model);

    if (count)
        qsort(ends, count, sizeof(*ends), by_node);
    for (size_t i = 0; i < count; i++) {
        struct fv_look_node *n = &t->nodes[ends[i].node];

        if (!n->ends++) {
            n->first_end = (uint32_t)i;
            t->order[t->order_count++] = ends[i].node;
        }
        t->ends[i] = ends[i].item;
        unsigned own = guilt(v->model, &l->items[ends[i].item]);

        n->guilt = own > n->guilt ? own : n->guilt;
        n->has_main |= l->items[ends[i].item].is_main;
    }
    if (t->order_count)
        qsort_r(t->order, t->order_count, sizeof(*t->order), by_weight, t);
    order_branches(t);
}

void fv_look_tree_init(struct fv_look_tree *out, const struct fv_profile *v)
{
    const struct fv_looks *l = fv_model_looks(v->model);
    struct end *ends = fv_xcalloc(l->count + 1, sizeof(*ends));
    struct fv_path path = { 0 };

    *out = (struct fv_look_tree){ .count = 0 };
    out->ends = fv_xcalloc(l->count + 1, sizeof(*out->ends));
    out->order = fv_xcalloc(l->count + 1, sizeof(*out->order));
    for (uint32_t i = 0; i < l->count; i++)
        ends[i] = (struct end){ insert(out, v, &l->items[i], &path), i };
    order_ends(out, v, ends, l->count);
    fv_path_release(&path);
    free(ends);
}

void fv_look_tree_release(struct fv_look_tree *t)
{
    for (size_t i = 0; i < t->count; i++)
        free(t->nodes[i].ranks);
    free(t->nodes);
    free(t->ends);
    free(t->order);
    fv_arena_release(&t->arena);
}

/* ---- words ---- */

char *fv_look_node_words(const struct fv_look_tree *t, uint32_t node, char *out, size_t bytes)
{
    unsigned shown = 0;

    out[0] = '\0';
    for (; node != FV_NONE && shown < SHOWN_FRAMES; node = t->nodes[node].parent)
        fv_words_add(out, bytes, "%s%s", shown++ ? " <- " : "", t->nodes[node].label);
    if (node != FV_NONE)
        fv_words_add(out, bytes, " <- ...");
    return out;
}

/* Does it wait for a mutex? The innermost frames say so. */
static bool is_in_mutex(const struct fv_profile *v, const struct fv_looks_thread *t)
{
    struct fv_path p = { 0 };
    bool found = false;

    fv_path_of(&p, v->symbols, t->node);
    for (size_t i = 0; i < p.count && i < 4 && !found; i++)
        found = p.frames[i].function &&
                (strstr(p.frames[i].function, "mutex_lock") || strstr(p.frames[i].function, "lll_lock_wait"));
    fv_path_release(&p);
    return found;
}

static const struct fv_looks_thread *thread_of(const struct fv_looks *l, uint32_t rank, uint32_t tid)
{
    for (size_t i = 0; i < l->count; i++)
        if (l->items[i].rank == rank && l->items[i].tid == tid)
            return &l->items[i];
    return NULL;
}

static void say_lock(const struct fv_profile *v, const struct fv_looks_thread *t, char *out, size_t bytes)
{
    const struct fv_looks_thread *holder = t->holder ? thread_of(fv_model_looks(v->model), t->rank, t->holder) : NULL;

    if (!holder || !is_in_mutex(v, t))
        return;
    fv_words_add(out, bytes, "%swaits for a mutex that %s %u has", out[0] ? "; " : "",
                 holder == t ? "the thread itself," : "thread", t->holder);
    if (holder->holder == t->tid && holder != t)
        fv_words_add(out, bytes, ", which waits for one that this thread has: a deadlock");
}

static void say_movement(const struct fv_looks_thread *t, char *out, size_t bytes)
{
    bool runs = t->system_call == FV_LOOK_NO_CALL && !t->function;

    if (t->places < 2)
        return;
    if (t->calls > 1)
        fv_words_add(out, bytes, "%sgoes on: %u different calls of MPI, or none, in %u looks", out[0] ? "; " : "",
                     t->calls, t->places);
    else if (t->different > 1)
        fv_words_add(out, bytes, "%s%s: %u of %u looks differ below it", out[0] ? "; " : "", runs ? "loops" : "moves",
                     t->different, t->places);
    else
        fv_words_add(out, bytes, "%s%sthe same in all %u looks", out[0] ? "; " : "", runs ? "runs, " : "", t->places);
}

/* Of one whose path is not known. */
static void say_last_call(const struct fv_profile *v, const struct fv_looks_thread *t, char *out, size_t bytes)
{
    const struct fv_in_call_view *in = &v->model->ranks[t->rank].in_call;
    char path[600], clean[200];

    if (t->is_main && !in->active && in->function != FV_NONE && in->node)
        fv_words_add(out, bytes, "; its last call: %s <- %s",
                     fv_words_clean(v->model->functions[in->function].name, clean, sizeof(clean)),
                     fv_path_words(v->symbols, in->node, 3, path, sizeof(path)));
}

char *fv_looked_words(const struct fv_profile *v, const struct fv_looks_thread *t, char *out, size_t bytes)
{
    const char *why = fv_looked_why(t->how);
    uint32_t held_up = t->is_main ? fv_looked_holds_up(v->model, t->rank) : 0;
    char name[32];

    out[0] = '\0';
    if (held_up)
        fv_words_add(out, bytes, "holds up %u rank%s", held_up, fv_words_s(held_up));
    if (t->file && strncmp(t->file, "anon_inode:", strlen("anon_inode:")) != 0)
        fv_words_add(out, bytes, "%sfile %s", out[0] ? "; " : "", t->file);
    say_lock(v, t, out, bytes);
    say_movement(t, out, bytes);
    if (t->is_main && fv_looks_are_past(v->model, t->rank) && v->model->ranks[t->rank].state != FV_RANK_RUNNING)
        fv_words_add(out, bytes, "%shas gone on since", out[0] ? "; " : "");
    if (why)
        fv_words_add(out, bytes, "%s%s: %s", out[0] ? "; " : "", t->how == FV_LOOKED_DEAD ? "dead" : "not interrupted",
                     why);
    if (t->how == FV_LOOKED_UNRESTARTABLE)
        fv_words_add(out, bytes, " (%s is not begun anew after a signal)", fv_system_call_name(t->system_call, name));
    if (why)
        say_last_call(v, t, out, bytes);
    return out;
}
