/* Which file a descriptor is (io/files.h), asked by many threads at once that open, duplicate and close the same few
 * files. */
#include "io/io.h"
#include "rt/process.h"
#include "rt_stub.h"
#include "unit.h"

#include <fcntl.h>
#include <pthread.h>

enum { THREADS = 4, ROUNDS = 3000, FILES = 3 };

struct fv_io_front fvmpi_io_v1 = { .version = 1 };
static char paths[FILES][96];

struct opener {
    pthread_t thread;
    unsigned first;
    const char *wrong; /* NULL: nothing */
    uint32_t file[FILES];
};

/* What open(), dup() and close() tell of a descriptor. */
static const char *use(struct opener *o, unsigned which)
{
    int fd = open(paths[which], O_RDONLY), other;
    struct fv_io_end before = { 0 };
    struct fv_io_open *open = fd < 0 ? NULL : fv_io_files_made(fd, fv_ticks(), &before);

    if (!open || !open->file)
        return "not known";
    if (o->file[which] && open->file != o->file[which])
        return "another number";
    o->file[which] = open->file;
    if (before.open)
        return "its descriptor was another file's";
    if (fv_io_files_of(fd) != open)
        return "another open file";
    if ((other = dup(fd)) < 0 || fv_io_files_duplicated(other, open).open)
        return "its duplicate was another file's";
    if (fv_io_files_closing(other) != open || close(other) || fv_io_files_closed(open) != 1)
        return "one descriptor should be left";
    open->position[FV_IO_POSIX] = o->first; /* ours alone */
    sched_yield();
    if (open->position[FV_IO_POSIX] != (int64_t)o->first)
        return "another thread has the open file";
    return fv_io_files_closing(fd) == open && !close(fd) && fv_io_files_closed(open) == 0
               ? NULL
               : "no descriptor should be left";
}

static void *use_often(void *opener)
{
    struct opener *o = opener;

    for (unsigned i = 0; i < ROUNDS && !o->wrong; i++)
        o->wrong = use(o, (o->first + i) % FILES);
    return NULL;
}

static void test_threads(void **state)
{
    struct opener openers[THREADS] = { 0 };
    (void)state;

    for (unsigned i = 0; i < THREADS; i++) {
        openers[i].first = i;
        assert_int_equal(pthread_create(&openers[i].thread, NULL, use_often, &openers[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(openers[i].thread, NULL);
    for (unsigned i = 0; i < THREADS; i++) {
        assert_string_equal(openers[i].wrong ? openers[i].wrong : "nothing", "nothing");
        assert_memory_equal(openers[i].file, openers[0].file, sizeof(openers[i].file));
    }
    assert_int_not_equal(openers[0].file[0], openers[0].file[1]);
}

static void count_end(void *count, const struct fv_io_end *end)
{
    (void)end;
    ++*(unsigned *)count;
}

static void test_replaced(void **state)
{
    int a = open(paths[0], O_RDONLY), b = open(paths[1], O_RDONLY);
    struct fv_io_end before = { 0 };
    struct fv_io_open *first = fv_io_files_made(a, fv_ticks(), &before),
                      *second = fv_io_files_made(b, fv_ticks(), &before);
    unsigned ended = 0;
    (void)state;

    assert_int_equal(dup2(a, b), b);
    before = fv_io_files_duplicated(b, first);
    assert_ptr_equal(before.open, second);
    assert_int_equal(before.shared, 0);
    assert_ptr_equal(fv_io_files_of(b), first);
    /* a closed without our knowing: the next that has the number ends it */
    close(a);
    assert_int_equal(open(paths[2], O_RDONLY), a);
    assert_ptr_not_equal(fv_io_files_made(a, fv_ticks(), &before), first);
    assert_ptr_equal(before.open, first);
    assert_int_equal(before.shared, 1);
    fv_io_files_closed_range((unsigned)(a < b ? a : b), ~0u, count_end, &ended);
    assert_int_equal(ended, 2);
    close(a);
    close(b);
}

/* A thread may tell late what it opened: what was closed meanwhile was another open file. */
static void test_told_late(void **state)
{
    struct fv_io_end before = { 0 };
    int a = open(paths[0], O_RDONLY), b;
    struct fv_io_open *first = fv_io_files_made(a, fv_ticks(), &before), *second;
    (void)state;

    b = open(paths[0], O_RDONLY);
    uint64_t opened = fv_ticks();
    assert_ptr_equal(fv_io_files_closing(a), first);
    close(a);
    assert_int_equal(fv_io_files_closed(first), 0);
    second = fv_io_files_made(b, opened, &before);
    assert_ptr_not_equal(second, first);
    assert_int_equal(second->file, first->file);
    a = open(paths[0], O_RDONLY);
    assert_ptr_equal(fv_io_files_made(a, fv_ticks(), &before), first);
    fv_io_files_closing(a);
    fv_io_files_closed(first);
    fv_io_files_closing(b);
    fv_io_files_closed(second);
    close(a);
    close(b);
}

int main(void)
{
    struct fv_call call;

    stub_start();
    if (fv_call_enter(&call, 0, FV_CALL_SITE())) { /* starts the runtime */
        call.end = call.begin;
        fv_call_record(&call, NULL, 0, 0);
    }
    for (unsigned i = 0; i < FILES; i++) {
        snprintf(paths[i], sizeof(paths[i]), "%s/file-%u", stub_directory, i);
        close(open(paths[i], O_CREAT | O_WRONLY, 0600));
    }
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_threads), cmocka_unit_test(test_replaced),
                                        cmocka_unit_test(test_told_late) };
    int failed = fv_io_files_start() ? cmocka_run_group_tests(tests, NULL, NULL) : 1;
    stub_remove();
    return failed;
}
