/* SPDX-License-Identifier: BSD-3-Clause */
/* See bookmarks.h. */
#include "viewer/bookmarks.h"
#include "tool/whole_file.h"
#include "viewer/answer.h"

#if FV_MICROHTTPD

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PLACE_BYTES = 500, NOTE_BYTES = 2000, FILE_BYTES = FV_BOOKMARKS_MOST * (PLACE_BYTES + NOTE_BYTES + 2) };

struct fv_bookmarks {
    char *path;
    pthread_mutex_t lock;
};

struct fv_bookmarks *fv_bookmarks_open(const char *folder)
{
    struct fv_bookmarks *b = fv_xcalloc(1, sizeof(*b));
    const size_t bytes = strlen(folder) + sizeof("/bookmarks");

    b->path = fv_xcalloc(bytes, 1);
    snprintf(b->path, bytes, "%s/bookmarks", folder);
    pthread_mutex_init(&b->lock, NULL);
    return b;
}

void fv_bookmarks_close(struct fv_bookmarks *b)
{
    if (!b)
        return;
    pthread_mutex_destroy(&b->lock);
    free(b->path);
    free(b);
}

/* ---- the file ---- */

struct lines {
    char *text;
    struct fv_bookmark items[FV_BOOKMARKS_MOST];
    size_t count;
};

/* All of it, as far as it is not too large; "" if there is none. */
static char *read_text(const char *path)
{
    char *text = fv_xcalloc(FILE_BYTES + 1, 1);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    size_t used = 0;

    for (ssize_t got = 1; fd >= 0 && got > 0 && used<FILE_BYTES; used += got> 0 ? (size_t)got : 0)
        got = read(fd, text + used, FILE_BYTES - used);
    if (fd >= 0)
        close(fd);
    return text;
}

static struct lines *read_lines(const struct fv_bookmarks *b)
{
    struct lines *lines = fv_xcalloc(1, sizeof(*lines));
    char *rest = lines->text = read_text(b->path), *line;

    while ((line = strsep(&rest, "\n")) && lines->count < FV_BOOKMARKS_MOST) {
        char *note = strchr(line, '\t');

        if (!note)
            continue;
        *note++ = '\0';
        lines->items[lines->count++] = (struct fv_bookmark){ line, note };
    }
    return lines;
}

static void release_lines(struct lines *lines)
{
    free(lines->text);
    free(lines);
}

/* NULL, or why not. A link, a FIFO or the like is of somebody else: it is neither followed nor waited for. */
static const char *write_lines(const struct fv_bookmarks *b, const struct lines *lines)
{
    struct fv_whole_file file;
    struct stat st;

    if (!lstat(b->path, &st) && !S_ISREG(st.st_mode))
        return "what is in the place of the file bookmarks is no file";
    if (fv_whole_file_open(&file, b->path))
        return strerror(errno);
    for (size_t i = 0; i < lines->count; i++)
        fprintf(file.stream, "%s\t%s\n", lines->items[i].place, lines->items[i].note);
    return fv_whole_file_close(&file, 0) ? strerror(errno) : NULL;
}

void fv_bookmarks_each(struct fv_bookmarks *b, fv_bookmarks_take *take, void *context)
{
    pthread_mutex_lock(&b->lock);
    struct lines *lines = read_lines(b);

    pthread_mutex_unlock(&b->lock);
    for (size_t i = 0; i < lines->count; i++)
        take(context, &lines->items[i]);
    release_lines(lines);
}

static const char *set_in(struct lines *lines, const char *place, const char *note)
{
    size_t at = 0;

    while (at < lines->count && strcmp(lines->items[at].place, place) != 0)
        at++;
    if (!note && at == lines->count)
        return NULL;
    if (!note) {
        lines->count--;
        memmove(&lines->items[at], &lines->items[at + 1], (lines->count - at) * sizeof(*lines->items));
        return NULL;
    }
    if (at == FV_BOOKMARKS_MOST)
        return "there are too many bookmarks";
    lines->count += at == lines->count;
    lines->items[at] = (struct fv_bookmark){ place, note };
    return NULL;
}

const char *fv_bookmarks_set(struct fv_bookmarks *b, const char *place, const char *note)
{
    pthread_mutex_lock(&b->lock);
    struct lines *lines = read_lines(b);
    const char *why = set_in(lines, place, note);

    if (!why)
        why = write_lines(b, lines);
    pthread_mutex_unlock(&b->lock);
    release_lines(lines);
    return why;
}

/* ---- answers ---- */

static void tell_bookmark(void *context, const struct fv_bookmark *bookmark)
{
    struct fv_json *json = context;

    fv_json_array(json, NULL);
    fv_json_string(json, NULL, bookmark->place);
    fv_json_string(json, NULL, bookmark->note);
    fv_json_end(json);
}

enum MHD_Result fv_viewer_bookmarks(void *context, struct MHD_Connection *connection, struct fv_web_request *r)
{
    const struct shown *v = shown_of(context, connection);
    struct answer *a = begin_answer();

    (void)r;
    fv_json_array(&a->json, "bookmarks");
    fv_bookmarks_each(v->bookmarks, tell_bookmark, &a->json);
    fv_json_end(&a->json);
    return end_answer(v, connection, a);
}

/* The body is "PLACE\nNOTE"; a note of several lines becomes one. */
static enum MHD_Result change(void *context, struct MHD_Connection *connection, struct fv_web_request *r, bool is_kept)
{
    const struct shown *v = shown_of(context, connection);
    char *place = r->body, *note;

    r->body[r->bytes < FV_WEB_BODY_BYTES ? r->bytes : FV_WEB_BODY_BYTES] = '\0';
    for (char *c = strchr(place, '\n'); c && *++c;)
        if ((unsigned char)*c < ' ')
            *c = ' ';
    note = strchr(place, '\n');
    if (note)
        *note++ = '\0';
    if (r->bytes > FV_WEB_BODY_BYTES || !*place || strlen(place) > PLACE_BYTES || strchr(place, '\t') ||
        (note && strlen(note) > NOTE_BYTES))
        return fv_web_say(v->site, connection, MHD_HTTP_BAD_REQUEST, "a place and a note of 2000 bytes at most\n");
    const char *why = fv_bookmarks_set(v->bookmarks, place, is_kept ? note ? note : "" : NULL);

    return fv_web_say(v->site, connection, why ? MHD_HTTP_SERVICE_UNAVAILABLE : MHD_HTTP_OK, why ? why : "kept\n");
}

enum MHD_Result fv_viewer_keep_bookmark(void *context, struct MHD_Connection *connection, struct fv_web_request *r)
{
    return change(context, connection, r, true);
}

enum MHD_Result fv_viewer_forget_bookmark(void *context, struct MHD_Connection *connection, struct fv_web_request *r)
{
    return change(context, connection, r, false);
}
#endif
