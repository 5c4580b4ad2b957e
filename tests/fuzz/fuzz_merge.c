/* Any bytes as the rank files of one run (pages.h), through the whole merge: definitions, clocks, their
 * correction, and each rank's events, with measured instances and sections between them, replayed into a sink
 * that counts. What is known of the result is checked: times never go back, calls, instances and sections nest,
 * what threads waited is the same by thread and by lock, every number is one
 * of the definitions', and definitions come back from their packed bytes as they were. */
#include "records.h"
#include "merge/correct.h"
#include "merge/weave_sections.h"
#include "merge/weave.h"

#include <limits.h>
#include <stdio.h>
#include <unistd.h>

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
    struct fv_analysis analysis;
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
        analyse(&m, &analysis);
        replay(&m, &analysis);
        fv_analysis_release(&analysis);
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
