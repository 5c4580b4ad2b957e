/* SPDX-License-Identifier: BSD-3-Clause */
/* See comm.h. Lookup takes no lock: a thread remembers the communicator it used last, and behind that
 * stands an open-addressed table of pointers that only grows; writers hold a lock, and signals. */
#include "rt/comm.h"
#include "rt/tail.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RECORDS_MAX 32768u /* communicators described in the file; later ones reuse freed slots */
#define NAME_BYTES  sizeof(((struct fv_comm_record *)0)->name)

struct table {
    uint32_t mask;
    struct fv_comm *slot[];
};

static struct fv_lock lock;
static struct table *table; /* replaced, never changed in size: readers may hold an old one */
static uint32_t table_used;
uint64_t fv_comm_generation = 1;
static struct fv_comm *dead; /* freed ones, for reuse when over budget */
static uint32_t record_count;
static struct fv_tail tail;

static struct fv_comm *search(uint64_t handle)
{
    const struct table *t = __atomic_load_n(&table, __ATOMIC_ACQUIRE);
    struct fv_comm *comm;

    if (!t)
        return NULL;
    for (uint32_t at = (uint32_t)fv_mix(handle) & t->mask; (comm = __atomic_load_n(&t->slot[at], __ATOMIC_ACQUIRE));
         at = (at + 1) & t->mask)
        if (comm->handle == handle && !__atomic_load_n(&comm->dead, __ATOMIC_ACQUIRE))
            return comm;
    return NULL;
}

/* In the slot of a dead one, if there is one on the way: programs make and free without end. Chains of probes
 * have no gaps, so that readers need no lock. */
static void place(struct table *t, struct fv_comm *comm)
{
    uint32_t at = (uint32_t)fv_mix(comm->handle) & t->mask;

    while (t->slot[at] && !t->slot[at]->dead)
        at = (at + 1) & t->mask;
    table_used += !t->slot[at];
    __atomic_store_n(&t->slot[at], comm, __ATOMIC_RELEASE);
}

/* Makes room for one more; dead entries are left behind. Old tables are kept for readers inside them. */
static bool grow(void)
{
    uint32_t alive = 0;

    for (uint32_t i = 0; table && i <= table->mask; i++)
        alive += table->slot[i] && !table->slot[i]->dead;
    uint32_t size = 64;
    while (size < 4 * (alive + 1))
        size *= 2;
    struct table *bigger = fv_memory_new(sizeof(*bigger) + size * sizeof(bigger->slot[0]));
    if (!bigger)
        return false;
    bigger->mask = size - 1;
    table_used = 0;
    for (uint32_t i = 0; table && i <= table->mask; i++)
        if (table->slot[i] && !table->slot[i]->dead)
            place(bigger, table->slot[i]);
    __atomic_store_n(&table, bigger, __ATOMIC_RELEASE);
    return true;
}

struct fv_comm *fv_comm_find(uint64_t handle)
{
    struct fv_thread *t = fv_self;
    uint64_t now = fv_comm_generation_now();

    if (t && fv_comm_is_last(t, handle))
        return t->comm;
    struct fv_comm *comm = search(handle);
    if (t && comm) {
        t->comm_handle = handle;
        t->comm_generation = now;
        t->comm = comm;
    }
    return comm;
}

static __attribute__((noinline)) struct fv_comm *get_anew(uint64_t handle)
{
    struct fv_comm *comm = fv_comm_find(handle);

    return FV_LIKELY(comm != NULL) ? comm : fv_mpi_describe(handle);
}

struct fv_comm *fv_comm_get(uint64_t handle)
{
    const struct fv_thread *t = fv_self;

    return FV_LIKELY(t && fv_comm_is_last(t, handle)) ? t->comm : get_anew(handle);
}

static uint64_t firsts_of(const struct fv_comm_info *info)
{
    if (!info->world_ranks)
        return info->parent->firsts;
    int mine = info->size > 0 ? info->world_ranks[0] : -1;
    int theirs = info->remote_size > 0 ? info->remote_world_ranks[0] : mine;
    uint64_t low = (uint32_t)(mine < theirs ? mine : theirs), high = (uint32_t)(mine < theirs ? theirs : mine);

    return low << 32 | high;
}

static uint64_t uid_of(const struct fv_comm_info *info)
{
    static uint64_t inferred;

    if (info->flags & FV_COMM_WORLD)
        return 1;
    if (info->flags & FV_COMM_SELF)
        return fv_mix2(2, (uint32_t)fv_rt.world_rank);
    if (info->flags & FV_COMM_INFERRED || (!info->parent && !info->salt))
        return fv_mix2(fv_mix2(3, (uint32_t)fv_rt.world_rank), ++inferred);
    return fv_mix2(fv_mix2(fv_mix2(info->parent ? info->parent->uid : 0, info->sequence), info->salt), firsts_of(info));
}

/* Ranks as runs of equal stride: an identity or a regular split is one run whatever its size. */
static unsigned count_runs(const int *ranks, int n, struct fv_rank_run *out)
{
    unsigned runs = 0;

    for (int i = 0; i < n;) {
        struct fv_rank_run run = { ranks[i], 1, 1 };

        if (i + 1 < n)
            run.stride = ranks[i + 1] - ranks[i];
        while (i + run.count < n && ranks[i + run.count] == run.first + run.stride * run.count)
            run.count++;
        if (out)
            out[runs] = run;
        runs++;
        i += run.count;
    }
    return runs;
}

static bool is_in_world(const int *ranks, int n)
{
    for (int i = 0; i < n; i++)
        if (ranks[i] < 0)
            return false;
    return true;
}

/* Members in no order are listed by some of them, who are spread over the group and so over nodes: if each did,
 * the files' bytes would grow with the square of the ranks. Who does, each rank knows without a message. */
#define RUNS_OF_ALL FV_RUN_STEP /* as many are listed by all */
#define LISTERS     8

static bool lists_members(const struct fv_comm_info *info, unsigned runs)
{
    return runs <= RUNS_OF_ALL || info->flags & FV_COMM_INFERRED || info->rank % (info->size / LISTERS + 1) == 0 ||
           !is_in_world(info->world_ranks, info->size) || !is_in_world(info->remote_world_ranks, info->remote_size);
}

/* Whom the file's record lists: a duplicate the same as its parent. */
struct listed {
    unsigned flags; /* FV_COMM_UNLISTED, or 0 */
    unsigned runs, remote_runs;
};

static struct listed list_of(const struct fv_comm_info *info)
{
    if (!info->world_ranks) {
        const struct fv_comm_record *like = info->parent->record;

        return (struct listed){ like->flags & FV_COMM_UNLISTED, like->runs, like->remote_runs };
    }
    unsigned runs = count_runs(info->world_ranks, info->size, NULL);
    unsigned remote_runs = count_runs(info->remote_world_ranks, info->remote_size, NULL);
    return lists_members(info, runs + remote_runs) ? (struct listed){ 0, runs, remote_runs }
                                                   : (struct listed){ .flags = FV_COMM_UNLISTED };
}

/* Writes the members' runs; the record has room for them. */
static void put_runs(const struct fv_comm_info *info, struct fv_comm_record *r)
{
    if (r->flags & FV_COMM_UNLISTED)
        return;
    if (info->world_ranks) {
        count_runs(info->world_ranks, info->size, r->run);
        count_runs(info->remote_world_ranks, info->remote_size, r->run + r->runs);
    } else {
        memcpy(r->run, info->parent->record->run, (r->runs + r->remote_runs) * sizeof(r->run[0]));
    }
}

/* The file's record; NULL when over budget, or for a duplicate of a communicator that has none. */
static struct fv_comm_record *describe(const struct fv_comm_info *info)
{
    if (record_count >= RECORDS_MAX || (!info->world_ranks && !info->parent->record))
        return NULL;
    const struct listed list = list_of(info);
    size_t bytes =
        fv_round_up(sizeof(struct fv_comm_record) + (list.runs + list.remote_runs) * sizeof(struct fv_rank_run), 8);
    static const struct fv_tail_kind kind = {
        .type = FV_CHUNK_COMMS, .first_pages = 1, .most_pages = 4, .varies = true
    };
    struct fv_comm_record *r = fv_tail_next(&tail, &kind, FV_NO_THREAD, bytes, false);
    if (!r)
        return NULL;
    r->bytes = (uint32_t)bytes;
    r->id = ++record_count;
    r->handle = info->handle;
    r->parent = info->parent ? info->parent->uid : 0;
    r->created = fv_ticks();
    r->flags = info->flags | list.flags;
    r->rank = info->rank;
    r->size = info->size;
    r->remote_size = info->remote_size;
    r->runs = list.runs;
    r->remote_runs = list.remote_runs;
    put_runs(info, r);
    if (info->name)
        strncpy(r->name, info->name, NAME_BYTES - 1);
    return r;
}

void fv_comm_grid(const struct fv_comm *comm, unsigned dimensions, const int *sizes, const int *periodic)
{
    static const struct fv_tail_kind kind = {
        .type = FV_CHUNK_GRIDS, .first_pages = 1, .most_pages = 16, .varies = true
    };
    static struct fv_tail grids;
    size_t bytes = sizeof(struct fv_grid) + dimensions * sizeof(struct fv_grid_dimension);

    if (!comm->id)
        return;
    uint64_t signals = fv_lock_sigsave(&lock);
    struct fv_grid *r = fv_tail_next(&grids, &kind, FV_NO_THREAD, bytes, false);
    if (r) {
        *r = (struct fv_grid){ .bytes = (uint32_t)bytes, .comm = comm->id, .dimensions = dimensions };
        for (unsigned i = 0; i < dimensions; i++)
            r->dimension[i] = (struct fv_grid_dimension){ (uint32_t)sizes[i], periodic[i] != 0 };
        fv_tail_commit(&grids, bytes);
    }
    fv_unlock_sigrestore(&lock, signals);
    if (!r)
        fv_dropped(FV_DROP_COMMS);
}

#define NEIGHBOURS_MOST (UINT64_C(1) << 20) /* ranks listed by this process, 4 MiB */
static uint64_t neighbours_listed;

bool fv_comm_neighbours_fit(uint64_t count)
{
    return __atomic_load_n(&neighbours_listed, __ATOMIC_RELAXED) + count <= NEIGHBOURS_MOST;
}

void fv_comm_neighbours(const struct fv_comm *comm, unsigned sources, unsigned destinations, const int *ranks)
{
    static const struct fv_tail_kind kind = {
        .type = FV_CHUNK_NEIGHBOURS, .first_pages = 1, .most_pages = 1, .varies = true
    };
    static struct fv_tail neighbours;
    uint32_t listed = ranks ? sources + destinations : 0;
    size_t bytes = fv_round_up(sizeof(struct fv_neighbours) + listed * sizeof(ranks[0]), 8);

    if (!comm->id)
        return;
    uint64_t signals = fv_lock_sigsave(&lock);
    struct fv_neighbours *r = fv_tail_next(&neighbours, &kind, FV_NO_THREAD, bytes, false);
    if (r) {
        *r = (struct fv_neighbours){ .bytes = (uint32_t)bytes,
                                     .comm = comm->id,
                                     .sources = sources,
                                     .destinations = destinations,
                                     .listed = listed };
        if (listed)
            memcpy(r->rank, ranks, listed * sizeof(ranks[0]));
        __atomic_fetch_add(&neighbours_listed, listed, __ATOMIC_RELAXED);
        fv_tail_commit(&neighbours, bytes);
    }
    fv_unlock_sigrestore(&lock, signals);
    if (!ranks && (sources || destinations))
        fv_dropped(FV_DROP_COMMS);
}

struct fv_degrees fv_comm_degrees(const struct fv_comm *comm)
{
    return __atomic_load_n(&comm->degrees.known, __ATOMIC_ACQUIRE) ? comm->degrees : (struct fv_degrees){ 0 };
}

void fv_comm_set_degrees(struct fv_comm *comm, struct fv_degrees degrees)
{
    comm->degrees.in = degrees.in;
    comm->degrees.out = degrees.out;
    comm->degrees.absent = degrees.absent;
    __atomic_store_n(&comm->degrees.known, true, __ATOMIC_RELEASE);
}

/* A struct stands in one slot: in that of its new life. */
static void leave_slot(const struct fv_comm *comm)
{
    static struct fv_comm gone = { .dead = 1 };

    for (uint32_t at = (uint32_t)fv_mix(comm->handle) & table->mask; table->slot[at]; at = (at + 1) & table->mask)
        if (table->slot[at] == comm) {
            __atomic_store_n(&table->slot[at], &gone, __ATOMIC_RELEASE);
            return;
        }
}

static struct fv_comm *take_struct(void)
{
    static struct fv_comm *block;
    static unsigned left;

    if (record_count >= RECORDS_MAX && dead) {
        struct fv_comm *comm = dead;

        dead = comm->next_dead;
        leave_slot(comm);
        return comm;
    }
    if (!left) {
        left = 64;
        block = fv_memory_new(left * sizeof(*block));
        if (!block) {
            left = 0;
            return NULL;
        }
    }
    left--;
    return block++;
}

/* Under the lock. Whoever makes one under the same handle may come before the thread whose MPI_Comm_free
 * let the handle go. */
static void bury(struct fv_comm *comm)
{
    if (!comm || comm->dead)
        return;
    __atomic_store_n(&comm->dead, 1, __ATOMIC_RELEASE);
    comm->next_dead = dead;
    dead = comm;
    if (comm->record) {
        comm->record->freed = fv_ticks();
        comm->record->flags |= FV_COMM_FREED;
        comm->record->collectives = comm->collectives;
    }
    __atomic_add_fetch(&fv_comm_generation, 1, __ATOMIC_RELEASE);
}

/* Of the group that messages go to, which the file does not list; NULL: no memory. */
static const struct fv_rank_run *keep_runs(const struct fv_comm_info *info, unsigned *count)
{
    const int *ranks = info->remote_size ? info->remote_world_ranks : info->world_ranks;
    int n = info->remote_size ? info->remote_size : info->size;
    unsigned runs = count_runs(ranks, n, NULL);
    struct fv_rank_run *kept = malloc(runs * sizeof(*kept));

    *count = kept ? count_runs(ranks, n, kept) : 0;
    return kept;
}

/* Runs and their index never change and outlive the communicator: a duplicate shares them. */
static void index_runs(struct fv_comm *comm, const struct fv_comm_info *info)
{
    const struct fv_comm_record *record = comm->record;
    int32_t *ranks;

    if (!info->world_ranks) {
        comm->run = info->parent->run;
        comm->runs = info->parent->runs;
        comm->run_ranks = info->parent->run_ranks;
        return;
    }
    if (!record)
        return;
    if (record->flags & FV_COMM_UNLISTED) {
        comm->run = keep_runs(info, &comm->runs);
    } else {
        comm->run = info->remote_size ? record->run + record->runs : record->run;
        comm->runs = info->remote_size ? record->remote_runs : record->runs;
    }
    if (comm->runs <= FV_RUN_STEP || !(ranks = malloc((comm->runs / FV_RUN_STEP + 1) * sizeof(*ranks))))
        return;
    for (unsigned i = 0, rank = 0; i < comm->runs; rank += (unsigned)comm->run[i++].count)
        if (i % FV_RUN_STEP == 0)
            ranks[i / FV_RUN_STEP] = (int32_t)rank;
    comm->run_ranks = ranks;
}

static struct fv_comm *add(const struct fv_comm_info *info)
{
    if (!table || table_used * 2 >= table->mask)
        if (!grow())
            return NULL;
    struct fv_comm *comm = take_struct();
    if (!comm)
        return NULL;
    struct fv_comm_record *record = describe(info);

    *comm = (struct fv_comm){ .handle = info->handle,
                              .uid = uid_of(info),
                              .flags = info->flags,
                              .rank = info->rank,
                              .size = info->size,
                              .remote_size = info->remote_size,
                              .firsts = firsts_of(info),
                              .created = fv_ticks(),
                              .record = record,
                              .barriers = fv_barriers_on(info) };
    index_runs(comm, info);
    if (record) {
        record->uid = comm->uid;
        comm->id = record->id;
        fv_tail_commit(&tail, record->bytes);
    } else {
        fv_dropped(FV_DROP_COMMS);
    }
    place(table, comm);
    __atomic_add_fetch(&fv_comm_generation, 1, __ATOMIC_RELEASE);
    return comm;
}

struct fv_comm *fv_comm_new(const struct fv_comm_info *info)
{
    uint64_t signals = fv_lock_sigsave(&lock);
    if (info->flags & FV_COMM_INFERRED) {
        struct fv_comm *known = search(info->handle); /* another thread was faster */

        if (known) {
            fv_unlock_sigrestore(&lock, signals);
            return known;
        }
    }
    bury(search(info->handle));
    struct fv_comm *comm = add(info);
    fv_unlock_sigrestore(&lock, signals);
    return comm;
}

struct fv_comm *fv_comm_dup(uint64_t handle, struct fv_comm *parent, uint64_t sequence)
{
    const struct fv_comm_info info = {
        .handle = handle,
        .parent = parent,
        .sequence = sequence,
        .flags = parent->flags & FV_COMM_INTER,
        .rank = parent->rank,
        .size = parent->size,
        .remote_size = parent->remote_size,
    };
    return fv_comm_new(&info);
}

bool fv_comm_freed(struct fv_comm *comm, uint64_t begin)
{
    uint64_t signals = fv_lock_sigsave(&lock);
    bool same = comm && comm->created <= begin;

    if (same)
        bury(comm);
    fv_unlock_sigrestore(&lock, signals);
    return same;
}

void fv_comm_named(uint64_t handle, const char *name)
{
    uint64_t signals = fv_lock_sigsave(&lock);
    struct fv_comm *comm = search(handle);
    if (comm && comm->record) {
        memset(comm->record->name, 0, NAME_BYTES);
        strncpy(comm->record->name, name, NAME_BYTES - 1);
    }
    fv_unlock_sigrestore(&lock, signals);
}

uint32_t fv_comm_add_channels(const struct fv_comm *comm, uint32_t k)
{
    char name[NAME_BYTES];
    const struct fv_comm_info info = {
        .parent = (struct fv_comm *)comm, /* only read */
        .sequence = k,
        .salt = FV_SALT_CHANNELS,
        .flags = (comm->flags & (FV_COMM_INTER | FV_COMM_INFERRED)) | FV_COMM_CHANNELS,
        .rank = comm->rank,
        .size = comm->size,
        .remote_size = comm->remote_size,
        .name = name,
    };
    uint32_t id = 0;

    snprintf(name, sizeof(name), FV_CHANNELS_NAME, k + 1);
    uint64_t signals = fv_lock_sigsave(&lock);
    struct fv_comm_record *record = describe(&info);
    if (record) {
        record->uid = uid_of(&info);
        id = record->id;
        fv_tail_commit(&tail, record->bytes);
    }
    fv_unlock_sigrestore(&lock, signals);
    return id;
}

uint64_t fv_comm_next_child(struct fv_comm *parent)
{
    return parent ? __atomic_fetch_add(&parent->children, 1, __ATOMIC_RELAXED) : 0;
}

uint64_t fv_comm_collectives(const struct fv_comm *comm)
{
    return __atomic_load_n(&comm->collectives, __ATOMIC_RELAXED);
}

uint64_t fv_comm_collective(struct fv_comm *comm)
{
    if (!comm)
        return 0;
    return fv_comm_count_collective(comm);
}

uint32_t fv_comm_number(const struct fv_comm *comm)
{
    return comm ? fv_comm_id(comm) : 0;
}

uint32_t fv_comm_id(const struct fv_comm *comm)
{
    return comm->id;
}
int fv_comm_size(const struct fv_comm *comm)
{
    return comm->size;
}
int fv_comm_rank(const struct fv_comm *comm)
{
    return comm->rank;
}
int fv_comm_remote_size(const struct fv_comm *comm)
{
    return comm->remote_size;
}
unsigned fv_comm_flags(const struct fv_comm *comm)
{
    return comm->flags;
}

int fv_comm_peer_world(const struct fv_comm *comm, int rank)
{
    unsigned low = 0, high = comm->run_ranks ? (comm->runs - 1) / FV_RUN_STEP : 0;

    while (low < high) {
        unsigned middle = (low + high + 1) / 2;

        if (comm->run_ranks[middle] <= rank)
            low = middle;
        else
            high = middle - 1;
    }
    if (comm->run_ranks)
        rank -= comm->run_ranks[low];
    for (unsigned i = low * FV_RUN_STEP; i < comm->runs; i++) {
        const struct fv_rank_run *run = &comm->run[i];

        if (rank < run->count)
            return rank < 0 ? -1 : run->first + run->stride * rank;
        rank -= run->count;
    }
    return -1;
}
