/* SPDX-License-Identifier: BSD-3-Clause */
/* What accelerators did, stream by stream, of an archive: kernels and copies. */
#ifndef FV_STREAMS_H
#define FV_STREAMS_H

#include "profile/functions/instrumentation.h"

/* Is a thread of the file a stream? Then its functions are none that were instrumented. */
bool fv_is_stream(struct fv_reader *reader, uint32_t thread);

extern const struct fv_track fv_track_streams;
extern const struct fv_relation fv_streams_relation;

#endif
