/* SPDX-License-Identifier: BSD-3-Clause */
/* Where the thread of sensors runs: on a processor that no process of the job is pinned to. */
#ifndef FV_PLACE_H
#define FV_PLACE_H

#include "trace/format.h"

#define FV_SENSORS_THREAD "fvmpi-sensors" /* its name; and where it reads no sensors: */
#define FV_WATCH_THREAD   "fvmpi-watch"

/* Moves the calling thread. Processes of the same launcher on this node are asked anew each time: they may bind
 * themselves later. Threads that may run everywhere are not pinned. */
void fv_place_look(struct fv_sensor_place *place);

#endif
