/* SPDX-License-Identifier: BSD-3-Clause */
/* Files that tell the machine's state, below the root (sensors.h): regular ones alone, to a bound, whatever is in
 * them. */
#ifndef FV_DOCTOR_FILES_H
#define FV_DOCTOR_FILES_H

#include "doctor/doctor.h"

#include <fcntl.h>
#include <limits.h>

enum { FV_DOCTOR_TEXT = 1 << 20, FV_DOCTOR_LONG_TEXT = 16 << 20 };

/* ROOT/path. -1: it is not there, or no regular file; errno. */
int fv_doctor_open(const char *path, int flags);
/* Its text, at most so many bytes; stays until the next one is read. NULL: it cannot be read; errno. */
const char *fv_doctor_text(struct fv_doctor *doctor, size_t most, const char *path);
/* Its first line, or the word in brackets where it is a choice ("always [madvise] never"); "" where it is empty. In the
 * arena; NULL: it cannot be read. */
const char *fv_doctor_value(struct fv_doctor *doctor, const char *format, ...) FV_PRINTF(2, 3);
/* A whole number. False: there is none. */
bool fv_doctor_number(struct fv_doctor *doctor, const char *path, long long *out);

/* Paths that fit, as people number things; NULL behind the last. A pattern without stars: itself, if it is there. */
const char *const *fv_doctor_glob(struct fv_doctor *doctor, const char *pattern);

/* The value of an option of the kernel's configuration (/proc/config.gz, /boot/config-RELEASE): "y", "1000"; "" if it
 * is not set. NULL: that cannot be read. */
const char *fv_doctor_config(struct fv_doctor *doctor, const char *option);
/* The value of a parameter of the kernel's command line; "" if it has none. NULL: it is not there. */
const char *fv_doctor_parameter(struct fv_doctor *doctor, const char *name);

#endif
