/* The calls of a trace one by one, its messages, and its samples of the CPU clock, for pictures over time. They are read where
 * fv_experiment.traced_calls asks for them: of so many calls of all ranks the longest of each rank; as many messages, the largest; and as many samples, of
 * each rank one of several. */
#ifndef FV_TRACED_H
#define FV_TRACED_H

#include <stddef.h>
#include <stdint.h>

struct fv_traced_call {
    uint32_t rank, thread; /* index in fv_model.ranks; fv_thread_view.id */
    uint32_t site;         /* in fv_model.sites; FV_NONE: not known */
    double begin_s, duration_s; /* from the model's origin */
    uint64_t bytes; /* that it sent and received; of a non-blocking receive where it was completed */
    uint32_t comm, root; /* of a blocking collective: in fv_model.comms; FV_NONE: it is none. Root: its world rank, FV_NONE: it has none */
    uint64_t sequence;   /* of the communicator's collectives */
    /* It waited in a collective, from its begin on, for that rank of MPI_COMM_WORLD to enter it, by the function's rule (enum fv_wait_rule), where
     * all ranks' entries are known. 0: it did not, or nobody knows. */
    double wait_s;
    uint32_t waits_for;
};

/* Which send a receive is of follows from MPI's order: those of one communicator, pair of ranks and tag do not overtake each other. */
struct fv_traced_message {
    uint32_t from, to; /* in MPI_COMM_WORLD */
    double sent_s, received_s; /* begin of the call that sent, end of the one that received */
    uint64_t bytes;
};

struct fv_traced_sample {
    uint32_t rank, thread, node; /* node: in fv_model.tree; 0: its path is not known */
    double time_s, cpu_s; /* cpu_s: CPU time that it stands for, before it */
};

struct fv_traced {
    struct fv_traced_call *calls; /* by rank, thread, begin */
    size_t call_count, call_room;
    uint64_t calls_left_out;
    struct fv_traced_message *messages;
    size_t message_count, message_room;
    uint64_t messages_left_out;
    struct fv_traced_sample *samples; /* by rank, thread, time */
    size_t sample_count, sample_room;
    uint64_t samples_left_out; /* those behind stand for them, too */
    uint64_t unmatched; /* sends and receives whose other end is not in the trace; 0 where so many messages are left out that nobody knows */
};

#endif
