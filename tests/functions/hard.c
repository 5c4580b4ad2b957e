/* What makes it hard to know which functions a thread is in (functions.t). Each case says how often it called what: "truth NAME CALLS". Alone, without MPI.
 *
 *     jumps      functions that are called by one call, and all left by longjmp()
 *     deep       recursion deeper than fvmpi's stack, with a short function inside, and left from there
 *     siblings   recursion, behind which each call calls another function: once in the outermost, and in those within it
 *     pauses     recording is paused by an outer function, and goes on in an inner one
 *     forks      children made by the system call, of which nothing is recorded
 *     alternate  a handler on a stack within that of the thread
 *     timers     threads that end while a handler comes in
 *     bursts     threads that begin all at once, in a short function that is only counted by then, so that some are recorded in the midst of it
 *     attributes threads whose first function that is instrumented is a handler's, and comes in while they have the lock of pthread_getattr_np()
 *     leaves     a handler that leaves by siglongjmp(), wherever it came in */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define PLAIN __attribute__((noinline))
#define SILENT __attribute__((no_instrument_function))

void fvmpi_pause(void) __attribute__((weak));
void fvmpi_resume(void) __attribute__((weak));

static volatile long sink, handled;
static jmp_buf back;
static sigjmp_buf away;
static volatile int may_leave;

SILENT static void truth(const char *name, long calls)
{
    printf("truth %s %ld\n", name, calls);
}

SILENT static void start_timer(int flags, void (*handler)(int), int us)
{
    struct sigaction action = { .sa_handler = handler, .sa_flags = flags | SA_RESTART };
    struct itimerval every = { { 0, us }, { 0, us } };

    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &every, NULL);
}

SILENT static void stop_timer(void)
{
    setitimer(ITIMER_REAL, &(struct itimerval){ 0 }, NULL);
}

PLAIN void first(void)
{
    sink++;
    longjmp(back, 1);
}

PLAIN void second(void)
{
    sink += 2;
    longjmp(back, 1);
}

PLAIN void jumps(void)
{
    static void (*const table[])(void) = { first, second };

    for (volatile int i = 0; i < 20000; i++)
        if (!setjmp(back))
            table[i & 1]();
    truth("first", 10000);
    truth("second", 10000);
}

PLAIN void tiny(void)
{
    sink++;
}

PLAIN void recurse(int n, int leaves)
{
    tiny();
    if (n)
        recurse(n - 1, leaves);
    else if (leaves)
        longjmp(back, 1);
    sink++;
}

PLAIN void after(void)
{
    sink++;
}

PLAIN void deep(void)
{
    for (int i = 0; i < 200000; i++)
        tiny();
    recurse(20000, 0);
    if (!setjmp(back))
        recurse(20000, 1);
    after();
    truth("recurse", 2 * 20001);
    truth("after", 1);
    truth("tiny", 200000 + 2 * 20001);
}

PLAIN void within(void)
{
    for (int i = 0; i < 1000000; i++)
        sink++;
}

PLAIN void beside(void)
{
    sink++;
}

PLAIN void down(int n)
{
    if (n)
        down(n - 1);
    beside();
}

PLAIN void siblings(void)
{
    for (int i = 0; i < 100; i++)
        down(3);
    truth("down", 400);
    truth("beside", 400);
}

PLAIN void resumes(void)
{
    if (fvmpi_resume)
        fvmpi_resume();
    within();
}

PLAIN void pauses(void)
{
    if (fvmpi_pause)
        fvmpi_pause();
    resumes();
    within();
    truth("within", 2);
}

PLAIN void forks(void)
{
    for (int i = 0; i < 5; i++) {
        pid_t child = (pid_t)syscall(SYS_fork);

        if (!child) {
            tiny();
            _exit(0);
        }
        waitpid(child, NULL, 0);
        tiny();
    }
    truth("tiny", 5);
}

PLAIN void handler(int number)
{
    (void)number;
    tiny();
    handled++;
}

PLAIN void alternate(void)
{
    char stack[65536];
    stack_t on = { .ss_sp = stack, .ss_size = sizeof(stack) }, off = { .ss_flags = SS_DISABLE };

    sigaltstack(&on, NULL);
    start_timer(SA_ONSTACK, handler, 1000);
    for (int i = 0; i < 50; i++)
        within();
    stop_timer();
    sigaltstack(&off, NULL);
    truth("within", 50);
}

PLAIN void *thread(void *unused)
{
    tiny();
    return unused;
}

PLAIN void timers(void)
{
    start_timer(0, handler, 50);
    for (int i = 0; i < 2000; i++) {
        pthread_t of;

        pthread_create(&of, NULL, thread, NULL);
        pthread_join(of, NULL);
    }
    stop_timer();
    truth("thread", 2000);
}

PLAIN int steps(int n)
{
    return n ? 1 + steps(n - 1) : 0;
}

static pthread_barrier_t all_there;

SILENT static void *climbs(void *times)
{
    long sum = 0;

    pthread_barrier_wait(&all_there);
    for (long i = 0; i < (long)times; i++)
        sum += steps(5);
    return (void *)sum;
}

enum { BURST = 100, ROUNDS = 8 };

/* Of several that end at once all have their records, which the next ones take, while those that are more make theirs. */
PLAIN void bursts(void)
{
    static pthread_t of[ROUNDS * BURST];
    long sum = 0, calls = 0;

    for (int round = 1; round <= ROUNDS; round++) {
        long times = round == 1 ? 40000 : 20;
        int threads = round * BURST;

        pthread_barrier_init(&all_there, NULL, (unsigned)threads);
        for (int i = 0; i < threads; i++)
            pthread_create(&of[i], NULL, climbs, (void *)times);
        for (int i = 0; i < threads; i++) {
            void *steps;

            pthread_join(of[i], &steps);
            sum += (long)steps;
        }
        pthread_barrier_destroy(&all_there);
        calls += times * threads;
    }
    after();
    truth("after", sum == 5 * calls);
}

SILENT static void *asks(void *unused)
{
    int before = handled;

    while (handled < before + 3) {
        pthread_attr_t attributes;

        if (!pthread_getattr_np(pthread_self(), &attributes))
            pthread_attr_destroy(&attributes);
    }
    return unused;
}

PLAIN void attributes(void)
{
    sigset_t alarm, before;

    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    start_timer(0, handler, 50);
    for (int i = 0; i < 50; i++) {
        pthread_t of;

        pthread_create(&of, NULL, asks, NULL);
        pthread_sigmask(SIG_BLOCK, &alarm, &before);
        pthread_join(of, NULL);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    stop_timer();
    after();
    truth("after", 1);
}

PLAIN void leaving(int number)
{
    (void)number;
    handled++;
    if (may_leave)
        siglongjmp(away, 1);
}

PLAIN void body(void)
{
    may_leave = 1;
    for (int i = 0; i < 100; i++)
        tiny();
    may_leave = 0;
}

PLAIN void leaves(void)
{
    volatile long count = 0;

    start_timer(SA_NODEFER, leaving, 200);
    for (volatile int i = 0; i < 5000; i++) {
        count = i + 1;
        if (!sigsetjmp(away, 1))
            body();
        may_leave = 0;
    }
    stop_timer();
    after();
    truth("after", count > 0);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = { { "jumps", jumps }, { "deep", deep },           { "siblings", siblings }, { "pauses", pauses }, { "forks", forks },
                  { "alternate", alternate }, { "timers", timers }, { "attributes", attributes }, { "bursts", bursts }, { "leaves", leaves } };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        if (argc > 1 && !strcmp(argv[1], cases[i].name))
            cases[i].run();
    return 0;
}
