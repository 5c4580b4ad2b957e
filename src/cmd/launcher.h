/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI's launchers: mpiexec and its like, seen from outside (on a command line) and from inside (in the
 * environment of a rank). */
#ifndef FV_LAUNCHER_H
#define FV_LAUNCHER_H

#include "base/base.h"
#include "base/options.h"

#define FV_FLAVOUR(name, word) FV_FLAVOUR_##name,
enum fv_flavour { FV_FLAVOUR_NONE, FV_FLAVOUR_CHOICES(FV_FLAVOUR) };

/* "mpich", ...: as in libfvmpi-<name>.so; "" for none. */
const char *fv_flavour_name(enum fv_flavour flavour);
enum fv_flavour fv_flavour_by_name(const char *name);

/* Is that word, without its directory, a launcher's name? */
bool fv_is_launcher(const char *word);

/* Whose launcher that is, by its file; NONE: it serves several MPIs (srun), or cannot be told. */
enum fv_flavour fv_launcher_flavour(const char *path);

/* How many ranks a launcher's command line asks for; 0: it does not say, or says it more than once. */
int fv_launcher_ranks(char *const argv[]);

/* Is this process a rank that a launcher started? */
bool fv_under_launcher(void);

/* Of which MPI that launcher is; *why gets the variable that tells. NONE: none, or cannot be told. */
enum fv_flavour fv_environment_flavour(const char **why);

/* The file that execvp() would start: with a slash as it is, else through PATH. false: none; errno tells
 * (ENOENT, EACCES). */
bool fv_find_program(const char *word, char *out, size_t size);

#endif
