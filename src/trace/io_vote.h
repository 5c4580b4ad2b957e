/* SPDX-License-Identifier: BSD-3-Clause */
/* What has most of the ticks of I/O between two calls of MPI: by a vote (Boyer and Moore), so that whoever has the
 * majority wins, and weight is by how much it is ahead of all others, at least. */
#ifndef FV_IO_VOTE_H
#define FV_IO_VOTE_H

/* `into` and `of`: pointers to structs with file, path and function; `into` also has calls, ticks and weight, to which
 * these numbers are added. */
#define FV_IO_VOTE(into, of, more_calls, more_ticks, votes)                                                   \
    do {                                                                                                      \
        (into)->calls += (more_calls);                                                                        \
        (into)->ticks += (more_ticks);                                                                        \
        if ((into)->file == (of)->file && (into)->path == (of)->path && (into)->function == (of)->function) { \
            (into)->weight += (votes);                                                                        \
        } else if ((into)->weight >= (votes)) {                                                               \
            (into)->weight -= (votes);                                                                        \
        } else {                                                                                              \
            (into)->weight = (votes) - (into)->weight;                                                        \
            (into)->file = (of)->file;                                                                        \
            (into)->path = (of)->path;                                                                        \
            (into)->function = (of)->function;                                                                \
        }                                                                                                     \
    } while (0)

#endif
