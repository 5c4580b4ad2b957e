/* SPDX-License-Identifier: BSD-3-Clause */
/* An OTF2 archive, of whichever tool, as a source of records (merge/source.h): what takes the records of rank files
 * takes those of an archive. The archive is only read.
 *
 * A process reads the locations of its share of the ranks. A first pass over them finds call paths, and what the events
 * of OTF2 say too late: on which communicator a collective operation was begun, and from whom a posted receive was to
 * come. So memory is 4 bytes for each of these, and a buffer of the archive's chunk size for each location.
 *
 * What a tool writes against the rules of OTF2 is tolerated, counted and said: fv_import_say(). Times are the
 * archive's, less its global offset, with the corrections of clocks that it holds. */
#ifndef FV_IMPORT_H
#define FV_IMPORT_H

#include "merge/merge.h"

#include <signal.h>

/* Is it the name of an archive's anchor file, and not of a directory? */
bool fv_import_is_anchor(const char *path);

/* While events are read: progress, in bytes of them, may be NULL; once *stop is set, what reads them fails. Copied. */
struct fv_import_watch {
    void (*progress)(void *context, uint64_t bytes);
    void *context;
    const volatile sig_atomic_t *stop;
};

/* Collective: in place of fv_merge_open(). False: not readable, or without ranks; one line was logged. */
bool fv_import_open(struct fv_merge *merge, const struct fv_transport *transport, const char *anchor,
                    const struct fv_import_watch *watch);
/* Before that: the records are of a part of the run alone. What is open at its begin begins there, and what is open at
 * its end ends there; waiting is cut likewise. */
struct fv_import_part {
    uint64_t from_ns, to_ns; /* as records have them; to_ns UINT64_MAX: up to the end */
    const char *of;          /* what reports call the run; NULL: by the archive's name */
};
void fv_import_take_part(struct fv_merge *merge, const struct fv_import_part *part);
/* Or: of each location the records are those of its first events, so many bytes of all locations. */
void fv_import_take_head(struct fv_merge *merge, uint64_t bytes);
/* Collective, behind fv_merge_unify(): rank files of this process's ranks, into a directory that is there. That of the
 * first rank says what was wrong in the archive. False: logged. */
bool fv_import_transcribe(struct fv_merge *merge, const char *directory);
/* Behind that; the first process says what was wrong. True: nothing is missing for it. */
bool fv_import_say(struct fv_merge *merge);
/* Who names the metrics of the records from here on, which then have them as SENSOR records: their id is what `name`
 * returned. Stays. */
struct fv_import_series {
    uint32_t (*name)(void *context, uint64_t location, bool of_thread, const char *name, const char *unit, bool grows);
    void *context;
};
void fv_import_take_series(struct fv_merge *merge, const struct fv_import_series *series);
/* Its markers, in any order, to the first process: when, by what thread, or the first one, and the text. */
void fv_import_markers(struct fv_merge *merge,
                       void (*take)(void *context, uint64_t time_ns, uint64_t location, const char *text),
                       void *context);
/* Its streams of accelerators. */
void fv_import_streams(struct fv_merge *merge, void (*take)(void *context, uint64_t location, const char *name),
                       void *context);
/* Before fv_merge_close(). */
void fv_import_close(struct fv_merge *merge);

#endif
