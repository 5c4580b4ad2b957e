/* Not under ThreadSanitizer: it does not support programs that switch stacks. */
/* Call paths: what the cache of verified paths says must be what unwinding says, call for call, in the
 * stack shapes that could fool it: one call site at one depth reached over different ways, alloca,
 * recursion, stale frames, threads on reused stacks, coroutines. */
#include "rt_stub.h"
#include "unit.h"

#include <errno.h>
#include <alloca.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <pthread.h>
#define UNW_LOCAL_ONLY
#include <libunwind.h>
#include <sys/mman.h>
#include <ucontext.h>

#define NOINLINE     __attribute__((noinline, noclone))
#define STRING(name) #name
#define NAME(name)   STRING(name) /* what a macro makes of it */

static volatile unsigned sink;
static _Thread_local int calls, wrong;

/* Walks the recorded nodes from the innermost outwards and compares them with glibc's own unwinder. */
static bool same_as_unwound(uint32_t path, void *const *expected, int count)
{
    for (int i = 0; i < count; i++) {
        uint64_t offset;
        fv_lock(&fv_tree_lock);
        uint32_t module = fv_module_find((uintptr_t)expected[i], &offset);
        const struct fv_path_record *node = path ? fv_tree_node(path) : NULL;
        fv_unlock(&fv_tree_lock);
        if (!node || node->module != module || node->offset != offset)
            return false;
        path = node->parent;
    }
    return path == 0;
}

/* Where libunwind stands in for libgcc's unwinder, on AArch64, it gives the last byte of the call, not what is behind
 * it. */
static bool is_comparing;
static int unwound(void **expected, int most)
{
    is_comparing = true;
    int saved = errno, n = backtrace(expected, most);

    is_comparing = false;
    errno = saved;
#if defined(__aarch64__)
    for (int i = 0; i < n; i++)
        expected[i] = (void *)(((uintptr_t)expected[i] + 3) & ~(uintptr_t)3);
#endif
    return n;
}

void wrapper(void);
NOINLINE __attribute__((optimize("no-omit-frame-pointer"))) void wrapper(void)
{
    struct fv_call call;
    void *expected[1200];

    if (!fv_call_enter(&call, 0, FV_CALL_SITE()))
        abort();
    fv_call_end(&call);
    int n = unwound(expected, 1200), own = 0;
    while (own < n && expected[own] != __builtin_return_address(0))
        own++;
    if (!same_as_unwound(call.path->path, expected + own, n - own))
        wrong++;
    calls++;
    fv_call_record(&call, NULL, 8, 0);
}

NOINLINE static void helper(int n)
{
    wrapper();
    sink += (unsigned)n;
}
NOINLINE static void from_a(int n)
{
    helper(n);
    sink += 1;
}
NOINLINE static void from_b(int n)
{
    helper(n);
    sink += 2;
}
NOINLINE static void from_two_lines(int n)
{
    if (n & 1)
        helper(n);
    else
        helper(n + 1);
    sink += 3;
}

NOINLINE static void with_alloca(int n)
{
    volatile char *space = alloca((size_t)(n % 5) * 16 + 16);

    space[0] = (char)n;
    if (n % 3 == 0)
        from_a(n);
    else
        from_b(n);
    sink += (unsigned)space[0];
}

NOINLINE static void recurse(int depth, int n)
{
    if (depth == 0)
        n & 1 ? from_a(n) : from_two_lines(n);
    else
        recurse(depth - 1, n);
    sink += (unsigned)depth;
}

NOINLINE static void aligned_frame(int n)
{
    _Alignas(64) volatile char big[128];

    big[n % 128] = 1;
    with_alloca(n);
    sink += (unsigned)big[n % 128];
}

/* It realigns the stack, and passes arguments there: what it was called from stands in a slot of its own, and callers
 * at several depths leave it with one frame pointer. Those below keep what the one before has left in their locals. */
typedef double vector __attribute__((vector_size(32)));
#define OPTIMIZED NOINLINE __attribute__((noclone, optimize("O2", "omit-frame-pointer")))
OPTIMIZED static void eight(int a, int b, int c, int d, int e, int f, const vector *g, vector *h)
{
    helper(a + b + c + d + e + f);
    *h = *g + 1;
}
OPTIMIZED static void realigned(int n)
{
    vector in, out = { n, n, n, n };

    in = out * 2;
    eight(n, 1, 2, 3, 4, 5, &out, &in);
    sink += (unsigned)(in[0] + in[3]);
}
OPTIMIZED static void fill(double *numbers, int n)
{
    for (int i = 0; i < n; i++)
        numbers[i] = sink;
}
OPTIMIZED static void realigned_from_a(int n)
{
    realigned(n);
    sink += 1;
}
OPTIMIZED static void realigned_from_b(int n)
{
    double numbers[2];

    realigned(n);
    fill(numbers, 2);
    sink += (unsigned)(numbers[0] + numbers[1]);
}
OPTIMIZED static void realigned_from_c(int n)
{
    double numbers[4];

    realigned(n);
    fill(numbers, 4);
    sink += (unsigned)(numbers[0] + numbers[3]);
}

/* Leaves return addresses of another path behind, in frames of other sizes. */
NOINLINE static void smear(int n)
{
    volatile char junk[4096];

    memset((char *)junk, n, sizeof(junk));
    sink += (unsigned)junk[n % 4096];
}

static void mixture(unsigned seed, int rounds)
{
    for (int i = 0; i < rounds; i++) {
        int n = (int)((seed = seed * 1103515245u + 12345u) >> 8);

        switch (n % 6) {
        case 0: from_a(n); break;
        case 1: from_two_lines(n); break;
        case 2: with_alloca(n); break;
        case 3: recurse(n / 6 % 20, n); break;
        case 4: aligned_frame(n); break;
        case 5: smear(n); break;
        }
    }
}

static void test_paths_equal_unwinding(void **state)
{
    (void)state;
    calls = wrong = 0;
    mixture(1, 20000);
    assert_that(calls, >, 10000);
    assert_int_equal(wrong, 0);
}

static void test_realigned_stacks(void **state)
{
    static void (*const from[])(int) = { realigned_from_a, realigned_from_b, realigned_from_c };
    (void)state;
    for (unsigned space = 0; space < 64; space += 16) {
        volatile char *room = alloca(space + 1); /* the stack is aligned in all ways */

        room[space] = 0;
        calls = wrong = 0;
        for (int i = 0; i < 300; i++)
            from[i % 3](i);
        assert_int_equal(calls, 300);
        assert_int_equal(wrong, 0);
    }
}

static void test_paths_are_cached(void **state)
{
    (void)state;
    uint64_t before = 0;
    for (volatile int round = 0; round < 2; round++) {
        before = fv_self ? fv_self->record->path_misses : 0;
        mixture(2, 2000);
    }
    /* the very same calls again: all from the cache */
    assert_int_equal(fv_self->record->path_misses - before, 0);
}

#if defined(__x86_64__)
/* Calls wrapper() with the frame pointer's register as one of its own, which points to its array's item. */
void points_into_frame(long item);
__asm__(".text\n"
        ".globl points_into_frame\n"
        ".type points_into_frame, @function\n"
        "points_into_frame:\n"
        ".cfi_startproc\n"
        "push %rbp\n"
        ".cfi_def_cfa_offset 16\n"
        ".cfi_offset 6, -16\n"
        "sub $64, %rsp\n"
        ".cfi_def_cfa_offset 80\n"
        "lea (%rsp, %rdi, 8), %rbp\n"
        "call wrapper\n"
        "add $64, %rsp\n"
        ".cfi_def_cfa_offset 16\n"
        "pop %rbp\n"
        ".cfi_def_cfa_offset 8\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size points_into_frame, .-points_into_frame\n");
#endif

static void test_registers_are_no_frame_pointers(void **state)
{
    (void)state;
#if defined(__x86_64__)
    const uint64_t before = fv_self->record->path_misses;

    calls = wrong = 0;
    for (volatile long i = 0; i < 8; i++)
        points_into_frame(i);
    assert_int_equal(calls, 8);
    assert_int_equal(wrong, 0);
    assert_int_equal(fv_self->record->path_misses - before, 1);
#endif
}

static void test_deep_paths_are_cut(void **state)
{
    (void)state;
    calls = wrong = 0;
    recurse(2000, 1);
    assert_int_equal(calls, 1);
    assert_int_equal(wrong, 1); /* 1024 frames and a mark, not 2000 */
}

static void *thread_main(void *arg)
{
    calls = wrong = 0;
    mixture((unsigned)(uintptr_t)arg, 2000);
    return (void *)(uintptr_t)(wrong ? 1 : 0);
}

static void test_threads_one_after_another(void **state)
{
    (void)state;
    uint32_t before = fv_rt.thread_count;
    for (uintptr_t i = 0; i < 20; i++) {
        pthread_t thread;
        void *result;

        assert_int_equal(pthread_create(&thread, NULL, thread_main, (void *)i), 0);
        pthread_join(thread, &result);
        assert_null(result);
    }
    assert_that(fv_rt.thread_count - before, <=, 1); /* ended threads hand their slot on */
}

static void test_threads_at_once(void **state)
{
    (void)state;
    pthread_t thread[8];
    void *result;

    for (uintptr_t i = 0; i < 8; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, thread_main, (void *)i), 0);
    for (int i = 0; i < 8; i++) {
        pthread_join(thread[i], &result);
        assert_null(result);
    }
}

static ucontext_t back, coroutine;

static int changed; /* of errno, which reading where nothing may be mapped sets */

static void coroutine_main(void)
{
    errno = 123;
    mixture(3, 50);
    changed += errno != 123;
}

static void test_coroutine_stacks(void **state)
{
    enum { SIZE = 1 << 18, GUARD = 4096 };
    char *stack = mmap(NULL, SIZE + GUARD, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    (void)state;

    assert_int_equal(mprotect(stack + SIZE, GUARD, PROT_NONE), 0);

    calls = wrong = changed = 0;
    for (volatile int i = 0; i < 3; i++) {
        getcontext(&coroutine);
        coroutine.uc_stack.ss_sp = stack;
        coroutine.uc_stack.ss_size = SIZE;
        coroutine.uc_link = &back;
        makecontext(&coroutine, coroutine_main, 0);
        swapcontext(&back, &coroutine);
    }
    assert_that(calls, >, 50);
    assert_int_equal(wrong, 0);
    assert_int_equal(changed, 0);
}

/* A recursion that is entered from many places: the inner frames are the same, and so is the stack pointer.
 */
NOINLINE static void inner(int depth)
{
    if (depth)
        inner(depth - 1);
    else
        wrapper();
    sink++;
}

#define CALLER                                       \
    case __COUNTER__:                                \
        inner(60);                                   \
        __asm__ volatile("# %0" ::"i"(__COUNTER__)); \
        break;
#define CALLERS_5   CALLER CALLER CALLER CALLER CALLER
#define CALLERS_25  CALLERS_5 CALLERS_5 CALLERS_5 CALLERS_5 CALLERS_5
#define CALLERS_100 CALLERS_25 CALLERS_25 CALLERS_25 CALLERS_25
enum { CALLERS = 600, FIRST = __COUNTER__ + 1 };

NOINLINE static void outer(int which)
{
    switch (FIRST + which * 2) {
        CALLERS_100 CALLERS_100 CALLERS_100 CALLERS_100 CALLERS_100 CALLERS_100
    }
    sink++;
}

static void nothing(void) {}

/* Misses of the callers when they come for the second time, after something else. */
static uint64_t misses_after(void (*something)(void))
{
    uint64_t before = 0;

    for (volatile int round = 0; round < 2; round++) {
        if (round)
            something();
        before = fv_self->record->path_misses;
        for (volatile int i = 0; i < CALLERS; i++)
            outer(i);
    }
    return fv_self->record->path_misses - before;
}

static void test_many_callers_are_cached(void **state)
{
    (void)state;
    calls = wrong = 0;
    assert_int_equal(misses_after(nothing), 0);
    assert_int_equal(calls, 2 * CALLERS);
    assert_int_equal(wrong, 0);
}

static void one_call(void)
{
    wrapper();
}

static void many_coroutines(void)
{
    enum { SIZE = 1 << 16, TIMES = 5000 };
    char *stack = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    for (volatile int i = 0; i < TIMES; i++) {
        getcontext(&coroutine);
        coroutine.uc_stack.ss_sp = stack;
        coroutine.uc_stack.ss_size = SIZE;
        coroutine.uc_link = &back;
        makecontext(&coroutine, one_call, 0);
        swapcontext(&back, &coroutine);
    }
    munmap(stack, SIZE);
}

/* Paths on other stacks are not kept, and do not push out those that are. */
static void test_coroutines_take_no_entries(void **state)
{
    (void)state;
    assert_int_equal(misses_after(many_coroutines), 0);
}

NOINLINE static void at_another_depth(int k)
{
    volatile char *pad = alloca((size_t)k * 16 + 16);

    pad[0] = 1;
    recurse(30, k);
    sink += (unsigned)pad[0];
}

/* What is used again and again stays, while other paths come and go. */
static void test_paths_in_use_stay(void **state)
{
    uint64_t misses = 0, evicted = fv_self->record->path_evictions;
    (void)state;

    for (volatile int round = 0; round < 100; round++) {
        for (volatile int n = 0; n < 50; n++)
            at_another_depth(round * 50 + n);
        uint64_t before = fv_self->record->path_misses;
        for (volatile int i = 0; i < 20; i++)
            outer(i);
        misses += round ? fv_self->record->path_misses - before : 0;
    }
    assert_that(fv_self->record->path_evictions, >, evicted);
    assert_int_equal(misses, 0);
}

static void test_many_paths_evict_others(void **state)
{
    (void)state;
    calls = wrong = 0;
    for (int round = 0; round < 3; round++)
        for (int depth = 0; depth < 100; depth++)
            for (int n = 0; n < 30; n++) {
                volatile char *pad = alloca(16); /* another stack pointer each time */
                pad[0] = 1;
                recurse(depth, n);
            }
    assert_that(fv_self->record->path_evictions, >, 0);
    assert_int_equal(wrong, 0);
}

static unsigned asked, steps; /* of libunwind, by us: what searches the loader's list, and all steps */
int unw_get_proc_info(unw_cursor_t *cursor, unw_proc_info_t *info)
{
    int (*next)(unw_cursor_t *, unw_proc_info_t *) =
        (int (*)(unw_cursor_t *, unw_proc_info_t *))dlsym(RTLD_NEXT, NAME(unw_get_proc_info));

    asked++;
    return next(cursor, info);
}

int unw_step(unw_cursor_t *cursor)
{
    int (*next)(unw_cursor_t *) = (int (*)(unw_cursor_t *))dlsym(RTLD_NEXT, NAME(unw_step));

    steps += !is_comparing;
    return next(cursor);
}

NOINLINE __attribute__((optimize("no-omit-frame-pointer"))) static void with_frame_pointers(int depth)
{
    if (depth)
        with_frame_pointers(depth - 1);
    else
        wrapper();
    sink += (unsigned)depth;
}

static void many_depths(void)
{
    for (int depth = 0; depth < 100; depth++)
        with_frame_pointers(depth);
}

static void test_usual_frames_need_no_libunwind(void **state)
{
    const uint64_t misses = fv_self->record->path_misses;
    (void)state;

    steps = 0;
    many_depths();
    assert_int_equal(fv_self->record->path_misses - misses, 100);
#if defined(__x86_64__)
    assert_int_equal(steps, 0);
#else
    assert_that(steps, >, 0);
#endif
}

/* Whether a frame has a table libunwind is asked once for each place in the code, however often a path is new. */
static void test_tables_are_asked_for_once(void **state)
{
    enum { SIZE = 1 << 18 };
    (void)state;

    steps = asked = 0;
    getcontext(&coroutine);
    coroutine.uc_stack.ss_sp = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    coroutine.uc_stack.ss_size = SIZE;
    coroutine.uc_link = &back;
    makecontext(&coroutine, many_depths, 0);
    swapcontext(&back, &coroutine);
    assert_that(steps, >, 100);
    assert_in_range(asked, 1, 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_paths_equal_unwinding),
        cmocka_unit_test(test_realigned_stacks),
        cmocka_unit_test(test_paths_are_cached),
        cmocka_unit_test(test_registers_are_no_frame_pointers),
        cmocka_unit_test(test_deep_paths_are_cut),
        cmocka_unit_test(test_threads_one_after_another),
        cmocka_unit_test(test_threads_at_once),
        cmocka_unit_test(test_coroutine_stacks),
        cmocka_unit_test(test_many_callers_are_cached),
        cmocka_unit_test(test_coroutines_take_no_entries),
        cmocka_unit_test(test_paths_in_use_stay),
        cmocka_unit_test(test_many_paths_evict_others),
        cmocka_unit_test(test_usual_frames_need_no_libunwind),
        cmocka_unit_test(test_tables_are_asked_for_once),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    stub_start();
    int failed = cmocka_run_group_tests_name("call paths", tests, NULL, NULL);
    stub_remove();
    return failed;
}
