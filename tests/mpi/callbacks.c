/* Functions of the application that MPI calls, and that call MPI again. What they call belongs to the call
 * that MPI is in: that one is counted, once and with all its time, and calls inside are forwarded and not
 * counted. What they change must be right all the same. Of each rank:
 *
 *     attributes   a copy function that reduces and takes 20 ms, a delete function that waits for all
 *                  MPI_Comm_dup 2 (one with the attribute), MPI_Comm_free 2, MPI_Comm_set_attr 1,
 * _delete_attr 1 operators    an operator that asks MPI: MPI_Allreduce 3 handlers     of a communicator, a
 * window, a file: MPI_Send 4, MPI_Put 1, MPI_File_seek 1, all in error thrown       a handler that leaves by
 * longjmp(): MPI_Recv 3 (of which none returns and none is counted); after that MPI_Barrier in shallow 2 and
 * in deep 3, in frames below the one that was left generalized  query, free and cancel functions that ask
 * MPI: MPI_Grequest_start 2, _complete 2, MPI_Wait 2 kept         a communicator that a copy function made,
 * used outside: MPI_Sendrecv 2, 4 bytes each finish       delete functions of MPI_COMM_SELF that communicate
 * while MPI_Finalize runs: MPI_Finalize 1
 */
#include "known.h"

#include <setjmp.h>
#include <stdint.h>

static int called[8];
enum { COPIED, DELETED, REDUCED, HANDLED, THROWN, QUERIED, FREED, CANCELLED };

static void inside(MPI_Comm comm)
{
    int one = 1, sum = 0, size = 0, flag = 0;

    MPI_Comm_size(comm, &size);
    MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
    MPI_Barrier(comm);
    MPI_Iprobe(MPI_ANY_SOURCE, 77, comm, &flag, MPI_STATUS_IGNORE);
    if (sum != size || flag)
        known_failed(__LINE__);
}

/* ---- attributes ---- */

static MPI_Comm kept_comm = MPI_COMM_NULL;

static int copy(MPI_Comm comm, int keyval, void *state, void *value, void *out, int *flag)
{
    (void)keyval, (void)state;
    inside(comm);
    usleep(20000);
    if (kept_comm == MPI_COMM_NULL)
        PMPI_Comm_dup(MPI_COMM_WORLD, &kept_comm);
    *(void **)out = value;
    *flag = 1;
    called[COPIED]++;
    return MPI_SUCCESS;
}

static int delete (MPI_Comm comm, int keyval, void *value, void *state)
{
    (void)keyval, (void)value, (void)state, (void)comm;
    inside(WORLD);
    called[DELETED]++;
    return MPI_SUCCESS;
}

OP attributes(void)
{
    static int value;
    MPI_Comm with, without;
    int keyval;

    OK(MPI_Comm_dup(WORLD, &without));
    OK(MPI_Comm_create_keyval(copy, delete, &keyval, NULL));
    OK(MPI_Comm_set_attr(without, keyval, &value));
    OK(MPI_Comm_dup(without, &with));
    OK(MPI_Comm_delete_attr(with, keyval));
    OK(MPI_Comm_free(&with));
    OK(MPI_Comm_free(&without)); /* deletes the other */
    OK(MPI_Comm_free_keyval(&keyval));
}

/* A communicator that fvmpi first sees in use. */
OP kept(void)
{
    int out = me, in = -1, other = me ^ 1;

    if (other >= ranks)
        other = me;
    TIMES(2)
    OK(MPI_Sendrecv(&out, 1, MPI_INT, other, 1, &in, 1, MPI_INT, other, 1, kept_comm, MPI_STATUS_IGNORE));
    if (in != other)
        known_failed(__LINE__);
    OK(MPI_Comm_free(&kept_comm));
}

/* ---- operators ---- */

static void add(void *in, void *inout, int *n, MPI_Datatype *type)
{
    int bytes = 0, rank = -1;

    MPI_Type_size(*type, &bytes);
    MPI_Comm_rank(WORLD, &rank);
    if (bytes != 8 || rank != me)
        known_failed(__LINE__);
    for (int i = 0; i < *n; i++)
        ((double *)inout)[i] += ((double *)in)[i];
    called[REDUCED]++;
}

OP operators(void)
{
    double one = 1, sum = 0;
    MPI_Op op;

    OK(MPI_Op_create(add, 1, &op));
    TIMES(3)
    OK(MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, op, WORLD));
    OK(MPI_Op_free(&op));
    if (sum != ranks)
        known_failed(__LINE__);
}

/* ---- error handlers ---- */

static void handle_comm(MPI_Comm *comm, int *code, ...)
{
    char text[MPI_MAX_ERROR_STRING];
    int n;

    MPI_Error_string(*code, text, &n);
    inside(*comm == WORLD ? MPI_COMM_SELF : *comm);
    called[HANDLED]++;
}

static void handle_win(MPI_Win *win, int *code, ...)
{
    int class;
    (void)win;

    MPI_Error_class(*code, &class);
    inside(MPI_COMM_SELF);
    called[HANDLED]++;
}

static void handle_file(MPI_File *file, int *code, ...)
{
    int class;
    (void)file;

    MPI_Error_class(*code, &class);
    inside(MPI_COMM_SELF);
    called[HANDLED]++;
}

OP handlers(void)
{
    MPI_Errhandler on_comm, on_win, on_file;
    char name[] = "/tmp/fvmpi-callbacks-XXXXXX";
    MPI_Comm comm;
    MPI_Win win;
    MPI_File file;
    int *memory;

    OK(PMPI_Alloc_mem(4096, MPI_INFO_NULL, &memory));
    OK(MPI_Comm_dup(MPI_COMM_SELF, &comm));
    OK(MPI_Comm_create_errhandler(handle_comm, &on_comm));
    OK(MPI_Comm_set_errhandler(comm, on_comm));
    TIMES(4)
    if (MPI_Send(memory, 1, MPI_INT, 99, 1, comm) == MPI_SUCCESS)
        known_failed(__LINE__);
    OK(MPI_Win_create(memory, 4096, 4, MPI_INFO_NULL, WORLD, &win));
    OK(MPI_Win_create_errhandler(handle_win, &on_win));
    OK(MPI_Win_set_errhandler(win, on_win));
    OK(MPI_Win_fence(0, win));
    if (MPI_Put(memory, 1, MPI_INT, 99, 0, 1, MPI_INT, win) == MPI_SUCCESS)
        known_failed(__LINE__);
    OK(MPI_Win_fence(0, win));
    OK(MPI_Win_free(&win));
    int fd = mkstemp(name);
    OK(MPI_File_open(comm, name, MPI_MODE_RDWR, MPI_INFO_NULL, &file));
    OK(MPI_File_create_errhandler(handle_file, &on_file));
    OK(MPI_File_set_errhandler(file, on_file));
    if (MPI_File_seek(file, -5, MPI_SEEK_SET) == MPI_SUCCESS)
        known_failed(__LINE__);
    OK(MPI_File_close(&file));
    close(fd);
    unlink(name);
    OK(MPI_Errhandler_free(&on_comm));
    OK(MPI_Errhandler_free(&on_win));
    OK(MPI_Errhandler_free(&on_file));
    OK(MPI_Comm_free(&comm));
}

static jmp_buf back;

static void throw(MPI_Comm * comm, int *code, ...)
{
    (void)comm, (void)code;
    inside(MPI_COMM_SELF);
    called[THROWN]++;
    longjmp(back, 1);
}

OP wrong(MPI_Comm comm)
{
    int x;

    if (!setjmp(back)) {
        MPI_Recv(&x, 1, MPI_INT, 99, 1, comm, MPI_STATUS_IGNORE);
        known_failed(__LINE__);
    }
}

OP shallow(void)
{
    TIMES(2)
    OK(MPI_Barrier(WORLD));
}

/* Below the frame of the call that was left, whose stack is used for other things now. */
OP deep(void)
{
    volatile char room[20000];

    for (size_t i = 0; i < sizeof(room); i++)
        room[i] = 1;
    TIMES(3 * room[7])
    OK(MPI_Barrier(WORLD));
}

OP thrown(void)
{
    MPI_Errhandler handler;
    MPI_Comm comm;

    PMPI_Comm_dup(MPI_COMM_SELF, &comm);
    PMPI_Comm_create_errhandler(throw, &handler);
    PMPI_Comm_set_errhandler(comm, handler);
    wrong(comm);
    deep();
    wrong(comm);
    shallow();
    wrong(comm);
    PMPI_Comm_free(&comm);
    PMPI_Errhandler_free(&handler);
}

/* ---- generalised requests ---- */

static int query(void *state, MPI_Status *status)
{
    (void)state;
    MPI_Status_set_elements(status, MPI_BYTE, 5);
    MPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = MPI_UNDEFINED;
    status->MPI_TAG = MPI_UNDEFINED;
    inside(MPI_COMM_SELF);
    called[QUERIED]++;
    return MPI_SUCCESS;
}

static int release(void *state)
{
    (void)state;
    inside(MPI_COMM_SELF);
    called[FREED]++;
    return MPI_SUCCESS;
}

static int cancel(void *state, int complete)
{
    (void)state, (void)complete;
    inside(MPI_COMM_SELF);
    called[CANCELLED]++;
    return MPI_SUCCESS;
}

OP generalized(void)
{
    TIMES(2)
    {
        MPI_Request r;

        OK(MPI_Grequest_start(query, release, cancel, NULL, &r));
        OK(MPI_Cancel(&r));
        OK(MPI_Grequest_complete(r));
        OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    }
}

/* ---- the end ---- */

static int at_end(MPI_Comm comm, int keyval, void *value, void *state)
{
    (void)comm, (void)keyval, (void)state;
    inside(WORLD);
    if (me == 0)
        printf("at the end %d\n", (int)(intptr_t)value);
    return MPI_SUCCESS;
}

OP finish(void)
{
    for (intptr_t i = 1; i <= 3; i++) {
        int keyval;

        PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_end, &keyval, NULL);
        PMPI_Comm_set_attr(MPI_COMM_SELF, keyval, (void *)i);
    }
    OK(MPI_Finalize());
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    known_start();
    attributes();
    kept();
    operators();
    handlers();
    thrown();
    generalized();
    PMPI_Allreduce(MPI_IN_PLACE, &called[REDUCED], 1, MPI_INT, MPI_SUM, WORLD); /* not all ranks need add */
    if (me == 0)
        printf(
            "copied %d, deleted %d, reduced %s, handled %d, thrown %d, queried %d, freed %d, cancelled %d\n",
            called[COPIED], called[DELETED], called[REDUCED] ? "yes" : "no", called[HANDLED], called[THROWN],
            called[QUERIED], called[FREED], called[CANCELLED]);
    finish();
    return 0;
}
