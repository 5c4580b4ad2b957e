/* Who waits for whom, in made states with known answers. */
#include "base/process.h"
#include "fvr_builder.h"
#include "profile/findings/findings.h"
#include "profile/hang/hang.h"
#include "profile/profile.h"
#include "unit.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define MS    UINT64_C(1000000)
#define START UINT64_C(1000000000)
#define MOST  6

enum { F_SEND = 3, F_RECV, F_BARRIER, F_BCAST, F_REDUCE, F_SCAN, F_WAITALL, F_FENCE, F_FINALIZE, F_ASK };

static struct fvr file[MOST];
static int ranks;
static int lost;      /* so many more ranks have no file */
static bool unlisted; /* nobody lists the members of the second communicator */
static struct fv_experiment experiment;
static struct fv_model model;

static void name_functions(struct fvr *f)
{
    fvr_function(f, F_SEND, FV_CLASS_P2P, FV_RULE_P2P, "MPI_Send");
    fvr_function(f, F_RECV, FV_CLASS_P2P, FV_RULE_P2P, "MPI_Recv");
    fvr_function(f, F_BARRIER, FV_CLASS_COLLECTIVE, FV_RULE_BARRIER, "MPI_Barrier");
    fvr_function(f, F_BCAST, FV_CLASS_COLLECTIVE, FV_RULE_FROM_ROOT, "MPI_Bcast");
    fvr_function(f, F_REDUCE, FV_CLASS_COLLECTIVE, FV_RULE_TO_ROOT, "MPI_Reduce");
    fvr_function(f, F_SCAN, FV_CLASS_COLLECTIVE, FV_RULE_SCAN, "MPI_Scan");
    fvr_function(f, F_WAITALL, FV_CLASS_COMPLETION, FV_RULE_P2P, "MPI_Waitall");
    fvr_function(f, F_FENCE, FV_CLASS_RMA, FV_RULE_P2P, "MPI_Win_fence");
    fvr_function(f, F_ASK, FV_CLASS_COMPLETION, FV_RULE_NONE, "MPI_Test");
    fvr_function(f, F_FINALIZE, FV_CLASS_INIT, FV_RULE_BARRIER, "MPI_Finalize");
}

/* The last communicator of the last file: its handle, and how many collective calls there were. */
static void set_comm(struct fvr *f, uint64_t handle, uint64_t collectives)
{
    struct fvr_stream *s = NULL;

    for (size_t i = 0; i < f->stream_count; i++)
        if (f->streams[i].type == FV_CHUNK_COMMS)
            s = &f->streams[i];
    size_t each = s->bytes / f->comms;
    struct fv_comm_record *r = (void *)(s->data + (f->comms - 1) * each);
    r->handle = handle;
    r->collectives = collectives;
}

/* A killed rank that has made `world` and `other` collective calls on two communicators of all ranks, whose
 * handles are 1 and 2. */
static void rank(unsigned world, unsigned other)
{
    struct fvr *f = &file[ranks];

    fvr_init(f, ranks, MOST);
    f->header.state = FV_STATE_RUNNING; /* of another boot */
    f->header.end_ticks = 0;
    name_functions(f);
    fvr_comm(f, 1, FV_COMM_WORLD, ranks, MOST);
    set_comm(f, 1, world);
    fvr_comm(f, 77, 0, ranks, MOST);
    set_comm(f, 2, other);
    ranks++;
}

static void in(uint32_t function, uint64_t comm, int peer, int tag)
{
    struct fv_in_call call = {
        .begin = START + 100 * MS, .function = function, .comm = comm, .peer = peer, .tag = tag
    };

    fvr_thread(&file[ranks - 1], 0, true, 1, MS, &call);
}

/* Its last call came two seconds after those that the others are in. */
static void outside_later(void)
{
    struct fv_thread_record *t;

    fvr_thread(&file[ranks - 1], 0, true, 1, MS, NULL);
    for (size_t i = 0; i < file[ranks - 1].stream_count; i++)
        if (file[ranks - 1].streams[i].type == FV_CHUNK_THREADS) {
            t = (void *)file[ranks - 1].streams[i].data;
            t->last = START + 2100 * MS;
        }
}

static void returned_from_finalize(void)
{
    fvr_thread(&file[ranks - 1], 0, true, 1, MS, NULL);
    for (size_t i = 0; i < file[ranks - 1].stream_count; i++)
        if (file[ranks - 1].streams[i].type == FV_CHUNK_THREADS)
            ((struct fv_thread_record *)(void *)file[ranks - 1].streams[i].data)->in_call.function = F_FINALIZE;
}

static void outside(void)
{
    fvr_thread(&file[ranks - 1], 0, true, 1, MS, NULL);
}

static void waits(uint64_t begin, uint32_t count, uint32_t kept, const struct fv_wait_target *items)
{
    struct fv_waiting w = { .begin = begin, .count = count, .kept = kept };

    memcpy(w.item, items, kept * sizeof(*items));
    fvr_add(&file[ranks - 1], FV_CHUNK_WAITING, 0, &w, sizeof(w));
}

static const struct fv_hang *judge(void)
{
    for (int i = 0; i < ranks; i++) {
        file[i].header.world_size = ranks + lost;
        for (size_t k = 0; k < file[i].stream_count; k++)
            if (file[i].streams[k].type == FV_CHUNK_COMMS) {
                size_t each = file[i].streams[k].bytes / file[i].comms;

                for (uint32_t c = 0; c < file[i].comms; c++) {
                    struct fv_comm_record *r = (void *)(file[i].streams[k].data + c * each);
                    r->size = r->run[0].count = ranks + lost;
                    if (unlisted && r->uid == 77) {
                        r->flags |= FV_COMM_UNLISTED;
                        r->runs = 0;
                    }
                }
            }
        fvr_join(&file[i], &experiment);
    }
    fv_experiment_choose(&experiment);
    fv_model_build(&model, NULL, &experiment, false);
    assert_non_null(fv_model_hang(&model));
    return fv_model_hang(&model);
}

static int set_up(void **state)
{
    (void)state;
    experiment = (struct fv_experiment){ 0 };
    model = (struct fv_model){ 0 };
    ranks = 0;
    unlisted = false;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    fv_model_release(&model);
    fv_experiment_release(&experiment);
    while (ranks > 0)
        fvr_release(&file[--ranks]);
    lost = 0;
    return 0;
}

static void assert_cycle(const struct fv_hang *h, uint32_t count, uint32_t length, const uint32_t *order)
{
    assert_int_equal(h->cycle_count, 1);
    assert_int_equal(h->cycles[0].count, count);
    assert_int_equal(h->cycles[0].length, length);
    for (uint32_t i = 0; i < length; i++)
        assert_int_equal(h->cycles[0].order[i], order[i]);
}

static void assert_text(uint32_t rank, const char *text)
{
    char out[700];

    assert_string_equal(fv_hang_rank(&model, rank, out, sizeof(out)), text);
}

static void assert_headline(const char *text)
{
    char out[700];

    assert_string_equal(fv_hang_headline(&model, out, sizeof(out)), text);
}

static void each_receives_from_the_other(void **state)
{
    (void)state;
    rank(0, 0), in(F_RECV, 1, 1, 5);
    rank(0, 0), in(F_RECV, 1, 0, 7);
    rank(0, 0), in(F_RECV, 1, 0, -1); /* behind them */
    const struct fv_hang *h = judge();
    assert_cycle(h, 2, 2, (uint32_t[]){ 0, 1 });
    assert_true(h->ranks[2].stuck);
    assert_int_equal(h->ranks[2].cycle, FV_NONE);
    assert_int_equal(h->ranks[0].direct, 2);
    assert_int_equal(h->cause_count, 0);
    assert_text(0, "rank 0 in MPI_Recv waits to receive from rank 1 (tag 5, MPI_COMM_WORLD)");
    assert_text(2, "rank 2 in MPI_Recv waits to receive from rank 0 (any tag, MPI_COMM_WORLD)");
    assert_headline("Killed; if it hung before: ranks 0 and 1 wait for each other");
}

static void a_message_under_way_is_no_cycle(void **state)
{
    (void)state;
    rank(0, 0), in(F_SEND, 1, 1, 5);
    rank(0, 0), in(F_RECV, 1, 0, 5);
    rank(0, 0), in(F_RECV, 1, 1, 1);
    rank(0, 0), in(F_RECV, 1, FV_ANY_PEER, 1);
    const struct fv_hang *h = judge();
    assert_int_equal(h->ranks[0].state, FV_HANG_MATCHED);
    assert_int_equal(h->ranks[1].state, FV_HANG_MATCHED);
    assert_int_equal(h->ranks[2].state, FV_HANG_WAITS);
    assert_int_equal(h->stuck, 0);
    assert_int_equal(h->cycle_count, 0);
    assert_text(0, "rank 0 in MPI_Send, which can complete: the ranks it needs are in matching calls");
    assert_headline("Killed while running: 4 of 4 ranks");
}

static void tags_and_communicators_must_fit(void **state)
{
    (void)state;
    rank(0, 0), in(F_SEND, 1, 1, 5);
    rank(0, 0), in(F_RECV, 1, 0, 6);
    rank(0, 0), in(F_SEND, 1, 3, 5);
    rank(0, 0), in(F_RECV, 2, 2, 5);
    const struct fv_hang *h = judge();
    assert_int_equal(h->cycle_count, 2);
    assert_int_equal(h->stuck, 4);
    assert_text(3, "rank 3 in MPI_Recv waits to receive from rank 2 (tag 5, unnamed communicator 0000004d)");
}

static void a_barrier_that_one_misses(void **state)
{
    (void)state;
    rank(3, 0), in(F_BARRIER, 1, FV_NO_PEER, 0);
    rank(3, 0), outside();
    rank(3, 0), in(F_BARRIER, 1, FV_NO_PEER, 0);
    rank(2, 0), in(F_RECV, 1, 1, 0); /* is behind */
    rank(4, 0), in(F_RECV, 1, 0, 0); /* has left it */
    const struct fv_hang *h = judge();
    const struct fv_hang_list *l = &h->lists[h->ranks[0].list];
    assert_int_equal(l->count, 2);
    assert_int_equal(h->targets[l->first], 1);
    assert_int_equal(h->targets[l->first + 1], 3);
    assert_int_equal(h->ranks[2].list, h->ranks[0].list); /* one list for both */
    assert_int_equal(h->stuck, 0);
    assert_int_equal(h->cause_count, 1);
    assert_int_equal(h->causes[0].waiting, 4);
    assert_int_equal(h->causes[0].ranks[0], 1);
    assert_text(0, "rank 0 in MPI_Barrier waits for ranks 1 and 3 (collective call 4 on MPI_COMM_WORLD)");
    assert_headline("Killed; if it hung before: 4 ranks wait for rank 1, which is outside of MPI");
}

static void who_is_in_another_call_than_the_others(void **state)
{
    (void)state;
    rank(0, 0), in(F_BARRIER, 1, FV_NO_PEER, 0);
    rank(0, 0), in(F_RECV, 1, 0, 42); /* nobody sends that */
    rank(0, 0), in(F_BARRIER, 1, FV_NO_PEER, 0);
    rank(0, 0), in(F_BARRIER, 1, FV_NO_PEER, 0);
    assert_int_equal(judge()->cycles[0].culprit, 1);
}

static void who_is_on_another_communicator_than_the_others(void **state)
{
    (void)state;
    rank(1, 1), in(F_BARRIER, 2, FV_NO_PEER, 0);
    rank(1, 1), in(F_BARRIER, 2, FV_NO_PEER, 0);
    rank(1, 1), in(F_BARRIER, 1, FV_NO_PEER, 0);
    rank(1, 1), in(F_BARRIER, 2, FV_NO_PEER, 0);
    assert_int_equal(judge()->cycles[0].culprit, 2);
}

static void whose_call_does_not_fit(void **state)
{
    (void)state;
    rank(7, 0), in(F_BCAST, 1, 0, 0);
    rank(7, 0), in(F_REDUCE, 1, 0, 0);
    rank(7, 0), in(F_REDUCE, 1, 0, 0);
    const struct fv_hang *h = judge();
    assert_int_equal(h->mismatches[0].a, 0);
    assert_int_equal(h->mismatches[0].b, 1);
    assert_int_equal(h->mismatches[0].culprit, 0);
}

/* It needs all who are missing: that one may come yet does not help. */
static void a_barrier_that_cannot_end(void **state)
{
    (void)state;
    rank(0, 0), in(F_BARRIER, 1, FV_NO_PEER, 0);
    rank(0, 0), in(F_RECV, 1, 0, 0);
    rank(0, 0), outside();
    const struct fv_hang *h = judge();
    assert_cycle(h, 2, 2, (uint32_t[]){ 0, 1 });
    assert_int_equal(h->cycles[0].culprit, 1); /* a message is lost */
    assert_int_equal(h->stuck, 2);
}

static void the_barrier_before(void **state)
{
    (void)state;
    rank(5, 0), in(F_BARRIER, 1, FV_NO_PEER, 0);
    rank(4, 0), in(F_BARRIER, 1, FV_NO_PEER, 0);
    rank(4, 0), outside();
    const struct fv_hang *h = judge();
    assert_int_equal(h->lists[h->ranks[0].list].count, 2);
    assert_int_equal(h->lists[h->ranks[1].list].count, 1);
    assert_int_equal(h->mismatch_count, 0);
}

static void two_communicators_in_another_order(void **state)
{
    (void)state;
    rank(1, 1), in(F_BARRIER, 1, FV_NO_PEER, 0);
    rank(1, 1), in(F_BARRIER, 2, FV_NO_PEER, 0);
    assert_cycle(judge(), 2, 2, (uint32_t[]){ 0, 1 });
}

static void all_have_come(void **state)
{
    (void)state;
    rank(1, 0), in(F_BARRIER, 1, FV_NO_PEER, 0);
    rank(1, 0), in(F_BARRIER, 1, FV_NO_PEER, 0);
    const struct fv_hang *h = judge();
    assert_int_equal(h->waiting, 0);
    assert_int_equal(h->ranks[0].state, FV_HANG_MATCHED);
    assert_headline("Killed while running: 2 of 2 ranks");
}

static void roots(void **state)
{
    (void)state;
    rank(0, 0), in(F_BCAST, 1, 0, 0); /* the root, which waits for one of those who have not come */
    rank(0, 0), in(F_BCAST, 1, 0, 0);
    rank(0, 0), in(F_RECV, 1, 1, 0);
    rank(0, 0), outside();
    const struct fv_hang *h = judge();
    assert_true(h->lists[h->ranks[0].list].any);
    assert_int_equal(h->stuck, 0); /* rank 3 may come */
    assert_int_equal(h->mismatch_count, 0);
}

static void a_root_that_is_missing(void **state)
{
    (void)state;
    rank(0, 0), in(F_RECV, 1, 1, 0);
    rank(0, 0), in(F_BCAST, 1, 0, 0);
    rank(0, 0), outside();
    assert_cycle(judge(), 2, 2, (uint32_t[]){ 0, 1 }); /* whatever rank 2 does */
}

/* Somebody lived on: they are known to have hung. */
static void killed_long_after(void **state)
{
    (void)state;
    rank(0, 0), in(F_RECV, 1, 1, 5);
    rank(0, 0), in(F_RECV, 1, 0, 7);
    rank(0, 0), outside_later();
    assert_true(judge()->lasting);
    assert_headline("Killed: ranks 0 and 1 wait for each other: a deadlock");
}

static void killed_long_after_a_message_came(void **state)
{
    (void)state;
    rank(0, 0), in(F_SEND, 1, 1, 5);
    rank(0, 0), in(F_RECV, 1, 0, 5);
    rank(0, 0), in(F_RECV, 1, 1, 1);
    rank(0, 0), outside_later();
    assert_true(judge()->lasting);
    assert_headline("Killed: rank 2 waits for rank 1, which is in a call that can complete");
}

static void calls_that_do_not_fit(void **state)
{
    char text[300];
    (void)state;
    rank(7, 0), in(F_BCAST, 1, 1, 0);
    rank(7, 0), in(F_BCAST, 1, 0, 0);
    rank(7, 0), in(F_REDUCE, 1, 1, 0);
    const struct fv_hang *h = judge();
    assert_int_equal(h->mismatch_count, 1);
    assert_int_equal(h->stuck, 3);
    assert_string_equal(fv_hang_mismatch(&model, &h->mismatches[0], text, sizeof(text)),
                        "rank 0 calls MPI_Bcast with root 1, rank 1 with root 0, as collective call 8 on "
                        "MPI_COMM_WORLD");
    assert_int_equal(h->cycles[0].count, 3);
    assert_int_equal(h->cycles[0].length, 2);
    assert_headline("Killed: rank 0 calls MPI_Bcast with root 1, rank 1 with root 0, as collective call 8 on "
                    "MPI_COMM_WORLD");
}

static void any_source(void **state)
{
    (void)state;
    rank(0, 0), in(F_RECV, 1, FV_ANY_PEER, 0);
    rank(0, 0), in(F_RECV, 1, 0, 0);
    rank(0, 0), in(F_RECV, 1, 1, 0);
    const struct fv_hang *h = judge();
    assert_int_equal(h->stuck, 3);
    assert_cycle(h, 3, 2, (uint32_t[]){ 0, 1 });
    assert_text(0, "rank 0 in MPI_Recv waits to receive from any of ranks 1 and 2 (tag 0, MPI_COMM_WORLD)");
}

static void any_source_that_somebody_may_serve(void **state)
{
    (void)state;
    rank(0, 0), in(F_RECV, 1, FV_ANY_PEER, 0);
    rank(0, 0), in(F_RECV, 1, 0, 0);
    rank(0, 0), outside();
    assert_int_equal(judge()->stuck, 0);
}

/* Whom nobody lists may be anybody. */
static void any_source_of_unknown_members(void **state)
{
    (void)state;
    rank(0, 0), in(F_RECV, 2, FV_ANY_PEER, 0);
    unlisted = true;
    assert_int_equal(judge()->ranks[0].state, FV_HANG_UNTOLD);
}

static void nobody_is_left_to_serve(void **state)
{
    (void)state;
    rank(0, 0), in(F_RECV, 1, FV_ANY_PEER, 0);
    rank(0, 0), outside();
    file[1].header.state = FV_STATE_EXITED;
    file[1].header.exit_seen = 1;
    file[1].header.exit_status = 3;
    const struct fv_hang *h = judge();
    assert_int_equal(h->stuck, 1);
    assert_int_equal(h->cycle_count, 0);
    assert_headline("Killed: rank 0 waits for rank 1, which exited without MPI_Finalize (exit status 3)");
}

static void requests(void **state)
{
    const struct fv_wait_target two[] = { { 1, 1, 4, F_RECV, FV_WAITED_RECEIVE, 0 },
                                          { 1, 2, 4, F_RECV, FV_WAITED_SEND, 0 } };
    (void)state;

    rank(0, 0), in(F_WAITALL, 0, FV_NO_PEER, 0);
    waits(START + 100 * MS, 2, 2, two);
    rank(0, 0), in(F_RECV, 1, 0, 9);
    rank(0, 0), in(F_RECV, 1, 1, 9);
    rank(0, 0), in(F_WAITALL, 0, FV_NO_PEER, 0);
    waits(START + 90 * MS, 2, 2, two); /* of an earlier call */
    rank(0, 0), in(F_WAITALL, 0, FV_NO_PEER, 0);
    waits(START + 100 * MS, 3, 2, two); /* one is not known */
    const struct fv_hang *h = judge();
    assert_cycle(h, 3, 2, (uint32_t[]){ 0, 1 });
    assert_int_equal(h->ranks[3].state, FV_HANG_UNTOLD);
    assert_int_equal(h->ranks[4].state, FV_HANG_UNTOLD);
    assert_text(0, "rank 0 in MPI_Waitall waits to receive from rank 1 (tag 4, MPI_COMM_WORLD) or to send to rank 2 "
                   "(tag 4, MPI_COMM_WORLD)");
}

static void hostile_requests(void **state)
{
    struct fv_waiting w = { .begin = START + 100 * MS, .count = 5, .kept = 4000000000u };
    (void)state;

    for (uint32_t i = 0; i < FV_WAITED_MOST; i++)
        w.item[i] = (struct fv_wait_target){ 1000 + i, -5, 1 << 30, 9999, 200, 1 };
    rank(0, 0), in(F_WAITALL, 99, 4711, -3);
    fvr_add(&file[0], FV_CHUNK_WAITING, 0, &w, sizeof(w));
    rank(UINT32_MAX, 0), in(F_BCAST, 1, 1 << 30, 0);
    assert_int_equal(judge()->ranks[0].state, FV_HANG_UNTOLD);
}

static void not_recorded(void **state)
{
    (void)state;
    rank(0, 0), in(F_FENCE, 0, FV_NO_PEER, 0);
    rank(0, 0), in(F_RECV, 1, 0, 0);
    const struct fv_hang *h = judge();
    assert_int_equal(h->stuck, 0);
    assert_headline("Killed; if it hung before: rank 1 waits for rank 0, which is in MPI_Win_fence");
}

static void finalize(void **state)
{
    (void)state;
    rank(0, 0), in(F_FINALIZE, 0, FV_NO_PEER, 0);
    rank(0, 0), in(F_RECV, 1, 0, 0);
    assert_cycle(judge(), 2, 2, (uint32_t[]){ 0, 1 });
    assert_text(0, "rank 0 in MPI_Finalize waits for rank 1 to call it, too");
}

/* Killed before its file said so, it has finalized. */
static void came_back_from_finalize(void **state)
{
    char text[600];
    (void)state;
    rank(0, 0), in(F_FINALIZE, 0, FV_NO_PEER, 0);
    rank(0, 0), returned_from_finalize();
    rank(0, 0), in(F_FINALIZE, 0, FV_NO_PEER, 0);
    const struct fv_hang *h = judge();
    assert_int_equal(h->ranks[1].state, FV_HANG_ENDED);
    assert_int_equal(h->ranks[0].state, FV_HANG_MATCHED);
    assert_int_equal(h->waiting, 0);
    assert_null(strstr(fv_hang_headline(&model, text, sizeof(text)), "rank 1"));
    assert_text(1, "rank 1 has finalized");
}

static void exits(unsigned after_ms)
{
    file[ranks - 1].header.state = FV_STATE_EXITED;
    file[ranks - 1].header.end_ticks = START + after_ms * MS;
}

/* Within a call: MPI lets them exit when its launcher has died. */
static void exited_together(void **state)
{
    (void)state;
    rank(0, 0), in(F_RECV, 1, 1, 5), exits(9000);
    rank(0, 0), outside(), exits(9100);
    const struct fv_hang *h = judge();
    assert_int_equal(h->ranks[0].state, FV_HANG_WAITS);
    assert_int_equal(h->ranks[1].state, FV_HANG_ACTIVE);
    assert_headline("Ended without MPI_Finalize: rank 0 waits for rank 1, which is outside of MPI");
}

static void asks(uint32_t rank, double seconds)
{
    struct fv_rank *r = &model.ranks[rank];

    for (size_t i = 0; i < model.function_count; i++)
        if (!strcmp(model.functions[i].name, "MPI_Test"))
            r->in_call.function = (uint32_t)i;
    r->in_vain_s = seconds;
    r->polled_s = 20;
}

static void judge_again(void)
{
    fv_hang_release((void *)(uintptr_t)fv_model_hang(&model));
    free((void *)(uintptr_t)fv_model_hang(&model));
    fv_hang_build(&model);
}

extern fv_find_fn fv_find_hang;

static void assert_evidence(enum fv_evidence evidence)
{
    struct fv_symbols symbols = { 0 };
    struct fv_findings findings = { .current = fv_finding_defs };
    const struct fv_profile view = { &model, &symbols, NULL, &findings, 0 };

    fv_find_hang(&view, &findings);
    assert_int_equal(findings.count, 1);
    assert_int_equal(findings.items[0].evidence, evidence);
    fv_findings_release(&findings);
}

static void one_asks(void **state)
{
    (void)state;
    rank(0, 0), in(F_RECV, 1, 1, 5);
    rank(0, 0), outside();
    judge();
    asks(1, 9);
    judge_again();
    assert_int_equal(fv_model_hang(&model)->ranks[1].state, FV_HANG_ACTIVE);
    asks(1, 15);
    judge_again();
    assert_int_equal(fv_model_hang(&model)->ranks[1].state, FV_HANG_ASKS);
    assert_int_equal(fv_model_hang(&model)->asking, 1);
    model.ranks[1].polled_s = 0; /* it computes between */
    judge_again();
    assert_int_equal(fv_model_hang(&model)->ranks[1].state, FV_HANG_ACTIVE);
    model.ranks[1].asks_blocked_s = 20; /* it sleeps */
    judge_again();
    assert_int_equal(fv_model_hang(&model)->ranks[1].state, FV_HANG_ASKS);
    assert_headline("Killed; if it hung before: rank 0 waits for rank 1, which is asking in vain with MPI_Test, for "
                    "15.0 s");
}

static void all_ask(void **state)
{
    (void)state;
    rank(0, 0), outside();
    rank(0, 0), outside();
    judge();
    asks(0, 15);
    judge_again();
    assert_int_equal(fv_model_hang(&model)->asking, 0); /* the other one may compute */
    asks(0, 15), asks(1, 16);
    judge_again();
    assert_int_equal(fv_model_hang(&model)->asking, 2);
    assert_headline("Killed: ranks 0 and 1 ask in vain whether something has come, for 15.0 s");
    assert_evidence(FV_EVIDENCE_ESTIMATE); /* for what, may be no matter of MPI */
}

static void exited_before(void **state)
{
    (void)state;
    rank(0, 0), in(F_RECV, 1, 1, 5), exits(29000);
    rank(0, 0), outside(), exits(9100);
    judge();
    assert_text(1, "rank 1 exited without MPI_Finalize");
}

/* The chain of waits ends at a rank that has no file: its node is dead. */
static void a_rank_without_a_file(void **state)
{
    (void)state;
    lost = 1;
    rank(0, 0), in(F_RECV, 1, 3, 5);
    rank(0, 0), in(F_RECV, 1, 0, 7);
    rank(0, 0), in(F_RECV, 1, 0, 7);
    judge();
    assert_text(0, "rank 0 in MPI_Recv, which waits for rank 3, which has no rank file");
    assert_headline("Killed; if it hung before: 2 ranks wait for rank 0, which is in MPI_Recv, which waits for rank 3, "
                    "which has no rank file; rank 3 has no rank file: it did not start, the "
                    "node failed, or its files are not gathered");
}

static void itself(void **state)
{
    (void)state;
    rank(0, 0), in(F_RECV, 1, 0, 0);
    rank(0, 0), outside();
    assert_cycle(judge(), 1, 1, (uint32_t[]){ 0 });
    assert_headline("Killed; if it hung before: rank 0 waits for itself");
}

/* Its other thread may send yet. */
static void threads(void **state)
{
    const struct fv_in_call call = { .begin = START + 100 * MS, .function = F_RECV, .comm = 1, .peer = 1 };
    (void)state;

    rank(0, 0), in(F_RECV, 1, 1, 0);
    fvr_thread(&file[0], 1, false, 1, MS, NULL);
    rank(0, 0), in(F_RECV, 1, 0, 0);
    rank(0, 0), in(F_RECV, 1, 1, 0);
    fvr_thread(&file[2], 1, false, 1, MS, &call);
    const struct fv_hang *h = judge();
    assert_int_equal(h->stuck, 0);
    assert_true(h->ranks[0].other_threads);
    assert_int_equal(h->ranks[2].state, FV_HANG_WAITS);
    assert_text(0, "rank 0 in MPI_Recv, with other threads outside of MPI");
}

static void aborted(void **state)
{
    (void)state;
    rank(0, 0), in(F_RECV, 1, 1, 0);
    rank(0, 0), in(F_RECV, 1, 0, 0);
    file[1].header.state = FV_STATE_ABORTED;
    file[1].header.exit_code = 5;
    for (int i = 0; i < 2; i++)
        fvr_join(&file[i], &experiment);
    fv_experiment_choose(&experiment);
    fv_model_build(&model, NULL, &experiment, false);
    assert_null(fv_model_hang(&model));
    assert_headline("Aborted: rank 1 called MPI_Abort with error code 5");
}

/* ---- of a job that runs ---- */

/* The last rank's process is that one, which runs on this host. */
static void is_process(pid_t pid)
{
    struct fv_file_header *h = &file[ranks - 1].header;
    struct fv_process p;

    assert_true(fv_process_read(pid, &p));
    assert_true(fv_boot_id(h->boot_id));
    h->pid = (uint32_t)pid;
    h->process_start = p.start;
}

/* It had come to the barrier, and is missing all the same. */
static void a_rank_that_died_in_a_collective(void **state)
{
    (void)state;
    rank(0, 0), in(F_BARRIER, 1, FV_NO_PEER, 0), is_process(getpid());
    rank(0, 0), in(F_BARRIER, 1, FV_NO_PEER, 0);
    const struct fv_hang *h = judge();
    assert_int_equal(h->ranks[0].state, FV_HANG_WAITS);
    assert_int_equal(h->ranks[1].state, FV_HANG_DEAD);
    assert_true(h->ranks[0].stuck);
    assert_headline("Still running: rank 0 waits for rank 1, which is dead: killed in MPI_Barrier");
}

static void a_rank_that_died_in_a_send(void **state)
{
    (void)state;
    rank(0, 0), in(F_RECV, 1, 1, 5), is_process(getpid());
    rank(0, 0), in(F_SEND, 1, 0, 5);
    judge();
    assert_headline("Still running: rank 0 waits for rank 1, which is dead: killed in MPI_Send");
}

/* A process that is stopped. */
static pid_t stop_one(void)
{
    pid_t pid = fork();

    if (!pid) {
        raise(SIGSTOP);
        _exit(0);
    }
    assert_int_equal(waitpid(pid, NULL, WUNTRACED), pid);
    return pid;
}

static void end_one(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

static void a_rank_that_is_stopped_in_a_collective(void **state)
{
    pid_t stopped = stop_one();
    (void)state;

    rank(0, 0), in(F_BARRIER, 1, FV_NO_PEER, 0), is_process(getpid());
    rank(0, 0), in(F_BARRIER, 1, FV_NO_PEER, 0), is_process(stopped);
    const struct fv_hang *h = judge();
    end_one(stopped);
    assert_int_equal(h->cycle_count, 0);
    assert_int_equal(h->ranks[1].state, FV_HANG_STOPPED);
    assert_headline("Still running: rank 0 waits for rank 1, which is stopped (SIGSTOP), in MPI_Barrier");
}

/* It would wait, too, if it ran. */
static void a_rank_that_is_stopped_and_waits(void **state)
{
    pid_t stopped = stop_one();
    (void)state;

    rank(0, 0), in(F_RECV, 1, 1, 5), is_process(getpid());
    rank(0, 0), in(F_RECV, 1, 0, 7), is_process(stopped);
    const struct fv_hang *h = judge();
    end_one(stopped);
    assert_cycle(h, 2, 2, (uint32_t[]){ 0, 1 });
    assert_int_equal(h->ranks[1].state, FV_HANG_WAITS);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(each_receives_from_the_other),
        TEST(a_message_under_way_is_no_cycle),
        TEST(tags_and_communicators_must_fit),
        TEST(a_barrier_that_one_misses),
        TEST(who_is_in_another_call_than_the_others),
        TEST(who_is_on_another_communicator_than_the_others),
        TEST(whose_call_does_not_fit),
        TEST(a_barrier_that_cannot_end),
        TEST(the_barrier_before),
        TEST(two_communicators_in_another_order),
        TEST(all_have_come),
        TEST(roots),
        TEST(a_root_that_is_missing),
        TEST(killed_long_after),
        TEST(killed_long_after_a_message_came),
        TEST(calls_that_do_not_fit),
        TEST(any_source),
        TEST(any_source_that_somebody_may_serve),
        TEST(any_source_of_unknown_members),
        TEST(nobody_is_left_to_serve),
        TEST(requests),
        TEST(hostile_requests),
        TEST(not_recorded),
        TEST(finalize),
        TEST(came_back_from_finalize),
        TEST(exited_together),
        TEST(exited_before),
        TEST(one_asks),
        TEST(all_ask),
        TEST(a_rank_without_a_file),
        TEST(itself),
        TEST(threads),
        TEST(aborted),
        TEST(a_rank_that_died_in_a_collective),
        TEST(a_rank_that_died_in_a_send),
        TEST(a_rank_that_is_stopped_in_a_collective),
        TEST(a_rank_that_is_stopped_and_waits),
    };
    return cmocka_run_group_tests(tests, set_up, NULL);
}
