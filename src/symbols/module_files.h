/* SPDX-License-Identifier: BSD-3-Clause */
/* The files in which a module's names, code and lines are. */
#ifndef FV_MODULE_FILES_H
#define FV_MODULE_FILES_H

#include "symbols/elf_file.h"
#include "symbols/symbols.h"

struct fv_lines; /* lines.h */
/* What there is of a module's files with the recorded build-id. Zeroed: closed. */
struct fv_module_files {
    struct fv_elf object, debug; /* debug: a separate debug file */
    struct fv_lines *lines;      /* NULL: there are none */
};
/* false: nothing of it may be used. What went wrong becomes a note among the problems, unless that is NULL.
 */
bool fv_module_files_open(struct fv_module_files *files, const struct fv_module *module, struct fv_problems *problems);
/* The object alone, with the recorded build-id; close it. */
bool fv_module_object_open(struct fv_elf *object, const struct fv_module *module);
/* What of the debug information that was asked for is not readable becomes a note. */
void fv_module_files_tell(const struct fv_module_files *files, const struct fv_module *module,
                          struct fv_problems *problems);
void fv_module_files_close(struct fv_module_files *files);

/* gfortran's and C++'s names as their authors wrote them. `fortran`: the object is of Fortran, where one
 * underscore at the end means nothing. */
const char *fv_demangle(struct fv_arena *arena, const char *name, bool fortran);

#endif
