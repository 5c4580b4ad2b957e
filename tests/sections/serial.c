/* Sections with known answers, without MPI: serial MODE. Prints what the program's own clock says of the
 * sections, as "name number count seconds" lines, for the test to compare. */
#include "fvmpi.h"

#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double cpu(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void pause_s(double s)
{
    double until = now() + s;

    while (now() < until)
        usleep(500);
}

/* CPU time of its own, however loaded the machine is. */
static void burn(double s)
{
    double until = cpu() + s;

    while (cpu() < until)
        for (volatile int i = 0; i < 20000; i++)
            ;
}

static void told(const char *name, int number, int count, double seconds)
{
    printf("%s %d %d %.6f\n", name, number, count, seconds);
}

static void nested(void)
{
    double outer = 0, inner = 0, other = 0, t, u;

    for (int i = 0; i < 3; i++) {
        fvmpi_section_begin("outer", 1, 0);
        t = now();
        pause_s(0.02);
        for (int k = 0; k < 2; k++) {
            fvmpi_section_begin("inner", k, 0);
            u = now();
            pause_s(0.01 * (k + 1));
            *(k ? &other : &inner) += now() - u;
            fvmpi_section_end("inner", k, 0);
        }
        outer += now() - t;
        fvmpi_section_end("outer", 1, 0);
    }
    told("outer", 1, 3, outer);
    told("inner", 0, 3, inner);
    told("inner", 1, 3, other);
}

static void overlap(void)
{
    double a, b, t, u;

    fvmpi_section_begin("first", 0, 0);
    t = now();
    pause_s(0.02);
    fvmpi_section_begin("second", 0, 0);
    u = now();
    pause_s(0.02);
    a = now() - t;
    fvmpi_section_end("first", 0, 0);
    pause_s(0.03);
    b = now() - u;
    fvmpi_section_end("second", 0, 0);
    told("first", 0, 1, a);
    told("second", 0, 1, b);
}

/* The same text at other addresses, freed and overwritten; long names; recursion. */
static void names(void)
{
    char *copy, longer[80];
    double t = now(), s = 0;

    for (int i = 0; i < 50; i++) {
        copy = strdup("copied");
        fvmpi_section_begin(copy, 0, 0);
        memset(copy, 'x', 6);
        free(copy);
        copy = malloc(100);
        strcpy(copy, "copied");
        fvmpi_section_end(copy, 0, 0);
        strcpy(copy, "another");
        fvmpi_section_begin(copy, 0, 0);
        strcpy(copy, "third");
        fvmpi_section_begin(copy, 0, 0);
        strcpy(copy, "another");
        fvmpi_section_end(copy, 0, 0);
        fvmpi_section_end("third", 0, 0);
        free(copy);
    }
    memset(longer, 'n', sizeof(longer));
    longer[79] = 0;
    fvmpi_section_begin(longer, 0, 0);
    longer[70] = 'm';
    fvmpi_section_end(longer, 0, 0);
    t = now();
    fvmpi_section_begin("recursive", 0, 0);
    for (int i = 0; i < 9; i++)
        fvmpi_section_begin("recursive", 0, 0);
    pause_s(0.02);
    for (int i = 0; i < 9; i++)
        fvmpi_section_end("recursive", 0, 0);
    pause_s(0.01);
    s = now() - t;
    fvmpi_section_end("recursive", 0, 0);
    fvmpi_section_begin(NULL, 0, 0);
    fvmpi_section_end(NULL, 0, 0);
    told("copied", 0, 50, 0);
    told("another", 0, 50, 0);
    told("third", 0, 50, 0);
    told("recursive", 0, 1, s);
}

static void *in_thread(void *arg)
{
    int number = *(int *)arg;

    fvmpi_section_begin("threads", 0, 0);
    pause_s(0.02 * (number + 1));
    fvmpi_section_end("threads", 0, 0);
    if (number == 3)
        fvmpi_section_begin("left open", 0, 0);
    if (number == 2)
        fvmpi_section_end("of main", 0, 0);
    return NULL;
}

static void threads(void)
{
    int number[4] = { 0, 1, 2, 3 };
    pthread_t thread[4];

    fvmpi_section_begin("of main", 0, 0);
    for (int i = 0; i < 4; i++)
        pthread_create(&thread[i], NULL, in_thread, &number[i]);
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
    fvmpi_section_end("of main", 0, 0);
    for (int i = 0; i < 20; i++) { /* threads come and go */
        pthread_create(&thread[0], NULL, in_thread, &number[0]);
        pthread_join(thread[0], NULL);
    }
}

static void unbalanced(void)
{
    pid_t child;

    fvmpi_section_end("never begun", 0, 0);
    fvmpi_section_end("never begun", 0, 0);
    fvmpi_section_begin("forked", 0, 0);
    child = fork();
    if (!child) {
        fvmpi_section_end("forked", 0, 0);
        fvmpi_section_begin("child", 0, 0);
        _exit(0);
    }
    waitpid(child, NULL, 0);
    fvmpi_section_end("forked", 0, 0);
    for (int i = 0; i < 80; i++)
        fvmpi_section_begin("deep", i, 0);
    for (int i = 79; i >= 0; i--)
        fvmpi_section_end("deep", i, 0);
    fvmpi_section_begin("never ended", 0, 0);
    pause_s(0.03);
}

static void many(void)
{
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 1500; i++) {
            fvmpi_section_begin("many", i, 0);
            fvmpi_section_end("many", i, 0);
        }
}

static void levels(void)
{
    for (int level = 0; level < 4; level++)
        for (int i = 0; i <= level; i++) {
            fvmpi_section_begin("level", level, level);
            fvmpi_section_end("level", level, level);
        }
}

static void cpu_time(void)
{
    struct rusage before, after;
    double t;

    getrusage(RUSAGE_THREAD, &before);
    fvmpi_section_begin("burns", 0, 0);
    t = cpu();
    burn(0.3);
    volatile char *page = malloc(64 << 20);
    for (long i = 0; i < 64 << 20; i += 4096)
        page[i] = 1;
    t = cpu() - t;
    fvmpi_section_end("burns", 0, 0);
    getrusage(RUSAGE_THREAD, &after);
    fvmpi_section_begin("sleeps", 0, 0);
    for (int i = 0; i < 20; i++)
        usleep(1000);
    fvmpi_section_end("sleeps", 0, 0);
    printf("burns 0 1 %.6f %ld\n", t, after.ru_minflt - before.ru_minflt);
    free((void *)page);
}

/* The program must link without the library. */
static void call(const char *name)
{
    void (*function)(void);

    *(void **)&function = dlsym(RTLD_DEFAULT, name);
    if (function)
        function();
}

static void paused(void)
{
    double a, t;

    fvmpi_section_begin("half", 0, 0);
    t = now();
    pause_s(0.03);
    a = now() - t;
    call("fvmpi_pause");
    pause_s(0.1);
    fvmpi_section_begin("within", 0, 0);
    fvmpi_section_end("within", 0, 0);
    call("fvmpi_resume");
    t = now();
    pause_s(0.02);
    a += now() - t;
    fvmpi_section_end("half", 0, 0);
    told("half", 0, 1, a);
}

static void killed(void)
{
    double t;

    fvmpi_section_begin("whole", 0, 0);
    t = now();
    fvmpi_section_begin("part", 0, 0);
    pause_s(0.05);
    fvmpi_section_end("part", 0, 0);
    told("whole", 0, 1, now() - t);
    fflush(stdout);
    raise(SIGKILL);
}

static volatile sig_atomic_t signals;

static void in_signal(int signal)
{
    (void)signal;
    signals = signals + 1;
    fvmpi_section_begin("handler", 0, 0);
    fvmpi_section_end("handler", 0, 0);
}

/* A handler that comes in anywhere, begin and end among others. */
static void interrupted(void)
{
    struct timespec tick = { 0, 50000 };
    struct itimerspec every = { tick, tick };
    struct sigaction act = { .sa_handler = in_signal, .sa_flags = SA_RESTART };
    timer_t timer;
    long count = 0;

    sigaction(SIGALRM, &act, NULL);
    timer_create(CLOCK_MONOTONIC, NULL, &timer);
    timer_settime(timer, 0, &every, NULL);
    while (signals < 1000) {
        fvmpi_section_begin("a", 0, 0);
        fvmpi_section_begin("b", 0, 0);
        fvmpi_section_end("b", 0, 0);
        fvmpi_section_end("a", 0, 0);
        count++;
    }
    timer_delete(timer);
    printf("a 0 %ld 0\n", count);
    printf("b 0 %ld 0\n", count);
}

static sigjmp_buf before;
static volatile sig_atomic_t jumped;

static void jump(int signal)
{
    (void)signal;
    jumped = jumped + 1;
    siglongjmp(before, 1);
}

__attribute__((noinline)) static void in_loop(void)
{
    char unwritten[64]; /* over the frames that shallow() left */

    __asm__ volatile("" : : "r"(unwritten));
    fvmpi_section_begin("outer", 0, 0);
    fvmpi_section_begin("looped", 0, 0);
    fvmpi_section_end("looped", 0, 0);
    fvmpi_section_end("outer", 0, 0);
}

__attribute__((noinline)) static void shallow(void)
{
    fvmpi_section_begin("shallow", 0, 0);
    fvmpi_section_end("shallow", 0, 0);
}

/* A handler that leaves begin and end for good, wherever it comes in, also where those that come next are called from
 * deeper in the stack. Afterwards all is as it was. */
static void jumps(void)
{
    struct timespec tick = { 0, 30000 };
    struct itimerspec once = { { 0, 0 }, tick };
    struct sigaction act = { .sa_handler = jump };
    timer_t timer;

    sigaction(SIGALRM, &act, NULL);
    timer_create(CLOCK_MONOTONIC, NULL, &timer);
    sigsetjmp(before, 1);
    while (jumped < 300) {
        timer_settime(timer, 0, &once, NULL);
        for (;;) {
            in_loop();
            for (int i = 0; i < 8; i++)
                shallow();
        }
    }
    timer_delete(timer);
    signal(SIGALRM, SIG_IGN);
    for (int i = 0; i < 400; i++) { /* of those that it jumped out of */
        fvmpi_section_end("looped", 0, 0);
        fvmpi_section_end("outer", 0, 0);
        fvmpi_section_end("shallow", 0, 0);
    }
    for (int i = 0; i < 100; i++) {
        fvmpi_section_begin("after", 0, 0);
        in_loop();
        shallow();
        fvmpi_section_end("after", 0, 0);
    }
    printf("after 0 100 0\n");
}

__attribute__((noinline)) static void alpha(double s)
{
    burn(s);
    __asm__ volatile("# alpha");
}

__attribute__((noinline)) static void beta(double s)
{
    burn(s);
    __asm__ volatile("# beta: not the same code");
}

/* Where CPU time goes, in sections that overlap: a: alpha; ab: alpha and beta; b: beta. */
static void hot(void)
{
    double t = cpu();

    for (volatile int i = 0; i < 3; i++) { /* one call path in different sections */
        if (i < 2)
            fvmpi_section_begin(i ? "ab" : "a", 0, 0);
        alpha(i < 2 ? 0.3 : 0.2);
        if (i == 1)
            fvmpi_section_end("a", 0, 0);
        if (i != 1)
            continue;
        fvmpi_section_begin("b", 0, 0);
        beta(0.2);
        fvmpi_section_end("ab", 0, 0);
        beta(0.2);
        fvmpi_section_end("b", 0, 0);
    }
    printf("hot 0 1 %.6f\n", cpu() - t);
}

/* Names that are no text. */
static void odd_names(void)
{
    char cut[80] = "", name[40];

    for (int i = 0; i < 31; i++)
        strcat(cut, "\xc3\xa9"); /* the 63rd byte is half of a letter */
    strcat(cut, "\xe2\x82\xac");
    fvmpi_section_begin(cut, 0, 0);
    fvmpi_section_end(cut, 0, 0);
    fvmpi_section_begin("new\nline\x1b[31m\"\\", -7, 0);
    fvmpi_section_end("new\nline\x1b[31m\"\\", -7, 0);
    fvmpi_section_begin("\xff\xfe", 0, 0);
    fvmpi_section_end("\xff\xfe", 0, 0);
    fvmpi_section_begin("MPI_Send", 0, 0);
    fvmpi_section_end("MPI_Send", 0, 0);
    for (int i = 0; i < 3000; i++) { /* more than there is room for, each in a place of its own on the stack */
        snprintf(name, sizeof(name), "name %d", i);
        fvmpi_section_begin(name, 0, 0);
        fvmpi_section_end(name, 0, 0);
    }
}

static void early(void)
{
}

static bool is_early; /* glibc passes the arguments on */

__attribute__((constructor)) static void at_load(int argc, char **argv)
{
    is_early = argc > 1 && !strcmp(argv[1], "early");
    if (!is_early)
        return;
    fvmpi_section_begin("constructor", 0, 0);
    fvmpi_section_end("constructor", 0, 0);
}

__attribute__((destructor)) static void at_exit(void)
{
    if (!is_early)
        return;
    fvmpi_section_begin("destructor", 0, 0);
    fvmpi_section_end("destructor", 0, 0);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } modes[] = {
        { "nested", nested },
        { "overlap", overlap },
        { "names", names },
        { "threads", threads },
        { "unbalanced", unbalanced },
        { "many", many },
        { "levels", levels },
        { "cpu", cpu_time },
        { "paused", paused },
        { "killed", killed },
        { "interrupted", interrupted },
        { "jumps", jumps },
        { "hot", hot },
        { "odd", odd_names },
        { "early", early },
    };

    for (unsigned i = 0; i < sizeof(modes) / sizeof(*modes); i++)
        if (argc > 1 && !strcmp(argv[1], modes[i].name)) {
            modes[i].run();
            return 0;
        }
    return 2;
}
