/* SPDX-License-Identifier: BSD-3-Clause */
/* A sensor's own: its memory, and its open files. */
#ifndef FV_SENSOR_MEMORY_H
#define FV_SENSOR_MEMORY_H

#include "sensors/sensors.h"

#include <sys/types.h>

#define FV_SENSOR_TEXT ((size_t)1 << 18) /* of a file that is read: what is behind is not seen */

struct fv_sensor_state {
    char *text; /* of the last file read */
    int *files; /* -1: it is not there */
    size_t file_count;
    void *own;                    /* the form's */
    struct fv_sensor_arena arena; /* the state is in it */
};

/* Zeroed; stays until the arena is given back. NULL: no memory. */
void *fv_sensor_take_of(struct fv_sensor_arena *arena, size_t bytes);
void fv_sensor_give_back(struct fv_sensor_arena arena); /* by value: it may lie in its own pages */

/* Stays until the sensor is closed. */
void *fv_sensor_take(struct fv_sensor *sensor, size_t bytes);
char *fv_sensor_name(struct fv_sensor *sensor, const char *text, size_t length);
/* Reads the file from its begin into state->text, which ends with a NUL. Its bytes; 0: it is not there. */
size_t fv_sensor_load(struct fv_sensor *sensor, int fd);
/* Opens ROOT/path, a source's stars filled in. -1: it is not there. */
int fv_sensor_file(const char *path);

/* Paths that a pattern with stars stands for, sorted as people number things (cpu2 before cpu10), and what its stars
 * stood for, joined by '/'. */
struct fv_sensor_match {
    char path[512], source[128];
};
/* Their number, at most `room`. */
size_t fv_sensor_glob(const char *pattern, struct fv_sensor_match *out, size_t room);

#endif
