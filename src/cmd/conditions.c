/* SPDX-License-Identifier: BSD-3-Clause */
#include "cmd/conditions.h"
#include "base/near.h"
#include "cmd/arguments.h"
#include "cmd/cmd.h"
#include "profile/relations.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* KEY OPERATOR NUMBER */
struct condition {
    char key[2 * FV_KEY_BYTES];
    char operator;
    bool or_equal;
    double number;
};

static bool parse(const char *text, struct condition *out)
{
    size_t key = strcspn(text, "<>");
    char *end;

    if (!key || key >= sizeof(out->key) || !text[key])
        return false;
    snprintf(out->key, sizeof(out->key), "%.*s", (int)key, text);
    out->operator= text[key];
    out->or_equal = text[key + 1] == '=';
    out->number = strtod(text + key + 1 + out->or_equal, &end);
    return end != text + key + 1 + out->or_equal && !*end && isfinite(out->number);
}

static bool holds(const struct condition *c, double value)
{
    return (c->or_equal && value == c->number) || (c->operator== '<' ? value < c->number : value> c->number);
}

/* ---- what there is ---- */

static bool is_number(const struct fv_column_def *c)
{
    return c->type == FV_TYPE_WHOLE || c->type == FV_TYPE_NUMBER || c->type == FV_TYPE_REAL;
}

/* "parallel_efficiency" is the title "parallel efficiency". */
static bool is_title(const char *title, const char *key)
{
    while (*title && (*title == *key || (*title == ' ' && *key == '_'))) {
        title++;
        key++;
    }
    return !*title && !*key;
}

/* Of a table with one row: "parallel_efficiency", or "efficiency.parallel_efficiency". The first of that name. */
static const struct fv_column_def *find_column(const char *key, const struct fv_relation **of, struct fv_near *near)
{
    char flat[FV_KEY_BYTES];

    for (const struct fv_relation *const *set = fv_profile_relations; *set; set++) {
        const struct fv_relation *r = *set;
        const size_t name = r->name ? strlen(r->name) : 0;
        const char *column = name && !strncmp(key, r->name, name) && key[name] == '.' ? key + name + 1 : key;

        for (size_t i = 0; r->shape == FV_ONE && name && i < r->column_count; i++) {
            if (!is_number(&r->columns[i]))
                continue;
            fv_column_flat_key(&r->columns[i], flat);
            *of = r;
            if (!strcmp(flat, column) || is_title(r->columns[i].title, column))
                return &r->columns[i];
            if (near)
                fv_near_try(near, flat, r->columns[i].key);
        }
    }
    return NULL;
}

static const struct fv_finding_def *find_finding(const char *key)
{
    for (size_t i = 0; i < fv_finding_def_count; i++)
        if (!strcmp(fv_finding_defs[i].name, key))
            return &fv_finding_defs[i];
    return NULL;
}

int fv_conditions_check(const struct fv_conditions *c)
{
    const struct fv_relation *of;
    struct condition condition;

    for (size_t i = 0; i < c->count; i++) {
        if (!parse(c->items[i], &condition)) {
            fv_log("report: --fail-if %s: wanted KEY<NUMBER or KEY>NUMBER, such as parallel_efficiency<0.7",
                   c->items[i]);
            return FV_EXIT_USAGE;
        }
        struct fv_near near = { condition.key, strlen(condition.key), NULL, 0 };
        if (find_finding(condition.key) || find_column(condition.key, &of, &near))
            continue;
        const char *meant = fv_near_item(&near, 0);
        fv_log("report: --fail-if %s: no table with one row has that column, and no finding that name; %s%s%s",
               c->items[i], meant ? "did you mean " : "fvmpi report --table efficiency --columns lists some",
               meant ? meant : "", meant ? "?" : "");
        return FV_EXIT_USAGE;
    }
    return FV_GO_ON;
}

/* ---- of a run ---- */

static double value_of(const char *key, const struct fv_profile *v)
{
    const struct fv_finding_def *def = find_finding(key);
    const struct fv_finding *finding = def ? fv_findings_named(v->findings, def->name) : NULL;
    const struct fv_relation *of = NULL;
    const struct fv_column_def *column = def ? NULL : find_column(key, &of, NULL);
    struct fv_tables tables;
    double value = NAN;

    if (def)
        return finding ? finding->lost_s / v->model->efficiency.total_s : 0;
    fv_tables_init(&tables, v);
    const void *row = fv_relation_count(of, &tables, NULL) ? fv_relation_row(of, &tables, NULL, 0) : NULL;
    if (row) {
        const struct fv_value found = fv_column_value(column, &tables, row);

        value = found.null                     ? NAN
                : found.type == FV_TYPE_REAL   ? found.real
                : found.type == FV_TYPE_NUMBER ? (double)found.number
                                               : (double)found.whole;
    }
    fv_tables_release(&tables);
    return value;
}

int fv_conditions_judge(const struct fv_conditions *c, const struct fv_profile *v)
{
    struct condition condition;
    int status = FV_GO_ON;

    for (size_t i = 0; i < c->count; i++) {
        const double value = parse(c->items[i], &condition) ? value_of(condition.key, v) : NAN;

        if (!isfinite(value)) {
            fv_log("report: --fail-if %s: %s is not known of this run", c->items[i], condition.key);
            status = status == FV_EXIT_FAILS ? status : FV_EXIT_FAILED;
        } else if (holds(&condition, value)) {
            fv_log("report: %s is %.6g: --fail-if %s", condition.key, value, c->items[i]);
            status = FV_EXIT_FAILS;
        }
    }
    return status;
}
