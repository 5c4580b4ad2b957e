/* How events signal: which way is taken on which kernel, which is played by a syscall() of our own; and signals by
 * descriptor, which are the real kernel's, of page faults in the place of breakpoints. */
#include "rt_stub.h"
#include "base/sigtrap.h"
#include "sampler/perf.h"
#include "unit.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* ---- the kernel's part ---- */

static struct kernel {
    bool is_played;
    int sigtrap_error, error; /* what opening an event gives, with sigtrap and without; 0: it is opened */
    unsigned asked, asked_sigtrap;
    int owner_type, owner, signal, flags; /* as set by fcntl */
    bool knows_no_modify;
} kernel;

static long (*real_syscall)(long, ...);
static int (*real_ioctl)(int, unsigned long, ...);

static void find_real(void)
{
    real_syscall = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
    real_ioctl = (int (*)(int, unsigned long, ...))dlsym(RTLD_NEXT, "ioctl");
}

static long refuse(int err)
{
    errno = err;
    return -1;
}

static long played_open(const struct perf_event_attr *attr)
{
    bool sigtrap = attr->sigtrap;
    int err = sigtrap ? kernel.sigtrap_error : kernel.error;

    kernel.asked++;
    kernel.asked_sigtrap += sigtrap;
    assert_true(sigtrap == (attr->sig_data != 0) && sigtrap == attr->remove_on_exec);
    return err ? refuse(err) : open("/dev/null", O_RDONLY | O_CLOEXEC);
}

long syscall(long number, ...)
{
    long arg[6];
    va_list args;

    va_start(args, number);
    for (int i = 0; i < 6; i++)
        arg[i] = va_arg(args, long);
    va_end(args);
    if (!real_syscall)
        find_real();
    if (kernel.is_played && number == SYS_perf_event_open)
        return played_open((const struct perf_event_attr *)arg[0]);
    if (number == SYS_fcntl && arg[1] == F_SETOWN_EX) {
        kernel.owner_type = ((const struct f_owner_ex *)arg[2])->type;
        kernel.owner = ((const struct f_owner_ex *)arg[2])->pid;
    } else if (number == SYS_fcntl && arg[1] == F_SETSIG) {
        kernel.signal = (int)arg[2];
    } else if (number == SYS_fcntl && arg[1] == F_SETFL) {
        kernel.flags = (int)arg[2];
    }
    return real_syscall(number, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);
}

int ioctl(int fd, unsigned long request, ...)
{
    va_list args;

    va_start(args, request);
    void *arg = va_arg(args, void *);
    va_end(args);
    if (!real_ioctl)
        find_real();
    if (kernel.is_played && request == PERF_EVENT_IOC_ID) {
        *(uint64_t *)arg = 7;
        return 0;
    }
    if (kernel.knows_no_modify && request == PERF_EVENT_IOC_MODIFY_ATTRIBUTES)
        return (int)refuse(ENOTTY);
    return real_ioctl(fd, request, arg);
}

/* ---- which way ---- */

enum tried { NOT_TRIED, TRIED_ELSEWHERE, TRIED_HERE };
enum { BY_SIGTRAP = 10, BY_DESCRIPTOR, REFUSED };

/* The way is chosen once in a process: in a child, whose status tells it. Two events are opened. */
static int way_on(int sigtrap_error, int error, enum tried tried, unsigned *asked, unsigned *asked_sigtrap)
{
    int status, ends[2];
    unsigned counts[2] = { 0 };

    assert_false(pipe(ends));
    pid_t child = fork();

    if (!child) {
        struct fv_event_fd one, two;
        char name[17] = "0123456789abcdef";

        if (tried == TRIED_HERE)
            fv_sigtrap_kernel(name);
        unsetenv(FV_SIGTRAP_VARIABLE);
        if (tried != NOT_TRIED)
            setenv(FV_SIGTRAP_VARIABLE, name, 1);
        kernel = (struct kernel){ .is_played = true, .sigtrap_error = sigtrap_error, .error = error };
        bool opened = fv_perf_open_tick(&one, 1000) && fv_perf_open_tick(&two, 1000);
        int err = errno;
        bool async = kernel.flags & O_ASYNC && kernel.signal == SIGTRAP && kernel.owner_type == F_OWNER_TID &&
                     kernel.owner == (int)real_syscall(SYS_gettid);

        counts[0] = kernel.asked;
        counts[1] = kernel.asked_sigtrap;
        if (write(ends[1], counts, sizeof(counts)) != sizeof(counts))
            _exit(1);
        _exit(!opened         ? (err == EACCES || err == ENOSYS ? REFUSED : 2)
              : async         ? BY_DESCRIPTOR
              : kernel.signal ? 3
                              : BY_SIGTRAP);
    }
    assert_int_equal(read(ends[0], counts, sizeof(counts)), sizeof(counts));
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    close(ends[0]);
    close(ends[1]);
    *asked = counts[0];
    *asked_sigtrap = counts[1];
    return WEXITSTATUS(status);
}

static void ways(void **state)
{
    const struct {
        int sigtrap_error, error;
        enum tried tried;
        int way;
        unsigned asked, asked_sigtrap; /* for two events */
    } rows[] = {
        { 0, 0, TRIED_HERE, BY_SIGTRAP, 2, 2 },         { 0, 0, NOT_TRIED, BY_DESCRIPTOR, 2, 0 }, /* it may kill */
        { 0, 0, TRIED_ELSEWHERE, BY_DESCRIPTOR, 2, 0 },                                           /* likewise */
        { EINVAL, 0, TRIED_HERE, BY_DESCRIPTOR, 3, 1 }, /* the bit is not known: asked once */
        { E2BIG, 0, TRIED_HERE, BY_DESCRIPTOR, 3, 1 },  /* what it would tell is not */
        { EACCES, 0, TRIED_HERE, REFUSED, 1, 1 },       /* nothing is known, and nothing is to be had */
        { EINVAL, EACCES, NOT_TRIED, REFUSED, 1, 0 },   { ENOSYS, ENOSYS, NOT_TRIED, REFUSED, 1, 0 },
    };
    (void)state;

    for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        unsigned asked, asked_sigtrap;

        printf("# row %u\n", i);
        assert_int_equal(way_on(rows[i].sigtrap_error, rows[i].error, rows[i].tried, &asked, &asked_sigtrap),
                         rows[i].way);
        assert_int_equal(asked, rows[i].asked);
        assert_int_equal(asked_sigtrap, rows[i].asked_sigtrap);
    }
}

/* ---- the real kernel's signals ---- */

static volatile unsigned came, strange;
static struct fv_trap_source last;

static void on_trap(int signal, siginfo_t *info, void *context)
{
    (void)signal, (void)context;
    if (fv_perf_source(info, &last))
        came = came + 1;
    else
        strange = strange + 1;
}

static void touch_pages(unsigned count)
{
    char *pages = mmap(NULL, count * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    assert_ptr_not_equal(pages, MAP_FAILED);
    madvise(pages, count * 4096, MADV_NOHUGEPAGE);
    for (unsigned i = 0; i < count; i++)
        ((volatile char *)pages)[4096 * i] = 1;
    munmap(pages, count * 4096);
}

static struct perf_event_attr faults(void)
{
    return (struct perf_event_attr){ .size = sizeof(struct perf_event_attr),
                                     .type = PERF_TYPE_SOFTWARE,
                                     .config = PERF_COUNT_SW_PAGE_FAULTS,
                                     .sample_period = 1,
                                     .disabled = 1,
                                     .exclude_kernel = 1,
                                     .exclude_hv = 1 };
}

static void by_descriptor(void **state)
{
    struct sigaction action = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO }, old;
    struct perf_event_attr attr = faults();
    struct fv_event_fd event = { 0 };
    sigset_t trap;
    (void)state;

    kernel = (struct kernel){ 0 };
    unsetenv(FV_SIGTRAP_VARIABLE);
    if (!fv_perf_open_signal(&event, &attr, FV_TRAP_X, 2)) {
        printf("# SKIP perf_event_open: %s\n", strerror(errno));
        skip();
    }
    sigaction(SIGTRAP, &action, &old);
    fv_perf_enable(&event);
    came = strange = 0;
    touch_pages(16);
    assert_in_range(came, 16, 20); /* mmap() and munmap() may have some */
    assert_int_equal(last.kind, FV_TRAP_X);
    assert_int_equal(last.slot, 2);
    assert_true(last.any_generation && fv_perf_is_of(&last, &event));
    assert_false(last.late);
    /* blocked: one is kept, and says the same */
    sigemptyset(&trap);
    sigaddset(&trap, SIGTRAP);
    sigprocmask(SIG_BLOCK, &trap, NULL);
    came = 0;
    touch_pages(16);
    fv_perf_disarm(&event);
    assert_int_equal(came, 0);
    sigprocmask(SIG_UNBLOCK, &trap, NULL);
    assert_int_equal(came, 1);
    assert_int_equal(last.slot, 2);
    /* the program's own are not taken for ours */
    raise(SIGTRAP);
    assert_int_equal(strange, 1);
    came = 0;
    fv_perf_close(&event);
    touch_pages(4);
    assert_int_equal(came, 0);
    sigaction(SIGTRAP, &old, NULL);
}

/* A kernel that cannot modify events: another one stands under the same number. */
static void replaced(void **state)
{
    static uint64_t watched;
    struct fv_event_fd event = { 0 };
    (void)state;

    kernel = (struct kernel){ 0 };
    if (!fv_perf_open_breakpoint(&event, FV_TRAP_RW, 0)) {
        printf("# SKIP breakpoints: %s\n", strerror(errno));
        skip();
    }
    int number = event.fd;
    uint64_t id = event.id;
    assert_true(fv_perf_arm(&event, FV_TRAP_RW, 0, (uintptr_t)&watched));
    assert_int_equal(event.id, id);
    kernel.knows_no_modify = true;
    kernel.flags = 0;
    assert_true(fv_perf_arm(&event, FV_TRAP_RW, 0, (uintptr_t)&watched));
    assert_int_equal(event.fd, number);
    assert_int_not_equal(event.id, id);
    assert_true(kernel.flags & O_ASYNC);
    assert_int_equal(event.generation, 2);
    fv_perf_disarm(&event);
    fv_perf_close(&event);
    assert_int_equal(event.fd, -1);
    assert_int_equal(fcntl(number, F_GETFD), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ways),
        cmocka_unit_test(by_descriptor),
        cmocka_unit_test(replaced),
    };

    unsetenv("FVMPI_WITHOUT");
    find_real();
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests_name("perf", tests, NULL, NULL);
}
