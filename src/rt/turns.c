/* SPDX-License-Identifier: BSD-3-Clause */
/* See turns.h. */
#include "rt/turns.h"
#include "base/base.h"
#include "base/process.h"
#include "rt/layers.h"
#include "rt/solo_page.h"
#include "rt/thread.h"

#include <errno.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define LOOK_NS 50000000 /* who waits looks so often */

static struct fv_solo_page *page;     /* NULL: no turns here, or no more */
static const struct fv_thread *first; /* of the process: who takes them */
static struct fv_solo_record *record;
static struct fv_tail tail;
static struct fv_solo_interval interval;
static uint32_t mine;           /* the turn's number */
static uint64_t began_ns;       /* to take them */
static bool has_turn, computes; /* it may be in a call that does not give it up */

/* ---- the page ---- */

/* One in 32 of those that wait is woken for each turn: as good as always who has it. */
static uint32_t bit_of(uint32_t turn)
{
    return UINT32_C(1) << turn % 32;
}

static void wake(uint32_t bits)
{
    syscall(SYS_futex, &page->turn, FUTEX_WAKE_BITSET, INT32_MAX, NULL, NULL, bits);
}

/* For good, all ranks. */
static void let_all_go(enum fv_gate_why why)
{
    uint32_t none = 0;

    __atomic_compare_exchange_n(&page->turns_why, &none, (uint32_t)why, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    wake(FUTEX_BITSET_MATCH_ANY);
}

static bool are_let_go(void)
{
    return __atomic_load_n(&page->turns_why, __ATOMIC_ACQUIRE);
}

/* CPU time of a process; UINT64_MAX: it is gone. */
static uint64_t cpu_ns_of(uint32_t process)
{
    struct timespec t;
    clockid_t clock;

    if (clock_getcpuclockid((pid_t)process, &clock) || clock_gettime(clock, &t))
        return UINT64_MAX;
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* ---- taking turns ---- */

/* Of him whose turn it is, while another one waits for it. */
struct watch {
    uint32_t turn, process;
    uint64_t cpu_ns, since_ns; /* CPU time, and since when it is that */
};

static enum fv_gate_why look_at(struct watch *w, uint32_t turn)
{
    uint32_t process = __atomic_load_n(&page->turn_process, __ATOMIC_ACQUIRE);
    uint64_t now = fv_now_ns(), cpu_ns = process ? cpu_ns_of(process) : 0;

    if (turn != w->turn || process != w->process || cpu_ns != w->cpu_ns)
        *w = (struct watch){ turn, process, cpu_ns, now };
    if (cpu_ns == UINT64_MAX && turn == __atomic_load_n(&page->turn, __ATOMIC_ACQUIRE))
        return FV_GATE_LEFT;
    if (now - w->since_ns > page->wait_ns / 2 * 5)
        return process ? FV_GATE_STILL : FV_GATE_LEFT; /* nobody has taken it */
    uint64_t since = __atomic_load_n(&page->turn_since_ns, __ATOMIC_RELAXED);
    return since && now > since && now - since > page->limit_ns ? FV_GATE_LONG : FV_GATE_GOOD;
}

static void wait_for(uint32_t turn)
{
    struct watch watch = { .since_ns = fv_now_ns() };
    uint64_t until_ns = watch.since_ns + LOOK_NS;
    uint32_t now;

    while ((now = __atomic_load_n(&page->turn, __ATOMIC_ACQUIRE)) != turn && !are_let_go()) {
        /* FUTEX_WAIT_BITSET's time is absolute, by CLOCK_MONOTONIC: signals, which end it before, put nothing off */
        const struct timespec until = { (time_t)(until_ns / 1000000000), (long)(until_ns % 1000000000) };

        if (!syscall(SYS_futex, &page->turn, FUTEX_WAIT_BITSET, now, &until, NULL, bit_of(turn)) || errno != ETIMEDOUT)
            continue;
        enum fv_gate_why why = look_at(&watch, now);
        if (why)
            let_all_go(why);
        until_ns = fv_now_ns() + LOOK_NS;
    }
}

/* A copy of a program without MPI is the only one that runs: it waits for nobody, and if it has called exec(), its turn
 * was never given up. */
static bool is_copy(void)
{
    return !strcmp(fv_rt.writer.header->mpi, "none");
}

static void take(void)
{
    has_turn = is_copy();
    if (has_turn)
        return;
    if (fv_now_ns() - began_ns > page->limit_ns * fv_rt.writer.header->world_size)
        let_all_go(FV_GATE_CUT);
    mine = __atomic_fetch_add(&page->turns_drawn, 1, __ATOMIC_SEQ_CST);
    wait_for(mine);
    has_turn = !are_let_go();
    if (!has_turn)
        return;
    __atomic_store_n(&page->turn_since_ns, fv_now_ns(), __ATOMIC_RELAXED);
    __atomic_store_n(&page->turn_process, (uint32_t)fv_rt.pid, __ATOMIC_RELEASE);
}

/* If it has it, whichever thread says so. */
static void give(void)
{
    if (!__atomic_exchange_n(&has_turn, false, __ATOMIC_ACQ_REL))
        return;
    record->measured++;
    if (is_copy())
        return;
    __atomic_store_n(&page->turn_since_ns, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&page->turn_process, 0, __ATOMIC_RELEASE);
    __atomic_store_n(&page->turn, mine + 1, __ATOMIC_SEQ_CST);
    wake(bit_of(mine + 1));
}

/* ---- what is measured ---- */

/* Between two calls: one turn may have several. CPU time is that of all threads. What is not recorded is not
 * measured. */
static void begin(void)
{
    if (fv_rt_paused())
        return;
    fv_solo_interval_begin(&interval, page, CLOCK_PROCESS_CPUTIME_ID);
    __atomic_store_n(&computes, true, __ATOMIC_RELEASE);
}

/* Any thread may end the process. */
static void end(void)
{
    if (__atomic_exchange_n(&computes, false, __ATOMIC_ACQ_REL))
        fv_solo_interval_end(&interval, page, record);
}

/* All were let go: what was measured does not count, and the turn is nobody's. */
static bool is_over(void)
{
    if (!page)
        return true;
    if (!are_let_go())
        return false;
    record->why = page->turns_why;
    record->let_go = 1;
    page = NULL;
    return true;
}

static bool gives_up_turn(unsigned function)
{
    const struct fv_function *f = &fv_functions[function];

    if (f->class == FV_CLASS_OTHER)
        return strstr(f->name, "uffer"); /* MPI_Buffer_detach() and the like wait until what is in the buffer was
                                          * sent */
    return f->class != FV_CLASS_P2P || f->wait != FV_RULE_NONE || strstr(f->name, "probe");
}

void fv_turns_enter(const struct fv_thread *t, unsigned function)
{
    int saved = errno;

    if (t != first || !page)
        return;
    end();
    if (!is_over() && gives_up_turn(function))
        give();
    errno = saved;
}

void fv_turns_leave(const struct fv_thread *t)
{
    int saved = errno;

    if (t != first || is_over())
        return;
    if (!has_turn)
        take();
    if (!is_over())
        begin();
    errno = saved;
}

/* ---- what is recorded ---- */

static bool is_firsts(void)
{
    return page && fv_self == first;
}

void fv_turns_pause(void)
{
    int saved = errno;

    if (is_firsts())
        end();
    errno = saved;
}

void fv_turns_resume(void)
{
    int saved = errno;

    if (is_firsts() && has_turn && !computes)
        begin();
    errno = saved;
}

void fv_turns_forget(void)
{
    if (!is_firsts())
        return;
    fv_turns_pause();
    record->measured = record->intervals = record->ticks = record->cpu_ns = record->probes = record->misses =
        record->lost_intervals = record->lost_ticks = 0;
    fv_turns_resume();
}

/* ---- begin and end ---- */

/* Ranks of other nodes have their own page, or none. The pirate is where the first one is, and works until fvmpi run
 * ends it. */
static bool call_pirate(void)
{
    uint32_t nobody = 0;
    unsigned cpu = 0;

    if (!__atomic_compare_exchange_n(&page->claimed, &nobody, (uint32_t)fv_rt.pid, false, __ATOMIC_SEQ_CST,
                                     __ATOMIC_SEQ_CST) ||
        page->how != FV_SOLO_PIRATE)
        return true;
    syscall(SYS_getcpu, &cpu, NULL, NULL);
    page->cpu = cpu;
    return fv_solo_call(page);
}

/* Another node sees the page's file, but not what is written to it. */
static bool is_of_this_node(const struct fv_solo_page *found)
{
    uint8_t boot[16];

    return fv_boot_id(boot) && !memcmp(boot, found->boot, sizeof(boot));
}

static void start(struct fv_thread *self)
{
    struct fv_solo_page *found = self && !page && !record ? fv_solo_map() : NULL;

    if (!found || !found->takes_turns || !is_of_this_node(found) ||
        !fv_solo_new_record(&tail, found, &(struct fv_solo_record){ .kind = FV_SOLO_PROCESS }) ||
        !(record = fv_solo_new_record(&tail, found,
                                      &(struct fv_solo_record){ .kind = FV_SOLO_RANK,
                                                                .threads = (uint32_t)fv_rt.writer.header->world_size,
                                                                .count = 1 })))
        return;
    page = found;
    record->fill_ns = page->fill_ns;
    began_ns = fv_now_ns();
    first = self;
    take();
    if (!is_over() && !call_pirate())
        let_all_go(FV_GATE_LATE);
    if (is_over())
        return;
    fv_switches_look_always(&self->switches);
    begin();
}

void fv_turns_end(void)
{
    int saved = errno;

    if (!page)
        return;
    end();
    if (!is_over())
        give();
    page = NULL;
    errno = saved;
}

static void stop(struct fv_thread *self)
{
    if (self == first)
        fv_turns_end();
}

static void forget(struct fv_thread *self)
{
    (void)self;
    page = NULL;
}

const struct fv_layer fv_turns_layer = { .at = {
                                             [FV_AT_START] = start, [FV_AT_FINALIZE] = stop, [FV_AT_FORK] = forget } };
