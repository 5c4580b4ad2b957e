/* SPDX-License-Identifier: BSD-3-Clause */
/* The frames of a Python program, which stand in call paths in place of the interpreter's own.
 *
 * CPython 3.8 to 3.13, found at the start if the process has it. Its functions must not be called, but for two that
 * need no lock: who calls MPI has released the interpreter's. But the frames of a thread are changed by itself alone,
 * and it is inside of a call; so they are read as memory, at offsets that each version has (python.c). Before the first
 * use they are tried: where they lead there must be code objects, strings and tables of lines, by the addresses of
 * their types; then, and in signal handlers, it is the kernel that reads, which checks. Rejected: a profile function in
 * the interpreter (costs each call of Python). */
#ifndef FV_PYTHON_H
#define FV_PYTHON_H

#include "base/base.h"

#define FV_PYTHON_FRAMES 1024 /* of a thread, that are looked at: its innermost ones */

struct fv_python_frame {
    uint32_t module, line; /* 0: not to be shown, as frames of an import; 0: not known */
    bool outermost;        /* of those that one call of the interpreter's loop runs */
};

/* What it takes to read a thread's frames, innermost first. */
struct fv_python_walk {
    unsigned count;
    struct fv_python_frame frame[FV_PYTHON_FRAMES];
    char file[3072], function[512];
    uint8_t raw[2048];
};

/* Of a thread that is sampled. What was read of a line once is kept, so that a sample asks the kernel once or twice,
 * mostly. */
#define FV_PYTHON_SAMPLED 200  /* frames of a sample: the innermost ones */
#define FV_PYTHON_LINES   1024 /* that are kept, each in one of so many places: */
#define FV_PYTHON_PLACES  8
#define FV_PYTHON_BEGIN   64   /* bytes of a string or a table of lines */
#define FV_PYTHON_TRUSTED 16   /* times that a line was the same: then it is taken to be, for so many samples */
#define FV_PYTHON_WINDOW  4096 /* no page is smaller */
struct fv_python_samples {
    struct fv_python_line {
        uintptr_t code, last;
        uint64_t content;   /* of the code object: another one may take its place */
        uint64_t checked;   /* by which sample, and */
        uint64_t confirmed; /* ... by how many */
        struct fv_python_frame frame;
    } line[FV_PYTHON_LINES];
    struct fv_python_walk walk;     /* of the frames; the rest is scratch */
    uintptr_t stack_low, stack_end; /* the thread's, which is there; set by who asks */
    bool cut;                       /* there were more frames */
    uint64_t samples;
    unsigned count;
    struct fv_python_sampled {
        uintptr_t code, last; /* 0: no frame of the program */
        bool outermost;
        uint8_t frame[128];
    } sampled[FV_PYTHON_SAMPLED];
    uint16_t code_of[FV_PYTHON_SAMPLED]; /* which are read, at */
    uintptr_t at[2 * FV_PYTHON_SAMPLED];
    uint8_t begin[2 * FV_PYTHON_SAMPLED][FV_PYTHON_BEGIN]; /* of names and tables of lines */
    uint8_t code[FV_PYTHON_SAMPLED][160];
    uintptr_t window_at; /* of the interpreter's stack of frames */
    size_t window_bytes;
    uint8_t window[FV_PYTHON_WINDOW + 128];
};

struct fv_python_layout;
extern FV_INSIDE const struct fv_python_layout *fv_python; /* NULL: no interpreter whose frames can be read */

/* A number for where the calling thread is in its Python code: all frames and their instructions. 0: it is in none. */
uint64_t fv_python_state(void);
/* Where there is no fv_python yet: is there one now? Only when a thread has frames it can be seen whether they can be
 * read. */
bool fv_python_try(void);
/* The frames of the calling thread. False: it has none, or they cannot be read. No lock held; also in signal handlers,
 * which come at any time (`anywhere`). */
bool fv_python_walk(struct fv_python_walk *walk, bool anywhere);
/* For a thread's samples; NULL: the process has no interpreter whose frames may be read. Not in a signal handler. */
struct fv_python_samples *fv_python_samples_new(void);
/* In a signal handler: the frames of the thread that it interrupted, samples->walk. No lock is waited for, and the
 * kernel reads, which checks. False: it is in no code of Python, or that cannot be read just now. */
bool fv_python_sample(struct fv_python_samples *samples);
/* Does a call of the interpreter's loop return there? Then frames of Python stand there. */
bool fv_python_is_loop(uintptr_t return_address);
/* It does, but no frames were found: counted, and told. */
void fv_python_missed(void);
/* The module of a function that stands for the interpreter's own where it has ended: extension modules clean up. 0: it
 * has not. Under fv_tree_lock. */
uint32_t fv_python_exit(void);
/* The interpreter's own module: its frames say nothing of the program. */
uint32_t fv_python_module(void);

#endif
