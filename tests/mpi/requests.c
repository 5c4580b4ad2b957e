/* Non-blocking and persistent point-to-point calls and every way to complete them. Received bytes are
 * charged to the call that posted the receive (persistent: to the MPI_Start that started it), whoever
 * completes it and whether or not it asks for a status. Rank 0 sends, rank 1 receives.
 *
 * @ranks 2 3
 * @ MPI_Isend          one           count=r==0      sent=40*(r==0)
 * @ MPI_Irecv          one           count=r==1      received=40*(r==1)
 * @ MPI_Wait           one           count=r<2
 * @ MPI_Isend          all           count=4*(r==0)  sent=(8+16+24+32)*(r==0)
 * @ MPI_Irecv          all           count=4*(r==1)  received=(8+16+24+32)*(r==1)
 * @ MPI_Waitall        all           count=r<2
 * @ MPI_Isend          all_told      count=4*(r==0)  sent=(8+16+24+32)*(r==0)
 * @ MPI_Irecv          all_told      count=4*(r==1)  received=(8+16+24+32)*(r==1)
 * @ MPI_Waitall        all_told      count=r<2
 * @ MPI_Isend          any           count=4*(r==0)  sent=(8+16+24+32)*(r==0)
 * @ MPI_Irecv          any           count=4*(r==1)  received=(8+16+24+32)*(r==1)
 * @ MPI_Waitany        any           count=5*(r<2)
 * @ MPI_Isend          some          count=4*(r==0)  sent=(8+16+24+32)*(r==0)
 * @ MPI_Irecv          some          count=4*(r==1)  received=(8+16+24+32)*(r==1)
 * @ MPI_Waitsome       some          count=*
 * @ MPI_Isend          test_one      count=r==0      sent=8*(r==0)
 * @ MPI_Irecv          test_one      count=r==1      received=8*(r==1)
 * @ MPI_Test           test_one      count=*
 * @ MPI_Isend          test_all      count=4*(r==0)  sent=(8+16+24+32)*(r==0)
 * @ MPI_Irecv          test_all      count=4*(r==1)  received=(8+16+24+32)*(r==1)
 * @ MPI_Testall        test_all      count=*
 * @ MPI_Isend          test_any      count=4*(r==0)  sent=(8+16+24+32)*(r==0)
 * @ MPI_Irecv          test_any      count=4*(r==1)  received=(8+16+24+32)*(r==1)
 * @ MPI_Testany        test_any      count=*
 * @ MPI_Isend          test_some     count=4*(r==0)  sent=(8+16+24+32)*(r==0)
 * @ MPI_Irecv          test_some     count=4*(r==1)  received=(8+16+24+32)*(r==1)
 * @ MPI_Testsome       test_some     count=*
 * @ MPI_Issend         modes         count=r==0      sent=48*(r==0)
 * @ MPI_Ibsend         modes         count=r==0      sent=56*(r==0)
 * @ MPI_Irsend         modes         count=r==0      sent=64*(r==0)
 * @ MPI_Irecv          modes         count=3*(r==1)  received=168*(r==1)
 * @ MPI_Waitall        modes         count=r<2
 * @ MPI_Buffer_attach  modes         count=r==0
 * @ MPI_Buffer_detach  modes         count=r==0
 * @ MPI_Send_init      persistent    count=r==0
 * @ MPI_Recv_init      persistent    count=r==1
 * @ MPI_Start          persistent    count=3*(r<2)   sent=3*72*(r==0)  received=3*72*(r==1)
 * @ MPI_Wait           persistent    count=3*(r<2)
 * @ MPI_Request_free   persistent    count=r<2
 * @ MPI_Send_init      start_all     count=2*(r==0)
 * @ MPI_Recv_init      start_all     count=2*(r==1)
 * @ MPI_Startall       start_all     count=5*(r<2)   sent=5*88*(r==0)  received=5*88*(r==1)
 * @ MPI_Waitall        start_all     count=5*(r<2)
 * @ MPI_Request_free   start_all     count=2*(r<2)
 * @ MPI_Irecv          cancelled
 * @ MPI_Cancel         cancelled
 * @ MPI_Wait           cancelled
 * @ MPI_Isend          to_nobody     sent=0
 * @ MPI_Irecv          to_nobody     received=0
 * @ MPI_Waitall        to_nobody
 * @ MPI_Isend          set_free      count=r==0      sent=40*(r==0)
 * @ MPI_Request_free   set_free      count=r==0
 * @ MPI_Recv           set_free      count=r==1      received=40*(r==1)
 * @ MPI_Irecv          peeked        count=r==1      received=96*(r==1)
 * @ MPI_Isend          peeked        count=r==0      sent=96*(r==0)
 * @ MPI_Request_get_status peeked    count=*
 * @ MPI_Wait           peeked        count=r<2
 * @ MPI_Isend          peeked_and_freed  count=r==0  sent=96*(r==0)
 * @ MPI_Irecv          peeked_and_freed  count=r==1  received=96*(r==1)
 * @ MPI_Request_get_status peeked_and_freed  count=*
 * @ MPI_Request_free   peeked_and_freed  count=r<2
 * @ MPI_Irecv          short_one     count=r==1      received=12*(r==1)
 * @ MPI_Send           short_one     count=r==0      sent=12*(r==0)
 * @ MPI_Wait           short_one     count=r==1
 * @ MPI_Irecv          elsewhere     count=2*(r==1)  received=2*16*(r==1)
 * @ MPI_Send           elsewhere     count=2*(r==0)  sent=2*16*(r==0)
 * @ MPI_Waitall        complete      count=2*(r==1)
 * @ MPI_Wait           none
 * @ MPI_Waitall        none
 * @ MPI_Testall        none
 * @ MPI_Init           main
 * @ MPI_Finalize       main
 */
#include "known.h"

static char data[4][1000];
static MPI_Request request[4];
static MPI_Status statuses[4];
static int flag, index_, indices[4], n;

#define POST_FOUR(tag) \
    TIMES(4) { \
        request[i] = MPI_REQUEST_NULL; \
        if (me == 0) \
            OK(MPI_Isend(data[i], i + 1, MPI_DOUBLE, 1, tag, WORLD, &request[i])); \
        if (me == 1) \
            OK(MPI_Irecv(data[i], 100, MPI_DOUBLE, 0, tag, WORLD, &request[i])); \
    }

OP one(void)
{
    if (me == 0)
        OK(MPI_Isend(data, 10, MPI_INT, 1, 1, WORLD, request));
    if (me == 1)
        OK(MPI_Irecv(data, 20, MPI_INT, 0, 1, WORLD, request));
    if (me < 2)
        OK(MPI_Wait(request, MPI_STATUS_IGNORE));
}

OP all(void)
{
    POST_FOUR(2) /* MPI_Isend( MPI_Irecv( */
    if (me < 2)
        OK(MPI_Waitall(4, request, MPI_STATUSES_IGNORE));
}

OP all_told(void)
{
    int count;

    POST_FOUR(3) /* MPI_Isend( MPI_Irecv( */
    if (me < 2)
        OK(MPI_Waitall(4, request, statuses));
    for (int i = 0; me == 1 && i < 4; i++) {
        PMPI_Get_count(&statuses[i], MPI_DOUBLE, &count);
        if (count != i + 1)
            known_failed(__LINE__);
    }
}

OP any(void) /* the fifth finds no active request */
{
    MPI_Status *told[] = { statuses, MPI_STATUS_IGNORE, statuses, MPI_STATUS_IGNORE, statuses };

    POST_FOUR(4) /* MPI_Isend( MPI_Irecv( */
    TIMES(me < 2 ? 5 : 0)
        OK(MPI_Waitany(4, request, &index_, told[i]));
}

OP some(void)
{
    POST_FOUR(5) /* MPI_Isend( MPI_Irecv( */
    for (int done = 0; me < 2 && done < 4; done += n)
        OK(MPI_Waitsome(4, request, &n, indices, MPI_STATUSES_IGNORE));
}

OP test_one(void)
{
    flag = 0;
    if (me == 0)
        OK(MPI_Isend(data, 1, MPI_DOUBLE, 1, 6, WORLD, request));
    if (me == 1)
        OK(MPI_Irecv(data, 2, MPI_DOUBLE, 0, 6, WORLD, request));
    while (me < 2 && !flag)
        OK(MPI_Test(request, &flag, MPI_STATUS_IGNORE));
}

OP test_all(void)
{
    POST_FOUR(7) /* MPI_Isend( MPI_Irecv( */
    for (flag = 0; me < 2 && !flag;)
        OK(MPI_Testall(4, request, &flag, MPI_STATUSES_IGNORE));
}

OP test_any(void)
{
    POST_FOUR(8) /* MPI_Isend( MPI_Irecv( */
    for (int done = 0; me < 2 && done < 4; done += flag)
        OK(MPI_Testany(4, request, &index_, &flag, MPI_STATUS_IGNORE));
}

OP test_some(void)
{
    POST_FOUR(9) /* MPI_Isend( MPI_Irecv( */
    for (int done = 0; me < 2 && done < 4; done += n)
        OK(MPI_Testsome(4, request, &n, indices, statuses));
}

OP modes(void)
{
    static char buffer[4096];
    void *address;
    int size;

    if (me == 1)
        TIMES(3)
            OK(MPI_Irecv(data[i], 100, MPI_DOUBLE, 0, 10 + i, WORLD, &request[i]));
    PMPI_Barrier(WORLD);
    if (me == 0) {
        OK(MPI_Buffer_attach(buffer, sizeof(buffer)));
        OK(MPI_Issend(data[0], 6, MPI_DOUBLE, 1, 10, WORLD, &request[0]));
        OK(MPI_Ibsend(data[1], 7, MPI_DOUBLE, 1, 11, WORLD, &request[1]));
        OK(MPI_Irsend(data[2], 8, MPI_DOUBLE, 1, 12, WORLD, &request[2]));
    }
    if (me < 2)
        OK(MPI_Waitall(3, request, MPI_STATUSES_IGNORE));
    if (me == 0)
        OK(MPI_Buffer_detach(&address, &size));
}

OP persistent(void)
{
    MPI_Status *told[] = { statuses, MPI_STATUS_IGNORE, MPI_STATUS_IGNORE };

    if (me == 0)
        OK(MPI_Send_init(data, 9, MPI_DOUBLE, 1, 13, WORLD, request));
    if (me == 1)
        OK(MPI_Recv_init(data, 99, MPI_DOUBLE, 0, 13, WORLD, request));
    TIMES(me < 2 ? 3 : 0) {
        OK(MPI_Start(request));
        OK(MPI_Wait(request, told[i]));
    }
    if (me < 2)
        OK(MPI_Request_free(request));
}

OP start_all(void)
{
    TIMES(2) {
        if (me == 0)
            OK(MPI_Send_init(data[i], 10 + 2 * i, MPI_INT, 1, 14 + i, WORLD, &request[i]));
        if (me == 1)
            OK(MPI_Recv_init(data[i], 99, MPI_INT, 0, 14 + i, WORLD, &request[i]));
    }
    TIMES(me < 2 ? 5 : 0) {
        OK(MPI_Startall(2, request));
        OK(MPI_Waitall(2, request, MPI_STATUSES_IGNORE));
    }
    TIMES(me < 2 ? 2 : 0)
        OK(MPI_Request_free(&request[i]));
}

OP cancelled(void)
{
    int yes;

    OK(MPI_Irecv(data, 100, MPI_INT, (me + 1) % ranks, 999, WORLD, request));
    OK(MPI_Cancel(request));
    OK(MPI_Wait(request, statuses));
    PMPI_Test_cancelled(statuses, &yes);
    if (!yes)
        known_failed(__LINE__);
}

OP to_nobody(void)
{
    OK(MPI_Isend(data[0], 10, MPI_INT, MPI_PROC_NULL, 16, WORLD, &request[0]));
    OK(MPI_Irecv(data[1], 10, MPI_INT, MPI_PROC_NULL, 16, WORLD, &request[1]));
    OK(MPI_Waitall(2, request, statuses));
}

OP set_free(void)
{
    if (me == 0) {
        OK(MPI_Isend(data, 10, MPI_INT, 1, 17, WORLD, request));
        OK(MPI_Request_free(request));
    }
    if (me == 1)
        OK(MPI_Recv(data, 10, MPI_INT, 0, 17, WORLD, MPI_STATUS_IGNORE));
    PMPI_Barrier(WORLD);
}

OP peeked(void)
{
    flag = 0;
    if (me == 0)
        OK(MPI_Isend(data, 12, MPI_DOUBLE, 1, 18, WORLD, request));
    if (me == 1)
        OK(MPI_Irecv(data, 12, MPI_DOUBLE, 0, 18, WORLD, request));
    while (me < 2 && !flag)
        OK(MPI_Request_get_status(*request, &flag, MPI_STATUS_IGNORE));
    if (me < 2)
        OK(MPI_Wait(request, MPI_STATUS_IGNORE));
}

OP peeked_and_freed(void)
{
    flag = 0;
    if (me == 0)
        OK(MPI_Isend(data, 12, MPI_DOUBLE, 1, 18, WORLD, request));
    if (me == 1)
        OK(MPI_Irecv(data, 12, MPI_DOUBLE, 0, 18, WORLD, request));
    while (me < 2 && !flag)
        OK(MPI_Request_get_status(*request, &flag, MPI_STATUS_IGNORE));
    if (me < 2)
        OK(MPI_Request_free(request));
}

OP short_one(void)
{
    if (me == 1)
        OK(MPI_Irecv(data, 100, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, WORLD, request));
    if (me == 0)
        OK(MPI_Send(data, 3, MPI_INT, 1, 19, WORLD));
    if (me == 1)
        OK(MPI_Wait(request, MPI_STATUS_IGNORE));
}

static __attribute__((noinline, noclone)) void complete(void)
{
    OK(MPI_Waitall(1, request, MPI_STATUSES_IGNORE));
}

OP elsewhere(void)
{
    TIMES(2) {
        if (me == 0)
            OK(MPI_Send(data, 4, MPI_INT, 1, 20, WORLD));
        if (me == 1)
            OK(MPI_Irecv(data, 4, MPI_INT, 0, 20, WORLD, request));
        if (me == 1)
            complete();
    }
}

OP none(void)
{
    TIMES(4)
        request[i] = MPI_REQUEST_NULL;
    OK(MPI_Wait(request, MPI_STATUS_IGNORE));
    OK(MPI_Waitall(0, NULL, MPI_STATUSES_IGNORE));
    OK(MPI_Testall(4, request, &flag, statuses));
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    known_start();
    one();
    all();
    all_told();
    any();
    some();
    test_one();
    test_all();
    test_any();
    test_some();
    modes();
    persistent();
    start_all();
    cancelled();
    to_nobody();
    set_free();
    peeked();
    peeked_and_freed();
    short_one();
    elsewhere();
    none();
    OK(MPI_Finalize());
    return 0;
}
