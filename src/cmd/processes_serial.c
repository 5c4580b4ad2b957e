/* SPDX-License-Identifier: BSD-3-Clause */
/* One process, without MPI. See processes.h. */
#include "cmd/processes.h"

const struct fv_transport *fv_processes_start(int *argc, char ***argv)
{
    (void)argc, (void)argv;
    return &fv_transport_alone;
}

void fv_processes_stop(void) {}
