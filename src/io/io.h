/* SPDX-License-Identifier: BSD-3-Clause */
/* Files: what the program does to them, with --io (hooks of src/front/io_hooks.h). io.c counts calls, files.c knows
 * which file a descriptor is.
 *
 * A thread's own is written by it alone. Descriptors are the process's: a slot is a pointer that is read and exchanged
 * at once. Who reads a file that another thread closes may find that open file taken over by another one: that harms no
 * more than where the next read seems to begin. */
#ifndef FV_IO_H
#define FV_IO_H

#include "front/io_hooks.h"
#include "rt/thread.h"

/* An open file, of all descriptors that share it. Its memory stays, and is the same file's when that is opened again in
 * the same way. */
struct fv_io_open {
    uint32_t file;                  /* fv_io_file.id; 0: there was no room */
    uint32_t handle;                /* fv_io_handle.id; 0: there is no trace, or no room */
    uint32_t flags;                 /* enum fv_io_handle_flags */
    uint32_t uses;                  /* descriptors */
    uint64_t closed;                /* ticks when the last of them was */
    bool has_places;                /* it is a regular file, or a device of blocks */
    int64_t position[FV_IO_LAYERS]; /* where the next read or write begins; -1: not known */
    int64_t end[FV_IO_LAYERS][2];   /* where the last read, write ended; -1: there was none */
    struct fv_io_open *next;        /* of those that are free */
};

/* What a thread writes. */
struct fv_io {
    struct fv_thread *thread; /* NULL: this is a child, whose copy of the page is wiped */
    struct fv_io_thread *state;
    const volatile uintptr_t *busy; /* the mark of the hook that is under way, on its stack: what comes in between is
                                     * not recorded; NULL: none is */
    struct fv_map records;
    struct fv_tail tail;
    struct fv_io_record *last; /* that was added to; NULL: none */
    int64_t nowhere;           /* the place of what has none */
};

bool fv_io_files_start(void); /* false: no room */
/* The open file of a descriptor, found out if it is not known. NULL: it is none, or there is no room. Takes a lock only
 * then; errno stays. */
struct fv_io_open *fv_io_files_of(int fd);

/* What a descriptor was that is closed, or another file's now. */
struct fv_io_end {
    struct fv_io_open *open; /* NULL: nothing, or not known */
    uint32_t shared;         /* descriptors that still share it */
};
/* The descriptor is another file's from `time` on (ticks). */
struct fv_io_open *fv_io_files_made(int fd, uint64_t time, struct fv_io_end *before);
/* The two share it. */
struct fv_io_end fv_io_files_duplicated(int fd, struct fv_io_open *open);
/* It is about to be closed: from now on its number may be another file's. What is never closed, as by a thread that is
 * cancelled in between, stays taken. NULL: not known. */
struct fv_io_open *fv_io_files_closing(int fd);
/* ... and is closed: from now on its open file may be another one, too. How many descriptors still share it. */
uint32_t fv_io_files_closed(struct fv_io_open *open);
/* It is closed by somebody who is not recorded. No lock: its open file stays taken. */
void fv_io_files_forget(int fd);
void fv_io_files_closed_range(unsigned first, unsigned last, void (*tell)(void *, const struct fv_io_end *),
                              void *context);

#endif
