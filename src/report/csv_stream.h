/* One table of comma-separated fields (RFC 4180): what its cells are written by. */
#ifndef FV_CSV_STREAM_H
#define FV_CSV_STREAM_H

#include "report/views.h"

struct fv_csv {
    FILE *out;
    bool any; /* a field in this line */
    const void *context;
    char path[4096];
};

/* A file of the directory: a line of titles, then a line for each row. */
struct fv_csv_table {
    const char *name;
    void (*write)(struct fv_csv *csv, const struct fv_view *view);
};
/* Has logged when it fails. `context` is for the tables, in struct fv_csv. */
int fv_csv_tables(const struct fv_view *view, const char *directory, const struct fv_csv_table *tables,
                  size_t count, const void *context);

void fv_csv_text(struct fv_csv *csv, const char *value); /* NULL: empty */
void fv_csv_real(struct fv_csv *csv, double value);      /* not finite: empty */
void fv_csv_whole(struct fv_csv *csv, uint64_t value);
void fv_csv_number(struct fv_csv *csv, int64_t value);
void fv_csv_line(struct fv_csv *csv); /* ends it */
/* Three fields of a call path: file and line of its innermost frame, and the names outwards. `path` is
 * scratch. */
void fv_csv_path_fields(struct fv_csv *csv, const struct fv_view *view, struct fv_path *path, uint32_t node);

/* csv_samples.c: the tables of a sampled run; none of others. */
int fv_csv_samples(const struct fv_view *view, const char *directory);
/* csv_locks.c: those of a run with --threads, likewise. */
int fv_csv_locks(const struct fv_view *view, const char *directory);

#endif
