/* SPDX-License-Identifier: BSD-3-Clause */
/* See counters.h. */
#include "rt/counters_of.h"
#include "base/experiment.h"
#include "rt/accounts.h"
#include "rt/layers.h"
#include "rt/map.h"
#include "rt/tail.h"
#include "rt/thread.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What was asked for. Set when recording begins, before the first thread is counted. */
static struct fv_counter_event wanted[FV_COUNTERS];
static struct fv_perf_event events[FV_COUNTERS]; /* the same, to be opened */
static uint8_t account[FV_COUNTERS];             /* enum fv_perf_account */
static unsigned wanted_count;
static bool have_any;                            /* the last to be set: then others count, too */
static bool have_accounts, have_files;           /* any; and such as stand in files of other threads */
static bool have_processor, have_processor_only; /* events of the processor are opened; and no others */

/* Of OpenMP. What there is no room for is missing in the report. */
struct region {
    uint64_t id;
    struct fv_counter_phase *record; /* in the file; NULL: no room */
    struct fv_counter_span counted;
    unsigned depth; /* a region may stand in itself: then it is counted once */
};
#define REGIONS_MOST 8192

static const struct fv_tail_kind values_kind = { .type = FV_CHUNK_COUNTER_VALUES, .first_pages = 1, .most_pages = 16 };
static const struct fv_tail_kind phases_kind = { .type = FV_CHUNK_COUNTER_PHASES, .first_pages = 1, .most_pages = 16 };

/* ---- which there are ---- */

/* "@zen4": what `fvmpi run` took this processor for, as the list's first word. */
static bool take_processor(const char *word, size_t length, char out[16])
{
    if (!length || *word != '@')
        return false;
    snprintf(out, 16, "%.*s", (int)(length - 1), word + 1);
    return true;
}

static void describe(unsigned i, const char *processor)
{
    struct fv_counter_event *w = &wanted[i];

    w->type = events[i].type;
    w->config = events[i].config;
    w->config1 = events[i].config1;
    w->config2 = events[i].config2;
    memcpy(w->name, events[i].name, sizeof(w->name));
    memcpy(w->processor, processor, sizeof(w->processor));
}

static void set_flags(unsigned i)
{
    unsigned modes = events[i].flags & (FV_PERF_NO_USER | FV_PERF_NO_KERNEL);

    wanted[i].flags =
        (account[i]                   ? (unsigned)FV_COUNTER_ACCOUNTS
         : modes == FV_PERF_NO_KERNEL ? (unsigned)FV_COUNTER_USER
         : modes == FV_PERF_NO_USER   ? (unsigned)FV_COUNTER_KERNEL
                                      : 0u) |
        (fv_rt.options.counters_mpi && events[i].type != PERF_TYPE_SOFTWARE ? 0u : (unsigned)FV_COUNTER_NO_MPI);
}

/* The events of the list, with what speaks against one from the start. */
static void take_list(const char *list, struct fv_perf_trial *trials)
{
    char processor[16] = "";
    const char *word;
    size_t length;

    while (wanted_count < FV_COUNTERS && fv_perf_event_word(&list, &word, &length)) {
        unsigned i = wanted_count;

        if (take_processor(word, length, processor))
            continue;
        int err = fv_perf_event_parse(word, length, &events[i]);

        if (err == -FV_EINVAL)
            continue;
        describe(i, processor);
        account[i] = err ? FV_NO_ACCOUNT : (uint8_t)fv_perf_event_account(&events[i]);
        trials[i] =
            (struct fv_perf_trial){ .event = &events[i],
                                    .refusal = err                                                            ? ESRCH
                                               : events[i].processor && events[i].processor != fv_processor() ? EXDEV
                                                                                                              : 0 };
        if (!trials[i].refusal && !account[i])
            fv_perf_event_choose_mode(&events[i]);
        wanted_count++;
    }
}

/* Can any of them be counted? */
static bool find_out(const char *list)
{
    struct fv_perf_trial trials[FV_COUNTERS];
    bool any = false;

    take_list(list, trials);
    fv_perf_try_all(trials, wanted_count, fv_rt.options.counters_shared);
    have_processor_only = true;
    for (unsigned i = 0; i < wanted_count; i++) {
        bool is_opened = !trials[i].refusal && !account[i], is_software = events[i].type == PERF_TYPE_SOFTWARE;

        wanted[i].refusal = trials[i].refusal;
        wanted[i].group = trials[i].group;
        set_flags(i);
        have_processor = have_processor || (is_opened && !is_software);
        have_processor_only = have_processor_only && !(is_opened && is_software);
        any = any || !wanted[i].refusal;
        have_accounts = have_accounts || account[i];
        have_files = have_files || (account[i] && account[i] != FV_ACCOUNT_CPU_NS);
    }
    return any;
}

/* Those with one reason in one line. */
static void tell_refusals(void)
{
    for (unsigned i = 0; i < wanted_count; i++) {
        const char *why = fv_perf_event_refusal(wanted[i].refusal, wanted[i].flags & FV_COUNTER_USER);
        char names[600] = "";
        size_t used = 0;
        bool is_told = false;

        for (unsigned k = 0; k < wanted_count && wanted[i].refusal; k++) {
            if (wanted[k].refusal != wanted[i].refusal || used >= sizeof(names))
                continue;
            is_told = is_told || k < i;
            used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s", used ? ", " : "", wanted[k].name);
        }
        if (used && !is_told)
            fv_log("--counters: not counted: %s: %s", names, why);
    }
}

static bool write_events(void)
{
    size_t bytes = wanted_count * sizeof(*wanted);
    struct fv_chunk_header *chunk = fv_writer_chunk(&fv_rt.writer, FV_CHUNK_COUNTER_EVENTS, FV_NO_THREAD, 0, bytes);

    if (!chunk)
        return false;
    memcpy(fv_chunk_records(chunk), wanted, bytes);
    fv_chunk_commit(chunk, bytes);
    return true;
}

bool fv_counters_are_on(void)
{
    return __atomic_load_n(&have_any, __ATOMIC_ACQUIRE);
}

unsigned fv_counters_wanted(void)
{
    return wanted_count;
}

/* ---- reading ---- */

static void put_accounts(const uint64_t of[FV_ACCOUNTS], struct fv_counter_reading *out)
{
    for (unsigned i = 0; i < wanted_count; i++)
        if (account[i])
            out->at[i] = (struct fv_perf_count){ of[account[i]], of[FV_ACCOUNT_CPU_NS], of[FV_ACCOUNT_CPU_NS] };
}

/* Faults and switches are in files. */
void fv_counters_read_accounts_of(const struct fv_thread *t, struct fv_counter_reading *out)
{
    uint64_t of[FV_ACCOUNTS] = { 0 };

    if (have_accounts && fv_accounts_read_of(t->record->tid, have_files, of))
        put_accounts(of, out);
}

static bool is_opened(unsigned i)
{
    return !wanted[i].refusal && !account[i];
}

static bool read_directly(const struct fv_thread_counters *c, struct fv_counter_reading *out)
{
    for (unsigned i = 0; i < wanted_count; i++)
        if (c->page[i] && !fv_perf_page_read(c->page[i], fv_perf_register, &out->at[i]))
            return false;
    return true;
}

/* Of the group whose leader is event `first`. False: it is not ours any more. */
static bool read_group(const struct fv_thread_counters *c, unsigned first, struct fv_counter_reading *out)
{
    struct {
        struct fv_perf_group group;
        uint64_t value[FV_COUNTERS];
    } told;
    unsigned count = 0;

    for (unsigned i = first; i < wanted_count; i++)
        count += is_opened(i) && wanted[i].group == wanted[first].group;
    if (!fv_perf_read(&c->event[first], &told, sizeof(told.group) + count * sizeof(uint64_t)))
        return false;
    for (unsigned i = first, at = 0; i < wanted_count; i++)
        if (is_opened(i) && wanted[i].group == wanted[first].group)
            out->at[i] = (struct fv_perf_count){ told.value[at++], told.group.enabled, told.group.running };
    return true;
}

bool fv_counters_read_groups(const struct fv_thread_counters *c, struct fv_counter_reading *out)
{
    int last = -1;
    bool good = true;

    for (unsigned i = 0; i < wanted_count; i++) {
        if (!is_opened(i) || (int)wanted[i].group == last)
            continue;
        last = (int)wanted[i].group;
        good = read_group(c, i, out) && good;
    }
    return good;
}

/* By the thread itself: what the processor counts, .. */
static void take_events(struct fv_thread_counters *c)
{
    if (!(c->direct && read_directly(c, &c->now)) && !c->unknown && !fv_counters_read_groups(c, &c->now))
        c->whole->flags |= FV_COUNTERS_CUT;
}

/* ... and all. */
static void take(struct fv_thread_counters *c)
{
    uint64_t of[FV_ACCOUNTS];

    take_events(c);
    if (have_accounts && fv_accounts_read(of))
        put_accounts(of, &c->now);
}

/* ---- sums ---- */

void fv_counters_add(struct fv_counter_values *sum, const struct fv_counter_reading *now,
                     const struct fv_counter_reading *since)
{
    for (unsigned i = 0; i < wanted_count; i++) {
        const struct fv_perf_count *n = &now->at[i], *s = &since->at[i];

        sum->at[i].count += n->value > s->value ? n->value - s->value : 0;
        sum->at[i].enabled += n->enabled > s->enabled ? n->enabled - s->enabled : 0;
        sum->at[i].running += n->running > s->running ? n->running - s->running : 0;
    }
}

/* What the thread counted until the reading, since it began, or forgot. */
static void add_begun(struct fv_counter_values *sum, const struct fv_thread_counters *c,
                      const struct fv_counter_reading *now, uint64_t ticks)
{
    fv_counters_add(sum, now, &c->begun);
    for (unsigned i = 0; i < wanted_count; i++)
        sum->at[i].in_mpi += c->in_mpi[i];
    sum->ticks += ticks > c->begun_ticks ? ticks - c->begun_ticks : 0;
}

/* The same with what was before, into the file. */
static void put(struct fv_counter_values *to, const struct fv_counter_values *before,
                const struct fv_thread_counters *c, const struct fv_counter_reading *now)
{
    struct fv_counter_values sum = *before;
    uint64_t ticks = fv_ticks();

    add_begun(&sum, c, now, ticks);
    memcpy(to->at, sum.at, wanted_count * sizeof(*sum.at));
    to->ticks = sum.ticks;
    to->flags &= ~(uint32_t)FV_COUNTERS_UNWRITTEN;
    __atomic_store_n(&to->last, ticks, __ATOMIC_RELEASE);
}

unsigned fv_counters_unknown_flags(const struct fv_thread_counters *c)
{
    return (c->whole->flags & FV_COUNTERS_CUT) | (c->unknown ? (unsigned)FV_COUNTERS_UNKNOWN : 0u);
}

/* The whole thread until the reading. */
void fv_counters_put_whole(struct fv_thread_counters *c, const struct fv_counter_reading *now)
{
    put(c->whole, &c->before, c, now);
    if (!c->life)
        return;
    c->life->flags |= fv_counters_unknown_flags(c);
    put(c->life, &c->kept, c, now);
}

void fv_counters_update(struct fv_thread *t)
{
    int saved = errno;

    take(t->counters);
    fv_counters_put_whole(t->counters, &t->counters->now);
    errno = saved;
}

void fv_counters_go_on(struct fv_thread *t)
{
    if (have_processor && fv_rt.options.counters_mpi)
        t->counters->is_due = true; /* when the call is left, so that what is counted in it is the call's */
    else
        fv_counters_update(t);
}

void fv_counters_enter(struct fv_thread *t)
{
    int saved = errno;

    take_events(t->counters);
    t->counters->entered = t->counters->now;
    errno = saved;
}

void fv_counters_leave(struct fv_thread *t)
{
    struct fv_thread_counters *c = t->counters;
    int saved = errno;

    take_events(c);
    for (unsigned i = 0; i < wanted_count; i++)
        if (!(wanted[i].flags & FV_COUNTER_NO_MPI) && c->now.at[i].value > c->entered.at[i].value)
            __atomic_store_n(&c->in_mpi[i], c->in_mpi[i] + c->now.at[i].value - c->entered.at[i].value,
                             __ATOMIC_RELAXED); /* others read it: counters_others.c */
    c->entered = c->now;
    if (c->is_due)
        fv_counters_update(t);
    c->is_due = false;
    errno = saved;
}

unsigned fv_counters_last(const struct fv_thread *t, uint8_t numbers[FV_COUNTERS], uint64_t counts[FV_COUNTERS])
{
    const struct fv_thread_counters *c = t->counters;
    unsigned count = 0;

    for (unsigned i = 0; i < wanted_count; i++) {
        if (wanted[i].refusal || (c->unknown && !account[i]))
            continue;
        numbers[count] = (uint8_t)i;
        /* those before have the same location */
        counts[count++] = c->before.at[i].count + c->now.at[i].value - c->begun.at[i].value;
    }
    return count;
}

/* ---- sections ---- */

static FV_COLD struct fv_counter_span *make_counted(struct fv_thread *t, uint32_t section)
{
    struct fv_scope scope = fv_scope_enter();
    struct fv_counter_span *made = fv_memory_new(sizeof(*made));

    if (made && !(fv_lock_is_free(&fv_rt.writer.lock) &&
                  (made->sum = fv_tail_next(&t->counters->tail, &values_kind, t->id, sizeof(*made->sum), false)))) {
        fv_memory_free(made, sizeof(*made));
        made = NULL;
    }
    if (made) {
        made->sum->section = section;
        fv_tail_commit(&t->counters->tail, sizeof(*made->sum));
    }
    fv_scope_leave(&scope);
    return made;
}

static void begin_counted(struct fv_thread_counters *c, struct fv_counter_span *of)
{
    take(c);
    of->since = c->now;
    memcpy(of->in_mpi_since, c->in_mpi, sizeof(of->in_mpi_since));
}

static void end_counted(struct fv_thread_counters *c, struct fv_counter_span *of, uint64_t ticks)
{
    take(c);
    fv_counters_add(of->sum, &c->now, &of->since);
    for (unsigned i = 0; i < wanted_count; i++)
        of->sum->at[i].in_mpi += c->in_mpi[i] - of->in_mpi_since[i];
    of->sum->flags |= fv_counters_unknown_flags(c);
    of->sum->ticks += ticks;
    __atomic_store_n(&of->sum->last, fv_ticks(), __ATOMIC_RELEASE);
    fv_counters_put_whole(c, &c->now);
}

void fv_counters_begin(struct fv_thread *t, uint32_t section, struct fv_counter_span **of)
{
    int saved = errno;

    if (!*of)
        *of = make_counted(t, section);
    if (*of)
        begin_counted(t->counters, *of);
    errno = saved;
}

void fv_counters_end(struct fv_thread *t, struct fv_counter_span *of, uint64_t ticks)
{
    int saved = errno;

    if (!of)
        return;
    end_counted(t->counters, of, ticks);
    errno = saved;
}

void fv_counters_clear(struct fv_thread *t, struct fv_counter_span *of)
{
    if (!of)
        return;
    memset(of->sum->at, 0, sizeof(of->sum->at));
    of->sum->ticks = 0;
    of->since = t->counters->now;
    memcpy(of->in_mpi_since, t->counters->in_mpi, sizeof(of->in_mpi_since));
}

/* ---- phases of threads ---- */

/* NULL: no room. */
static FV_COLD struct fv_counter_phase *make_phase(struct fv_thread *t, enum fv_counter_phase_kind kind, uint32_t of)
{
    struct fv_scope scope = fv_scope_enter();
    struct fv_counter_phase *made = NULL;

    if (fv_lock_is_free(&fv_rt.writer.lock) &&
        (made = fv_tail_next(&t->counters->phases, &phases_kind, t->id, sizeof(*made), false))) {
        made->kind = kind;
        made->of = of;
        fv_tail_commit(&t->counters->phases, sizeof(*made));
    }
    fv_scope_leave(&scope);
    return made;
}

void fv_counters_life(struct fv_thread *t, uint32_t life)
{
    int saved = errno;
    struct fv_counter_phase *record = make_phase(t, FV_COUNTER_LIFE, life);

    if (record) {
        record->sum.flags = FV_COUNTERS_UNWRITTEN;
        record->count = 1;
        t->counters->life = &record->sum;
    }
    errno = saved;
}

static uint64_t key_of(enum fv_counter_phase_kind kind, uint32_t of)
{
    return (uint64_t)kind << 32 | of;
}

/* NULL: no room. */
static struct region *region_of(struct fv_thread *t, enum fv_counter_phase_kind kind, uint32_t of)
{
    struct fv_thread_counters *c = t->counters;
    uint64_t id = key_of(kind, of);
    struct region *r = fv_map_find(&c->regions, sizeof(*r), id);

    if (FV_UNLIKELY(!r)) {
        if (!(r = fv_map_add(&c->regions, sizeof(*r), id, REGIONS_MOST)))
            return NULL;
        *r = (struct region){ .id = id };
    }
    if (FV_UNLIKELY(!r->record)) {
        if (!(r->record = make_phase(t, kind, of)))
            return NULL;
        r->counted.sum = &r->record->sum;
    }
    return r;
}

static void begin_region(struct fv_thread *t, enum fv_counter_phase_kind kind, uint32_t of)
{
    int saved = errno;
    struct region *r = region_of(t, kind, of);

    if (r && !r->depth++)
        begin_counted(t->counters, &r->counted);
    errno = saved;
}

static void end_region(struct fv_thread *t, enum fv_counter_phase_kind kind, uint32_t of, uint64_t ticks,
                       unsigned parts)
{
    int saved = errno;
    struct region *r = fv_map_find(&t->counters->regions, sizeof(*r), key_of(kind, of));

    if (!r || !r->depth)
        return;
    r->record->count += parts;
    if (!--r->depth)
        end_counted(t->counters, &r->counted, ticks);
    errno = saved;
}

void fv_counters_region_begin(struct fv_thread *t, uint32_t region)
{
    begin_region(t, FV_COUNTER_REGION, region);
}

void fv_counters_region_end(struct fv_thread *t, uint32_t region, uint64_t ticks, unsigned parts)
{
    end_region(t, FV_COUNTER_REGION, region, ticks, parts);
}

void fv_counters_alone_begin(struct fv_thread *t, uint32_t record)
{
    begin_region(t, FV_COUNTER_ALONE, record);
}

void fv_counters_alone_end(struct fv_thread *t, uint32_t record, uint64_t ticks)
{
    end_region(t, FV_COUNTER_ALONE, record, ticks, 1);
}

/* ---- of a thread ---- */

static void close_counters(struct fv_thread_counters *c)
{
    for (unsigned i = 0; i < FV_COUNTERS; i++) {
        fv_perf_unmap(c->page[i]);
        c->page[i] = NULL;
        fv_perf_close(&c->event[i]);
    }
    c->direct = false;
}

static void map_all(struct fv_thread_counters *c)
{
    c->direct = have_processor_only;
    for (unsigned i = 0; i < wanted_count && c->direct; i++)
        if (is_opened(i))
            c->direct = (c->page[i] = fv_perf_map(&c->event[i])) != NULL;
}

static bool open_all(struct fv_thread_counters *c)
{
    int leader = -1, last = -1;
    bool good = true;

    for (unsigned i = 0; i < FV_COUNTERS; i++)
        c->event[i].fd = -1;
    for (unsigned i = 0; i < wanted_count && good; i++) {
        if (!is_opened(i))
            continue;
        bool is_leader = (int)wanted[i].group != last;

        good = fv_perf_open_counter(&c->event[i], &events[i], is_leader ? -1 : leader);
        if (is_leader)
            leader = c->event[i].fd;
        last = (int)wanted[i].group;
    }
    if (good)
        map_all(c);
    else {
        int error = errno;

        close_counters(c); /* another thread had them: all is unknown in this one */
        errno = error;
    }
    for (unsigned i = 0; i < wanted_count; i++)
        if (c->event[i].fd >= 0)
            fv_perf_enable(&c->event[i]);
    return good;
}

static struct fv_thread_counters *make_counters(struct fv_thread *t)
{
    struct fv_thread_counters *c = fv_memory_new(sizeof(*c));

    if (!c)
        return NULL;
    c->whole = fv_tail_next(&c->tail, &values_kind, t->id, sizeof(*c->whole), false);
    if (!c->whole) {
        fv_memory_free(c, sizeof(*c));
        return NULL;
    }
    fv_tail_commit(&c->tail, sizeof(*c->whole));
    return c;
}

static void tell_unknown(int error)
{
    static bool told;

    if (!__atomic_exchange_n(&told, true, __ATOMIC_RELAXED))
        fv_log("--counters: a thread is not counted: %s%s; counts are reported as partial", strerror(error),
               error == EMFILE ? " (ulimit -n; a thread needs one for each event)" : "");
}

static void begin_thread(struct fv_thread *t)
{
    struct fv_thread_counters *c = t->counters ? t->counters : make_counters(t);
    int saved = errno;

    if (!c)
        return;
    c->before = *c->whole;
    c->life = NULL;
    memset(&c->kept, 0, sizeof(c->kept));
    memset(c->in_mpi, 0, sizeof(c->in_mpi));
    memset(&c->now, 0, sizeof(c->now));
    c->unknown = false;
    c->whole->flags |= FV_COUNTERS_UNWRITTEN;
    if (!open_all(c)) {
        c->whole->flags |= FV_COUNTERS_UNKNOWN;
        c->unknown = true;
        tell_unknown(errno);
    }
    uint64_t begun = fv_ticks();
    take(c);
    c->begun = c->entered = c->now;
    t->counters = c;
    __atomic_store_n(&c->begun_ticks, begun, __ATOMIC_RELEASE); /* from now on others may read it */
    if (have_processor && fv_rt.options.counters_mpi)
        fv_switches_look_always(&t->switches);
    errno = saved;
}

/* Begins anew, at 0. */
static void forget(struct fv_thread *t)
{
    struct fv_thread_counters *c = t->counters;

    if (!c)
        return;
    take(c);
    add_begun(&c->kept, c, &c->now, fv_ticks()); /* phases are not forgotten */
    memset(c->whole->at, 0, sizeof(c->whole->at));
    c->whole->ticks = 0;
    c->before = *c->whole;
    memset(c->in_mpi, 0, sizeof(c->in_mpi));
    c->begun = c->entered = c->now;
    __atomic_store_n(&c->begun_ticks, fv_ticks(), __ATOMIC_RELEASE);
}

/* What a call costs was measured before anything was counted: the readings around it come on top, at their best of
 * several batches. */
static void add_cost(struct fv_thread *t)
{
    enum { BATCH = 32 };
    uint64_t best = UINT64_MAX;

    for (int batch = 0; batch < 4; batch++) {
        uint64_t begin = fv_ticks();

        for (int i = 0; i < BATCH; i++) {
            fv_counters_enter(t);
            fv_counters_leave(t);
        }
        uint64_t ticks = fv_ticks() - begin;
        best = ticks < best ? ticks : best;
    }
    fv_rt.writer.header->tool_call_ticks += best * 256 / BATCH;
    forget(t);
}

static void start(struct fv_thread *self)
{
    if (!fv_rt.options.counters || wanted_count)
        return;
    bool any = find_out(fv_rt.options.counters);
    if (fv_first_rank())
        tell_refusals();
    any = wanted_count && write_events() && any;
    __atomic_store_n(&have_any, any, __ATOMIC_RELEASE);
    if (any && self)
        begin_thread(self);
    if (any && self && self->counters && have_processor && fv_rt.options.counters_mpi && fv_rt.options.mpi_calls)
        add_cost(self);
}

static void thread_begins(struct fv_thread *t)
{
    if (__atomic_load_n(&have_any, __ATOMIC_ACQUIRE))
        begin_thread(t);
}

static void thread_ends(struct fv_thread *t)
{
    struct fv_thread_counters *c = t->counters;
    int saved = errno;

    if (c) {
        fv_counters_update(t);
        uint64_t signals = fv_lock_sigsave(&fv_rt.lock); /* under which at the process's end descriptors are read */
        __atomic_store_n(&c->begun_ticks, 0, __ATOMIC_RELAXED);
        fv_unlock_sigrestore(&fv_rt.lock, signals);
        close_counters(c);
    }
    errno = saved;
}

static void update_self(struct fv_thread *t)
{
    if (t && t->counters)
        fv_counters_update(t);
}

/* Their events are the parent's. */
static void in_child(struct fv_thread *self)
{
    int saved = errno;

    (void)self;
    for (struct fv_thread *t = have_any ? fv_rt.threads : NULL; t; t = t->next_all) {
        struct fv_thread_counters *c = t->counters;

        for (unsigned i = 0; c && i < FV_COUNTERS; i++) {
            c->page[i] = NULL; /* a child has none */
            fv_perf_close(&c->event[i]);
        }
        t->counters = NULL;
    }
    have_any = false;
    errno = saved;
}

/* Before the layer of sections, which forgets with what was counted until then; thread_ends() is a layer of its own,
 * behind it. */
const struct fv_layer fv_counters_layer = { .at = { [FV_AT_START] = start,
                                                    [FV_AT_THREAD_BEGIN] = thread_begins,
                                                    [FV_AT_FORGET] = forget,
                                                    [FV_AT_FINALIZE] = update_self,
                                                    [FV_AT_FORK] = in_child } };
const struct fv_layer fv_counters_end_layer = { .at = { [FV_AT_THREAD_END] = thread_ends } };
