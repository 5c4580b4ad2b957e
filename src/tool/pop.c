/* SPDX-License-Identifier: BSD-3-Clause */
/* See pop.h. */
#include "tool/pop.h"

#include <math.h>

#define CLOCK_ERROR 0.01

void fv_pop_add(struct fv_pop_sums *s, double elapsed_s, double mpi_s)
{
    double useful_s = elapsed_s - fmin(mpi_s, elapsed_s);

    s->ranks++;
    s->useful_s += useful_s;
    s->most_useful_s = fmax(s->most_useful_s, useful_s);
    s->elapsed_s = fmax(s->elapsed_s, elapsed_s);
}

/* More than the whole, but for what clocks are wrong by, is no part: times are damaged. */
static double part(double of, double whole)
{
    return whole > 0 && of <= whole * (1 + CLOCK_ERROR) ? of / whole : NAN;
}

struct fv_pop fv_pop_of(const struct fv_pop_sums *s, double ideal_s)
{
    return (struct fv_pop){ .parallel = part(s->useful_s, s->ranks * s->elapsed_s),
                            .load_balance = part(s->useful_s, s->ranks * s->most_useful_s),
                            .communication = part(s->most_useful_s, s->elapsed_s),
                            .serialization = part(s->most_useful_s, ideal_s),
                            .transfer = part(ideal_s, s->elapsed_s) };
}

bool fv_pop_hybrid_add(struct fv_pop_hybrid_sums *s, const struct fv_pop_regions *r, double elapsed_s, double mpi_s)
{
    double outside_s = elapsed_s - fmin(mpi_s, elapsed_s), serial_s = fmax(outside_s - r->elapsed_s, 0);

    if (r->elapsed_s > outside_s * (1 + CLOCK_ERROR))
        return false;
    s->threads += r->threads;
    s->outside_s += r->threads * outside_s;
    s->most_outside_s = fmax(s->most_outside_s, outside_s);
    s->elapsed_s = fmax(s->elapsed_s, elapsed_s);
    s->useful_s += r->time_s - r->wait_s + serial_s;
    s->imbalance_s += r->wait_s + r->join_s;
    s->scheduling_s += fmax(r->team_s - r->time_s - r->join_s, 0);
    s->serialization_s += (r->threads - 1) * serial_s + fmax(r->threads * r->elapsed_s - r->team_s, 0);
    return true;
}

struct fv_pop_hybrid fv_pop_hybrid_of(const struct fv_pop_hybrid_sums *s)
{
    double busy_s = s->useful_s + s->serialization_s, in_time_s = busy_s + s->imbalance_s;

    return (struct fv_pop_hybrid){ .parallel = part(s->useful_s, s->threads * s->elapsed_s),
                                   .mpi = part(s->outside_s, s->threads * s->elapsed_s),
                                   .mpi_load_balance = part(s->outside_s, s->threads * s->most_outside_s),
                                   .mpi_communication = part(s->most_outside_s, s->elapsed_s),
                                   .omp = part(s->useful_s, s->outside_s),
                                   .omp_load_balance = part(busy_s, in_time_s),
                                   .omp_scheduling = part(in_time_s, in_time_s + s->scheduling_s),
                                   .omp_serialization = part(s->useful_s, busy_s) };
}
