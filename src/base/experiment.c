/* Ranks that start on one node have a common ancestor: the launcher's process there. Its start time names
 * the experiment and its identity makes the job's key, so nobody need ask anybody. Across nodes only what
 * the launcher hands to every rank is common, so there its words replace the ancestor.
 *
 * Rejected: a broadcast of rank 0's clock (an application may run some of its ranks without fvmpi, and a
 * tool that communicates before the application does changes what it measures). */
#include "base/experiment.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- processes ---- */

struct process {
    pid_t pid, parent;
    uint64_t start; /* clock ticks after boot */
    char name[32];  /* as the kernel keeps it: 15 characters */
};

static ssize_t read_file(const char *path, char *buffer, size_t size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    size_t used = 0;

    if (fd < 0)
        return -1;
    for (;;) {
        ssize_t n = read(fd, buffer + used, size - 1 - used);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        used += (size_t)n;
    }
    close(fd);
    buffer[used] = '\0';
    return (ssize_t)used;
}

/* Field 3 and on stand behind the last ')': the name may hold anything. */
static bool read_process(pid_t pid, struct process *out)
{
    char path[64], text[1024];

    snprintf(path, sizeof(path), "/proc/%ld/stat", (long)pid);
    if (read_file(path, text, sizeof(text)) <= 0)
        return false;
    char *open = strchr(text, '('), *close = strrchr(text, ')');
    if (!open || !close || close < open)
        return false;
    *close = '\0';
    snprintf(out->name, sizeof(out->name), "%.31s", open + 1);
    out->pid = pid;
    out->parent = 0;
    out->start = 0;

    char *p = close + 1;
    for (int field = 3; field <= 22 && *p; field++) {
        p += strspn(p, " ");
        if (field == 4)
            out->parent = (pid_t)strtol(p, NULL, 10);
        else if (field == 22)
            out->start = strtoull(p, NULL, 10);
        p += strcspn(p, " ");
    }
    return out->start != 0;
}

static bool is_launcher(const char *name)
{
    static const char *const whole[] = { "hydra_pmi_proxy", "pmi_proxy", "orted", "orterun", "prted", "prte",
                                         "prterun", "srun", "slurmstepd" };

    if (!strncmp(name, "mpiexec", 7) || !strncmp(name, "mpirun", 6)) /* with .openmpi, .hydra, ... behind */
        return true;
    for (unsigned i = 0; i < sizeof(whole) / sizeof(*whole); i++)
        if (!strcmp(name, whole[i]))
            return true;
    return false;
}

/* This process's rank as its launcher says it; NULL: there is none. */
static const char *launchers_rank(void)
{
    static const char *const names[] = { "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID" };
    const char *rank = NULL;

    for (unsigned i = 0; !rank && i < sizeof(names) / sizeof(*names); i++)
        rank = getenv(names[i]);
    return rank;
}

bool fv_first_rank(void)
{
    const char *rank = launchers_rank();

    return !rank || !strcmp(rank, "0");
}

/* The process that stands for the job on this node: the nearest launcher above us, else our parent; of a
 * program that was started without any, ourselves. */
static bool find_launcher(struct process *out)
{
    struct process p, self;

    if (!read_process(getpid(), &self))
        return false;
    *out = self;
    if (!launchers_rank())
        return true;
    p = self;
    for (int depth = 0; depth < 64 && p.parent > 0 && read_process(p.parent, &p); depth++) {
        if (depth == 0)
            *out = p;
        if (is_launcher(p.name)) {
            *out = p;
            break;
        }
    }
    return true;
}

/* ---- the job ---- */

static uint64_t hash_text(uint64_t hash, const char *text)
{
    for (; text && *text; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return fv_mix(hash);
}

static long number_of(const char *variable)
{
    const char *text = getenv(variable);

    return text ? strtol(text, NULL, 10) : 0;
}

/* Launchers tell how many of the ranks are on this node. */
static bool spans_nodes(void)
{
    return number_of("OMPI_COMM_WORLD_LOCAL_SIZE") < number_of("OMPI_COMM_WORLD_SIZE") ||
           (getenv("MPI_LOCALNRANKS") && number_of("MPI_LOCALNRANKS") < number_of("PMI_SIZE")) ||
           number_of("SLURM_NNODES") > 1;
}

/* Hydra's proxies are started with --control-port HOST:PORT, the port of the one mpiexec that they serve:
 * the only thing that its ranks on all nodes can find out without asking it. */
static uint64_t hydra_port(const struct process *launcher)
{
    static const char wanted[] = "--control-port";
    char path[64], text[2048];

    snprintf(path, sizeof(path), "/proc/%ld/cmdline", (long)launcher->pid);
    ssize_t n = read_file(path, text, sizeof(text));
    for (ssize_t at = 0; at < n; at += (ssize_t)strlen(text + at) + 1) {
        ssize_t value = at + (ssize_t)sizeof(wanted);
        if (!strcmp(text + at, wanted) && value < n)
            return hash_text(hash_text(3, text + value), getenv("SLURM_JOB_ID"));
    }
    return 0;
}

/* From what the launcher told every rank, on whatever node; 0: nothing. */
static uint64_t job_from_environment(const struct process *launcher)
{
    const char *space = getenv("PMIX_NAMESPACE");

    if (space) /* of a spawned job it differs from its parent's; hnp_uri makes it unique among mpiexecs */
        return hash_text(hash_text(1, space), getenv("OMPI_MCA_orte_hnp_uri"));
    if (getenv("HYDI_CONTROL_FD"))
        return hydra_port(launcher);
    if (getenv("SLURM_JOB_ID") && getenv("SLURM_STEP_ID"))
        return hash_text(hash_text(2, getenv("SLURM_JOB_ID")), getenv("SLURM_STEP_ID"));
    return 0;
}

static uint64_t job_of_process(const struct process *process)
{
    char boot_id[64] = "";

    read_file("/proc/sys/kernel/random/boot_id", boot_id, sizeof(boot_id));
    return fv_mix2(fv_mix2(hash_text(4, boot_id), (uint64_t)process->pid), process->start) | 1;
}

/* On one node the ancestor is best: its start time tells this launch from every other, ever. */
static uint64_t job_under(const struct process *launcher)
{
    const char *space = getenv("PMIX_NAMESPACE");

    if (spans_nodes())
        return job_from_environment(launcher);
    return space ? fv_mix2(job_of_process(launcher), hash_text(1, space)) : job_of_process(launcher);
}

uint64_t fv_experiment_job(void)
{
    struct process launcher;

    return find_launcher(&launcher) ? job_under(&launcher) : 0;
}

/* ---- its name ---- */

/* When the system was started, seconds since the epoch; 0: unknown. It stands behind lines for every
 * processor and every interrupt, so the file is read through a window. */
static int64_t boot_seconds(void)
{
    static const char wanted[] = "\nbtime ";
    char text[4096];
    size_t kept = 0;
    int64_t found = 0;
    int fd = open("/proc/stat", O_RDONLY | O_CLOEXEC);

    while (fd >= 0 && !found) {
        ssize_t n = read(fd, text + kept, sizeof(text) - 1 - kept);
        if (n <= 0)
            break;
        size_t used = kept + (size_t)n;
        text[used] = '\0';
        char *at = strstr(text, wanted);
        if (at && strchr(at + 1, '\n'))
            found = strtoll(at + sizeof(wanted) - 1, NULL, 10);
        kept = used < 64 ? used : 64;
        memmove(text, text + used - kept, kept);
    }
    if (fd >= 0)
        close(fd);
    return found;
}

/* Of a process's start. The kernel counts it from boot. A step of the wall clock between the looks of two
 * ranks would part them. */
static int64_t start_seconds(const struct process *process)
{
    int64_t boot = boot_seconds();
    long hz = sysconf(_SC_CLK_TCK);

    return boot && hz > 0 ? boot + (int64_t)(process->start / (uint64_t)hz) : (int64_t)time(NULL);
}

/* gmtime_r() takes a lock of the application's libc and may read files. Days to a date: era of 400 years,
 * years that begin in March so that the leap day comes last. */
void fv_format_utc(char *out, size_t size, int64_t seconds)
{
    uint64_t second = (uint64_t)(seconds < 0 ? 0 : seconds);
    uint64_t day = second / 86400 + 719468; /* from 0000-03-01 */
    uint64_t era = day / 146097, of_era = day % 146097;
    uint64_t year = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
    uint64_t of_year = of_era - (365 * year + year / 4 - year / 100);
    uint64_t month = (5 * of_year + 2) / 153;
    uint64_t of_month = of_year - (153 * month + 2) / 5 + 1;

    month = month < 10 ? month + 3 : month - 9;
    year += era * 400 + (month <= 2);
    snprintf(out, size, "%04u%02u%02uT%02u%02u%02uZ", (unsigned)year, (unsigned)month, (unsigned)of_month,
             (unsigned)(second / 3600 % 24), (unsigned)(second / 60 % 60), (unsigned)(second % 60));
}

static int format_name(char *out, size_t size, const char *program, int ranks, const char *when)
{
    const char *slash = strrchr(program, '/');
    char name[65];
    size_t n = 0;

    for (const char *p = slash ? slash + 1 : program; *p && n < sizeof(name) - 1; p++) {
        bool plain = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9') ||
                     strchr("._+-", *p);
        name[n++] = plain ? *p : '_';
    }
    name[n] = '\0';
    int length = snprintf(out, size, "fvmpi-%s-%dp-%s", n ? name : "program", ranks, when);
    return length < 0 || (size_t)length >= size ? -FV_EINVAL : 0;
}

int fv_experiment_name_at(char *out, size_t size, const char *program, int ranks, int64_t seconds)
{
    char when[32];

    fv_format_utc(when, sizeof(when), seconds);
    return format_name(out, size, program, ranks, when);
}

static int name_under(char *out, size_t size, const char *program, int ranks, const struct process *launcher)
{
    uint64_t job = ranks > 1 && spans_nodes() ? job_from_environment(launcher) : 0;
    char when[32];

    /* Each node has a launcher process of its own, which started a moment before or after the others':
     * only the job's id is the same everywhere. */
    if (!job)
        return fv_experiment_name_at(out, size, program, ranks, start_seconds(launcher));
    if (getenv("SLURM_JOB_ID") && getenv("SLURM_STEP_ID") && !getenv("PMIX_NAMESPACE"))
        snprintf(when, sizeof(when), "job%.12s.%.12s", getenv("SLURM_JOB_ID"), getenv("SLURM_STEP_ID"));
    else
        snprintf(when, sizeof(when), "job%08x", (unsigned)(job >> 32));
    return format_name(out, size, program, ranks, when);
}

/* A world of one has nobody to agree with, and its launcher may have started others like it. */
static bool find_owner(int ranks, struct process *out)
{
    return ranks == 1 ? read_process(getpid(), out) : find_launcher(out);
}

int fv_experiment_name(char *out, size_t size, const char *program, int ranks)
{
    struct process owner;

    return find_owner(ranks, &owner) ? name_under(out, size, program, ranks, &owner) : -FV_EIO;
}

/* ---- its directory ---- */

/* With those above it; other ranks may be making them, too. */
static int make_directory(const char *path)
{
    char above[FV_EXPERIMENT_MAX];

    if (!mkdir(path, 0777) || errno == EEXIST)
        return 0;
    if (errno != ENOENT || strlen(path) >= sizeof(above))
        return -FV_EIO;
    strcpy(above, path);
    for (char *slash = above + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        if (mkdir(above, 0777) && errno != EEXIST)
            return -FV_EIO;
        *slash = '/';
    }
    return mkdir(path, 0777) && errno != EEXIST ? -FV_EIO : 0;
}

/* Takes the directory for a job. The claim is a symbolic link `.job` whose text is the key: made whole or
 * not at all, by one system call, on every file system that a cluster has. 1: another job's. */
static int claim(const char *path, uint64_t job)
{
    char link[FV_EXPERIMENT_MAX + 8], key[24], found[24];

    if (make_directory(path))
        return -FV_EIO;
    if (!job) /* cannot tell jobs apart: the rank files, which nobody overwrites, must do */
        return 0;
    snprintf(link, sizeof(link), "%s/.job", path);
    snprintf(key, sizeof(key), "%016llx", (unsigned long long)job);
    if (!symlink(key, link))
        return 0;
    if (errno != EEXIST)
        return errno == EPERM ? 0 : -FV_EIO; /* EPERM: a file system without symbolic links */
    ssize_t n = readlink(link, found, sizeof(found));
    return n != (ssize_t)strlen(key) || memcmp(found, key, strlen(key));
}

static int absolute(char *out, size_t size, const char *path)
{
    size_t used = 0;

    if (*path != '/') {
        if (!getcwd(out, size))
            return -FV_EIO;
        used = strlen(out);
        if (used && out[used - 1] == '/')
            used--;
    }
    int n = snprintf(out + used, size - used, "%s%s", used ? "/" : "", path);
    if (n < 0 || (size_t)n >= size - used - 8) { /* room for the -2 */
        errno = ENAMETOOLONG;
        return -FV_EIO;
    }
    for (used += (size_t)n; used > 1 && out[used - 1] == '/'; used--)
        out[used - 1] = '\0';
    return 0;
}

int fv_experiment_claim(char *out, size_t size, const char *output, const char *program, int ranks)
{
    struct process owner = { .pid = 0 };
    char name[256];
    int err = 0;

    bool known = find_owner(ranks, &owner);
    uint64_t job = !known ? 0 : ranks == 1 ? job_of_process(&owner) : job_under(&owner);
    if (!output || !*output) {
        err = known ? name_under(name, sizeof(name), program, ranks, &owner) : -FV_EIO;
        output = name;
    }
    if (!err)
        err = absolute(out, size < FV_EXPERIMENT_MAX ? size : FV_EXPERIMENT_MAX, output);
    if (err)
        return err;

    size_t end = strlen(out);
    int taken = claim(out, job);
    for (int suffix = 2; taken == 1 && suffix < 1000; suffix++) {
        snprintf(out + end, size - end, "-%d", suffix);
        taken = claim(out, job);
    }
    if (taken == 1)
        errno = EEXIST;
    return taken ? -FV_EIO : 0;
}
