/* SPDX-License-Identifier: BSD-3-Clause */
/* Start and end of recording in a process. Nothing here communicates: an application may run only some
 * of its ranks under fvmpi, so the ranks agree on the experiment directory by what they all can see
 * (base/experiment.h). Whatever fails is said once, and the application goes on without us. */
#include "rt/comm.h"
#include "rt/counters.h"
#include "rt/events.h"
#include "rt/statistics.h"
#include "base/experiment.h"
#include "base/local.h"
#include "base/shell.h"
#include "rt/identity.h"
#include "rt/layers.h"
#include "rt/loaded_objects.h"
#include "rt/remarks.h"
#include "rt/predecessor.h"
#include "rt/turns.h"
#include "rt/unwind.h"
#include "rt/usage.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* Taken when MPI_Init begins: with the one at its end it gives the ticks per second of a process that
 * dies young. */
static struct fv_clock_point earliest;
static struct fv_usage earliest_usage;
static struct fv_usage_process earliest_process;

uint64_t fv_now(void)
{
    if (!fv_started() && !earliest.ticks) { /* before the first start the clock is not chosen yet */
        fv_options_from_env(&fv_rt.options);
        fv_traced = fv_rt.options.trace;
        fv_clock_init(fv_rt.options.clock);
        fv_clock_point(&earliest);
        fv_usage_read(&earliest_usage, &earliest_process);
        fv_usage_read_ready(&earliest_process);
    }
    return fv_ticks();
}

bool fv_starting(void)
{
    return earliest.ticks && !fv_started();
}

bool fv_started(void)
{
    return fv_rt_on();
}

static void set_state(enum fv_runtime_state state)
{
    __atomic_store_n(&fv_rt.here->state, state, __ATOMIC_RELEASE);
}

/* Without room for a page children are told by pthread_atfork() alone. */
static void be_here(void)
{
    struct fv_process_state *page = fv_memory_new_wiped(FV_PAGE);

    if (!page)
        return;
    *page = *fv_rt.here;
    __atomic_store_n(&fv_rt.here, page, __ATOMIC_RELEASE);
}

static void in_forked_child(void)
{
    if (fv_rt_state() == FV_RT_IDLE)
        return;
    set_state(FV_RT_OFF);
    fv_layers_tell(FV_AT_FORK, NULL);
    fv_writer_forget(&fv_rt.writer);
    fv_thread_forget();
}

static void in_parent_of_fork(void)
{
    if (fv_rt_on())
        fv_remark_forks();
}

/* Handlers of forks run in the order in which they were given: before those of others that came to be before
 * MPI, which may lock what another thread had locked when the process was forked. */
__attribute__((constructor)) static void watch_forks(void)
{
    pthread_atfork(NULL, in_parent_of_fork, in_forked_child);
}

/* `file`: relative to the experiment's directory; `folder`: where it is. */
static int open_file(int folder, const char *directory, const char *file)
{
    char path[4160];

    snprintf(path, sizeof(path), "%s/%s", directory, file);
    fv_rt.writer.share = fv_rt.options.share;
    return fv_writer_open(&fv_rt.writer, folder, fv_base_name(file), path);
}

/* In the experiment's directory, or its folder of ranks. */
static int open_shared_file(int experiment, const char *directory, const char *file, const struct fv_start_info *info)
{
    int folder = fv_experiment_rank_folder(experiment, info->world_rank, info->world_size);
    int err = folder < 0 ? -FV_EIO : open_file(folder, directory, file), why = errno;

    if (folder >= 0)
        close(folder);
    errno = why;
    return err;
}

/* In the node-local directory. The lock says that the file is being written, in whatever container its reader is. */
static int open_local_file(int folder, const char *directory, const char *name)
{
    char local[4096];
    int err = -FV_EIO;

    for (int i = 0; err && i < 8; i++) {
        int fd = fv_local_open(local, sizeof(local), fv_rt.options.local, directory, fv_experiment_job());
        if (fd < 0)
            return -FV_EIO;
        err = open_file(fd, local, name);
        int why = errno;
        if (!err) {
            flock(fv_rt.writer.fd, LOCK_SH | LOCK_NB);
            fv_local_keep(fd, directory);
            fv_local_note(folder, local);
        }
        close(fd);
        errno = why;
        if (why != ENOENT) /* else who gathered the last file has removed the directory meanwhile */
            break;
    }
    return err;
}

/* A copy of a program without MPI knows nothing of the other ones (fvmpi run --throughput). */
static bool is_without_others(const struct fv_start_info *info)
{
    return info->world_size == 1 || !strcmp(info->mpi, "none");
}

/* A file system that cannot map a file for several (FUSE with direct_io): then as with --local. */
static bool open_in_tmp(int folder, const char *directory, const char *name)
{
    fv_rt.options.local = "/tmp";
    if (open_local_file(folder, directory, name)) {
        fv_rt.options.local = NULL;
        return false;
    }
    if (fv_first_on_node("local", directory))
        fv_log("%s: %s; rank files go to /tmp. If fvmpi run started the launcher, it moves them at the end; else run: "
               "%s" FV_FOR_NODE,
               directory, fv_writer_why(ENODEV), FV_COMMAND("fvmpi", "gather", directory));
    return true;
}

/* -FV_EIO: errno tells; EEXIST: this rank has one already, in either place. */
static int open_rank_file(int folder, const char *directory, const struct fv_start_info *info)
{
    char file[48];
    struct stat st;

    fv_experiment_rank_file(file, info->world_rank, info->world_size);
    if (fv_rt.options.local) {
        if (!fstatat(folder, file, &st, AT_SYMLINK_NOFOLLOW))
            errno = EEXIST;
        else if (!open_local_file(folder, directory, fv_base_name(file)))
            return 0;
        if (errno == EEXIST)
            return -FV_EIO;
        if (fv_first_on_node("local", directory))
            fv_log("%s: cannot be written to: %s; rank files go to %s. Choose another with --local or "
                   "FVMPI_LOCAL" FV_FOR_NODE,
                   fv_rt.options.local, errno == EPERM ? "it belongs to another user" : strerror(errno), directory);
    }
    int err = open_shared_file(folder, directory, file, info), why = errno;
    if (err && why == ENODEV && !fv_rt.options.local && open_in_tmp(folder, directory, fv_base_name(file)))
        return 0;
    if (err && why == EEXIST && is_without_others(info) && fv_predecessor_steps_aside(folder, file)) {
        err = open_shared_file(folder, directory, file, info);
        why = errno;
    }
    errno = why;
    return err;
}

/* DIR-2 for a wish of DIR or DIR/. */
static void number_name(char *out, size_t size, const char *wanted, int number)
{
    size_t n = strlen(wanted);

    while (n > 1 && wanted[n - 1] == '/')
        n--;
    snprintf(out, size, "%.*s-%d", (int)n, wanted, number);
}

/* The directory of the job, and this rank's file in it. Programs that run one after the other in one step
 * of a job (mpiexec sh -c './first; ./second') are of the same job: where this rank has a file already the
 * next directory is taken, DIR-2, DIR-3, and as every rank has run the same programs, all take the same. Only a
 * process without others that called exec() stays where it is.
 * A descriptor of the directory, or -FV_EIO. */
static int open_experiment(char *directory, size_t size, const char *program, const struct fv_start_info *info)
{
    const char *wanted = fv_rt.options.output;
    char first[4096], next[4096];
    int folder;

    for (int number = 2;
         (folder = fv_experiment_claim(directory, size, wanted, program, info->world_size, fv_rt.options.share)) >= 0;
         number++) {
        if (!open_rank_file(folder, directory, info))
            return folder;
        int why = errno;
        close(folder);
        errno = why;
        if (errno != EEXIST || number > 1000) {
            if (fv_first_on_node("create", directory))
                fv_log("%s/rank-%06d.fvr: cannot create: %s; the application goes on unrecorded. %s" FV_FOR_NODE,
                       directory, info->world_rank, fv_writer_why(why), fv_writer_advice(why));
            return -FV_EIO;
        }
        if (number == 2)
            snprintf(first, sizeof(first), "%s", wanted && *wanted ? wanted : directory);
        number_name(next, sizeof(next), first, number);
        wanted = next;
    }
    bool is_others = errno == EPERM;
    if (fv_first_on_node("directory", wanted ? wanted : "."))
        fv_log("%s: %s%s; choose another with -o or FVMPI_OUTPUT, the application goes on unrecorded" FV_FOR_NODE,
               wanted ? wanted : ".",
               is_others ? "belongs to another user, and its files may be links"
                         : "cannot make the experiment directory: ",
               is_others ? "" : strerror(errno));
    return -FV_EIO;
}

/* That this process may run on. */
static void note_cpus(struct fv_file_header *h)
{
    cpu_set_t set;

    if (sched_getaffinity(0, sizeof(set), &set))
        return;
    h->cpus = (uint32_t)CPU_COUNT(&set);
    for (int i = 0; i < CPU_SETSIZE && i < 64 * 16; i++)
        if (CPU_ISSET(i, &set))
            h->cpu_mask[i / 64] |= UINT64_C(1) << i % 64;
}

static void fill_header(const struct fv_start_info *info, const char *directory)
{
    struct fv_file_header *h = fv_rt.writer.header;
    struct fv_process self;

    h->traced = fv_rt.options.trace; /* a process may end before its first event */
    h->clock_kind = fv_clock_tsc ? FV_CLOCK_TSC : FV_CLOCK_MONOTONIC;
    h->world_rank = info->world_rank;
    h->world_size = info->world_size;
    h->pid = (uint32_t)fv_rt.pid;
    if (fv_process_read(fv_rt.pid, &self))
        h->process_start = self.start;
    fv_boot_id(h->boot_id);
    h->job = fv_experiment_job();
    fv_clock_point(&h->last);
    h->first = earliest.ticks ? earliest : h->last;
    if (earliest.ticks) {
        h->usage_first = earliest_usage;
        h->process_first = earliest_process;
    } else {
        fv_usage_read(&h->usage_first, &h->process_first);
        fv_usage_read_ready(&h->process_first);
    }
    h->others_ready_ns[0] = fv_usage_others_ready();
    h->stolen_ns[0] = fv_usage_stolen();
    h->throttled_ns[0] = fv_usage_throttled();
    h->nominal_hz = fv_clock_nominal_hz();
    note_cpus(h);
    h->begin_ticks = info->init_begin ? info->init_begin : h->last.ticks;
    h->init_ticks = info->init_end;
    gethostname(h->host, sizeof(h->host) - 1);
    fv_program(h->program, sizeof(h->program));
    fv_command(h->command, sizeof(h->command));
    snprintf(h->mpi, sizeof(h->mpi), "%s", info->mpi);
    h->mpi[strcspn(h->mpi, "\n")] = '\0';
    snprintf(h->thread_level, sizeof(h->thread_level), "%s", info->thread_level);
    snprintf(h->experiment, sizeof(h->experiment), "%.*s", (int)sizeof(h->experiment) - 1, directory);
    snprintf(h->fvmpi, sizeof(h->fvmpi), "%s", PACKAGE_VERSION);
}

/* run.json: what a person or a script wants to know without our tools. What has the name already is the user's. */
static void write_run_json(int folder, const char *directory)
{
    char text[8192];
    size_t n = fv_run_json(fv_rt.writer.header, text, sizeof(text));
    int fd = openat(folder, "run.json", O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                    fv_rt.options.share ? 0666 : 0600);

    if (fd < 0 && errno == EEXIST)
        fv_log("%s/run.json: exists and is left unchanged; for this run's details use fvmpi report", directory);
    if (fd < 0)
        return;
    if (write(fd, text, n) != (ssize_t)n)
        unlinkat(folder, "run.json", 0);
    close(fd);
}

/* The directory that was asked for held another job's experiment. */
static void tell_if_elsewhere(const char *directory, int rank)
{
    const char *wanted = fv_rt.options.output, *slash = wanted ? strrchr(wanted, '/') : NULL;
    size_t n = wanted ? strlen(slash && slash[1] ? slash + 1 : wanted) : 0, end = strlen(directory);

    if (!rank && !fv_rt.options.quiet && n && end > n && wanted[strlen(wanted) - 1] != '/' &&
        strcmp(directory + end - n, wanted + strlen(wanted) - n))
        fv_log("%s: holds another experiment, which is kept; this one is %s; read it with: %s", wanted, directory,
               FV_COMMAND("fvmpi", "report", directory));
}

/* Where a name was made up, it is told. */
static void tell_name(const char *directory, int rank)
{
    const char *wanted = fv_rt.options.output;

    if (!rank && !fv_rt.options.quiet && (!wanted || !*wanted))
        fv_log("recording to %s; read it with: %s", directory, FV_COMMAND("fvmpi", "report", directory));
}

/* A filter of functions is in effect by the list that `fvmpi run` made of it. */
static const char *in_effect(const struct fv_option *option)
{
    bool is_filter =
        option->variable && !strcmp(option->variable, "FVMPI_FUNCTIONS_FILTER") && fv_env("FVMPI_FUNCTIONS_LEFT_OUT");
    bool is_told = option->variable && !strcmp(option->variable, "FVMPI_LEFT_OUT");

    return option->use == FV_USE_APPLICATION || is_filter || is_told ? fv_option_in_effect(option) : NULL;
}

/* But for the directory: it is where the file lies. */
static bool is_recorded(const struct fv_option *option)
{
    return in_effect(option) && option->offset != offsetof(struct fv_options, output);
}

/* A value that is cut says so. */
static void note_option(struct fv_option_record *r, const struct fv_option *option)
{
    const char *text = in_effect(option);

    strncpy(r->variable, option->variable, sizeof(r->variable) - 1);
    strncpy(r->value, text, sizeof(r->value) - 1);
    if (strlen(text) >= sizeof(r->value))
        memcpy(r->value + sizeof(r->value) - 4, "...", 3);
}

/* What was asked for. */
static void write_options(void)
{
    size_t count = 0;

    for (size_t i = 0; i < fv_option_count; i++)
        count += is_recorded(&fv_option_table[i]);
    const size_t bytes = count * sizeof(struct fv_option_record);
    struct fv_chunk_header *chunk =
        bytes ? fv_writer_chunk(&fv_rt.writer, FV_CHUNK_OPTIONS, FV_NO_THREAD, 0, bytes) : NULL;
    if (!chunk)
        return;
    struct fv_option_record *r = fv_chunk_records(chunk);
    for (size_t i = 0; i < fv_option_count; i++)
        if (is_recorded(&fv_option_table[i]))
            note_option(r++, &fv_option_table[i]);
    fv_chunk_commit(chunk, bytes);
}

static int start(const struct fv_start_info *info, char *directory, size_t size)
{
    char program[256];

    fv_rt.pid = fv_rt.writer.pid = getpid();
    fv_rt.world_rank = info->world_rank;
    fv_rt.thread_multiple = info->thread_multiple;
    fv_program(program, sizeof(program));
    int folder = open_experiment(directory, size, program, info);
    if (folder < 0)
        return -FV_EIO;
    fill_header(info, directory);
    fv_function_used(FV_FUNCTION_REST); /* names first: on a full disk, they are what is needed most */
    write_options();
    fv_shadow_write(&fv_rt.writer);
    if (fv_options_complaint())
        fv_remark(false, "%s", fv_options_complaint());
    fv_remarks_write();
    tell_if_elsewhere(directory, info->world_rank);
    tell_name(directory, info->world_rank);
    if (info->world_rank == 0)
        write_run_json(folder, directory);
    close(folder);
    return 0;
}

/* Before the start the wish is remembered, and wins over --off-at-start. */
enum wish { WISH_NONE, WISH_PAUSE, WISH_RESUME };
static uint32_t wish;

static void pause_since(uint64_t ticks)
{
    uint64_t signals = fv_lock_sigsave(&fv_rt.lock);
    bool was = fv_rt_paused();
    if (!was) {
        __atomic_store_n(&fv_rt.writer.header->paused_since, ticks, __ATOMIC_RELAXED);
        __atomic_store_n(&fv_rt.here->recording, fv_recording() & ~FV_RECORDING, __ATOMIC_RELAXED);
    }
    fv_unlock_sigrestore(&fv_rt.lock, signals);
    if (!was) {
        fv_turns_pause();
        fv_events_switched(false);
    }
}

/* Sessions may follow each other; and a thread that asks MPI_Initialized() over and over may have seen the
 * end of MPI_Init before the thread that called it. */
static void start_again(const struct fv_start_info *info)
{
    struct fv_file_header *h = fv_rt.writer.header;

    h->state = FV_STATE_RUNNING;
    if (info->init_begin && info->init_begin < h->begin_ticks) {
        h->begin_ticks = info->init_begin;
        h->init_ticks = info->init_end;
    }
}

/* The experiment was removed under us: one rank says so. */
static void say_removed(void)
{
    static bool is_said;
    struct stat file;

    if (is_said || fv_rt.world_rank > 0 || fstat(fv_rt.writer.fd, &file) || file.st_nlink)
        return;
    is_said = true;
    fv_log("%s was removed while the program ran: this recording is lost; record it again", fv_rt.writer.path);
}

static void end(enum fv_file_state state)
{
    struct fv_file_header *h = fv_rt.writer.header;

    say_removed();
    fv_clock_point(&h->last);
    fv_usage_update();
    fv_usage_update_others(fv_self);
    fv_counters_update_all(fv_self);
    uint64_t now = fv_ticks(); /* what follows takes a millisecond where others want the processor, and is of fvmpi */
    fv_usage_read_ready(&h->process_last);
    h->others_ready_ns[1] = fv_usage_others_ready();
    h->stolen_ns[1] = fv_usage_stolen();
    h->throttled_ns[1] = fv_usage_throttled();
    fv_remark_children();
    fv_remarks_write();
    fv_memory_settle();
    __atomic_store_n(&h->end_ticks, now, __ATOMIC_RELEASE);
    __atomic_store_n(&h->state, (uint32_t)state, __ATOMIC_RELEASE);
}

static uint32_t state_now(void)
{
    return __atomic_load_n(&fv_rt.writer.header->state, __ATOMIC_ACQUIRE);
}

void fv_exiting(void)
{
    if (fv_rt_on() && (state_now() == FV_STATE_RUNNING || state_now() == FV_STATE_REPLACED)) /* another thread's exec()
                                                                                              * comes too late */
        end(FV_STATE_EXITED);
}

static uint32_t execs; /* under way; atomic */

/* exec() is no cancellation point, handlers call it on small stacks, and programs that look along PATH call it often:
 * nothing is read of /proc. */
bool fv_replacing(void)
{
    uint32_t running = FV_STATE_RUNNING;

    if (!fv_rt_on() || (state_now() != FV_STATE_RUNNING && state_now() != FV_STATE_REPLACED))
        return false;
    struct fv_file_header *h = fv_rt.writer.header;
    __atomic_fetch_add(&execs, 1, __ATOMIC_ACQ_REL);
    if (__atomic_compare_exchange_n(&h->state, &running, FV_STATE_REPLACED, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_RELAXED)) {
        fv_clock_point(&h->last);
        fv_usage_update();
        __atomic_store_n(&h->end_ticks, fv_ticks(), __ATOMIC_RELEASE);
    }
    return true;
}

/* The last one that fails, unless another thread has ended the process meanwhile. */
void fv_exec_failed(void)
{
    struct fv_file_header *h = fv_rt.writer.header;
    uint64_t end_ticks = __atomic_load_n(&h->end_ticks, __ATOMIC_ACQUIRE);
    uint32_t replaced = FV_STATE_REPLACED;

    if (!__atomic_sub_fetch(&execs, 1, __ATOMIC_ACQ_REL) &&
        __atomic_compare_exchange_n(&h->state, &replaced, FV_STATE_RUNNING, false, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
        __atomic_compare_exchange_n(&h->end_ticks, &end_ticks, 0, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
}

void fv_start(const struct fv_start_info *info)
{
    int saved = errno;
    char directory[4096];

    uint64_t signals = fv_lock_sigsave(&fv_rt.lock);
    if (fv_rt_on()) {
        start_again(info);
        fv_unlock_sigrestore(&fv_rt.lock, signals);
        return;
    }
    if (fv_rt_state() != FV_RT_IDLE) {
        fv_unlock_sigrestore(&fv_rt.lock, signals);
        return;
    }
    enum fv_runtime_state state = FV_RT_OFF;
    fv_options_from_env(&fv_rt.options);
    if (!info->init_begin)
        fv_clock_init(fv_rt.options.clock);
    uint64_t begin = fv_ticks();
    if (!fv_rt.options.disable && !start(info, directory, sizeof(directory)))
        state = FV_RT_STARTING;
    be_here();
    set_state(state);
    fv_unlock_sigrestore(&fv_rt.lock, signals);
    if (state == FV_RT_STARTING) {
        fv_barriers_agree(directory, info); /* ranks may wait for each other here, and handlers call MPI_Abort */
        fv_loaded_start();
        signals = fv_signals_hold();
        fv_unwind_init();
        set_state(state = FV_RT_ON);
        fv_signals_go_on(signals);
    }
    if (state == FV_RT_ON) {
        fv_layers_tell(FV_AT_START, fv_thread_attach());
        fv_rt.writer.header->tool_start_ticks = fv_ticks() - begin;
        uint32_t wished = __atomic_load_n(&wish, __ATOMIC_RELAXED);
        if (wished == WISH_PAUSE || (wished == WISH_NONE && fv_rt.options.off_at_start))
            pause_since(fv_rt.writer.header->begin_ticks); /* MPI_Init is not recorded either */
    }
    errno = saved;
}

void fv_threads_many(void)
{
    if (fv_started())
        __atomic_store_n(&fv_rt.thread_multiple, true, __ATOMIC_RELAXED);
}

void fv_finalizing(void)
{
    if (!fv_rt_on())
        return;
    fv_rt.writer.header->finalize_ticks = fv_ticks();
    if (!fv_self)
        return;
    fv_layers_tell(FV_AT_FINALIZE, fv_self);
    fv_layers_tell(FV_AT_CATCH_UP, fv_self); /* MPI unloads its components */
}

void fv_finalized(void)
{
    if (!fv_rt_on())
        return;
    uint64_t begin = fv_ticks();
    end(FV_STATE_FINALIZED);
    fv_rt.writer.header->tool_end_ticks += fv_ticks() - begin;
}

bool fv_unrecorded(void)
{
    return !fv_self;
}

void fv_aborting(int code)
{
    uint32_t state = fv_rt_state();

    if (state != FV_RT_ON && state != FV_RT_STARTING)
        return;
    fv_rt.writer.header->exit_code = code;
    end(FV_STATE_ABORTED);
}

void fv_pause(void)
{
    if (fv_rt_on())
        pause_since(fv_ticks());
    else
        __atomic_store_n(&wish, WISH_PAUSE, __ATOMIC_RELAXED);
}

void fv_resume(void)
{
    struct fv_file_header *h = fv_rt.writer.header;

    if (!fv_rt_on()) {
        __atomic_store_n(&wish, WISH_RESUME, __ATOMIC_RELAXED);
        return;
    }
    uint64_t signals = fv_lock_sigsave(&fv_rt.lock);
    bool was = fv_rt_paused();
    if (was) {
        uint64_t now = fv_ticks();
        __atomic_store_n(&fv_rt.resumed, now, __ATOMIC_RELAXED);
        __atomic_store_n(&h->paused_ticks, h->paused_ticks + (now - h->paused_since), __ATOMIC_RELAXED);
        __atomic_store_n(&h->paused_since, 0, __ATOMIC_RELAXED);
        __atomic_store_n(&fv_rt.here->recording, (fv_recording() | FV_RECORDING) + FV_CHANGED, __ATOMIC_RELEASE);
    }
    fv_unlock_sigrestore(&fv_rt.lock, signals);
    if (was) {
        fv_turns_resume();
        fv_events_switched(true);
    }
}
