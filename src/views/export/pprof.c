/* SPDX-License-Identifier: BSD-3-Clause */
/* Samples of the CPU clock for pprof and what reads its files: a profile.proto message
 * (https://github.com/google/pprof/blob/main/proto/profile.proto), compressed as gzip does. A location stands for a
 * procedure; each sample has its rank and thread as labels, so -tagroot=rank and -tagfocus choose among them. */
#include "profile/samples/cost_profile.h"
#include "profile/samples/costs.h"
#include "tool/gzip.h"
#include "tool/protobuf.h"
#include "views/views.h"

#include <stdlib.h>
#include <string.h>

enum {
    PROFILE_TYPE = 1,
    PROFILE_SAMPLE = 2,
    PROFILE_LOCATION = 4,
    PROFILE_FUNCTION = 5,
    PROFILE_STRING = 6,
    PROFILE_PERIOD_TYPE = 11,
    PROFILE_COMMENT = 13,
    TYPE_NAME = 1,
    TYPE_UNIT = 2,
    SAMPLE_LOCATIONS = 1,
    SAMPLE_VALUES = 2,
    SAMPLE_LABEL = 3,
    LABEL_KEY = 1,
    LABEL_TEXT = 2,
    LOCATION_ID = 1,
    LOCATION_LINE = 4,
    LINE_FUNCTION = 1,
    LINE_NUMBER = 2,
    FUNCTION_ID = 1,
    FUNCTION_NAME = 2,
    FUNCTION_SYSTEM_NAME = 3,
    FUNCTION_FILE = 4,
    FUNCTION_LINE = 5,
};

/* Strings by number, in the order in which they are told; 0 is the empty one. */
struct strings {
    struct fv_protobuf *b;
    uint64_t count;
};

static uint64_t string(struct strings *s, const char *text)
{
    fv_protobuf_text(s->b, PROFILE_STRING, text);
    return s->count++;
}

static void put_type(struct fv_protobuf *b, uint32_t field, uint64_t name, uint64_t unit)
{
    size_t type = fv_protobuf_begin(b, field);

    fv_protobuf_unsigned(b, TYPE_NAME, name);
    fv_protobuf_unsigned(b, TYPE_UNIT, unit);
    fv_protobuf_end(b, type);
}

static void put_procedure(struct fv_protobuf *b, struct strings *s, const struct fv_cost_procedure *p, uint64_t id)
{
    const uint64_t name = string(s, p->name), file = p->file ? string(s, p->file) : 0;
    size_t function = fv_protobuf_begin(b, PROFILE_FUNCTION), location, line;

    fv_protobuf_unsigned(b, FUNCTION_ID, id);
    fv_protobuf_unsigned(b, FUNCTION_NAME, name);
    fv_protobuf_unsigned(b, FUNCTION_SYSTEM_NAME, name);
    fv_protobuf_unsigned(b, FUNCTION_FILE, file);
    fv_protobuf_unsigned(b, FUNCTION_LINE, p->first_line);
    fv_protobuf_end(b, function);
    location = fv_protobuf_begin(b, PROFILE_LOCATION);
    fv_protobuf_unsigned(b, LOCATION_ID, id);
    line = fv_protobuf_begin(b, LOCATION_LINE);
    fv_protobuf_unsigned(b, LINE_FUNCTION, id);
    fv_protobuf_unsigned(b, LINE_NUMBER, p->first_line);
    fv_protobuf_end(b, line);
    fv_protobuf_end(b, location);
}

static void put_label(struct fv_protobuf *b, uint64_t key, uint64_t text)
{
    size_t label = fv_protobuf_begin(b, SAMPLE_LABEL);

    fv_protobuf_unsigned(b, LABEL_KEY, key);
    fv_protobuf_unsigned(b, LABEL_TEXT, text);
    fv_protobuf_end(b, label);
}

struct keys {
    uint64_t rank, thread, rank_text, thread_text; /* the texts: of `of` */
    uint32_t of;
};

/* Texts of the thread's labels; stacks of a thread are behind each other. */
static void find_labels(struct strings *s, const struct fv_model *m, struct keys *k, uint32_t thread)
{
    const struct fv_cost_thread *t = &fv_model_costs(m)->threads[thread];
    char text[24];

    if (k->of == thread)
        return;
    k->of = thread;
    snprintf(text, sizeof(text), "%d", m->ranks[t->rank].world_rank);
    k->rank_text = string(s, text);
    snprintf(text, sizeof(text), "%u", t->thread);
    k->thread_text = string(s, text);
}

static void put_samples(struct fv_protobuf *b, struct strings *s, const struct fv_profile *v)
{
    const struct fv_cost_profile *c = v->costs;
    struct keys k = { .rank = string(s, "rank"), .thread = string(s, "thread"), .of = FV_NONE };

    for (size_t i = 0; i < c->stack_count; i++) {
        const struct fv_cost_thread *t = &fv_model_costs(v->model)->threads[c->stacks[i].thread];
        const uint64_t ticks = c->stacks[i].ticks;
        size_t sample;

        find_labels(s, v->model, &k, c->stacks[i].thread);
        sample = fv_protobuf_begin(b, PROFILE_SAMPLE);
        for (uint32_t at = c->stacks[i].branch; at; at = c->branches[at].parent)
            fv_protobuf_unsigned(b, SAMPLE_LOCATIONS, (uint64_t)c->branches[at].procedure + 1);
        fv_protobuf_packed(b, SAMPLE_VALUES, (uint64_t[]){ ticks, (uint64_t)((double)ticks * t->tick_s * 1e9) }, 2);
        put_label(b, k.rank, k.rank_text);
        put_label(b, k.thread, k.thread_text);
        fv_protobuf_end(b, sample);
    }
}

static void put_profile(struct fv_protobuf *b, const struct fv_profile *v)
{
    const struct fv_cost_profile *c = v->costs;
    struct strings s = { .b = b };

    string(&s, "");
    const uint64_t samples = string(&s, "samples"), count = string(&s, "count"), cpu = string(&s, "cpu"),
                   ns = string(&s, "nanoseconds"), comment = string(&s, v->model->command);
    put_type(b, PROFILE_TYPE, samples, count);
    put_type(b, PROFILE_TYPE, cpu, ns);
    put_type(b, PROFILE_PERIOD_TYPE, cpu, ns);
    fv_protobuf_unsigned(b, PROFILE_COMMENT, comment);
    for (size_t i = 0; i < c->procedure_count; i++)
        put_procedure(b, &s, &c->procedures[i], i + 1);
    put_samples(b, &s, v);
}

int fv_view_pprof(const struct fv_profile *v, FILE *out)
{
    struct fv_gzip *z = fv_xcalloc(1, sizeof(*z));
    struct fv_protobuf b = { 0 };

    put_profile(&b, v);
    fv_gzip_open(z, out);
    fv_gzip_put(z, b.data, b.count);
    bool good = fv_gzip_close(z);
    fv_protobuf_release(&b);
    free(z);
    return good ? 0 : -FV_EIO;
}
