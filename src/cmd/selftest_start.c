/* SPDX-License-Identifier: BSD-3-Clause */
/* See selftest.h. A child that hangs must not hang the test, nor outlive it: it is polled, and its group is ended.
 * Rejected: fv_spawn(), which waits for as long as a user's program runs. */
#include "cmd/child.h"
#include "base/now.h"
#include "cmd/selftest.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define POLL_S  0.01
#define GRACE_S 2 /* for a launcher to end its ranks */

static volatile sig_atomic_t to_end; /* by that signal */

static void note_signal(int number)
{
    to_end = number;
}

bool fv_selftest_is_interrupted(void)
{
    return to_end;
}

/* ---- the place ---- */

/* The user's options would change what is recorded; where libraries are is no such option. */
static void drop_options(void)
{
    extern char **environ;
    char name[256];

    for (char **p = environ; *p;) {
        const size_t length = strcspn(*p, "=");

        if (strncmp(*p, "FVMPI_", 6) || !strncmp(*p, "FVMPI_LIBDIR=", 13) || !strncmp(*p, "FVMPI_WITHOUT=", 14) ||
            length >= sizeof(name)) {
            p++;
            continue;
        }
        memcpy(name, *p, length);
        name[length] = '\0';
        unsetenv(name);
        p = environ;
    }
}

/* What is started works in another directory. */
static void make_absolute(const char *variable)
{
    const char *value = getenv(variable);
    char *path = value && *value ? realpath(value, NULL) : NULL;

    if (path)
        setenv(variable, path, 1);
    free(path);
}

static void set_environment(const struct fv_selftest_place *place)
{
    static const char *const values[][2] = {
        { "OMP_NUM_THREADS", "1" },
        { "OMPI_ALLOW_RUN_AS_ROOT", "1" },
        { "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1" },
        { "OMPI_MCA_rmaps_base_oversubscribe", "1" },
        { "OMPI_MCA_hwloc_base_binding_policy", "none" },
        { "PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe" }, /* Open MPI 5 */
        { "PRTE_MCA_hwloc_default_binding_policy", "none" },
    };

    drop_options();
    for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++)
        setenv(values[i][0], values[i][1], 1);
    make_absolute("FVMPI_LIBDIR");
    setenv("TMPDIR", place->directory, 1);
    make_absolute("TMPDIR");
}

bool fv_selftest_open(struct fv_selftest_place *place, double limit_s)
{
    static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
    const char *tmp = getenv("TMPDIR");

    tmp = tmp && *tmp ? tmp : "/tmp";
    place->end_s = fv_now_s() + limit_s;
    snprintf(place->directory, sizeof(place->directory), "%s/fvmpi-selftest-XXXXXX", tmp);
    if (!mkdtemp(place->directory)) {
        fv_log("selftest: %s: %s; name a directory that you may write to: TMPDIR=DIR fvmpi selftest", tmp,
               strerror(errno));
        return false;
    }
    for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
        sigaction(signals[i], &(struct sigaction){ .sa_handler = note_signal }, NULL);
    signal(SIGCHLD, SIG_DFL); /* who starts us may ignore it: no status is known then */
    set_environment(place);
    return true;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st, (void)kind, (void)at;
    remove(path);
    return 0;
}

void fv_selftest_close(struct fv_selftest_place *place, bool keep)
{
    if (!keep)
        nftw(place->directory, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    fflush(stdout);
    if (to_end)
        fv_end_by(to_end);
}

/* ---- a program ---- */

static void become(const struct fv_selftest_place *place, const char *log, const char *const argv[])
{
    int in = open("/dev/null", O_RDONLY), out;

    setpgid(0, 0);
    if (chdir(place->directory) || (out = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0600)) < 0 || in < 0)
        _exit(126);
    dup2(in, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    dup2(out, STDERR_FILENO);
    _exit(fv_exec((char **)(uintptr_t)argv));
}

/* Its status as waitpid() has it; false: it had not ended by then. */
static bool wait_until(pid_t pid, double end_s, int *status)
{
    pid_t ended;

    while (!(ended = waitpid(pid, status, WNOHANG)) && fv_now_s() < end_s && !to_end)
        nanosleep(&(struct timespec){ .tv_nsec = (long)(POLL_S * 1e9) }, NULL);
    return ended != 0;
}

static void end_group(pid_t pid, int *status)
{
    const double end_s = fv_now_s() + GRACE_S;

    kill(-pid, SIGTERM);
    while (!waitpid(pid, status, WNOHANG) && fv_now_s() < end_s)
        nanosleep(&(struct timespec){ .tv_nsec = (long)(POLL_S * 1e9) }, NULL);
    kill(-pid, SIGKILL);
    waitpid(pid, status, 0);
}

bool fv_selftest_start(const struct fv_selftest_place *place, const char *log, const char *const argv[], char why[256])
{
    int status = 0;

    fflush(stdout);
    pid_t pid = fork();
    if (!pid)
        become(place, log, argv);
    if (pid < 0) {
        snprintf(why, 256, "cannot start it: %s", strerror(errno));
        return false;
    }
    setpgid(pid, pid); /* whoever is first */
    if (!wait_until(pid, place->end_s, &status)) {
        end_group(pid, &status);
        snprintf(why, 256, to_end ? "interrupted" : "not done within the time limit; --limit SECONDS allows more");
        return false;
    }
    if (WIFSIGNALED(status))
        snprintf(why, 256, "ended by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    else
        snprintf(why, 256, "exit status %d", WEXITSTATUS(status));
    return WIFEXITED(status) && !WEXITSTATUS(status);
}
