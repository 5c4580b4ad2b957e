/* A processor with AMX, to be preloaded: the kernel's least signal stack allows for registers that no thread uses. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sys/auxv.h>
#include <unistd.h>

#ifndef AT_MINSIGSTKSZ
#define AT_MINSIGSTKSZ 51
#endif
#ifndef _SC_MINSIGSTKSZ
#define _SC_MINSIGSTKSZ 249
#define _SC_SIGSTKSZ    250
#endif
#define LEAST 11952

unsigned long getauxval(unsigned long type)
{
    unsigned long (*next)(unsigned long) = (unsigned long (*)(unsigned long))dlsym(RTLD_NEXT, "getauxval");

    return type == AT_MINSIGSTKSZ ? LEAST : next(type);
}

long sysconf(int name)
{
    long (*next)(int) = (long (*)(int))dlsym(RTLD_NEXT, "sysconf");

    return name == _SC_MINSIGSTKSZ ? LEAST : name == _SC_SIGSTKSZ ? 4 * LEAST : next(name);
}
