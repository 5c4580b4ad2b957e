/* SPDX-License-Identifier: BSD-3-Clause */
/* Answers of fvmpi view for the lines of its picture (viewer.h): each is some rows, in any order, that are drawn as
 * one. */
#include "viewer/answer.h"
#include "tool/parallel.h"

#if FV_MICROHTTPD

#define MOST_TILES (1 << 21)
#define MOST_ROWS  (1 << 22) /* of all lines together */

struct lines {
    uint32_t *rows;
    size_t count, room;
    size_t *ends; /* of each line, in rows */
    size_t line_count, line_room;
};

/* A number, and what stands behind it; false: there is none. */
static bool take_row(const char **at, uint64_t *out)
{
    char *end;

    if (**at < '0' || **at > '9')
        return false;
    *out = strtoull(*at, &end, 10);
    *at = end;
    return true;
}

bool fv_viewer_take_rows(const char **at, uint64_t rows, uint64_t *first, uint64_t *last)
{
    *at += **at == ',';
    if (!take_row(at, first))
        return false;
    *last = *first;
    if (**at == '-' && (++*at, !take_row(at, last)))
        return false;
    return *first <= *last && *last < rows;
}

/* "0-3,7;4": of two lines the rows. False: it is not that, or of rows that are not there. */
static bool take_lines(struct lines *l, const char *text, uint64_t row_count)
{
    for (const char *at = text;; at++) {
        uint64_t first, last;

        if (*at == ',' || !fv_viewer_take_rows(&at, row_count, &first, &last) || last - first >= MOST_ROWS - l->count)
            return false;
        FV_GROW(l->rows, l->room, l->count + (last - first) + 1);
        for (uint64_t row = first; row <= last; row++)
            l->rows[l->count++] = (uint32_t)row;
        if (*at == ',')
            continue;
        FV_GROW(l->ends, l->line_room, l->line_count + 1);
        l->ends[l->line_count++] = l->count;
        if (*at != ';')
            return !*at;
    }
}

struct tiling {
    const struct shown *shown;
    const struct lines *lines;
    struct window window;
    uint8_t *out;
    size_t count, all; /* of a line, of all */
};

/* Those of a line from `first` on, in arrays of all: who draws takes them as they are. */
static void lay_out(const struct tiling *t, size_t first, const struct fv_timeline_tile *tiles)
{
    uint32_t *regions = (uint32_t *)(void *)t->out + first;
    uint8_t *region_parts = t->out + 4 * t->all + first, *waits = region_parts + t->all, *parts = waits + t->all,
            *computing = parts + FV_TIMELINE_CLASS_COUNT * t->all;

    for (size_t i = 0; i < t->count; i++) {
        regions[i] = tiles[i].region;
        region_parts[i] = tiles[i].region_part;
        waits[i] = tiles[i].wait;
        computing[i] = tiles[i].computing;
        for (unsigned c = 0; c < FV_TIMELINE_CLASS_COUNT; c++)
            parts[c * t->all + i] = tiles[i].parts[c];
    }
}

static void tile_line(void *context, size_t i)
{
    const struct tiling *t = context;
    const struct lines *l = t->lines;
    const size_t first = i ? l->ends[i - 1] : 0;
    struct fv_timeline_tile *tiles = fv_xcalloc(t->count + 1, sizeof(*tiles));

    fv_timeline_tiles(t->shown->timeline, l->rows + first, l->ends[i] - first, t->window.from, t->window.to, tiles,
                      t->count);
    lay_out(t, i * t->count, tiles);
    free(tiles);
}

static enum MHD_Result send_tiles(const struct shown *v, struct MHD_Connection *connection, const struct lines *l)
{
    const struct window w = window_of(v, connection);
    const size_t count = (size_t)number(connection, "count", 1, 16384, 1024), all = l->line_count * count,
                 bytes = all * (7 + FV_TIMELINE_CLASS_COUNT);

    if (all > MOST_TILES)
        return fv_web_say(v->site, connection, MHD_HTTP_BAD_REQUEST, "that are too many; merge more rows\n");
    uint8_t *out = fv_xcalloc(bytes + 1, 1);

    struct tiling tiling = { .shown = v, .lines = l, .window = w, .out = out, .count = count, .all = all };
    fv_parallel(l->line_count, tile_line, &tiling);
    return fv_web_queue(v->site, connection, MHD_HTTP_OK,
                        fv_http.MHD_create_response_from_buffer(bytes, out, MHD_RESPMEM_MUST_FREE),
                        "application/octet-stream");
}

enum MHD_Result fv_viewer_tiles(void *context, struct MHD_Connection *connection, struct fv_web_request *r)
{
    const struct shown *v = shown_of(context, connection);
    struct lines lines = { 0 };

    r->body[r->bytes] = '\0';
    enum MHD_Result result =
        take_lines(&lines, r->body, v->timeline->header->rows.count)
            ? send_tiles(v, connection, &lines)
            : fv_web_say(v->site, connection, MHD_HTTP_BAD_REQUEST, "lines are rows that there are, as \"0-3,7;4\"\n");
    free(lines.rows);
    free(lines.ends);
    return result;
}

enum MHD_Result fv_viewer_rows(void *context, struct MHD_Connection *connection, struct fv_web_request *r)
{
    const struct shown *v = shown_of(context, connection);
    const struct window w = window_of(v, connection);
    struct answer *a = begin_answer();

    (void)r;
    fv_json_array(&a->json, "rows");
    for (uint32_t i = 0; i < w.rows; i++) {
        struct fv_timeline_parts parts;
        uint64_t told[FV_TIMELINE_CLASS_COUNT + 1];

        fv_timeline_parts(v->timeline, w.first + i, w.from, w.to, &parts);
        told[0] = (uint64_t)parts.wait_ns;
        for (unsigned c = 0; c < FV_TIMELINE_CLASS_COUNT; c++)
            told[c + 1] = (uint64_t)parts.ns[c];
        tell_numbers(&a->json, told, FV_TIMELINE_CLASS_COUNT + 1);
    }
    fv_json_end(&a->json);
    return end_answer(v, connection, a);
}
#endif
