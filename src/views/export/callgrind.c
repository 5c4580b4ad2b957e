/* SPDX-License-Identifier: BSD-3-Clause */
/* Samples of the CPU clock as callgrind writes its profiles, which KCachegrind and its kin open
 * (https://valgrind.org/docs/manual/cl-format.html): CPU time of procedures, and of what they call. Samples do not say
 * how often a call was made: all calls have the number 0. */
#include "profile/samples/cost_profile.h"
#include "profile/samples/costs.h"
#include "tool/words.h"
#include "views/views.h"

#include <stdlib.h>
#include <string.h>

struct edge {
    uint32_t caller, callee; /* procedures */
    uint64_t ns;             /* of the callee with what it calls */
};

static int by_caller(const void *a, const void *b)
{
    const struct edge *x = a, *y = b;

    return x->caller != y->caller ? (x->caller > y->caller ? 1 : -1)
                                  : (x->callee > y->callee) - (x->callee < y->callee);
}

/* Time of each branch, by itself. */
static uint64_t *times(const struct fv_profile *v)
{
    const struct fv_cost_profile *c = v->costs;
    uint64_t *ns = fv_xcalloc(c->branch_count + 1, sizeof(*ns));

    for (size_t i = 0; i < c->stack_count; i++) {
        const struct fv_cost_thread *t = &fv_model_costs(v->model)->threads[c->stacks[i].thread];

        ns[c->stacks[i].branch] += (uint64_t)((double)c->stacks[i].ticks * t->tick_s * 1e9);
    }
    return ns;
}

static void put_name(FILE *out, const char *key, const char *name)
{
    char clean[2048];

    fprintf(out, "%s=%s\n", key, fv_words_clean(name, clean, sizeof(clean)));
}

static void put_procedure(FILE *out, const struct fv_cost_procedure *p, bool is_called)
{
    put_name(out, is_called ? "cfi" : "fl", p->file ? p->file : "???");
    put_name(out, is_called ? "cfn" : "fn", p->name);
}

/* Edges of the same two procedures become one. */
static size_t join(struct edge *edges, size_t count)
{
    size_t kept = 0;

    if (count)
        qsort(edges, count, sizeof(*edges), by_caller);
    for (size_t i = 0; i < count; i++)
        if (kept && !by_caller(&edges[kept - 1], &edges[i]))
            edges[kept - 1].ns += edges[i].ns;
        else
            edges[kept++] = edges[i];
    return kept;
}

/* A parent has a smaller number than what is below it. */
static struct edge *edges_of(const struct fv_cost_profile *c, uint64_t *ns, uint64_t *self, size_t *count)
{
    struct edge *edges = fv_xcalloc(c->branch_count + 1, sizeof(*edges));

    for (size_t i = 1; i < c->branch_count; i++)
        self[c->branches[i].procedure] += ns[i];
    for (size_t i = c->branch_count; i-- > 1;) {
        const struct fv_cost_branch *b = &c->branches[i];

        if (b->parent)
            edges[(*count)++] = (struct edge){ c->branches[b->parent].procedure, b->procedure, ns[i] };
        ns[b->parent] += ns[i];
    }
    *count = join(edges, *count);
    return edges;
}

int fv_view_callgrind(const struct fv_profile *v, FILE *out)
{
    const struct fv_cost_profile *c = v->costs;
    uint64_t *ns = times(v), *self = fv_xcalloc(c->procedure_count + 1, sizeof(*self));
    char command[4096];
    size_t count = 0, next = 0;
    struct edge *edges = edges_of(c, ns, self, &count);

    fprintf(out, "# callgrind format\nversion: 1\ncreator: fvmpi %s\n", v->model->fvmpi);
    fprintf(out, "cmd: %s\n", fv_words_clean(v->model->command, command, sizeof(command)));
    fprintf(out, "positions: line\nevent: CPU : CPU time in ns, from samples of all ranks\nevents: CPU\n");
    for (uint32_t i = 0; i < c->procedure_count; i++) {
        putc('\n', out);
        put_procedure(out, &c->procedures[i], false);
        fprintf(out, "%u %llu\n", c->procedures[i].first_line, (unsigned long long)self[i]);
        for (; next < count && edges[next].caller == i; next++) {
            const struct fv_cost_procedure *callee = &c->procedures[edges[next].callee];

            put_procedure(out, callee, true);
            /* Samples do not count calls; of 0 calls readers take the cost for the caller's own. */
            fprintf(out, "calls=1 %u\n%u %llu\n", callee->first_line, c->procedures[i].first_line,
                    (unsigned long long)edges[next].ns);
        }
    }
    free(edges);
    free(self);
    free(ns);
    return fflush(out) || ferror(out) ? -FV_EIO : 0;
}
