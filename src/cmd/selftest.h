/* SPDX-License-Identifier: BSD-3-Clause */
/* fvmpi selftest: the program that it profiles, and how it starts programs. */
#ifndef FV_SELFTEST_H
#define FV_SELFTEST_H

#include "base/base.h"

#include <limits.h>

/* C. Rank 1 computes ten times as long as the others, in react(); without MPI (-DWITHOUT_MPI) the only process does.
 * Its last rank prints FV_SELFTEST_SAID. */
extern const char fv_selftest_program[];
#define FV_SELFTEST_SAID "selftest: %d ranks computed"

/* A directory for all that a test writes, which is removed at its end, and the time by which the test ends. */
struct fv_selftest_place {
    char directory[PATH_MAX];
    double end_s; /* by CLOCK_MONOTONIC */
};

/* In $TMPDIR or /tmp. Sets the environment of what is started there, too: nothing of the user's options, a TMPDIR
 * there, and what Open MPI asks for as root and on few processors. From now on SIGINT, SIGTERM and SIGHUP end what
 * runs. False: it has said why not. */
bool fv_selftest_open(struct fv_selftest_place *place, double limit_s);
/* Removes it, unless it is to be kept. Does not return where a signal ended the test. */
void fv_selftest_close(struct fv_selftest_place *place, bool keep);

/* Starts a program there, in a process group of its own, and waits for it. What it writes goes to the file `log`. True:
 * its exit status is 0; else `why` says what happened. */
bool fv_selftest_start(const struct fv_selftest_place *place, const char *log, const char *const argv[], char why[256]);
bool fv_selftest_is_interrupted(void);

#endif
