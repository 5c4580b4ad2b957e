/* SPDX-License-Identifier: BSD-3-Clause */
/* See switches.h. A record of the kernel is 16 bytes (perf_event_open(2), PERF_RECORD_SWITCH): a header, whose `misc`
 * tells in from out, and the time. */
#include "rt/switches.h"

#include "base/pages.h"
#include "rt/layers.h"
#include "rt/thread.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#define DATA_PAGES 2 /* 256 switches */

static const uint64_t nothing, always = UINT64_MAX;
static size_t page_bytes; /* each thread sets it, to the same */

static size_t bytes_of_page(void)
{
    return __atomic_load_n(&page_bytes, __ATOMIC_RELAXED);
}

void fv_switches_init(struct fv_switches *s)
{
    *s = (struct fv_switches){ .head = &nothing, .look = &nothing };
}

void fv_switches_look_always(struct fv_switches *s)
{
    s->look = &always;
}

#if defined(PERF_RECORD_MISC_SWITCH_OUT_PREEMPT) && defined(SYS_perf_event_open)

/* Linux 4.17 marks who was preempted. */
static bool knows_preemption(void)
{
    struct utsname u;
    unsigned major, minor;

    return !uname(&u) && sscanf(u.release, "%u.%u", &major, &minor) == 2 && (major > 4 || (major == 4 && minor >= 17));
}

static bool begin(struct fv_switches *s)
{
    struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
                                    .size = sizeof(attr),
                                    .config = PERF_COUNT_SW_DUMMY,
                                    .sample_type = PERF_SAMPLE_TIME,
                                    .exclude_kernel = 1,
                                    .exclude_hv = 1,
                                    .sample_id_all = 1,
                                    .context_switch = 1 };

    if (!knows_preemption())
        return false;
    __atomic_store_n(&page_bytes, (size_t)sysconf(_SC_PAGESIZE), __ATOMIC_RELAXED);
    long fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0)
        return false;
    char *pages = fv_map_pages((1 + DATA_PAGES) * bytes_of_page(), MAP_SHARED, (int)fd, 0);
    syscall(SYS_close, fd); /* the pages hold it; a child does not inherit them */
    if (pages == MAP_FAILED)
        return false;
    s->pages = pages;
    s->head = (const uint64_t *)&((struct perf_event_mmap_page *)pages)->data_head;
    if (s->look != &always)
        s->look = s->head;
    fv_switches_skip(s);
    return true;
}

/* Records are multiples of 8 bytes, and begin anew at the pages' end. */
static uint64_t word_at(const struct fv_switches *s, uint64_t at)
{
    uint64_t word;

    memcpy(&word, s->pages + bytes_of_page() + at % (DATA_PAGES * bytes_of_page()), sizeof(word));
    return word;
}

static void release_until(struct fv_switches *s, uint64_t head)
{
    s->tail = head;
    __atomic_store_n(&((struct perf_event_mmap_page *)s->pages)->data_tail, head, __ATOMIC_RELEASE);
}

static bool is_full(const struct fv_switches *s, uint64_t head)
{
    return head - s->tail > DATA_PAGES * bytes_of_page() - 64;
}

static void add(struct fv_switch_sums *sums, uint64_t ns, bool preempted)
{
    if (preempted) {
        sums->preempted++;
        sums->preempted_ns += ns;
    } else {
        sums->blocked++;
        sums->blocked_ns += ns;
    }
}

FV_COLD void fv_switches_read(struct fv_switches *s)
{
    uint64_t head = __atomic_load_n(s->head, __ATOMIC_ACQUIRE), out = 0;
    bool preempted = false;

    s->any = true;
    s->since.unseen += is_full(s, head);
    for (uint64_t at = s->tail; at < head;) {
        struct perf_event_header h;
        uint64_t word = word_at(s, at);

        memcpy(&h, &word, sizeof(h));
        if (h.size < sizeof(h))
            break;
        if (h.type == PERF_RECORD_SWITCH && h.misc & PERF_RECORD_MISC_SWITCH_OUT) {
            out = word_at(s, at + 8);
            preempted = h.misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT;
        } else if (h.type == PERF_RECORD_SWITCH && out) {
            add(&s->since, word_at(s, at + 8) - out, preempted);
            out = 0;
        } else if (h.type == PERF_RECORD_LOST) {
            s->since.unseen += s->full ? 0 : word_at(s, at + 16);
            s->full = false;
        }
        at += h.size;
    }
    release_until(s, head);
}

void fv_switches_skip(struct fv_switches *s)
{
    uint64_t head = __atomic_load_n(s->head, __ATOMIC_ACQUIRE);

    s->full = is_full(s, head);
    release_until(s, head);
}

#else

static bool begin(struct fv_switches *s)
{
    (void)s;
    return false;
}

void fv_switches_read(struct fv_switches *s)
{
    (void)s;
}

void fv_switches_skip(struct fv_switches *s)
{
    (void)s;
}

#endif

FV_COLD void fv_switches_begin(struct fv_thread *t)
{
    struct fv_switches *s = &t->switches;

    if (!s->tried) {
        t->record->switches = begin(s) ? 1 : 2;
        t->noise.any = s->pages != NULL; /* so that there is a log, which says that there was nothing */
    }
    s->tried = true;
}

static void start(struct fv_thread *t)
{
    if (!t)
        return;
    t->switches.tried = t->switches.pages != NULL; /* a trial of what a call costs left nothing in the record */
    fv_switches_begin(t);
    t->record->switches = t->switches.pages ? 1 : 2;
    t->noise.any = t->switches.pages != NULL;
    fv_switches_ignore(&t->switches);
}

static void thread_ends(struct fv_thread *t)
{
    if (t && t->switches.pages)
        fv_unmap_pages(t->switches.pages, (1 + DATA_PAGES) * bytes_of_page());
    if (t)
        fv_switches_init(&t->switches);
}

const struct fv_layer fv_switches_layer = { .at = { [FV_AT_START] = start, [FV_AT_THREAD_END] = thread_ends } };
