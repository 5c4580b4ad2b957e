/* What a program may do with signals beside the clock's ticks, which it must not notice: SIGPROF is its own.
 *
 *     clock WAY     prints what it saw, and works for 0.3 s of CPU time at least */
#define _GNU_SOURCE
#ifdef WITH_MPI
#include <mpi.h>
#endif
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile uint64_t sink;
static volatile int own, foreign, sent, taken_over;

static double cpu(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

__attribute__((noinline, noclone)) void busy(double seconds)
{
    for (double end = cpu() + seconds; cpu() < end;)
        for (uint64_t i = 0; i < 20000; i++)
            sink += i * i;
}

static void say_action(const char *when)
{
    struct sigaction now;

    sigaction(SIGPROF, NULL, &now);
    printf("%s: %s flags %x\n", when, now.sa_handler == SIG_DFL ? "default" : now.sa_handler == SIG_IGN ? "ignore" : "own",
           (unsigned)now.sa_flags & ~0x04000000u);
}

static void plain(void)
{
    say_action("action");
    busy(0.5);
}

static void count_one(int signal)
{
    (void)signal;
    foreign++;
}

#ifdef WITH_MPI
/* Descriptors that it knows nothing of: MPI's are of other kinds. */
static void closes(void)
{
    MPI_Init(NULL, NULL);
    for (int fd = 3; fd < 4096; fd++) {
        char name[40], kind[40] = "";
        snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
        if (readlink(name, kind, sizeof(kind) - 1) > 0 && strstr(kind, "perf_event"))
            close(fd);
    }
    for (int i = 0; i < 5; i++) {
        busy(0.1);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Finalize();
}

static void send_one_to(pid_t process, long thread)
{
    syscall(SYS_tgkill, process, thread, SIGPROF);
    sent = 1;
}

static void wait_for(const volatile int *flag)
{
    const struct timespec soon = { 0, 1000000 };

    while (!*flag)
        nanosleep(&soon, NULL);
}

/* The thread stands still until its child ends, and takes no signal: what the child sends stands for a tick. */
static void *stands_still(void *unused)
{
    pid_t process = getpid();
    long thread = syscall(SYS_gettid);

    MPI_Barrier(MPI_COMM_SELF);
    busy(0.05);
    if (!vfork()) {
        send_one_to(process, thread);
        wait_for(&taken_over);
        _exit(0);
    }
    return unused;
}

static void *blocks(void *unused)
{
    sigset_t prof, before;

    MPI_Barrier(MPI_COMM_SELF);
    sigemptyset(&prof);
    sigaddset(&prof, SIGPROF);
    pthread_sigmask(SIG_BLOCK, &prof, &before);
    send_one_to(getpid(), syscall(SYS_gettid));
    wait_for(&taken_over);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return unused;
}

/* SIGPROF becomes the program's while one is pending in another thread. */
static void taken_from(void *(*other)(void *))
{
    pthread_t thread;
    int provided;

    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
    busy(0.2);
    pthread_create(&thread, NULL, other, NULL);
    wait_for(&sent);
    signal(SIGPROF, count_one);
    taken_over = 1;
    pthread_join(thread, NULL);
    printf("foreign %d\n", foreign);
    MPI_Finalize();
}

static void *computes(void *unused)
{
    MPI_Barrier(MPI_COMM_SELF);
    busy(0.8);
    return unused;
}

/* SIGPROF becomes the program's while a child, made unseen, has copies of all descriptors: no tick comes any more. */
static void taken(void)
{
    pthread_t thread;
    int provided;

    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
    pthread_create(&thread, NULL, computes, NULL);
    busy(0.2);
    long child = syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
    if (!child)
        for (;;)
            pause();
    signal(SIGPROF, count_one);
    busy(0.3);
    pthread_join(thread, NULL);
    kill((pid_t)child, SIGKILL);
    waitpid((pid_t)child, NULL, 0);
    printf("foreign %d\n", foreign);
    MPI_Finalize();
}
#else
static void closes(void) {}
static void taken(void) {}
static void *stands_still(void *unused) { return unused; }
static void *blocks(void *unused) { return unused; }
static void taken_from(void *(*other)(void *)) { other(NULL); }
#endif

static void on_prof(int signal, siginfo_t *info, void *context)
{
    (void)signal, (void)context;
    own += info->si_code == SI_KERNEL || info->si_code == SI_TKILL || info->si_code == SI_USER;
    foreign += info->si_code == SI_TIMER;
}

static struct sigaction handler(int flags)
{
    struct sigaction action = { .sa_sigaction = on_prof, .sa_flags = SA_SIGINFO | flags };

    return action;
}

/* A profiler of its own: each of its signals arrives, and nothing else does. */
static void profiler(void)
{
    const struct itimerval each = { { 0, 10000 }, { 0, 10000 } }, none = { { 0, 0 }, { 0, 0 } };
    struct sigaction action = handler(0), old;

    busy(0.2);
    sigaction(SIGPROF, &action, &old);
    printf("before: %s\n", old.sa_handler == SIG_DFL ? "default" : "other");
    say_action("set");
    setitimer(ITIMER_PROF, &each, NULL);
    busy(0.5);
    setitimer(ITIMER_PROF, &none, NULL);
    printf("own %d foreign %d\n", own > 20, foreign);
}

/* The thread that blocks it and looks: nothing is pending, nothing is waited for but its own. */
static void blocked(void)
{
    const struct timespec soon = { 0, 5000000 };
    sigset_t all, before, pending;
    siginfo_t info;
    int seen = 0, fd;

    sigfillset(&all);
    fd = signalfd(-1, &all, SFD_NONBLOCK);
    for (int i = 0; i < 20; i++) {
        struct signalfd_siginfo got;

        busy(0.01);
        if (i & 1)
            sigprocmask(SIG_SETMASK, &all, &before);
        else
            pthread_sigmask(SIG_BLOCK, &all, &before);
        seen += sigismember(&before, SIGPROF) != 0;
        busy(0.02);
        seen += sigpending(&pending) || sigismember(&pending, SIGPROF);
        seen += read(fd, &got, sizeof(got)) >= 0;
        seen += sigtimedwait(&all, &info, &soon) >= 0;
        pthread_kill(pthread_self(), SIGPROF);
        busy(0.01);
        own += sigwaitinfo(&all, &info) == SIGPROF && info.si_code != SI_TIMER;
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    }
    printf("seen %d own %d\n", seen, own);
    busy(0.3);
}

static void on_user(int signal)
{
    (void)signal;
}

static void blocks_all(int signal)
{
    sigset_t all, before;

    (void)signal;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* A handler's signals are all blocked, which it changes nothing about: it has returned when there is to be a tick. */
static void handles(void)
{
    struct sigaction user = { .sa_handler = blocks_all };

    sigfillset(&user.sa_mask);
    sigaction(SIGUSR1, &user, NULL);
    busy(0.05);
    raise(SIGUSR1);
    busy(0.4);
}

/* Signals that are let in for the time of a call alone. */
static void let_in(void)
{
    const struct sigaction user = { .sa_handler = on_user };
    const struct timespec soon = { 0, 2000000 };
    int epoll = epoll_create1(0), early = 0;
    struct epoll_event event;
    sigset_t all, none;

    sigaction(SIGALRM, &user, NULL);
    sigfillset(&all);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &all, NULL);
    for (int i = 0; i < 10; i++) {
        const struct itimerval later = { { 0, 0 }, { 0, 20000 } };
        struct timespec begin, end;

        busy(0.02);
        early += ppoll(NULL, 0, &soon, &none) < 0;
        busy(0.02);
        early += pselect(0, NULL, NULL, NULL, &soon, &none) < 0;
        busy(0.02);
        early += epoll_pwait(epoll, &event, 1, 2, &none) < 0;
        busy(0.02);
        clock_gettime(CLOCK_MONOTONIC, &begin);
        setitimer(ITIMER_REAL, &later, NULL);
        sigsuspend(&none);
        clock_gettime(CLOCK_MONOTONIC, &end);
        early += (double)(end.tv_sec - begin.tv_sec) + 1e-9 * (double)(end.tv_nsec - begin.tv_nsec) < 0.019;
    }
    sigprocmask(SIG_SETMASK, &none, NULL);
    printf("early %d\n", early);
    busy(0.3);
}

/* The program that is executed begins with what it would begin with. */
static void executes(const char *self, const char *mask)
{
    sigset_t all;

    sigfillset(&all);
    busy(0.3);
    if (!strcmp(mask, "blocked"))
        sigprocmask(SIG_SETMASK, &all, NULL);
    busy(0.1);
    fflush(stdout);
    setenv("LD_PRELOAD", "", 1);
    execl(self, self, "executed", (char *)NULL);
}

static void executed(void)
{
    sigset_t mask, pending;

    sigprocmask(SIG_SETMASK, NULL, &mask);
    sigpending(&pending);
    say_action("executed");
    printf("blocked %d pending %d\n", sigismember(&mask, SIGPROF), sigismember(&pending, SIGPROF));
    sigemptyset(&mask);
    sigprocmask(SIG_SETMASK, &mask, NULL);
    busy(0.05);
}

/* A child has no ticks, and is ended by the signal as it would be. */
static void children(void)
{
    for (int i = 0; i < 4; i++) {
        int status = 0;
        pid_t child;

        fflush(stdout);
        busy(0.1);
        if (!(child = fork())) {
            say_action("child");
            fflush(stdout);
            busy(0.05);
            kill(getpid(), SIGPROF);
            _exit(1);
        }
        waitpid(child, &status, 0);
        printf("ended by SIGPROF %d\n", WIFSIGNALED(status) && WTERMSIG(status) == SIGPROF);
    }
}

/* Nobody handles it: it ends the program. */
static void ends(void)
{
    busy(0.3);
    printf("not yet\n");
    fflush(stdout);
    raise(SIGPROF);
    printf("still there\n");
}

static void ignores(void)
{
    busy(0.2);
    signal(SIGPROF, SIG_IGN);
    say_action("set");
    raise(SIGPROF);
    busy(0.2);
    signal(SIGPROF, SIG_DFL);
    say_action("reset");
}

/* Its signal stack is what it has set: none, and then its own. */
static void stacks(void)
{
    const stack_t mine = { .ss_sp = malloc(SIGSTKSZ), .ss_size = (size_t)SIGSTKSZ }, tiny = { .ss_sp = malloc(2048), .ss_size = 2048 };
    const stack_t none = { .ss_flags = SS_DISABLE };
    stack_t old;

    busy(0.2);
    sigaltstack(NULL, &old);
    printf("first %d %d\n", old.ss_flags == SS_DISABLE, old.ss_sp == NULL);
    sigaltstack(&mine, &old);
    printf("before %d\n", old.ss_flags == SS_DISABLE);
    busy(0.1);
    sigaltstack(&none, &old);
    printf("mine %d\n", old.ss_sp == mine.ss_sp);
    sigaltstack(NULL, &old);
    printf("none %d\n", old.ss_flags == SS_DISABLE);
    busy(0.1);
    sigaltstack(&tiny, NULL);
    busy(0.1);
    sigaltstack(NULL, &old);
    printf("tiny %d\n", old.ss_sp == tiny.ss_sp);
}

/* Executes the rest of the command line with SIGPROF blocked. */
static void blocking(char **command)
{
    sigset_t prof;

    sigemptyset(&prof);
    sigaddset(&prof, SIGPROF);
    sigprocmask(SIG_BLOCK, &prof, NULL);
    execvp(command[0], command);
}

int main(int argc, char **argv)
{
    const char *way = argc > 1 ? argv[1] : "";

    if (!strcmp(way, "plain"))
        plain();
    else if (!strcmp(way, "closes"))
        closes();
    else if (!strcmp(way, "taken"))
        taken();
    else if (!strcmp(way, "still"))
        taken_from(stands_still);
    else if (!strcmp(way, "pending"))
        taken_from(blocks);
    else if (!strcmp(way, "profiler"))
        profiler();
    else if (!strcmp(way, "blocked"))
        blocked();
    else if (!strcmp(way, "handles"))
        handles();
    else if (!strcmp(way, "let_in"))
        let_in();
    else if (!strcmp(way, "executes") && argc > 2)
        executes(argv[0], argv[2]);
    else if (!strcmp(way, "executed"))
        executed();
    else if (!strcmp(way, "children"))
        children();
    else if (!strcmp(way, "ends"))
        ends();
    else if (!strcmp(way, "ignores"))
        ignores();
    else if (!strcmp(way, "stacks"))
        stacks();
    else if (!strcmp(way, "blocking") && argc > 2)
        blocking(argv + 2);
    else
        return 2;
    return 0;
}
