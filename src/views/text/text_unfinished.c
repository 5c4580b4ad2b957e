/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks that did not finalize, by where they are: the same call, or the same last one. */
#include "views/text/text.h"

#include "profile/fatal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool same_place(const struct fv_rank *a, const struct fv_rank *b)
{
    const struct fv_in_call_view *x = &a->in_call, *y = &b->in_call;

    return a->state == b->state && a->aborted == b->aborted && a->exit_code == b->exit_code &&
           a->signal.number == b->signal.number &&
           (a->signal.node == b->signal.node || !fv_signal_has_place(&a->signal)) && a->exit_seen == b->exit_seen &&
           a->exit_status == b->exit_status && a->program == b->program && x->active == y->active &&
           x->function == y->function && x->node == y->node;
}

/* Ranks that are in the same call, or were last: since when, and for how long if they still run. */
struct place {
    char ranks[220];
    unsigned count;
    double first_s, last_s, longest_s;
};

static void put_peer(const struct fv_page *p, const struct fv_in_call_view *in)
{
    if (in->peer == FV_ANY_PEER)
        fputs(" (from any rank", p->out);
    else
        fprintf(p->out, " (peer %d", in->peer);
    if (in->tag < 0) /* MPI_ANY_TAG; tags are not negative */
        fputs(", any tag)", p->out);
    else
        fprintf(p->out, ", tag %d)", in->tag);
}

static void put_since(const struct fv_page *p, const struct fv_rank *r, const struct place *place)
{
    char first[FV_WORD], last[FV_WORD];

    if (place->count == 1 && r->in_call.peer != FV_NO_PEER)
        put_peer(p, &r->in_call);
    fv_words_seconds(place->first_s, first);
    fv_words_seconds(place->last_s, last);
    fprintf(p->out, ", entered at %s", first);
    if (strcmp(first, last))
        fprintf(p->out, " to %s", last);
    if (r->state == FV_RANK_RUNNING)
        fprintf(p->out, ", %s ago", fv_words_seconds(place->longest_s, first));
    putc('\n', p->out);
}

/* What it does there no call tells; where it came from does. */
static void put_outside(const struct fv_page *p, const struct fv_profile *v, const struct fv_rank *r,
                        struct fv_path *path)
{
    const struct fv_in_call_view *in = &r->in_call;
    char clean[512];

    fputs(", outside of MPI", p->out);
    if (in->function == FV_NONE) {
        putc('\n', p->out);
        return;
    }
    fprintf(p->out, ", last in %s%s%s%s\n", fv_page_on(p, FV_BOLD),
            fv_words_clean(v->model->functions[in->function].name, clean, sizeof(clean)), fv_page_off(p),
            in->node ? ":" : "");
    fv_text_path(p, v, path, in->node, 6, 12);
}

static void put_place(const struct fv_page *p, const struct fv_profile *v, const struct fv_rank *r,
                      const struct place *place, struct fv_path *path)
{
    const struct fv_in_call_view *in = &r->in_call;
    char clean[512];

    fprintf(p->out, "  %s%s%s", fv_page_on(p, FV_RED), place->ranks, fv_page_off(p));
    if (v->model->program_count > 1)
        fprintf(p->out, " (%s)", fv_words_clean(v->model->programs[r->program].label, clean, sizeof(clean)));
    if (r->state == FV_RANK_CUT) {
        fputs(": what is here ends before its run did\n", p->out);
        return;
    }
    if (r->aborted)
        fprintf(p->out, " called MPI_Abort with error code %d", r->exit_code);
    else
        fprintf(p->out, " %s", fv_rank_state_name(r->state));
    if (r->exit_seen && !r->aborted)
        fprintf(p->out, " with status %d", r->exit_status);
    if (r->signal.number)
        fprintf(p->out, " by %s", fv_signal_words(&r->signal, clean, sizeof(clean)));
    if (fv_signal_has_place(&r->signal)) {
        fputs(", in:\n", p->out);
        fv_text_path(p, v, path, r->signal.node, 6, 12);
        return;
    }
    if (!in->active && r->aborted) {
        putc('\n', p->out);
        return;
    }
    if (!in->active) {
        put_outside(p, v, r, path);
        return;
    }
    if (!r->aborted || strcmp(v->model->functions[in->function].name, "MPI_Abort"))
        fprintf(p->out, " in %s%s%s", fv_page_on(p, FV_BOLD),
                fv_words_clean(v->model->functions[in->function].name, clean, sizeof(clean)), fv_page_off(p));
    put_since(p, r, place);
    fv_text_path(p, v, path, in->node, 6, 12);
}

/* The ranks that are where rank i is; marks them as done. */
static void gather_place(const struct fv_model *m, size_t i, bool *done, struct place *out)
{
    struct fv_rank_list list = FV_RANK_LIST_INIT;

    *out = (struct place){ .first_s = INFINITY };
    for (size_t k = i; k < m->rank_count; k++) {
        const struct fv_in_call_view *in = &m->ranks[k].in_call;

        if (done[k] || !same_place(&m->ranks[i], &m->ranks[k]))
            continue;
        done[k] = true;
        out->count++;
        fv_rank_list_add(&list, m->ranks[k].world_rank);
        out->first_s = fmin(out->first_s, in->begin_s);
        out->last_s = fmax(out->last_s, in->begin_s);
        out->longest_s = fmax(out->longest_s, in->seconds);
    }
    snprintf(out->ranks, sizeof(out->ranks), "rank%s %s", out->count > 1 ? "s" : "", fv_rank_list_text(&list));
}

FV_TEXT_SECTION(unfinished)
{
    const struct fv_model *m = v->model;
    bool *done = fv_xcalloc(m->rank_count, sizeof(*done));
    struct fv_path path = { 0 };
    size_t shown = 0, groups = 0, most = fv_text_losses_shown(p);
    struct place place;

    for (size_t i = 0; i < m->rank_count; i++) {
        if (done[i] || m->ranks[i].state == FV_RANK_FINALIZED || fv_text_serial(m))
            continue; /* a serial program has no MPI call to be in */
        if (groups++ == 0)
            fv_page_heading(p, "Ranks that did not finalize", "and the MPI call each is in, or was in last");
        gather_place(m, i, done, &place);
        if (shown >= most)
            continue;
        shown++;
        put_place(p, v, &m->ranks[i], &place, &path);
    }
    fv_page_cut(p, shown, groups, "group", " of ranks");
    fv_path_release(&path);
    free(done);
}
