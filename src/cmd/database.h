/* SPDX-License-Identifier: BSD-3-Clause */
/* `fvmpi report --sqlite`. */
#ifndef FV_CMD_DATABASE_H
#define FV_CMD_DATABASE_H

#include "profile/profile.h"
#include "timeline/timeline_read.h"

/* Has any rank events? */
bool fv_is_traced(const struct fv_model *model);
/* Writes the profile, and a part of the trace if there is one, to a new database in the place of `path`. `name`: of the
 * run, as it was named; `trace`: where its trace is, NULL: nowhere. Has logged when it fails. */
int fv_database_write(const struct fv_profile *profile, const char *name, const char *trace,
                      const struct fv_timeline_choice *part, const char *path);

#endif
