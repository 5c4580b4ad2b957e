/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of locks and of the functions of threads, for all views. */
#ifndef FV_LOCK_WORDS_H
#define FV_LOCK_WORDS_H

#include "profile/profile.h"
#include "profile/threads/locks.h"
#include "profile/threads/phases.h"

/* As fv_lock_words() has it. Returns out. */
char *fv_view_lock_name(const struct fv_profile *view, const struct fv_lock_view *lock, char *out, size_t bytes);
/* The same as programmers know it: GCC's names of criticals and regions are not theirs. Returns out. */
char *fv_view_lock_words(const struct fv_profile *view, const struct fv_lock_view *lock, char *out, size_t bytes);
/* For a column, which may be cut: what has no name by where it was first used. Returns out. */
char *fv_view_lock_label(const struct fv_profile *view, const struct fv_lock_view *lock, char *out, size_t bytes);
/* "f(), created in g() at a.c:3", "OpenMP region in g() at a.c:3". In a column, which may be cut, nothing
 * comes before what tells phases apart. Returns out. */
char *fv_view_phase_label(const struct fv_profile *view, const struct fv_phase *phase, bool in_column, char *out,
                          size_t bytes);
/* As fv_routine_words() has it; FV_NONE: not known. Returns out. */
char *fv_view_routine(const struct fv_profile *view, uint32_t routine, char *out, size_t bytes);

#endif
