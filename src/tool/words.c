/* SPDX-License-Identifier: BSD-3-Clause */
/* See words.h. */
#include "tool/words.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

size_t fv_words_columns(const char *clean)
{
    size_t columns = 0;

    for (; *clean; clean++)
        columns += (*clean & 0xc0) != 0x80;
    return columns;
}

size_t fv_words_prefix(const char *clean, size_t columns)
{
    const char *p = clean;

    for (; *p && (columns || (*p & 0xc0) == 0x80); p++)
        if (columns && (p[1] & 0xc0) != 0x80)
            columns--;
    return (size_t)(p - clean);
}

void fv_words_fit(char *clean, size_t columns)
{
    size_t dots = columns < 3 ? columns : 3;

    if (fv_words_columns(clean) <= columns)
        return;
    char *p = clean + fv_words_prefix(clean, columns - dots);
    memset(p, '.', dots);
    p[dots] = '\0';
}

void fv_words_fit_middle(char *clean, size_t columns)
{
    size_t all = fv_words_columns(clean), dots = columns < 3 ? columns : 3, keep = columns - dots;

    if (all <= columns)
        return;
    char *p = clean + fv_words_prefix(clean, keep / 2), *end = clean + fv_words_prefix(clean, all - (keep - keep / 2));
    memset(p, '.', dots);
    memmove(p + dots, end, strlen(end) + 1);
}

void fv_words_fit_path(char *clean, size_t columns)
{
    const char *slash = strrchr(clean, '/'), *name = slash ? slash + 1 : clean;
    size_t all = fv_words_columns(clean), dots = columns < 3 ? columns : 3;

    if (all <= columns)
        return;
    if (fv_words_columns(name) + dots > columns) {
        memmove(clean, name, strlen(name) + 1);
        fv_words_fit_middle(clean, columns);
        return;
    }
    const char *end = clean + fv_words_prefix(clean, all - (columns - dots));
    memset(clean, '.', dots);
    memmove(clean + dots, end, strlen(end) + 1);
}

/* ---- numbers ---- */

static char *with_unit(double value, const char *unit, char out[FV_WORD])
{
    int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;

    snprintf(out, FV_WORD, "%.*f %s", decimals, value, unit);
    return out;
}

void fv_words_add(char *text, size_t bytes, const char *format, ...)
{
    size_t used = strlen(text);
    va_list args;

    va_start(args, format);
    vsnprintf(text + used, bytes - used, format, args);
    va_end(args);
}

char *fv_words_seconds(double s, char out[FV_WORD])
{
    if (!isfinite(s))
        return strcpy(out, "-");
    if (s < 0)
        s = 0;
    if (s == 0)
        return strcpy(out, "0 s");
    if (s < 999.5e-9)
        return with_unit(s * 1e9, "ns", out);
    if (s < 999.5e-6)
        return with_unit(s * 1e6, "us", out);
    if (s < 0.9995)
        return with_unit(s * 1e3, "ms", out);
    if (s < 9999.5)
        return with_unit(s, "s", out);
    if (s < 1e12)
        snprintf(out, FV_WORD, "%.0f h %02.0f min", floor(s / 3600), floor(fmod(s, 3600) / 60));
    else
        snprintf(out, FV_WORD, "%.2g s", s);
    return out;
}

char *fv_words_bytes(uint64_t bytes, char out[FV_WORD])
{
    static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
    unsigned unit = 0;
    double value = (double)bytes;

    if (bytes < 1024) {
        snprintf(out, FV_WORD, "%u B", (unsigned)bytes);
        return out;
    }
    for (; value >= 1023.5 && unit < 6; unit++)
        value /= 1024;
    if (value == floor(value)) { /* powers of two, mostly */
        snprintf(out, FV_WORD, "%.0f %s", value, units[unit]);
        return out;
    }
    return with_unit(value, units[unit], out);
}

char *fv_words_short(const char *name, char *out, size_t bytes)
{
    size_t length, depth = 0, at;

    fv_words_clean(name, out, bytes);
    length = strlen(out);
    if (length > 6 && !strcmp(out + length - 6, " const"))
        length -= 6;
    if (!length || out[length - 1] != ')')
        return out;
    for (at = length; at-- > 0;) {
        depth += out[at] == ')';
        if (out[at] == '(' && !--depth)
            break;
    }
    if (at > 0 && at < length && !(at >= 8 && !strncmp(out + at - 8, "operator", 8)))
        out[at] = '\0';
    return out;
}

/* By how compilers call the functions that they make of regions and tasks: GCC, clang, Intel, flang. */
static const char *const region_names[] = { "._omp_fn.",    ".omp_outlined", "omp_outlined",
                                            "__par_region", "__par_loop",    "..omp_par" };

bool fv_words_is_region(const char *name)
{
    bool found = false;

    for (size_t i = 0; i < sizeof(region_names) / sizeof(*region_names); i++)
        found |= strstr(name, region_names[i]) != NULL;
    return found;
}

/* Of such a function of GCC's or clang's: how much of its name is the function that it was made of, and its number. The
 * others' names have more than these. False: it is none. */
static bool split_region(const char *name, size_t *length, unsigned long *number)
{
    static const char clone[] = " [clone ";
    const char *end = strstr(name, region_names[0]), *at;

    end = end ? end : strstr(name, region_names[1]);
    if (!end)
        return false;
    at = strstr(name, clone);
    *number = strtoul(end + strcspn(end, "0123456789"), NULL, 10);
    *length = (size_t)((at && at < end ? at : end) - name);
    return true;
}

const char *fv_words_brackets(const char *name)
{
    return *name == '!' || strchr(name, '(') ? "" : "()";
}

static char *say_region(const char *of, unsigned long number, char *out, size_t bytes)
{
    snprintf(out, bytes, "OpenMP region");
    if (number)
        fv_words_add(out, bytes, " %lu", number);
    if (*of)
        fv_words_add(out, bytes, " in %s%s", of, fv_words_brackets(of));
    return out;
}

char *fv_words_region(const char *name, char *out, size_t bytes)
{
    char of[512];
    unsigned long number;
    size_t length;

    if (!split_region(name, &length, &number))
        snprintf(out, bytes, "%s", name);
    else if (snprintf(of, sizeof(of), "%.*s", (int)length, name) >= 0)
        say_region(of, number, out, bytes);
    return out;
}

static void cut_scopes(char *name)
{
    unsigned depth = 0, parts = 0;
    size_t at;

    for (at = strlen(name); at-- > 1;) {
        depth += name[at] == '>' || name[at] == ')' || name[at] == '}';
        depth -= depth && (name[at] == '<' || name[at] == '(' || name[at] == '{');
        if (!depth && name[at] == ':' && name[at - 1] == ':' && ++parts == 2)
            break;
    }
    if (parts == 2)
        memmove(name, name + at + 1, strlen(name + at + 1) + 1);
}

char *fv_words_brief(const char *name, char *out, size_t bytes)
{
    char whole[512], of[512];
    unsigned long number;
    size_t length;

    if (!split_region(name, &length, &number)) {
        cut_scopes(fv_words_short(name, out, bytes));
    } else {
        snprintf(whole, sizeof(whole), "%.*s", (int)length, name);
        cut_scopes(fv_words_short(whole, of, sizeof(of)));
        say_region(of, number, out, bytes);
    }
    return out;
}

char *fv_words_count(uint64_t count, char out[FV_WORD])
{
    char digits[24];
    int n = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)count), used = 0;

    for (int i = 0; i < n; i++) {
        if (i && (n - i) % 3 == 0)
            out[used++] = ',';
        out[used++] = digits[i];
    }
    out[used] = '\0';
    return out;
}

char *fv_words_mean(double mean, char out[FV_WORD])
{
    if (mean < 1e4 && fabs(mean - floor(mean + 0.5)) > 1e-6)
        snprintf(out, FV_WORD, "%.2f", mean);
    else
        fv_words_count(fv_words_whole(mean), out);
    return out;
}

char *fv_words_times(double factor, int digits, char out[FV_WORD])
{
    snprintf(out, FV_WORD, "%.*g", digits, factor);
    if (strchr(out, 'e') && factor >= 1)
        fv_words_count(fv_words_whole(strtod(out, NULL)), out);
    return out;
}

uint64_t fv_words_whole(double value)
{
    return value < 0x1p64 ? (uint64_t)(value + 0.5) : UINT64_MAX;
}

const char *fv_words_s(uint64_t count)
{
    return count == 1 ? "" : "s";
}

const char *fv_words_plural(const char *noun, uint64_t count)
{
    size_t length = strlen(noun);

    return count == 1 ? "" : length && noun[length - 1] == 's' ? "es" : "s";
}

char *fv_words_percent(double part, double whole, char out[FV_WORD])
{
    double percent = whole > 0 ? 100 * part / whole : 0;

    if (!isfinite(percent))
        return strcpy(out, "-");
    if (percent > 0 && percent < 0.05)
        return strcpy(out, "<0.1 %");
    snprintf(out, FV_WORD, "%.1f %%", percent);
    return out;
}

char *fv_words_time(int64_t ns, char out[FV_WORD])
{
    time_t seconds = (time_t)(ns / 1000000000);
    struct tm tm;

    if (!gmtime_r(&seconds, &tm) || !strftime(out, FV_WORD, "%Y-%m-%dT%H:%M:%SZ", &tm))
        strcpy(out, "?");
    return out;
}

size_t fv_words_digits(uint64_t value, char out[FV_DIGITS])
{
    static const char pairs[] = "00010203040506070809101112131415161718192021222324252627282930313233343536373839"
                                "40414243444546474849505152535455565758596061626364656667686970717273747576777879"
                                "8081828384858687888990919293949596979899";
    char reversed[FV_DIGITS], *p = reversed + sizeof(reversed);

    for (; value >= 100; value /= 100)
        memcpy(p -= 2, pairs + 2 * (value % 100), 2);
    if (value >= 10)
        memcpy(p -= 2, pairs + 2 * value, 2);
    else
        *--p = (char)('0' + value);
    size_t n = (size_t)(reversed + sizeof(reversed) - p);
    memcpy(out, p, n);
    return n;
}

/* ---- reals ---- */

#define DIGITS 12

/* 10^n, exact in a double. */
static const double tens[] = { 1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                               1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };

/* The 12 digits as an integer, and the exponent of the first: rounded as printf rounds, from what the double
 * is exactly. False: it lies too near to the middle between two of them, or it is too large or small. The
 * product's error is half a unit in the last place of a long double, less than `doubt`. */
static bool find_digits(double size, uint64_t *digits, int *exponent)
{
    const long double doubt = 0x1p-10L;
    int binary;

    frexp(size, &binary);
    int first = (int)floor((binary - 1) * 0.30102999566398119521), shift = DIGITS - 1 - first;
    if (shift > 22 || shift < -22)
        return false;
    long double scaled = shift < 0 ? size / (long double)tens[-shift] : size * (long double)tens[shift];
    if (scaled >= 1e12L) { /* it has one digit more than its binary exponent told */
        if (--shift < -22)
            return false;
        first++;
        scaled = shift < 0 ? size / (long double)tens[-shift] : size * (long double)tens[shift];
    }
    uint64_t whole = (uint64_t)scaled;
    long double rest = scaled - (long double)whole;
    if (rest > 0.5L - doubt && rest < 0.5L + doubt)
        return false;
    whole += rest > 0.5L;
    if (whole == UINT64_C(1000000000000)) {
        whole /= 10;
        first++;
    }
    *digits = whole;
    *exponent = first;
    return true;
}

static char *put_exponent(char *out, int exponent)
{
    *out++ = 'e';
    if (exponent < 0)
        *out++ = '-';
    return out + fv_words_digits((uint64_t)(exponent < 0 ? -exponent : exponent), out);
}

/* As %.12g lays it out; `text` are the digits, `count` without zeros at the end. */
static char *lay_out(char *out, const char *text, int count, int exponent)
{
    if (exponent < -4 || exponent >= DIGITS) {
        *out++ = text[0];
        if (count > 1)
            *out++ = '.';
        memcpy(out, text + 1, (size_t)count - 1);
        return put_exponent(out + count - 1, exponent);
    }
    for (int i = exponent; i < 0; i++) { /* 0.00ddd */
        *out++ = '0';
        if (i == exponent)
            *out++ = '.';
    }
    for (int i = 0; i < count || i <= exponent; i++) {
        *out++ = i < count ? text[i] : '0';
        if (i == exponent)
            *out++ = '.';
    }
    if (out[-1] == '.')
        *out++ = '0';
    return out;
}

/* %.12g, which reads as an integer where it is one, and writes more of an exponent than JSON needs. */
static char *print(char *out, double value)
{
    char text[FV_REAL];

    snprintf(text, sizeof(text), "%.*g", DIGITS, value);
    char *e = strchr(text, 'e');
    size_t length = e ? (size_t)(e - text) : strlen(text);
    memcpy(out, text, length);
    out += length;
    if (e)
        return put_exponent(out, atoi(e + 1));
    if (!memchr(text, '.', length)) {
        *out++ = '.';
        *out++ = '0';
    }
    return out;
}

/* printf took a third of the time of a large report: it is left the rarest numbers. */
size_t fv_words_real(double value, char out[FV_REAL])
{
    char text[FV_DIGITS], *end = out;
    int exponent = 0, count = DIGITS;
    uint64_t digits = 0;

    if (value == 0 || !find_digits(fabs(value), &digits, &exponent))
        return (size_t)(print(out, value) - out);
    if (value < 0)
        *end++ = '-';
    fv_words_digits(digits, text);
    while (count > 1 && text[count - 1] == '0')
        count--;
    return (size_t)(lay_out(end, text, count, exponent) - out);
}

/* ---- ranks ---- */

static void end_run(struct fv_rank_list *l)
{
    static const char more[] = ", ...";
    char run[40];

    if (l->last == INT32_MIN || l->cut)
        return;
    size_t n = (size_t)snprintf(run, sizeof(run), l->last > l->first ? "%s%d-%d" : "%s%d", l->used ? ", " : "",
                                l->first, l->last);
    l->last = INT32_MIN;
    l->cut = l->used + n + sizeof(more) > sizeof(l->text);
    if (l->cut)
        n = sizeof(more) - 1;
    memcpy(l->text + l->used, l->cut ? more : run, n + 1);
    l->used += n;
}

void fv_rank_list_add(struct fv_rank_list *l, int rank)
{
    if (l->last == INT32_MIN || rank != l->last + 1) {
        end_run(l);
        l->first = rank;
    }
    l->last = rank;
}

const char *fv_rank_list_text(struct fv_rank_list *l)
{
    end_run(l);
    return l->text;
}
