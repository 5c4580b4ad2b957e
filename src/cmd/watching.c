/* SPDX-License-Identifier: BSD-3-Clause */
/* See watching.h. */
#include "cmd/watching.h"
#include "base/base.h"
#include "cmd/cmd.h"
#include "sensors/control.h"

#include <stdlib.h>
#include <string.h>

static int choose_one(struct fv_watch *watch, const char *text, bool is_per_source, const char *command)
{
    enum fv_watch_answer answer = fv_watch_add(watch, text, strlen(text), is_per_source);
    char why[400];

    if (answer == FV_WATCH_FOUND)
        return FV_GO_ON;
    fv_watch_why(watch, text, strlen(text), answer, why, sizeof(why));
    if (answer == FV_WATCH_TOO_LONG)
        return fv_arguments_wrong(command, text, why);
    fv_log("%s: %s: %s", command + sizeof("fvmpi"), text, why);
    return answer == FV_WATCH_NOT_HERE ? FV_EXIT_FAILED : FV_EXIT_USAGE;
}

int fv_watching_choose(struct fv_watch *watch, const struct fv_operands *patterns, bool is_per_source,
                       const char *command)
{
    int status = FV_GO_ON;

    for (size_t i = 0; i < patterns->count && status == FV_GO_ON; i++)
        status = choose_one(watch, patterns->items[i], is_per_source, command);
    if (!patterns->count)
        fv_watch_add_usual(watch, is_per_source);
    if (status == FV_GO_ON && !watch->count) {
        fv_log("%s: no known sensors found; is there a /proc in %s/?", command + sizeof("fvmpi"), fv_sensors_root());
        return FV_EXIT_FAILED;
    }
    if (watch->left_out)
        fv_log("%s: %zu column%s left out; there is room for %zu", command + sizeof("fvmpi"), watch->left_out,
               watch->left_out == 1 ? " is" : "s are", watch->count);
    for (size_t i = 0; i < watch->sensor_count; i++)
        if (watch->sensors[i].sensor.left_out)
            fv_log("%s: %s: %zu sources or events are left out; there are too many", command + sizeof("fvmpi"),
                   watch->sensors[i].sensor.kind->name, watch->sensors[i].sensor.left_out);
    return status;
}

bool fv_watching_interval(const char *text, double *out)
{
    char *behind;

    *out = strtod(text, &behind);
    return behind != text && !*behind && *out >= FV_CONTROL_LEAST_S && *out <= FV_CONTROL_MOST_S;
}
