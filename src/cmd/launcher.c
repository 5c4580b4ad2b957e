/* SPDX-License-Identifier: BSD-3-Clause */
/* See launcher.h. */
#include "cmd/launcher.h"
#include "cmd/loader.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const flavour_names[] = { "", FV_FLAVOUR_CHOICES(FV_LIST_WORD) };

const char *fv_flavour_name(enum fv_flavour flavour)
{
    return flavour_names[flavour];
}

enum fv_flavour fv_flavour_by_name(const char *name)
{
    for (int i = FV_FLAVOUR_MPICH; i <= FV_FLAVOUR_SERIAL; i++)
        if (!strcmp(name, flavour_names[i]))
            return (enum fv_flavour)i;
    return FV_FLAVOUR_NONE;
}

bool fv_is_launcher(const char *word)
{
    static const char *const whole[] = { "mpiexec", "mpirun", "orterun",    "prterun", "prun",
                                         "srun",    "aprun",  "mpirun_rsh", "jsrun" };
    const char *name = fv_base_name(word);

    for (unsigned i = 0; i < sizeof(whole) / sizeof(*whole); i++)
        if (!strcmp(name, whole[i]))
            return true;
    return !strncmp(name, "mpiexec.", 8) || !strncmp(name, "mpirun.", 7); /* .hydra, .mpich, .openmpi */
}

static enum fv_flavour flavour_of_name(const char *name)
{
    if (strstr(name, "hydra") || strstr(name, "mpich"))
        return FV_FLAVOUR_MPICH;
    if (strstr(name, "openmpi") || strstr(name, "orterun") || strstr(name, "prterun"))
        return FV_FLAVOUR_OPENMPI;
    return FV_FLAVOUR_NONE;
}

/* A launcher is called mpiexec as often as not; the name behind its links, then its libraries tell. */
enum fv_flavour fv_launcher_flavour(const char *path)
{
    struct fv_libraries libraries = { .items = NULL };
    char *real = realpath(path, NULL);
    enum fv_flavour flavour = flavour_of_name(fv_base_name(path));

    if (!flavour && real)
        flavour = flavour_of_name(fv_base_name(real));
    if (!flavour && real && !fv_loader_scan(real, &libraries))
        for (size_t i = 0; i < libraries.count && !flavour; i++)
            if (!strncmp(libraries.items[i].name, "libopen-rte.so", 14) ||
                !strncmp(libraries.items[i].name, "libprrte.so", 11))
                flavour = FV_FLAVOUR_OPENMPI;
    fv_libraries_release(&libraries);
    free(real);
    return flavour;
}

static int number_after(const char *text)
{
    char *end;
    long n = strtol(text, &end, 10);

    return end != text && !*end && n > 0 && n <= INT_MAX ? (int)n : 0;
}

/* -n 4, -np 4, -c 4, --np 4, --n=4, --ntasks=4. A second one, or a colon, starts another program. */
int fv_launcher_ranks(char *const argv[])
{
    static const char *const names[] = { "-n", "-np", "--n", "--np", "-c", "--ntasks" };
    bool is_srun = !strcmp(fv_base_name(argv[0]), "srun"); /* whose -c is cpus per task */
    int ranks = 0;

    for (int i = 1; argv[i]; i++) {
        if (!strcmp(argv[i], ":"))
            return 0;
        for (unsigned k = 0; k < sizeof(names) / sizeof(*names); k++) {
            size_t n = strlen(names[k]);
            const char *value = NULL;
            if (!strcmp(argv[i], names[k]))
                value = argv[i + 1];
            else if (!strncmp(argv[i], names[k], n) && argv[i][n] == '=')
                value = argv[i] + n + 1;
            if (!value || (is_srun && !strcmp(names[k], "-c")))
                continue;
            if (ranks)
                return 0; /* may as well be the program's own */
            ranks = number_after(value);
        }
    }
    return ranks;
}

bool fv_under_launcher(void)
{
    return getenv("OMPI_COMM_WORLD_RANK") || getenv("JSM_NAMESPACE_RANK") || getenv("PMIX_RANK") ||
           getenv("PMI_RANK") || getenv("PALS_RANKID") || getenv("FLUX_TASK_RANK") || getenv("ALPS_APP_PE") ||
           (getenv("SLURM_PROCID") && getenv("SLURM_STEP_ID")); /* batch scripts have the first alone */
}

enum fv_flavour fv_environment_flavour(const char **why)
{
    if (getenv("OMPI_COMM_WORLD_SIZE")) {
        *why = "OMPI_COMM_WORLD_SIZE";
        return FV_FLAVOUR_OPENMPI;
    }
    if (getenv("PMI_RANK") && (getenv("MPI_LOCALNRANKS") || getenv("HYDI_CONTROL_FD"))) {
        *why = "PMI_RANK";
        return FV_FLAVOUR_MPICH;
    }
    return FV_FLAVOUR_NONE;
}

static bool is_executable(const char *path)
{
    struct stat st;

    if (stat(path, &st))
        return false;
    if (S_ISDIR(st.st_mode)) {
        errno = EACCES;
        return false;
    }
    return !access(path, X_OK);
}

bool fv_find_program(const char *word, char *out, size_t size)
{
    const char *path = getenv("PATH");
    int error = ENOENT;

    if (strchr(word, '/'))
        return snprintf(out, size, "%s", word) < (int)size && is_executable(out);
    for (const char *p = path ? path : "/bin:/usr/bin"; p && *word; p = *p ? p + 1 : NULL) {
        size_t n = strcspn(p, ":");
        int used = snprintf(out, size, "%.*s%s%s", (int)n, p, n ? "/" : "./", word);
        if (used > 0 && (size_t)used < size) {
            if (is_executable(out))
                return true;
            if (errno == EACCES)
                error = EACCES;
        }
        p += n;
    }
    errno = error;
    return false;
}
