/* Any bytes as the file of a timeline, whose mark, version and length are set right: what fvmpi view asks of it. */
#include "timeline/timeline_links.h"
#include "timeline/timeline_operations.h"
#include "timeline/timeline_relations.h"
#include "timeline/timeline_stats.h"

#include "pages.h"

#include <stddef.h>
#include <string.h>

#define ROWS    8
#define SPAN_NS 100000000000 /* at most: of a run that says it is longer, no more is asked for */

static bool take(void *context, const struct fv_timeline_seen *slice)
{
    *(uint64_t *)context += slice->ns;
    return true;
}

static void sum_up(const struct fv_timeline_file *t, const struct fv_timeline_window *window,
                   struct fv_timeline_sum *sums)
{
    bool *wanted = calloc(t->header->regions.count + 1, sizeof(*wanted));
    struct fv_timeline_search search = { .wanted = wanted, .most_ns = UINT64_MAX, .most = 10 };
    struct fv_timeline_traffics *traffic = malloc(sizeof(*traffic));
    struct fv_timeline_tree tree;
    struct fv_timeline_waits waits;
    struct fv_timeline_kind *kinds = calloc(t->header->regions.count + 1, sizeof(*kinds));
    struct fv_timeline_io_sums io;

    fv_timeline_kinds(t, window, kinds);
    fv_timeline_io_make(t, window, &io);
    fv_timeline_io_release(&io);
    free(kinds);
    wanted[0] = true;
    fv_timeline_sums(t, window, sums);
    fv_timeline_tree_make(t, window, &tree);
    fv_timeline_waits_make(t, window, &waits);
    fv_timeline_traffic(t, window, NULL, NULL, traffic);
    fv_timeline_find(t, window, &search);
    fv_timeline_tree_release(&tree);
    fv_timeline_waits_release(&waits);
    free(traffic);
    free(search.found);
    free(wanted);
}

static void link_up(const struct fv_timeline_file *t, uint32_t row, uint64_t span)
{
    struct fv_timeline_link links[8], found[8];
    struct fv_timeline_value values[64];
    const struct fv_timeline_window window = { 0, span, 0, (uint32_t)t->header->rows.count, NULL };
    uint64_t all;
    uint32_t members;

    for (size_t i = fv_timeline_blocked(t, &window, 0, links, 8, &all); i-- > 0;) {
        fv_timeline_chain(t, &links[i], found, 8);
        fv_timeline_members(t, &links[i], found, 8, &members);
        fv_timeline_slice_at(t, links[i].row, links[i].seen.begin_ns, links[i].seen.depth, found);
    }
    if (row < t->header->series.count)
        fv_timeline_values(t, row, (double)span / 7, (double)span, values, 64);
}

/* Every column of rows of a stretch, as fvmpi query asks. */
static void scan(const struct fv_timeline_file *t, double to)
{
    struct fv_timeline_range ranges[FV_TIMELINE_BOUNDS] = { { to / 3, to }, { 0, to }, { 0, to }, { 0, ROWS }, { 0, ROWS } };

    for (size_t i = 0; fv_timeline_relations[i]; i++) {
        const struct fv_relation *r = fv_timeline_relations[i];
        struct fv_timeline_scan *s = fv_timeline_scan_begin(r, t, ranges);
        const void *row;

        for (unsigned n = 0; n < 1000 && (row = fv_timeline_scan_next(s)); n++)
            for (size_t k = 0; k < r->column_count; k++)
                fv_column_value(&r->columns[k], (void *)(uintptr_t)t, row);
        fv_timeline_scan_end(s);
    }
}

static void look(const struct fv_timeline_file *t)
{
    struct fv_timeline_sum *sums = calloc(t->header->regions.count + 1, sizeof(*sums));
    struct fv_timeline_tile tiles[64];
    struct fv_timeline_parts parts;
    const uint64_t span = t->header->span_ns % SPAN_NS + 1;
    volatile uint64_t seen = 0;
    uint64_t sum = 0;

    for (uint32_t row = 0; row < t->header->rows.count && row < ROWS; row++) {
        fv_timeline_slices(t, row, 0, span, 0, take, &sum);
        fv_timeline_tiles(t, &row, 1, 0, (double)span, tiles, 64);
        fv_timeline_tiles(t, (uint32_t[]){ row, 0 }, 2, (double)span / 3, (double)span / 3 + 1000, tiles, 64);
        link_up(t, row, span);
        fv_timeline_parts(t, row, (double)span / 5, (double)span / 2, &parts);
    }
    scan(t, (double)span / 1e9);
    sum_up(t, &(struct fv_timeline_window){ .from = span / 4, .to = span / 2, .rows = ROWS }, sums);
    for (uint64_t i = 0; i < t->header->contexts.count && i < 100; i++)
        seen += strlen(fv_timeline_text(t, t->contexts[i].function));
    for (uint32_t i = 0; i < 100; i++)
        seen += strlen(fv_timeline_comm_name(t, i)) + strlen(fv_timeline_file_name(t, i));
    free(sums);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fv_timeline_file timeline;
    struct fv_timeline_header *h;
    char path[FUZZ_PATH + 16];

    if (size < sizeof(*h))
        return 0;
    h = malloc(size);
    memcpy(h, data, size);
    memcpy(h->magic, FV_TIMELINE_MAGIC, sizeof(h->magic));
    h->version = FV_TIMELINE_VERSION;
    h->complete = 1;
    h->file_bytes = size;
    snprintf(path, sizeof(path), "%s/timeline", fuzz_directory());
    FILE *out = fopen(path, "w");
    if (out && fwrite(h, 1, size, out) == size && !fclose(out) &&
        fv_timeline_open(&timeline, path, FV_TIMELINE_ANY)) {
        look(&timeline);
        fv_timeline_close(&timeline);
    }
    free(h);
    return 0;
}
