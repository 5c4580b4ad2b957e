/* See csv_stream.h. */
#include "report/csv_stream.h"
#include "report/words.h"

#include <errno.h>
#include <math.h>
#include <string.h>

static void comma(struct fv_csv *c)
{
    if (c->any)
        putc_unlocked(',', c->out);
    c->any = true;
}

void fv_csv_text(struct fv_csv *c, const char *value)
{
    char clean[4096];

    comma(c);
    fv_words_clean(value ? value : "", clean, sizeof(clean));
    if (!clean[strcspn(clean, ",\"\r\n")] && clean[0] != ' ') {
        fwrite_unlocked(clean, 1, strlen(clean), c->out);
        return;
    }
    putc_unlocked('"', c->out);
    for (const char *p = clean; *p; p++) {
        if (*p == '"')
            putc_unlocked('"', c->out);
        putc_unlocked(*p, c->out);
    }
    putc_unlocked('"', c->out);
}

void fv_csv_real(struct fv_csv *c, double value)
{
    char word[FV_REAL];

    comma(c);
    if (isfinite(value))
        fwrite_unlocked(word, 1, fv_words_real(value, word), c->out);
}

void fv_csv_whole(struct fv_csv *c, uint64_t value)
{
    comma(c);
    fprintf(c->out, "%llu", (unsigned long long)value);
}

void fv_csv_number(struct fv_csv *c, int64_t value)
{
    comma(c);
    fprintf(c->out, "%lld", (long long)value);
}

void fv_csv_line(struct fv_csv *c)
{
    fwrite_unlocked("\r\n", 1, 2, c->out);
    c->any = false;
}

/* The innermost frame is the one that calls MPI; the path reads outwards. */
void fv_csv_path_fields(struct fv_csv *c, const struct fv_view *v, struct fv_path *path, uint32_t node)
{
    char all[4000], label[512];
    size_t used = 0;

    fv_path_of(path, v->symbols, v->model, node);
    all[0] = '\0';
    for (size_t i = 0; i < path->count && used < sizeof(all); i++)
        used += (size_t)snprintf(all + used, sizeof(all) - used, "%s%s", i ? " < " : "",
                                 fv_frame_label(&path->frames[i], v->model, label, sizeof(label)));
    fv_csv_text(c, path->count ? path->frames[0].file : "");
    if (path->count && path->frames[0].line)
        fv_csv_whole(c, path->frames[0].line);
    else
        fv_csv_text(c, "");
    fv_csv_text(c, all);
}

static int write_table(const struct fv_view *v, const char *directory, const struct fv_csv_table *table,
                       const void *context)
{
    struct fv_csv c = { .context = context };
    int n = snprintf(c.path, sizeof(c.path), "%s/%s", directory, table->name), failed;

    errno = ENAMETOOLONG;
    c.out = n < (int)sizeof(c.path) ? fopen(c.path, "we") : NULL;
    if (c.out) {
        table->write(&c, v);
        failed = ferror(c.out);
        if (!fclose(c.out) && !failed)
            return 0;
    }
    fv_log("%s: %s; choose another directory for --csv", c.path, strerror(errno));
    return -FV_EIO;
}

int fv_csv_tables(const struct fv_view *v, const char *directory, const struct fv_csv_table *tables,
                  size_t count, const void *context)
{
    int err = 0;

    for (size_t i = 0; i < count && !err; i++)
        err = write_table(v, directory, &tables[i], context);
    return err;
}
