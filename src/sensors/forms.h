/* Shapes of files that sensors read. */
#ifndef FV_SENSOR_FORMS_H
#define FV_SENSOR_FORMS_H

#include "sensors/sensors.h"

struct fv_sensor_form {
    bool (*open)(struct fv_sensor *sensor); /* finds sources and events; false: it is not there */
    void (*read)(struct fv_sensor *sensor, uint64_t *values);
};

/* "name value" a line, in one file of each source; "name: value kB" as well, and "Node 0 name: value kB". */
extern const struct fv_sensor_form fv_form_keys;
/* One number a file: kind->files, in a folder of each source. */
extern const struct fv_sensor_form fv_form_files;
/* A line for each source, that begins with its name: kind->files names the columns. kind->path: FILE and, behind a blank, how the lines begin. */
extern const struct fv_sensor_form fv_form_lines;
/* A line for each event, a column for each processor, whose names stand above. */
extern const struct fv_sensor_form fv_form_grid;
/* Pressure: "some avg10=0.00 avg60=0.00 avg300=0.00 total=123" and "full ..."; totals. */
extern const struct fv_sensor_form fv_form_pressure;

#endif
