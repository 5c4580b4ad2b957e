/* The wrong library under a program: handles of one MPI through wrappers of the other crash in the first
 * real call. It is found out before main, and undone: the program is started again, in the same process,
 * without us. Rejected: passing calls on, since the wrappers are compiled for the other MPI's types. */
#include "base/base.h"
#include "base/experiment.h"
#include "base/mpi_library.h"

#include <mpi.h>

#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* "-threads" in the library that has --threads, else NULL. */
extern const char fv_library_suffix[] __attribute__((weak, visibility("hidden")));

#if defined(OPEN_MPI)
#define OURS      "libfvmpi-openmpi"
#define OTHER     "libfvmpi-mpich"
#define OTHER_MPI "MPICH"
/* One that we do not know may be the Open MPI that we are linked with. */
static bool is_foreign(enum fv_mpi_library mpi)
{
    return mpi == FV_MPI_MPICH;
}
#else
#define OURS      "libfvmpi-mpich"
#define OTHER     "libfvmpi-openmpi"
#define OTHER_MPI "Open MPI"
static bool is_foreign(enum fv_mpi_library mpi)
{
    return mpi == FV_MPI_OPENMPI || mpi == FV_MPI_UNKNOWN;
}
#endif

static int find_foreign(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)size;
    if (!is_foreign(fv_mpi_of_library(fv_base_name(info->dlpi_name))))
        return 0;
    *(const char **)arg = info->dlpi_name;
    return 1;
}

/* What to do instead. */
static void tell(const char *found, bool preloaded)
{
    const char *suffix = fv_library_suffix ? fv_library_suffix : "";
    const char *then = preloaded ? "it runs unrecorded" : "it cannot work like this";

    if (fv_mpi_of_library(fv_base_name(found)) == FV_MPI_UNKNOWN)
        fv_log(OURS "%s.so: the program uses an MPI that this library is not for (%s); %s", suffix, found,
               then);
    else
        fv_log(OURS "%s.so: the program uses %s (%s); %s " OTHER "%s.so instead, %s", suffix, OTHER_MPI,
               found, preloaded ? "preload" : "link", suffix, then);
}

/* A file of ours: libfvmpi-mpich.so, libfvmpi-mpich-threads.so.0; what follows ends an entry of the list. */
static bool is_ours(const char *base, size_t n)
{
    static const char suffix[] = "-threads", so[] = ".so";
    size_t used = strlen(OURS);

    if (n < used || strncmp(base, OURS, used))
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
    const char *found = NULL, *preload = getenv("LD_PRELOAD");
    char program[PATH_MAX];
    (void)argc;

    dl_iterate_phdr(find_foreign, &found);
    if (!found)
        return;
    char stripped[preload ? strlen(preload) + 1 : 1];
    bool preloaded = preload && strip_preload(preload, stripped);
    if (fv_first_rank())
        tell(found, preloaded);
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
