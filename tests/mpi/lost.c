/* For Fortran. */
#define _GNU_SOURCE
#include "lost.h"

int64_t lost_ns_(void);
int64_t queued_ns_(void);

int64_t lost_ns_(void)
{
    return lost_ns();
}

int64_t queued_ns_(void)
{
    return queued_ns();
}
