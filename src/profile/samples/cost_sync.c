/* SPDX-License-Identifier: BSD-3-Clause */
/* See cost_profile.h: which samples were taken while a thread waited for others. */
#include "profile/samples/cost_profile_parts.h"

#include <string.h>

/* Names as they begin. Functions of a run-time library that also run the program's code (GOMP_parallel,
 * tasks) are not here: where they wait, the sample is in the library itself. Documented in fvmpi-report(1).
 */
static const char *const sync_names[] = {
    "pthread_barrier_wait",
    "__pthread_barrier_wait",
    "pthread_mutex_lock",
    "__pthread_mutex_lock",
    "___pthread_mutex_lock",
    "pthread_mutex_timedlock",
    "pthread_mutex_clocklock",
    "pthread_rwlock_rdlock",
    "pthread_rwlock_wrlock",
    "__pthread_rwlock_",
    "pthread_spin_lock",
    "__pthread_spin_lock",
    "pthread_cond_wait",
    "__pthread_cond_wait",
    "___pthread_cond_wait",
    "pthread_cond_timedwait",
    "___pthread_cond_timedwait",
    "pthread_cond_clockwait",
    "pthread_join",
    "__pthread_join",
    "__pthread_clockjoin",
    "sem_wait",
    "sem_timedwait",
    "__new_sem_wait",
    "__lll_lock_wait",
    "__GI___lll_lock_wait",
    "__futex_",
    "__GI___futex_",
    "futex_wait",
    "mtx_lock",
    "cnd_wait",
    "thrd_join",
    "GOMP_barrier",
    "GOMP_critical_",
    "GOMP_atomic_start",
    "GOMP_loop_end",
    "gomp_team_barrier",
    "gomp_barrier",
    "gomp_mutex_lock",
    "gomp_simple_barrier",
    "gomp_team_end",
    "omp_set_lock",
    "omp_set_nest_lock",
    "__kmpc_barrier",
    "__kmpc_critical",
    "__kmpc_doacross_wait",
    "GOMP_doacross_",
    "__kmp_barrier",
    "__kmp_fork_barrier",
    "__kmp_join_barrier",
    "__kmp_hyper_barrier",
    "__kmp_wait_",
    "__kmp_flag_",
    "__kmp_acquire_",
    "std::barrier",
    "std::mutex::lock",
};

static bool is_sync_name(const char *name)
{
    for (size_t i = 0; name && i < sizeof(sync_names) / sizeof(*sync_names); i++)
        if (!strncmp(name, sync_names[i], strlen(sync_names[i])))
            return true;
    return false;
}

static bool is_module(const struct fv_module *m, const char *const *names)
{
    for (; *names; names++)
        if (!strncmp(m->name, *names, strlen(*names)))
            return true;
    return false;
}

/* The frames of run-time libraries at the inner end; behind the first frame of the program it is computing.
 */
bool fv_cost_in_sync(const struct fv_path *p, const struct fv_model *m)
{
    static const char *const openmp[] = { "libgomp.so", "libomp.so", "libiomp5.so", NULL };
    static const char *const runtime[] = { "libgomp.so", "libomp.so",  "libiomp5.so", "libc.so",
                                           "libc-",      "libpthread", "libfvmpi",    NULL };

    if (p->count && is_module(&m->tree.modules[p->frames[0].module], openmp))
        return true;
    for (size_t i = 0; i < p->count; i++) {
        if (is_sync_name(p->frames[i].function))
            return true;
        if (!is_module(&m->tree.modules[p->frames[i].module], runtime))
            return false;
    }
    return false;
}

/* fvmpi's own frames are not the program's. Where it works itself they are one frame; of the functions that
 * it stands before (MPI_Send, pthread_mutex_lock) the call remains; where a thread begins in it nothing does.
 */
void fv_cost_fold_fvmpi(struct fv_path *p, const struct fv_model *m)
{
    size_t kept = 0, end;

    for (size_t i = 0; i < p->count; i = end) {
        for (end = i; end < p->count && fv_module_is_fvmpi(&m->tree.modules[p->frames[end].module]);)
            end++;
        if (end == i) {
            p->frames[kept++] = p->frames[end++];
            continue;
        }
        if (end == p->count && kept)
            break;
        p->frames[kept] = p->frames[end - 1];
        p->frames[kept].file = NULL;
        p->frames[kept].inlined = false;
        if (!i) {
            p->frames[kept].function = NULL;
            p->frames[kept].begin = 0;
        }
        kept++;
    }
    p->count = kept;
}

bool fv_cost_waits(struct fv_path *scratch, const struct fv_model *m, const struct fv_symbols *symbols, uint32_t node)
{
    fv_path_of(scratch, symbols, node);
    fv_cost_fold_fvmpi(scratch, m);
    return fv_cost_in_sync(scratch, m);
}
