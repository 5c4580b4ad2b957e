/* Holds debug registers of a program as a debugger does: `holder COUNT stay|leave LIBRARY COMMAND...`. The
 * library is preloaded to the command, not to us. It stays its tracer, or leaves it: what it wrote into the
 * registers stays there either way. Exit status: the command's. */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

/* Watchpoints for writing, on addresses that nobody has: enabled by two bits of DR7 each, kind and length by
 * four. */
static int hold(pid_t child, int count)
{
    unsigned long control = 0;

    for (int i = 0; i < count; i++) {
        size_t at = offsetof(struct user, u_debugreg) + sizeof(long) * (size_t)i;

        if (ptrace(PTRACE_POKEUSER, child, at, 0x10000UL + 8UL * (unsigned)i))
            return -1;
        control |= 1UL << 2 * i | 0xdUL << (16 + 4 * i);
    }
    return (int)ptrace(PTRACE_POKEUSER, child, offsetof(struct user, u_debugreg) + sizeof(long) * 7, control);
}

int main(int argc, char **argv)
{
    if (argc < 5)
        return 99;
    int stays = !strcmp(argv[2], "stay"), status = 0;
    pid_t child = fork();

    if (!child) {
        ptrace(PTRACE_TRACEME, 0, 0, 0);
        setenv("LD_PRELOAD", argv[3], 1);
        execvp(argv[4], argv + 4);
        _exit(98);
    }
    if (waitpid(child, &status, 0) != child || !WIFSTOPPED(status) || hold(child, atoi(argv[1]))) {
        perror("holder");
        kill(child, SIGKILL);
        return 97;
    }
    if (!stays)
        ptrace(PTRACE_DETACH, child, 0, 0);
    else
        ptrace(PTRACE_CONT, child, 0, 0);
    while (waitpid(child, &status, 0) == child && WIFSTOPPED(status))
        ptrace(PTRACE_CONT, child, 0, WSTOPSIG(status));
    return WIFEXITED(status) ? WEXITSTATUS(status) : 96;
}
