/* One source of two programs, built twice: -DWORKER makes the other one. They share MPI_COMM_WORLD: the
 * master sends each worker 3 messages of 40 bytes from one line of the source that the compiler sees three
 * times, the workers receive them; all meet in 2 barriers, called by a function of the same name on the
 * same line of the same file in both. */
#include "known.h"

OP meet(void)
{
    TIMES(2)
        OK(MPI_Barrier(WORLD));
}

#ifdef WORKER
OP work(void)
{
    char data[40];

    TIMES(3)
        OK(MPI_Recv(data, 40, MPI_BYTE, 0, 5, WORLD, MPI_STATUS_IGNORE));
}
#else
#define THREE(x) x; x; x

OP hand_out(void)
{
    static char data[40];

    for (int i = 1; i < ranks; i++) {
        THREE(OK(MPI_Send(data, 40, MPI_BYTE, i, 5, WORLD)));
    }
}
#endif

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    known_start();
#ifdef WORKER
    work();
#else
    hand_out();
#endif
    meet();
    OK(MPI_Finalize());
    return 0;
}
