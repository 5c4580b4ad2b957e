/* SPDX-License-Identifier: BSD-3-Clause */
/* A process that holds a part of the shared cache while a thread of the program runs alone (cache pirating: Eklov,
 * Nikoleris, Black-Schaffer, Hagersten, "Cache pirating: measuring the curse of the shared cache", 2011), and tells by
 * timed reads of its lines whether it does. It talks by a page (base/solo.h); the program has no thread of ours.
 *
 * It reads its lines again and again, in order, on another processor with the same last cache; of one line in so many
 * the time is taken. What is longer than the middle (of logarithms) between a line that is in the cache and one that
 * was flushed, both measured before, was not in the cache. Where these do not differ, or the processor has no clock
 * that is read in time, it is not able, and says so by never being ready. x86_64 only. */
#ifndef FV_PIRATE_H
#define FV_PIRATE_H

#include "base/solo.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Starts it with so many bytes. -1: it could not be, which was said. It ends with this process. */
pid_t fv_pirate_begin(struct fv_solo_page *page, size_t bytes);
void fv_pirate_end(pid_t pirate);

#endif
