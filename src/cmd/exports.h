/* SPDX-License-Identifier: BSD-3-Clause */
/* What fvmpi report writes for other people's tools: a row is an option that names a file. */
#ifndef FV_CMD_EXPORTS_H
#define FV_CMD_EXPORTS_H

#include "cmd/arguments.h"
#include "cmd/output.h"
#include "experiment/experiment.h"
#include "views/views.h"

#include <getopt.h>

/* Of a profile: X(ID, option, samples: it holds nothing else, writer, what it is). */
#define FV_EXPORTS(X)                                                                          \
    X(BADGE, "badge", false, fv_view_badge, "parallel efficiency as a small picture (SVG)")    \
    X(FOLDED, "folded", true, fv_view_folded,                                                  \
      "stacks with their samples, one a line, for flame graphs (of a run with --sample)")      \
    X(SPEEDSCOPE, "speedscope", true, fv_view_speedscope, "the same for speedscope.app")       \
    X(PPROF, "pprof", true, fv_view_pprof, "the same for pprof; ranks and threads are labels") \
    X(CALLGRIND, "callgrind", true, fv_view_callgrind, "the same for KCachegrind")

enum fv_export {
#define FV_EXPORT(id, option, samples, write, about) FV_EXPORT_##id,
    FV_EXPORTS(FV_EXPORT)
#undef FV_EXPORT
        FV_EXPORT_PERFETTO, /* of a trace */
    FV_EXPORT_SQLITE,       /* of both, and no stream */
    FV_EXPORT_COUNT,
    FV_EXPORT_FROM = FV_EXPORT_COUNT, /* no files: options of those of a trace */
    FV_EXPORT_TO,
};
enum { FV_OPT_EXPORT = 640 }; /* and enum fv_export */

struct fv_exports {
    const char *paths[FV_EXPORT_COUNT]; /* NULL: not asked for */
    struct fv_part part;                /* of the trace */
};

/* For the table of options of a command, and for its usage. */
#define FV_EXPORT_OPTION(id, option, samples, write, about) \
    { option, required_argument, NULL, FV_OPT_EXPORT + FV_EXPORT_##id },
#define FV_EXPORT_OPTIONS                                                                                    \
    FV_EXPORTS(FV_EXPORT_OPTION){ "perfetto", required_argument, NULL, FV_OPT_EXPORT + FV_EXPORT_PERFETTO }, \
        { "sqlite", required_argument, NULL, FV_OPT_EXPORT + FV_EXPORT_SQLITE },                             \
        { "from", required_argument, NULL, FV_OPT_EXPORT + FV_EXPORT_FROM },                                 \
    {                                                                                                        \
        "to", required_argument, NULL, FV_OPT_EXPORT + FV_EXPORT_TO                                          \
    }
#define FV_EXPORT_LINE(id, option, samples, write, about) "  --" option " FILE  write " about "\n"
#define FV_EXPORT_USAGE                                                                                         \
    FV_EXPORTS(FV_EXPORT_LINE)                                                                                  \
    "  --perfetto FILE  write all of the trace for ui.perfetto.dev (of a run with --trace, or of an archive)\n" \
    "  --sqlite FILE  write all tables, and the trace, to a new SQLite database\n"                              \
    "  --from S, --to S  report this part of a run with --trace or of an archive, in seconds from its begin\n"

/* Takes an option with its value: what the `take` of struct fv_arguments returns. */
int fv_export_option(int option, const char *value, struct fv_exports *exports, fv_arguments_wrong_fn *wrong);
/* Do the options go together? FV_GO_ON, or what `wrong` says. */
int fv_exports_check(const struct fv_exports *exports, fv_arguments_wrong_fn *wrong);
/* The first option that is asked for; NULL: none is. */
const char *fv_exports_any(const struct fv_exports *exports);
/* Is nothing asked for but the trace by itself? */
bool fv_exports_of_trace_alone(const struct fv_exports *exports);
/* For fv_output_check(). How many. */
size_t fv_exports_files(const struct fv_exports *exports, struct fv_output_file out[FV_EXPORT_COUNT]);
/* Those of a profile; that of a trace: an experiment directory or an archive. 0, or the error, which was logged.
 * Of the trace, the chosen ranks and threads. */
struct fv_exported {
    const struct fv_profile *profile;
    const char *trace;
    bool is_alone; /* that is the only directory of the run */
    const struct fv_choice *choice;
};
int fv_exports_write(const struct fv_exports *exports, const struct fv_profile *profile);
int fv_exports_write_trace(const struct fv_exports *exports, const struct fv_exported *of);
int fv_exports_write_database(const struct fv_exports *exports, const struct fv_exported *of);

#endif
