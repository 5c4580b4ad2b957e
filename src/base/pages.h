/* SPDX-License-Identifier: BSD-3-Clause */
/* Pages for ourselves, from the kernel, not by the C library's mmap(): libraries that stand in front of that
 * one (UCX's memory hooks, under MPICH) take locks there, which we see again where threads are recorded, in
 * the middle of what we do under locks of our own. Errors and errno as mmap() and munmap(). Any thread. */
#ifndef FV_PAGES_H
#define FV_PAGES_H

#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ThreadSanitizer wants to know of them. */
#if (defined(__x86_64__) || defined(__aarch64__)) && !defined(__SANITIZE_THREAD__)
#define FV_PAGES_FROM_KERNEL 1
#endif

static inline void *fv_map_pages(size_t bytes, int flags, int fd, off_t offset)
{
#ifdef FV_PAGES_FROM_KERNEL
    return (void *)syscall(SYS_mmap, NULL, bytes, PROT_READ | PROT_WRITE, flags, fd, offset);
#else
    return mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, fd, offset);
#endif
}

/* Memory in place of what is mapped there. */
static inline void *fv_map_over(void *pages, size_t bytes)
{
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
#ifdef FV_PAGES_FROM_KERNEL
    return (void *)syscall(SYS_mmap, pages, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
#else
    return mmap(pages, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
#endif
}

static inline int fv_unmap_pages(void *pages, size_t bytes)
{
#ifdef FV_PAGES_FROM_KERNEL
    return (int)syscall(SYS_munmap, pages, bytes);
#else
    return munmap(pages, bytes);
#endif
}

#endif
