/* SPDX-License-Identifier: BSD-3-Clause */
/* What part of the variance of calls is time off the processor: of those that were kept. */
#include "profile/model.h"
#include "profile/noise/shares.h"
#include "profile/samples/samples.h"

#include <math.h>
#include <stdlib.h>

static bool same_group(const struct fv_sampled_instance *x, const struct fv_sampled_instance *y)
{
    return x->sampled == y->sampled && x->rank == y->rank && x->thread == y->thread;
}

/* By context and thread; time off the processor stands for all sources: whether a thread waited or was preempted is not
 * measured. */
static struct fv_noise_share off_share(const struct fv_samples *samples, const struct fv_sampled_function *s)
{
    const struct fv_sampled_instance *kept = samples->instances + s->first_instance;
    struct fv_noise_interval *calls = fv_xcalloc(s->instances + 1, sizeof(*calls));
    struct fv_noise_share out[FV_NOISE_SOURCES];

    for (size_t i = 0; i < s->instances; i++) {
        calls[i] = (struct fv_noise_interval){ .time_s = kept[i].time_s,
                                               .source_s = { fmax(kept[i].time_s - kept[i].cpu_s, 0) } };
        calls[i].rank = i ? calls[i - 1].rank + !same_group(&kept[i], &kept[i - 1]) : 0;
    }
    fv_shares_of(calls, s->instances, out);
    free(calls);
    return out[0];
}

static void find_off(struct fv_samples *samples, struct fv_sampled_function *s, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        bool is_told = s[i].instances >= FV_SHARES_ENOUGH && !fv_sampled_is_brief(&s[i], FV_METRIC_TIME) && !s[i].loops;

        s[i].off = is_told ? off_share(samples, &s[i]) : (struct fv_noise_share){ NAN, NAN, NAN };
    }
}

void fv_samples_find_off(struct fv_samples *samples)
{
    find_off(samples, samples->items, samples->count);
    find_off(samples, samples->functions, samples->function_count);
}
