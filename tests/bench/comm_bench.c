/* What communicators cost without any MPI: describing one whose 4096 members stand in no order, a duplicate
 * of it, and finding the world rank of a peer. Best of many batches; nothing here gates. */
#include "../unit/rt_stub.h"

enum { MEMBERS = 4096, BATCHES = 50, CREATIONS = 20 };

static int ranks[MEMBERS];
static double ns_per_tick;
static uint64_t handle = 0x100;

static struct fv_comm *create(struct fv_comm *parent, const int *members)
{
    const struct fv_comm_info info = { .handle = ++handle,
                                       .parent = parent,
                                       .size = MEMBERS,
                                       .world_ranks = members,
                                       .sequence = fv_comm_next_child(parent) };

    return fv_comm_new(&info);
}

/* Alternating, because the file grows meanwhile. */
static void best_creation(struct fv_comm *parent, const int *members, double ns[2])
{
    uint64_t least[2] = { UINT64_MAX, UINT64_MAX };

    for (int i = 0; i < 2 * BATCHES; i++) {
        uint64_t begin = fv_ticks();
        for (int k = 0; k < CREATIONS; k++) {
            if (i % 2)
                fv_comm_dup(++handle, parent, fv_comm_next_child(parent));
            else
                create(parent, members);
            fv_comm_freed(fv_comm_find(handle), fv_ticks());
        }
        uint64_t ticks = fv_ticks() - begin;
        least[i % 2] = ticks < least[i % 2] ? ticks : least[i % 2];
    }
    for (int i = 0; i < 2; i++)
        ns[i] = (double)least[i] / CREATIONS * ns_per_tick;
}

static double best_lookup(const struct fv_comm *comm)
{
    uint64_t least = UINT64_MAX;
    static volatile int sum;

    for (int i = 0; i < BATCHES; i++) {
        uint64_t begin = fv_ticks();
        for (int rank = 0; rank < MEMBERS; rank++)
            sum += fv_comm_peer_world(comm, rank);
        uint64_t ticks = fv_ticks() - begin;
        least = ticks < least ? ticks : least;
    }
    return (double)least / MEMBERS * ns_per_tick;
}

int main(void)
{
    struct fv_start_info start;
    struct fv_clock_point a, b;
    static int in_order[MEMBERS];

    stub_start();
    fv_mpi_attach(&start);
    fv_start(&start);
    fv_clock_point(&a);
    usleep(100000);
    fv_clock_point(&b);
    ns_per_tick = (double)(b.monotonic_ns - a.monotonic_ns) / (double)(b.ticks - a.ticks);
    for (int i = 0; i < MEMBERS; i++) {
        ranks[i] = (int)((unsigned)i * i * 7 + 3) % MEMBERS;
        in_order[i] = i;
    }
    struct fv_comm *world = create(NULL, in_order);
    static const char *const names[] = { "in order", "scattered" };
    const int *const members[] = { in_order, ranks };
    for (int i = 0; i < 2; i++) {
        struct fv_comm *comm = create(world, members[i]);
        double ns[2];

        best_creation(comm, members[i], ns);
        printf("%d members %-10s peer %8.1f ns, create and free %8.1f ns, the same of a duplicate %8.1f ns\n",
               MEMBERS, names[i], best_lookup(comm), ns[0], ns[1]);
    }
    stub_remove();
    return 0;
}
