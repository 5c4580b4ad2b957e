/* A function that begins with its loop: a breakpoint at its entry is met at each turn. Each call takes the same.
 *
 *     loop SECONDS        CPU time */
#include <stdlib.h>
#include <time.h>

#define TURNS 300000

void turns(long count);
__asm__(".text\n"
        ".globl turns\n"
        ".type turns, @function\n"
        "turns: .cfi_startproc\n"
        "1: dec %rdi\n"
        "jnz 1b\n"
        "ret\n"
        ".cfi_endproc\n"
        ".size turns, .-turns\n");

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? atof(argv[1]) : 1;

    while ((double)clock() / CLOCKS_PER_SEC < seconds)
        for (int i = 0; i < 50; i++)
            turns(TURNS);
    return 0;
}
