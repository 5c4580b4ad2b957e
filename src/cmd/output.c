/* SPDX-License-Identifier: BSD-3-Clause */
/* See output.h. */
#include "cmd/output.h"
#include "base/experiment.h"
#include "base/local.h"
#include "trace/container.h"
#include "trace/format.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

bool fv_output_number(const char *text, size_t least, size_t *out)
{
    char *end;

    errno = 0;
    unsigned long value = strtoul(text, &end, 10);
    if (errno || *end || end == text || *text == '-' || value < least)
        return false;
    *out = value;
    return true;
}

int fv_output_port(const char *text, size_t *out, fv_arguments_wrong_fn *wrong)
{
    return fv_output_number(text, 1, out) && *out <= 65535 ? FV_GO_ON
                                                           : wrong(text, "--port takes a number from 1 to 65535");
}

static bool is_utf8(void)
{
    const char *names[] = { getenv("LC_ALL"), getenv("LC_CTYPE"), getenv("LANG") };

    for (unsigned i = 0; i < 3; i++)
        if (names[i] && *names[i])
            return strstr(names[i], "UTF-8") || strstr(names[i], "utf-8") || strstr(names[i], "utf8") ||
                   strstr(names[i], "UTF8");
    return false;
}

static size_t terminal_width(int fd)
{
    const char *columns = getenv("COLUMNS");
    struct winsize size;
    size_t width;

    if (columns && fv_output_number(columns, 20, &width))
        return width;
    if (!ioctl(fd, TIOCGWINSZ, &size) && size.ws_col >= 20)
        return size.ws_col;
    return 100;
}

static bool color_by_default(int fd)
{
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM"); /* https://no-color.org */

    return isatty(fd) && !(no && *no) && term && strcmp(term, "dumb");
}

/* auto, always or never; false: another word. */
static bool parse_color(const char *when, bool *out)
{
    bool is_auto = !strcmp(when, "auto");

    if (!is_auto && strcmp(when, "always") && strcmp(when, "never"))
        return false;
    *out = is_auto ? color_by_default(STDOUT_FILENO) : when[0] == 'a';
    return true;
}

int fv_output_option(int option, struct fv_text_options *text, fv_arguments_wrong_fn *wrong)
{
    switch (option) {
    case FV_OPT_ALL:
        text->top = SIZE_MAX;
        text->brief = false;
        return FV_GO_ON;
    case FV_OPT_TOP:
        text->brief = false;
        return fv_output_number(optarg, 1, &text->top) ? FV_GO_ON : wrong(optarg, "--top takes a number from 1");
    case FV_OPT_WIDTH:
        return fv_output_number(optarg, 20, &text->width) ? FV_GO_ON : wrong(optarg, "--width takes a number from 20");
    case FV_OPT_COLOR:
        return parse_color(optarg, &text->color) ? FV_GO_ON : wrong(optarg, "--color takes auto, always or never");
    }
    return FV_UNKNOWN_OPTION;
}

struct fv_text_options fv_output_defaults(FILE *out)
{
    const int fd = fileno(out);

    return (struct fv_text_options){
        .width = terminal_width(fd), .top = 10, .brief = true, .color = color_by_default(fd), .utf8 = is_utf8()
    };
}

bool fv_output_is_recorded(const char *path)
{
    const char *name = fv_base_name(path);
    char magic[sizeof(((struct fv_file_header *)NULL)->magic)], claim[4096];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* it may be a pipe */
    bool is_rank_file = fd >= 0 && read(fd, magic, sizeof(magic)) == (ssize_t)sizeof(magic) &&
                        !memcmp(magic, FV_FILE_MAGIC, sizeof(magic));
    struct stat st;

    if (fd >= 0)
        close(fd);
    snprintf(claim, sizeof(claim), "%.*s.job", (int)(name - path), path);
    /* run.json.1: rt/predecessor.h */
    bool is_description = !strncmp(name, "run.json", 8) && (!name[8] || name[8] == '.');
    return is_rank_file || ((is_description || !strcmp(name, ".job")) && !lstat(claim, &st));
}

bool fv_output_holds_run(const char *path)
{
    DIR *directory = opendir(path);
    struct dirent *entry;
    bool found = false;

    while (directory && !found && (entry = readdir(directory)))
        found = !fnmatch("rank-*.fvr", entry->d_name, 0) || !fnmatch("ranks-*" FV_CONTAINER_END, entry->d_name, 0) ||
                !strncmp(entry->d_name, FV_LOCAL_NOTE, strlen(FV_LOCAL_NOTE)) ||
                fv_experiment_is_rank_folder(entry->d_name);
    if (directory)
        closedir(directory);
    return found;
}

static int said(const char *path, const char *option, int err)
{
    if (err && !strcmp(path, "-"))
        fv_log("stdout: %s; what %s writes is cut", strerror(errno), option);
    else if (err)
        fv_log("%s: %s; choose another place for %s", path, strerror(errno), option);
    return err;
}

const char *fv_output_of_host(const char *path, char out[FV_OUTPUT_PATH])
{
    const char *at = strstr(path, "%h");
    struct utsname host;

    if (!at || uname(&host))
        return path;
    snprintf(out, FV_OUTPUT_PATH, "%.*s%s%s", (int)(at - path), path, host.nodename, at + 2);
    return out;
}

int fv_output_open(struct fv_whole_file *out, const char *path, const char *option)
{
    return said(path, option, fv_whole_file_open(out, path));
}

int fv_output_close(struct fv_whole_file *file, const char *path, const char *option, int err)
{
    return said(path, option, fv_whole_file_close(file, err));
}

int fv_output_check(const struct fv_output_file *files, size_t count, const char *on_stdout,
                    fv_arguments_wrong_fn *wrong)
{
    char why[160];

    for (size_t i = 0; i < count; i++) {
        const struct fv_output_file *f = &files[i];

        if (f->path && fv_output_is_recorded(f->path)) {
            snprintf(why, sizeof(why), "%s would overwrite a file of a recorded run; name another", f->option);
            return wrong(f->path, why);
        }
        if (!f->path || strcmp(f->path, "-"))
            continue;
        if (on_stdout) {
            snprintf(why, sizeof(why), "stdout already takes what %s writes", f->option);
            return wrong(on_stdout, why);
        }
        on_stdout = f->option;
    }
    return FV_GO_ON;
}
