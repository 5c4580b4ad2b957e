/* SPDX-License-Identifier: BSD-3-Clause */
/* `fvmpi report --function`: of every table the rows that are of a function. */
#include "profile/relations.h"
#include "views/of_function.h"
#include "views/views.h"

#include <stdlib.h>

/* ---- are there any? ---- */

struct counting {
    struct fv_tables tables;
    struct fv_of_function of;
    const char *function;
    bool found;
};

static bool look_at_row(void *context, const struct fv_flat_row *row)
{
    struct counting *c = context;

    c->found = fv_of_function_has(&c->of, &c->tables, row);
    return !c->found;
}

static bool look_at_table(void *context, const struct fv_relation_place *place)
{
    struct counting *c = context;
    struct fv_flat flat;

    fv_flat_init(&flat, place->chain[place->depth - 1]);
    fv_of_function_init(&c->of, &flat, c->function);
    if (c->of.count)
        fv_relation_each(place, &c->tables, look_at_row, c);
    fv_of_function_release(&c->of);
    fv_flat_release(&flat);
    return !c->found;
}

bool fv_view_has_function(const struct fv_profile *view, const char *function)
{
    struct counting c = { .function = function };

    fv_tables_init(&c.tables, view);
    fv_relations_visit(fv_profile_relations, look_at_table, &c);
    fv_tables_release(&c.tables);
    return c.found;
}

/* ---- all of its rows ---- */

struct of_function {
    struct fv_query query;
    struct fv_tables tables;
    struct fv_page page;
    bool json; /* a list of tables, each as --table prints it */
    int err;
};

/* With commas between the tables that have rows. */
static int print_json(struct of_function *f)
{
    const size_t before = *f->query.met;
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);

    if (!out)
        return -FV_EIO;
    int err = fv_query_print(&f->query, fv_profile_relations, &f->tables, FV_QUERY_JSON, &f->page, out);
    fclose(out);
    if (!err && *f->query.met > before)
        fprintf(f->page.out, "%s%s", before ? "," : "", text);
    free(text);
    return err;
}

/* Single frames, and numbers of single ranks, would hide the others. */
static bool print(void *context, const struct fv_relation_place *place)
{
    const struct fv_relation *r = place->chain[place->depth - 1];
    struct of_function *f = context;

    if (r == &fv_path_relation || r->by_rank)
        return true;
    f->query.table = r->name;
    f->err = f->json
                 ? print_json(f)
                 : fv_query_print(&f->query, fv_profile_relations, &f->tables, FV_QUERY_TEXT, &f->page, f->page.out);
    return !f->err;
}

int fv_view_function(const struct fv_profile *view, const char *function, const struct fv_text_options *text, bool json,
                     FILE *out)
{
    struct of_function f = { .json = json };
    size_t rows = 0;

    f.page = (struct fv_page){ out, text->width, text->top, text->brief, text->color, text->utf8, 0 };
    f.query.function = function;
    f.query.met = &rows;
    f.query.top = json && text->brief ? SIZE_MAX : text->top;
    fv_tables_init(&f.tables, view);
    if (json)
        putc('[', out);
    fv_relations_visit(fv_profile_relations, print, &f);
    if (json)
        fputs("]\n", out);
    fv_tables_release(&f.tables);
    return f.err ? f.err : fflush(out) || ferror(out) ? -FV_EIO : 0;
}
