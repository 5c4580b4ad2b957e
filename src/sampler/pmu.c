/* SPDX-License-Identifier: BSD-3-Clause */
/* See pmu.h. */
#include "sampler/pmu.h"
#include "base/experiment.h"
#include "base/perf_events.h"
#include "rt/thread.h"
#include "sampler/record_table.h"

#include <errno.h>
#include <string.h>

#define LEARNT 101

/* What was asked for. Set before the first thread is sampled. */
static struct fv_metric_event wanted[FV_METRIC_EVENTS];
static struct fv_perf_event events[FV_METRIC_EVENTS]; /* the same, to be opened */
static unsigned wanted_count, granted_count;

static uint64_t trap[FV_METRIC_EVENTS]; /* that one trap adds beside what the handler reads itself */
static uint64_t learnt[FV_METRIC_EVENTS][LEARNT];
static unsigned learnt_count;

/* ---- open ---- */

void fv_pmu_close(struct fv_pmu *pmu)
{
    pmu->leader = NULL;
    for (unsigned i = 0; i < FV_METRIC_EVENTS; i++)
        fv_perf_close(&pmu->event[i]);
}

void fv_pmu_open(struct fv_pmu *pmu)
{
    *pmu = (struct fv_pmu){ .leader = NULL };
    for (unsigned i = 0; i < FV_METRIC_EVENTS; i++)
        pmu->event[i].fd = -1;
    for (unsigned i = 0; i < wanted_count; i++) {
        if (wanted[i].refusal)
            continue;
        if (!fv_perf_open_counter(&pmu->event[i], &events[i], pmu->leader ? pmu->leader->fd : -1)) {
            fv_pmu_close(pmu); /* another thread had it: all is unknown in this one */
            return;
        }
        pmu->place[i] = (uint8_t)pmu->count++;
        if (!pmu->leader)
            pmu->leader = &pmu->event[i];
    }
    if (pmu->leader)
        fv_perf_enable(pmu->leader);
}

/* ---- which there are ---- */

static void describe(const struct fv_perf_event *event, struct fv_metric_event *m)
{
    *m = (struct fv_metric_event){
        .type = event->type, .config = event->config, .config1 = event->config1, .config2 = event->config2
    };
    memcpy(m->name, event->name, sizeof(m->name));
}

/* Opens it in the probe's group, with the kernel or, if that is not permitted, without. */
static void probe(struct fv_pmu *pmu, unsigned i)
{
    struct fv_metric_event *m = &wanted[i];

    m->refusal = fv_perf_try_counter(&pmu->event[i], &events[i], pmu->leader ? pmu->leader->fd : -1);
    m->user_only = (events[i].flags & FV_PERF_NO_KERNEL) != 0;
    if (!m->refusal && !pmu->leader)
        pmu->leader = &pmu->event[i];
}

static void find_out(void)
{
    const char *list = fv_rt.options.events, *word;
    struct fv_pmu pmu;
    size_t length;

    fv_pmu_open(&pmu); /* empty yet */
    for (; wanted_count < FV_METRIC_EVENTS && fv_perf_event_word(&list, &word, &length); wanted_count++) {
        struct fv_metric_event *m = &wanted[wanted_count];
        struct fv_perf_event *event = &events[wanted_count];
        int err = fv_perf_event_parse(word, length, event);

        describe(event, m);
        if (err)
            m->refusal = ESRCH;
        else if (event->processor && event->processor != fv_processor())
            m->refusal = EXDEV;
        else
            probe(&pmu, wanted_count);
        if (m->refusal && fv_first_rank())
            fv_log("--events: %s: %s; it is not counted", event->name, fv_perf_event_refusal(m->refusal, m->user_only));
        granted_count += !m->refusal;
    }
    fv_pmu_close(&pmu);
}

bool fv_pmu_wanted(void)
{
    return wanted_count > 0;
}

void fv_pmu_start(void)
{
    int saved = errno;

    if (fv_rt.options.events && !wanted_count)
        find_out();
    struct fv_chunk_header *chunk = wanted_count ? fv_writer_chunk(&fv_rt.writer, FV_CHUNK_METRIC_EVENTS, FV_NO_THREAD,
                                                                   0, wanted_count * sizeof(*wanted))
                                                 : NULL;
    if (chunk) {
        memcpy(fv_chunk_records(chunk), wanted, wanted_count * sizeof(*wanted));
        fv_chunk_commit(chunk, wanted_count * sizeof(*wanted));
    }
    errno = saved;
}

/* ---- in the handler ---- */

static void take(struct fv_pmu *pmu, struct fv_pmu_reading *out)
{
    struct {
        uint64_t count, enabled, running, value[FV_METRIC_EVENTS];
    } group;

    *out = (struct fv_pmu_reading){ 0 };
    if (!fv_perf_read(pmu->leader, &group, (3 + pmu->count) * sizeof(uint64_t))) {
        pmu->leader = NULL; /* closed by the application: all is unknown from here on */
        return;
    }
    out->enabled = group.enabled;
    out->running = group.running;
    for (unsigned i = 0; i < FV_METRIC_EVENTS; i++)
        if (pmu->event[i].fd >= 0)
            out->value[i] = group.value[pmu->place[i]];
}

void fv_pmu_enter(struct fv_pmu *pmu)
{
    if (pmu->leader)
        take(pmu, &pmu->now);
}

void fv_pmu_leave(struct fv_pmu *pmu)
{
    struct fv_pmu_reading end;

    if (!pmu->leader)
        return;
    take(pmu, &end);
    for (unsigned i = 0; i < FV_METRIC_EVENTS; i++)
        if (end.value[i] > pmu->now.value[i])
            pmu->tool[i] += end.value[i] - pmu->now.value[i];
    for (unsigned i = 0; i < FV_METRIC_EVENTS; i++)
        pmu->tool[i] += trap[i];
    pmu->now = end;
}

void fv_pmu_mark(const struct fv_pmu *pmu, struct fv_pmu_mark *mark)
{
    mark->begin = pmu->now;
    memcpy(mark->tool, pmu->tool, sizeof(mark->tool));
}

enum fv_pmu_quality fv_pmu_since(const struct fv_pmu *pmu, const struct fv_pmu_mark *mark,
                                 uint64_t out[FV_METRIC_EVENTS])
{
    const struct fv_pmu_reading *now = &pmu->now, *begin = &mark->begin;
    uint64_t enabled = now->enabled - begin->enabled, running = now->running - begin->running;
    enum fv_pmu_quality quality = FV_PMU_EXACT;

    memset(out, 0, FV_METRIC_EVENTS * sizeof(*out));
    if (!pmu->leader)
        return granted_count ? FV_PMU_LOST : FV_PMU_EXACT;
    if (!now->enabled || !begin->enabled || !running)
        return FV_PMU_LOST;
    if (running < enabled)
        quality = FV_PMU_SCALED;
    for (unsigned i = 0; i < FV_METRIC_EVENTS; i++) {
        uint64_t all = now->value[i] - begin->value[i], tool = pmu->tool[i] - mark->tool[i] + trap[i];
        uint64_t net = all > tool ? all - tool : 0;

        out[i] = quality == FV_PMU_EXACT ? net : (uint64_t)((double)net * (double)enabled / (double)running);
    }
    return quality;
}

/* ---- calibration ---- */

void fv_pmu_learn(const struct fv_pmu *pmu, const struct fv_pmu_mark *mark)
{
    if (!pmu->leader || learnt_count == LEARNT)
        return;
    for (unsigned i = 0; i < FV_METRIC_EVENTS; i++)
        learnt[i][learnt_count] = pmu->now.value[i] - mark->begin.value[i];
    learnt_count++;
}

/* The median: an interrupt in between adds to a few. */
void fv_pmu_learned(void)
{
    for (unsigned i = 0; learnt_count && i < FV_METRIC_EVENTS; i++)
        trap[i] = fv_ranked(learnt[i], learnt_count, learnt_count / 2);
}
