/* One MPI function, MPI_Allreduce of 8 bytes on MPI_COMM_SELF, reached by many ways. The report must
 * have one call site for each way, the same on all ranks, with these counts and these functions from
 * the call out to main:
 *
 *     leaf <- left <- main                   50      alternating with the next, from the same stack depth
 *     leaf <- right <- main                  50
 *     down x n <- recursive <- main          n times, for n = 1, 3, 100 and 500
 *     even <- odd <- even <- mutual <- main   1
 *     halo <- step <- main                    2      halo is inlined; so is pack into halo
 *     pack <- halo <- step <- main            2
 *     twice <- main                           5 + 7  two call sites on two lines
 *     by_pointer <- apply <- main             1
 *     compare <- ... <- sorted <- main       >0      through libc's qsort
 *     bottom <- variable <- main             20      stack frames of 20 different sizes
 *     bottom <- back <- main                 10      left by longjmp each time
 *     shared_step <- in_library <- main       3      in a shared library
 *     plugin_step <- in_plugin <- main        4      in a dlopen'd one, argv[1]; with a callback:
 *     called_back <- plugin_step <- in_plugin <- main  4
 *     plugin_other ...                        4 + 4  the same in another one, argv[2], mostly where that was
 *     constant <- main                        1      gcc makes a clone of it, constant.constprop.0 or such
 *     in_thread <- worker                     6      from a thread, which main did not call
 */
#include "known.h"

#include <alloca.h>
#include <dlfcn.h>
#include <pthread.h>
#include <setjmp.h>

void in_library(int n);

static double value, sum;
#define REDUCE MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_SELF)

OP leaf(void)
{
    OK(REDUCE); /* MPI_Allreduce( */
}

OP left(void)
{
    leaf();
    value += 1;
}

OP right(void)
{
    leaf();
    value -= 1;
}

OP down(int n)
{
    if (n > 1)
        down(n - 1);
    else
        OK(REDUCE); /* MPI_Allreduce( */
    value += n;
}

OP recursive(int n)
{
    TIMES(n)
        down(n);
    value = 0;
}

static __attribute__((noinline, noclone)) void even(int n);

OP odd(int n)
{
    even(n - 1);
    value += n;
}

OP even(int n)
{
    if (n > 0)
        odd(n - 1);
    else
        OK(REDUCE); /* MPI_Allreduce( */
    value += n;
}

OP mutual(void)
{
    even(2);
    value = 0;
}

static inline __attribute__((always_inline)) void pack(void)
{
    OK(REDUCE); /* MPI_Allreduce( */
}

static inline __attribute__((always_inline)) void halo(void)
{
    pack();
    OK(REDUCE); /* MPI_Allreduce( */
}

OP step(void)
{
    halo();
    value += 2;
}

OP twice(void)
{
    TIMES(5)
        OK(REDUCE); /* MPI_Allreduce( first */
    TIMES(7)
        OK(REDUCE); /* MPI_Allreduce( second */
}

OP by_pointer(void)
{
    OK(REDUCE); /* MPI_Allreduce( */
}

static void (*volatile pointer)(void) = by_pointer;

OP apply(void)
{
    pointer(); /* calls by_pointer */
    value = 1;
}

static int compare(const void *a, const void *b)
{
    OK(REDUCE); /* MPI_Allreduce( */
    return *(const int *)a - *(const int *)b;
}

OP sorted(void)
{
    int list[] = { 3, 1, 2 };

    qsort(list, 3, sizeof(*list), compare);
    value = list[0];
}

OP bottom(void)
{
    OK(REDUCE); /* MPI_Allreduce( */
}

OP variable(int size)
{
    volatile char *memory = alloca((size_t)size);

    memory[0] = memory[size - 1] = 1;
    bottom();
    value = memory[0];
}

static jmp_buf home;

OP back(void)
{
    bottom();
    longjmp(home, 1);
}

OP in_plugin(void (*plugin)(void (*)(void)), void (*callback)(void))
{
    TIMES(4)
        plugin(callback); /* calls plugin_step */ /* calls plugin_other */
    value = 0;
}

static void called_back(void)
{
    OK(REDUCE); /* MPI_Allreduce( */
}

static __attribute__((noinline)) int constant(int n, const char *text)
{
    value = n + text[0];
    TIMES(n)
        value += text[i % 3];
    OK(REDUCE); /* MPI_Allreduce( */
    return (int)value;
}

OP in_thread(void)
{
    TIMES(6)
        OK(REDUCE); /* MPI_Allreduce( */
}

static void *worker(void *unused)
{
    in_thread();
    return unused;
}

int main(int argc, char **argv)
{
    int provided;

    OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided));
    known_start();
    TIMES(50) {
        left();
        right();
    }
    recursive(1);
    recursive(3);
    recursive(100);
    recursive(500);
    mutual();
    TIMES(2)
        step();
    twice();
    apply();
    sorted();
    for (int i = 1; i <= 20; i++)
        variable(i * 100);
    for (volatile int i = 0; i < 10; i = i + 1)
        if (!setjmp(home))
            back();
    in_library(3);
    for (int i = 1; i <= 2; i++) {
        void *handle = argc > i ? dlopen(argv[i], RTLD_NOW | RTLD_LOCAL) : NULL;
        const char *name = i == 1 ? "plugin_step" : "plugin_other";
        void (*plugin)(void (*)(void)) = handle ? (void (*)(void (*)(void)))dlsym(handle, name) : NULL;
        if (!plugin)
            known_failed(__LINE__);
        in_plugin(plugin, called_back);
        dlclose(handle);
    }
    value = constant(7, "abc");
    pthread_t thread;
    pthread_create(&thread, NULL, worker, NULL);
    pthread_join(thread, NULL);
    OK(MPI_Finalize());
    return 0;
}
