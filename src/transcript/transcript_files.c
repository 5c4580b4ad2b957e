/* SPDX-License-Identifier: BSD-3-Clause */
/* See transcript_files.h: calls of functions for files, from their begin to their end. An archive says beside a call
 * what it opened, moved and closed; what of that is the call's is known when it ends.
 *
 * A function that calls another one is recorded by src/io as one call, because what the C library asks of the system
 * is not seen. So a call inside of one of these, or inside of an operation, is hidden: it is part of that. */
#include "transcript/transcript_files.h"

#include <stdlib.h>

static struct fv_transcript_io *io_of(struct fv_transcript_thread *h)
{
    if (!h->io)
        h->io = fv_xcalloc(1, sizeof(*h->io));
    return h->io;
}

static struct fv_transcript_file_call new_call(uint32_t function, uint32_t node, uint64_t begin)
{
    return (struct fv_transcript_file_call){
        .function = function, .node = node, .begin = begin, .handle = FV_NONE, .file = FV_NONE
    };
}

/* ---- calls ---- */

/* As src/io has it: MPI's functions for files read and write files; its other descriptors are its own. */
static bool is_for_files(const struct fv_transcript *t, const struct fv_transcript_thread *h)
{
    return fv_transcript_class(t, h->call.function) == FV_CLASS_IO;
}

static void enter(struct fv_transcript *t, struct fv_transcript_thread *h, const struct fv_record *m, uint64_t ticks)
{
    struct fv_transcript_io *io = io_of(h);
    const struct fv_transcript_file_call *outer = io->depth ? &io->open[io->depth - 1] : NULL;
    struct fv_transcript_file_call call = new_call(m->ref, m->context, ticks);

    call.in_mpi = h->call.is_open;
    if (call.in_mpi)
        call.node = h->call.node;
    call.hidden = (call.in_mpi && !is_for_files(t, h)) ||
                  (outer && (outer->hidden || outer->id || fv_transcript_file_function(t, outer->function)));
    FV_GROW(io->open, io->room, io->depth + 1);
    io->open[io->depth++] = call;
}

/* Time of a call that is counted by itself is not that of the one around it. */
static void leave(struct fv_transcript *t, struct fv_transcript_thread *h, const struct fv_record *m, uint64_t ticks)
{
    struct fv_transcript_io *io = io_of(h);

    if (!io->depth)
        return;
    struct fv_transcript_file_call call = io->open[--io->depth];
    uint64_t inside = call.hidden ? call.others : ticks - call.begin;
    if (io->depth)
        io->open[io->depth - 1].others += inside;
    if (call.hidden)
        return;
    call.said = m->op;
    if (m->aux)
        call.handle = m->aux - 1;
    if (m->sent && !call.has_bytes) {
        call.bytes = m->sent - 1;
        call.has_bytes = true;
    }
    if (call.in_mpi)
        io->mpi = (struct fv_transcript_file_call){ .begin = h->call.begin, .hidden = true };
    fv_transcript_file_call(t, h, &call, ticks);
}

void fv_transcript_files_call(struct fv_transcript *t, struct fv_transcript_thread *h, const struct fv_record *m,
                              uint64_t ticks)
{
    if (t->merge->defs.functions[m->ref].class != FV_CLASS_OF_FILES)
        return;
    if (m->kind == FV_REC_LIBRARY_ENTER)
        enter(t, h, m, ticks);
    else
        leave(t, h, m, ticks);
}

static bool is_of_mpi(const struct fv_transcript *t, const struct fv_transcript_file_call *c)
{
    return c->handle != FV_NONE && t->merge->defs.handles[c->handle].kind == FV_DEF_IO_MPI;
}

void fv_transcript_files_mpi(struct fv_transcript *t, struct fv_transcript_thread *h, uint64_t ticks)
{
    struct fv_transcript_io *io = h->io;

    if (!io)
        return;
    if (io->depth)
        io->open[io->depth - 1].others += ticks - h->call.begin;
    const bool has_call = io->mpi.begin == h->call.begin && io->mpi.did && !io->mpi.hidden; /* else it has no handle */
    if (has_call && (is_of_mpi(t, &io->mpi) || is_for_files(t, h)))
        fv_transcript_file_call(t, h, &io->mpi, ticks);
    io->mpi.begin = 0;
}

/* ---- what they do ---- */

/* The call that an event belongs to; NULL: none that is counted. */
static struct fv_transcript_file_call *call_at_hand(struct fv_transcript_thread *h)
{
    struct fv_transcript_io *io = io_of(h);

    if (io->depth)
        return io->open[io->depth - 1].hidden ? NULL : &io->open[io->depth - 1];
    if (!h->call.is_open)
        return NULL;
    if (io->mpi.begin != h->call.begin) {
        io->mpi = new_call(h->call.function, h->call.node, h->call.begin);
        io->mpi.in_mpi = true;
    }
    return io->mpi.hidden ? NULL : &io->mpi;
}

/* That of the function's own layer, where it is of several. */
static void note_handle(struct fv_transcript *t, struct fv_transcript_file_call *c, uint32_t handle)
{
    uint32_t known = fv_transcript_file_function(t, c->function);

    if (c->handle == FV_NONE ||
        (known && t->merge->defs.handles[handle].kind == FV_DEF_IO_POSIX + fv_io_layer_of(known)))
        c->handle = handle;
}

static void begin_operation(struct fv_transcript_file_call *c, const struct fv_record *m)
{
    c->did |= m->op & FV_IO_FLUSH ? FV_DID_SYNC : m->op & FV_IO_WRITE ? FV_DID_WRITE : FV_DID_READ;
    c->at = m->received;
    if (m->op & FV_IO_ASYNC) {
        c->did |= FV_DID_BEGIN;
        if (m->sent != FV_IO_BYTES_UNKNOWN) {
            c->bytes += m->sent;
            c->has_bytes = true;
        }
        return;
    }
    c->id = m->id ? m->id : UINT64_MAX;
}

static void end_operation(struct fv_transcript_file_call *c, const struct fv_record *m)
{
    if (!c->id || c->id != (m->id ? m->id : UINT64_MAX))
        return;
    c->id = 0;
    if (m->sent == FV_IO_BYTES_UNKNOWN)
        return;
    c->known |= c->did & (FV_DID_READ | FV_DID_WRITE | FV_DID_SYNC);
    c->bytes += m->sent;
    c->has_bytes = true;
}

static void did(struct fv_transcript_file_call *c, enum fv_transcript_did what)
{
    c->did |= what;
    c->known |= what;
}

static void note(struct fv_transcript *t, struct fv_transcript_file_call *c, const struct fv_record *m)
{
    if (m->kind == FV_REC_IO_DELETE)
        c->file = m->ref;
    else
        note_handle(t, c, m->ref);
    switch ((enum fv_record_kind)m->kind) {
    case FV_REC_IO_OPEN: did(c, FV_DID_OPEN); break;
    case FV_REC_IO_CLOSE: did(c, FV_DID_CLOSE); break;
    case FV_REC_IO_SEEK:
        did(c, FV_DID_SEEK);
        c->at = m->received;
        break;
    case FV_REC_IO_BEGIN: begin_operation(c, m); break;
    case FV_REC_IO_END: end_operation(c, m); break;
    case FV_REC_IO_SAME: did(c, FV_DID_DUPLICATE); break;
    case FV_REC_IO_DELETE: did(c, FV_DID_REMOVE); break;
    case FV_REC_IO_LOCK: did(c, FV_DID_LOCK); break;
    default: break;
    }
}

void fv_transcript_files_done(struct fv_transcript *t, struct fv_transcript_thread *h, const struct fv_record *m)
{
    struct fv_transcript_file_call *c = call_at_hand(h);

    if (m->kind == FV_REC_IO_OPEN)
        fv_transcript_opened(t, m->ref, m->aux);
    if (m->kind == FV_REC_IO_SAME)
        fv_transcript_same(t, m->ref, m->aux);
    if (c)
        note(t, c, m);
}
