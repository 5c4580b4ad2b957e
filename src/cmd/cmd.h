/* SPDX-License-Identifier: BSD-3-Clause */
/* The sub-commands of fvmpi. Each gets its own name in argv[0] and returns the process's exit status. */
#ifndef FV_CMD_H
#define FV_CMD_H

enum fv_exit {
    FV_EXIT_OK = 0,
    FV_EXIT_FAILED = 1,
    FV_EXIT_USAGE = 2,
    FV_EXIT_CANNOT_RUN = 126, /* the program is there but cannot be started: as a shell says it */
    FV_EXIT_NOT_FOUND = 127,
};

int fv_cmd_run(int argc, char **argv);
int fv_cmd_report(int argc, char **argv);
int fv_cmd_explain(int argc, char **argv);
int fv_cmd_mcp(int argc, char **argv);
int fv_cmd_diff(int argc, char **argv);
int fv_cmd_scaling(int argc, char **argv);
int fv_cmd_dump(int argc, char **argv);
int fv_cmd_stacks(int argc, char **argv);
int fv_cmd_stat(int argc, char **argv);
int fv_cmd_doctor(int argc, char **argv);
int fv_cmd_record(int argc, char **argv);
int fv_cmd_live(int argc, char **argv);
int fv_cmd_view(int argc, char **argv);
int fv_cmd_query(int argc, char **argv);
int fv_cmd_where(int argc, char **argv);
int fv_cmd_keep(int argc, char **argv);
int fv_cmd_label(int argc, char **argv);
int fv_cmd_gather(int argc, char **argv);
int fv_cmd_check(int argc, char **argv);
int fv_cmd_selftest(int argc, char **argv);

#endif
