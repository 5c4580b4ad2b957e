/* See sampler.h: events, the signal handler, and what it does.
 *
 *     X slot   idle -> armed at a tick -> trap at the entry: the instance is pushed -> idle
 *     RW slot  on the innermost instance; a trap there is its return, or somebody else who looks
 *
 * An instance whose slot lies below the stack pointer has ended some other way (longjmp, exceptions); it is
 * popped at the next event, whatever that is. A thread has one stack here: what runs on another (coroutines,
 * signal stacks) is counted as a cost and not followed. */
#include "sampler/sampler.h"
#include "base/experiment.h"
#include "sampler/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

struct fv_calibration fv_sampler_calibration;

#if FV_SAMPLER_SIGNALS && defined(PERF_ATTR_SIZE_VER7)

#include <linux/hw_breakpoint.h>

#define TRAP_PERF_CODE  6 /* TRAP_PERF of the kernel, where the C library does not know it */
#define TRAP_PERF_ASYNC 1
#define SIGNAL_STACK    (64u << 10)
#define HANDLER_STACK   6144 /* of it, beside the kernel's frame */
#define READS_MOST      16   /* of a watched slot, before its instance is given up */
#define CALIBRATION     101

enum kind { KIND_TICK = 1, KIND_X = 2, KIND_RW = 3 };

static bool wanted; /* threads that begin are sampled */
static FV_TLS struct fv_sampler *mine;

/* ---- events ---- */

static uint64_t cpu_ns(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static struct perf_event_attr attributes(enum kind kind, unsigned slot, uint32_t generation)
{
    return (struct perf_event_attr){
        .size = sizeof(struct perf_event_attr),
        .type = kind == KIND_TICK ? PERF_TYPE_SOFTWARE : PERF_TYPE_BREAKPOINT,
        .config = kind == KIND_TICK ? PERF_COUNT_SW_TASK_CLOCK : 0,
        .sample_period = 1,
        .disabled = 1,
        .exclude_kernel = 1,
        .exclude_hv = 1,
        .sigtrap = 1,
        .remove_on_exec = 1,
        .sig_data = (uint64_t)kind | (uint64_t)slot << 8 | (uint64_t)generation << 32,
    };
}

static bool open_event(struct fv_event_fd *event, struct perf_event_attr *attr)
{
    long fd = syscall(SYS_perf_event_open, attr, 0, -1, -1, (unsigned long)PERF_FLAG_FD_CLOEXEC);
    int high = fd < 0 ? -1 : fcntl((int)fd, F_DUPFD_CLOEXEC, 48); /* low ones are the application's */

    if (high >= 0) {
        close((int)fd);
        fd = high;
    }
    event->fd = (int)fd;
    return fd >= 0 && !ioctl(event->fd, PERF_EVENT_IOC_ID, &event->id);
}

/* Only what is still ours: an application may close what it does not own. */
static void close_event(struct fv_event_fd *event)
{
    uint64_t id;

    if (event->fd >= 0 && !ioctl(event->fd, PERF_EVENT_IOC_ID, &id) && id == event->id)
        close(event->fd);
    event->fd = -1;
}

static struct perf_event_attr breakpoint(enum kind kind, unsigned slot, uint32_t generation,
                                         uintptr_t address)
{
    struct perf_event_attr attr = attributes(kind, slot, generation);

    attr.bp_type = kind == KIND_X ? HW_BREAKPOINT_X : HW_BREAKPOINT_RW;
    attr.bp_addr = address;
    attr.bp_len = kind == KIND_X ? sizeof(long) : HW_BREAKPOINT_LEN_8;
    return attr;
}

static bool arm(struct fv_event_fd *event, enum kind kind, unsigned slot, uintptr_t address)
{
    struct perf_event_attr attr = breakpoint(kind, slot, ++event->generation, address);

    attr.disabled = 0;
    return !ioctl(event->fd, PERF_EVENT_IOC_MODIFY_ATTRIBUTES, &attr);
}

static void disarm(struct fv_event_fd *event)
{
    event->generation++;
    ioctl(event->fd, PERF_EVENT_IOC_DISABLE, 0);
}

static void disarm_x(struct fv_x_slot *x)
{
    disarm(&x->event);
    x->entry = 0;
}

/* ---- instances being measured ---- */

/* The watchpoint belongs to the innermost. */
static void watch_innermost(struct fv_sampler *s)
{
    const struct fv_live *top = s->depth ? &s->live[s->depth - 1] : NULL;

    if (top && top->slot == s->thread->watched)
        return;
    if (top && arm(&s->rw, KIND_RW, 0, top->slot)) {
        s->thread->watched = top->slot;
        s->thread->watched_value = top->ret;
    } else if (s->thread->watched) {
        disarm(&s->rw);
        s->thread->watched = 0;
    }
}

static void abandon_innermost(struct fv_sampler *s)
{
    const struct fv_live *top = &s->live[--s->depth];

    if (s->thread->watched == top->slot) /* another may come to stand in the slot */
        s->thread->watched = 1;
    if (s->calibration)
        return;
    fv_context_record(s, top->context)->abandoned++;
    s->record->abandoned++;
    s->record->open--;
}

static bool on_own_stack(const struct fv_sampler *s, uintptr_t sp)
{
    return sp >= s->thread->stack_low && sp < s->thread->stack_end;
}

/* Instances whose frames are gone. */
static void pop_gone(struct fv_sampler *s, uintptr_t sp)
{
    while (s->depth && on_own_stack(s, sp) && s->live[s->depth - 1].slot < sp)
        abandon_innermost(s);
}

static void read_all(struct fv_sampler *s, struct fv_readings *out)
{
    struct rusage usage;

    out->mpi_ticks = s->thread->record->mpi_ticks;
    out->mpi_tool_ticks = s->tool_mpi_ticks;
    out->mpi_calls = s->thread->record->calls;
    if (getrusage(RUSAGE_THREAD, &usage))
        return;
    out->faults = (uint64_t)usage.ru_minflt + (uint64_t)usage.ru_majflt;
    out->switches = (uint64_t)usage.ru_nvcsw + (uint64_t)usage.ru_nivcsw;
}

static void returned(struct fv_sampler *s, struct fv_readings *end)
{
    const struct fv_live *top = &s->live[s->depth - 1];

    if (s->calibration) {
        if (s->calibrated + 2 <= s->calibration_room) {
            s->calibration[s->calibrated++] = end->ticks - top->begin.ticks;
            s->calibration[s->calibrated++] = end->cpu_ns - top->begin.cpu_ns;
        }
        s->depth--;
        return;
    }
    fv_context_add(s, top, end);
    s->record->returns++;
    s->record->open--;
    s->depth--;
}

/* ---- the return: a trap of the watchpoint ---- */

/* Is somebody there who was called since the instance's frame was left? The call wrote the same return
 * address. */
static bool called_anew(struct fv_sampler *s, const struct fv_live *top, uintptr_t pc, uintptr_t sp)
{
    const struct fv_cfi_row *row;

    if (sp != top->slot)
        return false;
    row = fv_cfi_find(&s->cfi, pc);
    return row->begin == pc || row->begin != top->function;
}

__attribute__((no_sanitize("address"))) static void on_rw(struct fv_sampler *s, const struct fv_registers *r,
                                                          struct fv_readings *now)
{
    uintptr_t pc = r->r[FV_REG_RIP], sp = r->r[FV_REG_RSP], value;
    struct fv_live *top = s->depth ? &s->live[s->depth - 1] : NULL;

    if (!top || top->slot != s->thread->watched)
        return;
    uintptr_t slot = top->slot;
    if (pc == top->ret && sp == slot + sizeof(uintptr_t)) {
        read_all(s, now);
        while (s->depth && s->live[s->depth - 1].slot == slot)
            returned(s, now);
        s->thread->watched = 1; /* armed, for nobody */
    } else {
        disarm(&s->rw); /* to look at it ourselves */
        s->thread->watched = 0;
        value = sp <= slot ? *(const volatile uintptr_t *)slot : 0;
        if (sp > slot || value != top->ret || called_anew(s, top, pc, sp) || ++top->reads > READS_MOST)
            while (s->depth && s->live[s->depth - 1].slot == slot)
                abandon_innermost(s);
    }
    pop_gone(s, sp);
    watch_innermost(s);
}

/* ---- the entry: a trap of a breakpoint ---- */

/* Was the tick that armed it close enough before this entry? In CPU time, because that is what ticks measure.
 */
static bool is_in_window(const struct fv_sampler *s, const struct fv_x_slot *x, uint32_t context,
                         uint64_t now_ns)
{
    uint64_t window = s->context[context].window_ns;
    uint64_t tool = s->tool_ns - x->armed_tool_ns + fv_sampler_calibration.trap_ns;
    uint64_t since = now_ns - x->armed_cpu_ns;

    return window >= fv_sampler_calibration.trap_ns && (since < tool || since - tool <= window);
}

static struct fv_live *push(struct fv_sampler *s, const struct fv_x_slot *x, const struct fv_registers *r,
                            uint64_t now_ns)
{
    uintptr_t slot = r->r[FV_REG_RSP], ret;
    struct fv_live *live = &s->live[s->depth];
    uint32_t node, context = 0;

    if (s->depth == FV_LIVE || !on_own_stack(s, slot)) {
        s->record->refused++;
        return NULL;
    }
    fv_walk(s, r);
    if (!fv_stack_read(&s->stack, slot, &ret)) {
        s->record->refused++;
        return NULL;
    }
    /* The same function in the same slot: the other one was left by longjmp(), and called again. */
    while (s->depth && s->live[s->depth - 1].slot == slot && s->live[s->depth - 1].function == x->entry)
        abandon_innermost(s);
    live = &s->live[s->depth];
    if (!s->calibration) {
        node = fv_walk_intern(s, 0);
        context = node ? fv_context_find(s, node, x->known) : FV_SAMPLE_CONTEXTS;
        if (context == FV_SAMPLE_CONTEXTS) {
            s->record->lost_contexts++;
            return NULL;
        }
        fv_context_record(s, context)->entries++;
        s->record->entries++;
        s->record->open++;
    }
    *live = (struct fv_live){ .slot = slot, .ret = ret, .function = x->entry, .context = context };
    live->in_window = !s->calibration && is_in_window(s, x, context, now_ns);
    s->depth++;
    return live;
}

static struct fv_live *on_x(struct fv_sampler *s, unsigned slot, const struct fv_registers *r,
                            uint64_t now_ns)
{
    struct fv_x_slot *x = &s->x[slot];
    struct fv_live *live;

    if (r->r[FV_REG_RIP] != x->entry)
        return NULL;
    pop_gone(s, r->r[FV_REG_RSP]);
    if (x->skip) {
        x->skip--;
        s->record->skipped++;
        watch_innermost(s);
        return NULL;
    }
    s->known[x->known].entered++;
    live = push(s, x, r, now_ns);
    disarm_x(x);
    watch_innermost(s);
    if (live && s->thread->watched != live->slot) { /* no watchpoint to be had */
        abandon_innermost(s);
        live = NULL;
    }
    return live;
}

/* ---- the tick ---- */

/* A function to wait for: half of the time one that was on the stack of late, else any. Those that are never
 * entered again, like main, get few chances. */
static uint32_t choose(struct fv_sampler *s)
{
    for (unsigned tries = 0; s->known_count && tries < 8; tries++) {
        uint64_t random = fv_sampler_random(s);
        uint32_t count = s->ring_used < FV_RING ? s->ring_used : FV_RING;
        uint32_t known =
            random & 1 && count ? s->ring[(random >> 8) % count] : (random >> 8) % s->known_count;
        const struct fv_known *k = &s->known[known];
        /* a fast one costs several traps, and tells little */
        bool armed = (k->armed >= 4 && k->entered * 16 < k->armed && (random >> 1 & 15)) ||
                     (k->fast && random >> 5 & 3);

        for (unsigned i = 0; i < FV_X_SLOTS; i++)
            armed |= s->x[i].entry == k->entry;
        if (!armed)
            return known;
    }
    return FV_KNOWN;
}

static void arm_x(struct fv_sampler *s, unsigned slot, uint32_t known)
{
    struct fv_x_slot *x = &s->x[slot];

    if (!arm(&x->event, KIND_X, slot, s->known[known].entry)) {
        x->entry = 0;
        return;
    }
    s->known[known].armed++;
    x->entry = s->known[known].entry;
    x->known = known;
    x->age = 0;
    x->skip = s->known[known].fast ? (uint32_t)(fv_sampler_random(s) % 8) : 0;
}

static void arm_some(struct fv_sampler *s)
{
    for (unsigned i = 0; i < FV_X_SLOTS; i++) {
        struct fv_x_slot *x = &s->x[i];
        uint32_t known;

        if (x->event.fd < 0 || (x->entry && fv_sampler_random(s) % (1 + ++x->age)))
            continue;
        if ((known = choose(s)) < FV_KNOWN)
            arm_x(s, i, known);
    }
}

static void remember_functions(struct fv_sampler *s)
{
    for (unsigned i = 0; i < s->walk.count; i++) {
        uint32_t known = s->walk.function[i] ? fv_known_find(s, s->walk.function[i]) : FV_KNOWN;

        if (known < FV_KNOWN)
            s->ring[s->ring_used++ % FV_RING] = (uint16_t)known;
        if (s->ring_used == 2 * FV_RING)
            s->ring_used = FV_RING;
    }
}

static void set_period(struct fv_sampler *s)
{
    uint64_t mean = 1000000000u / fv_rt.options.sample;
    uint64_t period =
        mean / 2 + fv_sampler_random(s) % (mean + 1); /* so as to fall into no step with a loop */

    ioctl(s->tick.fd, PERF_EVENT_IOC_PERIOD, &period);
}

static void on_tick(struct fv_sampler *s, const struct fv_registers *r)
{
    uint32_t node;

    set_period(s);
    if (__atomic_load_n(&fv_rt.paused, __ATOMIC_RELAXED))
        return;
    s->record->ticks++;
    pop_gone(s, r->r[FV_REG_RSP]);
    fv_walk(s, r);
    s->record->cut += s->walk.cut;
    if ((node = fv_walk_intern(s, 0)))
        fv_cost_add(s, node, s->thread->record->in_call.begin != 0);
    else
        s->record->lost_paths++;
    arm_some(s);
    remember_functions(s); /* after the choice, which must not depend on where the thread is now */
    watch_innermost(s);
}

/* ---- the signal ---- */

static void read_registers(struct fv_registers *r, const ucontext_t *context)
{
    static const uint8_t from[FV_REGS] = { REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
                                           REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                           REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP };

    for (unsigned i = 0; i < FV_REGS; i++)
        r->r[i] = (uintptr_t)context->uc_mcontext.gregs[from[i]];
}

/* The clock is read first at a return and last at an entry, so that little of us is in between. */
static void handle(int signal, siginfo_t *info, void *context)
{
    int saved = errno;
    struct fv_readings now = { .ticks = fv_ticks() };
    struct fv_sampler *s = mine;
    struct fv_live *entered = NULL;
    struct fv_registers r;
    struct {
        uint64_t data;
        uint32_t type, flags;
    } perf;

    if (info->si_code != TRAP_PERF_CODE) {
        fv_signals_pass_on(signal, info, context);
        errno = saved;
        return;
    }
    if (!s || !s->on) {
        errno = saved;
        return;
    }
    now.cpu_ns = cpu_ns();
    memcpy(&perf, (const char *)info + 24, sizeof(perf)); /* si_perf_data and so on */
    unsigned kind = perf.data & 0xff, slot = perf.data >> 8 & 0xff;
    uint32_t generation = (uint32_t)(perf.data >> 32);
    const struct fv_event_fd *event = kind == KIND_X && slot < FV_X_SLOTS ? &s->x[slot].event : &s->rw;

    read_registers(&r, context);
    if (kind == KIND_TICK) {
        on_tick(s, &r);
    } else {
        s->record->traps++;
        if (perf.flags & TRAP_PERF_ASYNC)
            s->record->late++;
        else if (generation == event->generation && kind == KIND_RW)
            on_rw(s, &r, &now);
        else if (generation == event->generation && kind == KIND_X)
            entered = on_x(s, slot, &r, now.cpu_ns);
    }
    if (entered)
        read_all(s, &entered->begin);
    uint64_t end_ns = cpu_ns(), end = fv_ticks();
    uint64_t tool = end - now.ticks + fv_sampler_calibration.trap_ticks;
    s->tool_ticks += tool;
    if (s->thread->record->in_call.begin)
        s->tool_mpi_ticks += tool;
    s->tool_ns += end_ns - now.cpu_ns + fv_sampler_calibration.trap_ns;
    s->record->tool_ticks = s->tool_ticks;
    s->record->tool_ns = s->tool_ns;
    for (unsigned i = 0; kind == KIND_TICK && i < FV_X_SLOTS; i++)
        if (!s->x[i].age) {
            s->x[i].armed_cpu_ns = end_ns;
            s->x[i].armed_tool_ns = s->tool_ns;
        }
    if (entered) {
        entered->tool_ticks = s->tool_ticks;
        entered->tool_ns = s->tool_ns;
        entered->begin.cpu_ns = cpu_ns();
        entered->begin.ticks = fv_ticks();
    }
    errno = saved;
}

/* ---- begin and end of a thread ---- */

static bool trap_is_usable(void)
{
    sigset_t blocked;

    return !pthread_sigmask(SIG_SETMASK, NULL, &blocked) && !sigismember(&blocked, SIGTRAP) &&
           !fv_signals_ignored();
}

/* The application's own is good for us, too, if it is large enough. */
static bool set_signal_stack(struct fv_sampler *s)
{
    stack_t now;

    if (sigaltstack(NULL, &now))
        return false;
    if (!(now.ss_flags & SS_DISABLE))
        return now.ss_size >= getauxval(AT_MINSIGSTKSZ) + HANDLER_STACK;
    if (!s->signal_stack)
        s->signal_stack = fv_memory_new(SIGNAL_STACK);
    return s->signal_stack &&
           !sigaltstack(&(stack_t){ .ss_sp = s->signal_stack, .ss_size = SIGNAL_STACK }, NULL);
}

static void drop_signal_stack(const struct fv_sampler *s)
{
    stack_t now;

    if (s->signal_stack && !sigaltstack(NULL, &now) && now.ss_sp == s->signal_stack)
        sigaltstack(&(stack_t){ .ss_flags = SS_DISABLE }, NULL);
}

/* A debugger holds some of the debug registers: one watchpoint and one breakpoint are needed. */
static bool open_events(struct fv_sampler *s)
{
    struct perf_event_attr attr = attributes(KIND_TICK, 0, 0);
    bool any = false;

    attr.sample_period = 1000000000u / fv_rt.options.sample;
    s->tick.fd = s->rw.fd = -1;
    for (unsigned i = 0; i < FV_X_SLOTS; i++)
        s->x[i] = (struct fv_x_slot){ .event = { .fd = -1 } };
    if (!open_event(&s->tick, &attr))
        return false;
    attr = breakpoint(KIND_RW, 0, 0, (uintptr_t)&s->live);
    bool watch = open_event(&s->rw, &attr);
    for (unsigned i = 0; watch && i < FV_X_SLOTS; i++) {
        attr = breakpoint(KIND_X, i, 0, (uintptr_t)&open_events);
        any |= open_event(&s->x[i].event, &attr);
    }
    return watch && any;
}

static void close_events(struct fv_sampler *s)
{
    close_event(&s->tick);
    close_event(&s->rw);
    for (unsigned i = 0; i < FV_X_SLOTS; i++)
        close_event(&s->x[i].event);
}

static struct fv_sampler *make_sampler(struct fv_thread *thread)
{
    struct fv_sampler *s = fv_memory_new(sizeof(*s));

    if (!s)
        return NULL;
    s->thread = thread;
    s->random = fv_mix2(fv_ticks(), thread->id);
    if (fv_tables_init(s))
        return s;
    fv_memory_free(s, sizeof(*s));
    return NULL;
}

static void tell_refused(const char *why)
{
    static bool told;

    if (!__atomic_exchange_n(&told, true, __ATOMIC_RELAXED) && fv_first_rank())
        fv_log("--sample: %s; nothing is sampled, all else is recorded", why);
}

static const char *why_no_event(int error)
{
    switch (error) {
    case EACCES:
    case EPERM:
        return "perf_event_open: not permitted here (a container, or kernel.perf_event_paranoid above 2)";
    case ENOSYS: return "perf_event_open: not in this kernel, or kept from this container";
    case EINVAL: return "perf_event_open: this kernel cannot signal a thread its samples (Linux 5.13 can)";
    case ENOSPC: return "perf_event_open: no debug register is free (a debugger holds them?)";
    }
    return "perf_event_open failed";
}

void fv_sampler_thread_begin(struct fv_thread *thread)
{
    struct fv_sampler *s;

    if (!wanted)
        return;
    if (!trap_is_usable()) {
        tell_refused("the application blocks or ignores SIGTRAP");
        return;
    }
    s = thread->sampler ? thread->sampler : make_sampler(thread);
    if (!s)
        return;
    thread->sampler = s;
    s->depth = 0;
    thread->watched = 0;
    if (!set_signal_stack(s)) {
        tell_refused("the application's signal stack is too small");
        return;
    }
    if (!open_events(s) || fv_signals_take(handle)) {
        tell_refused(why_no_event(errno));
        close_events(s);
        drop_signal_stack(s);
        return;
    }
    s->record->rate = fv_rt.options.sample;
    s->record->trap_ticks = fv_sampler_calibration.trap_ticks;
    s->record->trap_ns = fv_sampler_calibration.trap_ns;
    s->record->trap_spread_ticks = fv_sampler_calibration.spread_ticks;
    s->on = true;
    mine = s;
    ioctl(s->tick.fd, PERF_EVENT_IOC_ENABLE, 0);
}

void fv_sampler_thread_end(struct fv_thread *thread)
{
    struct fv_sampler *s = thread->sampler;

    if (!s || !s->on)
        return;
    s->on = false;
    mine = NULL;
    close_events(s);
    drop_signal_stack(s);
    fv_sampler_catch_up(thread);
    while (s->depth)
        abandon_innermost(s);
    thread->watched = 0;
}

/* ---- begin and end of the process ---- */

/* What one trap costs, from empty instances: the time from the end of the handler at their entry to the
 * beginning of the next at their return. */
__attribute__((noinline, noipa)) static void empty(void)
{
    __asm__ volatile("");
}

static uint64_t ranked(uint64_t *value, unsigned count, unsigned rank)
{
    for (unsigned i = 0; i <= rank; i++)
        for (unsigned j = i + 1; j < count; j++)
            if (value[j] < value[i]) {
                uint64_t t = value[i];
                value[i] = value[j];
                value[j] = t;
            }
    return value[rank];
}

static void calibrate(struct fv_sampler *s)
{
    static uint64_t pairs[2 * CALIBRATION], ticks[CALIBRATION], ns[CALIBRATION];
    struct fv_x_slot *x = &s->x[0];

    ioctl(s->tick.fd, PERF_EVENT_IOC_DISABLE, 0);
    s->calibration_room = 2 * CALIBRATION;
    s->calibration = pairs;
    for (unsigned i = 0; i < CALIBRATION; i++) {
        x->entry = (uintptr_t)empty;
        if (!arm(&x->event, KIND_X, 0, x->entry))
            break;
        empty();
    }
    s->calibration = NULL;
    disarm_x(x);
    unsigned count = s->calibrated / 2;
    for (unsigned i = 0; i < count; i++) {
        ticks[i] = pairs[2 * i];
        ns[i] = pairs[2 * i + 1];
    }
    if (count) {
        fv_sampler_calibration.spread_ticks =
            ranked(ticks, count, count * 3 / 4) - ranked(ticks, count, count / 4);
        fv_sampler_calibration.trap_ticks = ranked(ticks, count, count / 2);
        fv_sampler_calibration.trap_ns = ranked(ns, count, count / 2);
    }
    s->record->trap_ticks = fv_sampler_calibration.trap_ticks;
    s->record->trap_ns = fv_sampler_calibration.trap_ns;
    s->record->trap_spread_ticks = fv_sampler_calibration.spread_ticks;
    s->record->traps = 0;
    s->known[0].entered = 0;
    s->tool_ticks = s->tool_ns = 0;
    s->record->tool_ticks = s->record->tool_ns = 0;
    ioctl(s->tick.fd, PERF_EVENT_IOC_ENABLE, 0);
}

/* One address of each loaded object. */
struct loaded {
    uintptr_t address[256];
    unsigned count;
};

static int visit_loaded(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct loaded *loaded = arg;
    (void)size;

    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD && info->dlpi_phdr[i].p_flags & PF_X &&
            loaded->count < sizeof(loaded->address) / sizeof(*loaded->address)) {
            loaded->address[loaded->count++] = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
            break;
        }
    return 0;
}

/* What the handler cannot ask the loader: all that is there now. Objects of later come by
 * fv_sampler_catch_up(). */
static void learn_modules(void)
{
    static struct loaded loaded;
    uint64_t offset;

    dl_iterate_phdr(visit_loaded, &loaded);
    fv_lock(&fv_tree_lock);
    for (unsigned i = 0; i < loaded.count; i++)
        fv_module_find(loaded.address[i], &offset);
    fv_unlock(&fv_tree_lock);
}

void fv_sampler_start(void)
{
    int saved = errno;

    if (!fv_cfi_available() || !fv_self) {
        tell_refused("not with this C library (glibc 2.35 is needed)");
    } else if (!fv_exclude_init()) {
        tell_refused("not where fvmpi is linked into the program statically");
    } else {
        learn_modules();
        wanted = true;
        fv_sampler_thread_begin(fv_self);
        if (mine)
            calibrate(mine);
        else
            wanted = false;
    }
    errno = saved;
}

void fv_sampler_catch_up(struct fv_thread *thread)
{
    struct fv_sampler *s = thread->sampler;
    uint64_t offset;

    if (!s->unknown_count)
        return;
    fv_lock(&fv_tree_lock);
    while (s->unknown_count)
        fv_module_find(s->unknown[--s->unknown_count], &offset);
    fv_unlock(&fv_tree_lock);
}

/* Their events are the parent's: through the descriptors the child could switch them off. */
void fv_sampler_forget(void)
{
    int saved = errno;

    wanted = false;
    for (struct fv_thread *t = fv_rt.threads; t; t = t->next_all)
        if (t->sampler) {
            t->sampler->on = false;
            close_events(t->sampler);
        }
    if (mine)
        mine->thread->watched = 0;
    mine = NULL;
    errno = saved;
}

/* exit(): what is still open will not return. */
__attribute__((destructor)) static void at_exit(void)
{
    if (mine && fv_rt.pid == getpid())
        fv_sampler_thread_end(mine->thread);
}

#else

void fv_sampler_start(void)
{
    if (fv_first_rank())
        fv_log("--sample: not on this processor, or not with the kernel's headers that fvmpi was built with; "
               "nothing "
               "is sampled, all else is recorded");
}
void fv_sampler_thread_begin(struct fv_thread *thread)
{
    (void)thread;
}
void fv_sampler_thread_end(struct fv_thread *thread)
{
    (void)thread;
}
void fv_sampler_catch_up(struct fv_thread *thread)
{
    (void)thread;
}
void fv_sampler_forget(void) {}

#endif
