/* SPDX-License-Identifier: BSD-3-Clause */
/* Is a difference between repeated measurements more than their noise?
 *
 * Two sides, n_a and n_b runs, means a and b, sample variances v_a and v_b (divided by n - 1). Welch's t:
 *
 *     se^2 = v_a / n_a + v_b / n_b           t = (b - a) / se
 *     nu   = se^4 / ((v_a / n_a)^2 / (n_a - 1) + (v_b / n_b)^2 / (n_b - 1))
 *
 * and the 95 % interval of the change is (b - a) +- t(0.975, nu) se (B. L. Welch, The generalization of
 * "Student's" problem when several different population variances are involved, Biometrika 34 (1947) 28-35;
 * nu by F. E. Satterthwaite, Biometrics Bulletin 2 (1946) 110-114). It assumes no equal variances, which two
 * builds of a program need not have.
 *
 * With one run on one side and n >= 2 on the other, the one is taken to spread like the others (Student's t
 * with the variance of the n): se^2 = v (1 + 1 / n), nu = n - 1. With one run a side nothing is known.
 *
 * Many call paths are tested at once, and of those that did not change at all 5 % would leave their interval.
 * So in a list a change counts only if Benjamini and Hochberg's procedure keeps it, too: with the p values in
 * order, all up to the largest k with p(k) <= 0.05 k / m (J. R. Stat. Soc. B 57 (1995) 289-300). Of the
 * changes that are marked, no more than 5 % are expected to be noise. */
#ifndef FV_DIFF_STATS_H
#define FV_DIFF_STATS_H

#include <stdbool.h>
#include <stddef.h>

#define FV_DIFF_LEVEL 0.05 /* 1 - confidence */

struct fv_change {
    size_t runs[2];   /* that have a value */
    double mean[2];   /* NAN: no run has a value */
    double stddev[2]; /* of a sample, divided by n - 1; NAN below two runs */
    double change;    /* mean[1] - mean[0] */
    double half;      /* change +- half is the 95 % interval; NAN: the noise is not known */
    double p;         /* of no change; NAN likewise */
    bool significant;
};

/* Values that are NAN are left out. */
void fv_change_of(struct fv_change *out, const double *a, size_t a_count, const double *b, size_t b_count);

/* Takes `significant` back where a list of so many would hold it by chance. NULL items are skipped. */
void fv_change_discover(struct fv_change *const *list, size_t count);
/* The same of the changes of `count` rows of `bytes` bytes, each metric by itself: those of a row stand side by
 * side. */
void fv_change_discover_rows(struct fv_change *first, size_t metrics, size_t bytes, size_t count);

/* Student's t with nu degrees of freedom, nu > 0 and not necessarily whole: the probability of |T| > t, and
 * the t that is exceeded so with probability p, 0 < p < 1. */
double fv_student_beyond(double t, double nu);
double fv_student_limit(double p, double nu);

#endif
