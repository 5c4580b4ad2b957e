/* What each unit test begins with: cmocka, what it wants to be included before it, and assertions that print both
 * values. */
#ifndef FV_TEST_UNIT_H
#define FV_TEST_UNIT_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* assert_that(cost, <=, 300). Of a failure the expressions are evaluated again, to be printed. */
#define assert_that(a, is, b)                                                                      \
    do {                                                                                           \
        if (!((a)is(b)))                                                                           \
            fail_msg("%s %s %s: %.17Lg, %.17Lg", #a, #is, #b, (long double)(a), (long double)(b)); \
    } while (0)

#define assert_near(a, b, within)                                                \
    do {                                                                         \
        if (!(fabs((double)(a) - (double)(b)) <= (within)))                      \
            fail_msg("%s is %.12g, wanted %.12g", #a, (double)(a), (double)(b)); \
    } while (0)

#endif
