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
/* The same of a path's frames from `first` on. */
void fv_json_frames(struct fv_json *json, const struct fv_view *view, const struct fv_path *path,
                    size_t first);

/* The path of a sampled function's context. Returns the index of the function's own frame: what is inlined at
 * its entry is not what is sampled. */
size_t fv_view_sampled_path(const struct fv_view *view, struct fv_path *path,
                            const struct fv_sampled *sampled);

/* "waiting". */
void fv_json_waiting(struct fv_json *json, const struct fv_view *view);

/* "functions". */
void fv_json_samples(struct fv_json *json, const struct fv_view *view);

/* One file for each table into a directory, which is made. Has logged when it fails. */
int fv_view_csv(const struct fv_view *view, const char *directory);

struct fv_text_options {
    size_t width; /* columns */
    size_t top;   /* rows of a table, SIZE_MAX: all */
    bool brief;   /* that is the default: sections that are to stay short show less */
    bool color;
    bool utf8; /* may bars and strips be drawn? */
};
int fv_view_text(const struct fv_view *view, const struct fv_text_options *options, FILE *out);

/* Who is to blame for waiting; without a trace, who came last to collectives and computes longest: in one
 * sentence.
 * "": nobody. Returns out. */
char *fv_view_culprit(const struct fv_view *view, char *out, size_t bytes);

/* Names for numbers that several views show. */
const char *fv_view_wait_kind(enum fv_wait_kind kind); /* NULL: not known */
uint64_t fv_view_bucket_low(unsigned bucket);
uint64_t fv_view_bucket_high(unsigned bucket); /* inclusive */

#endif
