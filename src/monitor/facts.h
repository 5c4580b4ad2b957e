/* Facts in the rank file: what the files of this folder share. */
#ifndef FV_FACTS_WRITER_H
#define FV_FACTS_WRITER_H

#include "trace/format.h"

#include <stdbool.h>

/* Of a value that is longer than what a fact has room for the end is cut off. By one thread at a time. */
void fv_fact_put(enum fv_fact_key key, uint32_t index, const char *value);
/* Is this process the one that tells of its node? Where it cannot be found out who is, all are. From the start of that layer on. */
bool fv_facts_is_elected(void);

#endif
