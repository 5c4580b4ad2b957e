/* MPI_Pcontrol(2): what was recorded so far is forgotten. For the process that is a number, its era; each
 * thread clears what is its own when it comes to its next call, because nobody else may write there. What a
 * thread that comes to none has recorded is of an earlier era, by its record, and the reader leaves it out.
 * The measured interval then begins anew. Rejected: a new file (threads hold pointers into the old one), and
 * differences (the shortest and the longest call are none). */
#include "base/experiment.h"
#include "rt/layers.h"
#include "rt/statistics.h"
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
                               .time_min = UINT64_MAX };
    }
}

static void clear_record(struct fv_thread_record *r)
{
    r->begin = fv_rt.writer.header->begin_ticks;
    r->last = r->calls = r->mpi_ticks = r->mpi_bytes = 0;
    r->path_misses = r->path_evictions = r->cold_ticks = 0;
}

FV_COLD bool fv_recording_changed(struct fv_thread *t, uint32_t recording)
{
    if (recording & FV_PAUSED)
        return false;
    clear_cells(&t->cells);
    fv_peers_clear(&t->peers);
    fv_bins_clear(t);
    fv_wait_log_clear(&t->log);
    clear_record(t->record);
    fv_layers_tell(FV_AT_FORGET, t);
    t->recording = recording;
    __atomic_store_n(&t->record->era, recording / FV_ERA, __ATOMIC_RELEASE);
    return true;
}

/* What else is recorded is not forgotten, and would contradict what is. */
static bool is_profile_alone(void)
{
    static bool told;
    const struct fv_options *o = &fv_rt.options;

    if (!o->trace && !o->sample && !o->threads)
        return true;
    if (!__atomic_exchange_n(&told, true, __ATOMIC_RELAXED) && fv_first_rank())
        fv_log("MPI_Pcontrol(2): nothing is forgotten of a run with --trace, --sample or --threads");
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
    memset(h->resident_peak_at, 0, sizeof(h->resident_peak_at));
    h->begin_ticks = now;
    h->era++;
    __atomic_store_n(&fv_rt.recording, (fv_rt.recording & FV_PAUSED) + h->era * FV_ERA, __ATOMIC_RELEASE);
    fv_unlock_sigrestore(&fv_rt.lock, signals);
}
