/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the frames of a thread of CPython from its memory. */
#ifndef FV_PYTHON_FRAMES_H
#define FV_PYTHON_FRAMES_H

#include "rt/python.h"

/* How a code object says which instruction is on which line. */
enum fv_python_lines {
    FV_LINES_ADDRESSES, /* pairs of steps: bytes, lines (3.8, 3.9: Objects/lnotab_notes.txt) */
    FV_LINES_RANGES,    /* pairs: bytes of a range, its line's step; -128: it has none (3.10: PEP 626) */
    FV_LINES_LOCATIONS, /* entries of varying length (3.11: PEP 657, Objects/locations.md) */
};

/* Offsets in bytes; 0 of what a version does not have. */
struct fv_python_layout {
    char version[8]; /* "3.11." */
    enum fv_python_lines lines;
    uint8_t state_frame;      /* in PyThreadState: the innermost frame, or, with */
    bool indirect;            /* ... this, where there is a pointer to it, at */
    uint8_t holder_frame;     /* ... this offset */
    uint8_t frame_bytes;      /* of a frame, that are read */
    uint8_t back, code, last; /* in it; last: the instruction, as */
    bool last_is_address;     /* ... this, or as a number (int), in units of */
    uint8_t last_unit;        /* ... so many bytes */
    uint8_t entry;            /* flag: the first one of a call of the loop, or */
    uint8_t owner;            /* ... whose it is: the loop's own stand outside of each call's. Without both, each frame
                               * has a call to itself */
    uint8_t code_bytes;       /* of a code object, that are read */
    uint8_t name, file, first_line, line_table; /* in it */
    uint8_t instructions;                       /* ... where they begin; 0: elsewhere */
    uint8_t ascii, other;                       /* in a string: its characters */
};
#define FV_PYTHON_BYTES      32 /* in an object of bytes: the first one */
#define FV_PYTHON_OWNER_LOOP 3  /* a frame of the interpreter's loop, of no code */

/* Types of objects, by their addresses. */
struct fv_python_types {
    uintptr_t code, text, bytes;
};

/* The frames of a thread whose PyThreadState is at `state`. False: something is not what the layout says. Unless that
 * is known to be right, and the thread is not changing them just now, the kernel reads: then nothing traps, whatever is
 * there. */
bool fv_python_read(const struct fv_python_layout *layout, const struct fv_python_types *types, uintptr_t state,
                    bool is_known, struct fv_python_walk *walk);

/* In a signal handler, of one frame, whose bytes are given: function, file and line. False: it is no frame, or the call
 * tree's lock, or room in the file, is not to be had just now. */
bool fv_python_read_code(const struct fv_python_layout *layout, const struct fv_python_types *types,
                         const uint8_t *frame, struct fv_python_walk *scratch, struct fv_python_frame *out);

/* A sample's frames of the thread whose PyThreadState is at `state`: samples->walk. False: they cannot be read just
 * now. */
bool fv_python_read_sample(const struct fv_python_layout *layout, const struct fv_python_types *types, uintptr_t state,
                           struct fv_python_samples *samples);

#endif
