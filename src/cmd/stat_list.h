/* SPDX-License-Identifier: BSD-3-Clause */
/* Which events sensors have, on standard output. */
#ifndef FV_CMD_STAT_LIST_H
#define FV_CMD_STAT_LIST_H

/* Those of this machine, with their units, what they count, and what reading a sensor costs. */
void fv_stat_list(void);
/* All that are known. */
void fv_stat_glossary(void);

#endif
