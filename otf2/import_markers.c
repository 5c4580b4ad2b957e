/* SPDX-License-Identifier: BSD-3-Clause */
/* See import.h: markers. What is of no thread is told of the first one. */
#include "otf2/import.h"
#include "otf2/import_state.h"

struct markers {
    struct fv_merge *merge;
    struct fv_import *import;
    void (*take)(void *context, uint64_t time_ns, uint64_t location, const char *text);
    void *context;
};

static OTF2_CallbackCode on_marker(void *data, OTF2_TimeStamp time, OTF2_TimeStamp duration, OTF2_MarkerRef marker,
                                   OTF2_MarkerScope scope, uint64_t of, const char *text)
{
    const struct markers *m = data;
    const struct fv_import_location *l =
        scope == OTF2_MARKER_SCOPE_LOCATION ? fv_import_get(m->import, FV_IMPORT_LOCATION, of) : NULL;
    const bool is_known = l && l->rank != FV_NONE;
    const uint32_t rank = is_known ? l->rank : 0;
    const int64_t ns = (int64_t)fv_import_ns(m->import, time) + fv_import_base(m->merge, rank);

    (void)duration, (void)marker;
    if (text)
        m->take(m->context, ns > 0 ? (uint64_t)ns : 0, fv_location_of(rank, is_known ? l->slot : 0), text);
    return OTF2_CALLBACK_SUCCESS;
}

void fv_import_markers(struct fv_merge *merge,
                       void (*take)(void *context, uint64_t time_ns, uint64_t location, const char *text),
                       void *context)
{
    struct fv_import *import = merge->source_context;
    struct markers m = { merge, import, take, context };
    OTF2_MarkerReader *reader = OTF2_Reader_GetMarkerReader(import->reader);
    OTF2_MarkerReaderCallbacks *callbacks;
    uint64_t count;

    if (!reader || merge->transport->rank)
        return;
    callbacks = OTF2_MarkerReaderCallbacks_New();
    OTF2_MarkerReaderCallbacks_SetMarkerCallback(callbacks, on_marker);
    OTF2_Reader_RegisterMarkerCallbacks(import->reader, reader, callbacks, &m);
    OTF2_MarkerReaderCallbacks_Delete(callbacks);
    OTF2_Reader_ReadAllMarkers(import->reader, reader, &count); /* most archives have none */
    OTF2_Reader_CloseMarkerReader(import->reader, reader);
    *import->words = '\0';
}
