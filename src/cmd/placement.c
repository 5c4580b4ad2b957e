/* SPDX-License-Identifier: BSD-3-Clause */
/* See placement.h. */
#include "cmd/placement.h"
#include "base/base.h"
#include "base/options.h"
#include "cmd/launcher.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>

/* A launcher that fvmpi knows to bind ranks. */
struct binder {
    const char *option;      /* in front of: */
    const char *to[FV_PINS]; /* as in `pins`; option NULL: it is one word */
    const char *given[6];    /* options that a user would say it by, NULL behind the last */
    const char *variable[2]; /* ... and variables */
};
static const char *const pins[] = { FV_PIN_CHOICES(FV_LIST_WORD) };
static const struct binder open_mpi = { "--bind-to",
                                        { [FV_PIN_CORES] = "core",
                                          [FV_PIN_SOCKETS] = "socket",
                                          [FV_PIN_NUMA] = "numa",
                                          [FV_PIN_THREADS] = "hwthread" },
                                        { "--bind-to", "-bind-to", "--bind-to-core", "--bind-to-socket", "--cpu-set" },
                                        { "OMPI_MCA_hwloc_base_binding_policy",
                                          "PRTE_MCA_hwloc_default_binding_policy" } },
                           hydra = { "-bind-to",
                                     { [FV_PIN_CORES] = "core",
                                       [FV_PIN_SOCKETS] = "socket",
                                       [FV_PIN_NUMA] = "numa",
                                       [FV_PIN_THREADS] = "hwthread" },
                                     { "-bind-to", "--bind-to", "-binding", "--binding" },
                                     { "HYDRA_BINDING" } },
                           slurm = { NULL,
                                     { [FV_PIN_CORES] = "--cpu-bind=cores",
                                       [FV_PIN_SOCKETS] = "--cpu-bind=sockets",
                                       [FV_PIN_NUMA] = "--cpu-bind=ldoms",
                                       [FV_PIN_THREADS] = "--cpu-bind=threads" },
                                     { "--cpu-bind", "--cpu_bind" },
                                     { "SLURM_CPU_BIND" } };

static bool is_of_slurm(const char *launcher)
{
    return !strcmp(fv_base_name(launcher), "srun");
}

/* Intel's mpiexec is made of Hydra, but binds by variables of its own. */
static bool is_of_intel(const char *launcher)
{
    const char *root = getenv("I_MPI_ROOT");
    char *real = realpath(launcher, NULL);
    bool is = root && *root && real && !strncmp(real, root, strlen(root));

    free(real);
    return is;
}

static const struct binder *binder_of(const char *launcher)
{
    if (is_of_slurm(launcher))
        return &slurm;
    if (is_of_intel(launcher))
        return NULL;
    switch (fv_launcher_flavour(launcher)) {
    case FV_FLAVOUR_OPENMPI: return &open_mpi;
    case FV_FLAVOUR_MPICH: return &hydra;
    default: return NULL;
    }
}

/* The word or variable that says already where ranks are bound; NULL: none does. A program's own words count, too:
 * nobody can tell where they begin. */
static const char *already(const struct binder *b, char *const argv[])
{
    for (unsigned k = 0; k < sizeof(b->variable) / sizeof(*b->variable) && b->variable[k]; k++)
        if (getenv(b->variable[k]))
            return b->variable[k];
    for (unsigned k = 0; b->given[k]; k++)
        for (int i = 1; argv[i]; i++) {
            size_t length = strlen(b->given[k]);

            if (!strncmp(argv[i], b->given[k], length) && (!argv[i][length] || argv[i][length] == '='))
                return argv[i];
        }
    return NULL;
}

int fv_pin_words(const char *launcher, char *const argv[], const char *what, const char *words[FV_PIN_WORDS])
{
    const struct binder *b = launcher ? binder_of(launcher) : NULL;
    const char *given = b ? already(b, argv) : NULL;
    unsigned to = 0;

    if (!b) {
        fv_log("run: --pin %s: %s; bind ranks by an option of the launcher, or one process by taskset(1)", what,
               launcher ? "fvmpi does not know how this launcher binds ranks"
                        : "fvmpi starts no launcher here, as in `fvmpi run --pin cores -- mpiexec ...`");
        return 0;
    }
    if (given) {
        fv_log("run: --pin %s: %s already binds ranks; leave one of them out", what, given);
        return 0;
    }
    while (to + 1 < sizeof(pins) / sizeof(*pins) && strcmp(pins[to], what) != 0)
        to++;
    int count = 0;
    if (b->option)
        words[count++] = b->option;
    words[count++] = b->to[to];
    return count;
}

/* Those start ranks by daemons of their own. */
static bool is_by_daemons(const char *launcher)
{
    static const char *const names[] = { "srun", "aprun", "jsrun", "prun" };

    for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (!strcmp(fv_base_name(launcher), names[i]))
            return true;
    return false;
}

bool fv_aslr_off(const char *launcher)
{
    int now;

    if (launcher && is_by_daemons(launcher)) {
        fv_log("run: --aslr off: ranks of %s do not inherit it from here; start each rank by it: `%s ... fvmpi run "
               "--aslr off ./app`",
               fv_base_name(launcher), fv_base_name(launcher));
        return false;
    }
    now = personality(0xffffffff); /* tells */
    if (now < 0 || personality((unsigned long)now | ADDR_NO_RANDOMIZE) < 0) {
        fv_log("run: --aslr off: the kernel refuses it: %s; run without it", strerror(errno));
        return false;
    }
    return true;
}
