/* The archive's global definitions, in the order that readers expect: clock, strings first where they are
 * used, then from the machine down to files. See archive.h. */
#include "otf2/archive_state.h"
#include "merge/calls.h"
#include "merge/threads.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- strings, command lines ---- */

static uint32_t find_string(struct fv_strings *s, const char *text)
{
    if (!s->count) {
        FV_GROW(s->items, s->room, 1);
        s->items[s->count++] = "";
        fv_index_add(&s->index, fv_hash_bytes("", 0), 0);
    }
    uint64_t hash = fv_hash_bytes(text, strlen(text));
    struct fv_index_probe p = fv_index_probe(&s->index, hash);

    for (uint32_t i; (i = fv_index_next(&p)) != FV_NONE;)
        if (!strcmp(s->items[i], text))
            return i;
    FV_GROW(s->items, s->room, s->count + 1);
    s->items[s->count] = fv_arena_string(&s->arena, text);
    fv_index_add(&s->index, hash, (uint32_t)s->count);
    return (uint32_t)s->count++;
}

void fv_strings_release(struct fv_strings *s)
{
    free(s->items);
    fv_index_release(&s->index);
    fv_arena_release(&s->arena);
    *s = (struct fv_strings){ 0 };
}

/* The next word of a line that is quoted as a shell needs it; NULL: none. `out` has room for the line. */
static const char *next_word(const char *at, char *out)
{
    char quote = 0;

    at += strspn(at, " ");
    if (!*at)
        return NULL;
    for (; *at && (quote || *at != ' '); at++) {
        if (*at == quote)
            quote = 0;
        else if (!quote && (*at == '\'' || *at == '"'))
            quote = *at;
        else if (!quote && *at == '\\' && at[1])
            *out++ = *++at;
        else
            *out++ = *at;
    }
    *out = '\0';
    return at;
}

/* In all processes alike, for the events that tell of them. */
void fv_event_strings_init(struct fv_archive *a)
{
    const struct fv_defs *d = a->defs;

    for (unsigned i = 0; i < FV_WS_COUNT; i++)
        a->wait_kinds[i] = fv_is_completion(i) ? 0 : find_string(&a->strings, fv_wait_state_names[i]);
    for (unsigned i = 1; fv_defs_has_threads(d) && i < FV_TW_COUNT; i++)
        a->thread_wait_kinds[i] = find_string(&a->strings, fv_thread_wait_names[i]);

    for (unsigned i = 1; i < FV_FAILURE_KINDS; i++)
        a->errors[i] = find_string(&a->strings, fv_failure_names[i]);

    a->lock_strings = fv_xcalloc((size_t)a->locks->count + 1, sizeof(*a->lock_strings));
    for (uint32_t i = 0; i < a->locks->count; i++)
        if (a->locks->items[i].name)
            a->lock_strings[i] = find_string(&a->strings, a->locks->items[i].name);
    a->commands = fv_xcalloc(d->rank_count + 1, sizeof(*a->commands));
    for (size_t i = 0; i < d->rank_count; i++) {
        struct fv_command *c = &a->commands[i];
        char word[1200];
        size_t room = 0;

        if (i && !strcmp(d->ranks[i].command, d->ranks[i - 1].command) &&
            !strcmp(d->ranks[i].program, d->ranks[i - 1].program)) {
            *c = c[-1];
            continue;
        }
        c->program = find_string(&a->strings, d->ranks[i].program);
        if (strlen(d->ranks[i].command) >= sizeof(word))
            continue;
        const char *at = next_word(d->ranks[i].command, word);
        while (at && (at = next_word(at, word))) {
            c->arguments = fv_grow(c->arguments, &room, (size_t)c->argument_count + 1, sizeof(*c->arguments));
            c->arguments[c->argument_count++] = find_string(&a->strings, word);
        }
    }
}

void fv_event_strings_release(struct fv_archive *a)
{
    for (size_t i = 0; a->commands && i < a->defs->rank_count; i++)
        if (!i || a->commands[i].arguments != a->commands[i - 1].arguments)
            free(a->commands[i].arguments);
    free(a->commands);
    free(a->lock_strings);
}

/* ---- writing ---- */

struct writing {
    struct fv_archive *archive;
    OTF2_GlobalDefWriter *w;
    const struct fv_defs *d;
    const struct fv_contexts *contexts;
    const struct fv_archive_times *times;
    const struct fv_archive_location *locations;
    size_t location_count;
    size_t strings;       /* written so far */
    uint32_t *rank_nodes; /* system tree nodes */
    uint32_t absent;      /* the first rank without a file; FV_NONE: there is none */
    uint32_t groups;      /* written so far */
    uint32_t *comm_groups[2];
};

static void check(struct writing *w, OTF2_ErrorCode code)
{
    fv_archive_check(w->archive, code, "definitions");
}

/* A string's number; it is written before what refers to it. */
static OTF2_StringRef text(struct writing *w, const char *text)
{
    struct fv_strings *s = &w->archive->strings;
    uint32_t id = find_string(s, text);

    for (; w->strings < s->count; w->strings++)
        check(w, OTF2_GlobalDefWriter_WriteString(w->w, (OTF2_StringRef)w->strings, s->items[w->strings]));
    return id;
}

static void write_paradigms(struct writing *w)
{
    OTF2_AttributeValue value = { .stringRef = text(w, "Comm ${id}") };

    check(w, OTF2_GlobalDefWriter_WriteParadigm(w->w, OTF2_PARADIGM_MPI, text(w, "MPI"),
                                                OTF2_PARADIGM_CLASS_PROCESS));
    check(w, OTF2_GlobalDefWriter_WriteParadigmProperty(w->w, OTF2_PARADIGM_MPI,
                                                        OTF2_PARADIGM_PROPERTY_COMM_NAME_TEMPLATE,
                                                        OTF2_TYPE_STRING, value));
    value.stringRef = text(w, "Window ${id}");
    check(w, OTF2_GlobalDefWriter_WriteParadigmProperty(w->w, OTF2_PARADIGM_MPI,
                                                        OTF2_PARADIGM_PROPERTY_RMA_WIN_NAME_TEMPLATE,
                                                        OTF2_TYPE_STRING, value));
    value = (OTF2_AttributeValue){ .uint8 = OTF2_FALSE };
    check(w, OTF2_GlobalDefWriter_WriteParadigmProperty(
                 w->w, OTF2_PARADIGM_MPI, OTF2_PARADIGM_PROPERTY_RMA_ONLY, OTF2_TYPE_UINT8, value));
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
    if (w->d->handle_count)
        check(w, OTF2_GlobalDefWriter_WriteIoParadigm(w->w, 0, text(w, "MPI-IO"), text(w, "MPI I/O"),
                                                      OTF2_IO_PARADIGM_CLASS_PARALLEL,
                                                      OTF2_IO_PARADIGM_FLAG_NONE, 0, NULL, NULL, NULL));
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
        check(w, OTF2_GlobalDefWriter_WriteSystemTreeNode(w->w, nodes, text(w, d->ranks[i].host),
                                                          text(w, "node"), 0));
        check(w, OTF2_GlobalDefWriter_WriteSystemTreeNodeDomain(w->w, nodes,
                                                                OTF2_SYSTEM_TREE_DOMAIN_SHARED_MEMORY));
        nodes++;
    }
    fv_index_release(&index);
}

static uint32_t node_of_host(const struct writing *w, const char *host)
{
    for (size_t i = 0; i < w->d->rank_count; i++)
        if (!strcmp(w->d->ranks[i].host, host))
            return w->rank_nodes[i];
    return 0;
}

static void property(struct writing *w, uint32_t group, const char *name, const char *value)
{
    check(w, OTF2_GlobalDefWriter_WriteLocationGroupProperty(
                 w->w, group, text(w, name), OTF2_TYPE_STRING,
                 (OTF2_AttributeValue){ .stringRef = text(w, value) }));
}

static const char *state_of(const struct fv_def_rank *r)
{
    return !r                               ? "missing: no rank file"
           : r->state == FV_STATE_FINALIZED ? "finalized"
           : r->state == FV_STATE_EXITED    ? "exited without MPI_Finalize"
           : r->state == FV_STATE_ABORTED   ? "aborted"
           : r->runs                        ? "running when it was merged"
                                            : "killed";
}

static void write_properties(struct writing *w, uint32_t group, const struct fv_def_rank *r)
{
    char number[32];

    property(w, group, "fvmpi::STATE", state_of(r));
    if (!r)
        return;
    snprintf(number, sizeof(number), "%u", r->pid);
    property(w, group, "fvmpi::PID", number);
    property(w, group, "fvmpi::MPI", r->mpi);
    property(w, group, "fvmpi::THREAD_LEVEL", r->thread_level);
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
    if (r->dropped_of_threads) {
        snprintf(number, sizeof(number), "%llu", (unsigned long long)r->dropped_of_threads);
        property(w, group, "fvmpi::THREAD_EVENTS_NOT_IN_TRACE", number);
    }
}

/* OTF2 defines no locks: the names of a rank's are properties of it, by the numbers that events have. */
static void write_locks(struct writing *w, uint32_t group, const struct fv_def_rank *rank)
{
    const struct fv_lock_names *names = w->archive->locks;
    char key[40], value[1100];

    for (uint32_t i = rank->first_object; i < rank->first_object + rank->thread_objects && i < names->count;
         i++) {
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
    check(w, OTF2_GlobalDefWriter_WriteLocationGroup(
                 w->w, group, text(w, name), OTF2_LOCATION_GROUP_TYPE_PROCESS,
                 r ? w->rank_nodes[r - w->d->ranks] : 0, OTF2_UNDEFINED_LOCATION_GROUP));
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

        if (l->location >> 32)
            snprintf(name, sizeof(name), "Thread %llu", (unsigned long long)(l->location >> 32));
        else
            snprintf(name, sizeof(name), "Master thread");
        while (world_rank_of(w, group) < l->rank)
            group++;
        check(w, OTF2_GlobalDefWriter_WriteLocation(w->w, l->location, text(w, name),
                                                    OTF2_LOCATION_TYPE_CPU_THREAD, l->events, group));
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
    case FV_ROLE_COLL_OTHER:
        return info->op == FV_OP_BARRIER ? OTF2_REGION_ROLE_BARRIER : OTF2_REGION_ROLE_COLL_OTHER;
    case FV_ROLE_RMA: return OTF2_REGION_ROLE_RMA;
    case FV_ROLE_IO: return OTF2_REGION_ROLE_FILE_IO;
    case FV_ROLE_IO_METADATA: return OTF2_REGION_ROLE_FILE_IO_METADATA;
    case FV_ROLE_THREAD_BARRIER: return OTF2_REGION_ROLE_BARRIER;
    case FV_ROLE_THREAD_IMPLICIT_BARRIER: return OTF2_REGION_ROLE_IMPLICIT_BARRIER;
    case FV_ROLE_THREAD_JOIN: return OTF2_REGION_ROLE_THREAD_WAIT;
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

        while ((k = fv_index_next(&p)) != FV_NONE &&
               (seen[k].program != this.program || seen[k].line != this.line))
            ;
        if (k != FV_NONE)
            continue;
        fv_index_add(&index, hash, count);
        seen[count] = this;
        check(w, OTF2_GlobalDefWriter_WriteRegion(
                     w->w, region + count++, text(w, fv_base_name(program)), this.line,
                     text(w, "the program"), OTF2_REGION_ROLE_ARTIFICIAL, OTF2_PARADIGM_MEASUREMENT_SYSTEM,
                     OTF2_REGION_FLAG_NONE, OTF2_UNDEFINED_STRING, 0, 0));
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
                                              OTF2_PARADIGM_USER, OTF2_REGION_FLAG_NONE,
                                              OTF2_UNDEFINED_STRING, 0, 0));
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
        bool is_mpi = f->class != FV_CLASS_OF_THREADS, is_omp = !is_mpi && fv_thread_call_is_omp(f->name);

        check(w, OTF2_GlobalDefWriter_WriteRegion(w->w, i, name, name, text(w, ""), role_of(&info),
                                                  is_mpi   ? OTF2_PARADIGM_MPI
                                                  : is_omp ? OTF2_PARADIGM_OPENMP
                                                           : OTF2_PARADIGM_PTHREAD,
                                                  OTF2_REGION_FLAG_NONE,
                                                  text(w, is_mpi   ? "MPI"
                                                          : is_omp ? "OpenMP"
                                                                   : "POSIX threads"),
                                                  0, 0));
    }
    for (uint32_t i = 0; i < c->function_count; i++) {
        OTF2_StringRef name = text(w, c->functions[i].name);
        OTF2_StringRef file = c->functions[i].file ? text(w, c->functions[i].file) : OTF2_UNDEFINED_STRING;

        check(w, OTF2_GlobalDefWriter_WriteRegion(w->w, mpi + i, name, name, text(w, ""),
                                                  OTF2_REGION_ROLE_FUNCTION, OTF2_PARADIGM_SAMPLING,
                                                  OTF2_REGION_FLAG_NONE, file, 0, 0));
    }
    write_programs(w, mpi + c->function_count);
}

static void write_contexts(struct writing *w)
{
    const struct fv_contexts *c = w->contexts;
    uint32_t mpi = (uint32_t)w->d->function_count, lines = 0;
    uint32_t *place = fv_xcalloc(c->count + 1, sizeof(*place));
    struct fv_index index = { 0 };

    for (uint32_t i = 0; i < c->count; i++) {
        const struct fv_context *x = &c->items[i];

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
        check(w, OTF2_GlobalDefWriter_WriteCallingContext(
                     w->w, i, mpi + c->items[i].function,
                     place[i] == FV_NONE ? OTF2_UNDEFINED_SOURCE_CODE_LOCATION : place[i],
                     c->items[i].parent == FV_NONE ? OTF2_UNDEFINED_CALLING_CONTEXT : c->items[i].parent));
    fv_index_release(&index);
    free(place);
}

static void write_attributes(struct writing *w)
{
    if (w->contexts->count)
        check(w, OTF2_GlobalDefWriter_WriteAttribute(
                     w->w, FV_ATTRIBUTE_CALL_PATH, text(w, "fvmpi::call_path"),
                     text(w, "where the program called MPI"), OTF2_TYPE_CALLING_CONTEXT));
    check(w, OTF2_GlobalDefWriter_WriteAttribute(w->w, FV_ATTRIBUTE_WAIT, text(w, "fvmpi::wait"),
                                                 text(w, "nanoseconds that the call waited for others"),
                                                 OTF2_TYPE_UINT64));
    check(w, OTF2_GlobalDefWriter_WriteAttribute(w->w, FV_ATTRIBUTE_WAIT_KIND, text(w, "fvmpi::wait_kind"),
                                                 text(w, "what it waited for"), OTF2_TYPE_STRING));
    check(w, OTF2_GlobalDefWriter_WriteAttribute(w->w, FV_ATTRIBUTE_CAUSE, text(w, "fvmpi::cause"),
                                                 text(w, "the location that it waited for"),
                                                 OTF2_TYPE_LOCATION));
    check(w, OTF2_GlobalDefWriter_WriteAttribute(w->w, FV_ATTRIBUTE_ERROR, text(w, "fvmpi::error"),
                                                 text(w, "how the operation failed"), OTF2_TYPE_STRING));
    if (fv_defs_has_instances(w->d) || fv_defs_has_threads(w->d)) /* readers want all numbers */
        check(w, OTF2_GlobalDefWriter_WriteAttribute(
                     w->w, FV_ATTRIBUTE_CPU_TIME, text(w, "fvmpi::cpu_time"),
                     text(w, "nanoseconds of CPU time of this instance of the function"), OTF2_TYPE_UINT64));
    if (fv_defs_has_threads(w->d))
        check(w, OTF2_GlobalDefWriter_WriteAttribute(
                     w->w, FV_ATTRIBUTE_LOCK, text(w, "fvmpi::lock"),
                     text(w, "the lock, or what else the thread waited for, as in ThreadAcquireLock"),
                     OTF2_TYPE_UINT32));
    if (fv_defs_has_threads(w->d))
        check(w, OTF2_GlobalDefWriter_WriteAttribute(
                     w->w, FV_ATTRIBUTE_LOCK_NAME, text(w, "fvmpi::lock_name"),
                     text(w, "its name, which is a property of the rank, too"), OTF2_TYPE_STRING));
}

/* ---- communicators ---- */

static void write_group_of(struct writing *w, uint32_t id, OTF2_Paradigm paradigm, OTF2_GroupType type,
                           const uint64_t *members, uint32_t count)
{
    check(w, OTF2_GlobalDefWriter_WriteGroup(w->w, id, text(w, ""), type, paradigm, OTF2_GROUP_FLAG_NONE,
                                             count, members));
    w->groups = id + 1;
}

static void write_group(struct writing *w, uint32_t id, OTF2_GroupType type, const uint64_t *members,
                        uint32_t count)
{
    write_group_of(w, id, OTF2_PARADIGM_MPI, type, members, count);
}

static void write_first_groups(struct writing *w)
{
    uint64_t *members = fv_xcalloc((size_t)w->d->world_size + 1, sizeof(*members));

    for (uint32_t i = 0, k = 0; i < w->d->world_size; i++) { /* a rank's first location has its number */
        bool here = k < w->d->rank_count && w->d->ranks[k].world_rank == i;

        members[i] = here ? i : w->absent;
        k += here;
    }
    write_group(w, FV_GROUP_LOCATIONS, OTF2_GROUP_TYPE_COMM_LOCATIONS, members, w->d->world_size);
    write_group(w, FV_GROUP_SELF, OTF2_GROUP_TYPE_COMM_SELF, NULL, 0);
    for (uint32_t i = 0; i < w->d->group_count; i++) {
        const struct fv_def_group *g = &w->d->groups[i];

        for (uint32_t k = 0; k < g->count && k < w->d->world_size; k++)
            members[k] = g->ranks[k];
        write_group(w, FV_GROUP_FIRST_RMA + i, OTF2_GROUP_TYPE_COMM_GROUP, members,
                    g->count < w->d->world_size ? g->count : w->d->world_size);
    }
    free(members);
}

static bool same_runs(const struct fv_rank_run *a, uint32_t a_count, const struct fv_rank_run *b,
                      uint32_t b_count)
{
    return a_count == b_count && !memcmp(a, b, a_count * sizeof(*a));
}

/* One of the two groups of a communicator; equal ones are one definition. */
static const struct fv_rank_run *side_of(const struct fv_def_comm *c, unsigned side, uint32_t *count)
{
    *count = side ? c->remote_run_count : c->run_count;
    return c->runs + (side ? c->run_count : 0);
}

static uint32_t find_group(struct writing *w, struct fv_index *index, uint32_t comm, unsigned side)
{
    uint32_t count, other;
    const struct fv_rank_run *runs = side_of(&w->d->comms[comm], side, &count);
    uint64_t hash = fv_hash_bytes(runs, count * sizeof(*runs));
    struct fv_index_probe p = fv_index_probe(index, hash);

    for (uint32_t i; (i = fv_index_next(&p)) != FV_NONE;) {
        const struct fv_rank_run *known = side_of(&w->d->comms[i / 2], i % 2, &other);

        if (same_runs(runs, count, known, other))
            return w->comm_groups[i % 2][i / 2];
    }
    const struct fv_def_comm *c = &w->d->comms[comm];
    uint32_t size = side ? c->remote_size : c->size, n = 0;
    uint64_t *members = fv_xcalloc((size_t)size + 1, sizeof(*members));
    for (uint32_t i = 0; i < count; i++)
        for (int32_t k = 0; k < runs[i].count && n < size; k++)
            members[n++] = (uint64_t)(runs[i].first + (int64_t)k * runs[i].stride);
    fv_index_add(index, hash, comm * 2 + side);
    write_group(w, w->groups, OTF2_GROUP_TYPE_COMM_GROUP, members, n);
    free(members);
    return w->groups - 1;
}

static void write_groups(struct writing *w)
{
    struct fv_index index = { 0 };

    for (unsigned side = 0; side < 2; side++)
        w->comm_groups[side] = fv_xcalloc(w->d->comm_count + 1, sizeof(uint32_t));
    for (uint32_t i = 0; i < w->d->comm_count; i++) {
        const struct fv_def_comm *c = &w->d->comms[i];

        if (c->flags & FV_COMM_SELF) {
            w->comm_groups[0][i] = FV_GROUP_SELF;
            continue;
        }
        w->comm_groups[0][i] = find_group(w, &index, i, 0);
        if (c->remote_size)
            w->comm_groups[1][i] = find_group(w, &index, i, 1);
    }
    fv_index_release(&index);
}

static OTF2_CommRef parent_of(const struct writing *w, const struct fv_def_comm *c, struct fv_index *uids)
{
    struct fv_index_probe p = fv_index_probe(uids, fv_mix(c->parent));

    for (uint32_t i; c->parent && (i = fv_index_next(&p)) != FV_NONE;)
        if (w->d->comms[i].uid == c->parent && &w->d->comms[i] != c)
            return i;
    return OTF2_UNDEFINED_COMM;
}

static OTF2_StringRef comm_name(struct writing *w, const struct fv_def_comm *c)
{
    char name[128];

    if (c->flags & FV_COMM_WORLD)
        return text(w, "MPI_COMM_WORLD"); /* by which viewers know it, whatever the program calls it */
    if (c->owner == FV_NOBODY)
        return text(w, c->name);
    snprintf(name, sizeof(name), "%s%s(known to rank %d alone)", c->name, c->name[0] ? " " : "",
             (int)c->owner);
    return text(w, name);
}

static void write_comms(struct writing *w)
{
    struct fv_index uids = { 0 };

    for (uint32_t i = 0; i < w->d->comm_count; i++)
        if (w->d->comms[i].owner == FV_NOBODY)
            fv_index_add(&uids, fv_mix(w->d->comms[i].uid), i);
    for (uint32_t i = 0; i < w->d->comm_count; i++) {
        const struct fv_def_comm *c = &w->d->comms[i];
        OTF2_CommFlag flags =
            fv_def_comm_is_seen(c) ? OTF2_COMM_FLAG_CREATE_DESTROY_EVENTS : OTF2_COMM_FLAG_NONE;
        OTF2_CommRef parent = parent_of(w, c, &uids);

        if (c->remote_size)
            check(w, OTF2_GlobalDefWriter_WriteInterComm(w->w, i, comm_name(w, c), w->comm_groups[0][i],
                                                         w->comm_groups[1][i], parent, flags));
        else
            check(w, OTF2_GlobalDefWriter_WriteComm(w->w, i, comm_name(w, c), w->comm_groups[0][i], parent,
                                                    flags));
    }
    fv_index_release(&uids);
    for (uint32_t i = 0; i < w->d->window_count; i++)
        check(w, OTF2_GlobalDefWriter_WriteRmaWin(w->w, i, text(w, ""), w->d->windows[i].comm,
                                                  fv_def_window_is_seen(w->d, &w->d->windows[i])
                                                      ? OTF2_RMA_WIN_FLAG_CREATE_DESTROY_EVENTS
                                                      : OTF2_RMA_WIN_FLAG_NONE));
}

/* The threads of each rank are a communicator, too: their creations are counted there. */
static void write_thread_comms(struct writing *w, OTF2_Paradigm paradigm, const char *of, uint32_t first)
{
    uint64_t *members = fv_xcalloc(w->location_count + 1, sizeof(*members));
    char name[64];

    for (size_t i = 0; i < w->location_count; i++)
        members[i] = w->locations[i].location;
    write_group_of(w, w->groups, paradigm, OTF2_GROUP_TYPE_COMM_LOCATIONS, members,
                   (uint32_t)w->location_count);
    for (uint32_t rank = 0; rank < w->d->rank_count; rank++) {
        uint32_t count = 0;

        for (size_t i = 0; i < w->location_count; i++)
            if (w->locations[i].rank == w->d->ranks[rank].world_rank)
                members[count++] = i;
        write_group_of(w, w->groups, paradigm, OTF2_GROUP_TYPE_COMM_GROUP, members, count);
        snprintf(name, sizeof(name), "%s of MPI Rank %u", of, w->d->ranks[rank].world_rank);
        check(w, OTF2_GlobalDefWriter_WriteComm(w->w, first + rank, text(w, name), w->groups - 1,
                                                OTF2_UNDEFINED_COMM, OTF2_COMM_FLAG_NONE));
    }
    free(members);
}

static void write_files(struct writing *w)
{
    for (uint32_t i = 0; i < w->d->file_count; i++)
        check(w, OTF2_GlobalDefWriter_WriteIoRegularFile(w->w, i, text(w, w->d->files[i].name),
                                                         node_of_host(w, w->d->files[i].host)));
    for (uint32_t i = 0; i < w->d->handle_count; i++) {
        const struct fv_def_handle *h = &w->d->handles[i];

        check(w,
              OTF2_GlobalDefWriter_WriteIoHandle(w->w, i, text(w, ""), h->file, 0, OTF2_IO_HANDLE_FLAG_NONE,
                                                 h->comm, OTF2_UNDEFINED_IO_HANDLE));
    }
}

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
    write_first_groups(&w);
    write_groups(&w);
    write_comms(&w);
    if (fv_defs_has_threads(w.d))
        write_thread_comms(&w, OTF2_PARADIGM_PTHREAD, "Threads", fv_thread_comm(w.d, 0));
    if (fv_defs_has_omp(w.d))
        write_thread_comms(&w, OTF2_PARADIGM_OPENMP, "OpenMP teams", fv_team_comm(w.d, 0));
    write_attributes(&w);
    write_contexts(&w);
    write_files(&w);
    free(w.rank_nodes);
    free(w.comm_groups[0]);
    free(w.comm_groups[1]);
    return !a->failed;
}
