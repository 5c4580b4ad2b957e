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
    { "host", "host", "", "Name of the host. Null: not known.", FV_FIELD(struct fv_doctor, host),
      .flags = FV_NULLABLE },
    { "kernel", "kernel", "", "Kernel release. Null: not known.", FV_FIELD(struct fv_doctor, kernel),
      .flags = FV_NULLABLE },
    { "processors", "processors", "", "Online processors, a list such as 0-63. Null: not known.",
      FV_FIELD(struct fv_doctor, processors), .flags = FV_NULLABLE },
    { "root", "root", "",
      "FVMPI_SENSORS_ROOT: the directory below which /proc, /sys and /boot were read. Null: the machine's own.",
      FV_GET(FV_TYPE_TEXT, get_root), .flags = FV_NULLABLE },
    { "bad_count", "bad", "", "Checks with a bad result.", FV_GET(FV_TYPE_WHOLE, get_count),
      .argument = FV_DOCTOR_BAD },
    { "unknown_count", "unknown", "", "Checks that could not be read.", FV_GET(FV_TYPE_WHOLE, get_count),
      .argument = FV_DOCTOR_UNKNOWN },
    { "note_count", "notes", "", "Checks that are neither good nor bad.", FV_GET(FV_TYPE_WHOLE, get_count),
      .argument = FV_DOCTOR_NOTE },
    { "good_count", "good", "", "Checks with a good result.", FV_GET(FV_TYPE_WHOLE, get_count),
      .argument = FV_DOCTOR_GOOD },
};
static const struct fv_relation machine = {
    .name = "machine",
    .key = "machine",
    .title = "Machine",
    .doc = "The machine that was checked.",
    .shape = FV_ONE,
    FV_COLUMNS(machine_columns),
    .base = the_doctor,
};

/* ---- checks ---- */

static const struct fv_column_def write_columns[] = {
    { "path", "file", "", "Path of the file, below the root.", FV_FIELD(struct fv_doctor_write, path) },
    { "now", "now", "", "Value of the file.", FV_FIELD(struct fv_doctor_write, now) },
    { "value", "good value", "", "The good value.", FV_FIELD(struct fv_doctor_write, value) },
};
static const struct fv_relation writes = {
    .name = "writes",
    .key = "writes",
    .title = "Files to write",
    .doc = "Files that --apply would write. For a note, only if the check is named.",
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
    { "state", "state", "", "good; note: neither good nor bad, or it depends; unknown: it could not be read; bad.",
      FV_GET(FV_TYPE_TEXT, get_state), .words = fv_doctor_states },
    { "check", "check", "", "Name of the check, as the command accepts it.", FV_GET(FV_TYPE_TEXT, get_text),
      .argument = offsetof(struct fv_doctor_check, name) },
    { "found", "found", "", "What was found.", FV_FIELD(struct fv_doctor_result, found) },
    { "good_is", "good is", "", "The good state.", FV_GET(FV_TYPE_TEXT, get_text),
      .argument = offsetof(struct fv_doctor_check, about) },
    { "effect", "effect", "", "Effect on measurements if it is bad.", FV_GET(FV_TYPE_TEXT, get_text),
      .argument = offsetof(struct fv_doctor_check, effect) },
    { "fix", "fix", "", "Shell commands that fix it, or what cannot be fixed. Null: none is needed or known.",
      FV_FIELD(struct fv_doctor_result, fix), .flags = FV_NULLABLE },
    { "boot", "at boot", "", "Kernel parameters with the same effect. Null: none is needed or known.",
      FV_FIELD(struct fv_doctor_result, boot), .flags = FV_NULLABLE },
    { "writes", "writes", "", "", FV_NEST(writes) },
};
const struct fv_relation fv_doctor_results = {
    .name = "checks",
    .key = "checks",
    .title = "Checks",
    .doc = "Checks of processes, if any, then checks of the machine in the order of fvmpi-doctor(1).",
    .shown = "state check found",
    FV_COLUMNS(result_columns),
    .base = the_doctor,
    FV_ITEMS(struct fv_doctor, results, result_count),
};

/* ---- processes ---- */

static const struct fv_column_def thread_columns[] = {
    { "tid", "thread", "id", "The thread id.", FV_FIELD(struct fv_doctor_thread, tid) },
    { "name", "name", "", "Name of the thread. Null: not known.", FV_FIELD(struct fv_doctor_thread, name),
      .flags = FV_NULLABLE },
    { "processors", "processors", "", "Processors that the thread may use, a list such as 0-3.",
      FV_FIELD(struct fv_doctor_thread, processors) },
    { "cpu_s", "CPU time", "s", "CPU time so far.", FV_FIELD(struct fv_doctor_thread, cpu_s) },
    { "computes", "computes", "", "True: it has at least 1 % of its process's CPU time, and was judged.",
      FV_FIELD(struct fv_doctor_thread, counts) },
};
static const struct fv_relation threads = {
    .name = "threads",
    .key = "threads",
    .title = "Threads",
    .doc = "All threads of the process whose processors could be read.",
    FV_COLUMNS(thread_columns),
    .base = the_doctor,
    FV_SLICE(struct fv_doctor, threads, struct fv_doctor_process, first_thread, thread_count),
};

static bool has_rank(void *subject, const void *row, const struct fv_column_def *c)
{
    return ((const struct fv_doctor_process *)row)->rank >= 0;
}

static const struct fv_column_def process_columns[] = {
    { "rank", "rank", "", "Rank in MPI_COMM_WORLD, from the launcher's variable. Null: not known.",
      FV_FIELD(struct fv_doctor_process, rank), .known = has_rank, .flags = FV_NULLABLE },
    { "pid", "process", "id", "The process id.", FV_FIELD(struct fv_doctor_process, pid) },
    { "name", "name", "", "Name of the process.", FV_FIELD(struct fv_doctor_process, name) },
    { "thread_count", "threads", "", "Threads.", FV_FIELD(struct fv_doctor_process, thread_count) },
    { "processors", "processors", "", "Processors that computing threads may use, a list such as 0-3.",
      FV_FIELD(struct fv_doctor_process, processors) },
    { "remote_share", "remote", "share",
      "Share of its memory on other NUMA nodes than its processors. Null: not known.",
      FV_FIELD(struct fv_doctor_process, remote_share), .flags = FV_NULLABLE },
    { "threads", "threads", "", "", FV_NEST(threads) },
};
const struct fv_relation fv_doctor_processes = {
    .name = "processes",
    .key = "processes",
    .title = "Processes",
    .doc = "Processes given by --pid, or the ranks of this node.",
    .shown = "rank pid name thread_count processors remote_share",
    FV_COLUMNS(process_columns),
    .base = the_doctor,
    FV_ITEMS(struct fv_doctor, processes, process_count),
};

/* ---- services and modules ---- */

static const struct fv_column_def service_columns[] = {
    { "service", "service", "", "Name of the service, without .service.", FV_FIELD(struct fv_doctor_service, name),
      .flags = FV_NAME },
    { "processes", "processes", "", "Its processes.", FV_FIELD(struct fv_doctor_service, processes) },
    { "cpu_s", "CPU time", "s", "CPU time of its processes and of their children that ended.",
      FV_FIELD(struct fv_doctor_service, cpu_s) },
    { "processor_share", "of a processor", "share", "CPU time over the time since it began. Null: not known.",
      FV_FIELD(struct fv_doctor_service, share), .flags = FV_NULLABLE },
    { "task", "what it does", "", "What the service is known to do from time to time. Null: nothing is known.",
      FV_FIELD(struct fv_doctor_service, task), .flags = FV_NULLABLE },
};
const struct fv_relation fv_doctor_services = {
    .name = "services",
    .key = "services",
    .title = "Services",
    .doc =
        "Services of the system that run: by control groups of processes (NAME.service). Most CPU time first. Empty: "
        "there are none, or the check `services` was not made.",
    .shown = "service processes cpu_s processor_share task",
    FV_COLUMNS(service_columns),
    .base = the_doctor,
    FV_ITEMS(struct fv_doctor, services, service_count),
};

static const struct fv_column_def module_columns[] = {
    { "module", "module", "", "Name of the module.", FV_FIELD(struct fv_doctor_module, name), .flags = FV_NAME },
    { "bytes", "size", "bytes", "Memory of the module.", FV_FIELD(struct fv_doctor_module, bytes) },
    { "users", "users", "", "Modules and open devices that use it.", FV_FIELD(struct fv_doctor_module, users) },
    { "effect", "effect", "", "How the module is known to disturb. Null: nothing is known.",
      FV_FIELD(struct fv_doctor_module, effect), .flags = FV_NULLABLE },
};
static const struct fv_relation modules = {
    .name = "modules",
    .key = "modules",
    .title = "Modules of the kernel",
    .doc = "Modules that are loaded (/proc/modules). Empty: there are none, or the check `modules` was not made.",
    FV_COLUMNS(module_columns),
    .base = the_doctor,
    FV_ITEMS(struct fv_doctor, modules, module_count),
};

const struct fv_relation *const fv_doctor_relations[] = {
    &machine,
    &fv_doctor_results,
    &fv_doctor_services,
    &modules,
    &fv_doctor_processes,
    &fv_measure_measurement,
    &fv_measure_events,
    &fv_measure_noise,
    &fv_measure_counts,
    &fv_measure_detours,
    &fv_measure_branches,
    &fv_measure_caches,
    &fv_measure_latency,
    &fv_measure_levels,
    &fv_measure_tlb,
    &fv_measure_bandwidth,
    NULL,
};
