/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Pcontrol(2): what was recorded so far is forgotten. For the process that is a number, its era; each
 * thread clears what is its own when it comes to its next call, because nobody else may write there. What a
 * thread that comes to none has recorded is of an earlier era, by its record, and the reader leaves it out.
 * The measured interval then begins anew. Rejected: a new file (threads hold pointers into the old one), and
 * differences (the shortest and the longest call are none). */
#include "base/experiment.h"
#include "rt/layers.h"
#include "rt/remarks.h"
#include "rt/statistics.h"
#include "rt/turns.h"
#include "rt/usage.h"

static void clear_cells(struct fv_cells *cells)
{
    for (uint32_t i = 0; cells->slots && i <= cells->mask; i++) {
        struct fv_cell *c = cells->slots[i].cell;

        if (!c)
            continue;
        *c = (struct fv_cell){ .path = c->path,
                               .comm = c->comm,
                               .function = c->function,
                               .size_bucket = c->size_bucket,
                               .section = c->section,
                               .time_min = UINT64_MAX,
                               .size_min = UINT64_MAX };
    }
}

static void clear_record(struct fv_thread_record *r)
{
    r->begin = fv_rt.writer.header->begin_ticks;
    r->last = r->last > r->begin ? r->last : r->begin; /* computing that goes on is counted from there */
    r->calls = r->mpi_ticks = r->mpi_bytes = 0;
    r->path_misses = r->path_evictions = r->cold_ticks = 0;
    r->waited = 0;
}

static void forget(struct fv_thread *t, uint64_t era)
{
    uint64_t calls = t->record->calls;

    clear_cells(&t->cells);
    fv_paths_uncount(t->paths);
    fv_regions_clear(t);
    fv_peers_clear(&t->peers);
    fv_bins_clear(t);
    fv_wait_log_clear(&t->log);
    clear_record(t->record);
    /* Last: who reads both sees too few, never too many (src/monitor/hang_watch.c). */
    __atomic_store_n(&t->asked.forgotten, t->asked.forgotten + calls, __ATOMIC_RELEASE);
    fv_layers_tell(FV_AT_FORGET, t);
    t->paused_seen = 0;
    __atomic_store_n(&t->record->era, era, __ATOMIC_RELEASE);
}

/* Computing since the last call was paused meanwhile, or had not begun before. */
static void leave_out_pauses(struct fv_thread *t)
{
    uint64_t paused = __atomic_load_n(&fv_rt.writer.header->paused_ticks, __ATOMIC_RELAXED),
             resumed = __atomic_load_n(&fv_rt.resumed, __ATOMIC_RELAXED);
    uint64_t last = t->record->last + (paused - t->paused_seen);

    last = last < resumed ? last : resumed;
    t->record->last = last > t->record->last ? last : t->record->last;
    t->paused_seen = paused;
    fv_switches_ignore(&t->switches);
    t->switches.any = t->io_since.calls;
}

FV_COLD bool fv_recording_changed(struct fv_thread *t, uint32_t recording)
{
    if (!(recording & FV_RECORDING))
        return false;
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    uint64_t era = __atomic_load_n(&fv_rt.writer.header->era, __ATOMIC_ACQUIRE);
    if (era != t->record->era)
        forget(t, era);
    if (!fv_rt.options.mpi_calls)
        return false;
    leave_out_pauses(t);
    t->recording = recording;
    return true;
}

/* What else is recorded is not forgotten, and would contradict what is. */
static bool is_profile_alone(void)
{
    static bool told;
    const struct fv_options *o = &fv_rt.options;

    if (!o->trace && o->sample <= FV_SAMPLE_CLOCK && !o->threads)
        return true;
    if (!__atomic_exchange_n(&told, true, __ATOMIC_RELAXED))
        fv_remark(fv_first_rank(),
                  "MPI_Pcontrol(2): no effect in a run with --trace, --sample or --threads; nothing is discarded");
    return false;
}

void fv_forget(void)
{
    struct fv_file_header *h = fv_rt.writer.header;

    if (!fv_rt_on() || !is_profile_alone())
        return;
    uint64_t signals = fv_lock_sigsave(&fv_rt.lock), now = fv_ticks();
    h->forgotten_ticks += now - h->begin_ticks;
    h->paused_ticks = 0;
    if (h->paused_since)
        h->paused_since = now;
    fv_usage_read(&h->usage_first, &h->process_first);
    fv_usage_read_ready(&h->process_first);
    h->others_ready_ns[0] = fv_usage_others_ready();
    h->stolen_ns[0] = fv_usage_stolen();
    h->throttled_ns[0] = fv_usage_throttled();
    h->begin_ticks = now; /* first: a handler marks peaks by their age */
    memset(h->resident_peak_at, 0, sizeof(h->resident_peak_at));
    __atomic_store_n(&h->era, h->era + 1, __ATOMIC_RELEASE);
    __atomic_store_n(&fv_rt.here->recording, fv_recording() + FV_CHANGED, __ATOMIC_RELEASE);
    fv_turns_forget();
    fv_unlock_sigrestore(&fv_rt.lock, signals);
}
