/* SPDX-License-Identifier: BSD-3-Clause */
// fvmpi's sections for C++: measured for as long as an object lives, also when an exception leaves its scope.
//
//     fvmpi::section timed("solve");
#ifndef FVMPI_HPP
#define FVMPI_HPP

#include "fvmpi.h"

#include <cstring>

namespace fvmpi {

// See fvmpi_section_begin(). The name is copied, as far as it counts. Begun and ended by the same thread.
#ifdef FVMPI_NO_SECTIONS
class section {
public:
    explicit section(const char *, int = 0, int = 0) {}
    ~section() {} // so that none is called unused
};
#else
class section {
public:
    __attribute__((always_inline, no_instrument_function)) explicit section(const char *name, int number = 0, int level = 0)
        : number_(number), level_(level)
    {
        std::strncpy(name_, name ? name : "", sizeof(name_) - 1);
        name_[sizeof(name_) - 1] = '\0';
        fvmpi_section_begin(name_, number_, level_);
    }
    __attribute__((always_inline, no_instrument_function)) ~section() { fvmpi_section_end(name_, number_, level_); }

private:
    section(const section &); // not copied; by C++98's means
    section &operator=(const section &);

    char name_[64];
    const int number_, level_;
};
#endif

} // namespace fvmpi

#endif
