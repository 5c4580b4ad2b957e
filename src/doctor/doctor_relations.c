/* SPDX-License-Identifier: BSD-3-Clause */
/* See doctor_relations.h. */
#include "doctor/doctor_relations.h"
#include "doctor/measure/measure_relations.h"
#include "sensors/sensors.h"

static const void *the_doctor(void *subject, const void *parent)
{
    return subject;
}

/* ---- the machine ---- */

static void get_root(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->text = fv_sensors_root();
    v->null = !*v->text;
}

static void get_count(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->whole = fv_doctor_count(row, (enum fv_doctor_state)c->argument);
}

static const struct fv_column_def machine_columns[] = {
    { "host", "host", "", "Its name; null: not known.", FV_FIELD(struct fv_doctor, host), .flags = FV_NULLABLE },
    { "kernel", "kernel", "", "Release of the kernel; null: not known.", FV_FIELD(struct fv_doctor, kernel),
      .flags = FV_NULLABLE },
    { "processors", "processors", "", "Those that are online, a list such as 0-63; null: not known.",
      FV_FIELD(struct fv_doctor, processors), .flags = FV_NULLABLE },
    { "root", "root", "", "FVMPI_SENSORS_ROOT: below which /proc, /sys and /boot were read; null: the machine's own.",
      FV_GET(FV_TYPE_TEXT, get_root), .flags = FV_NULLABLE },
    { "bad_count", "bad", "", "Checks that are bad.", FV_GET(FV_TYPE_WHOLE, get_count), .argument = FV_DOCTOR_BAD },
    { "unknown_count", "unknown", "", "Checks that could not be read.", FV_GET(FV_TYPE_WHOLE, get_count),
      .argument = FV_DOCTOR_UNKNOWN },
    { "note_count", "notes", "", "Checks that are neither good nor bad.", FV_GET(FV_TYPE_WHOLE, get_count),
      .argument = FV_DOCTOR_NOTE },
    { "good_count", "good", "", "Checks that are good.", FV_GET(FV_TYPE_WHOLE, get_count), .argument = FV_DOCTOR_GOOD },
};
static const struct fv_relation machine = {
    .name = "machine",
    .key = "machine",
    .title = "Machine",
    .doc = "What was looked at.",
    .shape = FV_ONE,
    FV_COLUMNS(machine_columns),
    .base = the_doctor,
};

/* ---- checks ---- */

static const struct fv_column_def write_columns[] = {
    { "path", "file", "", "Below the root.", FV_FIELD(struct fv_doctor_write, path) },
    { "now", "now", "", "Its value.", FV_FIELD(struct fv_doctor_write, now) },
    { "value", "to write", "", "The value that would be good.", FV_FIELD(struct fv_doctor_write, value) },
};
static const struct fv_relation writes = {
    .name = "writes",
    .key = "writes",
    .title = "Files to write",
    .doc = "What --apply would write; of notes only where they are named.",
    FV_COLUMNS(write_columns),
    .base = the_doctor,
    FV_SLICE(struct fv_doctor, writes, struct fv_doctor_result, first_write, write_count),
};

static void get_text(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->text = *(const char *const *)((const char *)((const struct fv_doctor_result *)row)->check + c->argument);
}

static void get_state(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->text = fv_doctor_states[((const struct fv_doctor_result *)row)->state];
}

static const struct fv_column_def result_columns[] = {
    { "state", "state", "", "good, note (neither, or it depends), unknown (it could not be read), bad.",
      FV_GET(FV_TYPE_TEXT, get_state), .words = fv_doctor_states },
    { "check", "check", "", "Its name, as the command takes it.", FV_GET(FV_TYPE_TEXT, get_text),
      .argument = offsetof(struct fv_doctor_check, name) },
    { "found", "found", "", "What was found.", FV_FIELD(struct fv_doctor_result, found) },
    { "good_is", "good is", "", "What is good.", FV_GET(FV_TYPE_TEXT, get_text),
      .argument = offsetof(struct fv_doctor_check, about) },
    { "effect", "effect", "", "What it does to measurements where it is bad.", FV_GET(FV_TYPE_TEXT, get_text),
      .argument = offsetof(struct fv_doctor_check, effect) },
    { "fix", "fix", "", "Shell commands, or what cannot be fixed; null: none is needed or known.",
      FV_FIELD(struct fv_doctor_result, fix), .flags = FV_NULLABLE },
    { "boot", "at boot", "", "Parameters of the kernel that do the same; null: none are needed or known.",
      FV_FIELD(struct fv_doctor_result, boot), .flags = FV_NULLABLE },
    { "writes", "writes", "", "", FV_NEST(writes) },
};
const struct fv_relation fv_doctor_results = {
    .name = "checks",
    .key = "checks",
    .title = "Checks",
    .doc = "Those of processes, if there are any, then those of the machine in the order of fvmpi-doctor(1).",
    .shown = "state check found",
    FV_COLUMNS(result_columns),
    .base = the_doctor,
    FV_ITEMS(struct fv_doctor, results, result_count),
};

/* ---- processes ---- */

static const struct fv_column_def thread_columns[] = {
    { "tid", "thread", "id", "Its number.", FV_FIELD(struct fv_doctor_thread, tid) },
    { "name", "name", "", "Its name; null: not known.", FV_FIELD(struct fv_doctor_thread, name), .flags = FV_NULLABLE },
    { "processors", "processors", "", "Those that it may use, a list such as 0-3.",
      FV_FIELD(struct fv_doctor_thread, processors) },
    { "cpu_s", "CPU time", "s", "CPU time until now.", FV_FIELD(struct fv_doctor_thread, cpu_s) },
    { "computes", "computes", "", "It has 1 % of its process's CPU time at least, and was judged.",
      FV_FIELD(struct fv_doctor_thread, counts) },
};
static const struct fv_relation threads = {
    .name = "threads",
    .key = "threads",
    .title = "Threads",
    .doc = "All threads of the process whose masks could be read.",
    FV_COLUMNS(thread_columns),
    .base = the_doctor,
    FV_SLICE(struct fv_doctor, threads, struct fv_doctor_process, first_thread, thread_count),
};

static bool has_rank(void *subject, const void *row, const struct fv_column_def *c)
{
    return ((const struct fv_doctor_process *)row)->rank >= 0;
}

static const struct fv_column_def process_columns[] = {
    { "rank", "rank", "", "In MPI_COMM_WORLD, by the launcher's variable; null: not known.",
      FV_FIELD(struct fv_doctor_process, rank), .known = has_rank, .flags = FV_NULLABLE },
    { "pid", "process", "id", "Its number.", FV_FIELD(struct fv_doctor_process, pid) },
    { "name", "name", "", "Its name.", FV_FIELD(struct fv_doctor_process, name) },
    { "thread_count", "threads", "", "Threads.", FV_FIELD(struct fv_doctor_process, thread_count) },
    { "processors", "processors", "", "Those that threads that compute may use, a list such as 0-3.",
      FV_FIELD(struct fv_doctor_process, processors) },
    { "remote_share", "remote", "share",
      "Of its memory: on NUMA nodes that its processors are not of; null: not known.",
      FV_FIELD(struct fv_doctor_process, remote_share), .flags = FV_NULLABLE },
    { "threads", "threads", "", "", FV_NEST(threads) },
};
const struct fv_relation fv_doctor_processes = {
    .name = "processes",
    .key = "processes",
    .title = "Processes",
    .doc = "Those that were named by --pid, or the ranks of this node.",
    .shown = "rank pid name thread_count processors remote_share",
    FV_COLUMNS(process_columns),
    .base = the_doctor,
    FV_ITEMS(struct fv_doctor, processes, process_count),
};

const struct fv_relation *const fv_doctor_relations[] = {
    &machine,           &fv_doctor_results,  &fv_doctor_processes,  &fv_measure_measurement,
    &fv_measure_noise,  &fv_measure_detours, &fv_measure_caches,    &fv_measure_latency,
    &fv_measure_levels, &fv_measure_tlb,     &fv_measure_bandwidth, NULL,
};
