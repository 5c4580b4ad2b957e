/* SPDX-License-Identifier: BSD-3-Clause */
/* What headers of older kernels and C libraries lack, and the kernel that the program runs on may have all the same: in
 * place of <linux/perf_event.h> and <sys/syscall.h>. Of constants that are no macros, and of members,
 * PERF_ATTR_SIZE_VER* tells which there are: 4 has sample_regs_intr, 7 has sigtrap and sig_data. tests/lint/headers.t
 * compiles with such headers. */
#ifndef FV_OLDER_H
#define FV_OLDER_H

#include <linux/perf_event.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#ifndef PERF_EVENT_IOC_ID /* Linux 3.12 */
#define PERF_EVENT_IOC_ID _IOR('$', 7, uint64_t *)
#endif
#ifndef PERF_FLAG_FD_CLOEXEC /* 3.14 */
#define PERF_FLAG_FD_CLOEXEC (1UL << 3)
#endif
#ifndef PERF_EVENT_IOC_MODIFY_ATTRIBUTES /* 4.17 */
#define PERF_EVENT_IOC_MODIFY_ATTRIBUTES _IOW('$', 11, struct perf_event_attr *)
#endif

#ifndef MADV_WIPEONFORK /* 4.14 */
#define MADV_WIPEONFORK 18
#endif

#ifndef SYS_renameat2 /* 3.15 */
#if defined(__x86_64__)
#define SYS_renameat2 316
#elif defined(__aarch64__)
#define SYS_renameat2 276
#else
#define SYS_renameat2 (-1) /* ENOSYS */
#endif
#endif
#ifndef SYS_close_range /* 5.9, on all processors */
#define SYS_close_range 436
#endif

#endif
