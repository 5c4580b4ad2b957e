/* SPDX-License-Identifier: BSD-3-Clause */
/* The first lines of a report at the end of a job. */
#ifndef FV_FIRST_H
#define FV_FIRST_H

/* Prints verdict and findings of an experiment to stderr. Whatever happens to that, the job has ended well: a process
 * of its own reads the experiment, says nothing where it cannot, and gives up after some seconds. */
void fv_say_first(const char *directory);

#endif
