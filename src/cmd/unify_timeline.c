/* SPDX-License-Identifier: BSD-3-Clause */
/* See unify.h: what a timeline has of the analysis. */
#include "cmd/unify.h"
#include "otf2/import.h"
#include "timeline/timeline_write.h"

/* Of a single process it says nothing: what its threads wait for is not followed. */
void fv_unify_add_critical(const struct fv_unify *r, struct fv_timeline_writer *w)
{
    for (size_t i = 0; r->analysed && r->merge.defs.rank_count > 1 && i < r->analysis.graph.path_count; i++) {
        const struct fv_graph_stretch *s = &r->analysis.graph.path[i];
        const struct fv_step_line *line = &r->analysis.steps.lines[s->line];

        fv_timeline_add_critical(w, line->rank, line->slot, s->begin_ns, s->end_ns);
    }
}

/* After all events, as some of what an archive lacks is met among them. */
void fv_unify_add_doubts(struct fv_unify *r, struct fv_timeline_writer *w)
{
    const bool is_damaged = r->merge.source_context ? !fv_import_say(&r->merge) : r->incomplete;
    const struct fv_unmatched_counts *u = &r->analysis.unmatched;
    struct fv_timeline_doubts doubts = { .clocks = r->merge.clocks.line_count,
                                         .is_damaged = fv_transport_any(r->merge.transport, is_damaged) };

    for (size_t i = 0; r->analysed && i < r->analysis.tallies.count; i++) {
        const struct fv_tally *t = &r->analysis.tallies.items[i];

        doubts.estimated_ns += t->what == FV_TALLY_WAIT && fv_is_estimate(t->kind) ? t->ns : 0;
    }
    fv_transport_sum(r->merge.transport, &doubts.estimated_ns, 1); /* for a timeline each has its own */
    if (r->analysed) {
        doubts.missing = u->sends + u->receives + u->groups + u->unknown;
        doubts.early = u->early;
    }
    fv_timeline_doubt(w, &doubts);
}
