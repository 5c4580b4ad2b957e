/* See sample_paths.h. A parent has a smaller id than its children, so that one pass in the order of ids will
 * do; what says otherwise is damaged, and so is what is deeper than any recorder goes. */
#include "report/sample_paths.h"

#include <stdlib.h>
#include <string.h>

#define DEPTH_MAX 1024

#define LOOK_BACK                                                                                            \
    64 /* modules that begin before an address and may hold it: one where another was unloaded */

static struct fv_sample_tree *tree_of(const struct fv_sample_trees *trees, uint32_t thread)
{
    struct fv_index_probe p = fv_index_probe(&trees->by_thread, fv_mix(thread));

    for (uint32_t i; (i = fv_index_next(&p)) != FV_NONE;)
        if (trees->items[i].thread == thread)
            return &trees->items[i];
    return NULL;
}

static struct fv_sample_tree *new_tree(struct fv_sample_trees *trees, uint32_t thread)
{
    FV_GROW(trees->items, trees->room, trees->count + 1);
    trees->items[trees->count] = (struct fv_sample_tree){ .thread = thread };
    fv_index_add(&trees->by_thread, fv_mix(thread), (uint32_t)trees->count);
    return &trees->items[trees->count++];
}

/* ---- addresses in objects that the thread met before the process knew them: by now it may ---- */

struct places {
    const struct fv_module_record **modules; /* by begin */
    size_t count, room;
    bool known;
};

static int by_begin(const void *a, const void *b)
{
    const struct fv_module_record *x = *(const struct fv_module_record *const *)a,
                                  *y = *(const struct fv_module_record *const *)b;

    return (x->begin > y->begin) - (x->begin < y->begin);
}

static void find_places(struct places *places, const struct fv_build_file *f)
{
    struct fv_cursor c = fv_cursor(f->reader, FV_CHUNK_MODULES);

    places->known = true;
    for (const struct fv_module_record *m; (m = fv_cursor_next(&c));) {
        FV_GROW(places->modules, places->room, places->count + 1);
        places->modules[places->count++] = m;
    }
    if (places->count)
        qsort(places->modules, places->count, sizeof(*places->modules), by_begin);
}

static void place(struct places *places, const struct fv_build_file *f, struct fv_path_record *r)
{
    size_t low = 0, high;

    if (!places->known)
        find_places(places, f);
    for (high = places->count; low < high;) {
        size_t middle = low + (high - low) / 2;

        if (places->modules[middle]->begin <= r->offset - 1)
            low = middle + 1;
        else
            high = middle;
    }
    for (size_t i = low, least = low > LOOK_BACK ? low - LOOK_BACK : 0; i-- > least;) {
        const struct fv_module_record *m = places->modules[i];

        if (r->offset - 1 >= m->end)
            continue;
        r->module = m->id;
        r->offset -= m->bias;
        return;
    }
}

static void add(struct fv_sample_tree *t, struct fv_build *b, const struct fv_build_file *f,
                const struct fv_path_record *r)
{
    uint32_t node = FV_NONE, parent = 0, id = (uint32_t)t->count + 1;
    uint16_t depth = 0;

    if (r->parent && r->parent < id) {
        parent = t->nodes[r->parent - 1];
        depth = t->depth[r->parent - 1];
    }
    if (r->parent < id && parent != FV_NONE && depth < DEPTH_MAX)
        node = fv_build_node_add(b, parent, fv_build_module_of(f, r->module), r->offset);
    FV_GROW(t->nodes, t->room, id);
    FV_GROW(t->depth, t->depth_room, id);
    t->nodes[id - 1] = node;
    t->depth[id - 1] = (uint16_t)(depth + 1);
    t->count = id;
}

void fv_sample_trees_read(struct fv_sample_trees *trees, struct fv_build *b, struct fv_build_file *f)
{
    struct fv_cursor c = fv_cursor(f->reader, FV_CHUNK_SAMPLE_PATHS);
    struct places places = { 0 };
    struct fv_path_record r;

    for (const void *p; (p = fv_cursor_next(&c));) {
        struct fv_sample_tree *t = tree_of(trees, c.thread);

        if (!t)
            t = new_tree(trees, c.thread);
        if (c.index != t->count || t->count + 1 >= FV_NONE)
            continue; /* damage before it: its id is not known */
        memcpy(&r, p, sizeof(r));
        if (r.module == FV_MODULE_UNKNOWN)
            place(&places, f, &r);
        add(t, b, f, &r);
    }
    free(places.modules);
}

uint32_t fv_sample_trees_node(const struct fv_sample_trees *trees, uint32_t thread, uint32_t id)
{
    const struct fv_sample_tree *t = id ? tree_of(trees, thread) : NULL;

    return !id ? 0 : t && id <= t->count ? t->nodes[id - 1] : FV_NONE;
}

void fv_sample_trees_release(struct fv_sample_trees *trees)
{
    for (size_t i = 0; i < trees->count; i++) {
        free(trees->items[i].nodes);
        free(trees->items[i].depth);
    }
    free(trees->items);
    fv_index_release(&trees->by_thread);
    *trees = (struct fv_sample_trees){ 0 };
}
