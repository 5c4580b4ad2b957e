/* SPDX-License-Identifier: BSD-3-Clause */
/* Names in a folder of /proc that are numbers: processes, or threads. Without malloc. */
#ifndef FV_NUMBERS_IN_H
#define FV_NUMBERS_IN_H

#include <stdint.h>

/* As the kernel lists them: small numbers first. None, where the folder cannot be read. */
void fv_numbers_in(const char *folder, void (*take)(void *context, uint32_t number), void *context);

#endif
