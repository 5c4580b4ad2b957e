/* SPDX-License-Identifier: BSD-3-Clause */
/* See watch.h. */
#include "sensors/watch.h"
#include "base/near.h"
#include "sensors/forms.h"
#include "sensors/memory.h"

#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* ---- which ---- */

/* A table with room for one more; what it was stays in the arena. NULL: no memory. */
static void *grown(struct fv_watch *w, void *table, size_t count, size_t *room, size_t each)
{
    if (count < *room)
        return table;
    size_t more = *room ? 2 * *room : 16;
    void *out = fv_sensor_take_of(&w->arena, more * each);

    if (!out)
        return NULL;
    if (count)
        memcpy(out, table, count * each);
    *room = more;
    return out;
}

static size_t sensor_of(const struct fv_watch *w, const struct fv_sensor_kind *kind)
{
    size_t i = 0;

    while (i < w->sensor_count && w->sensors[i].sensor.kind != kind)
        i++;
    return i;
}

bool fv_watch_has(const struct fv_watch *w, const struct fv_sensor_kind *kind)
{
    return sensor_of(w, kind) < w->sensor_count;
}

static void open_sensors(struct fv_watch *w, const char *pattern)
{
    for (const struct fv_sensor_kind *k = fv_sensor_kinds; k->name; k++) {
        struct fv_watched_sensor one = { .every = 1 }, *sensors;

        if (fnmatch(pattern, k->name, 0) || fv_watch_has(w, k) || !fv_sensor_open(&one.sensor, k))
            continue;
        if (!(sensors = grown(w, w->sensors, w->sensor_count, &w->sensor_room, sizeof(*sensors)))) {
            fv_sensor_close(&one.sensor);
            return;
        }
        w->sensors = sensors;
        w->sensors[w->sensor_count++] = one;
    }
}

void fv_watch_open_all(struct fv_watch *w)
{
    open_sensors(w, "*");
}

/* Memory is taken here, not while samples are. */
static bool use(struct fv_watch *w, struct fv_watched_sensor *s)
{
    size_t bytes = s->sensor.source_count * s->sensor.event_count * sizeof(uint64_t);

    if (!s->before)
        s->before = fv_sensor_take_of(&w->arena, bytes);
    if (!s->now)
        s->now = fv_sensor_take_of(&w->arena, bytes);
    return s->is_used = s->before && s->now;
}

static void add_series(struct fv_watch *w, size_t sensor, size_t event, size_t source)
{
    const struct fv_sensor *of = &w->sensors[sensor].sensor;
    const char *name = of->events[event].name, *at = source == FV_WATCH_ALL ? "" : of->sources[source];
    size_t bytes = strlen(of->kind->name) + strlen(name) + strlen(at) + 3;
    struct fv_watched_series *series;
    char *label;

    if (w->count == FV_WATCH_MOST || !use(w, &w->sensors[sensor])) {
        w->left_out++;
        return;
    }
    if (!(series = grown(w, w->series, w->count, &w->room, sizeof(*series))) ||
        !(label = fv_sensor_take_of(&w->arena, bytes))) {
        w->left_out++;
        return;
    }
    snprintf(label, bytes, "%s.%s%s%s", of->kind->name, name, *at ? "@" : "", at);
    w->series = series;
    w->series[w->count++] = (struct fv_watched_series){ sensor, event, source, label };
}

/* A pattern's parts: SENSOR[.NAME][@SOURCE]. */
struct word {
    char sensor[64], event[128], source[128];
};

static bool take_part(char *out, size_t room, const char *text, size_t length)
{
    if (length >= room)
        return false;
    memcpy(out, text, length);
    out[length] = '\0';
    return true;
}

static bool take_word(const char *text, size_t length, struct word *out)
{
    const char *at = memchr(text, '@', length);
    size_t front = at ? (size_t)(at - text) : length;
    const char *dot = memchr(text, '.', front);
    size_t sensor = dot ? (size_t)(dot - text) : front;

    return take_part(out->sensor, sizeof(out->sensor), text, sensor) &&
           take_part(out->event, sizeof(out->event), dot && front > sensor + 1 ? dot + 1 : "*",
                     dot && front > sensor + 1 ? front - sensor - 1 : 1) &&
           take_part(out->source, sizeof(out->source), at ? at + 1 : "", at ? length - front - 1 : 0);
}

/* Of one event. How many. */
static size_t add_event(struct fv_watch *w, size_t sensor, size_t event, const char *source, bool is_per_source)
{
    const struct fv_sensor *of = &w->sensors[sensor].sensor;
    size_t found = 0;

    if (!*source && !is_per_source) {
        add_series(w, sensor, event, FV_WATCH_ALL);
        return 1;
    }
    for (size_t i = 0; i < of->source_count; i++)
        if (!*source || !fnmatch(source, of->sources[i], 0)) {
            add_series(w, sensor, event, i);
            found++;
        }
    return found;
}

static enum fv_watch_answer why_nothing(const struct fv_watch *w, const struct word *word)
{
    const struct fv_sensor_kind *kind = fv_sensor_kind_of(word->sensor, strlen(word->sensor));
    size_t i = kind ? sensor_of(w, kind) : w->sensor_count;

    if (!kind)
        return FV_WATCH_NO_SENSOR;
    if (i == w->sensor_count)
        return FV_WATCH_NOT_HERE;
    const struct fv_sensor *sensor = &w->sensors[i].sensor;
    for (size_t e = 0; e < sensor->event_count; e++)
        if (!fnmatch(word->event, sensor->events[e].name, 0))
            return FV_WATCH_NO_SOURCE;
    return FV_WATCH_NO_EVENT;
}

enum fv_watch_answer fv_watch_add(struct fv_watch *w, const char *pattern, size_t length, bool is_per_source)
{
    size_t found = 0;
    struct word word;

    if (!take_word(pattern, length, &word))
        return FV_WATCH_TOO_LONG;
    open_sensors(w, word.sensor);
    for (const struct fv_sensor_kind *k = fv_sensor_kinds; k->name; k++) {
        size_t i = fnmatch(word.sensor, k->name, 0) ? w->sensor_count : sensor_of(w, k);

        for (size_t e = 0; i < w->sensor_count && e < w->sensors[i].sensor.event_count; e++)
            if (!fnmatch(word.event, w->sensors[i].sensor.events[e].name, 0))
                found += add_event(w, i, e, word.source, is_per_source);
    }
    return found ? FV_WATCH_FOUND : why_nothing(w, &word);
}

bool fv_watch_load_libraries(const char *pattern, size_t length)
{
    struct word word;
    bool any = false;

    if (!take_word(pattern, length, &word))
        return false;
    for (const struct fv_sensor_kind *k = fv_sensor_kinds; k->name; k++)
        any |= k->form->library && !fnmatch(word.sensor, k->name, 0) && fv_gpu_load(k);
    return any;
}

void fv_watch_add_usual(struct fv_watch *w, bool is_per_source)
{
    static const char *const usual[] = { "cpu.user",
                                         "cpu.system",
                                         "cpu.iowait",
                                         "cpu.steal",
                                         "pressure.some@cpu",
                                         "vmstat.pgfault",
                                         "vmstat.pgmajfault",
                                         "net.rx_bytes",
                                         "net.tx_bytes",
                                         "energy.energy_uj",
                                         "frequency.scaling_cur_freq" };

    for (size_t i = 0; i < sizeof(usual) / sizeof(usual[0]); i++)
        fv_watch_add(w, usual[i], strlen(usual[i]), is_per_source);
}

/* ---- what was wrong ---- */

static void say_sources(const struct fv_sensor *sensor, char *out, size_t room)
{
    size_t used = (size_t)snprintf(out, room, "%s has no such source", sensor->kind->name), i = 0;

    for (; i < sensor->source_count && *sensor->sources[i] && used + strlen(sensor->sources[i]) + 24 < room; i++)
        used += (size_t)snprintf(out + used, room - used, "%s%s", i ? ", " : "; it has ", sensor->sources[i]);
    if (!i || i < sensor->source_count)
        snprintf(out + used, room - used, "%s", i ? ", ..." : ", it has only one");
}

static void say_meant(const char *what, struct fv_near *near, char *out, size_t room)
{
    const char *meant = fv_near_item(near, 0);

    snprintf(out, room, "%s%s%s; fvmpi stat --list lists them", what, meant ? ", did you mean " : "",
             meant ? meant : "");
}

static void say_events(const struct fv_sensor *sensor, const struct word *word, char *out, size_t room)
{
    struct fv_near near = { word->event, strlen(word->event), NULL, 0 };
    char what[96];

    for (size_t e = 0; e < sensor->event_count; e++)
        fv_near_try(&near, sensor->events[e].name, sensor->events[e].name);
    snprintf(what, sizeof(what), "%s has no such event", sensor->kind->name);
    say_meant(what, &near, out, room);
}

static void say_sensors(const struct word *word, char *out, size_t room)
{
    struct fv_near near = { word->sensor, strlen(word->sensor), NULL, 0 };

    for (const struct fv_sensor_kind *k = fv_sensor_kinds; k->name; k++)
        fv_near_try(&near, k->name, k->name);
    say_meant("no such sensor", &near, out, room);
}

/* Devices of perf events are seen by all, and opened by few. */
static void say_not_here(const struct fv_sensor_kind *kind, char *out, size_t room)
{
    const char *why = fv_sensor_library_why(kind);
    char path[256];

    snprintf(path, sizeof(path), "%s/%s", fv_sensors_root(), kind->path);
    if (why)
        snprintf(out, room, "%s", why);
    else if (!access(path, F_OK))
        snprintf(out, room,
                 "not permitted here: %s exists, but this user may not read its events (kernel.perf_event_paranoid "
                 "above 0, or a container)",
                 path);
    else
        snprintf(out, room, "not on this machine: there is no %s", path);
}

void fv_watch_why(const struct fv_watch *w, const char *pattern, size_t length, enum fv_watch_answer answer, char *out,
                  size_t room)
{
    const struct fv_sensor_kind *kind;
    struct word word;

    *out = '\0';
    if (!take_word(pattern, length, &word)) {
        snprintf(out, room, "is longer than any event's name");
        return;
    }
    kind = fv_sensor_kind_of(word.sensor, strlen(word.sensor));
    switch (answer) {
    case FV_WATCH_NO_SENSOR: say_sensors(&word, out, room); break;
    case FV_WATCH_NOT_HERE: say_not_here(kind, out, room); break;
    case FV_WATCH_NO_EVENT: say_events(&w->sensors[sensor_of(w, kind)].sensor, &word, out, room); break;
    case FV_WATCH_NO_SOURCE: say_sources(&w->sensors[sensor_of(w, kind)].sensor, out, room); break;
    default: break;
    }
}

void fv_watch_close(struct fv_watch *w)
{
    for (size_t i = 0; i < w->sensor_count; i++)
        fv_sensor_close(&w->sensors[i].sensor);
    fv_sensor_give_back(w->arena);
    *w = (struct fv_watch){ 0 };
}

/* ---- how often ---- */

enum { EVERY_MOST = 1 << 20 };

double fv_watch_cost(const struct fv_watch *w)
{
    double cost = 0;

    for (size_t i = 0; i < w->sensor_count; i++)
        cost += w->sensors[i].is_used ? w->sensors[i].sensor.cost_s : 0;
    return cost;
}

/* Each may take as much of the time as any other. */
void fv_watch_pace(struct fv_watch *w, double interval_s, double share)
{
    size_t used = 0;

    for (size_t i = 0; i < w->sensor_count; i++)
        used += w->sensors[i].is_used;
    for (size_t i = 0; i < w->sensor_count; i++) {
        struct fv_watched_sensor *s = &w->sensors[i];
        double by_rate = 1 / (s->sensor.kind->max_hz * interval_s),
               by_cost = s->sensor.cost_s * (double)used / (share * interval_s);
        double every = by_rate > by_cost ? by_rate : by_cost;

        for (s->every = 1; s->every < every * (1 - 1e-6) && s->every < EVERY_MOST; s->every *= 2)
            ;
    }
}

/* ---- sampling ---- */

void fv_watch_restart(struct fv_watch *w)
{
    for (size_t i = 0; i < w->sensor_count; i++)
        w->sensors[i].reads = 0;
    w->samples = 0;
}

static bool sample(struct fv_watch *w, double at_s, bool is_all)
{
    bool any = false;

    for (size_t i = 0; i < w->sensor_count; i++) {
        struct fv_watched_sensor *s = &w->sensors[i];
        uint64_t *was = s->before;

        s->is_fresh = s->is_used && (is_all || w->samples % s->every == 0);
        if (!s->is_fresh)
            continue;
        s->before = s->now;
        s->before_s = s->now_s;
        s->now = was;
        s->now_s = at_s;
        fv_sensor_read(&s->sensor, s->now);
        s->reads++;
        any = true;
    }
    w->samples++;
    return any;
}

bool fv_watch_sample(struct fv_watch *w, double at_s)
{
    return sample(w, at_s, false);
}

bool fv_watch_sample_all(struct fv_watch *w, double at_s)
{
    return sample(w, at_s, true);
}

static double change_of(const struct fv_watched_sensor *s, size_t event, size_t source)
{
    size_t at = source * s->sensor.event_count + event;

    return fv_sensor_change(&s->sensor, source, event, s->reads > 1 ? s->before[at] : FV_SENSOR_NONE, s->now[at]);
}

double fv_watch_change(const struct fv_watch *w, size_t series)
{
    const struct fv_watched_series *one = &w->series[series];
    const struct fv_watched_sensor *s = &w->sensors[one->sensor];
    double sum = 0;
    size_t known = 0;

    if (!s->is_fresh)
        return NAN;
    if (one->source != FV_WATCH_ALL)
        return change_of(s, one->event, one->source);
    for (size_t i = 0; i < s->sensor.source_count; i++) {
        double change = change_of(s, one->event, i);

        known += isfinite(change);
        sum += isfinite(change) ? change : 0;
    }
    return !known ? NAN : fv_watch_event(w, series)->is_mean ? sum / (double)known : sum;
}

double fv_watch_rate(const struct fv_watch *w, size_t series)
{
    const struct fv_watched_sensor *s = &w->sensors[w->series[series].sensor];
    double change = fv_watch_change(w, series);

    return fv_watch_event(w, series)->is_gauge ? change : change / (s->now_s - s->before_s);
}

double fv_watch_maximum(const struct fv_watch *w, size_t series)
{
    const struct fv_watched_series *one = &w->series[series];
    const struct fv_sensor *sensor = fv_watch_sensor(w, series);
    double sum = 0;

    if (one->source != FV_WATCH_ALL)
        return fv_sensor_maximum(sensor, one->source, one->event);
    for (size_t i = 0; i < sensor->source_count; i++)
        sum += fv_sensor_maximum(sensor, i, one->event);
    return fv_watch_event(w, series)->is_mean ? sum / (double)sensor->source_count : sum;
}

void fv_watch_keep(struct fv_watch *w, size_t count)
{
    w->count = count;
    for (size_t i = 0; i < w->sensor_count; i++)
        w->sensors[i].is_used = false;
    for (size_t i = 0; i < count; i++)
        w->sensors[w->series[i].sensor].is_used = true;
}
