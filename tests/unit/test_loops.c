/* Loops of functions, found in their instructions: nested, packed, with tables, any. */
#include "symbols/loop_graph.h"
#include "symbols/loop_kinds.h"
#include "unit.h"

static struct fv_instruction at(uint64_t address, enum fv_flow flow, uint64_t target)
{
    return (struct fv_instruction){ .address = address, .target = target, .bytes = 1, .flow = flow };
}

static void nested_loops(void **state)
{
    (void)state;
    const struct fv_instruction list[] = {
        at(0, FV_FLOW_ON, 0),     at(1, FV_FLOW_JUMP, 4), at(2, FV_FLOW_NOTHING, 0), /* padding runs into the
                                                                                      * loop */
        at(3, FV_FLOW_ON, 0),                                                        /* outer header by 7 */
        at(4, FV_FLOW_ON, 0),                                                        /* inner header */
        at(5, FV_FLOW_BRANCH, 4), at(6, FV_FLOW_ON, 0),   at(7, FV_FLOW_BRANCH, 3),  at(8, FV_FLOW_BRANCH, 4),
        at(9, FV_FLOW_END, 0),
    };
    struct fv_loop_graph g;

    assert_int_equal(fv_loop_graph_build(&g, list, 10), 0);
    assert_int_equal(g.loop_count, 1); /* 3 does not dominate 7: all is one loop at 4 */
    assert_int_equal(g.blocks[g.loops[0].header].begin, 4);
    assert_int_equal(fv_loop_graph_loop_at(&g, 0), FV_NONE);
    assert_int_equal(fv_loop_graph_loop_at(&g, 6), 0);
    assert_int_equal(fv_loop_graph_loop_at(&g, 3), 0);
    assert_int_equal(fv_loop_graph_loop_at(&g, 9), FV_NONE);
    fv_loop_graph_release(&g);
}

static void loop_depths(void **state)
{
    (void)state;
    const struct fv_instruction list[] = {
        at(0, FV_FLOW_ON, 0),     at(1, FV_FLOW_ON, 0),     at(2, FV_FLOW_ON, 0),  at(3, FV_FLOW_BRANCH, 2),
        at(4, FV_FLOW_BRANCH, 8), at(5, FV_FLOW_BRANCH, 1), at(6, FV_FLOW_END, 0), at(7, FV_FLOW_NOTHING, 0),
        at(8, FV_FLOW_JUMP, 5), /* of the outer loop, behind the end */
    };
    struct fv_loop_graph g;

    assert_int_equal(fv_loop_graph_build(&g, list, 9), 0);
    assert_int_equal(g.loop_count, 2);
    assert_int_equal(g.loops[0].depth, 1);
    assert_int_equal(g.loops[1].depth, 2);
    assert_int_equal(g.loops[1].parent, 0);
    assert_int_equal(fv_loop_graph_loop_at(&g, 2), 1);
    assert_int_equal(fv_loop_graph_loop_at(&g, 8), 0);
    assert_int_equal(fv_loop_graph_loop_at(&g, 6), FV_NONE);
    fv_loop_graph_release(&g);
}

/* Packed arithmetic is told of the innermost loop that it is in. */
static void packed_loops(void **state)
{
    (void)state;
    struct fv_instruction list[] = {
        at(0, FV_FLOW_ON, 0), at(1, FV_FLOW_ON, 0),     at(2, FV_FLOW_ON, 0), at(3, FV_FLOW_BRANCH, 2),
        at(4, FV_FLOW_ON, 0), at(5, FV_FLOW_BRANCH, 1), at(6, FV_FLOW_ON, 0), at(7, FV_FLOW_END, 0),
    };
    /* in the inner loop, the outer one, none */
    static const struct {
        unsigned where;
        bool outer, inner;
    } want[] = { { 2, false, true }, { 4, true, false }, { 6, false, false } };

    for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
        struct fv_loop_graph g;

        list[want[i].where].packed = true;
        assert_int_equal(fv_loop_graph_build(&g, list, 8), 0);
        list[want[i].where].packed = false;
        assert_int_equal(g.loop_count, 2);
        assert_int_equal(g.loops[0].packed, want[i].outer);
        assert_int_equal(g.loops[1].packed, want[i].inner);
        fv_loop_graph_release(&g);
    }
}

static void packed_instructions(void **state)
{
    static const struct {
        const char *bytes, *what;
        bool packed;
    } want[] = {
        { "\x66\x0f\x58\xc1", "addpd", true },
        { "\xf2\x0f\x58\xc1", "addsd", false },
        { "\xc5\xf4\x58\xc2", "vaddps", true },
        { "\xc4\xe2\xf5\xb8\xc2", "vfmadd231pd", true },
        { "\xc4\xe2\xf1\xb9\xc2", "vfmadd231sd", false },
        { "\x66\x0f\xfe\xc1", "paddd", true },
        { "\x0f\x57\xc0", "xorps, which clears a register", false },
        { "\x66\x0f\x54\xc1", "andpd, which takes a sign away", false },
        { "\x66\x0f\x28\xc1", "movapd", false },
        { "\x58", "pop", false },
    };
    struct fv_instruction *list;
    (void)state;

    if (!fv_machine_code_available())
        skip();
    for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
        size_t count = fv_machine_code_decode((const uint8_t *)want[i].bytes, 0, strlen(want[i].bytes), &list);

        if (count != 1 || list[0].packed != want[i].packed)
            fail_msg("%s: %zu instructions, packed: %d", want[i].what, count, count && list[0].packed);
        free(list);
    }
}

/* A switch in a loop: cases are reached by the table alone. A jump back that is no loop: its target does not
 * dominate. */
static void tables_and_tangles(void **state)
{
    (void)state;
    const struct fv_instruction table[] = {
        at(0, FV_FLOW_ON, 0), at(1, FV_FLOW_TABLE, 0),  at(2, FV_FLOW_NOTHING, 0), at(3, FV_FLOW_JUMP, 5),
        at(4, FV_FLOW_ON, 0), at(5, FV_FLOW_BRANCH, 1), at(6, FV_FLOW_END, 0),
    };
    /* Padding behind a table jump, before a loop that is entered in its middle. */
    const struct fv_instruction padded[] = {
        at(0, FV_FLOW_BRANCH, 7), at(1, FV_FLOW_TABLE, 0),  at(2, FV_FLOW_NOTHING, 0), at(3, FV_FLOW_ON, 0),
        at(4, FV_FLOW_ON, 0),     at(5, FV_FLOW_BRANCH, 3), at(6, FV_FLOW_END, 0),     at(7, FV_FLOW_JUMP, 4),
    };
    const struct fv_instruction tangle[] = { at(0, FV_FLOW_BRANCH, 2), at(1, FV_FLOW_ON, 0), at(2, FV_FLOW_BRANCH, 1),
                                             at(3, FV_FLOW_END, 0) };
    struct fv_loop_graph g;

    assert_int_equal(fv_loop_graph_build(&g, table, 7), 0);
    assert_int_equal(g.loop_count, 1);
    assert_int_equal(fv_loop_graph_loop_at(&g, 3), 0);
    assert_int_equal(fv_loop_graph_loop_at(&g, 4), 0);
    fv_loop_graph_release(&g);
    assert_int_equal(fv_loop_graph_build(&g, padded, 8), 0);
    assert_int_equal(g.loop_count, 1);
    assert_int_equal(g.blocks[g.loops[0].header].begin, 4);
    assert_int_equal(fv_loop_graph_loop_at(&g, 3), 0);
    fv_loop_graph_release(&g);
    assert_int_equal(fv_loop_graph_build(&g, tangle, 4), 0);
    assert_int_equal(g.loop_count, 0);
    fv_loop_graph_release(&g);
    assert_int_equal(fv_loop_graph_build(&g, tangle, 0), -FV_EFORMAT);
}

/* Any instructions make some graph. */
static void any_graph(void **state)
{
    (void)state;
    struct fv_instruction list[200];
    uint64_t x = 88172645463325252u;
    struct fv_loop_graph g;

    for (int round = 0; round < 2000; round++) {
        size_t count = 1 + (size_t)round % 200;
        for (size_t i = 0; i < count; i++) {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            list[i] = at(i, (enum fv_flow)(x >> 8 & 7) > FV_FLOW_END ? FV_FLOW_ON : (enum fv_flow)(x >> 8 & 7),
                         (x >> 20) % (count + 5));
        }
        assert_int_equal(fv_loop_graph_build(&g, list, count), 0);
        for (size_t i = 0; i < g.loop_count; i++)
            assert_true(g.loops[i].parent == FV_NONE || g.loops[i].parent < i);
        fv_loop_graph_release(&g);
    }
}

static void kinds_by_words(void **state)
{
    (void)state;
    static const struct {
        struct fv_loop_text text;
        bool is_fortran;
        enum fv_loop_kind kind;
    } cases[] = {
        { { "{", "    for (int i = 0; i < n; i++)", "x", "a[i] = 0;", false }, false, FV_LOOP_FOR },
        { { "", "#pragma omp parallel for", "for(auto x : list) {", "}", false }, false, FV_LOOP_FOR },
        { { "", "  while (*p) { p++; }", "", "", false }, false, FV_LOOP_WHILE },
        /* one line is all that is known */
        { { "", "} while (x < 3);", "", "} while (x < 3);", false }, false, FV_LOOP_DO_WHILE },
        { { "  do", "    x *= 2;", "", "  while (x < n);", false }, false, FV_LOOP_DO_WHILE },
        { { "", "do { x *= 2; } while (x < n);", "", "do { x *= 2; } while (x < n);", false },
          false,
          FV_LOOP_DO_WHILE },
        { { "", "  forward(x); // for (all)", "", "y", false }, false, FV_LOOP_UNKNOWN },
        { { "", "puts(\"for (\");", "", "while_(1)", false }, false, FV_LOOP_UNKNOWN },
        { { NULL, NULL, NULL, NULL, false }, false, FV_LOOP_UNKNOWN },
        { { "", "  DO i = 1, n", "", "end do", false }, true, FV_LOOP_DO },
        { { "do 10 j = 1, n", "  s = s + a(j)", "", "10 continue", false }, true, FV_LOOP_DO },
        { { "", "x = 1", "do j = 1, n", "end do", false }, true, FV_LOOP_DO },
        { { "", "do while (x < 1)", "", "end do", false }, true, FV_LOOP_DO_TEST },
        { { "", "!$omp parallel do", "do concurrent (i = 1:n)", "", false }, true, FV_LOOP_DO_CONCURRENT },
        { { "x = 1", "a(:) = b(:) + 1", "", "a(:) = b(:) + 1", false }, true, FV_LOOP_ARRAY },
        { { "end do", "call f(x) ! do it", "", "call f(x) ! do it", false }, true, FV_LOOP_UNKNOWN },
        { { "", "a(i) = a(i) + b(i)", "end do", "a(i) = a(i) + b(i)", false }, true, FV_LOOP_UNKNOWN },
        { { "", "if (x == 1) y(1:2) = 3", "", "if (x == 1) y(1:2) = 3", false }, true, FV_LOOP_UNKNOWN },
        { { "do {", "while (*s == 'a') s++;", "} while (0);", "while (*s == 'a') s++;", false }, false, FV_LOOP_WHILE },
        { { "", "while (i < n) { /* for (each) */", "", "}", false }, false, FV_LOOP_WHILE },
        { { "", "x = \"\\\"for (\"; while (a) {", "", "}", false }, false, FV_LOOP_WHILE },
        { { "", "x += 1'000; for (;;) y += 1'000;", "", "", false }, false, FV_LOOP_FOR },
        { { "do {", "for (;;)", "", "} while (x);", true }, false, FV_LOOP_DO_WHILE },
        { { "for (;;) {", "while (x) {", "", "}", true }, false, FV_LOOP_UNKNOWN },
        { { "", "for (;;) a++; while (x) b++;", "", "", false }, false, FV_LOOP_UNKNOWN },
        { { "do j = 1, n", "do i = 1, n", "", "end do", true }, true, FV_LOOP_DO },
        { { "x = 1", "do i = 1, n", "", "end do", true }, true, FV_LOOP_UNKNOWN },
        { { NULL, NULL, NULL, NULL, false }, true, FV_LOOP_UNKNOWN },
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        if (fv_loop_kind_of(&cases[i].text, cases[i].is_fortran) != cases[i].kind)
            fail_msg("case %zu: %u", i, fv_loop_kind_of(&cases[i].text, cases[i].is_fortran));
}

static const struct CMUnitTest tests[] = {
    cmocka_unit_test(nested_loops),        cmocka_unit_test(loop_depths),        cmocka_unit_test(packed_loops),
    cmocka_unit_test(packed_instructions), cmocka_unit_test(tables_and_tangles), cmocka_unit_test(any_graph),
    cmocka_unit_test(kinds_by_words),
};

int main(void)
{
    return cmocka_run_group_tests(tests, NULL, NULL);
}
