/* SPDX-License-Identifier: BSD-3-Clause */
/* fvmpi's public functions. A program need not use any of them: it is profiled as it is. All may be called at
 * any time, from any thread, also before MPI_Init and after MPI_Finalize.
 *
 * The functions of sections need no library: without fvmpi in the process they do nothing, at the cost of a
 * predicted branch. The others are in libfvmpi: link with -lfvmpi.
 *
 * For C++ see fvmpi.hpp, for Fortran fvmpi.f90. */
#ifndef FVMPI_H
#define FVMPI_H

#define FVMPI_VERSION_MAJOR 0
#define FVMPI_VERSION_MINOR 1
#define FVMPI_VERSION_PATCH 0
#define FVMPI_VERSION       "0.1.0"

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the library that is loaded, "major.minor.patch"; FVMPI_VERSION is the header's. */
const char *fvmpi_version(void);

/* Stops recording in this process and starts it again, like MPI_Pcontrol(0) and MPI_Pcontrol(1). Repeated
 * calls count once. With --off-at-start recording begins at the first fvmpi_resume(). */
void fvmpi_pause(void);
void fvmpi_resume(void);

/* ---- labels ----
 *
 *     fvmpi_label("mesh refined");
 *
 * marks the present, for the report, its page and the archive (its first 4,000 bytes; copied). For rare moments: a lock
 * is taken. Without fvmpi in the process it does nothing; also before MPI_Init. See fvmpi_label() below. */

/* ---- sections: parts of the program that are measured apart ----
 *
 *     fvmpi_section_begin("solve", 0, 0);
 *     ...
 *     fvmpi_section_end("solve", 0, 0);
 *
 * A section is what has the same name (its first 63 bytes; copied) and number. Sections may nest and overlap,
 * and each thread has its own: a section is ended by the thread that began it. Within itself a section is
 * measured once. Sections whose level is above --section-level (FVMPI_SECTION_LEVEL, 0) are left out; pass
 * the same level to both. An end without a begin, and a begin without an end, are counted and told by the
 * report. Nothing is measured before MPI_Init, or in a forked child. */
#if defined(__GNUC__) && !defined(FVMPI_NO_SECTIONS) /* with -DFVMPI_NO_SECTIONS they compile to nothing */

/* Of the library, by that name. Call the functions below. */
void fvmpi_section_begin_v1(const char *name, int number, int level) __attribute__((weak));
void fvmpi_section_end_v1(const char *name, int number, int level) __attribute__((weak));
void fvmpi_label_v1(const char *text) __attribute__((weak));

/* A linker may settle for good that a weak function is not there, where the code is not position-independent;
 * the dynamic linker knows whether the library was preloaded. Where there is no dlsym() either, as in static
 * programs, nothing is. All of this is of one program or shared library: hidden. */
void *fvmpi_dlsym_(void *handle, const char *name) __asm__("dlsym") __attribute__((weak));
typedef void fvmpi_section_function(const char *name, int number, int level);
#define FVMPI_SHARED_   __attribute__((weak, visibility("hidden")))
#define FVMPI_FUNCTION_ FVMPI_SHARED_ __attribute__((no_instrument_function))
/* Of their callers, in debug information and to -finstrument-functions. */
#define FVMPI_INLINE_ static __inline__ __attribute__((always_inline, artificial, no_instrument_function))

FVMPI_FUNCTION_ void fvmpi_section_find_(void);
FVMPI_FUNCTION_ void fvmpi_section_find_begin_(const char *name, int number, int level);
FVMPI_FUNCTION_ void fvmpi_section_find_end_(const char *name, int number, int level);
/* What to call, NULL: nothing. At first the functions that find out. */
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
#endif

#ifdef __cplusplus
}
#endif

#endif
