/* SPDX-License-Identifier: BSD-3-Clause */
/* A record as text on standard output: ` key=value ...`, by what format_words.h says of its fields. No type of records
 * is known here.
 *
 *     numbers                  decimal, or 0x... for addresses, hashes and masks; enumerations by their words, flags
 *                              joined by +
 *     text                     "in quotes", escaped
 *     a field of a structure   structure.field=
 *     arrays                   a,b,c without the zeros at the end, but where a count says how many there are; -: none.
 *                              Rows, and structures of numbers,
 *                              have ; between them; what is indexed by an enumeration is word:value for all that are
 *                              not 0 */
#ifndef FV_RECORD_TEXT_H
#define FV_RECORD_TEXT_H

#include "trace/format_words.h"

/* `prefix` stands before each key. */
void fv_text_members(const char *prefix, const struct fv_layout *layout, const void *record, uint64_t bytes);

/* Up to its NUL, of so many bytes. */
void fv_text_quoted(const char *text, uint64_t bytes);

#endif
