/* SPDX-License-Identifier: BSD-3-Clause */
/* On which NUMA nodes the stack of each thread is, and all else: with the node of the processor that the thread had
 * last, this says what is far from whom. The kernel is asked once, at MPI_Finalize or exit; below FVMPI_SENSORS_ROOT,
 * files stand in for those of /proc and /sys, but for the threads' own. */
#include "base/process.h"
#include "memory/memory.h"

#include <ctype.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { THREADS = 256, NOBODY = UINT32_MAX };

static struct known {
    uintptr_t low, end; /* of its stack */
    uint32_t id, node;
} threads[THREADS];
static unsigned count;

static const char *root(void)
{
    const char *of = fv_env("FVMPI_SENSORS_ROOT");

    return of ? of : "";
}

/* ---- nodes ---- */

static bool is_in_list(const char *list, unsigned long number)
{
    for (char *end; isdigit((unsigned char)*list); list = *end == ',' ? end + 1 : end) {
        unsigned long first = strtoul(list, &end, 10), last = *end == '-' ? strtoul(end + 1, &end, 10) : first;

        if (number >= first && number <= last)
            return true;
    }
    return false;
}

/* NOBODY: not known. */
static uint32_t node_of_cpu(unsigned long cpu)
{
    char path[PATH_MAX], list[1024];

    for (uint32_t node = 0; node < FV_MEMORY_NODES; node++) {
        snprintf(path, sizeof(path), "%s/sys/devices/system/node/node%u/cpulist", root(), node);
        if (fv_file_read(path, list, sizeof(list)) > 0 && is_in_list(list, cpu))
            return node;
    }
    return NOBODY;
}

/* Field 39 of proc_pid_stat(5), where it ran last; NOBODY: it has ended. */
static uint32_t node_of_thread(uint32_t tid)
{
    char path[64], stat[1024];

    snprintf(path, sizeof(path), "/proc/self/task/%u/stat", tid);
    const char *at = fv_file_read(path, stat, sizeof(stat)) > 0 ? strrchr(stat, ')') : NULL;
    for (unsigned field = 2; at && field < 39; field++)
        at = strchr(at + 1, ' ');
    return at ? node_of_cpu(strtoul(at + 1, NULL, 10)) : NOBODY;
}

static void find_threads(void)
{
    count = 0;
    fv_lock(&fv_rt.lock);
    for (const struct fv_thread *t = fv_rt.threads; t && count < THREADS; t = t->next_all) {
        const uint32_t node = node_of_thread(t->record->tid);

        if (node != NOBODY)
            threads[count++] = (struct known){ t->stack_low, t->stack_end, t->id, node };
    }
    fv_unlock(&fv_rt.lock);
}

/* ---- what is where ---- */

/* Adds the bytes of a line of numa_maps by node. */
void fv_memory_line_place(const char *line, uint64_t on[FV_MEMORY_NODES])
{
    const char *size = strstr(line, " kernelpagesize_kB=");
    const uint64_t page = size ? strtoull(size + 19, NULL, 10) << 10 : 0;

    for (const char *at = line; (at = strstr(at, " N")); at += 2) {
        char *end;
        unsigned long node = isdigit((unsigned char)at[2]) ? strtoul(at + 2, &end, 10) : FV_MEMORY_NODES;

        if (node < FV_MEMORY_NODES && *end == '=')
            on[node] += page * strtoull(end + 1, NULL, 10);
    }
}

/* Record 0 is of the process, then those of threads. */
static struct fv_memory_place *owner_of(struct fv_memory_place *places, const char *line)
{
    const uintptr_t address = strtoull(line, NULL, 16);

    for (unsigned i = 0; i < count; i++)
        if (address >= threads[i].low && address < threads[i].end)
            return &places[1 + i];
    return strstr(line, " file=") ? NULL : &places[0];
}

static void take_line(void *places, const char *line)
{
    struct fv_memory_place *place = owner_of(places, line);

    if (place)
        fv_memory_line_place(line, place->on);
}

static bool has_nodes(void)
{
    char path[PATH_MAX], nodes[256];

    snprintf(path, sizeof(path), "%s/sys/devices/system/node/online", root());
    return fv_file_read(path, nodes, sizeof(nodes)) > 0 && strpbrk(nodes, ",-");
}

void fv_memory_places_note(void)
{
    static bool done;
    char path[PATH_MAX];

    if (done || !has_nodes() || !fv_lock_is_free(&fv_rt.lock) || !fv_lock_is_free(&fv_rt.writer.lock))
        return;
    done = true;
    find_threads();
    snprintf(path, sizeof(path), "%s/proc/self/numa_maps", root());
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const size_t bytes = (1 + count) * sizeof(struct fv_memory_place);
    struct fv_chunk_header *chunk =
        fd < 0 ? NULL : fv_writer_chunk(&fv_rt.writer, FV_CHUNK_MEMORY_PLACES, FV_NO_THREAD, 0, bytes);
    if (chunk) {
        struct fv_memory_place *places = fv_chunk_records(chunk);

        places[0] = (struct fv_memory_place){ .thread = NOBODY, .node = NOBODY };
        for (unsigned i = 0; i < count; i++)
            places[1 + i] = (struct fv_memory_place){ .thread = threads[i].id, .node = threads[i].node };
        fv_memory_lines(fd, take_line, places);
        fv_chunk_commit(chunk, bytes);
    }
    if (fd >= 0)
        close(fd);
}
