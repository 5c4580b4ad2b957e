/* libFuzzer: any bytes as one rank file, through reader, model and views. The first byte cuts the input
 * into that many files of one run. Damaged checks would stop the fuzzer at the door, so headers and chunk
 * checks are put right first (unless the second byte says to leave them).
 *
 *     clang -g -O1 -fsanitize=fuzzer,address,undefined -Isrc -Itests/unit ... && ./fuzz_reader -max_len=65536
 * corpus */
#include "report/views.h"

#include <stdlib.h>
#include <string.h>

static void put_right(uint8_t *data, size_t bytes)
{
    struct fv_file_header h;
    struct fv_chunk_header c;

    if (bytes < FV_PAGE)
        return;
    memcpy(&h, data, sizeof(h));
    memcpy(h.magic, FV_FILE_MAGIC, sizeof(h.magic));
    h.version = FV_FILE_VERSION;
    h.byte_order = FV_BYTE_ORDER;
    memcpy(data, &h, sizeof(h));
    for (size_t at = FV_PAGE; at + FV_PAGE <= bytes; at += FV_PAGE) {
        memcpy(&c, data + at, sizeof(c));
        if (c.magic != FV_CHUNK_MAGIC)
            continue;
        c.bytes = (c.bytes / FV_PAGE % 8 + 1) * FV_PAGE;
        c.check = fv_chunk_check(&c);
        memcpy(data + at, &c, sizeof(c));
    }
}

static void add(struct fv_experiment *experiment, const uint8_t *data, size_t bytes, bool repair,
                uint8_t **keep)
{
    struct fv_reader *reader = NULL;
    char why[256];

    *keep = malloc(bytes ? bytes : 1);
    memcpy(*keep, data, bytes);
    if (repair)
        put_right(*keep, bytes);
    if (!fv_reader_open_memory(*keep, bytes, &reader, why, sizeof(why)))
        fv_experiment_add(experiment, "rank-000000.fvr", reader);
}

/* Every event of every file. */
static void read_events(const struct fv_experiment *experiment)
{
    for (size_t i = 0; i < experiment->count; i++) {
        const struct fv_reader *reader = experiment->files[i].reader;
        struct fv_unpacked unpacked = { 0 };
        size_t count;
        const struct fv_chunk *chunk = fv_reader_chunks(reader, &count);

        for (size_t k = 0; k < count; k++) {
            struct fv_event_cursor c = fv_reader_events(reader, &chunk[k], &unpacked);
            struct fv_event e;

            while (fv_event_next(&c, &e))
                ;
        }
        fv_unpacked_release(&unpacked);
    }
}

static void view_all(struct fv_experiment *experiment)
{
    struct fv_symbols symbols;
    struct fv_model model;
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    read_events(experiment);
    fv_experiment_choose(experiment);
    fv_model_build(&model, experiment);
    fv_symbols_resolve(&symbols, &model, false);
    fv_sites_merge(&model, &symbols);
    fv_view_json(&(struct fv_view){ &model, &symbols }, out);
    fv_view_text(&(struct fv_view){ &model, &symbols }, &(struct fv_text_options){ .width = 80, .top = 20 },
                 out);
    fclose(out);
    free(text);
    fv_symbols_release(&symbols);
    fv_model_release(&model);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct fv_experiment experiment = { 0 };
    uint8_t *kept[3] = { 0 };

    if (bytes < 2)
        return 0;
    size_t files = data[0] % 3 + 1, each = (bytes - 2) / files;
    for (size_t i = 0; i < files; i++)
        add(&experiment, data + 2 + i * each, each, data[1] != 0xff, &kept[i]);
    if (experiment.count)
        view_all(&experiment);
    fv_experiment_release(&experiment);
    for (size_t i = 0; i < 3; i++)
        free(kept[i]);
    return 0;
}
