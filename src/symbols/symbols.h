/* SPDX-License-Identifier: BSD-3-Clause */
/* From (module, offset) to functions, files, lines and inlined frames, after the run and away from the
 * application; and how such places are said. Whose addresses they are, of a profile or of a trace, it does
 * not know. loops.h is the other half: loops in machine code.
 *
 * Function names come from the ELF symbol table (ours, sorted once: libbfd's search is linear for each
 * address), lines and inlined frames from DWARF (lines.h), which is opened for a module once and
 * asked for each distinct address once. A module whose file no longer has the recorded build-id is not
 * looked at: a wrong name is worse than module+offset. Separate debug files are found by build-id in
 * the directories that FVMPI_DEBUG_PATH lists and in /usr/lib/debug, under .build-id; and by .gnu_debuglink beside
 * the object, in .debug there, and in those directories under the object's own. */
#ifndef FV_SYMBOLS_H
#define FV_SYMBOLS_H

#include "experiment/call_tree.h"
#include "experiment/experiment.h"
#include "tool/vec.h"

#include <stdbool.h>

/* ---- what is given ---- */

/* Is it fvmpi's own library in the process? */
bool fv_module_is_fvmpi(const struct fv_module *module);

/* Is it a program's own: its executable, or in the executable's directory or below, and not fvmpi's? */
bool fv_module_is_of_program(const struct fv_module *module, const char *program);

/* Is it a function of source code that an interpreter runs (FV_CODE_ID)? */
bool fv_module_is_code(const struct fv_module *module);
/* Its name; NULL: it has none. */
const char *fv_code_function(const struct fv_module *module);

/* One that is not of the interpreter's own library. */
bool fv_module_is_code_of_program(const struct fv_module *module);

/* ---- frames ---- */

struct fv_frame {
    const char *function; /* demangled; NULL: not known */
    const char *file;     /* NULL: not known */
    uint32_t line;        /* 0: not known */
    uint32_t module;      /* in fv_symbols.modules */
    uint64_t offset;      /* return address in the module */
    bool inlined;         /* into the next outer frame */
    uint32_t alike;       /* equal in frames that look the same: the same module, function, file and line, or
                           * where no line is known the same offset */
    uint64_t begin;       /* of a function without a name; 0: not known */
};

struct fv_symbols {
    const struct fv_module *modules; /* the caller's, as are */
    const struct fv_node *nodes;     /* ... these: both must stay as long as the symbols */
    struct fv_arena arena;
    struct fv_frame *frames; /* of one symbol: innermost first */
    size_t frame_count, frame_room;
    struct fv_symbol {
        uint32_t first, count;
        uint64_t begin, size; /* of the compiled function that holds the address; size 0: not known */
    } * of_node;
    bool looked_up;
    struct fv_index alike;
};

/* Looks up all frames of a call tree; what goes wrong with a module becomes a note among the problems.
 * Without `look_up`, frames are module+offset. */
void fv_symbols_resolve(struct fv_symbols *out, const struct fv_module *modules, const struct fv_node *nodes,
                        size_t node_count, bool look_up, struct fv_problems *problems);
void fv_symbols_release(struct fv_symbols *symbols);

/* A call path for display: innermost frame first, inlined frames expanded, without the frames of an MPI
 * library's Fortran binding, and without what the C library runs before main (_start, __libc_start_main,
 * clone, ...): where the path goes through main, main is its last frame. Reuse one struct for many. */
struct fv_path {
    struct fv_frame *frames;
    size_t count, room;
};
void fv_path_of(struct fv_path *path, const struct fv_symbols *symbols, uint32_t node);
void fv_path_release(struct fv_path *path);

/* Whose code a module is. */
enum fv_code {
    FV_CODE_OTHER,
    FV_CODE_OF_LIBRARY, /* one that calls MPI, by the call sites; or that no distribution, compiler or MPI brings */
    FV_CODE_OF_PROGRAM, /* fv_module_is_of_program() */
};
enum fv_code fv_code_of(const struct fv_module *module, bool is_of_program);
/* Notes in code, by module, that this one calls MPI: unless it is the program's, or stands between the program and
 * MPI. */
void fv_code_calls_mpi(uint8_t *code, const struct fv_module *modules, uint32_t module);
/* The frame that time on the path is put down to: the innermost one of the program. Where that is main() alone, and a
 * library does all work, the innermost one of such libraries; not a stub. path->count: neither is there. */
size_t fv_path_own(const struct fv_path *path, const uint8_t *code);

/* A variable or a function, to be named by its own address (not by one that a call returns to). */
struct fv_address {
    uint32_t module;
    uint64_t offset;
    const char *name; /* "queue", "queue+0x28"; NULL: not known, or not looked up. In fv_symbols.arena */
};
void fv_addresses_resolve(struct fv_symbols *symbols, struct fv_address *addresses, size_t count);

/* ---- how they are said (frame_words.c, frame_json.c) ---- */

/* The function's name, else "module+0xoffset", else what is known; in `buffer` where it must be made. */
const char *fv_frame_label(const struct fv_frame *frame, const struct fv_symbols *symbols, char *buffer, size_t bytes);
/* The same of the function as a whole: "module+0xbegin"; "[module]" where that is not known. */
const char *fv_frame_function_label(const struct fv_frame *frame, const struct fv_symbols *symbols, char *buffer,
                                    size_t bytes);
/* The following return `out`. "file.c:12", without directories; where no file is known "module+0xoffset",
 * unless that is the frame's label already. */
char *fv_frame_location(const struct fv_frame *frame, const struct fv_symbols *symbols, char *out, size_t bytes);
/* Its name, of C++ the last two parts: "Dump::write"; of no frame, NULL, "?". */
char *fv_frame_brief(const struct fv_frame *frame, const struct fv_symbols *symbols, char *out, size_t bytes);
/* "solve() at cg.c:212"; of C++ the last two parts of the name: "Dump::write()". */
char *fv_frame_words(const struct fv_frame *frame, const struct fv_symbols *symbols, char *out, size_t bytes);
/* The index of its first frame that is none of the C++ library's, nor a lock's or an allocation's own; of nothing else:
 * its last. */
size_t fv_path_program(const struct fv_path *path);
/* A call path in short: its innermost frame, without those of the C++ library, and some of its callers. */
char *fv_path_words(const struct fv_symbols *symbols, uint32_t node, unsigned callers, char *out, size_t bytes);
/* The frame that such words begin with; false: the path is not known. Its texts are the symbols'. */
bool fv_path_first(const struct fv_symbols *symbols, uint32_t node, struct fv_frame *out);
/* "worker()", "a function that is not known", which NULL is. */
char *fv_routine_words(const struct fv_address *routine, const struct fv_symbols *symbols, char *out, size_t bytes);

/* What a lock, or another thing that threads wait for, is called by: "queue_lock", "0x7f00 first used in
 * main() at a.c:1", "3 mutexes first used in ...", "threads of worker()". */
struct fv_lock_place {
    uint8_t kind;                     /* enum fv_sync_kind */
    bool rest;                        /* it stands for those without a record of their own */
    const struct fv_address *address; /* NULL: on a heap or a stack. Of a join: the routine, NULL: not known */
    uint32_t node;                    /* that first used it */
    uint32_t objects;                 /* that it stands for */
    uint64_t object;                  /* the address of one */
};
char *fv_lock_words(const struct fv_lock_place *lock, const struct fv_symbols *symbols, char *out, size_t bytes);

/* Of a function's name, less its version ("memcpy@@GLIBC_2.14") and what compilers append to copies of a
 * function: f.isra.0 is f, and so is f.0, a procedure within another one. */
size_t fv_function_length(const char *name);

/* "path": the frames of a call path, as the schemas have them (share/). `path` is scratch. */
struct fv_json;
void fv_json_path(struct fv_json *json, const struct fv_symbols *symbols, struct fv_path *path, uint32_t node);

#endif
