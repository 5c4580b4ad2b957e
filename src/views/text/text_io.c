/* Files: which, from where, by which rank. */
#include "views/text/text.h"

static void put_table(const struct fv_page *p, const struct fv_profile *v, const char *relation, const char *what, const char *about)
{
    struct fv_text_table t;

    fv_text_table_begin(&t, p, v, relation);
    size_t count = fv_relation_count(t.sheet.relation, &t.tables, v->model);
    for (size_t i = 0; i < count; i++) {
        const void *row = fv_relation_row(t.sheet.relation, &t.tables, v->model, i);

        if (row)
            fv_text_table_add(&t, row, FV_PLAIN);
    }
    if (t.sheet.table.rows)
        fv_page_heading(p, t.sheet.relation->title, about);
    fv_text_table_end(&t, what, "");
}

void fv_text_io(const struct fv_page *p, const struct fv_profile *v)
{
    const struct fv_io_view *io = &v->model->io;
    const struct fv_text_loss rows[] = {
        { io->no_room, "call", "of functions for files counted without file and call path, for want of room" },
        { io->interrupted, "call", "of functions for files in signal handlers that interrupted another's record: not recorded" },
    };

    if (!io->call_count)
        return;
    put_table(p, v, "io_files", "file", "over all ranks; time in all calls about it; max rank: of the rank with most");
    put_table(p, v, "io", "call path", "functions for files, longest first; stdio's (fwrite, fprintf) with what they ask of the system");
    fv_text_losses(p, "", rows, sizeof(rows) / sizeof(*rows));
}
