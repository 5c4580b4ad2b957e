/* What a program may do, or find, around MPI_Init that concerns fvmpi. argv[1] is the way, argv[2] a
 * directory.
 *
 *     files    opens three files in it before MPI_Init, which get the lowest descriptors, and says in each
 * which one it got; at the end it says so apart    each rank goes to a directory of its own in it before
 * MPI_Init
 */
#include "known.h"

#include <fcntl.h>
#include <sys/stat.h>

static int files[3];

static void open_files(const char *directory)
{
    char path[4096];

    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof(path), "%s/%ld-%d", directory, (long)getpid(), i);
        files[i] = open(path, O_RDWR | O_CREAT | O_EXCL, 0666);
        if (files[i] < 0)
            exit(98);
        dprintf(files[i], "descriptor %d\n", files[i]);
    }
}

static void go_apart(const char *directory)
{
    char path[4096];

    snprintf(path, sizeof(path), "%s/%ld", directory, (long)getpid());
    if (mkdir(path, 0777) || chdir(path))
        exit(97);
}

OP meet(void)
{
    OK(MPI_Barrier(WORLD));
}

int main(int argc, char **argv)
{
    int has_files = argc > 2 && !strcmp(argv[1], "files");

    if (argc < 3)
        return 96;
    if (has_files)
        open_files(argv[2]);
    else
        go_apart(argv[2]);
    OK(MPI_Init(&argc, &argv));
    known_start();
    TIMES(7)
    meet();
    OK(MPI_Finalize());
    for (int i = 0; has_files && i < 3; i++)
        dprintf(files[i], "end\n");
    if (!has_files && me == 0)
        printf("good end\n");
    return 0;
}
