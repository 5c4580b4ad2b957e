/* SPDX-License-Identifier: BSD-3-Clause */
/* What this process could not record and only its own words explain: said on stderr, and kept in the rank file, so that
 * the report says it to who has no stderr any more. Losses that have a counter need none. */
#ifndef FV_REMARKS_H
#define FV_REMARKS_H

#include "base/base.h"

/* `aloud`: on stderr, too; else another rank says it. The same words are kept once. No lock is waited for: any thread,
 * with the writer's lock held or not. */
void fv_remark(bool aloud, const char *format, ...) FV_PRINTF(2, 3);
/* The program made children by fork(). That is no fault of the recording. */
void fv_remark_forks(void);
/* If it waited for children so far: at the end. */
void fv_remark_children(void);
/* Writes what could not be written when it was said. At the start, where what was said before is written, and at the
 * end. */
void fv_remarks_write(void);

#endif
