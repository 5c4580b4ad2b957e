/* POP efficiencies (POP Centre of Excellence, "POP Standard Metrics for Parallel Performance Analysis";
 * Rosas, Gimenez and Labarta: Scalability prediction for fundamental performance factors, Supercomputing
 * Frontiers and Innovations 1 (2), 2014, for the last two). U_i: time of rank i outside of MPI, P: number of
 * ranks, T: elapsed time.
 *
 *     parallel = sum U / (P T) = load balance * communication
 *     load balance = sum U / (P max U)
 *     communication = max U / T = serialization * transfer
 *     serialization = max U / T_ideal, transfer = T_ideal / T, where messages would take no time in T_ideal
 *
 * T is the longest time of a rank from its begin to its end, without pauses: so clocks of several hosts need
 * not agree, and it is measured as T_ideal is, in which each rank begins at 0. */
#ifndef FV_POP_H
#define FV_POP_H

struct fv_pop_sums {
    double ranks, useful_s, most_useful_s, elapsed_s; /* P, sum U, max U, T */
};

/* One rank more, and how long it was in MPI. */
void fv_pop_add(struct fv_pop_sums *sums, double elapsed_s, double mpi_s);

/* NAN: not known, or it cannot be. */
struct fv_pop {
    double parallel, load_balance, communication, serialization, transfer;
};
/* ideal_s: T_ideal, NAN not known. */
struct fv_pop fv_pop_of(const struct fv_pop_sums *sums, double ideal_s);

#endif
