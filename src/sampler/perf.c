/* See perf.h. Breakpoints of one kind only differ in their address: one event each is opened when the thread
 * begins, and modified afterwards, which takes a fourth of the time of open, enable and close. */
#include "sampler/perf.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>

#if defined(PERF_ATTR_SIZE_VER7) /* knows sigtrap */

#include <linux/hw_breakpoint.h>

#define TRAP_PERF_CODE  6       /* TRAP_PERF of the kernel, where the C library does not know it */
#define OURS            0xf7b1u /* in sig_data: the application may have events that signal, too */
#define TRAP_PERF_ASYNC 1

bool fv_perf_source(const void *siginfo, struct fv_trap_source *out)
{
    struct {
        uint64_t data;
        uint32_t type, flags;
    } perf;

    if (((const siginfo_t *)siginfo)->si_code != TRAP_PERF_CODE)
        return false;
    memcpy(&perf, (const char *)siginfo + 24, sizeof(perf)); /* si_perf_data and so on */
    if ((perf.data >> 16 & 0xffff) != OURS)
        return false;
    *out = (struct fv_trap_source){ .kind = (enum fv_trap)(perf.data & 0xff),
                                    .slot = perf.data >> 8 & 0xff,
                                    .generation = (uint32_t)(perf.data >> 32),
                                    .late = perf.flags & TRAP_PERF_ASYNC };
    return true;
}

uint64_t fv_perf_data(enum fv_trap kind, unsigned slot, uint32_t generation)
{
    return (uint64_t)kind | (uint64_t)slot << 8 | (uint64_t)OURS << 16 | (uint64_t)generation << 32;
}

/* ---- open and close ---- */

static struct perf_event_attr attributes(enum fv_trap kind, unsigned slot, uint32_t generation)
{
    return (struct perf_event_attr){
        .size = sizeof(struct perf_event_attr),
        .type = kind == FV_TRAP_TICK ? PERF_TYPE_SOFTWARE : PERF_TYPE_BREAKPOINT,
        .config = kind == FV_TRAP_TICK ? PERF_COUNT_SW_TASK_CLOCK : 0,
        .sample_period = 1,
        .disabled = 1,
        .exclude_kernel = 1,
        .exclude_hv = 1,
        .sigtrap = 1,
        .remove_on_exec = 1,
        .sig_data = fv_perf_data(kind, slot, generation),
    };
}

static struct perf_event_attr breakpoint(enum fv_trap kind, unsigned slot, uint32_t generation,
                                         uintptr_t address)
{
    struct perf_event_attr attr = attributes(kind, slot, generation);

    attr.bp_type = kind == FV_TRAP_X ? HW_BREAKPOINT_X : HW_BREAKPOINT_RW;
    attr.bp_addr = address;
    attr.bp_len = kind == FV_TRAP_X ? sizeof(long) : HW_BREAKPOINT_LEN_8;
    return attr;
}

bool fv_perf_open_tick(struct fv_event_fd *event, uint64_t period_ns)
{
    struct perf_event_attr attr = attributes(FV_TRAP_TICK, 0, 0);

    attr.sample_period = period_ns;
    return fv_perf_open(event, &attr, -1);
}

bool fv_perf_open_breakpoint(struct fv_event_fd *event, enum fv_trap kind, unsigned slot)
{
    static const uint64_t somewhere;
    struct perf_event_attr attr = breakpoint(kind, slot, 0, (uintptr_t)&somewhere);

    return fv_perf_open(event, &attr, -1);
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

bool fv_perf_arm(struct fv_event_fd *event, enum fv_trap kind, unsigned slot, uintptr_t address)
{
    struct perf_event_attr attr = breakpoint(kind, slot, ++event->generation, address);

    attr.disabled = 0;
    return fv_perf_is_ours(event) && !ioctl(event->fd, PERF_EVENT_IOC_MODIFY_ATTRIBUTES, &attr);
}

void fv_perf_disarm(struct fv_event_fd *event)
{
    event->generation++;
    if (fv_perf_is_ours(event))
        ioctl(event->fd, PERF_EVENT_IOC_DISABLE, 0);
}

#else

bool fv_perf_source(const void *siginfo, struct fv_trap_source *out)
{
    (void)siginfo, (void)out;
    return false;
}

bool fv_perf_open_tick(struct fv_event_fd *event, uint64_t period_ns)
{
    (void)period_ns;
    event->fd = -1;
    errno = ENOSYS;
    return false;
}

bool fv_perf_open_breakpoint(struct fv_event_fd *event, enum fv_trap kind, unsigned slot)
{
    (void)kind, (void)slot;
    event->fd = -1;
    errno = ENOSYS;
    return false;
}

bool fv_perf_open_migrations(struct fv_event_fd *event)
{
    event->fd = -1;
    errno = ENOSYS;
    return false;
}

void fv_perf_set_period(const struct fv_event_fd *event, uint64_t period_ns)
{
    (void)event, (void)period_ns;
}

bool fv_perf_arm(struct fv_event_fd *event, enum fv_trap kind, unsigned slot, uintptr_t address)
{
    (void)event, (void)kind, (void)slot, (void)address;
    return false;
}

void fv_perf_disarm(struct fv_event_fd *event)
{
    (void)event;
}

#endif
