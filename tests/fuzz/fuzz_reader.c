/* Any bytes as the rank files of one run (pages.h), through reader, model and all views. */
#include "pages.h"
#include "diff/diff.h"
#include "views/views.h"

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
        struct fv_unpacked_events unpacked = { 0 };
        size_t count;
        const struct fv_chunk *chunk = fv_reader_chunks(reader, &count);

        for (size_t k = 0; k < count; k++) {
            struct fv_event_cursor c = fv_reader_events(reader, &chunk[k], &unpacked);
            struct fv_event e;

            while (fv_event_next(&c, &e))
                ;
        }
        fv_unpacked_events_release(&unpacked);
    }
}

/* The run against itself, then with its own noise. */
static void compare(const struct fv_profile *view, const struct fv_text_options *text, FILE *out)
{
    for (unsigned runs = 1; runs <= 2; runs++) {
        struct fv_diff diff = { 0 };

        for (unsigned i = 0; i < 2 * runs; i++)
            fv_diff_add(&diff, i % 2, view);
        fv_diff_compute(&diff);
        fv_diff_text(&diff, text, out);
        fv_diff_json(&diff, out);
        fv_diff_release(&diff);
    }
}

/* As `fvmpi stacks` shows them: all, and the first with a time of one thread. */
static void show_stacks(const struct fv_profile *view, const struct fv_text_options *text, FILE *out)
{
    fv_view_stacks(view, &(struct fv_stacks_options){ .text = *text }, out);
    if (fv_model_phases(view->model)->count)
        fv_view_stacks(view, &(struct fv_stacks_options){ .text = *text, .phase = 1, .t1_s = 1e-3 }, out);
}

static void show(const struct fv_profile *view, FILE *out)
{
    const struct fv_text_options text = { .width = 80, .top = 20 };
    const struct fv_source_options source = { .file = "app.c", .rank = -1 };

    fv_view_json(view, FV_JSON_RANKS_ALL, out);
    fv_view_json(view, FV_JSON_RANKS_SUMMARY, out);
    fv_view_text(view, &text, out);
    fv_view_folded(view, out);
    fv_view_speedscope(view, out);
    fv_view_source(view, &source, &text, out);
    fv_view_page(view, &(struct fv_page_options){ .max_bytes = 1 << 20 }, out);
    fv_view_csv(view, fuzz_directory());
    show_stacks(view, &text, out);
    compare(view, &text, out);
}

static void view_all(struct fv_experiment *experiment)
{
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes);

    read_events(experiment);
    fv_experiment_choose(experiment);
    struct fv_profile *profile =
        fv_profile_new(experiment, &(struct fv_profile_options){ .no_symbols = true, .traced_calls = 100 });
    show(profile, out);
    fclose(out);
    free(text);
    fv_profile_close(profile);
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
