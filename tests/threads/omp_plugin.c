/* With -DPLUGIN, a library with OpenMP; without, a program that knows nothing of it and opens the library for
 * itself alone. */
#include <dlfcn.h>
#include <stdio.h>

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
#else
int main(int argc, char **argv)
{
    void *plugin = dlopen(argv[argc - 1], RTLD_NOW | RTLD_LOCAL);
    int (*sum)(void) = plugin ? (int (*)(void))dlsym(plugin, "plugin_sum") : NULL;

    printf("sum %d\n", sum ? sum() + sum() : -1);
    return 0;
}
#endif
