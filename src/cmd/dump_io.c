/* See dump.h: what --io records. */
#include "cmd/dump.h"
#include "trace/format.h"

#include <inttypes.h>
#include <stdio.h>

void fv_dump_io_file(const struct fv_cursor *c, const void *record)
{
    const struct fv_io_file *f = record;
    (void)c;

    printf("file of I/O id=%u kind=%u device=%" PRIu64 " inode=%" PRIu64 " filesystem=0x%" PRIx64 " path=\"%s\"", f->id, f->kind, f->device, f->inode, f->filesystem, f->path);
}

void fv_dump_io(const struct fv_cursor *c, const void *record)
{
    const struct fv_io_record *r = record;

    printf("I/O thread=%u file=%u path=%u function=%u flags=%u calls=%" PRIu64 " failed=%" PRIu64 " bytes=%" PRIu64 " ticks=%" PRIu64 " max=%" PRIu64 " untimed=%" PRIu64
           " unsized=%" PRIu64 " empty=%" PRIu64 " consecutive=%" PRIu64 " forward=%" PRIu64 " placed=%" PRIu64,
           c->thread, r->file, r->path, r->function, r->flags, r->calls, r->failed, r->bytes, r->ticks, r->ticks_max, r->untimed, r->unsized, r->empty, r->consecutive,
           r->forward, r->placed);
}

void fv_dump_io_thread(const struct fv_cursor *c, const void *record)
{
    const struct fv_io_thread *t = record;

    printf("I/O of thread=%u begin=%" PRIu64 " function=%u file=%u path=%u ticks=%" PRIu64 " no_room=%" PRIu64 " interrupted=%" PRIu64 " untraced=%" PRIu64, c->thread, t->begin,
           t->function, t->file, t->path, t->ticks, t->no_room, t->interrupted, t->untraced);
}

void fv_dump_io_region(const struct fv_cursor *c, const void *record)
{
    const struct fv_io_region *r = record;

    printf("I/O between calls thread=%u from=%u cell=%u calls=%" PRIu64 " ticks=%" PRIu64 " file=%u path=%u function=%u weight=%" PRIu64, c->thread, r->from, r->cell, r->calls,
           r->ticks, r->file, r->path, r->function, r->weight);
}

void fv_dump_io_process(const struct fv_cursor *c, const void *record)
{
    const struct fv_io_process *p = record;
    (void)c;

    printf("I/O of process ticks=%" PRIu64 " read=%" PRIu64 " written=%" PRIu64 " device_read=%" PRIu64 " device_written=%" PRIu64, p->ticks,
           p->last.asked_read - p->first.asked_read, p->last.asked_written - p->first.asked_written, p->last.device_read - p->first.device_read,
           p->last.device_written - p->first.device_written);
}

void fv_dump_io_handle(const struct fv_cursor *c, const void *record)
{
    const struct fv_io_handle *h = record;
    (void)c;

    printf("I/O handle id=%u file=%u flags=%u", h->id, h->file, h->flags);
}
