/* SPDX-License-Identifier: BSD-3-Clause */
/* OpenMetrics 1.0, for Prometheus: the events that are watched, by source, as their sensors were last read, and what
 * this process took.
 *
 *     net.rx_bytes@eth0    fvmpi_net_rx_bytes_total{source="eth0"} 1000     a counter, since whenever its device began
 *     meminfo.MemFree      fvmpi_meminfo_MemFree_bytes 4096                 a gauge
 *
 * A name ends with its unit (bytes, seconds, joules, ...), if it has one. */
#ifndef FV_METRICS_H
#define FV_METRICS_H

#include "live/live.h"

/* Under the lock. */
void fv_metrics(struct fv_live *live, size_t clients, struct fv_jsonl *out);

#endif
