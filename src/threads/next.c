/* See next.h. */
#include "threads/next.h"

#include <dlfcn.h>
#include <string.h>

struct fv_next fv_next;

/* Before glibc 2.36, RTLD_NEXT gives the oldest version of a function: for conditions one whose
 * pthread_cond_t was another, which hangs. Their version since then is older than any glibc that is still in
 * use. pthread_cond_clockwait() is younger: to ask for a version that is not there makes an error message by
 * malloc(), which may be jemalloc's, whose first call initialises its locks, which leads here. */
static void *find(const char *name)
{
    void *found = NULL;

#if defined(__GLIBC__) && defined(__x86_64__)
    if (!strncmp(name, "pthread_cond_", strlen("pthread_cond_")) && strcmp(name, "pthread_cond_clockwait"))
        found = dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2");
#endif
    return found ? found : dlsym(RTLD_NEXT, name);
}

void fv_next_find(void)
{
    void *function;

#define FV_NEXT_FIND(name)                                                                                   \
    function = find(#name);                                                                                  \
    memcpy(&fv_next.name, &function, sizeof(function));
    FV_NEXT_FUNCTIONS(FV_NEXT_FIND)
    FV_NEXT_C11(FV_NEXT_FIND)
#undef FV_NEXT_FIND
}

__attribute__((constructor)) static void find_early(void)
{
    fv_next_find();
}
