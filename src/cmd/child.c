/* See child.h. */
#include "cmd/child.h"
#include "cmd/cmd.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile pid_t child;

/* A terminal sends Ctrl-C to the whole foreground group, the child included, and launchers take a second
 * one for impatience: only what a process sent to us alone is handed on. */
static void hand_on(int signal_number, siginfo_t *info, void *context)
{
    int saved = errno;

    (void)context;
    if (child > 0 && info->si_code <= 0)
        kill(child, signal_number);
    errno = saved;
}

int fv_exec(char **argv)
{
    execvp(argv[0], argv);
    int error = errno;
    fv_log("%s: cannot start it: %s", argv[0], strerror(error));
    return error == ENOENT ? FV_EXIT_NOT_FOUND : FV_EXIT_CANNOT_RUN;
}

int fv_spawn(char **argv, void (*before)(void))
{
    static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
    struct sigaction action = { .sa_sigaction = hand_on, .sa_flags = SA_SIGINFO };
    struct sigaction old[3];
    sigset_t block, before_block;
    int status;

    /* Nothing may arrive between the fork and knowing whom to hand it on to. */
    sigemptyset(&block);
    for (unsigned i = 0; i < 3; i++)
        sigaddset(&block, signals[i]);
    sigprocmask(SIG_BLOCK, &block, &before_block);
    pid_t pid = fork();
    if (pid == 0) {
        sigprocmask(SIG_SETMASK, &before_block, NULL);
        if (before)
            before();
        _exit(fv_exec(argv));
    }
    child = pid;
    for (unsigned i = 0; pid > 0 && i < 3; i++) {
        sigaction(signals[i], NULL, &old[i]);
        if (old[i].sa_handler != SIG_IGN) /* nohup means it */
            sigaction(signals[i], &action, NULL);
    }
    sigprocmask(SIG_SETMASK, &before_block, NULL);
    if (pid < 0) {
        fv_log("%s: cannot start it: %s", argv[0], strerror(errno));
        return FV_EXIT_CANNOT_RUN;
    }
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return FV_EXIT_FAILED;
    child = 0;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
