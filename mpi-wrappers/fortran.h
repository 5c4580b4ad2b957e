/* SPDX-License-Identifier: BSD-3-Clause */
/* The Fortran bindings. An entry point (fortran-wrappers.c, generated) forwards what it was given, sentinels,
 * absent `ierror`, descriptors and hidden lengths included, to the MPI library's own Fortran procedure, and
 * counts the call by converted copies of the arguments. One thing is added: an absent `ierror` is present for the
 * library, because after an error no argument may be looked at. Where that procedure calls C's MPI_X in turn, the
 * runtime's nesting guard sees one call. */
#ifndef FV_FORTRAN_H
#define FV_FORTRAN_H

#include "glue.h"

#include "mpi-have-fortran.h"
#include "resolve.h"

_Static_assert(sizeof(MPI_Fint) == sizeof(int), "an MPI whose default INTEGER is not C's int");

typedef void fv_f_function(void);

/* ---- the procedure behind an entry point ---- */

struct fv_f_real {
    const char *name;
    fv_f_function *own, *found;
};
/* The next one of that name behind ours. Where there is none (a program that asks by a weak reference whether
 * there is), one that does as little as it can. */
fv_f_function *fv_f_find(struct fv_f_real *real);
/* A variable of the MPI library's; NULL: it has none of that name. */
const void *fv_f_variable(const char *name);

/* FV_F_REAL(name, profiled, types) declares an entry point and fv_f_real_NAME(), which returns the procedure
 * that it stands before. Shared libraries ask the dynamic linker at the first call, because a library for
 * all languages must not need a Fortran library; in a static one it is the profiling name. */
#ifdef PIC
#define FV_F_REAL(name, profiled, types)                                                  \
    FV_PUBLIC void name types;                                                            \
    static void fv_f_own_##name types __attribute__((alias(#name)));                      \
    typedef void fv_f_type_##name types;                                                  \
    static inline fv_f_type_##name *fv_f_real_##name(void)                                \
    {                                                                                     \
        static struct fv_f_real real = { #name, (fv_f_function *)fv_f_own_##name, NULL }; \
        fv_f_function *found = __atomic_load_n(&real.found, __ATOMIC_RELAXED);            \
        return (fv_f_type_##name *)(found ? found : fv_f_find(&real));                    \
    }
#else
#define FV_F_REAL(name, profiled, types)                   \
    FV_PUBLIC void name types;                             \
    void profiled types;                                   \
    typedef void fv_f_type_##name types;                   \
    static inline fv_f_type_##name *fv_f_real_##name(void) \
    {                                                      \
        return profiled;                                   \
    }
#endif
#define FV_F_PROFILED(name) p##name
#ifdef MPICH_NUMVERSION
#define FV_F_PROFILED08(base) pmpir_##base
#else
#define FV_F_PROFILED08(base) pmpi_##base
#endif

/* Compilers spell mpi_send as mpi_send_ (almost all), mpi_send__ (second underscore), mpi_send and
 * MPI_SEND. The last two are names that anybody's C function may have (mpi_init of a multi-precision
 * library), which a preloaded library must not take away: a stub jumps to the next one behind ours unless
 * that is the MPI library's. */
#if defined(PIC) && FV_HAVE_STUBS
#define FV_F_STUBS 1
struct fv_f_stub {
    fv_f_function *target;
    const char *name;
    struct fv_f_real *real;
};
#define FV_F_STUB(stub, entry)                                                                                        \
    static struct fv_f_real fv_f_of_##stub = { #entry, (fv_f_function *)fv_f_own_##entry, NULL };                     \
    __attribute__((used)) static struct fv_f_stub fv_f_slot_##stub __asm__("fv_f_slot_" #stub) = { NULL, #stub,       \
                                                                                                   &fv_f_of_##stub }; \
    FV_STUB(#stub, "fv_f_slot_" #stub, "fv_f_resolve");
#else
#define FV_F_STUB(stub, entry)
#endif
#define FV_F_SPELLINGS(name, NAME, types)                            \
    FV_PUBLIC void name##__ types __attribute__((alias(#name "_"))); \
    FV_F_STUB(name, name##_)                                         \
    FV_F_STUB(NAME, name##_)

/* ---- arguments, as C has them ---- */

static inline int fv_f_result(const MPI_Fint *ierror)
{
    return *ierror;
}

/* A choice buffer: MPI_IN_PLACE as C's. */
const void *fv_f_buffer(const void *buffer);
/* ... by its descriptor, which begins with the address (ISO_Fortran_binding.h). */
static inline const void *fv_f_described(const void *descriptor)
{
    return fv_f_buffer(*(const void *const *)descriptor);
}

/* Enough for every name that MPI takes; longer ones get cut. */
#define FV_F_TEXT 1024
/* A CHARACTER argument without trailing blanks, ended by 0, in out[FV_F_TEXT]. Returns out. */
const char *fv_f_text(char *out, const char *text, size_t length);

/* The status to pass on: the caller's, or `own` where we want one and the caller does not. All bindings'
 * statuses have the layout of C's, though not its alignment. */
MPI_Fint *fv_f_status_seen(bool on, MPI_Fint *status, MPI_Status *own);
bool fv_f_ignored(const MPI_Fint *status_or_statuses);
/* What was passed on, as C reads it; `own` is there to be used. */
const MPI_Status *fv_f_status(const MPI_Fint *seen, MPI_Status *own);
/* The same of n; `room` for a copy where they are not aligned as C needs it, NULL: there is no memory. */
const MPI_Status *fv_f_statuses(const MPI_Fint *statuses, size_t n, MPI_Status *room);

#define FV_F_TYPES(buffer, n, types)       ((struct fv_coll_buffer){ (buffer), 0, (n), NULL, MPI_BYTE, NULL, (types) })
#define FV_F_TYPES_LARGE(buffer, n, types) ((struct fv_coll_buffer){ (buffer), 0, NULL, (n), MPI_BYTE, NULL, (types) })

/* ---- the functions that the table calls special: bodies of all their entry points ---- */

void fv_f_MPI_Init(struct fv_call_place site, fv_f_function *real, MPI_Fint *ierror);
void fv_f_MPI_Init_thread(struct fv_call_place site, fv_f_function *real, MPI_Fint *required, MPI_Fint *provided,
                          MPI_Fint *ierror);
void fv_f_MPI_Finalize(struct fv_call_place site, fv_f_function *real, MPI_Fint *ierror);
void fv_f_MPI_Abort(struct fv_call_place site, fv_f_function *real, MPI_Fint *comm, MPI_Fint *code, MPI_Fint *ierror);
void fv_f_MPI_Pcontrol(struct fv_call_place site, fv_f_function *real, MPI_Fint *level, MPI_Fint *ierror);
void fv_f_MPI_Session_init(struct fv_call_place site, fv_f_function *real, MPI_Fint *info, MPI_Fint *errhandler,
                           MPI_Fint *session, MPI_Fint *ierror);
void fv_f_MPI_Session_finalize(struct fv_call_place site, fv_f_function *real, MPI_Fint *session, MPI_Fint *ierror);
void fv_f_MPI_Wait(struct fv_call_place site, fv_f_function *real, MPI_Fint *request, MPI_Fint *status,
                   MPI_Fint *ierror);
void fv_f_MPI_Test(struct fv_call_place site, fv_f_function *real, MPI_Fint *request, MPI_Fint *flag, MPI_Fint *status,
                   MPI_Fint *ierror);
void fv_f_MPI_Waitall(struct fv_call_place site, fv_f_function *real, MPI_Fint *count, MPI_Fint *requests,
                      MPI_Fint *statuses, MPI_Fint *ierror);
void fv_f_MPI_Testall(struct fv_call_place site, fv_f_function *real, MPI_Fint *count, MPI_Fint *requests,
                      MPI_Fint *flag, MPI_Fint *statuses, MPI_Fint *ierror);
void fv_f_MPI_Waitany(struct fv_call_place site, fv_f_function *real, MPI_Fint *count, MPI_Fint *requests,
                      MPI_Fint *index, MPI_Fint *status, MPI_Fint *ierror);
void fv_f_MPI_Testany(struct fv_call_place site, fv_f_function *real, MPI_Fint *count, MPI_Fint *requests,
                      MPI_Fint *index, MPI_Fint *flag, MPI_Fint *status, MPI_Fint *ierror);
void fv_f_MPI_Waitsome(struct fv_call_place site, fv_f_function *real, MPI_Fint *incount, MPI_Fint *requests,
                       MPI_Fint *outcount, MPI_Fint *indices, MPI_Fint *statuses, MPI_Fint *ierror);
void fv_f_MPI_Testsome(struct fv_call_place site, fv_f_function *real, MPI_Fint *incount, MPI_Fint *requests,
                       MPI_Fint *outcount, MPI_Fint *indices, MPI_Fint *statuses, MPI_Fint *ierror);
void fv_f_MPI_Request_get_status_all(struct fv_call_place site, fv_f_function *real, MPI_Fint *count,
                                     MPI_Fint *requests, MPI_Fint *flag, MPI_Fint *statuses, MPI_Fint *ierror);
void fv_f_MPI_Request_get_status_any(struct fv_call_place site, fv_f_function *real, MPI_Fint *count,
                                     MPI_Fint *requests, MPI_Fint *index, MPI_Fint *flag, MPI_Fint *status,
                                     MPI_Fint *ierror);
void fv_f_MPI_Request_get_status_some(struct fv_call_place site, fv_f_function *real, MPI_Fint *incount,
                                      MPI_Fint *requests, MPI_Fint *outcount, MPI_Fint *indices, MPI_Fint *statuses,
                                      MPI_Fint *ierror);
void fv_f_MPI_Start(struct fv_call_place site, fv_f_function *real, MPI_Fint *request, MPI_Fint *ierror);
void fv_f_MPI_Startall(struct fv_call_place site, fv_f_function *real, MPI_Fint *count, MPI_Fint *requests,
                       MPI_Fint *ierror);
void fv_f_MPI_Request_free(struct fv_call_place site, fv_f_function *real, MPI_Fint *request, MPI_Fint *ierror);
void fv_f_MPI_Cancel(struct fv_call_place site, fv_f_function *real, MPI_Fint *request, MPI_Fint *ierror);

#endif
