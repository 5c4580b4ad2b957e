/* SPDX-License-Identifier: BSD-3-Clause */
/* Events of sensors that are watched together: which ones, by patterns as people write them, and what they say from one
 * sample to the next.
 *
 *     SENSOR.NAME           vmstat.pgfault    of all sources together: the sum, of temperatures the mean
 *     SENSOR.NAME@SOURCE    net.rx_bytes@eth0
 *     SENSOR                all that it has; stars stand for anything: 'cpu.*', 'net.rx_bytes@*'
 *
 * One thread at a time; memory as sensors have it. */
#ifndef FV_WATCH_H
#define FV_WATCH_H

#include "sensors/sensors.h"

#define FV_WATCH_ALL  SIZE_MAX       /* sources together */
#define FV_WATCH_MOST ((size_t)4096) /* series */

struct fv_watched_sensor {
    struct fv_sensor sensor;
    bool is_used;           /* by a series: else it is only open */
    bool is_fresh;          /* read by the last sample */
    unsigned every;         /* so many samples, a power of 2: it is read by the first of them */
    uint64_t *before, *now; /* the two last times that it was read */
    double before_s, now_s; /* when */
    uint64_t reads;
};

/* One event of one source, or of all: a column, a line of a chart. */
struct fv_watched_series {
    size_t sensor, event;
    size_t source;     /* FV_WATCH_ALL */
    const char *label; /* "net.rx_bytes@eth0" */
};

struct fv_watch {
    struct fv_watched_sensor *sensors;
    size_t sensor_count, sensor_room;
    struct fv_watched_series *series;
    size_t count, room;
    size_t left_out; /* series beyond FV_WATCH_MOST */
    uint64_t samples;
    struct fv_sensor_arena arena;
};

enum fv_watch_answer {
    FV_WATCH_FOUND,
    FV_WATCH_NOT_HERE, /* the sensor is known; this machine has it not */
    FV_WATCH_NO_SENSOR,
    FV_WATCH_NO_EVENT,
    FV_WATCH_NO_SOURCE,
    FV_WATCH_TOO_LONG,
};

/* The series that a pattern of `length` bytes fits. is_per_source: one for each source where it names none. Those that
 * are there already, again. */
enum fv_watch_answer fv_watch_add(struct fv_watch *watch, const char *pattern, size_t length, bool is_per_source);
/* Loads the libraries that the pattern's sensors ask, before it is added. True: one is there now. It opens files, which
 * it shares with all of the program that uses it, too. */
bool fv_watch_load_libraries(const char *pattern, size_t length);
/* Keeps the first `count` series; sensors that have none are read no more. */
void fv_watch_keep(struct fv_watch *watch, size_t count);
/* What most want to see, as far as it is there. */
void fv_watch_add_usual(struct fv_watch *watch, bool is_per_source);
/* Why nothing was found, for people: "no such sensor, did you mean net". */
void fv_watch_why(const struct fv_watch *watch, const char *pattern, size_t length, enum fv_watch_answer answer,
                  char *out, size_t room);
/* All that this machine has are opened. */
void fv_watch_open_all(struct fv_watch *watch);
bool fv_watch_has(const struct fv_watch *watch, const struct fv_sensor_kind *kind); /* it is open */
void fv_watch_close(struct fv_watch *watch);

/* What reading all of its sensors once takes, in seconds. */
double fv_watch_cost(const struct fv_watch *watch);
/* Sensors that change no faster, or are dear, are read by some samples only: `share` of a processor is for reading
 * all. */
void fv_watch_pace(struct fv_watch *watch, double interval_s, double share);

/* The next sample reads all, and is the first again: nothing is said of the time before it. */
void fv_watch_restart(struct fv_watch *watch);
/* Reads what is due. at_s: the present, on any clock that only grows. False: nothing was due. */
bool fv_watch_sample(struct fv_watch *watch, double at_s);
bool fv_watch_sample_all(struct fv_watch *watch, double at_s); /* due or not */
/* From the time before to the last one that it was read, in the event's unit: of a counter what was added, of a gauge
 * what it is. NAN: not known, or not read by the last sample. */
double fv_watch_change(const struct fv_watch *watch, size_t series);
/* The same, of a counter in a second. */
double fv_watch_rate(const struct fv_watch *watch, size_t series);

/* The most that it can be, in the unit of the rate; of sources together NAN if one's is not known. Opens files. */
double fv_watch_maximum(const struct fv_watch *watch, size_t series);

static inline const struct fv_sensor *fv_watch_sensor(const struct fv_watch *watch, size_t series)
{
    return &watch->sensors[watch->series[series].sensor].sensor;
}
static inline const struct fv_sensor_event *fv_watch_event(const struct fv_watch *watch, size_t series)
{
    return &fv_watch_sensor(watch, series)->events[watch->series[series].event];
}

#endif
