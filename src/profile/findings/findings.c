/* See findings.h: what the rows of the catalogue share. */
#include "profile/findings/findings.h"

#include "profile/profile.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const fv_evidence_words[] = { "exact", "estimate", "samples", NULL };

bool fv_finding_worth(const struct fv_profile *v, double lost_s)
{
    return lost_s > 0 && lost_s >= FV_FINDING_WORTH * v->model->efficiency.total_s;
}

struct fv_finding *fv_finding_add(struct fv_findings *f, double lost_s, enum fv_evidence evidence)
{
    FV_GROW(f->items, f->room, f->count + 1);
    f->items[f->count] = (struct fv_finding){
        .def = f->current, .lost_s = lost_s, .evidence = evidence, .rank = FV_NONE, .site = FV_NONE, .text = "", .next = ""
    };
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

void fv_findings_release(struct fv_findings *f)
{
    fv_arena_release(&f->arena);
    free(f->items);
    *f = (struct fv_findings){ 0 };
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
