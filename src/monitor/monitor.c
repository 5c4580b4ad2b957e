/* SPDX-License-Identifier: BSD-3-Clause */
/* The machine's sensors while the job runs (--sensors): by one thread on each node, of the rank that comes first. It
 * opens them, and reads them at regular times; nobody waits for it. Samples hold what counters have grown by since the
 * first one, so that the file can be thinned when its room is used up: of every two samples one is left, and nothing is
 * lost but resolution.
 *
 * The thread is none of the program's: it is never attached, takes no memory of the allocator, holds off all signals,
 * and runs where no rank is pinned (place.h). It has a table of descriptors of its own
 * (unshare(2)), so that the program's numbers are as without it, and what the program closes is closed. Its own CPU
 * time is recorded. Rejected: a process of its own (which changes the process tree, and outlives the job), a timer's
 * signal in a rank (which interrupts it).
 *
 * The same thread watches for a hang (--hang-after), in each process then, whether or not it reads sensors.
 *
 * If the list names a sensor of GPUs, a library is loaded into the program, which may use the same one. Its memory is
 * the allocator's, and its open files are for all its users: the thread keeps the program's table of descriptors. It
 * has to be out of the library before exit() runs the library's destructors. */
#include "monitor/hang_watch.h"
#include "monitor/place.h"
#include "monitor/speaker.h"
#include "base/older.h"
#include "rt/clock.h"
#include "rt/labels.h"
#include "rt/layers.h"
#include "rt/next.h"
#include "rt/remarks.h"
#include "rt/thread.h"
#include "sensors/control.h"
#include "sensors/watch.h"

#include <errno.h>
#include <linux/futex.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#define BUDGET              (UINT64_C(16) << 20) /* bytes of samples */
#define CHUNK               (UINT64_C(512) << 10)
#define USUAL               "default" /* in the list */
#define SHARE               0.01      /* of a processor, for reading */
#define PATIENCE_NS         5000000
#define LIBRARY_PATIENCE_NS 2000000000             /* for a call of a library to return, or its driver to be loaded */
enum { CHUNKS = BUDGET / CHUNK, STACK = 1 << 20 }; /* libraries of GPUs may take some */

enum state { READING, ASKED_TO_END, ENDED };

static struct {
    uint32_t state; /* enum state: a futex */
    pid_t tid;      /* its thread's; 0: not yet */
    struct fv_watch watch;
    double *values; /* of each series: what its samples say */
    struct fv_sensor_process *process;
    struct fv_chunk_header *chunk[CHUNKS];
    size_t chunks, each, used;    /* samples that a chunk has room for; that are in the file */
    size_t bytes;                 /* of a sample */
    const struct fv_thread *rank; /* whose sections are told */
    int64_t next_ns;
    struct fv_sensor_place *place;
    int64_t began_ns, look_ns; /* when it looks again who is pinned */
    int64_t patience_ns;       /* of who ends it: also the other threads' */
    bool is_paused;
    bool reads_sensors;
    struct fv_control control; /* in the directory of the rank file; of the first node that comes */
} monitor = { .patience_ns = PATIENCE_NS, .control.fd = -1 }; /* the thread's, but for `state` */

static int64_t clock_ns(clockid_t clock)
{
    struct timespec t;

    return clock_gettime(clock, &t) ? 0 : (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* ---- the file ---- */

static struct fv_sensor_sample *sample_at(size_t i)
{
    return (void *)((char *)fv_chunk_records(monitor.chunk[i / monitor.each]) + i % monitor.each * monitor.bytes);
}

static void set_used(size_t used)
{
    for (size_t c = 0; c < monitor.chunks; c++) {
        size_t of_chunk = used > c * monitor.each ? used - c * monitor.each : 0;

        __atomic_store_n(&monitor.chunk[c]->used, (of_chunk < monitor.each ? of_chunk : monitor.each) * monitor.bytes,
                         __ATOMIC_RELEASE);
    }
    monitor.used = used;
}

/* Every second one stays. A kill meanwhile leaves old ones behind new ones, which their times tell. */
static void thin(void)
{
    for (size_t i = 1; 2 * i < monitor.used; i++)
        memcpy(sample_at(i), sample_at(2 * i), monitor.bytes);
    set_used((monitor.used + 1) / 2);
    monitor.process->thinned++;
}

/* Once samples have been thinned, those that would be thinned away are not kept either. */
static bool is_kept(void)
{
    return !(monitor.process->samples & ((UINT64_C(1) << monitor.process->thinned) - 1));
}

/* NULL: this one is not kept. */
static struct fv_sensor_sample *new_sample(bool is_last)
{
    if (!is_last && !is_kept())
        return NULL;
    if (monitor.used == monitor.chunks * monitor.each) {
        struct fv_chunk_header *chunk = monitor.chunks < CHUNKS
                                            ? fv_writer_chunk(&fv_rt.writer, FV_CHUNK_SENSOR_SAMPLES, FV_NO_THREAD, 0,
                                                              CHUNK - sizeof(struct fv_chunk_header))
                                            : NULL;

        if (chunk)
            monitor.chunk[monitor.chunks++] = chunk;
        else if (monitor.used > 1)
            thin();
        else
            return NULL;
    }
    return is_last || is_kept() ? sample_at(monitor.used) : NULL; /* it may have been thinned just now */
}

static bool put_series(size_t i)
{
    static struct fv_chunk_header *chunk;
    const struct fv_watch *w = &monitor.watch;
    const struct fv_sensor_event *event = fv_watch_event(w, i);
    const char *about = fv_sensor_event_about(fv_watch_sensor(w, i), w->series[i].event);
    size_t length = strlen(w->series[i].label), more = strlen(about) + 1,
           bytes = (sizeof(struct fv_sensor_series) + length + 1 + more + 7) & ~(size_t)7;

    if ((!chunk || fv_chunk_room(chunk) < bytes) &&
        !(chunk = fv_writer_chunk(&fv_rt.writer, FV_CHUNK_SENSOR_SERIES, FV_NO_THREAD, 0,
                                  FV_PAGE - sizeof(*chunk) + bytes)))
        return false;
    struct fv_sensor_series *out = fv_chunk_next(chunk);
    bool is_all = w->series[i].source == FV_WATCH_ALL;
    out->bytes = (uint32_t)bytes;
    out->flags = (event->is_gauge ? FV_SENSOR_GAUGE : 0) | (is_all && event->is_mean ? FV_SENSOR_MEAN : 0) |
                 (is_all ? 0 : FV_SENSOR_SOURCE);
    out->every = w->sensors[w->series[i].sensor].every;
    out->label_bytes = (uint32_t)length;
    snprintf(out->unit, sizeof(out->unit), "%s", event->unit);
    memcpy(out->label, w->series[i].label, length + 1);
    memcpy(out->label + length + 1, about, more);
    fv_chunk_commit(chunk, bytes);
    return true;
}

static bool open_place(void)
{
    struct fv_chunk_header *chunk =
        fv_writer_chunk(&fv_rt.writer, FV_CHUNK_SENSOR_PLACE, FV_NO_THREAD, 0, sizeof(*monitor.place));

    if (!chunk)
        return false;
    monitor.place = fv_chunk_records(chunk);
    fv_chunk_commit(chunk, sizeof(*monitor.place));
    monitor.began_ns = clock_ns(CLOCK_MONOTONIC);
    return true;
}

static bool open_records(void)
{
    struct fv_chunk_header *chunk =
        fv_writer_chunk(&fv_rt.writer, FV_CHUNK_SENSOR_PROCESS, FV_NO_THREAD, 0, sizeof(*monitor.process));
    size_t most = (CHUNK - sizeof(struct fv_chunk_header)) / sizeof(double) / 4;

    if (!chunk)
        return false;
    monitor.process = fv_chunk_records(chunk);
    monitor.process->interval_ns = 1000000000 / fv_rt.options.sensors_hz;
    fv_chunk_commit(chunk, sizeof(*monitor.process));
    if (!open_place())
        return false;
    monitor.watch.count = monitor.watch.count < most ? monitor.watch.count : most;
    for (size_t i = 0; i < monitor.watch.count; i++)
        if (!put_series(i))
            return false;
    monitor.bytes = sizeof(struct fv_sensor_sample) + monitor.watch.count * sizeof(double);
    monitor.each = (CHUNK - sizeof(struct fv_chunk_header)) / monitor.bytes;
    monitor.values = fv_memory_new(monitor.watch.count * sizeof(double));
    return monitor.values;
}

/* ---- sampling ---- */

/* What a counter has grown by; unknown until it was read twice. */
static void add_up(void)
{
    for (size_t i = 0; i < monitor.watch.count; i++) {
        double change = fv_watch_change(&monitor.watch, i);
        bool is_gauge = fv_watch_event(&monitor.watch, i)->is_gauge;

        if (is_gauge)
            monitor.values[i] = change;
        else if (isfinite(change))
            monitor.values[i] += change;
    }
}

static double value_of(size_t i)
{
    const struct fv_watched_sensor *sensor = &monitor.watch.sensors[monitor.watch.series[i].sensor];

    return sensor->is_fresh ? monitor.values[i] : NAN;
}

static void take_sample(int64_t due_ns, bool is_last)
{
    struct fv_sensor_sample *sample = new_sample(is_last);
    int64_t now_ns = clock_ns(CLOCK_MONOTONIC), late_ns = now_ns > due_ns ? now_ns - due_ns : 0;
    uint64_t ticks = fv_ticks();

    (is_last ? fv_watch_sample_all : fv_watch_sample)(&monitor.watch, 1e-9 * (double)now_ns);
    add_up();
    monitor.process->samples++;
    monitor.process->late += (uint64_t)late_ns > monitor.process->interval_ns / 10;
    if (!sample)
        return;
    sample->bytes = (uint32_t)monitor.bytes;
    sample->section_set = monitor.rank ? __atomic_load_n(&monitor.rank->section_set, __ATOMIC_RELAXED) : 0;
    sample->ticks = ticks;
    sample->late_ns = (uint64_t)late_ns;
    for (size_t i = 0; i < monitor.watch.count; i++)
        sample->values[i] = value_of(i);
    set_used(monitor.used + 1);
}

/* What was missed is not made up for. */
static void plan_next(void)
{
    int64_t interval_ns = (int64_t)monitor.process->interval_ns, now_ns = clock_ns(CLOCK_MONOTONIC);

    monitor.next_ns += interval_ns;
    if (monitor.next_ns > now_ns)
        return;
    int64_t behind = (now_ns - monitor.next_ns) / interval_ns + 1;
    monitor.process->missed += (uint64_t)behind;
    monitor.next_ns += behind * interval_ns;
}

/* ---- what it is told meanwhile ---- */

static void obey(const struct fv_control_command *command)
{
    switch (command->verb) {
    case FV_CONTROL_LABEL: fv_label(command->text, strlen(command->text), FV_LABEL_OUTSIDE); break;
    case FV_CONTROL_PAUSE: monitor.is_paused = true; break;
    case FV_CONTROL_RESUME: monitor.is_paused = false; break;
    case FV_CONTROL_INTERVAL:
        monitor.process->interval_ns = (uint64_t)(command->interval_s * 1e9);
        fv_watch_pace(&monitor.watch, command->interval_s, SHARE);
        break;
    case FV_CONTROL_ROTATE: fv_log("--sensors: rotate: only fvmpi record rotates files"); break;
    case FV_CONTROL_RECORD: fv_log("--sensors: record: only fvmpi record begins another recording"); break;
    case FV_CONTROL_WRONG: fv_log("--sensors: %.100s: %s", command->text, command->why); break;
    }
}

static void look_at_control(void)
{
    struct fv_control_command command;

    while (fv_control_load(&monitor.control))
        while (fv_control_next(&monitor.control, &command))
            obey(&command);
}

/* On the first node that comes: its FIFO is in the directory that all share. */
static void open_control(void)
{
    char directory[sizeof(fv_rt.writer.path)];

    fv_control_open(&monitor.control, fv_writer_directory(&fv_rt.writer, directory)); /* else there is none: fd -1 */
}

#define FIRST_LOOK_NS 100000000

/* Ranks begin one after the other, and bind themselves then or later: as often again as time has doubled. */
static void look_for_place(void)
{
    int64_t now_ns = clock_ns(CLOCK_MONOTONIC);

    if (now_ns < monitor.look_ns)
        return;
    fv_place_look(monitor.place);
    monitor.look_ns = now_ns + (now_ns - monitor.began_ns > FIRST_LOOK_NS ? now_ns - monitor.began_ns : FIRST_LOOK_NS);
}

static void step(void)
{
    fv_is_alive(fv_ticks());
    look_for_place();
    look_at_control();
    if (!monitor.is_paused)
        take_sample(monitor.next_ns, false);
    plan_next();
    monitor.process->cpu_ns = (uint64_t)clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static void last_step(void)
{
    look_at_control();
    if (!monitor.is_paused)
        take_sample(clock_ns(CLOCK_MONOTONIC), true);
    fv_control_close(&monitor.control);
    monitor.process->cpu_ns = (uint64_t)clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

/* ---- the thread ---- */

static void say_why(const char *pattern, size_t length, enum fv_watch_answer answer)
{
    char why[400];

    fv_watch_why(&monitor.watch, pattern, length, answer, why, sizeof(why));
    fv_remark(true, "--sensors: %.*s: %s", (int)(length < 100 ? length : 100), pattern, why);
}

/* How many of the list's words are names of nothing here. */
static uint64_t choose(const char *list)
{
    uint64_t not_found = 0;

    for (size_t length; *list; list += length + (list[length] == ',')) {
        length = strcspn(list, ",");
        if (length == strlen(USUAL) && !memcmp(list, USUAL, length)) {
            fv_watch_add_usual(&monitor.watch, false);
        } else if (length) {
            enum fv_watch_answer answer = fv_watch_add(&monitor.watch, list, length, false);

            if (answer == FV_WATCH_FOUND)
                continue;
            not_found++;
            say_why(list, length, answer);
        }
    }
    return not_found;
}

/* False: there is nothing to read, or nowhere to write. */
static bool prepare(void)
{
    uint64_t not_found = choose(fv_rt.options.sensors);

    fv_watch_pace(&monitor.watch, 1.0 / (double)fv_rt.options.sensors_hz, SHARE);
    if (!open_records())
        return false;
    monitor.process->left_out = monitor.watch.left_out;
    monitor.process->not_found = not_found;
    open_control();
    return monitor.watch.count > 0;
}

/* Of the signals that its maker held off for it, the one that setuid() and its kin send to all threads, and wait
 * for. */
static void take_setxid(void)
{
    uint64_t mask = UINT64_C(1) << (33 - 1);

    syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &mask, NULL, sizeof(mask));
}

static void close_from(unsigned first, unsigned last)
{
    if (first > last || !syscall(SYS_close_range, first, last, 0))
        return;
    for (unsigned fd = first; fd <= last && fd < 65536; fd++) /* Linux before 5.9 */
        syscall(SYS_close, fd);
}

/* Of the program's descriptors it keeps the standard error, for messages, and the rank file's. False: it is not to be
 * had. */
static bool own_descriptors(void)
{
    unsigned kept = (unsigned)fv_rt.writer.fd;

    if (syscall(SYS_unshare, CLONE_FILES))
        return false;
    close_from(0, 1);
    close_from(3, kept - 1);
    close_from(kept + 1, UINT32_MAX);
    return true;
}

static void end_before_libraries(void);

static void set_patience(int64_t ns)
{
    __atomic_store_n(&monitor.patience_ns, ns, __ATOMIC_RELAXED);
}

/* True: the list needs libraries that are there. */
static bool share_libraries(const char *list)
{
    bool any = false;

    set_patience(LIBRARY_PATIENCE_NS);
    for (size_t length; *list; list += length + (list[length] == ',')) {
        length = strcspn(list, ",");
        any |= fv_watch_load_libraries(list, length);
    }
    if (any)
        atexit(end_before_libraries);
    else
        set_patience(PATIENCE_NS);
    return any;
}

static enum state state(void)
{
    return (enum state)__atomic_load_n(&monitor.state, __ATOMIC_ACQUIRE);
}

static void set_state(enum state state)
{
    __atomic_store_n(&monitor.state, state, __ATOMIC_RELEASE);
    syscall(SYS_futex, &monitor.state, FUTEX_WAKE_PRIVATE, INT32_MAX, NULL, NULL, 0);
}

/* While it is `state`, until then, on CLOCK_MONOTONIC. */
static void wait_until(enum state state, int64_t ns)
{
    const struct timespec until = { ns / 1000000000, ns % 1000000000 };

    syscall(SYS_futex, &monitor.state, FUTEX_WAIT_BITSET_PRIVATE, state, &until, NULL, FUTEX_BITSET_MATCH_ANY);
}

/* Until it is asked to end. */
static void go_on(void)
{
    int64_t watch_ns = fv_rt.options.hang_after ? clock_ns(CLOCK_MONOTONIC) : INT64_MAX;

    monitor.next_ns = monitor.reads_sensors ? clock_ns(CLOCK_MONOTONIC) : INT64_MAX;
    while (state() == READING) {
        if (clock_ns(CLOCK_MONOTONIC) >= monitor.next_ns)
            step();
        if (clock_ns(CLOCK_MONOTONIC) >= watch_ns)
            watch_ns = fv_hang_watch_step(clock_ns(CLOCK_MONOTONIC));
        wait_until(READING, monitor.next_ns < watch_ns ? monitor.next_ns : watch_ns);
    }
    if (monitor.reads_sensors)
        last_step();
}

static void *watch_machine(void *unused)
{
    (void)unused;
    __atomic_store_n(&monitor.tid, (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
    take_setxid();
    fv_thread_never_attach();
    prctl(PR_SET_NAME, monitor.reads_sensors ? FV_SENSORS_THREAD : FV_WATCH_THREAD);
    if (monitor.reads_sensors)
        prctl(PR_SET_TIMERSLACK, 1000); /* ns, not 50 us */
    if (!(monitor.reads_sensors && share_libraries(fv_rt.options.sensors)) && !own_descriptors()) {
        fv_remark(true, "%s: no file descriptors are left: %s; %s",
                  monitor.reads_sensors ? "--sensors" : "--hang-after", strerror(errno),
                  monitor.reads_sensors ? "sensors are not recorded" : "a hang is not looked at");
    } else {
        monitor.reads_sensors = monitor.reads_sensors && prepare();
        if (monitor.reads_sensors || fv_rt.options.hang_after)
            go_on();
    }
    set_state(ENDED);
    return NULL;
}

/* ---- the layer ---- */

static int make_thread(pthread_t *thread, const pthread_attr_t *attributes)
{
#if FV_INTERPOSE_CREATE
    return FV_NEXT(pthread_create)(thread, attributes, watch_machine, NULL);
#else
    return pthread_create(thread, attributes, watch_machine, NULL);
#endif
}

/* Its signals are held off from its first moment on. */
static int begin_thread(void)
{
    struct fv_scope scope = fv_scope_enter();
    pthread_attr_t attributes;
    pthread_t thread;
    int err = pthread_attr_init(&attributes);

    if (!err) {
        pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
        pthread_attr_setstacksize(&attributes, STACK);
        err = make_thread(&thread, &attributes);
        pthread_attr_destroy(&attributes);
    }
    fv_scope_leave(&scope);
    return err;
}

static bool is_started;

static void start(struct fv_thread *self)
{
    if (is_started)
        return;
    monitor.reads_sensors = fv_rt.options.sensors && fv_speaks_for_node();
    if (!monitor.reads_sensors && !fv_rt.options.hang_after)
        return;
    monitor.rank = self;
    fv_sensors_root(); /* the environment is for the thread that the program has */
    int err = begin_thread();
    is_started = !err;
    if (err)
        fv_remark(true, "%s: cannot make a thread: %s; %s", monitor.reads_sensors ? "--sensors" : "--hang-after",
                  strerror(err), monitor.reads_sensors ? "sensors are not recorded" : "a hang is not looked at");
}

/* A last sample, for which it waits as long as taking it itself would last, and a little more where others have the
 * processors. */
static void wait_for_end(void)
{
    int64_t until_ns = clock_ns(CLOCK_MONOTONIC) + __atomic_load_n(&monitor.patience_ns, __ATOMIC_RELAXED);

    while (state() == ASKED_TO_END && clock_ns(CLOCK_MONOTONIC) < until_ns)
        wait_until(ASKED_TO_END, until_ns);
}

static void end(struct fv_thread *self)
{
    (void)self;
    if (!is_started || state() != READING)
        return;
    set_state(ASKED_TO_END);
    wait_for_end();
}

/* Registered after what the libraries registered, and so run before it. */
static void end_before_libraries(void)
{
    end(NULL);
    if (is_started)
        wait_for_end();
}

#define LAST_NS 10000000000 /* for a reader that hangs: more than a sample takes */

static bool has_gone(void)
{
    pid_t tid = __atomic_load_n(&monitor.tid, __ATOMIC_ACQUIRE);

    return tid && syscall(SYS_tgkill, getpid(), tid, 0) && errno == ESRCH;
}

static bool is_main_thread(void)
{
    return syscall(SYS_gettid) == getpid();
}

/* Where the main thread goes, or may have gone, and others stay, the last one ends the process, by the C library's
 * count: this one is in that, and must not be the last, which has none of the program's descriptors to write its output
 * to. */
static void end_before_others(struct fv_thread *self)
{
    int64_t until_ns = clock_ns(CLOCK_MONOTONIC) + LAST_NS;

    if (!is_started)
        return;
    end(self);
    while (!has_gone() && clock_ns(CLOCK_MONOTONIC) < until_ns)
        /* the C library's is a cancellation point */
        syscall(SYS_nanosleep, &(struct timespec){ .tv_nsec = 100000 }, NULL);
}

static void thread_ends(struct fv_thread *self)
{
    if (is_main_thread())
        end_before_others(self);
}

static void finalize(struct fv_thread *self)
{
    if (is_main_thread())
        end(self);
    else
        end_before_others(self);
}

/* A child has no such thread. */
static void forget_all(struct fv_thread *self)
{
    (void)self;
    is_started = false;
    monitor.tid = 0;
}

const struct fv_layer fv_monitor_layer = { .at = { [FV_AT_START] = start,
                                                   [FV_AT_FINALIZE] = finalize,
                                                   [FV_AT_EXIT] = end,
                                                   [FV_AT_THREAD_END] = thread_ends,
                                                   [FV_AT_FORK] = forget_all } };
