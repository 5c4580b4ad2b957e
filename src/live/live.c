/* SPDX-License-Identifier: BSD-3-Clause */
/* See live.h. */
#include "live/live.h"
#include "base/base.h"
#include "sensors/control.h"
#include "tool/vec.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

enum { NS_A_S = 1000000000 };

static int64_t now_of(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * NS_A_S + t.tv_nsec;
}

int64_t fv_live_now_ns(void)
{
    return now_of(CLOCK_MONOTONIC);
}

double fv_live_cpu_s(const struct fv_live *live)
{
    return 1e-9 * (double)now_of(CLOCK_PROCESS_CPUTIME_ID) - live->cpu_before_s;
}

/* ---- lines ---- */

static void begin_line(struct fv_live *live)
{
    live->line.used = 0;
}

static bool end_line(struct fv_live *live, size_t values)
{
    fv_jsonl_text(&live->line, "}");
    return fv_ring_add(&live->ring, live->line.text, live->line.used, (uint32_t)values, 0);
}

static void put_present(struct fv_live *live)
{
    fv_jsonl_time(&live->line, fv_live_now_ns() - live->start_ns);
}

bool fv_live_tell(struct fv_live *live, const struct fv_jsonl *members)
{
    bool is_told;

    pthread_mutex_lock(&live->lock);
    begin_line(live);
    fv_jsonl_text(&live->line, "{");
    put_present(live);
    fv_jsonl_text(&live->line, ",");
    fv_jsonl_put(&live->line, members->text, members->used);
    is_told = end_line(live, 0);
    pthread_mutex_unlock(&live->lock);
    return is_told;
}

/* Of ours, in a file with those of others behind them; on a stream those keep their numbers. */
static void put_series(struct fv_live *live, bool is_file, struct fv_jsonl *out)
{
    fv_jsonl_series(out, &live->watch);
    if (!is_file)
        fv_jsonl_text(out, ",\"others\":[");
    else if (live->other_count)
        out->used--; /* its bracket */
    for (size_t i = 0; i < live->other_count; i++) {
        const struct fv_live_block *b = &live->others[i];

        if (is_file) {
            fv_jsonl_text(out, i || live->watch.count ? "," : "");
            fv_jsonl_put(out, b->series.text + 1, b->series.used - 2);
            continue;
        }
        fv_jsonl_text(out, i ? ",{\"first\":" : "{\"first\":");
        fv_jsonl_whole(out, b->first);
        fv_jsonl_text(out, ",\"added\":");
        fv_jsonl_put(out, b->series.text, b->series.used);
        fv_jsonl_text(out, "}");
    }
    if (!is_file || live->other_count)
        fv_jsonl_text(out, "]");
}

void fv_live_header(struct fv_live *live, bool is_file, struct fv_jsonl *out)
{
    fv_jsonl_text(out, "{\"schema\":\"" FV_RECORDING_SCHEMA "\",\"file\":1");
    fv_jsonl_machine(out);
    fv_jsonl_text(out, ",\"start_realtime_ns\":");
    fv_jsonl_whole(out, (uint64_t)live->start_realtime_ns);
    fv_jsonl_text(out, ",\"start_monotonic_ns\":");
    fv_jsonl_whole(out, (uint64_t)live->start_ns);
    fv_jsonl_text(out, ",\"command\":null");
    if (live->job)
        fv_jsonl_key_string(out, ",\"job\":", live->job);
    fv_jsonl_sensors(out, &live->watch, live->interval_s);
    put_series(live, is_file, out);
    fv_jsonl_text(out, "}");
}

void fv_live_status(struct fv_live *live, size_t clients, struct fv_jsonl *out)
{
    fv_jsonl_key_real(out, "{\"seconds\":", 1e-9 * (double)(fv_live_now_ns() - live->start_ns));
    fv_jsonl_key_real(out, ",\"cpu_s\":", fv_live_cpu_s(live));
    fv_jsonl_key_real(out, ",\"clients\":", (double)clients);
    fv_jsonl_key_real(out, ",\"samples\":", (double)live->samples);
    fv_jsonl_key_real(out, ",\"late\":", (double)live->late);
    fv_jsonl_key_real(out, ",\"missed\":", (double)live->missed);
    fv_jsonl_text(out, "}");
}

/* ---- other nodes ---- */

static void put_added(struct fv_live *live, uint32_t first, const struct fv_jsonl *series)
{
    begin_line(live);
    fv_jsonl_text(&live->line, "{");
    put_present(live);
    fv_jsonl_text(&live->line, ",\"first\":");
    fv_jsonl_whole(&live->line, first);
    fv_jsonl_text(&live->line, ",\"added\":");
    fv_jsonl_put(&live->line, series->text, series->used);
    end_line(live, FV_LIVE_ADDED);
}

static uint32_t add_block(struct fv_live *live, const struct fv_jsonl *series, size_t count)
{
    uint32_t first = live->others_first;

    for (size_t i = 0; i < live->other_count; i++) {
        const struct fv_live_block *b = &live->others[i];

        if (b->series.used == series->used && !memcmp(b->series.text, series->text, series->used))
            return b->first;
        first = b->first + (uint32_t)b->count;
    }
    if (first - live->others_first + count > FV_LIVE_OTHERS || series->used > FV_RING_LINE / 2)
        return 0;
    FV_GROW(live->others, live->other_room, live->other_count + 1);
    struct fv_live_block *new = &live->others[live->other_count++];
    *new = (struct fv_live_block){ .first = first, .count = count };
    fv_jsonl_put(&new->series, series->text, series->used);
    put_added(live, first, series);
    return first;
}

uint32_t fv_live_add_series(struct fv_live *live, const struct fv_jsonl *series, size_t count)
{
    uint32_t first;

    pthread_mutex_lock(&live->lock);
    first = add_block(live, series, count);
    pthread_mutex_unlock(&live->lock);
    return first;
}

void fv_live_add_sample(struct fv_live *live, int64_t since_ns, uint32_t first, const struct fv_jsonl *values,
                        size_t count)
{
    pthread_mutex_lock(&live->lock);
    begin_line(live);
    fv_jsonl_text(&live->line, "{");
    fv_jsonl_time(&live->line, since_ns);
    fv_jsonl_text(&live->line, ",\"first\":");
    fv_jsonl_whole(&live->line, first);
    fv_jsonl_text(&live->line, ",\"values\":");
    fv_jsonl_put(&live->line, values->text, values->used);
    fv_jsonl_text(&live->line, "}");
    fv_ring_add(&live->ring, live->line.text, live->line.used, (uint32_t)count, first);
    pthread_mutex_unlock(&live->lock);
}

/* ---- what there is ---- */

static void put_events(struct fv_jsonl *out, const struct fv_sensor *sensor)
{
    fv_jsonl_key_string(out, "{\"name\":", sensor->kind->name);
    fv_jsonl_key_string(out, ",\"about\":", sensor->kind->about);
    fv_jsonl_text(out, ",\"sources\":[");
    for (size_t i = 0; i < sensor->source_count; i++)
        fv_jsonl_key_string(out, i ? "," : "", sensor->sources[i]);
    fv_jsonl_text(out, "],\"events\":[");
    for (size_t i = 0; i < sensor->event_count; i++) {
        fv_jsonl_key_string(out, i ? ",{\"name\":" : "{\"name\":", sensor->events[i].name);
        fv_jsonl_key_string(out, ",\"unit\":", sensor->events[i].unit);
        fv_jsonl_key_string(out, ",\"about\":", fv_sensor_event_about(sensor, i));
        fv_jsonl_text(out, sensor->events[i].is_gauge ? ",\"kind\":\"gauge\"}" : ",\"kind\":\"counter\"}");
    }
    fv_jsonl_text(out, "]}");
}

/* Opened for this alone: a large machine has thousands of files. */
static void list_events(struct fv_live *live)
{
    struct fv_watch all = { 0 };

    fv_watch_open_all(&all);
    fv_jsonl_text(&live->events, "[");
    for (size_t i = 0; i < all.sensor_count; i++) {
        fv_jsonl_text(&live->events, i ? "," : "");
        put_events(&live->events, &all.sensors[i].sensor);
    }
    fv_jsonl_text(&live->events, "]");
    fv_watch_close(&all);
}

/* ---- samples ---- */

static void pace(struct fv_live *live)
{
    live->interval_ns = (int64_t)(live->interval_s * NS_A_S + 0.5);
    fv_watch_pace(&live->watch, live->interval_s, live->budget);
}

static double since_s(const struct fv_live *live, int64_t at_ns)
{
    return 1e-9 * (double)(at_ns - live->start_ns);
}

static void sample(struct fv_live *live, int64_t now)
{
    int64_t late = now - live->next_ns;

    if (!fv_watch_sample(&live->watch, since_s(live, now)))
        return;
    begin_line(live);
    fv_jsonl_sample(&live->line, &live->watch, now - live->start_ns, late, fv_live_now_ns() - now);
    end_line(live, live->watch.count);
    live->samples++;
    live->late += late > live->interval_ns / 2;
}

/* What is missed is not made up for. */
int64_t fv_live_sample(struct fv_live *live)
{
    int64_t now = fv_live_now_ns(), next;

    pthread_mutex_lock(&live->lock);
    if (now >= live->next_ns) {
        sample(live, now);
        live->next_ns += live->interval_ns;
        if ((now = fv_live_now_ns()) > live->next_ns) {
            int64_t missed = (now - live->next_ns) / live->interval_ns + 1;

            live->next_ns += missed * live->interval_ns;
            live->missed += (size_t)missed;
        }
    }
    next = live->next_ns;
    pthread_mutex_unlock(&live->lock);
    return next;
}

void fv_live_wait(struct fv_live *live, int64_t until_ns, const sigset_t *mask)
{
    struct pollfd poll = { live->wake, POLLIN, 0 };
    int64_t now = fv_live_now_ns(), ns = until_ns > now ? until_ns - now : 0;
    uint64_t count;

    if (ppoll(&poll, 1, &(struct timespec){ ns / NS_A_S, ns % NS_A_S }, mask) > 0 &&
        read(live->wake, &count, sizeof(count)) < 0)
        return; /* somebody else has taken it */
}

/* ---- commands ---- */

static bool is_label(const struct fv_watch *watch, size_t count, const char *label)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(watch->series[i].label, label))
            return true;
    return false;
}

/* Each once: of those behind the first `kept`, what is there already goes. */
static void keep_once(struct fv_watch *watch, size_t kept)
{
    size_t all = watch->count;

    for (size_t i = kept; i < all; i++)
        if (!is_label(watch, kept, watch->series[i].label))
            watch->series[kept++] = watch->series[i];
    watch->count = kept;
}

static bool refuse(char *why, size_t room, const char *text)
{
    snprintf(why, room, "%s", text);
    return false;
}

static bool watch_more(struct fv_live *live, const char *pattern, char *why, size_t room)
{
    struct fv_watch *watch = &live->watch;
    size_t before = watch->count, left_out = watch->left_out, length = strlen(pattern);

    if (is_label(watch, before, pattern))
        return true;
    if (live->choices++ >= FV_LIVE_CHOICES)
        return refuse(why, room, "events were chosen too often; start fvmpi live again");
    enum fv_watch_answer answer = fv_watch_add(watch, pattern, length, false);
    if (answer != FV_WATCH_FOUND) {
        fv_watch_why(watch, pattern, length, answer, why, room);
        return false;
    }
    keep_once(watch, before);
    if ((watch->count > FV_LIVE_SERIES && watch->count > before) || watch->left_out > left_out) {
        fv_watch_keep(watch, before);
        pace(live);
        return refuse(why, room, "too many: at most 1024 lines can be chosen");
    }
    pace(live);
    if (watch->count > before) {
        begin_line(live);
        fv_jsonl_text(&live->line, "{");
        put_present(live);
        fv_jsonl_text(&live->line, ",\"first\":");
        fv_jsonl_whole(&live->line, before);
        fv_jsonl_text(&live->line, ",\"added\":");
        fv_jsonl_series_list(&live->line, watch, before);
        end_line(live, FV_LIVE_ADDED);
    }
    return true;
}

static bool set_interval(struct fv_live *live, double interval_s, char *why, size_t room)
{
    if (!(interval_s >= FV_LIVE_LEAST_S && interval_s <= FV_LIVE_MOST_S))
        return refuse(why, room, "interval takes " FV_LIVE_INTERVAL);
    live->interval_s = interval_s;
    pace(live);
    live->next_ns = fv_live_now_ns() + live->interval_ns;
    begin_line(live);
    fv_jsonl_text(&live->line, "{");
    put_present(live);
    fv_jsonl_sensors(&live->line, &live->watch, interval_s);
    end_line(live, 0);
    if (eventfd_write(live->wake, 1))
        return true; /* full: it is awake */
    return true;
}

static void set_label(struct fv_live *live, const char *text)
{
    begin_line(live);
    fv_jsonl_key_string(&live->line, "{\"label\":", text);
    fv_jsonl_text(&live->line, ",");
    put_present(live);
    end_line(live, 0);
}

void fv_live_label(struct fv_live *live, const char *text)
{
    pthread_mutex_lock(&live->lock);
    set_label(live, text);
    pthread_mutex_unlock(&live->lock);
}

bool fv_live_obey(struct fv_live *live, char *text, char *why, size_t room)
{
    static const char watch[] = "watch ";
    struct fv_control_command command;
    bool done;

    pthread_mutex_lock(&live->lock);
    if (!strncmp(text, watch, strlen(watch))) {
        done = watch_more(live, text + strlen(watch), why, room);
    } else {
        fv_control_parse(text, &command);
        done = command.verb == FV_CONTROL_LABEL || command.verb == FV_CONTROL_INTERVAL;
        if (command.verb == FV_CONTROL_LABEL)
            set_label(live, command.text);
        else if (command.verb == FV_CONTROL_INTERVAL)
            done = set_interval(live, command.interval_s, why, room);
        else
            refuse(why, room, "not a command; the commands are label TEXT, interval S, watch EVENT");
    }
    pthread_mutex_unlock(&live->lock);
    return done;
}

/* ---- begin and end ---- */

bool fv_live_open(struct fv_live *live)
{
    live->cpu_before_s = 0;
    live->cpu_before_s = fv_live_cpu_s(live);
    pthread_mutex_init(&live->lock, NULL);
    if ((live->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) < 0) {
        fv_log("live: eventfd: %s", strerror(errno));
        return false;
    }
    keep_once(&live->watch, 0);
    live->others_first = (uint32_t)(live->watch.count > FV_LIVE_SERIES ? live->watch.count : FV_LIVE_SERIES);
    fv_ring_init(&live->ring);
    list_events(live);
    pace(live);
    live->start_ns = fv_live_now_ns();
    live->start_realtime_ns = now_of(CLOCK_REALTIME);
    fv_watch_sample(&live->watch, 0); /* rates need a time before: this one tells nothing */
    live->next_ns = live->start_ns + live->interval_ns;
    return true;
}

void fv_live_close(struct fv_live *live)
{
    if (live->wake >= 0)
        close(live->wake);
    live->wake = -1;
    fv_ring_release(&live->ring);
    fv_jsonl_release(&live->line);
    fv_jsonl_release(&live->events);
    for (size_t i = 0; i < live->other_count; i++)
        fv_jsonl_release(&live->others[i].series);
    free(live->others);
}
