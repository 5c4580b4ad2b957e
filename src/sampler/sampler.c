/* SPDX-License-Identifier: BSD-3-Clause */
/* See sampler.h: the signal handler, and how threads and the process begin and end to be sampled. */
#include "sampler/sampler.h"
#include "base/experiment.h"
#include "base/process.h"
#include "base/without.h"
#include "rt/layers.h"
#include "rt/loaded_objects.h"
#include "rt/remarks.h"
#include "rt/signals.h"
#include "rt/thread.h"

#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#if FV_SAMPLER_SIGNALS

#define SIGNAL_STACK  (256u << 10) /* handlers of the application's may run there, too */
#define HANDLER_STACK 6144         /* of it, beside the kernel's frame */
#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51
#endif
/* the kernel's, where it does not tell (before Linux 5.14): that of AVX-512; what is larger came later */
#define FRAME_BEFORE_TOLD 4096
#define SIGPROF_BIT       (UINT64_C(1) << (SIGPROF - 1))

static bool wanted; /* threads that begin are sampled */
static FV_TLS struct fv_sampler *mine;

/* ---- the signal ---- */

/* The application may have put a signal stack of its own in place of ours, or none: is there room to work on
 * the stack that the handler runs on? */
static bool has_stack(const struct fv_sampler *s, const stack_t *signal_stack)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0), low = (uintptr_t)signal_stack->ss_sp;

    if (here < low || here - low >= signal_stack->ss_size)
        low = here >= s->thread->stack_low && here < s->thread->stack_end ? s->thread->stack_low : 0;
    return !low || here - low >= HANDLER_STACK;
}

/* What the handler took is no part of what is measured. */
static void add_tool_time(struct fv_sampler *s, const struct fv_readings *begin, uint64_t end_ns)
{
    uint64_t tool = fv_ticks() - begin->ticks + fv_sampler_calibration.trap_ticks;

    s->tool_ticks += tool;
    if (s->thread->record->in_call.begin)
        s->tool_mpi_ticks += tool;
    s->tool_ns += end_ns - begin->cpu_ns + fv_sampler_calibration.trap_ns;
    s->record->tool_ticks = s->tool_ticks;
    s->record->tool_ns = s->tool_ns;
}

/* By a descriptor it is not told whether a signal was blocked when the breakpoint was met: then the thread is not there
 * any more. */
static bool is_elsewhere(const struct fv_sampler *s, const struct fv_trap_source *from, uintptr_t pc)
{
    if (!from->any_generation)
        return false;
    switch (from->kind) {
    case FV_TRAP_X: return from->slot < FV_X_SLOTS && pc != s->x[from->slot].entry;
    case FV_TRAP_AGAIN: return pc != s->again_at;
    case FV_TRAP_STEP: return pc != s->step_at;
    default: return false;
    }
}

static struct fv_event_fd *event_of(struct fv_sampler *s, const struct fv_trap_source *from)
{
    switch (from->kind) {
    case FV_TRAP_X: return &s->x[from->slot < FV_X_SLOTS ? from->slot : 0].event;
    case FV_TRAP_AGAIN: return &s->again;
    case FV_TRAP_STEP: return &s->step;
    default: return &s->rw;
    }
}

/* From inside of the handler, perhaps, by a function of somebody else's that we call: it would for ever. */
static void on_late_trap(struct fv_sampler *s, const struct fv_trap_source *from)
{
    if (!fv_perf_is_of(from, event_of(s, from)))
        return;
    switch (from->kind) {
    case FV_TRAP_X: fv_x_disarm(&s->x[from->slot]); break;
    case FV_TRAP_RW: fv_live_on_late(s); break;
    case FV_TRAP_AGAIN: fv_live_on_late_again(s); break;
    default: break; /* a step ends with each signal; of one without a name nothing is known */
    }
}

/* By the address: several breakpoints may stand there, and of their signals but one comes. */
static struct fv_live_instance *at_entry(struct fv_sampler *s, const struct fv_registers *r, uint64_t now_ns)
{
    uintptr_t pc = r->r[FV_REG_PC];
    bool was_left = pc == s->again_at && fv_live_on_again(s, r);

    for (unsigned i = 0; i < FV_X_SLOTS; i++)
        if (s->x[i].entry == pc && (s->x[i].armed || was_left)) /* else it rests on purpose */
            return fv_live_on_x(s, i, r, now_ns);
    return NULL;
}

static struct fv_live_instance *on_trap(struct fv_sampler *s, const struct fv_trap_source *from,
                                        const struct fv_registers *r, struct fv_readings *now)
{
    s->record->traps++;
    if (from->late || is_elsewhere(s, from, r->r[FV_REG_PC])) {
        s->record->late++;
        on_late_trap(s, from);
        return NULL;
    }
    if (from->kind == FV_TRAP_CALL)
        return fv_calls_on_sample(s, r, now->cpu_ns);
    if (!fv_perf_is_of(from, event_of(s, from)))
        return NULL;
    if (from->kind != FV_TRAP_RW)
        return at_entry(s, r, now->cpu_ns);
    fv_live_on_rw(s, r, now);
    return NULL;
}

/* The clock is read first at a return and last at an entry, so that little of us is in between. */
static __attribute__((noinline)) void work(struct fv_sampler *s, const struct fv_trap_source *from,
                                           const ucontext_t *context, struct fv_readings *now)
{
    struct fv_live_instance *entered = NULL;
    struct fv_registers r;

    now->cpu_ns = fv_cpu_ns();
    if (s->depth)
        fv_pmu_enter(&s->pmu);
    fv_registers_take(&r, context);
    fv_step_begin(s, from, r.r[FV_REG_PC]);
    if (from->kind == FV_TRAP_TICK)
        fv_tick(s, &r, now);
    else
        entered = on_trap(s, from, &r, now);
    if (!s->watches)
        fv_live_watch(s); /* what rested may wait again */
    fv_x_settle(s);
    fv_step_end(s, &r);
    if (entered)
        fv_readings_take(s, &entered->begin);
    if (s->depth)
        fv_pmu_leave(&s->pmu);
    if (entered)
        fv_pmu_mark(&s->pmu, &entered->pmu);
    uint64_t end_ns = fv_cpu_ns();
    add_tool_time(s, now, end_ns);
    for (unsigned i = 0; i < FV_X_SLOTS; i++)
        if (s->x[i].fresh) {
            s->x[i].fresh = false;
            s->x[i].armed_cpu_ns = end_ns;
            s->x[i].armed_tool_ns = s->tool_ns;
        }
    if (entered) {
        entered->tool_ticks = s->tool_ticks;
        entered->tool_ns = s->tool_ns;
        entered->begin.cpu_ns = fv_cpu_ns();
        entered->begin.ticks = fv_ticks();
        fv_readings_take_mpi(s, &entered->begin);
    }
}

static void recorded(struct fv_sampler *s, const struct fv_trap_source *from, const ucontext_t *context,
                     struct fv_readings *now)
{
    fv_handler_begins();
    work(s, from, context, now);
    fv_handler_ends();
}

/* What was met there would be met again for ever. */
static void not_recorded(struct fv_sampler *s, const struct fv_trap_source *from)
{
    s->record->no_stack += s->on;
    if (FV_STEPS && from->kind != FV_TRAP_TICK)
        fv_perf_disarm(event_of(s, from));
}

static void handle(int signal, siginfo_t *info, void *context)
{
    int saved = errno;
    struct fv_readings now = { .ticks = fv_ticks() };
    struct fv_trap_source from = { .kind = FV_TRAP_TICK };
    struct fv_sampler *s = mine;

    bool is_ours = fv_perf_source(info, &from) || fv_timer_is_source(info);

    if (!is_ours && s && s->on && fv_trap_by_place(s, info, context, &from))
        is_ours = true;
    else if (!is_ours && s && s->rehearses && signal == SIGPROF)
        is_ours = true; /* the kernel had no room to say where it comes from (ulimit -i) */
    if (!is_ours)
        fv_signals_pass_on(signal, info, context);
    else if (s && s->on && has_stack(s, &((const ucontext_t *)context)->uc_stack))
        recorded(s, &from, context, &now);
    else if (s)
        not_recorded(s, &from);
    errno = saved;
}

/* ---- begin and end of a thread ---- */

/* By the kernel's own calls, not by interposers (sigmask.c among them). */
static bool is_usable(int signal)
{
    uint64_t blocked;

    return !syscall(SYS_rt_sigprocmask, SIG_SETMASK, NULL, &blocked, sizeof(blocked)) &&
           !(blocked >> (signal - 1) & 1) && !fv_signals_ignored(signal);
}

static bool change_signal_stack(const stack_t *set, stack_t *old)
{
    return !syscall(SYS_sigaltstack, set, old);
}

/* SIGTRAP is what debuggers live by: they would take ours for theirs. */
static bool is_traced(void)
{
    char text[1024];

    fv_file_read("/proc/self/status", text, sizeof(text));
    const char *at = strstr(text, "TracerPid:");
    return at && strtol(at + strlen("TracerPid:"), NULL, 10) != 0;
}

stack_t fv_signal_stack(const struct fv_sampler *s)
{
    return (stack_t){ .ss_sp = s->signal_stack, .ss_size = SIGNAL_STACK };
}

size_t fv_signal_stack_least(void)
{
    size_t kernel = getauxval(AT_MINSIGSTKSZ);

    return (kernel ? kernel : FRAME_BEFORE_TOLD) + HANDLER_STACK;
}

/* The application's own is good for us, too, if it is large enough. */
static bool set_signal_stack(struct fv_sampler *s)
{
    stack_t now;

    if (!change_signal_stack(NULL, &now))
        return false;
    if (!(now.ss_flags & SS_DISABLE))
        return now.ss_size >= fv_signal_stack_least();
    if (!s->signal_stack)
        s->signal_stack = fv_memory_new(SIGNAL_STACK);
    if (!s->signal_stack)
        return false;
    now = fv_signal_stack(s);
    return change_signal_stack(&now, NULL);
}

static void drop_signal_stack(const struct fv_sampler *s)
{
    stack_t now;

    if (s->signal_stack && change_signal_stack(NULL, &now) && now.ss_sp == s->signal_stack)
        change_signal_stack(&(stack_t){ .ss_flags = SS_DISABLE }, NULL);
}

static void close_breakpoints(struct fv_sampler *s)
{
    fv_perf_close(&s->rw);
    fv_perf_close(&s->step);
    fv_perf_close(&s->again);
    for (unsigned i = 0; i < FV_X_SLOTS; i++)
        fv_perf_close(&s->x[i].event);
}

/* Breakpoints are granted, and do nothing: the debug registers of some virtual machines. */
static bool never_trap;

/* What waits for a return. */
static bool open_returns(struct fv_sampler *s)
{
    s->watches = FV_RETURN_ON_STACK && !fv_without("watchpoints");
    s->record->by_breakpoints = !s->watches;
    return s->watches ? fv_perf_open_breakpoint(&s->rw, FV_TRAP_RW, 0) : fv_perf_open_return(&s->rw);
}

static void open_helper(struct fv_event_fd *event, enum fv_trap kind)
{
    if (!fv_perf_open_breakpoint(event, kind, 0))
        fv_perf_close(event);
}

/* Where the stack is not watched. Without `step` some returns are missed; without `again` a call that was left by
 * longjmp() may be joined with the next. */
static void open_helpers(struct fv_sampler *s)
{
    open_helper(&s->again, FV_TRAP_AGAIN);
    if (FV_STEPS)
        open_helper(&s->step, FV_TRAP_STEP);
}

/* One that waits for returns and one at an entry are needed: a debugger may hold some. 0, or errno. */
static int open_breakpoints(struct fv_sampler *s)
{
    if (__atomic_load_n(&never_trap, __ATOMIC_RELAXED))
        return ENODEV;
    int err = open_returns(s) ? ENOSPC : errno;
    bool any = false;

    for (unsigned i = 0; s->rw.fd >= 0 && i < FV_X_SLOTS; i++) {
        if (fv_perf_open_breakpoint(&s->x[i].event, FV_TRAP_X, i))
            any = true;
        else
            err = errno;
        if (i == 0 && any && !s->watches)
            open_helpers(s);
    }
    if (!any)
        close_breakpoints(s);
    return any ? 0 : err;
}

/* The best that is to be had here: instances, or only costs by the thread's CPU clock, or by a timer. 0;
 * errno of what keeps instances from being sampled. s->record->rate stays 0 if nothing is. */
static int open_events(struct fv_sampler *s)
{
    unsigned rate = fv_rt.options.sample, most;
    int err, calls = ENOENT;

    s->record->rate = rate;
    if (fv_perf_open_tick(&s->tick, 1000000000u / rate)) {
        calls = fv_calls_open(&s->calls);
        err = open_breakpoints(s);
        if (!err)
            fv_readings_open(s);
    } else {
        err = errno;
        fv_perf_close(&s->tick);
        most = fv_timer_rate_max();
        s->record->rate = rate < most ? rate : most;
        if (!fv_timer_open(&s->timer, SIGTRAP, fv_tick_period(s), fv_tick_period(s)))
            s->record->rate = 0;
    }
    s->record->refusal = (uint32_t)(!err && calls != ENOENT ? calls : err);
    s->record->mode = err ? FV_SAMPLER_COSTS : calls ? FV_SAMPLER_BREAKPOINTS : FV_SAMPLER_CALLS;
    return err;
}

static void close_events(struct fv_sampler *s)
{
    fv_perf_close(&s->tick);
    fv_timer_close(&s->timer);
    fv_readings_close(s);
    fv_calls_close(&s->calls);
    close_breakpoints(s);
}

static struct fv_sampler *make_sampler(struct fv_thread *thread)
{
    struct fv_sampler *s = fv_memory_new(sizeof(*s));

    if (!s)
        return NULL;
    s->thread = thread;
    s->random = fv_mix2(fv_ticks(), thread->id);
    s->tick.fd = s->rw.fd = s->step.fd = s->again.fd = s->migration_counter.fd = -1;
    for (unsigned i = 0; i < FV_X_SLOTS; i++)
        s->x[i] = (struct fv_x_slot){ .event = { .fd = -1 } };
    if (fv_tables_init(s)) {
        fv_trace_log_prepare(s);
        s->python = fv_python_samples_new();
        return s;
    }
    fv_memory_free(s, sizeof(*s));
    return NULL;
}

static void tell_refused(const char *why, const char *rest)
{
    static bool told;

    if (!__atomic_exchange_n(&told, true, __ATOMIC_RELAXED))
        fv_remark(fv_first_rank(), "--sample: %s%s", why, rest);
}
static const char no_samples[] = "; no samples are taken, all else is recorded";
static const char no_instances[] = "; function calls are not measured, only where CPU time goes";

static const char *why_no_event(int error)
{
    switch (error) {
    case EACCES:
    case EPERM: return "perf_event_open: not permitted here (a container, or kernel.perf_event_paranoid above 2)";
    case ENOSYS: return "perf_event_open: not in this kernel, or blocked in this container";
    case EINVAL: return "perf_event_open: this kernel has no such event";
    case ENODEV: return "breakpoints are granted but do not trap (a virtual machine without debug registers?)";
    case ENOSPC: return "perf_event_open: no debug register is free (a debugger holds them?)";
    case EMFILE: return "no file descriptors are left (half are the application's); raise the limit (ulimit -n)";
    }
    return "perf_event_open failed";
}

/* Only costs are left. */
static FV_COLD void give_up_instances(struct fv_sampler *s)
{
    __atomic_store_n(&never_trap, true, __ATOMIC_RELAXED);
    close_breakpoints(s);
    fv_calls_close(&s->calls);
    fv_readings_close(s);
    s->record->mode = FV_SAMPLER_COSTS;
    s->record->refusal = ENODEV;
    tell_refused(why_no_event(ENODEV), no_instances);
}

/* The first thread finds out for all what a trap costs. */
static void calibrate_once(struct fv_sampler *s)
{
    static bool done;

    if (!__atomic_exchange_n(&done, true, __ATOMIC_RELAXED) && !fv_calibrate(s)) {
        give_up_instances(s);
        return;
    }
    s->record->trap_ticks = fv_sampler_calibration.trap_ticks;
    s->record->trap_ns = fv_sampler_calibration.trap_ns;
    s->record->trap_spread_ticks = fv_sampler_calibration.spread_ticks;
}

static struct fv_sampler *sampler_of(struct fv_thread *thread)
{
    if (!thread->sampler)
        thread->sampler = make_sampler(thread);
    return thread->sampler;
}

/* From here on the handler has something to do. */
static void go_on(struct fv_sampler *s)
{
    fv_wall_begin(s);
    s->budget_cpu_ns = fv_cpu_ns();
    s->budget_tool_ns = s->tool_ns;
    s->tick_cpu_ns = s->budget_cpu_ns - s->tool_ns;
    s->on = true;
    mine = s;
}

static void begin_instances(struct fv_thread *thread)
{
    struct fv_sampler *s;

    if (!is_usable(SIGTRAP)) {
        tell_refused("the application blocks or ignores SIGTRAP",
                     "; no samples are taken, all else is recorded; --sample=clock uses SIGPROF instead");
        return;
    }
    if (!(s = sampler_of(thread))) {
        tell_refused("out of memory", no_samples);
        return;
    }
    s->depth = 0;
    s->leaves = false;
    s->armed = thread->watched = s->passing = s->again_at = s->step_at = 0;
    if (!set_signal_stack(s)) {
        tell_refused("the application's signal stack is too small", no_samples);
        return;
    }
    int err = open_events(s);
    bool none = !s->record->rate || fv_signals_take(SIGTRAP, handle);
    if (err || none)
        tell_refused(why_no_event(err), none ? no_samples : no_instances);
    if (none) {
        close_events(s);
        drop_signal_stack(s);
        return;
    }
    go_on(s);
    if (s->tick.fd >= 0)
        fv_perf_enable(&s->tick);
    if (!err)
        calibrate_once(s);
}

/* A run that did not ask for samples is told by the report why it has none. The first thread's reason stands for
 * all. */
static void note_refused(const struct fv_thread *thread, enum fv_sampler_stop why)
{
    static bool noted;
    struct fv_chunk_header *chunk;

    if (__atomic_exchange_n(&noted, true, __ATOMIC_RELAXED) ||
        !(chunk = fv_writer_chunk(&fv_rt.writer, FV_CHUNK_SAMPLER, thread->id, 0, sizeof(struct fv_sampler_record))))
        return;
    *(struct fv_sampler_record *)fv_chunk_records(chunk) =
        (struct fv_sampler_record){ .mode = FV_SAMPLER_CLOCK, .stopped = why };
    fv_chunk_commit(chunk, sizeof(struct fv_sampler_record));
}

/* The application wants SIGPROF for itself. */
static void give_sigprof_back(void)
{
    wanted = false;
    fv_signals_held |= SIGPROF_BIT; /* it may leave its handler by longjmp() */
    for (struct fv_thread *t = fv_rt.threads; t; t = t->next_all)
        if (t->sampler)
            fv_clock_stop(t->sampler, FV_SAMPLER_SIGPROF_USED);
}

static void begin_clock(struct fv_thread *thread)
{
    struct fv_sampler *s;

    if (!is_usable(SIGPROF)) {
        note_refused(thread, FV_SAMPLER_SIGPROF_BLOCKED);
        return;
    }
    if (!(s = sampler_of(thread)))
        return;
    s->record->mode = FV_SAMPLER_CLOCK;
    if (!set_signal_stack(s)) {
        s->record->stopped = FV_SAMPLER_SMALL_STACK;
        return;
    }
    if (fv_signals_borrow(SIGPROF, handle, give_sigprof_back)) {
        drop_signal_stack(s);
        return;
    }
    go_on(s);
    if (!fv_clock_open(s))
        s->record->stopped = FV_SAMPLER_NO_TIMER;
}

static void thread_begin(struct fv_thread *thread)
{
    if (!wanted)
        return;
    if (fv_clock_alone())
        begin_clock(thread);
    else
        begin_instances(thread);
}

/* What the handler could not ask the loader. */
static void catch_up(struct fv_thread *thread)
{
    struct fv_sampler *s = thread->sampler;
    uint64_t offset;

    if (s && fv_clock_is_paused(s) && is_usable(SIGPROF))
        fv_clock_resume(s); /* unblocked by siglongjmp(), say */
    if (s && s->on && s->record->by_event && wanted) {
        fv_clock_renew(s);
        if (!wanted) /* SIGPROF became the program's meanwhile */
            fv_clock_stop(s, FV_SAMPLER_SIGPROF_USED);
    }
    if (s)
        fv_loaded_refresh();
    if (!s || !s->unknown_count)
        return;
    uint64_t signals = fv_lock_sigsave(&fv_tree_lock);
    while (s->unknown_count)
        fv_module_find(s->unknown[--s->unknown_count], &offset);
    fv_unlock_sigrestore(&fv_tree_lock, signals);
}

static void thread_end(struct fv_thread *thread)
{
    struct fv_sampler *s = thread->sampler;

    if (!s || !s->on)
        return;
    s->on = false;
    fv_perf_disarm(&s->tick); /* as fv_clock_stop() does */
    close_events(s);
    mine = NULL; /* not before: a breakpoint may be met in close() */
    drop_signal_stack(s);
    catch_up(thread);
    while (s->depth)
        fv_live_abandon(s);
    s->armed = thread->watched = 0;
}

/* MPI_Pcontrol(2), which is for runs without instances. A tick that comes meanwhile is lost. */
static void forget_ticks(struct fv_thread *thread)
{
    struct fv_sampler *s = thread->sampler;

    if (!s)
        return;
    bool was = __atomic_exchange_n(&s->on, false, __ATOMIC_SEQ_CST);
    for (uint32_t i = 0; i < s->costs.count; i++) {
        struct fv_cost *cost = fv_record_table_at(&s->costs, i);
        cost->ticks = cost->in_mpi = 0;
    }
    s->tick_cpu_ns += s->tool_ns; /* both are differences from it */
    s->budget_tool_ns -= s->tool_ns;
    s->tool_ticks = s->tool_ns = 0;
    s->record->ticks = s->record->cut = s->record->lost_paths = s->record->no_stack = 0;
    s->record->tool_ticks = s->record->tool_ns = 0;
    thread->record->samples = 0;
    __atomic_store_n(&s->on, was, __ATOMIC_SEQ_CST);
}

/* ---- begin and end of the process ---- */

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

static int is_valgrind(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)size, (void)arg;
    return info->dlpi_name && strstr(info->dlpi_name, "/vgpreload_") != NULL;
}

/* What the handler cannot ask the loader: all that is there now. Objects of later come by
 * catch_up(). */
static void learn_modules(void)
{
    static struct loaded loaded;
    uint64_t offset;

    dl_iterate_phdr(visit_loaded, &loaded);
    uint64_t signals = fv_lock_sigsave(&fv_tree_lock);
    for (unsigned i = 0; i < loaded.count; i++)
        fv_module_find(loaded.address[i], &offset);
    fv_unlock_sigrestore(&fv_tree_lock, signals);
}

/* What keeps any sample from being taken; NULL: nothing. */
static const char *why_not_here(void)
{
    if (!fv_cfi_available())
        return "not on this processor";
    if (!fv_exclude_init())
        return "not where fvmpi is linked into the program statically";
    if (dl_iterate_phdr(is_valgrind, NULL))
        return "not under valgrind, which samples would kill";
    return NULL;
}

static void start_clock(struct fv_thread *self)
{
    enum fv_sampler_stop why = why_not_here() ? FV_SAMPLER_NOT_HERE : fv_clock_refusal();

    if (why) {
        note_refused(self, why);
        return;
    }
    learn_modules();
    fv_signals_held &= ~SIGPROF_BIT; /* the handler takes no lock, and a late tick counts for another place */
    wanted = true;
    thread_begin(self);
}

static void start_instances(struct fv_thread *self)
{
    const char *why = why_not_here();

    if (!why && is_traced())
        why = "a debugger is attached, and would stop at each sample";
    if (why) {
        tell_refused(why, no_samples);
        return;
    }
    learn_modules();
    wanted = true;
    fv_pmu_start();
    fv_calls_start();
    thread_begin(self);
}

static void start(struct fv_thread *self)
{
    int saved = errno;

    if (!fv_rt.options.sample || !self)
        return; /* the thread could not be recorded either, for want of room, and that is told */
    if (fv_clock_alone())
        start_clock(self);
    else
        start_instances(self);
    errno = saved;
}

/* Their events are the parent's: through the descriptors the child could switch them off. */
static void forget(struct fv_thread *self)
{
    int saved = errno;

    (void)self;
    wanted = false;
    for (struct fv_thread *t = fv_rt.threads; t; t = t->next_all)
        if (t->sampler) {
            t->sampler->on = false;
            t->sampler->timer.open = false; /* the child has none, but perhaps one of its own under the number */
            close_events(t->sampler);
        }
    if (mine)
        mine->armed = mine->thread->watched = 0;
    mine = NULL;
    errno = saved;
}

/* What is still open will not return. */
static void at_exit(struct fv_thread *self)
{
    (void)self;
    if (mine)
        thread_end(mine->thread);
}

const struct fv_layer fv_sampler_layer = { .at = { [FV_AT_START] = start,
                                                   [FV_AT_THREAD_BEGIN] = thread_begin,
                                                   [FV_AT_THREAD_END] = thread_end,
                                                   [FV_AT_CATCH_UP] = catch_up,
                                                   [FV_AT_FORGET] = forget_ticks,
                                                   [FV_AT_EXIT] = at_exit,
                                                   [FV_AT_FORK] = forget } };

FV_NO_TSAN struct fv_sampler *fv_sampler_ticking(void)
{
    struct fv_sampler *s = mine;

    return FV_UNLIKELY(s != NULL) && s->record->mode == FV_SAMPLER_CLOCK ? s : NULL;
}

bool fv_sampler_samples(void)
{
    return wanted && fv_rt.pid == getpid();
}

bool fv_sampler_sent(const siginfo_t *info)
{
    struct fv_trap_source from;

    return fv_perf_source(info, &from) || fv_timer_is_source(info);
}

#else

static void start(struct fv_thread *self)
{
    (void)self;
    if (fv_rt.options.sample > FV_SAMPLE_CLOCK)
        fv_remark(fv_first_rank(), "--sample: not on this processor; no samples are taken, all else is recorded");
}
const struct fv_layer fv_sampler_layer = { .at = { [FV_AT_START] = start } };

#endif
