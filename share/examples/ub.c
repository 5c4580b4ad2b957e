/* Micro-benchmarks of threads that compute, take a lock for a moment, and meet at a barrier: what takes their speedup is known, so that a speedup stack can be judged by them.
 * After the description of ub-tiny, ub-rnd and ub-seq in Eklov, Nikoleris, Hagersten, "A profiling method for analyzing scalability bottlenecks on multicores", section 6.3.
 *
 *     cc -O2 -pthread ub.c -o ub
 *     fvmpi run --stacks=2,4 --solo -o runs -- ./ub tiny {N}
 *
 *     ub KIND THREADS [ROUNDS LOCKS ITERATIONS [MIB]]
 *
 * All threads together do the same work, whatever their number: ROUNDS barriers, LOCKS acquisitions of the one lock before each, ITERATIONS of computing before each of these,
 * shared by the threads, in MIB of memory, of which each has its own part. KIND:
 *
 *     tiny   each thread works in 4 KiB, in its first cache      no cache, no memory: synchronisation alone
 *     rnd    reads at random, one after the other                cache, if MIB is more than a thread's part of it; no memory; synchronisation
 *     seq    reads in order, as fast as it can                   no cache; memory; synchronisation
 *
 * MUTEXES=64 in the environment takes one of so many locks in place of the one, as programs do that lock each cell of a grid: what one lock costs is the difference.
 * FREE=1 in the environment takes out locks and barriers: threads share no data, so that the sum that is printed is the same. Its speedup is what the stack's estimate "if nobody
 * waited" is compared with. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind { TINY, RND, SEQ };
static const char *const kinds[] = { "tiny", "rnd", "seq" };

enum { MUTEXES_MOST = 1024 };

static struct bench {
    enum kind kind;
    long threads, rounds, locks, iterations, mib;
    int is_free;
    uint64_t *memory;
    size_t words; /* of a thread */
    struct lock {
        pthread_mutex_t mutex;
        uint64_t entered; /* under it */
    } __attribute__((aligned(64))) mutexes[MUTEXES_MOST];
    long mutex_count;
    pthread_barrier_t barrier;
} b = { .rounds = 20, .locks = 2000, .iterations = 2000, .mib = 64, .mutex_count = 1 };

/* Its own part of the work and of the memory. */
struct part {
    uint64_t *memory;
    uint64_t sum, at;
    long number;
};

static void compute(struct part *p, long iterations)
{
    const size_t mask = b.words - 1; /* a power of two */

    switch (b.kind) {
    case TINY:
        for (long i = 0; i < iterations; i++)
            p->sum += p->memory[i & 511] * 3 + (uint64_t)i;
        break;
    case RND: /* the next place depends on what was read */
        for (long i = 0; i < iterations / 16; i++) { /* each takes so much longer */
            p->at = p->at * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407) + p->memory[p->at >> 33 & mask];
            p->sum += p->at;
        }
        break;
    case SEQ:
        for (long i = 0; i < iterations; i++)
            p->sum += p->memory[(p->at + (uint64_t)i * 8) & mask]; /* a word of each line */
        p->at = (p->at + (uint64_t)iterations * 8) & mask;
        break;
    }
}

static void *run(void *argument)
{
    struct part *p = argument;
    long iterations = b.iterations / b.threads;

    for (long round = 0; round < b.rounds; round++) {
        for (long i = 0; i < b.locks; i++) {
            compute(p, iterations);
            if (b.is_free)
                continue;
            struct lock *lock = &b.mutexes[(i * b.threads + p->number) % b.mutex_count];
            pthread_mutex_lock(&lock->mutex);
            lock->entered++;
            pthread_mutex_unlock(&lock->mutex);
        }
        if (!b.is_free)
            pthread_barrier_wait(&b.barrier);
    }
    return NULL;
}

static int parse(int count, char **words)
{
    long *const numbers[] = { &b.threads, &b.rounds, &b.locks, &b.iterations, &b.mib };
    const char *is_free = getenv("FREE"), *mutexes = getenv("MUTEXES");

    if (count < 3 || count > 7)
        return 0;
    for (b.kind = TINY; b.kind <= SEQ && strcmp(words[1], kinds[b.kind]); b.kind++)
        ;
    for (int i = 2; i < count; i++)
        if ((*numbers[i - 2] = atol(words[i])) < 1)
            return 0;
    if (mutexes)
        b.mutex_count = atol(mutexes);
    b.is_free = is_free && !strcmp(is_free, "1");
    return b.kind <= SEQ && b.threads <= 1024 && b.mutex_count > 0 && b.mutex_count <= MUTEXES_MOST;
}

int main(int count, char **words)
{
    if (!parse(count, words)) {
        fprintf(stderr, "usage: ub tiny|rnd|seq THREADS [ROUNDS LOCKS ITERATIONS [MIB]]\n");
        return 2;
    }
    for (long i = 0; i < b.mutex_count; i++)
        pthread_mutex_init(&b.mutexes[i].mutex, NULL);
    size_t all = (size_t)b.mib << 20;
    for (b.words = 512; b.words * 2 * 8 * (size_t)b.threads <= all && b.kind != TINY; b.words *= 2)
        ;
    b.memory = calloc(b.words * (size_t)b.threads, sizeof(*b.memory));
    struct part *parts = calloc((size_t)b.threads, sizeof(*parts));
    pthread_t *threads = calloc((size_t)b.threads, sizeof(*threads));
    if (!b.memory || !parts || !threads || pthread_barrier_init(&b.barrier, NULL, (unsigned)b.threads))
        return 1;
    for (size_t i = 0; i < b.words * (size_t)b.threads; i++)
        b.memory[i] = i % b.words;
    for (long i = 0; i < b.threads; i++) {
        parts[i].number = i;
        parts[i].memory = b.memory + (size_t)i * b.words;
        if (pthread_create(&threads[i], NULL, run, &parts[i]))
            return 1;
    }
    uint64_t sum = 0, entered = 0;
    for (long i = 0; i < b.threads; i++) {
        pthread_join(threads[i], NULL);
        sum += parts[i].sum;
    }
    for (long i = 0; i < b.mutex_count; i++)
        entered += b.mutexes[i].entered;
    printf("%s %016llx %llu\n", kinds[b.kind], (unsigned long long)sum, (unsigned long long)entered);
    return 0;
}
