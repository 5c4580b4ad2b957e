/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of frames, variables, routines and locks for people, see symbols.h. */
#include "symbols/symbols.h"
#include "tool/words.h"

#include <stdio.h>
#include <string.h>

#define NAME_COLUMNS  60
#define NAME_BYTES    300
#define NAMED_CALLERS 2u /* of the path that first used a lock */

const char *fv_frame_label(const struct fv_frame *f, const struct fv_symbols *s, char *buffer, size_t bytes)
{
    if (f->function)
        return f->function;
    if (f->module == FV_MODEL_CUT)
        return "(outer frames beyond the depth limit)";
    if (f->module == FV_MODEL_LOST)
        return "(frames lost in a damaged part of the file)";
    snprintf(buffer, bytes, "%s%s0x%llx", s->modules[f->module].name, f->module == FV_MODEL_NO_MODULE ? "" : "+",
             (unsigned long long)f->offset);
    return buffer;
}

const char *fv_frame_function_label(const struct fv_frame *f, const struct fv_symbols *s, char *buffer, size_t bytes)
{
    if (f->function || f->module == FV_MODEL_LOST)
        return fv_frame_label(f, s, buffer, bytes);
    if (f->module == FV_MODEL_CUT)
        return "(callers not known)";
    if (f->module == FV_MODEL_NO_MODULE)
        return "[unknown code]";
    if (f->begin)
        snprintf(buffer, bytes, "%s+0x%llx", s->modules[f->module].name, (unsigned long long)f->begin);
    else
        snprintf(buffer, bytes, "[%s]", s->modules[f->module].name);
    return buffer;
}

static const char *address_label(const struct fv_address *a, const struct fv_symbols *s, char *buffer, size_t bytes)
{
    if (a->name)
        return a->name;
    snprintf(buffer, bytes, "%s%s0x%llx", s->modules[a->module].name, a->module < FV_MODEL_FIRST_MODULE ? "" : "+",
             (unsigned long long)a->offset);
    return buffer;
}

char *fv_frame_location(const struct fv_frame *f, const struct fv_symbols *s, char *out, size_t bytes)
{
    const char *name = f->file ? fv_base_name(f->file) : NULL;
    char clean[256];

    out[0] = '\0';
    if (!name && (!f->function || f->module < FV_MODEL_FIRST_MODULE))
        return out;
    fv_words_clean(name ? name : s->modules[f->module].name, clean, sizeof(clean));
    if (!name)
        snprintf(out, bytes, "%s+0x%llx", clean, (unsigned long long)f->offset);
    else if (f->line)
        snprintf(out, bytes, "%s:%u", clean, f->line);
    else
        snprintf(out, bytes, "%s", clean);
    return out;
}

char *fv_frame_brief(const struct fv_frame *f, const struct fv_symbols *s, char *out, size_t bytes)
{
    char label[512];

    return fv_words_brief(f ? fv_frame_label(f, s, label, sizeof(label)) : "?", out, bytes);
}

char *fv_frame_words(const struct fv_frame *f, const struct fv_symbols *s, char *out, size_t bytes)
{
    char clean[256], where[300] = "";

    fv_frame_brief(f, s, clean, sizeof(clean));
    fv_words_fit(clean, NAME_COLUMNS);
    if (f->file)
        fv_frame_location(f, s, where, sizeof(where));
    snprintf(out, bytes, "%s%s%s%s", clean, f->function ? fv_words_brackets(clean) : "", where[0] ? " at " : "", where);
    return out;
}

/* A function's name, without the type that it returns, with which names of templates come. */
static const char *without_type(const char *name)
{
    const char *begin = name;
    int depth = 0;

    for (const char *at = name; *at && (*at != '(' || depth); at++) {
        depth += (*at == '<' || *at == '(') - (*at == '>' || *at == ')');
        if (*at == ' ' && !depth)
            begin = at + 1;
    }
    return begin;
}

/* std::mutex::lock() says less than who calls it. */
static bool is_library(const struct fv_frame *f)
{
    static const char *const begins[] = { "std::", "__gthread", "__glibcxx_", "__gnu_cxx::", "pthread_" };
    const char *whole = f->function ? f->function : "", *name = without_type(whole);

    if (!strncmp(whole, "operator new", 12))
        return true;
    for (unsigned i = 0; i < sizeof(begins) / sizeof(*begins); i++)
        if (!strncmp(name, begins[i], strlen(begins[i])))
            return true;
    return false;
}

static bool is_cxx(const struct fv_module *module)
{
    return !strncmp(module->name, "libstdc++.", 10);
}

size_t fv_path_program(const struct fv_path *path)
{
    size_t first = 0;

    while (first + 1 < path->count && is_library(&path->frames[first]))
        first++;
    return first;
}

/* Where std::thread begins is no caller. */
static size_t path_of_program(struct fv_path *path, const struct fv_symbols *s, uint32_t node)
{
    fv_path_of(path, s, node);
    while (path->count > 1 && is_cxx(&s->modules[path->frames[path->count - 1].module]))
        path->count--;
    return fv_path_program(path);
}

bool fv_path_first(const struct fv_symbols *s, uint32_t node, struct fv_frame *out)
{
    struct fv_path path = { 0 };
    size_t first = path_of_program(&path, s, node);
    bool found = first < path.count;

    if (found)
        *out = path.frames[first];
    fv_path_release(&path);
    return found;
}

char *fv_path_words(const struct fv_symbols *s, uint32_t node, unsigned callers, char *out, size_t bytes)
{
    struct fv_path path = { 0 };
    size_t first = path_of_program(&path, s, node), used = 0;
    char frame[600];

    snprintf(out, bytes, "a call path that is not known");
    for (size_t i = first; i < path.count && i <= first + callers && used < bytes; i++)
        used += (size_t)snprintf(out + used, bytes - used, "%s%s", i > first ? " <- " : "",
                                 fv_frame_words(&path.frames[i], s, frame, sizeof(frame)));
    fv_path_release(&path);
    return out;
}

char *fv_routine_words(const struct fv_address *a, const struct fv_symbols *s, char *out, size_t bytes)
{
    char buffer[NAME_BYTES], clean[NAME_BYTES];

    if (!a) {
        snprintf(out, bytes, "a function that is not known");
    } else if (is_cxx(&s->modules[a->module])) { /* all of them begin with one function of its */
        snprintf(out, bytes, "std::thread");
    } else {
        fv_words_short(address_label(a, s, buffer, sizeof(buffer)), clean, sizeof(clean));
        snprintf(out, bytes, "%s%s", clean, a->name && !strpbrk(clean, "(+") ? "()" : "");
    }
    return out;
}

static const char *plural(unsigned kind)
{
    static const char *const names[] = {
        [FV_SYNC_MUTEX] = "mutexes",    [FV_SYNC_RWLOCK] = "rwlocks",  [FV_SYNC_SPIN] = "spin locks",
        [FV_SYNC_BARRIER] = "barriers", [FV_SYNC_COND] = "conditions", [FV_SYNC_SEM] = "semaphores",
        [FV_SYNC_JOIN] = "joins",       [FV_SYNC_ONCE] = "onces",      [FV_SYNC_OMP] = "OpenMP objects",
    };
    const char *name = kind < sizeof(names) / sizeof(*names) ? names[kind] : NULL;

    return name ? name : "objects";
}

char *fv_lock_words(const struct fv_lock_place *k, const struct fv_symbols *s, char *out, size_t bytes)
{
    char buffer[NAME_BYTES], place[700];

    if (k->rest)
        snprintf(out, bytes, "%s without a record of their own", plural(k->kind));
    else if (k->kind == FV_SYNC_JOIN)
        snprintf(out, bytes, "threads of %s", fv_routine_words(k->address, s, buffer, sizeof(buffer)));
    else if (k->address)
        fv_words_short(address_label(k->address, s, buffer, sizeof(buffer)), out, bytes);
    else {
        fv_path_words(s, k->node, NAMED_CALLERS, place, sizeof(place));
        if (k->objects == 1 && !k->object) /* of an archive */
            snprintf(out, bytes, "first used in %s", place);
        else if (k->objects == 1)
            snprintf(out, bytes, "0x%llx first used in %s", (unsigned long long)k->object, place);
        else
            snprintf(out, bytes, "%u %s first used in %s", k->objects, plural(k->kind), place);
    }
    return out;
}
