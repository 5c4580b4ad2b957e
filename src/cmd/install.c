/* SPDX-License-Identifier: BSD-3-Clause */
/* See install.h. */
#include "cmd/install.h"

#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

/* configure's, without links: FV_BINDIR and FV_LIBDIR come from the Makefile. */
static const char bindir[] = FV_BINDIR, libdir[] = FV_LIBDIR;

/* Without /proc, by the name that the kernel was given. */
static bool own_directory(char *out, size_t size)
{
    const char *name = (const char *)getauxval(AT_EXECFN);
    ssize_t n = readlink("/proc/self/exe", out, size - 1);

    if (n <= 0) {
        char *real = name ? realpath(name, NULL) : NULL;

        n = real ? snprintf(out, size, "%s", real) : 0;
        free(real);
        if (n <= 0 || (size_t)n >= size)
            return false;
    }
    out[n] = '\0';
    char *slash = strrchr(out, '/');
    if (slash)
        *slash = '\0';
    return slash != NULL;
}

/* libdir as seen from bindir, applied to where the executable is now: /a/bin and /a/lib/x make ../lib/x. */
static void relocated(char *out, size_t size, const char *here)
{
    size_t common = 0, used;

    for (size_t i = 0; bindir[i] && bindir[i] == libdir[i]; i++)
        if (bindir[i] == '/')
            common = i + 1;
    used = (size_t)snprintf(out, size, "%s", here);
    for (const char *p = bindir + common; p && *p && used < size; p = strchr(p, '/'), p += p != NULL)
        used += (size_t)snprintf(out + used, size - used, "/..");
    if (used < size)
        snprintf(out + used, size - used, "/%s", libdir + common);
}

static bool try_in(const char *directory, const char *name, char *out, size_t size)
{
    char path[PATH_MAX + 64];

    snprintf(path, sizeof(path), "%s/%s", directory, name);
    char *real = realpath(directory, NULL); /* ranks may start in another directory */
    if (real)
        snprintf(path, sizeof(path), "%s/%s", real, name);
    free(real);
    snprintf(out, size, "%s", path);
    return !access(path, R_OK);
}

static int find(const char *name, char *out, size_t size)
{
    const char *wanted = getenv("FVMPI_LIBDIR");
    char here[PATH_MAX], directory[PATH_MAX + 512];

    if (wanted && *wanted)
        return try_in(wanted, name, out, size) ? 0 : -FV_ENOENT;
    if (own_directory(here, sizeof(here))) {
        snprintf(directory, sizeof(directory), "%s/.libs", here);
        if (try_in(directory, name, out, size))
            return 0;
        relocated(directory, sizeof(directory), here);
        if (try_in(directory, name, out, size))
            return 0;
    }
    return try_in(libdir, name, out, size) ? 0 : -FV_ENOENT;
}

bool fv_install_beside(const char *name, char *out, size_t size)
{
    char here[PATH_MAX];

    if (!own_directory(here, sizeof(here)))
        return false;
    snprintf(out, size, "%s/%s", here, name);
    return true;
}

int fv_install_library(enum fv_flavour flavour, bool threads, char *out, size_t size)
{
    char name[64];

    snprintf(name, sizeof(name), "libfvmpi-%s%s.so", fv_flavour_name(flavour), threads ? "-threads" : "");
    return find(name, out, size);
}

int fv_install_front(const char *subject, char *out, size_t size)
{
    char name[64];

    snprintf(name, sizeof(name), "libfvmpi-%s.so", subject);
    return find(name, out, size);
}

int fv_install_say_missing(const struct fv_flavour_result *finding, const char *library, const char *option)
{
    char here[PATH_MAX];

    if (!own_directory(here, sizeof(here)))
        fv_log("%s: not found, because /proc is not mounted; mount it (mount -t proc proc /proc), or set FVMPI_LIBDIR",
               library);
    else if (option)
        fv_log("%s: not there, though %s needs it; install fvmpi again, or set FVMPI_LIBDIR", library, option);
    else
        fv_log("%s: not there, this fvmpi was built without %s (%s); %s, or set FVMPI_LIBDIR", library,
               fv_flavour_name(finding->flavour), finding->why,
               finding->flavour == FV_FLAVOUR_ABI ? "configure it --with-mpi-abi=DIR" : "build it with that MPI");
    return -FV_ENOENT;
}

/* Not built in but looked up: this very process has it loaded, or there is none. */
static int find_sanitizer(struct dl_phdr_info *info, size_t size, void *arg)
{
    (void)size;
    if (!strstr(info->dlpi_name, "/libasan.so") && !strstr(info->dlpi_name, "/libtsan.so"))
        return 0;
    *(const char **)arg = info->dlpi_name;
    return 1;
}

const char *fv_install_sanitizer(void)
{
    const char *path = NULL;

    dl_iterate_phdr(find_sanitizer, &path);
    return path;
}
