/* SPDX-License-Identifier: BSD-3-Clause */
/* What the program repeats, and what is odd about it. */
#include "tool/words.h"
#include "profile/iterations/iterations.h"
#include "views/text/text.h"

#include <math.h>

static void put_note(const struct fv_page *p, const struct fv_model *m, const struct fv_iteration_unit *u, size_t unit,
                     size_t units)
{
    const struct fv_iteration_times *t = &u->times;
    char of[32] = "", first[FV_WORD], last[FV_WORD], count[FV_WORD];

    if (units > 1)
        snprintf(of, sizeof(of), "unit %zu: ", unit);
    if (u->ranks < m->rank_count)
        fv_text_note(p, FV_PLAIN, "%sof %u of %zu ranks: the others do not make the same calls as often", of, u->ranks,
                     m->rank_count);
    if (t->step)
        fv_text_note(p, FV_PLAIN, "%sfrom number %zu on, iterations take %s times as long as before", of, t->step,
                     fv_words_times(t->factor, 2, first));
    else if (t->is_trend)
        fv_text_note(p, FV_PLAIN, "%siterations %s from %s to %s (medians of the first and the last tenth)", of,
                     t->last_s > t->first_s ? "grow" : "shrink", fv_words_seconds(t->first_s, first),
                     fv_words_seconds(t->last_s, last));
    if (t->period)
        fv_text_note(p, FV_PLAIN, "%sone in %u takes %s times as long, from number %u on", of, t->period,
                     fv_words_times(t->factor, 2, first), t->phase);
    if (t->outliers && !t->is_trend)
        fv_text_note(p, FV_PLAIN, "%s%s iteration%s took longer than %s", of, fv_words_count(t->outliers, count),
                     fv_words_s(t->outliers), fv_words_seconds(t->limit_s, first));
}

FV_TEXT_SECTION(iterations)
{
    const struct fv_iterations *it = fv_model_iterations(v->model);
    char calls[FV_WORD];

    if (it->left) {
        fv_page_heading(p, "Iterations", "what the program repeats");
        fv_text_note(p, FV_PLAIN, "%s", it->left);
    }
    if (!it->count)
        return;
    fv_text_relation(p, v, "iterations", "unit",
                     it->is_analysed ? "what the program repeats, by the trace"
                     : it->traced    ? "what the program repeats, by the trace; waiting: in blocking collective calls"
                                     : "what the program repeats, by its blocking collective calls");
    if (it->is_part)
        fv_text_note(p, FV_PLAIN, "of the first %s collective calls of a rank: the log has not all (--collectives-max)",
                     fv_words_count(it->first_calls, calls));
    if (it->is_kept)
        fv_text_note(p, FV_PLAIN, "of the part that the trace has kept: numbers count from its begin");
    for (size_t i = 0; i < it->count; i++)
        if (it->units[i].is_main)
            put_note(p, v->model, &it->units[i], i, it->count);
}
