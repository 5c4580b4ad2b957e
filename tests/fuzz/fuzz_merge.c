/* Any bytes as the rank files of one run (pages.h), through the whole merge: definitions, clocks, their
 * correction, and each rank's events, with measured instances and sections between them, replayed into a sink
 * that counts. What is known of the result is checked: times never go back, calls, instances and sections nest,
 * what threads waited is the same by thread and by lock, every number is one
 * of the definitions', and definitions come back from their packed bytes as they were. */
#include "pages.h"
#include "analysis/annotate.h"
#include "merge/correct.h"
#include "merge/merge.h"
#include "merge/weave_sections.h"
#include "merge/weave.h"

#include <limits.h>
#include <stdio.h>
#include <unistd.h>

/* As an assertion, but in every build. */
static void must(bool right, const char *what)
{
    if (right)
        return;
    fprintf(stderr, "fuzz_merge: %s\n", what);
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

static bool open_location(struct fv_sink *sink, uint32_t slot, uint64_t location)
{
    struct counts *c = sink->context;

    (void)location;
    c->open++;
    if (slot < 256)
        c->last_ns[slot] = c->nest[slot].depth = 0;
    return true;
}

static size_t definitions_of(const struct fv_defs *d, const struct fv_record *r)
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

static void nest(struct nest *n, uint32_t what, bool begins)
{
    if (begins) {
        FV_GROW(n->items, n->room, n->depth + 1);
        n->items[n->depth++] = what;
        return;
    }
    must(n->depth && n->items[n->depth - 1] == what, "what ends is not what is open");
    n->depth--;
}

static bool put(struct fv_sink *sink, uint32_t slot, const struct fv_record *r)
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
        must(c->merge->function_of_node[r->context] != FV_NONE, "an instance of no function");
        nest(&c->nest[slot], r->context, r->kind == FV_REC_INSTANCE);
        c->instances += r->kind == FV_REC_INSTANCE && !r->op;
    }
    if (r->kind == FV_REC_WORK_ENTER || r->kind == FV_REC_WORK_LEAVE)
        nest(&c->nest[slot], IN_WORK | r->ref, r->kind == FV_REC_WORK_ENTER);
    if (r->kind == FV_REC_SECTION_ENTER || r->kind == FV_REC_SECTION_LEAVE)
        nest(&c->nest[slot], IN_SECTION | r->ref, r->kind == FV_REC_SECTION_ENTER);
    return true;
}

static bool close_location(struct fv_sink *sink, uint32_t slot)
{
    struct counts *c = sink->context;

    c->open--;
    must(slot >= 256 || !c->nest[slot].depth, "a call, an instance or a section is never left");
    return true;
}

static void replay(struct fv_merge *m, const struct fv_analysis *analysis)
{
    const struct fv_replay r = { .defs = &m->defs, .clocks = &m->clocks, .calls = m->calls };
    struct counts counts = { .merge = m, .defs = &m->defs };
    struct fv_sink sink = { .context = &counts, .open = open_location, .put = put, .close = close_location };
    uint64_t records = 0;
    struct fv_annotate annotate;
    struct fv_weave_sections sections;
    struct fv_weave weave;

    fv_weave_sections_init(&sections, &m->defs, &m->clocks, &sink);
    fv_weave_init(&weave, &m->defs, &m->clocks, &sections.sink);
    fv_annotate_init(&annotate, analysis, &weave.sink);
    for (size_t i = 0; i < m->file_count; i++) {
        uint32_t threads = m->defs.ranks[m->files[i].rank].thread_count;
        struct fv_location_stats *locations = fv_xcalloc(threads, sizeof(*locations));
        struct fv_replay_stats stats = { 0 };

        fv_weave_rank(&weave, m->files[i].rank, m->files[i].reader, &m->files[i].map, locations);
        fv_weave_sections_rank(&sections, m->files[i].rank, m->files[i].reader, &m->files[i].map, locations);
        must(fv_replay_rank(&r, m->files[i].rank, m->files[i].reader, &m->files[i].map, &annotate.sink,
                            locations, &stats),
             "the replay failed though its sink did not");
        records += stats.records;
        free(locations);
    }
    fv_annotate_release(&annotate);
    fv_weave_release(&weave);
    fv_weave_sections_release(&sections);
    must(!counts.open, "a location is not closed");
    must(counts.instances == weave.stats.told, "instances are miscounted");
    must(counts.records >= records, "records are miscounted"); /* those of matched probes are no records */
    for (size_t i = 0; i < 256; i++)
        free(counts.nest[i].items);
}

/* What the analysis says must add up: a rank's time is what it computed, waited and transferred. */
static void analyse(struct fv_merge *m)
{
    const struct fv_analysis_options options = { .directory = fuzz_directory(), .memory = 1 << 16 };
    struct fv_analysis a;
    uint64_t waits = 0, causes = 0, by_thread = 0, by_lock = 0;

    must(fv_analyse(&a, m, &options), "the analysis failed");
    for (size_t i = 0; i < a.tallies.count; i++) {
        const struct fv_tally *t = &a.tallies.items[i];

        waits += t->what == FV_TALLY_WAIT && !fv_is_completion(t->kind) ? t->ns : 0;
        causes += t->what == FV_TALLY_CAUSE ? t->ns : 0;
        by_thread += t->what == FV_TALLY_THREAD_LINE ? t->ns : 0;
        by_lock += t->what == FV_TALLY_THREAD_SITE ? t->ns : 0;
    }
    must(waits == causes, "waiting without a cause");
    must(by_thread == by_lock, "threads' waiting differs by thread and by lock");
    must(fv_analysis_write(&a, fuzz_directory(), 0), "no analysis.json");
    replay(m, &a);
    fv_analysis_release(&a);
}

/* ---- the merge ---- */

static void pack_and_unpack(const struct fv_defs *defs)
{
    struct fv_bytes bytes = { 0 };
    struct fv_defs again;

    fv_defs_pack(defs, &bytes);
    must(fv_defs_unpack(&again, bytes.data, bytes.count), "packed definitions cannot be unpacked");
    must(again.function_count == defs->function_count && again.tree.module_count == defs->tree.module_count &&
             again.tree.node_count == defs->tree.node_count && again.comm_count == defs->comm_count &&
             again.window_count == defs->window_count && again.file_count == defs->file_count &&
             again.handle_count == defs->handle_count && again.group_count == defs->group_count &&
             again.rank_count == defs->rank_count,
         "packed definitions become others");
    fv_defs_release(&again);
    free(bytes.data);
}

static void file_name(char path[PATH_MAX], size_t i)
{
    snprintf(path, PATH_MAX, "%s/rank-%06zu.fvr", fuzz_directory(), i);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_file files[FUZZ_FILES];
    size_t count = fuzz_files(data, size, files);
    struct fv_correction correction;
    char path[PATH_MAX];
    struct fv_merge m;

    for (size_t i = 0; i < count; i++) {
        file_name(path, i);
        FILE *out = fopen(path, "wb");
        must(out && fwrite(files[i].bytes, 1, files[i].size, out) == files[i].size && !fclose(out), path);
    }
    if (fv_merge_open(&m, &fv_transport_alone, &(char *){ (char *)fuzz_directory() }, 1) && fv_merge_unify(&m, false, FV_SAMPLES_CONTEXTS)) {
        pack_and_unpack(&m.defs);
        fv_correct(&m, "/tmp", 1 << 20, &correction);
        analyse(&m);
    }
    fv_merge_close(&m);
    snprintf(path, sizeof(path), "%s/analysis.json", fuzz_directory());
    unlink(path);
    for (size_t i = 0; i < count; i++) {
        file_name(path, i);
        unlink(path);
    }
    fuzz_files_release(files, count);
    return 0;
}
