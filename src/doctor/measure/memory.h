/* SPDX-License-Identifier: BSD-3-Clause */
/* Latency by working set, reach of the TLB, bandwidth. */
#ifndef FV_MEASURE_MEMORY_H
#define FV_MEASURE_MEMORY_H

#include "doctor/measure/measure.h"

/* What /sys says of a processor's caches, else what CPUID says by way of the C library. */
void fv_memory_find_caches(struct fv_doctor *doctor, struct fv_measurement *measured);
/* On the first of the processors, bandwidth on all of them, too; for so many seconds. */
void fv_memory_measure(struct fv_doctor *doctor, struct fv_measurement *measured, double seconds);
/* The cache that processors share, as it is measured: what is told of it may be many times too large in a guest. */
struct fv_shared_cache {
    uint64_t bytes;         /* the largest working set that it holds, of one processor with its own caches; 0: it is not
                             * told from memory, or from these */
    uint64_t private_bytes; /* the largest cache that a processor has for itself */
    double cache_ns, memory_ns; /* of a step of a chase: above private_bytes, and of the largest working set */
};
/* By chases on that processor, for so many seconds. */
void fv_memory_shared_cache(struct fv_doctor *doctor, uint32_t cpu, double seconds, struct fv_shared_cache *out);
/* Of latencies that are there: sets bytes, cache_ns and memory_ns, by private_bytes. For tests. */
void fv_memory_find_shared(const struct fv_measurement *measured, struct fv_shared_cache *cache);
/* ns of a step of a chase through so many bytes on that processor, the median; NAN: it could not be measured. */
double fv_memory_chase(struct fv_doctor *doctor, uint32_t cpu, uint64_t bytes, double seconds);

/* Plateaus of the latencies that are there, with the names of levels. */
void fv_memory_find_levels(struct fv_measurement *measured);

#endif
