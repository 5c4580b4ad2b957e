/* SPDX-License-Identifier: BSD-3-Clause */
/* What instrumented functions call (functions.h), and the stack of those that a thread is in. Where exceptions and
 * longjmp() left functions without their end is told by addresses: the stack grows downwards, so that a call whose
 * frame is above another's has left that one. Nothing here waits, or takes memory or a lock, but where a function is
 * called from a new place. */
#include "functions/functions.h"
#include "functions/exclusions.h"
#include "rt/events.h"
#include "rt/layers.h"

#include <signal.h>
#include <string.h>

enum {
    DEEP = 8192,
    JUDGED = 65536, /* so often it is looked at whether a function is too short */
};

struct frame {
    struct fv_called_function *called; /* NULL: not measured */
    struct fv_called_function *inner;  /* the innermost that is, up to here */
    const void *function, *site;
    uintptr_t at, from;            /* the stack where it called the hook, and from where */
    uint64_t begin, paused, mpi;   /* ticks, as in struct fv_function_calls */
    uint32_t recording;            /* fv_recording() then */
    bool traced;                   /* its begin is in the trace */
    uint64_t callees, callees_mpi; /* of them: in those that it called */
};

/* Of a thread, also before recording begins. */
struct stack {
    struct fv_thread *thread;      /* NULL: it is not recorded ... */
    bool refused;                  /* ... and never will be: no room */
    uintptr_t busy;                /* the stack where the hook was called that is under way; 0: none is */
    uint32_t traced;               /* frames whose begin is in the trace */
    uint32_t depth, beyond;        /* beyond: began where there was no room, and have not ended */
    struct frame frames[DEEP + 1]; /* the first one is below all */
};
static FV_TLS struct stack *own;
static uint32_t deepest = DEEP;                 /* what is called by so many is left out (--depth) */
static FV_TLS bool over;                        /* the thread has ended */
static enum { UNKNOWN, WANTED, UNWANTED } wish; /* constructors of libraries may come before any of ours */

static FV_COLD bool is_wanted(void)
{
    if (wish == UNKNOWN) {
        wish = fv_option_is_on("FVMPI_FUNCTIONS") && !fv_option_is_on("FVMPI_DISABLE") ? WANTED : UNWANTED;
        if (wish == WANTED)
            fv_exclusions_init();
    }
    return wish == WANTED;
}

/* ---- in the trace ---- */

static FV_COLD bool trace_with_room(struct fv_thread *t, unsigned kind, uint64_t now, uint64_t value)
{
    uint64_t signals = fv_signals_hold();

    if (fv_lock_is_free(&fv_rt.lock) && fv_lock_is_free(&fv_rt.writer.lock))
        fv_events_make_room(t);
    bool done = fv_events_moment(t, kind, now, value);
    t->functions->losses->untraced += !done;
    fv_signals_go_on(signals);
    return done;
}

/* Not in a call of MPI, whose record comes when it ends. False: it is not in the trace. */
static __attribute__((noinline)) bool trace(struct fv_thread *t, unsigned kind, uint64_t now, uint64_t value)
{
    if (fv_rt_paused() || __atomic_load_n(&fv_rt.trace_stopped, __ATOMIC_RELAXED))
        return false;
    if (FV_UNLIKELY(fv_self && !fv_is_between())) {
        t->functions->losses->untraced++;
        return false;
    }
    return fv_events_moment(t, kind, now, value) || trace_with_room(t, kind, now, value);
}

/* ---- the stack ---- */

static inline bool is_on_own_stack(const struct fv_thread *t, uintptr_t at)
{
    return t && at >= t->stack_low && at < t->stack_end;
}

/* The frame's call is over. */
static inline __attribute__((always_inline)) void pop_now(struct stack *s, uint64_t now)
{
    struct frame *top = &s->frames[s->depth--];
    struct fv_called_function *c = top->called;

    if (FV_UNLIKELY(!c)) {
        top[-1].callees += top->callees;
        top[-1].callees_mpi += top->callees_mpi;
        return;
    }
    struct fv_function_calls *calls = c->calls;
    if (FV_UNLIKELY(top->traced))
        trace(s->thread, FV_EV_FUNCTION_LEAVE, now, --s->traced);
    uint64_t ticks = now > top->begin ? now - top->begin : 0, mpi = s->thread->record->mpi_ticks - top->mpi;

    if (FV_UNLIKELY(fv_recording() != top->recording)) {
        uint64_t paused = fv_paused_until(now) - top->paused;

        ticks -= paused < ticks ? paused : ticks;
    }
    top[-1].callees += ticks;
    top[-1].callees_mpi += mpi;
    calls->self_ticks += ticks - (top->callees < ticks ? top->callees : ticks);
    calls->mpi_self_ticks += mpi - (top->callees_mpi < mpi ? top->callees_mpi : mpi);
    if (--c->open)
        return;
    calls->last = now;
    calls->ticks += ticks;
    calls->mpi_ticks += mpi;
    if (ticks < calls->ticks_min)
        calls->ticks_min = ticks;
    if (FV_UNLIKELY(!calls->ended++))
        calls->ticks_first = ticks;
    else if (ticks > calls->ticks_later)
        calls->ticks_later = ticks;
    __atomic_store_n(&calls->opened, 0, __ATOMIC_RELEASE);
}

static __attribute__((noinline)) void pop(struct stack *s, uint64_t now)
{
    pop_now(s, now);
}

static FV_COLD void pop_left(struct stack *s, uint64_t now)
{
    if (s->thread)
        s->thread->functions->losses->left++;
    pop(s, now);
    s->beyond = 0;
}

/* The call of the top frame begins. */
static inline void count_begin(struct stack *s, struct frame *top, struct fv_called_function *c, uint64_t begin)
{
    struct fv_function_calls *calls = c->calls;
    uint64_t mpi = s->thread->record->mpi_ticks,
             paused = __atomic_load_n(&fv_rt.writer.header->paused_ticks, __ATOMIC_RELAXED);

    top->called = top->inner = c;
    top->mpi = mpi;
    top->paused = paused;
    top->recording = fv_recording();
    top->callees = top->callees_mpi = 0;
    top->traced = false;
    calls->calls++;
    begin = begin ? begin : fv_ticks();
    top->begin = begin;
    if (FV_UNLIKELY(c->open++)) {
        calls->nested++;
        return;
    }
    calls->paused = paused;
    calls->mpi_since = mpi;
    /* Last, so that a reader who sees it sees the rest. */
    __atomic_store_n(&calls->opened, begin, __ATOMIC_RELEASE);
}

/* Begins the call of the top frame, which is not measured yet. `begin` 0: now. */
static inline void measure(struct stack *s, struct frame *top, struct fv_called_function *c, uint64_t begin)
{
    count_begin(s, top, c, begin);
    if (FV_LIKELY(!__atomic_load_n(&fv_rt.tracing, __ATOMIC_RELAXED)))
        return;
    top->traced = trace(s->thread, FV_EV_FUNCTION_ENTER, top->begin, c->calls->node);
    s->traced += top->traced;
}

/* What measuring 256 calls takes, at the best of several batches, for the report's line of fvmpi's own cost. Without
 * the trace. Once. */
static FV_COLD uint64_t batch_ticks(struct stack *s)
{
    enum { BATCH = 256, BATCHES = 8 };
    static uint64_t known;
    struct fv_function_calls calls = { .ticks_min = UINT64_MAX };
    struct fv_called_function called = { .calls = &calls };
    struct frame *top = &s->frames[s->depth], before = *top;
    uint64_t best = __atomic_load_n(&known, __ATOMIC_RELAXED);

    if (best || s->depth == DEEP)
        return best;
    best = UINT64_MAX;
    for (int batch = 0; batch < BATCHES; batch++) {
        uint64_t begin = fv_ticks();

        for (int i = 0; i < BATCH; i++) {
            count_begin(s, top + 1, &called, 0);
            s->depth++;
            pop(s, fv_ticks());
        }
        uint64_t ticks = fv_ticks() - begin;
        best = ticks < best ? ticks : best;
    }
    *top = before;
    __atomic_store_n(&known, best, __ATOMIC_RELAXED);
    return best;
}

/* Is that address behind the function's entry, in its own code? Not if another one's entry, `other`, stands between. */
static bool is_in(const void *function, uintptr_t from, const void *other)
{
    uintptr_t entry = (uintptr_t)function, between = (uintptr_t)other;

    return entry <= from && from - entry < 4096 && !(entry < between && between <= from);
}

/* Of two calls in one frame the second is inlined into the first, which it begins from elsewhere in its code; else the
 * first was left. */
static FV_COLD bool is_inlined(const struct frame *top, const void *function, const void *site, uintptr_t at,
                               uintptr_t from)
{
    const struct frame *of = top;

    if (top->at != at || top->site != site || top->from == from)
        return false;
    while (of[-1].at == at)
        of--;
    return top->function == function || !is_in(function, from, of->function);
}

/* ---- threads ---- */

static FV_COLD struct stack *make_stack(void)
{
    bool early = is_wanted() && fv_rt_early() && (pid_t)syscall(SYS_gettid) == getpid();
    /* is_child() */
    struct stack *s = over || wish == UNWANTED || !(early || fv_rt_on()) ? NULL : fv_memory_new_wiped(sizeof(*s));

    if (!s)
        return NULL;
    s->frames[0].at = UINTPTR_MAX;
    return own = s;
}

/* Calls that are under way when recording begins: from then on. */
static void measure_open(struct stack *s)
{
    s->frames[0].inner = &s->thread->functions->root;
    for (uint32_t i = 1; i <= s->depth; i++) {
        struct frame *f = &s->frames[i];

        if (i > deepest) {
            f->inner = f[-1].inner;
            s->thread->functions->losses->too_deep++;
            continue;
        }
        struct fv_called_function *c =
            fv_called_find(s->thread, f[-1].inner, f->function, f->site,
                           f[-1].called && is_inlined(&f[-1], f->function, f->site, f->at, f->from));

        f->inner = f[-1].inner;
        if (c && c->is_counted) { /* left out: such are never on the stack */
            memmove(f, f + 1, (s->depth - i) * sizeof(*f));
            s->depth--;
            i--;
        } else if (c) {
            measure(s, f, c, fv_rt.writer.header->begin_ticks);
        }
    }
}

/* The thread is recorded from now on, if there is room, and no lock held that a handler's victim may hold. */
static FV_COLD void adopt(struct stack *s)
{
    struct fv_scope scope = fv_scope_enter();
    struct fv_thread *t = fv_self;

    if (fv_lock_is_free(&fv_rt.lock) && fv_lock_is_free(&fv_rt.writer.lock) && !fv_thread_is_attaching()) {
        if (!t && (t = fv_thread_attach()))
            fv_current = t;
        if (t && !t->functions)
            t->functions = fv_functions_new(t);
        s->refused = !t || !t->functions;
        s->thread = s->refused ? NULL : t;
        if (s->thread) {
            t->functions->losses->batch_ticks = batch_ticks(s);
            measure_open(s);
        }
    }
    fv_scope_leave(&scope);
}

static void thread_ends(struct fv_thread *t)
{
    uint64_t now = fv_ticks(), signals = fv_signals_hold();
    struct stack *s = own;
    (void)t;

    over = true;
    own = NULL; /* a handler may come with what follows */
    while (s && s->depth)
        pop_left(s, now);
    if (s)
        fv_memory_free(s, sizeof(*s));
    fv_signals_go_on(signals);
}

static void start(struct fv_thread *self)
{
    uint64_t depth = fv_rt.options.depth;

    deepest = depth && depth < DEEP ? (uint32_t)depth : DEEP;
    if (self && own && !own->thread)
        adopt(own);
}

static void forget_all(struct fv_thread *t)
{
    uint64_t now = fv_ticks();

    fv_functions_clear(t);
    for (uint32_t i = 0; own && own->thread == t && i <= own->depth; i++) {
        struct frame *f = &own->frames[i];

        f->begin = now;
        f->paused = fv_paused_until(now);
        f->mpi = t->record->mpi_ticks;
        f->callees = f->callees_mpi = 0;
    }
}

/* Of a child nothing is recorded. */
static void fork_ends(struct fv_thread *t)
{
    (void)t;
    wish = UNWANTED;
    own = NULL;
}

/* Also of one that was made in a way that nobody told us: its copy of the stack is wiped. */
static FV_COLD bool is_child(const struct stack *s)
{
    if (s->frames[0].at)
        return false;
    fork_ends(NULL);
    return true;
}

const struct fv_layer fv_functions_layer = { .at = { [FV_AT_START] = start,
                                                     [FV_AT_THREAD_END] = thread_ends,
                                                     [FV_AT_FORGET] = forget_all,
                                                     [FV_AT_FORK] = fork_ends } };

/* ---- begin ---- */

/* Which may be within the thread's own. */
static FV_COLD bool is_on_alternate_stack(void)
{
    stack_t stack;

    return sigaltstack(NULL, &stack) || stack.ss_flags & SS_ONSTACK;
}

/* What a hook that was left had not done: as many calls are under way as the stack has. */
static FV_COLD void count_open(struct stack *s)
{
    uint32_t traced = 0;

    fv_functions_close(s->thread->functions);
    for (uint32_t i = 1; i <= s->depth; i++) {
        struct frame *f = &s->frames[i];

        traced += f->called && f->traced;
        if (f->called && !f->called->open++)
            f->called->calls->opened = f->begin;
    }
    s->traced = traced;
}

/* A hook is under way: this is a signal handler that interrupted it, or one that has left it by longjmp(). */
static FV_COLD bool was_left(struct stack *s, uintptr_t at)
{
    if (at >= s->busy && (!s->thread || (is_on_own_stack(s->thread, at) && is_on_own_stack(s->thread, s->busy))) &&
        !is_on_alternate_stack()) {
        if (s->thread)
            count_open(s);
        return true;
    }
    if (s->thread)
        s->thread->functions->losses->interrupted++;
    return false;
}

/* Calls that were left, in frames that this one has taken. Of other stacks than the thread's nobody can tell. */
static FV_COLD void repair(struct stack *s, const void *function, const void *site, uintptr_t at, uintptr_t from)
{
    uint64_t now = fv_ticks();

    for (const struct frame *top;
         (top = &s->frames[s->depth])->at <= at && s->depth && !is_inlined(top, function, site, at, from);) {
        if (s->thread && !(is_on_own_stack(s->thread, at) && is_on_own_stack(s->thread, top->at)))
            break;
        if (is_on_alternate_stack())
            break;
        pop_left(s, now);
    }
}

static inline void enter(struct stack *s, uintptr_t at)
{
    s->busy = at;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

static inline void leave(struct stack *s)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    s->busy = 0;
}

static inline void push(struct stack *s, struct frame *top, const void *function, const void *site, uintptr_t at,
                        uintptr_t from)
{
    struct frame *next = top + 1;

    next->called = NULL; /* before it is one: a handler may leave the hook */
    next->callees = next->callees_mpi = 0;
    next->traced = false;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    s->depth++;
    next->inner = top->inner;
    next->function = function;
    next->site = site;
    next->at = at;
    next->from = from;
}

/* c NULL: not known, or left out. What is counted alone is not on the stack, wherever it is called. */
static __attribute__((noinline)) void begin_beyond(struct stack *s, const void *function, struct fv_called_function *c)
{
    if (s->thread)
        s->thread->functions->losses->too_deep++;
    s->beyond += !s->thread || !fv_called_is_short(s->thread->functions, function);
    if (c) {
        c->calls->calls++;
        c->calls->counted++;
    }
}

/* What is counted alone is never among them, so that an end that fits the top is that one's. */
static FV_COLD bool is_under_way(const struct stack *s, const void *function)
{
    uint32_t i = s->depth;

    while (i && s->frames[i].function != function)
        i--;
    return i > 0;
}

/* Whatever it is. */
static __attribute__((noinline)) void begin(struct stack *s, const void *function, const void *site, uintptr_t at,
                                            uintptr_t from)
{
    struct frame *top = &s->frames[s->depth];
    struct fv_called_function *c = NULL;

    if (is_child(s) || (FV_UNLIKELY(s->busy) && !was_left(s, at)))
        return;
    top = &s->frames[s->depth];
    enter(s, at);
    if (FV_UNLIKELY(top->at <= at)) {
        repair(s, function, site, at, from);
        top = &s->frames[s->depth];
    }
    if (FV_UNLIKELY(!s->thread) && !s->refused && fv_rt_on()) {
        adopt(s);
        top = &s->frames[s->depth]; /* what is counted alone has left the stack */
    }
    bool is_left_out = deepest < DEEP && s->depth >= deepest;
    if (s->thread && !is_left_out && !fv_rt_paused())
        c = fv_called_find(s->thread, top->inner, function, site,
                           top->called && is_inlined(top, function, site, at, from));
    if (c && !((c->calls->calls + 1) % JUDGED) && !is_under_way(s, function))
        fv_called_judge(s->thread->functions, c);
    if (c && c->is_counted) {
        c->calls->calls++;
        c->calls->counted++;
    } else if (FV_UNLIKELY(s->depth >= deepest)) {
        begin_beyond(s, function, c);
    } else {
        push(s, top, function, site, at, from);
        if (c)
            measure(s, top + 1, c, 0);
    }
    leave(s);
}

FV_PUBLIC void __cyg_profile_func_enter(void *function, void *site);
FV_PUBLIC void __cyg_profile_func_exit(void *function, void *site);

static inline bool is_call(const struct fv_called_function *c, const void *function, const void *site)
{
    return c && c->function == function && c->site == site;
}

/* What is called as last time by its caller, or as the last time behind what that called last, which is most, or
 * inlined into it, without a call: that would cost registers. */
FV_PUBLIC void __cyg_profile_func_enter(void *function, void *site)
{
    uintptr_t at = (uintptr_t)__builtin_dwarf_cfa(), from = (uintptr_t)__builtin_return_address(0);
    struct stack *s = own;

    if (FV_UNLIKELY(!s) && (FV_LIKELY(wish == UNWANTED) || !(s = make_stack())))
        return;
    struct frame *top = &s->frames[s->depth];
    if (FV_UNLIKELY(s->busy || !s->thread || top->at < at || s->depth >= deepest || fv_rt_paused() || !fv_clock_tsc)) {
        begin(s, function, site, at, from);
        return;
    }
    struct fv_called_function *c = top->inner->recent;
    if (!is_call(c, function, site)) {
        /* what is recursive has one for all its callers */
        c = c && is_call(c->after, function, site) && c->after->parent == top->inner ? c->after : NULL;
        top->inner->recent = c ? c : top->inner->recent;
    }
    if (FV_UNLIKELY(!c || !((c->calls->calls + 1) % JUDGED))) {
        begin(s, function, site, at, from);
        return;
    }
    if (FV_UNLIKELY(c->is_counted)) {
        c->calls->calls++;
        c->calls->counted++;
        return;
    }
    enter(s, at);
    push(s, top, function, site, at, from);
    measure(s, top + 1, c, 0);
    leave(s);
}

/* ---- end ---- */

/* Is it the end of the top's call? The hook may be called from its frame, or in place of its return; at most where its
 * caller called a hook. Else the top was left by a call of the same function. */
static inline bool is_end_of(const struct frame *top, const void *function, uintptr_t at)
{
    return top->function == function && at <= top[-1].at;
}

/* Not the top's: of a function that is counted alone or was not seen to begin, or those in between were left. */
static FV_COLD void end_other(struct stack *s, const void *function)
{
    uint64_t now = fv_ticks();
    uint32_t i = s->depth;

    while (i && s->frames[i].function != function)
        i--;
    if (!i && s->thread)
        s->thread->functions->losses->unbegun++;
    for (; i && s->depth > i;)
        pop_left(s, now);
    if (i)
        pop(s, now);
}

static __attribute__((noinline)) void end(struct stack *s, const void *function, uintptr_t at)
{
    const struct frame *top = &s->frames[s->depth];
    bool is_short = s->thread && fv_called_is_short(s->thread->functions, function);

    if (is_child(s) || (FV_UNLIKELY(s->busy) && !was_left(s, at)))
        return;
    enter(s, at);
    if (s->beyond && at > top->at) /* they were left: theirs are deeper */
        s->beyond = 0;
    if (s->beyond)
        s->beyond -= !is_short;
    else if (is_end_of(top, function, at))
        pop(s, fv_ticks());
    else if (!is_short)
        end_other(s, function);
    leave(s);
}

FV_PUBLIC void __cyg_profile_func_exit(void *function, void *site)
{
    uintptr_t at = (uintptr_t)__builtin_dwarf_cfa();
    struct stack *s = own;
    (void)site;

    if (FV_UNLIKELY(!s))
        return;
    const struct frame *top = &s->frames[s->depth];
    if (FV_UNLIKELY(!is_end_of(top, function, at) || s->busy || s->beyond || !fv_clock_tsc)) {
        end(s, function, at);
        return;
    }
    uint64_t now = fv_ticks();
    enter(s, at);
    pop_now(s, now);
    leave(s);
}
