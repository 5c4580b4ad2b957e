/* SPDX-License-Identifier: BSD-3-Clause */
/* Stands for the checker where the OTF2 library was missing when fvmpi was built. */
#include "otf2/check.h"

int fv_check_archive(const char *path, const struct fv_check_options *options, struct fv_check_result *out)
{
    (void)options;
    (void)out;
    fv_log("%s: this fvmpi was built without OTF2; install the package libotf2-trace-dev, then configure and "
           "build "
           "fvmpi again",
           path);
    return -FV_ENOENT;
}
