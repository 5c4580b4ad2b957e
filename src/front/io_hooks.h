/* SPDX-License-Identifier: BSD-3-Clause */
/* What the functions for files (front/io.tbl) and src/io have in common. A function is
 *
 *     struct fv_io_call call;
 *     bool on = fv_io_enter(&call, FV_IO_FN_read, fd, FV_CALL_SITE());
 *     ssize_t result = FV_NEXT_IO(read)(fd, buffer, bytes);
 *     if (on)
 *         fv_io_leave(&call, &(struct fv_io_done){ ... });      errno stays
 *     return result;
 */
#ifndef FV_IO_HOOKS_H
#define FV_IO_HOOKS_H

#include "front/front.h"

struct fv_io_open;
struct fv_io;

/* On the stack of the function; src/io's business. */
struct fv_io_call {
    struct fv_io *io;
    struct fv_io_open *open;
    uint64_t begin; /* ticks; 0: it is not counted */
    uint32_t function, path, file;
    uint32_t shared; /* of a close: descriptors that still share what was open */
    bool in_mpi;
};

/* What came of it. */
struct fv_io_done {
    uint64_t bytes; /* moved */
    int64_t at;     /* placed: where it was moved from or to; of a seek the new position. Negative: not known */
    int made;       /* a descriptor + 1; 0: none */
    bool ok, placed, unsized;
};

/* How a buffer's characters are counted that ask nothing of the system: the record of the last call from that place,
 * and where its stream stands. */
struct fv_io_quick {
    const void *place, *frame;
    void *stream;
    struct fv_io_record *record;
    int64_t *position, *end; /* where the next one begins; where this one ended: struct fv_io_open */
    uint64_t changes;        /* fv_io_front.changes then: since then no descriptor has become another file's */
    uint32_t recording;      /* fv_io_front.recording then: since then it was not paused */
};

struct fv_io_front {
    uint64_t version; /* 1 */
    /* False: only forward. `fd` -1: a name; a close takes the descriptor from its file here, and lets go of what was
     * open in leave(). */
    bool (*enter)(struct fv_io_call *call, unsigned function, int fd, struct fv_call_place site);
    void (*leave)(struct fv_io_call *call, const struct fv_io_done *done);
    /* As leave(), and where the next ones of the place may be counted; of the calling thread, until it ends. */
    void (*leave_quick)(struct fv_io_call *call, const struct fv_io_done *done, struct fv_io_quick *out);
    const uint32_t *recording;
    uint64_t changes; /* of descriptors: any thread */
    /* Descriptors from first to last are closed. */
    void (*closed)(unsigned first, unsigned last);
};
FV_FRONT_TABLE struct fv_io_front fvmpi_io_v1;

#endif
