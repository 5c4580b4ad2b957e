/* SPDX-License-Identifier: BSD-3-Clause */
/* Waiting for progress. Most MPI libraries move large messages, and non-blocking collective operations, only while the
 * ranks that take part are in MPI calls. A rank that posts its part and then computes withholds progress: whoever is
 * blocked in MPI meanwhile waits until it makes its next call (share/analysis.md, no_progress).
 *
 *     sender      Isend |------- computes -------| Wait
 *                 post                            came back = x
 *     receiver            Wait |--------------------|
 *                              E    no progress     x  L   (x to L: transfer)
 *
 * A trace does not tell what the library does. So a call counts as such a wait only where all of this holds:
 * - the other rank posted its part before the call ended, and was outside of MPI, with all of its threads, for nine
 *   tenths at least of the time from E (or from its post, if that was later) to x;
 * - the call ended after x, and by then had waited longer than it did from x on: transfers that go on by themselves
 *   end whenever they are over;
 * - x is at least 20 us after E: shorter ones may be latency;
 * - in the run, hardly any such call ended while the other rank was still outside of MPI: else the library, or the
 *   network, moves such messages by itself. Or one in three of them ended at once when the other rank came back, as
 *   this one did: of transfers that go on by themselves, one in twenty would. Those that do were matched before.
 * What is left is transfer. */
#ifndef FV_ANALYSIS_PROGRESS_H
#define FV_ANALYSIS_PROGRESS_H

#include "analysis/match.h"

#define FV_PROGRESS_LEAST_NS 20000

/* May a call that could go on by itself from `from` on, and ended at `end`, have waited until then for somebody who
 * came back to MPI at `back`? */
static inline bool fv_progress_is_wait(uint64_t from, uint64_t back, uint64_t end)
{
    return back < end && back >= from + FV_PROGRESS_LEAST_NS && end - back <= back - from;
}

/* Collective, when the steps are complete: messages, and operations on windows. What non-blocking collective operations
 * wait for is told by match.h. */
void fv_progress(struct fv_steps *steps, const struct fv_defs *defs, const struct fv_transport *t);

#endif
