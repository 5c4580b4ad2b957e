/* Bounds of a thread's stack (rt/stack.h), against what the C library says. */
#include "rt_stub.h"
#include "rt/stack.h"
#include "unit.h"

#include <pthread.h>
#include <sys/mman.h>

struct bounds {
    uintptr_t low, high, known_low, known_high, frame;
};

static void *find(void *out)
{
    struct bounds *b = out;
    pthread_attr_t attributes;
    void *begin;
    size_t bytes;

    fv_stack_bounds(false, &b->low, &b->high);
    b->frame = (uintptr_t)__builtin_frame_address(0);
    if (!pthread_getattr_np(pthread_self(), &attributes)) {
        pthread_attr_getstack(&attributes, &begin, &bytes);
        pthread_attr_destroy(&attributes);
        b->known_low = (uintptr_t)begin;
        b->known_high = b->known_low + bytes;
    }
    return NULL;
}

static struct bounds of_thread(const pthread_attr_t *attributes)
{
    struct bounds b = { 0 };
    pthread_t thread;

    assert_int_equal(pthread_create(&thread, attributes, find, &b), 0);
    pthread_join(thread, NULL);
    return b;
}

/* Frames are in it, and nothing above the stack; below there may be more, where no page parts it from what is there. */
static void holds(const struct bounds *b)
{
    assert_that(b->low, <=, b->known_low);
    assert_true(b->low < b->frame && b->frame < b->high);
    assert_that(b->high, <=, b->known_high);
}

static bool is_parted(void)
{
#if __GLIBC_PREREQ(2, 42)
    return false; /* guards are in the mapping */
#else
    return true;
#endif
}

static void threads_made_by_the_c_library(void **state)
{
    (void)state;
    for (size_t bytes = 0; bytes <= (16 << 20); bytes = bytes ? 2 * bytes : 32768) { /* 0: its own choice */
        pthread_attr_t attributes;

        pthread_attr_init(&attributes);
        if (bytes && pthread_attr_setstacksize(&attributes, bytes)) /* too small for this processor's registers */
            continue;
        for (int i = 0; i < 3; i++) { /* remembered, where the stack is the same */
            struct bounds b = of_thread(&attributes);
            holds(&b);
            if (is_parted())
                assert_int_equal(b.low, b.known_low);
        }
        pthread_attr_destroy(&attributes);
    }
}

/* In the middle of a mapping: there is no guard. */
static void stacks_of_the_program(void **state)
{
    (void)state;
    const size_t bytes = 1 << 20;
    char *memory = mmap(NULL, 4 * bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    pthread_attr_t attributes;

    assert_true(memory != MAP_FAILED);
    pthread_attr_init(&attributes);
    assert_int_equal(pthread_attr_setstack(&attributes, memory + bytes, bytes), 0);
    const struct bounds b = of_thread(&attributes);
    holds(&b);
    assert_true(b.low <= (uintptr_t)memory + bytes && b.high <= (uintptr_t)memory + 2 * bytes);
    pthread_attr_destroy(&attributes);
    munmap(memory, 4 * bytes);
}

static void the_initial_thread(void **state)
{
    uintptr_t low, high, frame = (uintptr_t)__builtin_frame_address(0);
    (void)state;

    fv_stack_bounds(true, &low, &high);
    assert_true(low < frame && frame < high);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(threads_made_by_the_c_library),
                                        cmocka_unit_test(stacks_of_the_program), cmocka_unit_test(the_initial_thread) };

    return cmocka_run_group_tests_name("stack", tests, NULL, NULL);
}
