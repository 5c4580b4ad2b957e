/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions that somebody in front of us defines: a program or a library with its own MPI_Send. Found before main, by
 * one thread. Such a function may hand its calls on to us, as a tool that is preloaded does by dlsym(RTLD_NEXT). So who
 * defines what is written into the rank file at the start, and what has come from there is taken out of it again. What
 * is left is told when the process ends. An object that refers to PMPI_Send passes MPI_Send by us, as far as nothing of
 * it comes; of one that does not, a first call that comes tells that it hands on all of them. */
#include "rt/path.h"
#include "rt/process.h"
#include "rt/rt.h"

#include "base/experiment.h"

#include <string.h>

enum {
    OBJECTS = 4,
    FUNCTIONS = 1024
}; /* more objects are counted as the last one's; more functions stay in the
    * record */

static struct object {
    struct fv_shadow_record record, *written; /* NULL: not yet */
    const void *address;                      /* of its code */
    uint32_t module;
    bool hands_on;
} objects[OBJECTS];

static struct {
    const char *name;
    struct object *object;
    bool passes_by, came;
} functions[FUNCTIONS];

static unsigned object_count, function_count;
uint32_t fv_shadows;

static struct object *object_of(const char *name, const void *address)
{
    struct object *o = objects;

    while (o < objects + object_count && strncmp(o->record.object, name, sizeof(o->record.object) - 1))
        o++;
    if (o == objects + OBJECTS)
        return o - 1;
    if (o == objects + object_count) {
        strncpy(o->record.object, name, sizeof(o->record.object) - 1);
        o->address = address;
        object_count++;
    }
    return o;
}

static void name_function(struct fv_shadow_record *r, const char *function)
{
    size_t used = strlen(r->names), length = strlen(function);

    if (used + length + 2 < sizeof(r->names)) {
        if (used)
            r->names[used++] = ' ';
        memcpy(r->names + used, function, length + 1);
        r->named++;
    }
    r->functions++;
    r->finalize |= !strcmp(function, "MPI_Finalize");
}

void fv_shadow_add(const char *object, const void *address, const char *function, bool passes_by)
{
    struct object *o = object_of(object, address);

    fv_shadows = 1;
    name_function(&o->record, function);
    if (function_count == FUNCTIONS)
        return;
    functions[function_count].name = function;
    functions[function_count].object = o;
    functions[function_count++].passes_by = passes_by;
}

/* What has not come, and is not known to. */
static void write_again(struct object *o)
{
    struct fv_shadow_record *r = &o->record;

    memset(r->names, 0, sizeof(r->names));
    r->named = r->functions = r->finalize = 0;
    for (unsigned i = 0; i < function_count; i++)
        if (functions[i].object == o && !functions[i].came && (functions[i].passes_by || !o->hands_on))
            name_function(r, functions[i].name);
    if (o->written)
        *o->written = *r;
}

void fv_shadow_came(unsigned function, uint32_t path)
{
    const char *name = fv_functions[function].name;

    uint64_t signals = fv_lock_sigsave(&fv_tree_lock);
    const struct fv_path_record *frame = path ? fv_tree_node(path) : NULL;
    for (unsigned i = 0; frame && i < function_count; i++) {
        struct object *o = functions[i].object;

        if (functions[i].came || o->module != frame->module || strcmp(functions[i].name, name))
            continue;
        functions[i].came = o->hands_on = true;
        write_again(o);
    }
    fv_unlock_sigrestore(&fv_tree_lock, signals);
}

bool fv_shadow_tell(void)
{
    bool told = false;

    for (unsigned i = 0; i < object_count; i++) {
        const struct fv_shadow_record *r = &objects[i].record;

        if (!r->functions)
            continue;
        fv_log("%s defines %u MPI function%s itself, in front of fvmpi: calls of %s%s are not recorded", r->object,
               r->functions, r->functions == 1 ? "" : "s", r->names, r->named < r->functions ? " ..." : "");
        told = true;
    }
    return told;
}

void fv_shadow_write(struct fv_writer *writer)
{
    size_t bytes = object_count * sizeof(struct fv_shadow_record);
    struct fv_chunk_header *chunk =
        object_count ? fv_writer_chunk(writer, FV_CHUNK_SHADOWS, FV_NO_THREAD, 0, bytes) : NULL;
    uint64_t offset;

    if (!chunk)
        return;
    struct fv_shadow_record *records = fv_chunk_records(chunk);
    for (unsigned i = 0; i < object_count; i++) {
        records[i] = objects[i].record;
        objects[i].written = &records[i];
        objects[i].module = fv_module_of((uintptr_t)objects[i].address, &offset);
    }
    fv_chunk_commit(chunk, bytes);
}
