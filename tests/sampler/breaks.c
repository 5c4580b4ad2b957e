/* What breaks a sampler, for breaks.t: `breaks WHAT`, `breaks unprivileged|blocking COMMAND...`. Each way
 * runs for some tenths of a second of CPU time, and prints what it found to be as it should. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <linux/perf_event.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

extern char **environ;
static volatile uint64_t sink;

static double cpu(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double own(void)
{
    return cpu(CLOCK_THREAD_CPUTIME_ID);
}

NOINLINE void work(uint64_t n)
{
    uint64_t x = n + 1;

    for (uint64_t i = 0; i < n * 100; i++)
        x = x * UINT64_C(6364136223846793005) + 1442695040888963407;
    sink = x;
}

NOINLINE int task(int i)
{
    work(2000);
    return i + 1;
}

/* So long of the thread's CPU time; about 0.25 ms a task. */
NOINLINE int busy(double seconds)
{
    int n = 0;

    for (seconds += own(); own() < seconds;)
        n = task(n);
    return n;
}

/* ---- threads ---- */

static void *worker(void *arg)
{
    (void)arg;
    busy(0.1);
    return NULL;
}

static void threads(void)
{
    pthread_t t[4];

    for (int i = 0; i < 4; i++)
        pthread_create(&t[i], NULL, worker, NULL);
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], NULL);
    puts("joined 4");
}

static void *short_worker(void *arg)
{
    task(0);
    return arg;
}

static void many(void)
{
    pthread_t t[4];
    int joined = 0;

    for (int k = 0; k < 100; k++) {
        for (int i = 0; i < 4; i++)
            pthread_create(&t[i], NULL, short_worker, t);
        for (int i = 0; i < 4; i++) {
            void *result;
            joined += !pthread_join(t[i], &result) && result == t;
        }
    }
    printf("joined %d\n", joined);
}

static void small_stacks(void)
{
    pthread_attr_t attr;
    pthread_t t[4];
    int joined = 0;

    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, 16384);
    for (int i = 0; i < 4; i++)
        pthread_create(&t[i], &attr, worker, NULL);
    for (int i = 0; i < 4; i++)
        joined += !pthread_join(t[i], NULL);
    printf("joined %d\n", joined);
}

static volatile int given_up; /* never */
static int cleaned, begun;
static void cleanup(void *arg)
{
    (void)arg;
    __atomic_fetch_add(&cleaned, 1, __ATOMIC_RELAXED);
}

NOINLINE static int deep(int depth)
{
    while (!depth && !given_up) {
        task(0);
        pthread_testcancel();
    }
    return depth ? deep(depth - 1) + 1 : 0;
}

static void *endless(void *arg)
{
    pthread_cleanup_push(cleanup, NULL);
    __atomic_fetch_add(&begun, 1, __ATOMIC_RELAXED);
    sink = (uint64_t)deep(10);
    pthread_cleanup_pop(0);
    return arg;
}

NOINLINE static int leaves(int depth)
{
    int n;

    task(0);
    if (!depth && !given_up)
        pthread_exit(&cleaned);
    n = depth ? leaves(depth - 1) + 1 : 0;
    task(n);
    return n;
}

static void *leaver(void *arg)
{
    pthread_cleanup_push(cleanup, NULL);
    sink = (uint64_t)leaves(20);
    pthread_cleanup_pop(0);
    return arg;
}

/* Threads that end by cancellation, asynchronous every other time, and by pthread_exit(), far inside of
 * functions. */
static void *endless_asynchronous(void *arg)
{
    int old;

    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &old);
    return endless(arg);
}

static void endings(void)
{
    int right = 0;

    for (int i = 0; i < 15; i++) {
        pthread_t a, b;
        void *x, *y;

        pthread_create(&a, NULL, i & 1 ? endless_asynchronous : endless, NULL);
        pthread_create(&b, NULL, leaver, NULL);
        busy(0.01);
        while (__atomic_load_n(&begun, __ATOMIC_RELAXED) <= i) /* before, there is nothing to clean up */
            sched_yield();
        pthread_cancel(a);
        pthread_join(a, &x);
        pthread_join(b, &y);
        right += x == PTHREAD_CANCELED && y == &cleaned;
    }
    printf("ended %d cleaned %d\n", right, cleaned);
}

/* ---- other stacks ---- */

static ucontext_t first, second;
static int switches;

NOINLINE static int turn(int i)
{
    task(i);
    swapcontext(i & 1 ? &second : &first, i & 1 ? &first : &second);
    task(i);
    return i;
}

static void coroutine(void)
{
    for (;;)
        switches += turn(1);
}

static void coroutines(void)
{
    size_t bytes = 64 << 10;
    double end = own() + 0.6;

    getcontext(&second);
    second.uc_stack.ss_sp = malloc(bytes);
    second.uc_stack.ss_size = bytes;
    second.uc_link = NULL;
    makecontext(&second, coroutine, 0);
    int n = 0;
    for (; own() < end; n++)
        turn(0);
    printf("switched %d\n", switches == n - 1);
}

static volatile sig_atomic_t handled;
static void on_usr1(int signal)
{
    (void)signal;
    task(0);
    handled = handled + 1;
}

static uintptr_t handler_at;
static void note_place(int signal)
{
    (void)signal;
    handler_at = (uintptr_t)__builtin_frame_address(0);
}

/* What the kernel writes for a handler of this thread. It says more (AT_MINSIGSTKSZ) where the processor has registers that the thread does not use. */
static size_t signal_frame(void)
{
    stack_t stack = { .ss_sp = malloc(128 << 10), .ss_size = 128 << 10 }, old;
    struct sigaction action = { .sa_handler = note_place, .sa_flags = SA_ONSTACK };

    sigaltstack(&stack, &old);
    sigaction(SIGUSR2, &action, NULL);
    raise(SIGUSR2);
    sigaltstack(&old, NULL);
    return (uintptr_t)stack.ss_sp + stack.ss_size - handler_at;
}

/* The application's own signal stack, of a size or with so little room that hardly any handler can work there, and signals handled on it. */
static void signal_stack(size_t bytes)
{
    stack_t stack = { .ss_size = bytes ? bytes : signal_frame() + 1024 }, now;
    struct sigaction action = { .sa_handler = on_usr1, .sa_flags = SA_ONSTACK };
    uint64_t *guard;
    int n = 0, bad = 0;

    for (double end = own() + 0.2; own() < end;) /* breakpoints wait when the stack changes */
        task(1);
    guard = malloc(stack.ss_size + 2 * 4096);
    memset(guard, 0x5a, 4096); /* below the stack: must stay */
    stack.ss_sp = (char *)guard + 4096;
    for (int more = 0; sigaltstack(&stack, NULL) && more < 4096; more += 64) /* AArch64's kernel takes none below 5 KiB, whatever it says */
        stack.ss_size += 64;
    sigaction(SIGUSR1, &action, NULL);
    for (double end = own() + 0.5; own() < end; n++) {
        task(n);
        if (bytes)
            raise(SIGUSR1);
    }
    for (int i = 0; i < 4096 / 8; i++)
        bad += guard[i] != UINT64_C(0x5a5a5a5a5a5a5a5a);
    sigaltstack(NULL, &now);
    printf("handled %d same %d overwritten %d\n", handled == (bytes ? n : 0), now.ss_sp == stack.ss_sp, bad);
}

/* ---- waiting ---- */

static int interrupted;

static void waits(void)
{
    int pipes[2], set = epoll_create1(0);
    struct epoll_event event = { .events = EPOLLIN };
    long rounds = 0;

    if (pipe(pipes) || epoll_ctl(set, EPOLL_CTL_ADD, pipes[0], &event))
        return;
    for (double end = own() + 0.4; own() < end; rounds++) {
        bool sleeps = rounds % 400 == 0;
        struct pollfd p = { .fd = pipes[0], .events = POLLIN };
        struct timeval time = { 0, sleeps ? 50 : 0 };
        struct timespec nap = { 0, 20000 };
        fd_set read_set;

        work((uint64_t)rounds % 7 * 3);
        FD_ZERO(&read_set);
        FD_SET(pipes[0], &read_set);
        interrupted += poll(&p, 1, sleeps) < 0;
        interrupted += epoll_wait(set, &event, 1, sleeps) < 0;
        interrupted += select(pipes[0] + 1, &read_set, NULL, NULL, &time) < 0;
        if (sleeps)
            interrupted += nanosleep(&nap, NULL) != 0;
    }
    printf("interrupted %d\n", interrupted);
}

/* ---- children ---- */

/* Descriptors of the parent's events would be in the child: it must not find one to switch off. */
static void disabling_child(void)
{
    int status, bad = 0;

    busy(0.1);
    for (int i = 0; i < 5; i++) {
        pid_t child = fork();

        if (!child) {
            int found = 0;

            for (int fd = 0; fd < 256; fd++)
                found += !ioctl(fd, PERF_EVENT_IOC_DISABLE, 0);
            task(0);
            _exit(found);
        }
        bad += waitpid(child, &status, 0) != child || status;
        busy(0.05);
    }
    printf("disabled %d\n", bad);
}

NOINLINE static pid_t by_vfork(char *const *argv)
{
    pid_t child = vfork();

    if (!child) {
        execvp(argv[0], argv);
        _exit(127);
    }
    return child;
}

static void spawned(void)
{
    char *const argv[] = { "sh", "-c", "exit 5", NULL };
    int status, good = 0;

    for (int i = 0; i < 20; i++) {
        pid_t child;

        busy(0.01);
        if (i & 1) {
            if (posix_spawnp(&child, "sh", NULL, NULL, argv, environ))
                continue;
        } else {
            child = by_vfork(argv);
        }
        good += waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 5;
    }
    printf("spawned %d\n", good);
}

/* ---- code that comes and goes, or is odd ---- */

static void plugins(const char *one, const char *other)
{
    int good = 0, rounds = 0;

    for (double end = own() + 0.5; own() < end; rounds++) {
        void *handle = dlopen(rounds / 8 & 1 ? one : other, RTLD_NOW);
        int (*function)(int) = handle ? (int (*)(int))dlsym(handle, "plugin_task") : NULL;

        for (int i = 0; function && i < 20; i++)
            good += function(i) == i + 1;
        if (handle)
            dlclose(handle);
    }
    printf("called %d\n", good == 20 * rounds);
}

NOINLINE __attribute__((cold)) void seldom(int i)
{
    work(200 + (uint64_t)i % 3);
}

/* Parts of it stand elsewhere, as odd_task.cold: not called, with a frame that is made already. */
NOINLINE int odd_task(int i)
{
    volatile char room[64];

    room[i & 63] = 1;
    work(1000);
    if (__builtin_expect(i % 64 == 63, 0)) {
        seldom(i);
        sink += (uint64_t)i * 3;
        seldom(i + 1);
    }
    work(500);
    return i + room[i & 63];
}

NOINLINE static int chosen_task(int i)
{
    work(2000);
    return i;
}
static int (*choose_task(void))(int)
{
    return chosen_task;
}
int indirect_task(int i) __attribute__((ifunc("choose_task")));

/* Debug exceptions that say of no breakpoint, as some hypervisors deliver them now and then; others are the program's
 * own. */
static void nameless(void)
{
    for (int i = 0; i < 200; i++) {
        task(i);
#if defined(__x86_64__)
        siginfo_t info = { .si_signo = SIGTRAP, .si_code = TRAP_BRKPT };
        long result = SYS_rt_tgsigqueueinfo, thread = syscall(SYS_gettid), process = getpid();
        register siginfo_t *what __asm__("r10") = &info;

        __asm__ volatile("leaq 1f(%%rip), %%rcx\n movq %%rcx, %c[at](%%r10)\n syscall\n 1:"
                         : "+a"(result)
                         : "D"(process), "S"(thread), "d"((long)SIGTRAP), "r"(what),
                           [at] "i"(offsetof(siginfo_t, si_addr))
                         : "rcx", "r11", "memory");
#endif
    }
    printf("tasks 200\n");
}

static int compare(const void *a, const void *b)
{
    task(0);
    return *(const int *)a - *(const int *)b;
}

static void odd_code(void)
{
    for (double end = own() + 1; own() < end;) {
        int v[8] = { 5, 3, 8, 1, 9, 2, 7, 4 };

        for (int i = 0; i < 64; i++)
            sink += (uint64_t)odd_task(i);
        for (int i = 0; i < 20; i++)
            sink += (uint64_t)indirect_task(i);
        qsort(v, 8, sizeof(*v), compare); /* through the PLT, and back */
    }
    puts("done");
}

/* The inner instance is left by longjmp(), and nobody touches its slot afterwards: only the stack pointer
 * tells that it has gone, and the outer one's return is waited for again. */
static jmp_buf place;
NOINLINE int jumps_out(int i)
{
    work(10000);
    if (!given_up)
        longjmp(place, 1);
    return i;
}
/* Room between the two, which what is called later does not come down to. */
NOINLINE int passes_on(int i)
{
    volatile char room[512];

    room[i] = 1;
    return jumps_out(i) + room[i];
}
NOINLINE int goes_on(int i)
{
    if (!setjmp(place))
        passes_on(6);
    work(30000); /* some ticks */
    return i;
}

static void left(void)
{
    for (double end = own() + 1.5; own() < end;)
        sink += (uint64_t)goes_on(1);
    puts("done");
}

/* It lasts for some ticks, and reads the slot of its return address more often than a watchpoint would bear. */
NOINLINE int looks_back(int i)
{
    const volatile uintptr_t *slot = (const volatile uintptr_t *)__builtin_frame_address(0) + 1;

    work(30000);
    for (int k = 0; k < 100; k++)
        sink += slot[0];
    return i;
}

static void lasting(void)
{
    for (double end = own() + 1.5; own() < end;)
        sink += (uint64_t)looks_back(1);
    puts("done");
}

/* ---- recursion ---- */

NOINLINE int pong(int depth, unsigned way);
NOINLINE int ping(int depth, unsigned way)
{
    work(50);
    if (!depth)
        return 1;
    int below = way & 1 ? pong(depth - 1, way >> 1) * 3 : pong(depth - 1, way >> 1) + 1;
    work(10);
    return below;
}
NOINLINE int pong(int depth, unsigned way)
{
    work(50);
    return depth ? ping(depth - 1, way) + 1 : 1;
}

/* Some thousand call paths. */
static void contexts(void)
{
    unsigned way = 0;

    for (double end = own() + 0.8; own() < end; way += 0x9e3779b1u)
        sink += (uint64_t)ping(40, way >> 8);
    puts("done");
}

NOINLINE int tree(int depth)
{
    work(20);
    return depth ? tree(depth - 1) + tree(depth - 1) + 1 : 0;
}
NOINLINE int chain(int depth)
{
    work(10);
    int below = depth ? chain(depth - 1) : 0;
    work(10);
    return below + 1;
}

static void recursion(void)
{
    for (double end = own() + 0.5; own() < end;) {
        sink += (uint64_t)tree(9);
        sink += (uint64_t)chain(500);
    }
    puts("done");
}

/* ---- processors ---- */

/* What the sampler's handler calls too: errno is a function. */
NOINLINE static int look_at_errno(void)
{
    int sum = 0;

    for (int i = 0; i < 200; i++) {
        sum += errno;
        __asm__ volatile("" ::: "memory");
    }
    return sum;
}

static void errors(void)
{
    double end = own() + 1;

    while (own() < end)
        for (int i = 0; i < 200; i++)
            sink += (uint64_t)look_at_errno();
    puts("looked 1");
}

static int places[2];

NOINLINE int moves(int i)
{
    cpu_set_t set;

    for (int k = 0; k < 2; k++) {
        CPU_ZERO(&set);
        CPU_SET((unsigned)places[k], &set);
        sched_setaffinity(0, sizeof(set), &set);
        work(1000);
    }
    return i;
}

static void migrations(void)
{
    cpu_set_t may;
    int found = 0;

    sched_getaffinity(0, sizeof(may), &may);
    for (int i = 0; i < CPU_SETSIZE && found < 2; i++)
        if (CPU_ISSET((unsigned)i, &may))
            places[found++] = i;
    if (found == 2)
        for (double end = own() + 0.25; own() < end;)
            sink += (uint64_t)moves(1);
    printf("processors %d\n", found);
}

/* Runs a command without what lets root look into the kernel. */
static int unprivileged(char **command)
{
    prctl(PR_CAPBSET_DROP, 38); /* CAP_PERFMON */
    prctl(PR_CAPBSET_DROP, 21); /* CAP_SYS_ADMIN */
    execvp(*command, command);
    return 98;
}

static int blocking(char **command)
{
    sigset_t trap;

    sigemptyset(&trap);
    sigaddset(&trap, SIGTRAP);
    sigprocmask(SIG_BLOCK, &trap, NULL);
    execvp(*command, command);
    return 98;
}

/* All signals are blocked, and waited for: samples of the time before are not for the program. */
static int signals_waited_for(void)
{
    const struct timespec soon = { 0, 20000000 };
    siginfo_t info;
    sigset_t all;
    int foreign = 0, own = 0, got;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
    for (int i = 0; i < 20; i++) {
        busy(0.01);
        foreign += sigtimedwait(&all, &info, &soon) != -1 || errno != EAGAIN;
        busy(0.01);
        pthread_kill(pthread_self(), SIGUSR1);
        own += !sigwait(&all, &got) && got == SIGUSR1;
        busy(0.01);
        pthread_kill(pthread_self(), SIGUSR2);
        own += sigwaitinfo(&all, &info) == SIGUSR2 && info.si_code == SI_USER;
    }
    printf("foreign %d own %d\n", foreign, own);
    return 0;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";

    if (!strcmp(what, "threads"))
        threads();
    else if (!strcmp(what, "many"))
        many();
    else if (!strcmp(what, "small_stacks"))
        small_stacks();
    else if (!strcmp(what, "endings"))
        endings();
    else if (!strcmp(what, "coroutines"))
        coroutines();
    else if (!strcmp(what, "smallest_signal_stack"))
        signal_stack(0);
    else if (!strcmp(what, "signal_stack"))
        signal_stack(32 << 10);
    else if (!strcmp(what, "waits"))
        waits();
    else if (!strcmp(what, "disabling_child"))
        disabling_child();
    else if (!strcmp(what, "spawned"))
        spawned();
    else if (!strcmp(what, "plugins") && argc > 3)
        plugins(argv[2], argv[3]);
    else if (!strcmp(what, "odd_code"))
        odd_code();
    else if (!strcmp(what, "left"))
        left();
    else if (!strcmp(what, "lasting"))
        lasting();
    else if (!strcmp(what, "contexts"))
        contexts();
    else if (!strcmp(what, "recursion"))
        recursion();
    else if (!strcmp(what, "errors"))
        errors();
    else if (!strcmp(what, "migrations"))
        migrations();
    else if (!strcmp(what, "unprivileged") && argc > 2)
        return unprivileged(argv + 2);
    else if (!strcmp(what, "blocking") && argc > 2)
        return blocking(argv + 2);
    else if (!strcmp(what, "signals_waited_for"))
        return signals_waited_for();
    else if (!strcmp(what, "nameless"))
        nameless();
    else if (!strcmp(what, "busy"))
        printf("tasks %d\n", busy(0.5) > 0);
    else
        return 2;
    return 0;
}
