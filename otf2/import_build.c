/* SPDX-License-Identifier: BSD-3-Clause */
/* See import_state.h: from the archive's definitions to ranks and to struct fv_defs. */
#include "otf2/import_state.h"
#include "merge/calls.h"
#include "merge/defs_add.h"
#include "fvmpi.h"
#include "trace/code_path.h"
#include "transcript/transcript.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- ranks ---- */

static bool is_thread(const struct fv_import_location *l)
{
    return l->type != OTF2_LOCATION_TYPE_METRIC;
}

static struct fv_import_rank_def *add_rank(struct fv_import *import, uint32_t process)
{
    struct fv_import_rank_def *r = &import->ranks[import->rank_count++];

    r->process = process;
    return r;
}

static void add_location(struct fv_import *import, uint32_t rank, uint32_t number)
{
    struct fv_import_rank_def *r = &import->ranks[rank];
    struct fv_import_location *l = fv_import_at(import, FV_IMPORT_LOCATION, number);
    size_t room = r->location_count;

    l->rank = rank;
    l->slot = r->location_count;
    r->locations = fv_grow(r->locations, &room, (size_t)r->location_count + 1, sizeof(*r->locations));
    r->locations[r->location_count++] = number;
}

static void add_recorder(struct fv_import *import, uint32_t rank, uint32_t number)
{
    struct fv_import_rank_def *r = &import->ranks[rank];
    size_t room = r->recorder_count;

    r->recorders = fv_grow(r->recorders, &room, (size_t)r->recorder_count + 1, sizeof(*r->recorders));
    r->recorders[r->recorder_count++] = number;
}

/* Whose members are the ranks of MPI_COMM_WORLD. */
static const struct fv_import_group *world_group(const struct fv_import *import)
{
    const struct fv_import_group *world = NULL;

    for (uint32_t i = 0; i < import->tables[FV_IMPORT_GROUP].count; i++) {
        const struct fv_import_group *g = fv_import_at(import, FV_IMPORT_GROUP, i);

        if (g->type == OTF2_GROUP_TYPE_COMM_LOCATIONS && g->paradigm == OTF2_PARADIGM_MPI &&
            (!world || g->count > world->count))
            world = g;
    }
    return world;
}

static void add_world(struct fv_import *import)
{
    const struct fv_import_group *g = world_group(import);

    for (uint32_t i = 0; g && i < g->count; i++) {
        uint32_t number = fv_import_number(import, FV_IMPORT_LOCATION, g->members[i]);
        struct fv_import_location *l = fv_import_at(import, FV_IMPORT_LOCATION, number);
        uint32_t process = l ? fv_import_number(import, FV_IMPORT_PROCESS, l->process) : FV_NONE;
        struct fv_import_process *p = fv_import_at(import, FV_IMPORT_PROCESS, process);

        add_rank(import, process);
        if (l && l->rank == FV_NONE)
            add_location(import, i, number);
        if (p && p->rank == FV_NONE)
            p->rank = i;
    }
    import->world = import->rank_count;
}

/* What an accelerator did belongs to the process that used it. */
static uint32_t rank_of_process(const struct fv_import *import, uint32_t process)
{
    const struct fv_import_process *p = fv_import_get(import, FV_IMPORT_PROCESS, process);

    for (unsigned i = 0; p && p->rank == FV_NONE && i < 8; i++)
        p = fv_import_get(import, FV_IMPORT_PROCESS, p->creator);
    return p ? p->rank : FV_NONE;
}

static int by_ref(const void *a, const void *b, void *refs)
{
    uint64_t x = ((const uint64_t *)refs)[*(const uint32_t *)a], y = ((const uint64_t *)refs)[*(const uint32_t *)b];

    return (x > y) - (x < y);
}

/* Processes that MPI does not know, in the order of their references. */
static void add_processes(struct fv_import *import)
{
    struct fv_import_table *t = &import->tables[FV_IMPORT_PROCESS];
    uint32_t *order = fv_xcalloc(t->count + 1, sizeof(*order));

    for (uint32_t i = 0; i < t->count; i++)
        order[i] = i;
    if (t->count)
        qsort_r(order, t->count, sizeof(*order), by_ref, t->refs);
    for (uint32_t i = 0; i < t->count; i++) {
        struct fv_import_process *p = fv_import_at(import, FV_IMPORT_PROCESS, order[i]);

        if (p->rank != FV_NONE || (p->type != OTF2_LOCATION_GROUP_TYPE_PROCESS &&
                                   fv_import_number(import, FV_IMPORT_PROCESS, p->creator) != FV_NONE))
            continue;
        p->rank = import->rank_count;
        add_rank(import, order[i]);
    }
    free(order);
}

bool fv_import_find_ranks(struct fv_import *import)
{
    const struct fv_import_group *world = world_group(import);
    size_t most = (world ? world->count : 0) + import->tables[FV_IMPORT_PROCESS].count;

    import->ranks = fv_xcalloc(most + 1, sizeof(*import->ranks));
    add_world(import);
    add_processes(import);
    for (uint32_t i = 0; i < import->tables[FV_IMPORT_LOCATION].count; i++) {
        struct fv_import_location *l = fv_import_at(import, FV_IMPORT_LOCATION, i);
        uint32_t rank = rank_of_process(import, l->process);

        if (l->rank != FV_NONE)
            continue;
        if (rank != FV_NONE && !is_thread(l))
            add_recorder(import, rank, i);
        else if (!is_thread(l))
            continue;
        else if (rank != FV_NONE)
            add_location(import, rank, i);
        else
            FV_IMPORT_ODD(import, no_process, l->events > 0);
    }
    return import->rank_count > 0;
}

/* ---- functions ---- */

/* "MPI_Send" of "mpi_send_", "MPI_SEND" and "MPI_Send()"; false: it cannot be a function of MPI. */
static bool mpi_name(const char *name, char out[64])
{
    size_t length = strcspn(name, "("), upper = 0;

    while (length > 4 && name[length - 1] == '_')
        length--;
    if (length < 5 || length > 63 || strncasecmp(name, "MPI_", 4) || strchr(name + 4, ' '))
        return false;
    snprintf(out, 64, "MPI_%.*s", (int)length - 4, name + 4);
    for (size_t i = 5; i < length; i++)
        upper += isupper((unsigned char)out[i]) != 0;
    bool is_fortran = upper == 0 || strcspn(out + 4, "abcdefghijklmnopqrstuvwxyz") == length - 4;
    out[4] = (char)toupper((unsigned char)out[4]);
    for (size_t i = 5; i < length && is_fortran; i++)
        out[i] = (char)tolower((unsigned char)out[i]);
    return true;
}

/* An entry of the call tree that is known by its name: as a function of source code (symbols.h). */
static uint32_t module_of(struct fv_call_tree *tree, const char *file, const char *function)
{
    size_t room = 4 * strlen(file) + strlen(function) + 12;
    char *path = fv_xcalloc(room, 1);
    uint8_t id[FV_CODE_ID_BYTES] = FV_CODE_ID;

    fv_code_path(file, function, path, room);
    uint64_t hash = fv_hash_text(path);
    memcpy(id + sizeof(FV_CODE_ID) - 1, &hash, sizeof(hash));
    uint32_t module = fv_call_tree_module(tree, id, sizeof(id), path);
    free(path);
    return module;
}

/* Our own archives have a region of a single or of sections only for who takes part. */
static unsigned construct_of(unsigned role, bool is_ours)
{
    switch (role) {
    case OTF2_REGION_ROLE_PARALLEL: return FV_CONSTRUCT_PARALLEL;
    case OTF2_REGION_ROLE_BARRIER: return FV_CONSTRUCT_EXPLICIT_BARRIER;
    case OTF2_REGION_ROLE_IMPLICIT_BARRIER: return FV_CONSTRUCT_BARRIER;
    case OTF2_REGION_ROLE_LOOP: return FV_CONSTRUCT_WORK + FV_OMP_WORK_LOOP;
    case OTF2_REGION_ROLE_SECTIONS: return (is_ours ? FV_CONSTRUCT_WORK : FV_CONSTRUCT_MET) + FV_OMP_WORK_SECTIONS;
    case OTF2_REGION_ROLE_SINGLE: return (is_ours ? FV_CONSTRUCT_WORK : FV_CONSTRUCT_MET) + FV_OMP_WORK_SINGLE;
    case OTF2_REGION_ROLE_SECTION:
    case OTF2_REGION_ROLE_SINGLE_SBLOCK: return FV_CONSTRUCT_BLOCK;
    case OTF2_REGION_ROLE_WORKSHARE: return FV_CONSTRUCT_WORK + FV_OMP_WORK_WORKSHARE;
    case OTF2_REGION_ROLE_MASTER: return FV_CONSTRUCT_WORK + FV_OMP_WORK_MASKED;
    case OTF2_REGION_ROLE_TASK: return FV_CONSTRUCT_WORK + FV_OMP_WORK_TASK;
    default: return FV_CONSTRUCT_NONE;
    }
}

/* Where threads wait: constructs of OpenMP under the names that our own records have, functions under theirs. */
static void build_waiting(const struct fv_import *import, struct fv_import_region *r, const char *text,
                          struct fv_defs *own)
{
    const char *name = r->role == OTF2_REGION_ROLE_BARRIER            ? "omp barrier"
                       : r->role == OTF2_REGION_ROLE_IMPLICIT_BARRIER ? "omp implicit barrier"
                       : r->role == OTF2_REGION_ROLE_CRITICAL         ? "omp critical"
                                                                      : text;
    bool is_omp = r->paradigm == OTF2_PARADIGM_OPENMP;

    if (is_omp || r->paradigm == OTF2_PARADIGM_PTHREAD)
        r->threads = fv_defs_function(own, is_omp ? name : text, FV_CLASS_OF_THREADS);
    r->is_section =
        import->call_path != FV_NONE && r->paradigm == OTF2_PARADIGM_USER && r->role == OTF2_REGION_ROLE_CODE;
    r->is_work = r->threads != FV_NONE && import->call_path != FV_NONE;
    r->construct = is_omp ? construct_of(r->role, import->call_path != FV_NONE) : FV_CONSTRUCT_NONE;
    r->is_barrier = is_omp && (r->role == OTF2_REGION_ROLE_BARRIER || r->role == OTF2_REGION_ROLE_IMPLICIT_BARRIER);
}

/* The allocator's functions of our own archives are no functions of the program; those of other tools are. */
static bool build_library(const struct fv_import *import, struct fv_import_region *r, const char *text,
                          struct fv_defs *own)
{
    bool is_memory = r->role == OTF2_REGION_ROLE_ALLOCATE || r->role == OTF2_REGION_ROLE_REALLOCATE ||
                     r->role == OTF2_REGION_ROLE_DEALLOCATE;

    r->is_files = r->role == OTF2_REGION_ROLE_FILE_IO || r->role == OTF2_REGION_ROLE_FILE_IO_METADATA;
    if (r->is_files)
        r->library = fv_defs_function(own, text, FV_CLASS_OF_FILES);
    else if (is_memory && import->call_path != FV_NONE)
        r->library = fv_defs_function(own, text, FV_CLASS_OF_MEMORY);
    return r->library != FV_NONE;
}

static void build_regions(struct fv_import *import, struct fv_defs *own)
{
    char name[64];

    for (uint32_t i = 0; i < import->tables[FV_IMPORT_REGION].count; i++) {
        struct fv_import_region *r = fv_import_at(import, FV_IMPORT_REGION, i);
        const char *text = fv_import_text(import, r->name);

        if (mpi_name(text, name) && (r->paradigm == OTF2_PARADIGM_MPI || fv_transcript_knows(name))) {
            import->has_mpi_regions = true;
            r->function = fv_defs_function(own, name, fv_transcript_class_of(name));
            r->neighbours = fv_call_info(name, FV_CLASS_OTHER).neighbour;
            r->calls_request = !strcmp(name, "MPI_Rput") || !strcmp(name, "MPI_Rget") ||
                               !strcmp(name, "MPI_Raccumulate") || !strcmp(name, "MPI_Rget_accumulate");
        } else if (!build_library(import, r, *text ? text : "?", own))
            build_waiting(import, r, text, own);
        r->module = module_of(&own->tree, fv_import_text(import, r->file), *text ? text : "?");
    }
    import->any_call = fv_defs_function(own, "MPI (no region)", FV_CLASS_OTHER);
    import->any_files = fv_defs_function(own, "I/O (no region)", FV_CLASS_OF_FILES);
}

static uint32_t node_of_context(const struct fv_import *import, struct fv_defs *own, const struct fv_import_context *c)
{
    const struct fv_import_context *parent = fv_import_get(import, FV_IMPORT_CONTEXT, c->parent);
    const struct fv_import_region *r = fv_import_get(import, FV_IMPORT_REGION, c->region);
    const struct fv_import_place *place = fv_import_get(import, FV_IMPORT_PLACE, c->place);
    uint32_t node = parent ? parent->node : 0;

    if (!r || r->function != FV_NONE || c->depth > FV_IMPORT_DEPTH)
        return node;
    uint32_t module = *fv_import_text(import, r->file) || !place
                          ? r->module
                          : module_of(&own->tree, fv_import_text(import, place->file), fv_import_text(import, r->name));
    return fv_call_tree_node(&own->tree, node, module, place ? place->line : 0);
}

/* Callers first, whatever their order in the archive. */
static void build_contexts(struct fv_import *import, struct fv_defs *own)
{
    size_t count = import->tables[FV_IMPORT_CONTEXT].count, depth, room = 0;
    struct fv_import_context **way = NULL;

    for (uint32_t i = 0; i < count; i++) {
        struct fv_import_context *c = fv_import_at(import, FV_IMPORT_CONTEXT, i);

        for (depth = 0; c && !c->state; c = fv_import_get(import, FV_IMPORT_CONTEXT, c->parent)) {
            FV_GROW(way, room, depth + 1);
            way[depth++] = c;
            c->state = 1; /* and where it is its own caller it ends here */
        }
        while (depth--) {
            const struct fv_import_context *parent = fv_import_get(import, FV_IMPORT_CONTEXT, way[depth]->parent);

            way[depth]->depth = parent ? parent->depth + 1 : 1;
            way[depth]->node = node_of_context(import, own, way[depth]);
        }
    }
    free(way);
}

/* ---- communicators, windows ---- */

/* Its group in MPI; NULL: it has none. */
static const struct fv_import_group *group_of(const struct fv_import *import, uint32_t ref)
{
    static const uint32_t types[] = { OTF2_GROUP_TYPE_COMM_GROUP, OTF2_GROUP_TYPE_COMM_SELF,
                                      OTF2_GROUP_TYPE_COMM_LOCATIONS };

    for (unsigned i = 0; i < sizeof(types) / sizeof(*types); i++) {
        const struct fv_import_group *g = fv_import_get(import, FV_IMPORT_GROUP, fv_import_group_ref(ref, types[i]));

        if (g && g->paradigm == OTF2_PARADIGM_MPI)
            return g;
    }
    return NULL;
}

/* World rank of a member; FV_NONE: there is none. */
static uint32_t member(const struct fv_import *import, const struct fv_import_group *g, uint32_t i)
{
    if (g->type == OTF2_GROUP_TYPE_COMM_LOCATIONS) {
        const struct fv_import_location *l = fv_import_get(import, FV_IMPORT_LOCATION, g->members[i]);

        return l ? l->rank : FV_NONE;
    }
    return g->members[i] < import->world ? (uint32_t)g->members[i] : FV_NONE;
}

struct runs {
    struct fv_rank_run *items;
    size_t count;
    uint64_t hash;
    bool in_order; /* 0, 1, 2, ... */
};

/* False: a member is not there. */
static bool add_members(const struct fv_import *import, const struct fv_import_group *g, struct runs *runs)
{
    runs->items = fv_xrealloc(runs->items, runs->count + g->count + 1, sizeof(*runs->items));
    runs->in_order = true;
    for (uint32_t i = 0; i < g->count; i++) {
        uint32_t rank = member(import, g, i);

        if (rank == FV_NONE)
            return false;
        runs->in_order = runs->in_order && rank == i;
        runs->hash = fv_mix2(runs->hash, rank);
        fv_rank_runs_add(runs->items, &runs->count, (int32_t)rank);
    }
    return true;
}

static uint32_t flags_of(const struct fv_import *import, const struct fv_def_comm *comm, bool is_in_order)
{
    char name[64] = "";
    unsigned k;

    if (import->call_path != FV_NONE && sscanf(comm->name, FV_CHANNELS_NAME, &k) == 1)
        snprintf(name, sizeof(name), FV_CHANNELS_NAME, k);
    if (name[0] && !strcmp(comm->name, name))
        return FV_COMM_CHANNELS;
    return is_in_order && comm->size == import->world && !strcmp(comm->name, "MPI_COMM_WORLD") ? FV_COMM_WORLD : 0;
}

static void build_comm(struct fv_import *import, struct fv_defs *own, struct fv_import_comm *c, uint32_t number)
{
    const struct fv_import_group *g = group_of(import, c->group),
                                 *other = c->is_inter ? group_of(import, c->other_group) : NULL;
    struct runs local = { 0 }, remote = { 0 };
    struct fv_def_comm comm = { .uid = (uint64_t)number + 1,
                                .owner = FV_NOBODY,
                                .name = fv_import_text(import, c->name) };

    if (g && (!c->is_inter || other) && add_members(import, g, &local) &&
        (!other || add_members(import, other, &remote))) {
        bool is_self = g->type == OTF2_GROUP_TYPE_COMM_SELF;

        comm.size = is_self ? 1 : g->count;
        comm.remote_size = other ? other->count : 0;
        comm.members = fv_mix2(local.hash, remote.hash);
        comm.flags = is_self ? FV_COMM_SELF : flags_of(import, &comm, local.in_order);
        comm.run_count = (uint32_t)local.count;
        comm.remote_run_count = (uint32_t)remote.count;
        local.items = fv_xrealloc(local.items, local.count + remote.count + 1, sizeof(*local.items));
        if (remote.count)
            memcpy(local.items + local.count, remote.items, remote.count * sizeof(*remote.items));
        comm.runs = local.items;
        comm.origin = (struct fv_origin){ 0, number };
        c->number = fv_defs_add_comm(own, &comm);
    }
    free(local.items);
    free(remote.items);
}

static void build_windows(struct fv_import *import, struct fv_defs *own)
{
    for (uint32_t i = 0; i < import->tables[FV_IMPORT_WINDOW].count; i++) {
        struct fv_import_window *w = fv_import_at(import, FV_IMPORT_WINDOW, i);
        const struct fv_import_comm *c = fv_import_get(import, FV_IMPORT_COMM, w->comm);

        if (c && c->number != FV_NONE)
            w->number = fv_defs_window(
                own,
                &(struct fv_def_window){ .comm = c->number, .sequence = i, .owner = FV_NOBODY, .origin = { 0, i } });
    }
}

/* Groups that windows are synchronised with; each is made, or found. */
void fv_import_number_groups(struct fv_import *import, struct fv_defs *defs)
{
    for (uint32_t i = 0; i < import->tables[FV_IMPORT_GROUP].count; i++) {
        struct fv_import_group *g = fv_import_at(import, FV_IMPORT_GROUP, i);
        bool is_group = g->paradigm == OTF2_PARADIGM_MPI && g->type == OTF2_GROUP_TYPE_COMM_GROUP && g->count;
        uint32_t *ranks = fv_xcalloc((size_t)g->count + 1, sizeof(*ranks));

        for (uint32_t k = 0; k < g->count && is_group; k++)
            ranks[k] = member(import, g, k);
        g->number = is_group ? fv_defs_group(defs, ranks, g->count) : FV_NONE;
        free(ranks);
    }
}

/* A name of the program's, or the function that threads began with; what has none is known by its place. */
static void build_lock(const struct fv_import *import, struct fv_defs *own, struct fv_import_lock_name *l)
{
    static const char before[] = "threads of ";
    const char *text = fv_import_text(import, l->text), *name = strchr(text, ' ');
    char plain[256];

    for (unsigned kind = 1; kind < FV_SYNC_KINDS && name; kind++)
        if (!strncmp(fv_sync_kind_name(kind), text, (size_t)(name - text)) && !fv_sync_kind_name(kind)[name - text])
            l->kind = kind;
    if (!name++ || !l->kind)
        return;
    if (l->kind == FV_SYNC_JOIN && !strncmp(name, before, sizeof(before) - 1))
        name += sizeof(before) - 1;
    snprintf(plain, sizeof(plain), "%s", name);
    size_t length = strlen(plain);
    if (length > 2 && !strcmp(plain + length - 2, "()"))
        plain[length - 2] = '\0';
    if (*plain && !strchr(plain, ' '))
        l->node = fv_call_tree_node(&own->tree, 0, module_of(&own->tree, "", plain), 0);
}

static void build_locks(struct fv_import *import, struct fv_defs *own)
{
    for (uint32_t i = 0; i < import->tables[FV_IMPORT_LOCK].count; i++)
        build_lock(import, own, fv_import_at(import, FV_IMPORT_LOCK, i));
    for (unsigned kind = 0; kind < FV_TW_COUNT; kind++) {
        const struct fv_import_table *t = &import->tables[FV_IMPORT_STRING];
        uint32_t *ref = &import->wait_kinds[kind];

        *ref = FV_NONE;
        for (uint32_t i = 0; kind && i < t->count && *ref == FV_NONE; i++)
            if (!strcmp(((const struct fv_import_string *)fv_import_at(import, FV_IMPORT_STRING, i))->text,
                        fv_thread_wait_names[kind]))
                *ref = (uint32_t)t->refs[i];
    }
}

static uint32_t find_attribute(const struct fv_import *import, const char *name)
{
    const struct fv_import_table *t = &import->tables[FV_IMPORT_ATTRIBUTE];

    for (uint32_t i = 0; i < t->count; i++) {
        const struct fv_import_attribute *a = fv_import_at(import, FV_IMPORT_ATTRIBUTE, i);

        if (!strcmp(fv_import_text(import, a->name), name))
            return (uint32_t)t->refs[i];
    }
    return FV_NONE;
}

void fv_import_build(struct fv_import *import, struct fv_defs *own)
{
    import->call_path = find_attribute(import, "fvmpi::call_path");
    build_regions(import, own);
    build_contexts(import, own);
    for (uint32_t i = 0; i < import->tables[FV_IMPORT_COMM].count; i++)
        build_comm(import, own, fv_import_at(import, FV_IMPORT_COMM, i), i);
    fv_import_build_grids(import, own);
    build_windows(import, own);
    fv_import_build_files(import, own);
    fv_import_number_groups(import, own);
    build_locks(import, own);
    import->lock = find_attribute(import, "fvmpi::lock");
    import->wait = find_attribute(import, "fvmpi::wait");
    import->wait_kind = find_attribute(import, "fvmpi::wait_kind");
    import->cause = find_attribute(import, "fvmpi::cause");
    import->cpu_time = find_attribute(import, "fvmpi::cpu_time");
    import->io_handle = find_attribute(import, "fvmpi::io_handle");
    import->io_failed = find_attribute(import, "fvmpi::io_failed");
    import->io_bytes = find_attribute(import, "fvmpi::io_bytes");
    import->io_offset = find_attribute(import, "Offset");
}

/* ---- ranks, once they have been looked at ---- */

/* The name of the system tree's lowest node that holds the process. */
const char *fv_import_host(const struct fv_import *import, const struct fv_import_process *p)
{
    const struct fv_import_node *n = p ? fv_import_get(import, FV_IMPORT_NODE, p->node) : NULL;

    for (unsigned i = 0; n && i < 16; i++) {
        const char *class = fv_import_text(import, n->class);

        if (!strcasecmp(class, "node") || !strcasecmp(class, "host"))
            break;
        const struct fv_import_node *parent = fv_import_get(import, FV_IMPORT_NODE, n->parent);
        if (!parent)
            break;
        n = parent;
    }
    return n ? fv_import_text(import, n->name) : "";
}

static void copy(char *out, size_t bytes, const char *text)
{
    snprintf(out, bytes, "%s", text);
}

static void copy_properties(const struct fv_import *import, const struct fv_import_process *p,
                            struct fv_file_header *out)
{
    const char *mpi = p ? fv_import_text(import, p->mpi) : "";

    out->pid = p ? (uint32_t)strtoul(fv_import_text(import, p->pid), NULL, 10) : 0;
    copy(out->mpi, sizeof(out->mpi), *mpi || import->world || import->has_mpi_regions ? mpi : "none");
    copy(out->thread_level, sizeof(out->thread_level), p ? fv_import_text(import, p->thread_level) : "");
}

/* In the place of the command line, which archives do not have. */
static void name_run(const struct fv_import *import, char *out, size_t bytes)
{
    const struct fv_import_part *part = &import->part;
    size_t length = 0;

    length +=
        (size_t)snprintf(out, bytes, "%s%s", part->of ? "" : "OTF2 archive ", part->of ? part->of : import->anchor);
    if (import->is_part && length < bytes)
        length += (size_t)snprintf(out + length, bytes - length, ", from %g s", (double)part->from_ns / 1e9);
    if (import->is_part && part->to_ns != UINT64_MAX && length < bytes)
        snprintf(out + length, bytes - length, " to %g s", (double)part->to_ns / 1e9);
}

void fv_import_header(const struct fv_import *import, uint32_t rank, const struct fv_import_survey *survey,
                      struct fv_file_header *out)
{
    const struct fv_import_process *p = fv_import_at(import, FV_IMPORT_PROCESS, import->ranks[rank].process);
    const char *host = fv_import_host(import, p);
    const uint64_t machine = fv_hash_text(host) | 1; /* its processes have one clock, as the archive corrected it */

    *out = (struct fv_file_header){ .version = FV_FILE_VERSION,
                                    .byte_order = FV_BYTE_ORDER,
                                    .header_bytes = FV_PAGE,
                                    .state = survey->is_cut  ? FV_STATE_CUT
                                             : p && p->state ? p->state
                                                             : FV_STATE_FINALIZED,
                                    .clock_kind = FV_CLOCK_MONOTONIC,
                                    .world_rank = (int32_t)rank,
                                    .world_size = (int32_t)import->rank_count,
                                    .process_start = 1,
                                    .job = import->trace_id,
                                    .first = { FV_TRANSCRIPT_FIRST, (int64_t)import->realtime, FV_TRANSCRIPT_FIRST },
                                    .nominal_hz = 1000000000,
                                    .traced = survey->events > 0 };
    if (out->state == FV_STATE_ABORTED)
        out->exit_code = (int32_t)survey->exit_code;
    memcpy(out->magic, FV_FILE_MAGIC, sizeof(out->magic));
    memcpy(out->boot_id, &machine, sizeof(machine));
    copy(out->host, sizeof(out->host), host);
    copy(out->program, sizeof(out->program), fv_import_text(import, survey->program));
    copy_properties(import, p, out);
    copy(out->fvmpi, sizeof(out->fvmpi), FVMPI_VERSION);
    name_run(import, out->command, sizeof(out->command));
}

static void build_rank(struct fv_import *import, struct fv_defs *own, uint32_t rank,
                       const struct fv_import_survey *survey)
{
    const struct fv_import_rank_def *r = &import->ranks[rank];
    uint32_t *threads = fv_xcalloc((size_t)r->location_count + 1, sizeof(*threads));
    struct fv_file_header h;

    fv_import_header(import, rank, survey, &h);
    const struct fv_clock_point point = { .realtime_ns = (int64_t)import->realtime };
    struct fv_def_rank out = { .world_rank = rank,
                               .state = h.state,
                               .exit_code = (int32_t)survey->exit_code,
                               .host = h.host,
                               .program = h.program,
                               .command = "",
                               .mpi = "",
                               .thread_level = "",
                               .file = "",
                               .events = "",
                               .clock_kind = h.clock_kind,
                               .traced = survey->events > 0,
                               .first_ticks = survey->events ? survey->first_ns : 0,
                               .last_ticks = survey->last_ns,
                               .points = &point,
                               .point_count = 1,
                               .thread_objects = survey->has_threads ? survey->locks + 1 : 0,
                               .threads = threads,
                               .thread_count = r->location_count,
                               .identity = { fv_key_process(&h), survey->calls } };

    memcpy(out.boot_id, h.boot_id, sizeof(out.boot_id));
    for (uint32_t i = 0; i < r->location_count; i++)
        threads[i] = i;
    fv_defs_add_rank(own, &out);
    free(threads);
}

void fv_import_build_ranks(struct fv_import *import, struct fv_defs *own)
{
    for (uint32_t i = 0; i < import->count; i++)
        build_rank(import, own, import->first + i, &import->surveys[i]);
}
