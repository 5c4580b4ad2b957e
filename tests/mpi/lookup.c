/* A program that is not linked with MPI, and calls MPI_Barrier by every way to find it: NUMBER times by the NUMBERth way, each in
 * a function of its own. With -DPLUGIN=NAME the plug-in that it opens: a library of code that calls MPI.
 * With -DSLOTS a library that points to functions of MPI many times, by which MPI_Barrier is called; with -DTHREADS a program of MPI that opens such
 * libraries, a thread each, ROUNDS times.
 * Arguments: MPI's C library, flags of dlopen() (or `space`: dlmopen(), and the first way alone), plug-ins bound at each first call and bound at once, MPI's Fortran library or "". */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef PLUGIN

void PLUGIN(int times);
void PLUGIN(int times)
{
    int (*volatile pointed_to)(MPI_Comm) = MPI_Barrier;

    for (int i = 1; i < times; i++)
        MPI_Barrier(MPI_COMM_WORLD);
    pointed_to(MPI_COMM_WORLD);
}

#elif defined(SLOTS)

#ifdef IN_CODE /* where the dynamic linker writes, and nobody else may */
__asm__(".pushsection .rodata.slots,\"a\"\n.p2align 3\nslots: .quad MPI_Barrier\n.popsection");
extern int (*const slots[])(MPI_Comm) __attribute__((visibility("hidden")));
#else
static int (*const slots[SLOTS])(MPI_Comm) = { [0 ... SLOTS - 1] = MPI_Barrier };
#endif

int barriers(int times);
int barriers(int times)
{
    for (int i = 0; i < times; i++)
        slots[i % SLOTS](MPI_COMM_WORLD);
#ifdef CALLED
    MPI_Barrier(MPI_COMM_WORLD);
#endif
    return 1 + times;
}

#elif defined(THREADS)

static pthread_barrier_t all;
static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
static int rounds;

static void *open_often(void *file)
{
    for (int i = 0; i < rounds; i++) {
        pthread_barrier_wait(&all);
        void *library = dlopen(file, RTLD_NOW | RTLD_DEEPBIND);
        int (*barriers)(int) = NULL;

        if (library)
            *(void **)&barriers = dlsym(library, "barriers");
        pthread_mutex_lock(&one);
        if (!barriers || barriers(1) != 2)
            exit(3);
        pthread_mutex_unlock(&one);
        pthread_barrier_wait(&all);
        dlclose(library);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    int level, count = argc - 2;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    rounds = atoi(argv[1]);
    pthread_barrier_init(&all, NULL, (unsigned)count);
    for (int i = 0; i < count && i < THREADS; i++)
        pthread_create(&threads[i], NULL, open_often, argv[2 + i]);
    for (int i = 0; i < count && i < THREADS; i++)
        pthread_join(threads[i], NULL);
    puts("done");
    fflush(stdout);
    MPI_Finalize();
    return 0;
}

#else

typedef int barrier(MPI_Comm comm);
typedef void fortran_barrier(MPI_Fint *comm, MPI_Fint *ierror);
#define WAY static __attribute__((noipa)) void

static MPI_Comm world;

static void *need(void *found, const char *what)
{
    if (found)
        return found;
    fprintf(stderr, "%s: %s\n", what, dlerror());
    exit(3);
}

static void *get(void *handle, const char *name)
{
    return need(dlsym(handle, name), name);
}

#define CALL(found, times)                      \
    for (int i = 0; i < (times); i++)           \
    ((barrier *)(found))(world)

WAY by_handle(void *mpi)
{
    CALL(get(mpi, "MPI_Barrier"), 1);
}

WAY by_version(void *mpi)
{
    void *found = dlvsym(mpi, "MPI_Barrier", "NONE");

    CALL(found ? found : get(mpi, "MPI_Barrier"), 2);
}

WAY profiled(void *mpi)
{
    CALL(get(mpi, "PMPI_Barrier"), 3);
}

/* Found where MPI was opened for all, else the library itself is asked. */
WAY by_program(void *mpi)
{
    void *program = dlopen(NULL, RTLD_NOW), *found = dlsym(program, "MPI_Barrier");

    CALL(found ? found : get(mpi, "MPI_Barrier"), 4);
}

static void by_plugin(const char *file, int mode, const char *name, int times)
{
    void *plugin = need(dlopen(file, mode), file), *found = dlvsym(plugin, name, "PLUGIN");

    ((void (*)(int))(found ? found : get(plugin, name)))(times);
}

WAY by_fortran(const char *library)
{
    MPI_Fint comm = 0, ierror;
    void *found = need(dlopen(library, RTLD_NOW), library), *mpi = found;

#ifdef MPICH
    comm = world;
    (void)mpi;
#else
    comm = ((MPI_Fint(*)(MPI_Comm))get(mpi, "MPI_Comm_c2f"))(world);
#endif
    for (int i = 0; i < 8; i++)
        ((fortran_barrier *)get(found, "mpi_barrier_"))(&comm, &ierror);
}

WAY closed_and_opened(const char *library, void *mpi)
{
    dlclose(mpi);
    mpi = need(dlopen(library, RTLD_LAZY), library);
    CALL(get(mpi, "MPI_Barrier"), 9);
}

static int flags(const char *words)
{
    return (strstr(words, "lazy") ? RTLD_LAZY : RTLD_NOW) | (strstr(words, "global") ? RTLD_GLOBAL : 0) |
           (strstr(words, "deep") ? RTLD_DEEPBIND : 0);
}

static void every_way(void *mpi, char **argv)
{
    by_version(mpi);
    profiled(mpi);
    by_program(mpi);
    by_plugin(argv[3], RTLD_LAZY | RTLD_DEEPBIND, "deep_lazy", 5);
    by_plugin(argv[4], RTLD_NOW | RTLD_DEEPBIND, "deep_now", 6);
    by_plugin(argv[5], RTLD_NOW | RTLD_LOCAL, "plain", 7);
    if (*argv[6])
        by_fortran(argv[6]);
    closed_and_opened(argv[1], need(dlopen(argv[1], RTLD_LAZY), argv[1]));
}

int main(int argc, char **argv)
{
    bool is_apart = strstr(argv[2], "space");
    void *mpi = need(is_apart ? dlmopen(LM_ID_NEWLM, argv[1], RTLD_NOW) : dlopen(argv[1], flags(argv[2])), argv[1]);
    int rank;

#ifdef OPEN_MPI
    world = (MPI_Comm)get(mpi, "ompi_mpi_comm_world");
#else
    world = MPI_COMM_WORLD;
#endif
    ((int (*)(int *, char ***))get(mpi, "MPI_Init"))(&argc, &argv);
    ((int (*)(MPI_Comm, int *))get(mpi, "MPI_Comm_rank"))(world, &rank);
    by_handle(mpi);
    if (!is_apart)
        every_way(mpi, argv);
    printf("rank %d of %d words\n", rank, argc);
    fflush(stdout);
    ((int (*)(void))get(mpi, "MPI_Finalize"))();
    return 0;
}

#endif
