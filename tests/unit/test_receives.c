/* What the analysis holds back: receives until it is known which message each of them took, costs until they are
 * added up. */
#include "analysis/graph_costs.h"
#include "analysis/receives.h"
#include "trace/format.h"
#include "unit.h"

#define POSTED 2000

/* What is posted, and what came of it, for fv_receives to be compared with. */
struct receive {
    struct fv_envelope envelope;
    uint32_t handle;
    enum { NOT_POSTED, IS_OPEN, HAS_COME, IS_TOLD } state;
};
struct posted {
    struct receive all[POSTED]; /* in the order of posting */
    size_t count;
};

static bool same_or_any(uint32_t posted, uint32_t any, uint32_t message)
{
    return posted == any || posted == message;
}

static bool is_held(const struct posted *p, size_t at)
{
    const struct fv_envelope m = p->all[at].envelope;

    for (size_t i = 0; i < at; i++)
        if (p->all[i].state == IS_OPEN && p->all[i].envelope.comm == m.comm &&
            same_or_any(p->all[i].envelope.peer, (uint32_t)FV_ANY_PEER, m.peer) &&
            same_or_any(p->all[i].envelope.tag, FV_ANY_TAG, m.tag))
            return true;
    return false;
}

static void told(void *context, const struct fv_item *item)
{
    struct posted *p = context;
    const struct fv_envelope m = p->all[item->ns].envelope;

    assert_int_equal(p->all[item->ns].state, HAS_COME);
    p->all[item->ns].state = IS_TOLD;
    for (size_t i = 0; i < item->ns; i++)
        assert_false(p->all[i].state == HAS_COME && !memcmp(&p->all[i].envelope, &m, sizeof(m)));
}

static uint32_t some(uint32_t *seed, uint32_t below)
{
    *seed = *seed * 1664525 + 1013904223;
    return (*seed >> 8) % below;
}

static void post_some(struct posted *p, struct fv_receives *r, uint32_t *seed)
{
    struct receive *n = &p->all[p->count];
    const struct fv_item item = { .ns = p->count++ };
    bool now = !some(seed, 4);

    n->envelope = (struct fv_envelope){ some(seed, 2), some(seed, 3), some(seed, 3) };
    n->state = now ? HAS_COME : IS_OPEN;
    if (now) {
        fv_receives_now(r, n->envelope, &item);
        return;
    }
    if (!some(seed, 3))
        n->envelope.peer = (uint32_t)FV_ANY_PEER;
    if (!some(seed, 3))
        n->envelope.tag = FV_ANY_TAG;
    n->handle = fv_receives_post(r, n->envelope, &item);
}

static void end_some(struct posted *p, struct fv_receives *r, uint32_t *seed)
{
    struct receive *n = &p->all[p->count ? some(seed, (uint32_t)p->count) : 0];

    if (n->state != IS_OPEN)
        return;
    if (!some(seed, 8)) {
        n->state = NOT_POSTED;
        fv_receives_cancel(r, n->handle);
        return;
    }
    n->state = HAS_COME;
    if (n->envelope.peer == (uint32_t)FV_ANY_PEER)
        n->envelope.peer = some(seed, 3);
    if (n->envelope.tag == FV_ANY_TAG)
        n->envelope.tag = some(seed, 3);
    fv_receives_come(r, n->handle, n->envelope);
}

/* Told is what came and is held by nothing, at once, and in the order of posting. */
static void receives_are_held_no_longer_than_needed(void **state)
{
    struct posted *p = calloc(1, sizeof(*p));
    struct fv_receives r;
    uint32_t seed = 1;

    (void)state;
    fv_receives_init(&r, told, p);
    while (p->count < POSTED) {
        if (some(&seed, 3))
            end_some(p, &r, &seed);
        else
            post_some(p, &r, &seed);
        for (size_t i = 0; i < p->count; i++)
            assert_false(p->all[i].state == HAS_COME && !is_held(p, i));
    }
    fv_receives_rest(&r);
    for (size_t i = 0; i < p->count; i++)
        assert_int_not_equal(p->all[i].state, HAS_COME);
    fv_receives_release(&r);
    free(p);
}

static void count_told(void *context, const struct fv_item *item)
{
    assert_int_equal(item->ns, ++*(uint64_t *)context);
}

/* With one that stays open others cost no more memory, nor time: a quadratic loop runs into the time limit.
 */
static void many_receives_beside_an_open_one(void **state)
{
    const uint64_t many = 1000000;
    uint64_t count = 0;
    struct fv_receives r;

    (void)state;
    fv_receives_init(&r, count_told, &count);
    fv_receives_post(&r, (struct fv_envelope){ 1, (uint32_t)FV_ANY_PEER, 99 }, &(struct fv_item){ 0 });
    for (uint64_t i = 1; i <= many; i++) {
        struct fv_envelope e = { 1, 0, (uint32_t)i % 7 };

        fv_receives_come(&r, fv_receives_post(&r, e, &(struct fv_item){ .ns = i }), e);
    }
    assert_int_equal(count, many);
    assert_that(r.count, <=, 2);
    fv_receives_release(&r);
}

/* Costs of two lines, from their last call to the first: what is added to calls before, and to some far away. */
static void costs_are_added_up(void **state)
{
    enum { CALLS = 30000, FAR = 9973 };
    static double expected[2][CALLS];
    struct fv_graph_costs costs;
    (void)state;

    fv_graph_costs_init(&costs, 2);
    assert_true(fv_graph_costs_take(&costs, 1, 500) == 0);
    for (uint32_t call = CALLS; call-- > 0;)
        for (uint32_t line = 0; line < 2; line++) {
            assert_true(fv_graph_costs_take(&costs, line, call) == expected[line][call]);
            for (uint32_t back = 1; back <= FAR && back <= call; back = 3 * back + call % 7) {
                fv_graph_costs_add(&costs, 1 - line, call - back, back);
                expected[1 - line][call - back] += back;
            }
        }
    fv_graph_costs_add(&costs, 0, CALLS, 1);
    fv_graph_costs_release(&costs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(receives_are_held_no_longer_than_needed),
        cmocka_unit_test(many_receives_beside_an_open_one),
        cmocka_unit_test(costs_are_added_up),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
