/* SPDX-License-Identifier: BSD-3-Clause */
/* See kernel.h. */
#include "doctor/measure/kernel.h"
#include "tool/vec.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { ROOM = 1 << 16, ROOM_MOST = 1 << 24, STAT_FIELDS = 8 };

static int open_file(const char *path)
{
    return open(path, O_RDONLY | O_CLOEXEC);
}

void fv_kernel_open(struct fv_kernel_view *out, unsigned cpu)
{
    *out = (struct fv_kernel_view){ open_file("/proc/thread-self/schedstat"),
                                    open_file("/proc/interrupts"),
                                    open_file("/proc/stat"),
                                    cpu,
                                    fv_xcalloc(ROOM, 1),
                                    ROOM };
}

void fv_kernel_close(struct fv_kernel_view *v)
{
    const int files[] = { v->schedstat, v->interrupts, v->stat };

    for (size_t i = 0; i < 3; i++)
        if (files[i] >= 0)
            close(files[i]);
    free(v->text);
    *v = (struct fv_kernel_view){ -1, -1, -1, 0, NULL, 0 };
}

/* From the begin, whole: /proc gives large files in pieces. NULL: it cannot be read. */
static const char *load(struct fv_kernel_view *v, int fd)
{
    size_t used = 0;
    ssize_t got = 0;

    while (fd >= 0 && (got = pread(fd, v->text + used, v->room - 1 - used, (off_t)used)) > 0) {
        used += (size_t)got;
        if (used + 1 == v->room && v->room < ROOM_MOST) {
            v->text = fv_xrealloc(v->text, 2 * v->room, 1);
            v->room *= 2;
        }
    }
    v->text[used] = '\0';
    return used ? v->text : NULL;
}

uint64_t fv_kernel_run_delay_ns(struct fv_kernel_view *v)
{
    char text[100];
    ssize_t got = v->schedstat < 0 ? 0 : pread(v->schedstat, text, sizeof(text) - 1, 0);
    char *end = text;

    if (got <= 0)
        return 0;
    text[got] = '\0';
    strtoull(text, &end, 10);
    return strtoull(end, NULL, 10);
}

/* ---- /proc/interrupts ---- */

/* Processors that are offline have no column. */
static long column_of(const char *heading, unsigned cpu)
{
    long column = 0;

    for (const char *at = heading; (at = strstr(at, "CPU")) && at < heading + strcspn(heading, "\n"); column++) {
        char *end;

        if (strtoul(at + 3, &end, 10) == cpu && end > at + 3)
            return column;
        at += 3;
    }
    return -1;
}

/* By its name, or by what stands behind the numbers. */
static bool is_timer(const char *name, size_t name_bytes, const char *about, size_t about_bytes)
{
    return (name_bytes == 3 && !memcmp(name, "LOC", 3)) ||
           memmem(about, about_bytes, "arch_timer", strlen("arch_timer")) ||
           memmem(about, about_bytes, "arch-timer", strlen("arch-timer"));
}

bool fv_interrupts_parse(const char *text, unsigned cpu, struct fv_interrupts *out)
{
    long column = column_of(text, cpu);

    *out = (struct fv_interrupts){ 0 };
    if (column < 0)
        return false;
    for (const char *line = text + strcspn(text, "\n"); *line && *++line; line += strcspn(line, "\n")) {
        const char *end = line + strcspn(line, "\n"), *colon = memchr(line, ':', (size_t)(end - line)),
                   *at = colon ? colon + 1 : end;
        uint64_t value = 0;
        long number = -1;

        while (line < end && *line == ' ')
            line++;
        while (at < end && number < column) { /* strtoull() would go on behind the line */
            while (at < end && *at == ' ')
                at++;
            if (at == end || !isdigit((unsigned char)*at))
                break;
            char *behind;
            value = strtoull(at, &behind, 10);
            at = behind;
            number++;
        }
        if (number == column && is_timer(line, (size_t)(colon - line), at, (size_t)(end - at)))
            out->ticks += value;
        else if (number == column && memcmp(line, "ERR", 3) && memcmp(line, "MIS", 3)) /* these are of all processors */
            out->others += value;
        line = end;
    }
    return true;
}

bool fv_kernel_interrupts(struct fv_kernel_view *v, struct fv_interrupts *out)
{
    const char *text = load(v, v->interrupts);

    return text && fv_interrupts_parse(text, v->cpu, out);
}

/* ---- /proc/stat ---- */

/* user nice system idle iowait irq softirq steal, behind a word such as "cpu3 ". */
static bool read_row(const char *text, const char *word, uint64_t out[STAT_FIELDS])
{
    const char *at = strstr(text, word);
    char *end;

    if (!at)
        return false;
    at += strlen(word);
    for (size_t i = 0; i < STAT_FIELDS; i++, at = end) {
        out[i] = strtoull(at, &end, 10);
        if (end == at)
            return false;
    }
    return true;
}

static uint64_t tick_ns(void)
{
    long per_second = sysconf(_SC_CLK_TCK);

    return 1000000000 / (uint64_t)(per_second > 0 ? per_second : 100);
}

uint64_t fv_kernel_stolen_ns(struct fv_kernel_view *v)
{
    const char *text = load(v, v->stat);
    uint64_t fields[STAT_FIELDS];
    char word[32];

    snprintf(word, sizeof(word), "\ncpu%u ", v->cpu);
    return text && read_row(text, word, fields) ? fields[7] * tick_ns() : 0;
}

bool fv_kernel_busy_ns(uint64_t *out)
{
    struct fv_kernel_view v = { -1, -1, open_file("/proc/stat"), 0, fv_xcalloc(ROOM, 1), ROOM };
    const char *text = load(&v, v.stat);
    uint64_t fields[STAT_FIELDS];
    bool is = text && read_row(text, "cpu ", fields);

    if (is)
        *out = (fields[0] + fields[1] + fields[2]) * tick_ns();
    fv_kernel_close(&v);
    return is;
}
