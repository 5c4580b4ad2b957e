/* Latency by working set, reach of the TLB, bandwidth. */
#ifndef FV_MEASURE_MEMORY_H
#define FV_MEASURE_MEMORY_H

#include "doctor/measure/measure.h"

/* What /sys says of a processor's caches, else what CPUID says by way of the C library. */
void fv_memory_find_caches(struct fv_doctor *doctor, struct fv_measured *measured);
/* On the first of the processors, bandwidth on all of them, too; for so many seconds. */
void fv_memory_measure(struct fv_doctor *doctor, struct fv_measured *measured, double seconds);
/* Plateaus of the latencies that are there, with the names of levels. */
void fv_memory_find_levels(struct fv_measured *measured);

#endif
