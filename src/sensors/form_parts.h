/* SPDX-License-Identifier: BSD-3-Clause */
/* What the forms of sensors are made of: words of text, and a sensor's sources and events while it is opened. */
#ifndef FV_FORM_PARTS_H
#define FV_FORM_PARTS_H

#include "sensors/memory.h"

/* ---- text that ends with a NUL: words have blanks between ---- */

size_t fv_form_word_length(const char *at);
const char *fv_form_next_word(const char *at); /* of the line; at its end there */
const char *fv_form_next_line(const char *at);
uint64_t fv_form_number_at(const char *at); /* FV_SENSOR_NONE: there is no number */

/* ---- of a sensor that is opened; false, NULL: no room, which is counted, or no memory ---- */

bool fv_form_make_room(struct fv_sensor *sensor); /* first, for all that is added */
bool fv_form_add_event(struct fv_sensor *sensor, const char *name, size_t length);
bool fv_form_add_source(struct fv_sensor *sensor, const char *name, size_t length);
/* An event for each of kind->files. */
bool fv_form_name_events(struct fv_sensor *sensor);
/* state->files, none of them open. */
bool fv_form_make_files(struct fv_sensor *sensor, size_t count);
/* Makes room. Sources by kind->path, each with the name that its stars stand for, "@" being the control group of this
 * process; NULL: there are none, or no memory. */
struct fv_sensor_match *fv_form_find_sources(struct fv_sensor *sensor, size_t *count);

#endif
