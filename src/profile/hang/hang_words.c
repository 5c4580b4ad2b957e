/* SPDX-License-Identifier: BSD-3-Clause */
/* What hang.c found, as sentences that all views share. */
#include "profile/hang/hang.h"
#include "tool/words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MISSING_TOLD 100000 /* of more, a damaged file may say so */
#define LIST_BYTES   120    /* of a list of ranks, about */

/* Without rank `but`, who is one of them; FV_NONE: all. */
static void say_ranks(const struct fv_model *m, const uint32_t *ranks, size_t count, uint32_t but, char *out,
                      size_t bytes)
{
    size_t before = strlen(out), said = 0;
    bool left_out = false;

    for (size_t i = 0; i < count && count <= 3 && !left_out; i++) /* of more, there are several in any case */
        left_out = ranks[i] == but;
    size_t n = count - left_out;
    fv_words_add(out, bytes, n == 2 ? "" : n == 1 ? "rank " : "ranks ");
    for (size_t i = 0, last; i < count; i = last + 1) {
        last = i;
        if (ranks[i] == but)
            continue;
        while (last + 1 < count && ranks[last + 1] != but &&
               m->ranks[ranks[last + 1]].world_rank == m->ranks[ranks[last]].world_rank + 1)
            last++;
        if (strlen(out) - before > LIST_BYTES) {
            fv_words_add(out, bytes, ", ...");
            return;
        }
        if (n == 2)
            last = i;
        fv_words_add(out, bytes, "%s%d",
                     n == 2 ? said ? " and " : "ranks "
                     : said ? ", "
                            : "",
                     m->ranks[ranks[i]].world_rank);
        if (last > i)
            fv_words_add(out, bytes, "%s%d", last > i + 1 ? "-" : ", ", m->ranks[ranks[last]].world_rank);
        said++;
    }
}

/* "rank 3", "ranks 0-3, 7"; cut with "...". Indices of ranks, ascending. Returns out. */
static char *name_ranks(const struct fv_model *m, const uint32_t *ranks, size_t count, char *out, size_t bytes)
{
    out[0] = '\0';
    say_ranks(m, ranks, count, FV_NONE, out, bytes);
    return out;
}

static void say_comm(const struct fv_model *m, uint32_t comm, char *out, size_t bytes)
{
    char name[96];

    if (comm == FV_NONE)
        fv_words_add(out, bytes, "an unknown communicator");
    else if (m->comms[comm].def.name[0])
        fv_words_add(out, bytes, "%s", fv_words_clean(m->comms[comm].def.name, name, sizeof(name)));
    else
        fv_words_add(out, bytes, "unnamed communicator %08x", (unsigned)m->comms[comm].def.uid);
}

/* That of a rank, who may be on it. */
static void say_list(const struct fv_model *m, uint32_t rank, char *out, size_t bytes)
{
    const struct fv_hang_list *list = &fv_model_hang(m)->lists[fv_model_hang(m)->ranks[rank].list];

    fv_words_add(out, bytes, "%s", list->any && list->count > 2 ? "any of " : "");
    say_ranks(m, fv_model_hang(m)->targets + list->first, list->count, list->count > 1 ? rank : FV_NONE, out, bytes);
}

static void say_tag(const struct fv_model *m, int tag, uint32_t comm, char *out, size_t bytes)
{
    if (tag < 0)
        fv_words_add(out, bytes, " (any tag, ");
    else
        fv_words_add(out, bytes, " (tag %d, ", tag);
    say_comm(m, comm, out, bytes);
    fv_words_add(out, bytes, ")");
}

static void say_item(const struct fv_model *m, const struct fv_wait_item *item, uint32_t target, char *out,
                     size_t bytes)
{
    fv_words_add(out, bytes, "%s rank %d", item->kind == FV_WAITED_SEND ? "to send to" : "to receive from",
                 m->ranks[target].world_rank);
    say_tag(m, item->tag, item->comm, out, bytes);
}

static int by_comm(const void *a, const void *b)
{
    const struct fv_comm_place *x = a, *y = b;

    if (x->comm != y->comm)
        return x->comm < y->comm ? -1 : 1;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

static uint64_t sequence_of(const struct fv_model *m, uint32_t comm, uint32_t rank)
{
    const struct fv_comm_place key = { .comm = comm, .rank = rank }, *place = NULL;

    if (m->comm_place_count)
        place = bsearch(&key, m->comm_places, m->comm_place_count, sizeof(key), by_comm);
    return place ? place->collectives : 0;
}

static void say_sequence(const struct fv_model *m, uint32_t comm, uint64_t sequence, char *out, size_t bytes)
{
    fv_words_add(out, bytes, " (collective call %llu on ", (unsigned long long)sequence + 1);
    say_comm(m, comm, out, bytes);
    fv_words_add(out, bytes, ")");
}

static void say_wait(const struct fv_model *m, uint32_t rank, char *out, size_t bytes)
{
    const struct fv_in_call_view *in = &m->ranks[rank].in_call;
    const struct fv_hang_list *list = &fv_model_hang(m)->lists[fv_model_hang(m)->ranks[rank].list];
    const struct fv_func *f = &m->functions[in->function];
    struct fv_wait_item own = { .comm = in->comm, .peer = in->peer, .tag = in->tag, .kind = FV_WAITED_RECEIVE };
    const struct fv_wait_item *items = in->waits ? &m->wait_items[in->first_wait] : &own;
    uint32_t count = in->waits ? in->waits : 1;

    fv_words_add(out, bytes, " waits ");
    if (f->class != FV_CLASS_P2P && f->class != FV_CLASS_COMPLETION) {
        fv_words_add(out, bytes, "for ");
        say_list(m, rank, out, bytes);
        if (!strcmp(f->name, "MPI_Finalize"))
            fv_words_add(out, bytes, " to call it, too");
        else if (in->comm != FV_NONE)
            say_sequence(m, in->comm, sequence_of(m, in->comm, rank), out, bytes);
        return;
    }
    if (!in->waits && (strstr(f->name, "send") || strstr(f->name, "Send")))
        own.kind = FV_WAITED_SEND;
    if (count == 1 && items->kind == FV_WAITED_COLLECTIVE) {
        fv_words_add(out, bytes, "for ");
        say_list(m, rank, out, bytes);
        say_sequence(m, items->comm, (uint64_t)items->tag, out, bytes);
    } else if (count == 1 && items->peer == FV_ANY_PEER) {
        fv_words_add(out, bytes, "to receive from ");
        say_list(m, rank, out, bytes);
        say_tag(m, items->tag, items->comm, out, bytes);
    } else if (count == 1) {
        say_item(m, items, fv_model_hang(m)->targets[list->first], out, bytes);
    } else if (count == 2 && items[0].peer != FV_NO_PEER && items[1].peer != FV_NO_PEER) {
        say_item(m, &items[0], fv_model_hang(m)->targets[list->first], out, bytes);
        fv_words_add(out, bytes, " or ");
        say_item(m, &items[1], fv_model_hang(m)->targets[list->first + list->count - 1], out, bytes);
    } else {
        fv_words_add(out, bytes, "for ");
        say_list(m, rank, out, bytes);
        fv_words_add(out, bytes, " (%u requests)", count);
    }
}

static void say_function(const struct fv_model *m, const struct fv_in_call_view *in, char *out, size_t bytes)
{
    char clean[96];

    fv_words_add(out, bytes, "%s", fv_words_clean(m->functions[in->function].name, clean, sizeof(clean)));
}

static void say_outside(const struct fv_model *m, const struct fv_rank *r, char *out, size_t bytes)
{
    char seconds[FV_WORD];

    fv_words_add(out, bytes, "outside of MPI");
    if (r->in_call.function == FV_NONE)
        return;
    if (r->state == FV_RANK_RUNNING)
        fv_words_add(out, bytes, ", %s after ", fv_words_seconds(r->in_call.seconds, seconds));
    else
        fv_words_add(out, bytes, ", last in ");
    say_function(m, &r->in_call, out, bytes);
}

static void say_end(const struct fv_rank *r, char *out, size_t bytes)
{
    if (r->state == FV_RANK_FINALIZED || !fv_rank_has_ended(r)) /* killed before its file said so */
        fv_words_add(out, bytes, "has finalized");
    else
        fv_words_add(out, bytes, "%s without MPI_Finalize",
                     r->state == FV_RANK_REPLACED ? "became another program, by exec()," : "exited");
    if (r->exit_seen && (r->exit_status || r->state != FV_RANK_FINALIZED))
        fv_words_add(out, bytes, " (exit status %d)", r->exit_status);
}

static void say_state(const struct fv_model *m, uint32_t rank, char *out, size_t bytes)
{
    const struct fv_rank *r = &m->ranks[rank];
    const struct fv_hang_rank *h = &fv_model_hang(m)->ranks[rank];
    char seconds[FV_WORD];

    if (h->state == FV_HANG_ENDED) {
        say_end(r, out, bytes);
        return;
    }
    if (h->state == FV_HANG_STOPPED)
        fv_words_add(out, bytes, "stopped (%s), ", r->stopped == 't' ? "by a debugger" : "SIGSTOP");
    if (h->state == FV_HANG_DEAD)
        fv_words_add(out, bytes, "dead: killed ");
    if (h->state == FV_HANG_ASKS) {
        fv_words_add(out, bytes, "asking in vain with ");
        say_function(m, &r->in_call, out, bytes);
        fv_words_add(out, bytes, ", for %s%s", fv_words_seconds(r->in_vain_s, seconds),
                     r->has_child ? ", while a child process lives" : "");
        return;
    }
    if (!r->in_call.active) {
        say_outside(m, r, out, bytes);
        return;
    }
    fv_words_add(out, bytes, "in ");
    say_function(m, &r->in_call, out, bytes);
    if (h->state == FV_HANG_WAITS)
        say_wait(m, rank, out, bytes);
    else if (h->state == FV_HANG_MATCHED)
        fv_words_add(out, bytes, ", which can complete: the ranks it needs are in matching calls");
    else if (h->state == FV_HANG_RECENT)
        fv_words_add(out, bytes, " for %s", fv_words_seconds(r->in_call.seconds, seconds));
    else if (h->missing == FV_HANG_SOME)
        fv_words_add(out, bytes, ", which waits for ranks that have no rank file");
    else if (h->missing)
        fv_words_add(out, bytes, ", which waits for rank %u, which has no rank file", h->missing - 1);
    else if (h->other_threads)
        fv_words_add(out, bytes, ", with other threads outside of MPI");
}

char *fv_hang_rank(const struct fv_model *m, uint32_t rank, char *out, size_t bytes)
{
    out[0] = '\0';
    fv_words_add(out, bytes, "rank %d ", m->ranks[rank].world_rank);
    say_state(m, rank, out, bytes);
    return out;
}

char *fv_hang_cause(const struct fv_model *m, const struct fv_hang_cause *cause, char *out, size_t bytes)
{
    static const char *const one[] = { "is outside of MPI",
                                       "waits",
                                       "is in a call that can complete",
                                       "has just called MPI",
                                       "is in a call whose reason to wait is not recorded",
                                       "asks in vain",
                                       "has ended",
                                       "is stopped",
                                       "is dead" };
    static const char *const many[] = { "are outside of MPI",
                                        "wait",
                                        "are in calls that can complete",
                                        "have just called MPI",
                                        "are in calls whose reason to wait is not recorded",
                                        "ask in vain",
                                        "have ended",
                                        "are stopped",
                                        "are dead" };
    char ranks[256];

    out[0] = '\0';
    if (cause->waiting == 1)
        fv_words_add(out, bytes, "rank %d waits", m->ranks[cause->first_waiting].world_rank);
    else
        fv_words_add(out, bytes, "%u ranks wait", cause->waiting);
    fv_words_add(out, bytes, " for %s, which ", name_ranks(m, cause->ranks, cause->count, ranks, sizeof(ranks)));
    if (cause->count == 1 && cause->state != FV_HANG_MATCHED && cause->state != FV_HANG_RECENT) {
        if (cause->state != FV_HANG_ENDED)
            fv_words_add(out, bytes, "is ");
        say_state(m, cause->ranks[0], out, bytes);
    } else {
        fv_words_add(out, bytes, "%s", (cause->count == 1 ? one : many)[cause->state]);
    }
    return out;
}

char *fv_hang_mismatch(const struct fv_model *m, const struct fv_hang_mismatch *x, char *out, size_t bytes)
{
    const struct fv_in_call_view *a = &m->ranks[x->a].in_call, *b = &m->ranks[x->b].in_call;

    out[0] = '\0';
    fv_words_add(out, bytes, "rank %d calls ", m->ranks[x->a].world_rank);
    say_function(m, a, out, bytes);
    if (x->roots)
        fv_words_add(out, bytes, " with root %d", a->peer);
    fv_words_add(out, bytes, ", rank %d ", m->ranks[x->b].world_rank);
    if (x->roots)
        fv_words_add(out, bytes, "with root %d", b->peer);
    else
        say_function(m, b, out, bytes);
    fv_words_add(out, bytes, ", as collective call %llu on ", (unsigned long long)x->sequence + 1);
    say_comm(m, x->comm, out, bytes);
    return out;
}

/* ---- the headline ---- */

static void say_cycle(const struct fv_model *m, const struct fv_hang_cycle *c, char *out, size_t bytes)
{
    uint32_t index = (uint32_t)(c - fv_model_hang(m)->cycles), members[64], count = 0;
    char ranks[256];

    for (uint32_t i = 0; i < m->rank_count && count < 64; i++)
        if (fv_model_hang(m)->ranks[i].cycle == index)
            members[count++] = i;
    name_ranks(m, members, count, ranks, sizeof(ranks));
    fv_words_add(out, bytes, "%s%s", ranks, c->count > count ? ", ..." : "");
    fv_words_add(out, bytes, "%s%s", c->count == 1 ? " waits for itself" : " wait for each other",
                 c->lasting ? ": a deadlock" : "");
}

/* As far as it was recorded, and if those who wait for others do no harm. */
static bool all_can_go_on(const struct fv_hang *h)
{
    for (uint32_t i = 0; i < h->rank_count; i++)
        if (h->ranks[i].state == FV_HANG_UNTOLD)
            return false;
    return !h->stuck;
}

enum certainty { NOTHING, PERHAPS, SURE };

/* What such a rank sent may have been under way. */
static bool has_finalized(const struct fv_model *m, const struct fv_hang_cause *cause)
{
    for (uint32_t i = 0; i < cause->count; i++)
        if (m->ranks[cause->ranks[i]].state != FV_RANK_FINALIZED && fv_rank_has_ended(&m->ranks[cause->ranks[i]]))
            return false;
    return true;
}

/* What is known of ranks that were killed a moment after each other's last calls? Then a run that went on
 * well and one that had hung for hours look alike, but for calls that do not fit together and for ranks that
 * have left: those do not get better with time. Calls that can complete are no reason to hang at all. */
static enum certainty certainty(const struct fv_model *m, bool killed)
{
    const struct fv_hang *h = fv_model_hang(m);

    if (!h->mismatch_count && !h->cycle_count && !h->cause_count)
        return h->asking ? SURE : NOTHING;
    if (!killed || h->lasting || h->mismatch_count)
        return SURE;
    if (h->cycle_count)
        return h->cycles[0].lasting ? SURE : PERHAPS;
    enum fv_hang_state state = h->causes[0].state;
    return state == FV_HANG_ENDED && !has_finalized(m, &h->causes[0]) ? SURE
           : state == FV_HANG_MATCHED                                 ? NOTHING
                                                                      : PERHAPS;
}

/* Nobody waits in a call: all look whether something has come. */
static void say_asking(const struct fv_model *m, char *out, size_t bytes)
{
    uint32_t *asking = fv_xcalloc(m->rank_count + 1, sizeof(*asking)), count = 0;
    double least_s = INFINITY;
    char ranks[256], seconds[FV_WORD];

    for (uint32_t i = 0; i < m->rank_count; i++)
        if (fv_model_hang(m)->ranks[i].state == FV_HANG_ASKS) {
            least_s = fmin(least_s, m->ranks[i].in_vain_s);
            asking[count++] = i;
        }
    fv_words_add(out, bytes, "%s %s in vain whether something has come, for %s",
                 name_ranks(m, asking, count, ranks, sizeof(ranks)), fv_model_hang(m)->asking > 1 ? "ask" : "asks",
                 fv_words_seconds(least_s, seconds));
    free(asking);
}

static void say_hang(const struct fv_model *m, char *out, size_t bytes)
{
    const struct fv_hang *h = fv_model_hang(m);
    char text[600];

    if (h->mismatch_count) {
        fv_words_add(out, bytes, "%s", fv_hang_mismatch(m, &h->mismatches[0], text, sizeof(text)));
    } else if (h->cycle_count) {
        say_cycle(m, &h->cycles[0], out, bytes);
        if (h->cycle_count > 1)
            fv_words_add(out, bytes, "; and %zu other such group%s", h->cycle_count - 1,
                         fv_words_s(h->cycle_count - 1));
    } else if (h->cause_count) {
        fv_words_add(out, bytes, "%s", fv_hang_cause(m, &h->causes[0], text, sizeof(text)));
    } else if (h->asking) {
        say_asking(m, out, bytes);
    }
}

/* Of a node that failed, or from where nothing was gathered: whoever waits for such a rank waits for that. */
static void say_missing(const struct fv_model *m, char *out, size_t bytes)
{
    struct fv_rank_list list = FV_RANK_LIST_INIT;
    size_t count = 0, at = 0;

    for (int rank = 0; rank < m->world_size && (size_t)m->world_size - m->rank_count <= MISSING_TOLD; rank++) {
        while (at < m->rank_count && m->ranks[at].world_rank < rank)
            at++;
        if (at < m->rank_count && m->ranks[at].world_rank == rank)
            continue;
        fv_rank_list_add(&list, rank);
        count++;
    }
    if (count)
        fv_words_add(
            out, bytes, "; rank%s %s %s no rank file: %s did not start, the node failed, or its files are not gathered",
            fv_words_s(count), fv_rank_list_text(&list), count > 1 ? "have" : "has", count > 1 ? "they" : "it");
}

static void say_aborted(const struct fv_model *m, char *out, size_t bytes)
{
    uint32_t aborted[64], count = 0;
    int code = 0;
    char ranks[256];

    for (uint32_t i = 0; i < m->rank_count && count < 64; i++)
        if (m->ranks[i].aborted) {
            code = count ? code : m->ranks[i].exit_code;
            aborted[count++] = i;
        }
    if (count)
        fv_words_add(out, bytes, "Aborted: %s called MPI_Abort with error code %d",
                     name_ranks(m, aborted, count, ranks, sizeof(ranks)), code);
}

char *fv_hang_headline(const struct fv_model *m, char *out, size_t bytes)
{
    unsigned states[FV_RANK_RUNNING + 1] = { 0 };

    out[0] = '\0';
    if (!fv_model_hang(m)) {
        say_aborted(m, out, bytes);
        return out;
    }
    for (size_t i = 0; i < m->rank_count; i++)
        states[m->ranks[i].state]++;
    bool running = states[FV_RANK_RUNNING], killed = !running && states[FV_RANK_KILLED];
    enum certainty sure = certainty(m, killed);
    fv_words_add(out, bytes, "%s", running ? "Still running" : killed ? "Killed" : "Ended without MPI_Finalize");
    if (sure != NOTHING) {
        fv_words_add(out, bytes, "%s: ", sure == SURE ? "" : "; if it hung before");
        say_hang(m, out, bytes);
    } else if (killed) {
        fv_words_add(out, bytes, "%s: %u of %d rank%s", all_can_go_on(fv_model_hang(m)) ? " while running" : "",
                     states[FV_RANK_KILLED], m->world_size, fv_words_s((uint64_t)m->world_size));
    }
    if (m->world_size > 0 && (size_t)m->world_size > m->rank_count)
        say_missing(m, out, bytes);
    return out;
}
