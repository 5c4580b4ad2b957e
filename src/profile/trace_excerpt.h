/* SPDX-License-Identifier: BSD-3-Clause */
/* The calls of a trace one by one, its messages, its samples of the CPU clock, and what threads did beside, for
 * pictures over time. They are read where fv_experiment.traced_calls asks for them: of so many calls of all ranks the
 * longest of each rank; as many messages, the largest; as many samples, of each rank one of several; and as many spans,
 * of each rank and layer the longest. */
#ifndef FV_TRACE_EXCERPT_H
#define FV_TRACE_EXCERPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fv_trace_call {
    uint32_t rank, thread;      /* index in fv_model.ranks; fv_thread_view.id */
    uint32_t site;              /* in fv_model.sites; FV_NONE: not known */
    double begin_s, duration_s; /* from the model's origin */
    uint64_t number;            /* of the thread's calls in the trace */
    uint64_t bytes;             /* that it sent and received; of a non-blocking receive where it was completed */
    /* Of a blocking collective: in fv_model.comms, FV_NONE: it is none, or of an intercommunicator; and ranks there.
     * root: FV_NONE: it has none */
    uint32_t comm, comm_rank, root;
    uint64_t sequence; /* of the communicator's collectives */
    bool receives;     /* blocking: of a call that sends, too, nobody knows what it waits for */
    /* It waited, from its begin on, for that rank of MPI_COMM_WORLD and that thread of it: a receive for the send (late
     * sender), a blocking send for the receive to be posted, if it did not return before (late receiver), a collective
     * for the last to enter that matters by the function's rule (enum fv_wait_rule). Of several the longest. 0: it did
     * not, or nobody knows (waits_unknown, messages_left_out, clocks that differ). */
    double wait_s;
    uint32_t waits_for, waits_for_thread;
};

/* Which send a receive is of follows from MPI's order: those of one communicator, pair of ranks and tag do not overtake
 * each other. */
struct fv_trace_message {
    uint32_t from, to;               /* in MPI_COMM_WORLD */
    uint32_t from_thread, to_thread; /* fv_thread_view.id */
    double sent_s, received_s;       /* begin of the call that sent, end of the one that received */
    uint64_t bytes;
};

struct fv_trace_sample {
    uint32_t rank, thread, node; /* node: in fv_model.tree; 0: its path is not known */
    uint32_t ticks;              /* of the thread that it stands for: itself, and those before it that were left out */
    double time_s;
};

/* What a thread did beside calls of MPI, for a stretch of time. Spans of one layer may be in each other. */
enum fv_trace_layer {
    FV_TRACE_SECTIONS,
    FV_TRACE_FUNCTIONS, /* that the compiler instrumented */
    FV_TRACE_OPENMP,    /* the thread's part in parallel regions, and in worksharing */
    FV_TRACE_WAITS,     /* for threads of its process */
    FV_TRACE_IO,
    FV_TRACE_MEMORY,
    FV_TRACE_LAYERS
};
struct fv_trace_span {
    uint32_t rank, thread; /* as in fv_trace_call */
    uint8_t layer, depth;  /* enum fv_trace_layer; how many others of the layer it is in */
    uint32_t node;         /* in fv_model.tree: where; of a function: itself. 0: not known */
    const char *name;      /* NULL: the function of `node`. Of the model, as: */
    const char *object;    /* the file; the thread that was waited for. NULL: none, or not known */
    uint64_t bytes;        /* moved, allocated, freed */
    double begin_s, duration_s;
};

struct fv_trace_excerpt {
    struct fv_trace_call *calls; /* by rank, thread, begin */
    size_t call_count, call_room;
    uint64_t calls_left_out;
    uint64_t waits_unknown; /* collective calls of these that not all ranks are known to have entered, or by clocks that
                             * differ */
    struct fv_trace_message *messages;
    size_t message_count, message_room;
    uint64_t messages_left_out;
    bool waits_cut;                  /* there were too many messages: who waited for the last ones nobody knows */
    struct fv_trace_sample *samples; /* by rank, thread, time */
    size_t sample_count, sample_room;
    uint64_t samples_left_out;   /* those behind stand for them, too */
    struct fv_trace_span *spans; /* by rank, thread, layer, begin, depth */
    size_t span_count, span_room;
    uint64_t spans_left_out[FV_TRACE_LAYERS]; /* shorter ones */
    uint64_t unmatched; /* sends and receives whose other end is not in the trace; 0 where so many messages are left out
                         * that nobody knows */
};

#endif
