/* SPDX-License-Identifier: BSD-3-Clause */
/* The verdict: the first sentence of the report, and what it says of threads. */
#ifndef FV_TEXT_VERDICT_H
#define FV_TEXT_VERDICT_H

#include "views/text/text.h"

void fv_text_verdict(const struct fv_page *page, const struct fv_profile *view);
/* The same as sentences, one a line, without a bar. */
char *fv_text_verdict_words(const struct fv_profile *view, char *out, size_t bytes);
/* How long threads waited for each other, and for what most. */
char *fv_text_threads_waited(const struct fv_profile *view, char *out, size_t bytes);

#endif
