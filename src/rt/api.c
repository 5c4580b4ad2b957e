/* SPDX-License-Identifier: BSD-3-Clause */
/* The public functions of fvmpi.h. */
#include "fvmpi.h"
#include "rt/rt.h"

FV_PUBLIC const char *fvmpi_version(void)
{
    return FVMPI_VERSION;
}

FV_PUBLIC void fvmpi_pause(void)
{
    fv_pause();
}

FV_PUBLIC void fvmpi_resume(void)
{
    fv_resume();
}
