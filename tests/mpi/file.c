/* MPI-IO: bytes written to a file are sent, bytes read are received; a read at the end of the file gets
 * what was there. argv[1] is the file's name. Non-blocking file operations count when they are posted.
 *
 * @ranks 2 3
 * @arguments {scratch}/data
 * @ MPI_File_write_at       write_at       count=2  sent=2*400
 * @ MPI_File_write_at_all   write_at_all   sent=200
 * @ MPI_File_read_at        read_at        received=400
 * @ MPI_File_read_at_all    read_at_all    received=200
 * @ MPI_File_read_at        past_the_end   received=0
 * @ MPI_File_write          alone          count=r==0  sent=12*(r==0)
 * @ MPI_File_seek           alone          count=r==0
 * @ MPI_File_read           alone          count=r==0  received=12*(r==0)
 * @ MPI_File_iwrite_at      iwrite         sent=100
 * @ MPI_Wait                iwrite
 * @ MPI_File_open           main
 * @ MPI_File_close          main
 * @ MPI_Init                main
 * @ MPI_Finalize            main
 */
#include "known.h"

static int in[1000], out[1000];
static MPI_File file;

OP write_at(void)
{
    MPI_Status status, *told[] = { MPI_STATUS_IGNORE, &status };

    TIMES(2)
        OK(MPI_File_write_at(file, 4096 * me + 400 * i, in, 100, MPI_INT, told[i]));
}

OP write_at_all(void)
{
    OK(MPI_File_write_at_all(file, 4096 * me + 800, in, 50, MPI_INT, MPI_STATUS_IGNORE));
}

OP read_at(void)
{
    OK(MPI_File_read_at(file, 4096 * me, out, 100, MPI_INT, MPI_STATUS_IGNORE));
}

OP read_at_all(void)
{
    OK(MPI_File_read_at_all(file, 4096 * me + 800, out, 50, MPI_INT, MPI_STATUS_IGNORE));
}

OP past_the_end(void)
{
    OK(MPI_File_read_at(file, 1 << 20, out, 100, MPI_INT, MPI_STATUS_IGNORE));
}

OP alone(void)
{
    if (me)
        return;
    OK(MPI_File_write(file, in, 3, MPI_INT, MPI_STATUS_IGNORE));
    OK(MPI_File_seek(file, 0, MPI_SEEK_SET));
    OK(MPI_File_read(file, out, 3, MPI_INT, MPI_STATUS_IGNORE));
}

OP iwrite(void)
{
    MPI_Request request;

    OK(MPI_File_iwrite_at(file, 4096 * me + 2000, in, 25, MPI_INT, &request));
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    known_start();
    OK(MPI_File_open(WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file));
    write_at();
    write_at_all();
    read_at();
    read_at_all();
    past_the_end();
    alone();
    iwrite();
    OK(MPI_File_close(&file));
    OK(MPI_Finalize());
    return 0;
}
