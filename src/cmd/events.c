/* SPDX-License-Identifier: BSD-3-Clause */
/* See events.h. */
#include "cmd/events.h"
#include "base/base.h"
#include "base/near.h"
#include "base/older.h"
#include "base/perf_events.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#if FV_LIBPFM
#include <perfmon/pfmlib.h>
#include <perfmon/pfmlib_perf_event.h>

static bool pfm_is_ready(void)
{
    static int ready = -1;

    if (ready < 0)
        ready = pfm_initialize() == PFM_SUCCESS;
    return ready;
}

const char *fv_event_encode(struct fv_perf_event *event, bool user_only)
{
    struct perf_event_attr attr = { .size = sizeof(attr) };
    pfm_perf_encode_arg_t arg = { .attr = &attr, .size = sizeof(arg) };

    if (!pfm_is_ready())
        return "";
    int code =
        pfm_get_os_event_encoding(event->name, user_only ? PFM_PLM3 : PFM_PLM0 | PFM_PLM3, PFM_OS_PERF_EVENT_EXT, &arg);
    if (code == PFM_ERR_NOTFOUND)
        return "";
    if (code != PFM_SUCCESS)
        return pfm_strerror(code);
    event->type = attr.type;
    event->config = attr.config;
    event->config1 = attr.config1;
    event->config2 = attr.config2;
    event->flags = (attr.exclude_user ? FV_PERF_NO_USER : 0u) | (attr.exclude_kernel ? FV_PERF_NO_KERNEL : 0u) |
                   attr.precise_ip * (unsigned)FV_PERF_PRECISE;
    event->processor = attr.type <= PERF_TYPE_HW_CACHE ? 0 : fv_processor();
    return NULL;
}

/* Of a processor's own events, the one whose name is nearest to the word's; NULL: none is near. */
static const char *nearest(const char *word)
{
    struct fv_near near = { word, strcspn(word, ":"), NULL, 0 };

    for (size_t pmu = 0; pfm_is_ready() && pmu < PFM_PMU_MAX; pmu++) {
        pfm_pmu_info_t info = { .size = sizeof(info) };
        if (pfm_get_pmu_info((pfm_pmu_t)pmu, &info) || !info.is_present || pmu == PFM_PMU_PERF_EVENT)
            continue;
        for (int i = info.first_event; i != -1; i = pfm_get_event_next(i)) {
            pfm_event_info_t event = { .size = sizeof(event) };
            if (!pfm_get_event_info(i, PFM_OS_PERF_EVENT_EXT, &event))
                fv_near_try(&near, event.name, event.name);
        }
    }
    return fv_near_item(&near, 0);
}

const char *fv_event_pmu(bool (*is_known)(const char *name))
{
    for (size_t pmu = 0; pfm_is_ready() && pmu < PFM_PMU_MAX; pmu++) {
        pfm_pmu_info_t info = { .size = sizeof(info) };

        if (!pfm_get_pmu_info((pfm_pmu_t)pmu, &info) && info.is_present && is_known(info.name))
            return info.name;
    }
    return NULL;
}

#define WHERE "`perf list` shows the generic names, libpfm4's `showevtinfo` all of them"

#else

const char *fv_event_encode(struct fv_perf_event *event, bool user_only)
{
    (void)event, (void)user_only;
    return "";
}

static const char *nearest(const char *word)
{
    (void)word;
    return NULL;
}

const char *fv_event_pmu(bool (*is_known)(const char *name))
{
    (void)is_known;
    return NULL;
}

#define WHERE                                                                                                 \
    "this fvmpi was built without libpfm4 and knows only the kernel's generic names; build it with libpfm4, " \
    "or give the "                                                                                            \
    "processor's code as rHEX"

#endif

int fv_event_say_unknown(const char *option, const struct fv_perf_event *event, const char *why)
{
    const char *near = nearest(event->name);

    if (!near)
        near = fv_perf_event_near(event->name);
    if (*why)
        fv_log("%s: %s: %s", option, event->name, why);
    else if (near && strcasecmp(near, event->name))
        fv_log("%s: %s: no such event; did you mean %s?", option, event->name, near);
    else
        fv_log("%s: %s: no such event on this processor; " WHERE, option, event->name);
    return -FV_ENOENT;
}

/* One word of the list, as the library wants it. */
static int put_word(FILE *out, const char *word, size_t length)
{
    char text[FV_PERF_EVENT_TEXT];
    struct fv_perf_event event;
    const char *why;

    if (!fv_perf_event_parse(word, length, &event)) {
        fprintf(out, "%.*s", (int)length, word);
        return 0;
    }
    if ((why = fv_event_encode(&event, false)))
        return fv_event_say_unknown("run: --events", &event, why);
    fv_perf_event_print(&event, text);
    fputs(text, out);
    return 0;
}

int fv_events_encode(const char *list, char **out)
{
    char *text = NULL;
    size_t bytes, length;
    FILE *stream = open_memstream(&text, &bytes);
    const char *word, *comma = "";
    int err = stream ? 0 : -FV_ENOMEM;

    while (!err && fv_perf_event_word(&list, &word, &length)) {
        fputs(comma, stream);
        err = put_word(stream, word, length);
        comma = ",";
    }
    if (stream && fclose(stream) && !err)
        err = -FV_ENOMEM;
    if (err)
        free(text);
    else
        *out = text;
    return err;
}

/* ---- calls ---- */

static bool can_be_had(const struct fv_perf_event *event)
{
    struct perf_event_attr attr = {
        .size = sizeof(attr),
        .type = event->type,
        .config = event->config,
        .config1 = event->config1,
        .config2 = event->config2,
        .sample_period = 1u << 20,
        .sample_type = PERF_SAMPLE_IP,
        .precise_ip = event->flags / FV_PERF_PRECISE & 3,
        .exclude_kernel = 1,
        .exclude_hv = 1,
        .disabled = 1,
    };
    long fd = syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

    if (fd >= 0)
        close((int)fd);
    return fd >= 0;
}

char *fv_events_calls(void)
{
    /* Intel, since Nehalem; the newer cores of few watts */
    static const char *const names[] = { "BR_INST_RETIRED:NEAR_CALL:u:precise=1", "BR_INST_RETIRED:CALL:u:precise=1" };
    char text[FV_PERF_EVENT_TEXT];

    for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++) {
        struct fv_perf_event event = { .type = 0 };
        strcpy(event.name, names[i]);
        if (fv_event_encode(&event, false) || !(event.flags / FV_PERF_PRECISE) || !can_be_had(&event))
            continue;
        fv_perf_event_print(&event, text);
        return strdup(text);
    }
    return NULL;
}
