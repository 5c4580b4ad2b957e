/* SPDX-License-Identifier: BSD-3-Clause */
/* What the machine did meanwhile (--sensors): the sensors of each node, along the run and by section. One rank of a
 * node recorded them.
 *
 * A counter's value in an interval is what was added in it, in a second of the time between the two samples; a gauge's
 * is what it was at its end. A counter's last interval that is shorter than half of the one before is a part of that.
 * Means are over time. A section's are of the intervals in which that rank had it open, by halves: it is known at
 * samples only, so they are estimates. */
#ifndef FV_PROFILE_MACHINE_H
#define FV_PROFILE_MACHINE_H

#include "profile/model.h"

#include <stddef.h>
#include <stdint.h>

#define FV_MACHINE_POINTS 512 /* of a series, at most */

struct fv_machine_section {
    uint32_t series;
    const char *name;
    int32_t number;
    double seconds, mean;
};

/* Energy of a node while an instance of a section was open. */
struct fv_machine_instance {
    uint32_t series;
    const char *name;
    int32_t section_number;
    uint32_t rank, thread; /* in fv_model.ranks, fv_model.threads */
    uint32_t number;       /* of the thread's instances, from 1 */
    uint64_t readings;     /* in it */
    double value, least, most;
};

struct fv_machine_reading {
    double at_s, value; /* value: since the first one */
};

struct fv_machine_point {
    uint32_t series;
    double begin_s, end_s, mean, max;
};

/* An event of a node. */
struct fv_machine_series {
    uint32_t node;
    uint32_t flags;                      /* enum fv_sensor_flags */
    const char *label, *unit;            /* unit: of what is counted */
    const char *about;                   /* what it counts, in a sentence; "": not known */
    uint64_t intervals;                  /* that are known */
    double total, mean, min, max;        /* total: of a counter, else NAN; all NAN without intervals */
    size_t first_reading, reading_count; /* of energy: its part of fv_machine.readings */
};

struct fv_machine_node {
    uint32_t rank; /* that recorded it */
    double interval_s, begin_s, end_s;
    uint64_t samples, late, missed, thinned, left_out, not_found;
    double cpu_s;           /* of the thread that read them */
    uint32_t place;         /* enum fv_sensor_place_kind; processors NULL: not known */
    const char *processors; /* on which that thread may run: a list */
};

struct fv_machine {
    struct fv_machine_node *nodes;
    size_t node_count, node_room;
    struct fv_machine_series *series; /* by node, as they were asked for */
    size_t series_count, series_room;
    struct fv_machine_point *points; /* by series and time */
    size_t point_count, point_room;
    struct fv_machine_section *sections; /* by series */
    size_t section_count, section_room;
    struct fv_machine_reading *readings;
    size_t reading_count, reading_room;
    struct fv_machine_instance *instances; /* as in fv_sections_view, then by series; those that could be measured */
    size_t instance_count, instance_room;
};

/* Readings of one series come one behind the other. */
void fv_machine_keep_reading(struct fv_machine *m, struct fv_machine_series *series, double at_s, double value);
/* When all readings and sections are there. */
void fv_machine_measure_instances(struct fv_machine *m, const struct fv_model *model);
void fv_machine_release(void *data); /* struct fv_machine */

/* nodes 0: nobody read its sensors. */
FV_SUBJECT_DATA(struct fv_machine, sensors, sensors)

#endif
