/* SPDX-License-Identifier: BSD-3-Clause */
/* Of a process, as our own archives say it in properties of its location group; how it ended. */
#ifndef FV_OTF2_STATES_H
#define FV_OTF2_STATES_H

#include "trace/format.h"

#include <string.h>

#define FV_ARCHIVE_PID          "fvmpi::PID"
#define FV_ARCHIVE_MPI          "fvmpi::MPI" /* the library's version */
#define FV_ARCHIVE_THREAD_LEVEL "fvmpi::THREAD_LEVEL"

#define FV_ARCHIVE_STATE   "fvmpi::STATE"
#define FV_ARCHIVE_MISSING "missing: no rank file"
#define FV_ARCHIVE_RUNS    "running when it was merged"

static const char *const fv_archive_states[] = {
    [FV_STATE_RUNNING] = "killed",
    [FV_STATE_FINALIZED] = "finalized",
    [FV_STATE_EXITED] = "exited without MPI_Finalize",
    [FV_STATE_ABORTED] = "aborted",
    [FV_STATE_REPLACED] = "replaced by another program",
    [FV_STATE_CUT] = "cut: not all events were there",
};

/* The events of a process that was killed end early: where it was then is not in the archive. */
static inline enum fv_file_state fv_archive_state_of(const char *said)
{
    for (unsigned i = FV_STATE_FINALIZED; i <= FV_STATE_REPLACED; i++)
        if (!strcmp(said, fv_archive_states[i]))
            return (enum fv_file_state)i;
    return FV_STATE_CUT;
}

#endif
