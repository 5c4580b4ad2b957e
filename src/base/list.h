/* SPDX-License-Identifier: BSD-3-Clause */
/* An enum and its words are one list, X(NAME, word, ...), beside the enum; the words, in its order, are
 *
 *     static const char *const words[] = { FV_THINGS(FV_LIST_WORD) };
 */
#ifndef FV_LIST_H
#define FV_LIST_H

#define FV_LIST_WORD(name, word, ...) word,

#endif
