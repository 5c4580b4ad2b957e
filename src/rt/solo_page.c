/* SPDX-License-Identifier: BSD-3-Clause */
/* See solo_page.h. */
#include "rt/solo_page.h"
#include "base/base.h"
#include "base/pages.h"
#include "rt/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static struct fv_solo_page *map(const char *path)
{
    int fd = open(path, O_RDWR | O_CLOEXEC);
    struct stat st;
    void *memory = MAP_FAILED;

    if (fd < 0)
        return NULL;
    if (!fstat(fd, &st) && st.st_size >= (off_t)FV_PAGE)
        memory = fv_map_pages(FV_PAGE, MAP_SHARED, fd, 0);
    close(fd);
    return memory == MAP_FAILED ? NULL : memory;
}

static struct fv_solo_page *find(void)
{
    const char *path = fv_env("FVMPI_SOLO");

    if (!path || !*path)
        return NULL;
    errno = 0;
    struct fv_solo_page *page = map(path);
    if (page && page->magic == FV_SOLO_MAGIC && page->how < FV_SOLO_HOWS)
        return page;
    if (fv_first_on_node("solo", path))
        fv_log("FVMPI_SOLO=%s: %s; threads and ranks are not run alone" FV_FOR_NODE, path,
               page || !errno ? "is not a file of fvmpi run" : strerror(errno));
    if (page)
        munmap(page, FV_PAGE);
    return NULL;
}

struct fv_solo_page *fv_solo_map(void)
{
    static struct fv_solo_page *page;
    static bool is_tried;

    if (!is_tried)
        page = find();
    is_tried = true;
    return page;
}

struct fv_solo_record *fv_solo_new_record(struct fv_tail *tail, const struct fv_solo_page *page,
                                          const struct fv_solo_record *key)
{
    static const struct fv_tail_kind kind = { .type = FV_CHUNK_SOLO, .first_pages = 1, .most_pages = 4 };
    struct fv_solo_record *record = fv_tail_next(tail, &kind, FV_NO_THREAD, sizeof(*record), false);

    if (!record)
        return NULL;
    *record = *key;
    record->how = page->how;
    record->cache_bytes = page->cache_bytes;
    record->left_bytes = page->left_bytes;
    record->part_ppm = page->part_ppm;
    fv_tail_commit(tail, sizeof(*record));
    return record;
}

static uint64_t cpu_ns(clockid_t clock)
{
    struct timespec t;

    return clock_gettime(clock, &t) ? 0 : (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

void fv_solo_interval_begin(struct fv_solo_interval *interval, const struct fv_solo_page *page, clockid_t cpu_clock)
{
    interval->cpu_clock = cpu_clock;
    interval->probes_begin = page->probes;
    interval->misses_begin = page->misses;
    interval->cpu_begin = cpu_ns(cpu_clock);
    interval->begin = fv_ticks();
}

/* Who runs alone has moved to where another last cache is than the pirate's. */
static bool has_moved(const struct fv_solo_page *page)
{
    unsigned cpu = 0;

    return page->how == FV_SOLO_PIRATE && !syscall(SYS_getcpu, &cpu, NULL, NULL) && cpu < FV_SOLO_CPUS &&
           page->cpu < FV_SOLO_CPUS && page->domains[cpu] != page->domains[page->cpu];
}

void fv_solo_interval_end(const struct fv_solo_interval *interval, const struct fv_solo_page *page,
                          struct fv_solo_record *to)
{
    uint64_t ticks = fv_ticks() - interval->begin;

    to->cpu_ns += cpu_ns(interval->cpu_clock) - interval->cpu_begin;
    uint64_t probes = page->probes - interval->probes_begin, misses = page->misses - interval->misses_begin;
    to->intervals++;
    to->ticks += ticks;
    to->probes += probes;
    to->misses += misses;
    if ((probes >= FV_SOLO_PROBES && (double)misses > FV_SOLO_MISSES * (double)probes) || has_moved(page)) {
        to->lost_intervals++;
        to->lost_ticks += ticks;
    }
}
