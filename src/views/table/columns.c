/* SPDX-License-Identifier: BSD-3-Clause */
/* `fvmpi report --columns`: the tables that there are, and what their columns mean. */
#include "base/near.h"
#include "views/flat.h"
#include "views/relations.h"

#include <string.h>

/* A name, and beside it what it means; a long name has a line of its own. */
static void put_entry(const struct fv_page *page, const char *name, const char *meaning)
{
    fprintf(page->out, "  %s%-22s%s", fv_page_on(page, FV_BOLD), name, fv_page_off(page));
    if (strlen(name) > 21)
        fprintf(page->out, "\n%24s", "");
    fv_page_words(page, meaning, 24);
}

static bool list_table(void *context, const struct fv_relation_place *place)
{
    const struct fv_relation *r = place->chain[place->depth - 1];
    const struct fv_page *page = context;

    put_entry(page, r->name, r->doc);
    return true;
}

static const char *exactness(const struct fv_column_def *c)
{
    return c->flags & FV_ESTIMATE  ? " An estimate."
           : c->flags & FV_AS_KIND ? " Exact or an estimate, as wait_kind says."
                                   : "";
}

static void list_columns(const struct fv_relation *r, const struct fv_page *page)
{
    struct fv_flat flat;
    char text[1200];

    fv_flat_init(&flat, r);
    fprintf(page->out, "%s: ", r->name);
    fv_page_words(page, r->doc, 0);
    for (size_t i = 0; i < flat.count; i++) {
        const struct fv_column_def *c = flat.items[i].column;

        snprintf(text, sizeof(text), "%s%s%s%s%s", *c->unit ? "[" : "", c->unit, *c->unit ? "] " : "", c->doc,
                 exactness(c));
        put_entry(page, flat.items[i].key, text);
    }
    fv_flat_release(&flat);
}

static bool try_table(void *context, const struct fv_relation_place *place)
{
    const char *name = place->chain[place->depth - 1]->name;

    fv_near_try(context, name, name);
    return true;
}

int fv_query_no_table(const struct fv_relation *const *set, const char *table)
{
    struct fv_near near = { table, strlen(table), NULL, 0 };

    fv_relations_visit(set, try_table, &near);
    const char *meant = fv_near_item(&near, 0);
    fv_log("report: %s: there is no such table%s%s; fvmpi report --columns lists them", table,
           meant ? ", did you mean " : "", meant ? meant : "");
    return -FV_EFORMAT;
}

int fv_query_columns(const char *table, const struct fv_relation *const *set, const struct fv_page *page, FILE *out)
{
    struct fv_relation_place place;

    if (!table) {
        fputs("Tables of fvmpi report --table NAME; --table NAME --columns lists the columns of one:\n\n", out);
        fv_relations_visit(set, list_table, (void *)(uintptr_t)page);
    } else if (!fv_relations_find(set, table, &place)) {
        return fv_query_no_table(set, table);
    } else {
        list_columns(place.chain[place.depth - 1], page);
    }
    return fflush(out) || ferror(out) ? -FV_EIO : 0;
}
