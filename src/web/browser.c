/* SPDX-License-Identifier: BSD-3-Clause */
/* See browser.h. */
#include "web/browser.h"
#include "tool/new_file.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static bool is_set(const char *name)
{
    const char *value = getenv(name);

    return value && *value;
}

/* The user's own; NULL: there is none that others keep out of. */
static const char *own_directory(void)
{
    const char *directory = getenv("XDG_RUNTIME_DIR");
    struct stat st;

    return directory && directory[0] == '/' && !stat(directory, &st) && S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
                   !(st.st_mode & (S_IRWXG | S_IRWXO))
               ? directory
               : NULL;
}

static bool write_page(const char *path, unsigned port, const char *token)
{
    const int fd = fv_new_file(path, O_WRONLY, 0600);
    FILE *out = fd < 0 ? NULL : fdopen(fd, "w");

    if (!out)
        return false;
    fprintf(out,
            "<!DOCTYPE html>\n<meta http-equiv=\"refresh\" content=\"0; url=http://127.0.0.1:%u/?token=%s\">\n"
            "<title>fvmpi</title>\n",
            port, token);
    return !fclose(out);
}

/* In a group of its own and with no signal blocked: an interrupt of this command is not the browser's. */
static pid_t open_page(char *page)
{
    char *words[] = { "xdg-open", page, NULL };
    posix_spawn_file_actions_t files;
    posix_spawnattr_t how;
    sigset_t none, usual;
    pid_t pid;

    sigemptyset(&none);
    sigemptyset(&usual);
    sigaddset(&usual, SIGPIPE); /* servers ignore it */
    posix_spawn_file_actions_init(&files);
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        posix_spawn_file_actions_addopen(&files, fd, "/dev/null", O_RDWR, 0);
    posix_spawnattr_init(&how);
    posix_spawnattr_setflags(&how, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setsigmask(&how, &none);
    posix_spawnattr_setsigdefault(&how, &usual);
    const int error = posix_spawnp(&pid, words[0], &files, &how, words, environ);
    posix_spawnattr_destroy(&how);
    posix_spawn_file_actions_destroy(&files);
    return error ? 0 : pid;
}

void fv_browser_open(struct fv_browser *b, unsigned port, const char *token)
{
    const char *directory = own_directory();

    if (!directory || !isatty(STDOUT_FILENO) || !(is_set("DISPLAY") || is_set("WAYLAND_DISPLAY")))
        return;
    if (asprintf(&b->page, "%s/fvmpi-%ld.html", directory, (long)getpid()) < 0) {
        b->page = NULL;
        return;
    }
    if (write_page(b->page, port, token))
        b->opener = open_page(b->page);
    if (!b->opener)
        fv_browser_close(b);
}

void fv_browser_close(struct fv_browser *b)
{
    if (b->page)
        unlink(b->page);
    if (b->opener)
        waitpid(b->opener, NULL, WNOHANG);
    free(b->page);
    *b = (struct fv_browser){ 0 };
}
