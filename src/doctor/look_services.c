/* SPDX-License-Identifier: BSD-3-Clause */
/* Services of the system: processes whose control group systemd named NAME.service. What each has used of the
 * processors since it began tells how much it disturbs; of some it is known what they do from time to time. */
#include "base/process.h"
#include "doctor/files.h"
#include "doctor/looks.h"
#include "tool/words.h"

#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#define MOST_SHARE 1e-3 /* of a processor: 1 ms a second */
enum { SERVICES = 1024, PROCESSES = 65536 };

/* Names of services, with stars, and what they do meanwhile. */
static const char *const known[][2] = {
    { "irqbalance", "moves interrupts every 10 s" },
    { "cron*", "starts jobs at full minutes" },
    { "atd", "starts jobs at full minutes" },
    { "*apt-daily*", "downloads and installs packages" },
    { "unattended-upgrades", "installs packages" },
    { "packagekit", "looks for packages" },
    { "dnf-makecache", "looks for packages" },
    { "snapd", "looks for packages and installs them" },
    { "fwupd*", "looks for firmware" },
    { "*locate-updatedb", "reads all directories" },
    { "man-db", "reads all man pages" },
    { "fstrim", "tells disks which blocks are free" },
    { "smart*", "asks disks for their state" },
    { "logrotate", "compresses logs" },
    { "sysstat*", "reads counters of the system" },
    { "pmcd", "reads counters of the system" },
    { "pmlogger", "reads counters of the system" },
    { "collectd", "reads counters of the system" },
    { "telegraf", "reads counters of the system" },
    { "netdata", "reads counters of the system every second" },
    { "*node*exporter*", "reads counters of the system when it is asked" },
    { "zabbix-agent*", "reads counters of the system" },
    { "nvidia-dcgm*", "reads counters of GPUs" },
    { "puppet*", "compares the configuration" },
    { "chef-client", "compares the configuration" },
    { "salt-minion", "compares the configuration" },
    { "tuned", "changes settings of the kernel" },
    { "power-profiles-daemon", "changes clocks" },
    { "thermald", "changes clocks" },
    { "auditd", "writes a record of system calls" },
    { "ModemManager", "looks for modems" },
    { "avahi-daemon", "answers broadcasts" },
    { "bluetooth", "answers radio packets" },
    { "cups*", "looks for printers" },
};

static const char *task_of(const char *service)
{
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
        if (!fnmatch(known[i][0], service, 0))
            return known[i][1];
    return NULL;
}

/* ---- which ---- */

static struct fv_doctor_service *add(struct fv_doctor *d, const char *name)
{
    for (size_t i = 0; i < d->service_count; i++)
        if (!strcmp(d->services[i].name, name))
            return &d->services[i];
    if (d->service_count == SERVICES)
        return NULL;
    FV_GROW(d->services, d->service_room, d->service_count + 1);
    d->services[d->service_count] = (struct fv_doctor_service){ .name = name, .task = task_of(name), .since_s = NAN };
    return &d->services[d->service_count++];
}

/* Its CPU time with that of children that ended, and when it began after the boot: fields 14 to 17 and 22. */
static void add_times(struct fv_doctor *d, struct fv_doctor_service *s, const char *folder)
{
    const char *stat = fv_doctor_text(d, FV_DOCTOR_TEXT, fv_arena_printf(&d->arena, "%sstat", folder));
    const char *at = stat ? strrchr(stat, ')') : NULL;
    unsigned long long user, system, began;
    long long children_user, children_system;
    double hz = (double)sysconf(_SC_CLK_TCK);

    if (!at || sscanf(at, ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu %lld %lld %*d %*d %*d %*d %llu",
                      &user, &system, &children_user, &children_system, &began) != 5)
        return;
    s->cpu_s += ((double)user + (double)system + (double)children_user + (double)children_system) / hz;
    s->since_s = fmin(s->since_s, (double)began / hz);
}

/* In the arena; "": it is of none. NULL: its control group is hidden. */
static const char *service_in(struct fv_doctor *d, const char *path)
{
    const char *text = fv_doctor_text(d, FV_DOCTOR_TEXT, path), *name = "";
    size_t bytes = text ? fv_service_name(text, &name) : 0;

    return text ? fv_arena_bytes(&d->arena, name, bytes) : NULL;
}

/* Of the service that this process is of we are a part. False: its control group is hidden. */
static bool look_at(struct fv_doctor *d, const char *path, const char *own)
{
    const char *name = service_in(d, path);
    struct fv_doctor_service *s = name && *name && strcmp(name, own) ? add(d, name) : NULL;

    if (s) {
        s->processes++;
        add_times(d, s, fv_arena_bytes(&d->arena, path, strlen(path) - strlen("cgroup")));
    }
    return name;
}

/* ---- what is said ---- */

static int by_share(const void *left, const void *right)
{
    const struct fv_doctor_service *a = left, *b = right;

    if (a->cpu_s != b->cpu_s)
        return a->cpu_s < b->cpu_s ? 1 : -1;
    return strcmp(a->name, b->name);
}

static bool disturbs(const struct fv_doctor_service *s)
{
    return s->task || s->share >= MOST_SHARE;
}

static size_t judge(struct fv_doctor *d, struct fv_string *fix)
{
    double uptime = NAN;
    const char *text = fv_doctor_value(d, "proc/uptime");
    size_t count = 0;

    if (text && sscanf(text, "%lf", &uptime) != 1)
        uptime = NAN;
    if (d->service_count)
        qsort(d->services, d->service_count, sizeof(*d->services), by_share);
    for (size_t i = 0; i < d->service_count; i++) {
        struct fv_doctor_service *s = &d->services[i];
        char name[200];

        s->share = uptime > s->since_s ? s->cpu_s / (uptime - s->since_s) : NAN;
        if (!disturbs(s))
            continue;
        count++;
        fv_string_add(fix, "%s%s", fix->used ? " " : "sudo systemctl stop ",
                      fv_words_clean(s->name, name, sizeof(name)));
    }
    return count;
}

void fv_doctor_look_services(struct fv_doctor *d, struct fv_doctor_result *r)
{
    struct fv_string fix = { 0 };
    const char *own = service_in(d, "proc/self/cgroup");
    size_t seen = 0, count;
    double share = 0;

    d->service_count = 0;
    for (const char *const *path = fv_doctor_glob(d, "proc/[0-9]*/cgroup"); *path && seen < PROCESSES; path++)
        seen += look_at(d, *path, own ? own : "");
    count = judge(d, &fix);
    for (size_t i = 0; i < d->service_count; i++)
        share += isnan(d->services[i].share) ? 0 : d->services[i].share;
    if (!seen)
        fv_doctor_say(d, r, FV_DOCTOR_UNKNOWN, "no process shows its control group (/proc/*/cgroup)");
    else if (!d->service_count)
        fv_doctor_say(d, r, FV_DOCTOR_GOOD, "no process is a service");
    else
        fv_doctor_say(d, r, count ? FV_DOCTOR_BAD : FV_DOCTOR_GOOD,
                      "%zu of %zu service%s may disturb; all use %.2g %% of a processor", count, d->service_count,
                      fv_words_s(d->service_count), 100 * share);
    if (count)
        r->fix = fv_arena_string(&d->arena, fix.text);
    fv_string_release(&fix);
}
