/* SPDX-License-Identifier: BSD-3-Clause */
/* The sections that the process knows, and which of them were open together (sets): ids that all of its
 * threads share, and their records in the rank file. Any thread. Those that find take a lock and may write:
 * with signals held. */
#ifndef FV_SECTION_SETS_H
#define FV_SECTION_SETS_H

#include "base/base.h"
#include "trace/format.h"

#include <string.h>

enum {
    FV_SECTIONS = 1024,      /* of the process, the one for others included */
    FV_SECTION_PLACES = 2048 /* of tables by name and number */
};

uint32_t fv_section_hash(const char *name, int32_t number);
static inline bool fv_section_has_name(const char *kept, const char *name)
{
    return !strncmp(kept, name, FV_SECTION_NAME - 1);
}

/* A section's id, from 1; the last one stands for all that come too late. 0: no disk. */
uint32_t fv_section_find(const char *name, int32_t number, int32_t level);
bool fv_section_is_others(uint32_t id);

/* The set of `outer` and a section, from 1; 0: there are too many, or no disk. */
uint32_t fv_section_set_find(uint32_t outer, uint32_t section);

#endif
