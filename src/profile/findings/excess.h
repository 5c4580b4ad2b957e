/* What a rank does longer than others outside of MPI: does it compute, and by clock samples in which procedure? */
#ifndef FV_FINDINGS_EXCESS_H
#define FV_FINDINGS_EXCESS_H

#include "profile/profile.h"

struct fv_excess {
    const struct fv_cost_procedure *procedure; /* NULL: no single one, or there are too few samples */
    double rank_s, others_s;                   /* CPU time in it outside of MPI: of the rank, mean of the others */
};
/* Of a rank by its index. The procedure, which is none of an interpreter's own, is the one whose time is most of all this rank's alone: its excess over
 * the others' mean, times the part that the excess is of its time on all ranks. So callers that do other work as well
 * come behind, and so do callees of several. It has half of what the rank computes longer at least. */
struct fv_excess fv_excess_of(const struct fv_profile *profile, uint32_t rank);
/* Its procedure, there is one, becomes the finding's place, and its lines what to look at next. */
void fv_excess_place(const struct fv_profile *profile, struct fv_findings *findings, struct fv_finding *finding,
                     const struct fv_excess *excess);
/* CPU time outside of MPI by samples, what the rank has more than the mean of the others; NAN: no samples. */
double fv_excess_computing(const struct fv_profile *profile, uint32_t rank);

/* What a rank does that is longer outside of MPI than others. */
enum fv_doing {
    FV_COMPUTES,
    FV_IS_BLOCKED,
    FV_IS_DISTURBED, /* it was off its processor for much of it, and was not blocked */
    FV_NOT_KNOWN,    /* its CPU time is not, or that of its several threads */
};
/* By samples, CPU time and the kernel's run delay; `excess`: seconds that it is longer than the mean of the others. */
enum fv_doing fv_excess_doing(const struct fv_profile *profile, uint32_t rank, double excess);

#define FV_SAY_BLOCKED  "mostly had no work for its processor: it sleeps, or does I/O"
#define FV_NEXT_BLOCKED "let others go on meanwhile, or share that work among the ranks"

/* Seconds outside of MPI, of a rank by its index. */
static inline double fv_outside_s(const struct fv_model *model, uint32_t rank)
{
    return model->ranks[rank].app_time_s - model->ranks[rank].mpi_time_s;
}

/* "react() at heat.f90:155"; "react() in heat.f90" where its first line is not known. Returns out. */
char *fv_procedure_words(const struct fv_cost_procedure *procedure, char *out, size_t bytes);

#endif
