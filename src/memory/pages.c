/* SPDX-License-Identifier: BSD-3-Clause */
/* What the process has in memory: how much of it in large pages, and how far it is. The kernel walks all pages to
 * answer, about a millisecond a GiB, so it is asked where the program has ended its work. */
#include "base/process.h"
#include "memory/memory.h"
#include "rt/clock.h"

#include <ctype.h>
#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* In bytes; 0: there is no such line. */
static uint64_t value_of(const char *rollup, const char *name)
{
    const char *at = strstr(rollup, name);

    return at ? strtoull(at + strlen(name), NULL, 10) << 10 : 0;
}

bool fv_memory_pages_read(struct fv_memory_pages *pages, const char *rollup)
{
    uint64_t hugetlb = value_of(rollup, "\nShared_Hugetlb:") + value_of(rollup, "\nPrivate_Hugetlb:"); /* not in Rss */

    pages->resident = value_of(rollup, "\nRss:") + hugetlb;
    pages->huge = hugetlb + value_of(rollup, "\nAnonHugePages:") + value_of(rollup, "\nShmemPmdMapped:") +
                  value_of(rollup, "\nFilePmdMapped:");
    return pages->resident;
}

void fv_memory_pages_place(struct fv_memory_pages *pages, const char *line, unsigned own_node)
{
    const char *size = strstr(line, " kernelpagesize_kB=");
    uint64_t page = size ? strtoull(size + 19, NULL, 10) << 10 : 0;

    for (const char *at = line; (at = strstr(at, " N")); at += 2) {
        char *end;
        unsigned long node = isdigit((unsigned char)at[2]) ? strtoul(at + 2, &end, 10) : 0;

        if (!isdigit((unsigned char)at[2]) || *end != '=')
            continue;
        *(node == own_node ? &pages->near : &pages->far) += page * strtoull(end + 1, NULL, 10);
    }
}

static bool has_nodes(void)
{
    char nodes[256];

    return fv_file_read("/sys/devices/system/node/online", nodes, sizeof(nodes)) > 0 && strpbrk(nodes, ",-");
}

/* A line that does not fit is of a file with a long name: what is behind the buffer is lost. */
void fv_memory_lines(int fd, void (*take)(void *context, const char *line), void *context)
{
    char text[8192];
    size_t used = 0;

    for (ssize_t n; (n = read(fd, text + used, sizeof(text) - 1 - used)) > 0;) {
        char *line = text, *end;

        text[used += (size_t)n] = '\0';
        for (; (end = strchr(line, '\n')); line = end + 1) {
            *end = '\0';
            take(context, line);
        }
        used = line == text && used == sizeof(text) - 1 ? 0 : used - (size_t)(line - text);
        memmove(text, line, used);
    }
}

struct placing {
    struct fv_memory_pages *pages;
    unsigned node;
};

static void place_line(void *placing, const char *line)
{
    fv_memory_pages_place(((struct placing *)placing)->pages, line, ((struct placing *)placing)->node);
}

static void place(struct fv_memory_pages *pages)
{
    unsigned cpu, node;
    int fd = has_nodes() && !syscall(SYS_getcpu, &cpu, &node, NULL) ? open("/proc/self/numa_maps", O_RDONLY | O_CLOEXEC)
                                                                    : -1;

    if (fd < 0)
        return;
    fv_memory_lines(fd, place_line, &(struct placing){ pages, node });
    close(fd);
}

void fv_memory_pages_note(struct fv_memory_pages *pages)
{
    struct fv_memory_pages now = { .ticks = fv_ticks() };
    char rollup[2048];

    if (fv_file_read("/proc/self/smaps_rollup", rollup, sizeof(rollup)) <= 0 || !fv_memory_pages_read(&now, rollup) ||
        now.resident <= pages->resident)
        return;
    place(&now);
    *pages = now;
}
