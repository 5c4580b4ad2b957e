/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions of OpenMP's runtime that ours stand in front of: GCC's libgomp (what GCC compiles to
 * since 4.9), criticals of LLVM's (of which OMPT says less: ompt.c), and the locks of any. Unlike the C library it may
 * be missing, come late, or be there more than once: a plugin that is opened with RTLD_LOCAL brings one that only its
 * own module sees. */
#ifndef FV_OMP_NEXT_H
#define FV_OMP_NEXT_H

#include "base/base.h"

#include <stdbool.h>

typedef void fv_omp_body(void *);
typedef void fv_omp_copy(void *, void *);

typedef unsigned long long fv_ull;

/* Parameters of what begins a loop. */
#define FV_OMP_LOOP                    (long, long, long, long, long *, long *)
#define FV_OMP_LOOP_AT_RUNTIME         (long, long, long, long *, long *)
#define FV_OMP_LOOP_ULL                (bool, fv_ull, fv_ull, fv_ull, fv_ull, fv_ull *, fv_ull *)
#define FV_OMP_LOOP_ULL_AT_RUNTIME     (bool, fv_ull, fv_ull, fv_ull, fv_ull *, fv_ull *)
#define FV_OMP_DOACROSS                (unsigned, long *, long, long *, long *)
#define FV_OMP_DOACROSS_AT_RUNTIME     (unsigned, long *, long *, long *)
#define FV_OMP_DOACROSS_ULL            (unsigned, fv_ull *, fv_ull, fv_ull *, fv_ull *)
#define FV_OMP_DOACROSS_ULL_AT_RUNTIME (unsigned, fv_ull *, fv_ull *, fv_ull *)
#define FV_OMP_LOOP_WITH               (long, long, long, long, long, long *, long *, uintptr_t *, void **)
/* clang-format off */
#define FV_OMP_LOOP_ULL_WITH \
    (bool, fv_ull, fv_ull, fv_ull, long, fv_ull, fv_ull *, fv_ull *, uintptr_t *, void **)
/* clang-format on */
#define FV_OMP_DOACROSS_WITH     (unsigned, long *, long, long, long *, long *, uintptr_t *, void **)
#define FV_OMP_DOACROSS_ULL_WITH (unsigned, fv_ull *, long, fv_ull, fv_ull *, fv_ull *, uintptr_t *, void **)

/* X: interposed, Y: only asked. Name, result, parameters. */
#define FV_OMP_FUNCTIONS(X, Y)                                                                                      \
    X(GOMP_parallel, void, (fv_omp_body *, void *, unsigned, unsigned))                                             \
    X(GOMP_parallel_reductions, unsigned, (fv_omp_body *, void *, unsigned, unsigned))                              \
    X(GOMP_parallel_sections, void, (fv_omp_body *, void *, unsigned, unsigned, unsigned))                          \
    X(GOMP_parallel_loop_static, void, (fv_omp_body *, void *, unsigned, long, long, long, long, unsigned))         \
    X(GOMP_parallel_loop_dynamic, void, (fv_omp_body *, void *, unsigned, long, long, long, long, unsigned))        \
    X(GOMP_parallel_loop_guided, void, (fv_omp_body *, void *, unsigned, long, long, long, long, unsigned))         \
    X(GOMP_parallel_loop_runtime, void, (fv_omp_body *, void *, unsigned, long, long, long, unsigned))              \
    X(GOMP_parallel_loop_nonmonotonic_dynamic, void,                                                                \
      (fv_omp_body *, void *, unsigned, long, long, long, long, unsigned))                                          \
    X(GOMP_parallel_loop_nonmonotonic_guided, void,                                                                 \
      (fv_omp_body *, void *, unsigned, long, long, long, long, unsigned))                                          \
    X(GOMP_parallel_loop_nonmonotonic_runtime, void, (fv_omp_body *, void *, unsigned, long, long, long, unsigned)) \
    X(GOMP_parallel_loop_maybe_nonmonotonic_runtime, void,                                                          \
      (fv_omp_body *, void *, unsigned, long, long, long, unsigned))                                                \
    X(GOMP_task, void, (fv_omp_body *, void *, fv_omp_copy *, long, long, bool, unsigned, void **, int, void *))    \
    X(GOMP_taskloop, void,                                                                                          \
      (fv_omp_body *, void *, fv_omp_copy *, long, long, unsigned, unsigned long, int, long, long, long))           \
    X(GOMP_taskloop_ull, void,                                                                                      \
      (fv_omp_body *, void *, fv_omp_copy *, long, long, unsigned, unsigned long, int, unsigned long long,          \
       unsigned long long, unsigned long long))                                                                     \
    X(GOMP_loop_static_start, bool, FV_OMP_LOOP)                                                                    \
    X(GOMP_loop_dynamic_start, bool, FV_OMP_LOOP)                                                                   \
    X(GOMP_loop_guided_start, bool, FV_OMP_LOOP)                                                                    \
    X(GOMP_loop_nonmonotonic_dynamic_start, bool, FV_OMP_LOOP)                                                      \
    X(GOMP_loop_nonmonotonic_guided_start, bool, FV_OMP_LOOP)                                                       \
    X(GOMP_loop_ordered_static_start, bool, FV_OMP_LOOP)                                                            \
    X(GOMP_loop_ordered_dynamic_start, bool, FV_OMP_LOOP)                                                           \
    X(GOMP_loop_ordered_guided_start, bool, FV_OMP_LOOP)                                                            \
    X(GOMP_loop_runtime_start, bool, FV_OMP_LOOP_AT_RUNTIME)                                                        \
    X(GOMP_loop_nonmonotonic_runtime_start, bool, FV_OMP_LOOP_AT_RUNTIME)                                           \
    X(GOMP_loop_maybe_nonmonotonic_runtime_start, bool, FV_OMP_LOOP_AT_RUNTIME)                                     \
    X(GOMP_loop_ordered_runtime_start, bool, FV_OMP_LOOP_AT_RUNTIME)                                                \
    X(GOMP_loop_ull_static_start, bool, FV_OMP_LOOP_ULL)                                                            \
    X(GOMP_loop_ull_dynamic_start, bool, FV_OMP_LOOP_ULL)                                                           \
    X(GOMP_loop_ull_guided_start, bool, FV_OMP_LOOP_ULL)                                                            \
    X(GOMP_loop_ull_nonmonotonic_dynamic_start, bool, FV_OMP_LOOP_ULL)                                              \
    X(GOMP_loop_ull_nonmonotonic_guided_start, bool, FV_OMP_LOOP_ULL)                                               \
    X(GOMP_loop_ull_ordered_static_start, bool, FV_OMP_LOOP_ULL)                                                    \
    X(GOMP_loop_ull_ordered_dynamic_start, bool, FV_OMP_LOOP_ULL)                                                   \
    X(GOMP_loop_ull_ordered_guided_start, bool, FV_OMP_LOOP_ULL)                                                    \
    X(GOMP_loop_ull_runtime_start, bool, FV_OMP_LOOP_ULL_AT_RUNTIME)                                                \
    X(GOMP_loop_ull_nonmonotonic_runtime_start, bool, FV_OMP_LOOP_ULL_AT_RUNTIME)                                   \
    X(GOMP_loop_ull_maybe_nonmonotonic_runtime_start, bool, FV_OMP_LOOP_ULL_AT_RUNTIME)                             \
    X(GOMP_loop_ull_ordered_runtime_start, bool, FV_OMP_LOOP_ULL_AT_RUNTIME)                                        \
    X(GOMP_loop_doacross_static_start, bool, FV_OMP_DOACROSS)                                                       \
    X(GOMP_loop_doacross_dynamic_start, bool, FV_OMP_DOACROSS)                                                      \
    X(GOMP_loop_doacross_guided_start, bool, FV_OMP_DOACROSS)                                                       \
    X(GOMP_loop_doacross_runtime_start, bool, FV_OMP_DOACROSS_AT_RUNTIME)                                           \
    X(GOMP_loop_ull_doacross_static_start, bool, FV_OMP_DOACROSS_ULL)                                               \
    X(GOMP_loop_ull_doacross_dynamic_start, bool, FV_OMP_DOACROSS_ULL)                                              \
    X(GOMP_loop_ull_doacross_guided_start, bool, FV_OMP_DOACROSS_ULL)                                               \
    X(GOMP_loop_ull_doacross_runtime_start, bool, FV_OMP_DOACROSS_ULL_AT_RUNTIME)                                   \
    X(GOMP_loop_start, bool, FV_OMP_LOOP_WITH)                                                                      \
    X(GOMP_loop_ordered_start, bool, FV_OMP_LOOP_WITH)                                                              \
    X(GOMP_loop_ull_start, bool, FV_OMP_LOOP_ULL_WITH)                                                              \
    X(GOMP_loop_ull_ordered_start, bool, FV_OMP_LOOP_ULL_WITH)                                                      \
    X(GOMP_loop_doacross_start, bool, FV_OMP_DOACROSS_WITH)                                                         \
    X(GOMP_loop_ull_doacross_start, bool, FV_OMP_DOACROSS_ULL_WITH)                                                 \
    X(GOMP_loop_end_nowait, void, (void))                                                                           \
    X(GOMP_sections_start, unsigned, (unsigned))                                                                    \
    X(GOMP_sections2_start, unsigned, (unsigned, uintptr_t *, void **))                                             \
    X(GOMP_sections_end_nowait, void, (void))                                                                       \
    X(GOMP_single_start, bool, (void))                                                                              \
    X(GOMP_barrier, void, (void))                                                                                   \
    X(GOMP_barrier_cancel, bool, (void))                                                                            \
    X(GOMP_loop_end, void, (void))                                                                                  \
    X(GOMP_loop_end_cancel, bool, (void))                                                                           \
    X(GOMP_sections_end, void, (void))                                                                              \
    X(GOMP_sections_end_cancel, bool, (void))                                                                       \
    X(GOMP_workshare_task_reduction_unregister, void, (bool))                                                       \
    X(GOMP_single_copy_start, void *, (void))                                                                       \
    X(GOMP_single_copy_end, void, (void *))                                                                         \
    X(GOMP_ordered_start, void, (void))                                                                             \
    X(GOMP_loop_ordered_static_next, bool, (long *, long *))                                                        \
    X(GOMP_loop_ordered_dynamic_next, bool, (long *, long *))                                                       \
    X(GOMP_loop_ordered_guided_next, bool, (long *, long *))                                                        \
    X(GOMP_loop_ordered_runtime_next, bool, (long *, long *))                                                       \
    X(GOMP_loop_ull_ordered_static_next, bool, (unsigned long long *, unsigned long long *))                        \
    X(GOMP_loop_ull_ordered_dynamic_next, bool, (unsigned long long *, unsigned long long *))                       \
    X(GOMP_loop_ull_ordered_guided_next, bool, (unsigned long long *, unsigned long long *))                        \
    X(GOMP_loop_ull_ordered_runtime_next, bool, (unsigned long long *, unsigned long long *))                       \
    X(GOMP_doacross_wait, void, (long, ...))                                                                        \
    X(GOMP_doacross_ull_wait, void, (unsigned long long, ...))                                                      \
    X(GOMP_taskwait, void, (void))                                                                                  \
    X(GOMP_taskwait_depend, void, (void **))                                                                        \
    X(GOMP_taskgroup_end, void, (void))                                                                             \
    X(GOMP_critical_start, void, (void))                                                                            \
    X(GOMP_critical_end, void, (void))                                                                              \
    X(GOMP_critical_name_start, void, (void **))                                                                    \
    X(GOMP_critical_name_end, void, (void **))                                                                      \
    X(GOMP_atomic_start, void, (void))                                                                              \
    X(GOMP_atomic_end, void, (void))                                                                                \
    X(__kmpc_critical, void, (void *, int, void *))                                                                 \
    X(__kmpc_critical_with_hint, void, (void *, int, void *, uint32_t))                                             \
    X(__kmpc_doacross_wait, void, (void *, int, const int64_t *))                                                   \
    X(__kmpc_end_critical, void, (void *, int, void *))                                                             \
    X(omp_set_lock, void, (void *))                                                                                 \
    X(omp_set_lock_, void, (void *))                                                                                \
    X(omp_unset_lock, void, (void *))                                                                               \
    X(omp_unset_lock_, void, (void *))                                                                              \
    X(omp_test_lock, int, (void *))                                                                                 \
    X(omp_test_lock_, int, (void *))                                                                                \
    X(omp_init_lock, void, (void *))                                                                                \
    X(omp_init_lock_, void, (void *))                                                                               \
    X(omp_destroy_lock, void, (void *))                                                                             \
    X(omp_destroy_lock_, void, (void *))                                                                            \
    X(omp_set_nest_lock, void, (void *))                                                                            \
    X(omp_set_nest_lock_, void, (void *))                                                                           \
    X(omp_unset_nest_lock, void, (void *))                                                                          \
    X(omp_unset_nest_lock_, void, (void *))                                                                         \
    X(omp_test_nest_lock, int, (void *))                                                                            \
    X(omp_test_nest_lock_, int, (void *))                                                                           \
    X(omp_init_nest_lock, void, (void *))                                                                           \
    X(omp_init_nest_lock_, void, (void *))                                                                          \
    X(omp_destroy_nest_lock, void, (void *))                                                                        \
    X(omp_destroy_nest_lock_, void, (void *))                                                                       \
    Y(omp_get_thread_num, int, (void))                                                                              \
    Y(omp_get_num_threads, int, (void))                                                                             \
    Y(omp_get_level, int, (void))                                                                                   \
    Y(omp_get_cancellation, int, (void))

#define FV_OMP_DECLARE(name, result, parameters) FV_PUBLIC result name parameters;
#define FV_OMP_NOTHING(name, result, parameters)
FV_OMP_FUNCTIONS(FV_OMP_DECLARE, FV_OMP_NOTHING)
#undef FV_OMP_DECLARE
#undef FV_OMP_NOTHING

struct fv_omp_next {
#define FV_OMP_POINTER(name, result, parameters) result(*name) parameters;
    FV_OMP_FUNCTIONS(FV_OMP_POINTER, FV_OMP_POINTER)
#undef FV_OMP_POINTER
    bool is_llvm;  /* these functions for code made by GCC, too: tasks have other rules */
    bool has_kmpc; /* functions of LLVM's */
};

/* Of the runtime that all modules see; NULL: there is none, or it was not asked for yet. */
extern const struct fv_omp_next *fv_omp_global;
const struct fv_omp_next *fv_omp_next_slowly(const void *caller);

/* The runtime that a caller's module would have called without us. Never NULL: where there is none,
 * everything is done by the calling thread alone. */
static inline const struct fv_omp_next *fv_omp_next(const void *caller)
{
    const struct fv_omp_next *next = __atomic_load_n(&fv_omp_global, __ATOMIC_ACQUIRE);

    return FV_LIKELY(next != NULL) ? next : fv_omp_next_slowly(caller);
}
#define FV_OMP_NEXT() fv_omp_next(__builtin_return_address(0))

/* For functions of LLVM's, which the runtime that all modules see may not have. */
const struct fv_omp_next *fv_omp_next_of_llvm(const void *caller);
static inline const struct fv_omp_next *fv_omp_next_kmpc(const void *caller)
{
    const struct fv_omp_next *next = fv_omp_next(caller);

    return FV_LIKELY(next->has_kmpc) ? next : fv_omp_next_of_llvm(caller);
}
#define FV_OMP_NEXT_KMPC() fv_omp_next_kmpc(__builtin_return_address(0))

#endif
