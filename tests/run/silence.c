/* Ways in which something can go unrecorded, for silence.t: argv[1] names the way, argv[2] says how often, argv[3] for how many seconds it computes. Each prints "done" and
 * ends with status 7, unless it is killed. With -DSHADOW it has an MPI_Barrier of its own, with -DMALLOC an allocator. */
#define _GNU_SOURCE
#include "fvmpi.h"

#include <mpi.h>

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WORLD MPI_COMM_WORLD
#define NOINLINE __attribute__((noinline, noclone))

static long count;
static volatile long sink;

/* CPU time, so that there are samples. */
static NOINLINE void burn(double seconds)
{
    struct timespec now, begin;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    do {
        for (int i = 0; i < 10000; i++)
            sink += i;
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    } while ((double)(now.tv_sec - begin.tv_sec) + 1e-9 * (double)(now.tv_nsec - begin.tv_nsec) < seconds);
}

static NOINLINE void probe(void)
{
    int flag;

    MPI_Iprobe(MPI_ANY_SOURCE, 0, WORLD, &flag, MPI_STATUS_IGNORE);
    __asm__ volatile("");
}

/* As many call paths as there are numbers of `depth` bits. */
static NOINLINE void descend(long number, int depth);
static NOINLINE void left(long number, int depth)
{
    descend(number, depth);
    __asm__ volatile("");
}
static NOINLINE void right(long number, int depth)
{
    descend(number, depth);
    __asm__ volatile("");
}
static NOINLINE void descend(long number, int depth)
{
    if (!depth)
        probe();
    else if (number & 1)
        left(number >> 1, depth - 1);
    else
        right(number >> 1, depth - 1);
    __asm__ volatile("");
}

static void paths(void)
{
    for (long i = 0; i < count; i++)
        descend(i, 18);
}

static void calls(void)
{
    for (long i = 0; i < count; i++)
        probe();
}

static void small_files(void)
{
    const struct rlimit limit = { 160 << 10, 160 << 10 };

    setrlimit(RLIMIT_FSIZE, &limit);
    calls();
}

static void collectives(void)
{
    for (long i = 0; i < count; i++)
        MPI_Barrier(WORLD);
}

static void comms(void)
{
    MPI_Comm made;

    for (long i = 0; i < count; i++) {
        MPI_Comm_dup(MPI_COMM_SELF, &made);
        MPI_Comm_free(&made);
    }
}

static jmp_buf out;
static void leave(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
    longjmp(out, 1);
}

static void jump(void)
{
    MPI_Errhandler handler;

    MPI_Comm_create_errhandler(leave, &handler);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, handler);
    for (volatile long i = 0; i < count; i++)
        if (!setjmp(out))
            MPI_Send(NULL, 0, MPI_BYTE, 999, 0, MPI_COMM_SELF);
}

static void trap_blocked(void)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGTRAP);
    sigprocmask(SIG_BLOCK, &set, NULL);
}

static void all_blocked(void)
{
    sigset_t set;

    sigfillset(&set);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    burn(0.2 * (double)count);
}

static void prof_ignored(void)
{
    signal(SIGPROF, SIG_IGN);
}

/* As a container does. */
static void deny(long number)
{
    struct sock_filter program[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog all = { sizeof(program) / sizeof(*program), program };

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &all))
        puts("no filter");
}

static void no_perf(void)
{
    deny(SYS_perf_event_open);
}

static void no_clock(void)
{
    deny(SYS_perf_event_open);
    deny(SYS_timer_create);
}

static void labels(void)
{
    static char text[4000];

    memset(text, 'x', sizeof(text) - 1);
    for (long i = 0; i < count; i++)
        fvmpi_label(text);
}

/* Of each kind one that cannot be measured as it is meant. */
static void sections(void)
{
    char name[32];

    fvmpi_section_end("never", 0, 0);
    for (long i = 0; i < count; i++) {
        snprintf(name, sizeof(name), "s%ld", i);
        fvmpi_section_begin(name, 0, 0);
    }
}

static void many_sections(void)
{
    char name[32];

    for (long i = 0; i < count; i++) {
        snprintf(name, sizeof(name), "s%ld", i);
        fvmpi_section_begin(name, 0, 0);
        fvmpi_section_end(name, 0, 0);
    }
}

static void *nothing(void *unused)
{
    return unused;
}

static void threads(void)
{
    pthread_t thread;

    for (long i = 0; i < count && !pthread_create(&thread, NULL, nothing, NULL); i++)
        pthread_join(thread, NULL);
}

static void locks(void)
{
    pthread_mutex_t *all = calloc((size_t)count, sizeof(*all));

    for (long i = 0; i < count; i++) {
        pthread_mutex_init(&all[i], NULL);
        pthread_mutex_lock(&all[i]);
    }
    for (long i = count; i--;)
        pthread_mutex_unlock(&all[i]);
    free(all);
}

static void child(void)
{
    pid_t pid = fork();

    if (!pid)
        _exit(0);
    waitpid(pid, NULL, 0);
}

static void children(void)
{
    pid_t pid = (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);

    if (!pid && !count)
        execl("/bin/sh", "sh", "-c", "ls / > /dev/null", (char *)NULL);
    if (!pid) {
        burn(0.2 * (double)count);
        _exit(0);
    }
    waitpid(pid, NULL, 0);
}

static void remove_all(void)
{
    char command[4200];

    snprintf(command, sizeof(command), "rm -rf '%s'", getenv("REMOVED"));
    if (system(command))
        abort();
}

static void paused(void)
{
    MPI_Pcontrol(0);
    burn(0.02);
    MPI_Pcontrol(1);
}

#ifdef MALLOC
static _Alignas(16) char pool[1 << 26];
static size_t used;

void *malloc(size_t bytes)
{
    size_t at = __atomic_fetch_add(&used, ((bytes + 31) & ~(size_t)15), __ATOMIC_RELAXED);

    return at + bytes < sizeof(pool) ? pool + at + 16 - (at & 15) : NULL;
}

void free(void *memory)
{
    (void)memory;
}

void *calloc(size_t count_of, size_t bytes)
{
    return malloc(count_of * bytes); /* of zeros, and never given out twice */
}

void *realloc(void *memory, size_t bytes)
{
    void *larger = malloc(bytes);

    if (memory && larger)
        memmove(larger, memory, bytes < (size_t)(pool + sizeof(pool) - (char *)memory) ? bytes : 0);
    return larger;
}
#endif

#ifdef SHADOW
int MPI_Barrier(MPI_Comm comm)
{
    return PMPI_Barrier(comm);
}
#endif

static const struct way {
    const char *name;
    void (*before)(void), (*within)(void);
} ways[] = {
    { "plain", NULL, NULL }, { "paths", NULL, paths }, { "calls", NULL, calls }, { "small-files", NULL, small_files }, { "collectives", NULL, collectives },
    { "comms", NULL, comms }, { "jump", NULL, jump }, { "trap", trap_blocked, NULL }, { "blocked", NULL, all_blocked }, { "prof", prof_ignored, NULL },
    { "no-perf", no_perf, NULL }, { "no-clock", no_clock, NULL }, { "labels", NULL, labels }, { "sections", NULL, sections },
    { "many-sections", NULL, many_sections }, { "paused", NULL, paused }, { "remove", NULL, remove_all }, { "threads", NULL, threads },
    { "locks", NULL, locks }, { "fork", NULL, child }, { "children", NULL, children }, { "abort", NULL, NULL }, { "kill", NULL, NULL },
    { "exec", NULL, NULL }, { "unfinished", NULL, NULL }, { "uninitialised", NULL, NULL },
};

static int end(const char *name, char **argv)
{
    puts("done");
    fflush(stdout);
    if (!strcmp(name, "abort"))
        MPI_Abort(WORLD, 7);
    if (!strcmp(name, "kill"))
        raise(SIGKILL);
    if (!strcmp(name, "exec"))
        execl(argv[0], argv[0], "uninitialised", (char *)NULL);
    if (strcmp(name, "unfinished"))
        MPI_Finalize();
    return 7;
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "plain";
    const struct way *way = ways;

    count = argc > 2 ? atol(argv[2]) : 1;
    while (strcmp(way->name, name))
        if (++way == ways + sizeof(ways) / sizeof(*ways))
            return 2;
    if (!strcmp(name, "uninitialised")) {
        puts("done");
        return 7;
    }
    if (way->before)
        way->before();
    MPI_Init(&argc, &argv);
    probe();
    if (argc > 3)
        burn(atof(argv[3]));
    if (way->within)
        way->within();
    return end(name, argv);
}
