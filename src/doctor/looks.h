/* SPDX-License-Identifier: BSD-3-Clause */
/* How checks look. Each says a state and what was found (fv_doctor_say()), and what could be written
 * (fv_doctor_want()). */
#ifndef FV_DOCTOR_LOOKS_H
#define FV_DOCTOR_LOOKS_H

#include "doctor/doctor.h"

typedef void fv_doctor_look_fn(struct fv_doctor *doctor, struct fv_doctor_result *result);

/* look_files.c: what the row's files say */
fv_doctor_look_fn fv_doctor_look_files;

/* look_processors.c */
fv_doctor_look_fn fv_doctor_look_clock_range, fv_doctor_look_thermal, fv_doctor_look_smt, fv_doctor_look_c_states,
    fv_doctor_look_clock_source, fv_doctor_look_steal;
int fv_doctor_has_hypervisor(struct fv_doctor *doctor); /* 1: there is one; 0: none; -1: not known */
/* look_kernel.c */
fv_doctor_look_fn fv_doctor_look_isolation, fv_doctor_look_tick, fv_doctor_look_rcu, fv_doctor_look_irq,
    fv_doctor_look_irqbalance, fv_doctor_look_workqueues, fv_doctor_look_ipi;
/* look_load.c */
fv_doctor_look_fn fv_doctor_look_tasks, fv_doctor_look_swap, fv_doctor_look_cgroup, fv_doctor_look_realtime,
    fv_doctor_look_aslr, fv_doctor_look_warm_up;
/* look_services.c, look_modules.c: they also list what they saw */
fv_doctor_look_fn fv_doctor_look_services, fv_doctor_look_modules;
/* look_masks.c */
fv_doctor_look_fn fv_doctor_look_pinning, fv_doctor_look_overlap, fv_doctor_look_too_many, fv_doctor_look_placement;

#endif
