/* Children that are made past fork(): by _Fork(), clone(), and system calls. Each does all that may be recorded, while the parent, which does as much, goes on. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <fvmpi.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUNDS 20000

static FILE *nothing;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static sem_t semaphore;
static void *volatile keep;

static __attribute__((noinline)) void allocate(int i)
{
    keep = malloc(i % 100 ? 100 : 100000);
    free(keep);
}

static __attribute__((noinline)) void work(int rounds)
{
    int rank;

    for (int i = 0; i < rounds; i++) {
        fvmpi_section_begin("round", 0, 0);
        allocate(i);
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
        sem_post(&semaphore);
        sem_wait(&semaphore);
        fputc('.', nothing);
        if (i % 100 == 0)
            fflush(nothing);
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        fvmpi_section_end("round", 0, 0);
    }
}

static char stack[1 << 20] __attribute__((aligned(64)));

static int run(void *ends)
{
    work(ROUNDS);
    if (ends)
        return 3;
    exit(3); /* with its handlers */
}

static pid_t by_Fork(void)
{
    pid_t (*function)(void) = (pid_t (*)(void))dlsym(RTLD_DEFAULT, "_Fork");

    return function ? function() : (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
}

static pid_t make(int way)
{
    if (way == 1)
        return clone(run, stack + sizeof(stack), SIGCHLD, stack);
    pid_t child = way == 0 ? by_Fork() : (pid_t)syscall(SYS_clone, SIGCHLD, NULL, NULL, NULL, NULL);
    if (!child)
        run(NULL);
    return child;
}

int main(int argc, char **argv)
{
    int status;

    MPI_Init(&argc, &argv);
    nothing = fopen("/dev/null", "w");
    sem_init(&semaphore, 0, 0);
    work(10);
    for (int way = 0; way < 3; way++) {
        pid_t child = make(way);

        work(ROUNDS);
        waitpid(child, &status, 0);
        printf("way %d: %s %d\n", way, WIFSIGNALED(status) ? "signal" : "status", WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}
