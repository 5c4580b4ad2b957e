/* SPDX-License-Identifier: BSD-3-Clause */
/* See import.h: streams of accelerators, which are locations of the process that used them. */
#include "otf2/import.h"
#include "otf2/import_state.h"
#include "transcript/transcript.h"

static bool is_stream(const struct fv_import_location *l)
{
    return l->type == OTF2_LOCATION_TYPE_ACCELERATOR_STREAM;
}

/* Older archives have streams beside the threads of a process. */
static const char *device_of(const struct fv_import *import, const struct fv_import_location *l)
{
    const struct fv_import_process *p = fv_import_get(import, FV_IMPORT_PROCESS, l->process);

    return p && p->type == OTF2_LOCATION_GROUP_TYPE_ACCELERATOR ? fv_import_text(import, p->name) : "";
}

void fv_import_name_streams(const struct fv_import *import, uint32_t rank, struct fv_transcript *t)
{
    const struct fv_import_rank_def *of = &import->ranks[rank];

    for (uint32_t i = 0; i < of->location_count; i++) {
        const struct fv_import_location *l = fv_import_at(import, FV_IMPORT_LOCATION, of->locations[i]);

        if (is_stream(l))
            fv_transcript_stream(t, l->slot, device_of(import, l), fv_import_text(import, l->name));
    }
}

void fv_import_streams(struct fv_merge *merge, void (*take)(void *context, uint64_t location, const char *name),
                       void *context)
{
    const struct fv_import *import = merge->source_context;

    for (uint32_t i = 0; i < import->tables[FV_IMPORT_LOCATION].count; i++) {
        const struct fv_import_location *l = fv_import_at(import, FV_IMPORT_LOCATION, i);

        if (is_stream(l) && l->rank != FV_NONE)
            take(context, fv_location_of(l->rank, l->slot), fv_import_text(import, l->name));
    }
}
