/* Pages of the kernel that are larger than those of the rank file, as AArch64 often has: played by a sysconf() and a
 * syscall() of our own. */
#include "rt_stub.h"
#include "trace/writer.h"
#include "unit.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#define LARGE 65536

static bool is_played;
static unsigned maps, unmaps;

long sysconf(int name)
{
    long (*real)(int) = (long (*)(int))dlsym(RTLD_NEXT, "sysconf");

    return is_played && name == _SC_PAGESIZE ? LARGE : real(name);
}

long syscall(long number, ...)
{
    static long (*real)(long, ...);
    long arg[6];
    va_list args;

    va_start(args, number);
    for (int i = 0; i < 6; i++)
        arg[i] = va_arg(args, long);
    va_end(args);
    if (!real)
        real = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
    if (is_played && number == SYS_mmap) {
        maps++;
        if (arg[5] % LARGE) {
            errno = EINVAL;
            return -1;
        }
        /* one page more, of which an aligned part is given */
        char *room =
            (char *)real(SYS_mmap, 0L, arg[1] + LARGE, (long)PROT_NONE, (long)(MAP_PRIVATE | MAP_ANONYMOUS), -1L, 0L);
        char *aligned = room + (LARGE - (uintptr_t)room % LARGE) % LARGE;
        return real(SYS_mmap, (long)aligned, arg[1], arg[2], arg[3] | MAP_FIXED, arg[4], arg[5]);
    }
    if (is_played && number == SYS_munmap) {
        unmaps++;
        if (arg[0] % LARGE) {
            errno = EINVAL;
            return -1;
        }
    }
    return real(number, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);
}

/* By their threads. */
static void find_chunks(int fd, uint64_t *at, unsigned count)
{
    struct fv_chunk_header chunk;
    unsigned found = 0;

    for (off_t offset = FV_PAGE; pread(fd, &chunk, sizeof(chunk), offset) == sizeof(chunk); offset += FV_CHUNK_ALIGN)
        if (chunk.magic == FV_CHUNK_MAGIC && chunk.thread < count) {
            at[chunk.thread] = (uint64_t)offset;
            found++;
        }
    assert_int_equal(found, count);
}

static void chunks(void **state)
{
    enum { COUNT = 40 };
    static struct fv_writer writer;
    char path[128];
    uint64_t at[COUNT];
    (void)state;

    snprintf(path, sizeof(path), "%s/rank-000000.fvr", stub_directory);
    is_played = true;
    assert_int_equal(fv_writer_open(&writer, AT_FDCWD, path, path), 0);
    for (unsigned i = 0; i < COUNT; i++) {
        struct fv_chunk_header *chunk =
            fv_writer_chunk(&writer, FV_CHUNK_CELLS, i, 0, i % 3 ? 100 : 3 * FV_PAGE - sizeof(*chunk));

        assert_non_null(chunk);
        *(uint64_t *)fv_chunk_records(chunk) = 1000 + i;
        fv_chunk_commit(chunk, sizeof(uint64_t));
        if (i % 2)
            fv_writer_release(chunk);
    }
    is_played = false;
    assert_true(maps >= COUNT / 3 && unmaps == COUNT / 6 + 1); /* small ones share pages, which stay */
    int fd = open(path, O_RDONLY);
    find_chunks(fd, at, COUNT);
    for (unsigned i = 0; i < COUNT; i++) {
        char bytes[sizeof(struct fv_chunk_header) + sizeof(uint64_t)];
        const struct fv_chunk_header *chunk = (const void *)bytes;
        uint64_t value;

        assert_int_equal(pread(fd, bytes, sizeof(bytes), (off_t)at[i]), sizeof(bytes));
        memcpy(&value, bytes + sizeof(*chunk), sizeof(value));
        assert_int_equal(chunk->magic, FV_CHUNK_MAGIC);
        assert_int_equal(chunk->thread, i);
        assert_int_equal(value, 1000 + i);
    }
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(chunks) };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    stub_start();
    int failed = cmocka_run_group_tests_name("large pages", tests, NULL, NULL);
    stub_remove();
    return failed;
}
