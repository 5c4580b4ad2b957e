/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions that a filter leaves out, which `fvmpi run` has found (cmd/filter.h): FVMPI_FUNCTIONS_LEFT_OUT holds, for
 * each object with such, its base name (of the program itself a dot), `=` and the distances of their begins, the first
 * from 0; commas between. A distance has five bits a digit of base64url, lowest first, and the sixth is set where more
 * follow. `+` and a name, as in the symbol table, is a function of any other object. */
#ifndef FV_EXCLUSIONS_H
#define FV_EXCLUSIONS_H

#include "base/base.h"

/* Once, at the start. Without memory nothing is left out. */
void fv_exclusions_init(void);
/* Is the function, of that offset in the object that holds it, left out? */
bool fv_exclusions_have(const void *function, uint64_t offset);

/* ---- for tests ---- */

/* The next number; *at goes on behind it. False: what stands there is none. */
bool fv_exclusions_number(const char **at, uint64_t *out);

#endif
