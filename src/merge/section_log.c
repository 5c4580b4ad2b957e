/* SPDX-License-Identifier: BSD-3-Clause */
/* See section_log.h. */
#include "merge/section_log.h"

#include <stdlib.h>
#include <string.h>

static uint64_t time_of(const struct fv_clock_line *line, uint64_t ticks)
{
    uint32_t piece = 0;
    int64_t ns = fv_clock_ns(line, ticks, &piece);

    return ns > 0 ? (uint64_t)ns : 0;
}

static int by_end(const void *a, const void *b)
{
    const struct fv_logged_section *x = a, *y = b;

    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    if (x->function != y->function)
        return x->function < y->function ? -1 : 1;
    return (x->end_ns > y->end_ns) - (x->end_ns < y->end_ns);
}

void fv_section_log_read(struct fv_section_log *log, const struct fv_reader *reader, const struct fv_def_map *map,
                         const struct fv_clock_line *line)
{
    struct fv_cursor c = fv_cursor(reader, FV_CHUNK_SECTION_INSTANCES);
    struct fv_section_instance i;

    log->count = 0;
    for (const void *p; (p = fv_cursor_next(&c));) {
        memcpy(&i, p, sizeof(i));
        const uint32_t function = fv_numbers_get(&map->sections, i.section);
        const uint64_t end_ns = time_of(line, i.end), mpi_from = time_of(line, i.end - i.mpi_ticks);

        if (function == FV_NONE)
            continue;
        FV_GROW(log->items, log->room, log->count + 1);
        log->items[log->count++] = (struct fv_logged_section){ .thread = c.thread,
                                                               .function = function,
                                                               .number = i.number,
                                                               .end_ns = end_ns,
                                                               .mpi_ns = mpi_from < end_ns ? end_ns - mpi_from : 0,
                                                               .calls = i.calls,
                                                               .bytes = i.mpi_bytes };
    }
    if (log->count)
        qsort(log->items, log->count, sizeof(*log->items), by_end);
}

const struct fv_logged_section *fv_section_log_find(const struct fv_section_log *log, uint32_t thread,
                                                    uint32_t function, uint64_t after_ns, uint64_t until_ns)
{
    const struct fv_logged_section key = { .thread = thread, .function = function, .end_ns = until_ns };
    size_t low = 0, high = log->count;

    while (low < high) { /* the first that is behind the key */
        size_t middle = low + (high - low) / 2;

        if (by_end(&log->items[middle], &key) <= 0)
            low = middle + 1;
        else
            high = middle;
    }
    const struct fv_logged_section *found = low ? &log->items[low - 1] : NULL;

    return found && found->thread == thread && found->function == function && found->end_ns > after_ns ? found : NULL;
}

void fv_section_log_release(struct fv_section_log *log)
{
    free(log->items);
    *log = (struct fv_section_log){ 0 };
}
