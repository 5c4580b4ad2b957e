/* SPDX-License-Identifier: BSD-3-Clause */
/* What a branch costs whose direction can be predicted, and one whose direction cannot. */
#ifndef FV_MEASURE_BRANCHES_H
#define FV_MEASURE_BRANCHES_H

#include "doctor/measure/measure.h"

/* On the first of the processors, for so many seconds. */
void fv_branches_measure(struct fv_measurement *measured, double seconds);

#endif
