/* Traces made in memory, call by call: rank files with events (fvr_builder.h), and a merge of them. */
#ifndef TRACE_BUILDER_H
#define TRACE_BUILDER_H

#include "fvr_builder.h"
#include "merge/merge.h"

/* Each has a call site, of its own number. */
enum {
    SEND,
    RECV,
    IRECV,
    WAIT,
    ALLREDUCE,
    DUP,
    REDUCE,
    PROBE,
    CANCEL,
    BCAST,
    ISEND,
    TEST,
    IBARRIER,
    WIN_CREATE,
    PUT,
    FLUSH,
    IWRITE_ALL,
    FUNCTIONS
};

struct events {
    uint8_t bytes[4096];
    size_t count;
    uint64_t end;
};

void begin_events(struct events *events, uint64_t ticks);
void event(struct events *events, enum fv_event_kind kind, const uint64_t *field);
#define EVENT(e, kind, ...) event(e, FV_EV_##kind, (const uint64_t[]){ __VA_ARGS__ })
void call(struct events *events, uint64_t site, uint64_t begin, uint64_t end);
/* Puts what there is into the file when the room for it becomes little. */
void flush_events(struct fvr *f, struct events *events);

/* A rank with MPI_COMM_WORLD (communicator 1), and a call site for each function. */
void rank_file(struct fvr *f, int rank, int ranks);
void end_file(struct fvr *f, const struct events *events, const struct fv_in_call *in_call);

/* A merge without a directory: the files are in memory. By several processes: each has files of its own. */
void merge_files(struct fv_merge *merge, struct fvr *files, size_t count);
void merge_files_by(const struct fv_transport *transport, struct fv_merge *merge, struct fvr *files, size_t count);

#endif
