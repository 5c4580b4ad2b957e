/* SPDX-License-Identifier: BSD-3-Clause */
/* See python_frames.h. */
#include "rt/python_frames.h"
#include "rt/path.h"

#include <stdio.h>

struct reading {
    const struct fv_python_layout *layout;
    const struct fv_python_types *types;
    struct fv_python_walk *walk;
    bool is_known, tries;
};

static bool get(const struct reading *r, uintptr_t at, void *out, size_t bytes)
{
    if (!r->is_known)
        return fv_memory_peek(at, out, bytes);
    memcpy(out, (const void *)at, bytes);
    return true;
}

static uintptr_t word_at(const uint8_t *bytes, unsigned offset)
{
    uintptr_t word;

    memcpy(&word, bytes + offset, sizeof(word));
    return word;
}

static int32_t int_at(const uint8_t *bytes, unsigned offset)
{
    int32_t number;

    memcpy(&number, bytes + offset, sizeof(number));
    return number;
}

/* ---- strings ---- */

static char *put_utf8(char *at, uint32_t c)
{
    if (c >= 0xdc80 && c <= 0xdcff) { /* a byte that was no UTF-8 */
        *at++ = (char)(c - 0xdc00);
    } else if (c < 0x80) {
        *at++ = (char)c;
    } else {
        unsigned more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;

        *at++ = (char)(0xff00u >> (more + 1) | c >> 6 * more);
        while (more-- > 0)
            *at++ = (char)(0x80 | (c >> 6 * more & 0x3f));
    }
    return at;
}

static uint32_t character(const uint8_t *raw, size_t i, unsigned kind)
{
    return kind == 1   ? raw[i]
           : kind == 2 ? raw[2 * i] | (uint32_t)raw[2 * i + 1] << 8
                       : (uint32_t)int_at(raw, (unsigned)(4 * i));
}

/* What there is no room for is left out at the beginning. */
static bool read_text(const struct reading *r, uintptr_t object, char *out, size_t room)
{
    enum { TYPE = 8, LENGTH = 16, STATE = 32, HEADER = 40 };
    uint8_t header[HEADER], *raw = r->walk->raw;

    if (!get(r, object, header, sizeof(header)) || word_at(header, TYPE) != r->types->text)
        return false;
    uint32_t state = (uint32_t)int_at(header, STATE);
    unsigned kind = state >> 2 & 7;
    bool compact = state >> 5 & 1, ascii = state >> 6 & 1;
    size_t length = word_at(header, LENGTH), most = (room - 1) / (ascii ? 1 : 4);

    if (!compact || (kind != 1 && kind != 2 && kind != 4))
        return false;
    most = most < sizeof(r->walk->raw) / kind ? most : sizeof(r->walk->raw) / kind;
    size_t count = length < most ? length : most;
    uintptr_t begin = object + (ascii ? r->layout->ascii : r->layout->other);
    if (!get(r, begin + (length - count) * kind, raw, count * kind))
        return false;
    for (size_t i = 0; i < count; i++)
        out = put_utf8(out, character(raw, i, kind));
    *out = '\0';
    return true;
}

/* ---- lines ---- */

/* A table's bytes, a piece at a time. */
struct bytes {
    const struct reading *reading;
    uintptr_t next; /* of the table, behind the piece */
    size_t left, at, count;
    bool ended;
};

static uint8_t next_byte(struct bytes *b)
{
    enum { PIECE = 256 };

    if (b->at == b->count) {
        b->count = b->left < PIECE ? b->left : PIECE;
        b->at = 0;
        b->ended = b->ended || !b->count || !get(b->reading, b->next, b->reading->walk->raw, b->count);
        b->next += b->count;
        b->left -= b->count;
        if (b->ended)
            return b->at = b->count = 0;
    }
    return b->reading->walk->raw[b->at++];
}

static int line_by_addresses(struct bytes *b, int line, int last)
{
    for (int address = 0;;) {
        address += next_byte(b);
        int step = (int8_t)next_byte(b);

        if (b->ended || address > last)
            return line;
        line += step;
    }
}

static int line_by_ranges(struct bytes *b, int line, int last)
{
    for (int end = 0;;) {
        end += next_byte(b);
        int step = (int8_t)next_byte(b);

        if (b->ended)
            return 0;
        line += step == -128 ? 0 : step;
        if (last < end)
            return step == -128 ? 0 : line;
    }
}

static int signed_number(struct bytes *b)
{
    uint32_t value = 0;
    unsigned shift = 0;
    uint8_t byte;

    do {
        byte = next_byte(b);
        value |= shift < 32 ? (uint32_t)(byte & 0x3f) << shift : 0;
        shift += 6;
    } while (byte & 0x40 && !b->ended);
    return value & 1 ? -(int)(value >> 1) : (int)(value >> 1);
}

static int line_by_locations(struct bytes *b, int line, int last)
{
    enum { LONG = 14, NO_COLUMNS = 13, ONE_LINE_0 = 10, NO_LOCATION = 15, UNIT = 2 };
    uint8_t byte = next_byte(b);

    for (int end = 0; !b->ended;) {
        unsigned code = byte >> 3 & 15;

        end += ((byte & 7) + 1) * UNIT;
        if (code == LONG || code == NO_COLUMNS)
            line += signed_number(b);
        else if (code >= ONE_LINE_0 && code < NO_COLUMNS)
            line += (int)code - ONE_LINE_0;
        if (last < end)
            return code == NO_LOCATION ? 0 : line;
        do
            byte = next_byte(b);
        while (!(byte & 0x80) && !b->ended); /* the entry's columns */
    }
    return 0;
}

/* Of the instruction at byte `last`. 0: it has none. */
static bool read_line(const struct reading *r, const uint8_t *code, int last, uint32_t *out)
{
    enum { TYPE = 8, LENGTH = 16 };
    uintptr_t table = word_at(code, r->layout->line_table);
    uint8_t header[FV_PYTHON_BYTES];
    int first = int_at(code, r->layout->first_line), line;

    if (!get(r, table, header, sizeof(header)) || word_at(header, TYPE) != r->types->bytes)
        return false;
    struct bytes b = { .reading = r, .next = table + FV_PYTHON_BYTES, .left = word_at(header, LENGTH) };
    if (r->layout->lines == FV_LINES_ADDRESSES)
        line = line_by_addresses(&b, first, last);
    else if (r->layout->lines == FV_LINES_RANGES)
        line = line_by_ranges(&b, first, last);
    else
        line = line_by_locations(&b, first, last);
    *out = line > 0 ? (uint32_t)line : 0;
    return true;
}

/* ---- frames ---- */

/* Frames of imports and of python -m, and those that the interpreter puts around a constructor. */
static bool is_hidden(const char *file)
{
    static const char imports[] = "<frozen importlib.";

    return !*file || !strcmp(file, "__init__") || !strcmp(file, "<frozen runpy>") ||
           !strncmp(file, imports, sizeof(imports) - 1);
}

static bool read_code(const struct reading *r, const uint8_t *frame, struct fv_python_frame *out)
{
    const struct fv_python_layout *l = r->layout;
    struct fv_python_walk *w = r->walk;
    uint8_t code[160];
    enum { TYPE = 8 };
    uintptr_t at = word_at(frame, l->code);

    if (!get(r, at, code, l->code_bytes) || word_at(code, TYPE) != r->types->code)
        return false;
    int last = l->last_is_address ? (int)(word_at(frame, l->last) - (at + l->instructions))
                                  : int_at(frame, l->last) * l->last_unit;
    if (!read_text(r, word_at(code, l->name), w->function, sizeof(w->function)) ||
        !read_text(r, word_at(code, l->file), w->file, sizeof(w->file)) || !read_line(r, code, last, &out->line))
        return false;
    if (is_hidden(w->file))
        return true;
    out->module = fv_module_of_code(w->file, w->function, r->tries);
    return !r->tries || out->module != FV_MODULE_UNKNOWN;
}

/* A frame of the loop itself: those inside of it are the loop's, if there are any. */
static void end_loop(struct fv_python_walk *w)
{
    if (!w->count || w->frame[w->count - 1].outermost)
        w->frame[w->count++] = (struct fv_python_frame){ 0 };
    w->frame[w->count - 1].outermost = true;
}

/* One frame. `*frame` is that of its caller then. */
static bool read_frame(const struct reading *r, uintptr_t *frame)
{
    const struct fv_python_layout *l = r->layout;
    struct fv_python_frame f = { 0 };
    uint8_t bytes[128];

    if (!get(r, *frame, bytes, l->frame_bytes))
        return false;
    *frame = word_at(bytes, l->back);
    if (l->owner && bytes[l->owner] == FV_PYTHON_OWNER_LOOP) {
        end_loop(r->walk);
        return true;
    }
    if (!read_code(r, bytes, &f))
        return false;
    f.outermost = l->entry ? bytes[l->entry] : !l->owner;
    r->walk->frame[r->walk->count++] = f;
    return true;
}

static bool read_frames(const struct reading *r, uintptr_t state)
{
    const struct fv_python_layout *l = r->layout;
    uintptr_t frame = 0;

    r->walk->count = 0;
    if (!get(r, state + l->state_frame, &frame, sizeof(frame)))
        return false;
    if (l->indirect && frame && !get(r, frame + l->holder_frame, &frame, sizeof(frame)))
        return false;
    while (frame && r->walk->count < FV_PYTHON_FRAMES)
        if (!read_frame(r, &frame)) {
            r->walk->count = 0;
            return false;
        }
    return true;
}

bool fv_python_read(const struct fv_python_layout *layout, const struct fv_python_types *types, uintptr_t state,
                    bool is_known, struct fv_python_walk *walk)
{
    const struct reading r = { layout, types, walk, is_known, false };
    uint64_t signals = fv_lock_sigsave(&fv_tree_lock);
    bool all = read_frames(&r, state);

    fv_unlock_sigrestore(&fv_tree_lock, signals);
    return all;
}

bool fv_python_read_code(const struct fv_python_layout *layout, const struct fv_python_types *types,
                         const uint8_t *frame, struct fv_python_walk *scratch, struct fv_python_frame *out)
{
    const struct reading r = { layout, types, scratch, false, true };

    if (!fv_try_lock(&fv_tree_lock))
        return false;
    bool all = read_code(&r, frame, out);
    fv_unlock(&fv_tree_lock);
    return all;
}
