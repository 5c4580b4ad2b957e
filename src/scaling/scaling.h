/* SPDX-License-Identifier: BSD-3-Clause */
/* One program on several numbers of ranks: what speedup there is, which efficiency takes the rest, and which part of
 * the program stops scaling.
 *
 * P ranks (or, where every run recorded teams of threads, P threads), U the time of all of them outside of MPI (that
 * computes, of threads), T the longest time of a rank. The reference is the point with the smallest P, r = P / P_ref.
 * POP's scaling metrics (POP Centre of Excellence, "POP Standard Metrics for Parallel Performance Analysis"; BSC,
 * basicanalysis):
 *
 *     strong: speedup = T_ref / T         computation scalability = U_ref / U
 *     weak:   speedup = r T_ref / T       computation scalability = r U_ref / U
 *     global  = parallel x computation scalability, and global / global_ref = speedup / r
 *
 * Computation scalability is the product of those of instructions, instructions per cycle and frequency, I and C the
 * instructions and cycles of all ranks outside of MPI, where all runs counted them (--counters statistics) and P is of
 * ranks (threads spin where they wait for each other, which is not known apart):
 *
 *     instructions = I_ref / I (of a weak run times r)     IPC = (I / C) / (I_ref / C_ref)     frequency = (C / U) /
 *     (C_ref / U_ref)
 *
 * Frequency is of U, as POP has it: in a time without a processor there are no cycles, nor in the kernel, where they
 * are not counted.
 *
 * Ideal is a part's time at the reference, of a strong run divided by r. What a part takes longer at the largest point
 * is what it lost. Parts of a table that some run did not record are left out.
 *
 * Several runs of one size are a point, with their means. Order of use: fv_scaling_load() for each run,
 * fv_scaling_compute(), views. One thread. */
#ifndef FV_SCALING_H
#define FV_SCALING_H

#include "diff/diff.h"

/* The same problem on more ranks, or one that grows with them: only the user knows. */
#define FV_SCALING_KINDS(X)         X(UNTOLD, "untold") X(STRONG, "strong") X(WEAK, "weak")
#define FV_SCALING_KIND(name, word) FV_SCALING_##name,
enum fv_scaling_kind { FV_SCALING_KINDS(FV_SCALING_KIND) };
extern const char *const fv_scaling_kinds[]; /* "untold", ... */

enum fv_scaling_metric {
    FV_SCALES_ELAPSED,  /* T, s */
    FV_SCALES_SPEEDUP,  /* this and the next, and those with computation scalability: NAN while nobody told the kind */
    FV_SCALES_OF_IDEAL, /* speedup / r */
    FV_SCALES_GLOBAL,
    FV_SCALES_PARALLEL,
    FV_SCALES_LOAD_BALANCE,
    FV_SCALES_COMMUNICATION,
    FV_SCALES_SERIALIZATION, /* this and the next: of analysed traces */
    FV_SCALES_TRANSFER,
    FV_SCALES_OPENMP, /* of threads within ranks */
    FV_SCALES_COMPUTATION,
    FV_SCALES_INSTRUCTIONS, /* this and the next two: where instructions and cycles were counted, and sizes are of
                             * ranks */
    FV_SCALES_IPC,
    FV_SCALES_FREQUENCY,
    FV_SCALES_METRICS
};
struct fv_scaling_metric_word {
    const char *key, *name; /* the name is indented as efficiencies are factors of each other */
    enum fv_diff_unit unit;
};
extern const struct fv_scaling_metric_word fv_scaling_metrics[FV_SCALES_METRICS];

struct fv_scaling_point {
    size_t ranks, threads; /* threads: of all ranks; 0: not known */
    size_t runs;
    double factor;               /* r */
    double least_s, most_s;      /* elapsed, of its runs */
    double useful_s;             /* U */
    double no_processor_s;       /* of a rank, as fv_diff_run; part of U where a rank computes */
    double instructions, cycles; /* I, C; NAN: not counted */
    double value[FV_SCALES_METRICS];
};

struct fv_scaling_part {
    const char *table;                  /* of fvmpi report: "cpu_procedures", "regions", "sections", "mpi_functions" */
    const char *name, *place;           /* place: NULL: none */
    double *time_s;                     /* of a rank, at each point */
    double ideal_s, lost_s, efficiency; /* at the largest point; lost_s: time_s less ideal_s; NAN: nobody told the
                                         * kind */
};

struct fv_scaling {
    struct fv_diff runs; /* all of them on its side 0 */
    enum fv_scaling_kind kind;
    /* by fv_scaling_compute() */
    bool threads;                    /* P is of threads */
    struct fv_scaling_point *points; /* by P */
    size_t point_count;
    struct fv_scaling_part *parts; /* by what they lost, largest first; of an untold kind by their time at the largest
                                    * point */
    size_t part_count;
    struct fv_problems notes;
    enum fv_scaling_metric worst; /* the factor that fell most from the reference to the largest point;
                                   * FV_SCALES_METRICS: none did */
    bool by_machine;              /* the part of their time for which ranks had no processor grew by half of that at
                                   * least */
};

/* `choice`: the ranks whose files are read, NULL: all. The sums of all ranks are estimated from these. Has logged when
 * it fails, as fv_profile_open() does. */
int fv_scaling_load(struct fv_scaling *scaling, const char *path, const struct fv_choice *choice);
/* -FV_EFORMAT: there are no two sizes, which has been logged. */
int fv_scaling_compute(struct fv_scaling *scaling, enum fv_scaling_kind kind);
void fv_scaling_release(struct fv_scaling *scaling);

#endif
