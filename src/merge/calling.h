/* SPDX-License-Identifier: BSD-3-Clause */
/* Calling contexts: where a location is in the program, event by event, as an archive with samples tells it. Each
 * region that is entered is a node below the call path that entered it, and what comes meanwhile stands below that
 * region:
 *
 *     main:10 - solve:42 - MPI_Send            a call of MPI
 *     main:10 - solve (measured) ; then main:10 - solve:42 - MPI_Send
 *     phase (a section) - main:10 - solve:42 - MPI_Send
 *
 * A measured instance is the frame of its function, so that paths go on through it. A section has no frame: the paths
 * of what is in it begin below it anew, where those that go through an instance around it begin below that instance's
 * frame. In a call of MPI, and wherever a path does not lead through what is entered, events stand directly at or below
 * the innermost region.
 *
 * Nodes below `base_count` are those of struct fv_contexts. All others a location numbers for itself, as they come,
 * from `base_count` on; unifying gives them the numbers that they have in the whole archive, in the order of the
 * locations, however many processes there are. Rejected: a pass over all events before, to number them at once, which
 * costs as much as the merge. */
#ifndef FV_CALLING_H
#define FV_CALLING_H

#include "merge/contexts.h"
#include "merge/transport.h"

/* These three are its key. A parent has a smaller number. */
struct fv_calling_node {
    uint32_t parent; /* FV_NONE: outermost */
    uint32_t region;
    uint32_t like; /* its source line is that of this node of the base; FV_NONE: it has none */
};

enum fv_calling_kind { FV_CALLING_CALL, FV_CALLING_FUNCTION, FV_CALLING_SECTION };

struct fv_calling_event {
    uint32_t node;     /* by the location's own numbers */
    uint32_t distance; /* the unwind distance, as OTF2's CallingContext definition has it */
};

struct fv_calling_location {
    uint64_t location;
    uint32_t *global; /* by number behind the base; once they are unified */
    size_t count;
};

struct fv_calling {
    struct fv_calling_node *base;
    uint32_t *depths;
    size_t base_count;
    struct fv_calling_thread *threads; /* one for each location, in the order in which they were opened */
    size_t count, room;
    struct fv_calling_location *locations; /* the same, once they are unified */
    /* In the first process, then: */
    struct fv_calling_node *nodes; /* of all locations; their numbers follow those of the base */
    size_t node_count, node_room;
    struct fv_index index;
};

/* `base` is the parent and the region of each context, see struct fv_calling_node; it is copied. */
void fv_calling_init(struct fv_calling *calling, const struct fv_calling_node *base, size_t base_count);
void fv_calling_release(struct fv_calling *calling);

/* A location's events come next; its index among those of this process, which the functions below take. */
size_t fv_calling_open(struct fv_calling *calling, uint64_t location);
void fv_calling_close(struct fv_calling *calling, size_t index);

/* path: of the base; FV_NONE: not known. Regions of FV_CALLING_FUNCTION are numbered as those of the base. */
struct fv_calling_event fv_calling_enter(struct fv_calling *calling, size_t index, enum fv_calling_kind kind,
                                         uint32_t path, uint32_t region);
/* The innermost; its node. FV_NONE: none is entered. */
uint32_t fv_calling_leave(struct fv_calling *calling, size_t index);
struct fv_calling_event fv_calling_sample(struct fv_calling *calling, size_t index, uint32_t path);

/* Collective, when all locations are closed. */
void fv_calling_unify(struct fv_calling *calling, const struct fv_transport *transport);

#endif
