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
