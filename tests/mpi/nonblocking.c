/* Non-blocking collectives: the volume is charged to the call that starts the operation, and the call
 * that completes it moves nothing. Rank r of P; the root is 0.
 *
 * @ranks 2 3
 * @let T = 4*P*(P+1)//2
 * @ MPI_Ibarrier         ibarrier
 * @ MPI_Wait             ibarrier
 * @ MPI_Ibcast           ibcast      count=2  sent=2*400*(r==0)  received=2*400*(r!=0)
 * @ MPI_Wait             ibcast      count=2
 * @ MPI_Igather          igather     sent=40          received=40*P*(r==0)
 * @ MPI_Wait             igather
 * @ MPI_Iscatter         iscatter    sent=40*P*(r==0) received=40
 * @ MPI_Wait             iscatter
 * @ MPI_Iallgather       iallgather  sent=24          received=24*P
 * @ MPI_Wait             iallgather
 * @ MPI_Iallgatherv      iallgatherv sent=4*(r+1)     received=T
 * @ MPI_Wait             iallgatherv
 * @ MPI_Ialltoall        ialltoall   sent=16*P        received=16*P
 * @ MPI_Wait             ialltoall
 * @ MPI_Ireduce          ireduce     sent=80          received=80*(r==0)
 * @ MPI_Wait             ireduce
 * @ MPI_Iallreduce       iallreduce  count=3  sent=3*8 received=3*8
 * @ MPI_Waitall          iallreduce
 * @ MPI_Iscan            iscan       sent=64          received=64
 * @ MPI_Wait             iscan
 * @ MPI_Init             main
 * @ MPI_Finalize         main
 */
#include "known.h"

#define MOST 16
static int in[MOST * 100], out[3][MOST * 100], share[MOST], at[MOST];
static MPI_Request request[3];

OP ibarrier(void)
{
    OK(MPI_Ibarrier(WORLD, request));
    OK(MPI_Wait(request, MPI_STATUS_IGNORE));
}

OP ibcast(void)
{
    TIMES(2) {
        OK(MPI_Ibcast(in, 100, MPI_INT, 0, WORLD, request));
        OK(MPI_Wait(request, MPI_STATUS_IGNORE));
    }
}

OP igather(void)
{
    OK(MPI_Igather(in, 10, MPI_INT, out, 10, MPI_INT, 0, WORLD, request));
    OK(MPI_Wait(request, MPI_STATUS_IGNORE));
}

OP iscatter(void)
{
    OK(MPI_Iscatter(in, 10, MPI_INT, me ? out[0] : MPI_IN_PLACE, 10, MPI_INT, 0, WORLD, request));
    OK(MPI_Wait(request, MPI_STATUS_IGNORE));
}

OP iallgather(void)
{
    OK(MPI_Iallgather(in, 6, MPI_INT, out, 6, MPI_INT, WORLD, request));
    OK(MPI_Wait(request, MPI_STATUS_IGNORE));
}

OP iallgatherv(void)
{
    OK(MPI_Iallgatherv(in, me + 1, MPI_INT, out, share, at, MPI_INT, WORLD, request));
    OK(MPI_Wait(request, MPI_STATUS_IGNORE));
}

OP ialltoall(void)
{
    OK(MPI_Ialltoall(in, 4, MPI_INT, out, 4, MPI_INT, WORLD, request));
    OK(MPI_Wait(request, MPI_STATUS_IGNORE));
}

OP ireduce(void)
{
    OK(MPI_Ireduce(in, out, 20, MPI_INT, MPI_SUM, 0, WORLD, request));
    OK(MPI_Wait(request, MPI_STATUS_IGNORE));
}

OP iallreduce(void)
{
    TIMES(3)
        OK(MPI_Iallreduce(&in[i], out[i], 1, MPI_DOUBLE, MPI_MAX, WORLD, &request[i]));
    OK(MPI_Waitall(3, request, MPI_STATUSES_IGNORE));
}

OP iscan(void)
{
    OK(MPI_Iscan(in, out, 8, MPI_LONG_LONG, MPI_SUM, WORLD, request));
    OK(MPI_Wait(request, MPI_STATUS_IGNORE));
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    known_start();
    for (int i = 0; i < ranks; i++) {
        share[i] = i + 1;
        at[i] = i * (i + 1) / 2;
    }
    ibarrier();
    ibcast();
    igather();
    iscatter();
    iallgather();
    iallgatherv();
    ialltoall();
    ireduce();
    iallreduce();
    iscan();
    OK(MPI_Finalize());
    return 0;
}
