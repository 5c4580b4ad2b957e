/* Prints all that an application can see of MPI: results, statuses, return codes also of calls that fail
 * under MPI_ERRORS_RETURN, errno, what callbacks are called with, its arguments. The output and the exit
 * status must be the same, byte for byte, with and without fvmpi. argv[1] is the exit
 * status of rank 0.
 *
 * Rank 0 prints the text of all ranks in order, so that the output does not depend on the launcher.
 */
#include "known.h"

#include <errno.h>
#include <stdarg.h>

#define ROOM 60000
static char text[ROOM];
static size_t used;

static __attribute__((format(printf, 1, 2))) void say(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    used += (size_t)vsnprintf(text + used, ROOM - used, format, args);
    va_end(args);
}

static void say_code(const char *what, int code)
{
    int class = -1;

    PMPI_Error_class(code, &class);
    say("%d: %s -> %s, class %d\n", me, what, code == MPI_SUCCESS ? "success" : "error", class);
}
#define TRY(call) say_code(#call, call)

static void say_status(const char *what, const MPI_Status *s)
{
    int bytes = -7, cancelled = -7;

    MPI_Get_count(s, MPI_BYTE, &bytes);
    MPI_Test_cancelled(s, &cancelled);
    say("%d: %s: source %d tag %d error %d bytes %d cancelled %d\n", me, what, s->MPI_SOURCE, s->MPI_TAG,
        s->MPI_ERROR, bytes, cancelled);
}

static MPI_Status fresh(void)
{
    MPI_Status s;

    memset(&s, 0, sizeof(s));
    s.MPI_ERROR = 4711;
    return s;
}

static int data[100];

static void point_to_point(void)
{
    int next = (me + 1) % ranks, before = (me + ranks - 1) % ranks;
    MPI_Status s = fresh(), both[2] = { fresh(), fresh() };
    MPI_Request r[2];
    int flag = -1, index = -1, n = -1, indices[2] = { -1, -1 };

    TRY(MPI_Sendrecv(data, 5, MPI_INT, next, 11, data + 50, 20, MPI_INT, before, 11, WORLD, &s));
    say_status("Sendrecv", &s);
    s = fresh();
    TRY(MPI_Recv(data, 5, MPI_INT, MPI_PROC_NULL, 1, WORLD, &s));
    say_status("from nobody", &s);
    s = fresh();
    TRY(MPI_Irecv(data, 9, MPI_INT, before, 12, WORLD, &r[0]));
    TRY(MPI_Isend(data + 50, 3, MPI_INT, next, 12, WORLD, &r[1]));
    TRY(MPI_Waitall(2, r, both));
    say_status("Waitall[0]", &both[0]);
    say("%d: requests null %d %d\n", me, r[0] == MPI_REQUEST_NULL, r[1] == MPI_REQUEST_NULL);
    s = fresh();
    TRY(MPI_Wait(&r[0], &s));
    say_status("Wait on null", &s);
    TRY(MPI_Testsome(2, r, &n, indices, both));
    say("%d: Testsome on null: undefined %d\n", me, n == MPI_UNDEFINED);
    TRY(MPI_Waitany(2, r, &index, &s));
    say("%d: Waitany on null: undefined %d\n", me, index == MPI_UNDEFINED);
    TRY(MPI_Testall(2, r, &flag, MPI_STATUSES_IGNORE));
    say("%d: Testall on null: %d\n", me, flag);
    TRY(MPI_Iprobe(before, 13, WORLD, &flag, &s));
    say("%d: Iprobe %d\n", me, flag);
    TRY(MPI_Recv_init(data, 9, MPI_INT, before, 14, WORLD, &r[0]));
    TRY(MPI_Start(&r[0]));
    TRY(MPI_Send(data + 50, 4, MPI_INT, next, 14, WORLD));
    TRY(MPI_Wait(&r[0], &s));
    say_status("persistent", &s);
    say("%d: still there %d\n", me, r[0] != MPI_REQUEST_NULL);
    TRY(MPI_Request_free(&r[0]));
    TRY(MPI_Irecv(data, 1, MPI_INT, before, 99, WORLD, &r[0]));
    TRY(MPI_Cancel(&r[0]));
    TRY(MPI_Wait(&r[0], &s));
    MPI_Test_cancelled(&s, &flag);
    say("%d: cancelled %d\n", me, flag);
}

static void errors(void)
{
    MPI_Comm none = MPI_COMM_NULL;
    MPI_Status s = fresh(), both[2] = { fresh(), fresh() };
    MPI_Request r[2];
    int next = (me + 1) % ranks, before = (me + ranks - 1) % ranks;

    MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    TRY(MPI_Send(data, 1, MPI_INT, ranks + 5, 1, WORLD));
    TRY(MPI_Send(data, -1, MPI_INT, 0, 1, WORLD));
    TRY(MPI_Send(data, 1, MPI_DATATYPE_NULL, 0, 1, WORLD));
    TRY(MPI_Send(data, 1, MPI_INT, 0, -5, WORLD));
    TRY(MPI_Isend(data, 1, MPI_INT, ranks + 5, 1, WORLD, &r[0]));
    TRY(MPI_Irecv(data, 1, MPI_INT, ranks + 5, 1, WORLD, &r[0]));
    TRY(MPI_Bcast(data, 1, MPI_INT, ranks + 5, WORLD));
    TRY(MPI_Reduce(data, data + 9, 1, MPI_INT, MPI_OP_NULL, 0, WORLD));
    TRY(MPI_Comm_free(&none));
    TRY(MPI_Comm_split(WORLD, -77, 0, &none));
    TRY(MPI_Recv_init(data, 1, MPI_INT, ranks + 5, 1, WORLD, &r[0]));
    /* 10 integers into a buffer of 2, by Recv and by Waitall */
    TRY(MPI_Isend(data, 10, MPI_INT, next, 21, WORLD, &r[0]));
    int code = MPI_Recv(data + 50, 2, MPI_INT, before, 21, WORLD, &s);
    say_code("truncated", code);
    say("%d: truncated from %d tag %d\n", me, s.MPI_SOURCE, s.MPI_TAG);
    TRY(MPI_Wait(&r[0], MPI_STATUS_IGNORE));
#ifndef OPEN_MPI /* 4.1 hangs: the posted receive that is truncated takes the next message with it */
    TRY(MPI_Irecv(data + 50, 2, MPI_INT, before, 22, WORLD, &r[0]));
    TRY(MPI_Irecv(data + 60, 9, MPI_INT, before, 23, WORLD, &r[1]));
    PMPI_Barrier(WORLD);
    TRY(MPI_Send(data, 10, MPI_INT, next, 22, WORLD));
    TRY(MPI_Send(data, 4, MPI_INT, next, 23, WORLD));
    TRY(MPI_Waitall(2, r, both));
    say_code("status of the truncated one", both[0].MPI_ERROR);
    say_code("status of the good one", both[1].MPI_ERROR);
    say_status("the good one", &both[1]);
#else
    (void)both;
#endif
    MPI_Comm_set_errhandler(WORLD, MPI_ERRORS_ARE_FATAL);
}

static void collectives(void)
{
    double mine = me + 1, sum = 0, all[16] = { 0 };

    TRY(MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, WORLD));
    TRY(MPI_Allgather(&mine, 1, MPI_DOUBLE, all, 1, MPI_DOUBLE, WORLD));
    TRY(MPI_Scan(MPI_IN_PLACE, &mine, 1, MPI_DOUBLE, MPI_SUM, WORLD));
    TRY(MPI_Reduce(me ? &mine : MPI_IN_PLACE, &mine, 1, MPI_DOUBLE, MPI_PROD, 0, WORLD));
    say("%d: %.17g %.17g %.17g\n", me, sum, all[ranks - 1], me ? 0 : mine);
}

/* ---- call-backs, which call MPI themselves ---- */

static int deleted(MPI_Comm comm, int keyval, void *value, void *state)
{
    int size = -1;
    (void)state;

    MPI_Comm_size(comm, &size);
    say("%d: deleted attribute %d of a communicator of %d\n", me, *(int *)value, size);
    return keyval == MPI_KEYVAL_INVALID ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static int op_calls;
static void maximum(void *in, void *inout, int *n, MPI_Datatype *type)
{
    int bytes = 0;

    MPI_Type_size(*type, &bytes);
    op_calls += bytes == 4;
    for (int i = 0; i < *n; i++)
        if (((int *)in)[i] > ((int *)inout)[i])
            ((int *)inout)[i] = ((int *)in)[i];
}

static void handler(MPI_Comm *comm, int *code, ...)
{
    int rank = -1, class = -1;

    MPI_Comm_rank(*comm, &rank);
    MPI_Error_class(*code, &class);
    say("%d: handler called, rank %d, class %d\n", me, rank, class);
}

static void callbacks(void)
{
    static int seven = 7;
    MPI_Errhandler errhandler;
    MPI_Comm comm;
    MPI_Op op;
    int keyval, in = me * 3, out = -1, flag = -1, *value = NULL;

    TRY(MPI_Comm_dup(WORLD, &comm));
    TRY(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, deleted, &keyval, NULL));
    TRY(MPI_Comm_set_attr(comm, keyval, &seven));
    TRY(MPI_Comm_get_attr(comm, keyval, &value, &flag));
    say("%d: attribute %d %d\n", me, flag, *value);
    TRY(MPI_Op_create(maximum, 1, &op));
    TRY(MPI_Allreduce(&in, &out, 1, MPI_INT, op, comm));
    say("%d: maximum %d, called %d\n", me, out, op_calls > 0 || ranks == 1);
    TRY(MPI_Op_free(&op));
    TRY(MPI_Comm_create_errhandler(handler, &errhandler));
    TRY(MPI_Comm_set_errhandler(comm, errhandler));
    TRY(MPI_Send(&in, 1, MPI_INT, ranks + 9, 1, comm));
    TRY(MPI_Errhandler_free(&errhandler));
    TRY(MPI_Comm_free(&comm));
    TRY(MPI_Comm_free_keyval(&keyval));
}

/* Calls from 150 stack depths: our growing must not be seen in errno. */
static __attribute__((noinline, noclone)) int deep(int n)
{
    int rank, changed = 0;

    errno = 123;
    MPI_Comm_rank(MPI_COMM_SELF, &rank);
    changed += errno != 123;
    errno = 123;
    MPI_Send(data, 1, MPI_INT, MPI_PROC_NULL, 1, WORLD);
    changed += errno != 123;
    errno = 123;
    MPI_Recv(data, 1, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    changed += errno != 123;
    return changed + (n ? deep(n - 1) : 0);
}

int main(int argc, char **argv)
{
    int code = argc > 1 ? atoi(argv[1]) : 0, flag = -1, provided = -1, result;
    static char all[16 * ROOM];

    result = MPI_Initialized(&flag);
    say("initialized %d %d\n", result, flag);
    result = MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
    known_start();
    say("%d: Init_thread %d provides %d\n", me, result, provided);
    for (int i = 1; i < argc; i++)
        say("%d: argument <%s>\n", me, argv[i]);
    for (int i = 0; i < 100; i++)
        data[i] = me * 1000 + i;
    point_to_point();
    collectives();
    errors();
    callbacks();
    say("%d: errno changed %d times\n", me, deep(150));
    for (int i = 0; i < 100; i++)
        say("%d%s", data[i], i % 10 == 9 ? "\n" : " ");
    PMPI_Gather(text, ROOM, MPI_CHAR, all, ROOM, MPI_CHAR, 0, WORLD);
    result = MPI_Finalize();
    MPI_Finalized(&flag);
    for (int i = 0; me == 0 && i < ranks; i++)
        fputs(all + (size_t)i * ROOM, stdout);
    if (me == 0)
        printf("Finalize %d %d\n", result, flag);
    return me ? 0 : code; /* another rank that ends first with an error would have the launcher kill rank 0 */
}
