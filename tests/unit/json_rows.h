/* {"columns": [...], "rows": [[...], ...]} as a list of objects, wherever it stands: what tests of the JSON read. */
#ifndef FV_TEST_JSON_ROWS_H
#define FV_TEST_JSON_ROWS_H

#include <jansson.h>
#include <stdlib.h>

/* Takes the value over. */
static inline json_t *json_plainly(json_t *value)
{
    const char *key;
    json_t *inside, *plain;
    size_t i, k;

    if (json_is_array(value)) {
        json_array_foreach(value, i, inside) json_array_set_new(value, i, json_plainly(json_incref(inside)));
        return value;
    }
    json_object_foreach(value, key, inside) json_object_set_new(value, key, json_plainly(json_incref(inside)));
    json_t *table = value, *columns = json_object_get(value, "columns"), *rows = json_object_get(value, "rows");

    if (!columns || !rows || json_object_size(value) != 2)
        return value;
    plain = json_array();
    json_array_foreach(rows, i, inside)
    {
        json_t *row = json_object();

        json_array_foreach(columns, k, value) json_object_set(row, json_string_value(value), json_array_get(inside, k));
        json_array_append_new(plain, row);
    }
    json_decref(table);
    return plain;
}

#endif
