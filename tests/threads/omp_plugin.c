/* With -DPLUGIN, a library with OpenMP; without, a program that knows nothing of it and opens the library for
 * itself alone. With -fopenmp the program has a team of its own before. Iterations of a doacross loop are in order. */
#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

int plugin_sum(void);

#ifdef PLUGIN
int plugin_sum(void)
{
    int sum = 0;

#pragma omp parallel num_threads(3)
#pragma omp critical(sums)
    sum += 7;
    return sum;
}

int plugin_order(void);
int plugin_order(void)
{
    int order = 0, wrong = 0;

#pragma omp parallel for ordered(1) schedule(static, 1) num_threads(2)
    for (int i = 0; i < 6; i++) {
#pragma omp ordered depend(sink : i - 1)
        usleep(i % 2 ? 1000 : 20000);
        wrong += __atomic_fetch_add(&order, 1, __ATOMIC_SEQ_CST) != i;
#pragma omp ordered depend(source)
    }
    return wrong;
}
#else
int main(int argc, char **argv)
{
    void *plugin = dlopen(argv[argc - 1], RTLD_NOW | RTLD_LOCAL);
    int (*sum)(void) = plugin ? (int (*)(void))dlsym(plugin, "plugin_sum") : NULL;

#ifdef _OPENMP
    int own = 0;
#pragma omp parallel num_threads(2)
#pragma omp critical
    own++;
    int (*order)(void) = plugin ? (int (*)(void))dlsym(plugin, "plugin_order") : NULL;
    printf("own %d, out of order %d\n", own, order ? order() : -1);
#endif
    printf("sum %d\n", sum ? sum() + sum() : -1);
    return 0;
}
#endif
