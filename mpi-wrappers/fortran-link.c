/* SPDX-License-Identifier: BSD-3-Clause */
/* What stands behind the Fortran entry points: the MPI library's own procedures, found by the dynamic linker,
 * and the stubs of the spellings that may be somebody else's. */
#include "fortran.h"

#include "lookup.h"
#include "next.h"
#include "resolve.h"

#include "base/experiment.h"
#include "base/linked_objects.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

const void *fv_f_variable(const char *name)
{
    const void *found = dlsym(RTLD_DEFAULT, name);

    return found ? found : fv_find_private(name, NULL);
}

static const void *behind(const char *name, const void *own)
{
    const void *found = fv_linked_behind(name);

    return found && found != own ? found : fv_find_private(name, own);
}

static fv_f_function *next_of(const struct fv_f_real *real)
{
    return (fv_f_function *)behind(real->name, (const void *)real->own);
}

#ifdef PIC
/* Names in these spellings may be anybody's: those of MPI's libraries are meant. */
bool fv_f_is_behind(const char *name, const void *own, const void *found)
{
    Dl_info info;
    const char *library = dladdr(found, &info) ? fv_base_name(info.dli_fname) : "";

    return (!strncmp(library, "libmpi", strlen("libmpi")) || !strncmp(library, "libfmpi", strlen("libfmpi"))) &&
           behind(name, own) == found;
}
#endif

/* Stand in for procedures that the program has no library for. */
static void without_effect(void) {}

static void is_initialized(MPI_Fint *flag, MPI_Fint *ierror)
{
    *flag = 0;
    *ierror = fv_mpi_find() ? PMPI_Initialized(flag) : MPI_SUCCESS;
}

static void is_finalized(MPI_Fint *flag, MPI_Fint *ierror)
{
    *flag = 0;
    *ierror = fv_mpi_find() ? PMPI_Finalized(flag) : MPI_SUCCESS;
}

static fv_f_function *stand_in(const char *name)
{
    if (!strcmp(name, "mpi_initialized_"))
        return (fv_f_function *)is_initialized;
    if (!strcmp(name, "mpi_finalized_"))
        return (fv_f_function *)is_finalized;
    fv_log("%s: no library of this program defines it, so the call does nothing; link the Fortran library of its MPI",
           name);
    return without_effect;
}

fv_f_function *fv_f_find(struct fv_f_real *real)
{
    int saved = errno;
    fv_f_function *found = next_of(real);

    if (!found)
        found = stand_in(real->name);
    __atomic_store_n(&real->found, found, __ATOMIC_RELEASE);
    errno = saved;
    return found;
}

#ifdef FV_F_STUBS
static const void *object_of(const void *address)
{
    Dl_info info;

    return address && dladdr(address, &info) ? info.dli_fbase : NULL;
}

/* Called by fv_f_resolve alone. */
__attribute__((used)) static void *settle_stub(struct fv_f_stub *stub) __asm__("fv_f_settle_stub");
static void *settle_stub(struct fv_f_stub *stub)
{
    int saved = errno;
    const void *same = fv_linked_behind(stub->name);
    const void *mpi = object_of((const void *)next_of(stub->real));
    bool foreign = same && object_of(same) != mpi;
    fv_f_function *target = foreign ? (fv_f_function *)same : stub->real->own;

    __atomic_store_n(&stub->target, target, __ATOMIC_RELEASE);
    errno = saved;
    return (void *)target;
}

FV_RESOLVER("fv_f_resolve", "fv_f_settle_stub");
#endif
