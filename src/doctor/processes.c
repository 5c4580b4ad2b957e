/* SPDX-License-Identifier: BSD-3-Clause */
/* See processes.h. Siblings are children of one parent, which have a variable of a rank. */
#include "doctor/processes.h"
#include "base/now.h"
#include "doctor/files.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { PROCESSES = 4096, THREADS = 65536 };
#define BUSY 0.01 /* of its process's CPU time: threads with less are helpers that hardly run */

static const char *const rank_names[] = { "OMPI_COMM_WORLD_RANK", "PMI_RANK",       "PMIX_RANK",
                                          "SLURM_PROCID",         "PALS_RANKID",    "MV2_COMM_WORLD_RANK",
                                          "JSM_NAMESPACE_RANK",   "FLUX_TASK_RANK", NULL };
static const char *const local_names[] = { "OMPI_COMM_WORLD_LOCAL_RANK",
                                           "MPI_LOCALRANKID",
                                           "MV2_COMM_WORLD_LOCAL_RANK",
                                           "PALS_LOCAL_RANKID",
                                           "SLURM_LOCALID",
                                           "JSM_NAMESPACE_LOCAL_RANK",
                                           "FLUX_TASK_LOCAL_ID",
                                           NULL };
static const char *const size_names[] = { "OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "MV2_COMM_WORLD_LOCAL_SIZE",
                                          "PALS_LOCAL_SIZE", NULL };

/* -1: it is no number from 0. */
static int32_t whole(const char *text)
{
    char *end;
    long value = isdigit((unsigned char)*text) ? strtol(text, &end, 10) : -1;

    return value >= 0 && value <= INT32_MAX && !*end ? (int32_t)value : -1;
}

/* ---- one process ---- */

/* The first of the variables that the environment has, which was read last. */
static int32_t variable(const struct fv_string *environment, const char *const *names)
{
    for (; *names; names++) {
        size_t length = strlen(*names);

        for (const char *at = environment->text, *end = at + environment->used; at < end; at += strlen(at) + 1)
            if (!strncmp(at, *names, length) && at[length] == '=' && whole(at + length + 1) >= 0)
                return whole(at + length + 1);
    }
    return -1;
}

/* "Name:\tvalue" of the status that was read last; NULL: there is none. */
static const char *field(struct fv_doctor *d, const char *text, const char *name)
{
    size_t length = strlen(name);

    for (const char *line = text; line && *line; line += strcspn(line, "\n"), line += *line == '\n')
        if (!strncmp(line, name, length) && line[length] == ':') {
            line += length + 1;
            line += strspn(line, " \t");
            return fv_arena_bytes(&d->arena, line, strcspn(line, "\n"));
        }
    return NULL;
}

static const char *text_of(struct fv_doctor *d, size_t most, int32_t pid, const char *file)
{
    char path[100];

    snprintf(path, sizeof(path), "proc/%d/%s", pid, file);
    return fv_doctor_text(d, most, path);
}

/* User and system time, fields 14 and 15 of stat, whose second one may hold anything. */
static double cpu_seconds(const char *stat)
{
    const char *at = stat ? strrchr(stat, ')') : NULL;
    unsigned long long user, system;

    if (!at || sscanf(at, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu", &user, &system) != 2)
        return 0;
    return ((double)user + (double)system) / (double)sysconf(_SC_CLK_TCK);
}

static void add_thread(struct fv_doctor *d, struct fv_doctor_process *p, int32_t tid)
{
    char file[60];
    struct fv_doctor_thread t = { .tid = tid };
    const char *text, *list;

    snprintf(file, sizeof(file), "task/%d/status", tid);
    text = text_of(d, FV_DOCTOR_TEXT, p->pid, file);
    list = field(d, text, "Cpus_allowed_list");
    if (!list || !fv_cpus_from_list(list, &t.cpus) || !fv_cpus_count(&t.cpus) || d->thread_count == THREADS)
        return;
    t.name = field(d, text, "Name");
    t.processors = list;
    snprintf(file, sizeof(file), "task/%d/stat", tid);
    t.cpu_s = cpu_seconds(text_of(d, FV_DOCTOR_TEXT, p->pid, file));
    FV_GROW(d->threads, d->thread_room, d->thread_count + 1);
    d->threads[d->thread_count++] = t;
    p->thread_count++;
}

/* Which threads count; what all of them may use. */
static void judge_threads(struct fv_doctor *d, struct fv_doctor_process *p)
{
    struct fv_doctor_thread *threads = d->threads + p->first_thread;
    double all = 0;

    for (uint32_t i = 0; i < p->thread_count; i++)
        all += threads[i].cpu_s;
    for (uint32_t i = 0; i < p->thread_count; i++) {
        threads[i].counts = all > 0 ? threads[i].cpu_s >= BUSY * all : threads[i].tid == p->pid;
        if (threads[i].counts)
            fv_cpus_add(&p->cpus, &threads[i].cpus);
    }
    p->processors = fv_cpus_list(&p->cpus, &d->arena);
}

/* ---- its memory ---- */

/* Processors of a node. False: there is no such node. */
static bool node_cpus(struct fv_doctor *d, unsigned node, struct fv_cpus *out)
{
    const char *list = fv_doctor_value(d, "sys/devices/system/node/node%u/cpulist", node);

    return list && fv_cpus_from_list(list, out);
}

enum { NODES = 1024 };

/* Bytes by node of a line such as "7f00 default anon=3 N0=2 N1=1 kernelpagesize_kB=4". */
static void add_line(const char *line, size_t length, double bytes[NODES])
{
    const char *end = line + length, *size = memmem(line, length, "kernelpagesize_kB=", 18);
    double page = size ? 1024 * strtod(size + 18, NULL) : 4096;

    for (const char *at = line; at < end; at++) {
        unsigned node;
        double pages;

        if (*at == ' ' && at[1] == 'N' && sscanf(at, " N%u=%lf", &node, &pages) == 2 && node < NODES && pages > 0)
            bytes[node] += pages * page;
    }
}

static double remote_share(struct fv_doctor *d, const struct fv_doctor_process *p)
{
    double bytes[NODES] = { 0 }, all = 0, remote = 0;
    struct fv_cpus cpus;
    const char *text = text_of(d, FV_DOCTOR_LONG_TEXT, p->pid, "numa_maps");

    for (const char *line = text; line && *line; line += strcspn(line, "\n"), line += *line == '\n')
        add_line(line, strcspn(line, "\n"), bytes);
    for (unsigned node = 0; node < NODES; node++) {
        if (!(bytes[node] > 0))
            continue;
        if (!node_cpus(d, node, &cpus))
            return NAN;
        all += bytes[node];
        remote += fv_cpus_meet(&cpus, &p->cpus) ? 0 : bytes[node];
    }
    return all > 0 ? remote / all : NAN;
}

bool fv_doctor_add_process(struct fv_doctor *d, int32_t pid)
{
    struct fv_doctor_process p = { .pid = pid, .rank = -1, .first_thread = (uint32_t)d->thread_count };
    char pattern[60];

    for (size_t i = 0; i < d->process_count; i++)
        if (d->processes[i].pid == pid)
            return true;
    p.name = field(d, text_of(d, FV_DOCTOR_TEXT, pid, "status"), "Name");
    if (!p.name || d->process_count == PROCESSES)
        return false;
    if (text_of(d, FV_DOCTOR_TEXT, pid, "environ"))
        p.rank = variable(&d->text, rank_names);
    snprintf(pattern, sizeof(pattern), "proc/%d/task/*", pid);
    for (const char *const *path = fv_doctor_glob(d, pattern); *path; path++)
        if (whole(fv_base_name(*path)) > 0)
            add_thread(d, &p, whole(fv_base_name(*path)));
    judge_threads(d, &p);
    p.remote_share = remote_share(d, &p);
    FV_GROW(d->processes, d->process_room, d->process_count + 1);
    d->processes[d->process_count++] = p;
    return true;
}

/* ---- ranks of a node ---- */

static int32_t own_variable(const char *const *names)
{
    for (; *names; names++)
        if (getenv(*names) && whole(getenv(*names)) >= 0)
            return whole(getenv(*names));
    return -1;
}

struct sibling {
    int32_t pid, rank, local; /* local: its number on this node; -1: not known */
};

struct siblings {
    struct sibling *items;
    size_t count;
};

/* A child of our parent: is it a rank? */
static void add_child(struct fv_doctor *d, struct siblings *s, int32_t pid)
{
    if (pid <= 0 || s->count == PROCESSES || !text_of(d, FV_DOCTOR_TEXT, pid, "environ"))
        return;
    struct sibling one = { pid, variable(&d->text, rank_names), variable(&d->text, local_names) };
    if (one.rank >= 0 || one.local >= 0)
        s->items[s->count++] = one;
}

/* As the kernel lists them for each thread of the parent. False: this kernel does not. */
static bool add_listed(struct fv_doctor *d, struct siblings *s)
{
    char pattern[60];
    bool is_listed = false;

    snprintf(pattern, sizeof(pattern), "proc/%d/task/*/children", (int)getppid());
    for (const char *const *path = fv_doctor_glob(d, pattern); *path; path++) {
        const char *text = fv_doctor_text(d, FV_DOCTOR_TEXT, *path), *at = text ? fv_arena_string(&d->arena, text) : "";

        is_listed = is_listed || text;
        for (; *at; at += strcspn(at, " "), at += strspn(at, " "))
            add_child(d, s, (int32_t)strtol(at, NULL, 10));
    }
    return is_listed;
}

static void find_siblings(struct fv_doctor *d, struct siblings *s)
{
    s->count = 0;
    if (add_listed(d, s))
        return;
    for (const char *const *path = fv_doctor_glob(d, "proc/*/status"); *path; path++) {
        int32_t pid = (int32_t)strtol(*path + strlen("proc/"), NULL, 10);
        const char *parent = pid > 0 ? field(d, text_of(d, FV_DOCTOR_TEXT, pid, "status"), "PPid") : NULL;

        if (parent && whole(parent) == getppid())
            add_child(d, s, pid);
    }
}

static void wait_a_moment(void)
{
    nanosleep(&(struct timespec){ .tv_nsec = 50000000 }, NULL);
}

/* -1: it is not there, or cannot be told. Where ranks have no numbers on their node, the least in MPI_COMM_WORLD. */
static int32_t pid_of_speaker(const struct siblings *all)
{
    const struct sibling *first = NULL;

    for (size_t i = 0; i < all->count; i++) {
        const struct sibling *s = &all->items[i];

        if (!s->local || (s->local < 0 && s->rank >= 0 && (!first || s->rank < first->rank)))
            first = s;
        if (!s->local)
            break;
    }
    return first ? first->pid : -1;
}

/* Until all are there, or, of those who do not speak, the one who does; where their number is not told, until there are
 * no more after a while. */
static void wait_for_siblings(struct fv_doctor *d, struct siblings *s, int32_t local, size_t expected)
{
    double begin = fv_now_s(), since = begin;

    find_siblings(d, s);
    while (fv_now_s() - begin < 5 && (local > 0  ? pid_of_speaker(s) < 0
                                      : expected ? s->count < expected
                                                 : fv_now_s() - since < 0.5)) {
        size_t before = s->count;

        wait_a_moment();
        find_siblings(d, s);
        since = s->count > before ? fv_now_s() : since;
    }
}

static void wait_for_end(int32_t pid)
{
    double begin = fv_now_s();
    char path[60];
    int fd;

    snprintf(path, sizeof(path), "proc/%d/status", pid);
    while (fv_now_s() - begin < 10 && (fd = fv_doctor_open(path, O_RDONLY)) >= 0) {
        close(fd);
        wait_a_moment();
    }
}

bool fv_doctor_gather_ranks(struct fv_doctor *d)
{
    int32_t rank = own_variable(rank_names), local = own_variable(local_names), expected = own_variable(size_names);
    struct siblings siblings = { 0 };

    if (rank < 0 && local < 0)
        return true;
    siblings.items = fv_xcalloc(PROCESSES, sizeof(*siblings.items));
    wait_for_siblings(d, &siblings, local, expected > 0 ? (size_t)expected : 0);
    int32_t speaker = pid_of_speaker(&siblings);
    bool is_me = local >= 0 ? !local : speaker < 0 || speaker == getpid();
    for (size_t i = 0; is_me && i < siblings.count; i++)
        fv_doctor_add_process(d, siblings.items[i].pid);
    if (is_me && expected > 0 && (size_t)expected > d->process_count)
        d->not_seen = (size_t)expected - d->process_count;
    if (!is_me && speaker > 0)
        wait_for_end(speaker);
    free(siblings.items);
    return is_me;
}
