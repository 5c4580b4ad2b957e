/* SPDX-License-Identifier: BSD-3-Clause */
/* Which of its kind a message is, in a trace that keeps its end (--trace-keep): of those of one communicator, other
 * rank, tag and direction. Without that, nobody could tell which send a receive is of when the first ones are gone. */
#ifndef FV_ORDER_H
#define FV_ORDER_H

#include "rt/thread.h"
#include "trace/events.h"

/* Of the detail that comes next, whose fields these are: is the number to be told, in *number? Not of kinds that are no
 * messages. */
bool fv_order_of(const struct fv_events *events, unsigned kind, const uint64_t *field, uint64_t *number);
/* The same of the message that a request received. */
bool fv_order_received(const struct fv_events *events, uint32_t comm, uint64_t request, int peer, int tag,
                       uint64_t *number);
/* A send was taken back: nothing is known of its kind from here on. */
void fv_order_unsent(uint32_t comm, int peer, int tag);

#endif
