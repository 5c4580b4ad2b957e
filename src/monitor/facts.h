/* SPDX-License-Identifier: BSD-3-Clause */
/* Facts in the rank file: what the files of this folder share. */
#ifndef FV_FACTS_WRITER_H
#define FV_FACTS_WRITER_H

#include "trace/format.h"

/* Of a value that is longer than what a fact has room for the end is cut off. By one thread at a time. */
void fv_fact_put(enum fv_fact_key key, uint32_t index, const char *value);

/* A list of processors, "0-3,8": takes the next range. */
bool fv_next_range(const char **at, unsigned long *first, unsigned long *last);

#endif
