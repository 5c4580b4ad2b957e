/* SPDX-License-Identifier: BSD-3-Clause */
/* fvunify as users call it: starts the flavour that fits the launcher, from beside itself. A program that is
 * linked with one MPI cannot be a rank of another's mpiexec. */
#include "cmd/cmd.h"
#include "cmd/install.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static enum fv_flavour flavour_here(void)
{
    const char *why;
    enum fv_flavour flavour = fv_environment_flavour(&why);

    if (flavour || !fv_under_launcher())
        return flavour ? flavour : FV_FLAVOUR_SERIAL;
    return getenv("PMIX_RANK") ? FV_FLAVOUR_OPENMPI : FV_FLAVOUR_MPICH; /* srun and its like */
}

int main(int argc, char **argv)
{
    const char *wanted = getenv("FVMPI_UNIFY_FLAVOUR");
    enum fv_flavour flavour = wanted && *wanted ? fv_flavour_by_name(wanted) : flavour_here();
    char name[32], path[PATH_MAX + 32];

    (void)argc;
    if (!flavour || flavour == FV_FLAVOUR_ABI) {
        fv_log("FVMPI_UNIFY_FLAVOUR=%s: not one of mpich, openmpi and serial", wanted);
        return FV_EXIT_USAGE;
    }
    snprintf(name, sizeof(name), "fvunify-%s", fv_flavour_name(flavour));
    if (!fv_install_beside(name, path, sizeof(path))) {
        fv_log("fvunify: /proc is not mounted, and is needed to find its files; mount it: mount -t proc proc /proc");
        return FV_EXIT_FAILED;
    }
    execv(path, argv);
    fv_log("%s: %s; this fvmpi was built without %s. Run fvunify without mpiexec", path, strerror(errno),
           flavour == FV_FLAVOUR_SERIAL ? "OTF2 (package libotf2-trace-dev)" : fv_flavour_name(flavour));
    return errno == ENOENT ? FV_EXIT_NOT_FOUND : FV_EXIT_CANNOT_RUN;
}
