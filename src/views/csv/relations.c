/* SPDX-License-Identifier: BSD-3-Clause */
/* Relations as comma-separated fields (RFC 4180, UTF-8, a line of keys first), for spreadsheets and data
 * frames. Times are seconds, sizes bytes; what is not known is an empty field. */
#include "tool/csv_stream.h"
#include "tool/vec.h"
#include "tool/whole_file.h"
#include "views/flat.h"
#include "views/relations.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct writer {
    struct fv_csv csv;
    struct fv_flat flat;
    void *subject;
};

static void put_field(struct fv_csv *c, const struct fv_value *v)
{
    struct fv_string text = { 0 };

    if (v->null) {
        fv_csv_text(c, "");
        return;
    }
    switch (v->type) {
    case FV_TYPE_WHOLE: fv_csv_whole(c, v->whole); break;
    case FV_TYPE_NUMBER: fv_csv_number(c, v->number); break;
    case FV_TYPE_REAL: fv_csv_real(c, v->real); break;
    case FV_TYPE_TRUTH: fv_csv_text(c, v->truth ? "true" : "false"); break;
    case FV_TYPE_TEXT: fv_csv_text(c, v->text); break;
    default: fv_csv_text(c, fv_flat_text(v, &text)); break;
    }
    fv_string_release(&text);
}

void fv_csv_values(struct fv_csv *c, const struct fv_value *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        put_field(c, &values[i]);
    fv_csv_line(c);
}

static bool put_row(void *context, const struct fv_flat_row *row)
{
    struct writer *w = context;

    for (size_t i = 0; i < w->flat.count; i++) {
        struct fv_value v = fv_flat_read(&w->flat.items[i], w->subject, row);

        put_field(&w->csv, &v);
    }
    fv_csv_line(&w->csv);
    return true;
}

static void put_keys(struct writer *w, const struct fv_relation_place *place)
{
    fv_flat_init(&w->flat, place->chain[place->depth - 1]);
    for (size_t i = 0; i < w->flat.count; i++)
        fv_csv_text(&w->csv, w->flat.items[i].key);
    fv_csv_line(&w->csv);
}

/* All rows as comma-separated fields, behind a line of keys. */
static void put_relation(FILE *out, const struct fv_relation_place *place, void *subject)
{
    struct writer w = { .csv.out = out, .subject = subject };

    put_keys(&w, place);
    fv_relation_each(place, subject, put_row, &w);
    fv_flat_release(&w.flat);
}

/* A table without rows has no file, so that of an earlier report must go: it would pass for this run's. Ours begins
 * with the table's line of keys; what does not is somebody else's. */
static void remove_old(const char *path, const struct fv_relation_place *place)
{
    struct writer w = { 0 };
    struct stat st;
    char *keys = NULL, *line = NULL;
    size_t key_bytes = 0, room = 0;
    FILE *old = !lstat(path, &st) && S_ISREG(st.st_mode) ? fopen(path, "re") : NULL;

    if (!old)
        return;
    if ((w.csv.out = open_memstream(&keys, &key_bytes))) {
        put_keys(&w, place);
        fclose(w.csv.out);
        fv_flat_release(&w.flat);
    }
    bool ours = getline(&line, &room, old) >= 0 && keys && !strcmp(line, keys);
    fclose(old);
    if (!ours || unlink(path))
        fv_log("%s: it is not of this run, which has no rows of that table; remove it, or choose another directory "
               "for --csv",
               path);
    free(keys);
    free(line);
}

struct directory {
    const char *path;
    void *subject;
    int err;
};

static bool found(void *context, const struct fv_flat_row *row)
{
    (void)row;
    *(bool *)context = true;
    return false;
}

static bool write_file(void *context, const struct fv_relation_place *place)
{
    const struct fv_relation *r = place->chain[place->depth - 1];
    struct directory *d = context;
    bool any = false;
    char path[4096];
    struct fv_whole_file file;
    int n = snprintf(path, sizeof(path), "%s/%s.csv", d->path, r->name);

    fv_relation_each(place, d->subject, found, &any);
    if (!any) {
        if (n < (int)sizeof(path))
            remove_old(path, place);
        return true;
    }
    errno = ENAMETOOLONG;
    d->err = n < (int)sizeof(path) ? fv_whole_file_open(&file, path) : -FV_EIO;
    if (!d->err) {
        put_relation(file.stream, place, d->subject);
        d->err = fv_whole_file_close(&file, 0);
    }
    if (d->err)
        fv_log("%s: %s; choose another directory for --csv", path, strerror(errno));
    return !d->err;
}

int fv_csv_relations(const struct fv_relation *const *set, void *subject, const char *directory)
{
    struct directory d = { directory, subject, 0 };

    if (mkdir(directory, 0777) && errno != EEXIST) {
        fv_log("%s: %s; choose another directory for --csv", directory, strerror(errno));
        return -FV_EIO;
    }
    fv_relations_visit(set, write_file, &d);
    return d.err;
}
