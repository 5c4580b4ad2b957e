/* SPDX-License-Identifier: BSD-3-Clause */
/* The relations of the doctor (tool/relation.h): what fvmpi doctor writes as JSON and text. Their subject is a struct
 * fv_doctor. */
#ifndef FV_DOCTOR_RELATIONS_H
#define FV_DOCTOR_RELATIONS_H

#include "doctor/doctor.h"
#include "tool/relation.h"

/* In the order of JSON; NULL behind the last. */
extern const struct fv_relation *const fv_doctor_relations[];
extern const struct fv_relation fv_doctor_results, fv_doctor_services, fv_doctor_processes; /* of them */
#define FV_DOCTOR_SCHEMA "fvmpi-doctor-1"

#endif
