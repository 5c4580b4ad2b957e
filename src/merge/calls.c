/* SPDX-License-Identifier: BSD-3-Clause */
/* See calls.h. */
#include "merge/calls.h"
#include "trace/format_words.h"

#include <ctype.h>
#include <string.h>

static const struct {
    const char *name;
    uint8_t role, op;
} collectives[] = {
    { "barrier", FV_ROLE_COLL_OTHER, FV_OP_BARRIER },
    { "bcast", FV_ROLE_ONE2ALL, FV_OP_BCAST },
    { "gather", FV_ROLE_ALL2ONE, FV_OP_GATHER },
    { "gatherv", FV_ROLE_ALL2ONE, FV_OP_GATHERV },
    { "scatter", FV_ROLE_ONE2ALL, FV_OP_SCATTER },
    { "scatterv", FV_ROLE_ONE2ALL, FV_OP_SCATTERV },
    { "allgather", FV_ROLE_ALL2ALL, FV_OP_ALLGATHER },
    { "allgatherv", FV_ROLE_ALL2ALL, FV_OP_ALLGATHERV },
    { "alltoall", FV_ROLE_ALL2ALL, FV_OP_ALLTOALL },
    { "alltoallv", FV_ROLE_ALL2ALL, FV_OP_ALLTOALLV },
    { "alltoallw", FV_ROLE_ALL2ALL, FV_OP_ALLTOALLW },
    { "allreduce", FV_ROLE_ALL2ALL, FV_OP_ALLREDUCE },
    { "reduce", FV_ROLE_ALL2ONE, FV_OP_REDUCE },
    { "reduce_scatter", FV_ROLE_ALL2ALL, FV_OP_REDUCE_SCATTER },
    { "reduce_scatter_block", FV_ROLE_ALL2ALL, FV_OP_REDUCE_SCATTER_BLOCK },
    { "scan", FV_ROLE_COLL_OTHER, FV_OP_SCAN },
    { "exscan", FV_ROLE_COLL_OTHER, FV_OP_EXSCAN },
    { "comm_free", FV_ROLE_COLL_OTHER, FV_OP_DESTROY_HANDLE },
    { "comm_disconnect", FV_ROLE_COLL_OTHER, FV_OP_DESTROY_HANDLE },
    { "win_free", FV_ROLE_RMA, FV_OP_DESTROY_HANDLE },
    { "win_allocate", FV_ROLE_RMA, FV_OP_CREATE_AND_ALLOCATE },
    { "win_allocate_shared", FV_ROLE_RMA, FV_OP_CREATE_AND_ALLOCATE },
    { "win_create", FV_ROLE_RMA, FV_OP_CREATE_HANDLE },
    { "win_create_dynamic", FV_ROLE_RMA, FV_OP_CREATE_HANDLE },
};

static const struct {
    const char *name;
    uint8_t sync;
} syncs[] = {
    { "win_fence", FV_RMA_FENCE },
    { "win_post", FV_RMA_POST },
    { "win_start", FV_RMA_START },
    { "win_complete", FV_RMA_COMPLETE },
    { "win_wait", FV_RMA_WAIT },
    { "win_test", FV_RMA_WAIT },
    { "win_lock", FV_RMA_LOCK },
    { "win_lock_all", FV_RMA_LOCK_ALL },
    { "win_unlock", FV_RMA_UNLOCK },
    { "win_unlock_all", FV_RMA_UNLOCK },
    { "win_flush", FV_RMA_FLUSH },
    { "win_flush_all", FV_RMA_FLUSH },
    { "win_flush_local", FV_RMA_FLUSH_LOCAL },
    { "win_flush_local_all", FV_RMA_FLUSH_LOCAL },
};

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);

    return n >= m && !strcmp(text + n - m, end);
}

/* "MPI_Ineighbor_alltoall" -> "alltoall", "MPI_Bcast_init_c" -> "bcast". Returns whether it is a collective. */
static bool find_collective(const char *lower, struct fv_call_info *info)
{
    char base[48];

    strcpy(base, lower);
    if (ends_with(base, "_c")) /* with large counts */
        base[strlen(base) - 2] = '\0';
    if (ends_with(base, "_init"))
        base[strlen(base) - 5] = '\0';
    for (int strip = 0; strip < 2; strip++) {
        const char *name = base + strip;

        if (strip && base[0] != 'i')
            return false;
        info->neighbour = !strncmp(name, "neighbor_", 9);
        if (info->neighbour)
            name += 9;
        for (unsigned i = 0; i < sizeof(collectives) / sizeof(*collectives); i++)
            if (!strcmp(name, collectives[i].name)) {
                info->role = collectives[i].role;
                info->op = collectives[i].op;
                return true;
            }
    }
    return false;
}

static void by_class(const char *lower, unsigned class, struct fv_call_info *info)
{
    switch (class) {
    case FV_CLASS_P2P:
    case FV_CLASS_COMPLETION: info->role = FV_ROLE_P2P; break;
    case FV_CLASS_COLLECTIVE: info->role = FV_ROLE_COLL_OTHER; break;
    case FV_CLASS_RMA: info->role = FV_ROLE_RMA; break;
    case FV_CLASS_IO:
        info->role = strstr(lower, "read") || strstr(lower, "write") ? FV_ROLE_IO : FV_ROLE_IO_METADATA;
        break;
    case FV_CLASS_COMM:
        info->role = !strncmp(lower, "file_", 5) ? FV_ROLE_IO_METADATA : FV_ROLE_COLL_OTHER;
        if (info->role == FV_ROLE_COLL_OTHER)
            info->op = FV_OP_CREATE_HANDLE;
        break;
    default: break;
    }
}

static uint8_t thread_role(const char *name)
{
    static const struct {
        const char *part;
        uint8_t role;
    } roles[] = {
        { "implicit barrier", FV_ROLE_THREAD_IMPLICIT_BARRIER },
        { "barrier", FV_ROLE_THREAD_BARRIER },
        { "join", FV_ROLE_THREAD_JOIN },
        { "omp for", FV_ROLE_OMP_LOOP },
        { "omp distribute", FV_ROLE_OMP_LOOP },
        { "omp sections", FV_ROLE_OMP_SECTIONS },
        { "omp single", FV_ROLE_OMP_SINGLE },
        { "omp workshare", FV_ROLE_OMP_WORKSHARE },
        { "omp masked", FV_ROLE_OMP_MASKED },
        { "omp taskloop", FV_ROLE_OMP_LOOP }, /* before what it begins with */
        { "omp task", FV_ROLE_OMP_TASK },
        { "omp target data", FV_ROLE_OMP_TARGET_DATA },
        { "omp target", FV_ROLE_OMP_TARGET },
    };

    for (size_t i = 0; i < sizeof(roles) / sizeof(roles[0]); i++)
        if (strstr(name, roles[i].part))
            return roles[i].role;
    return FV_ROLE_THREAD;
}

static uint8_t file_role(const char *name)
{
    for (uint32_t i = 1; i < FV_IO_FUNCTIONS; i++) {
        enum fv_io_operation o = fv_io_operation_of(i);

        if (!strcmp(fv_io_function_name(i), name))
            return o == FV_IO_OP_READ || o == FV_IO_OP_WRITE || o == FV_IO_OP_ASYNC_READ || o == FV_IO_OP_ASYNC_WRITE
                       ? FV_ROLE_IO
                       : FV_ROLE_IO_METADATA;
    }
    return FV_ROLE_IO;
}

struct fv_call_info fv_call_info(const char *name, unsigned class)
{
    struct fv_call_info info = { .op = FV_OP_NONE };
    char lower[48] = "";
    size_t n = 0;

    if (class == FV_CLASS_SECTION)
        return info;
    if (class == FV_CLASS_OF_FILES) {
        info.role = file_role(name);
        return info;
    }
    if (class == FV_CLASS_OF_MEMORY) {
        info.role = !strcmp(name, "free")      ? FV_ROLE_DEALLOCATE
                    : !strcmp(name, "realloc") ? FV_ROLE_REALLOCATE
                                               : FV_ROLE_ALLOCATE;
        return info;
    }
    if (class == FV_CLASS_OF_THREADS) {
        info.role = thread_role(name);
        return info;
    }
    if (!strncmp(name, "MPI_", 4))
        for (const char *c = name + 4; *c && n + 1 < sizeof(lower); c++)
            lower[n++] = (char)tolower((unsigned char)*c);
    if (!find_collective(lower, &info)) {
        info = (struct fv_call_info){ .op = FV_OP_NONE };
        by_class(lower, class, &info);
    }
    for (unsigned i = 0; i < sizeof(syncs) / sizeof(*syncs); i++)
        if (!strcmp(lower, syncs[i].name))
            info.sync = syncs[i].sync;
    if (strstr(lower, "compare_and_swap"))
        info.atomic = FV_ATOMIC_COMPARE_AND_SWAP;
    else if (strstr(lower, "fetch_and_op") || strstr(lower, "get_accumulate"))
        info.atomic = FV_ATOMIC_FETCH;
    info.together = !strncmp(lower, "file_", 5) && (strstr(lower, "_all") || strstr(lower, "_ordered"));
    return info;
}

struct fv_volume fv_notional(const struct fv_call_info *call, struct fv_volume own, uint32_t n, uint32_t rank,
                             bool is_root)
{
    struct fv_volume v = own;

    if (call->neighbour)
        return v;
    switch (call->op) {
    case FV_OP_BCAST:
        v.sent = is_root ? own.sent * n : 0;
        v.received = is_root ? own.sent : own.received;
        break;
    case FV_OP_ALLGATHER:
    case FV_OP_ALLGATHERV: v.sent = own.sent * n; break;
    case FV_OP_ALLREDUCE:
        v.sent = own.sent * n;
        v.received = own.received * n;
        break;
    case FV_OP_REDUCE: v.received = is_root ? own.received * n : 0; break;
    case FV_OP_REDUCE_SCATTER:
    case FV_OP_REDUCE_SCATTER_BLOCK: v.received = own.received * n; break;
    case FV_OP_SCAN:
        v.sent = own.sent * (n > rank ? n - rank : 1);
        v.received = own.sent * ((uint64_t)rank + 1);
        break;
    case FV_OP_EXSCAN:
        v.sent = own.sent * (n > rank ? n - rank - 1 : 0);
        v.received = own.sent * rank;
        break;
    default: break;
    }
    return v;
}
