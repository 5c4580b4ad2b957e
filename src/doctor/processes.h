/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes whose threads' masks are looked at: those that a user names, or the ranks of this node that one launcher
 * started. */
#ifndef FV_DOCTOR_PROCESSES_H
#define FV_DOCTOR_PROCESSES_H

#include "doctor/doctor.h"

/* False: there is none, or it is hidden. */
bool fv_doctor_add_process(struct fv_doctor *doctor, int32_t pid);

/* Under a launcher all ranks of a node start this; one of them looks and speaks. It waits for its siblings (5 s at
 * most), and they, until it has ended (10 s at most), so that their masks can be read. False: this process is not the
 * one; it has nothing more to do. */
bool fv_doctor_gather_ranks(struct fv_doctor *doctor);

#endif
