/* SPDX-License-Identifier: BSD-3-Clause */
/* Where everybody is, of the job that is followed: what anyone saw who looked last (`fvmpi where`, --hang-after). Once
 * it has hung for FV_WHERE_HANG_S, it is looked at from here, too, as `fvmpi where` does, unless somebody did so in the
 * last FV_WHERE_AGAIN_S. */
#ifndef FV_LIVE_JOB_WHERE_H
#define FV_LIVE_JOB_WHERE_H

#include "live/jsonl.h"
#include "profile/looks/looking.h"
#include "profile/profile.h"

#define FV_WHERE_HANG_S  5
#define FV_WHERE_AGAIN_S 30
#define FV_WHERE_PLACES  64 /* that are told */
#define FV_WHERE_NODES   400

struct fv_job_where {
    struct fv_looking looking; /* the last one from here; seen.request 0: none */
    int64_t origin_ns;         /* of the run that it looked at */
    int64_t hangs_since_ns;    /* as it was read; 0: it does not */
    uint64_t newest;           /* looks of anyone, fv_looks.request */
};

/* ,"where":{...}, by relation looks; null where nobody looked. Takes note of whether it hangs. */
void fv_job_where_put(struct fv_job_where *where, const struct fv_profile *profile, struct fv_jsonl *out);
/* True: it has looked, and the job is to be read again. */
bool fv_job_where_look(struct fv_job_where *where, const char *directory);
/* The run that was looked at has gone. */
void fv_job_where_forget(struct fv_job_where *where);

#endif
