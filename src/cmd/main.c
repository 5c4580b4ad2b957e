/* fvmpi: a table of sub-commands. */
#include "base/base.h"
#include "base/near.h"
#include "cmd/cmd.h"
#include "fvmpi.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *name;
    int (*main)(int argc, char **argv);
    const char *arguments, *help;
} commands[] = {
    { "run", fv_cmd_run, "[options] ./app args", "run an MPI program and record where its time goes" },
    { "gather", fv_cmd_gather, "DIR ...", "move what `run --local` left on this host to its experiment" },
    { "report", fv_cmd_report, "DIR", "say what was recorded: text, JSON, CSV" },
    { "diff", fv_cmd_diff, "A B", "say what changed from one run, or several, to others" },
    { "scaling", fv_cmd_scaling, "DIR DIR...", "say how a program scales, from runs on several numbers of ranks" },
    { "stacks", fv_cmd_stacks, "DIR [DIR...]", "say what takes the speedup of threads" },
    { "stat", fv_cmd_stat, "[EVENT...]", "show what the machine counts meanwhile, a line a sample" },
    { "record", fv_cmd_record, "[EVENT...] [-- CMD]", "record what the machine counts meanwhile, to a file" },
    { "live", fv_cmd_live, "[DIR] [EVENT...]", "show how a job does, and what the machine counts, in a browser" },
    { "label", fv_cmd_label, "TEXT [FIFO|DIR]", "mark the present in such a recording" },
    { "doctor", fv_cmd_doctor, "[CHECK...]", "say what makes measurements vary on this machine, and mend it" },
    { "dump", fv_cmd_dump, "DIR", "print every record of the rank files" },
    { "check", fv_cmd_check, "ARCHIVE", "find what is wrong in an OTF2 archive" },
    { "selftest", fv_cmd_selftest, "", "test this installation on a small program, in seconds" },
};
enum { COMMANDS = sizeof(commands) / sizeof(*commands) };

static void print_help(FILE *out)
{
    fputs("usage: fvmpi COMMAND ...\n\n", out);
    for (int i = 0; i < COMMANDS; i++)
        fprintf(out, "  fvmpi %-8s %-20s %s\n", commands[i].name, commands[i].arguments, commands[i].help);
    fputs("\n  mpiexec -n 4 fvmpi run -o DIR ./app    and then    fvmpi report DIR\n"
          "  fvunify DIR                            makes an OTF2 archive of what `run --trace` recorded\n"
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
            return commands[i].main(argc - 1, argv + 1);
    return unknown(argv[1]);
}
