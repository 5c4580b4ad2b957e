/* SPDX-License-Identifier: BSD-3-Clause */
/* What makes measurements vary, read from the machine's state: a table of checks (table.c), each with what is good,
 * what it does to measurements where it is not, and the fix. Nothing is measured, and nothing is changed but by
 * fv_doctor_apply().
 *
 * A check looks into files below /proc, /sys and /boot (below FVMPI_SENSORS_ROOT, as sensors do) and says one of four
 * states. What cannot be read is unknown, never good. All memory belongs to the struct; one thread. */
#ifndef FV_DOCTOR_H
#define FV_DOCTOR_H

#include "base/list.h"
#include "tool/cpus.h"
#include "tool/vec.h"

#include <stdio.h>

#define FV_DOCTOR_STATE_LIST(X)     X(GOOD, "good") X(NOTE, "note") X(UNKNOWN, "unknown") X(BAD, "bad")
#define FV_DOCTOR_STATE(name, word) FV_DOCTOR_##name,
enum fv_doctor_state { FV_DOCTOR_STATE_LIST(FV_DOCTOR_STATE) FV_DOCTOR_STATES };
extern const char *const fv_doctor_states[]; /* their names; NULL behind the last */

/* A file's value that would be good. Path below the root. */
struct fv_doctor_write {
    const char *path, *value, *now;
};

struct fv_doctor;
struct fv_doctor_result;

/* Files of which the value alone tells. */
struct fv_doctor_file {
    const char *path, *good; /* stars in the path; good values with blanks between them, the first is the fix */
};
struct fv_doctor_check {
    const char *name, *about; /* about: what is good, in a line */
    const char *effect;       /* on measurements, where it is bad */
    /* Shell commands, or what cannot be fixed; NULL: what `files` make of it. Then kernel parameters, or configuration
     * of the kernel; NULL: none. In both KEEPERS and MASK stand for the processors that should do the kernel's work,
     * LIST for the others. */
    const char *fix, *boot;
    void (*look)(struct fv_doctor *doctor, struct fv_doctor_result *result);
    struct fv_doctor_file files[3];
    bool of_processes; /* not of the machine: only where there are processes to look at */
};
/* Most important first; ends with a name of NULL. In this order they are applied, and backwards put back: what takes
 * processors away (smt) is behind what is set for each processor. */
extern const struct fv_doctor_check fv_doctor_checks[];

struct fv_doctor_result {
    const struct fv_doctor_check *check;
    const char *found, *fix, *boot; /* fix, boot: NULL: none is needed, or known */
    enum fv_doctor_state state;
    uint32_t first_write, write_count;
};

struct fv_doctor_thread {
    int32_t tid;
    const char *name, *processors;
    double cpu_s;
    bool counts; /* it uses its processors: idle helpers are not judged */
    struct fv_cpus cpus;
};
struct fv_doctor_process {
    int32_t pid, rank; /* in MPI_COMM_WORLD; -1: not known */
    const char *name, *processors;
    double remote_share; /* of its memory: on nodes that its processors are not of; NAN: not known */
    uint32_t first_thread, thread_count;
    struct fv_cpus cpus; /* of its threads that count */
};

/* A service of the system; its processes by their control group. */
struct fv_doctor_service {
    const char *name, *task; /* task: what it is known to do from time to time; NULL: nothing is known */
    size_t processes;
    double cpu_s, since_s, share; /* with children that ended; since boot; of a processor since then, NAN: not known */
};
struct fv_doctor_module {
    const char *name, *effect; /* effect: how it is known to disturb; NULL: nothing is known */
    uint64_t bytes;
    uint32_t users;
};

struct fv_measurement; /* measure/measure.h */
struct fv_doctor {
    const char *host, *kernel, *processors; /* kernel, processors: NULL: not known */
    struct fv_cpus online;
    struct fv_cpus keepers; /* where what can be moved belongs: processors that the kernel does not keep free (isolated,
                             * nohz_full); where it keeps none, the first */
    struct fv_doctor_result *results;
    size_t result_count, result_room;
    struct fv_doctor_write *writes;
    size_t write_count, write_room;
    struct fv_doctor_process *processes;
    size_t process_count, process_room;
    struct fv_doctor_thread *threads;
    size_t thread_count, thread_room;
    struct fv_doctor_service *services; /* that the check saw; most CPU time first */
    size_t service_count, service_room;
    struct fv_doctor_module *modules; /* as the kernel lists them */
    size_t module_count, module_room;
    size_t not_seen; /* ranks of this node that the launcher tells of, but which could not be found */
    struct fv_arena arena;
    struct fv_string text;           /* of the file that was read last */
    char *config;                    /* of the kernel; NULL: not read yet */
    struct fv_measurement *measured; /* the caller's; NULL: nothing was measured */
};

void fv_doctor_init(struct fv_doctor *doctor);
void fv_doctor_release(struct fv_doctor *doctor);

/* NULL: there is none of that name. */
const struct fv_doctor_check *fv_doctor_check_of(const char *name);
/* All checks of the machine and, if there are processes, of them; or only those named. */
void fv_doctor_look(struct fv_doctor *doctor, const struct fv_doctor_check *const *only, size_t count);
size_t fv_doctor_count(const struct fv_doctor *doctor, enum fv_doctor_state state);

/* ---- for checks ---- */

void fv_doctor_say(struct fv_doctor *doctor, struct fv_doctor_result *result, enum fv_doctor_state state,
                   const char *format, ...) FV_PRINTF(4, 5);
/* What has to be written where for the result to be good, if it is a file of one line that can be read. */
void fv_doctor_want(struct fv_doctor *doctor, struct fv_doctor_result *result, const char *path, const char *value);

#endif
