/* Blocking point-to-point calls, each in a function of its own. Sent bytes are those of the send buffer
 * (0 to MPI_PROC_NULL), received bytes those of the message that came, not of the buffer offered.
 * What must be in the report, for rank r of P (a site that is not named here must not be there):
 *
 * @ranks 2 4
 * @ MPI_Send           contiguous    count=3*(r==0)  sent=120*(r==0)
 * @ MPI_Recv           contiguous    count=3*(r==1)  received=120*(r==1)
 * @ MPI_Send           vector        count=2*(r==0)  sent=160*(r==0)
 * @ MPI_Recv           vector        count=2*(r==1)  received=160*(r==1)
 * @ MPI_Send           to_nobody     sent=0
 * @ MPI_Recv           to_nobody     received=0
 * @ MPI_Send           any_source    count=r>0       sent=4*r
 * @ MPI_Recv           any_source    count=(P-1)*(r==0)  received=4*sum(range(P))*(r==0)
 * @ MPI_Send           empty         count=r==0      sent=0
 * @ MPI_Recv           empty         count=r==1      received=0
 * @ MPI_Send           short_one     count=r==0      sent=28*(r==0)
 * @ MPI_Recv           short_one     count=r==1      received=28*(r==1)
 * @ MPI_Bsend          buffered      count=r==0      sent=64*(r==0)
 * @ MPI_Recv           buffered      count=r==1      received=64*(r==1)
 * @ MPI_Ssend          synchronous   count=r==0      sent=72*(r==0)
 * @ MPI_Recv           synchronous   count=r==1      received=72*(r==1)
 * @ MPI_Rsend          ready         count=r==0      sent=80*(r==0)
 * @ MPI_Irecv          ready         count=r==1      received=80*(r==1)
 * @ MPI_Wait           ready         count=r==1
 * @ MPI_Sendrecv       ring          count=2         sent=2*40  received=2*40
 * @ MPI_Sendrecv       line          sent=12*(r<P-1) received=12*(r>0)
 * @ MPI_Sendrecv_replace replace     sent=100        received=100
 * @ MPI_Send           probed        count=3*(r==0)  sent=(8+16+24)*(r==0)
 * @ MPI_Probe          probed        count=r==1
 * @ MPI_Recv           probed        count=r==1      received=8*(r==1)
 * @ MPI_Mprobe         probed        count=r==1
 * @ MPI_Mrecv          probed        count=r==1      received=16*(r==1)
 * @ MPI_Improbe        probed        count=*
 * @ MPI_Imrecv         probed        count=r==1      received=24*(r==1)
 * @ MPI_Wait           probed        count=r==1
 * @ MPI_Sendrecv       with_myself   sent=36         received=36
 * @ MPI_Send           big           count=r==0      sent=3000000*(r==0)
 * @ MPI_Recv           big           count=r==1      received=3000000*(r==1)
 * @ MPI_Buffer_attach  buffered      count=r==0
 * @ MPI_Buffer_detach  buffered      count=r==0
 * @ MPI_Type_vector    vector
 * @ MPI_Type_commit    vector
 * @ MPI_Type_free      vector
 * @ MPI_Init           main
 * @ MPI_Finalize       main
 */
#include "known.h"

static char data[3000000];

OP contiguous(void)
{
    TIMES(3) {
        if (me == 0)
            OK(MPI_Send(data, 10, MPI_INT, 1, 1, WORLD));
        if (me == 1)
            OK(MPI_Recv(data, 10, MPI_INT, 0, 1, WORLD, MPI_STATUS_IGNORE));
    }
}

/* 5 blocks of 2 doubles: 80 bytes of data in 144 of memory. */
OP vector(void)
{
    MPI_Datatype type;
    MPI_Status status;

    OK(MPI_Type_vector(5, 2, 4, MPI_DOUBLE, &type));
    OK(MPI_Type_commit(&type));
    TIMES(2) {
        if (me == 0)
            OK(MPI_Send(data, 1, type, 1, 2, WORLD));
        if (me == 1)
            OK(MPI_Recv(data, 1, type, 0, 2, WORLD, &status));
    }
    OK(MPI_Type_free(&type));
}

OP to_nobody(void)
{
    OK(MPI_Send(data, 100, MPI_INT, MPI_PROC_NULL, 3, WORLD));
    OK(MPI_Recv(data, 100, MPI_INT, MPI_PROC_NULL, 3, WORLD, MPI_STATUS_IGNORE));
}

OP any_source(void)
{
    if (me > 0)
        OK(MPI_Send(data, me, MPI_INT, 0, 4, WORLD));
    for (int i = 1; me == 0 && i < ranks; i++)
        OK(MPI_Recv(data, 100, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, WORLD, MPI_STATUS_IGNORE));
    PMPI_Barrier(WORLD);
}

OP empty(void)
{
    if (me == 0)
        OK(MPI_Send(NULL, 0, MPI_INT, 1, 5, WORLD));
    if (me == 1)
        OK(MPI_Recv(NULL, 0, MPI_INT, 0, 5, WORLD, MPI_STATUS_IGNORE));
}

OP short_one(void)
{
    if (me == 0)
        OK(MPI_Send(data, 7, MPI_INT, 1, 6, WORLD));
    if (me == 1)
        OK(MPI_Recv(data, 1000, MPI_INT, 0, 6, WORLD, MPI_STATUS_IGNORE));
}

OP buffered(void)
{
    static char buffer[4096];
    void *address;
    int size;

    if (me == 0) {
        OK(MPI_Buffer_attach(buffer, sizeof(buffer)));
        OK(MPI_Bsend(data, 8, MPI_DOUBLE, 1, 7, WORLD));
    }
    if (me == 1)
        OK(MPI_Recv(data, 8, MPI_DOUBLE, 0, 7, WORLD, MPI_STATUS_IGNORE));
    if (me == 0)
        OK(MPI_Buffer_detach(&address, &size));
}

OP synchronous(void)
{
    if (me == 0)
        OK(MPI_Ssend(data, 9, MPI_DOUBLE, 1, 8, WORLD));
    if (me == 1)
        OK(MPI_Recv(data, 9, MPI_DOUBLE, 0, 8, WORLD, MPI_STATUS_IGNORE));
}

OP ready(void)
{
    MPI_Request request;

    if (me == 1)
        OK(MPI_Irecv(data, 10, MPI_DOUBLE, 0, 9, WORLD, &request));
    PMPI_Barrier(WORLD);
    if (me == 0)
        OK(MPI_Rsend(data, 10, MPI_DOUBLE, 1, 9, WORLD));
    if (me == 1)
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

OP ring(void)
{
    int next = (me + 1) % ranks, before = (me + ranks - 1) % ranks;

    TIMES(2)
        OK(MPI_Sendrecv(data, 10, MPI_INT, next, 10, data + 1000, 20, MPI_INT, before, 10, WORLD,
                        MPI_STATUS_IGNORE));
}

OP line(void)
{
    int next = me + 1 < ranks ? me + 1 : MPI_PROC_NULL, before = me ? me - 1 : MPI_PROC_NULL;
    MPI_Status status;

    OK(MPI_Sendrecv(data, 3, MPI_INT, next, 11, data + 1000, 3, MPI_INT, before, 11, WORLD, &status));
}

OP replace(void)
{
    int next = (me + 1) % ranks, before = (me + ranks - 1) % ranks;

    OK(MPI_Sendrecv_replace(data, 100, MPI_CHAR, next, 12, before, 12, WORLD, MPI_STATUS_IGNORE));
}

OP probed(void)
{
    MPI_Message message;
    MPI_Request request;
    MPI_Status status;
    int flag = 0;

    for (int i = 1; me == 0 && i <= 3; i++)
        OK(MPI_Send(data, i, MPI_DOUBLE, 1, 13, WORLD));
    if (me != 1)
        return;
    OK(MPI_Probe(0, 13, WORLD, &status));
    OK(MPI_Recv(data, 9, MPI_DOUBLE, 0, 13, WORLD, MPI_STATUS_IGNORE));
    OK(MPI_Mprobe(MPI_ANY_SOURCE, 13, WORLD, &message, MPI_STATUS_IGNORE));
    OK(MPI_Mrecv(data, 9, MPI_DOUBLE, &message, MPI_STATUS_IGNORE));
    while (!flag)
        OK(MPI_Improbe(0, 13, WORLD, &flag, &message, &status));
    OK(MPI_Imrecv(data, 9, MPI_DOUBLE, &message, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

OP with_myself(void)
{
    OK(MPI_Sendrecv(data, 9, MPI_INT, 0, 14, data + 1000, 9, MPI_INT, 0, 14, MPI_COMM_SELF, MPI_STATUS_IGNORE));
}

OP big(void) /* beyond any eager limit */
{
    if (me == 0)
        OK(MPI_Send(data, 3000000, MPI_BYTE, 1, 15, WORLD));
    if (me == 1)
        OK(MPI_Recv(data, 3000000, MPI_BYTE, 0, 15, WORLD, MPI_STATUS_IGNORE));
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    known_start();
    contiguous();
    vector();
    to_nobody();
    any_source();
    empty();
    short_one();
    buffered();
    synchronous();
    ready();
    ring();
    line();
    replace();
    probed();
    with_myself();
    big();
    OK(MPI_Finalize());
    return 0;
}
