/* SPDX-License-Identifier: BSD-3-Clause */
/* See unseen_mpi.h. Rank 0's process tells, in one line with what to do:
 *
 * - functions that somebody in front of fvmpi keeps to itself (shadow.c); all else is of processes that were not
 *   recorded:
 * - an MPI library was loaded and MPI_Init was called, but not ours (another MPI than the library's; a second copy of
 *   it);
 * - an MPI library is in a name space of its own (dlmopen());
 * - `fvmpi run`, in a launcher, started this process (FVMPI_WATCH), and nothing was recorded by it or by what it
 *   started: MPI is linked into the program, the program was started without LD_PRELOAD, or it has no MPI.
 *
 * Rejected: `fvmpi run` waiting for the program to say so (a process more between a rank and its launcher). */
#include "rt/unseen_mpi.h"
#include "rt/identity.h"
#include "rt/maps.h"
#include "rt/process.h"

#include "base/experiment.h"
#include "base/linked_objects.h"
#include "base/pages.h"
#include "base/program.h"
#include "base/shell.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#ifdef PIC

/* Shared with forked children, one of which may become what fvmpi is not in. */
struct shared {
    uint32_t is_noted;   /* `program`: it calls MPI, and fvmpi is not in it */
    uint32_t may_record; /* fvmpi is in one of them, wherever that one's experiment is */
    char program[1016];
};
static struct shared *shared;
static unsigned experiments; /* that there were at the start */
static pid_t process;
static struct {
    int fd; /* -1: none */
    dev_t device;
    ino_t inode;
} kept = { .fd = -1 }; /* stderr, of programs that close it before they end, as many small ones do */

static bool is_watched(void)
{
    const char *text = fv_env("FVMPI_WATCH");
    char *end;

    if (!text || strtol(text, &end, 10) != (long)getpid() || *end != '/')
        return false;
    experiments = (unsigned)strtoul(end + 1, NULL, 10);
    return true;
}

static bool is_recorded(void)
{
    return fv_rt_state() != FV_RT_IDLE && fv_our_mpi != FV_MPI_NONE;
}

/* ---- MPI libraries ---- */

/* What has been closed is not there any more, nor is what it knew. */
static bool was_initialized(const char *library)
{
    void *handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
    int (*ask)(int *) = NULL;
    int flag = 0;

    if (handle)
        *(void **)&ask = dlsym(handle, "PMPI_Initialized");
    return ask && !ask(&flag) && flag;
}

static void tell_library(enum fv_mpi_library mpi, const struct link_map *object)
{
    const char *file = object->l_name, *name = fv_mpi_name(mpi), *flavour = fv_mpi_flavour(mpi);

    if (!name)
        fv_log("%s: this MPI was used and not recorded, because fvmpi does not know it; use MPICH, Open MPI, or the "
               "standard ABI",
               file);
    else if (mpi != fv_our_mpi)
        fv_log("%s: %s was used and not recorded: fvmpi's library is for %s; say fvmpi run --mpi %s", file, name,
               fv_our_mpi == FV_MPI_NONE ? "programs without MPI" : fv_mpi_name(fv_our_mpi), flavour);
    else if (!fv_mpi_code() || object == fv_linked_object(fv_mpi_code()))
        fv_log("%s: %s was used and not recorded: its PMPI_ functions were called, or constructors of a library called "
               "it; call MPI_ functions",
               file, name);
    else
        fv_log("%s: %s was used and not recorded: fvmpi loaded another copy of it; put this file's directory into "
               "LD_LIBRARY_PATH, and use fvmpi run --mpi %s",
               file, name, flavour);
}

static const struct link_map *first_object(void)
{
    const struct link_map *o = fv_linked_object(&shared);

    while (o && o->l_prev)
        o = o->l_prev;
    return o;
}

static bool tell_loaded(void)
{
    for (const struct link_map *o = first_object(); o; o = o->l_next) {
        enum fv_mpi_library mpi = fv_mpi_of_library(fv_base_name(o->l_name));

        if (mpi == FV_MPI_NONE || !was_initialized(o->l_name))
            continue;
        tell_library(mpi, o);
        return true;
    }
    return false;
}

static bool is_in_our_space(uintptr_t address)
{
    const struct link_map *object = fv_linked_object((const void *)address), *o = first_object();

    while (o && o != object)
        o = o->l_next;
    return o || !object;
}

static bool tell_if_elsewhere(char *line, void *unused)
{
    char *path = strchr(line, '/');
    uintptr_t address = strtoul(line, NULL, 16);
    (void)unused;

    if (!path || fv_mpi_of_library(fv_base_name(path)) == FV_MPI_NONE || is_in_our_space(address))
        return false;
    fv_log("%s: was loaded by dlmopen() into a separate name space, and was not recorded; open it with dlopen()", path);
    return true;
}

/* ---- what fvmpi run started ---- */

static void tell_without_us(const char *program)
{
    if (fv_program_is_static(program))
        fv_log("%s: statically linked, so nothing was recorded; link it with libfvmpi-mpich.a or libfvmpi-openmpi.a "
               "(share/doc/running.md), or with its MPI's shared library",
               program);
    else
        fv_log("%s: was started without the LD_PRELOAD that fvmpi run set, and was not recorded; start it by: %s",
               program, FV_COMMAND("fvmpi", "run", program));
}

/* status -1: it is not known. */
static void tell_nothing(int status)
{
    char program[4096], ended[60] = "";

    fv_program(program, sizeof(program));
    if (shared && __atomic_load_n(&shared->is_noted, __ATOMIC_ACQUIRE))
        tell_without_us(shared->program);
    else if (fv_program_has_mpi(program))
        fv_log("%s: nothing was recorded: it " FV_SAYS_HAS_MPI, program);
    else {
        if (status > 0)
            snprintf(ended, sizeof(ended), " that returned before it ended with exit status %d", status);
        fv_log("%s: nothing was recorded: fvmpi saw no call of MPI_Init%s; for a program without MPI, use fvmpi run "
               "--mpi serial",
               program, ended);
    }
}

/* Without a name that was given, children's experiments are in their directories. */
static bool is_nothing_recorded(void)
{
    const char *output = fv_env("FVMPI_OUTPUT");
    bool is_named = output && *output;

    if (!is_named && shared && !shared->is_noted && __atomic_load_n(&shared->may_record, __ATOMIC_RELAXED))
        return false;
    return fv_experiment_count(output) == experiments;
}

/* A child that has the program's handlers of its end, too, says nothing. */
static bool is_forked(void)
{
    return process != getpid();
}

/* The program may have closed it, and have a file of its own by that number. */
static bool is_kept(void)
{
    struct stat st;

    return kept.fd >= 0 && fcntl(kept.fd, F_GETFD) == FD_CLOEXEC && !fstat(kept.fd, &st) && st.st_dev == kept.device &&
           st.st_ino == kept.inode;
}

static void keep_stderr(void)
{
    struct stat st;

    if (fstat(STDERR_FILENO, &st))
        return;
    kept.device = st.st_dev;
    kept.inode = st.st_ino;
    kept.fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 48);
}

/* Who reads stderr waits until all have closed it. */
static void close_kept(void)
{
    if (is_kept())
        close(kept.fd);
    kept.fd = -1;
}

/* Not every C library has it. */
extern int on_exit(void (*function)(int, void *), void *arg) __attribute__((weak));
static bool is_nothing; /* to be told where the status is known */

static void tell_late(int status)
{
    if (!is_nothing || is_forked())
        return;
    is_nothing = false;
    tell_nothing(status);
}

/* Registered by a constructor, it runs behind all destructors. */
static void tell_with_status(int status, void *unused)
{
    int saved = errno;

    (void)unused;
    tell_late(status & 0xff);
    errno = saved;
}

__attribute__((constructor)) static void share(void)
{
    process = getpid();
    if (!is_watched())
        return;
    if (on_exit)
        on_exit(tell_with_status, NULL);
    void *page = fv_map_pages(sizeof(*shared), MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    shared = page == MAP_FAILED ? NULL : page;
    keep_stderr();
    if (kept.fd >= 0)
        pthread_atfork(NULL, NULL, close_kept);
}

static void open_stderr(void)
{
    if (fcntl(STDERR_FILENO, F_GETFD) < 0 && is_kept())
        dup2(kept.fd, STDERR_FILENO);
}

void fv_unseen_end(bool may_ask, int status)
{
    static bool is_over;

    if (is_over && status >= 0) /* a destructor behind ours leaves by _exit() */
        tell_late(status);
    if (is_forked() || is_over)
        return;
    is_over = true;
    if (!fv_first_rank() || fv_option_is_on("FVMPI_DISABLE") || (fv_shadows && fv_shadow_tell()) || is_recorded())
        return;
    open_stderr();
    if (may_ask && (tell_loaded() || fv_maps_find(tell_if_elsewhere, NULL)))
        return;
    if (!is_watched() || !is_nothing_recorded())
        return;
    if (status < 0 && on_exit)
        is_nothing = true;
    else
        tell_nothing(status);
}

__attribute__((destructor)) static void tell_at_end(void)
{
    int saved = errno;

    fv_unseen_end(true, -1);
    errno = saved;
}

/* ---- exec() ---- */

static bool has_us(char *const environment[])
{
    for (char *const *e = environment; e && *e; e++)
        if (!strncmp(*e, "LD_PRELOAD=", strlen("LD_PRELOAD=")))
            return strstr(*e, "libfvmpi") != NULL;
    return false;
}

/* Of programs that have nothing to do with MPI only if that is what this process ends as. */
static bool is_to_be_told(const char *path, char *const environment[])
{
    bool is_static = fv_program_is_static(path);

    return (is_static && is_watched()) || ((is_static || !has_us(environment)) && fv_program_names_mpi(path));
}

void fv_unseen_exec(const char *path, char *const environment[])
{
    int saved = errno;

    if (!shared || is_recorded())
        return;
    if (!path || !is_to_be_told(path, environment)) {
        __atomic_store_n(&shared->may_record, 1, __ATOMIC_RELAXED);
    } else if (is_watched()) { /* nothing of ours will be here at the end */
        tell_without_us(path);
    } else if (!__atomic_load_n(&shared->is_noted, __ATOMIC_RELAXED)) {
        snprintf(shared->program, sizeof(shared->program), "%s", path);
        __atomic_store_n(&shared->is_noted, 1, __ATOMIC_RELEASE);
    }
    errno = saved;
}
#endif
