/* Rank files made in memory, record by record, for tests with known answers. Ticks are nanoseconds
 * (1 GHz TSC, two clock points a second apart) unless a test changes the header. */
#ifndef FVR_BUILDER_H
#define FVR_BUILDER_H

#include "experiment/experiment.h"
#include "trace/format.h"

struct fvr_stream {
    uint16_t type;
    uint32_t thread;
    uint64_t first; /* of a chunk of its own */
    bool alone;
    uint8_t *data;
    size_t bytes, room;
};
struct fvr {
    uint32_t waited; /* of fvr_thread()'s next */
    struct fv_file_header header;
    struct fvr_stream *streams;
    size_t stream_count, stream_room;
    uint32_t paths, comms, modules;
    size_t chunk_payload; /* a chunk is begun anew after so many bytes; 0: one chunk for each stream */
    uint8_t *bytes;       /* made by fvr_finish() */
    size_t size, size_room;
};

/* A finalized rank of a job, that ran for one second from tick 1,000,000,000. */
void fvr_init(struct fvr *f, int rank, int ranks);
void fvr_release(struct fvr *f);

void fvr_add(struct fvr *f, uint16_t type, uint32_t thread, const void *record, size_t bytes);
/* The same as a chunk of its own: `first` of its header counts what was before. */
void fvr_chunk(struct fvr *f, uint16_t type, uint32_t thread, uint64_t first, const void *payload, size_t bytes);
void fvr_function(struct fvr *f, uint16_t id, unsigned class, unsigned wait, const char *name);
uint32_t fvr_module(struct fvr *f, const char *path, uint64_t bias, const char *build_id /* 20 bytes; NULL: none */);
uint32_t fvr_path(struct fvr *f, uint32_t parent, uint32_t module, uint64_t offset);
/* A communicator of world ranks 0 .. size-1. */
uint32_t fvr_comm(struct fvr *f, uint64_t uid, unsigned flags, int rank, int size);
void fvr_thread(struct fvr *f, uint32_t id, bool main, uint64_t calls, uint64_t mpi_ticks,
                const struct fv_in_call *in_call);
/* Calls of the given durations, as one cell; returns its index among the thread's cells. */
uint32_t fvr_cell(struct fvr *f, uint32_t thread, uint32_t path, uint32_t comm, uint16_t function,
                  const uint64_t *ticks, uint32_t calls, uint64_t sent_each, uint64_t received_each);
void fvr_collective(struct fvr *f, uint32_t thread, uint32_t cell, uint32_t sequence, unsigned flags, uint64_t begin,
                    uint64_t end);
void fvr_peer(struct fvr *f, uint32_t thread, int world_rank, uint64_t messages, uint64_t bytes);

/* Samples of a thread. Times in ns; the window holds the first `window` of the calls. */
void fvr_sampler(struct fvr *f, uint32_t thread, uint64_t rate, uint64_t ticks);
uint32_t fvr_sample_path(struct fvr *f, uint32_t thread, uint32_t parent, uint32_t module, uint64_t offset);
void fvr_cost(struct fvr *f, uint32_t thread, uint32_t path, uint64_t ticks, uint64_t in_mpi);
/* Calls of one function; of other metrics than the times each call has `others`[metric] times its number from 1. */
void fvr_instances(struct fvr *f, uint32_t thread, uint32_t path, const uint64_t *ns, uint32_t calls, uint32_t window,
                   const double *others);

/* Lays the file out; bytes and size are then valid, until the next change. */
void fvr_finish(struct fvr *f);
/* fvr_finish(), and adds it to an experiment; the builder must outlive the experiment. */
void fvr_join(struct fvr *f, struct fv_experiment *experiment);
/* fvr_finish(), and writes it. */
void fvr_write(struct fvr *f, const char *directory, const char *name);

#endif
