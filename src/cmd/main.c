/* SPDX-License-Identifier: BSD-3-Clause */
/* fvmpi: a table of sub-commands. */
#include "base/base.h"
#include "base/near.h"
#include "cmd/cmd.h"
#include "cmd/errors.h"
#include "fvmpi.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    int (*main)(int argc, char **argv);
    const char *arguments, *help;
} commands[] = {
    { "run", fv_cmd_run, "[options] ./app args", "run an MPI program and record where its time goes" },
    { "gather", fv_cmd_gather, "DIR ...", "move files that `run --local` left on this host to the experiment" },
    { "report", fv_cmd_report, "DIR", "show what was recorded: text, JSON, CSV, HTML" },
    { "explain", fv_cmd_explain, "FINDING DIR", "show the numbers behind a finding" },
    { "query", fv_cmd_query, "DIR|ARCHIVE... SQL", "ask runs by SQL" },
    { "diff", fv_cmd_diff, "A B", "compare two runs, or two groups of runs" },
    { "scaling", fv_cmd_scaling, "DIR DIR...", "show how a program scales, from runs on several numbers of ranks" },
    { "stacks", fv_cmd_stacks, "DIR [DIR...]", "show what limits the speedup of threads" },
    { "stat", fv_cmd_stat, "[EVENT...]", "print sensors of the machine, one line per sample" },
    { "record", fv_cmd_record, "[EVENT...] [-- CMD]", "record sensors of the machine to a file" },
    { "view", fv_cmd_view, "DIR|ARCHIVE.otf2", "show a trace in a browser, at any zoom" },
    { "live", fv_cmd_live, "[DIR] [EVENT...]", "show a running job and sensors of the machine in a browser" },
    { "where", fv_cmd_where, "DIR", "show where all threads of a running job are: call paths of all ranks" },
    { "keep", fv_cmd_keep, "DIR", "copy what a running job has recorded so far" },
    { "label", fv_cmd_label, "TEXT [FIFO|DIR]", "add a label with the current time to a running recording" },
    { "doctor", fv_cmd_doctor, "[CHECK...]", "find and fix settings of this machine that make measurements vary" },
    { "mcp", fv_cmd_mcp, "DIR...", "answer an assistant about runs (Model Context Protocol)" },
    { "dump", fv_cmd_dump, "DIR", "print every record of the rank files" },
    { "check", fv_cmd_check, "ARCHIVE", "check an OTF2 archive for faults" },
    { "selftest", fv_cmd_selftest, "", "test this installation on a small program, in seconds" },
};
enum { COMMANDS = sizeof(commands) / sizeof(*commands) };

static void print_help(FILE *out)
{
    fputs("usage: fvmpi COMMAND ...\n\n", out);
    for (int i = 0; i < COMMANDS; i++)
        fprintf(out, "  fvmpi %-8s %-20s %s\n", commands[i].name, commands[i].arguments, commands[i].help);
    fputs("\n  mpiexec -n 4 fvmpi run -o DIR ./app    and then    fvmpi report DIR\n"
          "  fvunify DIR                            makes an OTF2 archive of a run with --trace\n"
          "\n`fvmpi COMMAND --help` says more; --version prints the version.\n",
          out);
}

static int unknown(const char *word)
{
    struct fv_near near = { word, strlen(word), NULL, 0 };

    for (int i = 0; i < COMMANDS; i++)
        fv_near_try(&near, commands[i].name, commands[i].name);
    const char *meant = fv_near_item(&near, 0);
    if (meant)
        fv_log("%s: no such command; did you mean `fvmpi %s`?", word, meant);
    else
        fv_log("%s: no such command; `fvmpi --help` lists them", word);
    return FV_EXIT_USAGE;
}

/* A program's own arguments may be anything. */
static int start(int command, int argc, char **argv)
{
    if (commands[command].main != fv_cmd_run && commands[command].main != fv_cmd_record)
        fv_errors_begin(argc, argv);
    return fv_errors_end(commands[command].main(argc, argv));
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        print_help(stderr);
        return FV_EXIT_USAGE;
    }
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") || !strcmp(argv[1], "help")) {
        print_help(stdout);
        return FV_EXIT_OK;
    }
    if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
        puts("fvmpi " FVMPI_VERSION);
        return FV_EXIT_OK;
    }
    for (int i = 0; i < COMMANDS; i++)
        if (!strcmp(argv[1], commands[i].name))
            return start(i, argc - 1, argv + 1);
    return unknown(argv[1]);
}
