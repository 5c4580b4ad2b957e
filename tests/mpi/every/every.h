/* What gen_calls.py puts before the C program it makes: output and call-backs. Lines go to ARGUMENTrankN.out,
 * the calls made to ARGUMENTrankN.calls. Nothing printed depends on an address or on a handle's value; of an
 * error code, its class. What is needed
 * of MPI here is called by its PMPI name and so is not counted. */
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INTS = 128 };
static int rank = -1, peer = -1;
static const char *role, *about;
/* for MPI_Comm_spawn and MPI_Comm_spawn_multiple */
static char *arguments[] = { "child", "of one", NULL }, *arguments2[] = { "children", "of two", NULL };
static char spawned[4096], *commands[] = { spawned, spawned }, **argumentss[] = { arguments2, arguments2 };
int every_socket(void), every_has_ports(void), every_has_atomicity(void), every_class(int code), every_start(void);
static FILE *out;

/* NAME_child, to which NAME is linked, runs as a spawned process. */
static void find_role(const char *name)
{
    size_t n = strlen(name);

    if (n < 6 || strcmp(name + n - 6, "_child"))
        snprintf(spawned, sizeof spawned, "%s_child", name);
    else if (!*role)
        role = "bare";
}

static void out_open(void)
{
    char name[32];

    rank = every_start();
    peer = 1 - rank;
    snprintf(name, sizeof name, "%srank%d.out", role, rank);
    out = fopen(name, "w");
    if (!out)
        exit(9);
    setvbuf(out, NULL, _IOLBF, 4096);
    fprintf(out, "arguments [%s] [%s]\n", role, about);
}

static void out_block(const char *name)
{
    if (out)
        fprintf(out, "== %s\n", name);
}

static void out_call(const char *name, int rc)
{
    if (!out)
        out_open();
    fprintf(out, "%s %d", name, rc ? every_class(rc) : 0);
}

static void out_end(void) { putc('\n', out); }
static void out_int(const char *name, long long value) { fprintf(out, " %s=%lld", name, value); }
static void out_string(const char *name, const char *value) { fprintf(out, " %s=[%s]", name, value); }

/* Every byte of it, also those that are not named: a status is filled before the first call. */
static void out_status(const char *name, const MPI_Status *status, int n)
{
    for (int i = 0; i < n; i++) {
        int words[sizeof *status / sizeof(int)];

        memcpy(words, &status[i], sizeof words);
        fprintf(out, " %s=[", name);
        for (size_t k = 0; k < sizeof words / sizeof *words; k++)
            fprintf(out, "%s%d", k ? " " : "", words[k]);
        putc(']', out);
    }
}

static void fill(int *buffer, char name)
{
    for (int i = 0; i < INTS; i++)
        buffer[i] = 100000 * (name - 'a') + 1000 * rank + i;
}

static void out_buffer(const char *name, const int *buffer)
{
    unsigned long sum = 0;

    for (int i = 0; i < INTS; i++)
        sum = sum * 31 + (unsigned)buffer[i];
    fprintf(out, "%s: %lx:", name, sum);
    for (int i = 0; i < 8; i++)
        fprintf(out, " %d", buffer[i]);
    putc('\n', out);
}

static void out_close(const int *calls, const char *const *names)
{
    char name[32];
    FILE *list;

    fclose(out);
    snprintf(name, sizeof name, "%srank%d.calls", role, rank);
    list = fopen(name, "w");
    for (int i = 0; list && names[i]; i++)
        fprintf(list, "%s %d\n", names[i], calls[i]);
    if (!list || fclose(list))
        exit(9);
}

/* ---- call-backs */

static void called(const char *name, long long value) { fprintf(out, "call-back %s %lld\n", name, value); }

static int comm_copy(MPI_Comm comm, int keyval, void *state, void *in, void *copy, int *flag)
{
    (void)comm, (void)keyval, (void)state;
    called("comm_copy", (intptr_t)in);
    *(void **)copy = (void *)((intptr_t)in + 1);
    *flag = 1;
    return MPI_SUCCESS;
}

static int comm_delete(MPI_Comm comm, int keyval, void *value, void *state)
{
    (void)comm, (void)keyval;
    called("comm_delete", 1000 * (intptr_t)state + (intptr_t)value);
    return MPI_SUCCESS;
}

#define old_copy comm_copy
#define old_delete comm_delete

static int type_copy(MPI_Datatype type, int keyval, void *state, void *in, void *copy, int *flag)
{
    (void)type, (void)keyval, (void)state;
    called("type_copy", (intptr_t)in);
    *(void **)copy = (void *)((intptr_t)in + 1);
    *flag = 1;
    return MPI_SUCCESS;
}

static int type_delete(MPI_Datatype type, int keyval, void *value, void *state)
{
    (void)type, (void)keyval;
    called("type_delete", 1000 * (intptr_t)state + (intptr_t)value);
    return MPI_SUCCESS;
}

static int win_copy(MPI_Win win, int keyval, void *state, void *in, void *copy, int *flag)
{
    (void)win, (void)keyval, (void)state, (void)in, (void)copy;
    *flag = 0;
    return MPI_SUCCESS;
}

static int win_delete(MPI_Win win, int keyval, void *value, void *state)
{
    (void)win, (void)keyval;
    called("win_delete", 1000 * (intptr_t)state + (intptr_t)value);
    return MPI_SUCCESS;
}

static void comm_error(MPI_Comm *comm, int *code, ...) { called("comm_error", *comm == MPI_COMM_NULL ? -1 : *code); }
static void file_error(MPI_File *fh, int *code, ...) { called("file_error", *fh == MPI_FILE_NULL ? -1 : *code); }
static void win_error(MPI_Win *win, int *code, ...) { called("win_error", *win == MPI_WIN_NULL ? -1 : *code); }

static void user_op(void *in, void *inout, int *n, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *n; i++)
        ((int *)inout)[i] += 2 * ((int *)in)[i];
}

#if MPI_VERSION >= 4
static void session_error(MPI_Session *session, int *code, ...)
{
    called("session_error", *session == MPI_SESSION_NULL ? -1 : *code);
}

static void user_op_c(void *in, void *inout, MPI_Count *n, MPI_Datatype *type)
{
    int count = (int)*n;

    user_op(in, inout, &count, type);
}

static int conversion_fn_c(void *user, MPI_Datatype type, MPI_Count count, void *file, MPI_Offset at, void *state)
{
    (void)user, (void)type, (void)count, (void)file, (void)at, (void)state;
    return MPI_ERR_CONVERSION;
}
#endif

static int query_fn(void *state, MPI_Status *status)
{
    called("query", (intptr_t)state);
    PMPI_Status_set_elements(status, MPI_INT, 1);
    PMPI_Status_set_cancelled(status, 0);
    status->MPI_SOURCE = 5;
    status->MPI_TAG = 6;
    return MPI_SUCCESS;
}

static int free_fn(void *state)
{
    called("free", (intptr_t)state);
    return MPI_SUCCESS;
}

static int cancel_fn(void *state, int complete)
{
    called("cancel", 10 * (intptr_t)state + complete);
    return MPI_SUCCESS;
}

static int conversion_fn(void *user, MPI_Datatype type, int count, void *file, MPI_Offset at, void *state)
{
    (void)user, (void)type, (void)count, (void)file, (void)at, (void)state;
    return MPI_ERR_CONVERSION;
}

static int extent_fn(MPI_Datatype type, MPI_Aint *extent, void *state)
{
    (void)type, (void)state;
    *extent = 4;
    return MPI_SUCCESS;
}
