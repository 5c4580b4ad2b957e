/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI-IO: files opened and closed, read and written. A blocking operation begins and completes in its call;
 * the number that connects both is counted here, for each rank. */
#include "merge/replay_state.h"

#include <stdlib.h>
#include <string.h>

static uint32_t handle_of(const struct fv_rank_replay *r, uint64_t file)
{
    return fv_numbers_get(&r->map->handles, file);
}

static void open_file(struct fv_rank_replay *r, struct fv_stream *s, uint64_t file, uint64_t time)
{
    if (file >= r->file_count) {
        FV_GROW(r->open_files, r->file_room, file + 1);
        memset(r->open_files + r->file_count, 0, file + 1 - r->file_count);
        r->file_count = file + 1;
    }
    if (!r->open_files[file])
        fv_rank_put(r, s, &(struct fv_record){ .kind = FV_REC_IO_OPEN, .ref = handle_of(r, file) }, time);
    r->open_files[file] = true;
}

/* A file that was opened while recording was paused is opened where it is first used. */
static bool is_usable(struct fv_rank_replay *r, struct fv_stream *s, uint64_t file, uint64_t time)
{
    if (handle_of(r, file) == FV_NONE)
        return false;
    if (file >= r->file_count || !r->open_files[file])
        open_file(r, s, file, time);
    return true;
}

void fv_io_begin(struct fv_rank_replay *r, struct fv_stream *s, const struct fv_event *d)
{
    if (!is_usable(r, s, d->field[0], s->begin))
        return;
    struct fv_record record = {
        .kind = FV_REC_IO_BEGIN, .ref = handle_of(r, d->field[0]), .sent = d->field[1], .id = ++r->io_ids
    };
    record.op = (uint8_t)((d->kind == FV_EV_WRITE ? FV_IO_WRITE : 0) | (d->field[2] ? FV_IO_ASYNC : 0) |
                          (s->info->together ? FV_IO_COLLECTIVE : 0));
    fv_rank_put(r, s, &record, s->begin);
    if (d->field[2]) /* peer and tag hold the number of the operation */
        fv_pendings_add(&r->pending, &(struct fv_pending){ .number = d->field[2],
                                                           .kind = FV_PENDING_IO,
                                                           .ref = record.ref,
                                                           .sent = d->field[1],
                                                           .received = record.id });
    record.kind = d->field[2] ? FV_REC_IO_ISSUED : FV_REC_IO_END;
    fv_rank_put(r, s, &record, s->end);
}

void fv_io_done(struct fv_rank_replay *r, struct fv_stream *s, const struct fv_pending *was)
{
    fv_rank_put(r, s,
                &(struct fv_record){ .kind = FV_REC_IO_END, .ref = was->ref, .sent = was->sent, .id = was->received },
                s->end);
}

void fv_io_end(struct fv_rank_replay *r, struct fv_stream *s, const struct fv_event *d)
{
    uint64_t file = d->field[0];

    if (d->kind == FV_EV_READ || d->kind == FV_EV_WRITE || handle_of(r, file) == FV_NONE)
        return;
    if (d->kind == FV_EV_FILE_NEW) {
        open_file(r, s, file, s->end);
    } else if (d->kind == FV_EV_FILE_GONE) {
        if (file < r->file_count && r->open_files[file])
            fv_rank_put(r, s, &(struct fv_record){ .kind = FV_REC_IO_CLOSE, .ref = handle_of(r, file) }, s->end);
        if (file < r->file_count)
            r->open_files[file] = false;
    } else if (is_usable(r, s, file, s->end)) {
        fv_rank_put(
            r, s,
            &(struct fv_record){
                .kind = FV_REC_IO_SEEK, .ref = handle_of(r, file), .op = (uint8_t)d->field[2], .sent = d->field[1] },
            s->end);
    }
}

void fv_io_release(struct fv_rank_replay *r)
{
    free(r->open_files);
}
