/* Message sizes on both sides of every edge of the log2 histogram: bucket 0 holds messages of 0 bytes,
 * bucket b > 0 those of 2^(b-1) to 2^b - 1 bytes. Rank 0 sends to rank 1, of each of these sizes as many
 * messages as its place in the list (1, 2, ...):
 *
 *     0 1 2 3 4 7 8 1023 1024 65535 65536 100000
 *
 * by MPI_Send to MPI_Recv and by MPI_Isend to MPI_Irecv; MPI_Allreduce of 1000 bytes, 5 times.
 */
#include "known.h"

static const int size[] = { 0, 1, 2, 3, 4, 7, 8, 1023, 1024, 65535, 65536, 100000 };
static char out[100000], in[100000];

OP exchange(void)
{
    MPI_Request request;

    for (int s = 0; s < (int)(sizeof(size) / sizeof(*size)); s++)
        for (int i = 0; i <= s; i++) {
            if (me == 0) {
                OK(MPI_Send(out, size[s], MPI_BYTE, 1, 1, WORLD));
                OK(MPI_Isend(out, size[s], MPI_BYTE, 1, 1, WORLD, &request));
                OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
            } else if (me == 1) {
                OK(MPI_Recv(in, sizeof(in), MPI_BYTE, 0, 1, WORLD, MPI_STATUS_IGNORE));
                OK(MPI_Irecv(in, sizeof(in), MPI_BYTE, 0, 1, WORLD, &request));
                OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
            }
        }
    TIMES(5)
        OK(MPI_Allreduce(MPI_IN_PLACE, in, 1000, MPI_BYTE, MPI_BOR, WORLD));
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    known_start();
    exchange();
    OK(MPI_Finalize());
    return 0;
}
