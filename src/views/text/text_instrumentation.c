/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions that the compiler instrumented: where their time went, by function and by call path. */
#include "views/text/text.h"
#include "profile/functions/instrumentation.h"

#include <stdio.h>
#include <string.h>

#define UNEVEN 0.2 /* of a rank's longest time: from then on the mean is far from it */

static void put_functions(const struct fv_page *p, const struct fv_profile *v)
{
    const struct fv_instrumentation *all = fv_model_instrumentation(v->model);
    struct fv_text_table t;

    fv_text_table_begin(&t, p, v, "instrumented");
    for (size_t i = 0; i < all->function_count; i++) {
        const struct fv_instrumented_function *f = &all->functions[i];
        bool uneven = v->model->rank_count > 1 && f->rank_max_s - f->mean_s > UNEVEN * f->rank_max_s;

        fv_text_table_add(&t, f, uneven ? FV_YELLOW : FV_PLAIN);
    }
    if (t.sheet.table.rows)
        fv_page_heading(p, t.sheet.relation->title,
                        "over all ranks and threads. self: without what they call. computing: of that, outside of MPI "
                        "(includes waiting for threads or I/O). of all: of the ranks' time; several threads may have "
                        "more than 100 %. max rank: computing of the rank with most");
    fv_text_table_end(&t, "function", "");
}

static void put_paths(const struct fv_page *p, const struct fv_profile *v)
{
    const struct fv_instrumentation *all = fv_model_instrumentation(v->model);
    struct fv_text_table t;

    fv_text_table_begin(&t, p, v, "instrumented_paths");
    for (size_t i = 0; i < all->place_count; i++)
        fv_text_table_add(&t, &all->places[i], FV_PLAIN);
    if (t.sheet.table.rows)
        fv_page_heading(p, t.sheet.relation->title, "callers and what they call, longest first");
    fv_text_table_end(&t, "call path", "");
}

/* Of those that warm up. */
static void put_first_calls(const struct fv_page *p, const struct fv_profile *v)
{
    const struct fv_instrumentation *all = fv_model_instrumentation(v->model);
    struct fv_text_table t;

    fv_text_table_begin(&t, p, v, "function_warm_up");
    for (size_t i = 0; i < all->function_count; i++)
        if (all->functions[i].warm_up.threads)
            fv_text_table_add(&t, &all->functions[i], FV_PLAIN);
    if (t.sheet.table.rows)
        fv_page_heading(p, t.sheet.relation->title,
                        "functions whose first call on a thread took at least twice as long as any later one: leave it "
                        "out of a measurement");
    fv_text_table_end(&t, "function", "");
}

static void put_counts(const struct fv_page *p, const struct fv_profile *v)
{
    const struct fv_instrumentation *all = fv_model_instrumentation(v->model);
    struct fv_text_table t;

    fv_text_table_begin(&t, p, v, "instrumented_counts");
    for (size_t i = 0; i < all->count_count; i++)
        fv_text_table_add(&t, &all->counts[i], FV_PLAIN);
    if (t.sheet.table.rows)
        fv_page_heading(p, t.sheet.relation->title, "self: without functions that they call, MPI included");
    fv_text_table_end(&t, "function", "");
}

static void put_streams(const struct fv_page *p, const struct fv_profile *v)
{
    const struct fv_instrumentation *all = fv_model_instrumentation(v->model);
    struct fv_text_table t;

    fv_text_table_begin(&t, p, v, "streams");
    for (size_t i = 0; i < all->stream_count; i++)
        fv_text_table_add(&t, &all->streams[i], FV_PLAIN);
    if (t.sheet.table.rows)
        fv_page_heading(p, t.sheet.relation->title, "kernels and copies; of the rank: of its time");
    fv_text_table_end(&t, "function", "");
}

/* Whose time is not in the table, and whose calls are not all in a trace. */
static void put_counted(const struct fv_page *p, const struct fv_profile *v)
{
    const struct fv_instrumentation *all = fv_model_instrumentation(v->model);
    const struct fv_instrumented_function *most = NULL;
    struct fv_path path = { 0 };
    char name[300], calls[FV_WORD], more[FV_WORD];
    size_t functions = 0;

    for (size_t i = 0; i < all->function_count; i++) {
        const struct fv_instrumented_function *f = &all->functions[i];

        functions += f->sum.counted > 0;
        most = f->sum.counted > (most ? most->sum.counted : 0) ? f : most;
    }
    if (!most)
        return;
    fv_path_of(&path, v->symbols, most->node);
    fv_frame_brief(path.count ? &path.frames[0] : NULL, v->symbols, name, sizeof(name));
    fv_path_release(&path);
    fv_text_note(p, FV_YELLOW,
                 "%s call%s of %s%s%s%s counted, not measured, after 100,000 that took less than 1 us. Their time "
                 "counts as their callers', and no trace has them. --functions=all measures them",
                 fv_words_count(most->sum.counted, calls), fv_words_s(most->sum.counted), name,
                 functions > 1 ? ", and some of " : "", functions > 1 ? fv_words_count(functions - 1, more) : "",
                 functions == 2  ? " other function,"
                 : functions > 2 ? " other functions,"
                                 : "");
}

static void put_losses(const struct fv_page *p, const struct fv_model *m)
{
    const struct fv_function_losses *l = &fv_model_instrumentation(m)->losses;
    const char *depth = fv_model_option(m, "FVMPI_DEPTH");
    char deeper[96];

    snprintf(deeper, sizeof(deeper), "left out, deeper than --depth %s: the time counts as the caller's",
             depth ? depth : "0");
    const struct fv_text_loss rows[] = {
        { l->no_room, "call", "not measured, for lack of room: the time counts as the caller's" },
        { l->too_deep, "call",
          depth ? deeper : "not measured: more than 8,192 were under way; the time counts as the caller's" },
        { l->left, "call", "left by an exception, longjmp() or the thread's end: it counts until that was seen" },
        { l->unbegun, "end", "of functions that were not seen to begin" },
        { l->interrupted, "begin or end", "in a signal handler that interrupted another: not measured" },
        { l->untraced, "begin or end", "not in the trace" },
    };

    fv_text_losses(p, "", rows, sizeof(rows) / sizeof(*rows));
}

FV_TEXT_SECTION(instrumentation)
{
    const char *filter = fv_model_option(v->model, "FVMPI_FUNCTIONS_FILTER");

    if (!fv_model_instrumentation(v->model)->function_count && fv_model_option(v->model, "FVMPI_FUNCTIONS")) {
        fv_page_heading(p, "Instrumented functions", "");
        if (filter)
            fv_text_note(p, FV_YELLOW,
                         "--functions: none was called that the filter %s leaves in; if a run without it has none, "
                         "either, compile the program with -finstrument-functions",
                         filter);
        else
            fv_text_note(p, FV_YELLOW, "--functions: none was called; compile the program with -finstrument-functions");
    }
    put_streams(p, v);
    if (!fv_model_instrumentation(v->model)->function_count)
        return;
    put_functions(p, v);
    put_paths(p, v);
    put_first_calls(p, v);
    put_counts(p, v);
    put_counted(p, v);
    put_losses(p, v->model);
}
