/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of subjects (profile/subject.h), of which the profile's engine knows none. */
#include "profile/subject.h"

#define ROW(name) extern const struct fv_subject fv_##name##_subject;
FV_SUBJECTS(ROW)
#undef ROW

#define ROW(name) [FV_SUBJECT_##name] = &fv_##name##_subject,
const struct fv_subject *const fv_subjects[FV_SUBJECT_COUNT] = { FV_SUBJECTS(ROW) };
