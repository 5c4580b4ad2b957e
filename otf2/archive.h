/* SPDX-License-Identifier: BSD-3-Clause */
/* An OTF2 archive that several processes write together: the sink of the merge. Only otf2/ knows OTF2.
 *
 * The archive grows in a hidden directory beside its final place and is moved there when it is whole, the
 * anchor file last: an interrupted merge leaves nothing that a viewer would open. An older archive of fvunify
 * is moved aside first and removed when the new one is in its place; if that fails, or is interrupted, it
 * comes back, at the latest with the next merge. What fvunify did not write is not touched. */
#ifndef FV_ARCHIVE_H
#define FV_ARCHIVE_H

#include "merge/calling.h"
#include "merge/clocks.h"
#include "merge/contexts.h"
#include "merge/lock_names.h"
#include "merge/record.h"
#include "merge/transport.h"

struct fv_archive;

/* Collective. `directory`, which nobody else writes to meanwhile, gets traces.otf2, traces.def, traces.marker and
 * traces/. `buffer_bytes`: for the events of one location. `members`: of the largest group, or more. Both are the same
 * in all processes. `compress`: if OTF2 can; the first process
 * says that it cannot. NULL: failed, and has logged. */
struct fv_archive *fv_archive_open(const char *directory, const struct fv_transport *transport, uint64_t buffer_bytes,
                                   uint64_t members, bool compress);

/* What the events refer to. The numbers of nodes as in struct fv_contexts. All outlive the archive. */
struct fv_archive_names {
    const struct fv_defs *defs;
    const struct fv_lock_names *locks;
    const uint32_t *context_of_node, *function_of_node;
    bool samples;                          /* there are samples of the CPU clock: */
    const struct fv_calling_node *calling; /* the contexts, by number: regions are entered and left as calling contexts,
                                            * and samples
                                            * are CallingContextSample. NULL: Enter and Leave, and samples are a
                                            * metric */
    size_t calling_count;
};

/* Collective: event files come next. */
bool fv_archive_begin_events(struct fv_archive *archive, const struct fv_archive_names *names);
struct fv_sink *fv_archive_sink(struct fv_archive *archive);
bool fv_archive_end_events(struct fv_archive *archive);

struct fv_archive_location {
    uint64_t location, events;
    uint32_t rank; /* world rank */
    bool gaps;     /* recording was off at times */
    bool given_up; /* requests of receives were freed: messages may have come that are not there */
};
struct fv_archive_times {
    uint64_t first_ns, last_ns; /* of all events */
    int64_t origin_ns;          /* CLOCK_REALTIME of time 0 */
};

/* Collective: the local definitions of this process's locations; the first process writes the global ones,
 * for which all locations are needed (others: NULL). */
bool fv_archive_definitions(struct fv_archive *archive, const uint64_t *own, size_t own_count,
                            const struct fv_archive_location *locations, size_t location_count,
                            const struct fv_archive_times *times, const struct fv_contexts *contexts);

/* By the first process, in the order of time: a moment that was marked, as a marker. `location`: of whom. */
bool fv_archive_label(struct fv_archive *archive, uint64_t time_ns, uint64_t location, const char *text, size_t length);

/* Collective. Closes the archive; if `good` it gets its place, else it is removed, unless `keep`. */
bool fv_archive_close(struct fv_archive *archive, bool good, bool keep);

#endif
