/* SPDX-License-Identifier: BSD-3-Clause */
/* What Fortran passes, as C has it: sentinels, statuses, text. */
#include "fortran.h"

#include <errno.h>
#include <string.h>

/* ---- sentinels ---- */

/* Each is an address: of a common block in mpif.h, of a variable in the modules. MPICH keeps those of
 * mpif.h in pointers that its first Fortran call fills. */
static struct sentinels {
    bool known;
    const void *in_place[4], *status_ignore[4], *statuses_ignore[4];
} sentinels;

static void learn(const void **out, int n, const char *const *names)
{
    for (int i = 0; i < n && names[i]; i++) {
        const void *address = fv_f_variable(names[i] + (names[i][0] == '*'));

        out[i] = address && names[i][0] == '*' ? *(const void *const *)address : address;
    }
}

/* Threads may do so at a time: all write the same. */
static void learn_sentinels(void)
{
#ifdef MPICH_NUMVERSION
    static const char *const in_place[4] = { "*MPIR_F_MPI_IN_PLACE", "MPIR_F08_MPI_IN_PLACE" };
    static const char *const status[4] = { "*MPI_F_STATUS_IGNORE", "*MPI_F08_STATUS_IGNORE" };
    static const char *const statuses[4] = { "*MPI_F_STATUSES_IGNORE", "*MPI_F08_STATUSES_IGNORE" };
#else
    static const char *const in_place[4] = { "mpi_fortran_in_place_", "mpi_fortran_in_place", "mpi_fortran_in_place__",
                                             "MPI_FORTRAN_IN_PLACE" };
    static const char *const status[4] = { "mpi_fortran_status_ignore_", "mpi_fortran_status_ignore",
                                           "mpi_fortran_status_ignore__", "MPI_FORTRAN_STATUS_IGNORE" };
    static const char *const statuses[4] = { "mpi_fortran_statuses_ignore_", "mpi_fortran_statuses_ignore",
                                             "mpi_fortran_statuses_ignore__", "MPI_FORTRAN_STATUSES_IGNORE" };
#endif
    int saved = errno;
    MPI_Fint flag, ierror;
    void (*initialized)(MPI_Fint *, MPI_Fint *) = (void (*)(MPI_Fint *, MPI_Fint *))fv_f_variable("pmpi_initialized_");

    if (initialized)
        initialized(&flag, &ierror);
    learn(sentinels.in_place, 4, in_place);
    learn(sentinels.status_ignore, 4, status);
    learn(sentinels.statuses_ignore, 4, statuses);
    __atomic_store_n(&sentinels.known, true, __ATOMIC_RELEASE);
    errno = saved;
}

static bool is_one_of(const void *address, const void *const *list)
{
    if (!__atomic_load_n(&sentinels.known, __ATOMIC_ACQUIRE))
        learn_sentinels();
    return address && (address == list[0] || address == list[1] || address == list[2] || address == list[3]);
}

const void *fv_f_buffer(const void *buffer)
{
    return is_one_of(buffer, sentinels.in_place) ? MPI_IN_PLACE : buffer;
}

bool fv_f_ignored(const MPI_Fint *status)
{
    return is_one_of(status, sentinels.status_ignore) || is_one_of(status, sentinels.statuses_ignore);
}

MPI_Fint *fv_f_status_seen(bool on, MPI_Fint *status, MPI_Status *own)
{
    return on && fv_f_ignored(status) ? (MPI_Fint *)own : status;
}

/* ---- values ---- */

const MPI_Status *fv_f_statuses(const MPI_Fint *statuses, size_t n, MPI_Status *room)
{
    if ((uintptr_t)statuses % _Alignof(MPI_Status) == 0)
        return (const MPI_Status *)statuses;
    return room ? memcpy(room, statuses, n * sizeof(*room)) : NULL;
}

const MPI_Status *fv_f_status(const MPI_Fint *seen, MPI_Status *own)
{
    return fv_f_statuses(seen, 1, own);
}

const char *fv_f_text(char *out, const char *text, size_t length)
{
    length &= UINT32_MAX; /* some compilers pass an int */
    if (length >= FV_F_TEXT)
        length = FV_F_TEXT - 1;
    while (length && text[length - 1] == ' ')
        length--;
    memcpy(out, text, length);
    out[length] = '\0';
    return out;
}
