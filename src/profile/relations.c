/* SPDX-License-Identifier: BSD-3-Clause */
/* See relations.h. */
#include "profile/relations.h"
#include "profile/places.h"
#include "tool/words.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct fv_relation *fv_profile_relations[FV_SUBJECT_COUNT * FV_SUBJECT_RELATIONS + 1];

__attribute__((constructor)) static void list_relations(void)
{
    size_t count = 0;

    for (size_t i = 0; i < FV_SUBJECT_COUNT; i++)
        for (size_t k = 0; k < FV_SUBJECT_RELATIONS && fv_subjects[i]->relations[k]; k++)
            fv_profile_relations[count++] = fv_subjects[i]->relations[k];
}

const char *fv_subject_group(const struct fv_relation *relation)
{
    for (size_t i = 0; i < FV_SUBJECT_COUNT; i++)
        for (size_t k = 0; k < FV_SUBJECT_RELATIONS && fv_subjects[i]->relations[k]; k++)
            if (fv_subjects[i]->relations[k] == relation)
                return fv_subjects[i]->group;
    return NULL;
}

void fv_tables_init(struct fv_tables *t, const struct fv_profile *profile)
{
    *t = (struct fv_tables){ .profile = profile, .model = profile->model, .message_bytes = -1 };
}

void fv_tables_release(struct fv_tables *t)
{
    fv_path_release(&t->path);
    free(t->words);
    free(t->reals);
    if (t->look_rows)
        t->free_look_rows(t->look_rows);
    *t = (struct fv_tables){ 0 };
}

const void *fv_tables_base(void *subject, const void *parent)
{
    return fv_tables_model(subject);
}

/* ---- call paths ---- */

const struct fv_path *fv_tables_path(struct fv_tables *t, uint32_t node)
{
    if (!t->path_known || t->path_node != node) {
        fv_path_of(&t->path, t->profile->symbols, node);
        t->path_node = node;
        t->path_known = true;
    }
    return &t->path;
}

static uint32_t node_at(const void *row, const struct fv_column_def *c)
{
    return *(const uint32_t *)(const void *)((const char *)row + c->argument);
}

static size_t frame_count(void *subject, const void *parent)
{
    return fv_tables_path(subject, *(const uint32_t *)parent)->count;
}

static const void *frame_at(void *subject, const void *parent, size_t i)
{
    return &fv_tables_path(subject, *(const uint32_t *)parent)->frames[i];
}

static void get_label(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    struct fv_tables *t = subject;

    v->text = fv_frame_label(row, t->profile->symbols, t->text, sizeof(t->text));
}

void fv_get_module(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    uint32_t module = node_at(row, c);

    v->text = module >= FV_MODEL_FIRST_MODULE ? fv_tables_model(subject)->tree.modules[module].path : NULL;
}

const struct fv_column_def fv_frame_columns[FV_FRAME_COLUMNS] = {
    { "function", "function", "", "The demangled name. Without a known symbol: module+0xoffset.",
      FV_GET(FV_TYPE_TEXT, get_label) },
    { "file", "file", "", "The source file. Null: not known.", FV_FIELD(struct fv_frame, file), .flags = FV_NULLABLE },
    { "line", "line", "", "The line of the call. Null: not known.", FV_FIELD(struct fv_frame, line),
      .flags = FV_UNLESS_0 },
    { "module", "module", "", "Path of the executable or library; for Python FILE:FUNCTION. Null: not known.",
      FV_GET(FV_TYPE_TEXT, fv_get_module), .flags = FV_NULLABLE, .argument = offsetof(struct fv_frame, module) },
    { "offset", "offset", "",
      "Return address in the module; in Python the line. If several call paths look the same: that of the path with "
      "the longest time.",
      FV_FIELD(struct fv_frame, offset) },
    { "inlined", "inlined", "", "True: the compiler inlined the function into the next frame.",
      FV_FIELD(struct fv_frame, inlined) },
};
const struct fv_relation fv_path_relation = {
    .key = "path",
    .doc = "Frames of a call path, innermost first.",
    FV_COLUMNS(fv_frame_columns),
    .count = frame_count,
    .row = frame_at,
};

void fv_get_path_file(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_path *path = fv_tables_path(subject, node_at(row, c));

    v->text = path->count ? path->frames[0].file : NULL;
}

void fv_get_path_line(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_path *path = fv_tables_path(subject, node_at(row, c));

    v->whole = path->count ? path->frames[0].line : 0;
    v->null = !v->whole;
}

void fv_put_place(struct fv_tables *t, const struct fv_frame *frame, struct fv_value *v)
{
    v->null = !frame || !frame->file || !frame->line;
    if (v->null)
        return;
    snprintf(t->text, sizeof(t->text), "%s:%u", fv_base_name(frame->file), frame->line);
    v->text = t->text;
}

void fv_get_path_place(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    struct fv_tables *t = subject;
    const struct fv_path *path = fv_tables_path(t, node_at(row, c));

    fv_put_place(t, path->count ? &path->frames[0] : NULL, v);
}

void fv_get_path_own(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    struct fv_tables *t = subject;
    const struct fv_frame *own = fv_path_caller(t->model, fv_tables_path(t, node_at(row, c)));

    v->text = own ? fv_frame_words(own, t->profile->symbols, t->text, sizeof(t->text)) : NULL;
}

/* A region's name, or a task's, that does not tell of which function it is, as clang's before version 17: "OpenMP
 * region 1". */
static bool is_nameless(const char *brief)
{
    return !strncmp(brief, ".omp_", 5) || (!strncmp(brief, "OpenMP region", 13) && !strstr(brief, " in "));
}

void fv_get_path_function(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    struct fv_tables *t = subject;
    const struct fv_path *path = fv_tables_path(t, node_at(row, c));

    for (size_t i = 0; i < path->count; i++)
        if (fv_frame_is_of_program(t->model, &path->frames[i]) &&
            !is_nameless(v->text = fv_frame_brief(&path->frames[i], t->profile->symbols, t->text, sizeof(t->text))))
            return;
    v->text = path->count ? fv_frame_brief(&path->frames[0], t->profile->symbols, t->text, sizeof(t->text)) : NULL;
}

void fv_get_path_text(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    struct fv_tables *t = subject;

    v->text = fv_path_text(t, fv_tables_path(t, node_at(row, c)), 0);
}

const char *fv_path_text(struct fv_tables *t, const struct fv_path *path, size_t first)
{
    char label[512];

    t->words_used = 0;
    FV_GROW(t->words, t->words_room, 1);
    t->words[0] = '\0';
    for (size_t i = first; i < path->count; i++) {
        const char *name = fv_frame_label(&path->frames[i], t->profile->symbols, label, sizeof(label));
        size_t bytes = strlen(name);

        FV_GROW(t->words, t->words_room, t->words_used + bytes + 4);
        t->words_used += (size_t)sprintf(t->words + t->words_used, "%s%s", i > first ? " < " : "", name);
    }
    return t->words;
}

/* ---- columns that many have ---- */

void fv_get_rank(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    uint32_t rank = node_at(row, c);

    v->null = rank == FV_NONE;
    v->number = v->null ? 0 : fv_tables_model(subject)->ranks[rank].world_rank;
}

static double number_at(const void *row, size_t offset, unsigned stored)
{
    const void *at = (const char *)row + offset;

    switch (stored) {
    case FV_U32: return *(const uint32_t *)at;
    case FV_U64: return (double)*(const uint64_t *)at;
    default: return *(const double *)at;
    }
}

void fv_get_quotient(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    double part = number_at(row, c->offset, c->argument >> 4 & 15),
           whole = number_at(row, (size_t)c->argument >> 8, c->argument & 15);

    v->real = whole > 0 ? part / whole : NAN;
}

static double total_of(struct fv_tables *t, enum fv_total total)
{
    const struct fv_model *m = t->model;

    switch (total) {
    case FV_OF_RUN: return m->elapsed_s;
    case FV_OF_RANKS: return m->efficiency.total_s;
    case FV_OF_THREADS: return m->efficiency.thread_s;
    case FV_OF_WAITING: return m->causes.wait_s;
    case FV_OF_CRITICAL_PATH: return m->causes.critical_path_s;
    case FV_OF_THREAD_LIVES: return fv_model_locks(m)->thread_s;
    case FV_OF_TICKS: return t->profile->costs ? (double)t->profile->costs->all.ticks : 0;
    default: break;
    }
    if (t->message_bytes < 0) {
        t->message_bytes = 0;
        for (size_t i = 0; i < m->edge_count; i++)
            t->message_bytes += (double)m->edges[i].bytes;
    }
    return t->message_bytes;
}

void fv_get_share(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    double total = total_of(subject, (enum fv_total)(c->argument >> 4));

    v->real = total > 0 ? number_at(row, c->offset, c->argument & 15) / total : NAN;
}

void fv_get_id(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_tables *t = subject;
    const void *const holders[] = { t->model, t->profile->costs };
    intptr_t in = c->argument >> 24;
    const char *items = (const char *)(in < FV_IN_DATA ? holders[in] : t->model->data[in - FV_IN_DATA]) + c->offset;

    v->whole =
        (uint64_t)((const char *)row - *(const char *const *)(const void *)items) / (uint64_t)(c->argument & 0xffffff);
}

const char *const fv_wait_kind_words[] = { FV_WAIT_KINDS(FV_LIST_WORD) NULL };

static unsigned kind_at(const void *row, const struct fv_column_def *c)
{
    const char *at = (const char *)row + (c->argument & 0xffff);

    return c->argument >> 16 == 1 ? *(const uint8_t *)at : *(const unsigned *)(const void *)at;
}

void fv_get_wait(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->real = *(const double *)(const void *)((const char *)row + c->offset);
    v->null = kind_at(row, c) == FV_WAIT_UNKNOWN;
}

void fv_get_wait_kind(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->text = fv_wait_kind_name(kind_at(row, c));
}

void fv_get_exact(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->text = fv_wait_kind_words[!*(const bool *)((const char *)row + c->argument)];
}

void fv_get_call_stat(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_call_stat *stat = (const void *)((const char *)row + c->offset);

    v->real = c->argument ? fv_call_stat_stddev(stat) : fv_call_stat_mean(stat);
}
