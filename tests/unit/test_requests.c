/* Requests of the runtime with known answers: the map that holds them, persistent ones, counts of 32 bits. */
#include "rt_calls.h"

/* Counts of cells have 32 bits, and a program may receive for hours: a second cell goes on. */
static void test_full_cells(void **state)
{
    struct fv_call post, wait;
    struct fv_request r = { .handle = 21, .kind = FV_REQUEST_RECV };
    (void)state;

    call_as(&post, 3, NULL, 0, 0, 10);
    struct fv_cell *full = fv_cell_find(fv_self, post.path->path, 0, 3, fv_log2_bucket(64), 0).cell;
    full->receives = UINT32_MAX - 1;
    for (int i = 0; i < 3; i++) {
        fv_request_post(&post, &r);
        assert_true(fv_request_get(21, &r));
        call_as(&wait, 1, NULL, 0, 0, 10);
        fv_request_completed(&wait, &r, true, 64);
        r = (struct fv_request){ .handle = 21, .kind = FV_REQUEST_RECV };
    }
    const struct fv_cell *next = fv_cell_find(fv_self, post.path->path, 0, 3, fv_log2_bucket(64), 0).cell;
    assert_int_equal(full->receives, UINT32_MAX - 1);
    assert_ptr_not_equal(full, next);
    assert_int_equal(next->receives, 3);
}

static void start_again(struct fv_call *call, uint64_t handle, uint64_t now)
{
    struct fv_request known;

    assert_true(fv_request_get(handle, &known));
    fv_request_start(call, &known, now, 0);
}

/* Against a plain array, with keys that meet in the same places. */
static void test_map(void **state)
{
    enum { KEYS = 300 };
    struct entry {
        uint64_t key, value;
    } * e;
    struct fv_map map = { 0 };
    uint64_t expected[KEYS] = { 0 };
    uint32_t random = 1, there = 0;
    (void)state;

    assert_null(fv_map_find(&map, sizeof(*e), 1));
    for (uint32_t i = 1; i <= 100000; i++) {
        uint32_t k = (random = random * 1103515245u + 12345u) >> 8, which = k % KEYS;
        uint64_t key = (which + UINT64_C(1)) << 40;

        e = fv_map_find(&map, sizeof(*e), key);
        assert_int_equal(e ? e->value : 0, expected[which]);
        if (e && k & 1024) {
            fv_map_erase(&map, sizeof(*e), e);
            expected[which] = 0;
            there--;
        } else {
            there += !e;
            e = fv_map_add(&map, sizeof(*e), key, 1024);
            e->value = expected[which] = i;
        }
        assert_int_equal(map.used, there);
    }
    for (uint64_t key = 1; map.used < 512; key++)
        assert_non_null(fv_map_add(&map, sizeof(*e), key, 1024));
    assert_null(fv_map_add(&map, sizeof(*e), UINT64_MAX, 1024)); /* full; but who is there is found: */
    assert_non_null(fv_map_add(&map, sizeof(*e), 1, 1024));
    fv_memory_free(map.place, (map.mask + 1) * sizeof(*e));
}

static void test_requests(void **state)
{
    struct fv_call post, wait;
    struct fv_request r, recv = { .kind = FV_REQUEST_RECV };
    (void)state;

    call_as(&post, 0, NULL, 0, 0, 10);
    for (uint64_t i = 1; i <= 5000; i++) {
        recv.handle = i * 64;
        fv_request_post(&post, &recv);
    }
    assert_true(fv_requests_any());
    call_as(&wait, 1, NULL, 0, 0, 10);
    for (uint64_t i = 5000; i >= 1; i--) {
        assert_true(fv_request_get(i * 64, &r));
        fv_request_completed(&wait, &r, true, 3000);
        assert_false(fv_request_get(i * 64, &r));
    }
    assert_false(fv_requests_any());
    const struct fv_cell *c = fv_cell_find(fv_self, post.path->path, 0, 0, fv_log2_bucket(3000), 0).cell;
    assert_int_equal(c->bytes_received, 5000 * 3000);
    assert_int_equal(c->receives, 5000);
    assert_true(c->size_min == 3000 && c->size_max == 3000);
}

static void test_persistent_requests(void **state)
{
    struct fv_call start, wait;
    struct fv_request r, recv = { .handle = 7, .kind = FV_REQUEST_RECV, .persistent = 1 };
    (void)state;

    call_as(&start, 0, NULL, 0, 0, 10);
    fv_request_post(&start, &recv);
    for (int i = 0; i < 3; i++) {
        start_again(&start, 7, 7);
        assert_true(fv_request_get(7, &r) && r.active);
        call_as(&wait, 1, NULL, 0, 0, 10);
        fv_request_completed(&wait, &r, true, 40);
        assert_true(fv_request_get(7, &r) && !r.active);
    }
    fv_request_freed(&r);
    assert_false(fv_request_get(7, &r));
}

/* What one moves is known from its plan, so completions add nothing. */
static void test_persistent_collectives(void **state)
{
    struct fv_call start, wait;
    struct fv_request r,
        plan = { .handle = 8, .kind = FV_REQUEST_COLLECTIVE, .persistent = 1, .sent = 24, .received = 48 };
    (void)state;

    call_as(&start, 2, NULL, 0, 0, 10);
    fv_request_post(&start, &plan);
    assert_true(fv_request_get(8, &r) && !r.active && r.sent == 24 && r.received == 48);
    start_again(&start, 8, 9); /* MPI may replace a handle */
    assert_false(fv_request_get(8, &r));
    assert_true(fv_request_get(9, &r) && r.active);
    call_as(&wait, 1, NULL, 0, 0, 10);
    fv_request_completed(&wait, &r, true, 48);
    assert_true(fv_request_get(9, &r) && !r.active);
    const struct fv_cell *c = fv_cell_find(fv_self, start.path->path, 0, 2, fv_log2_bucket(48), 0).cell;
    assert_int_equal(c->bytes_received, 0);
    fv_request_freed(&r); /* inactive */
    assert_false(fv_request_get(9, &r));
    assert_false(fv_requests_any());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_full_cells),
        cmocka_unit_test(test_requests),
        cmocka_unit_test(test_persistent_requests),
        cmocka_unit_test(test_persistent_collectives),
        cmocka_unit_test(test_map),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    small_budgets();
    int failed = cmocka_run_group_tests_name("requests", tests, first_call, NULL);
    stub_remove();
    return failed;
}
