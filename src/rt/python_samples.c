/* SPDX-License-Identifier: BSD-3-Clause */
/* See python_frames.h: frames for a sample, in a signal handler that comes at any time. All is read through
 * the kernel, in two calls mostly: a piece of the interpreter's own stack, in which frames lie side by side
 * (since 3.11), and all code objects at once. A line that is not known yet is looked up, which takes a lock
 * that is only tried. */
#include "rt/path.h"
#include "rt/python_frames.h"

enum { TYPE = 8 };

static uintptr_t word_at(const uint8_t *bytes, unsigned offset)
{
    uintptr_t word;

    memcpy(&word, bytes + offset, sizeof(word));
    return word;
}

/* A frame's bytes, with what stands before it in its page, if frames lie in a stack: its callers' frames. */
static bool get_frame(const struct fv_python_layout *l, struct fv_python_samples *s, uintptr_t at, uint8_t *out)
{
    if (at < s->window_at || at + l->frame_bytes > s->window_at + s->window_bytes) {
        s->window_at = l->lines == FV_LINES_LOCATIONS ? at & ~(uintptr_t)(FV_PYTHON_WINDOW - 1) : at;
        s->window_bytes = at + l->frame_bytes - s->window_at;
        if (!fv_memory_peek(s->window_at, s->window, s->window_bytes)) {
            s->window_bytes = 0;
            return false;
        }
    }
    memcpy(out, s->window + (at - s->window_at), l->frame_bytes);
    return true;
}

/* One frame. `*frame` is that of its caller then. */
static bool step(const struct fv_python_layout *l, struct fv_python_samples *s, uintptr_t *frame)
{
    struct fv_python_sampled *to = &s->sampled[s->count];

    if (!get_frame(l, s, *frame, to->frame))
        return false;
    *frame = word_at(to->frame, l->back);
    if (l->owner && to->frame[l->owner] == FV_PYTHON_OWNER_LOOP) {
        if (s->count && !s->sampled[s->count - 1].outermost)
            s->sampled[s->count - 1].outermost = true;
        else
            s->sampled[s->count++] =
                (struct fv_python_sampled){ .outermost = true }; /* a call of the loop that has no frame yet */
        return true;
    }
    to->code = word_at(to->frame, l->code);
    to->last = l->last_is_address ? word_at(to->frame, l->last) : (uint32_t)word_at(to->frame, l->last);
    to->outermost = l->entry ? to->frame[l->entry] : !l->owner;
    s->count++;
    return true;
}

/* What tells a code object from another one in its place: its parts, and how its name and its table of lines
 * begin. Without the counts of references, which change. */
static uint64_t content_of(const struct fv_python_layout *l, const uint8_t *code, const uint8_t *name,
                           const uint8_t *lines)
{
    uint64_t content = fv_mix2(word_at(code, l->file), (uint32_t)word_at(code, l->first_line));

    for (unsigned at = 8; at < FV_PYTHON_BEGIN; at += 8)
        content = fv_mix2(fv_mix2(content, word_at(name, at)), word_at(lines, at));
    return fv_mix2(fv_mix2(content, word_at(code, l->name)), word_at(code, l->line_table));
}

/* Where it is, or is to be: in place of the line that was compared longest ago, of a few. */
static struct fv_python_line *line_of(struct fv_python_samples *s, const struct fv_python_sampled *of)
{
    const uint64_t hash = fv_mix2(of->code, of->last), step = hash >> 32 | 1;
    struct fv_python_line *oldest = &s->line[hash % FV_PYTHON_LINES];

    for (unsigned i = 0; i < FV_PYTHON_PLACES; i++) {
        struct fv_python_line *line = &s->line[(hash + i * step) % FV_PYTHON_LINES];

        if (line->code == of->code && line->last == of->last)
            return line;
        if (line->checked < oldest->checked)
            oldest = line;
    }
    return oldest;
}

/* A line that was found to be the same many times is compared with its code object now and then. */
static bool is_to_be_read(const struct fv_python_samples *s, const struct fv_python_line *line, unsigned i)
{
    if (!s->sampled[i].code)
        return false;
    return line->code != s->sampled[i].code || line->last != s->sampled[i].last ||
           line->confirmed < FV_PYTHON_TRUSTED || s->samples - line->checked > FV_PYTHON_TRUSTED;
}

static bool read_line(const struct fv_python_layout *l, const struct fv_python_types *types,
                      struct fv_python_samples *s, unsigned i)
{
    const struct fv_python_sampled *from = &s->sampled[s->code_of[i]];
    struct fv_python_line *line = line_of(s, from);
    uint64_t content = content_of(l, s->code[i], s->begin[2 * i], s->begin[2 * i + 1]);

    if (line->code != from->code || line->last != from->last || line->content != content) {
        struct fv_python_frame frame = { 0 };

        if (!fv_python_read_code(l, types, from->frame, &s->walk, &frame))
            return false;
        *line = (struct fv_python_line){ .code = from->code, .last = from->last, .content = content, .frame = frame };
    }
    line->checked = s->samples;
    line->confirmed++;
    return true;
}

/* Code objects, then what their parts begin with. */
static bool gather(const struct fv_python_layout *l, const struct fv_python_types *types, struct fv_python_samples *s,
                   unsigned count)
{
    if (!fv_memory_gather(s->at, count, sizeof(*s->code), s->code))
        return false;
    for (unsigned i = 0; i < count; i++) {
        if (word_at(s->code[i], TYPE) != types->code)
            return false;
        s->at[2 * i] = word_at(s->code[i], l->name);
        s->at[2 * i + 1] = word_at(s->code[i], l->line_table);
    }
    return fv_memory_gather(s->at, 2 * count, sizeof(*s->begin), s->begin);
}

static bool read_lines(const struct fv_python_layout *l, const struct fv_python_types *types,
                       struct fv_python_samples *s)
{
    unsigned count = 0;

    for (unsigned i = 0; i < s->count; i++)
        if (is_to_be_read(s, line_of(s, &s->sampled[i]), i)) {
            s->at[count] = s->sampled[i].code;
            s->code_of[count++] = (uint16_t)i;
        }
    if (!gather(l, types, s, count))
        return false;
    for (unsigned i = 0; i < count; i++)
        if (!read_line(l, types, s, i))
            return false;
    return true;
}

/* More lines may want the same places than these are: then the sample has the innermost frames alone. */
static void add_frames(struct fv_python_samples *s)
{
    for (unsigned i = 0; i < s->count; i++) {
        static const struct fv_python_line none;
        const struct fv_python_line *line = s->sampled[i].code ? line_of(s, &s->sampled[i]) : &none;

        if (line->code != s->sampled[i].code || line->last != s->sampled[i].last) {
            s->cut = true;
            return;
        }
        s->walk.frame[s->walk.count] = line->frame;
        s->walk.frame[s->walk.count++].outermost = s->sampled[i].outermost;
    }
}

/* Where the thread's state says, or the struct on the thread's stack that it names. The state is the thread's
 * own. */
static bool first_frame(const struct fv_python_layout *l, const struct fv_python_samples *s, uintptr_t state,
                        uintptr_t *frame)
{
    memcpy(frame, (const void *)(state + l->state_frame), sizeof(*frame));
    if (!l->indirect || !*frame)
        return true;
    uintptr_t holder = *frame + l->holder_frame;
    if (holder < s->stack_low || holder + sizeof(*frame) > s->stack_end)
        return fv_memory_peek(holder, frame, sizeof(*frame));
    memcpy(frame, (const void *)holder, sizeof(*frame));
    return true;
}

bool fv_python_read_sample(const struct fv_python_layout *l, const struct fv_python_types *types, uintptr_t state,
                           struct fv_python_samples *s)
{
    uintptr_t frame = 0;

    s->samples++;
    s->count = s->walk.count = 0;
    s->window_at = s->window_bytes = 0;
    if (!first_frame(l, s, state, &frame))
        return false;
    while (frame && s->count < FV_PYTHON_SAMPLED)
        if (!step(l, s, &frame))
            return false;
    s->cut = frame;
    if (!read_lines(l, types, s))
        return false;
    add_frames(s);
    return true;
}
