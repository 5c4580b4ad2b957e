/* Any bytes as the rank files of one run (pages.h), through reader, model and views. */
#include "pages.h"
#include "report/views.h"

#include <stdio.h>

static void add(struct fv_experiment *experiment, const struct fuzz_file *file)
{
    struct fv_reader *reader = NULL;
    char why[256];

    if (!fv_reader_open_memory(file->bytes, file->size, &reader, why, sizeof(why)))
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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fv_experiment experiment = { 0 };
    struct fuzz_file files[FUZZ_FILES];
    size_t count = fuzz_files(data, size, files);

    for (size_t i = 0; i < count; i++)
        add(&experiment, &files[i]);
    if (experiment.count)
        view_all(&experiment);
    fv_experiment_release(&experiment);
    fuzz_files_release(files, count);
    return 0;
}
