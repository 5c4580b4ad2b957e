/* SPDX-License-Identifier: BSD-3-Clause */
/* See io.h: the functions that io.tbl leaves to hand, since they have "..." or do something of their own. What is
 * printed and scanned is passed to the next one's functions that take a va_list. */
#include "front/io.h"

#include <dlfcn.h>
#include <errno.h>
#include <sys/syscall.h>

FV_PUBLIC struct fv_io_front fvmpi_io_v1 = { .version = 1 };

struct fv_io_next fv_io_next = {
#define FV_IO_NEXT(name, until) .name = until,
#include "front/io-next.h"
#undef FV_IO_NEXT
};
static const struct {
    const char *name;
    size_t place;
} rows[] = {
#define FV_IO_NEXT(name, until) { #name, offsetof(struct fv_io_next, name) },
#include "front/io-next.h"
#undef FV_IO_NEXT
};

static void find(unsigned row)
{
    int saved = errno;
    void *found = dlsym(RTLD_NEXT, rows[row].name);

    if (found)
        memcpy((char *)&fv_io_next + rows[row].place, &found, sizeof(found));
    errno = saved;
}

void fv_io_find(size_t place)
{
    for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        if (rows[i].place == place)
            find(i);
}

__attribute__((constructor(101))) static void find_all(void)
{
    for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        find(i);
}

int fv_descriptor(FILE *stream)
{
    int saved = errno, fd = stream ? fileno_unlocked(stream) : -1;

    errno = saved;
    return fd;
}

/* ---- open ---- */

static bool has_mode(int flags)
{
    return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE;
}

#define OPEN(name, parameters, ...)                                                            \
    FV_PUBLIC int name parameters                                                              \
    {                                                                                          \
        struct fv_io_call call;                                                                \
        mode_t mode = 0;                                                                       \
        va_list arguments;                                                                     \
                                                                                               \
        va_start(arguments, flags);                                                            \
        if (has_mode(flags))                                                                   \
            mode = va_arg(arguments, mode_t);                                                  \
        va_end(arguments);                                                                     \
        bool on = fv_io_enter(&call, FV_IO_FN_##name, -1, FV_CALL_SITE());                     \
        int result = FV_NEXT_IO(name)(__VA_ARGS__, flags, mode);                               \
        if (on)                                                                                \
            fv_io_leave(&call, &(struct fv_io_done){ .ok = result >= 0, .made = result + 1 }); \
        return result;                                                                         \
    }
OPEN(open, (const char *path, int flags, ...), path)
OPEN(open64, (const char *path, int flags, ...), path)
OPEN(openat, (int folder, const char *path, int flags, ...), folder, path)
OPEN(openat64, (int folder, const char *path, int flags, ...), folder, path)

/* ---- descriptors ---- */

/* The third argument is an int or a pointer, or not there: what is not read does no harm. */
#define FCNTL(name)                                                                            \
    FV_PUBLIC int name(int fd, int command, ...)                                               \
    {                                                                                          \
        struct fv_io_call call;                                                                \
        va_list arguments;                                                                     \
                                                                                               \
        va_start(arguments, command);                                                          \
        void *argument = va_arg(arguments, void *);                                            \
        va_end(arguments);                                                                     \
        bool is_dup = command == F_DUPFD || command == F_DUPFD_CLOEXEC;                        \
        bool on = is_dup && fv_io_enter(&call, FV_IO_FN_##name, fd, FV_CALL_SITE());           \
        int result = FV_NEXT_IO(name)(fd, command, argument);                                  \
        if (on)                                                                                \
            fv_io_leave(&call, &(struct fv_io_done){ .ok = result >= 0, .made = result + 1 }); \
        return result;                                                                         \
    }
FCNTL(fcntl)
FCNTL(fcntl64)

static void tell_closed(unsigned first, unsigned last)
{
    __typeof__(fvmpi_io_v1.closed) closed = __atomic_load_n(&fvmpi_io_v1.closed, __ATOMIC_ACQUIRE);

    if (closed)
        closed(first, last);
}

#ifndef CLOSE_RANGE_CLOEXEC
#define CLOSE_RANGE_CLOEXEC 4
#endif

FV_PUBLIC int close_range(unsigned first, unsigned last, int flags)
{
    if (!(flags & CLOSE_RANGE_CLOEXEC))
        tell_closed(first, last);
    return FV_NEXT_IO(close_range)(first, last, flags);
}

FV_PUBLIC void closefrom(int first)
{
    tell_closed(first < 0 ? 0 : (unsigned)first, ~0u);
    FV_NEXT_IO(closefrom)(first);
}

/* ---- mmap: of files alone; memory is asked for before there are constructors ---- */

#define MAP(name, offset_type)                                                                                      \
    FV_PUBLIC void *name(void *address, size_t bytes, int protection, int flags, int fd, offset_type offset)        \
    {                                                                                                               \
        struct fv_io_call call;                                                                                     \
        bool on = fd >= 0 && !(flags & MAP_ANONYMOUS) && fv_io_enter(&call, FV_IO_FN_##name, fd, FV_CALL_SITE());   \
        void *result = FV_LIKELY(fv_io_next.name != NULL)                                                           \
                           ? fv_io_next.name(address, bytes, protection, flags, fd, offset)                         \
                           : (void *)syscall(SYS_mmap, address, bytes, protection, flags, fd, offset); /* NOLINT */ \
        if (on)                                                                                                     \
            fv_io_leave(&call, &(struct fv_io_done){ .ok = result != MAP_FAILED, .bytes = bytes });                 \
        return result;                                                                                              \
    }
MAP(mmap, off_t)
MAP(mmap64, off64_t)

/* ---- characters: of a buffer they are counted in a few instructions ---- */

static FV_TLS struct fv_io_quick quick;

static inline bool is_quick(const FILE *stream, struct fv_call_place site)
{
    return FV_LIKELY(quick.place == site.return_address && quick.frame == site.frame && quick.stream == stream &&
                     __atomic_load_n(&fvmpi_io_v1.enter, __ATOMIC_RELAXED) != NULL &&
                     __atomic_load_n(fvmpi_io_v1.recording, __ATOMIC_RELAXED) == quick.recording &&
                     __atomic_load_n(&fvmpi_io_v1.changes, __ATOMIC_RELAXED) == quick.changes &&
                     *quick.position == *quick.end);
}

static inline void count_quick(void)
{
    struct fv_io_record *r = quick.record;

    r->calls++;
    r->untimed++;
    r->bytes++;
    r->sizes[0]++;
    if (FV_UNLIKELY(*quick.position < 0))
        return;
    *quick.end = ++*quick.position;
    r->placed++;
    r->consecutive++;
}

static inline bool can_read(const FILE *stream)
{
    return stream->_IO_read_ptr < stream->_IO_read_end;
}

static inline bool can_write(const FILE *stream)
{
    return stream->_IO_write_ptr < stream->_IO_write_end;
}

static void leave_character(struct fv_io_call *call, FILE *stream, struct fv_call_place site, bool ok)
{
    struct fv_io_quick next = { 0 };

    fvmpi_io_v1.leave_quick(call, &(struct fv_io_done){ .ok = true, .bytes = ok }, &next);
    next.place = site.return_address;
    next.frame = site.frame;
    next.stream = stream;
    quick = next.record ? next : (struct fv_io_quick){ 0 };
}

#define CHARACTER(name, parameters, of, can, ...)                               \
    FV_PUBLIC int name parameters                                               \
    {                                                                           \
        struct fv_call_place site = FV_CALL_SITE();                             \
        struct fv_io_call call;                                                 \
                                                                                \
        if (is_quick(of, site) && can(of)) {                                    \
            count_quick();                                                      \
            return FV_NEXT_IO(name)(__VA_ARGS__);                               \
        }                                                                       \
        bool on = fv_io_enter(&call, FV_IO_FN_##name, fv_descriptor(of), site); \
        int result = FV_NEXT_IO(name)(__VA_ARGS__);                             \
        if (on)                                                                 \
            leave_character(&call, of, site, result != EOF);                    \
        return result;                                                          \
    }
CHARACTER(fgetc, (FILE * stream), stream, can_read, stream)
CHARACTER(getc, (FILE * stream), stream, can_read, stream)
CHARACTER(_IO_getc, (FILE * stream), stream, can_read, stream)
CHARACTER(getc_unlocked, (FILE * stream), stream, can_read, stream)
CHARACTER(getchar, (void), stdin, can_read)
CHARACTER(fputc, (int character, FILE *stream), stream, can_write, character, stream)
CHARACTER(putc, (int character, FILE *stream), stream, can_write, character, stream)
CHARACTER(_IO_putc, (int character, FILE *stream), stream, can_write, character, stream)
CHARACTER(putc_unlocked, (int character, FILE *stream), stream, can_write, character, stream)
CHARACTER(putchar, (int character), stdout, can_write, character)

/* ---- formats ---- */

static struct fv_io_done printed(int result)
{
    return (struct fv_io_done){ .ok = result >= 0, .bytes = fv_positive(result) };
}

#define FORMATTED(name, parameters, about, next, ...)                         \
    FV_PUBLIC int name parameters                                             \
    {                                                                         \
        struct fv_io_call call;                                               \
        va_list arguments;                                                    \
                                                                              \
        bool on = fv_io_enter(&call, FV_IO_FN_##name, about, FV_CALL_SITE()); \
        va_start(arguments, format);                                          \
        int result = FV_NEXT_IO(next)(__VA_ARGS__, arguments);                \
        va_end(arguments);                                                    \
        if (on)                                                               \
            fv_io_leave(&call, (struct fv_io_done[]){ printed(result) });     \
        return result;                                                        \
    }
FORMATTED(fprintf, (FILE *restrict stream, const char *restrict format, ...), fv_descriptor(stream), vfprintf, stream,
          format)
FORMATTED(__fprintf_chk, (FILE *restrict stream, int flag, const char *restrict format, ...), fv_descriptor(stream),
          __vfprintf_chk, stream, flag, format)
FORMATTED(printf, (const char *restrict format, ...), fv_descriptor(stdout), vprintf, format)
FORMATTED(__printf_chk, (int flag, const char *restrict format, ...), fv_descriptor(stdout), __vprintf_chk, flag,
          format)
FORMATTED(dprintf, (int fd, const char *restrict format, ...), fd, vdprintf, fd, format)
FORMATTED(__dprintf_chk, (int fd, int flag, const char *restrict format, ...), fd, __vdprintf_chk, fd, flag, format)

/* ---- scans ---- */

/* Its places before and after tell what was read. Negative: it has none, as a pipe. */
static off64_t place_of(FILE *stream)
{
    int saved = errno;
    off64_t place = ftello64(stream);

    errno = saved;
    return place;
}

typedef int scanner(FILE *restrict, const char *restrict, va_list);

static int scan(unsigned function, struct fv_call_place site, scanner *next, FILE *stream, const char *format,
                va_list arguments)
{
    struct fv_io_call call;
    bool on = fv_io_enter(&call, function, fv_descriptor(stream), site);
    off64_t begin = on ? place_of(stream) : -1;
    int result = next(stream, format, arguments);

    if (on) {
        off64_t end = begin < 0 ? -1 : place_of(stream), bytes = begin < 0 || end < begin ? -1 : end - begin;

        fv_io_leave(&call, &(struct fv_io_done){ .ok = true, .unsized = bytes < 0, .bytes = fv_positive(bytes) });
    }
    return result;
}

#define SCANS(name, next, stream, function, parameters)                                                  \
    int function parameters __asm__(#name);                                                              \
    FV_PUBLIC int function parameters                                                                    \
    {                                                                                                    \
        va_list arguments;                                                                               \
                                                                                                         \
        va_start(arguments, format);                                                                     \
        int result = scan(FV_IO_FN_##name, FV_CALL_SITE(), FV_NEXT_IO(next), stream, format, arguments); \
        va_end(arguments);                                                                               \
        return result;                                                                                   \
    }
#define SCANS_LIST(name, next, stream, function, parameters)                                       \
    int function parameters __asm__(#name);                                                        \
    FV_PUBLIC int function parameters                                                              \
    {                                                                                              \
        return scan(FV_IO_FN_##name, FV_CALL_SITE(), FV_NEXT_IO(next), stream, format, arguments); \
    }
/* Headers make other names of theirs: each symbol is that of a function with a name of its own. */
#define SCANS_OF(prefix)                                                                                      \
    SCANS(prefix##fscanf, prefix##vfscanf, stream, scan##prefix##_of_stream,                                  \
          (FILE *restrict stream, const char *restrict format, ...))                                          \
    SCANS(prefix##scanf, prefix##vfscanf, stdin, scan##prefix##_of_stdin, (const char *restrict format, ...)) \
    SCANS_LIST(prefix##vfscanf, prefix##vfscanf, stream, scan##prefix##_list_of_stream,                       \
               (FILE *restrict stream, const char *restrict format, va_list arguments))                       \
    SCANS_LIST(prefix##vscanf, prefix##vfscanf, stdin, scan##prefix##_list_of_stdin,                          \
               (const char *restrict format, va_list arguments))
SCANS_OF()
SCANS_OF(__isoc99_)
SCANS_OF(__isoc23_)
