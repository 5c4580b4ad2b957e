/* SPDX-License-Identifier: BSD-3-Clause */
/* Sensors of the machine (--sensors), that one rank of each node recorded: a location of its own behind that rank's
 * threads, with the values as metrics. */
#ifndef FV_MERGE_SENSORS_H
#define FV_MERGE_SENSORS_H

#include "merge/clocks.h"
#include "merge/record.h"
#include "merge/replay.h"

/* What fv_def_rank.sensors says: of each series a line, "label\tunit\tgauge" or "label\tunit\tcounter". */
struct fv_def_sensor {
    char label[200], unit[16];
    bool is_gauge;
};
/* From *at on, which is moved; false: there are no more. */
bool fv_def_sensor_next(const char **at, struct fv_def_sensor *out);

/* The names of a file's series, which the caller frees; "" if there are none. */
char *fv_sensors_names(const struct fv_reader *reader);

/* Is it the rank that tells of its host? */
bool fv_sensors_of_host(const struct fv_defs *defs, uint32_t rank);
static inline uint64_t fv_sensors_location(const struct fv_def_rank *rank)
{
    return fv_location(rank, rank->thread_count);
}

/* Its samples, as SENSOR records of the location, which is opened and closed. False: the sink failed. */
bool fv_sensors_replay(const struct fv_defs *defs, const struct fv_clocks *clocks, uint32_t rank,
                       const struct fv_reader *reader, struct fv_sink *sink, struct fv_location_stats *location);

#endif
