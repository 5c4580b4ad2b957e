/* SPDX-License-Identifier: BSD-3-Clause */
/* fvmpi dump prints what format_words.h says of records: their fields (dump.c), and what these mean
 * (dump_records.c). */
#ifndef FV_DUMP_H
#define FV_DUMP_H

/* The description of all records, in Markdown: what share/format.md ends with. */
void fv_dump_records(void);

#endif
