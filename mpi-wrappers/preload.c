/* SPDX-License-Identifier: BSD-3-Clause */
/* The wrong library under a program: handles of one MPI through wrappers of the other crash in the first
 * real call. It is found out before main, and undone: the program is started again, in the same process,
 * without us. Rejected: passing calls on, since the wrappers are compiled for the other MPI's types. */
#include "glue.h"

#include "base/experiment.h"

#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* "-threads" in the library that has --threads, else NULL. */
extern const char fv_library_suffix[] __attribute__((weak, visibility("hidden")));

struct found {
    enum fv_mpi_library mpi;
    const char *name;
};

/* One that we do not know may be the Open MPI that we are linked with. */
static bool is_foreign(enum fv_mpi_library mpi)
{
    return mpi != FV_MPI_NONE && mpi != FV_OUR_MPI && (mpi != FV_MPI_UNKNOWN || FV_OUR_MPI != FV_MPI_OPENMPI);
}

/* The first that is foreign, unless the standard ABI's is there: what stands behind that is none of the
 * program's. */
static int find_mpi(struct dl_phdr_info *info, size_t size, void *arg)
{
    enum fv_mpi_library mpi = fv_mpi_of_library(fv_base_name(info->dlpi_name));
    struct found *found = arg;
    (void)size;

    if (mpi == FV_MPI_STANDARD || (!found->name && is_foreign(mpi)))
        *found = (struct found){ mpi, info->dlpi_name };
    return mpi == FV_MPI_STANDARD;
}

/* What to do instead. */
static void tell(const struct found *found, bool preloaded)
{
    const char *suffix = fv_library_suffix ? fv_library_suffix : "", *ours = fv_mpi_flavour(FV_OUR_MPI);
    const char *then = preloaded ? "it runs unrecorded" : "it cannot work like this";

    if (found->mpi == FV_MPI_UNKNOWN)
        fv_log("libfvmpi-%s%s.so: this library does not fit the program's MPI (%s); %s", ours, suffix, found->name,
               then);
    else
        fv_log("libfvmpi-%s%s.so: the program uses %s (%s); %s libfvmpi-%s%s.so instead, %s", ours, suffix,
               fv_mpi_name(found->mpi), found->name, preloaded ? "preload" : "link", fv_mpi_flavour(found->mpi), suffix,
               then);
}

/* A file of ours: libfvmpi-mpich.so, libfvmpi-mpich-threads.so.0; what follows ends an entry of the list. */
static bool is_ours(const char *base, size_t n)
{
    static const char suffix[] = "-threads", so[] = ".so";
    char name[32];
    size_t used = (size_t)snprintf(name, sizeof(name), "libfvmpi-%s", fv_mpi_flavour(FV_OUR_MPI));

    if (n < used || strncmp(base, name, used))
        return false;
    if (n - used > strlen(suffix) && !strncmp(base + used, suffix, strlen(suffix)))
        used += strlen(suffix);
    if (n - used < strlen(so) || strncmp(base + used, so, strlen(so)))
        return false;
    used += strlen(so);
    return n == used || base[used] == '.';
}

/* LD_PRELOAD without our entries, into out; false: we are not in it. */
static bool strip_preload(const char *value, char *out)
{
    bool stripped = false;

    *out = '\0';
    while (*value) {
        size_t n = strcspn(value, " :");
        const char *slash = memrchr(value, '/', n), *base = slash ? slash + 1 : value;

        if (n && is_ours(base, n - (size_t)(base - value))) {
            stripped = true;
        } else if (n) {
            if (*out)
                strcat(out, ":");
            strncat(out, value, n);
        }
        value += n + (value[n] != '\0');
    }
    return stripped;
}

/* Before next.c looks at the MPI. */
__attribute__((constructor(102))) static void check_program(int argc, char **argv, char **envp)
{
    struct found found = { FV_MPI_NONE, NULL };
    const char *preload = fv_env("LD_PRELOAD");
    char program[PATH_MAX];
    (void)argc;

    dl_iterate_phdr(find_mpi, &found);
    if (!is_foreign(found.mpi))
        return;
    char stripped[preload ? strlen(preload) + 1 : 1];
    bool preloaded = preload && strip_preload(preload, stripped);
    if (fv_first_rank())
        tell(&found, preloaded);
    if (!preloaded)
        return;
    ssize_t n = readlink("/proc/self/exe", program, sizeof(program) - 1);
    if (n <= 0)
        return;
    program[n] = '\0';
    if (*stripped)
        setenv("LD_PRELOAD", stripped, 1);
    else
        unsetenv("LD_PRELOAD");
    (void)envp;
    execve(program, argv, environ);
    fv_log("%s: cannot start it again without fvmpi: %s; unset LD_PRELOAD", program, strerror(errno));
}
