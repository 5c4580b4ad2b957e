/* See processes.h. Siblings are children of one parent, which have a variable of a rank. */
#include "doctor/processes.h"
#include "doctor/files.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { PROCESSES = 4096, THREADS = 65536 };
#define BUSY 0.01 /* of its process's CPU time: threads with less are helpers that hardly run */

static const char *const rank_names[] = { "OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID", "PALS_RANKID", "MV2_COMM_WORLD_RANK", NULL };
static const char *const local_names[] = { "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "MV2_COMM_WORLD_LOCAL_RANK", "PALS_LOCAL_RANKID", "SLURM_LOCALID", NULL };
static const char *const size_names[] = { "OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "MV2_COMM_WORLD_LOCAL_SIZE", "PALS_LOCAL_SIZE", NULL };

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
    static double bytes[NODES];
    double all = 0, remote = 0;
    struct fv_cpus cpus;
    const char *text = text_of(d, FV_DOCTOR_LONG_TEXT, p->pid, "numa_maps");

    memset(bytes, 0, sizeof(bytes));
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

/* Their number. */
static size_t find_siblings(struct fv_doctor *d, struct sibling *out, size_t room)
{
    size_t count = 0;

    for (const char *const *path = fv_doctor_glob(d, "proc/*/status"); *path && count < room; path++) {
        int32_t pid = (int32_t)strtol(*path + strlen("proc/"), NULL, 10);
        const char *parent = pid > 0 ? field(d, text_of(d, FV_DOCTOR_TEXT, pid, "status"), "PPid") : NULL;

        if (!parent || whole(parent) != getppid() || !text_of(d, FV_DOCTOR_TEXT, pid, "environ"))
            continue;
        struct sibling s = { pid, variable(&d->text, rank_names), variable(&d->text, local_names) };
        if (s.rank >= 0 || s.local >= 0)
            out[count++] = s;
    }
    return count;
}

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void wait_a_moment(void)
{
    nanosleep(&(struct timespec){ .tv_nsec = 50000000 }, NULL);
}

/* Until all are there; where their number is not told, until there are no more after a moment. */
static size_t wait_for_siblings(struct fv_doctor *d, struct sibling *out, size_t room, size_t expected)
{
    double begin = now_s();
    size_t count = find_siblings(d, out, room), before;

    do {
        before = count;
        wait_a_moment();
        count = find_siblings(d, out, room);
    } while (now_s() - begin < 5 && (expected ? count < expected : count > before || now_s() - begin < 0.5));
    return count;
}

/* -1: it cannot be told. */
static int32_t pid_of_speaker(const struct sibling *siblings, size_t count)
{
    const struct sibling *first = NULL;

    for (size_t i = 0; i < count; i++) {
        if (!siblings[i].local)
            return siblings[i].pid;
        if (siblings[i].rank >= 0 && (!first || siblings[i].rank < first->rank))
            first = &siblings[i];
    }
    return first ? first->pid : -1;
}

static void wait_for_end(int32_t pid)
{
    double begin = now_s();
    char path[60];
    int fd;

    snprintf(path, sizeof(path), "proc/%d/status", pid);
    while (now_s() - begin < 10 && (fd = fv_doctor_open(path, O_RDONLY)) >= 0) {
        close(fd);
        wait_a_moment();
    }
}

bool fv_doctor_gather_ranks(struct fv_doctor *d)
{
    int32_t rank = own_variable(rank_names), local = own_variable(local_names), expected = own_variable(size_names);
    struct sibling *siblings;

    if (rank < 0 && local < 0)
        return true;
    siblings = fv_xcalloc(PROCESSES, sizeof(*siblings));
    size_t count = wait_for_siblings(d, siblings, PROCESSES, expected > 0 ? (size_t)expected : 0);
    int32_t speaker = pid_of_speaker(siblings, count);
    bool is_me = local >= 0 ? !local : speaker < 0 || speaker == getpid();
    for (size_t i = 0; is_me && i < count; i++)
        fv_doctor_add_process(d, siblings[i].pid);
    if (is_me && expected > 0 && (size_t)expected > d->process_count)
        d->not_seen = (size_t)expected - d->process_count;
    if (!is_me && speaker > 0)
        wait_for_end(speaker);
    free(siblings);
    return is_me;
}
