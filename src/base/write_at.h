/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes all bytes, however many the kernel takes at a time. */
#ifndef FV_WRITE_AT_H
#define FV_WRITE_AT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* At an offset of a file. False: errno says why. */
bool fv_write_at(int fd, const void *bytes, size_t count, uint64_t at);

#endif
