/* Calling contexts: nodes and unwind distances of made-up events, with known answers and of random ones, and one
 * numbering of all locations, whatever the processes. */
#include "merge/calling.h"
#include "unit.h"

/* Regions; source lines are the nodes' own. */
enum { SEND, PHASE, STEP, MAIN, SOLVE, KERNEL, REGIONS };
static const char *const names[] = { "send", "phase", "step", "main", "solve", "kernel" };

/* main:1 > solve:2 > kernel:3, solve:4 > kernel:5; main:6 > solve:7; solve, called by nobody. */
enum { MAIN_1, SOLVE_2, KERNEL_3, SOLVE_4, KERNEL_5, MAIN_6, SOLVE_7, SOLVE_8, BASE };
static const struct fv_calling_node base[] = { { FV_NONE, MAIN, 0 }, { MAIN_1, SOLVE, 0 },   { SOLVE_2, KERNEL, 0 },
                                               { MAIN_1, SOLVE, 0 }, { SOLVE_4, KERNEL, 0 }, { FV_NONE, MAIN, 0 },
                                               { MAIN_6, SOLVE, 0 }, { FV_NONE, SOLVE, 0 } };

static struct fv_calling calling;
static char said[4096];

static int start(void **state)
{
    (void)state;
    fv_calling_init(&calling, base, BASE);
    said[0] = '\0';
    return 0;
}

static int stop(void **state)
{
    (void)state;
    fv_calling_release(&calling);
    return 0;
}

/* Unified: a path with the lines of its frames, by the number in all. */
static void say_path(uint32_t node)
{
    const struct fv_calling_node *n = node < BASE ? &calling.base[node] : &calling.nodes[node - BASE];
    uint32_t line = node < BASE ? node : n->like;
    char word[32];

    if (n->parent != FV_NONE) {
        say_path(n->parent);
        strcat(said, ">");
    }
    snprintf(word, sizeof(word), line == FV_NONE ? "%s" : "%s:%u", names[n->region], line + 1);
    strcat(said, word);
}

/* What the first location's node is, once unified. */
static const char *path(uint32_t node)
{
    said[0] = '\0';
    say_path(node < BASE ? node : calling.locations[0].global[node - BASE]);
    return said;
}

static void assert_event(struct fv_calling_event e, const char *wanted, uint32_t distance)
{
    assert_string_equal(path(e.node), wanted);
    assert_int_equal(e.distance, distance);
}

static void calls_and_samples(void **state)
{
    struct fv_calling_event e[9];
    size_t l = fv_calling_open(&calling, 7);
    uint32_t left;

    (void)state;
    e[0] = fv_calling_sample(&calling, l, KERNEL_3);
    e[1] = fv_calling_sample(&calling, l, KERNEL_3);
    e[2] = fv_calling_sample(&calling, l, KERNEL_5); /* solve goes on, at another line */
    e[3] = fv_calling_enter(&calling, l, FV_CALLING_CALL, SOLVE_2, SEND);
    e[4] = fv_calling_sample(&calling, l, KERNEL_3); /* in the call: it is the call's */
    left = fv_calling_leave(&calling, l);
    e[8] = fv_calling_enter(&calling, l, FV_CALLING_CALL, SOLVE_2, SEND); /* it was left */
    fv_calling_leave(&calling, l);
    e[5] = fv_calling_sample(&calling, l, SOLVE_2);
    e[6] = fv_calling_sample(&calling, l, SOLVE_8); /* of another thread function: all was left */
    e[7] = fv_calling_enter(&calling, l, FV_CALLING_CALL, FV_NONE, SEND);
    fv_calling_leave(&calling, l);
    fv_calling_close(&calling, l);
    fv_calling_unify(&calling, &fv_transport_alone);
    assert_event(e[0], "main:1>solve:2>kernel:3", 4);
    assert_event(e[1], "main:1>solve:2>kernel:3", 1);
    assert_event(e[2], "main:1>solve:4>kernel:5", 2);
    assert_event(e[3], "main:1>solve:2>send", 2);
    assert_event(e[4], "main:1>solve:2>send", 1);
    assert_int_equal(left, e[3].node);
    assert_event(e[5], "main:1>solve:2", 1);
    assert_event(e[6], "solve:8", 2);
    assert_event(e[7], "send", 2);
    assert_event(e[8], "main:1>solve:2>send", 2);
    assert_int_equal(calling.locations[0].location, 7);
    assert_int_equal(calling.node_count, 2);
}

static void measured_functions(void **state)
{
    struct fv_calling_event e[6];
    size_t l = fv_calling_open(&calling, 0);

    (void)state;
    e[0] = fv_calling_sample(&calling, l, SOLVE_2);
    e[1] = fv_calling_enter(&calling, l, FV_CALLING_FUNCTION, MAIN_1, SOLVE); /* another call of solve */
    e[2] = fv_calling_sample(&calling, l, KERNEL_3);
    e[3] = fv_calling_enter(&calling, l, FV_CALLING_CALL, SOLVE_4, SEND);
    fv_calling_leave(&calling, l);
    e[4] = fv_calling_sample(&calling, l, SOLVE_7); /* not called from there: it is in solve all the same */
    e[5] = fv_calling_enter(&calling, l, FV_CALLING_CALL, SOLVE_7, SEND);
    fv_calling_leave(&calling, l);
    fv_calling_leave(&calling, l);
    fv_calling_close(&calling, l);
    fv_calling_unify(&calling, &fv_transport_alone);
    assert_event(e[0], "main:1>solve:2", 3);
    assert_event(e[1], "main:1>solve", 2);
    assert_event(e[2], "main:1>solve:2>kernel:3", 2);
    assert_event(e[3], "main:1>solve:4>send", 2);
    assert_event(e[4], "main:1>solve", 1);
    assert_event(e[5], "main:1>solve>send", 2);
}

static void sections(void **state)
{
    struct fv_calling_event e[7];
    size_t l = fv_calling_open(&calling, 0);

    (void)state;
    e[0] = fv_calling_enter(&calling, l, FV_CALLING_SECTION, FV_NONE, PHASE);
    e[1] = fv_calling_sample(&calling, l, KERNEL_3);
    e[2] = fv_calling_enter(&calling, l, FV_CALLING_FUNCTION, MAIN_1, SOLVE);
    e[3] = fv_calling_enter(&calling, l, FV_CALLING_SECTION, FV_NONE, STEP);
    e[4] = fv_calling_sample(&calling, l, KERNEL_5); /* main and solve stand around it already */
    e[5] = fv_calling_enter(&calling, l, FV_CALLING_CALL, KERNEL_5, SEND);
    for (int i = 0; i < 4; i++)
        fv_calling_leave(&calling, l);
    e[6] = fv_calling_sample(&calling, l, KERNEL_3);
    fv_calling_close(&calling, l);
    fv_calling_unify(&calling, &fv_transport_alone);
    assert_event(e[0], "phase", 2);
    assert_event(e[1], "phase>main:1>solve:2>kernel:3", 4);
    assert_event(e[2], "phase>main:1>solve", 2);
    assert_event(e[3], "phase>main:1>solve>step", 2);
    assert_event(e[4], "phase>main:1>solve>step>kernel:5", 2);
    assert_event(e[5], "phase>main:1>solve>step>kernel:5>send", 2);
    assert_event(e[6], "main:1>solve:2>kernel:3", 4);
}

/* ---- random events: what an unwind distance promises ---- */

static bool is_around(const uint32_t *parents, uint32_t around, uint32_t node)
{
    while (node != around && node != FV_NONE)
        node = parents[node];
    return node == around;
}

static uint32_t next_random(uint32_t *seed)
{
    *seed = *seed * 1664525 + 1013904223;
    return *seed >> 16;
}

static void random_events(void **state)
{
    struct fv_calling_event events[20000];
    uint32_t left[20000], open[16], depth = 0, seed = 5, last = FV_NONE;
    size_t count = sizeof(left) / sizeof(left[0]), l = fv_calling_open(&calling, 0);

    (void)state;
    for (size_t i = 0; i < count; i++) {
        uint32_t r = next_random(&seed), at = next_random(&seed) % (BASE + 1);

        left[i] = FV_NONE;
        at = at == BASE ? FV_NONE : at;
        if (depth && r % 3 == 0)
            left[i] = fv_calling_leave(&calling, l), depth--;
        else if (depth < 16 && r % 3 == 1)
            events[i] = fv_calling_enter(&calling, l, r / 3 % 3, at, r / 9 % REGIONS), depth++;
        else
            events[i] = fv_calling_sample(&calling, l, at);
    }
    fv_calling_close(&calling, l);
    fv_calling_unify(&calling, &fv_transport_alone);
    size_t all = BASE + calling.node_count;
    uint32_t *parents = fv_xcalloc(all, sizeof(*parents));
    for (size_t i = 0; i < all; i++)
        parents[i] = i < BASE ? base[i].parent : calling.nodes[i - BASE].parent;
    depth = 0;
    seed = 5;
    for (size_t i = 0; i < count; i++) {
        uint32_t r = next_random(&seed), node = left[i] == FV_NONE ? events[i].node : left[i];

        next_random(&seed);
        node = node == FV_NONE || node < BASE ? node : calling.locations[0].global[node - BASE];
        if (left[i] != FV_NONE) {
            assert_int_equal(node, open[--depth]);
            last = parents[node];
            continue;
        }
        uint32_t to = node;
        for (uint32_t k = 0; k < events[i].distance; k++) {
            assert_true(to != FV_NONE || k + 1 == events[i].distance);
            to = to == FV_NONE ? FV_NONE : parents[to];
        }
        assert_true(to == FV_NONE || is_around(parents, to, last));
        if (depth && parents[open[depth - 1]] != FV_NONE)
            assert_true(is_around(parents, parents[open[depth - 1]], to));
        if (depth < 16 && r % 3 == 1)
            open[depth++] = node;
        last = node;
    }
    free(parents);
}

/* ---- several processes ---- */

static void rank_events(struct fv_calling *c, uint32_t rank)
{
    size_t l = fv_calling_open(c, rank);

    for (uint32_t i = 0; i < 3; i++) {
        fv_calling_enter(c, l, FV_CALLING_SECTION, FV_NONE, rank % 2 ? PHASE : STEP);
        fv_calling_sample(c, l, (rank + i) % BASE);
        fv_calling_leave(c, l);
    }
    fv_calling_close(c, l);
}

/* Two processes of which the other one's half is prepared: what it sends, and what it must get. */
struct other {
    const struct fv_calling *calling;
    size_t at; /* in what it sends */
    struct fv_bytes sends, gets;
};

static void to_other(const struct fv_transport *t, int to, const void *data, size_t bytes)
{
    struct other *o = t->context;

    assert_int_equal(to, 1);
    fv_bytes_put(&o->gets, data, bytes);
}

static void from_other(const struct fv_transport *t, int from, void *data, size_t bytes)
{
    struct other *o = t->context;

    assert_int_equal(from, 1);
    assert_that(o->at + bytes, <=, o->sends.count);
    memcpy(data, o->sends.data + o->at, bytes);
    o->at += bytes;
}

static void to_first(const struct fv_transport *t, int to, const void *data, size_t bytes)
{
    struct other *o = t->context;

    assert_int_equal(to, 0);
    fv_bytes_put(&o->sends, data, bytes);
}

static void nothing(const struct fv_transport *t, int from, void *data, size_t bytes)
{
    (void)t, (void)from;
    memset(data, 0, bytes);
}

static void two_processes(void **state)
{
    struct other other = { 0 };
    struct fv_transport first = { 0, 2, &other, to_other, from_other }, second = { 1, 2, &other, to_first, nothing };
    struct fv_calling one, half[2];

    (void)state;
    fv_calling_init(&one, base, BASE);
    for (uint32_t rank = 0; rank < 4; rank++)
        rank_events(&one, rank);
    fv_calling_unify(&one, &fv_transport_alone);
    for (uint32_t i = 0; i < 2; i++) {
        fv_calling_init(&half[i], base, BASE);
        rank_events(&half[i], 2 * i);
        rank_events(&half[i], 2 * i + 1);
    }
    fv_calling_unify(&half[1], &second); /* what it would send */
    fv_calling_unify(&half[0], &first);
    assert_int_equal(half[0].node_count, one.node_count);
    assert_memory_equal(half[0].nodes, one.nodes, one.node_count * sizeof(*one.nodes));
    size_t at = sizeof(uint64_t); /* behind the length */
    for (uint32_t rank = 0; rank < 4; rank++) {
        size_t bytes = one.locations[rank].count * sizeof(uint32_t);

        if (rank < 2) {
            assert_memory_equal(half[0].locations[rank].global, one.locations[rank].global, bytes);
        } else {
            assert_memory_equal(other.gets.data + at, one.locations[rank].global, bytes);
            at += bytes;
        }
    }
    assert_int_equal(at, other.gets.count);
    fv_calling_release(&half[0]);
    fv_calling_release(&half[1]);
    fv_calling_release(&one);
    free(other.sends.data);
    free(other.gets.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(calls_and_samples, start, stop),
        cmocka_unit_test_setup_teardown(measured_functions, start, stop),
        cmocka_unit_test_setup_teardown(sections, start, stop),
        cmocka_unit_test_setup_teardown(random_events, start, stop),
        cmocka_unit_test_setup_teardown(two_processes, start, stop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
