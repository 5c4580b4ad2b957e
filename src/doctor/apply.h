/* SPDX-License-Identifier: BSD-3-Clause */
/* Fixes that are a plain write into a file, and the way back. What was there before is saved first: in
 * /run/fvmpi/doctor.saved for root, else in ~/.local/state/fvmpi/doctor-HOST.saved (XDG_STATE_HOME in place of
 * ~/.local/state), below the root where one stands in (sensors.h), which only its owner can read or write. One line a
 * file, the latest last:
 *
 *     fvmpi-doctor 1 BOOT
 *     proc/sys/kernel/numa_balancing<TAB>0<TAB>1        path, value that was written, value before
 *
 * Values of an earlier boot are not put back: each boot begins anew. */
#ifndef FV_DOCTOR_APPLY_H
#define FV_DOCTOR_APPLY_H

#include "doctor/doctor.h"

#include <stdbool.h>

/* Writes what results want: those that are bad, or, if `named`, all that have something to write. Says on `out` what it
 * does, or, if `dry`, what it would do, and on stderr what went wrong. False: something could not be written; if
 * nothing could be saved, nothing was written. */
bool fv_doctor_apply(struct fv_doctor *doctor, bool named, bool dry, FILE *out);
/* The previous values, latest first; false: some could not be put back, and stay saved. */
bool fv_doctor_restore(struct fv_doctor *doctor, bool dry, FILE *out);

#endif
