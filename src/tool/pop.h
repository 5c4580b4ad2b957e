/* SPDX-License-Identifier: BSD-3-Clause */
/* POP efficiencies (POP Centre of Excellence, "POP Standard Metrics for Parallel Performance Analysis";
 * Rosas, Gimenez and Labarta: Scalability prediction for fundamental performance factors, Supercomputing
 * Frontiers and Innovations 1 (2), 2014, for the last two). U_i: time of rank i outside of MPI without polling, P:
 * number of ranks, T: elapsed time.
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

#include <stdbool.h>

#define FV_POP_GOOD       0.8 /* POP calls an efficiency acceptable from there on */
#define FV_POP_GOOD_PART  "80 %"
#define FV_POP_GOOD_WORDS FV_POP_GOOD_PART " and more is called acceptable"

struct fv_pop_sums {
    double ranks, useful_s, most_useful_s, elapsed_s; /* P, sum U, max U, T */
};

/* One rank more, and how long it was in MPI, or polled. */
void fv_pop_add(struct fv_pop_sums *sums, double elapsed_s, double mpi_s);

/* NAN: not known, or it cannot be. */
struct fv_pop {
    double parallel, load_balance, communication, serialization, transfer;
};
/* ideal_s: T_ideal, NAN not known. */
struct fv_pop fv_pop_of(const struct fv_pop_sums *sums, double ideal_s);

/* The same of MPI and OpenMP together, as the POP project's multiplicative hybrid model has it (MPI's factors are of
 * processes, and OpenMP's of what is left of the time in them), with OpenMP's factors as in TALP (Lopez, Ramirez
 * Miranda and Garcia-Gasulla, "TALP: A Lightweight Tool to Unveil Parallel Efficiency of Large-scale Executions",
 * PERMAVOST 2021; DLB's user guide, "POP metrics").
 *
 * Of rank i: N_i its threads, the most of a team; A_i its time outside of MPI, T the longest time of a rank. Where a
 * rank's main thread is in MPI, its workers have nothing to do: MPI takes the time of all N_i. Of A_i, E_i is in
 * parallel regions, n threads in a region of length e; the threads' times t are from begin to end of the region's
 * function, of which they wait w for each other, and then j for the last one. The N_i A_i seconds of its threads are
 *
 *     useful         U = sum (t - w) + (A - E)             computing; between regions the main thread alone
 *     imbalance      L = sum (w + j)                       waiting in regions, for the last at the end, barriers,
 *                    criticals, locks
 *     scheduling     S = sum (n e) - sum t - sum j         from the fork to the function, and from the last one's end
 *                    to the join
 *     serialization  Z = (N - 1) (A - E) + sum ((N - n) e) no region for a thread: workers between regions, and small
 *                    teams
 *
 * and over all ranks, where a product stands for its factors:
 *
 *     parallel      = sum U / (T sum N)                          = mpi * omp
 *     mpi           = sum N A / (T sum N)                        = load balance * communication
 *       load balance  = sum N A / (max A sum N),                   communication = max A / T
 *     omp           = sum U / sum N A                            = load balance * scheduling * serialization
 *       serialization = sum U / sum (U + Z)
 *       load balance  = sum (U + Z) / sum (U + Z + L)
 *       scheduling    = sum (U + Z + L) / sum (U + Z + L + S)
 */
struct fv_pop_regions {
    double threads;                                   /* N; 1: no team */
    double elapsed_s, team_s, time_s, wait_s, join_s; /* E, and the sums of n e, t, w, j */
};
struct fv_pop_hybrid_sums {
    double threads, outside_s, most_outside_s, elapsed_s; /* sum N, sum N A, max A, T */
    double useful_s, imbalance_s, scheduling_s, serialization_s;
};
/* One rank more. False: its regions take longer than A, so that nothing is known. */
bool fv_pop_hybrid_add(struct fv_pop_hybrid_sums *sums, const struct fv_pop_regions *regions, double elapsed_s,
                       double mpi_s);
struct fv_pop_hybrid {
    double parallel;
    double mpi, mpi_load_balance, mpi_communication;
    double omp, omp_load_balance, omp_scheduling, omp_serialization;
};
struct fv_pop_hybrid fv_pop_hybrid_of(const struct fv_pop_hybrid_sums *sums);

#endif
