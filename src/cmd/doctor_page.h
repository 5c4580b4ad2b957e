/* SPDX-License-Identifier: BSD-3-Clause */
/* What fvmpi doctor found, as JSON, and what it measured, as a page. */
#ifndef FV_DOCTOR_PAGE_H
#define FV_DOCTOR_PAGE_H

#include "doctor/doctor.h"

#include <jansson.h>

/* Both: -FV_EIO: errno tells. */
int fv_doctor_json(struct fv_doctor *doctor, FILE *out);
/* Reads such a file. NULL: it is none, which was said, with `wanted`: "--diff takes two files of ...". */
json_t *fv_doctor_read(const char *file, const char *wanted);
/* A page that needs nothing else: share/page/measure.html around the JSON. */
int fv_doctor_page(struct fv_doctor *doctor, FILE *out);

#endif
