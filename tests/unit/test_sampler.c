/* Not under ThreadSanitizer: it delays the sampler's signals. */
/* The sampler's own unwinder against libunwind, frame by frame, and its statistics with known answers.
 * Nothing is sampled here: instances are made up. */
#define UNW_LOCAL_ONLY
#include "rt_stub.h"
#include "rt/layers.h"
#include "rt/loaded_objects.h"
#include "rt/stack.h"
#include "sampler/sampler.h"
#include "unit.h"

#include <alloca.h>
#include <dlfcn.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <libunwind.h>
#include <signal.h>
#include <ucontext.h>
#include <unistd.h>

#define FRAMES   64
#define NOINLINE __attribute__((noinline, noclone))

static struct fv_cfi_cache cache;
static uintptr_t theirs[FRAMES], ours[FRAMES];
static int their_count, our_count;
static volatile int compared;
static volatile bool in_handler; /* the kernel's frame ends our walk: what it interrupted was not called */

static struct fv_stack_range whole_stack(void)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    struct fv_stack_range stack = { .low = here & ~(uintptr_t)4095 };

    fv_stack_bounds(true, &stack.low, &stack.high);
    return stack;
}

static void walk_ours(struct fv_registers r)
{
    struct fv_stack_range stack = whole_stack();
    uintptr_t pc = r.r[FV_REG_PC];

    for (our_count = 0; our_count < FRAMES; pc = r.r[FV_REG_PC] - 1) {
        const struct fv_cfi_row *row = fv_cfi_find(&cache, pc);

        if (!fv_cfi_step(&cache, row, pc, &stack, &r))
            break;
        ours[our_count++] = r.r[FV_REG_PC];
    }
}

static void walk_theirs(ucontext_t *context)
{
    unw_cursor_t cursor;
    unw_word_t ip;

    unw_init_local(&cursor, (unw_context_t *)context);
    for (their_count = 0; their_count < FRAMES && unw_step(&cursor) > 0; their_count++) {
        unw_get_reg(&cursor, UNW_REG_IP, &ip);
        theirs[their_count] = (uintptr_t)ip;
    }
}

/* From here to the beginning of the thread, twice: what is cached must say the same. */
static void compare_here(void)
{
    ucontext_t context;
    struct fv_registers r;

    getcontext(&context);
    fv_registers_take(&r, &context);
    walk_theirs(&context);
    for (int again = 0; again < 2; again++) {
        walk_ours(r);
        /* libunwind may go a frame on, beyond _start */
        if (in_handler)
            assert_true(our_count >= 1 && our_count <= 2 && our_count < their_count);
        else
            assert_true(our_count >= 3 && our_count <= their_count && our_count + 1 >= their_count);
        for (int i = 0; i < our_count; i++)
            assert_int_equal(ours[i], theirs[i]);
    }
    assert_int_equal(ours[0], (uintptr_t)__builtin_return_address(0));
    compared = compared + 1;
}

NOINLINE static int nested(int depth)
{
    if (depth)
        return nested(depth - 1) + 1;
    compare_here();
    return 0;
}

/* Its frame's size is not known before it runs. */
NOINLINE static int with_room(size_t bytes)
{
    volatile char *room = alloca(bytes);

    room[0] = 1;
    compare_here();
    return room[0];
}

static int order(const void *a, const void *b)
{
    if (compared < 100)
        compare_here();
    return *(const int *)a - *(const int *)b;
}

static void on_signal(int signal)
{
    (void)signal;
    in_handler = true;
    compare_here();
    in_handler = false;
}

static void frames(void **state)
{
    int v[] = { 3, 1, 2 };
    (void)state;

    compared = 0;
    assert_int_equal(nested(0) + nested(1) + nested(20), 21);
    assert_int_equal(with_room(40) + with_room(4000), 2);
    assert_int_equal(compared, 5);
    qsort(v, 3, sizeof(*v), order); /* the C library's frames between ours */
    assert_that(compared, >, 6);
    compared = 0;
    signal(SIGUSR1, on_signal);
    raise(SIGUSR1);
    signal(SIGUSR1, SIG_DFL);
    assert_int_equal(compared, 1);
}

/* ---- the walk of a sample ---- */

static volatile int walked;

NOINLINE static void walk_here(struct fv_sampler *of)
{
    ucontext_t context;
    struct fv_registers r;

    getcontext(&context);
    fv_registers_take(&r, &context);
    fv_walk(of, &r);
    walked++;
}

NOINLINE static void recursion(struct fv_sampler *of, int depth)
{
    if (depth)
        recursion(of, depth - 1);
    else
        walk_here(of);
    walked++;
}

FV_UNSEEN static void unseen(void (*function)(struct fv_sampler *, int), struct fv_sampler *of)
{
    function(of, 0);
    walked++;
}

NOINLINE static void outer(struct fv_sampler *of)
{
    unseen(recursion, of);
    walked++;
}

/* A frame of ours between two of the program leaves none. */
static void recursive_frames(void **state)
{
    static struct fv_sampler of;
    struct fv_thread thread = { 0 };
    const struct fv_walk *w = &of.walk;
    unsigned frames;
    (void)state;

    fv_stack_bounds(true, &thread.stack_low, &thread.stack_end);
    of.thread = &thread;
    recursion(&of, 0);
    frames = w->count;
    for (unsigned i = 0; i < frames; i++)
        assert_false(w->recursive[i]);
    recursion(&of, 2);
    assert_int_equal(w->count, frames);
    assert_true(w->recursive[1]);
    outer(&of);
    assert_int_equal(w->count, frames + 1); /* outer() */
}

/* ---- at each instruction of some functions: single steps, by the processor's trap flag ---- */

static volatile int steps, differ, complex_rows;
static volatile bool stepping; /* not while the flag is set or cleared, which moves the stack pointer */

static void on_step(int signal, siginfo_t *info, void *context)
{
    ucontext_t copy = *(ucontext_t *)context;
    struct fv_registers r;
    unw_cursor_t cursor;
    unw_word_t ip;
    int saved = errno;
    (void)signal, (void)info;

    if (!stepping)
        return;
    fv_registers_take(&r, &copy);
    complex_rows = complex_rows + (fv_cfi_find(&cache, r.r[FV_REG_PC])->kind == FV_CFI_COMPLEX);
    walk_ours(r);
    unw_init_local2(&cursor, (unw_context_t *)&copy, UNW_INIT_SIGNAL_FRAME);
    bool same = our_count >= 3;
    for (int i = 0; i < our_count && same; i++) {
        same = unw_step(&cursor) > 0;
        unw_get_reg(&cursor, UNW_REG_IP, &ip);
        same = same && ip == ours[i];
    }
    if (!same && differ < 5)
        printf("# at %#lx: %d frames\n", (unsigned long)r.r[FV_REG_PC], our_count);
    differ = differ + !same;
    steps = steps + 1;
    errno = saved;
}

#if defined(__x86_64__)
#define STEPS true
#else
#define STEPS false /* no program can set the flag for itself */
#endif

static inline void single_steps(bool on)
{
#if defined(__x86_64__)
    if (on)
        __asm__ volatile("subq $128, %%rsp; pushfq; orq $0x100, (%%rsp); popfq; addq $128, %%rsp" ::: "cc", "memory");
    else
        __asm__ volatile("subq $128, %%rsp; pushfq; andq $~0x100, (%%rsp); popfq; addq $128, %%rsp" ::: "cc", "memory");
#else
    (void)on;
#endif
}

static int plain_order(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

NOINLINE static int many_registers(int n, int *out)
{
    int a = n * 3, b = n ^ 5, c = n + 7, d = n % 11, e = n / 3;

    if (n > 0)
        out[n] = many_registers(n - 1, out) + many_registers(n - 2, out);
    return a + b * c - d + e + out[0];
}

NOINLINE static int variable_frame(int n)
{
    volatile char *room = alloca((size_t)n * 16 + 16);
    int v[40] = { 0 };

    room[n] = 1;
    return many_registers(3, v) + room[n];
}

static void instructions(void **state)
{
    struct sigaction action = { .sa_sigaction = on_step, .sa_flags = SA_SIGINFO }, old;
    int v[12] = { 5, 3, 9, 1, 7, 2, 8, 4, 6, 11, 10, 12 }, sum;
    (void)state;

    if (!STEPS) {
        puts("# SKIP single steps: not on this processor");
        skip();
    }
    steps = differ = complex_rows = 0;
    sigaction(SIGTRAP, &action, &old);
    single_steps(true);
    stepping = true;
    sum = variable_frame(3) + variable_frame(40);
    qsort(v, 12, sizeof(*v), plain_order);
    stepping = false;
    single_steps(false);
    sigaction(SIGTRAP, &old, NULL);
    assert_true(sum != 0 && v[0] == 1);
    printf("# %d instructions, %d in frames that take expressions, %d differ\n", steps, complex_rows, differ);
    assert_that(steps, >, 300);
    assert_int_equal(differ, 0);
}

static void functions(void **state)
{
    uintptr_t entry = (uintptr_t)nested;
    const struct fv_cfi_row *row;
    int local;
    (void)state;

    row = fv_cfi_find(&cache, entry);
    assert_int_equal(row->begin, entry);
    assert_true(row->plain_entry);
    row = fv_cfi_find(&cache, entry + 9);
    assert_int_equal(row->begin, entry);
    row = fv_cfi_find(&cache, (uintptr_t)&local);
    assert_int_equal(row->begin, 0);
    assert_int_equal(row->kind, FV_CFI_END);
    row = fv_cfi_find(&cache, 16);
    assert_int_equal(row->begin, 0);
}

/* Where the loader is asked beforehand (FVMPI_WITHOUT=find_object): what was not known, and kept so, is looked up again
 * when objects were read anew. */
static void functions_that_came(void **state)
{
    void *handle = dlopen("libBrokenLocale.so.1", RTLD_NOW | RTLD_LOCAL); /* of the C library's own package */
    uintptr_t entry = handle ? (uintptr_t)dlsym(handle, "__ctype_get_mb_cur_max") : 0;
    (void)state;

    if (!entry) {
        puts("# SKIP no library that is not there yet");
        skip();
    }
    assert_int_equal(fv_cfi_find(&cache, entry)->begin, fv_loaded_generation() ? 0 : entry);
    fv_loaded_refresh();
    assert_int_equal(fv_cfi_find(&cache, entry)->begin, entry);
    dlclose(handle);
}

static void stack_reads(void **state)
{
    uintptr_t word[4] = { 1, 2, 3, 4 }, at = (uintptr_t)word, value = 0;
    struct fv_stack_range stack = { at, at + 24, at + 8, 77 };
    (void)state;

    assert_true(fv_stack_range_read(&stack, at, &value));
    assert_int_equal(value, 1);
    assert_true(fv_stack_range_read(&stack, at + 8, &value)); /* watched: must not be read */
    assert_int_equal(value, 77);
    assert_false(fv_stack_range_read(&stack, at + 24, &value));
    assert_false(fv_stack_range_read(&stack, at - 8, &value));
    assert_false(fv_stack_range_read(&stack, at + 4, &value));
}

/* ---- statistics ---- */

static struct fv_sampler *s;
static void moments(void **state);

static int make_sampler(void **state)
{
    struct fv_call call;
    (void)state;

    if (!fv_call_enter(&call, 0, FV_CALL_SITE())) /* starts the runtime */
        return -1;
    fv_call_record(&call, NULL, 0, 0);
    fv_rt.options.sample = 100;
    s = fv_memory_new(sizeof(*s));
    s->thread = fv_self;
    fv_sampler_calibration.trap_ticks = 10;
    fv_sampler_calibration.trap_ns = 5;
    return fv_tables_init(s) ? 0 : -1;
}

static uint32_t node_of(uintptr_t address)
{
    s->walk.count = 1;
    s->walk.cut = false;
    s->walk.address[0] = address;
    return fv_walk_intern(s, 0);
}

/* An instance of so many ticks and ns, of which ten and five are the trap's. */
static void add(uint32_t context, uint64_t ticks, uint64_t cpu_ns, bool in_window)
{
    struct fv_live_instance live = { .context = context, .in_window = in_window, .begin = { .ticks = 1000 } };
    struct fv_readings end = { .ticks = 1000 + ticks + 10, .cpu_ns = cpu_ns + 5 };

    end.mpi_calls = 3;
    end.mpi_bytes = ticks;
    end.migrations = ticks & 1;
    fv_context_add(s, &live, &end);
}

/* A call at that place of the stack, which returns to `ret`. */
static struct fv_live_instance *enter(uintptr_t *place, uintptr_t function, uintptr_t ret)
{
    struct fv_registers entry = { .r = { [FV_REG_SP] = (uintptr_t)place, [FV_REG_PC] = function } };

#if FV_RETURN_ON_STACK
    *place = ret;
#else
    entry.r[FV_REG_LR] = ret;
#endif
    return fv_live_push(s, function, fv_known_find(s, function), &entry);
}

/* One that was left, as by longjmp(), is not there any more when its place is another's. */
static void same_place(void **state)
{
    uintptr_t stack[64] = { 0 }, *place = stack + 32, a = (uintptr_t)moments, b = (uintptr_t)outer;
    uint64_t before = s->record->abandoned;
    (void)state;

    s->watches = true;
    assert_non_null(enter(place, a, a + 4));
    assert_non_null(enter(place, b, a + 4)); /* by a jump at its end */
    assert_int_equal(s->depth, 2);
    assert_non_null(enter(place, a, a + 8)); /* from elsewhere */
    assert_int_equal(s->depth, 1);
    assert_int_equal(s->record->abandoned - before, 2);
    assert_non_null(enter(place, a, a + 8)); /* again */
    assert_int_equal(s->depth, 1);
    assert_int_equal(s->record->abandoned - before, 3);
    fv_live_abandon(s);
    s->watches = s->leaves = false;
}

static void moments(void **state)
{
    uint32_t node = node_of(0x1001), context = fv_context_find(s, node, 0);
    const struct fv_instances *r = fv_context_record(s, context);
    (void)state;

    assert_int_equal(fv_context_find(s, node, 0), context);
    for (uint64_t i = 1; i <= 100; i++)
        add(context, i * 100, i * 50, i % 4 == 0);
    assert_int_equal(r->returns, 100);
    assert_int_equal(r->window, 25);
    assert_int_equal(r->time_min, 100);
    assert_int_equal(r->time_max, 10000);
    /* of 1..n: mean (n + 1) / 2, squared deviations n (n^2 - 1) / 12 */
    assert_float_equal(r->all[FV_METRIC_TIME].mean, 5050, 1e-6);
    assert_float_equal(r->all[FV_METRIC_TIME].m2 / 1e4, 83325, 1e-3);
    assert_float_equal(r->all[FV_METRIC_CPU].mean, 2525, 1e-6);
    assert_float_equal(r->all[FV_METRIC_MPI_CALLS].mean, 3, 1e-9);
    assert_float_equal(r->all[FV_METRIC_MPI_CALLS].m2, 0, 1e-9);
    assert_float_equal(r->all[FV_METRIC_MPI_BYTES].mean, 5050, 1e-6);
    /* 4, 8, ..., 100 */
    assert_float_equal(r->in_window[FV_METRIC_TIME].mean, 5200, 1e-6);
    assert_float_equal(r->in_window[FV_METRIC_TIME].m2 / 1e4, 16 * 1300, 1e-3);
}

/* The call that the thread is in counts up to now, till it is added; an instance inside of it is all in MPI.
 */
static void inside_of_mpi(void **state)
{
    uint32_t context = fv_context_find(s, node_of(0x4001), 0);
    struct fv_thread_record *t = s->thread->record, saved = *t;
    struct fv_readings at = { .ticks = 5000 };
    struct fv_live_instance live = { .context = context, .begin = { .ticks = 5000 } };
    (void)state;

    t->mpi_ticks = 700;
    t->last = 4000;
    t->in_call.begin = 0;
    fv_readings_take_mpi(s, &at);
    assert_int_equal(at.mpi_ticks, 700);
    t->in_call.begin = 4600;
    fv_readings_take_mpi(s, &at);
    assert_int_equal(at.mpi_ticks, 1100);
    t->last = 4900; /* added, but still marked as going on */
    fv_readings_take_mpi(s, &at);
    assert_int_equal(at.mpi_ticks, 700);
    t->last = 4000;
    fv_readings_take(s, &live.begin);
    at.ticks = 5310;
    fv_readings_take(s, &at);
    fv_context_add(s, &live, &at);
    const struct fv_instances *r = fv_context_record(s, context);
    assert_float_equal(r->all[FV_METRIC_TIME].mean, 300, 1e-9); /* less the trap */
    assert_float_equal(r->all[FV_METRIC_MPI].mean, 300, 1e-9);
    assert_float_equal(r->all[FV_METRIC_MPI_CALLS].mean, 0, 1e-9);
    *t = saved;
}

/* The CPU time, or, of MPI that spins, the time outside of it. */
static void computing(void **state)
{
    const struct {
        uint64_t cpu_ns, mpi_ticks;
        double wanted_ns; /* of 100 ticks of 2 ns */
    } calls[] = { { 200, 60, 80 }, { 50, 60, 50 }, { 220, 0, 220 }, { 100, 100, 0 } };
    (void)state;

    s->ns_per_tick = 2;
    for (unsigned i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
        uint32_t context = fv_context_find(s, node_of(0x5001 + i), 0);
        struct fv_live_instance live = { .context = context, .in_window = true, .begin = { .ticks = 1000 } };
        struct fv_readings end = { .ticks = 1110, .cpu_ns = calls[i].cpu_ns + 5, .mpi_ticks = calls[i].mpi_ticks };

        fv_context_add(s, &live, &end);
        assert_float_equal(fv_context_computing(s, context)->all.mean, calls[i].wanted_ns, 1e-9);
        assert_float_equal(fv_context_computing(s, context)->in_window.mean, calls[i].wanted_ns, 1e-9);
    }
    s->ns_per_tick = 0;
}

/* Descriptors that the application has taken for events of its own are left alone. */
static void foreign_descriptors(void **state)
{
    struct perf_event_attr attr = { .size = sizeof(attr),
                                    .type = PERF_TYPE_SOFTWARE,
                                    .config = PERF_COUNT_SW_TASK_CLOCK,
                                    .exclude_kernel = 1,
                                    .exclude_hv = 1 };
    struct fv_event_fd ours, theirs;
    uint64_t before, after;
    (void)state;

    if (!fv_perf_open_tick(&ours, 1000000000) || !fv_perf_open(&theirs, &attr, -1))
        skip();
    int own = dup(ours.fd);
    assert_int_equal(dup2(theirs.fd, ours.fd), ours.fd);
    fv_perf_enable(&ours);
    fv_perf_set_period(&ours, 1000);
    fv_perf_disarm(&ours);
    assert_false(fv_perf_arm(&ours, FV_TRAP_X, 0, (uintptr_t)foreign_descriptors));
    assert_true(fv_perf_read(&theirs, &before, sizeof(before)));
    for (volatile int i = 0; i < 1000000; i++)
        ;
    assert_true(fv_perf_read(&theirs, &after, sizeof(after)));
    assert_that(after, >, before);
    close(ours.fd);
    close(own);
    fv_perf_close(&theirs);
}

/* The 5th percentile of the CPU times; too fast where that is below the cost of a trap. */
static void windows(void **state)
{
    uint32_t slow = fv_context_find(s, node_of(0x2001), 0), fast = fv_context_find(s, node_of(0x3001), 1);
    (void)state;

    for (uint64_t i = 0; i < 15; i++)
        add(slow, 1000, 1000 + i, false);
    assert_int_equal(s->context[slow].window_ns, 0); /* too few */
    for (uint64_t i = 15; i < 40; i++)
        add(slow, 1000, 1000 + i, false);
    assert_in_range(s->context[slow].window_ns, 1000, 1002);
    assert_int_equal(fv_context_record(s, slow)->flags & FV_INSTANCES_FAST, 0);
    for (int i = 0; i < 40; i++)
        add(fast, 20, 3, false);
    assert_int_equal(fv_context_record(s, fast)->flags & FV_INSTANCES_FAST, FV_INSTANCES_FAST);
    assert_true(s->known[1].fast);
    /* what took less than fvmpi itself counts as nothing, not as a huge number */
    struct fv_live_instance live = { .context = fast, .begin = { .ticks = 1000 } };
    struct fv_readings end = { .ticks = 1003 };
    fv_context_add(s, &live, &end);
    assert_int_equal(fv_context_record(s, fast)->time_min, 0);
    assert_int_equal(fv_context_record(s, fast)->time_max, 20);
}

/* Nodes, contexts and costs of many chunks; past the last one NULL, and all before is as it was. */
static void tables_grow(void **state)
{
    uint32_t made = s->instances.count, count = 0;
    (void)state;

    for (uintptr_t i = 0; i < 2 * FV_SAMPLE_CONTEXTS; i++) {
        uint32_t node = node_of(0x100001 + i * 16), context = fv_context_find(s, node, 0);

        assert_int_not_equal(node, 0);
        fv_cost_add(s, node, i & 1);
        if (context == FV_SAMPLE_CONTEXTS)
            continue;
        assert_int_equal(context, made + count);
        assert_int_equal(fv_context_record(s, context)->path, node);
        count++;
    }
    assert_int_equal(made + count, FV_SAMPLE_CONTEXTS);
    assert_int_equal(s->costs.count, 2 * FV_SAMPLE_CONTEXTS);
    assert_int_equal(((const struct fv_cost *)fv_record_table_at(&s->costs, 1999))->ticks, 1);
    assert_int_equal(s->record->lost_paths, 0);
}

/* One call path within different sections: a cost each, found again whichever was used last. */
static void costs_by_section(void **state)
{
    uint32_t node = node_of(0x7000001), before = s->costs.count;
    uint64_t ticks[4] = { 0 };
    (void)state;

    for (unsigned i = 0; i < 40; i++) {
        s->thread->section_set = i * i % 7 % 4;
        fv_cost_add(s, node, false);
    }
    s->thread->section_set = 0;
    for (uint32_t i = before; i < s->costs.count; i++) {
        const struct fv_cost *cost = fv_record_table_at(&s->costs, i);

        assert_int_equal(cost->path, node);
        assert_int_equal(ticks[cost->section], 0);
        ticks[cost->section] = cost->ticks;
    }
    for (unsigned i = 0; i < 40; i++)
        ticks[i * i % 7 % 4]--;
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(ticks[i], 0);
}

/* When the table is full a call path still has its samples, if not behind which call each was; one that has no record
 * is counted. */
static void costs_without_room(void **state)
{
    uint32_t node = node_of(0x7100001), before = s->costs.count;
    uint64_t ticks = 0, shared = 0;
    (void)state;

    s->thread->section_set = 0;
    for (uint32_t i = 0; i < 2 * FV_SAMPLE_COSTS; i++) {
        s->thread->previous = i + 1;
        fv_cost_add(s, node, false);
    }
    assert_int_equal(s->costs.count, FV_SAMPLE_COSTS);
    assert_int_equal(s->record->lost_paths, 0);
    for (uint32_t i = before; i < s->costs.count; i++) {
        const struct fv_cost *cost = fv_record_table_at(&s->costs, i);
        const struct fv_cost_region *region = fv_record_table_at(&s->cost_regions, i);

        ticks += cost->ticks;
        shared += region->from ? 0 : cost->ticks;
        assert_true(!region->from || cost->ticks == 1);
    }
    assert_int_equal(ticks, 2 * FV_SAMPLE_COSTS);
    assert_in_range(shared, FV_SAMPLE_COSTS, 2 * FV_SAMPLE_COSTS);
    fv_cost_add(s, node_of(0x7200001), false);
    assert_int_equal(s->record->lost_paths, 1);
}

/* What AArch64 executes after an instruction, as its assembler encodes them; on any processor. */
static void next_instruction(void **state)
{
    enum { AT = 0x1000, TO = 0x52340 };
    uintptr_t x[31] = {
        [0] = 0, [1] = UINT64_C(1) << 32, [2] = UINT64_C(1) << 33, [3] = 1 << 3, [5] = TO, [30] = TO + 8
    };
    const struct {
        uint32_t instruction;
        uintptr_t next;
        const char *text;
    } c[] = {
        { 0xd503201f, AT + 4, "nop" },
        { 0xa9bf7bfd, AT + 4, "stp x29, x30, [sp, #-16]!" },
        { 0xd503233f, AT + 4, "paciasp" },
        { 0xd4000001, AT + 4, "svc #0" },
        { 0x14000002, AT + 8, "b .+8" },
        { 0x17ffffff, AT - 4, "b .-4" },
        { 0x94000040, AT + 256, "bl .+256" },
        { 0xb4000080, AT + 16, "cbz x0, .+16" },
        { 0xb4000081, AT + 4, "cbz x1, .+16" },
        { 0x35000081, AT + 4, "cbnz w1, .+16: of 32 bits" },
        { 0xb5000081, AT + 16, "cbnz x1, .+16" },
        { 0xb400007f, AT + 12, "cbz xzr, .+12" },
        { 0xb6080042, AT + 4, "tbz x2, #33, .+8" },
        { 0xb6080040, AT + 8, "tbz x0, #33, .+8" },
        { 0x371fffc3, AT - 8, "tbnz w3, #3, .-8" },
        { 0xd61f00a0, TO, "br x5" },
        { 0xd63f00a0, TO, "blr x5" },
        { 0xd65f03c0, TO + 8, "ret" },
        { 0xd65f0bff, 0, "retaa: the address is signed" },
        { 0xd61f081f, 0, "braaz x0" },
        { 0x54000040, 0, "b.eq .+8: the flags are not known" },
        { 0x74000040, 0, "cbgt w0, w0, .+8, of Armv9.6" },
    };
    (void)state;

    for (unsigned i = 0; i < sizeof(c) / sizeof(*c); i++) {
        uintptr_t next = fv_step_next(c[i].instruction, AT, x);

        if (next != c[i].next)
            fail_msg("%s: %#lx, not %#lx", c[i].text, (unsigned long)next, (unsigned long)c[i].next);
    }
}

/* What is counted from the last tick on, and against the budget, goes on when the profile is forgotten. */
static void forgotten(void **state)
{
    extern const struct fv_layer fv_sampler_layer;
    struct fv_sampler *before = s->thread->sampler;
    (void)state;

    s->thread->sampler = s;
    s->tool_ns = 1000;
    s->budget_tool_ns = 400;
    s->tick_cpu_ns = 50000;
    fv_sampler_layer.at[FV_AT_FORGET](s->thread);
    s->thread->sampler = before;
    assert_int_equal(s->tool_ns, 0);
    assert_int_equal(s->tool_ns - s->budget_tool_ns, 600);
    assert_int_equal(s->tick_cpu_ns + s->tool_ns, 51000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(frames),
        cmocka_unit_test(recursive_frames),
        cmocka_unit_test(instructions),
        cmocka_unit_test(functions),
        cmocka_unit_test(functions_that_came),
        cmocka_unit_test(stack_reads),
        cmocka_unit_test(same_place),
        cmocka_unit_test(moments),
        cmocka_unit_test(inside_of_mpi),
        cmocka_unit_test(computing),
        cmocka_unit_test(foreign_descriptors),
        cmocka_unit_test(windows),
        cmocka_unit_test(tables_grow),
        cmocka_unit_test(costs_by_section),
        cmocka_unit_test(costs_without_room),
        cmocka_unit_test(next_instruction),
        cmocka_unit_test(forgotten),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    if (!fv_cfi_available()) {
        puts("1..0 # SKIP the sampler is not for this processor or C library");
        return 0;
    }
    stub_start();
    int failed = cmocka_run_group_tests_name("sampler", tests, make_sampler, NULL);
    stub_remove();
    return failed;
}
