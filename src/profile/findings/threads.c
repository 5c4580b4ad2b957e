/* Finding: a lock that threads wait for (fvmpi run --threads). */
#include "profile/findings/findings.h"
#include "profile/profile.h"
#include "profile/threads/lock_words.h"
#include "tool/words.h"

#include <stdio.h>

static bool is_lock(const struct fv_lock *k)
{
    return !k->rest && !k->inside_mpi && k->n.contended &&
           (k->kind == FV_SYNC_MUTEX || k->kind == FV_SYNC_RWLOCK || k->kind == FV_SYNC_SPIN || k->kind == FV_SYNC_OMP);
}

void fv_find_contended_lock(const struct fv_profile *v, struct fv_findings *f)
{
    const struct fv_locks *locks = &v->model->locks;
    const struct fv_lock *most = NULL;
    char name[600], where[1600], waited[FV_WORD], held[FV_WORD], count[FV_WORD], by[100] = "";

    for (size_t i = 0; i < locks->count; i++)
        if (is_lock(&locks->items[i]) && (!most || locks->items[i].n.wait_s > most->n.wait_s))
            most = &locks->items[i];
    if (!most || !(locks->thread_s > 0) || !(most->n.wait_s >= FV_FINDING_WORTH * locks->thread_s))
        return;
    /* Threads wait side by side: of the ranks' time it is the same part as of the threads'. */
    struct fv_finding *finding =
        fv_finding_add(f, most->n.wait_s * v->model->efficiency.total_s / locks->thread_s, FV_EVIDENCE_EXACT);
    if (most->n.hold_count)
        snprintf(by, sizeof(by), ", held for %s in all", fv_words_seconds(most->n.hold_s, held));
    fv_finding_say(f, finding, "threads wait for the lock %s: %s times, %s together%s%s%s",
                   fv_view_lock_words(v, most, name, sizeof(name)), fv_words_count(most->n.contended, count),
                   fv_words_seconds(most->n.wait_s, waited), by, most->sites ? "; most in " : "",
                   most->sites ? fv_path_words(v->symbols, locks->sites[most->first_site].node, 2, where, sizeof(where)) : "");
    fv_finding_next(f, finding,
                    most->n.hold_count ? "hold it for less, or have several; who holds it: fvmpi report %s --table lock_sites" :
                                         "who holds it: fvmpi run --threads=hold, or fvmpi report %s --table lock_sites",
                    v->model->directory);
}
