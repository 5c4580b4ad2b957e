/* Becomes the command behind it, without process_vm_readv(). */
#include "../unit/refuse_reads.h"

#include <unistd.h>

int main(int argc, char **argv)
{
    if (argc < 2 || !refuse_reads())
        return 99;
    execvp(argv[1], argv + 1);
    return 98;
}
