/* SPDX-License-Identifier: BSD-3-Clause */
// fvmpi's sections for C++. A section lasts as long as its object lives, also if an exception leaves the scope.
//
//     fvmpi::section timed("solve");
#ifndef FVMPI_HPP
#define FVMPI_HPP

#include "fvmpi.h"

#include <cstring>

namespace fvmpi {

// As fvmpi_section_begin() and fvmpi_section_end() of fvmpi.h. The name is copied, up to 63 bytes. The thread that
// constructs the object must destroy it. Nothing is thrown.
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
