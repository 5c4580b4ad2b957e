/* See fvr_builder.h. */
#include "fvr_builder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void fvr_init(struct fvr *f, int rank, int ranks)
{
    struct fv_file_header *h = &f->header;

    *f = (struct fvr){ 0 };
    memcpy(h->magic, FV_FILE_MAGIC, 8);
    h->version = FV_FILE_VERSION;
    h->byte_order = FV_BYTE_ORDER;
    h->header_bytes = FV_PAGE;
    h->state = FV_STATE_FINALIZED;
    h->clock_kind = FV_CLOCK_TSC;
    h->world_rank = rank;
    h->world_size = ranks;
    h->pid = 1000 + (uint32_t)rank;
    memcpy(h->boot_id, "no such boot id!", 16);
    h->job = 77;
    h->first = (struct fv_clock_point){ 1000000000, 1700000000000000000, 5000000000 };
    h->last = (struct fv_clock_point){ 2000000000, 1700000001000000000, 6000000000 };
    h->begin_ticks = 1000000000;
    h->init_ticks = 1001000000;
    h->finalize_ticks = 1999000000;
    h->end_ticks = 2000000000;
    strcpy(h->host, "node1");
    strcpy(h->program, "/usr/bin/app");
    strcpy(h->mpi, "Test MPI 1.0");
    strcpy(h->command, "app -x 'a b'");
    strcpy(h->fvmpi, "0.1");
    strcpy(h->thread_level, "MPI_THREAD_SINGLE");
}

void fvr_release(struct fvr *f)
{
    for (size_t i = 0; i < f->stream_count; i++)
        free(f->streams[i].data);
    free(f->streams);
    free(f->bytes);
    *f = (struct fvr){ 0 };
}

void fvr_add(struct fvr *f, uint16_t type, uint32_t thread, const void *record, size_t bytes)
{
    struct fvr_stream *s = NULL;

    for (size_t i = 0; i < f->stream_count; i++)
        if (f->streams[i].type == type && f->streams[i].thread == thread && !f->streams[i].alone)
            s = &f->streams[i];
    if (!s) {
        FV_GROW(f->streams, f->stream_room, f->stream_count + 1);
        s = &f->streams[f->stream_count++];
        *s = (struct fvr_stream){ .type = type, .thread = thread };
    }
    FV_GROW(s->data, s->room, s->bytes + bytes);
    memcpy(s->data + s->bytes, record, bytes);
    s->bytes += bytes;
}

void fvr_chunk(struct fvr *f, uint16_t type, uint32_t thread, uint64_t first, const void *payload, size_t bytes)
{
    FV_GROW(f->streams, f->stream_room, f->stream_count + 1);
    struct fvr_stream *s = &f->streams[f->stream_count++];

    *s = (struct fvr_stream){ .type = type, .thread = thread, .first = first, .alone = true };
    FV_GROW(s->data, s->room, bytes);
    if (bytes)
        memcpy(s->data, payload, bytes);
    s->bytes = bytes;
}

void fvr_function(struct fvr *f, uint16_t id, unsigned class, unsigned wait, const char *name)
{
    struct fv_function_record r = { .id = id, .class = (uint8_t) class, .wait = (uint8_t)wait };

    snprintf(r.name, sizeof(r.name), "%s", name);
    fvr_add(f, FV_CHUNK_FUNCTIONS, FV_NO_THREAD, &r, sizeof(r));
}

uint32_t fvr_module(struct fvr *f, const char *path, uint64_t bias, const char *build_id)
{
    size_t length = strlen(path), bytes = fv_round_up(sizeof(struct fv_module_record) + length + 1, 8);
    struct fv_module_record *r = fv_xcalloc(1, bytes);

    r->bytes = (uint32_t)bytes;
    r->id = ++f->modules;
    r->bias = bias;
    r->begin = bias;
    r->end = bias + 0x100000;
    r->path_bytes = (uint32_t)length;
    if (build_id) {
        r->build_id_bytes = 20;
        memcpy(r->build_id, build_id, 20);
    }
    memcpy(r->path, path, length);
    fvr_add(f, FV_CHUNK_MODULES, FV_NO_THREAD, r, bytes);
    free(r);
    return f->modules;
}

uint32_t fvr_path(struct fvr *f, uint32_t parent, uint32_t module, uint64_t offset)
{
    struct fv_path_record r = { parent, module, offset };

    fvr_add(f, FV_CHUNK_PATHS, FV_NO_THREAD, &r, sizeof(r));
    return ++f->paths;
}

uint32_t fvr_comm(struct fvr *f, uint64_t uid, unsigned flags, int rank, int size)
{
    uint64_t memory[(sizeof(struct fv_comm_record) + sizeof(struct fv_rank_run) + 7) / 8] = { 0 };
    struct fv_comm_record *r = (void *)memory;

    r->bytes = sizeof(memory);
    r->id = ++f->comms;
    r->uid = uid;
    r->flags = flags;
    r->rank = rank;
    r->size = size;
    r->runs = 1;
    r->run[0] = (struct fv_rank_run){ 0, 1, size };
    fvr_add(f, FV_CHUNK_COMMS, FV_NO_THREAD, r, sizeof(memory));
    return f->comms;
}

void fvr_thread(struct fvr *f, uint32_t id, bool main, uint64_t calls, uint64_t mpi_ticks,
                const struct fv_in_call *in_call)
{
    struct fv_thread_record r = { .id = id,
                                  .tid = f->header.pid + id,
                                  .threads = 1,
                                  .main = main,
                                  .calls = calls,
                                  .mpi_ticks = mpi_ticks,
                                  .begin = f->header.begin_ticks,
                                  .waited = f->waited };

    r.last = f->header.end_ticks ? f->header.end_ticks : f->header.begin_ticks + mpi_ticks;
    if (in_call)
        r.in_call = *in_call;
    fvr_add(f, FV_CHUNK_THREADS, id, &r, sizeof(r));
}

uint32_t fvr_cell(struct fvr *f, uint32_t thread, uint32_t path, uint32_t comm, uint16_t function,
                  const uint64_t *ticks, uint32_t calls, uint64_t sent_each, uint64_t received_each)
{
    struct fv_cell c = { .path = path, .comm = comm, .function = function, .calls = calls, .time_min = UINT64_MAX };
    unsigned __int128 squares = 0;
    uint32_t index = 0;

    c.size_bucket = (uint8_t)fv_log2_bucket(sent_each ? sent_each : received_each);
    for (uint32_t i = 0; i < calls; i++) {
        unsigned bucket = fv_log2_bucket(ticks[i] >> FV_TIME_SHIFT);

        c.time_sum += ticks[i];
        c.time_min = ticks[i] < c.time_min ? ticks[i] : c.time_min;
        c.time_max = ticks[i] > c.time_max ? ticks[i] : c.time_max;
        squares += (unsigned __int128)ticks[i] * ticks[i];
        c.time_histogram[bucket < FV_TIME_BUCKETS ? bucket : FV_TIME_BUCKETS - 1]++;
    }
    c.square_low = (uint64_t)squares;
    c.square_high = (uint64_t)(squares >> 64);
    c.bytes_sent = sent_each * calls;
    c.bytes_received = received_each * calls;
    c.size_min = sent_each && (!received_each || sent_each < received_each) ? sent_each : received_each;
    c.size_max = sent_each > received_each ? sent_each : received_each;
    c.sends = sent_each ? calls : 0;
    c.receives = received_each ? calls : 0;
    for (size_t i = 0; i < f->stream_count; i++)
        if (f->streams[i].type == FV_CHUNK_CELLS && f->streams[i].thread == thread)
            index = (uint32_t)(f->streams[i].bytes / sizeof(c));
    fvr_add(f, FV_CHUNK_CELLS, thread, &c, sizeof(c));
    return index;
}

void fvr_collective(struct fvr *f, uint32_t thread, uint32_t cell, uint32_t sequence, unsigned flags, uint64_t begin,
                    uint64_t end)
{
    struct fv_coll_record r = { begin, end, sequence, cell << 3 | flags };

    fvr_add(f, FV_CHUNK_COLLECTIVES, thread, &r, sizeof(r));
}

void fvr_peer(struct fvr *f, uint32_t thread, int world_rank, uint64_t messages, uint64_t bytes)
{
    struct fv_peer_record r = { world_rank, 0, messages, bytes };

    fvr_add(f, FV_CHUNK_PEERS, thread, &r, sizeof(r));
}

/* ---- samples ---- */

void fvr_sampler(struct fvr *f, uint32_t thread, uint64_t rate, uint64_t ticks)
{
    struct fv_sampler_record r = { .rate = rate, .ticks = ticks };

    fvr_add(f, FV_CHUNK_SAMPLER, thread, &r, sizeof(r));
}

uint32_t fvr_sample_path(struct fvr *f, uint32_t thread, uint32_t parent, uint32_t module, uint64_t offset)
{
    struct fv_path_record r = { parent, module, offset };
    uint32_t id = 0;

    fvr_add(f, FV_CHUNK_SAMPLE_PATHS, thread, &r, sizeof(r));
    for (size_t i = 0; i < f->stream_count; i++)
        if (f->streams[i].type == FV_CHUNK_SAMPLE_PATHS && f->streams[i].thread == thread)
            id = (uint32_t)(f->streams[i].bytes / sizeof(r));
    return id;
}

void fvr_cost(struct fvr *f, uint32_t thread, uint32_t path, uint64_t ticks, uint64_t in_mpi)
{
    struct fv_cost r = { .path = path, .ticks = ticks, .in_mpi = in_mpi };

    fvr_add(f, FV_CHUNK_COSTS, thread, &r, sizeof(r));
}

static void add_moment(struct fv_moments *m, uint32_t count, double value)
{
    double delta = value - m->mean;

    m->mean += delta / count;
    m->m2 += delta * (value - m->mean);
}

void fvr_instances(struct fvr *f, uint32_t thread, uint32_t path, const uint64_t *ns, uint32_t calls, uint32_t window,
                   const double *others)
{
    struct fv_instances r = { .path = path, .entries = calls, .returns = calls, .window = window };

    for (uint32_t i = 0; i < calls; i++) {
        for (unsigned m = 0; m < FV_METRIC_COUNT; m++) {
            double value = m <= FV_METRIC_CPU ? (double)ns[i] : others ? others[m] * (i + 1) : 0;

            add_moment(&r.all[m], i + 1, value);
            if (i < window)
                add_moment(&r.in_window[m], i + 1, value);
        }
        if (i < FV_RESERVOIR)
            r.reservoir[i] = (struct fv_instance){ f->header.begin_ticks + i, ns[i], ns[i] };
    }
    fvr_add(f, FV_CHUNK_INSTANCES, thread, &r, sizeof(r));
}

/* ---- layout ---- */

static size_t fixed_bytes(uint16_t type)
{
    return type == FV_CHUNK_CELLS          ? sizeof(struct fv_cell)
           : type == FV_CHUNK_PATHS        ? sizeof(struct fv_path_record)
           : type == FV_CHUNK_COLLECTIVES  ? sizeof(struct fv_coll_record)
           : type == FV_CHUNK_PEERS        ? sizeof(struct fv_peer_record)
           : type == FV_CHUNK_SAMPLE_PATHS ? sizeof(struct fv_path_record)
           : type == FV_CHUNK_COSTS        ? sizeof(struct fv_cost)
                                           : 0;
}

static void put_chunk(struct fvr *f, const struct fvr_stream *s, size_t from, size_t bytes)
{
    size_t fixed = fixed_bytes(s->type), whole = fv_round_up(sizeof(struct fv_chunk_header) + bytes, FV_PAGE);
    struct fv_chunk_header c = { .magic = FV_CHUNK_MAGIC,
                                 .type = s->type,
                                 .version = 1,
                                 .bytes = whole,
                                 .used = bytes,
                                 .thread = s->thread,
                                 .first = s->alone ? s->first
                                          : fixed  ? from / fixed
                                                   : 0 };

    c.check = fv_chunk_check(&c);
    FV_GROW(f->bytes, f->size_room, f->size + whole);
    memset(f->bytes + f->size, 0, whole);
    memcpy(f->bytes + f->size, &c, sizeof(c));
    memcpy(f->bytes + f->size + sizeof(c), s->data + from, bytes);
    f->size += whole;
}

void fvr_finish(struct fvr *f)
{
    f->size = 0;
    FV_GROW(f->bytes, f->size_room, FV_PAGE);
    memset(f->bytes, 0, FV_PAGE);
    f->size = FV_PAGE;
    for (size_t i = 0; i < f->stream_count; i++) {
        const struct fvr_stream *s = &f->streams[i];
        size_t fixed = fixed_bytes(s->type), step = s->bytes;

        if (fixed && f->chunk_payload)
            step = f->chunk_payload / fixed * fixed;
        for (size_t at = 0; at < s->bytes; at += step)
            put_chunk(f, s, at, s->bytes - at < step ? s->bytes - at : step);
    }
    f->header.file_bytes = f->size;
    memcpy(f->bytes, &f->header, sizeof(f->header));
}

void fvr_join(struct fvr *f, struct fv_experiment *experiment)
{
    struct fv_reader *reader = NULL;
    char name[32], why[200] = "";

    fvr_finish(f);
    snprintf(name, sizeof(name), "rank-%06d.fvr", f->header.world_rank);
    if (fv_reader_open_memory(f->bytes, f->size, &reader, why, sizeof(why))) {
        fprintf(stderr, "builder: %s: %s\n", name, why);
        abort();
    }
    fv_experiment_add(experiment, name, reader);
}

void fvr_write(struct fvr *f, const char *directory, const char *name)
{
    char path[4096];

    fvr_finish(f);
    snprintf(path, sizeof(path), "%s/%s", directory, name);
    FILE *out = fopen(path, "wb");
    if (!out || fwrite(f->bytes, 1, f->size, out) != f->size || fclose(out)) {
        perror(path);
        abort();
    }
}
