/* See format_words.h. */
#include "trace/format_words.h"

#include <errno.h>
#include <stddef.h>

const struct fv_chunk_kind *fv_chunk_kind(unsigned type)
{
    static const struct fv_chunk_kind unknown = { "?", .record_bytes = 0 }, kinds[] = {
        [FV_CHUNK_MODULES] = { "module", .varies = true },
        [FV_CHUNK_PATHS] = { "path", sizeof(struct fv_path_record) },
        [FV_CHUNK_COMMS] = { "communicator", .varies = true },
        [FV_CHUNK_THREADS] = { "thread", sizeof(struct fv_thread_record) },
        [FV_CHUNK_CELLS] = { "cell", sizeof(struct fv_cell) },
        [FV_CHUNK_PEERS] = { "peer", sizeof(struct fv_peer_record) },
        [FV_CHUNK_COLLECTIVES] = { "collective", sizeof(struct fv_coll_record) },
        [FV_CHUNK_BINS] = { "bins", sizeof(struct fv_bins) },
        [FV_CHUNK_CLOCK] = { "clock", sizeof(struct fv_clock_point) },
        [FV_CHUNK_FUNCTIONS] = { "function", sizeof(struct fv_function_record) },
        [FV_CHUNK_SITES] = { "site", sizeof(struct fv_site_record) },
        [FV_CHUNK_EVENTS] = { "event" },
        [FV_CHUNK_FILES] = { "file", .varies = true },
        [FV_CHUNK_WINDOWS] = { "window", sizeof(struct fv_window_record) },
        [FV_CHUNK_PACKED] = { "packed event" },
        [FV_CHUNK_WAITING] = { "waiting", sizeof(struct fv_waiting) },
        [FV_CHUNK_NEIGHBOURS] = { "neighbours", .varies = true },
        [FV_CHUNK_SAMPLER] = { "sampler", sizeof(struct fv_sampler_record) },
        [FV_CHUNK_SAMPLE_PATHS] = { "sample paths", sizeof(struct fv_path_record) },
        [FV_CHUNK_INSTANCES] = { "instances", sizeof(struct fv_instances) },
        [FV_CHUNK_COSTS] = { "costs", sizeof(struct fv_cost) },
        [FV_CHUNK_INSTANCE_LOG] = { "instance log", sizeof(struct fv_logged_instance) },
        [FV_CHUNK_METRIC_EVENTS] = { "metric events", sizeof(struct fv_metric_event) },
        [FV_CHUNK_SAMPLE_LOG] = { "sample log", sizeof(struct fv_logged_sample) },
        [FV_CHUNK_SYNC_OBJECTS] = { "synchronisation object", sizeof(struct fv_sync_object) },
        [FV_CHUNK_SYNC] = { "synchronisation", sizeof(struct fv_sync_record) },
        [FV_CHUNK_SYNC_THREAD] = { "waiting thread", sizeof(struct fv_sync_thread) },
        [FV_CHUNK_LIVES] = { "thread life", sizeof(struct fv_thread_life) },
        [FV_CHUNK_OMP] = { "OpenMP region", sizeof(struct fv_omp_region) },
        [FV_CHUNK_OMP_THREADS] = { "OpenMP thread", sizeof(struct fv_omp_thread) },
        [FV_CHUNK_SECTIONS] = { "section", sizeof(struct fv_section) },
        [FV_CHUNK_SECTION_SETS] = { "section set", sizeof(struct fv_section_set) },
        [FV_CHUNK_SECTION_TIMES] = { "section times", sizeof(struct fv_section_times) },
        [FV_CHUNK_SECTION_LOSSES] = { "section losses", sizeof(struct fv_section_losses) },
        [FV_CHUNK_EVENT_COUNTS] = { "event counts", sizeof(struct fv_event_counts) },
        [FV_CHUNK_OPTIONS] = { "option", sizeof(struct fv_option_record) },
        [FV_CHUNK_SHADOWS] = { "shadow", sizeof(struct fv_shadow_record) },
        [FV_CHUNK_REMARKS] = { "remark", sizeof(struct fv_remark_record) },
        [FV_CHUNK_REGIONS] = { "region", sizeof(struct fv_region_record) },
        [FV_CHUNK_SWITCHES] = { "switch", sizeof(struct fv_switch_record) },
        [FV_CHUNK_COST_REGIONS] = { "cost regions", sizeof(struct fv_cost_region) },
        [FV_CHUNK_LONG_CALLS] = { "long calls", sizeof(struct fv_long_calls) },
        [FV_CHUNK_INSTANCE_COMPUTING] = { "computing in instances", sizeof(struct fv_instance_computing) },
        [FV_CHUNK_RECENT_INSTANCES] = { "recent instances", sizeof(struct fv_recent_instances) },
        [FV_CHUNK_INSTANCE_EVENTS] = { "events of instances", sizeof(struct fv_instance_events) },
        [FV_CHUNK_LOGGED_EVENTS] = { "events of the instance log", sizeof(struct fv_logged_events) },
        [FV_CHUNK_TIME_BINS] = { "bins", sizeof(struct fv_time_bins) },
        [FV_CHUNK_SECTION_PROCESS] = { "section process", sizeof(struct fv_section_process) },
        [FV_CHUNK_SECTION_OCTAVES] = { "section octaves", sizeof(struct fv_octave) },
        [FV_CHUNK_GRIDS] = { "grid", .varies = true },
        [FV_CHUNK_FUNCTION_CALLS] = { "calls of functions", sizeof(struct fv_function_calls) },
        [FV_CHUNK_FUNCTION_LOSSES] = { "losses of functions", sizeof(struct fv_function_losses) },
        [FV_CHUNK_IO_FILES] = { "file of I/O", .varies = true },
        [FV_CHUNK_IO] = { "I/O", sizeof(struct fv_io_record) },
        [FV_CHUNK_IO_THREAD] = { "I/O of thread", sizeof(struct fv_io_thread) },
        [FV_CHUNK_IO_REGIONS] = { "I/O between calls", sizeof(struct fv_io_region) },
        [FV_CHUNK_IO_PROCESS] = { "I/O of process", sizeof(struct fv_io_process) },
        [FV_CHUNK_IO_HANDLES] = { "I/O handle", sizeof(struct fv_io_handle) },
        [FV_CHUNK_SOLO] = { "alone", sizeof(struct fv_solo_record) },
        [FV_CHUNK_OMP_WORK] = { "OpenMP worksharing", sizeof(struct fv_omp_work) },
        [FV_CHUNK_MEMORY_PROCESS] = { "memory", sizeof(struct fv_memory_process) },
        [FV_CHUNK_MEMORY_SUMS] = { "memory sums", sizeof(struct fv_memory_sums) },
        [FV_CHUNK_MEMORY_SITES] = { "memory site", sizeof(struct fv_memory_site) },
        [FV_CHUNK_MEMORY_PATHS] = { "memory path", sizeof(struct fv_memory_path) },
        [FV_CHUNK_MEMORY_SERIES] = { "memory series", sizeof(struct fv_memory_series) },
        [FV_CHUNK_SENSOR_PROCESS] = { "sensors", sizeof(struct fv_sensor_process) },
        [FV_CHUNK_SENSOR_SERIES] = { "sensor series", .varies = true },
        [FV_CHUNK_SENSOR_SAMPLES] = { "sensor sample", .varies = true },
        [FV_CHUNK_LABELS] = { "label", .varies = true },
        [FV_CHUNK_FACTS] = { "fact", .varies = true },
        [FV_CHUNK_AFFINITY] = { "affinity", sizeof(struct fv_affinity) },
        [FV_CHUNK_NOISE] = { "noise", sizeof(struct fv_noise_record) },
        [FV_CHUNK_COUNTER_EVENTS] = { "counter", sizeof(struct fv_counter_event) },
        [FV_CHUNK_COUNTER_VALUES] = { "counter values", sizeof(struct fv_counter_values) },
        [FV_CHUNK_COUNTER_PHASES] = { "counters in phase", sizeof(struct fv_counter_phase) },
        [FV_CHUNK_INTERPRETER] = { "interpreter", sizeof(struct fv_interpreter_record) },
    };

    return type < sizeof(kinds) / sizeof(*kinds) && kinds[type].name ? &kinds[type] : &unknown;
}

/* ---- words ---- */

#define NAME_OF(table, index) ((index) < sizeof(table) / sizeof(*table) && table[index] ? table[index] : "?")

const char *fv_sync_kind_name(unsigned kind)
{
    static const char *const names[] = {
        [FV_SYNC_MUTEX] = "mutex", [FV_SYNC_RWLOCK] = "rwlock", [FV_SYNC_SPIN] = "spin",
        [FV_SYNC_BARRIER] = "barrier", [FV_SYNC_COND] = "cond", [FV_SYNC_SEM] = "sem",
        [FV_SYNC_JOIN] = "join", [FV_SYNC_ONCE] = "once", [FV_SYNC_OMP] = "omp",
    };
    return NAME_OF(names, kind);
}

const char *fv_sync_operation_name(unsigned operation)
{
    static const char *const names[] = {
        [FV_SYNC_LOCK] = "lock", [FV_SYNC_TRY] = "try", [FV_SYNC_TIMED] = "timed", [FV_SYNC_READ] = "read",
        [FV_SYNC_TRY_READ] = "try_read", [FV_SYNC_TIMED_READ] = "timed_read", [FV_SYNC_WAIT] = "wait",
        [FV_SYNC_SIGNAL] = "signal", [FV_SYNC_BROADCAST] = "broadcast", [FV_SYNC_POST] = "post",
    };
    return NAME_OF(names, operation);
}

const char *fv_state_name(unsigned state)
{
    static const char *const names[] = {
        [FV_STATE_RUNNING] = "running",
        [FV_STATE_FINALIZED] = "finalized",
        [FV_STATE_EXITED] = "exited",
        [FV_STATE_ABORTED] = "aborted",
        [FV_STATE_REPLACED] = "replaced",
    };
    return NAME_OF(names, state);
}

const char *fv_class_name(unsigned class)
{
    static const char *const names[FV_CLASS_COUNT] = {
        [FV_CLASS_OTHER] = "other",
        [FV_CLASS_P2P] = "p2p",
        [FV_CLASS_COMPLETION] = "completion",
        [FV_CLASS_COLLECTIVE] = "collective",
        [FV_CLASS_RMA] = "rma",
        [FV_CLASS_IO] = "io",
        [FV_CLASS_COMM] = "comm",
        [FV_CLASS_INIT] = "init",
    };
    return NAME_OF(names, class);
}

const char *fv_wait_rule_name(unsigned rule)
{
    static const char *const names[] = {
        [FV_RULE_NONE] = "none",       [FV_RULE_NXN] = "nxn",
        [FV_RULE_BARRIER] = "barrier", [FV_RULE_FROM_ROOT] = "from_root",
        [FV_RULE_TO_ROOT] = "to_root", [FV_RULE_SCAN] = "scan",
        [FV_RULE_P2P] = "p2p",
    };
    return NAME_OF(names, rule);
}

const char *fv_fact_name(unsigned key)
{
    static const char *const names[] = {
        [FV_FACT_PROCESSOR] = "processor", [FV_FACT_PROCESSORS] = "processors", [FV_FACT_SOCKETS] = "sockets", [FV_FACT_CORE_THREADS] = "core_threads", [FV_FACT_SMT] = "smt",
        [FV_FACT_NODE_PROCESSORS] = "node_processors", [FV_FACT_NODE_DISTANCES] = "node_distances", [FV_FACT_CACHE] = "cache", [FV_FACT_MHZ] = "mhz", [FV_FACT_MHZ_MIN] = "mhz_min",
        [FV_FACT_MHZ_MAX] = "mhz_max", [FV_FACT_GOVERNOR] = "governor", [FV_FACT_FREQUENCY_DRIVER] = "frequency_driver", [FV_FACT_TURBO] = "turbo", [FV_FACT_MEMORY] = "memory",
        [FV_FACT_HUGEPAGES] = "hugepages", [FV_FACT_KERNEL] = "kernel", [FV_FACT_HYPERVISOR] = "hypervisor", [FV_FACT_CLOCK_SOURCE] = "clock_source", [FV_FACT_ISOLATED] = "isolated",
        [FV_FACT_TICKLESS] = "tickless", [FV_FACT_NUMA_BALANCING] = "numa_balancing", [FV_FACT_ADDRESS] = "address", [FV_FACT_RANDOMIZED] = "randomized", [FV_FACT_VARIABLE] = "variable", [FV_FACT_LEFT_OUT] = "left_out", [FV_FACT_OTHER] = "other",
    };
    return NAME_OF(names, key);
}

const char *fv_drop_name(unsigned drop)
{
    static const char *const names[FV_DROP_COUNT] = {
        [FV_DROP_CELLS] = "cells", [FV_DROP_PATHS] = "paths",       [FV_DROP_COLLECTIVES] = "collectives",
        [FV_DROP_PEERS] = "peers", [FV_DROP_COMMS] = "comms",       [FV_DROP_CALLS] = "calls",
        [FV_DROP_DISK] = "disk",   [FV_DROP_REQUESTS] = "requests", [FV_DROP_EVENTS] = "events", [FV_DROP_LABELS] = "marks",
    };
    return NAME_OF(names, drop);
}

static const struct {
    const char *name;
    uint8_t operation, layer;
} io_functions[] = {
    { "?", 0, 0 },
#define FV_IO_FUNCTION(name, operation, layer) { #name, operation, layer },
#include "trace/io-list.h"
#undef FV_IO_FUNCTION
};

static uint32_t known(uint32_t function)
{
    return function < FV_IO_FUNCTIONS ? function : FV_IO_NO_FUNCTION;
}

const char *fv_io_function_name(uint32_t function)
{
    return io_functions[known(function)].name;
}

enum fv_io_operation fv_io_operation_of(uint32_t function)
{
    return (enum fv_io_operation)io_functions[known(function)].operation;
}

enum fv_io_layer fv_io_layer_of(uint32_t function)
{
    return (enum fv_io_layer)io_functions[known(function)].layer;
}

const char *fv_refused_words(uint32_t error)
{
    switch (error) {
    case EFBIG: return "the limit on file sizes was reached: ulimit -f unlimited where ranks are started";
    case ENOSPC: return "the disk was full: choose another with -o";
    case EDQUOT: return "the quota of the file system was used up: choose another with -o";
    case ENOMEM: return "there was no memory or address space for them: ulimit -v";
    }
    return "the disk was full or failed";
}
