/* What the parts of the text report share. */
#include "views/text/text.h"

#include <string.h>

size_t fv_text_losses_shown(const struct fv_page *p)
{
    return p->top > 20 ? p->top : 20;
}

void fv_text_table_begin(struct fv_text_table *t, const struct fv_page *p, const struct fv_profile *v,
                         const char *relation)
{
    struct fv_relation_place place = { .depth = 1, .chain = { fv_profile_relations[0] } };

    fv_relations_find(fv_profile_relations, relation, &place);
    fv_tables_init(&t->tables, v);
    fv_sheet_init(&t->sheet, p, place.chain[place.depth - 1], NULL, &t->tables);
}

void fv_text_table_end(struct fv_text_table *t)
{
    fv_sheet_print(&t->sheet);
    fv_sheet_release(&t->sheet);
    fv_tables_release(&t->tables);
}

bool fv_text_serial(const struct fv_model *m)
{
    return !strcmp(m->mpi, "none");
}
