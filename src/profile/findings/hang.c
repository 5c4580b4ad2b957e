/* SPDX-License-Identifier: BSD-3-Clause */
/* The finding of a run that hangs, or hung when it was killed: which rank holds all up, and in which function. */
#include "profile/findings/findings.h"
#include "profile/fatal.h"
#include "profile/hang/hang.h"
#include "profile/looks/looks_tree.h"
#include "profile/profile.h"
#include "tool/words.h"

#include <math.h>
#include <string.h>

/* What it asks for may come from outside of MPI: a child process, a file, a clock. */
static bool asks(const struct fv_model *m, uint32_t rank)
{
    return fv_model_hang(m)->ranks[rank].state == FV_HANG_ASKS;
}

/* None of its threads began or ended a call in the last second. Who makes calls goes on, but for one that polls when
 * nobody else goes on. */
static bool stands(const struct fv_model *m, uint32_t rank)
{
    const struct fv_rank *r = &m->ranks[rank];

    if (asks(m, rank))
        return fv_model_hang(m)->asking;
    for (uint32_t i = 0; i < r->threads; i++) {
        const struct fv_in_call_view *in = &m->threads[r->first_thread + i].in_call;

        if (in->function != FV_NONE && in->seconds < FV_HANG_LASTING_S)
            return false;
    }
    return true;
}

/* Calls that can complete are no reason to hang. */
static uint32_t cause_of(const struct fv_model *m, const struct fv_hang_cause *cause)
{
    if (cause->state == FV_HANG_MATCHED || cause->state == FV_HANG_RECENT)
        return FV_NONE;
    for (uint32_t i = 0; i < cause->count; i++)
        if (cause->state == FV_HANG_ENDED || cause->state == FV_HANG_STOPPED || cause->state == FV_HANG_DEAD ||
            stands(m, cause->ranks[i]))
            return cause->ranks[i];
    return FV_NONE;
}

/* FV_NONE: none, or another may go on. */
static uint32_t first_that_asks(const struct fv_hang *h)
{
    for (uint32_t i = 0; h->asking && i < h->rank_count; i++)
        if (h->ranks[i].state == FV_HANG_ASKS)
            return i;
    return FV_NONE;
}

/* Ranks that were killed a moment after their last calls may have gone on well; so may those that somebody looked at,
 * and that have made calls since. FV_NONE: it is not sure that the run hangs. */
static uint32_t culprit(const struct fv_model *m, const struct fv_hang *h)
{
    if (h->mismatch_count)
        return h->mismatches[0].culprit;
    if (h->cycle_count)
        return h->cycles[0].lasting ? h->cycles[0].culprit : FV_NONE;
    if (!h->cause_count)
        return first_that_asks(h);
    return h->lasting ? cause_of(m, &h->causes[0]) : FV_NONE;
}

/* Of a rank's main thread; FV_NONE: nobody looked at it. */
static uint32_t end_of(const struct fv_look_tree *t, const struct fv_looks *l, uint32_t rank)
{
    for (uint32_t n = 0; n < t->count; n++)
        for (uint32_t i = 0; i < t->nodes[n].ends; i++) {
            const struct fv_looks_thread *who = &l->items[t->ends[t->nodes[n].first_end + i]];

            if (who->rank == rank && who->is_main)
                return n;
        }
    return FV_NONE;
}

static bool say_look(const struct fv_profile *v, struct fv_finding *f, uint32_t rank, char *out, size_t bytes)
{
    struct fv_look_tree tree;
    char path[1500];

    if (fv_looks_are_past(v->model, rank))
        return false;
    fv_look_tree_init(&tree, v);
    uint32_t node = end_of(&tree, fv_model_looks(v->model), rank);
    bool is_known = node != FV_NONE && tree.nodes[node].parent != FV_NONE;
    if (is_known) {
        fv_words_add(out, bytes, ". Rank %d was in %s", v->model->ranks[rank].world_rank,
                     fv_look_node_words(&tree, node, path, sizeof(path)));
        for (; node != FV_NONE && !tree.nodes[node].file; node = tree.nodes[node].parent)
            ;
        if (node != FV_NONE) {
            f->function = tree.nodes[node].function; /* the symbols', as the file's name */
            f->file = tree.nodes[node].file;
            f->line = tree.nodes[node].line;
        }
    }
    fv_look_tree_release(&tree);
    return is_known;
}

static void say_call(const struct fv_profile *v, struct fv_finding *f, uint32_t rank, char *out, size_t bytes)
{
    const struct fv_in_call_view *in = &v->model->ranks[rank].in_call;
    char path[1200];
    struct fv_frame frame;

    const bool has_ended = fv_model_hang(v->model)->ranks[rank].state == FV_HANG_ENDED;

    if (!in->node)
        return;
    fv_words_add(out, bytes, ". %s %s",
                 in->active  ? "It is called in"
                 : has_ended ? "Its last call was in"
                             : "That call was in",
                 fv_path_words(v->symbols, in->node, 3, path, sizeof(path)));
    if (!fv_path_first(v->symbols, in->node, &frame))
        return;
    f->function = frame.function;
    f->file = frame.file;
    f->line = frame.line;
}

static void say_next(const struct fv_model *m, struct fv_findings *f, struct fv_finding *finding)
{
    const struct fv_rank *r = &m->ranks[finding->rank];

    if (fv_model_hang(m)->ranks[finding->rank].state == FV_HANG_STOPPED)
        fv_finding_next(f, finding, "let it go on, on %s: kill -CONT %u", r->host, r->pid);
    else if (fv_model_hang(m)->ranks[finding->rank].state == FV_HANG_ENDED)
        fv_finding_next(f, finding,
                        fv_rank_has_ended(r) && r->state != FV_RANK_FINALIZED
                            ? "look for what ends the process behind that call, such as exit()"
                            : "look for why it leaves MPI while others wait for it");
    else if (r->state == FV_RANK_RUNNING)
        fv_finding_next(f, finding, "%scall paths of all threads, now: %s",
                        !asks(m, finding->rank) ? ""
                        : r->has_child          ? "it may wait for its child process, or a file; "
                                                : "it may wait for a file; ",
                        FV_FINDING_COMMAND(m, "where"));
    else if (fv_model_looks(m)->request && !fv_looks_are_past(m, finding->rank))
        fv_finding_next(f, finding, "all threads: %s", FV_FINDING_COMMAND(m, "report", "--table", "looked_threads"));
    else
        fv_finding_next(f, finding, "run it with fvmpi run --hang-after 60s, which records where all threads are");
}

static bool crashed(const struct fv_signal_view *signal)
{
    return signal->number && !fv_signal_is_request(signal);
}

/* Nobody knows of a rank outside of MPI, in a call that was not judged, or with a child process, that it does not. */
static bool may_go_on(const struct fv_model *m, uint32_t rank)
{
    const struct fv_hang *h = fv_model_hang(m);
    const enum fv_hang_state state = h->ranks[rank].state;

    return !h->mismatch_count && !h->cycle_count &&
           (state == FV_HANG_ACTIVE || state == FV_HANG_UNTOLD || (state == FV_HANG_ASKS && m->ranks[rank].has_child));
}

FV_FINDING(hang)
{
    const struct fv_model *m = v->model;
    char text[3000] = "", headline[1500], *at;

    uint32_t rank = fv_model_hang(m) ? culprit(m, fv_model_hang(m)) : FV_NONE;
    if (rank == FV_NONE || crashed(&m->ranks[rank].signal)) /* who did, and where, is in the first lines */
        return;
    struct fv_finding *finding = fv_finding_add(f, NAN, asks(m, rank) ? FV_EVIDENCE_ESTIMATE : FV_EVIDENCE_EXACT);
    fv_hang_headline(m, headline, sizeof(headline));
    at = strstr(headline, ": ");
    fv_words_add(text, sizeof(text), "%s", at ? at + 2 : headline);
    finding->rank = rank;
    if (may_go_on(m, rank))
        finding->title = "Held up";
    if (!fv_model_hang(m)->mismatch_count && fv_model_hang(m)->cycle_count) {
        fv_hang_rank(m, rank, headline, sizeof(headline));
        fv_words_add(text, sizeof(text), ". R%s", headline + 1);
    }
    if (!say_look(v, finding, rank, text, sizeof(text)))
        say_call(v, finding, rank, text, sizeof(text));
    fv_finding_say(f, finding, "%s", text);
    say_next(m, f, finding);
}
