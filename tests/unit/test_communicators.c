/* Communicators, windows and files of the runtime with known answers: ids, members, thousands of them, peers. */
#include "rt_calls.h"

#include <limits.h>
#include <pthread.h>

static void test_communicator_ids(void **state)
{
    static const int world[] = { 0, 1, 2, 3 }, even[] = { 0, 2 }, odd[] = { 1, 3 }, back[] = { 3, 2, 1, 0 };
    (void)state;

    struct fv_comm *w = comm_of(0x10, NULL, world, 4, FV_COMM_WORLD);
    assert_int_equal(w->uid, 1);
    assert_ptr_equal(fv_comm_find(0x10), w);
    struct fv_comm *a = comm_of(0x11, w, even, 2, 0);
    w->children--; /* the other colour of the same split, as another rank sees it */
    struct fv_comm *b = comm_of(0x12, w, odd, 2, 0);
    struct fv_comm *c = comm_of(0x13, w, back, 4, 0);
    assert_true(a->uid != b->uid && b->uid != c->uid && a->uid != c->uid);
    assert_int_equal(fv_comm_peer_world(a, 1), 2);
    assert_int_equal(fv_comm_peer_world(c, 0), 3);
    assert_int_equal(fv_comm_peer_world(c, 3), 0);
    assert_int_equal(fv_comm_peer_world(c, 4), -1);
    assert_int_equal(fv_comm_peer_world(c, -1), -1);
    assert_true(fv_comm_freed(fv_comm_find(0x11), fv_ticks()));
    assert_null(fv_comm_find(0x11));
    struct fv_comm *freed = comm_of(0x11, w, even, 2, 0);
    uint64_t began = fv_ticks();
    struct fv_comm *again = comm_of(0x11, w, even, 2, 0);
    assert_ptr_equal(fv_comm_find(0x11), again);
    assert_that(again->uid, !=, a->uid);
    assert_true(fv_comm_freed(freed, began)); /* the old one's free, come late: known, and the new one stays */
    assert_ptr_equal(fv_comm_find(0x11), again);
}

/* Members without any order: thousands of runs, all found, and a duplicate that looks at none of them. */
static void test_scattered_members(void **state)
{
    enum { RANKS = 4096, MEMBERS = 3000 };
    static int ranks[MEMBERS];
    struct fv_comm *w = fv_comm_find(0x10);
    (void)state;

    for (int i = 0; i < MEMBERS; i++)
        ranks[i] = (int)((unsigned)i * i * 7 + 3) % RANKS; /* strides that change at each step */
    for (int n = 1; n <= MEMBERS; n = n < 70 ? n + 1 : n * 3 + 1) {
        struct fv_comm *c = comm_of(0x14, w, ranks, n, 0), *d = fv_comm_dup(0x15, c, fv_comm_next_child(c));

        assert_true(n < 20 || c->runs >= (unsigned)n / 4);
        for (int i = 0; i < n; i++) {
            assert_int_equal(fv_comm_peer_world(c, i), ranks[i]);
            assert_int_equal(fv_comm_peer_world(d, i), ranks[i]);
        }
        assert_int_equal(fv_comm_peer_world(c, n), -1);
        assert_int_equal(fv_comm_peer_world(c, INT_MAX), -1);
        assert_int_equal(fv_comm_peer_world(c, -1), -1);
        assert_int_equal(d->size, n);
        assert_int_equal(d->record->runs, c->runs);
        assert_memory_equal(d->record->run, c->record->run, c->runs * sizeof(c->run[0]));
        /* The same as a rank that counted the members itself: the uid must not tell which way was taken. */
        c->children--;
        uint64_t uid = d->uid;
        assert_int_equal(comm_of(0x15, c, ranks, n, 0)->uid, uid);
    }
}

/* As each of its ranks describes them. Some list the members, and with them all of their group; the others
 * know theirs all the same. */
static void test_scattered_members_are_listed_by_some(void **state)
{
    enum { MEMBERS = 512 };
    static int ranks[MEMBERS], others[MEMBERS];
    struct fv_comm_info info = { .handle = 0x18, .size = MEMBERS, .world_ranks = ranks, .salt = 5 };
    uint64_t bytes = 0;
    int listers = 0, first_half = 0;
    (void)state;

    for (int i = 0; i < MEMBERS; i++) {
        ranks[i] = i * i % 4093;
        others[i] = -1;
    }
    for (info.rank = 0; info.rank < MEMBERS; info.rank++) {
        struct fv_comm *c = fv_comm_new(&info), *d = fv_comm_dup(0x19, c, 0);
        bool listed = c->record->runs > 0;

        assert_int_equal(c->record->flags & FV_COMM_UNLISTED, listed ? 0 : FV_COMM_UNLISTED);
        assert_int_equal(d->record->flags & FV_COMM_UNLISTED, c->record->flags & FV_COMM_UNLISTED);
        assert_int_equal(d->record->bytes, c->record->bytes);
        assert_int_equal(fv_comm_peer_world(d, 77), ranks[77]);
        assert_int_equal(fv_comm_peer_world(c, MEMBERS - 1), ranks[MEMBERS - 1]);
        assert_int_equal(fv_comm_peer_world(c, MEMBERS), -1);
        listers += listed;
        first_half += listed && info.rank < MEMBERS / 2;
        bytes += c->record->bytes;
    }
    assert_in_range(listers, 4, 9);
    assert_in_range(first_half, 2, listers - 2);
    assert_that(bytes, <, MEMBERS * (sizeof(struct fv_comm_record) + 64));
    info.rank = 1;
    info.remote_size = MEMBERS;
    info.remote_world_ranks = others; /* of another MPI_COMM_WORLD, whose files are not among these */
    assert_that(fv_comm_new(&info)->record->remote_runs, >, 0);
    info.remote_world_ranks = ranks;
    assert_int_equal(fv_comm_new(&info)->record->remote_runs, 0);
    assert_int_equal(fv_comm_peer_world(fv_comm_find(0x18), 77), ranks[77]);
    info.flags = FV_COMM_INFERRED;
    info.handle = 0x1a;
    assert_that(fv_comm_new(&info)->record->runs, >, 0); /* the uid is this rank's alone */
}

static void test_duplicate_of_an_intercommunicator(void **state)
{
    static const int mine[] = { 2, 0 }, theirs[] = { 3, 1 };
    struct fv_comm_info info = { .handle = 0x16,
                                 .parent = fv_comm_find(0x10),
                                 .flags = FV_COMM_INTER,
                                 .rank = 1,
                                 .size = 2,
                                 .remote_size = 2,
                                 .world_ranks = mine,
                                 .remote_world_ranks = theirs };
    struct fv_comm *c = fv_comm_new(&info), *d = fv_comm_dup(0x17, c, fv_comm_next_child(c));
    (void)state;

    assert_int_equal(d->flags, FV_COMM_INTER);
    assert_int_equal(d->rank, 1);
    assert_int_equal(d->remote_size, 2);
    assert_int_equal(fv_comm_peer_world(d, 0), 3);
    assert_int_equal(fv_comm_peer_world(d, 1), 1);
    assert_memory_equal(d->record->run, c->record->run, 2 * sizeof(c->run[0]));
    assert_that(d->uid, !=, c->uid);
}

static void test_thousands_of_communicators(void **state)
{
    static const int self[] = { 0 };
    struct fv_comm *w = fv_comm_find(0x10);
    (void)state;

    for (int i = 0; i < 40000; i++) {
        struct fv_comm *c = comm_of(0x1000 + (uint64_t)(i % 3), w, self, 1, 0);
        assert_non_null(c);
        assert_ptr_equal(fv_comm_find(0x1000 + (uint64_t)(i % 3)), c);
        fv_comm_freed(c, fv_ticks());
    }
    assert_that(fv_rt.writer.header->dropped[FV_DROP_COMMS], >, 0); /* over budget, counted, still working */
}

static void test_many_collectives(void **state)
{
    static const int self[] = { 0 };
    struct fv_comm *c = comm_of(0x5000, fv_comm_find(0x10), self, 1, 0);
    (void)state;

    c->collectives = UINT32_MAX;
    assert_int_equal(fv_comm_collective(c), UINT32_MAX);
    assert_that(fv_comm_collective(c), ==, UINT64_C(1) << 32);
    if (c->record) /* none, over budget */
        assert_that(c->record->collectives, ==, (UINT64_C(1) << 32) + 1);
    fv_comm_freed(c, fv_ticks());
}

static unsigned windows_made; /* threads that are through */

/* Odd handles and even ones, one thread each: a few again and again, which moves others, and many once. */
static void *makes_windows(void *first)
{
    void *wrong = NULL;

    for (int round = 0; round < 1001; round++) {
        uint64_t many = round < 1000 ? 10 : 4000;

        for (uint64_t i = 0; i < many; i++)
            fv_owner_add(FV_OWNED_WINDOW, *(uint64_t *)first + 2 * i,
                         (struct fv_owner){ .comm = fv_comm_find(1), .number = i + 1 });
        for (uint64_t i = 0; i < many; i++) {
            struct fv_owner owner = fv_owner_of(FV_OWNED_WINDOW, *(uint64_t *)first + 2 * i);

            if (!fv_owner_remove(FV_OWNED_WINDOW, &owner) || owner.number != i + 1)
                wrong = first;
        }
    }
    __atomic_add_fetch(&windows_made, 1, __ATOMIC_RELEASE);
    return wrong;
}

/* What is there is found at any time, while others come and go, which moves it. */
static void test_windows_of_threads(void **state)
{
    const uint64_t stays = 77;
    uint64_t first[2] = { 1000, 1001 };
    pthread_t thread[2];
    void *wrong;
    (void)state;

    struct fv_comm *comm = fv_comm_get(1);
    const uint64_t dropped = fv_rt.writer.header->dropped[FV_DROP_COMMS];
    assert_non_null(comm);
    fv_owner_add(FV_OWNED_WINDOW, stays, (struct fv_owner){ .comm = comm, .number = 5 });
    for (int i = 0; i < 2; i++)
        pthread_create(&thread[i], NULL, makes_windows, &first[i]);
    for (uint64_t i = 0; __atomic_load_n(&windows_made, __ATOMIC_ACQUIRE) < 2; i++) {
        fv_owner_add(FV_OWNED_WINDOW, 100 + i % 10, (struct fv_owner){ .comm = comm, .number = i });
        struct fv_owner owner;
        for (int look = 0; look < 1000; look++) {
            owner = fv_owner_of(FV_OWNED_WINDOW, 100 + i % 10);
            if (owner.comm != comm || owner.number != i)
                fail_msg("round %u: lost", (unsigned)i);
        }
        fv_owner_remove(FV_OWNED_WINDOW, &owner);
    }
    for (int i = 0; i < 2; i++) {
        pthread_join(thread[i], &wrong);
        assert_null(wrong);
    }
    assert_null(fv_owner_of(FV_OWNED_WINDOW, 1000).comm);
    assert_null(fv_owner_of(FV_OWNED_FILE, stays).comm);
    const struct fv_owner before = fv_owner_of(FV_OWNED_WINDOW, stays);
    fv_owner_add(FV_OWNED_WINDOW, stays, (struct fv_owner){ .comm = comm, .number = 7 });
    assert_false(fv_owner_remove(FV_OWNED_WINDOW, &before)); /* made since: another one */
    assert_int_equal(before.number, 5);
    const struct fv_owner after = fv_owner_of(FV_OWNED_WINDOW, stays);
    assert_int_equal(after.number, 7);
    assert_true(fv_owner_remove(FV_OWNED_WINDOW, &after));
    assert_false(fv_owner_remove(FV_OWNED_WINDOW, &after));
    assert_int_equal(fv_rt.writer.header->dropped[FV_DROP_COMMS], dropped);
    fv_owner_add(FV_OWNED_FILE, stays, (struct fv_owner){ .number = 6 });
    assert_int_equal(fv_rt.writer.header->dropped[FV_DROP_COMMS], dropped + 1);
}

static void test_peers(void **state)
{
    struct fv_comm *back = fv_comm_find(0x13);
    struct fv_call call;
    (void)state;

    for (int i = 0; i < 400; i++) {
        call_as(&call, 0, back, 8, 0, 1);
        fv_call_sent_to(&call, back, i % 4, 1, 8);
    }
    for (int i = 0; i < 300; i++)
        fv_peer_add(fv_self, 1000 + i, 1, 1);
    fv_peer_add(fv_self, 3, 0, 0);
    const struct fv_peer_record *p = fv_self->peers.last;
    assert_int_equal(p->world_rank, 3);
    assert_int_equal(p->messages, 100);
    assert_int_equal(p->bytes, 800);
    assert_int_equal(fv_self->peers.tail.count, 304);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_communicator_ids),
        cmocka_unit_test(test_scattered_members),
        cmocka_unit_test(test_scattered_members_are_listed_by_some),
        cmocka_unit_test(test_duplicate_of_an_intercommunicator),
        cmocka_unit_test(test_thousands_of_communicators),
        cmocka_unit_test(test_many_collectives),
        cmocka_unit_test(test_windows_of_threads),
        cmocka_unit_test(test_peers),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    small_budgets();
    int failed = cmocka_run_group_tests_name("communicators", tests, first_call, NULL);
    stub_remove();
    return failed;
}
