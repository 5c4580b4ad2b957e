/* The views of a profile. They compute nothing that another view might want, too: that is the model's. */
#ifndef FV_VIEWS_H
#define FV_VIEWS_H

#include "report/model.h"
#include "report/symbols.h"

#include <stdio.h>

struct fv_view {
    const struct fv_model *model;
    const struct fv_symbols *symbols;
};

/* Schema fvmpi-profile-1, see share/fvmpi-profile-1.md. -FV_EIO: errno tells. */
int fv_view_json(const struct fv_view *view, FILE *out);

/* "path": the frames of a call path, as the schema has them. `path` is scratch. */
struct fv_json;
void fv_json_path(struct fv_json *json, const struct fv_view *view, struct fv_path *path, uint32_t node);

/* "waiting". */
void fv_json_waiting(struct fv_json *json, const struct fv_view *view);

/* One file for each table into a directory, which is made. Has logged when it fails. */
int fv_view_csv(const struct fv_view *view, const char *directory);

struct fv_text_options {
    size_t width; /* columns */
    size_t top;   /* rows of a table, SIZE_MAX: all */
    bool color;
    bool utf8; /* may bars and strips be drawn? */
};
int fv_view_text(const struct fv_view *view, const struct fv_text_options *options, FILE *out);

/* Who was waited for most, in one sentence; "" where nobody was. Returns out. */
char *fv_view_culprit(const struct fv_view *view, char *out, size_t bytes);

/* Names for numbers that several views show. */
const char *fv_view_wait_kind(enum fv_wait_kind kind); /* NULL: not known */
uint64_t fv_view_bucket_low(unsigned bucket);
uint64_t fv_view_bucket_high(unsigned bucket); /* inclusive */

#endif
