/* Memory ends when MPI has started; then files are written. */
#include <fcntl.h>
#include <mpi.h>
#include <sys/resource.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    struct rlimit limit;
    int written = 0;

    MPI_Init(&argc, &argv);
    getrlimit(RLIMIT_DATA, &limit);
    limit.rlim_cur = 4096;
    setrlimit(RLIMIT_DATA, &limit);
    int fd = open("/dev/null", O_WRONLY);
    for (int i = 0; i < 10; i++)
        written += write(fd, "x", 1) == 1;
    close(fd);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_DATA, &limit);
    MPI_Finalize();
    return written != 10;
}
