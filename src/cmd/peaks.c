/* SPDX-License-Identifier: BSD-3-Clause */
/* See peaks.h. */
#include "cmd/peaks.h"
#include "base/base.h"

#include <jansson.h>
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
    json_error_t error;
    json_t *all = json_load_file(file, 0, &error);
    const char *schema = json_string_value(json_object_get(all, "schema"));
    double most = most_of(json_object_get(all, "memory_bandwidth"));
    bool is_doctors = schema && !strcmp(schema, "fvmpi-doctor-1");

    json_decref(all);
    if (!all)
        fv_log("%s: %s; --peaks takes a file of fvmpi doctor --measure --json FILE", file, error.text);
    else if (!is_doctors || isnan(most))
        fv_log("%s: %s; --peaks takes a file of fvmpi doctor --measure --json FILE", file,
               is_doctors ? "it has no measurement of memory" : "its schema is not fvmpi-doctor-1");
    return is_doctors ? most : NAN;
}
