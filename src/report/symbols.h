/* From (module, offset) to function, file and line, after the run and away from the application.
 *
 * Function names come from the ELF symbol table (ours, sorted once: libbfd's search is linear for each
 * address), lines and inlined frames from DWARF through libbfd, which is opened for a module once and
 * asked for each distinct address once. A module whose file no longer has the recorded build-id is not
 * looked at: a wrong name is worse than module+offset. Separate debug files are found by build-id in
 * /usr/lib/debug/.build-id and in the directory that FVMPI_DEBUG_PATH names. */
#ifndef FV_SYMBOLS_H
#define FV_SYMBOLS_H

#include "report/model.h"
#include "report/object.h"

struct fv_frame {
    const char *function; /* demangled; NULL: not known */
    const char *file;     /* NULL: not known */
    uint32_t line;        /* 0: not known */
    uint32_t module;      /* in fv_model.modules */
    uint64_t offset;      /* return address in the module */
    bool inlined;         /* into the next outer frame */
    uint32_t alike;       /* equal in frames that look the same: see fv_sites_merge() */
    uint64_t begin;       /* of a function without a name; 0: not known */
};

struct fv_symbols {
    struct fv_arena arena;
    struct fv_frame *frames; /* of one symbol: innermost first */
    size_t frame_count, frame_room;
    struct fv_symbol {
        uint32_t first, count;
        uint64_t begin, size; /* of the compiled function that holds the address; size 0: not known */
    } * items;                /* by fv_node.symbol */
    bool looked_up;
    size_t count;
    struct fv_index alike;
};

/* Looks up all frames of the model's call tree and sets fv_node.symbol; what goes wrong with a module
 * becomes a note among the model's problems. Without `look_up`, frames are module+offset. */
void fv_symbols_resolve(struct fv_symbols *out, struct fv_model *model, bool look_up);
/* names.c: the same for fv_model.addresses, which are variables and functions. */
void fv_addresses_resolve(struct fv_model *model);
/* The name, else "module+0xoffset"; in `buffer` where it must be made. */
const char *fv_address_label(const struct fv_address *address, const struct fv_model *model, char *buffer, size_t bytes);
void fv_symbols_release(struct fv_symbols *symbols);

struct fv_lines; /* lines.h */
/* What there is of a module's files with the recorded build-id. Zeroed: closed. */
struct fv_module_files {
    struct fv_object object, debug; /* debug: a separate debug file */
    struct fv_lines *lines;         /* NULL: there are none */
};
/* false: nothing of it may be used. What went wrong becomes a note among the problems, unless that is NULL. */
bool fv_module_files_open(struct fv_module_files *files, const struct fv_module *module,
                          struct fv_problems *problems);
void fv_module_files_close(struct fv_module_files *files);

/* Makes one of the call sites of an MPI function whose paths, as fv_path_of() gives them, are equal: the
 * same module, function, file and line in each frame, or where no line is known the same offset. So are
 * unrolled and inlined loops; different executables stay apart. Sums over sites do not change. */
void fv_sites_merge(struct fv_model *model, const struct fv_symbols *symbols);

/* A call path for display: innermost frame first, inlined frames expanded, without the frames of an MPI
 * library's Fortran binding, and without what the C library runs before main (_start, __libc_start_main,
 * clone, ...): where the path goes through main, main is its last frame. Reuse one struct for many. */
struct fv_path {
    struct fv_frame *frames;
    size_t count, room;
};
void fv_path_of(struct fv_path *path, const struct fv_symbols *symbols, const struct fv_model *model,
                uint32_t node);
void fv_path_release(struct fv_path *path);
/* Is it an MPI library's Fortran binding, whose innermost frames a path leaves out? */
bool fv_module_is_binding(const struct fv_module *module);
/* Is it fvmpi's own library in the process? */
bool fv_module_is_fvmpi(const struct fv_module *module);

/* The function's name, else "module+0xoffset", else what is known; in `buffer` where it must be made. */
const char *fv_frame_label(const struct fv_frame *frame, const struct fv_model *model, char *buffer,
                           size_t bytes);

/* gfortran's and C++'s names as their authors wrote them. `fortran`: the object is of Fortran, where one
 * underscore at the end means nothing. */
const char *fv_demangle(struct fv_arena *arena, const char *name, bool fortran);

#endif
