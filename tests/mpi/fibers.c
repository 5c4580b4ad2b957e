/* A fiber that goes to another thread in each of its calls: PMPI_Probe, which is our own, gives its thread back, and
 * the other thread goes on with it. Both threads call MPI_Iprobe meanwhile; these calls are theirs alone.
 * Without fvmpi there is nobody who calls PMPI_Probe: the program would wait for a message. Prints
 *
 *     truth PROBES IPROBES
 */
#include "known.h"

#include <pthread.h>
#include <ucontext.h>

#define PROBES 2000
#define EACH   3 /* calls of a thread after each turn of the fiber */

static ucontext_t fiber, thread_of[2];
static int turn; /* of the thread that goes on with the fiber; 2: it has ended */

int PMPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    (void)source, (void)tag, (void)comm, (void)status;
    swapcontext(&fiber, &thread_of[turn]);
    return MPI_SUCCESS;
}

static __attribute__((noinline)) void in_fiber(void)
{
    TIMES(PROBES) {
        MPI_Probe(0, 0, WORLD, MPI_STATUS_IGNORE);
        __asm__ volatile("" ::: "memory");
    }
    swapcontext(&fiber, &thread_of[turn]);
}

static __attribute__((noinline)) void *in_thread(void *arg)
{
    int self = *(int *)arg, calls = 0, flag;

    for (int now; (now = __atomic_load_n(&turn, __ATOMIC_ACQUIRE)) < 2;) {
        if (now != self) {
            usleep(1);
            continue;
        }
        swapcontext(&thread_of[self], &fiber);
        for (int i = 0; i < EACH; i++, calls++)
            OK(MPI_Iprobe(0, 0, WORLD, &flag, MPI_STATUS_IGNORE));
        static int turns;
        __atomic_store_n(&turn, ++turns > PROBES ? 2 : 1 - self, __ATOMIC_RELEASE);
    }
    *(int *)arg = calls;
    return NULL;
}

int main(int argc, char **argv)
{
    static char stack[1 << 18];
    int provided, of[2] = { 0, 1 };
    pthread_t other;

    OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided));
    known_start();
    getcontext(&fiber);
    fiber.uc_stack.ss_sp = stack;
    fiber.uc_stack.ss_size = sizeof(stack);
    makecontext(&fiber, in_fiber, 0);
    pthread_create(&other, NULL, in_thread, &of[1]);
    in_thread(&of[0]);
    pthread_join(other, NULL);
    printf("truth %d %d\n", PROBES, of[0] + of[1]);
    OK(MPI_Finalize());
    return 0;
}
