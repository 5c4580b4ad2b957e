/* MPI_Pcontrol(2) forgets what was recorded so far, 3 and 4 mark a point. Calls on each rank of 2,
 * MPI_THREAD_MULTIPLE:
 *
 *   - before it: 3 MPI_Barrier, 10 messages of 100 bytes from 0 to 1, 4 MPI_Comm_rank on a thread that ends
 *     and 5 on one that lives on without another call: none of it stays
 *   - forgotten twice: the second time right behind the first
 *   - after it: 5 MPI_Barrier, 2 messages of 8 bytes from 0 to 1
 *   - a section `around` is open across it, with 6 MPI_Barrier behind: it is measured from then on
 *   - marks: 1, behind which 2 MPI_Barrier, 2 (by 4) with 3, 3 with none
 *
 * Rank 0 prints: seconds from the last MPI_Pcontrol(2) to MPI_Finalize, and in the section since then. */
#include "fvmpi.h"
#include "known.h"

#include <pthread.h>

static pthread_barrier_t meet;

static void calls(int barriers, int messages, int bytes)
{
    char data[100] = { 0 };

    TIMES(barriers)
    OK(MPI_Barrier(WORLD));
    TIMES(messages)
    {
        if (me == 0)
            OK(MPI_Send(data, bytes, MPI_CHAR, 1, 1, WORLD));
        else
            OK(MPI_Recv(data, bytes, MPI_CHAR, 0, 1, WORLD, MPI_STATUS_IGNORE));
    }
}

static double seconds(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

OP before(void)
{
    calls(3, 10, 100);
    for (double end = seconds() + 0.2; seconds() < end;)
        ;
}

OP after(void)
{
    calls(5, 2, 8);
}

OP around(void)
{
    TIMES(6)
    OK(MPI_Barrier(WORLD));
    usleep(50000);
}

OP marks(void)
{
    MPI_Pcontrol(3);
    TIMES(2)
    OK(MPI_Barrier(WORLD));
    MPI_Pcontrol(4);
    TIMES(3)
    OK(MPI_Barrier(WORLD));
    MPI_Pcontrol(3);
}

static void *in_thread(void *count)
{
    int rank;

    TIMES(*(int *)count)
    OK(MPI_Comm_rank(WORLD, &rank));
    if (*(int *)count == 4)
        return NULL;
    pthread_barrier_wait(&meet);
    pthread_barrier_wait(&meet);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t ended, silent;
    int four = 4, five = 5, provided;

    OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
    known_start();
    pthread_barrier_init(&meet, NULL, 2);
    before();
    pthread_create(&ended, NULL, in_thread, &four);
    pthread_join(ended, NULL);
    pthread_create(&silent, NULL, in_thread, &five);
    pthread_barrier_wait(&meet);
    fvmpi_section_begin("around", 0, 0);
    MPI_Pcontrol(2);
    MPI_Pcontrol(2);
    double begin = now();
    around();
    double section = now() - begin;
    fvmpi_section_end("around", 0, 0);
    after();
    marks();
    pthread_barrier_wait(&meet);
    pthread_join(silent, NULL);
    double all = now() - begin;
    if (me == 0)
        printf("%.6f %.6f\n", all, section);
    OK(MPI_Finalize());
    return 0;
}
