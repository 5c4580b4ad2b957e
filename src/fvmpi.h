/* SPDX-License-Identifier: BSD-3-Clause */
/* fvmpi's public functions. All are optional: a program is profiled as it is.
 *
 * Threads: each function may be called at any time from any thread, also before MPI_Init and after MPI_Finalize.
 * Errors: none is returned. A call that cannot be recorded does nothing, and the report counts it.
 * Linking: fvmpi_section_begin(), fvmpi_section_end(), fvmpi_label() and fvmpi_keep() need no library. Without fvmpi in
 * the process they do nothing; a section then costs a predicted branch. The other functions need -lfvmpi.
 *
 * fvmpi.hpp is for C++, fvmpi.f90 for Fortran. */
#ifndef FVMPI_H
#define FVMPI_H

#define FVMPI_VERSION_MAJOR 0
#define FVMPI_VERSION_MINOR 1
#define FVMPI_VERSION_PATCH 0
#define FVMPI_VERSION       "0.1.0"

#ifdef __cplusplus
extern "C" {
#endif

/* Returns the version of the loaded library, "major.minor.patch", a static string. FVMPI_VERSION is that of this
 * header. */
const char *fvmpi_version(void);

/* Stop recording in all threads of this process, and start it again, like MPI_Pcontrol(0) and MPI_Pcontrol(1).
 * Calls do not nest: one fvmpi_resume() ends any number of pauses. With --off-at-start, recording begins at the first
 * fvmpi_resume(). */
void fvmpi_pause(void);
void fvmpi_resume(void);

/* ---- labels ----
 *
 *     fvmpi_label("mesh refined");
 *
 * marks this moment in the report, its page and the archive. `text` is copied, up to 4,000 bytes; NULL does nothing.
 * Use it for rare moments, because it takes a lock. Before MPI_Init it does nothing. It is defined below. */

/* ---- what a trace has kept ----
 *
 *     fvmpi_keep("the residual grows");
 *
 * With --trace-keep, copies what this process has recorded so far to DIR/program-keep-N, in its Nth call, up to 16.
 * `why` becomes a label. Let all ranks call it; the copy is an experiment. It takes the time to write the file. It is
 * defined below. */

/* ---- sections: parts of the program that are measured separately ----
 *
 *     fvmpi_section_begin("solve", 0, 0);
 *     ...
 *     fvmpi_section_end("solve", 0, 0);
 *
 * Name and number identify a section. `name` is copied, up to 63 bytes; NULL is "". Sections may nest and overlap.
 * Each thread has its own sections, and must end those that it began. A section within itself is measured once.
 * Sections with a level above --section-level (FVMPI_SECTION_LEVEL, default 0) are not measured; pass the same level
 * to begin and end. The report counts ends without a begin, and begins without an end. Nothing is measured before
 * MPI_Init, or in a forked child. Limits: 1023 sections in a process, 64 open ones in a thread. */
#if defined(__GNUC__) && !defined(FVMPI_NO_SECTIONS) /* with -DFVMPI_NO_SECTIONS they compile to nothing */

/* The library's functions. Do not call them; call the functions below. */
void fvmpi_section_begin_v1(const char *name, int number, int level) __attribute__((weak));
void fvmpi_section_end_v1(const char *name, int number, int level) __attribute__((weak));
void fvmpi_label_v1(const char *text) __attribute__((weak));
void fvmpi_keep_v1(const char *why) __attribute__((weak));

/* If code is not position-independent, the linker may decide for good that a weak function is absent. dlsym() finds it
 * if the library was preloaded. Static programs have no dlsym(), so there these functions do nothing. Each program and
 * shared library has its own, hidden copy of this. */
void *fvmpi_dlsym_(void *handle, const char *name) __asm__("dlsym") __attribute__((weak));
typedef void fvmpi_section_function(const char *name, int number, int level);
#define FVMPI_SHARED_   __attribute__((weak, visibility("hidden")))
#define FVMPI_FUNCTION_ FVMPI_SHARED_ __attribute__((no_instrument_function))
/* Debug information and -finstrument-functions show the callers of these functions. */
#define FVMPI_INLINE_ static __inline__ __attribute__((always_inline, artificial, no_instrument_function))

FVMPI_FUNCTION_ void fvmpi_section_find_(void);
FVMPI_FUNCTION_ void fvmpi_section_find_begin_(const char *name, int number, int level);
FVMPI_FUNCTION_ void fvmpi_section_find_end_(const char *name, int number, int level);
/* The functions to call; NULL: none. At first, those that look for the library. */
FVMPI_SHARED_ fvmpi_section_function *fvmpi_section_call_[2] = { fvmpi_section_find_begin_, fvmpi_section_find_end_ };

FVMPI_FUNCTION_ void fvmpi_section_find_(void)
{
    union {
        void *address;
        fvmpi_section_function *function;
    } begin, end;

    begin.function = fvmpi_section_begin_v1;
    end.function = fvmpi_section_end_v1;
    if ((!begin.function || !end.function) && fvmpi_dlsym_) {
        begin.address = fvmpi_dlsym_(0, "fvmpi_section_begin_v1"); /* 0: RTLD_DEFAULT */
        end.address = fvmpi_dlsym_(0, "fvmpi_section_end_v1");
    }
    if (!begin.function || !end.function)
        begin.function = end.function = 0;
    __atomic_store_n(&fvmpi_section_call_[0], begin.function, __ATOMIC_RELAXED);
    __atomic_store_n(&fvmpi_section_call_[1], end.function, __ATOMIC_RELAXED);
}

FVMPI_INLINE_ void fvmpi_label(const char *text)
{
    union {
        void *address;
        void (*function)(const char *text);
    } label;

    label.function = fvmpi_label_v1;
    if (!label.function && fvmpi_dlsym_)
        label.address = fvmpi_dlsym_(0, "fvmpi_label_v1"); /* 0: RTLD_DEFAULT */
    if (label.function)
        label.function(text);
}

FVMPI_INLINE_ void fvmpi_keep(const char *why)
{
    union {
        void *address;
        void (*function)(const char *why);
    } keep;

    keep.function = fvmpi_keep_v1;
    if (!keep.function && fvmpi_dlsym_)
        keep.address = fvmpi_dlsym_(0, "fvmpi_keep_v1"); /* 0: RTLD_DEFAULT */
    if (keep.function)
        keep.function(why);
}

FVMPI_INLINE_ void fvmpi_section_begin(const char *name, int number, int level)
{
    fvmpi_section_function *call = __atomic_load_n(&fvmpi_section_call_[0], __ATOMIC_RELAXED);

    if (__builtin_expect(call != 0, 0))
        call(name, number, level);
}

FVMPI_INLINE_ void fvmpi_section_end(const char *name, int number, int level)
{
    fvmpi_section_function *call = __atomic_load_n(&fvmpi_section_call_[1], __ATOMIC_RELAXED);

    if (__builtin_expect(call != 0, 0))
        call(name, number, level);
}

FVMPI_FUNCTION_ void fvmpi_section_find_begin_(const char *name, int number, int level)
{
    fvmpi_section_find_();
    fvmpi_section_begin(name, number, level);
}

FVMPI_FUNCTION_ void fvmpi_section_find_end_(const char *name, int number, int level)
{
    fvmpi_section_find_();
    fvmpi_section_end(name, number, level);
}

#undef FVMPI_INLINE_
#undef FVMPI_FUNCTION_
#undef FVMPI_SHARED_
#else /* nothing that could test whether fvmpi is there */
#define fvmpi_section_begin(name, number, level) ((void)(name), (void)(number), (void)(level))
#define fvmpi_section_end(name, number, level)   ((void)(name), (void)(number), (void)(level))
#define fvmpi_label(text)                        ((void)(text))
#define fvmpi_keep(why)                          ((void)(why))
#endif

#ifdef __cplusplus
}
#endif

#endif
