#!/usr/bin/env bash
# SPDX-License-Identifier: BSD-3-Clause
# exec(): one experiment, of the program that the process became; and a program that calls it does what it does alone, whatever the place and the outcome.
. "$(dirname "$0")/../lib.sh"

cat > becomes.c <<'C'
/* becomes WAY SHELL: by which function, or from where. Status 10: the shell's; 11: it failed. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ARGUMENTS "sh", "-c", "test \"$0\" = first && test \"$X\" = kept && exit 10", "first"
static char *command[] = { ARGUMENTS, NULL };
static char *environment[] = { "X=kept", NULL };
static const char *shell;
static int has_own; /* execv() */

#ifdef OWN
int execv(const char *path, char *const arguments[])
{
    return has_own++ ? _exit(12), 0 : execl(path, arguments[0], arguments[1], arguments[2], arguments[3], NULL);
}
#endif

static void *cancelled(void *leave)
{
    pthread_cancel(pthread_self());
    if (leave)
        _exit(10);
    execv(shell, command);
    return NULL;
}

static void in_thread(void *leave)
{
    pthread_t thread;

    if (!pthread_create(&thread, NULL, cancelled, leave))
        pthread_join(thread, NULL);
}

static int leaves;

static void handle(int signal)
{
    (void)signal;
    if (leaves)
        _exit(10);
    execv(shell, command);
}

/* As small as SIGSTKSZ was, and a page that nobody may touch below. */
static void on_small_stack(void)
{
    enum { SMALL = 8192, GUARD = 65536 };
    char *place = mmap(NULL, GUARD + SMALL, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    mprotect(place, GUARD, PROT_NONE);
    sigaltstack(&(stack_t){ .ss_sp = place + GUARD, .ss_size = SMALL }, NULL);
    sigaction(SIGUSR1, &(struct sigaction){ .sa_handler = handle, .sa_flags = SA_ONSTACK }, NULL);
    raise(SIGUSR1);
}

static void *fails(void *unused)
{
    for (;;)
        execvp("no such program", command);
    return unused;
}

static void become(const char *way)
{
    pthread_t thread;

    if (!strcmp(way, "execve"))
        execve(shell, command, environment);
    if (!strcmp(way, "execv"))
        execv(shell, command);
    if (!strcmp(way, "execvp"))
        execvp("sh", command);
    if (!strcmp(way, "execvpe"))
        execvpe("sh", command, environment);
    if (!strcmp(way, "execl"))
        execl(shell, ARGUMENTS, NULL);
    if (!strcmp(way, "execlp"))
        execlp("sh", ARGUMENTS, NULL);
    if (!strcmp(way, "execle"))
        execle(shell, ARGUMENTS, NULL, environment);
    if (!strcmp(way, "fexecve"))
        fexecve(open(shell, O_RDONLY | O_CLOEXEC), command, environment);
#if __GLIBC_PREREQ(2, 34)
    if (!strcmp(way, "execveat"))
        execveat(AT_FDCWD, shell, command, environment, 0);
#else
    if (!strcmp(way, "execveat"))
        execve(shell, command, environment);
#endif
    if (!strcmp(way, "cancelled") || !strcmp(way, "cancelled_exit"))
        in_thread(strchr(way, '_'));
    if (!strcmp(way, "handler") || !strcmp(way, "handler_exit")) {
        leaves = strchr(way, '_') != NULL;
        on_small_stack();
    }
    if (!strcmp(way, "beside") && !pthread_create(&thread, NULL, fails, NULL)) {
        usleep(20000);
        exit(10);
    }
}

int main(int argc, char **argv)
{
    (void)argc;
    shell = argv[2];
    become(argv[1]);
    perror(argv[1]);
    if (!vfork())
        _exit(execl("/bin/true", "true", NULL)); /* a child's is not its parent's */
    wait(NULL);
    if (!strcmp(argv[1], "killed")) {
        execv("/nowhere", command);
        for (clock_t begin = clock(); clock() - begin < CLOCKS_PER_SEC / 2;) {} /* of which samples of the CPU clock are signs */
        raise(SIGKILL);
    }
    return 11;
}
C
cc -pthread becomes.c -o becomes
cc -pthread -DOWN becomes.c -o owns
states() { "$fvmpi" report "$1" --table ranks --columns state,exit_status --csv - | tail -n +2 | tr -d '\r'; }
becomes() { # WAY SHELL STATUS STATES [PROGRAM]
    rm -rf exp*
    capture "./${5:-becomes}" "$1" "$2"
    local alone="$rc:$out:$err"
    capture "$fvmpi" run -q -o exp --mpi serial "./${5:-becomes}" "$1" "$2"
    check "$1 $2${5:+, $5}: as alone" test "$rc:$out:$err" = "$alone" -a "$rc" = "$3"
    check '... how it ended' test "$(states exp)" = "$4"
    check '... in one experiment' test "$(echo exp*)" = exp
}

export X=kept
for way in execv execvp execl execlp; do
    becomes $way /bin/sh 10 exited,10
    capture "$fvmpi" report exp
    check '... the report is of what it became' has "$out" '^  command +sh -c'
    check '... and tells that there was another' has "$out" 'ran 1 other program before'
    check '... which can be read, too' test "$(states exp/rank-000000.fvr.1)" = replaced,
    check '... with its description' has "$(cat exp/run.json.1)" "becomes $way"
    capture "$fvmpi" report exp --json exp/run.json.1
    check '... which nothing is written over' has "$rc:$err" '^2:.*run.json.1'
done
# Here the new program has an environment without fvmpi's library, and is not recorded.
for way in execve execvpe execle fexecve execveat; do
    becomes $way /bin/sh 10 replaced,
    capture "$fvmpi" report exp
    check '... in the report' has "$out" '^  complete +replaced by another program'
done
becomes execv /nowhere/sh 11 exited,11
becomes execle /nowhere/sh 11 exited,11
becomes execl /bin/sh 10 exited,10 owns
becomes execv /bin/sh 10 exited,10 owns
if [ -z "$sanitizer" ]; then # which needs more stack, and cancels where it likes
    becomes cancelled /bin/sh 10 exited,10
    becomes cancelled_exit /bin/sh 10 exited,10
    becomes handler /bin/sh 10 exited,10
    becomes handler_exit /bin/sh 10 exited,10
fi
for _ in 1 2 3 4 5 6; do
    becomes beside /bin/sh 10 exited,10
done

if [ -z "$sanitizer" ]; then # whose handlers run late
    rm -rf exp*
    capture "$fvmpi" run -q -o exp --mpi serial ./becomes killed /bin/sh
    capture "$fvmpi" report exp --table ranks --columns state,app_time_s --csv -
    check 'killed while it computes, after an exec() that failed: it has lived until then' awk -F, '/killed/ { good = $2 > 0.1 } END { exit !good }' <<< "$out"
fi

# The environment goes on without the library, and a chain of programs.
cat > again.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int left = argc > 1 ? atoi(argv[1]) : 20;
    char number[20];

    snprintf(number, sizeof(number), "%d", left - 1);
    return left ? execl(argv[0], argv[0], number, NULL) : 7;
}
C
cc again.c -o again
rm -rf exp*
capture "$fvmpi" run -q -o exp --mpi serial ./again
check 'twenty, one after the other' test "$rc:$(states exp):$(ls exp/rank-* | wc -l):$(echo exp*)" = 7:exited,7:21:exp

mkdir mine && echo '{"my": "own"}' > mine/run.json
capture "$fvmpi" run -q -o mine --mpi serial ./again 1
check "run.json of the user's stays in its place" test "$rc:$(cat mine/run.json)" = '7:{"my": "own"}' -a ! -e mine/run.json.1

mkdir wrapped
printf '#!/usr/bin/env bash\nexec "$@"\n' > wrap
chmod +x wrap
capture env -C wrapped "$fvmpi" run ../wrap sh -c 'exit 7'
check 'a script that ends in the program: one experiment' test "$rc:$(cd wrapped && echo ./*)" = "7:$(cd wrapped && echo ./fvmpi-wrap-1p-*)"
capture "$fvmpi" report wrapped/fvmpi-wrap-*
check '... of the program' has "$out" '^  command +sh -c'
finish
