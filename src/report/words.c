/* See words.h. */
#include "report/words.h"

#include <math.h>
#include <string.h>
#include <time.h>

/* ---- UTF-8 (RFC 3629) ---- */

int32_t fv_utf8_next(const char **p)
{
    const unsigned char *s = (const unsigned char *)*p;
    int more = s[0] < 0x80                   ? 0
               : s[0] >= 0xc2 && s[0] < 0xe0 ? 1
               : (s[0] & 0xf0) == 0xe0       ? 2
               : s[0] >= 0xf0 && s[0] < 0xf5 ? 3
                                             : -1;
    int32_t c = more == 0 ? s[0] : more > 0 ? s[0] & (0x3f >> more) : -1;

    for (int i = 1; i <= more && c >= 0; i++)
        c = (s[i] & 0xc0) == 0x80 ? c << 6 | (s[i] & 0x3f) : -1;
    /* Overlong forms, surrogates, and beyond Unicode. */
    if ((more == 2 && c < 0x800) || (more == 3 && (c < 0x10000 || c > 0x10ffff)) ||
        (c >= 0xd800 && c < 0xe000))
        c = -1;
    *p += c < 0 ? 1 : more + 1;
    return c;
}

char *fv_words_clean(const char *text, char *out, size_t bytes)
{
    size_t used = 0;

    while (*text) {
        const char *begin = text;
        int32_t c = fv_utf8_next(&text);
        size_t length = (size_t)(text - begin);
        bool plain = c >= 0x20 && c != 0x7f && !(c >= 0x80 && c < 0xa0) && !(c >= 0x202a && c <= 0x202e) &&
                     !(c >= 0x2066 && c <= 0x2069); /* also no changes of writing direction */

        if (used + (plain ? length : 4 * length) + 1 > bytes)
            break;
        if (plain) {
            memcpy(out + used, begin, length);
            used += length;
        } else {
            for (size_t i = 0; i < length; i++)
                used += (size_t)snprintf(out + used, 5, "\\x%02x", (unsigned char)begin[i]);
        }
    }
    out[used] = '\0';
    return out;
}

size_t fv_words_columns(const char *clean)
{
    size_t columns = 0;

    for (; *clean; clean++)
        columns += (*clean & 0xc0) != 0x80;
    return columns;
}

void fv_words_fit(char *clean, size_t columns)
{
    size_t dots = columns < 3 ? columns : 3, keep = columns - dots;
    char *p = clean;

    if (fv_words_columns(clean) <= columns)
        return;
    for (; *p && (keep || (*p & 0xc0) == 0x80); p++)
        if (keep && (p[1] & 0xc0) != 0x80)
            keep--;
    memset(p, '.', dots);
    p[dots] = '\0';
}

/* ---- numbers ---- */

static char *with_unit(double value, const char *unit, char out[FV_WORD])
{
    int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;

    snprintf(out, FV_WORD, "%.*f %s", decimals, value, unit);
    return out;
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

char *fv_words_brief(const char *name, char *out, size_t bytes)
{
    unsigned depth = 0, parts = 0;
    size_t at;

    fv_words_short(name, out, bytes);
    for (at = strlen(out); at-- > 1;) {
        depth += out[at] == '>' || out[at] == ')' || out[at] == '}';
        depth -= depth && (out[at] == '<' || out[at] == '(' || out[at] == '{');
        if (!depth && out[at] == ':' && out[at - 1] == ':' && ++parts == 2)
            break;
    }
    if (parts == 2)
        memmove(out, out + at + 1, strlen(out + at + 1) + 1);
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

const char *fv_words_s(uint64_t count)
{
    return count == 1 ? "" : "s";
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

static size_t put_digits(uint64_t value, char *out)
{
    char reversed[24];
    size_t n = 0;

    do
        reversed[n++] = (char)('0' + value % 10);
    while (value /= 10);
    for (size_t i = 0; i < n; i++)
        out[i] = reversed[n - 1 - i];
    return n;
}

/* printf takes most of the time of a large report; seconds fit integers of picoseconds. */
size_t fv_words_real(double value, char out[FV_REAL])
{
    size_t n = 0;
    double size = fabs(value);

    if (!(size < 1e6))
        return (size_t)snprintf(out, FV_REAL, "%.15g", value);
    uint64_t pico = (uint64_t)(size * 1e12 + 0.5), fraction = pico % UINT64_C(1000000000000);
    if (value < 0 && pico)
        out[n++] = '-';
    n += put_digits(pico / UINT64_C(1000000000000), out + n);
    if (fraction) {
        out[n++] = '.';
        for (int i = 11; i >= 0; i--) {
            out[n + (size_t)i] = (char)('0' + fraction % 10);
            fraction /= 10;
        }
        n += 12;
        while (out[n - 1] == '0')
            n--;
    }
    out[n] = '\0';
    return n;
}

/* ---- ranks ---- */

static void end_run(struct fv_rank_list *l)
{
    static const char more[] = ", ...";
    char run[40];

    if (l->last == INT32_MIN || l->cut)
        return;
    size_t n = (size_t)snprintf(run, sizeof(run), l->last > l->first ? "%s%d-%d" : "%s%d",
                                l->used ? ", " : "", l->first, l->last);
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
