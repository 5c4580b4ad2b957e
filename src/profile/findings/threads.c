/* Finding: a lock that threads wait for (fvmpi run --threads). */
#include "profile/findings/findings.h"
#include "profile/profile.h"
#include "profile/threads/lock_words.h"
#include "tool/words.h"

static bool is_lock(const struct fv_lock *k)
{
    return !k->rest && !k->inside_mpi && k->n.hold_count &&
           (k->kind == FV_SYNC_MUTEX || k->kind == FV_SYNC_RWLOCK || k->kind == FV_SYNC_SPIN || k->kind == FV_SYNC_OMP);
}

void fv_find_contended_lock(const struct fv_profile *v, struct fv_findings *f)
{
    const struct fv_locks *locks = &v->model->locks;
    const struct fv_lock *most = NULL;
    char name[600], where[1600], held[FV_WORD], count[FV_WORD];

    for (size_t i = 0; i < locks->count; i++)
        if (is_lock(&locks->items[i]) && (!most || locks->items[i].n.wait_s > most->n.wait_s))
            most = &locks->items[i];
    if (!most || !(most->n.wait_s >= FV_FINDING_WORTH * locks->thread_s))
        return;
    struct fv_finding *finding = fv_finding_add(f, most->n.wait_s, FV_EVIDENCE_EXACT);
    fv_finding_say(f, finding, "threads wait for the lock %s: %s times, held for %s in all%s%s",
                   fv_view_lock_words(v, most, name, sizeof(name)), fv_words_count(most->n.contended, count),
                   fv_words_seconds(most->n.hold_s, held), most->sites ? "; most in " : "",
                   most->sites ? fv_path_words(v->symbols, locks->sites[most->first_site].node, 2, where, sizeof(where)) : "");
    fv_finding_next(f, finding, "hold it for less, or have several; who holds it: fvmpi report %s --table lock_sites",
                    v->model->directory);
}
