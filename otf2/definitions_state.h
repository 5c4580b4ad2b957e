/* SPDX-License-Identifier: BSD-3-Clause */
/* An archive's global definitions as they are written: definitions.c, which uses definitions_comms.c and
 * definitions_io.c, and definitions_text.c below all. */
#ifndef FV_DEFINITIONS_STATE_H
#define FV_DEFINITIONS_STATE_H

#include "otf2/archive_state.h"

struct writing {
    struct fv_archive *archive;
    OTF2_GlobalDefWriter *w;
    const struct fv_defs *d;
    const struct fv_contexts *contexts;
    const struct fv_archive_times *times;
    const struct fv_archive_location *locations;
    size_t location_count;
    size_t strings;       /* written so far */
    uint32_t *rank_nodes; /* system tree nodes */
    uint32_t absent;      /* the first rank without a file; FV_NONE: there is none */
    uint32_t groups;      /* written so far */
    uint32_t *comm_groups[2];
};

static inline void check(struct writing *w, OTF2_ErrorCode code)
{
    fv_archive_check(w->archive, code, "definitions");
}

OTF2_StringRef fv_writing_text(struct writing *w, const char *text);
/* A string's number; it is written before what refers to it. */
static inline OTF2_StringRef text(struct writing *w, const char *text)
{
    return fv_writing_text(w, text);
}

/* Groups, communicators, windows and grids, then the threads of each rank as communicators. */
void fv_writing_comms(struct writing *w);
/* Files, what was opened, and the paradigms of these. */
void fv_writing_files(struct writing *w);
/* The host's node of the system tree. */
OTF2_SystemTreeNodeRef fv_writing_node(const struct writing *w, const char *host);

#endif
