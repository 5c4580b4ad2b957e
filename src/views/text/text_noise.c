/* SPDX-License-Identifier: BSD-3-Clause */
/* What noise of the machine cost, where it is worth a look. */
#include "tool/words.h"
#include "profile/noise/noise.h"
#include "views/text/text.h"

#define WORTH_A_LOOK 0.01 /* of the ranks' time */

/* What the noise at the first place would be on more ranks. */
static void put_projection(const struct fv_page *p, const struct fv_noise_view *n)
{
    const struct fv_noise_place *place = &n->places[0];
    char line[600] = "", expected[FV_WORD], part[FV_WORD], ranks[FV_WORD];

    for (uint32_t i = 1; n->place_count && i < place->projections; i++) {
        const struct fv_noise_projection *of = &n->projections[place->first_projection + i];

        fv_words_add(line, sizeof(line), "%s%s on %s ranks (%s of it)", i > 1 ? ", " : "",
                     fv_words_seconds(of->expected_s, expected), fv_words_count(of->ranks, ranks),
                     fv_words_percent(of->share, 1, part));
    }
    if (line[0])
        fv_text_note(p, FV_PLAIN,
                     "with more ranks, the same noise makes the time before the first of these calls longer: by %s. "
                     "This estimate assumes that ranks are disturbed independently, alike, and never for longer than "
                     "here",
                     line);
}

/* Without calls before which no rank was preempted. */
static void put_places(const struct fv_page *p, const struct fv_profile *v)
{
    const struct fv_noise_view *n = fv_model_noise(v->model);
    struct fv_text_table t;

    fv_text_table_begin(&t, p, v, "noise");
    for (size_t i = 0; i < n->place_count; i++)
        if (n->places[i].preempted_s > 0 || n->places[i].cost_s > 0)
            fv_text_table_add(&t, &n->places[i], FV_PLAIN);
    if (t.sheet.table.rows)
        fv_page_heading(p, t.sheet.relation->title, "what preemption of ranks cost, by the call after it (estimates)");
    fv_text_table_end(&t, "call site", "");
}

/* Ranks had no processor, and the kernel reported of no thread when it had one. */
static bool is_unknown(const struct fv_model *m)
{
    double ready_s = 0;
    uint32_t told = 0;

    for (size_t i = 0; i < m->rank_count; i++) {
        ready_s += m->ranks[i].ready_s > 0 ? m->ranks[i].ready_s : 0;
        told += m->ranks[i].switch_threads;
    }
    if (fv_text_serial(m)) /* switches are read at MPI calls */
        return false;
    return !told && ready_s > WORTH_A_LOOK * m->efficiency.total_s;
}

FV_TEXT_SECTION(noise)
{
    const struct fv_noise_view *n = fv_model_noise(v->model);

    if (is_unknown(v->model))
        fv_text_note(p, FV_YELLOW,
                     "noise: where ranks were preempted is not known, as the kernel reported no context switches (a "
                     "container, kernel.perf_event_paranoid above 2, or Linux before 4.17)");
    if (!n->rank_count || !(fv_noise_loss(v->model).seconds > WORTH_A_LOOK * v->model->efficiency.total_s))
        return;
    put_places(p, v);
    put_projection(p, n);
    fv_text_relation(p, v, "noise_ranks", "rank", "what each rank lost, and the process that most likely preempted it");
    fv_text_relation(p, v, "other_processes", "process", "by CPU time; ranks are included, except the one that looked");
}
