/* SPDX-License-Identifier: BSD-3-Clause */
/* See trace_spans.h. What lasts from one event to another is on the stack of its layer until then. An end without a
 * begin is none; a begin without an end ends with what it is in, or with the thread. */
#include "profile/trace_spans.h"

#include "trace/io_words.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLACK 4 /* so many times what a layer may keep is in memory at once, and MORE */
#define MORE  65536
#define CHAIN 64u /* sections of a set, at most */

/* What goes on. */
struct open {
    uint64_t begin, id;
    uint32_t node;
    const char *name;
    uint64_t came; /* a thread of a team: to its end; 0: it has not */
    bool is_team;
};
struct stack {
    struct open *items;
    size_t count, room;
};

/* A thread's part in a parallel region, which begins and ends in another thread's events. */
struct member {
    uint32_t thread, depth;
    uint64_t region, begin, end;
    bool came; /* then it waits there until all have */
};
struct region {
    uint64_t all; /* ticks: when the last one came; 0: not known */
    uint32_t node, cause;
};

struct word {
    const char *name;
};

struct fv_trace_spans {
    struct fv_build *build;
    uint32_t rank, thread;
    size_t most, first; /* first: of the rank, in the excerpt */
    uint64_t now;
    struct stack stacks[FV_TRACE_LAYERS];
    const char **sections, **files; /* by the file's numbers */
    struct fv_section_set *sets;
    size_t section_count, section_room, set_count, set_room, file_count, file_room;
    struct fv_numbers handles; /* in files */
    struct fv_numbers places;  /* of a region's number, in: */
    struct region *regions;
    size_t region_count, region_room;
    struct member *members;
    size_t member_count, member_room;
    struct word *words;
    size_t word_count, word_room;
    struct fv_index by_name;
};

/* ---- no more than were asked for ---- */

double fv_trace_least(double *durations, size_t count, size_t most, size_t *alike)
{
    double least;

    qsort(durations, count, sizeof(*durations), fv_by_real);
    least = durations[count - most];
    *alike = 0;
    for (size_t i = count - most; i < count && !(durations[i] > least); i++)
        ++*alike;
    return least;
}

static void keep_longest(struct fv_trace_spans *s, enum fv_trace_layer layer, double *durations)
{
    struct fv_trace_excerpt *t = &s->build->model->excerpt;
    size_t count = 0, kept = s->first, alike;

    for (size_t i = s->first; i < t->span_count; i++)
        if (t->spans[i].layer == layer)
            durations[count++] = t->spans[i].duration_s;
    if (count <= s->most)
        return;
    double least = fv_trace_least(durations, count, s->most, &alike);
    for (size_t i = s->first; i < t->span_count; i++) {
        const struct fv_trace_span *of = &t->spans[i];

        if (of->layer != layer || of->duration_s > least || (of->duration_s >= least && alike && alike--))
            t->spans[kept++] = *of;
    }
    t->spans_left_out[layer] += t->span_count - kept;
    t->span_count = kept;
}

static void keep_longest_of_all(struct fv_trace_spans *s)
{
    size_t count = s->build->model->excerpt.span_count - s->first;
    double *durations = fv_xcalloc(count + 1, sizeof(*durations));

    for (unsigned layer = 0; layer < FV_TRACE_LAYERS; layer++)
        keep_longest(s, (enum fv_trace_layer)layer, durations);
    free(durations);
}

static void add(struct fv_trace_spans *s, enum fv_trace_layer layer, uint64_t begin, uint64_t end,
                struct fv_trace_span of)
{
    struct fv_model *m = s->build->model;
    struct fv_trace_excerpt *t = &m->excerpt;

    if (t->span_count - s->first > FV_TRACE_LAYERS * (SLACK * s->most + MORE))
        keep_longest_of_all(s);
    of.rank = s->rank;
    of.layer = (uint8_t)layer;
    of.begin_s = fv_build_time(m, s->rank, begin);
    of.duration_s = end > begin ? fv_build_time(m, s->rank, end) - of.begin_s : 0;
    FV_GROW(t->spans, t->span_room, t->span_count + 1);
    t->spans[t->span_count++] = of;
}

/* ---- what a rank file has ---- */

static const char *text(struct fv_trace_spans *s, const char *name)
{
    uint32_t at = FV_INTERN_NAME(s->by_name, s->words, s->word_count, s->word_room, &s->build->model->arena, name);

    return s->words[at].name;
}

static struct fv_build_file *file_of(const struct fv_trace_spans *s)
{
    return &s->build->files[s->rank];
}

static uint32_t node_of(const struct fv_trace_spans *s, uint64_t path)
{
    return path <= UINT32_MAX ? fv_build_node_of(s->build, file_of(s), (uint32_t)path) : 0;
}

static void read_sections(struct fv_trace_spans *s)
{
    struct fv_cursor c = fv_cursor(file_of(s)->reader, FV_CHUNK_SECTIONS);
    struct fv_section of;
    char name[FV_SECTION_NAME + 16];

    for (const void *p; (p = fv_cursor_next(&c));) {
        memcpy(&of, p, sizeof(of));
        int bytes = (int)strnlen(of.name, sizeof(of.name) - 1);
        if (of.number)
            snprintf(name, sizeof(name), "%.*s %d", bytes, of.name, of.number);
        else
            snprintf(name, sizeof(name), "%.*s", bytes, of.name);
        FV_GROW(s->sections, s->section_room, c.index + 2); /* the reader bounds it */
        for (; s->section_count <= c.index + 1; s->section_count++)
            s->sections[s->section_count] = NULL;
        s->sections[c.index + 1] = text(s, name);
    }
    c = fv_cursor(file_of(s)->reader, FV_CHUNK_SECTION_SETS);
    for (const void *p; (p = fv_cursor_next(&c));) {
        FV_GROW(s->sets, s->set_room, c.index + 2);
        for (; s->set_count <= c.index + 1; s->set_count++)
            s->sets[s->set_count] = (struct fv_section_set){ 0 };
        memcpy(&s->sets[c.index + 1], p, sizeof(*s->sets));
    }
}

static void read_files(struct fv_trace_spans *s)
{
    const struct fv_reader *reader = file_of(s)->reader;
    struct fv_cursor c = fv_cursor(reader, FV_CHUNK_IO_FILES);
    struct fv_numbers files = { 0 };
    struct fv_io_handle handle;

    for (const struct fv_io_file *f; (f = fv_cursor_next(&c));) {
        if (!fv_number_is_id(reader, f->id))
            continue;
        FV_GROW(s->files, s->file_room, s->file_count + 1);
        fv_numbers_set(&files, f->id, (uint32_t)s->file_count);
        s->files[s->file_count++] = text(s, f->path);
    }
    c = fv_cursor(reader, FV_CHUNK_IO_HANDLES);
    for (const void *p; (p = fv_cursor_next(&c));) {
        memcpy(&handle, p, sizeof(handle));
        if (fv_number_is_id(reader, handle.id))
            fv_numbers_set(&s->handles, handle.id, fv_numbers_get(&files, handle.file));
    }
    fv_numbers_release(&files);
}

/* ---- what lasts from one event to another ---- */

static void push(struct fv_trace_spans *s, enum fv_trace_layer layer, struct open of)
{
    struct stack *k = &s->stacks[layer];

    of.begin = s->now;
    FV_GROW(k->items, k->room, k->count + 1);
    k->items[k->count++] = of;
}

static uint8_t depth_of(size_t at)
{
    return (uint8_t)(at < UINT8_MAX ? at : UINT8_MAX);
}

/* It, wherever it is on the stack: what is inside of it goes on. */
static void close_at(struct fv_trace_spans *s, enum fv_trace_layer layer, size_t at)
{
    struct stack *k = &s->stacks[layer];
    const struct open of = k->items[at];

    if (of.is_team) {
        FV_GROW(s->members, s->member_room, s->member_count + 1);
        s->members[s->member_count++] = (struct member){ .thread = s->thread,
                                                         .depth = depth_of(at),
                                                         .region = of.id,
                                                         .begin = of.begin,
                                                         .end = of.came ? of.came : s->now,
                                                         .came = of.came };
    } else {
        add(s, layer, of.begin, s->now,
            (struct fv_trace_span){ .thread = s->thread, .depth = depth_of(at), .node = of.node, .name = of.name });
    }
    memmove(&k->items[at], &k->items[at + 1], (--k->count - at) * sizeof(*k->items));
}

static void close_to(struct fv_trace_spans *s, enum fv_trace_layer layer, size_t count)
{
    while (s->stacks[layer].count > count)
        close_at(s, layer, s->stacks[layer].count - 1);
}

/* ---- sections ---- */

static bool is_in(uint64_t id, const uint32_t *list, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (list[i] == id)
            return true;
    return false;
}

static void set_sections(struct fv_trace_spans *s, uint64_t set)
{
    const struct stack *k = &s->stacks[FV_TRACE_SECTIONS];
    uint32_t list[CHAIN]; /* inwards */
    size_t count = 0;

    while (set && set < s->set_count && count < CHAIN) {
        uint32_t section = s->sets[set].section;

        if (section < s->section_count && s->sections[section] && !is_in(section, list, count))
            list[count++] = section;
        set = s->sets[set].outer < set ? s->sets[set].outer : 0; /* else damaged: no cycles */
    }
    for (size_t i = k->count; i-- > 0;)
        if (!is_in(k->items[i].id, list, count))
            close_at(s, FV_TRACE_SECTIONS, i);
    while (count-- > 0) {
        bool is_open = false;

        for (size_t i = 0; i < k->count; i++)
            is_open |= k->items[i].id == list[count];
        if (!is_open)
            push(s, FV_TRACE_SECTIONS, (struct open){ .id = list[count], .name = s->sections[list[count]] });
    }
}

/* ---- OpenMP ---- */

static struct region *region_of(struct fv_trace_spans *s, uint64_t number)
{
    if (!fv_number_is_id(file_of(s)->reader, number))
        return NULL;
    uint32_t at = fv_numbers_get(&s->places, number);
    if (at == FV_NONE) {
        at = (uint32_t)s->region_count;
        FV_GROW(s->regions, s->region_room, s->region_count + 1);
        s->regions[s->region_count++] = (struct region){ .cause = FV_NONE };
        fv_numbers_set(&s->places, number, at);
    }
    return &s->regions[at];
}

/* The innermost team that the thread is in; SIZE_MAX: none. region 0: of any. */
static size_t team_of(const struct fv_trace_spans *s, uint64_t region)
{
    const struct stack *k = &s->stacks[FV_TRACE_OPENMP];

    for (size_t i = k->count; i-- > 0;)
        if (k->items[i].is_team && (!region || k->items[i].id == region))
            return i;
    return SIZE_MAX;
}

static void begin_team(struct fv_trace_spans *s, uint64_t number)
{
    size_t last = team_of(s, 0);

    if (last != SIZE_MAX && s->stacks[FV_TRACE_OPENMP].items[last].came) /* its barrier is over */
        close_to(s, FV_TRACE_OPENMP, last);
    push(s, FV_TRACE_OPENMP, (struct open){ .id = number, .is_team = true });
}

static void end_team(struct fv_trace_spans *s, uint64_t number)
{
    size_t at = team_of(s, number);

    if (at == SIZE_MAX)
        return;
    close_to(s, FV_TRACE_OPENMP, at + 1);
    s->stacks[FV_TRACE_OPENMP].items[at].came = s->now;
}

static void join(struct fv_trace_spans *s, const struct fv_event *e)
{
    const uint64_t *f = e->field;
    struct region *of = region_of(s, f[1]);
    size_t at = team_of(s, f[1]);

    if (at != SIZE_MAX)
        close_to(s, FV_TRACE_OPENMP, at);
    if (!of || f[2] > e->begin)
        return;
    of->all = e->begin - f[2];
    of->node = node_of(s, f[4]);
    of->cause = f[5] ? (uint32_t)f[5] - 1 : FV_NONE;
}

/* Of a team a thread is in one at a time, but for tasks. */
static void work(struct fv_trace_spans *s, const struct fv_event *e)
{
    const struct stack *k = &s->stacks[FV_TRACE_OPENMP];
    const uint64_t kind = e->field[1] % FV_OMP_WORK_KINDS;
    size_t team = team_of(s, 0), first = team == SIZE_MAX ? 0 : team + 1, at = k->count;

    if (e->kind == FV_EV_WORK_BEGIN) {
        if (kind != FV_OMP_WORK_TASK && at > first && k->items[at - 1].id != FV_OMP_WORK_TASK)
            close_to(s, FV_TRACE_OPENMP, at - 1);
        push(s, FV_TRACE_OPENMP,
             (struct open){
                 .id = kind, .name = fv_thread_call_name(FV_THREAD_WORK(kind)), .node = node_of(s, e->field[2]) });
        return;
    }
    while (at > first && k->items[at - 1].id != kind)
        at--;
    if (at > first)
        close_to(s, FV_TRACE_OPENMP, at - 1);
}

/* ---- what is one event ---- */

static const char *cause_words(struct fv_trace_spans *s, uint32_t thread)
{
    char words[32];

    if (thread == FV_NONE)
        return NULL;
    snprintf(words, sizeof(words), "thread %u", thread);
    return text(s, words);
}

static void wait(struct fv_trace_spans *s, const struct fv_event *e)
{
    const uint64_t *f = e->field;
    const char *name = fv_thread_call_name(f[4] & 255);

    if (f[4] >> 8 != FV_WAITED_FOR_NONE)
        add(s, FV_TRACE_WAITS, e->begin, e->end,
            (struct fv_trace_span){ .thread = s->thread,
                                    .node = node_of(s, f[3]),
                                    .name = name ? name : "?",
                                    .object = cause_words(s, f[5] ? (uint32_t)f[5] - 1 : FV_NONE) });
}

static void io(struct fv_trace_spans *s, const struct fv_event *e)
{
    const uint64_t *f = e->field;
    struct fv_io_function_record room;
    const struct fv_io_function_words words = fv_io_function_in(file_of(s)->reader, f[3], &room);
    uint32_t file = fv_numbers_get(&s->handles, f[4]);

    if (f[3] == FV_IO_FN_close_range) /* no call (events.h) */
        return;
    add(s, FV_TRACE_IO, e->begin, e->end,
        (struct fv_trace_span){
            .thread = s->thread,
            .node = node_of(s, f[2]),
            .name = f[3] < FV_IO_OTHER_FUNCTIONS ? words.name : text(s, words.name),
            .object = file < s->file_count ? s->files[file] : NULL,
            .bytes = words.operation == FV_IO_OP_READ || words.operation == FV_IO_OP_WRITE ? f[5] - !!f[5] : 0 });
}

static void memory(struct fv_trace_spans *s, const struct fv_event *e)
{
    const uint64_t *f = e->field, bytes = f[4] ? f[4] : f[5];

    add(s, FV_TRACE_MEMORY, e->begin, e->end,
        (struct fv_trace_span){ .thread = s->thread,
                                .node = node_of(s, f[2]),
                                .name = fv_memory_function_name(f[3]),
                                .bytes = bytes - !!bytes });
}

void fv_trace_spans_event(struct fv_trace_spans *s, const struct fv_event *e)
{
    struct region *of;

    s->now = e->begin;
    switch (e->kind) {
    case FV_EV_SECTIONS: set_sections(s, e->field[1]); break;
    case FV_EV_FUNCTION_ENTER: push(s, FV_TRACE_FUNCTIONS, (struct open){ .node = node_of(s, e->field[1]) }); break;
    case FV_EV_FUNCTION_LEAVE: close_to(s, FV_TRACE_FUNCTIONS, e->field[1]); break;
    case FV_EV_OMP_FORK:
        if ((of = region_of(s, e->field[1])))
            of->node = node_of(s, e->field[3]);
        break;
    case FV_EV_TEAM_BEGIN: begin_team(s, e->field[1]); break;
    case FV_EV_TEAM_END: end_team(s, e->field[1]); break;
    case FV_EV_OMP_JOIN: join(s, e); break;
    case FV_EV_WORK_BEGIN:
    case FV_EV_WORK_END: work(s, e); break;
    case FV_EV_WAIT: wait(s, e); break;
    case FV_EV_IO: io(s, e); break;
    case FV_EV_MEMORY: memory(s, e); break;
    default: break;
    }
    s->now = e->end;
}

/* ---- all of it ---- */

struct fv_trace_spans *fv_trace_spans_begin(struct fv_build *build, uint32_t rank, size_t most)
{
    struct fv_trace_spans *s = fv_xcalloc(1, sizeof(*s));

    s->build = build;
    s->rank = rank;
    s->most = most;
    s->first = build->model->excerpt.span_count;
    read_sections(s);
    read_files(s);
    return s;
}

static void end_thread(struct fv_trace_spans *s)
{
    for (unsigned layer = 0; layer < FV_TRACE_LAYERS; layer++)
        close_to(s, (enum fv_trace_layer)layer, 0);
}

void fv_trace_spans_thread(struct fv_trace_spans *s, uint32_t thread)
{
    end_thread(s);
    s->thread = thread;
}

/* Parts in parallel regions, and the barriers at their ends, when all threads were read. */
static void add_members(struct fv_trace_spans *s)
{
    for (size_t i = 0; i < s->member_count; i++) {
        const struct member *m = &s->members[i];
        const struct region *of = region_of(s, m->region);

        add(s, FV_TRACE_OPENMP, m->begin, m->end,
            (struct fv_trace_span){
                .thread = m->thread, .depth = (uint8_t)m->depth, .node = of ? of->node : 0, .name = "omp parallel" });
        if (of && m->came && of->all > m->end)
            add(s, FV_TRACE_WAITS, m->end, of->all,
                (struct fv_trace_span){ .thread = m->thread,
                                        .node = of->node,
                                        .name = fv_thread_call_name(FV_THREAD_IMPLICIT_BARRIER),
                                        .object = cause_words(s, of->cause) });
    }
}

static int by_place(const void *a, const void *b)
{
    const struct fv_trace_span *x = a, *y = b;

    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    if (x->layer != y->layer)
        return x->layer < y->layer ? -1 : 1;
    if (x->begin_s < y->begin_s || x->begin_s > y->begin_s)
        return x->begin_s < y->begin_s ? -1 : 1;
    return x->depth - y->depth;
}

void fv_trace_spans_end(struct fv_trace_spans *s)
{
    struct fv_trace_excerpt *t = &s->build->model->excerpt;

    end_thread(s);
    add_members(s);
    keep_longest_of_all(s);
    if (t->span_count > s->first)
        qsort(t->spans + s->first, t->span_count - s->first, sizeof(*t->spans), by_place);
    for (unsigned layer = 0; layer < FV_TRACE_LAYERS; layer++)
        free(s->stacks[layer].items);
    free(s->sections);
    free(s->files);
    free(s->sets);
    fv_numbers_release(&s->handles);
    fv_numbers_release(&s->places);
    free(s->regions);
    free(s->members);
    free(s->words);
    fv_index_release(&s->by_name);
    free(s);
}
