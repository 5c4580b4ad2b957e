/* SPDX-License-Identifier: BSD-3-Clause */
/* Kernels with the patterns of known parallel programs, for speedup stacks beside share/examples/ub.c: small, so that a
 * stack's estimate can be held against the same kernel without its locks and barriers.
 *
 *     kernels KIND THREADS [ROUNDS]
 *
 *     cluster   as streamcluster (PARSEC): distances of all points to a candidate; a barrier; one thread adds up and
 *               decides; a barrier
 *     fluid     as fluidanimate (PARSEC): cells of a grid push their neighbours, each cell under its lock; a barrier
 *               after each step. MUTEXES=1: one lock for all cells
 *     ocean     as ocean (SPLASH-2): red-black relaxation on grids of three sizes; a barrier after each colour, a lock
 *               for the residual
 *     options   as blackscholes (PARSEC): formulas of a thread's own numbers; it has neither locks nor barriers, nor
 *               have the two below
 *     lattice   as lbm (SPEC): reads and writes large arrays in order
 *     sort      as IS (NPB): counts keys in buckets, at random
 *
 * All threads together do the same work, whatever their number. FREE=1 in the environment takes out locks and barriers:
 * the work stays, and results are not right. */
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MUTEXES_MOST = 4096, THREADS_MOST = 256 };

static struct {
    long threads, rounds, mutex_count;
    int is_free;
    pthread_barrier_t barrier;
    pthread_mutex_t mutexes[MUTEXES_MOST];
    double sums[THREADS_MOST][8]; /* a line for each thread */
    double total;
} k = { .mutex_count = MUTEXES_MOST };

static void meet(void)
{
    if (!k.is_free)
        pthread_barrier_wait(&k.barrier);
}
static void lock(long of)
{
    if (!k.is_free)
        pthread_mutex_lock(&k.mutexes[of % k.mutex_count]);
}
static void unlock(long of)
{
    if (!k.is_free)
        pthread_mutex_unlock(&k.mutexes[of % k.mutex_count]);
}
/* The part of `all` that a thread has: from first(), to before the next one's. */
static long first(long thread, long all)
{
    return all * thread / k.threads;
}

/* ---- cluster ---- */

enum { POINTS = 32768, DIMENSIONS = 16 };
static float points[POINTS][DIMENSIONS], cost[POINTS];

static double gain_of(long candidate, long from, long to)
{
    double gain = 0;

    for (long i = from; i < to; i++) {
        float distance = 0;

        for (int d = 0; d < DIMENSIONS; d++) {
            const float apart = points[i][d] - points[candidate][d];
            distance += apart * apart;
        }
        if (distance < cost[i])
            gain += cost[i] - distance;
        cost[i] = distance < cost[i] ? distance : cost[i];
    }
    return gain;
}

static void cluster(long me)
{
    for (long round = 0; round < k.rounds; round++) {
        k.sums[me][0] = gain_of(round * 7919 % POINTS, first(me, POINTS), first(me + 1, POINTS));
        meet();
        if (!me) /* others wait for the one that decides */
            for (long i = 0; i < POINTS / 16; i++)
                k.total += sqrt(k.sums[i % k.threads][0] + (double)i);
        meet();
    }
}

/* ---- fluid ---- */

enum { SIDE = 64, PARTICLES = 6 };
static struct cell {
    double at[PARTICLES], force;
} cells[SIDE * SIDE];

static double push(const struct cell *a, const struct cell *b)
{
    double sum = 0;

    for (int i = 0; i < PARTICLES; i++)
        for (int j = 0; j < PARTICLES; j++)
            sum += 1 / (1 + (a->at[i] - b->at[j]) * (a->at[i] - b->at[j]));
    return sum;
}

static void pair(long a, long b)
{
    const double force = push(&cells[a], &cells[b]);

    lock(a);
    cells[a].force += force;
    unlock(a);
    lock(b);
    cells[b].force -= force;
    unlock(b);
}

static void fluid(long me)
{
    const long from = first(me, SIDE), to = first(me + 1, SIDE);

    for (long round = 0; round < k.rounds; round++) {
        for (long i = from * SIDE; i < to * SIDE; i++)
            cells[i].force = 0;
        meet();
        for (long y = from; y < to; y++)
            for (long x = 0; x < SIDE; x++) {
                pair(y * SIDE + x, y * SIDE + (x + 1) % SIDE);
                pair(y * SIDE + x, (y + 1) % SIDE * SIDE + x);
            }
        meet();
        for (long i = from * SIDE; i < to * SIDE; i++)
            for (int p = 0; p < PARTICLES; p++)
                cells[i].at[p] += 1e-6 * cells[i].force;
        meet();
    }
}

/* ---- ocean ---- */

enum { LEVELS = 3, FINEST = 258 };
static double grid[LEVELS][FINEST][FINEST];

static double relax(double (*g)[FINEST], long from, long to, long side, int colour)
{
    double residual = 0;

    for (long y = from; y < to; y++)
        for (long x = 1 + (y + colour) % 2; x < side - 1; x += 2) {
            const double was = g[y][x];

            g[y][x] = 0.25 * (g[y - 1][x] + g[y + 1][x] + g[y][x - 1] + g[y][x + 1]);
            residual += fabs(g[y][x] - was);
        }
    return residual;
}

static void ocean(long me)
{
    for (long round = 0; round < k.rounds; round++)
        for (int level = 0; level < LEVELS; level++) {
            const long side = (FINEST - 2) / (1 << level) + 2;
            double residual = 0;

            for (int colour = 0; colour < 2; colour++) {
                residual += relax(grid[level], 1 + first(me, side - 2), 1 + first(me + 1, side - 2), side, colour);
                meet();
            }
            lock(0);
            k.total += residual;
            unlock(0);
            meet();
        }
}

/* ---- what needs no other thread ---- */

enum { OPTIONS = 20000 };

static double normal(double x)
{
    return 0.5 * erfc(-x * M_SQRT1_2);
}

static void options(long me)
{
    for (long round = 0; round < k.rounds; round++)
        for (long i = first(me, OPTIONS); i < first(me + 1, OPTIONS); i++) {
            const double price = 20 + (double)(i % 100), years = 0.1 + (double)(round % 10) / 10, root = 0.3 * sqrt(years);
            const double d = (log(price / 60) + (0.02 + 0.045) * years) / root;

            k.sums[me][0] += price * normal(d) - 60 * exp(-0.02 * years) * normal(d - root);
        }
}

enum { SITES = 4 << 20 };
static double *lattices[2];

static void lattice(long me)
{
    for (long round = 0; round < k.rounds; round++) {
        const double *from = lattices[round % 2];
        double *to = lattices[!(round % 2)];

        for (long i = first(me, SITES - 2) + 1; i < first(me + 1, SITES - 2) + 1; i++)
            to[i] = 0.3 * from[i - 1] + 0.4 * from[i] + 0.3 * from[i + 1];
    }
}

enum { KEYS = 4 << 20, BUCKETS = 1 << 18 };
static uint32_t *keys, *buckets;

static void sort(long me)
{
    uint32_t *own = buckets + me * BUCKETS;

    for (long round = 0; round < k.rounds; round++)
        for (long i = first(me, KEYS); i < first(me + 1, KEYS); i++)
            own[keys[i] % BUCKETS]++;
}

/* ---- all ---- */

static const struct kernel {
    const char *name;
    void (*run)(long me);
    long rounds;
} kernels[] = { { "cluster", cluster, 1500 }, { "fluid", fluid, 400 },   { "ocean", ocean, 2500 },
                { "options", options, 300 },  { "lattice", lattice, 60 }, { "sort", sort, 60 } };
static const struct kernel *chosen;

static void *run(void *number)
{
    chosen->run((long)(intptr_t)number);
    return NULL;
}

static void fill(void)
{
    uint64_t random = 1;

    lattices[0] = calloc(SITES, sizeof(double));
    lattices[1] = calloc(SITES, sizeof(double));
    keys = calloc(KEYS, sizeof(*keys));
    buckets = calloc((size_t)BUCKETS * (size_t)k.threads, sizeof(*buckets));
    if (!lattices[0] || !lattices[1] || !keys || !buckets)
        exit(1);
    for (long i = 0; i < KEYS; i++)
        keys[i] = (uint32_t)((random = random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407)) >> 33);
    for (long i = 0; i < SITES; i++)
        lattices[0][i] = lattices[1][i] = (double)(i % 17);
    for (long i = 0; i < POINTS; i++) {
        cost[i] = 1e9F;
        for (int d = 0; d < DIMENSIONS; d++)
            points[i][d] = (float)(keys[i * DIMENSIONS + d] % 1000);
    }
    for (long i = 0; i < SIDE * SIDE * PARTICLES; i++)
        cells[i / PARTICLES].at[i % PARTICLES] = (double)(keys[i] % 1000) / 100;
    for (long i = 0; i < LEVELS * FINEST * FINEST; i++)
        (&grid[0][0][0])[i] = (double)(keys[i] % 1000);
}

int main(int count, char **words)
{
    const char *is_free = getenv("FREE"), *mutexes = getenv("MUTEXES");
    pthread_t threads[THREADS_MOST];

    for (size_t i = 0; count > 2 && i < sizeof(kernels) / sizeof(*kernels); i++)
        chosen = strcmp(words[1], kernels[i].name) ? chosen : &kernels[i];
    k.threads = count > 2 ? atol(words[2]) : 0;
    if (!chosen || k.threads < 1 || k.threads > THREADS_MOST) {
        fprintf(stderr, "usage: kernels cluster|fluid|ocean|options|lattice|sort THREADS [ROUNDS]\n");
        return 2;
    }
    k.rounds = count > 3 ? atol(words[3]) : chosen->rounds;
    k.is_free = is_free && !strcmp(is_free, "1");
    if (mutexes && atol(mutexes) > 0 && atol(mutexes) <= MUTEXES_MOST)
        k.mutex_count = atol(mutexes);
    for (long i = 0; i < k.mutex_count; i++)
        pthread_mutex_init(&k.mutexes[i], NULL);
    pthread_barrier_init(&k.barrier, NULL, (unsigned)k.threads);
    fill();
    for (long i = 0; i < k.threads; i++)
        if (pthread_create(&threads[i], NULL, run, (void *)(intptr_t)i))
            return 1;
    for (long i = 0; i < k.threads; i++)
        pthread_join(threads[i], NULL);
    printf("%s %.6g\n", chosen->name,
           k.total + k.sums[0][0] + grid[0][3][3] + lattices[0][9] + cells[9].force + buckets[9]);
    return 0;
}
