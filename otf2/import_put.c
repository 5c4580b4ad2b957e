/* SPDX-License-Identifier: BSD-3-Clause */
/* See import_state.h: a rank's records on their way to the sink, in the numbers of the definitions. */
#include "otf2/import_state.h"

uint32_t fv_import_in_all(const struct fv_import_rank *r, const struct fv_numbers *numbers, uint32_t own)
{
    return r->survey ? fv_numbers_get(numbers, own) : own;
}

uint32_t fv_import_find(const struct fv_import_rank *r, uint32_t own, const struct fv_numbers *numbers)
{
    uint32_t number = own == FV_NONE ? FV_NONE : fv_import_in_all(r, numbers, own);

    FV_IMPORT_ODD(r->import, no_reference, number == FV_NONE);
    return number;
}

/* Those that the first pass did not see, of a damaged file, are not known. */
uint32_t fv_import_path_in_all(const struct fv_import_rank *r, uint32_t own)
{
    uint32_t node = fv_import_in_all(r, &r->import->numbers.nodes, own);

    return node == FV_NONE ? 0 : node;
}

/* As the definitions' clocks have it. */
uint64_t fv_import_in_run(const struct fv_import_rank *r, uint64_t ns)
{
    int64_t time = (int64_t)ns + r->base_ns;

    return time > 0 ? (uint64_t)time : 0;
}

void fv_import_put(struct fv_import_rank *r, struct fv_import_stream *s, struct fv_record m)
{
    const struct fv_import_location *l = fv_import_at(r->import, FV_IMPORT_LOCATION, s->location);

    if (FV_UNLIKELY(!r->is_in))
        return;
    m.time_ns = fv_import_in_run(r, s->now);
    if (r->locations) {
        struct fv_location_stats *stats = &r->locations[l->slot];

        stats->first_ns = stats->records ? stats->first_ns : m.time_ns;
        stats->last_ns = m.time_ns;
        stats->records++;
    }
    r->failed = !r->sink->put(r->sink, l->slot, &m) || r->failed;
}
