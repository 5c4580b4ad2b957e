/* Many windows and files at a time: each is known, with its communicator. Every other window is made anew, in
 * reverse order.
 *
 * @ranks 2
 * @arguments {scratch}/data
 * @ MPI_Win_create    create      count=300
 * @ MPI_Win_create    again       count=150
 * @ MPI_Win_free      again       count=150
 * @ MPI_Win_fence     put         count=300 sites=2
 * @ MPI_Put           put         count=300  sent=300*40
 * @ MPI_Win_free      main        count=300
 * @ MPI_File_open     write_files count=300
 * @ MPI_File_write_at write_files count=300  sent=300*8
 * @ MPI_File_close    main        count=300
 * @ MPI_Init          main
 * @ MPI_Finalize      main
 */
#include "known.h"

#define MANY 300

static int memory[1000], in[10];
static MPI_Win win[MANY];
static MPI_File file[MANY];

OP create(void)
{
    TIMES(MANY)
        OK(MPI_Win_create(memory, sizeof(memory), sizeof(int), MPI_INFO_NULL, WORLD, &win[i]));
}

OP again(void)
{
    TIMES(MANY / 2) {
        MPI_Win *w = &win[MANY - 1 - 2 * i];

        OK(MPI_Win_free(w));
        OK(MPI_Win_create(memory, sizeof(memory), sizeof(int), MPI_INFO_NULL, WORLD, w));
    }
}

OP put(void)
{
    TIMES(MANY) {
        OK(MPI_Win_fence(0, win[i]));
        OK(MPI_Put(in, 10, MPI_INT, 1 - me, 10 * me, 10, MPI_INT, win[i]));
        OK(MPI_Win_fence(0, win[i]));
    }
}

/* One file, opened so many times by each rank for itself. */
OP write_files(char *name)
{
    TIMES(MANY)
        OK(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_WRONLY, MPI_INFO_NULL, &file[i]));
    TIMES(MANY)
        OK(MPI_File_write_at(file[i], 8 * (MANY * me + i), in, 2, MPI_INT, MPI_STATUS_IGNORE));
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    known_start();
    create();
    again();
    put();
    write_files(argv[1]);
    TIMES(MANY)
        OK(MPI_Win_free(&win[i]));
    TIMES(MANY)
        OK(MPI_File_close(&file[i]));
    OK(MPI_Finalize());
    return 0;
}
