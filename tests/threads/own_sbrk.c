/* SPDX-License-Identifier: BSD-3-Clause */
/* A function in front of sbrk() that takes a lock, as libraries of networks have one: `inside` the program asks it so
 * often. With -rdynamic it is what all callers get. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>
#include <unistd.h>

enum { INSIDE = 3 };

void *sbrk(intptr_t bytes)
{
    static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
    void *(*next)(intptr_t) = (void *(*)(intptr_t))dlsym(RTLD_NEXT, "sbrk");

    pthread_rwlock_rdlock(&lock);
    void *result = next(bytes);
    pthread_rwlock_unlock(&lock);
    return result;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    for (int i = 0; i < INSIDE; i++)
        sbrk(0);
    return MPI_Finalize();
}
