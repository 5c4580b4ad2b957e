/* SPDX-License-Identifier: BSD-3-Clause */
/* See first.h. */
#include "cmd/first.h"

#include "cmd/output.h"
#include "views/views.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATIENCE_S 10 /* a report of 10,000 ranks takes longer, and is not waited for */

static void say(const char *directory, const struct fv_text_options *options, FILE *out)
{
    struct fv_profile *profile = NULL;
    char *path = (char *)(uintptr_t)directory;

    if (fv_profile_open(&path, 1, &(struct fv_profile_options){ 0 }, &profile))
        return;
    fv_view_first(profile, options, out);
    fv_profile_close(profile);
}

/* What the reader of the experiment has to say of it is for `fvmpi report`. */
static FILE *keep_stderr(void)
{
    int kept = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3), null = open("/dev/null", O_WRONLY | O_CLOEXEC);

    return kept < 0 || null < 0 || dup2(null, STDERR_FILENO) < 0 ? NULL : fdopen(kept, "w");
}

void fv_say_first(const char *directory)
{
    fflush(NULL);
    pid_t child = fork();

    if (child < 0)
        return;
    if (child) {
        while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
            continue;
        return;
    }
    sigset_t only;
    sigemptyset(&only);
    sigaddset(&only, SIGALRM);
    signal(SIGALRM, SIG_DFL); /* whoever started us may ignore it, or hold it back */
    sigprocmask(SIG_UNBLOCK, &only, NULL);
    alarm(PATIENCE_S);
    const struct fv_text_options options = fv_output_defaults(stderr);
    FILE *out = keep_stderr();
    if (out) {
        say(directory, &options, out);
        fclose(out);
    }
    _exit(0);
}
