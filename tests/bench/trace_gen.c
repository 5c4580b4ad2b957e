/* Rank files with traces that no program made, for measuring the merge at any size:
 *
 *     trace_gen DIR RANKS CALLS [SKEW_US [EVERY [UNEVEN]]]
 *
 * Each rank sends to the next and receives from the one before, in turn, and every hundredth call is an
 * MPI_Allreduce. With SKEW_US the ranks are hosts of their own, whose CLOCK_REALTIME is off by rank times so
 * much in turns ahead and behind: messages then arrive before they are sent, unless the merge corrects that.
 * With EVERY there are measured instances of functions, of `step` around so many calls and of `half` in it,
 * around half of them. With UNEVEN 1 each rank computes longer or shorter before each call, and most receives wait. */
#include "base/experiment.h"
#include "trace/events.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK   (1u << 20)
#define CALL_NS 1000 /* a round of send and receive takes two; ticks are ns */

static _Alignas(8) uint8_t chunk[CHUNK];

static void write_chunk(FILE *f, unsigned type, uint32_t thread, uint64_t first, const void *data,
                        size_t used)
{
    size_t bytes = (sizeof(struct fv_chunk_header) + used + FV_PAGE - 1) / FV_PAGE * FV_PAGE;
    struct fv_chunk_header h = { .magic = FV_CHUNK_MAGIC,
                                 .type = (uint16_t)type,
                                 .version = 1,
                                 .bytes = bytes,
                                 .used = used,
                                 .thread = thread,
                                 .first = first };
    static const char zeros[FV_PAGE];

    h.check = fv_chunk_check(&h);
    fwrite(&h, sizeof(h), 1, f);
    fwrite(data, 1, used, f);
    fwrite(zeros, 1, bytes - sizeof(h) - used, f);
}

static void write_definitions(FILE *f, int rank, int ranks, const struct fv_file_header *h)
{
    static const char *const names[] = { "MPI_Send", "MPI_Recv", "MPI_Allreduce" };
    struct fv_function_record functions[3] = { 0 };
    struct fv_site_record sites[3] = { 0 };
    uint64_t memory[(sizeof(struct fv_comm_record) + sizeof(struct fv_rank_run) + 7) / 8] = { 0 };
    struct fv_comm_record *comm = (void *)memory;
    struct fv_thread_record thread = {
        .threads = 1, .main = 1, .begin = h->begin_ticks, .last = h->end_ticks
    };

    for (uint16_t i = 0; i < 3; i++) {
        functions[i].id = i;
        functions[i].class = i < 2 ? FV_CLASS_P2P : FV_CLASS_COLLECTIVE;
        strcpy(functions[i].name, names[i]);
        sites[i].function = i;
    }
    *comm = (struct fv_comm_record){ .bytes = sizeof(memory),
                                     .id = 1,
                                     .uid = 1,
                                     .flags = FV_COMM_WORLD,
                                     .rank = rank,
                                     .size = ranks,
                                     .runs = 1 };
    comm->run[0] = (struct fv_rank_run){ 0, 1, ranks };
    write_chunk(f, FV_CHUNK_FUNCTIONS, FV_NO_THREAD, 0, functions, sizeof(functions));
    write_chunk(f, FV_CHUNK_COMMS, FV_NO_THREAD, 0, memory, sizeof(memory));
    write_chunk(f, FV_CHUNK_THREADS, 0, 0, &thread, sizeof(thread));
    write_chunk(f, FV_CHUNK_SITES, 0, 0, sites, sizeof(sites));
}

/* Even ranks send first. A receive ends after its send began. */
static uint8_t *put_call(uint8_t *at, uint64_t call, int rank, int ranks, uint64_t gap, uint64_t length)
{
    bool send = (call + (uint64_t)rank) % 2 == 0;
    uint64_t next = (uint64_t)((rank + 1) % ranks), previous = (uint64_t)((rank + ranks - 1) % ranks);

    if (call % 100 == 99) {
        at = fv_put_event(at, FV_EV_CALL, (const uint64_t[]){ 2, gap, length });
        return fv_put_event(at, FV_EV_COLLECTIVE,
                            (const uint64_t[]){ 1, (uint64_t)(int64_t)FV_ROOT_NONE, 8, 8, call / 100 });
    }
    at = fv_put_event(at, FV_EV_CALL, (const uint64_t[]){ !send, gap, length });
    return fv_put_event(at, send ? FV_EV_SEND : FV_EV_RECV,
                        (const uint64_t[]){ 1, send ? next : previous, 7, 1024 });
}

static uint64_t gap_of(uint64_t call, int rank, bool uneven)
{
    uint64_t some = (call * 1009 + (uint64_t)rank + 1) * UINT64_C(0x9e3779b97f4a7c15);

    return uneven ? (some >> 33) % (CALL_NS - 50) : CALL_NS / 2;
}

static void write_events(FILE *f, int rank, int ranks, uint64_t calls, uint64_t begin, bool uneven)
{
    uint64_t first = 0, end = begin;
    uint8_t *at = NULL;

    for (uint64_t i = 0; i < calls; i++) {
        if (!at) {
            memcpy(chunk, &(struct fv_event_base){ end }, sizeof(struct fv_event_base));
            at = chunk + sizeof(struct fv_event_base);
            first = i;
        }
        uint64_t gap = gap_of(i, rank, uneven);
        at = put_call(at, i, rank, ranks, gap, CALL_NS - gap);
        end += CALL_NS;
        if (at + 2 * FV_EVENT_MAX > chunk + CHUNK - sizeof(struct fv_chunk_header) || i + 1 == calls) {
            write_chunk(f, FV_CHUNK_EVENTS, 0, first, chunk, (size_t)(at - chunk));
            at = NULL;
        }
    }
}

/* Ranks number the contexts differently, and mean the same. */
static void write_contexts(FILE *f, int rank)
{
    static const char path[] = "/usr/bin/app";
    uint64_t memory[(sizeof(struct fv_module_record) + sizeof(path) + 7) / 8] = { 0 };
    struct fv_module_record *module = (void *)memory;
    const struct fv_path_record paths[2][4] = {
        { { 0, 1, 0x1100 }, { 1, 1, 0x2001 }, { 1, 1, 0x2100 }, { 3, 1, 0x3001 } },
        { { 0, 1, 0x1100 }, { 1, 1, 0x2100 }, { 2, 1, 0x3001 }, { 1, 1, 0x2001 } },
    };
    static struct fv_instances contexts[2];

    *module = (struct fv_module_record){ .bytes = sizeof(memory),
                                         .id = 1,
                                         .bias = 0x5000u * (unsigned)rank,
                                         .end = 0x9000,
                                         .build_id_bytes = 20,
                                         .path_bytes = sizeof(path) - 1,
                                         .build_id = "a build of the app" };
    memcpy(module->path, path, sizeof(path));
    contexts[0].path = rank % 2 ? 3 : 2;
    contexts[1].path = 4;
    contexts[0].returns = contexts[1].returns = 1;
    write_chunk(f, FV_CHUNK_MODULES, FV_NO_THREAD, 0, memory, sizeof(memory));
    write_chunk(f, FV_CHUNK_SAMPLE_PATHS, 0, 0, paths[rank % 2], sizeof(paths[0]));
    write_chunk(f, FV_CHUNK_INSTANCES, 0, 0, contexts, sizeof(contexts));
}

static void write_instances(FILE *f, int rank, uint64_t calls, uint64_t begin, uint64_t every)
{
    const size_t room = (CHUNK - sizeof(struct fv_chunk_header)) / sizeof(struct fv_logged_instance);
    struct fv_logged_instance *log = (struct fv_logged_instance *)(void *)chunk;
    uint64_t first = 0;
    size_t n = 0;

    write_contexts(f, rank);
    for (uint64_t i = 0; i + every <= calls; i += every) {
        uint64_t at = begin + i * CALL_NS;

        log[n++] =
            (struct fv_logged_instance){ at + 200, at + every / 2 * CALL_NS + 30, 200, rank % 2 == 0, 0 };
        log[n++] = (struct fv_logged_instance){ at + 100, at + every * CALL_NS + 50, 500, rank % 2, 0 };
        if (n + 2 <= room && i + 2 * every <= calls)
            continue;
        write_chunk(f, FV_CHUNK_INSTANCE_LOG, 0, first, log, n * sizeof(*log));
        first += n;
        n = 0;
    }
}

static int write_rank(const char *directory, int rank, int ranks, uint64_t calls, int64_t skew_us,
                      uint64_t every, bool uneven)
{
    const uint64_t begin = 1000000000;
    int64_t skew_ns = (rank % 2 ? rank : -rank) * skew_us * 1000;
    uint64_t length = calls * CALL_NS;
    struct fv_file_header h = { .version = FV_FILE_VERSION,
                                .byte_order = FV_BYTE_ORDER,
                                .header_bytes = FV_PAGE,
                                .state = FV_STATE_FINALIZED,
                                .clock_kind = FV_CLOCK_TSC,
                                .world_rank = rank,
                                .world_size = ranks,
                                .pid = 1000u + (uint32_t)rank,
                                .job = 77,
                                .begin_ticks = begin,
                                .end_ticks = begin + length,
                                .traced = 1 };
    char path[4096], name[48];
    union {
        struct fv_file_header header;
        char bytes[FV_PAGE];
    } page = { .bytes = "" };

    memcpy(h.magic, FV_FILE_MAGIC, sizeof(h.magic));
    memcpy(h.boot_id, "no such boot id!", 16);
    h.boot_id[15] = (uint8_t)(skew_us ? rank : 0);
    h.first = (struct fv_clock_point){ begin, 1700000000000000000 + skew_ns, 5000000000 };
    h.last = (struct fv_clock_point){ begin + length, 1700000000000000000 + skew_ns + (int64_t)length,
                                      5000000000 + (int64_t)length };
    snprintf(h.host, sizeof(h.host), "node%d", skew_us ? rank : 0);
    strcpy(h.program, "/usr/bin/app");
    strcpy(h.command, "app -x 'a b'");
    strcpy(h.mpi, "Test MPI 1.0");
    strcpy(h.thread_level, "MPI_THREAD_SINGLE");
    fv_experiment_rank_file(name, rank, ranks);
    snprintf(path, sizeof(path), "%s/%s", directory, name);
    *strrchr(path, '/') = '\0';
    fv_make_directory(path, 0777);
    snprintf(path, sizeof(path), "%s/%s", directory, name);
    FILE *f = fopen(path, "wb");
    if (!f) {
        perror(path);
        return 1;
    }
    fwrite(page.bytes, 1, sizeof(page.bytes), f);
    write_definitions(f, rank, ranks, &h);
    write_events(f, rank, ranks, calls, begin, uneven);
    if (every)
        write_instances(f, rank, calls, begin, every);
    h.file_bytes = (uint64_t)ftell(f);
    page.header = h;
    rewind(f);
    fwrite(page.bytes, 1, sizeof(page.bytes), f);
    return fclose(f) != 0;
}

int main(int argc, char **argv)
{
    int ranks = argc > 2 ? atoi(argv[2]) : 0, failed = 0;
    uint64_t calls = argc > 3 ? strtoull(argv[3], NULL, 10) : 0;

    if (ranks < 1 || !calls) {
        fputs("usage: trace_gen DIR RANKS CALLS [SKEW_US [EVERY [UNEVEN]]]\n", stderr);
        return 2;
    }
    for (int rank = 0; rank < ranks && !failed; rank++)
        failed = write_rank(argv[1], rank, ranks, calls, argc > 4 ? atoll(argv[4]) : 0,
                            argc > 5 ? strtoull(argv[5], NULL, 10) : 0, argc > 6 && atoi(argv[6]));
    return failed;
}
