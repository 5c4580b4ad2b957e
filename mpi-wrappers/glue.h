/* SPDX-License-Identifier: BSD-3-Clause */
/* The MPI-dependent layer between wrappers and runtime: handles as numbers, sizes of datatypes, what a
 * status says, who is in a communicator. Compiled once per MPI; all queries are PMPI_ calls that are
 * local by the standard, and errno survives them. */
#ifndef FV_GLUE_H
#define FV_GLUE_H

#include "mpi-header.h"

#include "base/mpi_library.h"
#include "mpi-have.h"
#include "rt/rt.h"

/* One library for MPICH and all that share its binary interface, and one for all that have the standard's
 * (FV_STANDARD_ABI, from configure), whatever their files are called: it needs none of them. The program's is
 * found at run time (next.c), and PMPI_X is a pointer. Objects for archives refer to it by name, which brings
 * the members of the MPI's archive into the program. */
#if (defined(MPICH_NUMVERSION) || defined(FV_STANDARD_ABI)) && defined(PIC)
#define FV_FIND_MPI 1
#include "declared.h"
#else
#define FV_FIND_MPI 0
#endif

#ifdef FV_STANDARD_ABI
#define FV_OUR_MPI FV_MPI_STANDARD
#elif defined(MPICH_NUMVERSION)
#define FV_OUR_MPI FV_MPI_MPICH
#else
#define FV_OUR_MPI FV_MPI_OPENMPI
#endif

/* mpi-have.h says of each function 1: it is there, or 2: it is not, but may be in the program's MPI, which
 * may be newer. */
#define FV_ELSEWHERE(name) (HAVE_##name == 2 && FV_FIND_MPI)
#define FV_WRAPS(name)     (HAVE_##name == 1 || FV_ELSEWHERE(name))

#if FV_FIND_MPI && !defined(FV_PMPI_ITSELF)
#include "pmpi-list.h"
#ifdef MPICH_NUMVERSION
extern FV_INSIDE __typeof__(MPI_File_f2c) *fv_file_f2c;
#define MPI_File_f2c fv_file_f2c
#endif
#endif

/* Any handle as the runtime knows it. Open MPI's are pointers, MPICH's are ints, which get sign-extended;
 * a cast back (see fv_mpi_describe()) restores either. */
#define fv_handle(handle)     ((uint64_t)(uintptr_t)(handle))
#define fv_handle_at(pointer) ((pointer) ? fv_handle(*(pointer)) : 0)

/* Sizes of predefined datatypes by their handles, which are never anything else: those of derived ones come
 * back for others, and MPI is as quick. handle << 8 | size, at a place of the handle's. */
#define FV_NAMED_TYPES 64
extern FV_INSIDE uint64_t fv_named_types[FV_NAMED_TYPES];
static inline uint64_t *fv_named_type(uint64_t handle)
{
    return &fv_named_types[handle * UINT64_C(0x9e3779b97f4a7c15) >> 58];
}
uint64_t fv_ask_type_bytes(MPI_Datatype type);

/* Bytes of data in one element of a datatype; 0 if MPI cannot tell. */
static inline uint64_t fv_type_bytes(MPI_Datatype type)
{
    uint64_t handle = fv_handle(type), named = __atomic_load_n(fv_named_type(handle), __ATOMIC_RELAXED);

    return FV_LIKELY((named ^ handle << 8) < 256) ? named & 255 : fv_ask_type_bytes(type);
}

/* A message. The datatype is not looked at where the count is 0. */
static inline uint64_t fv_bytes(MPI_Count count, MPI_Datatype type)
{
    return count > 0 ? (uint64_t)count * fv_type_bytes(type) : 0;
}

/* Bytes that arrived; 0 also where MPI cannot tell (MPI_UNDEFINED). */
static inline uint64_t fv_status_bytes(const MPI_Status *status)
{
#if defined(MPICH_NUMVERSION) && !defined(FV_STANDARD_ABI) /* part of MPICH's binary interface */
    return (uint64_t)((uint32_t)status->count_hi_and_cancelled >> 1) << 32 | (uint32_t)status->count_lo;
#else
    MPI_Count bytes = 0;
    int count = MPI_UNDEFINED;

    if (FV_LIKELY(PMPI_Get_count(status, MPI_BYTE, &count) == MPI_SUCCESS && count >= 0))
        return (uint64_t)count; /* the same, in half of the time */
    return PMPI_Get_elements_x(status, MPI_BYTE, &bytes) == MPI_SUCCESS && bytes > 0 ? (uint64_t)bytes : 0;
#endif
}

/* enum fv_failure of what an MPI function returned; looks at nothing else. */
FV_COLD unsigned fv_failure_of(int result);
/* For the trace: the operation of the detail before this one failed. */
FV_COLD void fv_event_failed(struct fv_call *call, int result);

/* A rank as all MPIs would write it: their values of the special ones differ. */
static inline int fv_peer(int rank)
{
    return rank == MPI_ANY_SOURCE ? FV_ANY_PEER : rank < 0 ? FV_NO_PEER : rank;
}

/* The status to pass on: the caller's, or `own` where we want one and the caller does not. */
static inline MPI_Status *fv_status_seen(bool on, MPI_Status *status, MPI_Status *own)
{
    return on && status == MPI_STATUS_IGNORE ? own : status;
}

/* A communicator's members, for fv_comm_new(). */
struct fv_members {
    int rank, size, remote_size; /* remote_size 0: an intracommunicator */
    int *world_ranks;            /* [size], then [remote_size]; -1: not in MPI_COMM_WORLD */
};
/* False: no memory, or MPI refused. Release *out with fv_members_release() in either case. */
bool fv_members_init(MPI_Comm comm, struct fv_members *out);
void fv_members_release(struct fv_members *members);
/* World ranks of the n members of a group, in order; -1: not in MPI_COMM_WORLD. */
bool fv_members_of_group(MPI_Group group, int n, int *out);
/* Depends on who is in it and in which order of groups that both sides of an intercommunicator see. */
uint64_t fv_members_hash(const struct fv_members *members);
bool fv_members_in_world(const struct fv_members *members);

/* Registers a valid communicator; parent may be NULL. */
struct fv_comm *fv_comm_register(MPI_Comm comm, const struct fv_members *members, struct fv_comm *parent,
                                 uint64_t sequence, uint64_t salt);
/* MPI_COMM_WORLD; NULL where there are only sessions. */
struct fv_comm *fv_comm_world(void);

/* MPI_Init and its kin are running on some thread: fv_mpi_attach() must not believe that MPI is up. */
void fv_mpi_starting(bool starting);
/* The world process model is initialised and not finalised. */
bool fv_mpi_world(void);
#if HAVE_MPI_Session_init
/* What a program with sessions only knows about itself: its place in "mpi://WORLD". */
bool fv_mpi_attach_session(MPI_Session session, struct fv_start_info *out);
void fv_mpi_detach_session(void); /* before the last session is finalised */
#endif

#endif
