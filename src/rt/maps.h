/* SPDX-License-Identifier: BSD-3-Clause */
/* /proc/self/maps, line by line. By system calls: no malloc, no function of the C library that may be interposed. */
#ifndef FV_MAPS_H
#define FV_MAPS_H

#include <stdbool.h>
#include <stdint.h>

/* Gives each line, which it may change, to `is_it`, until that says yes. False: it never did. */
bool fv_maps_find(bool (*is_it)(char *line, void *arg), void *arg);

/* Is the address in this line's mapping? *rest: what stands behind the addresses, from its blank on. */
bool fv_maps_has(const char *line, uintptr_t address, char **rest);

#endif
