/* SPDX-License-Identifier: BSD-3-Clause */
/* See peaks.h. */
#include "cmd/peaks.h"
#include "base/base.h"
#include "cmd/doctor_page.h"

#include <math.h>
#include <string.h>

/* NAN: there is none. */
static double most_of(const json_t *rows)
{
    double most = NAN;
    size_t i;
    const json_t *row;

    json_array_foreach(rows, i, row)
    {
        const json_t *value = json_object_get(row, "bytes_per_s");

        if (json_is_number(value) && json_number_value(value) > 0)
            most = fmax(most, json_number_value(value));
    }
    return most;
}

double fv_peaks_memory(const char *file)
{
    static const char wanted[] = "--peaks takes a file of fvmpi doctor --measure --json FILE";
    json_t *all = fv_doctor_read(file, wanted);
    double most = most_of(json_object_get(all, "memory_bandwidth"));

    if (all && isnan(most))
        fv_log("%s: it has no measurement of memory; %s", file, wanted);
    json_decref(all);
    return most;
}
