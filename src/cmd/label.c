/* SPDX-License-Identifier: BSD-3-Clause */
/* fvmpi label: a mark with a text, from outside, in what samples just now. */
#include "base/base.h"
#include "cmd/arguments.h"
#include "cmd/cmd.h"
#include "sensors/control.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char usage[] =
    "usage: fvmpi label TEXT [FIFO|DIR]\n"
    "Adds a label with the current time to a running recording.\n"
    "FIFO is that of `fvmpi record --control FIFO`. DIR is the experiment of a running `fvmpi run --sensors`; the node "
    "that\n"
    "opened the FIFO first gets the label. In a directory, the FIFO is DIR/" FV_CONTROL_NAME ".\n"
    "Without FIFO and DIR, FVMPI_CONTROL names the FIFO: `fvmpi record --control` sets it for the command that it "
    "starts.\n"
    "\n"
    "  -h, --help  print this help\n"
    "\n"
    "TEXT is one line of at most 4089 bytes.\n"
    "Exit status: 0 the label was handed over, 1 no recording reads it, 2 wrong usage.\n";

static int wrong(const char *what, const char *why)
{
    return fv_arguments_wrong("fvmpi label", what, why);
}

static int take_option(void *options, int option)
{
    (void)options;
    if (option != 'h')
        return FV_UNKNOWN_OPTION;
    fputs(usage, stdout);
    return FV_EXIT_OK;
}

/* Is a directory an experiment? Its run would have a FIFO if it read sensors. */
static bool is_experiment(const char *where)
{
    char path[PATH_MAX];

    return (size_t)snprintf(path, sizeof(path), "%s/run.json", where) < sizeof(path) && !access(path, F_OK);
}

static const char *why_not(int err, const char *where)
{
    if (err == -FV_EFORMAT)
        return "not a FIFO; name the one of fvmpi record --control, or the experiment of fvmpi run --sensors";
    switch (errno) {
    case ENXIO: return "no recording reads it; start one with --control, or name another";
    case ENOENT:
        return is_experiment(where)
                   ? "not there: this run reads no labels, or has ended; start it with fvmpi run --sensors LIST"
                   : "not there; start fvmpi record with this --control";
    case EAGAIN: return "it is full: the recording does not read it";
    default: return strerror(errno);
    }
}

static int send_label(const char *text, const char *where)
{
    char path[PATH_MAX], line[FV_CONTROL_LINE];
    int err;

    if (strchr(text, '\n'))
        return wrong("TEXT", "a label is one line");
    if (!text[strspn(text, " \t\r")])
        return wrong("TEXT", "it is empty");
    if ((size_t)snprintf(line, sizeof(line), "label %s", text) >= sizeof(line))
        return wrong("TEXT", "it is longer than 4089 bytes");
    if (!where || !*where)
        return wrong("no FIFO",
                     "name it or its directory; a command that fvmpi record --control starts need not name it");
    if (!fv_control_path(where, path))
        return wrong(where, strerror(ENAMETOOLONG));
    signal(SIGPIPE, SIG_IGN);
    if ((err = fv_control_send(path, line)) == 0)
        return FV_EXIT_OK;
    fv_log("label: %s: %s", path, why_not(err, where));
    return FV_EXIT_FAILED;
}

int fv_cmd_label(int argc, char **argv)
{
    static const struct option table[] = { { "help", no_argument, NULL, 'h' }, { 0 } };
    static const struct fv_arguments arguments = { "h", table, take_option, wrong, "TEXT", false };
    struct fv_operands operands;
    int status = fv_arguments_take(&arguments, argc, argv, NULL, &operands);

    if (status != FV_GO_ON)
        return status;
    if (operands.count > 2)
        return wrong(operands.items[2], "TEXT is one word for the shell: quote it");
    return send_label(operands.items[0], operands.count > 1 ? operands.items[1] : getenv("FVMPI_CONTROL"));
}
