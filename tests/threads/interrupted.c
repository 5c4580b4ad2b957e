/* What comes in between: callbacks of the loader, forks, cancellation, handlers that post or jump away,
 * plugins that go, threads that nobody saw begin. Argument: which; what is printed is the same with fvmpi and
 * without. */
#define _GNU_SOURCE
#include "clock.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef WITH_MPI
#include <mpi.h>
#endif

static int end;

static void use_new_lock(void)
{
    pthread_mutex_t *m = malloc(sizeof(*m));

    pthread_mutex_init(m, NULL);
    pthread_mutex_lock(m);
    pthread_mutex_unlock(m);
    pthread_mutex_destroy(m);
    free(m);
}

static void *uses_new_locks(void *arg)
{
    while (!__atomic_load_n(&end, __ATOMIC_RELAXED))
        use_new_lock();
    return arg;
}

__attribute__((noinline)) static void *seen(void *arg)
{
    pause_ms(1);
    return arg;
}

/* ---- a callback of the loader, whose lock is held meanwhile, uses a lock ---- */

static int for_each(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)info, (void)size, (void)arg;
    use_new_lock();
    return 0;
}

static void callback(void)
{
    pthread_t t;

    pthread_create(&t, NULL, uses_new_locks, NULL);
    for (int i = 0; i < 300; i++)
        dl_iterate_phdr(for_each, NULL);
    __atomic_store_n(&end, 1, __ATOMIC_RELAXED);
    pthread_join(t, NULL);
    puts("called back");
}

/* ---- forks, with a handler from before MPI that makes its locks anew ---- */

static pthread_mutex_t made_anew;

static void in_child(void)
{
    for (int i = 0; i < 10; i++)
        pthread_mutex_init(&made_anew, NULL);
}

static void *makes_locks(void *arg)
{
    pthread_mutex_t own;

    while (!__atomic_load_n(&end, __ATOMIC_RELAXED))
        pthread_mutex_init(&own, NULL);
    return arg;
}

__attribute__((constructor)) static void early(void)
{
    pthread_atfork(NULL, NULL, in_child);
}

static void forks(void)
{
    pthread_t t[3];
    int status = 0, failed = 0;

    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, makes_locks, NULL);
    for (int i = 0; i < 100; i++) {
        pid_t child = fork();
        if (!child)
            _exit(0);
        waitpid(child, &status, 0);
        failed += status != 0;
    }
    __atomic_store_n(&end, 1, __ATOMIC_RELAXED);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    printf("forked, %d failed\n", failed);
}

/* ---- locks are no cancellation points, whatever the file system makes of posix_fallocate() ---- */

int posix_fallocate(int fd, off_t offset, off_t bytes)
{
    pthread_testcancel();
    int err = (int)syscall(SYS_fallocate, fd, 0, offset, bytes);
    return err ? errno : 0;
}

static int reached;

static void *is_cancelled(void *arg)
{
    static pthread_mutex_t locks[600];

    pthread_cancel(pthread_self());
    for (int i = 0; i < 600; i++) {
        pthread_mutex_lock(&locks[i]);
        pthread_mutex_unlock(&locks[i]);
    }
    reached = 1;
    pthread_testcancel();
    reached = 2;
    return arg;
}

static void cancel(void)
{
    pthread_t t;
    void *result;

    pthread_create(&t, NULL, is_cancelled, NULL);
    pthread_join(t, &result);
    printf("cancelled %d at %d\n", result == PTHREAD_CANCELED, reached);
}

/* ---- handlers ---- */

static timer_t start_timer(long ns, void (*handler)(int))
{
    struct sigaction action = { .sa_handler = handler };
    struct itimerspec often = { { 0, ns }, { 0, ns } };
    struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1 };
    timer_t timer;

    event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
    sigaction(SIGUSR1, &action, NULL);
    timer_create(CLOCK_MONOTONIC, &event, &timer);
    timer_settime(timer, 0, &often, NULL);
    return timer;
}

static sigjmp_buf out;
static volatile sig_atomic_t jumps, may_jump;

static void jump(int signal)
{
    (void)signal;
    if (!may_jump)
        return;
    may_jump = 0;
    jumps++;
    siglongjmp(out, 1);
}

static void *waits(void *arg)
{
    return sem_wait(arg), arg;
}

/* What may be left anywhere: a lock that nobody else has, a join that is only tried. Not malloc(). */
static void jumping(void)
{
    static pthread_mutex_t locks[200000];
    static volatile int used;
    pthread_t t;
    sem_t go;

    sem_init(&go, 0, 0);
    pthread_create(&t, NULL, waits, &go);
    timer_t timer = start_timer(30000, jump);
    sigsetjmp(out, 1);
    while (jumps < 2000 && used < 200000) {
        int i = used++;

        may_jump = 1;
        pthread_mutex_init(&locks[i], NULL);
        pthread_mutex_lock(&locks[i]);
        pthread_mutex_unlock(&locks[i]);
        pthread_tryjoin_np(t, NULL);
        pthread_mutex_destroy(&locks[i]);
        may_jump = 0;
    }
    timer_delete(timer);
    sem_post(&go);
    printf("jumped, joined %d\n", pthread_join(t, NULL));
    use_new_lock();
    pthread_create(&t, NULL, seen, NULL);
    printf("afterwards %d\n", pthread_join(t, NULL));
}

static sem_t posted[1600];
static __thread volatile int next_post;

static void post(int signal)
{
    (void)signal;
    for (int i = 0; i < 200 && next_post < 1600; i++)
        sem_post(&posted[next_post++]);
}

/* Posts of many semaphores make a thread's table grow, in the middle of whatever the thread does. */
static void *is_posted(void *arg)
{
    static pthread_mutex_t own[8];
    timer_t timer = start_timer(40000, post);

    while (next_post < 1600)
        for (int i = 0; i < 8; i++) {
            pthread_mutex_trylock(&own[i]);
            pthread_mutex_unlock(&own[i]);
        }
    timer_delete(timer);
    return arg;
}

static void posts(void)
{
    int sum = 0, value;

    for (int i = 0; i < 100; i++) {
        pthread_t t;

        pthread_create(&t, NULL, is_posted, NULL);
        pthread_join(t, NULL);
    }
    for (int i = 0; i < 1600; i++)
        sem_getvalue(&posted[i], &value), sum += value;
    printf("posted %d\n", sum);
}

/* ---- plugins whose locks stand at one address ---- */

/* As after tools that make room for more program headers at the file's end. */
static void hide_program_headers(void *in)
{
    Dl_info info;

    dladdr(in, &info);
    ElfW(Ehdr) *elf = info.dli_fbase;
    mprotect(elf, 4096, PROT_READ | PROT_WRITE);
    elf->e_phoff = 0x8000; /* between two segments */
    mprotect(elf, 4096, PROT_READ);
}

static void use_plugin(const char *path)
{
    void *plugin = dlopen(path, RTLD_NOW), *found = plugin ? dlsym(plugin, "use") : NULL;
    int (*use)(int);

    memcpy(&use, &found, sizeof(use));
    if (plugin && strstr(path, "moved"))
        hide_program_headers(found);
    printf("plugin %d\n", plugin ? use(5) : -1);
    if (plugin)
        dlclose(plugin);
}

/* ---- a thread that was made unseen, with the name of one that was joined ---- */

static void *unseen_thread(void *arg)
{
    pause_ms(40);
    return arg;
}

static void unseen(void)
{
    void *libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD), *found = dlsym(libc, "pthread_create");
    int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    pthread_t t[2];

    memcpy(&create, &found, sizeof(create));
    pthread_create(&t[0], NULL, seen, NULL);
    pthread_join(t[0], NULL);
    create(&t[1], NULL, unseen_thread, NULL);
    printf("joined %d, the same name: %d\n", pthread_join(t[1], NULL), t[0] == t[1]);
}

/* ---- what a thread is known by is gone when pthread_create() returns ---- */

static sem_t gone;

static void *frees_name(void *page)
{
    munmap(page, 4096);
    sem_post(&gone);
    return NULL;
}

/* On one processor, and with the lowest priority: the others, whose own is told, run first. */
static void *makes_nameless(void *arg)
{
    struct sched_param none = { 0 };
    pthread_attr_t attributes;
    cpu_set_t one;

    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    sched_setaffinity(0, sizeof(one), &one);
    sched_setscheduler(0, SCHED_IDLE, &none);
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setinheritsched(&attributes, PTHREAD_EXPLICIT_SCHED);
    for (int i = 0; i < 20; i++) {
        void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        if (pthread_create(page, &attributes, frees_name, page))
            pthread_attr_setinheritsched(&attributes, PTHREAD_INHERIT_SCHED); /* not allowed */
        else
            sem_wait(&gone);
    }
    return arg;
}

static void nameless(void)
{
    pthread_t t;

    sem_init(&gone, 0, 0);
    pthread_create(&t, NULL, makes_nameless, NULL);
    printf("nameless, joined %d\n", pthread_join(t, NULL));
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = { { "callback", callback }, { "forks", forks }, { "cancel", cancel },
                  { "jumps", jumping },     { "posts", posts }, { "unseen", unseen },
                  { "nameless", nameless } };

#ifdef WITH_MPI
    MPI_Init(&argc, &argv);
#endif
    if (argc > 2)
        use_plugin(argv[1]), use_plugin(argv[2]);
    for (size_t i = 0; argc == 2 && i < sizeof(cases) / sizeof(*cases); i++)
        if (!strcmp(argv[1], cases[i].name))
            cases[i].run();
#ifdef WITH_MPI
    MPI_Finalize();
#endif
    return 0;
}
