/* SPDX-License-Identifier: BSD-3-Clause */
/* See jsonl.h. */
#include "live/jsonl.h"
#include "base/experiment.h"
#include "base/process.h"
#include "tool/vec.h"
#include "tool/words.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/utsname.h>

void fv_jsonl_put(struct fv_jsonl *l, const char *text, size_t bytes)
{
    FV_GROW(l->text, l->room, l->used + bytes);
    memcpy(l->text + l->used, text, bytes);
    l->used += bytes;
}

void fv_jsonl_text(struct fv_jsonl *l, const char *text)
{
    fv_jsonl_put(l, text, strlen(text));
}

void fv_jsonl_whole(struct fv_jsonl *l, uint64_t value)
{
    char digits[FV_DIGITS];

    fv_jsonl_put(l, digits, fv_words_digits(value, digits));
}

void fv_jsonl_string(struct fv_jsonl *l, const char *text)
{
    char next[FV_CLEAN];

    fv_jsonl_put(l, "\"", 1);
    for (size_t length; (length = fv_words_clean_next(&text, next)) > 0;)
        for (size_t i = 0; i < length; i++) {
            if (next[i] == '"' || next[i] == '\\')
                fv_jsonl_put(l, "\\", 1);
            fv_jsonl_put(l, next + i, 1);
        }
    fv_jsonl_put(l, "\"", 1);
}

/* value / 10^decimals, without zeros at its end. */
static void put_fixed(struct fv_jsonl *l, uint64_t value, unsigned decimals)
{
    char digits[FV_DIGITS], out[FV_DIGITS + 16];
    size_t length, whole, used = 0;

    for (; decimals && value % 10 == 0; decimals--)
        value /= 10;
    length = fv_words_digits(value, digits);
    whole = length > decimals ? length - decimals : 0;
    if (!whole)
        out[used++] = '0';
    memcpy(out + used, digits, whole);
    used += whole;
    if (decimals)
        out[used++] = '.';
    for (size_t i = length; i < decimals; i++)
        out[used++] = '0';
    memcpy(out + used, digits + whole, length - whole);
    fv_jsonl_put(l, out, used + length - whole);
}

/* Whole numbers exactly, others with 7 digits: most are zeros, and printf() would take longer than to read the
 * sensors. */
void fv_jsonl_real(struct fv_jsonl *l, double value)
{
    double size = fabs(value);
    unsigned decimals = 0;
    char text[40];

    if (!isfinite(value)) {
        fv_jsonl_put(l, "null", 4);
        return;
    }
    if (size >= 1e15 || (size < 1e-4 && size > 0)) {
        fv_jsonl_put(l, text, (size_t)snprintf(text, sizeof(text), "%.7g", value));
        return;
    }
    if (value < 0)
        fv_jsonl_put(l, "-", 1);
    if (size != floor(size))
        for (; size < 1e6 && decimals < 11; decimals++)
            size *= 10;
    put_fixed(l, (uint64_t)(size + 0.5), decimals);
}

static void put_seconds(struct fv_jsonl *l, int64_t ns)
{
    put_fixed(l, ns > 0 ? (uint64_t)ns : 0, 9);
}

void fv_jsonl_time(struct fv_jsonl *l, int64_t since_ns)
{
    fv_jsonl_text(l, "\"time_s\":");
    put_seconds(l, since_ns);
}

void fv_jsonl_key_string(struct fv_jsonl *l, const char *key, const char *value)
{
    fv_jsonl_text(l, key);
    fv_jsonl_string(l, value);
}

void fv_jsonl_key_real(struct fv_jsonl *l, const char *key, double value)
{
    fv_jsonl_text(l, key);
    fv_jsonl_real(l, value);
}

static void put_maximum(struct fv_jsonl *l, double maximum)
{
    if (isfinite(maximum))
        fv_jsonl_key_real(l, ",\"maximum\":", maximum);
}

void fv_jsonl_series_list(struct fv_jsonl *l, const struct fv_watch *watch, size_t first)
{
    fv_jsonl_text(l, "[");
    for (size_t i = first; i < watch->count; i++) {
        const struct fv_watched_series *one = &watch->series[i];
        const struct fv_sensor *sensor = fv_watch_sensor(watch, i);
        const struct fv_sensor_event *event = fv_watch_event(watch, i);

        fv_jsonl_key_string(l, i > first ? ",{\"label\":" : "{\"label\":", one->label);
        fv_jsonl_key_string(l, ",\"sensor\":", sensor->kind->name);
        fv_jsonl_key_string(l, ",\"event\":", event->name);
        fv_jsonl_text(l, ",\"source\":");
        if (one->source == FV_WATCH_ALL)
            fv_jsonl_text(l, "null");
        else
            fv_jsonl_string(l, sensor->sources[one->source]);
        fv_jsonl_key_string(l, ",\"unit\":", event->unit);
        fv_jsonl_key_string(l, ",\"about\":", fv_sensor_event_about(sensor, one->event));
        fv_jsonl_text(l, event->is_gauge ? ",\"kind\":\"gauge\"" : ",\"kind\":\"counter\"");
        put_maximum(l, fv_watch_maximum(watch, i));
        fv_jsonl_text(l, "}");
    }
    fv_jsonl_text(l, "]");
}

void fv_jsonl_series(struct fv_jsonl *l, const struct fv_watch *watch)
{
    fv_jsonl_text(l, ",\"series\":");
    fv_jsonl_series_list(l, watch, 0);
}

void fv_jsonl_sensors(struct fv_jsonl *l, const struct fv_watch *watch, double interval_s)
{
    bool any = false;

    fv_jsonl_key_real(l, ",\"interval_s\":", interval_s);
    fv_jsonl_text(l, ",\"sensors\":[");
    for (size_t i = 0; i < watch->sensor_count; i++) {
        const struct fv_watched_sensor *one = &watch->sensors[i];

        if (!one->is_used)
            continue;
        fv_jsonl_key_string(l, any ? ",{\"name\":" : "{\"name\":", one->sensor.kind->name);
        fv_jsonl_text(l, ",\"every\":");
        fv_jsonl_whole(l, one->every);
        fv_jsonl_key_real(l, ",\"cost_s\":", one->sensor.cost_s);
        fv_jsonl_text(l, "}");
        any = true;
    }
    fv_jsonl_text(l, "]");
}

void fv_jsonl_machine(struct fv_jsonl *l)
{
    struct utsname name;
    uint8_t boot[16];
    char text[sizeof(name.sysname) + sizeof(name.release)];

    uname(&name);
    fv_jsonl_key_string(l, ",\"host\":", name.nodename);
    snprintf(text, sizeof(text), "%s %s", name.sysname, name.release);
    fv_jsonl_key_string(l, ",\"kernel\":", text);
    fv_boot_id(boot);
    for (size_t i = 0; i < sizeof(boot); i++)
        snprintf(text + 2 * i, 3, "%02x", boot[i]);
    fv_jsonl_key_string(l, ",\"boot_id\":", text);
}

void fv_jsonl_sample(struct fv_jsonl *l, const struct fv_watch *watch, int64_t since_ns, int64_t late_ns,
                     int64_t cost_ns)
{
    fv_jsonl_text(l, "{");
    fv_jsonl_time(l, since_ns);
    fv_jsonl_text(l, ",\"late_s\":");
    put_seconds(l, late_ns);
    fv_jsonl_text(l, ",\"cost_s\":");
    put_seconds(l, cost_ns);
    fv_jsonl_text(l, ",\"values\":[");
    for (size_t i = 0; i < watch->count; i++) {
        if (i)
            fv_jsonl_put(l, ",", 1);
        fv_jsonl_real(l, fv_watch_rate(watch, i));
    }
    fv_jsonl_text(l, "]");
}

void fv_jsonl_release(struct fv_jsonl *l)
{
    free(l->text);
    *l = (struct fv_jsonl){ 0 };
}
