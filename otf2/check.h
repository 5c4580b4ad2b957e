/* SPDX-License-Identifier: BSD-3-Clause */
/* A strict validator of OTF2 archives, ours or another tool's. otf2-print reads nearly anything without a
 * word; this says what a reader could stumble over. Definitions are read once and kept; then one location
 * after the other is read and closed, so that neither memory nor descriptors grow with the events: what has
 * to be compared across locations is kept as counts (messages by communicator, ranks and tag; collectives of
 * the first location of a communicator, in order, up to a budget). */
#ifndef FV_OTF2_CHECK_H
#define FV_OTF2_CHECK_H

#include "base/base.h"
#include "tool/json_stream.h"

#include <stdio.h>

struct fv_check_options {
    bool all;             /* every fault, not only the first ones of each kind */
    FILE *text;           /* one line a fault, then a summary; NULL: none */
    struct fv_json *json; /* in its outermost object: `faults` and the summary; NULL: none */
};

struct fv_check_result {
    uint64_t locations, events, definitions, errors, warnings;
};

/* Has logged where it returns an error: there is no archive at `path`, or nothing of it can be read, or this
 * fvmpi was built without OTF2. Faults are no error of this function. One archive at a time (the library's
 * error callback is global). */
int fv_check_archive(const char *path, const struct fv_check_options *options, struct fv_check_result *out);

#endif
