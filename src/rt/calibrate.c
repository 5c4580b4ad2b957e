/* SPDX-License-Identifier: BSD-3-Clause */
/* The record path at the start of a run: what one call costs, and MPI_Init itself, which was called before. */
#include "rt/layers.h"
#include "rt/events.h"
#include "rt/statistics.h"

/* What these calls count goes to private memory: of a process that is killed meanwhile it would be in the file. */
struct stage {
    struct fv_thread_record record, *of_file;
    struct fv_cell cell;
    struct fv_time_bins *bins, *bins_of_file; /* bins: NULL: no memory, and none are filled */
    unsigned bin_shift;
};

static void set_stage(struct stage *s, struct fv_thread *t)
{
    s->of_file = t->record;
    s->record = *t->record;
    t->record = &s->record;
    s->cell = *t->cells.rest.cell;
    s->cell.function = 0; /* any real one */
    s->bins_of_file = t->bins;
    s->bin_shift = t->bin_shift;
    s->bins = t->bins ? fv_memory_new(sizeof(*s->bins)) : NULL;
    if (s->bins)
        *s->bins = *t->bins;
    t->bins = s->bins;
    t->bin_end = 0;
}

static void strike_stage(struct stage *s, struct fv_thread *t)
{
    t->record = s->of_file;
    t->no_path.comm = FV_PATH_UNCOUNTED;
    t->bins = s->bins_of_file;
    t->bin_shift = s->bin_shift;
    t->bin_end = 0; /* the bin that it remembers was of these */
    t->record->path_misses = t->record->cold_ticks = 0;
    t->record->waited = 0;
    if (s->bins)
        fv_memory_free(s->bins, sizeof(*s->bins));
}

/* What one recorded call costs, in 1/256 tick, for the report's own-overhead line: the real path with a
 * call path of eight frames, at its best of several batches. */
static uint64_t calibrate(struct fv_thread *t)
{
    enum { BATCH = 256, FRAMES = 8 };
    volatile uintptr_t stack[64] = { 0 };
    struct fv_path_check checks[FRAMES];
    struct fv_call_place site = { (const void *)(uintptr_t)8, (const uintptr_t *)stack };
    uint64_t best = UINT64_MAX;
    struct fv_call call;
    struct stage stage;
    set_stage(&stage, t);
    fv_paths_forget(t->paths);
    bool trace = fv_rt.options.trace && fv_events_rehearse(t, true);
    for (int i = 0; i < FRAMES; i++)
        checks[i] = (struct fv_path_check){ (i + 2) * (int64_t)sizeof(uintptr_t), 0 };
    struct fv_path_entry *e = fv_path_insert(t, site, 0, checks, fv_rt.options.depth == 1 ? 0 : FRAMES);
    e->cell = &stage.cell;
    e->site_function = 1; /* of function 0 */
    for (int batch = 0; batch < 8; batch++) {
        uint64_t begin = fv_ticks();

        for (int i = 0; i < BATCH; i++) {
            fv_current = t;
            fv_call_enter(&call, 0, site);
            fv_call_end(&call);
            call.record = true;
            call.trace = trace;
            fv_event(&call, SEND, 1, fv_signed(1), fv_signed(1), 1000);
            fv_call_record(&call, NULL, 0, 0);
        }
        uint64_t ticks = fv_ticks() - begin;
        best = ticks < best ? ticks : best;
    }
    if (trace)
        fv_events_rehearse(t, false);
    strike_stage(&stage, t);
    fv_paths_forget(t->paths);
    return best; /* of BATCH = 256 calls */
}

static void start(struct fv_thread *self)
{
    if (self && fv_rt.options.mpi_calls)
        fv_rt.writer.header->tool_call_ticks = calibrate(self);
    if (self)
        fv_current = self;
}
const struct fv_layer fv_call_layer = { .at = { [FV_AT_START] = start } };

void fv_start_record_init(unsigned function, struct fv_call_place site, uint64_t begin, uint64_t end)
{
    struct fv_call call;

    if (!fv_started() || !fv_call_enter(&call, function, site))
        return;
    call.begin = begin;
    call.end = end;
    call.thread->record->main = 1;
    call.thread->record->begin = call.thread->record->last = begin;
    fv_call_record(&call, NULL, 0, 0);
}
