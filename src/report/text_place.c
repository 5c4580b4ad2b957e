/* Names of call sites: the function that calls MPI, and as much of the path to it as tells call sites apart.
 */
#include "report/text.h"

#include <stdlib.h>
#include <string.h>

#define NAME_COLUMNS 60
#define CALLERS      3 /* of a longer path those next to both ends are told */

/* Call sites of one function whose paths read the same in the innermost frames. */
struct fv_place_start {
    uint64_t hash;
    uint32_t site;
    bool shared; /* by another one */
};

char *fv_place_frame(const struct fv_frame *f, const struct fv_model *m, char *out, size_t bytes)
{
    char label[512], clean[256], where[300] = "";

    fv_words_clean(fv_frame_label(f, m, label, sizeof(label)), clean, sizeof(clean));
    fv_words_fit(clean, NAME_COLUMNS);
    if (f->file)
        fv_text_location(f, m, where, sizeof(where));
    snprintf(out, bytes, "%s%s%s%s", clean, f->function && !strchr(clean, '(') ? "()" : "",
             where[0] ? " at " : "", where);
    return out;
}

/* Of the path up to this frame, by that of the path up to the frame before. */
static uint64_t add_to_hash(uint64_t hash, const struct fv_frame *f, const struct fv_model *m)
{
    char text[600];

    fv_place_frame(f, m, text, sizeof(text));
    return fv_mix2(hash, fv_hash_bytes(text, strlen(text)));
}

static struct fv_place_start *find(const struct fv_places *p, uint64_t hash)
{
    struct fv_index_probe probe = fv_index_probe(&p->index, hash);

    for (uint32_t i; (i = fv_index_next(&probe)) != FV_NONE;)
        if (p->starts[i].hash == hash)
            return &p->starts[i];
    return NULL;
}

void fv_places_add(struct fv_places *p, uint32_t site)
{
    const struct fv_model *m = p->view->model;
    struct fv_path path = { 0 };
    uint64_t hash;

    if (site == FV_NONE)
        return;
    fv_path_of(&path, p->view->symbols, m, m->sites[site].node);
    hash = fv_mix(m->sites[site].function);
    for (size_t i = 0; i < path.count; i++) {
        hash = add_to_hash(hash, &path.frames[i], m);
        struct fv_place_start *known = find(p, hash);

        if (known) {
            known->shared = known->shared || known->site != site;
            continue;
        }
        FV_GROW(p->starts, p->room, p->count + 1);
        p->starts[p->count] = (struct fv_place_start){ hash, site, false };
        fv_index_add(&p->index, hash, (uint32_t)p->count++);
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
        hash = add_to_hash(hash, &path->frames[i], p->view->model);
        const struct fv_place_start *start = find(p, hash);

        if (!start || !start->shared)
            return i;
    }
    return 0; /* nothing tells them apart but their numbers */
}

char *fv_place_inner(const struct fv_view *v, uint32_t site, char *out, size_t bytes)
{
    struct fv_path path = { 0 };

    fv_path_of(&path, v->symbols, v->model, v->model->sites[site].node);
    snprintf(out, bytes, "a call path that was not recorded");
    if (path.count)
        fv_place_frame(&path.frames[0], v->model, out, bytes);
    fv_path_release(&path);
    return out;
}

char *fv_place_outer(const struct fv_places *p, uint32_t site, size_t least, char *out, size_t bytes)
{
    struct fv_path path = { 0 };
    char text[600];
    size_t used = 0;

    out[0] = '\0';
    fv_path_of(&path, p->view->symbols, p->view->model, p->view->model->sites[site].node);
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
        fv_place_frame(&path.frames[i], p->view->model, text, sizeof(text));
        used += (size_t)snprintf(out + used, bytes - used, "%s<- %s", i > 1 ? " " : "", text);
    }
    fv_path_release(&path);
    return out;
}
