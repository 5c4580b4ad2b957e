/* SPDX-License-Identifier: BSD-3-Clause */
/* The archive's global definitions, in the order that readers expect: clock, strings first where they are
 * used, then from the machine down to files. See archive.h. */
#include "otf2/definitions_state.h"
#include "otf2/states.h"
#include "merge/calls.h"
#include "merge/threads.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- writing ---- */

static void write_paradigms(struct writing *w)
{
    OTF2_AttributeValue value = { .stringRef = text(w, "Comm ${id}") };

    check(w, OTF2_GlobalDefWriter_WriteParadigm(w->w, OTF2_PARADIGM_MPI, text(w, "MPI"), OTF2_PARADIGM_CLASS_PROCESS));
    check(w, OTF2_GlobalDefWriter_WriteParadigmProperty(
                 w->w, OTF2_PARADIGM_MPI, OTF2_PARADIGM_PROPERTY_COMM_NAME_TEMPLATE, OTF2_TYPE_STRING, value));
    value.stringRef = text(w, "Window ${id}");
    check(w, OTF2_GlobalDefWriter_WriteParadigmProperty(
                 w->w, OTF2_PARADIGM_MPI, OTF2_PARADIGM_PROPERTY_RMA_WIN_NAME_TEMPLATE, OTF2_TYPE_STRING, value));
    value = (OTF2_AttributeValue){ .uint8 = OTF2_FALSE };
    check(w, OTF2_GlobalDefWriter_WriteParadigmProperty(w->w, OTF2_PARADIGM_MPI, OTF2_PARADIGM_PROPERTY_RMA_ONLY,
                                                        OTF2_TYPE_UINT8, value));
    if (w->contexts->function_count)
        check(w, OTF2_GlobalDefWriter_WriteParadigm(w->w, OTF2_PARADIGM_SAMPLING, text(w, "Call paths"),
                                                    OTF2_PARADIGM_CLASS_THREAD_FORK_JOIN));
    if (fv_defs_has_threads(w->d))
        check(w, OTF2_GlobalDefWriter_WriteParadigm(w->w, OTF2_PARADIGM_PTHREAD, text(w, "POSIX threads"),
                                                    OTF2_PARADIGM_CLASS_THREAD_CREATE_WAIT));
    if (fv_defs_has_omp(w->d))
        check(w, OTF2_GlobalDefWriter_WriteParadigm(w->w, OTF2_PARADIGM_OPENMP, text(w, "OpenMP"),
                                                    OTF2_PARADIGM_CLASS_THREAD_FORK_JOIN));
    if (fv_defs_has_sections(w->d))
        check(w, OTF2_GlobalDefWriter_WriteParadigm(w->w, OTF2_PARADIGM_USER, text(w, "Sections"),
                                                    OTF2_PARADIGM_CLASS_THREAD_FORK_JOIN));
}

/* ---- machine, ranks, threads ---- */

/* Location groups are in the order of their ranks, that of all absent ones where the first of these would be.
 * NULL: it is that. */
static const struct fv_def_rank *rank_of_group(const struct writing *w, uint32_t group)
{
    return group == w->absent ? NULL : &w->d->ranks[group - (group > w->absent)];
}

/* Node 0 is the machine; hosts follow in the order of their first ranks. */
static void write_nodes(struct writing *w)
{
    const struct fv_defs *d = w->d;
    struct fv_index index = { 0 };
    uint32_t nodes = 1;

    check(w, OTF2_GlobalDefWriter_WriteSystemTreeNode(w->w, 0, text(w, "machine"), text(w, "machine"),
                                                      OTF2_UNDEFINED_SYSTEM_TREE_NODE));
    check(w, OTF2_GlobalDefWriter_WriteSystemTreeNodeDomain(w->w, 0, OTF2_SYSTEM_TREE_DOMAIN_MACHINE));
    for (uint32_t i = 0; i < d->rank_count; i++) {
        uint64_t hash = fv_hash_bytes(d->ranks[i].host, strlen(d->ranks[i].host));
        struct fv_index_probe p = fv_index_probe(&index, hash);
        uint32_t k;

        while ((k = fv_index_next(&p)) != FV_NONE && strcmp(d->ranks[k].host, d->ranks[i].host))
            ;
        if (k != FV_NONE) {
            w->rank_nodes[i] = w->rank_nodes[k];
            continue;
        }
        fv_index_add(&index, hash, i);
        w->rank_nodes[i] = nodes;
        check(w, OTF2_GlobalDefWriter_WriteSystemTreeNode(w->w, nodes, text(w, d->ranks[i].host), text(w, "node"), 0));
        check(w, OTF2_GlobalDefWriter_WriteSystemTreeNodeDomain(w->w, nodes, OTF2_SYSTEM_TREE_DOMAIN_SHARED_MEMORY));
        nodes++;
    }
    fv_index_release(&index);
}

static void property(struct writing *w, uint32_t group, const char *name, const char *value)
{
    check(w, OTF2_GlobalDefWriter_WriteLocationGroupProperty(w->w, group, text(w, name), OTF2_TYPE_STRING,
                                                             (OTF2_AttributeValue){ .stringRef = text(w, value) }));
}

static const char *state_of(const struct fv_def_rank *r)
{
    return !r ? FV_ARCHIVE_MISSING : r->runs ? FV_ARCHIVE_RUNS : fv_archive_states[r->state];
}

static void write_properties(struct writing *w, uint32_t group, const struct fv_def_rank *r)
{
    char number[32];

    property(w, group, FV_ARCHIVE_STATE, state_of(r));
    if (!r)
        return;
    snprintf(number, sizeof(number), "%u", r->pid);
    property(w, group, FV_ARCHIVE_PID, number);
    property(w, group, FV_ARCHIVE_MPI, r->mpi);
    property(w, group, FV_ARCHIVE_THREAD_LEVEL, r->thread_level);
    if (w->archive->samples && r->sample_rate) {
        snprintf(number, sizeof(number), "%llu", (unsigned long long)r->sample_rate);
        property(w, group, "fvmpi::SAMPLE_RATE", number);
    }
    if (!r->traced)
        property(w, group, "fvmpi::TRACE", "none: profile only");
    else if (r->stop_ticks)
        property(w, group, "fvmpi::TRACE", "stopped: its budget or the disk was full");
    if (r->dropped) {
        snprintf(number, sizeof(number), "%llu", (unsigned long long)r->dropped);
        property(w, group, "fvmpi::CALLS_NOT_IN_TRACE", number);
    }
    if (r->dropped_instances) {
        snprintf(number, sizeof(number), "%llu", (unsigned long long)r->dropped_instances);
        property(w, group, "fvmpi::INSTANCES_NOT_IN_TRACE", number);
    }
    uint64_t others = r->dropped_of_threads + r->dropped_of_files + r->dropped_of_memory;
    if (others) {
        snprintf(number, sizeof(number), "%llu", (unsigned long long)others);
        property(w, group, "fvmpi::THREAD_EVENTS_NOT_IN_TRACE", number);
    }
}

/* OTF2 defines no locks: the names of a rank's are properties of it, by the numbers that events have. */
static void write_locks(struct writing *w, uint32_t group, const struct fv_def_rank *rank)
{
    const struct fv_lock_names *names = w->archive->locks;
    char key[40], value[1100];

    for (uint32_t i = rank->first_object; i < rank->first_object + rank->thread_objects && i < names->count; i++) {
        if (!names->items[i].name)
            continue;
        snprintf(key, sizeof(key), "fvmpi::LOCK::%u", i);
        snprintf(value, sizeof(value), "%s %s", fv_sync_kind_name(names->items[i].kind), names->items[i].name);
        property(w, group, key, value);
    }
}

static uint32_t world_rank_of(const struct writing *w, uint32_t group)
{
    const struct fv_def_rank *r = rank_of_group(w, group);

    return r ? r->world_rank : w->absent;
}

static void write_location_group(struct writing *w, uint32_t group)
{
    const struct fv_def_rank *r = rank_of_group(w, group);
    uint32_t absent = w->d->world_size - (uint32_t)w->d->rank_count;
    char name[64];

    if (!r && absent > 1)
        snprintf(name, sizeof(name), "%u MPI ranks without a rank file", absent);
    else
        snprintf(name, sizeof(name), "MPI Rank %u", world_rank_of(w, group));
    check(w, OTF2_GlobalDefWriter_WriteLocationGroup(w->w, group, text(w, name), OTF2_LOCATION_GROUP_TYPE_PROCESS,
                                                     r ? w->rank_nodes[r - w->d->ranks] : 0,
                                                     OTF2_UNDEFINED_LOCATION_GROUP));
}

/* Ranks without a file are members of communicators. One location stands for all of them: a location is two
 * files, and that there were so many ranks is but a number in the files that are here. */
static void write_locations(struct writing *w)
{
    uint32_t groups = (uint32_t)w->d->rank_count + (w->absent != FV_NONE), group = 0;
    char name[64];

    for (uint32_t i = 0; i < groups; i++)
        write_location_group(w, i);
    for (size_t i = 0; i < w->location_count; i++) {
        const struct fv_archive_location *l = &w->locations[i];

        while (world_rank_of(w, group) < l->rank)
            group++;
        const struct fv_def_rank *r = rank_of_group(w, group);
        bool is_sensors =
            r && fv_sensors_of_host(w->d, (uint32_t)(r - w->d->ranks)) && l->location == fv_sensors_location(r);

        bool is_memory = r && r->has_memory && l->location == fv_memory_location(r);

        if (is_memory)
            snprintf(name, sizeof(name), "Memory of rank %u", r->world_rank);
        else if (is_sensors)
            snprintf(name, sizeof(name), "Sensors of %.40s", r->host);
        else if (l->location >> 32)
            snprintf(name, sizeof(name), "Thread %llu", (unsigned long long)(l->location >> 32));
        else
            snprintf(name, sizeof(name), "Master thread");
        check(w, OTF2_GlobalDefWriter_WriteLocation(w->w, l->location, text(w, name),
                                                    is_sensors || is_memory ? OTF2_LOCATION_TYPE_METRIC
                                                                            : OTF2_LOCATION_TYPE_CPU_THREAD,
                                                    l->events, group));
    }
    for (uint32_t i = 0; i < groups; i++)
        write_properties(w, i, rank_of_group(w, i));
    for (uint32_t i = 0; i < groups; i++) {
        const struct fv_def_rank *r = rank_of_group(w, i);

        if (r)
            write_locks(w, i, r);
    }
}

/* ---- regions, call paths ---- */

static OTF2_RegionRole role_of(const struct fv_call_info *info)
{
    switch ((enum fv_call_role)info->role) {
    case FV_ROLE_P2P: return OTF2_REGION_ROLE_POINT2POINT;
    case FV_ROLE_ONE2ALL: return OTF2_REGION_ROLE_COLL_ONE2ALL;
    case FV_ROLE_ALL2ONE: return OTF2_REGION_ROLE_COLL_ALL2ONE;
    case FV_ROLE_ALL2ALL: return OTF2_REGION_ROLE_COLL_ALL2ALL;
    case FV_ROLE_COLL_OTHER: return info->op == FV_OP_BARRIER ? OTF2_REGION_ROLE_BARRIER : OTF2_REGION_ROLE_COLL_OTHER;
    case FV_ROLE_RMA: return OTF2_REGION_ROLE_RMA;
    case FV_ROLE_IO: return OTF2_REGION_ROLE_FILE_IO;
    case FV_ROLE_IO_METADATA: return OTF2_REGION_ROLE_FILE_IO_METADATA;
    case FV_ROLE_THREAD_BARRIER: return OTF2_REGION_ROLE_BARRIER;
    case FV_ROLE_THREAD_IMPLICIT_BARRIER: return OTF2_REGION_ROLE_IMPLICIT_BARRIER;
    case FV_ROLE_THREAD_JOIN: return OTF2_REGION_ROLE_THREAD_WAIT;
    case FV_ROLE_OMP_LOOP: return OTF2_REGION_ROLE_LOOP;
    case FV_ROLE_OMP_SECTIONS: return OTF2_REGION_ROLE_SECTIONS;
    case FV_ROLE_OMP_SINGLE: return OTF2_REGION_ROLE_SINGLE;
    case FV_ROLE_OMP_WORKSHARE: return OTF2_REGION_ROLE_WORKSHARE;
    case FV_ROLE_OMP_MASKED: return OTF2_REGION_ROLE_MASTER;
    case FV_ROLE_OMP_TASK: return OTF2_REGION_ROLE_TASK;
    case FV_ROLE_OMP_TARGET: return OTF2_REGION_ROLE_CODE;
    case FV_ROLE_OMP_TARGET_DATA: return OTF2_REGION_ROLE_DATA_TRANSFER;
    case FV_ROLE_ALLOCATE: return OTF2_REGION_ROLE_ALLOCATE;
    case FV_ROLE_REALLOCATE: return OTF2_REGION_ROLE_REALLOCATE;
    case FV_ROLE_DEALLOCATE: return OTF2_REGION_ROLE_DEALLOCATE;
    case FV_ROLE_THREAD:
    case FV_ROLE_OTHER: break;
    }
    return OTF2_REGION_ROLE_FUNCTION;
}

static OTF2_StringRef command_line(struct writing *w, const struct fv_command *c)
{
    const struct fv_strings *s = &w->archive->strings;
    size_t bytes = strlen(s->items[c->program]) + 1;

    for (uint32_t i = 0; i < c->argument_count; i++)
        bytes += strlen(s->items[c->arguments[i]]) + 1;
    char *line = fv_xcalloc(bytes, 1), *at = stpcpy(line, s->items[c->program]);
    for (uint32_t i = 0; i < c->argument_count; i++)
        at = stpcpy(stpcpy(at, " "), s->items[c->arguments[i]]);
    OTF2_StringRef id = text(w, line);
    free(line);
    return id;
}

struct program {
    OTF2_StringRef program, line;
};

/* Readers (Scalasca) find the program that ProgramBegin names as a region: its name is the program's without
 * directories, its canonical name the program and its arguments. One for each program of the run. */
static void write_programs(struct writing *w, uint32_t region)
{
    const struct fv_command *commands = w->archive->commands;
    struct program *seen = fv_xcalloc(w->d->rank_count + 1, sizeof(*seen));
    struct fv_index index = { 0 };
    uint32_t count = 0, k;

    for (size_t i = 0; i < w->d->rank_count; i++) {
        const struct program this = { commands[i].program, command_line(w, &commands[i]) };
        const char *program = w->archive->strings.items[this.program];
        uint64_t hash = fv_mix2(this.program, this.line);
        struct fv_index_probe p = fv_index_probe(&index, hash);

        while ((k = fv_index_next(&p)) != FV_NONE && (seen[k].program != this.program || seen[k].line != this.line))
            ;
        if (k != FV_NONE)
            continue;
        fv_index_add(&index, hash, count);
        seen[count] = this;
        check(w, OTF2_GlobalDefWriter_WriteRegion(w->w, region + count++, text(w, fv_base_name(program)), this.line,
                                                  text(w, "the program"), OTF2_REGION_ROLE_ARTIFICIAL,
                                                  OTF2_PARADIGM_MEASUREMENT_SYSTEM, OTF2_REGION_FLAG_NONE,
                                                  OTF2_UNDEFINED_STRING, 0, 0));
    }
    fv_index_release(&index);
    free(seen);
}

/* Named as the program does; the canonical name has its number in any case. */
static void write_section(struct writing *w, uint32_t region, const char *canonical)
{
    char name[FV_SECTION_NAME + 16];
    int length = snprintf(name, sizeof(name), "%s", canonical);

    for (char *c = name; *c; c++)
        *c = (unsigned char)*c < ' ' || *c == 0x7f ? '?' : *c;
    if (!strcmp(name + length - 2, " 0")) /* there are two, of "" */
        name[length - 2] = '\0';
    check(w, OTF2_GlobalDefWriter_WriteRegion(w->w, region, text(w, name), text(w, canonical),
                                              text(w, "section of the program"), OTF2_REGION_ROLE_CODE,
                                              OTF2_PARADIGM_USER, OTF2_REGION_FLAG_NONE, OTF2_UNDEFINED_STRING, 0, 0));
}

/* Whose function it is. */
struct owner {
    OTF2_Paradigm paradigm;
    const char *name;
};

static struct owner owner_of(const struct fv_def_function *f)
{
    switch (f->class) {
    case FV_CLASS_OF_THREADS:
        return fv_thread_call_is_omp(f->name) ? (struct owner){ OTF2_PARADIGM_OPENMP, "OpenMP" }
                                              : (struct owner){ OTF2_PARADIGM_PTHREAD, "POSIX threads" };
    case FV_CLASS_OF_FILES: return (struct owner){ OTF2_PARADIGM_NONE, "I/O" }; /* there is no paradigm of files */
    case FV_CLASS_OF_MEMORY: return (struct owner){ OTF2_PARADIGM_NONE, "memory" };
    default: return (struct owner){ OTF2_PARADIGM_MPI, "MPI" };
    }
}

static void write_regions(struct writing *w)
{
    const struct fv_contexts *c = w->contexts;
    uint32_t mpi = (uint32_t)w->d->function_count;

    for (uint32_t i = 0; i < mpi; i++) {
        const struct fv_def_function *f = &w->d->functions[i];
        struct fv_call_info info = fv_call_info(f->name, f->class);

        if (f->class == FV_CLASS_SECTION) {
            write_section(w, i, f->name);
            continue;
        }
        OTF2_StringRef name = text(w, f->name);
        struct owner owner = owner_of(f);

        check(w, OTF2_GlobalDefWriter_WriteRegion(w->w, i, name, name, text(w, ""), role_of(&info), owner.paradigm,
                                                  OTF2_REGION_FLAG_NONE, text(w, owner.name), 0, 0));
    }
    for (uint32_t i = 0; i < c->function_count; i++) {
        OTF2_StringRef name = text(w, c->functions[i].name);
        OTF2_StringRef file = c->functions[i].file ? text(w, c->functions[i].file) : OTF2_UNDEFINED_STRING;

        check(w, OTF2_GlobalDefWriter_WriteRegion(w->w, mpi + i, name, name, text(w, ""), OTF2_REGION_ROLE_FUNCTION,
                                                  OTF2_PARADIGM_SAMPLING, OTF2_REGION_FLAG_NONE, file, 0, 0));
    }
    write_programs(w, mpi + c->function_count);
}

/* place: a source code location. FV_NONE: none is known, no parent. */
static void write_context(struct writing *w, uint32_t id, uint32_t region, uint32_t place, uint32_t parent)
{
    check(w, OTF2_GlobalDefWriter_WriteCallingContext(w->w, id, region,
                                                      place == FV_NONE ? OTF2_UNDEFINED_SOURCE_CODE_LOCATION : place,
                                                      parent == FV_NONE ? OTF2_UNDEFINED_CALLING_CONTEXT : parent));
}

static void write_contexts(struct writing *w)
{
    const struct fv_calling *calling = &w->archive->calling;
    const struct fv_contexts *c = w->contexts;
    uint32_t mpi = (uint32_t)w->d->function_count, lines = 0;
    uint32_t *place = fv_xcalloc(c->count + 1, sizeof(*place));
    struct fv_index index = { 0 };

    for (uint32_t i = 0; i < c->count; i++) {
        const struct fv_calling_context *x = &c->items[i];

        place[i] = FV_NONE;
        if (!x->file || !x->line)
            continue;
        uint64_t hash = fv_mix2(fv_hash_bytes(x->file, strlen(x->file)), x->line);
        struct fv_index_probe p = fv_index_probe(&index, hash);
        uint32_t k;
        while ((k = fv_index_next(&p)) != FV_NONE)
            if (c->items[k].line == x->line && !strcmp(c->items[k].file, x->file))
                break;
        if (k == FV_NONE) {
            fv_index_add(&index, hash, i);
            place[i] = lines;
            check(w, OTF2_GlobalDefWriter_WriteSourceCodeLocation(w->w, lines++, text(w, x->file), x->line));
        } else {
            place[i] = place[k];
        }
    }
    for (uint32_t i = 0; i < c->count; i++)
        write_context(w, i, mpi + c->items[i].function, place[i], c->items[i].parent);
    for (uint32_t i = 0; i < calling->node_count; i++) {
        const struct fv_calling_node *n = &calling->nodes[i];

        write_context(w, c->count + i, n->region, n->like == FV_NONE ? FV_NONE : place[n->like], n->parent);
    }
    fv_index_release(&index);
    free(place);
}

/* Of the n-th event counted in instances: the member and the class n - 1. */
static void write_metrics(struct writing *w)
{
    const struct fv_strings *names = &w->archive->metrics;

    for (uint32_t i = 0; i + 1 < names->count; i++)
        check(w, OTF2_GlobalDefWriter_WriteMetricMember(w->w, i, text(w, names->items[i + 1]),
                                                        text(w, "counted in this instance of the function"),
                                                        OTF2_METRIC_TYPE_OTHER, OTF2_METRIC_ABSOLUTE_POINT,
                                                        OTF2_TYPE_UINT64, OTF2_BASE_DECIMAL, 0, text(w, "#")));
    for (uint32_t i = 0; i + 1 < names->count; i++)
        check(w,
              OTF2_GlobalDefWriter_WriteMetricClass(w->w, i, 1, &i, OTF2_METRIC_SYNCHRONOUS, OTF2_RECORDER_KIND_CPU));
}

/* Of whole threads: they grow from the thread's begin on. */
static void write_counters(struct writing *w)
{
    const struct fv_archive *a = w->archive;

    for (uint32_t i = 0; i < fv_strings_named(&a->counters); i++) {
        uint32_t id = fv_strings_named(&a->metrics) + i;

        check(w, OTF2_GlobalDefWriter_WriteMetricMember(
                     w->w, id, text(w, a->counters.items[i + 1]),
                     text(w, "counted since the thread began, where a section begins or ends"), OTF2_METRIC_TYPE_OTHER,
                     OTF2_METRIC_ACCUMULATED_START, OTF2_TYPE_UINT64, OTF2_BASE_DECIMAL, 0, text(w, "#")));
        check(w,
              OTF2_GlobalDefWriter_WriteMetricClass(w->w, id, 1, &id, OTF2_METRIC_SYNCHRONOUS, OTF2_RECORDER_KIND_CPU));
    }
}

/* Of the machine: a member and a class for each name, an instance for each node. */
static void write_sensors(struct writing *w)
{
    const struct fv_archive *a = w->archive;
    uint32_t first = fv_strings_named(&a->metrics) + fv_strings_named(&a->counters);

    for (uint32_t i = 0; i < fv_strings_named(&a->sensors); i++) {
        const char *line = a->sensors.items[i + 1];
        uint32_t id = first + i;
        struct fv_def_sensor s;

        fv_def_sensor_next(&line, &s);
        check(w,
              OTF2_GlobalDefWriter_WriteMetricMember(
                  w->w, id, text(w, s.label),
                  text(w, s.is_gauge ? "of the machine, as it is" : "of the machine: grown by since the first sample"),
                  OTF2_METRIC_TYPE_OTHER, s.is_gauge ? OTF2_METRIC_ABSOLUTE_POINT : OTF2_METRIC_ACCUMULATED_START,
                  OTF2_TYPE_DOUBLE, OTF2_BASE_DECIMAL, 0, text(w, *s.unit ? s.unit : "#")));
        check(w, OTF2_GlobalDefWriter_WriteMetricClass(w->w, id, 1, &id, OTF2_METRIC_ASYNCHRONOUS,
                                                       OTF2_RECORDER_KIND_CPU));
    }
    for (uint32_t i = 0; i < w->d->rank_count; i++)
        for (size_t k = a->first_sensor[i]; k < a->first_sensor[i + 1]; k++)
            check(w, OTF2_GlobalDefWriter_WriteMetricInstance(
                         w->w, fv_sensor_metric(a, k), first + a->sensor_class[k] - 1,
                         fv_sensors_location(&w->d->ranks[i]), OTF2_SCOPE_SYSTEM_TREE_NODE, w->rank_nodes[i]));
}

/* Of processes: one class, an instance for each. */
static void write_memory(struct writing *w)
{
    const struct fv_archive *a = w->archive;
    uint32_t id = fv_memory_class(a), member = id - (uint32_t)a->sensor_count;

    if (!a->memory_count)
        return;
    check(w, OTF2_GlobalDefWriter_WriteMetricMember(
                 w->w, member, text(w, "memory allocated"),
                 text(w, "by the process: the most of an interval at its begin, what there was last at its end"),
                 OTF2_METRIC_TYPE_OTHER, OTF2_METRIC_ABSOLUTE_POINT, OTF2_TYPE_UINT64, OTF2_BASE_BINARY, 0,
                 text(w, "bytes")));
    check(w, OTF2_GlobalDefWriter_WriteMetricClass(w->w, id, 1, &member, OTF2_METRIC_ASYNCHRONOUS,
                                                   OTF2_RECORDER_KIND_CPU));
    for (uint32_t i = 0; i < w->d->rank_count; i++)
        if (a->memory_metric[i])
            check(w, OTF2_GlobalDefWriter_WriteMetricInstance(w->w, id + a->memory_metric[i], id,
                                                              fv_memory_location(&w->d->ranks[i]),
                                                              OTF2_SCOPE_LOCATION_GROUP, i + (i >= w->absent)));
}

/* Of threads. A sample is a value, with the call path of where it found the thread. */
static void write_samples(struct writing *w)
{
    const struct fv_archive *a = w->archive;
    uint32_t id = fv_samples_class(a), member = id - (uint32_t)a->sensor_count - a->memory_count;

    check(w, OTF2_GlobalDefWriter_WriteMetricMember(
                 w->w, member, text(w, "CPU time"),
                 text(w, "of the thread since the sample before; fvmpi::call_path: where this sample found it"),
                 OTF2_METRIC_TYPE_OTHER, OTF2_METRIC_ABSOLUTE_LAST, OTF2_TYPE_UINT64, OTF2_BASE_DECIMAL, -9,
                 text(w, "s")));
    check(w, OTF2_GlobalDefWriter_WriteMetricClass(w->w, id, 1, &member, OTF2_METRIC_ASYNCHRONOUS,
                                                   OTF2_RECORDER_KIND_CPU));
}

/* What the samples' clock is set to, once for each rate. */
static void write_generators(struct writing *w)
{
    uint32_t count = 0;

    for (size_t i = 0; i < w->d->rank_count; i++) {
        uint64_t rate = w->d->ranks[i].sample_rate;

        if (w->archive->generators[i] < count)
            continue;
        check(w, OTF2_GlobalDefWriter_WriteInterruptGenerator(w->w, count++, text(w, "CPU time of the thread"),
                                                              OTF2_INTERRUPT_GENERATOR_MODE_TIME, OTF2_BASE_DECIMAL, -9,
                                                              rate ? 1000000000 / rate : 0));
    }
}

/* All of them, used or not: readers want the numbers without a gap. */
static void write_attributes(struct writing *w)
{
    static const struct {
        const char *name, *text;
        OTF2_Type type;
    } all[] = {
        [FV_ATTRIBUTE_CALL_PATH] = { "fvmpi::call_path", "where the program called MPI", OTF2_TYPE_CALLING_CONTEXT },
        [FV_ATTRIBUTE_WAIT] = { "fvmpi::wait", "nanoseconds that the call waited for others", OTF2_TYPE_UINT64 },
        [FV_ATTRIBUTE_WAIT_KIND] = { "fvmpi::wait_kind", "what it waited for", OTF2_TYPE_STRING },
        [FV_ATTRIBUTE_CAUSE] = { "fvmpi::cause", "the location that it waited for", OTF2_TYPE_LOCATION },
        [FV_ATTRIBUTE_ERROR] = { "fvmpi::error", "how the operation failed", OTF2_TYPE_STRING },
        [FV_ATTRIBUTE_CPU_TIME] = { "fvmpi::cpu_time",
                                    "nanoseconds of CPU time of this instance of the function, or since the sample "
                                    "before",
                                    OTF2_TYPE_UINT64 },
        [FV_ATTRIBUTE_LOCK] = { "fvmpi::lock", "the lock, or what else the thread waited for, as in ThreadAcquireLock",
                                OTF2_TYPE_UINT32 },
        [FV_ATTRIBUTE_LOCK_NAME] = { "fvmpi::lock_name", "its name, which is a property of the rank, too",
                                     OTF2_TYPE_STRING },
        [FV_ATTRIBUTE_ALLOCATED] = { "ALLOCATION_SIZE", "bytes that the call allocates", OTF2_TYPE_UINT64 },
        [FV_ATTRIBUTE_FREED] = { "DEALLOCATION_SIZE", "bytes that the call frees", OTF2_TYPE_UINT64 },
        [FV_ATTRIBUTE_INSTANCE] = { "fvmpi::instance", "number of the section's instance on this thread, from 1",
                                    OTF2_TYPE_UINT64 },
        [FV_ATTRIBUTE_MPI_TIME] = { "fvmpi::mpi_time", "nanoseconds of the thread's MPI calls that ended in it",
                                    OTF2_TYPE_UINT64 },
        [FV_ATTRIBUTE_MPI_CALLS] = { "fvmpi::mpi_calls", "MPI calls that ended in it", OTF2_TYPE_UINT64 },
        [FV_ATTRIBUTE_MPI_BYTES] = { "fvmpi::mpi_bytes", "bytes that these calls sent and received", OTF2_TYPE_UINT64 },
        [FV_ATTRIBUTE_IO_HANDLE] = { "fvmpi::io_handle", "what the function for files is about, if no event says it",
                                     OTF2_TYPE_IO_HANDLE },
        [FV_ATTRIBUTE_IO_FAILED] = { "fvmpi::io_failed", "1: it failed, 0: it did not; if no event says it",
                                     OTF2_TYPE_UINT8 },
        [FV_ATTRIBUTE_IO_BYTES] = { "fvmpi::io_bytes", "bytes that it maps, or asks for", OTF2_TYPE_UINT64 },
    };

    for (uint32_t i = 0; i < sizeof(all) / sizeof(*all); i++)
        check(w, OTF2_GlobalDefWriter_WriteAttribute(w->w, i, text(w, all[i].name), text(w, all[i].text), all[i].type));
}

/* ---- all of it ---- */

bool fv_definitions_write(struct fv_archive *a, OTF2_GlobalDefWriter *writer,
                          const struct fv_archive_location *locations, size_t location_count,
                          const struct fv_archive_times *times, const struct fv_contexts *contexts)
{
    struct writing w = { .archive = a,
                         .w = writer,
                         .d = a->defs,
                         .contexts = contexts,
                         .times = times,
                         .absent = fv_defs_first_absent(a->defs),
                         .locations = locations,
                         .location_count = location_count };

    w.rank_nodes = fv_xcalloc(a->defs->rank_count + 1, sizeof(*w.rank_nodes));
    check(&w, OTF2_GlobalDefWriter_WriteClockProperties(writer, 1000000000, times->first_ns,
                                                        times->last_ns - times->first_ns,
                                                        (uint64_t)times->origin_ns + times->first_ns));
    text(&w, "");
    write_paradigms(&w);
    write_nodes(&w);
    write_locations(&w);
    write_regions(&w);
    fv_writing_comms(&w);
    write_metrics(&w);
    write_counters(&w);
    write_sensors(&w);
    write_memory(&w);
    if (a->samples && !a->in_contexts)
        write_samples(&w);
    write_attributes(&w);
    write_contexts(&w);
    if (a->in_contexts)
        write_generators(&w);
    fv_writing_files(&w);
    free(w.rank_nodes);
    free(w.comm_groups[0]);
    free(w.comm_groups[1]);
    return !a->failed;
}
