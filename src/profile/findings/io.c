/* SPDX-License-Identifier: BSD-3-Clause */
/* Finding of files: time in functions for them that no other finding has, as where all ranks have it, or there is
 * one. */
#include "profile/findings/excess.h"
#include "profile/findings/findings.h"
#include "profile/io/io.h"
#include "profile/places.h"
#include "profile/profile.h"
#include "tool/words.h"

#include <math.h>
#include <string.h>

#define MOST 0.5 /* of the time in files: a rank that has so much is named */

/* Of the rank's time: of several threads their part of it. */
static double files_s(const struct fv_model *m, const struct fv_io_rank_view *of)
{
    const struct fv_rank *r = &m->ranks[of->rank];

    return fmin(of->seconds / fmax(r->threads, 1), r->app_time_s);
}

static bool is_told(const struct fv_findings *f, uint32_t rank)
{
    for (size_t i = 0; i < f->count; i++)
        if (f->items[i].is_io && f->items[i].rank == rank)
            return true;
    return false;
}

/* The function, file and call path with most. */
static const struct fv_io_call_view *longest_call(const struct fv_io_view *io)
{
    const struct fv_io_call_view *most = NULL;

    for (size_t i = 0; i < io->call_count; i++)
        if (!most || io->calls[i].sum.seconds > most->sum.seconds)
            most = &io->calls[i];
    return most;
}

static void say(const struct fv_profile *v, struct fv_findings *f, struct fv_finding *finding, double sum)
{
    const struct fv_model *m = v->model;
    const struct fv_io_call_view *call = longest_call(fv_model_io(m));
    char part[FV_WORD], seconds[FV_WORD], calls[FV_WORD], where[400] = "";
    struct fv_path path = { 0 };

    fv_path_of(&path, v->symbols, call->place.node);
    const struct fv_frame *frame = fv_path_caller(m, &path);
    if (frame) {
        finding->function = frame->function;
        finding->file = frame->file;
        finding->line = frame->line;
        strcpy(where, ", called by ");
        fv_frame_words(frame, v->symbols, where + strlen(where), sizeof(where) - strlen(where));
    }
    fv_finding_say(f, finding, "functions for files take %s of the time. The longest is %s()%s%s: %s in %s call%s%s",
                   fv_words_percent(sum, m->efficiency.total_s, part),
                   fv_io_function(fv_model_io(m), call->place.function).name, call->place.file == FV_NONE ? "" : " of ",
                   call->place.file == FV_NONE ? "" : fv_model_io(m)->files[call->place.file].path,
                   fv_words_seconds(call->sum.seconds, seconds), fv_words_count(call->sum.calls, calls),
                   fv_words_s(call->sum.calls), where);
    fv_finding_next(f, finding, "%s", fv_io_advice(m, call->place.function));
    fv_path_release(&path);
}

FV_FINDING(files)
{
    const struct fv_io_view *io = fv_model_io(v->model);
    uint32_t most = FV_NONE;
    double sum = 0, most_s = 0;

    for (size_t i = 0; i < io->rank_count; i++) {
        double seconds = files_s(v->model, &io->ranks[i]);

        if (is_told(f, io->ranks[i].rank))
            continue;
        sum += seconds;
        if (seconds > most_s) {
            most_s = seconds;
            most = io->ranks[i].rank;
        }
    }
    if (!io->call_count || !fv_finding_worth(v, sum))
        return;
    struct fv_finding *finding = fv_finding_add(f, sum, FV_EVIDENCE_EXACT);
    finding->is_io = true;
    finding->rank = most_s > MOST * sum ? most : FV_NONE;
    say(v, f, finding, sum);
}
