/* MPI gives the handle of a window, and of a file, to another thread's new one before the call that frees it returns. With
 * -DSTANDIN the library, behind fvmpi's, that sees to it. Prints whether it was the same handle; `serial` where MPI has not
 * MPI_THREAD_MULTIPLE. Argument: a file. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef STANDIN

static void freed(void)
{
    void (*tell)(void) = (void (*)(void))dlsym(RTLD_DEFAULT, "handle_is_free");

    if (tell)
        tell();
}

int MPI_Win_free(MPI_Win *win)
{
    int err = PMPI_Win_free(win);

    freed();
    return err;
}

int MPI_File_close(MPI_File *fh)
{
    int err = PMPI_File_close(fh);

    freed();
    return err;
}

#else

static char *memory;
static const char *name;
static void *(*makes)(void *);
static void *to;

static void *makes_window(void *out)
{
    MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_SELF, &memory, out);
    return NULL;
}

static void *makes_file(void *out)
{
    MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, out);
    return NULL;
}

void handle_is_free(void);
void handle_is_free(void)
{
    pthread_t thread;

    if (!makes)
        return;
    if (pthread_create(&thread, NULL, makes, to))
        abort();
    pthread_join(thread, NULL);
    makes = NULL;
}

static void windows(void)
{
    MPI_Win first, second, was;

    makes_window(&first);
    was = first;
    makes = makes_window;
    to = &second;
    MPI_Win_free(&first);
    puts(second == was ? "same" : "another");
    MPI_Win_free(&second);
}

static void files(void)
{
    MPI_File first, second, was;

    makes_file(&first);
    was = first;
    makes = makes_file;
    to = &second;
    MPI_File_close(&first);
    puts(second == was ? "same" : "another");
    MPI_File_close(&second);
}

int main(int argc, char **argv)
{
    int provided;

    name = argc > 1 ? argv[1] : "handed_on.file";
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    if (provided == MPI_THREAD_MULTIPLE) {
        windows();
        files();
    } else {
        puts("serial");
    }
    MPI_Finalize();
    return 0;
}

#endif
