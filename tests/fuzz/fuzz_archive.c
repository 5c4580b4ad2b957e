/* Any bytes as the files of an OTF2 archive, through import.h, the merge of definitions and the analysis; then the
 * records once more into a sink that counts (records.h). An input is its files one behind the other: each a byte that
 * names it, two of its length, lowest first, and so many bytes. 0: the global definitions; from 1 on, of the locations
 * in LOCATIONS: local definitions, events. tests/fuzz/pages makes inputs of archives. The anchor file, which the OTF2
 * library reads alone, is ours. What is wrong in that library is not looked for. */
#include "records.h"
#include "experiment/experiment.h"
#include "otf2/import.h"

#include <errno.h>
#include <limits.h>
#include <otf2/otf2.h>
#include <sys/stat.h>

/* As tests/fuzz/pages has them: of Score-P and fvunify (rank, thread << 32), of EZTrace, and others. */
#define T(rank, thread) ((rank) | UINT64_C(thread) << 32)
static const uint64_t LOCATIONS[] = { T(0, 0),   T(1, 0),    T(2, 0),    T(3, 0),   T(0, 1), T(1, 1), T(0, 2), T(0, 3),
                                      536870911, 1073741822, 1610612733, UINT64_MAX };
#define LOCATION_COUNT (sizeof(LOCATIONS) / sizeof(*LOCATIONS))
#define CHUNK          (256 << 10) /* the least that the library takes */

/* Where a definition is damaged, the library asks for any memory, and keeps what it gets. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libopen-trace-format2\nleak:libotf2\n";
}

static void name_of(char path[PATH_MAX], unsigned file)
{
    const char *directory = fuzz_directory();

    if (file)
        snprintf(path, PATH_MAX, "%s/a/%llu.%s", directory, (unsigned long long)LOCATIONS[(file - 1) / 2],
                 file % 2 ? "def" : "evt");
    else
        snprintf(path, PATH_MAX, "%s/a.def", directory);
}

/* The files of the directory are removed with it, but for those in folders. */
static void remove_files(void)
{
    char path[PATH_MAX];

    for (unsigned i = 0; i <= 2 * LOCATION_COUNT; i++) {
        name_of(path, i);
        unlink(path);
    }
    snprintf(path, sizeof(path), "%s/analysis.json", fuzz_directory());
    unlink(path);
}

static void remove_folder(void)
{
    char path[PATH_MAX];

    remove_files();
    snprintf(path, sizeof(path), "%s/a", fuzz_directory());
    rmdir(path);
    snprintf(path, sizeof(path), "%s/made", fuzz_directory());
    rmdir(path);
}

static void put_anchor(void)
{
    OTF2_Archive *a =
        OTF2_Archive_Open(fuzz_directory(), "a", OTF2_FILEMODE_WRITE, CHUNK, CHUNK, OTF2_SUBSTRATE_POSIX, OTF2_COMPRESSION_NONE);

    must(a && OTF2_Archive_SetSerialCollectiveCallbacks(a) == OTF2_SUCCESS && OTF2_Archive_Close(a) == OTF2_SUCCESS,
         "no anchor file");
    atexit(remove_folder); /* before the directory is, by pages.h */
}

static void put_files(const uint8_t *data, size_t size)
{
    char path[PATH_MAX];

    remove_files();
    for (size_t at = 0; at + 3 <= size;) {
        size_t length = (size_t)data[at + 1] | (size_t)data[at + 2] << 8;

        name_of(path, data[at] % (2 * LOCATION_COUNT + 1));
        at += 3;
        length = length > size - at ? size - at : length;
        FILE *out = fopen(path, "wb");
        must(out && fwrite(data + at, 1, length, out) == length && !fclose(out), path);
        at += length;
    }
}

static void read_records(struct fv_merge *m)
{
    struct counts counts = { .merge = m, .defs = &m->defs };
    struct fv_sink sink = { .context = &counts, .open = open_location, .put = put, .close = close_location };
    const struct fv_replay replay = { .defs = &m->defs, .clocks = &m->clocks, .calls = m->calls };
    struct fv_replay_stats stats = { 0 };

    for (size_t i = 0; i < m->file_count; i++) {
        uint32_t threads = m->defs.ranks[m->files[i].rank].thread_count;
        struct fv_location_stats *locations = fv_xcalloc((size_t)threads + 1, sizeof(*locations));
        void *records = m->source->open(
            m, &(struct fv_source_rank){
                   .replay = &replay, .file = i, .sink = &sink, .locations = locations, .stats = &stats });

        must(m->source->until(records, UINT64_MAX) && m->source->close(records), "failed though its sink did not");
        free(locations);
    }
    must(!counts.open, "a location is not closed");
    for (size_t i = 0; i < 256; i++)
        free(counts.nest[i].items);
}

/* Rank files of it, which a report would read. */
static void transcribe(struct fv_merge *m)
{
    char directory[PATH_MAX];
    struct fv_rank_files files;

    snprintf(directory, sizeof(directory), "%s/made", fuzz_directory());
    must(!mkdir(directory, 0700) || errno == EEXIST, directory);
    fv_import_transcribe(m, directory);
    fv_rank_files_list(&files, directory);
    for (size_t i = 0; i < files.count; i++)
        unlink(files.paths[i]);
    fv_rank_files_release(&files);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const volatile sig_atomic_t stop;
    static const struct fv_import_watch watch = { .stop = &stop };
    static char anchor[PATH_MAX];
    struct fv_analysis analysis;
    struct fv_merge m;

    if (!*anchor) {
        snprintf(anchor, sizeof(anchor), "%s/a.otf2", fuzz_directory());
        put_anchor();
    }
    put_files(data, size);
    if (fv_import_open(&m, &fv_transport_alone, anchor, &watch) && fv_merge_unify(&m, false, FV_SAMPLES_NONE)) {
        read_records(&m);
        analyse(&m, &analysis);
        fv_analysis_release(&analysis);
        transcribe(&m);
        fv_import_say(&m);
    }
    fv_import_close(&m);
    fv_merge_close(&m);
    return 0;
}
