/* Calls that fail, on communicators, windows and files whose error handler returns, and under handlers of the
 * application's own: prints every code as a number, its class, errno, what the handler was given, and the
 * requests and statuses afterwards. The output must be the same, byte for byte, without fvmpi, with it, and
 * paused: where fvmpi asked MPI about a bad argument, MPICH's codes, which count the errors, would differ.
 * Receives are followed meanwhile, so that fvmpi looks at requests; arguments may be garbage.
 */
#include "known.h"

#include <errno.h>
#include <stdarg.h>

static char text[200000];
static size_t used;

static __attribute__((format(printf, 1, 2))) void say(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    used += (size_t)vsnprintf(text + used, sizeof(text) - used, format, args);
    va_end(args);
}

/* MPICH's codes hold a class, a message, a place in its ring of errors, and in five more bits a number that
 * differs from run to run. */
static int stable(int code)
{
#ifdef OPEN_MPI
    return code;
#else
    return code & 0x3ffffff;
#endif
}

static void say_code(const char *what, int code)
{
    int class = -1, saved = errno;

    PMPI_Error_class(code, &class);
    say("%s -> %d, class %d, errno %d\n", what, stable(code), class, saved);
}
#define TRY(call)                                                                                            \
    do {                                                                                                     \
        errno = 77;                                                                                          \
        int code_ = (call);                                                                                  \
        say_code(#call, code_);                                                                              \
    } while (0)

static void say_status(const char *what, const MPI_Status *s)
{
    int bytes = -7;

    PMPI_Get_count(s, MPI_BYTE, &bytes);
    say("%s: source %d tag %d error %d bytes %d\n", what, s->MPI_SOURCE, s->MPI_TAG, stable(s->MPI_ERROR),
        bytes);
}

static void fresh(MPI_Status *s, int n)
{
    memset(s, 0, (size_t)n * sizeof(*s));
    for (int i = 0; i < n; i++)
        s[i].MPI_ERROR = 4711;
}

static int data[100], more[100];
static MPI_Comm comm;

static void point_to_point(void)
{
    MPI_Status s;
    MPI_Request r = MPI_REQUEST_NULL;
    int flag = 5;
    int *volatile nowhere = NULL;

    fresh(&s, 1);
    TRY(MPI_Send(data, 1, MPI_INT, 0, 1, MPI_COMM_NULL));
    TRY(MPI_Send(data, -1, MPI_INT, 0, 1, comm));
    TRY(MPI_Send(data, 1, MPI_INT, ranks, 1, comm));
    TRY(MPI_Send(data, 1, MPI_INT, -77, 1, comm));
    TRY(MPI_Send(data, 1, MPI_INT, 0, -5, comm));
    TRY(MPI_Send(data, 1, MPI_INT, 0, MPI_ANY_TAG, comm));
    TRY(MPI_Send(data, 1, MPI_DATATYPE_NULL, 0, 1, comm));
    TRY(MPI_Ssend(data, 1, MPI_INT, 99, 1, comm));
    TRY(MPI_Rsend(data, 1, MPI_INT, 99, 1, comm));
    TRY(MPI_Recv(data, -1, MPI_INT, 0, 1, comm, &s));
    TRY(MPI_Recv(data, 1, MPI_INT, 99, 1, comm, MPI_STATUS_IGNORE));
    TRY(MPI_Recv(data, 1, MPI_INT, 0, -9, comm, &s));
    TRY(MPI_Sendrecv(data, 1, MPI_INT, 99, 1, more, 1, MPI_INT, 0, 1, comm, MPI_STATUS_IGNORE));
    TRY(MPI_Sendrecv_replace(data, -1, MPI_INT, 0, 1, 0, 1, comm, &s));
    TRY(MPI_Isend(data, 1, MPI_INT, 99, 1, comm, &r));
    TRY(MPI_Isend(data, -1, MPI_INT, 0, 1, comm, &r));
    TRY(MPI_Irecv(data, 1, MPI_INT, 99, 1, comm, &r));
    TRY(MPI_Irecv(data, 1, MPI_DATATYPE_NULL, 0, 1, comm, &r));
    TRY(MPI_Irecv(data, 1, MPI_INT, 0, 1, MPI_COMM_NULL, &r));
    TRY(MPI_Send_init(data, 1, MPI_INT, 99, 1, comm, &r));
    TRY(MPI_Recv_init(data, -1, MPI_INT, 0, 1, comm, &r));
    TRY(MPI_Probe(99, 1, comm, &s));
    TRY(MPI_Iprobe(99, 1, comm, &flag, MPI_STATUS_IGNORE));
    TRY(MPI_Isend(data, 1, MPI_INT, 0, 1, comm, (MPI_Request *)nowhere));
    say("request null %d, flag %d\n", r == MPI_REQUEST_NULL, flag);
    say_status("untouched", &s);
}

static void collective(void)
{
    MPI_Request r = MPI_REQUEST_NULL;
    int counts[16] = { 1, -1 }, starts[16] = { 0 };
    int *volatile nowhere = NULL;

    TRY(MPI_Barrier(MPI_COMM_NULL));
    TRY(MPI_Bcast(data, 1, MPI_INT, 99, comm));
    TRY(MPI_Bcast(data, -1, MPI_INT, 0, comm));
    TRY(MPI_Reduce(data, more, 1, MPI_INT, MPI_OP_NULL, 0, comm));
    TRY(MPI_Reduce(data, more, 1, MPI_INT, MPI_SUM, -3, comm));
    TRY(MPI_Allreduce(data, more, 1, MPI_DATATYPE_NULL, MPI_SUM, comm));
    TRY(MPI_Gather(data, 1, MPI_INT, more, 1, MPI_INT, 99, comm));
    TRY(MPI_Scatter(data, 1, MPI_INT, more, 1, MPI_INT, 99, comm));
    TRY(MPI_Gatherv(data, 1, MPI_INT, more, counts, starts, MPI_INT, 99, comm));
    TRY(MPI_Scatterv(data, counts, starts, MPI_INT, more, 1, MPI_INT, 99, comm));
    TRY(MPI_Allgather(data, -1, MPI_INT, more, 1, MPI_INT, comm));
    TRY(MPI_Allgatherv(data, -1, MPI_INT, more, nowhere, nowhere, MPI_INT, comm));
    TRY(MPI_Alltoall(data, -1, MPI_INT, more, 1, MPI_INT, comm));
    TRY(MPI_Alltoallv(data, counts, starts, MPI_INT, more, counts, starts, MPI_DATATYPE_NULL, comm));
    TRY(MPI_Exscan(data, more, 1, MPI_INT, MPI_OP_NULL, comm));
    TRY(MPI_Ibcast(data, 1, MPI_INT, 99, comm, &r));
    TRY(MPI_Ibarrier(MPI_COMM_NULL, &r));
    TRY(MPI_Iallreduce(data, more, 1, MPI_INT, MPI_OP_NULL, comm, &r));
    TRY(MPI_Neighbor_allgather(data, 1, MPI_INT, more, 1, MPI_INT, comm));
}

static void objects(void)
{
    MPI_Comm out = MPI_COMM_NULL, none = MPI_COMM_NULL, world = MPI_COMM_WORLD;
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Group group = MPI_GROUP_NULL;
    int dims[1] = { 99 }, periods[1] = { 0 }, flag = 3, *value = NULL;
    int *volatile nowhere = NULL;

    TRY(MPI_Comm_dup(MPI_COMM_NULL, &out));
    TRY(MPI_Comm_split(comm, -77, 0, &out));
    TRY(MPI_Comm_free(&none));
    TRY(MPI_Comm_free(&world));
    TRY(MPI_Comm_disconnect(&none));
    TRY(MPI_Comm_create(comm, MPI_GROUP_NULL, &out));
    TRY(MPI_Comm_rank(MPI_COMM_NULL, &flag));
    TRY(MPI_Comm_size(comm, nowhere));
    TRY(MPI_Comm_remote_size(comm, &flag));
    TRY(MPI_Comm_get_attr(comm, MPI_KEYVAL_INVALID, &value, &flag));
    TRY(MPI_Comm_set_name(MPI_COMM_NULL, "x"));
    TRY(MPI_Cart_create(comm, 1, dims, periods, 0, &out));
    TRY(MPI_Cart_coords(comm, 0, 1, dims));
    TRY(MPI_Intercomm_create(comm, 99, MPI_COMM_WORLD, 0, 1, &out));
    TRY(MPI_Group_free(&group));
    TRY(MPI_Type_free(&type));
    TRY(MPI_Type_contiguous(-1, MPI_INT, &type));
    TRY(MPI_Type_commit(&type));
    TRY(MPI_Errhandler_free((MPI_Errhandler *)nowhere));
    say("flag %d, comm null %d, world %d\n", flag, out == MPI_COMM_NULL, world == MPI_COMM_WORLD);
}

/* ---- requests; a receive that never completes stays followed all the time ---- */

static void requests(void)
{
    MPI_Request r[3] = { MPI_REQUEST_NULL, MPI_REQUEST_NULL, MPI_REQUEST_NULL }, waiting, persistent;
    MPI_Status s[3];
    int index = -9, flag = -9, n = -9, indices[3] = { -9, -9, -9 };
    int *volatile nowhere = NULL;

    fresh(s, 3);
    PMPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    TRY(MPI_Irecv(data, 1, MPI_INT, 0, 500, MPI_COMM_SELF, &waiting));
    r[1] = waiting;
    TRY(MPI_Wait((MPI_Request *)nowhere, s));
    TRY(MPI_Test(r, nowhere, s));
    TRY(MPI_Test(&r[1], nowhere, s));
    TRY(MPI_Waitall(-1, r, s));
    TRY(MPI_Waitall(3, (MPI_Request *)nowhere, s));
    TRY(MPI_Testall(3, r, nowhere, s));
    TRY(MPI_Waitany(-1, r, &index, s));
    TRY(MPI_Waitany(3, r, nowhere, s));
    TRY(MPI_Testany(3, r, nowhere, &flag, s));
    TRY(MPI_Testany(3, r, &index, nowhere, s));
    TRY(MPI_Waitsome(-1, r, &n, indices, s));
    TRY(MPI_Waitsome(3, r, nowhere, indices, s));
    TRY(MPI_Testsome(3, r, &n, nowhere, s));
    TRY(MPI_Testsome(3, r, &n, indices, MPI_STATUSES_IGNORE));
    say("n %d, indices %d %d %d\n", n, indices[0], indices[1], indices[2]);
    TRY(MPI_Testany(3, r, &index, &flag, MPI_STATUS_IGNORE));
    say("index %d, flag %d\n", index, flag);
    TRY(MPI_Request_free(&r[0]));
    TRY(MPI_Request_free((MPI_Request *)nowhere));
    TRY(MPI_Cancel(&r[0]));
    TRY(MPI_Start(&r[0]));
    TRY(MPI_Startall(-1, r));
#ifndef OPEN_MPI /* 4.1 starts what is not persistent or is active, and never completes it */
    TRY(MPI_Start(&waiting));
#endif
    TRY(MPI_Recv_init(data, 1, MPI_INT, 0, 501, MPI_COMM_SELF, &persistent));
    TRY(MPI_Wait(&persistent, s));
    TRY(MPI_Start(&persistent));
#ifndef OPEN_MPI
    TRY(MPI_Start(&persistent));
#endif
    TRY(MPI_Cancel(&persistent));
    TRY(MPI_Wait(&persistent, MPI_STATUS_IGNORE));
    TRY(MPI_Request_free(&persistent));
    TRY(MPI_Cancel(&waiting));
    TRY(MPI_Wait(&waiting, MPI_STATUS_IGNORE));
    for (int i = 0; i < 3; i++)
        say_status("untouched", &s[i]);
}

/* ---- messages that do not fit: one of three, in each way to complete them ---- */

enum { WAIT, TEST, WAITALL, TESTALL, WAITANY, TESTANY, WAITSOME, TESTSOME, WAYS };

static void truncated(int way, int ignore)
{
    static const int length[3] = { 4, 10, 6 };
    MPI_Request send[3], r[3];
    MPI_Status own[3], *s = ignore ? MPI_STATUSES_IGNORE : own, *one = ignore ? MPI_STATUS_IGNORE : own;
    int flag = 0, index = -9, n = 0, done = 0, indices[3] = { -9, -9, -9 };

    fresh(own, 3);
    say("way %d, statuses %s\n", way, ignore ? "ignored" : "seen");
    for (int i = 0; i < 3; i++)
        OK(MPI_Isend(data, length[i], MPI_INT, 0, 600 + i, MPI_COMM_SELF, &send[i]));
    for (int i = 0; i < 3; i++)
        TRY(MPI_Irecv(more + 10 * i, 7, MPI_INT, 0, 600 + i, MPI_COMM_SELF, &r[i]));
    switch (way) {
    case WAIT:
        for (int i = 0; i < 3; i++)
            TRY(MPI_Wait(&r[i], ignore ? MPI_STATUS_IGNORE : &own[i]));
        break;
    case TEST:
        for (int i = 0; i < 3; i++)
            TRY(MPI_Test(&r[i], &flag, ignore ? MPI_STATUS_IGNORE : &own[i]));
        break;
    case WAITALL: TRY(MPI_Waitall(3, r, s)); break;
    case TESTALL: TRY(MPI_Testall(3, r, &flag, s)); break;
    case WAITANY:
    case TESTANY:
        for (int i = 0; i < 3; i++) {
            if (way == WAITANY)
                TRY(MPI_Waitany(3, r, &index, one));
            else
                TRY(MPI_Testany(3, r, &index, &flag, one));
            say("index %d, flag %d\n", index, flag);
        }
        break;
    case WAITSOME:
    case TESTSOME:
        for (int tries = 0; done < 3 && tries<3; tries++, done += n> 0 ? n : 0) {
            if (way == WAITSOME)
                TRY(MPI_Waitsome(3, r, &n, indices, s));
            else
                TRY(MPI_Testsome(3, r, &n, indices, s));
            say("%d: %d %d %d\n", n, indices[0], indices[1], indices[2]);
        }
        break;
    }
    for (int i = 0; i < 3; i++) {
        say("null %d\n", r[i] == MPI_REQUEST_NULL);
        say_status("status", &own[i]);
    }
    TRY(MPI_Waitall(3, send, MPI_STATUSES_IGNORE));
    for (int i = 0; i < 3; i++)
        if (r[i] != MPI_REQUEST_NULL)
            TRY(MPI_Wait(&r[i], MPI_STATUS_IGNORE));
}

/* ---- windows and files ---- */

static void windows(void)
{
    MPI_Win win = MPI_WIN_NULL, out = MPI_WIN_NULL;
    int *memory;

    TRY(MPI_Win_create(data, -5, 4, MPI_INFO_NULL, comm, &out));
    TRY(MPI_Win_create(data, 40, -1, MPI_INFO_NULL, MPI_COMM_NULL, &out));
    TRY(MPI_Win_free(&out));
    TRY(MPI_Win_fence(0, MPI_WIN_NULL));
    OK(PMPI_Win_allocate(400, 4, MPI_INFO_NULL, comm, &memory, &win));
    PMPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    TRY(MPI_Win_fence(0, win));
    TRY(MPI_Put(data, 1, MPI_INT, 99, 0, 1, MPI_INT, win));
    TRY(MPI_Put(data, -1, MPI_INT, 0, 0, 1, MPI_INT, win));
    TRY(MPI_Put(data, 1, MPI_DATATYPE_NULL, 0, 0, 1, MPI_INT, win));
    TRY(MPI_Get(data, 1, MPI_INT, 99, 0, 1, MPI_INT, win));
    TRY(MPI_Accumulate(data, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_OP_NULL, win));
    TRY(MPI_Get_accumulate(data, 1, MPI_INT, more, 1, MPI_INT, 99, 0, 1, MPI_INT, MPI_SUM, win));
    TRY(MPI_Fetch_and_op(data, more, MPI_INT, 99, 0, MPI_SUM, win));
    TRY(MPI_Compare_and_swap(data, data, more, MPI_INT, 99, 0, win));
    TRY(MPI_Win_lock(99, 99, 0, win));
    TRY(MPI_Win_unlock(99, win));
    TRY(MPI_Win_fence(0, win));
    TRY(MPI_Win_free(&win));
}

static void files(void)
{
    char name[] = "/tmp/fvmpi-errors-XXXXXX";
    MPI_File file = MPI_FILE_NULL, none = MPI_FILE_NULL;
    MPI_Offset offset = -1;
    MPI_Status s;
    int fd = mkstemp(name);

    fresh(&s, 1);
    TRY(MPI_File_open(MPI_COMM_SELF, "/nowhere/at all", MPI_MODE_RDONLY, MPI_INFO_NULL, &none));
    TRY(MPI_File_open(MPI_COMM_SELF, name, 0, MPI_INFO_NULL, &none));
    TRY(MPI_File_open(MPI_COMM_NULL, name, MPI_MODE_RDWR, MPI_INFO_NULL, &none));
    TRY(MPI_File_close(&none));
    OK(PMPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &file));
    TRY(MPI_File_write(file, data, 1, MPI_INT, &s));
    TRY(MPI_File_read(file, data, -1, MPI_INT, &s));
    TRY(MPI_File_read_at(file, -5, data, 1, MPI_INT, MPI_STATUS_IGNORE));
    TRY(MPI_File_read(file, data, 1, MPI_DATATYPE_NULL, &s));
    TRY(MPI_File_seek(file, -5, MPI_SEEK_SET));
    TRY(MPI_File_seek(file, 0, 4711));
    TRY(MPI_File_get_position(file, &offset));
    TRY(MPI_File_set_size(file, -7));
    TRY(MPI_File_read(file, data, 1, MPI_INT, &s));
    say_status("at the end of the file", &s);
    TRY(MPI_File_close(&file));
    close(fd);
    unlink(name);
}

/* ---- under a handler of our own ---- */

static void handler(MPI_Comm *on, int *code, ...)
{
    int class = -1;

    PMPI_Error_class(*code, &class);
    say("handler of %s: %d, class %d\n",
        *on == comm    ? "the communicator"
        : *on == WORLD ? "the world"
                       : "another",
        stable(*code), class);
}

static void own_handlers(void)
{
    MPI_Errhandler errhandler;
    MPI_Request r[2];
    int index = -9;

    OK(MPI_Comm_create_errhandler(handler, &errhandler));
    MPI_Comm to[3] = { comm, WORLD, MPI_COMM_SELF };
    for (int i = 0; i < 3; i++)
        OK(MPI_Comm_set_errhandler(to[i], errhandler));
    TRY(MPI_Send(data, 1, MPI_INT, 99, 1, comm));
    TRY(MPI_Recv(data, -1, MPI_INT, 0, 1, WORLD, MPI_STATUS_IGNORE));
    TRY(MPI_Bcast(data, 1, MPI_INT, 99, MPI_COMM_SELF));
    TRY(MPI_Barrier(MPI_COMM_NULL));
    TRY(MPI_Isend(data, 10, MPI_INT, 0, 700, MPI_COMM_SELF, &r[0]));
    TRY(MPI_Irecv(more, 2, MPI_INT, 0, 700, MPI_COMM_SELF, &r[1]));
    TRY(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
    TRY(MPI_Isend(data, 10, MPI_INT, 0, 701, MPI_COMM_SELF, &r[0]));
    TRY(MPI_Recv(more, 2, MPI_INT, 0, 701, MPI_COMM_SELF, MPI_STATUS_IGNORE));
    TRY(MPI_Waitany(1, r, &index, MPI_STATUS_IGNORE));
    OK(MPI_Errhandler_free(&errhandler));
}

int main(int argc, char **argv)
{
    static char all[4 * sizeof(text)];

    OK(MPI_Init(&argc, &argv));
    known_start();
    if (argc > 1)
        MPI_Pcontrol(atoi(argv[1]));
    OK(MPI_Comm_dup(WORLD, &comm));
    PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    PMPI_Comm_set_errhandler(WORLD, MPI_ERRORS_RETURN);
    PMPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
    point_to_point();
    collective();
    objects();
    requests();
    for (int way = 0; way < WAYS; way++) {
        truncated(way, 0);
        truncated(way, 1);
    }
    windows();
    files();
    own_handlers();
    PMPI_Gather(text, (int)sizeof(text), MPI_CHAR, all, (int)sizeof(text), MPI_CHAR, 0, WORLD);
    for (int i = 0; me == 0 && i < ranks; i++)
        printf("rank %d\n%s", i, all + (size_t)i * sizeof(text));
    OK(MPI_Finalize());
    return 0;
}
