/* An allocator that takes 20 us for each call, and says at the end how long it took in all, and how long it would have if no other program had had the
 * processor in any of them: a known answer for the time in it. And how much may have passed at the edges of calls, where they had it between two calls. */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

void *__libc_malloc(size_t bytes);
void __libc_free(void *object);

#define CALL_NS 20000u

#define LONG_NS 1000000u /* between two calls */

static uint64_t spent_ns, undisturbed_ns, between_ns, last_ns;

static uint64_t now_ns(void)
{
    struct timespec ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static void spend(uint64_t begin)
{
    uint64_t now;

    while ((now = now_ns()) - begin < CALL_NS)
        ;
    between_ns += last_ns && begin - last_ns > LONG_NS ? begin - last_ns : 0;
    last_ns = now;
    spent_ns += now - begin;
    undisturbed_ns += now - begin < 2 * CALL_NS ? now - begin : CALL_NS;
}

void *malloc(size_t bytes)
{
    uint64_t begin = now_ns();
    void *object = __libc_malloc(bytes);

    spend(begin);
    return object;
}

void free(void *object)
{
    uint64_t begin = now_ns();

    __libc_free(object);
    spend(begin);
}

__attribute__((destructor)) static void say(void)
{
    fprintf(stderr, "slow: %" PRIu64 " to %" PRIu64 " ns, between %" PRIu64 "\n", undisturbed_ns, spent_ns, between_ns);
}
