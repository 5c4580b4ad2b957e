/* One-sided communication: what the origin's buffer gives is sent, what it gets is received. Each rank
 * works on the window of its right neighbour; synchronisation moves nothing.
 *
 * @ranks 2 3
 * @ MPI_Put               put             count=2  sent=2*40
 * @ MPI_Get               get             received=80
 * @ MPI_Accumulate        accumulate      sent=24
 * @ MPI_Get_accumulate    get_accumulate  sent=24   received=24
 * @ MPI_Fetch_and_op      fetch_and_op    sent=4    received=4
 * @ MPI_Compare_and_swap  compare_and_swap sent=4   received=4
 * @ MPI_Put               to_nobody       sent=0
 * @ MPI_Win_fence         fence           count=7
 * @ MPI_Win_fence         first_fence
 * @ MPI_Win_lock          locked
 * @ MPI_Put               locked          sent=32
 * @ MPI_Win_unlock        locked
 * @ MPI_Win_create        main
 * @ MPI_Win_free          main
 * @ MPI_Init              main
 * @ MPI_Finalize          main
 */
#include "known.h"

static int memory[1000], in[1000], out[1000];
static MPI_Win win;
static int right;

OP fence(void)
{
    OK(MPI_Win_fence(0, win));
}

OP first_fence(void)
{
    OK(MPI_Win_fence(0, win));
}

OP put(void)
{
    TIMES(2)
        OK(MPI_Put(in, 10, MPI_INT, right, (MPI_Aint)i * 10, 10, MPI_INT, win));
}

OP get(void)
{
    OK(MPI_Get(out, 20, MPI_INT, right, 100, 20, MPI_INT, win));
}

OP accumulate(void)
{
    OK(MPI_Accumulate(in, 6, MPI_INT, right, 200, 6, MPI_INT, MPI_SUM, win));
}

OP get_accumulate(void)
{
    OK(MPI_Get_accumulate(in, 6, MPI_INT, out, 6, MPI_INT, right, 300, 6, MPI_INT, MPI_SUM, win));
}

OP fetch_and_op(void)
{
    OK(MPI_Fetch_and_op(in, out, MPI_INT, right, 400, MPI_SUM, win));
}

OP compare_and_swap(void)
{
    OK(MPI_Compare_and_swap(in, in, out, MPI_INT, right, 500, win));
}

OP to_nobody(void)
{
    OK(MPI_Put(in, 10, MPI_INT, MPI_PROC_NULL, 0, 10, MPI_INT, win));
}

OP locked(void)
{
    OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, right, 0, win));
    OK(MPI_Put(in, 8, MPI_INT, right, 600, 8, MPI_INT, win));
    OK(MPI_Win_unlock(right, win));
}

int main(int argc, char **argv)
{
    void (*const op[])(void) = { put, get, accumulate, get_accumulate, fetch_and_op, compare_and_swap, to_nobody };

    OK(MPI_Init(&argc, &argv));
    known_start();
    right = (me + 1) % ranks;
    OK(MPI_Win_create(memory, sizeof(memory), sizeof(int), MPI_INFO_NULL, WORLD, &win));
    first_fence();
    TIMES(sizeof(op) / sizeof(*op)) {
        op[i](); /* put get accumulate get_accumulate fetch_and_op compare_and_swap to_nobody */
        fence();
    }
    locked();
    OK(MPI_Win_free(&win));
    OK(MPI_Finalize());
    return 0;
}
