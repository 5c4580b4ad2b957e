/* How far the report can be trusted: what is lost or left out, and what makes its numbers say less. */
#include "views/text/text.h"
#include "profile/hang/hang.h"

#include <string.h>

static void put_note(const struct fv_page *p, enum fv_color color, const char *text)
{
    char clean[1400];

    fprintf(p->out, "  %s%s%s ", fv_page_on(p, color), color == FV_RED ? "!" : "-", fv_page_off(p));
    fv_page_words(p, fv_words_clean(text, clean, sizeof(clean)), 4);
}

static void put_problems(const struct fv_page *p, const struct fv_model *m)
{
    char text[1400];
    size_t shown = 0, most = fv_text_losses_shown(p);

    for (size_t i = 0; i < m->problems.count && shown < most; i++, shown++) {
        const struct fv_problem *problem = &m->problems.items[i];

        snprintf(text, sizeof(text), "%s%s%s", problem->file ? problem->file : "", problem->file ? ": " : "",
                 problem->text);
        put_note(p, fv_problem_is_loss(problem->kind) ? FV_RED : FV_YELLOW, text);
    }
    fv_page_cut(p, shown, m->problems.count, "remark", "");
}

/* More ranks than processors that they may run on together: then computing and waiting both hold time without
 * a processor. Of the first rank's host. */
static void put_crowded(const struct fv_page *p, const struct fv_model *m)
{
    const struct fv_rank *first = &m->ranks[0];
    uint64_t mask[sizeof(first->cpu_mask) / sizeof(*first->cpu_mask)] = { 0 };
    size_t ranks = 0, words = sizeof(mask) / sizeof(*mask);
    unsigned cpus = 0;
    char text[256];

    for (size_t i = 0; i < m->rank_count; i++) {
        if (strcmp(m->ranks[i].host, first->host))
            continue;
        ranks++;
        for (size_t k = 0; k < words; k++)
            mask[k] |= m->ranks[i].cpu_mask[k];
    }
    for (size_t k = 0; k < words; k++)
        cpus += (unsigned)__builtin_popcountll(mask[k]);
    if (!cpus || ranks <= cpus)
        return;
    snprintf(text, sizeof(text),
             "%zu ranks share the %u processor%s of %s: times include waiting for a processor", ranks, cpus,
             fv_words_s(cpus), first->host);
    put_note(p, FV_YELLOW, text);
}

static void put_remarks(const struct fv_page *p, const struct fv_model *m)
{
    double init = 0, paused = 0, total = m->efficiency.total_s;
    char text[700], part[FV_WORD];
    bool completed = !fv_hang_headline(m, text, sizeof(text))[0];
    size_t threaded = 0;

    for (size_t i = 0; i < m->rank_count; i++) {
        init += m->ranks[i].init_s + m->ranks[i].finalize_s;
        paused += m->ranks[i].paused_s;
        threaded += m->ranks[i].mpi_threads > 1;
    }
    if (completed && init > 0.05 * total && init <= total) {
        snprintf(text, sizeof(text),
                 "%s of the time is in MPI_Init and MPI_Finalize: a longer run would tell more",
                 fv_words_percent(init, total, part));
        put_note(p, FV_YELLOW, text);
    }
    put_crowded(p, m);
    if (threaded) {
        snprintf(text, sizeof(text),
                 "%zu rank%s MPI from several threads: MPI time of a rank is its main thread's, "
                 "functions and call sites hold all threads",
                 threaded, threaded == 1 ? " calls" : "s call");
        put_note(p, FV_YELLOW, text);
    }
    if (paused > 0) {
        snprintf(text, sizeof(text), "recording was paused for %s over all ranks; that time is left out",
                 fv_words_seconds(paused, part));
        put_note(p, FV_YELLOW, text);
    }
}

void fv_text_notes(const struct fv_page *p, const struct fv_model *m)
{
    put_problems(p, m);
    put_remarks(p, m);
}
