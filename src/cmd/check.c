/* SPDX-License-Identifier: BSD-3-Clause */
/* fvmpi check: says what is wrong in an OTF2 archive, ours or another tool's. */
#include "cmd/arguments.h"
#include "base/shell.h"
#include "cmd/cmd.h"
#include "cmd/errors.h"
#include "cmd/output.h"
#include "otf2/check.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

struct options {
    const char *archive, *json;
    bool all, strict;
    char anchor[PATH_MAX]; /* of a directory's archive */
};

static const char usage[] =
    "usage: fvmpi check ARCHIVE [options]\n"
    "Checks an OTF2 archive of any tool. It prints each fault on one line, with the location, the time and the "
    "record.\n"
    "ARCHIVE is the anchor file, such as traces.otf2, or its directory.\n"
    "\n"
    "  --all          every fault; without it, the first 10 of each kind, and how many others there are\n"
    "  --strict       warnings also make the exit status 1\n"
    "  --json FILE    write faults and counts as JSON, schema fvmpi-check-1, in place of the text; - is stdout\n"
    "  -h, --help     print this help\n"
    "\n"
    "Exit status: 0 no errors, 1 errors, or the archive cannot be read, 2 wrong usage.\n";

static int wrong(const char *what, const char *why)
{
    return fv_arguments_wrong("fvmpi check", what, why);
}

enum { OPT_ALL = 256, OPT_STRICT, OPT_JSON };

static int take_option(void *options, int option)
{
    struct options *o = options;

    switch (option) {
    case OPT_ALL: o->all = true; return FV_GO_ON;
    case OPT_STRICT: o->strict = true; return FV_GO_ON;
    case OPT_JSON: o->json = optarg; return FV_GO_ON;
    case 'h': fputs(usage, stdout); return FV_EXIT_OK;
    }
    return FV_UNKNOWN_OPTION;
}

/* As fvunify names it. Of another directory the check says what to name. */
static int find_anchor(struct options *o)
{
    struct stat st;

    if (stat(o->archive, &st) || !S_ISDIR(st.st_mode))
        return FV_GO_ON;
    int length = snprintf(o->anchor, sizeof(o->anchor), "%s/traces.otf2", o->archive);
    if (length > 0 && length < (int)sizeof(o->anchor) && !stat(o->anchor, &st)) {
        o->archive = o->anchor;
    } else if (fv_output_holds_run(o->archive)) {
        fv_log("%s: no archive in it; make one from its trace: %s", o->archive, FV_COMMAND("fvunify", o->archive));
        return FV_EXIT_FAILED;
    }
    return FV_GO_ON;
}

static int parse(int argc, char **argv, struct options *o)
{
    static const struct option table[] = {
        { "all", no_argument, NULL, OPT_ALL },
        { "strict", no_argument, NULL, OPT_STRICT },
        { "json", required_argument, NULL, OPT_JSON },
        { "help", no_argument, NULL, 'h' },
        { 0 },
    };
    static const struct fv_arguments arguments = { "h", table, take_option, wrong, "archive", true };

    *o = (struct options){ 0 };
    struct fv_operands archives;
    int status = fv_arguments_take(&arguments, argc, argv, o, &archives);
    if (status >= 0)
        return status;
    o->archive = archives.items[0];
    return find_anchor(o);
}

static int check_to_json(const struct options *o, struct fv_check_result *result)
{
    struct fv_whole_file file;
    int failed = fv_output_open(&file, o->json, "--json");

    if (failed)
        return failed;
    struct fv_json json = { .out = file.stream };
    const struct fv_check_options options = { .all = o->all, .json = &json };
    fv_json_object(&json, NULL);
    fv_json_string(&json, "schema", "fvmpi-check-1");
    fv_json_string(&json, "archive", o->archive);
    int err = fv_check_archive(o->archive, &options, result);
    if (err)
        return fv_whole_file_close(&file, err); /* which was said: what stood there stays */
    fv_json_end(&json);
    return fv_output_close(&file, o->json, "--json", json.failed ? -FV_EIO : 0);
}

static int check_to_text(const struct options *o, struct fv_check_result *result)
{
    const struct fv_check_options options = { .all = o->all, .text = stdout };
    int err = fv_check_archive(o->archive, &options, result);

    if (fflush(stdout) || ferror(stdout)) {
        fv_log("check: standard output: %s; write it elsewhere", fv_strerror(-FV_EIO));
        return -FV_EIO;
    }
    return err;
}

int fv_cmd_check(int argc, char **argv)
{
    struct fv_check_result result = { 0 };
    struct options options;
    int status = parse(argc, argv, &options);

    if (status >= 0)
        return status;
    const int err = options.json ? check_to_json(&options, &result) : check_to_text(&options, &result);
    if (err)
        return fv_exit_status(err);
    return fv_exit_answer(!result.errors && !(options.strict && result.warnings));
}
