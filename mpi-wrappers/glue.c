/* SPDX-License-Identifier: BSD-3-Clause */
/* See glue.h. Everything here is rare: it runs when a communicator is first seen, and at the start. */
#include "glue.h"

#include "base/lock.h"
#include "next.h"
#include "rt/unseen_mpi.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const enum fv_mpi_library fv_our_mpi = FV_OUR_MPI;

const void *fv_mpi_code(void)
{
#ifdef PIC
    return fv_next_of_mpi();
#else
    return NULL;
#endif
}

static bool starting;
static MPI_Group session_world; /* group of "mpi://WORLD" in a program with sessions only */
static bool have_session_world;

void fv_mpi_starting(bool now)
{
    __atomic_store_n(&starting, now, __ATOMIC_RELEASE);
}

bool fv_mpi_world(void)
{
    int initialized = 0, finalized = 0;

    return fv_mpi_find() && PMPI_Initialized(&initialized) == MPI_SUCCESS && initialized &&
           PMPI_Finalized(&finalized) == MPI_SUCCESS && !finalized;
}

/* ---- errors ---- */

unsigned fv_failure_of(int result)
{
    static const int classes[FV_FAILURE_KINDS] = { MPI_SUCCESS,
#define CLASS(name) MPI_ERR_##name,
                                                   FV_FAILURES(CLASS)
#undef CLASS
    };
    int class = MPI_ERR_OTHER, saved = errno;

    if (result == MPI_SUCCESS)
        return FV_FAILURE_NONE;
    PMPI_Error_class(result, &class);
    errno = saved;
    for (unsigned i = 1; i < FV_FAILURE_KINDS; i++)
        if (classes[i] == class)
            return i;
    return FV_FAILURE_OTHER;
}

void fv_event_failed(struct fv_call *call, int result)
{
    fv_event(call, FAILED, fv_failure_of(result));
}

/* ---- datatypes ---- */

uint64_t fv_named_types[FV_NAMED_TYPES];

uint64_t fv_ask_type_bytes(MPI_Datatype type)
{
    MPI_Count bytes = 0;
    int integers, addresses, types, combiner = MPI_UNDEFINED;

    if (PMPI_Type_size_x(type, &bytes) != MPI_SUCCESS || bytes <= 0)
        return 0;
    if (bytes <= 32 && PMPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner) == MPI_SUCCESS &&
        combiner == MPI_COMBINER_NAMED)
        __atomic_store_n(fv_named_type(fv_handle(type)), fv_handle(type) << 8 | (uint64_t)bytes, __ATOMIC_RELAXED);
    return (uint64_t)bytes;
}

/* ---- start ---- */

/* The first line; MPICH aligns its words by tabs, here a space does. */
static void read_library_version(char *text)
{
    int length = 0;
    char *to = text;

    if (PMPI_Get_library_version(text, &length) != MPI_SUCCESS)
        text[0] = 0;
    text[strcspn(text, "\n")] = 0;
    for (const char *from = text; *from; from++)
        if ((*from != ' ' && *from != '\t') || (to > text && to[-1] != ' '))
            *to++ = *from == '\t' ? ' ' : *from;
    *to = 0;
}

/* Several threads may be the first to find MPI initialised: written once, and from then on only read. */
static const char *library_version(void)
{
    static char text[MPI_MAX_LIBRARY_VERSION_STRING + 1];
    static struct fv_lock lock;
    static bool known;

    uint64_t signals = fv_lock_sigsave(&lock);
    if (!known)
        read_library_version(text);
    known = true;
    fv_unlock_sigrestore(&lock, signals);
    return text;
}

static void describe_threads(struct fv_start_info *out)
{
    static const struct {
        int level;
        const char *name;
    } levels[] = { { MPI_THREAD_SINGLE, "MPI_THREAD_SINGLE" },
                   { MPI_THREAD_FUNNELED, "MPI_THREAD_FUNNELED" },
                   { MPI_THREAD_SERIALIZED, "MPI_THREAD_SERIALIZED" },
                   { MPI_THREAD_MULTIPLE, "MPI_THREAD_MULTIPLE" } };
    int provided = MPI_THREAD_MULTIPLE; /* the safe assumption */

    out->thread_level = "";
    if (PMPI_Query_thread(&provided) == MPI_SUCCESS)
        for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++)
            if (levels[i].level == provided)
                out->thread_level = levels[i].name;
    out->thread_multiple = provided == MPI_THREAD_MULTIPLE;
}

bool fv_mpi_attach(struct fv_start_info *out)
{
    int saved = errno;
    struct fv_start_info info = { .world_size = 1 };
    bool ok = !__atomic_load_n(&starting, __ATOMIC_ACQUIRE) && fv_mpi_world() &&
              PMPI_Comm_rank(MPI_COMM_WORLD, &info.world_rank) == MPI_SUCCESS &&
              PMPI_Comm_size(MPI_COMM_WORLD, &info.world_size) == MPI_SUCCESS;

    if (ok) {
        info.mpi = library_version();
        describe_threads(&info);
        *out = info;
    }
    errno = saved;
    return ok;
}

#if HAVE_MPI_Session_init
/* Sessions have no MPI_Query_thread: a session is asked for its level, and only "thread_level" of its
 * info tells. More than one thread is assumed, which costs a lock and is never wrong. */
bool fv_mpi_attach_session(MPI_Session session, struct fv_start_info *out)
{
    int saved = errno;
    struct fv_start_info info = { .world_size = 1, .thread_level = "", .thread_multiple = true };

    if (PMPI_Group_from_session_pset(session, "mpi://WORLD", &session_world) == MPI_SUCCESS) {
        have_session_world = PMPI_Group_rank(session_world, &info.world_rank) == MPI_SUCCESS &&
                             PMPI_Group_size(session_world, &info.world_size) == MPI_SUCCESS;
        if (!have_session_world)
            PMPI_Group_free(&session_world);
    }
    info.mpi = library_version();
    *out = info;
    errno = saved;
    return true;
}

void fv_mpi_detach_session(void)
{
    if (have_session_world)
        PMPI_Group_free(&session_world);
    have_session_world = false;
}
#endif

/* ---- members ---- */

/* Ranks of `group` in the world: 0..n-1 goes in, as the standard's translation wants it. */
bool fv_members_of_group(MPI_Group group, int n, int *out)
{
    MPI_Group world = session_world;
    bool own = !have_session_world;
    int *all = calloc((size_t)n + 1, sizeof(*all));
    bool ok = all && (!own || PMPI_Comm_group(MPI_COMM_WORLD, &world) == MPI_SUCCESS);

    for (int i = 0; ok && i < n; i++)
        all[i] = i;
    if (ok) {
        ok = PMPI_Group_translate_ranks(group, n, all, world, out) == MPI_SUCCESS;
        if (own)
            PMPI_Group_free(&world);
    }
    for (int i = 0; ok && i < n; i++)
        if (out[i] == MPI_UNDEFINED)
            out[i] = -1;
    free(all);
    return ok;
}

static bool translate_group_of(MPI_Comm comm, int (*get)(MPI_Comm, MPI_Group *), int n, int *out)
{
    MPI_Group group;

    if (get(comm, &group) != MPI_SUCCESS)
        return false;
    bool ok = fv_members_of_group(group, n, out);
    PMPI_Group_free(&group);
    return ok;
}

bool fv_members_init(MPI_Comm comm, struct fv_members *out)
{
    int saved = errno, inter = 0;
    struct fv_members m = { 0 };
    bool ok = (have_session_world || fv_mpi_world()) && PMPI_Comm_test_inter(comm, &inter) == MPI_SUCCESS &&
              PMPI_Comm_rank(comm, &m.rank) == MPI_SUCCESS && PMPI_Comm_size(comm, &m.size) == MPI_SUCCESS &&
              (!inter || PMPI_Comm_remote_size(comm, &m.remote_size) == MPI_SUCCESS);

    if (ok)
        ok = (m.world_ranks = malloc(((size_t)m.size + (size_t)m.remote_size) * sizeof(int) + 1)) &&
             translate_group_of(comm, PMPI_Comm_group, m.size, m.world_ranks) &&
             (!inter || translate_group_of(comm, PMPI_Comm_remote_group, m.remote_size, m.world_ranks + m.size));
    *out = m;
    errno = saved;
    return ok;
}

void fv_members_release(struct fv_members *members)
{
    free(members->world_ranks);
    members->world_ranks = NULL;
}

static uint64_t hash_ranks(const int *ranks, int n)
{
    uint64_t hash = (uint64_t)n;

    for (int i = 0; i < n; i++)
        hash = fv_mix2(hash, (uint32_t)ranks[i]);
    return hash;
}

uint64_t fv_members_hash(const struct fv_members *m)
{
    uint64_t here = hash_ranks(m->world_ranks, m->size);
    uint64_t there = hash_ranks(m->world_ranks + m->size, m->remote_size);

    if (!m->remote_size)
        return here;
    return here < there ? fv_mix2(here, there) : fv_mix2(there, here);
}

bool fv_members_in_world(const struct fv_members *m)
{
    for (int i = 0; i < m->size + m->remote_size; i++)
        if (m->world_ranks[i] < 0)
            return false;
    return true;
}

/* ---- communicators ---- */

struct fv_comm *fv_comm_register(MPI_Comm comm, const struct fv_members *m, struct fv_comm *parent, uint64_t sequence,
                                 uint64_t salt)
{
    const struct fv_comm_info info = {
        .handle = fv_handle(comm),
        .parent = parent,
        .sequence = sequence,
        .salt = salt,
        .flags = m->remote_size ? FV_COMM_INTER : 0,
        .rank = m->rank,
        .size = m->size,
        .remote_size = m->remote_size,
        .world_ranks = m->world_ranks,
        .remote_world_ranks = m->world_ranks + m->size,
    };
    return fv_comm_new(&info);
}

struct fv_comm *fv_comm_world(void)
{
    return fv_mpi_world() ? fv_comm_get(fv_handle(MPI_COMM_WORLD)) : NULL;
}

struct fv_comm *fv_mpi_describe(uint64_t handle)
{
    MPI_Comm comm = (MPI_Comm)(uintptr_t)handle;
    struct fv_members members = { 0 };
    struct fv_comm *out = NULL;
    char name[MPI_MAX_OBJECT_NAME + 1] = "";
    int length;

    if (comm != MPI_COMM_NULL && fv_members_init(comm, &members) &&
        PMPI_Comm_get_name(comm, name, &length) == MPI_SUCCESS) {
        unsigned kind = comm == MPI_COMM_WORLD  ? FV_COMM_WORLD
                        : comm == MPI_COMM_SELF ? FV_COMM_SELF
                                                : FV_COMM_INFERRED;
        const struct fv_comm_info info = {
            .handle = handle,
            .flags = kind | (members.remote_size ? FV_COMM_INTER : 0),
            .rank = members.rank,
            .size = members.size,
            .remote_size = members.remote_size,
            .world_ranks = members.world_ranks,
            .remote_world_ranks = members.world_ranks + members.size,
            .name = name[0] ? name : NULL,
        };
        out = fv_comm_new(&info);
    }
    fv_members_release(&members);
    return out;
}
