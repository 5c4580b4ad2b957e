/* fvmpi dump: every record of the rank files, one a line, `type key=value ...`, for eyes and for grep.
 * One small function prints a record type; strings are quoted and escaped. What is damaged is a line, too. */
#include "cmd/arguments.h"
#include "cmd/cmd.h"
#include "cmd/dump.h"
#include "experiment/experiment.h"
#include "trace/bins.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define PRINT_TEXT(record, field) fv_dump_text(#field, (record)->field, sizeof((record)->field))

static void print_hex(const char *key, const uint8_t *bytes, size_t count)
{
    printf(" %s=", key);
    for (size_t i = 0; i < count; i++)
        printf("%02x", bytes[i]);
    if (!count)
        putchar('-');
}

static void print_point(const char *key, const struct fv_clock_point *p)
{
    printf(" %s=%" PRIu64 ",%" PRId64 ",%" PRId64, key, p->ticks, p->realtime_ns, p->monotonic_ns);
}

static void print_header(const struct fv_file_header *h)
{
    printf("header version=%u state=%s rank=%d size=%d pid=%u exit_code=%d process_start=%" PRIu64 " job=%016" PRIx64,
           h->version, fv_state_name(h->state), h->world_rank, h->world_size, h->pid, h->exit_code,
           h->process_start, h->job);
    print_hex("boot_id", h->boot_id, sizeof(h->boot_id));
    printf(" clock=%s nominal_hz=%" PRIu64,
           h->clock_kind == FV_CLOCK_TSC ? "tsc" : h->clock_kind == FV_CLOCK_MONOTONIC ? "monotonic" : "?",
           h->nominal_hz);
    print_point("first", &h->first);
    print_point("last", &h->last);
    printf(" begin=%" PRIu64 " init=%" PRIu64 " finalize=%" PRIu64 " end=%" PRIu64 " paused=%" PRIu64
           " paused_since=%" PRIu64 " tool_start=%" PRIu64 " tool_end=%" PRIu64 " tool_call_256th=%" PRIu64
           " log_shift=%" PRIu64 " memory=%" PRIu64 " file_bytes=%" PRIu64,
           h->begin_ticks, h->init_ticks, h->finalize_ticks, h->end_ticks, h->paused_ticks, h->paused_since,
           h->tool_start_ticks, h->tool_end_ticks, h->tool_call_ticks, h->coll_shift_ceiling, h->memory_bytes,
           h->file_bytes);
    if (h->alive_ticks)
        printf(" alive=%" PRIu64, h->alive_ticks);
    for (unsigned i = 0; i < FV_DROP_COUNT; i++)
        printf(" dropped_%s=%" PRIu64, fv_drop_name(i), h->dropped[i]);
    printf(" usage_at=%" PRIu64 " user_ns=%" PRIu64 ",%" PRIu64 " system_ns=%" PRIu64 ",%" PRIu64 " faults=%" PRIu64
           ",%" PRIu64 " switches=%" PRIu64 ",%" PRIu64,
           h->usage_ticks, h->usage_first.user_ns, h->usage_last.user_ns, h->usage_first.system_ns,
           h->usage_last.system_ns, h->usage_first.faults, h->usage_last.faults, h->usage_first.switches,
           h->usage_last.switches);
    if (h->process_last.resident_peak)
        printf(" resident_peak=%" PRIu64 ",%" PRIu64 " preempted=%" PRIu64 ",%" PRIu64, h->process_first.resident_peak,
               h->process_last.resident_peak, h->process_first.preempted, h->process_last.preempted);
    if (h->process_last.ready_known)
        printf(" ready_ns=%" PRIu64 ",%" PRIu64 " others_ready_ns=%" PRIu64 ",%" PRIu64 " stolen_ns=%" PRIu64 ",%" PRIu64 " throttled_ns=%" PRIu64 ",%" PRIu64, h->process_first.ready_ns, h->process_last.ready_ns,
               h->others_ready_ns[0], h->others_ready_ns[1], h->stolen_ns[0], h->stolen_ns[1], h->throttled_ns[0], h->throttled_ns[1]);
    if (h->era)
        printf(" era=%" PRIu64 " forgotten=%" PRIu64, h->era, h->forgotten_ticks);
    if (h->barrier)
        printf(" barrier=%s barrier_ranks=%u", h->barrier == FV_BARRIER_BEFORE ? "before" : "after",
               h->barrier_ranks);
    if (h->fatal.signal)
        printf(" signal=%u signal_code=%d signal_address=%#" PRIx64 " signal_ticks=%" PRIu64
               " signal_tid=%u signal_path=%u signal_sender=%u",
               h->fatal.signal, h->fatal.code, h->fatal.address, h->fatal.ticks, h->fatal.tid, h->fatal.path, h->fatal.sender);
    PRINT_TEXT(h, host);
    PRINT_TEXT(h, program);
    PRINT_TEXT(h, mpi);
    PRINT_TEXT(h, thread_level);
    PRINT_TEXT(h, command);
    PRINT_TEXT(h, fvmpi);
    putchar('\n');
}

static void print_module(const struct fv_cursor *c, const void *record)
{
    const struct fv_module_record *m = record;
    (void)c;

    printf("module id=%u bias=%#" PRIx64 " begin=%#" PRIx64 " end=%#" PRIx64, m->id, m->bias, m->begin, m->end);
    print_hex("build_id", m->build_id, m->build_id_bytes < 32 ? m->build_id_bytes : 32);
    fv_dump_text("path", m->path, m->path_bytes);
}

static void print_path(const struct fv_cursor *c, const void *record)
{
    const struct fv_path_record *p = record;

    printf("path id=%" PRIu64 " parent=%u module=%u offset=%#" PRIx64, c->index + 1, p->parent, p->module,
           p->offset);
}

static void print_runs(const char *key, const struct fv_rank_run *run, uint32_t count)
{
    printf(" %s=", key);
    for (uint32_t i = 0; i < count; i++)
        printf("%s%d:%d:%d", i ? "," : "", run[i].first, run[i].stride, run[i].count);
    if (!count)
        putchar('-');
}

static void print_comm(const struct fv_cursor *c, const void *record)
{
    const struct fv_comm_record *r = record;
    (void)c;

    printf("comm id=%u uid=%016" PRIx64 " parent=%016" PRIx64 " handle=%#" PRIx64 " flags=%#x rank=%d size=%d "
           "remote_size=%d created=%" PRIu64 " freed=%" PRIu64 " collectives=%" PRIu64,
           r->id, r->uid, r->parent, r->handle, r->flags, r->rank, r->size, r->remote_size, r->created, r->freed,
           r->collectives);
    print_runs("ranks", r->run, r->runs);
    print_runs("remote_ranks", r->run + r->runs, r->remote_runs);
    PRINT_TEXT(r, name);
}

static void print_thread(const struct fv_cursor *c, const void *record)
{
    const struct fv_thread_record *t = record;
    (void)c;

    printf("thread id=%u tid=%u threads=%u main=%u begin=%" PRIu64 " end=%" PRIu64 " last=%" PRIu64 " calls=%" PRIu64
           " mpi=%" PRIu64 " path_misses=%" PRIu64 " path_evictions=%" PRIu64 " cold=%" PRIu64
           " in_call=%" PRIu64 " function=%u path=%u comm=%#" PRIx64 " peer=%d tag=%d mpi_bytes=%" PRIu64
           " user_ns=%" PRIu64 " system_ns=%" PRIu64 " usage_of=%" PRIu64,
           t->id, t->tid, t->threads, t->main, t->begin, t->end, t->last, t->calls, t->mpi_ticks, t->path_misses,
           t->path_evictions, t->cold_ticks, t->in_call.begin, t->in_call.function, t->in_call.path, t->in_call.comm,
           t->in_call.peer, t->in_call.tag, t->mpi_bytes, t->user_ns, t->system_ns, t->usage_of);
    if (t->waited)
        printf(" waited=%" PRIu64, (uint64_t)t->waited << FV_WAITED_SHIFT);
}

static void print_waiting(const struct fv_cursor *c, const void *record)
{
    const struct fv_waiting *w = record;

    printf("waiting thread=%u begin=%" PRIu64 " count=%u kept=%u", c->thread, w->begin, w->count, w->kept);
    for (uint32_t i = 0; i < w->kept && i < FV_WAITED_MOST; i++)
        printf(" kind=%u,comm=%u,peer=%d,tag=%d,function=%u", w->item[i].kind, w->item[i].comm, w->item[i].peer,
               w->item[i].tag, w->item[i].function);
}

static void print_cell(const struct fv_cursor *c, const void *record)
{
    const struct fv_cell *r = record;

    printf("cell thread=%u index=%" PRIu64 " path=%u comm=%u function=%u size_bucket=%u calls=%u time=%" PRIu64
           " min=%" PRIu64 " max=%" PRIu64 " squares=%" PRIu64 ":%" PRIu64 " bytes_sent=%" PRIu64
           " bytes_received=%" PRIu64 " sends=%u receives=%u first=%" PRIu64 " last=%" PRIu64 " histogram=",
           c->thread, c->index, r->path, r->comm, r->function, r->size_bucket, r->calls, r->time_sum,
           r->calls ? r->time_min : 0, r->time_max, r->square_high, r->square_low, r->bytes_sent,
           r->bytes_received, r->sends, r->receives, r->first, r->last);
    for (unsigned i = 0; i < FV_TIME_BUCKETS; i++)
        printf("%s%u", i ? "," : "", r->time_histogram[i]);
    if (r->section)
        printf(" section_set=%u", r->section);
    if (r->from || r->before_ticks)
        printf(" from=%u from_calls=%u before=%" PRIu64, r->from, r->from_calls, r->before_ticks);
    if (r->barriers)
        printf(" barriers=%u barrier_time=%" PRIu64, r->barriers, r->barrier_ticks);
}

static void print_region(const struct fv_cursor *c, const void *record)
{
    const struct fv_region_record *r = record;

    printf("region thread=%u from=%u cell=%u count=%" PRIu64 " ticks=%" PRIu64, c->thread, r->from, r->cell, r->count,
           r->ticks);
}

static void print_switch(const struct fv_cursor *c, const void *record)
{
    const struct fv_switch_record *r = record;

    printf("switch thread=%u from=%u cell=%u blocked=%" PRIu64 " blocked_ns=%" PRIu64 " preempted=%" PRIu64 " preempted_ns=%" PRIu64
           " unseen=%" PRIu64, c->thread, r->from, r->cell, r->blocked, r->blocked_ns, r->preempted, r->preempted_ns, r->unseen);
}

static void print_noise(const struct fv_cursor *c, const void *record)
{
    const struct fv_noise_record *r = record;

    printf("noise thread=%u begin=%" PRIu64 " preempted=%u preempted_ns=%" PRIu64 " blocked_ns=%" PRIu64 " unseen=%u", c->thread, r->begin, r->preempted, r->preempted_ns,
           r->blocked_ns, r->unseen);
}

static void print_cost_region(const struct fv_cursor *c, const void *record)
{
    const struct fv_cost_region *r = record;

    printf("cost_region thread=%u index=%" PRIu64 " from=%u", c->thread, c->index, r->from);
}

static void print_computing(const struct fv_cursor *c, const void *record)
{
    const struct fv_instance_computing *r = record;

    printf("instance_computing thread=%u context=%" PRIu64 " all=%.17g,%.17g in_window=%.17g,%.17g", c->thread, c->index,
           r->all.mean, r->all.m2, r->in_window.mean, r->in_window.m2);
}

static void print_long_calls(const struct fv_cursor *c, const void *record)
{
    const struct fv_long_calls *r = record;

    if (r->count)
        printf("long_calls thread=%u index=%" PRIu64 " count=%" PRIu64 " ticks=%" PRIu64 " ns=%" PRIu64 " all_ns=%" PRIu64
               " look_entries=%" PRIu64 " look_ns=%" PRIu64 " cpu_ns=%" PRIu64,
               c->thread, c->index, r->count, r->ticks, r->ns, r->all_ns, r->look_entries, r->look_ns, r->cpu_ns);
}

static void print_peer(const struct fv_cursor *c, const void *record)
{
    const struct fv_peer_record *p = record;

    printf("peer thread=%u world_rank=%d messages=%" PRIu64 " bytes=%" PRIu64, c->thread, p->world_rank,
           p->messages, p->bytes);
}

static void print_collective(const struct fv_cursor *c, const void *record)
{
    const struct fv_coll_record *r = record;

    printf("collective thread=%u sequence=%u cell=%u flags=%s%s%s begin=%" PRIu64 " end=%" PRIu64, c->thread,
           r->sequence, r->cell_flags >> 3, r->cell_flags & FV_COLL_ROOT ? "root," : "",
           r->cell_flags & FV_COLL_SENDS ? "sends," : "", r->cell_flags & FV_COLL_RECEIVES ? "receives" : "", r->begin,
           r->end);
}

static void print_bank(const struct fv_cursor *c, const struct fv_bin_bank *bank)
{
    printf("bins thread=%u origin=%" PRIu64 " width=%" PRIu64, c->thread, bank->origin, bank->width);
    for (unsigned class = 0; class < FV_CLASS_COUNT; class ++) {
        uint64_t sum = 0;

        for (unsigned i = 0; i < FV_BINS; i++)
            sum += bank->ticks[i][class];
        if (!sum)
            continue;
        printf(" %s=", fv_class_name(class));
        for (unsigned i = 0; i < FV_BINS; i++)
            printf("%s%" PRIu64, i ? "," : "", bank->ticks[i][class]);
    }
}

static void print_bins(const struct fv_cursor *c, const void *record)
{
    const struct fv_bins *bins = record;

    print_bank(c, &bins->bank[bins->active & 1]);
}

static void print_time_bins(const struct fv_cursor *c, const void *record)
{
    struct fv_bin_bank bank;

    fv_bins_read(record, &bank);
    print_bank(c, &bank);
}

static void print_clock(const struct fv_cursor *c, const void *record)
{
    (void)c;
    printf("clock");
    print_point("point", record);
}

static void print_function(const struct fv_cursor *c, const void *record)
{
    const struct fv_function_record *f = record;
    (void)c;

    printf("function id=%u class=%s wait=%s", f->id, fv_class_name(f->class), fv_wait_rule_name(f->wait));
    PRINT_TEXT(f, name);
}

static void print_site(const struct fv_cursor *c, const void *record)
{
    const struct fv_site_record *s = record;

    printf("site thread=%u id=%" PRIu64 " path=%u function=%u", c->thread, c->index, s->path, s->function);
}

static void print_opened(const struct fv_cursor *c, const void *record)
{
    const struct fv_file_record *f = record;
    (void)c;

    printf("opened id=%u comm=%u mode=%#x", f->id, f->comm, f->mode);
    fv_dump_text("name", f->name, f->name_bytes);
}

static void print_ranks(const char *key, const int32_t *rank, uint32_t count)
{
    printf(" %s=", key);
    for (uint32_t i = 0; i < count; i++)
        printf("%s%d", i ? "," : "", rank[i]);
    if (!count)
        putchar('-');
}

static void print_neighbours(const struct fv_cursor *c, const void *record)
{
    const struct fv_neighbours *n = record;
    (void)c;

    printf("neighbours comm=%u sources=%u destinations=%u listed=%u", n->comm, n->sources, n->destinations,
           n->listed);
    print_ranks("from", n->rank, n->listed ? n->sources : 0);
    print_ranks("to", n->rank + n->sources, n->listed ? n->destinations : 0);
}

static void print_grid(const struct fv_cursor *c, const void *record)
{
    const struct fv_grid *g = record;
    (void)c;

    printf("grid comm=%u dimensions=", g->comm);
    for (uint32_t i = 0; i < g->dimensions; i++)
        printf("%s%u%s", i ? "x" : "", g->dimension[i].size, g->dimension[i].periodic ? "~" : "");
}

static void print_function_calls(const struct fv_cursor *c, const void *record)
{
    const struct fv_function_calls *f = record;

    printf("calls of functions thread=%u index=%" PRIu64 " parent=%u node=%u module=%u offset=0x%" PRIx64 " flags=%u calls=%" PRIu64 " nested=%" PRIu64 " counted=%" PRIu64
           " ended=%" PRIu64 " ticks=%" PRIu64 " min=%" PRIu64 " max=%" PRIu64 " self=%" PRIu64 " mpi=%" PRIu64 " mpi_self=%" PRIu64 " opened=%" PRIu64,
           c->thread, c->index, f->parent, f->node, f->module, f->offset, f->flags, f->calls, f->nested, f->counted, f->ended, f->ticks, f->ticks_min, f->ticks_max,
           f->self_ticks, f->mpi_ticks, f->mpi_self_ticks, f->opened);
}

static void print_omp_work(const struct fv_cursor *c, const void *record)
{
    const struct fv_omp_work *w = record;

    printf("OpenMP worksharing thread=%u region=%u path=%u kind=%u count=%" PRIu64 " executed=%" PRIu64 " timed=%" PRIu64 " time=%" PRIu64 " max=%" PRIu64 " wait=%" PRIu64,
           c->thread, w->region, w->path, w->kind, w->count, w->executed, w->timed, w->time, w->time_max, w->wait);
}

static void print_function_losses(const struct fv_cursor *c, const void *record)
{
    const struct fv_function_losses *l = record;

    printf("losses of functions thread=%u too_deep=%" PRIu64 " no_room=%" PRIu64 " left=%" PRIu64 " unbegun=%" PRIu64 " interrupted=%" PRIu64 " untraced=%" PRIu64 " batch_ticks=%" PRIu64,
           c->thread, l->too_deep, l->no_room, l->left, l->unbegun, l->interrupted, l->untraced, l->batch_ticks);
}

static void print_window(const struct fv_cursor *c, const void *record)
{
    const struct fv_window_record *w = record;
    (void)c;

    printf("window id=%u comm=%u sequence=%" PRIu64, w->id, w->comm, w->sequence);
}

static void print_sampler(const struct fv_cursor *c, const void *record)
{
    const struct fv_sampler_record *r = record;

    printf("sampler thread=%u rate=%" PRIu64 " trap=%" PRIu64 " trap_ns=%" PRIu64 " trap_spread=%" PRIu64 " ticks=%" PRIu64
           " traps=%" PRIu64 " entries=%" PRIu64 " returns=%" PRIu64 " abandoned=%" PRIu64 " open=%" PRIu64
           " skipped=%" PRIu64 " refused=%" PRIu64 " late=%" PRIu64 " lost_contexts=%" PRIu64 " lost_paths=%" PRIu64
           " cut=%" PRIu64 " tool=%" PRIu64 " tool_ns=%" PRIu64
           " mode=%u refusal=%u stopped=%u migrations_exact=%u by_breakpoints=%u log_lost=%" PRIu64 " samples_lost=%u no_stack=%" PRIu64
           " events_scaled=%" PRIu64 " events_lost=%" PRIu64 " call_samples=%" PRIu64 " held_back=%" PRIu64,
           c->thread, r->rate, r->trap_ticks, r->trap_ns, r->trap_spread_ticks, r->ticks, r->traps, r->entries,
           r->returns, r->abandoned, r->open, r->skipped, r->refused, r->late, r->lost_contexts, r->lost_paths, r->cut,
           r->tool_ticks, r->tool_ns, r->mode, r->refusal, r->stopped, r->migrations_exact, r->by_breakpoints, r->log_lost, r->samples_lost,
           r->no_stack, r->events_scaled, r->events_lost, r->call_samples, r->held_back);
}

static void print_sample_path(const struct fv_cursor *c, const void *record)
{
    const struct fv_path_record *p = record;

    printf("sample_path thread=%u id=%" PRIu64 " parent=%u module=%u offset=%#" PRIx64, c->thread, c->index + 1,
           p->parent, p->module, p->offset);
}

static void print_moments(const char *key, const struct fv_moments *m)
{
    printf(" %s=", key);
    for (unsigned i = 0; i < FV_METRIC_COUNT; i++)
        printf("%s%.17g,%.17g", i ? ";" : "", m[i].mean, m[i].m2);
}

static void print_instances(const struct fv_cursor *c, const void *record)
{
    const struct fv_instances *r = record;

    printf("instances thread=%u path=%u flags=%u entries=%" PRIu64 " returns=%" PRIu64 " abandoned=%" PRIu64
           " window=%" PRIu64 " min=%" PRIu64 " max=%" PRIu64,
           c->thread, r->path, r->flags, r->entries, r->returns, r->abandoned, r->window,
           r->returns ? r->time_min : 0, r->time_max);
    print_moments("all", r->all);
    print_moments("in_window", r->in_window);
    printf(" reservoir=");
    for (unsigned i = 0; i < FV_RESERVOIR && i < r->returns; i++)
        printf("%s%" PRIu64 ",%" PRIu64 ",%" PRIu64, i ? ";" : "", r->reservoir[i].begin, r->reservoir[i].time,
               r->reservoir[i].cpu_ns);
}

static void print_recent(const struct fv_cursor *c, const void *record)
{
    const struct fv_recent_instances *r = record;

    printf("recent_instances thread=%u context=%" PRIu64 " at=", c->thread, c->index);
    for (unsigned i = 0; i < FV_RECENT && r->at[i].begin; i++)
        printf("%s%" PRIu64 ",%" PRIu64 ",%" PRIu64, i ? ";" : "", r->at[i].begin, r->at[i].time, r->at[i].cpu_ns);
}

/* `-`: not known. */
static void print_counts(const uint64_t *counts)
{
    for (unsigned i = 0; i < FV_METRIC_EVENTS; i++)
        if (counts[i] == FV_COUNT_UNKNOWN)
            printf("%s-", i ? "," : "");
        else
            printf("%s%" PRIu64, i ? "," : "", counts[i]);
}

static void print_instance_events(const struct fv_cursor *c, const void *record)
{
    const struct fv_instance_events *r = record;

    printf("instance_events thread=%u context=%" PRIu64 " reservoir=", c->thread, c->index);
    for (unsigned i = 0; i < FV_RESERVOIR; i++) {
        printf("%s", i ? ";" : "");
        print_counts(r->reservoir[i]);
    }
    printf(" recent=");
    for (unsigned i = 0; i < FV_RECENT; i++) {
        printf("%s", i ? ";" : "");
        print_counts(r->recent[i]);
    }
}

static void print_logged_events(const struct fv_cursor *c, const void *record)
{
    printf("logged_events thread=%u number=%" PRIu64 " counts=", c->thread, c->index);
    print_counts(((const struct fv_logged_events *)record)->count);
}

static void print_event_counts(const struct fv_cursor *c, const void *record)
{
    const struct fv_event_counts *r = record;

    printf("event_counts thread=%u context=%" PRIu64 " all=%" PRIu64 " in_window=%" PRIu64, c->thread, c->index, r->all,
           r->in_window);
}

static void print_section(const struct fv_cursor *c, const void *record)
{
    const struct fv_section *r = record;

    printf("section id=%" PRIu64 " number=%d level=%d flags=%u", c->index + 1, r->number, r->level, r->flags);
    PRINT_TEXT(r, name);
}

static void print_section_set(const struct fv_cursor *c, const void *record)
{
    const struct fv_section_set *r = record;

    printf("section_set id=%" PRIu64 " outer=%u section=%u", c->index + 1, r->outer, r->section);
}

static void print_section_counters(const char *key, const struct fv_section_counters *r)
{
    printf(" %s=calls:%" PRIu64 ",mpi:%" PRIu64 ",bytes:%" PRIu64 ",samples:%" PRIu64 ",locks:%" PRIu64 ",user_ns:%" PRIu64
           ",system_ns:%" PRIu64 ",faults:%" PRIu64 ",switches:%" PRIu64,
           key, r->calls, r->mpi_ticks, r->mpi_bytes, r->samples, r->lock_ticks, r->usage.user_ns, r->usage.system_ns,
           r->usage.faults, r->usage.switches);
}

static void print_section_times(const struct fv_cursor *c, const void *record)
{
    const struct fv_section_times *r = record;

    printf("section_times thread=%u section=%u measured=%u count=%" PRIu64 " time=%" PRIu64 " min=%" PRIu64 " max=%" PRIu64
           " opened=%" PRIu64 " paused=%" PRIu64 " nested=%" PRIu64 " overlapped=%" PRIu64 " unended=%" PRIu64
           " unbegun=%" PRIu64 " elsewhere=%" PRIu64 " last=%" PRIu64,
           c->thread, r->section, r->measured, r->count, r->ticks, r->count ? r->ticks_min : 0, r->ticks_max, r->opened,
           r->paused, r->nested, r->overlapped, r->unended, r->unbegun, r->elsewhere, r->last);
    print_section_counters("sum", &r->sum);
    if (r->opened)
        print_section_counters("since", &r->since);
}

static void print_octave(const struct fv_cursor *c, const void *record)
{
    const struct fv_octave *r = record;

    printf("section_octave thread=%u section=%u", c->thread, r->of);
    for (unsigned i = 0; r->octave < FV_OCTAVES && i < FV_OCTAVE_BUCKETS; i++)
        if (r->count[i])
            printf(" from_%" PRIu64 "=%" PRIu64, fv_bucket_first(r->octave, i), r->count[i]);
}

static void print_section_process(const struct fv_cursor *c, const void *record)
{
    const struct fv_section_process *r = record;

    printf("section_process thread=%u section=%u cpu_ns=%" PRIu64 " since_ns=%" PRIu64, c->thread, r->section, r->cpu_ns, r->since_ns);
}

static void print_section_losses(const struct fv_cursor *c, const void *record)
{
    const struct fv_section_losses *r = record;

    printf("section_losses thread=%u above_level=%" PRIu64 " too_deep=%" PRIu64 " sets=%" PRIu64 " others=%" PRIu64
           " interrupted=%" PRIu64 " unmeasured=%" PRIu64 " untraced=%" PRIu64,
           c->thread, r->above_level, r->too_deep, r->sets, r->others, r->interrupted, r->unmeasured, r->untraced);
}

static void print_cost(const struct fv_cursor *c, const void *record)
{
    const struct fv_cost *r = record;

    printf("cost thread=%u path=%u section=%u ticks=%" PRIu64 " in_mpi=%" PRIu64, c->thread, r->path, r->section, r->ticks,
           r->in_mpi);
}

static void print_logged(const struct fv_cursor *c, const void *record)
{
    const struct fv_logged_instance *r = record;

    printf("logged_instance thread=%u context=%u begin=%" PRIu64 " end=%" PRIu64 " cpu_ns=%" PRIu64 " flags=%u", c->thread,
           r->context, r->begin, r->end, r->cpu_ns, r->flags);
}

static void print_logged_sample(const struct fv_cursor *c, const void *record)
{
    const struct fv_logged_sample *r = record;

    printf("logged_sample thread=%u path=%u ticks=%" PRIu64 " cpu_ns=%u", c->thread, r->path, r->ticks, r->cpu_ns);
}

static void print_metric_event(const struct fv_cursor *c, const void *record)
{
    const struct fv_metric_event *r = record;
    (void)c;

    printf("metric_event");
    PRINT_TEXT(r, name);
    printf(" type=%u config=%#" PRIx64 " config1=%#" PRIx64 " config2=%#" PRIx64 " refusal=%u user_only=%u", r->type,
           r->config, r->config1, r->config2, r->refusal, r->user_only);
}

static void print_option(const struct fv_cursor *c, const void *record)
{
    const struct fv_option_record *r = record;
    (void)c;

    printf("option");
    PRINT_TEXT(r, variable);
    PRINT_TEXT(r, value);
}

static void print_shadow(const struct fv_cursor *c, const void *record)
{
    const struct fv_shadow_record *r = record;
    (void)c;

    printf("shadow functions=%u", r->functions);
    PRINT_TEXT(r, object);
    PRINT_TEXT(r, names);
}

static void print_remark(const struct fv_cursor *c, const void *record)
{
    const struct fv_remark_record *r = record;
    (void)c;

    printf("remark kind=%u", r->kind);
    PRINT_TEXT(r, text);
}

static void print_interpreter(const struct fv_cursor *c, const void *record)
{
    const struct fv_interpreter_record *r = record;
    (void)c;

    printf("interpreter state=%u unread=%" PRIu64, r->state, r->unread);
    PRINT_TEXT(r, version);
}

static void print_sync_object(const struct fv_cursor *c, const void *record)
{
    const struct fv_sync_object *o = record;
    (void)c;

    printf("sync_object id=%u kind=%s flags=%u address=%#" PRIx64 " module=%u offset=%#" PRIx64 " path=%u first=%" PRIu64
           " retired=%" PRIu64 " parties=%u thread=%u more=%" PRIu64,
           o->id, fv_sync_kind_name(o->kind), o->flags, o->address, o->module, o->offset, o->path, o->first, o->retired,
           o->parties, o->thread, o->more);
}

static void print_sync(const struct fv_cursor *c, const void *record)
{
    const struct fv_sync_record *r = record; /* not always of the chunk's thread */

    (void)c;
    printf("sync thread=%u object=%u kind=%s operation=%s path=%u flags=%u acquired=%" PRIu64 " contended=%" PRIu64
           " failed=%" PRIu64 " wait=%" PRIu64 " wait_max=%" PRIu64 " holds=%" PRIu64 " hold=%" PRIu64 " hold_max=%" PRIu64
           " held_at_end=%" PRIu64 " owner_changes=%" PRIu64 " blocked=%" PRIu64 " blocked_ticks=%" PRIu64 " last=%" PRIu64
           " histogram=",
           r->thread, r->object, fv_sync_kind_name(r->kind), fv_sync_operation_name(r->operation), r->path, r->flags,
           r->acquired, r->contended, r->failed, r->wait_sum, r->wait_max, r->hold_count, r->hold_sum, r->hold_max,
           r->held_at_end, r->owner_changes, r->blocked, r->blocked_ticks, r->last);
    for (unsigned i = 0; i < FV_TIME_BUCKETS; i++)
        printf("%s%u", i ? "," : "", r->wait_histogram[i]);
}

static void print_sync_thread(const struct fv_cursor *c, const void *record)
{
    const struct fv_sync_thread *t = record;

    printf("sync_thread thread=%u mode=%u wait_begin=%" PRIu64 " wait_object=%u wait_path=%u wait_kind=%s wait_operation=%s"
           " in_mpi=%" PRIu64 " missed=%" PRIu64 " overflow=%" PRIu64 " holds_lost=%" PRIu64 " cold=%" PRIu64 " lives_lost=%" PRIu64
           " trace_lost=%" PRIu64,
           c->thread, t->mode, t->wait_begin, t->wait_object, t->wait_path, fv_sync_kind_name(t->wait_kind),
           fv_sync_operation_name(t->wait_operation), t->in_mpi_ticks, t->missed, t->overflow, t->holds_lost,
           t->cold_ticks, t->lives_lost, t->trace_lost);
    for (unsigned i = FV_SYNC_MUTEX; i <= FV_SYNC_OMP; i++)
        printf(" %s=%" PRIu64, fv_sync_kind_name(i), t->wait_ticks[i]);
}

static void print_life(const struct fv_cursor *c, const void *record)
{
    const struct fv_thread_life *l = record;

    printf("life index=%" PRIu64 " id=%u thread=%u tid=%u creator=%d create_path=%u joiner=%d join_path=%u module=%u"
           " offset=%#" PRIx64 " created=%" PRIu64 " begin=%" PRIu64 " end=%" PRIu64 " wait_at_begin=%" PRIu64
           " wait_at_end=%" PRIu64 " join_begin=%" PRIu64 " join_end=%" PRIu64 " cpu_ns=%" PRIu64,
           c->index, l->id, l->thread, l->tid, (int)l->creator, l->create_path, (int)l->joiner, l->join_path, l->routine_module,
           l->routine_offset, l->created, l->begin, l->end, l->wait_at_begin, l->wait_at_end, l->join_begin, l->join_end,
           l->cpu_ns);
}

static void print_solo(const struct fv_cursor *c, const void *record)
{
    const struct fv_solo_record *r = record;

    printf("alone index=%" PRIu64 " kind=%u how=%u path=%u module=%u offset=%#" PRIx64 " threads=%u why=%u cache_bytes=%" PRIu64 " left_bytes=%" PRIu64 " count=%" PRIu64
           " measured=%" PRIu64 " let_go=%" PRIu64,
           c->index, r->kind, r->how, r->path, r->module, r->offset, r->threads, r->why, r->cache_bytes, r->left_bytes, r->count, r->measured, r->let_go);
    printf(" intervals=%" PRIu64 " ticks=%" PRIu64 " cpu_ns=%" PRIu64 " probes=%" PRIu64 " misses=%" PRIu64 " lost_intervals=%" PRIu64 " lost_ticks=%" PRIu64 " waited_ticks=%" PRIu64 " part_ppm=%" PRIu64, r->intervals,
           r->ticks, r->cpu_ns, r->probes, r->misses, r->lost_intervals, r->lost_ticks, r->waited_ticks, r->part_ppm);
}

static void print_omp(const struct fv_cursor *c, const void *record)
{
    const struct fv_omp_region *r = record;

    printf("omp index=%" PRIu64 " id=%u thread=%u path=%u object=%u module=%u offset=%#" PRIx64 " level=%u threads_min=%u"
           " threads_max=%u count=%" PRIu64 " threads=%" PRIu64 " open=%" PRIu64 " first=%" PRIu64 " last=%" PRIu64,
           c->index, r->id, r->thread, r->path, r->object, r->module, r->offset, r->level, r->threads_min, r->threads_max,
           r->count, r->threads, r->open, r->first, r->last);
    printf(" elapsed=%" PRIu64 " elapsed_max=%" PRIu64 " longest=%" PRIu64 " useful_longest=%" PRIu64 " weighted=%" PRIu64
           " time=%" PRIu64 " wait=%" PRIu64 " join=%" PRIu64 " fork=%" PRIu64 " tasks=%" PRIu64 " untimed=%" PRIu64
           " lost=%" PRIu64,
           r->elapsed, r->elapsed_max, r->longest, r->useful_longest, r->weighted, r->time, r->wait, r->join, r->fork,
           r->tasks, r->untimed, r->lost);
}

static void print_omp_thread(const struct fv_cursor *c, const void *record)
{
    const struct fv_omp_thread *t = record;

    printf("omp_thread index=%" PRIu64 " region=%u number=%u thread=%d count=%" PRIu64 " time=%" PRIu64 " time_max=%" PRIu64
           " wait=%" PRIu64 " join=%" PRIu64 " join_max=%" PRIu64 " fork=%" PRIu64 " tasks=%" PRIu64 " last=%" PRIu64,
           c->index, t->region, t->number, (int)t->thread, t->count, t->time, t->time_max, t->wait, t->join, t->join_max,
           t->fork, t->tasks, t->last);
}

static void print_events(const struct fv_reader *reader, const struct fv_chunk *chunk)
{
    struct fv_unpacked unpacked = { 0 };
    struct fv_event_cursor c = fv_reader_events(reader, chunk, &unpacked);
    struct fv_event e;

    while (fv_event_next(&c, &e)) {
        const struct fv_event_form *form = &fv_event_forms[e.kind];

        printf("event thread=%u begin=%" PRIu64 " end=%" PRIu64 " kind=\"%s\"", chunk->thread, e.begin, e.end,
               form->name);
        for (unsigned i = 0; i < form->fields; i++)
            if (form->is_signed >> i & 1)
                printf(" %s=%" PRId64, form->field[i], (int64_t)e.field[i]);
            else
                printf(" %s=%" PRIu64, form->field[i], e.field[i]);
        putchar('\n');
    }
    if (c.damaged)
        puts("damage why=\"event chunk: bytes that are no event, the rest of the chunk is lost\"");
    fv_unpacked_release(&unpacked);
}

static void (*const printers[])(const struct fv_cursor *, const void *) = {
    [FV_CHUNK_MODULES] = print_module,         [FV_CHUNK_PATHS] = print_path,
    [FV_CHUNK_COMMS] = print_comm,             [FV_CHUNK_THREADS] = print_thread,
    [FV_CHUNK_CELLS] = print_cell,             [FV_CHUNK_PEERS] = print_peer,
    [FV_CHUNK_COLLECTIVES] = print_collective, [FV_CHUNK_BINS] = print_bins,
    [FV_CHUNK_CLOCK] = print_clock,            [FV_CHUNK_FUNCTIONS] = print_function,
    [FV_CHUNK_SITES] = print_site,             [FV_CHUNK_FILES] = print_opened,
    [FV_CHUNK_WINDOWS] = print_window,         [FV_CHUNK_WAITING] = print_waiting,
    [FV_CHUNK_NEIGHBOURS] = print_neighbours, [FV_CHUNK_GRIDS] = print_grid,
    [FV_CHUNK_IO_FILES] = fv_dump_io_file, [FV_CHUNK_IO] = fv_dump_io, [FV_CHUNK_IO_THREAD] = fv_dump_io_thread, [FV_CHUNK_IO_REGIONS] = fv_dump_io_region,
    [FV_CHUNK_IO_PROCESS] = fv_dump_io_process, [FV_CHUNK_IO_HANDLES] = fv_dump_io_handle, [FV_CHUNK_OMP_WORK] = print_omp_work, [FV_CHUNK_SOLO] = print_solo,
    [FV_CHUNK_COUNTER_EVENTS] = fv_dump_counter, [FV_CHUNK_COUNTER_VALUES] = fv_dump_counter_values, [FV_CHUNK_COUNTER_PHASES] = fv_dump_counter_phase,
    [FV_CHUNK_MEMORY_PROCESS] = fv_dump_memory, [FV_CHUNK_MEMORY_SUMS] = fv_dump_memory_sums, [FV_CHUNK_MEMORY_SITES] = fv_dump_memory_site,
    [FV_CHUNK_MEMORY_PATHS] = fv_dump_memory_path, [FV_CHUNK_MEMORY_SERIES] = fv_dump_memory_series,
    [FV_CHUNK_LABELS] = fv_dump_label, [FV_CHUNK_SENSOR_PROCESS] = fv_dump_sensors, [FV_CHUNK_SENSOR_SERIES] = fv_dump_sensor_series, [FV_CHUNK_SENSOR_SAMPLES] = fv_dump_sensor_sample,
    [FV_CHUNK_FACTS] = fv_dump_fact, [FV_CHUNK_AFFINITY] = fv_dump_affinity,
    [FV_CHUNK_FUNCTION_CALLS] = print_function_calls, [FV_CHUNK_FUNCTION_LOSSES] = print_function_losses, [FV_CHUNK_SAMPLER] = print_sampler,
    [FV_CHUNK_SAMPLE_PATHS] = print_sample_path, [FV_CHUNK_INSTANCES] = print_instances,
    [FV_CHUNK_COSTS] = print_cost, [FV_CHUNK_SECTIONS] = print_section, [FV_CHUNK_SECTION_SETS] = print_section_set,
    [FV_CHUNK_SECTION_TIMES] = print_section_times, [FV_CHUNK_SECTION_LOSSES] = print_section_losses,
    [FV_CHUNK_SECTION_OCTAVES] = print_octave, [FV_CHUNK_SECTION_PROCESS] = print_section_process,
    [FV_CHUNK_SYNC_OBJECTS] = print_sync_object, [FV_CHUNK_SYNC] = print_sync,
    [FV_CHUNK_SYNC_THREAD] = print_sync_thread, [FV_CHUNK_LIVES] = print_life,             [FV_CHUNK_INSTANCE_LOG] = print_logged,
    [FV_CHUNK_SAMPLE_LOG] = print_logged_sample, [FV_CHUNK_METRIC_EVENTS] = print_metric_event, [FV_CHUNK_EVENT_COUNTS] = print_event_counts,
    [FV_CHUNK_OMP] = print_omp, [FV_CHUNK_OMP_THREADS] = print_omp_thread, [FV_CHUNK_OPTIONS] = print_option, [FV_CHUNK_SHADOWS] = print_shadow, [FV_CHUNK_REMARKS] = print_remark, [FV_CHUNK_REGIONS] = print_region, [FV_CHUNK_COST_REGIONS] = print_cost_region, [FV_CHUNK_INSTANCE_COMPUTING] = print_computing, [FV_CHUNK_TIME_BINS] = print_time_bins, [FV_CHUNK_INTERPRETER] = print_interpreter, [FV_CHUNK_RECENT_INSTANCES] = print_recent, [FV_CHUNK_INSTANCE_EVENTS] = print_instance_events, [FV_CHUNK_LOGGED_EVENTS] = print_logged_events, [FV_CHUNK_SWITCHES] = print_switch, [FV_CHUNK_NOISE] = print_noise, [FV_CHUNK_LONG_CALLS] = print_long_calls,
};

static void print_file(const char *name, const struct fv_reader *reader)
{
    size_t chunks, kept;
    uint64_t damages;
    const struct fv_chunk *chunk = fv_reader_chunks(reader, &chunks);
    const struct fv_damage *damage = fv_reader_damage(reader, &kept, &damages);

    printf("file");
    fv_dump_text("name", name, strlen(name));
    printf(" bytes=%" PRIu64 " chunks=%zu damages=%" PRIu64 "\n", fv_reader_bytes(reader), chunks, damages);
    print_header(fv_reader_header(reader));
    for (size_t i = 0; i < kept; i++) {
        printf("damage offset=%" PRIu64, damage[i].offset);
        PRINT_TEXT(&damage[i], why);
        putchar('\n');
    }
    for (size_t i = 0; i < chunks; i++) {
        struct fv_cursor c = fv_cursor_chunk(reader, i);
        const void *record;

        printf("chunk offset=%" PRIu64 " type=%s used=%" PRIu64 "\n", chunk[i].offset,
               fv_chunk_kind(chunk[i].type)->name, chunk[i].used);
        if (fv_chunk_has_events(&chunk[i]))
            print_events(reader, &chunk[i]);
        if (chunk[i].type >= sizeof(printers) / sizeof(*printers) || !printers[chunk[i].type])
            continue;
        while ((record = fv_cursor_next(&c))) {
            printers[chunk[i].type](&c, record);
            putchar('\n');
        }
    }
}

static const char usage[] =
    "usage: fvmpi dump DIR|FILE...\n"
    "Prints every record of the rank files of an experiment, one a line: type key=value ...\n"
    "Times are ticks of the file's clock. share/format.md explains the records.\n"
    "  -h, --help   this text\n";

static int wrong(const char *what, const char *why)
{
    return fv_arguments_wrong("fvmpi dump", what, why);
}

static int take_option(void *options, int option)
{
    (void)options;
    if (option != 'h')
        return FV_UNKNOWN_OPTION;
    fputs(usage, stdout);
    return FV_EXIT_OK;
}

int fv_cmd_dump(int argc, char **argv)
{
    static const struct option table[] = { { "help", no_argument, NULL, 'h' }, { 0 } };
    static const struct fv_arguments arguments = { "h", table, take_option, wrong, "experiment directory", false };
    struct fv_experiment experiment;
    struct fv_operands paths;
    int status = fv_arguments_take(&arguments, argc, argv, NULL, &paths);

    if (status >= 0)
        return status;
    if (fv_experiment_open_all(&experiment, paths.items, paths.count))
        return FV_EXIT_FAILED;
    for (size_t i = 0; i < experiment.count; i++) {
        int err = fv_reader_wake(experiment.files[i].reader);

        if (err)
            fv_log("%s: %s", experiment.files[i].name,
                   err == -FV_ENOMEM ? "there is no memory to read it" : "it changed while it was read");
        if (err == -FV_ENOMEM)
            continue;
        print_file(experiment.files[i].name, experiment.files[i].reader);
        fv_reader_rest(experiment.files[i].reader);
    }
    for (size_t i = 0; i < experiment.problems.count; i++)
        fv_log("%s: %s", experiment.problems.items[i].file ? experiment.problems.items[i].file : experiment.path,
               experiment.problems.items[i].text);
    fv_experiment_release(&experiment);
    if (fflush(stdout) || ferror(stdout)) {
        fv_log("dump: standard output: %s; write it elsewhere", fv_strerror(-FV_EIO));
        return FV_EXIT_FAILED;
    }
    return FV_EXIT_OK;
}
