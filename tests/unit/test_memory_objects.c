/* Objects that are known by their address (memory/memory.h): put in by one thread and taken out by it or another, by
 * many at once, in the same shards. */
#include "memory/memory.h"
#include "rt_stub.h"
#include "unit.h"

#include <pthread.h>

enum { TAKEN = 1, THREADS = 4, ROUNDS = 200, OBJECTS = 500 };

struct fv_front_memory fvmpi_memory_v1;

/* What thread n has put in, and the next one is to take out: as a queue of a program would hand it over. */
static struct slot {
    uint64_t address; /* 0: there is nothing; TAKEN: it is just being taken out, and not free yet */
} slots[THREADS][OBJECTS];

struct worker {
    pthread_t thread;
    unsigned number;
    const char *wrong; /* NULL: nothing */
};

static uint64_t address_of(unsigned thread, unsigned object)
{
    return UINT64_C(0x7f0000000000) + ((uint64_t)object * THREADS + thread) * 16;
}

static const char *put(unsigned thread, unsigned i)
{
    struct slot *slot = &slots[thread][i];
    uint64_t address = address_of(thread, i);

    if (__atomic_load_n(&slot->address, __ATOMIC_ACQUIRE))
        return NULL; /* it is still there */
    if (!fv_object_add((struct fv_object){ address, i + 1, thread + 1 }))
        return "no room";
    __atomic_store_n(&slot->address, address, __ATOMIC_RELEASE);
    return NULL;
}

static const char *take(unsigned from, unsigned i)
{
    struct slot *slot = &slots[from][i];
    uint64_t address = __atomic_load_n(&slot->address, __ATOMIC_RELAXED);

    if (address <= TAKEN ||
        !__atomic_compare_exchange_n(&slot->address, &address, TAKEN, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        return NULL;
    if (!fvmpi_memory_v1.is_exact &&
        !__atomic_load_n(&fvmpi_memory_v1.filter[fv_front_hash((void *)(uintptr_t)address)], __ATOMIC_RELAXED))
        return "the filter does not know it";
    struct fv_object found = fv_object_take((void *)(uintptr_t)address);
    const char *wrong = fv_object_take((void *)(uintptr_t)address).address ? "it is there twice" : NULL;
    __atomic_store_n(&slot->address, 0, __ATOMIC_RELEASE);
    return found.address != address || found.bytes != i + 1 || found.allocator != from + 1 ? "another object" : wrong;
}

static void *work(void *worker)
{
    struct worker *w = worker;

    for (unsigned round = 0; round < ROUNDS && !w->wrong; round++) {
        for (unsigned i = 0; i < OBJECTS && !w->wrong; i++)
            w->wrong = put(w->number, i);
        for (unsigned i = round % 2; i < OBJECTS && !w->wrong; i += 2) /* its own, or the other one's */
            w->wrong = take(w->number, i);
        for (unsigned i = 0; i < OBJECTS && !w->wrong; i++)
            w->wrong = take((w->number + 1) % THREADS, i);
    }
    return NULL;
}

static void test_threads(void **state)
{
    struct worker workers[THREADS] = { { 0 } };
    (void)state;

    for (unsigned i = 0; i < THREADS; i++) {
        workers[i].number = i;
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        pthread_join(workers[i].thread, NULL);
        if (workers[i].wrong)
            fail_msg("thread %u: %s", i, workers[i].wrong);
    }
    for (unsigned i = 0; i < THREADS; i++)
        for (unsigned k = 0; k < OBJECTS; k++)
            assert_null(take(i, k));
    /* Counts of the filter that have never been full are back at none. */
    for (unsigned i = 0; i < FV_FRONT_FILTER; i++)
        assert_true(fvmpi_memory_v1.filter[i] == 0 || fvmpi_memory_v1.filter[i] == UINT8_MAX);
}

static void test_exact(void **state)
{
    fvmpi_memory_v1.is_exact = true;
    test_threads(state);
    fvmpi_memory_v1.is_exact = false;
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_threads), cmocka_unit_test(test_exact) };

    return cmocka_run_group_tests_name("objects", tests, NULL, NULL);
}
