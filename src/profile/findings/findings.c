/* SPDX-License-Identifier: BSD-3-Clause */
/* See findings.h: what the rows of the catalogue share. */
#include "profile/findings/findings.h"

#include "profile/profile.h"
#include "tool/words.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const fv_evidence_words[] = { FV_EVIDENCES(FV_LIST_WORD) NULL };

bool fv_finding_worth(const struct fv_profile *v, double lost_s)
{
    return lost_s > 0 && lost_s >= FV_FINDING_WORTH * v->model->efficiency.total_s;
}

bool fv_finding_worth_cpu(const struct fv_profile *v, const struct fv_findings *f, double lost_s)
{
    const struct fv_finding *disturbed = fv_findings_named(f, FV_FINDING_DISTURBED);
    double total_s = v->model->efficiency.total_s;

    return lost_s > 0 && lost_s >= FV_FINDING_WORTH * (total_s - (disturbed ? fmin(disturbed->lost_s, total_s) : 0));
}

struct fv_finding *fv_finding_add(struct fv_findings *f, double lost_s, enum fv_evidence evidence)
{
    FV_GROW(f->items, f->room, f->count + 1);
    f->items[f->count] = (struct fv_finding){ .def = f->current,
                                              .title = f->current->title,
                                              .lost_s = lost_s,
                                              .evidence = evidence,
                                              .rank = FV_NONE,
                                              .site = FV_NONE,
                                              .text = "",
                                              .next = "" };
    return &f->items[f->count++];
}

#define SENTENCE 4000
static const char *say(struct fv_findings *f, const char *format, va_list arguments)
{
    char text[SENTENCE];

    vsnprintf(text, sizeof(text), format, arguments);
    return fv_arena_string(&f->arena, text);
}

void fv_finding_say(struct fv_findings *f, struct fv_finding *finding, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    finding->text = say(f, format, arguments);
    va_end(arguments);
}

void fv_finding_next(struct fv_findings *f, struct fv_finding *finding, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    finding->next = say(f, format, arguments);
    va_end(arguments);
}

char *fv_finding_command(char out[FV_SHELL_COMMAND], const struct fv_model *m, const char *const *words)
{
    size_t used = (size_t)snprintf(out, FV_SHELL_COMMAND, "fvmpi %s %s", words[0], m->operands);

    while (used < FV_SHELL_COMMAND && *++words)
        if (!fv_shell_add(out, FV_SHELL_COMMAND, &used, *words))
            break;
    return out;
}

void fv_findings_leave(struct fv_findings *f, const char *format, ...)
{
    va_list arguments;

    FV_GROW(f->left, f->left_room, f->left_count + 1);
    va_start(arguments, format);
    f->left[f->left_count++] = say(f, format, arguments);
    va_end(arguments);
}

void fv_findings_release(struct fv_findings *f)
{
    free(f->left);
    fv_arena_release(&f->arena);
    free(f->items);
    *f = (struct fv_findings){ 0 };
}

static bool is_of_machine(const struct fv_finding *f)
{
    return f->by_machine || !strcmp(f->def->name, FV_FINDING_DISTURBED);
}

/* Of the program, and not of the machine. */
static size_t count_own(const struct fv_findings *f)
{
    size_t own = 0;

    for (size_t i = 0; i < f->count; i++)
        own += !is_of_machine(&f->items[i]);
    return own;
}

char *fv_findings_rest(const struct fv_profile *v, char *out, size_t bytes)
{
    const struct fv_findings *f = v->findings;
    const struct fv_model *m = v->model;
    size_t own = count_own(f);

    out[0] = '\0';
    if (m->shown_ranks || m->shown_threads) {
        fv_words_add(out, bytes, "findings are of the whole run: report it without %s",
                     m->shown_ranks ? "--rank" : "--thread");
        return out;
    }
    if (!own)
        fv_words_add(out, bytes, "no %sfindings", f->count ? "other " : "");
    if (!own && !f->left_count && m->complete)
        fv_words_add(out, bytes, ": nothing %sthat fvmpi knows the cause of costs %s", f->count ? "else " : "",
                     FV_FINDING_WORTH_WORDS);
    for (size_t i = 0; i < f->left_count; i++)
        fv_words_add(out, bytes, "%s%s", i ? "; and " : own ? "not judged: " : "; not judged: ", f->left[i]);
    if (!m->complete && (!own || f->left_count))
        fv_words_add(out, bytes, "%s the part of the run that was not %s",
                     f->left_count ? "; and" : "; not judged:", m->part_complete ? "read" : "recorded");
    return out;
}

char *fv_findings_rest_short(const struct fv_profile *v, char *out, size_t bytes)
{
    const struct fv_findings *f = v->findings;
    const size_t own = count_own(f), left = f->left_count + (!v->model->complete && (!own || f->left_count));

    out[0] = '\0';
    if (left)
        fv_words_add(out, bytes, "not judged: %zu thing%s (--all lists them)", left, fv_words_s(left));
    return out;
}

const char *fv_findings_order(const struct fv_findings *f)
{
    bool machine = false;

    for (size_t i = 0; i < f->count; i++)
        machine = machine || f->items[i].by_machine;
    if (!machine || !fv_findings_named(f, FV_FINDING_DISTURBED))
        return "largest loss first, in time of all ranks";
    return count_own(f) ? "of the program, largest loss first, in time of all ranks; then of the machine"
                        : "of the machine, largest loss first, in time of all ranks";
}

char *fv_finding_id(const struct fv_findings *f, const struct fv_finding *finding, char out[FV_FINDING_ID])
{
    size_t number = 1;

    for (const struct fv_finding *other = f->items; other < finding; other++)
        number += other->def == finding->def;
    snprintf(out, FV_FINDING_ID, number > 1 ? "%s.%zu" : "%s", finding->def->name, number);
    return out;
}

const struct fv_finding *fv_findings_named(const struct fv_findings *f, const char *name)
{
    for (size_t i = 0; i < f->count; i++)
        if (!strcmp(f->items[i].def->name, name))
            return &f->items[i];
    return NULL;
}

bool fv_finding_is_disturbance(const struct fv_findings *f, double lost_s)
{
    const struct fv_finding *disturbed = fv_findings_named(f, FV_FINDING_DISTURBED);

    return disturbed && disturbed->lost_s > lost_s;
}
