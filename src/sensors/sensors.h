/* SPDX-License-Identifier: BSD-3-Clause */
/* Sensors of the machine: what the kernel and the hardware count or measure meanwhile, by files below /proc and /sys. A
 * sensor is one row of a table (table.c): where its files are, what shape they have, what its numbers mean. It is there
 * if its files are. What only a maker's library tells is asked from that (forms_gpu.c).
 *
 *     sensor   vmstat, net, ...: its files are opened once and read anew for each sample
 *     source   what each number is of, of several alike: a processor, a network interface, a node; "" where there is
 *              one
 *     event    one number of each source: pgfault, rx_bytes. A counter, of which the rate tells, or a gauge, which is
 *              told itself
 *
 * Memory comes from the kernel (base/pages.h), so that a thread in the application may sample, too. One thread at a
 * time for each struct. */
#ifndef FV_SENSORS_H
#define FV_SENSORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FV_SENSOR_NONE UINT64_MAX /* this source does not have it, or it could not be read */

struct fv_sensor_event {
    const char *name, *unit; /* of what is counted: "bytes"; "" where it is just so many */
    const char *about;       /* what the kernel says of it; NULL: nothing */
    double scale;            /* what one of the file's is in `unit` */
    bool is_gauge;           /* may fall, and is signed */
    bool is_mean;            /* of several sources the mean says something, not the sum: temperatures, clocks,
                              * percentages */
};

/* Memory that is given back in one piece. */
struct fv_sensor_arena {
    char *rest; /* of the present page */
    size_t left;
    struct fv_sensor_page *pages;
};

struct fv_sensor_kind;
struct fv_sensor {
    const struct fv_sensor_kind *kind;
    const char **sources;
    size_t source_count;
    struct fv_sensor_event *events;
    size_t event_count;
    size_t left_out; /* sources and events beyond what there is room for */
    uint64_t *wraps; /* of each source: where its counters begin again at 0; NULL: at 2^64 */
    double cost_s;   /* of reading it once, the least of a few times */
    struct fv_sensor_state *state;
};

struct fv_sensor_kind {
    const char *name, *about; /* what it is, in a line */
    const struct fv_sensor_form *form;
    /* Below the root; stars stand for the source. What FORM makes of the rest: forms.h. */
    const char *path;
    const char *const *files; /* by event, where each is a file; ends with NULL */
    const char *unit;
    double scale;
    bool is_gauge;
    bool is_mean;       /* of all its events, as in struct fv_sensor_event */
    const char *gauges; /* names that begin so are gauges all the same; NULL: none */
    double max_hz;      /* that make sense: it changes no faster, or costs too much */
};
/* All that are known, whether they are there or not; ends with a name of NULL. */
extern const struct fv_sensor_kind fv_sensor_kinds[];
const struct fv_sensor_kind *fv_sensor_kind_of(const char *name, size_t length); /* NULL: unknown */

/* What an event counts, in a sentence; "": it is not described (events.c). */
const char *fv_sensor_event_about(const struct fv_sensor *sensor, size_t event);
/* The events of a kind that are described, whether this machine has them or not; stars stand for anything. Begin with a
 * *name of NULL. False: there is no further one. */
bool fv_sensor_next_known(const struct fv_sensor_kind *kind, const char **name, const char **about);

/* Below which /proc and /sys are: FVMPI_SENSORS_ROOT, else "". A tree that was copied from another machine stands in
 * for it. */
const char *fv_sensors_root(void);

/* False: it is not there, and nothing is to be closed. */
bool fv_sensor_open(struct fv_sensor *sensor, const struct fv_sensor_kind *kind);
/* A value for each source and event: values[source * event_count + event], as the files have them (gauges as int64_t),
 * or FV_SENSOR_NONE. */
void fv_sensor_read(struct fv_sensor *sensor, uint64_t *values);
void fv_sensor_close(struct fv_sensor *sensor);
/* Of a kind that asks a library and could not be opened: why, for people. NULL: it reads files. */
const char *fv_sensor_library_why(const struct fv_sensor_kind *kind);

/* The most that it can be, of a counter in a second, as the machine says it: the speed of a network interface, the
 * highest clock. NAN: not known. */
double fv_sensor_maximum(const struct fv_sensor *sensor, size_t source, size_t event);

/* What a number of the file means where the kind does not say: unit and scale by the event's name, as the kernel's
 * authors name things. */
void fv_sensor_unit(const char *name, const char **unit, double *scale);

/* From one value to the next, in the event's unit: of a counter the difference, of a gauge the new value. NAN: one of
 * them is not known. A counter that is less than before has begun anew, at its wrap if it was in the upper half of what
 * it can be, else at 0 (its device was reset). */
double fv_sensor_change(const struct fv_sensor *sensor, size_t source, size_t event, uint64_t before, uint64_t now);

#endif
