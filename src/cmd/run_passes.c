/* SPDX-License-Identifier: BSD-3-Clause */
/* See run_passes.h. */
#include "cmd/run_passes.h"
#include "base/experiment.h"
#include "base/shell.h"
#include "cmd/child.h"
#include "cmd/cmd.h"
#include "cmd/counters.h"
#include "cmd/launcher.h"
#include "cmd/rerun.h"

#include <limits.h>
#include <stdio.h>

/* `output` is the directory that was asked for. */
static int run_pass(const struct fv_rerun *rerun, const char *output, unsigned pass, unsigned passes)
{
    char number[32], directory[PATH_MAX];
    const char *const own[] = { "--passes=0", number, "-o", directory, NULL };

    snprintf(number, sizeof(number), "--counters-pass=%u/%u", pass, passes);
    snprintf(directory, sizeof(directory), "%s-%u", output, pass);
    fv_log("run: pass %u of %u: %s", pass, passes, directory);
    return fv_rerun(rerun, own, NULL);
}

int fv_run_passes(const struct fv_config *config, int argc, char **argv, int rest)
{
    const char *output = fv_config_get(config, "--output"), *list = fv_config_get(config, "--counters");
    int status = FV_EXIT_OK;

    if (!*list || !*output || fv_under_launcher()) {
        fv_log("run: --passes: %s", !*list ? "it needs --counters"
                                    : !*output
                                        ? "name the experiments: -o DIR makes DIR-1, DIR-2 ..."
                                        : "it must start the launcher; say fvmpi run --passes ... -- mpiexec ...");
        return FV_EXIT_USAGE;
    }
    unsigned passes = fv_counters_passes(list);
    if (!passes)
        return FV_EXIT_USAGE;
    for (unsigned pass = 1; pass <= passes && status == FV_EXIT_OK; pass++)
        status = run_pass(&(struct fv_rerun){ argc, rest, argv }, output, pass, passes);
    if (status == FV_EXIT_OK && passes > 1)
        fv_log("run: all counters together: %s-*", FV_COMMAND("fvmpi", "report", output));
    return status;
}
