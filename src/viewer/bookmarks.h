/* SPDX-License-Identifier: BSD-3-Clause */
/* Places of a trace with notes, in a file beside its timeline: a line each, "PLACE<TAB>NOTE". At most so many; the file
 * is replaced as a whole, and what others write meanwhile is read first. */
#ifndef FV_VIEWER_BOOKMARKS_H
#define FV_VIEWER_BOOKMARKS_H

#include <stdbool.h>
#include <stddef.h>

#define FV_BOOKMARKS_MOST 500

struct fv_bookmark {
    const char *place, *note;
};
struct fv_bookmarks;

/* `folder`: where the file is, or will be. */
struct fv_bookmarks *fv_bookmarks_open(const char *folder);
void fv_bookmarks_close(struct fv_bookmarks *bookmarks);

typedef void fv_bookmarks_take(void *context, const struct fv_bookmark *bookmark);
void fv_bookmarks_each(struct fv_bookmarks *bookmarks, fv_bookmarks_take *take, void *context);
/* With note NULL the place's bookmark goes. NULL, or why it could not be. */
const char *fv_bookmarks_set(struct fv_bookmarks *bookmarks, const char *place, const char *note);

#endif
