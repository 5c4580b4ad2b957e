/* What is known of records and of an analysis, whatever the input was: times never go back, calls, instances and
 * sections nest, every number is one of the definitions', and what threads waited is the same by thread and by lock. */
#ifndef FV_FUZZ_RECORDS_H
#define FV_FUZZ_RECORDS_H

#include "pages.h"
#include "analysis/annotate.h"
#include "merge/merge.h"

/* As an assertion, but in every build. */
static inline void must(bool right, const char *what)
{
    if (right)
        return;
    fprintf(stderr, "fuzz: %s\n", what);
    abort();
}

/* ---- the sink ---- */

struct counts {
    const struct fv_merge *merge;
    const struct fv_defs *defs;
    uint64_t records, instances, last_ns[256];
    struct nest {
        uint32_t *items; /* nodes of instances; IN_SECTION | function; IN_CALL */
        size_t depth, room;
    } nest[256];
    size_t open;
};
#define IN_CALL    UINT32_MAX
#define IN_SECTION UINT32_C(0x80000000)
#define IN_WORK    UINT32_C(0x40000000)

static inline bool open_location(struct fv_sink *sink, uint32_t slot, uint64_t location)
{
    struct counts *c = sink->context;

    (void)location;
    c->open++;
    if (slot < 256)
        c->last_ns[slot] = c->nest[slot].depth = 0;
    return true;
}

static inline size_t definitions_of(const struct fv_defs *d, const struct fv_record *r)
{
    switch ((enum fv_record_kind)r->kind) {
    case FV_REC_PROGRAM_BEGIN: return d->rank_count;
    case FV_REC_ENTER:
    case FV_REC_LEAVE: return d->function_count;
    case FV_REC_SEND:
    case FV_REC_RECEIVE:
    case FV_REC_ISEND:
    case FV_REC_IRECEIVE_END:
    case FV_REC_COLL_END:
    case FV_REC_ICOLL_END:
    case FV_REC_COMM_CREATE:
    case FV_REC_COMM_DESTROY: return d->comm_count;
    case FV_REC_RMA_COLL_END:
    case FV_REC_WIN_CREATE:
    case FV_REC_WIN_DESTROY:
    case FV_REC_RMA_GROUP:
    case FV_REC_RMA_LOCK:
    case FV_REC_RMA_UNLOCK:
    case FV_REC_RMA_SYNC:
    case FV_REC_RMA_PUT:
    case FV_REC_RMA_GET:
    case FV_REC_RMA_ATOMIC:
    case FV_REC_RMA_END: return d->window_count;
    case FV_REC_IO_OPEN:
    case FV_REC_IO_CLOSE:
    case FV_REC_IO_SEEK:
    case FV_REC_IO_BEGIN:
    case FV_REC_IO_ISSUED:
    case FV_REC_IO_END: return d->handle_count;
    case FV_REC_SECTIONS: return 0; /* they are regions by now */
    case FV_REC_SECTION_ENTER:
    case FV_REC_SECTION_LEAVE:
    case FV_REC_WORK_ENTER:
    case FV_REC_WORK_LEAVE:
    case FV_REC_LIBRARY_ENTER:
    case FV_REC_LIBRARY_LEAVE:
    case FV_REC_REGION_ENTER:
    case FV_REC_REGION_LEAVE: return d->function_count;
    case FV_REC_THREAD_CREATE:
    case FV_REC_THREAD_BEGIN:
    case FV_REC_THREAD_END:
    case FV_REC_THREAD_JOIN: return d->rank_count;
    default: return UINT32_MAX;
    }
}

static inline void nest(struct nest *n, uint32_t what, bool begins)
{
    if (begins) {
        FV_GROW(n->items, n->room, n->depth + 1);
        n->items[n->depth++] = what;
        return;
    }
    must(n->depth && n->items[n->depth - 1] == what, "what ends is not what is open");
    n->depth--;
}

static inline bool put(struct fv_sink *sink, uint32_t slot, const struct fv_record *r)
{
    struct counts *c = sink->context;

    c->records++;
    must(r->ref < definitions_of(c->defs, r), "a record of what is not defined");
    must(r->context < c->defs->tree.node_count, "a record in a call path that is not defined");
    must(r->kind != FV_REC_RMA_GROUP || r->aux < c->defs->group_count, "a group that is not defined");
    if (slot >= 256)
        return true;
    must(r->time_ns >= c->last_ns[slot], "time goes back");
    c->last_ns[slot] = r->time_ns;
    if (r->kind == FV_REC_ENTER || r->kind == FV_REC_LEAVE)
        nest(&c->nest[slot], IN_CALL, r->kind == FV_REC_ENTER);
    if (r->kind == FV_REC_REGION_ENTER || r->kind == FV_REC_REGION_LEAVE)
        nest(&c->nest[slot], IN_CALL, r->kind == FV_REC_REGION_ENTER);
    if (r->kind == FV_REC_LIBRARY_ENTER || r->kind == FV_REC_LIBRARY_LEAVE)
        nest(&c->nest[slot], IN_CALL, r->kind == FV_REC_LIBRARY_ENTER);
    if (r->kind == FV_REC_INSTANCE || r->kind == FV_REC_INSTANCE_END) {
        must(c->merge->source != &fv_rank_file_source || c->merge->function_of_node[r->context] != FV_NONE,
             "an instance of no function");
        nest(&c->nest[slot], r->context, r->kind == FV_REC_INSTANCE);
        c->instances += r->kind == FV_REC_INSTANCE && !r->op;
    }
    if (r->kind == FV_REC_WORK_ENTER || r->kind == FV_REC_WORK_LEAVE)
        nest(&c->nest[slot], IN_WORK | r->ref, r->kind == FV_REC_WORK_ENTER);
    if (r->kind == FV_REC_SECTION_ENTER || r->kind == FV_REC_SECTION_LEAVE)
        nest(&c->nest[slot], IN_SECTION | r->ref, r->kind == FV_REC_SECTION_ENTER);
    return true;
}

static inline bool close_location(struct fv_sink *sink, uint32_t slot)
{
    struct counts *c = sink->context;

    c->open--;
    must(slot >= 256 || !c->nest[slot].depth, "a call, an instance or a section is never left");
    return true;
}

/* ---- the analysis ---- */

/* What it says must add up: a rank's time is what it computed, waited and transferred. */
static inline void analyse(struct fv_merge *m, struct fv_analysis *out)
{
    const struct fv_analysis_options options = { .directory = fuzz_directory(), .memory = 1 << 16 };
    uint64_t waits = 0, causes = 0, by_thread = 0, by_lock = 0;

    must(fv_analyse(out, m, &options), "the analysis failed");
    for (size_t i = 0; i < out->tallies.count; i++) {
        const struct fv_tally *t = &out->tallies.items[i];

        waits += t->what == FV_TALLY_WAIT && !fv_is_completion(t->kind) ? t->ns : 0;
        causes += t->what == FV_TALLY_CAUSE ? t->ns : 0;
        by_thread += t->what == FV_TALLY_THREAD_LINE ? t->ns : 0;
        by_lock += t->what == FV_TALLY_THREAD_SITE ? t->ns : 0;
    }
    must(waits == causes, "waiting without a cause");
    must(by_thread == by_lock, "threads' waiting differs by thread and by lock");
    must(fv_analysis_write(out, fuzz_directory(), 0), "no analysis.json");
}

#endif
