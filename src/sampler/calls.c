/* SPDX-License-Identifier: BSD-3-Clause */
/* See calls.h. */
#include "sampler/calls.h"
#include "base/experiment.h"
#include "base/perf_events.h"
#include "sampler/sampler.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__x86_64__) && defined(PERF_ATTR_SIZE_VER4) /* with registers at the event */

#include <asm/perf_regs.h>
#include <linux/hw_breakpoint.h>

#define RING         4096u               /* bytes of samples, of 40 each */
#define FRAMES_MOST  32                  /* from where the signal comes down to the sampled entry */
#define PERIOD_FIRST (UINT64_C(1) << 20) /* calls: some hundredths of a second */
#define PERIOD_MOST  (UINT64_C(1) << 40)
#define SILENT_TICKS 4

static struct fv_perf_event wanted; /* no name: none */

void fv_calls_start(void)
{
    const char *text = fv_env("FVMPI_CALL_EVENT");

    if (!text || !*text)
        return;
    if (fv_perf_event_parse(text, strlen(text), &wanted)) {
        if (fv_first_rank())
            fv_log("FVMPI_CALL_EVENT=%.200s: not an event of `fvmpi run`; entries are found by breakpoints", text);
        wanted.name[0] = '\0';
    }
}

/* ---- open and close ---- */

static struct perf_event_attr attributes(uint64_t period)
{
    struct perf_event_attr attr = {
        .size = sizeof(attr),
        .type = wanted.type,
        .config = wanted.config,
        .config1 = wanted.config1,
        .config2 = wanted.config2,
        .sample_period = period,
        .sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_REGS_INTR,
        .sample_regs_intr = 1u << PERF_REG_X86_SP | 1u << PERF_REG_X86_IP,
        .wakeup_events = 1,
        .precise_ip = wanted.flags / FV_PERF_PRECISE & 3,
        .disabled = 1,
        .exclude_kernel = 1,
        .exclude_hv = 1,
    };

    if (wanted.type == PERF_TYPE_BREAKPOINT) {
        attr.bp_type = HW_BREAKPOINT_X;
        attr.bp_len = sizeof(long);
    }
    return attr;
}

/* errno's part of why; said by the job's first thread that meets it. */
static int refused(int err)
{
    static bool told;

    if (!__atomic_exchange_n(&told, true, __ATOMIC_RELAXED) && fv_first_rank())
        fv_log("FVMPI_CALL_EVENT: %s: %s; entries are found by breakpoints", wanted.name,
               err == EXDEV ? "encoded for another processor" : "perf_event_open does not have it here");
    return err;
}

int fv_calls_open(struct fv_calls *calls)
{
    bool is_breakpoint = wanted.type == PERF_TYPE_BREAKPOINT;
    struct perf_event_attr attr;
    int err;

    *calls = (struct fv_calls){ .event = { .fd = -1 }, .period = is_breakpoint ? 1 : PERIOD_FIRST };
    if (!*wanted.name)
        return ENOENT;
    if (wanted.processor && wanted.processor != fv_processor())
        return refused(EXDEV);
    attr = attributes(calls->period);
    if (fv_perf_open_signal(&calls->event, &attr, FV_TRAP_CALL, 0)) {
        void *ring = mmap(NULL, FV_PAGE + RING, PROT_READ | PROT_WRITE, MAP_SHARED, calls->event.fd, 0);
        if (ring != MAP_FAILED) {
            calls->ring = ring;
            return 0;
        }
    }
    err = errno;
    fv_perf_close(&calls->event);
    return refused(err == ENOENT ? ENODEV : err);
}

void fv_calls_close(struct fv_calls *calls)
{
    if (calls->ring && fv_rt.pid == getpid()) /* a child does not have it */
        munmap(calls->ring, FV_PAGE + RING);
    calls->ring = NULL;
    fv_perf_close(&calls->event);
}

/* ---- how often ---- */

/* As many samples as ticks, and in step with no loop. */
static void set_period(struct fv_sampler *s, uint64_t period)
{
    struct fv_calls *calls = &s->calls;

    calls->period = period < 1 ? 1 : period > PERIOD_MOST ? PERIOD_MOST : period;
    fv_perf_set_period(&calls->event, calls->period / 2 + fv_sampler_random(s) % (calls->period + 1) + 1);
}

static void adapt(struct fv_sampler *s, uint64_t now_ns)
{
    struct fv_calls *calls = &s->calls;
    double interval = (double)(now_ns - calls->last_cpu_ns), factor = 1e9 / (double)s->record->rate / (interval + 1);

    set_period(s, (uint64_t)((double)calls->period * (factor > 4 ? 4 : factor < 0.25 ? 0.25 : factor) + 0.5));
    calls->last_cpu_ns = now_ns;
    calls->silent_ticks = 0;
}

void fv_calls_tick(struct fv_sampler *s)
{
    struct fv_calls *calls = &s->calls;

    if (!calls->ring)
        return;
    if (!calls->on) {
        calls->on = true;
        fv_perf_enable(&calls->event);
    } else if (++calls->silent_ticks == SILENT_TICKS) {
        set_period(s, calls->period / 4);
        calls->silent_ticks = 0;
    }
}

/* ---- samples ---- */

static void copy(const struct fv_calls *calls, uint64_t at, void *out, size_t bytes)
{
    const char *data = (const char *)calls->ring + FV_PAGE;

    for (size_t i = 0; i < bytes; i++)
        ((char *)out)[i] = data[(at + i) % RING];
}

/* The newest; older ones are of signals that came too late. */
static bool newest(struct fv_calls *calls, uintptr_t *ip, uintptr_t *sp)
{
    struct perf_event_mmap_page *page = calls->ring;
    uint64_t head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE), at = page->data_tail;
    struct {
        struct perf_event_header header;
        uint64_t ip, abi, sp_of_abi, ip_of_abi;
    } sample;
    bool found = false;

    while (head - at >= sizeof(sample.header) && head - at <= RING) {
        copy(calls, at, &sample.header, sizeof(sample.header));
        if (sample.header.size < sizeof(sample.header))
            break;
        if (sample.header.type == PERF_RECORD_SAMPLE && sample.header.size == sizeof(sample)) {
            copy(calls, at, &sample, sizeof(sample));
            found = sample.abi == PERF_SAMPLE_REGS_ABI_64;
            *ip = sample.ip_of_abi;
            *sp = sample.sp_of_abi;
        }
        at += sample.header.size;
    }
    __atomic_store_n(&page->data_tail, head, __ATOMIC_RELEASE);
    return found;
}

/* Is the frame that was entered at `ip`, its return address at `slot`, still on the stack? Then *entry are
 * the registers as they were. */
static bool is_there(struct fv_sampler *s, const struct fv_registers *now, uintptr_t ip, uintptr_t slot,
                     struct fv_registers *entry)
{
    struct fv_registers r = *now;
    uintptr_t pc = r.r[FV_REG_PC];

    for (unsigned i = 0; i < FRAMES_MOST; i++) {
        const struct fv_cfi_row *row = fv_cfi_find(&s->cfi, pc);
        uintptr_t begin = row->begin;

        if (!begin || !fv_cfi_step(&s->cfi, row, pc, &s->stack, &r))
            return false;
        uintptr_t at = r.r[FV_REG_SP] - sizeof(uintptr_t);
        if (at >= slot) {
            *entry = r;
            entry->r[FV_REG_PC] = ip;
            entry->r[FV_REG_SP] = slot;
            return at == slot && begin == ip;
        }
        pc = r.r[FV_REG_PC] - 1;
    }
    return false;
}

static bool is_entry(struct fv_sampler *s, uintptr_t ip)
{
    const struct fv_cfi_row *row = fv_cfi_find(&s->cfi, ip);

    return row->begin == ip && row->plain_entry && !fv_excluded(row);
}

struct fv_live_instance *fv_calls_on_sample(struct fv_sampler *s, const struct fv_registers *now, uint64_t now_ns)
{
    struct fv_registers entry;
    struct fv_live_instance *live = NULL;
    uintptr_t ip = 0, slot = 0;
    uint32_t known;

    s->record->call_samples++;
    adapt(s, now_ns);
    fv_live_pop_gone(s, now->r[FV_REG_SP]);
    fv_walk(s, now); /* says which part of the stack may be read */
    if (!newest(&s->calls, &ip, &slot) || !is_entry(s, ip) || !is_there(s, now, ip, slot, &entry) ||
        (known = fv_known_find(s, ip)) == FV_KNOWN) {
        s->record->refused++;
    } else if ((live = fv_live_push(s, ip, known, &entry))) {
        live->in_window = true; /* calls are chosen by their number, not by the time between them */
    }
    fv_live_watch(s);
    if (live && s->armed != live->slot) {
        fv_live_abandon(s);
        live = NULL;
    }
    return live;
}

#else

void fv_calls_start(void) {}
int fv_calls_open(struct fv_calls *calls)
{
    *calls = (struct fv_calls){ .event = { .fd = -1 } };
    return ENOENT;
}
void fv_calls_close(struct fv_calls *calls)
{
    (void)calls;
}
void fv_calls_tick(struct fv_sampler *s)
{
    (void)s;
}
struct fv_live_instance *fv_calls_on_sample(struct fv_sampler *s, const struct fv_registers *now, uint64_t now_ns)
{
    (void)s, (void)now, (void)now_ns;
    return NULL;
}

#endif
