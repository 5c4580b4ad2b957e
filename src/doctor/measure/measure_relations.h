/* SPDX-License-Identifier: BSD-3-Clause */
/* The relations of what was measured (tool/relation.h): a part of the doctor's. Their subject is a struct fv_doctor. */
#ifndef FV_MEASURE_RELATIONS_H
#define FV_MEASURE_RELATIONS_H

#include "tool/relation.h"

extern const struct fv_relation fv_measure_measurement, fv_measure_events, fv_measure_noise, fv_measure_counts,
    fv_measure_detours, fv_measure_periods, fv_measure_branches, fv_measure_caches, fv_measure_latency,
    fv_measure_levels, fv_measure_tlb, fv_measure_bandwidth;

#endif
