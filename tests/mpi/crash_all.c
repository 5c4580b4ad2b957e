/* All that can be recorded, until it is killed: MPI, functions, sections, threads that wait for a lock, files, memory. argv[1]: as argv[2] of crash.c; the slot has how
 * many calls of MPI_Sendrecv and of step() have returned. Built with -finstrument-functions. */
#include "known.h"

#include "../../src/fvmpi.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>

static volatile struct slot {
    long long pid, calls, ready, steps, pad[4];
} *slot;

static int data[2];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char file[4096];

OP compute(int n)
{
    volatile double x = 1;

    for (int i = 0; i < n; i++)
        x *= 1.0000001;
}

OP allocate(size_t bytes)
{
    volatile char *memory = malloc(bytes);

    memory[0] = 1;
    if (bytes > 64)
        free((void *)memory); /* else it is lost */
}

static void *work(void *unused)
{
    for (int i = 0; i < 10; i++) {
        pthread_mutex_lock(&mutex);
        compute(2000);
        pthread_mutex_unlock(&mutex);
        allocate(1000);
    }
    return unused;
}

OP write_file(void)
{
    FILE *f = fopen(file, "w");

    if (!f)
        known_failed(__LINE__);
    fprintf(f, "%lld\n", slot->steps);
    fclose(f);
}

OP step(void)
{
    pthread_t threads[2];

    fvmpi_section_begin("step", 0, 0);
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    write_file();
    allocate(64);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    OK(MPI_Sendrecv(data, 1, MPI_INT, (me + 1) % ranks, 1, data + 1, 1, MPI_INT, (me + ranks - 1) % ranks, 1, WORLD, MPI_STATUS_IGNORE));
    slot->calls++;
    fvmpi_section_end("step", 0, 0);
    if (slot->steps % 16 == 0)
        fvmpi_label("sixteen");
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    known_start();
    int fd = open(argv[1], O_RDWR | O_CREAT, 0666);
    if (fd < 0 || ftruncate(fd, 16 * sizeof(struct slot)))
        known_failed(__LINE__);
    void *map = mmap(NULL, 16 * sizeof(struct slot), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED)
        known_failed(__LINE__);
    slot = (struct slot *)map + me;
    snprintf(file, sizeof(file), "%s.of-rank-%d", argv[1], me);
    slot->pid = getpid();
    for (slot->ready = 1;; slot->steps++)
        step();
}
