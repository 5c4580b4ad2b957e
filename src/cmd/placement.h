/* SPDX-License-Identifier: BSD-3-Clause */
/* Where `fvmpi run` puts processes, and their addresses: --pin in the words of the launcher that it starts, --aslr. */
#ifndef FV_PLACEMENT_H
#define FV_PLACEMENT_H

#include <stdbool.h>

#define FV_PIN_WORDS 2
/* The words that make a launcher bind each rank, to `what` (cores, sockets, numa, threads): "--bind-to", "core".
 * Returns how many, in constants that stay; 0: has said why not: none that is known, or its command line or environment
 * says it already. `launcher`: its file; NULL: there is none. `argv`: the command. */
int fv_pin_words(const char *launcher, char *const argv[], const char *what, const char *words[FV_PIN_WORDS]);

/* From now on programs that this process starts, and theirs, are loaded at the same addresses each time. False: has
 * said why not. */
bool fv_aslr_off(const char *launcher);

#endif
