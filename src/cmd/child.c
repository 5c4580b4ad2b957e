/* SPDX-License-Identifier: BSD-3-Clause */
/* See child.h. */
#include "cmd/child.h"
#include "cmd/cmd.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile pid_t children[FV_CHILDREN]; /* 0: none */
static volatile sig_atomic_t to_end;         /* by that signal */

/* A terminal sends Ctrl-C to the whole foreground group, the child included, and launchers take a second
 * one for impatience: only what a process sent to us alone is handed on. */
static void hand_on(int signal_number, siginfo_t *info, void *context)
{
    int saved = errno;

    (void)context;
    if (signal_number == SIGINT || signal_number == SIGTERM || signal_number == SIGHUP || signal_number == SIGQUIT)
        to_end = signal_number;
    for (unsigned i = 0; i < FV_CHILDREN && info->si_code <= 0; i++)
        if (children[i] > 0)
            kill(children[i], signal_number);
    errno = saved;
}

int fv_exec(char **argv)
{
    execvp(argv[0], argv);
    int error = errno;
    fv_log("%s: cannot start it: %s", argv[0], strerror(error));
    return error == ENOENT ? FV_EXIT_NOT_FOUND : FV_EXIT_CANNOT_RUN;
}

/* Nothing may arrive between the fork and knowing what to do about it. */
static sigset_t hold_signals(void)
{
    sigset_t all, before;

    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before);
    return before;
}

static pid_t start(char **argv, const sigset_t *mask, void (*before)(void), bool dies_with_us)
{
    pid_t parent = getpid(), pid = fork();

    if (pid) {
        if (pid < 0)
            fv_log("%s: cannot start it: %s", argv[0], strerror(errno));
        return pid;
    }
    if (dies_with_us) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            _exit(FV_EXIT_FAILED);
    }
    sigprocmask(SIG_SETMASK, mask, NULL);
    if (before)
        before();
    _exit(fv_exec(argv));
}

static void replace_child(pid_t before, pid_t now)
{
    for (unsigned i = 0; i < FV_CHILDREN; i++)
        if (children[i] == before) {
            children[i] = now;
            return;
        }
}

bool fv_spawn_ended(pid_t pid, bool wait, int *status, int *signal_number)
{
    int what, number = 0;
    pid_t ended;

    while ((ended = waitpid(pid, &what, wait ? 0 : WNOHANG)) < 0 && errno == EINTR)
        continue;
    if (!ended)
        return false;
    if (ended < 0)
        *status = FV_EXIT_FAILED;
    else if (WIFSIGNALED(what))
        *status = 128 + (number = WTERMSIG(what));
    else
        *status = WEXITSTATUS(what);
    if (signal_number)
        *signal_number = number;
    replace_child(pid, 0);
    return true;
}

pid_t fv_spawn_begin(char **argv, void (*before)(void))
{
    /* Launchers end by the first ones, and hand on others to the ranks. */
    static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGXCPU };
    struct sigaction action = { .sa_sigaction = hand_on, .sa_flags = SA_SIGINFO }, old;
    sigset_t mask = hold_signals();

    pid_t pid = start(argv, &mask, before, false);
    if (pid > 0)
        replace_child(0, pid);
    for (unsigned i = 0; pid > 0 && i < sizeof(signals) / sizeof(*signals); i++)
        if (!sigaction(signals[i], NULL, &old) &&
            (old.sa_flags & SA_SIGINFO || old.sa_handler != SIG_IGN)) /* nohup means it */
            sigaction(signals[i], &action, NULL);
    sigprocmask(SIG_SETMASK, &mask, NULL);
    return pid;
}

int fv_spawn(char **argv, void (*before)(void), int *signal_number)
{
    int status = FV_EXIT_CANNOT_RUN;
    pid_t pid = fv_spawn_begin(argv, before);

    if (pid > 0)
        fv_spawn_ended(pid, true, &status, signal_number);
    return status;
}

int fv_spawn_is_to_end(void)
{
    return to_end ? 128 + to_end : FV_EXIT_OK;
}

static void outlive(int signal_number)
{
    (void)signal_number;
}

/* Not: what stops, or goes on, with the whole group; and faults of our own. */
static bool can_be_outlived(int signal_number)
{
    static const int others[] = { SIGKILL, SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU, SIGCONT, SIGCHLD, SIGSEGV,
                                  SIGBUS,  SIGFPE,  SIGILL,  SIGABRT, SIGTRAP, SIGSYS,  SIGURG,  SIGWINCH };

    for (unsigned i = 0; i < sizeof(others) / sizeof(*others); i++)
        if (signal_number == others[i])
            return false;
    return true;
}

int fv_spawn_rank(char **argv, void (*before)(void), int *signal_number)
{
    const struct sigaction action = { .sa_handler = outlive, .sa_flags = SA_RESTART };
    sigset_t mask = hold_signals();

    *signal_number = 0;
    pid_t pid = start(argv, &mask, before, true);
    for (int i = 1; pid > 0 && i <= SIGRTMAX; i++)
        if (can_be_outlived(i))
            sigaction(i, &action, NULL);
    sigprocmask(SIG_SETMASK, &mask, NULL);
    int status = FV_EXIT_CANNOT_RUN;
    if (pid > 0)
        fv_spawn_ended(pid, true, &status, signal_number);
    return status;
}

void fv_end_by(int signal_number)
{
    sigset_t one;

    setrlimit(RLIMIT_CORE, &(struct rlimit){ 0 });
    signal(signal_number, SIG_DFL);
    sigemptyset(&one);
    sigaddset(&one, signal_number);
    sigprocmask(SIG_UNBLOCK, &one, NULL);
    raise(signal_number);
}
