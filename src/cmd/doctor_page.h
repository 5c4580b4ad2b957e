/* SPDX-License-Identifier: BSD-3-Clause */
/* What fvmpi doctor found, as JSON, and what it measured, as a page. */
#ifndef FV_DOCTOR_PAGE_H
#define FV_DOCTOR_PAGE_H

#include "doctor/doctor.h"

/* Both: -FV_EIO: errno tells. */
int fv_doctor_json(struct fv_doctor *doctor, FILE *out);
/* A page that needs nothing else: share/page/measure.html around the JSON. */
int fv_doctor_page(struct fv_doctor *doctor, FILE *out);

#endif
