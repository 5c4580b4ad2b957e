/* SPDX-License-Identifier: BSD-3-Clause */
/* See places.h. */
#include "profile/places.h"

#include "tool/words.h"

#include <stdlib.h>
#include <string.h>

#define CALLERS 3 /* of a longer path those next to both ends are told */

bool fv_frame_is_of_program(const struct fv_model *m, const struct fv_frame *frame)
{
    const struct fv_module *module = &m->tree.modules[frame->module];

    if (frame->module < FV_MODEL_FIRST_MODULE)
        return false;
    return fv_module_is_code(module) ? frame->file && !strstr(frame->file, "/lib/python")
                                     : fv_model_is_of_program(m, frame->module);
}

/* main() of unknown line does not: of a program that is a library and a main() that calls it, all comes from there. */
static bool tells_something(const struct fv_frame *frame)
{
    return frame->line || !frame->function || strcmp(frame->function, "main") != 0;
}

const struct fv_frame *fv_path_caller(const struct fv_model *m, const struct fv_path *path)
{
    for (size_t i = 0; i < path->count; i++)
        if (fv_frame_is_of_program(m, &path->frames[i]) && tells_something(&path->frames[i]))
            return &path->frames[i];
    return path->count ? &path->frames[0] : NULL;
}

/* Call sites of one function whose paths read the same in the innermost frames. */
struct fv_place_start {
    uint64_t hash;
    uint32_t site;
    bool shared; /* by another one */
};

/* Of the path up to this frame, by that of the path up to the frame before. */
static uint64_t add_to_hash(uint64_t hash, const struct fv_frame *f, const struct fv_symbols *s)
{
    char text[600];

    fv_frame_words(f, s, text, sizeof(text));
    return fv_mix2(hash, fv_hash_text(text));
}

void fv_places_add(struct fv_places *p, uint32_t site)
{
    const struct fv_model *m = p->view->model;
    struct fv_path path = { 0 };
    uint64_t hash;

    if (site == FV_NONE)
        return;
    fv_path_of(&path, p->view->symbols, m->sites[site].node);
    hash = fv_mix(m->sites[site].function);
    for (size_t i = 0; i < path.count; i++) {
        hash = add_to_hash(hash, &path.frames[i], p->view->symbols);
        size_t before = p->count;
        struct fv_place_start *start = FV_INTERNED(p->index, p->starts, p->count, p->room, hash);

        if (p->count > before)
            start->site = site;
        start->shared = start->shared || start->site != site;
    }
    fv_path_release(&path);
}

void fv_places_release(struct fv_places *p)
{
    fv_index_release(&p->index);
    free(p->starts);
    *p = (struct fv_places){ 0 };
}

/* The callers up to the one in which the path differs from all others. */
static size_t callers_of(const struct fv_places *p, uint32_t site, const struct fv_path *path)
{
    uint64_t hash = fv_mix(p->view->model->sites[site].function);

    for (size_t i = 0; i < path->count; i++) {
        hash = add_to_hash(hash, &path->frames[i], p->view->symbols);
        uint32_t start = FV_FIND(p->index, p->starts, hash);

        if (start == FV_NONE || !p->starts[start].shared)
            return i;
    }
    return 0; /* nothing tells them apart but their numbers */
}

char *fv_place_inner(const struct fv_profile *v, uint32_t site, char *out, size_t bytes)
{
    struct fv_path path = { 0 };

    fv_path_of(&path, v->symbols, v->model->sites[site].node);
    snprintf(out, bytes, "a call path that was not recorded");
    if (path.count)
        fv_frame_words(&path.frames[0], v->symbols, out, bytes);
    fv_path_release(&path);
    return out;
}

char *fv_place_outer(const struct fv_places *p, uint32_t site, size_t least, char *out, size_t bytes)
{
    struct fv_path path = { 0 };
    char text[600];
    size_t used = 0;

    out[0] = '\0';
    fv_path_of(&path, p->view->symbols, p->view->model->sites[site].node);
    size_t callers = callers_of(p, site, &path);
    callers = callers > least ? callers : least;
    if (path.count && callers > path.count - 1)
        callers = path.count - 1;
    for (size_t i = 1; path.count && i <= callers && used < bytes; i++) {
        if (callers > CALLERS && i > 1 && i < callers) {
            used += (size_t)snprintf(out + used, bytes - used, " <- ...");
            i = callers - 1;
            continue;
        }
        fv_frame_words(&path.frames[i], p->view->symbols, text, sizeof(text));
        used += (size_t)snprintf(out + used, bytes - used, "%s<- %s", i > 1 ? " " : "", text);
    }
    fv_path_release(&path);
    return out;
}

/* What makes an MPI call. */
struct caller {
    char name[600]; /* "solve()"; "": not recorded */
    const char *file;
    unsigned line; /* 0: not known */
};

static struct caller caller_of(const struct fv_profile *v, uint32_t site)
{
    struct fv_path path = { 0 };
    struct caller c = { .name = "" };

    fv_path_of(&path, v->symbols, v->model->sites[site].node);
    if (path.count) {
        struct fv_frame f = path.frames[0];

        c.file = f.file;
        c.line = f.file ? f.line : 0;
        f.file = NULL;
        fv_frame_words(&f, v->symbols, c.name, sizeof(c.name));
    }
    fv_path_release(&path);
    return c;
}

static bool is_same(const struct caller *a, const struct caller *b)
{
    return *a->name && !strcmp(a->name, b->name) && a->file && b->file && !strcmp(a->file, b->file);
}

char *fv_place_between(const struct fv_profile *v, uint32_t from, uint32_t site, char *out, size_t bytes)
{
    char before[600], behind[600];
    struct caller a, b = caller_of(v, site);

    fv_place_inner(v, site, behind, sizeof(behind));
    if (from == FV_NONE || !strcmp(fv_place_inner(v, from, before, sizeof(before)), behind))
        snprintf(out, bytes, "%s", behind);
    else if (a = caller_of(v, from), is_same(&a, &b) && b.line)
        snprintf(out, bytes, "%s to %u", before, b.line);
    else
        snprintf(out, bytes, "%s to %s", before, behind);
    return out;
}

char *fv_place_region(const struct fv_profile *v, uint32_t from, uint32_t site, char *out, size_t bytes)
{
    char before[600], behind[600];

    fv_place_inner(v, site, behind, sizeof(behind));
    if (from == FV_NONE || !strcmp(fv_place_inner(v, from, before, sizeof(before)), behind)) {
        snprintf(out, bytes, "in %s, before %s", behind, fv_place_function(v->model, site));
    } else {
        snprintf(out, bytes, "from ");
        fv_place_between(v, from, site, out + strlen(out), bytes - strlen(out));
    }
    return out;
}

static void add_call(const struct fv_profile *v, const struct caller *c, uint32_t site, bool named, char *out,
                     size_t bytes)
{
    char name[600];

    if (named && *c->name)
        fv_words_add(out, bytes, "%s%s: ", fv_words_brief(c->name, name, sizeof(name)),
                     strchr(c->name, '(') ? "()" : "");
    fv_words_add(out, bytes, "%s", fv_place_function(v->model, site));
    if (c->line)
        fv_words_add(out, bytes, ":%u", c->line);
}

char *fv_place_calls(const struct fv_profile *v, uint32_t from, uint32_t site, char *out, size_t bytes)
{
    struct caller a = { .name = "" }, b = caller_of(v, site);

    snprintf(out, bytes, "%s", from == FV_NONE ? "before " : "");
    if (from != FV_NONE) {
        a = caller_of(v, from);
        add_call(v, &a, from, true, out, bytes);
        fv_words_add(out, bytes, " -> ");
    }
    add_call(v, &b, site, !is_same(&a, &b), out, bytes);
    return out;
}

#define PATH_WORDS 1600

char *fv_place_when(const struct fv_model *m, uint32_t site, enum fv_place where, char out[160])
{
    snprintf(out, 160, "%s %.140s", where == FV_PLACE_MPI ? "in" : "before", fv_place_function(m, site));
    return out;
}

char *fv_place_words(const struct fv_places *p, uint32_t site, enum fv_place where, char *out, size_t bytes)
{
    char inner[600], outer[PATH_WORDS], call[160];

    if (site == FV_NONE) {
        snprintf(out, bytes, "behind the last call that ended");
        return out;
    }
    fv_place_outer(p, site, 1, outer, sizeof(outer));
    snprintf(out, bytes, "%s%s%s, %s (#%u)", fv_place_inner(p->view, site, inner, sizeof(inner)), outer[0] ? " " : "",
             outer, fv_place_when(p->view->model, site, where, call), site + 1);
    return out;
}
