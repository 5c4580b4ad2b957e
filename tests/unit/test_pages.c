/* What the kernel tells of a process's pages, by texts of it: sizes, large pages, NUMA nodes. */
#include "memory/memory.h"
#include "rt_stub.h"
#include "unit.h"

static const char rollup[] =
    "555500000000-7fff00000000 ---p 00000000 00:00 0                          [rollup]\n"
    "Rss:              10240 kB\nPss:               9000 kB\nAnonHugePages:      4096 kB\nShmemPmdMapped:     2048 kB\n"
    "FilePmdMapped:         0 kB\nShared_Hugetlb:     2048 kB\nPrivate_Hugetlb:    6144 kB\nSwap:                  0 "
    "kB\n";

static void sizes(void **state)
{
    struct fv_memory_pages p = { 0 };
    (void)state;

    assert_true(fv_memory_pages_read(&p, rollup));
    assert_int_equal(p.resident, (10240 + 8192) << 10);
    assert_int_equal(p.huge, (4096 + 2048 + 8192) << 10);
    assert_false(fv_memory_pages_read(&p, ""));
    assert_false(fv_memory_pages_read(&p, "x\nRss:"));
}

static void nodes(void **state)
{
    static const char *const lines[] = {
        "55d0 default file=/opt/N5=7/app mapped=4 N0=3 N1=1 kernelpagesize_kB=4",
        "7f00 bind:1 anon=2 dirty=2 active=0 N1=2 kernelpagesize_kB=2048",
        "7f10 default heap anon=10 N0=6 N12=4 kernelpagesize_kB=64",
        "7ffd default stack",
        "",
        " N1=",
        " N",
        " N3=5",
    };
    struct fv_memory_pages p = { 0 };
    (void)state;

    for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
        fv_memory_pages_place(&p, lines[i], 1);
    assert_int_equal(p.near, (4 << 10) + (4096 << 10));
    assert_int_equal(p.far, (12 << 10) + (640 << 10));
}

/* What was more is kept. */
static void most(void **state)
{
    struct fv_memory_pages p = { 0 }, before;
    (void)state;

    fv_memory_pages_note(&p);
    if (!p.ticks) /* this kernel does not tell */
        skip();
    assert_true(p.resident > 0 && p.huge <= p.resident);
    p.resident = UINT64_MAX;
    before = p;
    fv_memory_pages_note(&p);
    assert_memory_equal(&p, &before, sizeof(p));
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(sizes), cmocka_unit_test(nodes), cmocka_unit_test(most) };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
