/* SPDX-License-Identifier: BSD-3-Clause */
/* See counters.h: formulas, by recursive descent. */
#include "counters/counters.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct parse {
    const char *at;
    fv_name_value *lookup;
    const void *context;
};

static double sum(struct parse *p);

static void skip_blanks(struct parse *p)
{
    while (*p->at == ' ')
        p->at++;
}

static double factor(struct parse *p)
{
    skip_blanks(p);
    if (*p->at == '(') {
        p->at++;
        double value = sum(p);

        skip_blanks(p);
        if (*p->at != ')')
            return NAN;
        p->at++;
        return value;
    }
    if (isdigit((unsigned char)*p->at)) {
        char *end;
        double value = strtod(p->at, &end);

        p->at = end;
        return value;
    }
    size_t length = strspn(p->at, "abcdefghijklmnopqrstuvwxyz0123456789_");
    const char *name = p->at;

    p->at += length;
    return length ? p->lookup(p->context, name, length) : NAN;
}

static double product(struct parse *p)
{
    double value = factor(p);

    for (skip_blanks(p); *p->at == '*' || *p->at == '/'; skip_blanks(p))
        value = *p->at++ == '*' ? value * factor(p) : value / factor(p);
    return value;
}

static double sum(struct parse *p)
{
    double value = product(p);

    for (skip_blanks(p); *p->at == '+' || *p->at == '-'; skip_blanks(p))
        value = *p->at++ == '+' ? value + product(p) : value - product(p);
    return value;
}

double fv_formula_value(const char *formula, fv_name_value *lookup, const void *context)
{
    struct parse p = { formula, lookup, context };
    double value = sum(&p);

    skip_blanks(&p);
    return (*p.at && *p.at != ';') || !isfinite(value) ? NAN : value;
}

double fv_formulas_value(const char *formulas, fv_name_value *lookup, const void *context, const char **used)
{
    double value = NAN;

    while (formulas && isnan(value = fv_formula_value(formulas, lookup, context))) {
        formulas = strchr(formulas, ';');
        formulas = formulas ? formulas + 1 : NULL;
    }
    if (formulas && used)
        *used = formulas + strspn(formulas, " ");
    return value;
}
