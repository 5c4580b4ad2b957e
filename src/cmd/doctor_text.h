/* SPDX-License-Identifier: BSD-3-Clause */
/* What fvmpi doctor found, as text. */
#ifndef FV_DOCTOR_TEXT_H
#define FV_DOCTOR_TEXT_H

#include "doctor/doctor.h"
#include "tool/table.h"
#include "views/views.h"

/* What is bad or unknown; `all`: every check; then what was measured. -FV_EIO: errno tells. */
int fv_doctor_print(struct fv_doctor *doctor, bool all, const struct fv_text_options *options, FILE *out);
/* doctor_measure_text.c; nothing, if nothing was measured. */
void fv_doctor_print_measurement(const struct fv_page *page, struct fv_doctor *doctor);

#endif
