/* SPDX-License-Identifier: BSD-3-Clause */
/* What a rank does longer than others outside of MPI: does it compute, and by clock samples in which procedure? */
#ifndef FV_FINDINGS_EXCESS_H
#define FV_FINDINGS_EXCESS_H

#include "profile/profile.h"

struct fv_excess {
    const struct fv_cost_procedure *procedure; /* NULL: no single one, or there are too few samples */
    double rank_s, others_s;                   /* CPU time in it outside of MPI: of the rank, mean of the others */
};
/* Of a rank by its index. The procedure, which is none of an interpreter's own, is the one whose time is most of all
 * this rank's alone: its excess over the others' mean (of the rank's own at most), times the part that the excess is of
 * its time on all ranks. So callers that do other work as well come behind, and so do callees of several. It has half
 * of what the rank computes longer at least. Of libraries only where none of the program's own does, but for main(). */
struct fv_excess fv_excess_of(const struct fv_profile *profile, uint32_t rank);
/* Does fvmpi itself have so much of the samples that a procedure's may be mostly fvmpi's? Then instrumented functions
 * are better told by their calls. */
bool fv_samples_are_ours(const struct fv_profile *profile);
/* The same by calls of instrumented functions, exactly, for runs without samples: "spends 5.30 s in react() at
 * heat.c:31, the other 100 ms (measured calls)". It becomes the finding's place. False: there is no single one. Calls
 * are of the whole run: of what is looked for in a part of it, a function counts that has no room for least_s of its
 * time in the rest, rest_s (0 and 0: in the whole run). */
#define FV_EXCESS_WORDS 600
bool fv_excess_by_calls(const struct fv_profile *profile, struct fv_findings *findings, struct fv_finding *finding,
                        uint32_t rank, double least_s, double rest_s, char out[FV_EXCESS_WORDS]);
/* Of the program's own, but main() and Python's <module>, which hold all of it. */
bool fv_excess_is_of_program(const struct fv_cost_procedure *procedure);
/* Is it what holds all of a program in C or Fortran? */
bool fv_excess_is_main(const char *function);
/* CPython's own, with names or stripped: a Python program is not helped by them. */
bool fv_excess_is_interpreter(const struct fv_cost_procedure *procedure);
/* Most samples are in one, so that they name none of the program's functions. */
bool fv_excess_is_interpreted(const struct fv_profile *profile);
/* Its procedure, there is one, becomes the finding's place, and its lines what to look at next. */
void fv_excess_place(const struct fv_profile *profile, struct fv_findings *findings, struct fv_finding *finding,
                     const struct fv_excess *excess);
/* CPU time outside of MPI, in user mode and in the kernel; NAN: not known. Measured of ranks with one thread whose
 * context switches are known; else by samples. */
double fv_computing_s(const struct fv_model *model, uint32_t rank);
/* Chance, in what the rank computes by samples; 0 where it is measured. */
double fv_computing_error(const struct fv_profile *profile, uint32_t rank);
/* What the rank has more of it than the mean of the others. */
double fv_excess_computing(const struct fv_profile *profile, uint32_t rank);
/* What the rank has more of the kernel's CPU time outside of MPI, at least: its CPU time in MPI may be the kernel's,
 * and counts as such. NAN: not known. */
double fv_excess_in_kernel(const struct fv_model *model, uint32_t rank);
/* The mean of the others' system time. */
double fv_others_in_kernel(const struct fv_model *model, uint32_t rank);
/* Is that of all ranks? */
bool fv_excess_is_measured(const struct fv_model *model);
/* What the clock samples of a rank stand for, in seconds, where they do not tell which function takes it: they come
 * with the kernel's ticks, not by CPU time, and processors are often another's, or less than half of what it computes
 * was sampled. NAN: they tell it, or nobody knows. */
double fv_excess_missed_by_ticks(const struct fv_model *model, uint32_t rank);

/* What a rank does that is longer outside of MPI than others. */
enum fv_doing {
    FV_COMPUTES,
    FV_IS_BLOCKED,
    FV_AWAITS_OWN,   /* its main thread is blocked, its other threads compute, and no samples tell what */
    FV_IS_DISTURBED, /* it was off its processor for much of it, and was not blocked */
    FV_NOT_KNOWN,    /* its CPU time is not, or that of its several threads */
};
/* By the kernel's context switches; where it does not tell them, by samples, CPU time and its run delay. `excess`:
 * seconds that it is longer than the mean of the others. */
enum fv_doing fv_excess_doing(const struct fv_profile *profile, uint32_t rank, double excess);

/* By the kernel's context switches, all of them? */
static inline bool fv_off_is_known(const struct fv_off_processor *off)
{
    return off->blocked_s == off->blocked_s && !off->unseen;
}
/* What a rank did whose main thread was blocked, in this region of computing, or where it is NULL in all: "was blocked
 * for 1.20 s, 315 times: it sleeps, or does I/O, or was stopped by a signal". Returns out. */
char *fv_blocked_words(const struct fv_model *model, uint32_t rank, const struct fv_region *region, char out[200]);
/* What it did to files there, if that took more than `least_s`: "spends 1.20 s in 25 calls of functions for files,
 * mostly in fwrite() of /data/out, called by dump() at io.c:12". False: it is not known (--io), or less. */
#define FV_IO_WORDS 1200
bool fv_io_words(const struct fv_profile *profile, const struct fv_region *region, uint32_t rank, double least_s,
                 char out[FV_IO_WORDS]);
/* "the other 110 ms", "the others 110 ms on average". Returns out. */
#define FV_OTHERS_WORDS 80
char *fv_excess_others(const struct fv_model *model, double seconds, char out[FV_OTHERS_WORDS]);
#define FV_NEXT_AWAITS "fvmpi run --sample shows what its threads do; fvmpi run --threads shows what they wait for"
/* What to do about that, by what it mostly did there; about much time in such a function. */
const char *fv_io_next(const struct fv_model *model, const struct fv_region *region);
const char *fv_io_advice(const struct fv_model *model, uint32_t function);
#define FV_NEXT_ASKS    "find out what it waits for: with MPI_Wait in place of these calls, a trace names the rank"
#define FV_NEXT_BLOCKED "let the other ranks continue during that time, or share that work among the ranks"

/* Seconds outside of MPI in which it does not poll, of a rank by its index. */
static inline double fv_outside_s(const struct fv_model *model, uint32_t rank)
{
    return fv_rank_compute_s(&model->ranks[rank]);
}

/* The region of computing in which a rank is most longer than the mean of all, by more than least_s; before a call
 * site, FV_NONE: any. NULL: there is none. */
const struct fv_region *fv_excess_region(const struct fv_model *model, uint32_t rank, uint32_t site, double least_s);

/* The same by CPU time, of any rank: without what it was off its processor there. */
const struct fv_region *fv_excess_region_cpu(const struct fv_model *model, uint32_t rank, double least_s);

/* "react() at heat.f90:155"; "react() in heat.f90" where its first line is not known. Returns out. */
char *fv_procedure_words(const struct fv_cost_procedure *procedure, char *out, size_t bytes);

#endif
