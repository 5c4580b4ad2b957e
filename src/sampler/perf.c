/* SPDX-License-Identifier: BSD-3-Clause */
/* See perf.h. Breakpoints of one kind only differ in their address: one event each is opened when the thread
 * begins, and modified afterwards, which takes a fourth of the time of open, enable and close. */
#include "sampler/perf.h"
#include "base/older.h"
#include "base/sigtrap.h"
#include "base/without.h"
#include "rt/cfi.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/hw_breakpoint.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define TRAP_PERF_CODE  6       /* TRAP_PERF of the kernel, where the C library does not know it */
#define OURS            0xf7b1u /* in sig_data: the application may have events that signal, too */
#define TRAP_PERF_ASYNC 1
#if defined(__x86_64__)
#define BREAKPOINT_BYTES sizeof(long) /* the kernel wants it so, of any instruction */
#else
#define BREAKPOINT_BYTES HW_BREAKPOINT_LEN_4
#endif

/* ---- the two ways ---- */

enum way { UNTRIED, BY_ITSELF, BY_DESCRIPTOR };
static enum way way;

/* By descriptor: which event a number is of, for good: a signal may come after the event was closed. */
#define NUMBERS 65536
static uint8_t source_of[NUMBERS]; /* kind | slot << 4; 0: never one of ours */

static uint64_t pack(enum fv_trap kind, unsigned slot, uint32_t generation)
{
    return (uint64_t)kind | (uint64_t)slot << 8 | (uint64_t)OURS << 16 | (uint64_t)generation << 32;
}

/* Kernel headers before Linux 5.13 do not have it. */
static bool signal_by_itself(struct perf_event_attr *attr, enum fv_trap kind, unsigned slot, uint32_t generation)
{
#if defined(PERF_ATTR_SIZE_VER7)
    attr->sigtrap = 1;
    attr->remove_on_exec = 1;
    attr->sig_data = pack(kind, slot, generation);
    return true;
#else
    (void)attr, (void)kind, (void)slot, (void)generation;
    return false;
#endif
}

static bool own_data(const siginfo_t *info, struct fv_trap_source *out)
{
    struct {
        uint64_t data;
        uint32_t type, flags;
    } perf;

    memcpy(&perf, (const char *)info + 24, sizeof(perf)); /* si_perf_data and so on */
    if ((perf.data >> 16 & 0xffff) != OURS)
        return false;
    *out = (struct fv_trap_source){ .kind = (enum fv_trap)(perf.data & 0xff),
                                    .slot = perf.data >> 8 & 0xff,
                                    .generation = (uint32_t)(perf.data >> 32),
                                    .late = perf.flags & TRAP_PERF_ASYNC };
    return true;
}

/* Of kernels before 4.16 the code is POLL_IN, which is TRAP_BRKPT of a SIGTRAP as well: that has an address where a
 * descriptor's signal has what was polled. */
static bool is_of_descriptor(const siginfo_t *info)
{
    return info->si_code == SI_SIGIO ||
           ((info->si_code == POLL_IN || info->si_code == POLL_HUP) && info->si_band > 0 && info->si_band < 4096);
}

/* No room to say where it comes from (ulimit -i): the kernel names itself, as the process of number 0. */
static bool is_nameless(const siginfo_t *info)
{
    return info->si_code == SI_USER && !info->si_pid;
}

static bool of_descriptor(const siginfo_t *info, struct fv_trap_source *out)
{
    if (!is_of_descriptor(info) || info->si_fd < 0 || info->si_fd >= NUMBERS || !source_of[info->si_fd])
        return false;
    *out = (struct fv_trap_source){ .kind = (enum fv_trap)(source_of[info->si_fd] & 15),
                                    .slot = source_of[info->si_fd] >> 4,
                                    .any_generation = true };
    return true;
}

bool fv_perf_source(const void *siginfo, struct fv_trap_source *out)
{
    const siginfo_t *info = siginfo;

    if (info->si_code == TRAP_PERF_CODE)
        return own_data(info, out);
    if (info->si_signo == SIGPROF) /* whatever the way of the others is */
        return of_descriptor(info, out) && out->kind == FV_TRAP_TICK;
    if (info->si_signo != SIGTRAP || __atomic_load_n(&way, __ATOMIC_RELAXED) != BY_DESCRIPTOR)
        return false;
    if (!is_nameless(info))
        return of_descriptor(info, out);
    *out = (struct fv_trap_source){ .late = true, .any_generation = true };
    return true;
}

/* By the kernel's calls: the handler does it, too, and fcntl() may be interposed. */
static bool signal_by_descriptor(const struct fv_event_fd *event, enum fv_trap kind, unsigned slot, int signal)
{
    const struct f_owner_ex owner = { .type = F_OWNER_TID, .pid = (pid_t)syscall(SYS_gettid) };

    if (event->fd >= NUMBERS) {
        errno = EMFILE;
        return false;
    }
    source_of[event->fd] = (uint8_t)(kind | slot << 4);
    return !syscall(SYS_fcntl, event->fd, F_SETOWN_EX, &owner) &&
           !syscall(SYS_fcntl, event->fd, F_SETSIG, (long)signal) &&
           !syscall(SYS_fcntl, event->fd, F_SETFL, (long)(O_RDWR | O_NONBLOCK | O_ASYNC));
}

/* ---- open and close ---- */

static struct perf_event_attr attributes(enum fv_trap kind)
{
    return (struct perf_event_attr){
        .size = sizeof(struct perf_event_attr),
        .type = kind == FV_TRAP_TICK ? PERF_TYPE_SOFTWARE : PERF_TYPE_BREAKPOINT,
        .config = kind == FV_TRAP_TICK ? PERF_COUNT_SW_TASK_CLOCK : 0,
        .sample_period = 1,
        .disabled = 1,
        .exclude_kernel = 1,
        .exclude_hv = 1,
    };
}

static struct perf_event_attr breakpoint(enum fv_trap kind, uintptr_t address)
{
    struct perf_event_attr attr = attributes(kind);

    attr.bp_type = kind == FV_TRAP_RW ? HW_BREAKPOINT_RW : HW_BREAKPOINT_X;
    attr.bp_addr = address;
    attr.bp_len = kind == FV_TRAP_RW ? HW_BREAKPOINT_LEN_8 : BREAKPOINT_BYTES;
    return attr;
}

static bool may_signal_by_itself(void)
{
    return !fv_without("sigtrap") && fv_sigtrap_is_safe();
}

/* Does the error mean that the kernel does not know what it was asked for? */
static bool is_unknown(int err)
{
    return err == EINVAL || err == E2BIG;
}

bool fv_perf_open_signal(struct fv_event_fd *event, struct perf_event_attr *attr, enum fv_trap kind, unsigned slot)
{
    enum way known = __atomic_load_n(&way, __ATOMIC_RELAXED);
    struct perf_event_attr plain = *attr;

    event->generation = 0;
    if ((known == BY_ITSELF || (known == UNTRIED && may_signal_by_itself())) &&
        signal_by_itself(attr, kind, slot, event->generation)) {
        bool opened = fv_perf_open(event, attr, -1);

        if (opened)
            __atomic_store_n(&way, BY_ITSELF, __ATOMIC_RELAXED);
        if (opened || known == BY_ITSELF || !is_unknown(errno))
            return opened;
        *attr = plain;
    }
    if (!fv_perf_open(event, attr, -1))
        return false;
    __atomic_store_n(&way, BY_DESCRIPTOR, __ATOMIC_RELAXED);
    return signal_by_descriptor(event, kind, slot, SIGTRAP);
}

bool fv_perf_open_tick(struct fv_event_fd *event, uint64_t period_ns)
{
    struct perf_event_attr attr = attributes(FV_TRAP_TICK);

    attr.sample_period = period_ns;
    return fv_perf_open_signal(event, &attr, FV_TRAP_TICK, 0);
}

bool fv_perf_open_clock(struct fv_event_fd *event, uint64_t period_ns)
{
    struct perf_event_attr attr = attributes(FV_TRAP_TICK);

    attr.sample_period = period_ns;
    return fv_perf_open(event, &attr, -1) && signal_by_descriptor(event, FV_TRAP_TICK, 0, SIGPROF);
}

/* `what`: FV_TRAP_X or FV_TRAP_RW. */
static bool open_breakpoint(struct fv_event_fd *event, enum fv_trap what, enum fv_trap kind, unsigned slot)
{
    static const uint64_t somewhere;
    struct perf_event_attr attr = breakpoint(what, (uintptr_t)&somewhere);

    if (fv_without("breakpoints")) {
        event->fd = -1;
        errno = ENODEV;
        return false;
    }
    return fv_perf_open_signal(event, &attr, kind, slot);
}

bool fv_perf_open_breakpoint(struct fv_event_fd *event, enum fv_trap kind, unsigned slot)
{
    return open_breakpoint(event, kind, kind, slot);
}

bool fv_perf_open_return(struct fv_event_fd *event)
{
    return open_breakpoint(event, FV_TRAP_X, FV_TRAP_RW, 0);
}

bool fv_perf_open_migrations(struct fv_event_fd *event)
{
    struct perf_event_attr attr = {
        .size = sizeof(attr),
        .type = PERF_TYPE_SOFTWARE,
        .config = PERF_COUNT_SW_CPU_MIGRATIONS, /* the kernel moves it: it must not be excluded */
        .exclude_hv = 1,
    };

    return fv_perf_open(event, &attr, -1);
}

/* ---- from the handler ---- */

void fv_perf_set_period(const struct fv_event_fd *event, uint64_t period_ns)
{
    if (fv_perf_is_ours(event))
        ioctl(event->fd, PERF_EVENT_IOC_PERIOD, &period_ns);
}

/* Before Linux 4.17 no event can be modified: another one is opened in its place, under its number, which stays taken
 * meanwhile: the debug register is free only when the old one is closed. */
static bool replace(struct fv_event_fd *event, struct perf_event_attr *attr, enum fv_trap kind, unsigned slot)
{
    int holder = (int)syscall(SYS_eventfd2, 0, EFD_CLOEXEC), fd = -1;
    bool done = false;

    if (holder < 0 || syscall(SYS_dup3, holder, event->fd, O_CLOEXEC) < 0)
        goto end;
    fd = (int)syscall(SYS_perf_event_open, attr, 0, -1, -1, (unsigned long)PERF_FLAG_FD_CLOEXEC);
    done = fd >= 0 && syscall(SYS_dup3, fd, event->fd, O_CLOEXEC) >= 0 &&
           !ioctl(event->fd, PERF_EVENT_IOC_ID, &event->id) &&
           (__atomic_load_n(&way, __ATOMIC_RELAXED) == BY_ITSELF || signal_by_descriptor(event, kind, slot, SIGTRAP));
    if (!done) {
        syscall(SYS_close, event->fd); /* the holder's, or an event that signals nobody */
        event->fd = -1;
    }
end:
    if (fd >= 0)
        syscall(SYS_close, fd);
    if (holder >= 0)
        syscall(SYS_close, holder);
    return done;
}

/* `kind`: what its signal says. */
static bool arm(struct fv_event_fd *event, struct perf_event_attr *attr, enum fv_trap kind, unsigned slot)
{
    event->generation++;
    if (__atomic_load_n(&way, __ATOMIC_RELAXED) == BY_ITSELF)
        signal_by_itself(attr, kind, slot, event->generation);
    attr->disabled = 0;
    if (!fv_perf_is_ours(event))
        return false;
    return !ioctl(event->fd, PERF_EVENT_IOC_MODIFY_ATTRIBUTES, attr) ||
           (errno == ENOTTY && replace(event, attr, kind, slot));
}

bool fv_perf_arm(struct fv_event_fd *event, enum fv_trap kind, unsigned slot, uintptr_t address)
{
    struct perf_event_attr attr = breakpoint(kind, address);

    return arm(event, &attr, kind, slot);
}

bool fv_perf_arm_return(struct fv_event_fd *event, uintptr_t address)
{
    struct perf_event_attr attr = breakpoint(FV_TRAP_X, address);

    return arm(event, &attr, FV_TRAP_RW, 0);
}

void fv_perf_disarm(struct fv_event_fd *event)
{
    event->generation++;
    if (fv_perf_is_ours(event))
        ioctl(event->fd, PERF_EVENT_IOC_DISABLE, 0);
}

void fv_perf_silence(const struct fv_event_fd *event)
{
    if (fv_perf_is_ours(event))
        syscall(SYS_fcntl, event->fd, F_SETFL, (long)(O_RDWR | O_NONBLOCK));
}
