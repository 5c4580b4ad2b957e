/* SPDX-License-Identifier: BSD-3-Clause */
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
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Where paths of the user's begin: what he sees, and equal on all ranks. An application may send its ranks to
 * directories of their own before they come to MPI_Init. */
static char start_directory[FV_EXPERIMENT_MAX];

__attribute__((constructor(101))) static void remember_directory(void)
{
    if (!getcwd(start_directory, sizeof(start_directory)))
        start_directory[0] = '\0';
}

/* ---- the launcher ---- */

/* Of one launch each. Daemons that start ranks of several launches (palsd, jsmd) are none. */
static bool is_launcher(const char *name)
{
    static const char *const whole[] = { "hydra_pmi_proxy", "pmi_proxy", "orted",      "orterun",    "prted",   "prte",
                                         "prterun",         "srun",      "slurmstepd", "flux-shell", "mpispawn" };

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
    static const char *const names[] = { "OMPI_COMM_WORLD_RANK", "JSM_NAMESPACE_RANK", "PMIX_RANK",   "PMI_RANK",
                                         "PALS_RANKID",          "FLUX_TASK_RANK",     "ALPS_APP_PE", "SLURM_PROCID" };
    const char *rank = NULL;

    for (unsigned i = 0; !rank && i < sizeof(names) / sizeof(*names); i++)
        rank = fv_env(names[i]);
    return rank;
}

bool fv_first_rank(void)
{
    const char *rank = launchers_rank();
    int number, count;
    uint64_t job;

    if (fv_experiment_copy(&number, &count, &job))
        return !number;
    return !rank || !strcmp(rank, "0");
}

/* `fvmpi run --local` waits for what it started: it is between a rank and its launcher. */
static bool is_fvmpi_run(const struct fv_process *p)
{
    return !strcmp(p->name, "fvmpi");
}

void fv_launcher_above(const struct fv_process *self, bool (*read)(pid_t pid, struct fv_process *out),
                       struct fv_launcher *out)
{
    struct fv_process p = *self, above;
    bool is_near = true;

    *out = (struct fv_launcher){ .process = p };
    for (int depth = 0; depth < 64 && p.parent > 0 && !out->is_known; depth++) {
        bool is_hidden = !read(p.parent, &above);

        if (is_hidden)
            above = (struct fv_process){ .pid = p.parent };
        out->is_known = is_launcher(above.name);
        if (is_near || out->is_known)
            out->process = above;
        is_near = is_near && is_fvmpi_run(&above);
        if (is_hidden)
            break;
        p = above;
    }
}

/* Of a program that was started without any, itself. */
static bool find_launcher(struct fv_launcher *out)
{
    struct fv_process self;

    if (!fv_process_read(getpid(), &self))
        return false;
    if (launchers_rank())
        fv_launcher_above(&self, fv_process_read, out);
    else
        *out = (struct fv_launcher){ self, true };
    return true;
}

/* ---- the job ---- */

uint64_t fv_hash_on(uint64_t hash, const char *text)
{
    for (; text && *text; text++)
        hash = (hash ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return fv_mix(hash);
}

static long number_of(const char *variable)
{
    const char *text = fv_env(variable);

    return text ? strtol(text, NULL, 10) : 0;
}

/* Launchers tell how many of the ranks are on this node, or on how many nodes they are. */
static bool spans_nodes(void)
{
    static const struct {
        const char *here, *all;
    } ranks[] = { { "OMPI_COMM_WORLD_LOCAL_SIZE", "OMPI_COMM_WORLD_SIZE" },
                  { "MPI_LOCALNRANKS", "PMI_SIZE" }, /* Hydra */
                  { "PMI_LOCAL_SIZE", "PMI_SIZE" },  /* PALS, Cray's PMI */
                  { "JSM_NAMESPACE_LOCAL_SIZE", "JSM_NAMESPACE_SIZE" } };

    for (unsigned i = 0; i < sizeof(ranks) / sizeof(*ranks); i++)
        if (fv_env(ranks[i].here) && number_of(ranks[i].here) < number_of(ranks[i].all))
            return true;
    return number_of(fv_env("SLURM_STEP_NUM_NODES") ? "SLURM_STEP_NUM_NODES" : "SLURM_NNODES") > 1 ||
           number_of("FLUX_JOB_NNODES") > 1;
}

/* Hydra's proxies are started with --control-port HOST:PORT, the port of the one mpiexec that they serve: the only
 * thing that its ranks on all nodes can find out without asking it. Intel's stand below others, which have
 * --upstream-host HOST --upstream-port PORT; those of a tree's deeper levels have another proxy's. */
static uint64_t hydra_port_of(pid_t proxy)
{
    static const char *const wanted[] = { "--control-port", "--upstream-host", "--upstream-port" };
    char path[64], text[4096];
    uint64_t hash = 0;

    snprintf(path, sizeof(path), "/proc/%ld/cmdline", (long)proxy);
    ssize_t n = fv_file_read(path, text, sizeof(text));
    for (ssize_t at = 0, value; at < n; at = value) {
        value = at + (ssize_t)strlen(text + at) + 1;
        if (value < n && !strcmp(text + at, "--tree-level") && strcmp(text + value, "1"))
            return 0;
        for (unsigned i = 0; value < n && i < sizeof(wanted) / sizeof(*wanted); i++)
            if (!strcmp(text + at, wanted[i]))
                hash = fv_hash_on(hash ? hash : 3, text + value);
    }
    return hash;
}

static uint64_t hydra_port(const struct fv_launcher *launcher)
{
    uint64_t hash = hydra_port_of(launcher->process.pid);

    if (!hash)
        hash = hydra_port_of(launcher->process.parent);
    return hash ? fv_hash_on(hash, fv_env("SLURM_JOB_ID")) : 0;
}

/* From what the launcher told every rank, on whatever node; 0: nothing. */
static uint64_t job_from_environment(const struct fv_launcher *launcher)
{
    static const struct {
        const char *mark, *ids[2]; /* where the mark is set, these together name a launch */
    } launchers[] = {
        /* jsrun's namespaces are numbers that begin anew with each job of LSF. */
        { "JSM_NAMESPACE_RANK", { "PMIX_NAMESPACE", "LSB_JOBID" } },
        /* Of a spawned job it differs from its parent's; hnp_uri makes it unique among mpiexecs of Open MPI 4. */
        { "PMIX_NAMESPACE", { "PMIX_NAMESPACE", "OMPI_MCA_orte_hnp_uri" } },
        { "SLURM_STEP_ID", { "SLURM_JOB_ID", "SLURM_STEP_ID" } },
        { "FLUX_JOB_ID", { "FLUX_JOB_ID" } },
        { "PALS_APID", { "PALS_APID" } },
        { "ALPS_APP_ID", { "ALPS_APP_ID" } },
    };

    if (fv_env("HYDI_CONTROL_FD") || fv_env("MPI_LOCALNRANKS")) {
        uint64_t job = hydra_port(launcher);
        if (job)
            return job;
    }
    for (unsigned i = 0; i < sizeof(launchers) / sizeof(*launchers); i++) {
        const char *const *ids = launchers[i].ids, *second = ids[1] ? fv_env(ids[1]) : NULL;
        if (fv_env(launchers[i].mark) && fv_env(ids[0]))
            return fv_hash_on(fv_hash_on(i + 1, fv_env(ids[0])), second);
    }
    return 0;
}

static uint64_t job_of_process(const struct fv_process *process)
{
    const char *space = fv_env("PMIX_NAMESPACE");
    uint64_t boot[2];

    fv_boot_id((uint8_t *)boot);
    uint64_t job = fv_mix2(fv_mix2(fv_mix2(boot[0], boot[1]), (uint64_t)process->pid), process->start) | 1;
    return space && launchers_rank() ? fv_mix2(job, fv_hash_on(1, space)) : job;
}

/* Is the ancestor not enough? Each node has one of its own; one that is hidden, or that has no launcher's
 * name, may be one rank's alone: a shell, a container. */
static bool asks_environment(const struct fv_launcher *launcher)
{
    return spans_nodes() || !launcher->is_known;
}

/* On one node the launcher's process is best: its start time tells this launch from every other, ever. */
static uint64_t job_under(const struct fv_launcher *launcher)
{
    uint64_t job = asks_environment(launcher) ? job_from_environment(launcher) : 0;

    return job || spans_nodes() ? job : job_of_process(&launcher->process);
}

/* A copy of a program that `fvmpi run --throughput` runs beside others: K/N/JOB. */
bool fv_experiment_copy(int *number, int *count, uint64_t *job)
{
    const char *text = fv_env("FVMPI_COPY");
    char *end;

    if (!text)
        return false;
    *number = (int)strtol(text, &end, 10);
    *count = *end == '/' ? (int)strtol(end + 1, &end, 10) : 0;
    *job = *end == '/' ? strtoull(end + 1, &end, 16) : 0;
    return !*end && *number >= 0 && *number < *count && *job;
}

uint64_t fv_experiment_job(void)
{
    struct fv_launcher launcher;
    int number, count;
    uint64_t job;

    if (fv_experiment_copy(&number, &count, &job))
        return job;
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
static int64_t start_seconds(const struct fv_process *process)
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
    char name[65];
    size_t n = 0;

    for (const char *p = fv_base_name(program); *p && n < sizeof(name) - 1; p++) {
        bool plain =
            (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9') || strchr("._+-", *p);
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

/* Was more than one program started in this launch, so that the name of one would not do for all? Hydra tells
 * that its mpiexec, the proxy's parent on the first node, alone. */
static bool has_several_programs(const struct fv_launcher *launcher)
{
    char path[64], text[16384];

    if (number_of("OMPI_NUM_APP_CTX") > 1)
        return true;
    if (!fv_env("HYDI_CONTROL_FD") || launcher->process.parent <= 0)
        return false;
    snprintf(path, sizeof(path), "/proc/%ld/cmdline", (long)launcher->process.parent);
    ssize_t n = fv_file_read(path, text, sizeof(text));
    for (ssize_t at = 0; at < n; at += (ssize_t)strlen(text + at) + 1)
        if (!strcmp(text + at, ":") || !strcmp(text + at, "-configfile"))
            return true;
    return false;
}

static int name_under(char *out, size_t size, const char *program, int ranks, const struct fv_launcher *launcher)
{
    uint64_t job = ranks > 1 && asks_environment(launcher) ? job_from_environment(launcher) : 0;
    const char *space = fv_env("PMIX_NAMESPACE");
    bool is_step = fv_env("SLURM_JOB_ID") && fv_env("SLURM_STEP_ID") && (!space || !strncmp(space, "slurm.", 6));
    char when[32];

    if (ranks > 1 && has_several_programs(launcher))
        program = "mpmd";

    if (!job && spans_nodes())
        return format_name(out, size, program, ranks, "unknown-job");
    if (!job && launcher->process.start)
        return fv_experiment_name_at(out, size, program, ranks, start_seconds(&launcher->process));
    /* Each node has a launcher process of its own, which started a moment before or after the others',
     * and of a hidden one that moment is unknown: only the job's id is the same everywhere. */
    if (!job)
        job = job_of_process(&launcher->process);
    if (is_step)
        snprintf(when, sizeof(when), "job%.12s.%.12s", fv_env("SLURM_JOB_ID"), fv_env("SLURM_STEP_ID"));
    else
        snprintf(when, sizeof(when), "job%08x", (unsigned)(job >> 32));
    return format_name(out, size, program, ranks, when);
}

/* A world of one has nobody to agree with, and its launcher may have started others like it. */
static bool find_owner(int ranks, struct fv_launcher *out)
{
    if (ranks != 1)
        return find_launcher(out);
    out->is_known = true;
    return fv_process_read(getpid(), &out->process);
}

int fv_experiment_name(char *out, size_t size, const char *program, int ranks)
{
    struct fv_launcher owner;

    return find_owner(ranks, &owner) ? name_under(out, size, program, ranks, &owner) : -FV_EIO;
}

/* ---- its directory ---- */

/* Other ranks may be making it, and those above, too. */
int fv_make_directory(const char *path, unsigned mode)
{
    char above[FV_EXPERIMENT_MAX];

    if (!mkdir(path, mode) || errno == EEXIST)
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
    return mkdir(path, mode) && errno != EEXIST ? -FV_EIO : 0;
}

/* Files of root belong to nobody on network file systems that do not trust other hosts' root. */
#define NOBODY 65534u

static bool is_own(const struct stat *st)
{
    return st->st_uid == geteuid() || (!geteuid() && st->st_uid == NOBODY);
}

int fv_experiment_folder(const char *path)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    if (fd < 0 || (!fstat(fd, &st) && is_own(&st)))
        return fd;
    close(fd);
    errno = EPERM;
    return -1;
}

#define TAKEN (-2)

/* What is there: its descriptor, -1, or TAKEN by another job. errno ENOENT: no directory, or nobody has claimed it. No
 * key: jobs cannot be told apart, and the rank files, which nobody overwrites, must do. */
static int look(const char *path, const char *key)
{
    char found[24];
    int fd = fv_experiment_folder(path);

    if (fd < 0 || !*key)
        return fd;
    ssize_t n = readlinkat(fd, ".job", found, sizeof(found));
    if (n == (ssize_t)strlen(key) && !memcmp(found, key, strlen(key)))
        return fd;
    int why = errno;
    close(fd);
    errno = why;
    return n >= 0 || why == EINVAL ? TAKEN : -1; /* EINVAL: a file, but no link */
}

static int make(const char *path, const char *key, bool share)
{
    int fd = fv_make_directory(path, share ? 0777 : 0700) ? -1 : fv_experiment_folder(path);

    if (fd < 0 || !*key || !symlinkat(key, fd, ".job") || errno == EPERM) /* a file system without symbolic links */
        return fd;
    int why = errno;
    close(fd);
    errno = why;
    return why == EEXIST ? look(path, key) : -1;
}

/* It may lead to a directory of this user's, in which nothing was to be written. The user's own, and root's, are meant.
 * Sets errno, ENOENT where it is no link. */
static bool is_others_link(const char *path)
{
    struct stat st;
    const bool is_link = !lstat(path, &st) && S_ISLNK(st.st_mode),
               is_others = is_link && st.st_uid && st.st_uid != geteuid();

    errno = is_others ? EPERM : ENOENT;
    return is_others;
}

#define CLAIM_NS INT64_C(4000000000) /* busy nodes take their time */

/* Takes the directory for a job: its descriptor, -1, or TAKEN. The claim is a symbolic link `.job` whose text is the
 * key: made whole or not at all, by one system call, on every file system that a cluster has. One rank of a node makes
 * them; the others wait for it, for a time. */
static int claim(const char *path, uint64_t job, bool share)
{
    char key[24] = "";

    if (job)
        snprintf(key, sizeof(key), "%016llx", (unsigned long long)job);
    int fd = is_others_link(path) ? -1 : look(path, key);
    if (fd >= 0 || fd == TAKEN || errno != ENOENT)
        return fd;
    int elected = -1;
    for (int64_t wait_ns = 1000000; wait_ns < CLAIM_NS && (elected = fv_elect_on_node("claim", path)) == -1;
         wait_ns *= 2) {
        nanosleep(&(struct timespec){ wait_ns / 1000000000, (long)(wait_ns % 1000000000) }, NULL);
        fd = look(path, key);
        if (fd != -1 || errno != ENOENT)
            return fd;
    }
    fd = look(path, key); /* the one before may have done it, and ended */
    if (fd == -1)
        fd = make(path, key, share);
    int why = errno;
    if (elected >= 0)
        close(elected);
    errno = why;
    return fd;
}

/* ---- folders of ranks ---- */

static bool has_folders(int ranks)
{
    return ranks >= FV_RANKS_IN_FOLDER;
}

static void folder_name(char out[24], int rank)
{
    snprintf(out, 24, "ranks-%06d", rank - rank % FV_RANKS_IN_FOLDER);
}

bool fv_experiment_is_rank_folder(const char *name)
{
    size_t digits = strncmp(name, "ranks-", 6) ? 0 : strspn(name + 6, "0123456789");

    return digits >= 6 && !name[6 + digits];
}

void fv_experiment_rank_file(char out[48], int rank, int ranks)
{
    char folder[24] = "";

    if (has_folders(ranks))
        folder_name(folder, rank);
    snprintf(out, 48, "%s%srank-%06d.fvr", folder, *folder ? "/" : "", rank);
}

int fv_experiment_rank_folder(int experiment, int rank, int ranks)
{
    char name[24] = ".";
    struct stat st;

    if (has_folders(ranks))
        folder_name(name, rank);
    const mode_t mode = fstat(experiment, &st) ? 0700 : st.st_mode & 0777;
    int fd = openat(experiment, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT && (!mkdirat(experiment, name, mode) || errno == EEXIST))
        fd = openat(experiment, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0 || (!fstat(fd, &st) && is_own(&st)))
        return fd;
    close(fd);
    errno = EPERM;
    return -1;
}

static int absolute(char *out, size_t size, const char *path)
{
    size_t used = 0;

    if (*path != '/') {
        used = strlen(start_directory);
        if (!used || used >= size) {
            errno = ENOENT;
            return -FV_EIO;
        }
        memcpy(out, start_directory, used + 1);
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

int fv_experiment_claim(char *out, size_t size, const char *output, const char *program, int ranks, bool share)
{
    struct fv_launcher owner = { .is_known = false };
    char name[256];
    int err = 0, copy, copies;
    uint64_t copies_job;

    bool known = find_owner(ranks, &owner);
    uint64_t job = fv_experiment_copy(&copy, &copies, &copies_job) ? copies_job
                   : !known                                        ? 0
                   : ranks == 1                                    ? job_of_process(&owner.process)
                                                                   : job_under(&owner);
    if (!output || !*output) {
        err = known ? name_under(name, sizeof(name), program, ranks, &owner) : -FV_EIO;
        output = name;
    }
    if (!err)
        err = absolute(out, size < FV_EXPERIMENT_MAX ? size : FV_EXPERIMENT_MAX, output);
    if (err)
        return err;

    size_t end = strlen(out);
    int fd = claim(out, job, share);
    for (int suffix = 2; fd == TAKEN && suffix < 1000; suffix++) {
        snprintf(out + end, size - end, "-%d", suffix);
        fd = claim(out, job, share);
    }
    if (fd == TAKEN)
        errno = EEXIST;
    return fd < 0 ? -FV_EIO : fd;
}

/* ---- what is there ---- */

static bool is_contracts_name(const char *name)
{
    const char *ranks = strncmp(name, "fvmpi-", strlen("fvmpi-")) ? NULL : strrchr(name, '-');

    return ranks && strstr(name, "p-") != NULL;
}

static unsigned count_names(void)
{
    struct {
        uint64_t inode, offset;
        unsigned short length;
        unsigned char type;
        char name[];
    } * entry;
    char buffer[4096] __attribute__((aligned(8)));
    unsigned count = 0;
    int fd = open(start_directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    for (long n; fd >= 0 && (n = syscall(SYS_getdents64, fd, buffer, sizeof(buffer))) > 0;)
        for (long at = 0; at < n; at += entry->length) {
            entry = (void *)(buffer + at);
            count += is_contracts_name(entry->name);
        }
    if (fd >= 0)
        close(fd);
    return count;
}

unsigned fv_experiment_count(const char *output)
{
    char path[FV_EXPERIMENT_MAX];
    struct stat st;
    unsigned count = 0;

    if (!output || !*output)
        return count_names();
    if (absolute(path, sizeof(path), output))
        return 0;
    for (size_t end = strlen(path); count < 1000 && !stat(path, &st); count++)
        snprintf(path + end, sizeof(path) - end, "-%u", count + 2);
    return count;
}
