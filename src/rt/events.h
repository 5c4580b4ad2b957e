/* SPDX-License-Identifier: BSD-3-Clause */
/* The trace of a thread (events.c). */
#ifndef FV_RT_EVENTS_H
#define FV_RT_EVENTS_H

#include "rt/thread.h"

void fv_events_call(struct fv_call *call);
/* What a thread did between its calls: never inside of one, nor in a signal handler. Its form's first field, of what
 * lasts the first two, are filled in here: times in ticks. False: there is no room, which _make_room() makes, or the
 * trace has ended. */
bool fv_events_between(struct fv_thread *thread, unsigned kind, uint64_t begin, uint64_t end, uint64_t *field);
/* The same of a kind of event whose fields are the gap and a value, in half the time. */
bool fv_events_moment(struct fv_thread *thread, unsigned kind, uint64_t now, uint64_t value);
/* The same of a counter. */
bool fv_events_counter(struct fv_thread *thread, uint64_t now, unsigned number, uint64_t count);
void fv_events_make_room(struct fv_thread *thread);
/* The sections that are open now; as fv_events_between(). */
bool fv_events_sections(struct fv_thread *thread, uint64_t now);
/* Room of the trace's budget for something else in it. Also from a signal handler. False: it is used up, or the trace
 * has ended. */
bool fv_events_reserve(size_t bytes);
void fv_events_unreserve(size_t bytes);
/* For calibration: events of the thread go to memory that is thrown away at the end. False: there is none. */
bool fv_events_rehearse(struct fv_thread *thread, bool begin);
/* Compression (pack.c). */
void fv_pack_init(void);
bool fv_pack_wanted(void);
/* The events of a chunk as struct fv_packed_events and its frame, in *out, which grows. Its bytes; 0: no memory. */
size_t fv_pack_events(const struct fv_chunk_header *chunk, struct fv_packed_events **out, size_t *room);

void fv_events_switched(bool on); /* pause, resume: by the calling thread */

#endif
