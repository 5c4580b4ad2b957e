/* SPDX-License-Identifier: BSD-3-Clause */
/* Shapes of files that sensors read. */
#ifndef FV_SENSOR_FORMS_H
#define FV_SENSOR_FORMS_H

#include "sensors/sensors.h"

struct fv_sensor_form {
    bool (*open)(struct fv_sensor *sensor); /* finds sources and events; false: it is not there */
    void (*read)(struct fv_sensor *sensor, uint64_t *values);
    const struct fv_gpu_library *library; /* that it asks; NULL: it reads files */
};

/* "name value" a line, in one file of each source; "name: value kB" as well, and "Node 0 name: value kB". */
extern const struct fv_sensor_form fv_form_keys;
/* One number a file: kind->files, in a folder of each source. */
extern const struct fv_sensor_form fv_form_files;
/* A line for each source, that begins with its name: kind->files names the columns. kind->path: FILE and, behind a
 * blank, how the lines begin, "*" for all, or "=NAME" for a single one. */
extern const struct fv_sensor_form fv_form_lines;
/* A line for each event, a column for each processor, whose names stand above. */
extern const struct fv_sensor_form fv_form_grid;
/* Pressure: "some avg10=0.00 avg60=0.00 avg300=0.00 total=123" and "full ..."; totals. */
extern const struct fv_sensor_form fv_form_pressure;

/* One number a file, each a source, with the one name of kind->files; "x_input" is called what "x_label" beside it
 * says. kind->path: FILES and, behind a blank if there is one, how the labels begin of those that are wanted. */
extern const struct fv_sensor_form fv_form_values;
/* What clients of file systems tell (forms_storage.c). NFS: /proc/self/mountstats, where the line "bytes:" of a mount
 * has its kind->files as columns. */
extern const struct fv_sensor_form fv_form_mounts;
/* "name COUNT samples [UNIT] min max SUM": of bytes the sum, else the count; a file for each source. */
extern const struct fv_sensor_form fv_form_totals;
/* Devices of perf events, by which the kernel counts over all programs, where it lets us (forms_perf.c). kind->path:
 * their folders; kind->files: events. */
extern const struct fv_sensor_form fv_form_perf;

/* What libraries of the makers of GPUs say (forms_gpu.c). kind->path: their names, of which the first that is there is
 * taken; kind->files: events. */
extern const struct fv_sensor_form fv_form_nvidia, fv_form_rocm;
/* Once for all. False: `why` tells. */
bool fv_gpu_load(const struct fv_sensor_kind *kind);
double fv_gpu_maximum(const struct fv_sensor *sensor, size_t source, size_t event);

#endif
