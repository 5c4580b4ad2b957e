/* SPDX-License-Identifier: BSD-3-Clause */
/* See looking.h. Of each rank file the first page is mapped: it says which signal to send, and how many threads have
 * answered. */
#include "profile/looks/looking.h"
#include "base/process.h"
#include "experiment/experiment.h"
#include "look/look.h"
#include "tool/vec.h"
#include "tool/whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE_NS 500000000 /* for the answers of all */

struct rank {
    const struct fv_file_header *header; /* mapped */
    uint64_t answers, asked;             /* before this look; in it */
};
struct ranks {
    struct rank *items;
    size_t count, room;
};

static bool is_rank_file(const struct fv_file_header *h)
{
    return !memcmp(h->magic, FV_FILE_MAGIC, sizeof(h->magic)) && h->version == FV_FILE_VERSION &&
           h->byte_order == FV_BYTE_ORDER;
}

static bool is_here(const struct fv_file_header *h)
{
    return is_rank_file(h) && h->state == FV_STATE_RUNNING && fv_experiment_is_alive(h);
}

static void open_rank(struct ranks *r, const char *path)
{
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    off_t bytes = fd >= 0 ? lseek(fd, 0, SEEK_END) : 0;
    void *page =
        bytes >= (off_t)sizeof(struct fv_file_header) ? mmap(NULL, FV_PAGE, PROT_READ, MAP_SHARED, fd, 0) : MAP_FAILED;

    if (fd >= 0)
        close(fd);
    if (page == MAP_FAILED)
        return;
    if (!is_here(page)) {
        munmap(page, FV_PAGE);
        return;
    }
    FV_GROW(r->items, r->room, r->count + 1);
    r->items[r->count++] = (struct rank){ .header = page };
}

static void close_ranks(struct ranks *r)
{
    for (size_t i = 0; i < r->count; i++)
        munmap((void *)(uintptr_t)r->items[i].header, FV_PAGE);
    free(r->items);
}

/* ---- looks ---- */

static int64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void wait_until(int64_t ns)
{
    const struct timespec until = { ns / 1000000000, ns % 1000000000 };

    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
}

struct seeing {
    struct fv_seen_looks *seen;
    int world_rank;
};

static void take(void *context, const struct fv_look *look)
{
    const struct seeing *s = context;

    FV_GROW(s->seen->items, s->seen->room, s->seen->count + 1);
    s->seen->items[s->seen->count++] = (struct fv_seen_look){ s->world_rank, *look };
}

static uint64_t answers_of(const struct rank *r)
{
    return __atomic_load_n(&r->header->look_answers, __ATOMIC_ACQUIRE);
}

static void ask(struct fv_looking *l, struct rank *r, uint64_t look)
{
    struct seeing seeing = { &l->seen, r->header->world_rank };

    r->answers = answers_of(r);
    r->asked = fv_look_ask((pid_t)r->header->pid, __atomic_load_n(&r->header->look_signal, __ATOMIC_ACQUIRE), look,
                           take, &seeing);
    l->asked += r->asked;
}

static void wait_for_answers(const struct ranks *r)
{
    int64_t until_ns = now_ns() + PATIENCE_NS;

    for (size_t i = 0; i < r->count; i++)
        while (answers_of(&r->items[i]) - r->items[i].answers < r->items[i].asked && now_ns() < until_ns)
            wait_until(now_ns() + 1000000);
}

/* ---- other hosts ---- */

#define FRESH_NS INT64_C(30000000000) /* since a rank watched itself last; wall clocks of hosts differ */

static bool read_header(const char *path, struct fv_file_header *out)
{
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    ssize_t bytes = fd >= 0 ? pread(fd, out, sizeof(*out), 0) : -1;

    if (fd >= 0)
        close(fd);
    return bytes == sizeof(*out) && is_rank_file(out);
}

/* Does it watch itself on another host, so that it looks for requests? */
static bool is_watched_elsewhere(const struct fv_file_header *h)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    int64_t age_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec - (int64_t)h->watched_ns;
    return h->state == FV_STATE_RUNNING && h->watched_ns && !fv_clock_this_boot(h->boot_id) && age_ns < FRESH_NS &&
           age_ns > -FRESH_NS;
}

static int write_request(const struct fv_looking *l)
{
    struct fv_string path = { 0 };
    struct fv_whole_file file;

    fv_string_add(&path, "%s/" FV_LOOK_REQUEST, l->directory);
    int err = fv_whole_file_open(&file, path.text);
    if (!err) {
        fprintf(file.stream, "%llx %zu %.0f\n", (unsigned long long)l->seen.request, l->looks, 1e3 * l->interval_s);
        err = fv_whole_file_close(&file, 0);
    }
    fv_string_release(&path);
    return err;
}

/* Those that watch themselves look at themselves. */
static void ask_elsewhere(struct fv_looking *l, const struct fv_rank_files *files)
{
    struct fv_file_header header;

    for (size_t i = 0; i < files->count && !l->elsewhere; i++)
        l->elsewhere = read_header(files->paths[i], &header) && is_watched_elsewhere(&header);
    if (l->elsewhere && write_request(l)) {
        fv_log("where: %s/" FV_LOOK_REQUEST ": %s; ranks on other hosts are not asked", l->directory, strerror(errno));
        l->elsewhere = false;
    }
}

static void wait_elsewhere(const struct fv_looking *l, const struct fv_rank_files *files)
{
    int64_t until_ns = now_ns() + 5000000000 + (int64_t)(1e9 * l->interval_s * (double)l->looks);
    struct fv_file_header header;

    for (size_t i = 0; l->elsewhere && i < files->count; i++)
        while (read_header(files->paths[i], &header) && is_watched_elsewhere(&header) &&
               header.look_done != l->seen.request && now_ns() < until_ns)
            wait_until(now_ns() + 100000000);
}

/* ---- all ---- */

static void look_here(struct fv_looking *l, const struct ranks *ranks)
{
    for (size_t look = 0; look < l->looks && ranks->count; look++) {
        int64_t next_ns = now_ns() + (int64_t)(1e9 * l->interval_s);

        for (size_t i = 0; i < ranks->count; i++)
            ask(l, &ranks->items[i], l->seen.request + look);
        wait_for_answers(ranks);
        if (look + 1 < l->looks)
            wait_until(next_ns);
    }
}

int fv_looking_look(struct fv_looking *l)
{
    struct fv_rank_files files;
    struct ranks ranks = { 0 };
    int err = fv_rank_files_list_here(&files, l->directory);

    for (size_t i = 0; i < files.count; i++)
        open_rank(&ranks, files.paths[i]);
    if (!err && !files.count)
        err = -FV_ENOENT;
    l->running = ranks.count;
    l->seen.request = fv_look_number();
    ask_elsewhere(l, &files);
    look_here(l, &ranks);
    wait_elsewhere(l, &files);
    fv_rank_files_release(&files);
    close_ranks(&ranks);
    return err;
}

void fv_looking_release(struct fv_looking *l)
{
    free(l->seen.items);
}
