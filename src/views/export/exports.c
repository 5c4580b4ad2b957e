/* SPDX-License-Identifier: BSD-3-Clause */
/* Samples of the CPU clock for other people's viewers: folded stacks (flame graphs), and speedscope's file
 * format. */
#include "profile/samples/cost_profile.h"
#include "profile/samples/costs.h"
#include "tool/json_stream.h"
#include "views/views.h"
#include "tool/words.h"

#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 4096 /* of a call path with its inlined frames; what is further in is left out */

/* Branches from the root to this one. Returns how many. */
static size_t stack_of(const struct fv_cost_profile *c, uint32_t branch, uint32_t procedures[DEPTH_MAX])
{
    size_t count = 0, all;

    for (uint32_t b = branch; b; b = c->branches[b].parent)
        count++;
    all = count;
    for (uint32_t b = branch; b; b = c->branches[b].parent)
        if (--count < DEPTH_MAX)
            procedures[count] = c->branches[b].procedure;
    return all < DEPTH_MAX ? all : DEPTH_MAX;
}

static bool is_main(const struct fv_model *m, const struct fv_cost_thread *t)
{
    const struct fv_rank *r = &m->ranks[t->rank];

    for (uint32_t i = 0; i < r->threads; i++)
        if (m->threads[r->first_thread + i].id == t->thread)
            return m->threads[r->first_thread + i].main;
    return false;
}

/* ---- folded ---- */

/* A name without what separates names and lines. */
static void put_name(FILE *out, const char *name)
{
    char clean[2048];

    fv_words_clean(name, clean, sizeof(clean));
    for (char *p = clean; *p; p++)
        *p = *p == ';' ? ':' : *p;
    fputs(clean, out);
}

int fv_view_folded(const struct fv_profile *v, FILE *out)
{
    const struct fv_cost_profile *c = v->costs;
    uint32_t *procedures = fv_xcalloc(DEPTH_MAX, sizeof(*procedures));

    for (size_t i = 0; i < c->stack_count; i++) {
        const struct fv_cost_thread *t = &fv_model_costs(v->model)->threads[c->stacks[i].thread];
        size_t depth = stack_of(c, c->stacks[i].branch, procedures);

        fprintf(out, "rank %d;thread %u", v->model->ranks[t->rank].world_rank, t->thread);
        for (size_t k = 0; k < depth; k++) {
            putc(';', out);
            put_name(out, c->procedures[procedures[k]].name);
        }
        fprintf(out, " %llu\n", (unsigned long long)c->stacks[i].ticks);
    }
    free(procedures);
    return fflush(out) || ferror(out) ? -FV_EIO : 0;
}

/* ---- speedscope ---- */

static void put_frames(struct fv_json *j, const struct fv_cost_profile *c)
{
    fv_json_object(j, "shared");
    fv_json_array(j, "frames");
    for (size_t i = 0; i < c->procedure_count; i++) {
        fv_json_object(j, NULL);
        fv_json_string(j, "name", c->procedures[i].name);
        if (c->procedures[i].file)
            fv_json_string(j, "file", c->procedures[i].file);
        fv_json_end(j);
    }
    fv_json_end(j);
    fv_json_end(j);
}

/* Of the stacks [first, end), which are of one thread. */
static void put_thread(struct fv_json *j, const struct fv_model *m, const struct fv_cost_profile *c, size_t first,
                       size_t end, uint32_t *procedures)
{
    const struct fv_cost_thread *t = &fv_model_costs(m)->threads[c->stacks[first].thread];
    char name[80];

    snprintf(name, sizeof(name), "rank %d thread %u%s", m->ranks[t->rank].world_rank, t->thread,
             is_main(m, t) ? " (main)" : "");
    fv_json_object(j, NULL);
    fv_json_string(j, "type", "sampled");
    fv_json_string(j, "name", name);
    fv_json_string(j, "unit", "seconds");
    fv_json_unsigned(j, "startValue", 0);
    fv_json_real(j, "endValue", (double)t->ticks * t->tick_s);
    fv_json_array(j, "samples");
    for (size_t i = first; i < end; i++) {
        size_t depth = stack_of(c, c->stacks[i].branch, procedures);

        fv_json_array(j, NULL);
        for (size_t k = 0; k < depth; k++)
            fv_json_unsigned(j, NULL, procedures[k]);
        fv_json_end(j);
    }
    fv_json_end(j);
    fv_json_array(j, "weights");
    for (size_t i = first; i < end; i++)
        fv_json_real(j, NULL, (double)c->stacks[i].ticks * t->tick_s);
    fv_json_end(j);
    fv_json_end(j);
}

int fv_view_speedscope(const struct fv_profile *v, FILE *out)
{
    struct fv_json json = { .out = out }, *j = &json;
    uint32_t *procedures = fv_xcalloc(DEPTH_MAX, sizeof(*procedures));
    const struct fv_cost_profile *c = v->costs;
    char exporter[64];
    size_t next;

    snprintf(exporter, sizeof(exporter), "fvmpi@%.50s", v->model->fvmpi);
    fv_json_object(j, NULL);
    fv_json_string(j, "$schema", "https://www.speedscope.app/file-format-schema.json");
    fv_json_string(j, "exporter", exporter);
    fv_json_string(j, "name", v->model->command);
    fv_json_unsigned(j, "activeProfileIndex", 0);
    put_frames(j, c);
    fv_json_array(j, "profiles");
    for (size_t i = 0; i < c->stack_count; i = next) {
        for (next = i; next < c->stack_count && c->stacks[next].thread == c->stacks[i].thread;)
            next++;
        put_thread(j, v->model, c, i, next, procedures);
    }
    fv_json_end(j);
    fv_json_end(j);
    free(procedures);
    return fflush(out) || ferror(out) || json.failed ? -FV_EIO : 0;
}
