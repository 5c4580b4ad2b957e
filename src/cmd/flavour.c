/* SPDX-License-Identifier: BSD-3-Clause */
/* See flavour.h. What the program's file says beats what its launcher is: a wrong library under a program
 * crashes, a wrong launcher only starts programs of one rank. */
#include "cmd/flavour.h"
#include "base/mpi_library.h"
#include "cmd/dynamic.h"
#include "cmd/loader.h"

#include <stdio.h>
#include <string.h>

enum { ARGUMENTS_MOST = 1024 };

enum verdict {
    NOT_ELF,   /* a script, data, or no file at all */
    FOREIGN,   /* ELF of another kind of machine, or damaged */
    STATIC,    /* starts without a loader */
    NO_MPI,    /* as far as can be seen: it may dlopen() one */
    OTHER_MPI, /* one that fvmpi does not know, or two */
    FOUND,
};

enum fv_flavour fv_flavour_of_library(const char *name, bool *unknown)
{
    enum fv_mpi_library mpi = fv_mpi_of_library(name);

    *unknown = mpi == FV_MPI_UNKNOWN;
    return mpi == FV_MPI_MPICH      ? FV_FLAVOUR_MPICH
           : mpi == FV_MPI_OPENMPI  ? FV_FLAVOUR_OPENMPI
           : mpi == FV_MPI_STANDARD ? FV_FLAVOUR_ABI
                                    : FV_FLAVOUR_NONE;
}

/* Libraries of Open MPI before 2.0 are called as MPICH's are. */
static bool is_older_openmpi(const struct fv_libraries *libraries)
{
    for (size_t i = 0; i < libraries->count; i++)
        if (!strncmp(libraries->items[i].name, "libopen-rte.so.", strlen("libopen-rte.so.")))
            return true;
    return false;
}

static enum verdict judge(const char *path, const struct fv_libraries *libraries, struct fv_flavour_result *out)
{
    const struct fv_library *found = NULL;
    const char *by;

    for (size_t i = 0; i < libraries->count; i++) {
        const struct fv_library *library = &libraries->items[i];
        bool unknown = false;
        enum fv_flavour flavour = fv_flavour_of_library(library->name, &unknown);
        if (!flavour && !unknown)
            continue;
        unknown |= flavour == FV_FLAVOUR_MPICH && is_older_openmpi(libraries);
        if (unknown || (found && flavour != out->flavour)) {
            snprintf(out->why, sizeof(out->why), "%.200s needs %.100s%s%.100s", fv_base_name(path), library->name,
                     found ? " and " : ", an MPI that fvmpi does not know", found ? found->name : "");
            out->flavour = FV_FLAVOUR_NONE;
            return OTHER_MPI;
        }
        if (!found) {
            found = library;
            out->flavour = flavour;
        }
        if (flavour == FV_FLAVOUR_ABI) /* what stands behind that library is none of the program's */
            break;
    }
    if (!found)
        return NO_MPI;
    out->is_linked = true;
    by = strcmp(found->by, path) ? fv_base_name(found->by) : NULL;
    snprintf(out->why, sizeof(out->why), "%.150s needs %.100s%s%.150s", fv_base_name(path), found->name,
             by ? " through " : "", by ? by : "");
    return FOUND;
}

/* gcc's, and clang's where it is shared: else it is part of the program. */
static bool has_asan(const struct fv_libraries *libraries)
{
    static const char *const names[] = { "libasan.so", "libclang_rt.asan" };

    for (size_t i = 0; i < libraries->count; i++)
        for (unsigned n = 0; n < sizeof(names) / sizeof(*names); n++)
            if (!strncmp(libraries->items[i].name, names[n], strlen(names[n])))
                return true;
    return false;
}

static void note_sanitizer(const struct fv_dynamic *elf, struct fv_flavour_result *out)
{
    if (elf->has_asan || elf->has_tsan) {
        out->is_tsan = elf->has_tsan;
        out->sanitizer = elf->has_tsan ? "ThreadSanitizer" : "AddressSanitizer";
    }
}

static enum verdict look_at(const char *path, struct fv_flavour_result *out)
{
    struct fv_libraries libraries = { .items = NULL };
    struct fv_dynamic elf;
    enum verdict verdict;

    switch (fv_dynamic_read_file(path, &elf)) {
    case 0: break;
    case -FV_EINVAL:
    case -FV_EFORMAT: return FOREIGN;
    default: return NOT_ELF;
    }
    bool runs = elf.is_program, has_loader = elf.has_interpreter;
    note_sanitizer(&elf, out);
    fv_dynamic_release(&elf);
    if (!runs)
        return NOT_ELF;
    if (!has_loader)
        return STATIC;
    if (fv_loader_scan(path, &libraries))
        return FOREIGN;
    verdict = judge(path, &libraries, out);
    out->has_asan |= has_asan(&libraries);
    fv_libraries_release(&libraries);
    return verdict;
}

/* The first word behind argv[0] that is a program with an MPI: of env, sh, gdb, and of launchers, whose
 * options need no understanding that way. Where there is none, the first that is static or of another
 * machine. */
static enum verdict look_behind(char *const argv[], struct fv_flavour_result *out)
{
    char path[sizeof(out->program_path)];
    enum verdict found = NO_MPI;

    for (int i = 1; argv[i] && i < ARGUMENTS_MOST; i++) {
        if (argv[i][0] == '-' || !fv_find_program(argv[i], path, sizeof(path)))
            continue;
        enum verdict verdict = look_at(path, out);
        if (verdict == FOUND || verdict == OTHER_MPI || ((verdict == STATIC || verdict == FOREIGN) && !out->program)) {
            found = verdict;
            out->program = i;
            snprintf(out->program_path, sizeof(out->program_path), "%s", path);
        }
        if (verdict == FOUND || verdict == OTHER_MPI)
            break;
    }
    return found;
}

static void ask_launcher(const char *launcher, enum verdict of_program, const char *program,
                         struct fv_flavour_result *out)
{
    const char *variable = "";

    out->flavour = launcher ? fv_launcher_flavour(launcher) : fv_environment_flavour(&variable);
    if (out->flavour) {
        snprintf(out->why, sizeof(out->why), launcher ? "%.200s is its launcher" : "%.200s is set",
                 launcher ? launcher : variable);
    } else if (launcher || fv_under_launcher()) {
        snprintf(out->why, sizeof(out->why), "%.200s %s, and its launcher may be any MPI's", fv_base_name(program),
                 of_program == NOT_ELF ? "is no ELF file" : "needs no MPI library");
    } else {
        out->flavour = FV_FLAVOUR_SERIAL;
        snprintf(out->why, sizeof(out->why), "%.200s needs no MPI library, and there is no launcher",
                 fv_base_name(program));
    }
}

void fv_flavour_find(char *const argv[], const char *launcher, struct fv_flavour_result *out)
{
    enum verdict verdict = NO_MPI;

    memset(out, 0, sizeof(*out));
    if (!launcher && fv_find_program(argv[0], out->program_path, sizeof(out->program_path)))
        verdict = look_at(out->program_path, out);
    if (verdict == FOUND || verdict == OTHER_MPI)
        return;
    enum verdict behind = look_behind(argv, out);
    if (behind == FOUND || behind == OTHER_MPI)
        return;
    out->is_foreign = verdict == FOREIGN || (launcher && behind == FOREIGN);
    out->is_static = verdict == STATIC || (launcher && behind == STATIC);
    if (!out->is_foreign && !out->is_static)
        ask_launcher(launcher, verdict, launcher ? "the program" : argv[0], out);
}
