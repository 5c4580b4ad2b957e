/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by archive.c (files), which uses definitions.c, events.c, and archive_error.c below all. */
#ifndef FV_ARCHIVE_STATE_H
#define FV_ARCHIVE_STATE_H

#include "analysis/steps.h"
#include "merge/memory.h"
#include "merge/sensors.h"
#include "merge/threads.h"
#include "otf2/archive.h"
#include "trace/events.h"

#include <otf2/otf2.h>

/* Strings by number; 0 is "". */
struct fv_strings {
    struct fv_arena arena;
    const char **items;
    size_t count, room;
    struct fv_index index;
};
void fv_strings_release(struct fv_strings *strings);

/* A command line: the program's path and its words. */
struct fv_command {
    uint32_t program, argument_count;
    uint32_t *arguments;
};

struct fv_archive {
    OTF2_Archive *otf2;
    const struct fv_transport *transport;
    OTF2_CollectiveCallbacks collectives;
    char *final, *work, *old; /* directories: of the archive, while it grows, and of the one that it replaces */
    uint64_t chunk_bytes;
    const struct fv_defs *defs;
    const uint32_t *context_of_node, *function_of_node;
    struct fv_sink sink;
    struct fv_location_writer { /* of a location */
        OTF2_EvtWriter *otf2;
        size_t index; /* in `calling` */
    } * writers;      /* by slot */
    size_t writer_room;
    bool samples, in_contexts; /* see fv_archive_names.samples, .calling */
    struct fv_calling calling;
    uint32_t *generators;                    /* interrupt generators, by rank */
    struct fv_strings metrics;               /* names of the events counted in instances, from 1 */
    uint32_t (*metric_of)[FV_METRIC_EVENTS]; /* by rank and the number that it has there; 0: none */
    struct fv_strings counters; /* names of the events counted over whole threads, likewise; their classes are behind
                                 * those */
    uint32_t (*counter_of)[FV_COUNTERS];
    struct fv_strings sensors; /* of the machine: series of each kind, as in fv_def_rank.sensors, from 1 */
    uint32_t *sensor_class;    /* of each series of each node: its number in these */
    size_t sensor_count, sensor_room;
    size_t *first_sensor;    /* by rank, and behind the last: its first one; the metric instances are in this order */
    uint32_t *memory_metric; /* by rank: its number among those that have one, from 1; 0: it has none */
    uint32_t memory_count;
    OTF2_MarkerWriter *markers; /* of the first process */
    OTF2_AttributeList *attributes;
    struct fv_strings strings;
    struct fv_command *commands;      /* by rank; the same in all processes */
    uint32_t wait_kinds[FV_WS_COUNT]; /* strings; as well */
    uint32_t thread_wait_kinds[FV_TW_COUNT];
    uint32_t errors[FV_FAILURE_KINDS]; /* strings */
    const struct fv_lock_names *locks;
    uint32_t *lock_strings; /* of their names, by number; 0: it has none */
    bool failed;
};

enum {
    FV_ATTRIBUTE_CALL_PATH,
    FV_ATTRIBUTE_WAIT,
    FV_ATTRIBUTE_WAIT_KIND,
    FV_ATTRIBUTE_CAUSE,
    FV_ATTRIBUTE_ERROR,
    FV_ATTRIBUTE_CPU_TIME,
    FV_ATTRIBUTE_LOCK,
    FV_ATTRIBUTE_LOCK_NAME,
    FV_ATTRIBUTE_ALLOCATED, /* as Score-P names them */
    FV_ATTRIBUTE_FREED,
    FV_ATTRIBUTE_INSTANCE,
    FV_ATTRIBUTE_MPI_TIME,
    FV_ATTRIBUTE_MPI_CALLS,
    FV_ATTRIBUTE_MPI_BYTES,
    FV_ATTRIBUTE_IO_HANDLE,
    FV_ATTRIBUTE_IO_FAILED,
    FV_ATTRIBUTE_IO_BYTES,
};

/* archive_error.c. Logs once; false if it is an error. */
bool fv_archive_check(struct fv_archive *archive, OTF2_ErrorCode code, const char *what);
/* Of an error that the library told its callback alone. */
bool fv_archive_check_untold(struct fv_archive *archive);
void fv_archive_note_errors(void);
void fv_archive_forget_errors(void);

/* Groups come in this order: all locations, one for MPI_COMM_SELF, those of RMA, those of communicators. */
enum { FV_GROUP_LOCATIONS = 0, FV_GROUP_SELF = 1, FV_GROUP_FIRST_RMA = 2 };

/* The communicator whose members are a rank's threads; after those of MPI. */
static inline uint32_t fv_thread_comm(const struct fv_defs *defs, uint32_t rank)
{
    return (uint32_t)defs->comm_count + rank;
}

/* Those of OpenMP's teams; after these. */
static inline uint32_t fv_team_comm(const struct fv_defs *defs, uint32_t rank)
{
    return (uint32_t)(defs->comm_count + defs->rank_count) + rank;
}

/* Metrics: the classes of events in instances, those of counters, those of sensors, the instances of these, the class
 * of memory, the instances of that, the class of samples. Their members are numbered without the instances. */
static inline uint32_t fv_strings_named(const struct fv_strings *strings)
{
    return strings->count ? (uint32_t)strings->count - 1 : 0;
}
static inline uint32_t fv_sensor_metric(const struct fv_archive *archive, size_t number)
{
    return fv_strings_named(&archive->metrics) + fv_strings_named(&archive->counters) +
           fv_strings_named(&archive->sensors) + (uint32_t)number;
}
static inline uint32_t fv_memory_class(const struct fv_archive *archive)
{
    return fv_sensor_metric(archive, archive->sensor_count);
}
static inline uint32_t fv_samples_class(const struct fv_archive *archive)
{
    return fv_memory_class(archive) + (archive->memory_count ? archive->memory_count + 1 : 0);
}

/* definitions_io.c: of fv_def_handle.mode */
OTF2_IoAccessMode fv_io_access(uint32_t mode);
OTF2_IoStatusFlag fv_io_status(uint32_t mode);

/* events.c: of each rank the rate of samples, equal ones once, in the order of the ranks. */
void fv_generators_init(struct fv_archive *archive);

void fv_event_strings_init(struct fv_archive *archive);
void fv_event_strings_release(struct fv_archive *archive);

bool fv_definitions_write(struct fv_archive *archive, OTF2_GlobalDefWriter *writer,
                          const struct fv_archive_location *locations, size_t location_count,
                          const struct fv_archive_times *times, const struct fv_contexts *contexts);

#endif
