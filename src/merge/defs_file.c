/* SPDX-License-Identifier: BSD-3-Clause */
/* What one rank file defines, added to definitions, with the map from its numbers to theirs; see defs.h. Only
 * what its calls refer to is taken: the rest of what a file names would only fill the archive. */
#include "merge/defs_add.h"
#include "merge/files.h"
#include "merge/labels.h"
#include "merge/memory.h"
#include "merge/sensors.h"
#include "merge/threads.h"
#include "experiment/experiment.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- functions, call paths, communicators, files ---- */

/* What the rank's calls refer to: the rest of what a file names would only fill the archive. */
struct used {
    uint8_t *functions, *paths; /* of paths: enum fv_def_node_flags */
    size_t function_count, function_room, path_count, path_room;
    const struct fv_reader *reader;
    bool any_thread_call, thread_calls[FV_THREAD_CALLS];
};

static void mark(uint8_t **flags, size_t *count, size_t *room, uint64_t id, enum fv_def_node_flags flag)
{
    if (id >= *count) {
        *flags = fv_grow(*flags, room, id + 1, sizeof(**flags));
        memset(*flags + *count, 0, id + 1 - *count);
        *count = id + 1;
    }
    (*flags)[id] |= (uint8_t)flag;
}

static void mark_call(struct used *u, const struct fv_reader *reader, uint64_t function, uint64_t path)
{
    if (function < 65536)
        mark(&u->functions, &u->function_count, &u->function_room, function, FV_DEF_CALLS);
    if (fv_number_is_id(reader, path))
        mark(&u->paths, &u->path_count, &u->path_room, path, FV_DEF_CALLS);
}

static void mark_thread_call(void *context, uint32_t path, unsigned call)
{
    struct used *u = context;

    u->any_thread_call = u->thread_calls[call % FV_THREAD_CALLS] = true;
    if (fv_number_is_id(u->reader, path))
        mark(&u->paths, &u->path_count, &u->path_room, path, FV_DEF_CALLS);
}

static void mark_file_call(void *context, uint32_t path)
{
    struct used *u = context;

    if (fv_number_is_id(u->reader, path))
        mark(&u->paths, &u->path_count, &u->path_room, path, FV_DEF_CALLS);
}

/* Functions that the compiler instrumented, of a trace. */
static void mark_entries(struct used *u)
{
    struct fv_cursor c = fv_cursor(u->reader, FV_CHUNK_FUNCTION_CALLS);
    struct fv_function_calls f;

    for (const void *p; fv_reader_header(u->reader)->traced && (p = fv_cursor_next(&c));) {
        memcpy(&f, p, sizeof(f));
        if (fv_number_is_id(u->reader, f.node))
            mark(&u->paths, &u->path_count, &u->path_room, f.node, FV_DEF_ENTRY);
    }
}

static struct used find_used(const struct fv_reader *reader)
{
    struct fv_cursor c = fv_cursor(reader, FV_CHUNK_SITES);
    struct used used = { .reader = reader };
    struct fv_site_record site;
    struct fv_thread_record t;

    for (const void *p; (p = fv_cursor_next(&c));) {
        memcpy(&site, p, sizeof(site));
        mark_call(&used, reader, site.function, site.path);
    }
    c = fv_cursor(reader, FV_CHUNK_THREADS);
    for (const void *p; (p = fv_cursor_next(&c));) {
        memcpy(&t, p, sizeof(t));
        if (t.in_call.begin)
            mark_call(&used, reader, t.in_call.function, t.in_call.path);
    }
    fv_threads_used(reader, mark_thread_call, &used);
    fv_files_used(reader, mark_file_call, &used);
    fv_memory_used(reader, mark_file_call, &used);
    mark_entries(&used);
    return used;
}

static void add_thread_calls(struct fv_defs *d, const struct used *used, struct fv_def_map *map)
{
    if (!used->any_thread_call)
        return;
    map->thread_calls = fv_xcalloc(FV_THREAD_CALLS, sizeof(*map->thread_calls));
    for (unsigned i = 0; i < FV_THREAD_CALLS; i++) {
        const char *name = used->thread_calls[i] ? fv_thread_call_name(i) : NULL;

        map->thread_calls[i] = name ? fv_defs_function(d, name, FV_CLASS_OF_THREADS) : FV_NONE;
    }
}

static void add_functions(struct fv_defs *d, const struct fv_reader *reader, const struct used *used,
                          struct fv_def_map *map)
{
    struct fv_cursor c = fv_cursor(reader, FV_CHUNK_FUNCTIONS);
    struct fv_function_record r;

    for (const void *p; (p = fv_cursor_next(&c));)
        if (fv_def_function_read(p, &r) && r.id < used->function_count && used->functions[r.id])
            fv_numbers_set(&map->functions, r.id, fv_defs_function(d, r.name, r.class));
    for (size_t id = 0; id < used->function_count; id++) {
        char name[FV_FUNCTION_NAME_BYTES];

        if (!used->functions[id] || fv_numbers_get(&map->functions, id) != FV_NONE)
            continue;
        fv_def_function_unnamed(id, name);
        fv_numbers_set(&map->functions, id, fv_defs_function(d, name, FV_CLASS_OTHER));
    }
}

static bool runs_are_right(const struct fv_rank_run *run, uint32_t count, int64_t size, int64_t world)
{
    int64_t sum = 0;

    for (uint32_t i = 0; i < count; i++) {
        int64_t last = (int64_t)run[i].first + ((int64_t)run[i].count - 1) * run[i].stride;

        if (run[i].count <= 0 || run[i].first < 0 || run[i].first >= world || last < 0 || last >= world)
            return false;
        sum += run[i].count;
    }
    return sum == size && size >= 0 && size <= world;
}

/* Ranks of another world (spawned, connected) have no location here. */
static bool members_are_right(const struct fv_comm_record *r, int64_t world)
{
    if (r->flags & FV_COMM_UNLISTED && !r->runs && !r->remote_runs)
        return r->size > 0 && r->size <= world && r->remote_size >= 0 && r->remote_size <= world;
    return runs_are_right(r->run, r->runs, r->size, world) &&
           runs_are_right(r->run + r->runs, r->remote_runs, r->remote_size, world);
}

static void add_comms(struct fv_defs *d, const struct fv_reader *reader, uint32_t rank, struct fv_def_map *map)
{
    struct fv_cursor c = fv_cursor(reader, FV_CHUNK_COMMS);

    char name[FV_COMM_NAME_BYTES];

    for (const struct fv_comm_record *r; (r = fv_cursor_next(&c));) {
        if (!fv_number_is_id(reader, r->id) || !members_are_right(r, d->world_size))
            continue;
        const struct fv_def_comm comm = fv_def_comm_of(r, rank, name);

        fv_numbers_set(&map->comms, r->id, fv_defs_add_comm(d, &comm));
        fv_numbers_set(&map->comm_ranks, r->id, (uint32_t)r->rank);
    }
}

static void add_grids(struct fv_defs *d, const struct fv_reader *reader, const struct fv_def_map *map)
{
    struct fv_cursor c = fv_cursor(reader, FV_CHUNK_GRIDS);

    for (const struct fv_grid *g; (g = fv_cursor_next(&c));) {
        uint32_t comm = fv_numbers_get(&map->comms, g->comm);

        if (comm != FV_NONE)
            fv_def_comm_set_grid(&d->arena, &d->comms[comm], g);
    }
}

/* A communicator that each rank has for itself makes what hangs on it the rank's own as well. */
static int32_t owner_on(const struct fv_def_comm *comm, uint32_t rank)
{
    return fv_def_comm_is_own(comm) ? (int32_t)rank : FV_NOBODY;
}

static void add_files(struct fv_defs *d, const struct fv_reader *reader, uint32_t rank, const char *host,
                      struct fv_def_map *map)
{
    struct fv_cursor c = fv_cursor(reader, FV_CHUNK_FILES);

    for (const struct fv_file_record *p; (p = fv_cursor_next(&c));) {
        if (!fv_number_is_id(reader, p->id) || fv_numbers_get(&map->comms, p->comm) == FV_NONE)
            continue;
        const struct fv_def_comm *comm = &d->comms[map->comms.of[p->comm]];
        int32_t owner = owner_on(comm, rank);
        /* Ranks of several hosts that open a file together mean the same. */
        bool together = owner == FV_NOBODY && comm->size > 1;
        const struct fv_def_file file = { .name = p->name, .host = together ? "" : host };
        struct fv_def_handle h = { .file = fv_defs_add_file_name(d, &file),
                                   .comm = map->comms.of[p->comm],
                                   .mode = p->mode,
                                   .owner = owner,
                                   .origin = { rank, p->id } };

        for (size_t i = 0; i < map->handles.count; i++)
            if (map->handles.of[i] != FV_NONE) {
                const struct fv_def_handle *o = &d->handles[map->handles.of[i]];

                h.occurrence += o->file == h.file && o->comm == h.comm;
            }
        fv_numbers_set(&map->handles, p->id, fv_defs_add_handle(d, &h));
    }
}

/* ---- windows and groups, and what else only events tell ---- */

static bool makes_definitions(const struct fv_defs *d, uint32_t function)
{
    const char *name = d->functions[function].name;

    return d->functions[function].class == FV_CLASS_COMM || d->functions[function].class == FV_CLASS_INIT ||
           !strncmp(name, "MPI_Win_", 8);
}

/* Is it worth to look at all events? Communicators and windows are rarely made. */
static bool must_scan(const struct fv_defs *d, const struct fv_reader *reader, const struct fv_def_map *map)
{
    struct fv_cursor c = fv_cursor(reader, FV_CHUNK_SITES);
    struct fv_site_record site;

    for (const void *p; (p = fv_cursor_next(&c));) {
        memcpy(&site, p, sizeof(site));
        if (fv_numbers_get(&map->functions, site.function) != FV_NONE &&
            makes_definitions(d, map->functions.of[site.function]))
            return true;
    }
    return false;
}

struct scan {
    struct fv_defs *defs;
    struct fv_def_map *map;
    uint32_t rank;
    uint32_t *members;
    size_t member_count, member_room;
    bool *created; /* by the file's communicator ids */
};

/* created: 1 where an event says that it was made. */
static void add_window(struct fv_defs *d, struct fv_def_map *map, uint32_t rank, const struct fv_window_record *r,
                       uint32_t created)
{
    if (fv_numbers_get(&map->comms, r->comm) == FV_NONE || r->id > map->windows.count + 1000000)
        return; /* damaged: numbers rise by one */
    const struct fv_def_window w = { .comm = map->comms.of[r->comm],
                                     .sequence = (uint32_t)r->sequence,
                                     .owner = owner_on(&d->comms[map->comms.of[r->comm]], rank),
                                     .origin = { rank, r->id },
                                     .created = created };
    fv_numbers_set(&map->windows, r->id, fv_defs_window(d, &w));
}

/* Those that were made before a trace begins have no event. */
static void add_windows(struct fv_defs *d, const struct fv_reader *reader, uint32_t rank, struct fv_def_map *map)
{
    struct fv_cursor c = fv_cursor(reader, FV_CHUNK_WINDOWS);
    struct fv_window_record r;

    for (const void *p; (p = fv_cursor_next(&c));) {
        memcpy(&r, p, sizeof(r));
        add_window(d, map, rank, &r, 0);
    }
}

static void end_group(struct scan *s)
{
    if (s->member_count)
        fv_defs_group(s->defs, s->members, (uint32_t)s->member_count);
    s->member_count = 0;
}

static void scan_event(struct scan *s, const struct fv_event *e)
{
    struct fv_def_map *map = s->map;
    uint64_t comm;

    if (e->kind == FV_EV_MEMBER && e->field[0] < s->defs->world_size) {
        FV_GROW(s->members, s->member_room, s->member_count + 1);
        s->members[s->member_count++] = (uint32_t)e->field[0];
        return;
    }
    end_group(s);
    if (e->kind == FV_EV_COMM_NEW) {
        comm = e->field[0];
        if (fv_numbers_get(&map->comms, comm) != FV_NONE && !s->created[comm]) {
            s->created[comm] = true;
            s->defs->comms[map->comms.of[comm]].created++;
        }
    } else if (e->kind == FV_EV_WIN_NEW) {
        comm = e->field[1];
        if (comm >= FV_NONE || e->field[0] >= FV_NONE / 2)
            return;
        add_window(s->defs, s->map, s->rank,
                   &(struct fv_window_record){ (uint32_t)e->field[0], (uint32_t)comm, e->field[2] }, 1);
    }
}

static void scan_events(struct fv_defs *d, const struct fv_reader *reader, uint32_t rank, struct fv_def_map *map)
{
    struct scan s = { .defs = d, .map = map, .rank = rank };
    struct fv_unpacked_events unpacked = { 0 };
    size_t count;
    const struct fv_chunk *chunks = fv_reader_chunks(reader, &count);
    struct fv_event e;

    s.created = fv_xcalloc(map->comms.count + 1, sizeof(*s.created));
    for (size_t i = 0; i < count; i++) {
        if (!fv_chunk_has_events(&chunks[i]))
            continue;
        struct fv_event_cursor c = fv_reader_events(reader, &chunks[i], &unpacked);
        while (fv_event_next(&c, &e))
            scan_event(&s, &e);
        end_group(&s);
        fv_reader_forget(reader, &chunks[i]);
    }
    fv_unpacked_events_release(&unpacked);
    free(s.created);
    free(s.members);
}

/* ---- the rank itself ---- */

static uint64_t later(uint64_t a, uint64_t b)
{
    return (int64_t)(b - a) > 0 ? b : a;
}

static void look_at_thread(struct fv_def_rank *r, const struct fv_thread_record *t)
{
    if (t->last)
        r->last_ticks = later(r->last_ticks, t->last);
    if (t->in_call.begin) {
        r->last_ticks = later(r->last_ticks, t->in_call.begin);
        if ((int64_t)(t->in_call.begin - r->first_ticks) < 0)
            r->first_ticks = t->in_call.begin;
    }
}

/* The one that initialised MPI; where none did, the one that began, which is the first. */
static uint32_t main_thread(const struct fv_reader *reader)
{
    struct fv_cursor c = fv_cursor(reader, FV_CHUNK_THREADS);
    struct fv_thread_record t;

    for (const void *p; (p = fv_cursor_next(&c));) {
        memcpy(&t, p, sizeof(t));
        if (t.main == 1)
            return t.id;
    }
    return 0;
}

static bool is_record(const struct fv_chunk *chunk)
{
    bool is_log = chunk->type == FV_CHUNK_INSTANCE_LOG || chunk->type == FV_CHUNK_SAMPLE_LOG;

    return fv_chunk_has_events(chunk) || (is_log && chunk->used);
}

static bool has_records(const struct fv_reader *reader, uint32_t thread)
{
    size_t count;
    const struct fv_chunk *chunk = fv_reader_chunks(reader, &count);

    for (size_t i = 0; i < count; i++)
        if (chunk[i].thread == thread && is_record(&chunk[i]))
            return true;
    return false;
}

/* The main thread is the rank's first location; others follow if they have events, measured instances or samples, or
 * are in a call. */
static void find_threads(struct fv_def_rank *r, const struct fv_reader *reader, uint32_t **out)
{
    struct fv_cursor c = fv_cursor(reader, FV_CHUNK_THREADS);
    uint32_t main = main_thread(reader);
    size_t count = 0, room = 0;
    struct fv_thread_record t;

    for (const void *p; (p = fv_cursor_next(&c));) {
        memcpy(&t, p, sizeof(t));
        bool used = t.id == main || t.in_call.begin || has_records(reader, t.id);
        look_at_thread(r, &t);
        for (size_t i = 0; i < count; i++)
            used = used && (*out)[i] != t.id;
        if (!used)
            continue;
        *out = fv_grow(*out, &room, count + 1, sizeof(**out));
        (*out)[count++] = t.id;
        if (t.id == main) {
            (*out)[count - 1] = (*out)[0];
            (*out)[0] = t.id;
        }
    }
    if (!count) {
        *out = fv_grow(*out, &room, 1, sizeof(**out));
        (*out)[count++] = 0;
    }
    r->threads = *out;
    r->thread_count = (uint32_t)count;
}

static void find_first(struct fv_def_rank *r, const struct fv_reader *reader)
{
    size_t count;
    const struct fv_chunk *chunk = fv_reader_chunks(reader, &count);

    for (size_t i = 0; i < count; i++) {
        if (chunk[i].type != FV_CHUNK_EVENTS) /* a thread's first chunk is never compressed */
            continue;
        uint64_t base = fv_reader_events(reader, &chunk[i], NULL).begin;
        if (base && (int64_t)(base - r->first_ticks) < 0)
            r->first_ticks = base;
        r->last_ticks = later(r->last_ticks, base);
    }
}

static void look_at_samplers(struct fv_def_rank *rank, const struct fv_reader *reader)
{
    struct fv_cursor c = fv_cursor(reader, FV_CHUNK_SAMPLER);
    struct fv_sampler_record r;

    for (const void *p; (p = fv_cursor_next(&c));) {
        memcpy(&r, p, sizeof(r));
        rank->dropped_instances += r.log_lost;
        rank->dropped_samples += r.samples_lost;
        rank->sample_rate = r.rate > rank->sample_rate ? r.rate : rank->sample_rate;
    }
}

/* A name has no comma: it was one of a list. */
static void find_events(const struct fv_reader *reader, char names[FV_METRIC_EVENTS * 65 + 1])
{
    struct fv_cursor c = fv_cursor(reader, FV_CHUNK_METRIC_EVENTS);
    struct fv_metric_event r;
    size_t used = 0;

    names[0] = '\0';
    for (const void *p; (p = fv_cursor_next(&c)) && c.index < FV_METRIC_EVENTS;) {
        memcpy(&r, p, sizeof(r));
        used += (size_t)sprintf(names + used, "%.*s,", r.refusal ? 0 : (int)sizeof(r.name), r.name);
    }
}

static void find_counters(const struct fv_reader *reader, char names[FV_COUNTERS * 65 + 1])
{
    struct fv_cursor c = fv_cursor(reader, FV_CHUNK_COUNTER_EVENTS);
    struct fv_counter_event r;
    size_t used = 0;

    names[0] = '\0';
    for (const void *p; (p = fv_cursor_next(&c)) && c.index < FV_COUNTERS;) {
        memcpy(&r, p, sizeof(r));
        used += (size_t)sprintf(names + used, "%.*s,", r.refusal ? 0 : (int)sizeof(r.name), r.name);
    }
}

static uint64_t count_lost_of_threads(const struct fv_reader *reader)
{
    struct fv_cursor c = fv_cursor(reader, FV_CHUNK_SYNC_THREAD);
    struct fv_sync_thread t;
    uint64_t lost = 0;

    for (const void *p; (p = fv_cursor_next(&c));) {
        memcpy(&t, p, sizeof(t));
        lost += t.trace_lost;
    }
    return lost;
}

static void count_lost(struct fv_def_rank *r, const struct fv_reader *reader)
{
    r->dropped_of_threads = count_lost_of_threads(reader);
    r->dropped_of_files = fv_files_lost(reader);
    r->dropped_of_memory = fv_memory_lost(reader);
}

static void find_points(struct fv_def_rank *r, const struct fv_reader *reader, struct fv_clock_point **out)
{
    struct fv_cursor c = fv_cursor(reader, FV_CHUNK_CLOCK);
    const struct fv_file_header *h = fv_reader_header(reader);
    size_t count = 0, room = 0;
    struct fv_clock_point p = h->first;

    for (const void *at = &h->first; at; at = fv_cursor_next(&c)) {
        memcpy(&p, at, sizeof(p));
        if (count && (int64_t)(p.ticks - (*out)[count - 1].ticks) <= 0)
            continue;
        *out = fv_grow(*out, &room, count + 2, sizeof(**out));
        (*out)[count++] = p;
    }
    if ((int64_t)(h->last.ticks - (*out)[count - 1].ticks) > 0)
        (*out)[count++] = h->last;
    r->points = *out;
    r->point_count = (uint32_t)count;
}

/* For a rank that was killed before it had a second point of its clock. */
static uint64_t hz_of(const struct fv_file_header *h)
{
    bool one_point = h->last.ticks == h->first.ticks && h->clock_kind == FV_CLOCK_TSC;

    return h->nominal_hz || !one_point ? h->nominal_hz : (uint64_t)fv_clock_hz_since(h);
}

/* Does the process run, as far as can be seen here? */
static void add_this_rank(struct fv_defs *d, const struct fv_reader *reader, const char *name)
{
    const struct fv_file_header *h = fv_reader_header(reader);
    struct fv_def_rank r = { .world_rank = (uint32_t)h->world_rank,
                             .pid = h->pid,
                             .exit_code = h->exit_code,
                             .host = h->host,
                             .program = h->program,
                             .command = h->command,
                             .mpi = h->mpi,
                             .thread_level = h->thread_level,
                             .file = name,
                             .clock_kind = h->clock_kind,
                             .traced = h->traced,
                             .identity = fv_file_identity(reader),
                             .nominal_hz = hz_of(h),
                             .stop_ticks = h->trace_stop_ticks,
                             .dropped = h->dropped[FV_DROP_EVENTS],
                             .refused = h->dropped[FV_DROP_DISK],
                             .refused_error = h->refused_error,
                             .thread_objects = fv_threads_objects(reader),
                             .omp_objects = fv_threads_use_omp(reader) };
    struct fv_clock_point *points = NULL;
    char events[FV_METRIC_EVENTS * 65 + 1], counters[FV_COUNTERS * 65 + 1], *labels = fv_labels_text(reader),
                                                                            *sensors = fv_sensors_names(reader);
    uint32_t *threads = NULL;

    r.state = h->state;
    r.runs = h->state == FV_STATE_RUNNING && fv_experiment_is_alive(h);
    memcpy(r.boot_id, h->boot_id, sizeof(r.boot_id));
    r.first_ticks = r.last_ticks = h->begin_ticks ? h->begin_ticks : h->first.ticks;
    find_events(reader, events);
    r.events = events;
    find_counters(reader, counters);
    r.counters = counters;
    r.labels = labels;
    r.sensors = sensors;
    r.has_memory = h->traced && fv_memory_is_in(reader);
    count_lost(&r, reader);
    look_at_samplers(&r, reader);
    find_first(&r, reader);
    find_threads(&r, reader, &threads);
    find_points(&r, reader, &points);
    r.last_ticks = h->end_ticks ? later(h->end_ticks, r.last_ticks)
                                : later(later(r.last_ticks, points[r.point_count - 1].ticks), h->alive_ticks);
    fv_defs_add_rank(d, &r);
    free(points);
    free(threads);
    free(labels);
    free(sensors);
}

static void add_sections(struct fv_defs *d, const struct fv_reader *reader, struct fv_def_map *map)
{
    struct fv_cursor c = fv_cursor(reader, FV_CHUNK_SECTIONS);
    char name[FV_SECTION_NAME + 16];
    struct fv_section s;

    for (const void *p; fv_reader_header(reader)->traced && (p = fv_cursor_next(&c));) {
        memcpy(&s, p, sizeof(s));
        snprintf(name, sizeof(name), "%.*s %d", FV_SECTION_NAME - 1, s.name, s.number);
        fv_numbers_set(&map->sections, c.index + 1, fv_defs_function(d, name, FV_CLASS_SECTION));
    }
}

void fv_defs_add_file(struct fv_defs *d, const struct fv_reader *reader, const char *name, struct fv_def_map *map)
{
    const struct fv_file_header *h = fv_reader_header(reader);
    uint32_t rank = (uint32_t)h->world_rank;

    struct used used = find_used(reader);

    *map = (struct fv_def_map){ 0 };
    add_functions(d, reader, &used, map);
    add_thread_calls(d, &used, map);
    add_sections(d, reader, map);
    fv_defs_add_paths(d, reader, used.paths, used.path_count, map);
    free(used.functions);
    free(used.paths);
    add_comms(d, reader, rank, map);
    add_grids(d, reader, map);
    add_files(d, reader, rank, h->host, map);
    fv_files_define(d, reader, rank, h->host, map);
    fv_memory_define(d, reader, map);
    add_windows(d, reader, rank, map);
    if (must_scan(d, reader, map))
        scan_events(d, reader, rank, map);
    add_this_rank(d, reader, name);
}
