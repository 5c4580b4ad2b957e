/* Functions whose durations follow known patterns, for sampler.t. What they do is counted in units of a loop;
 * at the end a line for each function says how many units a call took on average, and one how long a unit
 * took.
 *
 *     patterns SECONDS [WHAT]          CPU time; see main() for WHAT
 *     patterns deny ERRNO COMMAND...   runs it where perf_event_open fails */
#define _GNU_SOURCE
#pragma GCC diagnostic ignored "-Wdeprecated-declarations" /* sigset() */
#include <setjmp.h>
#include <signal.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

static volatile uint64_t sink;
static uint64_t units; /* in all */

static double cpu(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* n units of work: no system call, no memory. */
NOINLINE void work(uint64_t n)
{
    uint64_t x = n + 1;

    for (uint64_t i = 0; i < n * 100; i++)
        x = x * UINT64_C(6364136223846793005) + 1442695040888963407;
    sink = x;
    units += n;
}

struct truth {
    const char *name;
    double sum, calls;
} truth[16];

static int measured(unsigned which, const char *name, uint64_t n)
{
    truth[which].name = name;
    truth[which].sum += (double)n;
    truth[which].calls++;
    work(n);
    return (int)n; /* used after the call: no tail call */
}

NOINLINE int constant(int i)
{
    return measured(0, "constant", 2000) + i;
}
NOINLINE int alternating(int i)
{
    return measured(1, "alternating", i & 1 ? 4000 : 800) + i;
}
NOINLINE int blocks(int i)
{
    return measured(2, "blocks", i / 100 & 1 ? 4000 : 1000) + i;
}
NOINLINE int period(int i)
{
    return measured(3, "period", i % 7 ? 1000 : 7000) + i;
}
NOINLINE int drift(int i)
{
    return measured(4, "drift", 1000 + (uint64_t)i * 2) + i;
}
NOINLINE int callee(uint64_t n)
{
    return measured(5, "callee", n) + 1;
}
NOINLINE int steady_caller(int i)
{
    return callee(2000) + i;
}
NOINLINE int varying_caller(int i)
{
    return callee(i & 1 ? 500 : 5000) + i;
}

NOINLINE int recurse(int depth)
{
    work(100);
    int below = depth ? recurse(depth - 1) + 1 : 0;
    work(100);
    return below;
}

/* ---- returns that are none ---- */

static jmp_buf place;
NOINLINE int jumper(int i)
{
    work(1000);
    if (i % 3 == 0)
        longjmp(place, 1);
    work(1000);
    return i;
}
NOINLINE int deep_jumper(int depth, int i)
{
    return depth ? deep_jumper(depth - 1, i) + 1 : jumper(i);
}
NOINLINE int catcher(int i)
{
    if (setjmp(place))
        return 0;
    return deep_jumper(i % 5, i) + 1;
}
/* The same call site, the same slot: one call in three ends by longjmp(), the others take 2000 units each. */
NOINLINE void same_site(int rounds)
{
    volatile int i = 0;

    setjmp(place);
    while (i < rounds) {
        i++;
        jumper(i);
    }
}

NOINLINE int tail_target(int i)
{
    work(1000);
    sink = (uint64_t)i;
    return i;
}
NOINLINE int tail_caller(int i)
{
    work(500);
    return tail_target(i);
}

static void patterns(double seconds)
{
    for (int i = 0; cpu() < seconds; i++) {
        constant(i);
        alternating(i);
        blocks(i);
        period(i);
        drift(i % 1500);
        steady_caller(i);
        varying_caller(i);
        recurse(5);
    }
}

NOINLINE int constant_again(int i)
{
    work(2000);
    return i;
}

static void oddities(double seconds)
{
    for (int i = 0; cpu() < seconds; i++) {
        constant_again(i);
        catcher(i);
        same_site(20);
        tail_caller(i);
        recurse(70);
    }
}

/* ---- SIGTRAP is the application's, too ---- */

/* signal() of strict ISO C. */
extern void (*__sysv_signal(int signal, void (*handler)(int)))(int);

static volatile sig_atomic_t traps;
static void on_trap(int signal)
{
    (void)signal;
    traps = traps + 1;
}

static void children(double seconds)
{
    int status = 0, bad = 0;

    for (int i = 0; cpu() < seconds; i++) {
        pid_t child = fork();

        if (!child) {
            for (int k = 0; k < 50; k++)
                constant(k);
            _exit(7);
        }
        constant(i);
        bad += waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) != 7;
        bad += system("exit 3") != 3 << 8;
        for (int k = 0; k < 20; k++)
            alternating(k);
    }
    printf("children bad %d\n", bad);
}

/* Runs a command without perf_event_open, as containers do. */
static int denied(int error, char **command)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = { sizeof(filter) / sizeof(*filter), filter };

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
        return 99;
    execvp(*command, command);
    return 98;
}

int main(int argc, char **argv)
{
    if (argc > 3 && !strcmp(argv[1], "deny"))
        return denied(atoi(argv[2]), argv + 3);

    double seconds = argc > 1 ? atof(argv[1]) : 2;
    const char *what = argc > 2 ? argv[2] : "patterns";
    sigset_t trap, now;

    sigemptyset(&trap);
    sigaddset(&trap, SIGTRAP);
    seconds += cpu();
    if (!strcmp(what, "oddities")) {
        oddities(seconds);
    } else if (!strcmp(what, "children")) {
        children(seconds);
    } else if (!strcmp(what, "blocked")) { /* for a time, on and off */
        for (int i = 0; cpu() < seconds; i++) {
            sigprocmask(i & 1 ? SIG_BLOCK : SIG_UNBLOCK, &trap, NULL);
            for (int k = 0; k < 30; k++)
                alternating(k);
        }
    } else if (!strcmp(what, "handled")) {
        for (int i = 0; cpu() < seconds; i++) {
            (i % 4 == 0 ? sigset : i & 1 ? signal : __sysv_signal)(SIGTRAP, i % 3 ? on_trap : SIG_DFL);
            constant(i);
            if (i % 3)
                raise(SIGTRAP);
        }
        printf("traps %d\n", traps > 0);
    } else if (!strcmp(what, "held")) { /* by System V's functions */
        bool right = sigset(SIGTRAP, on_trap) == SIG_DFL;

        for (int i = 0; cpu() < seconds; i++) {
            right = right && sigset(SIGTRAP, SIG_HOLD) == on_trap && !sigprocmask(SIG_BLOCK, NULL, &now) &&
                    sigismember(&now, SIGTRAP) && sigset(SIGTRAP, on_trap) == SIG_HOLD &&
                    !sigprocmask(SIG_BLOCK, NULL, &now) && !sigismember(&now, SIGTRAP) && !raise(SIGTRAP);
            constant(i);
        }
        right = right && traps > 0 && !sigignore(SIGTRAP) && !raise(SIGTRAP) &&
                sigset(SIGTRAP, SIG_DFL) == SIG_IGN;
        printf("held %d\n", right);
    } else if (!strcmp(what, "raise")) {
        patterns(seconds);
        raise(SIGTRAP);
    } else if (!strcmp(what, "killed")) {
        patterns(seconds);
        raise(SIGKILL);
    } else {
        patterns(seconds);
    }
    for (unsigned i = 0; i < sizeof(truth) / sizeof(*truth); i++)
        if (truth[i].calls > 0)
            printf("truth %s %.3f\n", truth[i].name, truth[i].sum / truth[i].calls);
    printf("units %llu\n", (unsigned long long)units);
    return 0;
}
