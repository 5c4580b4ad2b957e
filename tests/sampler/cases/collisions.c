/* Deduplication of chunks by a hash table. The hash takes only a few bits of the key: most buckets stay
 * empty, and some have long lists, through which a look-up has to go. Repaired, the hash uses all bits.
 *
 *     collisions SECONDS [repaired]    CPU time */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NOINLINE __attribute__((noinline, noclone))
#define BUCKETS  65536
#define CHUNKS   200000

struct entry {
    struct entry *next;
    uint64_t key;
} entries[CHUNKS], *bucket[BUCKETS];
static int repaired;
static unsigned char data[160000];

static double cpu_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static uint64_t random_key(uint64_t i)
{
    i = (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
    i = (i ^ i >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    return i ^ i >> 27;
}

/* As it was: half of the keys fall into the first bucket, a quarter into the next, and so on. */
static unsigned hash(uint64_t key)
{
    if (repaired)
        return (unsigned)(key * UINT64_C(0x9e3779b97f4a7c15) >> 48);
    return (unsigned)__builtin_clzll(key | 1);
}

NOINLINE struct entry *hashtable_search(uint64_t key)
{
    struct entry *e = bucket[hash(key)];

    while (e && e->key != key)
        e = e->next;
    return e;
}

NOINLINE uint64_t checksum(uint64_t seed)
{
    uint64_t sum = seed;

    for (size_t i = 0; i < sizeof(data); i++)
        sum = sum * 31 + data[i];
    return sum;
}

/* What is done of each chunk. */
NOINLINE uint64_t encode(uint64_t i)
{
    uint64_t sum = checksum(i);
    const struct entry *e = hashtable_search(random_key(i * 7919 % CHUNKS));

    return e ? sum + (uint64_t)(e - entries) : sum;
}

int main(int argc, char **argv)
{
    double end = argc > 1 ? atof(argv[1]) : 1;
    uint64_t sum = 0;

    repaired = argc > 2 && !strcmp(argv[2], "repaired");
    for (unsigned i = 0; i < CHUNKS; i++) {
        struct entry *e = &entries[i];

        e->key = random_key(i);
        e->next = bucket[hash(e->key)];
        bucket[hash(e->key)] = e;
    }
    for (uint64_t i = 0; cpu_s() < end || i < 1000; i++) {
        uint64_t value = encode(i);

        if (i < 1000)
            sum += value;
    }
    printf("first thousand %llu\n", (unsigned long long)sum);
    return 0;
}
