/* Inlined into program.cpp and other.cpp. */
#pragma once

#define ALWAYS_INLINED static inline __attribute__((always_inline))
#define NO_LAST_CALL  asm volatile("" ::: "memory") /* which would leave no frame */

void here(const char *name); /* prints the address that it returns to */

namespace tools
{
template <typename T> ALWAYS_INLINED T innermost(T x)
{
    here("innermost"); // PLACE innermost
    return x * 2;
}

template <typename T> ALWAYS_INLINED T middle(T x)
{
    T y = x + 1;

    if (y > 0)
        y += innermost(y); // PLACE middle
    return y;
}
} // namespace tools
