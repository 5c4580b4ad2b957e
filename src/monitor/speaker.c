/* SPDX-License-Identifier: BSD-3-Clause */
/* See speaker.h. */
#include "monitor/speaker.h"
#include "rt/process.h"

bool fv_speaks_for_node(void)
{
    static enum { UNASKED, YES, NO } answer;

    if (answer == UNASKED)
        answer = fv_writer_elect_on_node(&fv_rt.writer, "node") == -1 ? NO : YES;
    return answer == YES;
}
