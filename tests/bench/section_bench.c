/* What begin and end of a section cost, beside two clock reads; best of many batches. Run it under fvmpi, and
 * without, where it shows what is left of them in a program that nobody measures. Nothing here gates. */
#include "batches.h"
#include "fvmpi.h"

#include <stdio.h>

enum { PAIRS = 1000 };

static const char *volatile name = "solve", *volatile longer =
                                                "conjugate_gradient_iteration_with_preconditioner";
static volatile uint64_t sink;

static void clocks(void)
{
    for (int i = 0; i < PAIRS; i++) {
        sink = read_clock();
        sink = read_clock();
    }
}

static void pairs(void)
{
    for (int i = 0; i < PAIRS; i++) {
        fvmpi_section_begin(name, 0, 0);
        fvmpi_section_end(name, 0, 0);
    }
}

static void nested_pairs(void)
{
    for (int i = 0; i < PAIRS / 4; i++) {
        for (int k = 0; k < 4; k++)
            fvmpi_section_begin(name, k, 0);
        for (int k = 3; k >= 0; k--)
            fvmpi_section_end(name, k, 0);
    }
}

static void long_pairs(void)
{
    for (int i = 0; i < PAIRS; i++) {
        fvmpi_section_begin(longer, 0, 0);
        fvmpi_section_end(longer, 0, 0);
    }
}

static void above_level(void)
{
    for (int i = 0; i < PAIRS; i++) {
        fvmpi_section_begin(name, 0, 9);
        fvmpi_section_end(name, 0, 9);
    }
}

int main(void)
{
    static const struct {
        const char *what;
        void (*batch)(void);
    } rows[] = {
        { "begin + end", pairs },
        { "begin + end, four nested", nested_pairs },
        { "begin + end, name of 48 bytes", long_pairs },
        { "begin + end, above the level", above_level },
    };
    double two = best_ns(clocks, PAIRS);

    printf("  %-32s %7.1f ns\n", "two clock reads", two);
    for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        double ns = best_ns(rows[i].batch, PAIRS);

        printf("  %-32s %7.1f ns %5.1fx\n", rows[i].what, ns, ns / two);
    }
    return 0;
}
