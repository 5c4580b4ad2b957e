/* SPDX-License-Identifier: BSD-3-Clause */
/* For io.c and io-interposed.c: the next ones' functions, and what a call is made of (io_hooks.h). */
#ifndef FV_FRONT_IO_H
#define FV_FRONT_IO_H

#include "front/io_hooks.h"
#include "trace/format.h"

#include <aio.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

/* Function-like macros of older headers. */
#undef fread_unlocked
#undef fwrite_unlocked
#undef getc
#undef putc
#undef getc_unlocked
#undef putc_unlocked

/* What no header declares, or not all do. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wredundant-decls"
int __open(const char *path, int flags, ...);
int __open64(const char *path, int flags, ...);
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __openat_2(int folder, const char *path, int flags);
int __openat64_2(int folder, const char *path, int flags);
int __close(int fd);
int __fcntl(int fd, int command, ...);
ssize_t __read(int fd, void *buffer, size_t bytes);
ssize_t __write(int fd, const void *buffer, size_t bytes);
off_t __lseek(int fd, off_t offset, int whence);
ssize_t __pread64(int fd, void *buffer, size_t bytes, off64_t offset);
ssize_t __pwrite64(int fd, const void *buffer, size_t bytes, off64_t offset);
ssize_t __read_chk(int fd, void *buffer, size_t bytes, size_t room);
ssize_t __pread_chk(int fd, void *buffer, size_t bytes, off_t offset, size_t room);
ssize_t __pread64_chk(int fd, void *buffer, size_t bytes, off64_t offset, size_t room);
int __xstat(int version, const char *path, struct stat *out);
int __xstat64(int version, const char *path, struct stat64 *out);
int __lxstat(int version, const char *path, struct stat *out);
int __lxstat64(int version, const char *path, struct stat64 *out);
int __fxstat(int version, int fd, struct stat *out);
int __fxstat64(int version, int fd, struct stat64 *out);
int __fxstatat(int version, int folder, const char *path, struct stat *out, int flags);
int __fxstatat64(int version, int folder, const char *path, struct stat64 *out, int flags);
int close_range(unsigned first, unsigned last, int flags);
void closefrom(int first);
size_t __fread_chk(void *restrict buffer, size_t room, size_t size, size_t count, FILE *restrict stream);
size_t __fread_unlocked_chk(void *restrict buffer, size_t room, size_t size, size_t count, FILE *restrict stream);
char *__fgets_chk(char *restrict buffer, size_t room, int size, FILE *restrict stream);
char *__fgets_unlocked_chk(char *restrict buffer, size_t room, int size, FILE *restrict stream);
int _IO_getc(FILE *stream);
int _IO_putc(int character, FILE *stream);
int __isoc23_fscanf(FILE *restrict stream, const char *restrict format, ...);
int __isoc23_scanf(const char *restrict format, ...);
int __isoc23_vfscanf(FILE *restrict stream, const char *restrict format, va_list arguments);
int __isoc99_fscanf(FILE *restrict stream, const char *restrict format, ...);
int __isoc99_scanf(const char *restrict format, ...);
int __isoc99_vfscanf(FILE *restrict stream, const char *restrict format, va_list arguments);
int __isoc23_vscanf(const char *restrict format, va_list arguments);
int __isoc99_vscanf(const char *restrict format, va_list arguments);
char *gets(char *buffer);
char *__gets_chk(char *buffer, size_t room);
int renameat2(int from_folder, const char *from, int to_folder, const char *to, unsigned flags);
int __fprintf_chk(FILE *restrict stream, int flag, const char *restrict format, ...);
int __printf_chk(int flag, const char *restrict format, ...);
int __vfprintf_chk(FILE *restrict stream, int flag, const char *restrict format, va_list arguments);
int __vprintf_chk(int flag, const char *restrict format, va_list arguments);
int __dprintf_chk(int fd, int flag, const char *restrict format, ...);
int __vdprintf_chk(int fd, int flag, const char *restrict format, va_list arguments);
#pragma GCC diagnostic pop

struct fv_io_next {
#define FV_IO_NEXT(name, until) __typeof__(name) *name;
#include "front/io-next.h"
#undef FV_IO_NEXT
};
extern struct fv_io_next fv_io_next;
void fv_io_find(size_t place); /* of a function in it */

/* Before the constructors, or newer than the C library that this was built with. */
#define FV_NEXT_IO(name) \
    ((FV_UNLIKELY(!fv_io_next.name) ? fv_io_find(offsetof(struct fv_io_next, name)) : (void)0), fv_io_next.name)

static inline bool fv_io_enter(struct fv_io_call *call, unsigned function, int fd, struct fv_call_place site)
{
    __typeof__(fvmpi_io_v1.enter) enter = __atomic_load_n(&fvmpi_io_v1.enter, __ATOMIC_ACQUIRE);

    return enter && enter(call, function, fd, site);
}

static inline void fv_io_leave(struct fv_io_call *call, const struct fv_io_done *done)
{
    fvmpi_io_v1.leave(call, done);
}

/* Of a stream, whose lock is not taken; -1: it has none. errno stays. */
int fv_descriptor(FILE *stream);

static inline uint64_t fv_length(const char *text)
{
    return text ? strlen(text) : 0;
}

/* Of gets(), which leaves the end of the line out. */
static inline uint64_t fv_line(const char *text)
{
    return text ? strlen(text) + !feof_unlocked(stdin) : 0;
}

static inline uint64_t fv_positive(int64_t value)
{
    return value < 0 ? 0 : (uint64_t)value;
}

#endif
