/* SPDX-License-Identifier: BSD-3-Clause */
/* What is asked first of a run, as views: `fvmpi query --examples` prints them, a database has them. */
#ifndef FV_QUERY_QUESTIONS_H
#define FV_QUERY_QUESTIONS_H

#include <stddef.h>

struct fv_question {
    const char *name, *question, *sql;
};
extern const struct fv_question fv_questions[];
extern const size_t fv_question_count;

#endif
