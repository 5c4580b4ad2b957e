/* Blocks of a timeline's file: what is written is read, whatever the numbers are, and any damage is seen or
 * harmless. */
#include "timeline/timeline_blocks.h"
#include "unit.h"

#include <stdlib.h>
#include <string.h>

enum { COLUMNS = 5, FIRST = 2, ROWS = 700 };

static uint64_t state_of_random = 45;

static uint64_t any(void)
{
    state_of_random = state_of_random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return state_of_random >> 16 ^ state_of_random << 40;
}

/* Of columns the numbers: none, zeros, small ones, any of some width, any at all; not all columns have all rows. */
static size_t fill(uint64_t numbers[COLUMNS][ROWS], size_t counts[COLUMNS], size_t rows)
{
    for (size_t k = 0; k < COLUMNS; k++) {
        const unsigned width = (unsigned)(any() % 65);

        counts[k] = any() % 3 ? rows : any() % (rows + 1);
        for (size_t i = 0; i < counts[k]; i++)
            numbers[k][i] = !width ? 0 : any() >> (64 - width);
    }
    return rows;
}

static struct fv_timeline_block pack(struct fv_timeline_packer *p, uint64_t numbers[COLUMNS][ROWS],
                                     const size_t counts[COLUMNS], size_t rows, const void **out)
{
    for (size_t k = 0; k < COLUMNS; k++)
        for (size_t i = 0; i < counts[k]; i++)
            fv_bytes_number(&p->columns[k], numbers[k][i]);
    const struct fv_bytes *bytes = fv_timeline_pack(p, FIRST, COLUMNS);
    *out = bytes->data;
    return (struct fv_timeline_block){ .bytes = (uint32_t)bytes->count, .count = (uint32_t)rows };
}

static void as_written(struct fv_timeline_unpacked *u, uint64_t numbers[COLUMNS][ROWS], const size_t counts[COLUMNS],
                       size_t columns)
{
    uint32_t narrow[ROWS + 3];

    for (size_t k = 0; k < columns; k++) {
        const bool fits = fv_timeline_numbers(&u->columns[k], narrow, ROWS + 3);

        for (size_t i = 0; i < counts[k]; i++) {
            assert_true(fv_timeline_has_more(&u->columns[k]));
            assert_int_equal(fv_timeline_next(&u->columns[k]), numbers[k][i]);
            assert_true(!fits || narrow[i] == numbers[k][i]);
            assert_true(fits || u->columns[k].width > 4);
        }
        assert_false(fv_timeline_has_more(&u->columns[k]));
        assert_int_equal(fv_timeline_next(&u->columns[k]), 0);
        for (size_t i = counts[k]; fits && i < ROWS + 3; i++)
            assert_int_equal(narrow[i], 0);
    }
}

static void round_trip(void **state)
{
    struct fv_timeline_packer p = { 0 };
    struct fv_timeline_unpacked u = { 0 };
    static uint64_t numbers[COLUMNS][ROWS];
    size_t counts[COLUMNS];

    (void)state;
    for (int times = 0; times < 400; times++) {
        const size_t rows = fill(numbers, counts, any() % (ROWS + 1));
        const void *bytes;
        const struct fv_timeline_block block = pack(&p, numbers, counts, rows, &bytes);

        assert_true(fv_timeline_unpack(&u, bytes, &block, FIRST, COLUMNS, true));
        as_written(&u, numbers, counts, COLUMNS);
        assert_true(fv_timeline_unpack(&u, bytes, &block, FIRST, COLUMNS, false));
        as_written(&u, numbers, counts, FIRST);
    }
    fv_timeline_packer_release(&p);
    fv_timeline_unpacked_release(&u);
}

/* Reading all of what a damaged block seems to have. */
static void read_all(struct fv_timeline_unpacked *u, const void *bytes, const struct fv_timeline_block *block, bool all)
{
    uint32_t narrow[ROWS];
    uint64_t sum = 0;

    if (!fv_timeline_unpack(u, bytes, block, FIRST, COLUMNS, all))
        return;
    for (size_t k = 0; k < (all ? COLUMNS : FIRST); k++) {
        assert_true(u->columns[k].count <= block->count);
        fv_timeline_numbers(&u->columns[k], narrow, block->count);
        while (fv_timeline_has_more(&u->columns[k]))
            sum += fv_timeline_next(&u->columns[k]);
    }
    assert_true(sum || !sum); /* all was read */
}

static void damaged(void **state)
{
    struct fv_timeline_packer p = { 0 };
    struct fv_timeline_unpacked u = { 0 };
    static uint64_t numbers[COLUMNS][ROWS];
    size_t counts[COLUMNS];

    (void)state;
    for (int times = 0; times < 3000; times++) {
        const size_t rows = fill(numbers, counts, any() % 40);
        const void *bytes;
        struct fv_timeline_block block = pack(&p, numbers, counts, rows, &bytes);
        uint8_t *own = malloc(block.bytes + 1); /* so that reading behind it is seen */

        memcpy(own, bytes, block.bytes);
        if (any() % 4 == 0)
            block.bytes = (uint32_t)(any() % (block.bytes + 1));
        uint8_t *short_one = malloc(block.bytes + 1);
        memcpy(short_one, own, block.bytes);
        for (uint64_t i = any() % 4; i && block.bytes; i--)
            short_one[any() % block.bytes % 24] = (uint8_t)any();
        read_all(&u, short_one, &block, any() % 2);
        free(short_one);
        free(own);
    }
    fv_timeline_packer_release(&p);
    fv_timeline_unpacked_release(&u);
}

/* What is as good as random is not compressed, and what is not is: less than half. */
static void sizes(void **state)
{
    struct fv_timeline_packer p = { 0 };
    static uint64_t numbers[COLUMNS][ROWS];
    size_t counts[COLUMNS] = { ROWS, ROWS };
    const void *bytes;

    (void)state;
    for (size_t i = 0; i < ROWS; i++)
        numbers[0][i] = any() & 0xffff;
    for (size_t i = 0; i < ROWS; i++)
        numbers[1][i] = 3;
    const struct fv_timeline_block random = pack(&p, numbers, counts, ROWS, &bytes);
    assert_true(random.bytes > 2 * ROWS && random.bytes < 2 * ROWS + 100);
    for (size_t i = 0; i < ROWS; i++)
        numbers[0][i] = 500 + any() % 4;
    assert_true(pack(&p, numbers, counts, ROWS, &bytes).bytes < ROWS / 2);
    fv_timeline_packer_release(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trip),
        cmocka_unit_test(damaged),
        cmocka_unit_test(sizes),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
