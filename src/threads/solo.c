/* SPDX-License-Identifier: BSD-3-Clause */
/* See solo.h. */
#include "threads/solo.h"
#include "base/solo.h"
#include "rt/counters.h"
#include "rt/path.h"
#include "rt/solo_page.h"
#include "threads/omp_next.h"
#include "threads/sync.h"

#include <errno.h>
#include <sched.h>

#define PHASES_MOST   256
#define FAILURES_MOST 8 /* phases that are not separable: then all others are left alone */

bool fv_solo_on;

struct phase {
    struct fv_solo_record *record;
    uint32_t number; /* of the record, in the file */
    bool is_refused;
};

static struct fv_lock lock; /* of the phases */
static struct phase phases[PHASES_MOST];
static uint32_t phase_count, failures;
static struct fv_tail tail;
static struct fv_solo_page *page;
static uint64_t waited; /* ticks, for the pirate */

/* The phase that is under way: written by who opened it, then by the one, read by who closes it. */
static struct {
    uint32_t number;
    struct phase *phase;
    struct fv_solo_interval interval;
    struct fv_solo_record sums;
} current;

static FV_TLS uint32_t creating; /* the phase that the thread makes threads of, or made last */

/* ---- how it is measured ---- */

/* errno stays the application's. */
static void rest(void)
{
    int saved = errno;

    fv_solo_rest(page);
    errno = saved;
}

static bool is_used_up(void)
{
    uint64_t hz = fv_rt.writer.header->nominal_hz; /* 0: not known */

    return (double)(waited + current.sums.waited_ticks) / (hz ? (double)hz : 2.5e9) * 1e9 > (double)page->budget_ns;
}

static enum fv_gate_why begin_interval(void)
{
    uint64_t begin = fv_ticks();

    if (is_used_up())
        return FV_GATE_CUT;
    int saved = errno;
    unsigned cpu = 0;

    syscall(SYS_getcpu, &cpu, NULL, NULL);
    page->cpu = cpu;
    bool is_ready = page->how != FV_SOLO_PIRATE || fv_solo_call(page),
         is_let_go = !is_ready && !(__atomic_load_n(&page->wanted, __ATOMIC_SEQ_CST) & 1);

    errno = saved;
    if (fv_self && fv_self->counters)
        fv_counters_alone_begin(fv_self, current.phase->number);
    fv_solo_interval_begin(&current.interval, page, CLOCK_THREAD_CPUTIME_ID);
    current.sums.waited_ticks += current.interval.begin - begin;
    if (!is_ready && !is_let_go)
        __atomic_store_n(&fv_solo_on, false, __ATOMIC_RELAXED);
    return is_ready ? FV_GATE_GOOD : FV_GATE_LATE;
}

static void end_interval(void)
{
    fv_solo_interval_end(&current.interval, page, &current.sums);
    if (fv_self && fv_self->counters)
        fv_counters_alone_end(fv_self, current.phase->number, fv_ticks() - current.interval.begin);
    rest();
}

/* ---- threads that catch up do it where they do not use the one's last cache, if there is another one ---- */

static struct masks {
    cpu_set_t own, elsewhere;
} masks[FV_GATE_SEATS];

static bool get_mask(cpu_set_t *set)
{
    CPU_ZERO(set);
    return syscall(SYS_sched_getaffinity, 0, sizeof(*set), set) > 0;
}

/* False: there is no such place among its own. */
static bool go_elsewhere(struct masks *m)
{
    uint8_t domain = page->cpu < FV_SOLO_CPUS ? page->domains[page->cpu] : 0;

    CPU_ZERO(&m->elsewhere);
    if (!domain || !get_mask(&m->own))
        return false;
    for (unsigned cpu = 0; cpu < FV_SOLO_CPUS && cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &m->own) && page->domains[cpu] && page->domains[cpu] != domain)
            CPU_SET(cpu, &m->elsewhere);
    return CPU_COUNT(&m->elsewhere) && !syscall(SYS_sched_setaffinity, 0, sizeof(m->elsewhere), &m->elsewhere);
}

/* What the program has changed meanwhile stays. */
static void catch_up(uint32_t seat, bool begins)
{
    struct masks *m = &masks[seat];
    int saved = errno;
    cpu_set_t now;

    if (begins && !go_elsewhere(m))
        CPU_ZERO(&m->elsewhere);
    if (!begins && CPU_COUNT(&m->elsewhere) && get_mask(&now) && CPU_EQUAL(&now, &m->elsewhere))
        syscall(SYS_sched_setaffinity, 0, sizeof(m->own), &m->own);
    errno = saved;
}

static struct fv_gate_rules rules = {
    .begin = begin_interval, .end = end_interval, .rest = rest, .catch_up = catch_up
};

/* ---- phases ---- */

/* Under the lock. NULL: there is none yet. */
static struct phase *find(const struct fv_solo_record *key)
{
    for (uint32_t i = 0; i < phase_count; i++) {
        const struct fv_solo_record *r = phases[i].record;

        if (r->kind == key->kind && r->path == key->path && r->module == key->module && r->offset == key->offset)
            return &phases[i];
    }
    return NULL;
}

static struct phase *phase_of(struct fv_sync *s, const struct fv_solo_record *key)
{
    struct fv_sync_rarely rarely = fv_sync_rare_begin(s);

    fv_lock(&lock);
    struct phase *phase = find(key);
    if (!phase && phase_count < PHASES_MOST) {
        struct fv_solo_record *record = fv_solo_new_record(&tail, page, key); /* in the scope of fv_sync_rare_begin() */

        if (record) {
            phases[phase_count] = (struct phase){ record, (uint32_t)tail.count - 1, false };
            phase = &phases[phase_count++];
        }
    }
    fv_unlock(&lock);
    fv_sync_rare_end(&rarely);
    return phase;
}

/* 0: this instance is not measured. If another phase is under way, whoever runs alone there would not. */
static uint32_t open_phase(struct fv_sync *s, const struct fv_solo_record *key)
{
    fv_gate_give_up(__atomic_load_n(&current.number, __ATOMIC_ACQUIRE), FV_GATE_NESTED);
    struct phase *phase = phase_of(s, key);
    uint64_t n = phase ? __atomic_fetch_add(&phase->record->count, 1, __ATOMIC_RELAXED) : 0;
    uint32_t number =
        phase && !phase->is_refused && fv_solo_is_turn(n) ? fv_gate_open(&rules, fv_solo_pick(phase->record)) : 0;

    if (!number)
        return 0;
    current.phase = phase;
    current.sums = (struct fv_solo_record){ .kind = key->kind };
    __atomic_store_n(&current.number, number, __ATOMIC_RELEASE);
    return number;
}

static void add(struct fv_solo_record *to, const struct fv_solo_record *sums, uint32_t threads)
{
    to->threads = threads > to->threads ? threads : to->threads;
    __atomic_fetch_add(&to->measured, 1, __ATOMIC_RELAXED);
    to->intervals += sums->intervals;
    to->ticks += sums->ticks;
    to->cpu_ns += sums->cpu_ns;
    to->probes += sums->probes;
    to->misses += sums->misses;
    to->lost_intervals += sums->lost_intervals;
    to->lost_ticks += sums->lost_ticks;
}

static void close_phase(uint32_t number)
{
    struct phase *phase = current.phase;
    struct fv_solo_record sums = current.sums; /* another phase may open as soon as this one is closed */
    uint32_t threads;

    waited += sums.waited_ticks;
    current.sums.waited_ticks = 0;
    enum fv_gate_why why = fv_gate_close(number, &threads);
    phase->record->waited_ticks += sums.waited_ticks;
    if (why == FV_GATE_GOOD && threads > 1) {
        add(phase->record, &sums, threads);
    } else if (why != FV_GATE_GOOD) {
        phase->record->threads = threads > phase->record->threads ? threads : phase->record->threads;
        phase->record->why = why;
        phase->record->let_go++;
        phase->is_refused = true;
        failures++;
    }
    if (failures >= FAILURES_MOST || is_used_up())
        __atomic_store_n(&fv_solo_on, false, __ATOMIC_RELAXED);
}

/* ---- OpenMP ---- */

uint32_t fv_solo_fork(struct fv_sync *s, const struct fv_omp_region *region)
{
    uint32_t outer = fv_gate_mine();

    if (outer) {
        fv_gate_give_up(outer, FV_GATE_NESTED);
        return 0;
    }
    if (!region->path || region->threads_max == 1)
        return 0;
    return open_phase(
        s, &(struct fv_solo_record){
               .kind = FV_SOLO_OMP, .path = region->path, .module = region->module, .offset = region->offset });
}

void fv_solo_join(uint32_t phase)
{
    close_phase(phase);
}

/* ---- threads ---- */

/* Threads of a run-time library of OpenMP: their phases are its regions. */
static bool is_runtimes(uintptr_t routine, uint32_t module)
{
    const struct fv_omp_next *next = __atomic_load_n(&fv_omp_global, __ATOMIC_ACQUIRE);
    uint64_t offset;

    return fv_sync_is_runtimes(routine) ||
           (next && next->omp_get_thread_num && fv_module_of((uintptr_t)next->omp_get_thread_num, &offset) == module);
}

static bool is_of(const struct fv_solo_record *a, const struct fv_solo_record *b)
{
    return a->kind == b->kind && a->module == b->module && a->offset == b->offset;
}

uint32_t fv_solo_create(struct fv_sync *s, uintptr_t routine, uint32_t path, int *seat)
{
    struct fv_solo_record key = { .kind = FV_SOLO_THREADS, .path = path };
    uint32_t outer = fv_gate_mine(), under_way = __atomic_load_n(&current.number, __ATOMIC_ACQUIRE);

    *seat = -1;
    key.module = fv_module_of(routine, &key.offset);
    if (is_runtimes(routine, key.module))
        return 0;
    if (outer) {
        fv_gate_give_up(outer, FV_GATE_NESTED);
        return 0;
    }
    if (creating && creating == under_way && is_of(current.phase->record, &key)) {
        *seat = fv_gate_seat(creating);
        if (*seat >= 0)
            return creating;
    } else if (creating && creating == under_way) {
        fv_gate_give_up(creating, FV_GATE_NESTED);
    }
    if (*seat < 0 && path && (creating = open_phase(s, &key)))
        *seat = fv_gate_seat(creating);
    return creating;
}

void fv_solo_not_made(uint32_t phase, int seat)
{
    if (fv_gate_seat_empty(phase, seat))
        close_phase(phase);
}

void fv_solo_waits(void)
{
    if (!fv_solo_is_on())
        return;
    if (FV_UNLIKELY(creating))
        fv_gate_full(creating);
    fv_gate_waits();
}

void fv_solo_exit(void)
{
    uint32_t number = fv_gate_mine();

    if (fv_gate_exit())
        close_phase(number);
}

/* ---- start ---- */

/* One process is measured: the first that comes. */
static bool claim(void)
{
    uint32_t nobody = 0;

    return !page->takes_turns && __atomic_compare_exchange_n(&page->claimed, &nobody, (uint32_t)fv_rt.pid, false,
                                                             __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

void fv_solo_start(void)
{
    if (page || !(page = fv_solo_map()) || !claim() ||
        !fv_solo_new_record(&tail, page, &(struct fv_solo_record){ .kind = FV_SOLO_PROCESS }))
        return;
    rules.limit_ns = page->limit_ns;
    rules.wait_ns = page->wait_ns;
    rules.still_ns = page->wait_ns / 2 * 5;
    rules.gather_ns = 10 * page->wait_ns;
    __atomic_store_n(&fv_solo_on, true, __ATOMIC_RELEASE);
}

void fv_solo_forget(void)
{
    __atomic_store_n(&fv_solo_on, false, __ATOMIC_RELAXED);
    creating = 0;
    lock.held = 0;
    fv_gate_forget();
}
