/* SPDX-License-Identifier: BSD-3-Clause */
/* See sections.h. Begin and end of a section that the thread knows take no lock and no memory: a name that
 * stands where it stood is compared, not hashed. Where the CPU time is wanted, too, one system call each
 * (--section-cpu).
 *
 * Rejected: a stack of begins that must match (sections may overlap); a record of each instance unless asked for
 * (memory grows with the run); sums of all calls in each open section (a cost for each call and level of nesting). */
#include "rt/sections.h"
#include "base/histogram.h"
#include "rt/counters.h"
#include "rt/events.h"
#include "rt/keep_instances.h"
#include "rt/layers.h"
#include "rt/section_sets.h"
#include "rt/section_threads.h"
#include "rt/tail.h"
#include "rt/usage.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#include <ucontext.h>

enum {
    DEEP = 64, /* open on a thread at a time */
    RECENT = 64,
    SET_CACHE = 256,
    OCTAVES = 8192, /* of all histograms of a thread */
};

/* A section as a thread has it. */
struct slot {
    struct fv_section_times *times;     /* in the file */
    struct fv_section_process *process; /* likewise, with the same index */
    struct fv_octave *octave;           /* likewise: of the last instance */
    struct fv_counter_span *counted;    /* NULL: nothing is counted in it */
    struct fv_section_span_of *span;    /* of the process; NULL: other threads are not looked at */
    bool in_span;                       /* it has begun there */
    void *watched;                      /* the watch's */
    struct fv_watched *kept;            /* NULL: --trace-iterations and --keep-slow do not name it */
    uint32_t id;
    int32_t number;
    uint32_t depth;                /* begins without end; 0: closed */
    uint32_t last_outer, last_set; /* what it made of which set; last_set 0: nothing yet */
    bool other;
    char name[FV_SECTION_NAME];
};

struct recent {
    const char *name; /* as it was passed */
    struct slot *slot;
};

struct open {
    struct slot *slot;
    uint32_t set; /* with all that were begun before */
};

struct fv_sections {
    struct fv_section_losses *losses;               /* in the file */
    struct fv_tail tail, process_tail, octave_tail; /* of times, of the process, and of octaves */
    struct fv_tail instance_tail;
    uint32_t count, depth, octave_count;
    uint32_t beyond; /* begins that were too deep and have not ended */
    uint32_t marks;  /* that the thread made; is the section since the last of them open? */
    bool mark_open;
    /* The begin or end that is under way: a signal handler may come in between. Its frame, and what stands in
     * it; 0: none is. */
    struct fv_call_place busy;
    struct open open[DEEP];
    struct recent recent[RECENT];
    struct {
        uint32_t outer, section, set;
    } sets[SET_CACHE];
    uint16_t places[FV_SECTION_PLACES]; /* by name and number: index of the slot + 1 */
    struct slot slots[FV_SECTIONS];
    struct fv_octave *octaves[OCTAVES]; /* by section and octave */
};

const struct fv_section_watch *fv_section_watch;

static FV_COLD uint32_t set_slowly(struct fv_sections *s, uint32_t outer, uint32_t section)
{
    uint32_t at = (uint32_t)fv_mix((uint64_t)outer << 32 | section) % SET_CACHE;

    if (!s->sets[at].set || s->sets[at].outer != outer || s->sets[at].section != section) {
        uint64_t signals = fv_signals_hold();
        uint32_t set = fv_lock_is_free(&fv_rt.writer.lock) ? fv_section_set_find(outer, section) : 0;
        fv_signals_go_on(signals);

        if (!set) {
            s->losses->sets++;
            return outer;
        }
        s->sets[at].outer = outer;
        s->sets[at].section = section;
        s->sets[at].set = set;
    }
    return s->sets[at].set;
}

static inline uint32_t set_of(struct fv_sections *s, struct slot *slot, uint32_t outer)
{
    if (FV_LIKELY(slot->last_set && slot->last_outer == outer))
        return slot->last_set;
    uint32_t set = set_slowly(s, outer, slot->id);

    if (set != outer) {
        slot->last_outer = outer;
        slot->last_set = set;
    }
    return set;
}

/* ---- sections of a thread ---- */

static FV_COLD struct slot *make_slot(struct fv_thread *t, const char *name, int32_t number, int32_t level,
                                      uint16_t *place)
{
    static const struct fv_tail_kind kind = { .type = FV_CHUNK_SECTION_TIMES, .first_pages = 1, .most_pages = 16 },
                                     beside = { .type = FV_CHUNK_SECTION_PROCESS, .first_pages = 1, .most_pages = 4 };
    struct fv_sections *s = t->sections;
    if (!fv_lock_is_free(&fv_rt.writer.lock))
        return NULL;
    uint32_t id = fv_section_find(name, number, level == FV_SECTION_MARKED ? 0 : level);
    struct slot *slot = &s->slots[s->count];

    bool is_other = id && fv_section_is_others(id);

    if (is_other)
        for (uint32_t i = 0; i < s->count; i++)
            if (s->slots[i].id == id)
                return &s->slots[i]; /* found by this walk each time: such a program is told so */
    struct fv_section_times *times = id ? fv_tail_next(&s->tail, &kind, t->id, sizeof(*times), false) : NULL;
    struct fv_section_process *process =
        times ? fv_tail_next(&s->process_tail, &beside, t->id, sizeof(*process), false) : NULL;
    if (!process)
        return NULL;
    *slot = (struct slot){ .times = times, .process = process, .id = id, .number = number, .other = is_other };
    if (!slot->other) {
        strncpy(slot->name, name, FV_SECTION_NAME - 1);
        *place = (uint16_t)(s->count + 1);
    }
    times->section = id;
    times->ticks_min = UINT64_MAX;
    times->measured = fv_rt.options.section_cpu && level != FV_SECTION_MARKED;
    slot->kept = fv_watched_of(name);
    if (times->measured)
        slot->span = fv_section_span_of(id);
    process->section = id;
    fv_tail_commit(&s->process_tail, sizeof(*process));
    fv_tail_commit(&s->tail, sizeof(*times));
    __atomic_store_n(&s->count, s->count + 1, __ATOMIC_RELEASE);
    return slot;
}

static FV_COLD struct slot *find_slowly(struct fv_thread *t, const char *name, int32_t number, int32_t level)
{
    struct fv_sections *s = t->sections;
    uint32_t at = fv_section_hash(name, number) % FV_SECTION_PLACES;

    for (; s->places[at]; at = (at + 1) % FV_SECTION_PLACES) {
        struct slot *slot = &s->slots[s->places[at] - 1];

        if (slot->number == number && fv_section_has_name(slot->name, name))
            return slot;
    }
    struct fv_scope scope = fv_scope_enter();
    struct slot *made = make_slot(t, name, number, level, &s->places[at]);
    fv_scope_leave(&scope);
    return made;
}

static inline struct slot *find(struct fv_thread *t, const char *name, int32_t number, int32_t level)
{
    struct recent *r =
        &t->sections->recent[((uintptr_t)name * 31 + ((uintptr_t)name >> 6) + (uint32_t)number) % RECENT];

    if (FV_LIKELY(r->name == name && r->slot->number == number && fv_section_has_name(r->slot->name, name)))
        return r->slot;
    struct slot *slot = find_slowly(t, name, number, level);

    if (slot && !slot->other)
        *r = (struct recent){ name, slot };
    return slot;
}

/* ---- in the trace ---- */

static FV_COLD void trace_with_room(struct fv_thread *t, uint64_t now)
{
    uint64_t signals = fv_signals_hold();

    if (fv_lock_is_free(&fv_rt.lock) && fv_lock_is_free(&fv_rt.writer.lock))
        fv_events_make_room(t);
    if (!fv_events_sections(t, now))
        t->sections->losses->untraced++;
    fv_signals_go_on(signals);
}

/* Which sections are open from now on. Not in a call, whose record comes when it ends, and says it then if it
 * is still so. */
static inline void trace_set(struct fv_thread *t, uint64_t now)
{
    if (FV_LIKELY(!__atomic_load_n(&fv_rt.tracing, __ATOMIC_RELAXED)) || fv_rt_paused() ||
        __atomic_load_n(&fv_rt.trace_stopped, __ATOMIC_RELAXED))
        return;
    if (FV_UNLIKELY(fv_self && !fv_is_between()))
        t->sections->losses->untraced++;
    else if (FV_UNLIKELY(!fv_events_sections(t, now)))
        trace_with_room(t, now);
}

/* What is counted where a section begins or ends, as it was read there. */
static FV_COLD void trace_counters(struct fv_thread *t, uint64_t now)
{
    uint64_t counts[FV_COUNTERS];
    uint8_t numbers[FV_COUNTERS];

    if (!__atomic_load_n(&fv_rt.tracing, __ATOMIC_RELAXED) || fv_rt_paused() ||
        __atomic_load_n(&fv_rt.trace_stopped, __ATOMIC_RELAXED) || (fv_self && !fv_is_between()))
        return;
    for (unsigned i = 0, count = fv_counters_last(t, numbers, counts); i < count; i++) {
        if (fv_events_counter(t, now, numbers[i], counts[i]))
            continue;
        uint64_t signals = fv_signals_hold();

        if (fv_lock_is_free(&fv_rt.lock) && fv_lock_is_free(&fv_rt.writer.lock))
            fv_events_make_room(t);
        if (!fv_events_counter(t, now, numbers[i], counts[i]))
            t->sections->losses->untraced++;
        fv_signals_go_on(signals);
    }
}

/* ---- for other threads ---- */

#define MAKERS 8 /* a thread made by a thread made by ... */

uint32_t fv_sections_of(const struct fv_thread *t)
{
    uint32_t set = __atomic_load_n(&t->section_set, __ATOMIC_RELAXED);

    for (unsigned i = 0; !set && i < MAKERS; i++) {
        const struct fv_thread *by = __atomic_load_n(&t->made_by, __ATOMIC_ACQUIRE);

        if (!by || __atomic_load_n(&by->lives, __ATOMIC_RELAXED) != t->made_by_life)
            return 0;
        set = __atomic_load_n(&by->section_set, __ATOMIC_RELAXED);
        t = by;
    }
    return set;
}

/* ---- begin and end ---- */

static inline void read_counters(const struct fv_thread *t, bool cpu, struct fv_section_counters *out)
{
    const struct fv_thread_record *r = t->record;

    out->calls = r->calls;
    out->mpi_ticks = r->mpi_ticks;
    out->mpi_bytes = r->mpi_bytes;
    out->samples = r->samples;
    out->lock_ticks = r->lock_ticks;
    if (cpu)
        fv_usage_read_thread(&out->usage);
}

/* CPU time of all threads, those that have ended, too. Where there never was another it is the thread's, which costs
 * nothing more. 0: not known. */
static inline uint64_t process_ns(const struct fv_section_counters *own)
{
    struct timespec now;

    if (FV_LIKELY(!__atomic_load_n(&fv_threads_made, __ATOMIC_RELAXED)))
        return own->usage.user_ns + own->usage.system_ns;
    return clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now) ? 0
                                                         : (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void add_counters(struct fv_section_counters *sum, const struct fv_section_counters *now,
                         const struct fv_section_counters *since, bool cpu)
{
    sum->calls += now->calls - since->calls;
    sum->mpi_ticks += now->mpi_ticks - since->mpi_ticks;
    sum->mpi_bytes += now->mpi_bytes - since->mpi_bytes;
    sum->samples += now->samples - since->samples;
    sum->lock_ticks += now->lock_ticks - since->lock_ticks;
    if (!cpu)
        return;
    sum->usage.user_ns += now->usage.user_ns - since->usage.user_ns;
    sum->usage.system_ns += now->usage.system_ns - since->usage.system_ns;
    sum->usage.faults += now->usage.faults - since->usage.faults;
    sum->usage.switches += now->usage.switches - since->usage.switches;
}

/* Other threads may look: is_open_elsewhere(). */
static inline void set_depth(struct slot *slot, uint32_t depth)
{
    __atomic_store_n(&slot->depth, depth, __ATOMIC_RELAXED);
}

static inline void begin_span(struct fv_thread *t, struct slot *slot)
{
    if (!slot->span)
        return;
    fv_section_span_begin(slot->span, t);
    slot->in_span = true;
}

static inline void end_span(struct fv_thread *t, struct slot *slot, uint64_t now)
{
    if (slot->in_span)
        fv_section_span_end(slot->span, t, now);
    slot->in_span = false;
}

static inline void begin(struct fv_thread *t, const char *name, int number, int level)
{
    struct fv_sections *s = t->sections;
    struct slot *slot = find(t, name, number, level);

    if (FV_UNLIKELY(!slot)) {
        s->losses->unmeasured++;
        return;
    }
    struct fv_section_times *times = slot->times;
    if (FV_UNLIKELY(slot->other))
        s->losses->others++;
    if (slot->depth) {
        set_depth(slot, slot->depth + 1);
        times->nested++;
        return;
    }
    if (FV_UNLIKELY(s->depth == DEEP)) {
        s->losses->too_deep++;
        s->beyond++;
        return;
    }
    uint32_t set = set_of(s, slot, s->depth ? s->open[s->depth - 1].set : 0);
    s->open[s->depth++] = (struct open){ slot, set };
    set_depth(slot, 1);
    t->section_set = set;
    begin_span(t, slot);
    read_counters(t, times->measured, &times->since);
    if (times->measured)
        slot->process->since_ns = process_ns(&times->since);
    if (FV_UNLIKELY(fv_section_watch != NULL))
        fv_section_watch->begins(t, slot->id, &slot->watched);
    if (FV_UNLIKELY(t->counters != NULL))
        fv_counters_begin(t, slot->id, &slot->counted);
    uint64_t now = fv_ticks();
    times->paused = fv_paused_until(now);
    /* Last, so that a reader who sees it sees the rest. */
    __atomic_store_n(&times->opened, now, __ATOMIC_RELEASE);
    trace_set(t, now);
    if (FV_UNLIKELY(t->counters != NULL))
        trace_counters(t, now);
}

/* Takes a section out of those that are open, wherever it stands. */
static inline void remove_open(struct fv_thread *t, struct slot *slot)
{
    struct fv_sections *s = t->sections;
    uint32_t at = s->depth - 1;

    if (FV_UNLIKELY(s->open[at].slot != slot)) {
        while (s->open[at].slot != slot)
            at--;
        slot->times->overlapped++;
        for (; at + 1 < s->depth; at++) {
            s->open[at].slot = s->open[at + 1].slot;
            s->open[at].set = set_of(s, s->open[at].slot, at ? s->open[at - 1].set : 0);
        }
    }
    s->depth--;
    t->section_set = s->depth ? s->open[s->depth - 1].set : 0;
}

/* ---- histograms ---- */

static FV_COLD struct fv_octave *make_octave(struct fv_thread *t, uint32_t section, unsigned octave)
{
    static const struct fv_tail_kind kind = { .type = FV_CHUNK_SECTION_OCTAVES, .first_pages = 1, .most_pages = 16 };
    struct fv_sections *s = t->sections;
    struct fv_octave *made = NULL;
    struct fv_scope scope = fv_scope_enter();

    if (fv_lock_is_free(&fv_rt.writer.lock))
        made = fv_tail_next(&s->octave_tail, &kind, t->id, sizeof(*made), false);
    if (made) {
        made->of = section;
        made->octave = octave;
        fv_tail_commit(&s->octave_tail, sizeof(*made));
        s->octave_count++;
    }
    fv_scope_leave(&scope);
    return made;
}

static struct fv_octave *find_octave(struct fv_thread *t, uint32_t section, unsigned octave)
{
    struct fv_sections *s = t->sections;
    uint32_t at = (uint32_t)fv_mix2(section, octave) % OCTAVES;

    for (; s->octaves[at]; at = (at + 1) % OCTAVES)
        if (s->octaves[at]->of == section && s->octaves[at]->octave == octave)
            return s->octaves[at];
    if (s->octave_count < OCTAVES / 4 * 3)
        s->octaves[at] = make_octave(t, section, octave);
    return s->octaves[at];
}

/* Where there is no room the histogram has fewer than `count`, which tells its reader. */
static inline void add_to_histogram(struct fv_thread *t, struct slot *slot, uint64_t ticks)
{
    unsigned octave = fv_octave(ticks);

    if (FV_UNLIKELY(!slot->octave || slot->octave->octave != octave))
        slot->octave = find_octave(t, slot->id, octave);
    if (FV_LIKELY(slot->octave != NULL))
        slot->octave->count[fv_octave_bucket(ticks, octave)]++;
}

/* Welford's, Technometrics 4, 1962; the mean is from whole sums, so nothing drifts. */
static inline void add_instance(struct fv_section_times *times, uint64_t ticks)
{
    double delta = times->count ? (double)ticks - (double)times->ticks / (double)times->count : 0;

    times->count++;
    times->ticks += ticks;
    times->ticks_m2 += delta * ((double)ticks - (double)times->ticks / (double)times->count);
    if (ticks < times->ticks_min)
        times->ticks_min = ticks;
    if (ticks > times->ticks_max)
        times->ticks_max = ticks;
}

/* By itself, of the first ones. Its begin is what `times` had. */
static FV_COLD void keep_instance(struct fv_thread *t, const struct fv_section_times *times,
                                  struct fv_section_instance i, const struct fv_section_counters *now)
{
    static struct fv_budget budget = { .most = &fv_rt.options.profile_max }; /* of all threads */
    static const struct fv_tail_kind kind = {
        .type = FV_CHUNK_SECTION_INSTANCES, .first_pages = 1, .most_pages = 16, .budget = &budget
    };
    struct fv_sections *s = t->sections;
    struct fv_scope scope = fv_scope_enter();
    struct fv_section_instance *made = fv_lock_is_free(&fv_rt.writer.lock)
                                           ? fv_tail_next(&s->instance_tail, &kind, t->id, sizeof(*made), false)
                                           : NULL;

    if (made) {
        *made = i;
        made->section = times->section;
        made->number = (uint32_t)times->count;
        made->calls = now->calls - times->since.calls;
        made->mpi_ticks = now->mpi_ticks - times->since.mpi_ticks;
        made->mpi_bytes = now->mpi_bytes - times->since.mpi_bytes;
        fv_tail_commit(&s->instance_tail, sizeof(*made));
    } else {
        s->losses->apart++;
    }
    fv_scope_leave(&scope);
}

static inline void close_section(struct fv_thread *t, struct slot *slot, uint64_t now)
{
    struct fv_section_times *times = slot->times;
    struct fv_section_counters counters;
    uint64_t opened = times->opened, ticks = now > opened ? now - opened : 0,
             paused = fv_paused_until(now) - times->paused;

    read_counters(t, times->measured, &counters);
    uint64_t process = times->measured ? process_ns(&counters) : 0;
    end_span(t, slot, now);
    if (FV_UNLIKELY(fv_section_watch != NULL))
        fv_section_watch->ends(t, slot->watched);
    set_depth(slot, 0);
    remove_open(t, slot);
    __atomic_store_n(&times->opened, 0, __ATOMIC_RELEASE);
    trace_set(t, now);
    if (FV_UNLIKELY(paused) && paused >= ticks)
        return; /* all of it was in a pause */
    if (FV_UNLIKELY(t->counters != NULL))
        fv_counters_end(t, slot->counted, ticks);
    ticks -= paused;
    if (FV_UNLIKELY(t->counters != NULL))
        trace_counters(t, now);
    times->last = now;
    add_to_histogram(t, slot, ticks); /* first, so that it never has fewer */
    add_instance(times, ticks);
    if (FV_UNLIKELY(times->count <= fv_rt.options.section_instances))
        keep_instance(t, times, (struct fv_section_instance){ .begin = opened, .end = now, .ticks = ticks }, &counters);
    add_counters(&times->sum, &counters, &times->since, times->measured);
    slot->process->cpu_ns += process > slot->process->since_ns ? process - slot->process->since_ns : 0;
    if (FV_UNLIKELY(slot->kept != NULL))
        fv_watched_ended(slot->kept, times->count, ticks);
}

/* Is the section open on another thread? A look at tables that change meanwhile: for counting mistakes that
 * does. */
static bool is_open_elsewhere(const struct fv_thread *self, uint32_t id)
{
    uint64_t signals = fv_signals_hold();
    bool found = false;

    if (!fv_lock_is_free(&fv_rt.lock)) {
        fv_signals_go_on(signals);
        return false;
    }
    fv_lock(&fv_rt.lock);
    for (const struct fv_thread *t = fv_rt.threads; t && !found; t = t->next_all) {
        const struct fv_sections *s = __atomic_load_n(&t->sections, __ATOMIC_ACQUIRE);

        for (uint32_t i = 0; t != self && s && i < __atomic_load_n(&s->count, __ATOMIC_ACQUIRE) && !found; i++)
            found = s->slots[i].id == id && __atomic_load_n(&s->slots[i].depth, __ATOMIC_RELAXED);
    }
    fv_unlock(&fv_rt.lock);
    fv_signals_go_on(signals);
    return found;
}

static FV_COLD void unbegun(struct fv_thread *t, struct slot *slot)
{
    if (t->sections->beyond)
        t->sections->beyond--;
    else if (is_open_elsewhere(t, slot->id))
        slot->times->elsewhere++;
    else
        slot->times->unbegun++;
}

static inline void end(struct fv_thread *t, const char *name, int number, int level, uint64_t now)
{
    struct slot *slot = find(t, name, number, level);

    if (FV_UNLIKELY(!slot))
        return; /* its begin was counted */
    if (FV_UNLIKELY(!slot->depth))
        unbegun(t, slot);
    else if (slot->depth > 1)
        set_depth(slot, slot->depth - 1);
    else
        close_section(t, slot, now);
}

static bool make_sections(struct fv_thread *t)
{
    static FV_TLS bool failed;
    struct fv_sections *s = failed ? NULL : fv_memory_new(sizeof(*s));
    struct fv_chunk_header *chunk = NULL;

    if (s)
        chunk = fv_writer_chunk(&fv_rt.writer, FV_CHUNK_SECTION_LOSSES, t->id, 0, sizeof(*s->losses));
    if (!chunk) {
        fv_memory_free(s, sizeof(*s));
        failed = true;
        return false;
    }
    s->losses = fv_chunk_records(chunk);
    fv_chunk_commit(chunk, sizeof(*s->losses));
    __atomic_store_n(&t->sections, s, __ATOMIC_RELEASE);
    return true;
}

/* First section of a thread, or of one that is not recorded: before MPI has started, after a fork. Signals
 * wait: a handler that left by longjmp() would leave locks held. */
static FV_COLD struct fv_thread *attach(void)
{
    struct fv_scope scope = fv_scope_enter();
    struct fv_thread *t = fv_self;
    bool made = false;

    if (fv_rt_on() && fv_lock_is_free(&fv_rt.lock) && fv_lock_is_free(&fv_rt.writer.lock)) {
        if (!t && (t = fv_thread_attach()))
            fv_current = t;
        made = t && (t->sections || make_sections(t));
    }
    fv_scope_leave(&scope);
    return made ? t : NULL;
}

static bool is_on_own_stack(const struct fv_thread *t, struct fv_call_place site)
{
    return (uintptr_t)site.frame >= t->stack_low && (uintptr_t)site.frame < t->stack_end;
}

/* Is there no room on the stack between a begin or end and now for what the kernel puts there when a handler comes
 * in? */
static bool is_too_near(struct fv_call_place busy, struct fv_call_place now)
{
    return (uintptr_t)busy.frame > (uintptr_t)now.frame &&
           (uintptr_t)busy.frame - (uintptr_t)now.frame < sizeof(ucontext_t);
}

/* Was a begin or end left by longjmp() out of a signal handler? Of other stacks nobody can tell, nor of calls from much
 * deeper that leave its frame as it was: those count as the handler's, until one comes from elsewhere. */
static FV_COLD bool was_left(const struct fv_thread *t, struct fv_call_place now)
{
    stack_t stack;

    if (!is_on_own_stack(t, now) || !is_on_own_stack(t, t->sections->busy))
        return false;
    if (sigaltstack(NULL, &stack) || stack.ss_flags & SS_ONSTACK) /* which may be within the thread's own */
        return false;
    return is_too_near(t->sections->busy, now) || fv_site_was_left(t, t->sections->busy, now);
}

static bool is_among(const struct fv_sections *s, uint32_t count, const struct slot *slot)
{
    for (uint32_t i = 0; i < count; i++)
        if (s->open[i].slot == slot)
            return true;
    return false;
}

/* Makes whole what it left: open is what both tables and the file say is. */
static FV_COLD void repair(struct fv_thread *t)
{
    struct fv_sections *s = t->sections;
    uint32_t count = 0, set = 0;

    s->losses->interrupted++;
    for (uint32_t i = 0; i < s->depth && i < DEEP; i++) {
        struct slot *slot = s->open[i].slot;

        if (!slot || !slot->depth || !slot->times->opened || is_among(s, count, slot))
            continue;
        set = set_of(s, slot, set);
        s->open[count++] = (struct open){ slot, set };
    }
    s->depth = count;
    for (uint32_t i = 0; i < s->count; i++)
        if (s->slots[i].depth && !is_among(s, count, &s->slots[i])) {
            set_depth(&s->slots[i], 0);
            s->slots[i].times->opened = 0;
            if (s->slots[i].in_span)
                fv_section_span_drop(s->slots[i].span);
            s->slots[i].in_span = false;
        }
    t->section_set = set;
    if (!fv_current && !t->record->in_call.begin)
        fv_current = t; /* it wrote to the trace */
}

static FV_COLD bool take_over(struct fv_thread *t, struct fv_call_place now)
{
    if (!was_left(t, now)) {
        t->sections->losses->interrupted++;
        return false;
    }
    repair(t);
    return true;
}

/* The thread, for begin or end of a section; NULL: it is not measured. leave() must follow. */
static inline struct fv_thread *enter(int level, struct fv_call_place site)
{
    struct fv_thread *t = fv_self;

    if (FV_UNLIKELY(!t || !t->sections || !fv_rt_on()) && !(t = attach()))
        return NULL;
    if ((int64_t)level > (int64_t)fv_rt.options.section_level)
        return NULL;
    if (FV_UNLIKELY(t->sections->busy.frame) && !take_over(t, site))
        return NULL;
    t->sections->busy.return_address = site.return_address;
    t->sections->busy.frame = site.frame;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    return t;
}

static inline void leave(struct fv_thread *t)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    t->sections->busy.frame = NULL;
}

FV_PUBLIC void fvmpi_section_begin_v1(const char *name, int number, int level)
{
    struct fv_thread *t = enter(level, FV_CALL_SITE());

    if (FV_LIKELY(t != NULL)) {
        begin(t, name ? name : "", number, level);
        leave(t);
    } else if (fv_rt_on() && fv_self && fv_self->sections && (int64_t)level > (int64_t)fv_rt.options.section_level) {
        fv_self->sections->losses->above_level++;
    }
}

FV_PUBLIC void fvmpi_section_end_v1(const char *name, int number, int level)
{
    uint64_t now = fv_ticks();
    struct fv_thread *t = enter(level, FV_CALL_SITE());

    if (FV_UNLIKELY(!t))
        return;
    end(t, name ? name : "", number, level, now);
    leave(t);
}

static void clear(struct fv_thread *t)
{
    struct fv_sections *s = t->sections;
    uint64_t now = fv_ticks();

    fv_section_spans_forget();
    for (uint32_t i = 0; s && i < s->count; i++) {
        struct fv_section_times *times = s->slots[i].times;

        *times = (struct fv_section_times){ .section = times->section,
                                            .ticks_min = UINT64_MAX,
                                            .measured = times->measured };
        s->slots[i].process->cpu_ns = 0;
        if (t->counters)
            fv_counters_clear(t, s->slots[i].counted);
        if (!s->slots[i].depth)
            continue;
        read_counters(t, times->measured, &times->since);
        s->slots[i].process->since_ns = times->measured ? process_ns(&times->since) : 0;
        times->paused = fv_paused_until(now);
        __atomic_store_n(&times->opened, now, __ATOMIC_RELEASE);
    }
    for (uint32_t i = 0; s && i < OCTAVES; i++)
        if (s->octaves[i])
            memset(s->octaves[i]->count, 0, sizeof(s->octaves[i]->count));
}

/* ---- marks: MPI_Pcontrol(3) and (4) ---- */

static const char marked[] = "since mark";

static void end_mark(struct fv_thread *t)
{
    struct fv_sections *s = t ? t->sections : NULL;

    if (s && s->mark_open)
        fvmpi_section_end_v1(marked, (int)s->marks, 0);
    if (s)
        s->mark_open = false;
}

void fv_mark(void)
{
    struct fv_sections *s = fv_self ? fv_self->sections : NULL;
    uint32_t marks = s ? s->marks + 1 : 1;

    end_mark(fv_self);
    fvmpi_section_begin_v1(marked, (int)marks, 0);
    if (fv_self && (s = fv_self->sections)) {
        s->marks = marks;
        s->mark_open = true;
    }
}

static void thread_ends(struct fv_thread *t)
{
    struct fv_sections *s = t->sections;
    uint64_t now = fv_ticks();

    if (s && s->mark_open) {
        end(t, marked, (int)s->marks, 0, now);
        s->mark_open = false;
    }
    while (s && s->depth) {
        struct slot *slot = s->open[s->depth - 1].slot;

        slot->times->unended++;
        close_section(t, slot, now);
    }
    if (s) {
        s->marks = s->beyond = 0;
        s->busy.frame = NULL;
    }
    t->section_set = 0;
}
const struct fv_layer fv_sections_layer = {
    .at = { [FV_AT_THREAD_END] = thread_ends, [FV_AT_FORGET] = clear, [FV_AT_FINALIZE] = end_mark }
};
