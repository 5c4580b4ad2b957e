/* SPDX-License-Identifier: BSD-3-Clause */
/* See symbols.h. */
#include "symbols/symbols.h"
#include "base/now.h"
#include "symbols/lines.h"
#include "symbols/module_files.h"
#include "symbols/unwind_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define INLINED_MAX 64 /* frames at one address */

struct look_up {
    struct fv_symbols *symbols;
    struct fv_module_files files;
    bool fortran;
};

static bool looks_like(const struct fv_frame *a, const struct fv_frame *b)
{
    return a->module == b->module && a->line == b->line && a->inlined == b->inlined &&
           (a->line || a->offset == b->offset) && fv_same_text(a->function, b->function) &&
           fv_same_text(a->file, b->file);
}

/* The index of the first frame that looks like this one, which is to become number `own`. */
static uint32_t find_alike(struct fv_symbols *s, const struct fv_frame *f, uint32_t own)
{
    uint64_t hash = fv_mix2(fv_mix2(f->module, f->line ? f->line : f->offset), fv_hash_text(f->function));
    struct fv_index_probe p = fv_index_probe(&s->alike, fv_mix2(hash, fv_hash_text(f->file)));

    for (uint32_t i; (i = fv_index_next(&p)) != FV_NONE;)
        if (looks_like(&s->frames[i], f))
            return i;
    fv_index_add(&s->alike, fv_mix2(hash, fv_hash_text(f->file)), own);
    return own;
}

static void add_frame(struct fv_symbols *s, const struct fv_frame *frame)
{
    FV_GROW(s->frames, s->frame_room, s->frame_count + 1);
    s->frames[s->frame_count] = *frame;
    s->frames[s->frame_count].alike = find_alike(s, frame, (uint32_t)s->frame_count);
    s->frame_count++;
}

/* Thousands of addresses lie in a few files: neighbours share the name's copy. */
static const char *keep_file(struct fv_symbols *s, const char *file)
{
    for (size_t i = s->frame_count, steps = 0; i-- > 0 && steps < 32; steps++)
        if (s->frames[i].file && !strcmp(s->frames[i].file, file))
            return s->frames[i].file;
    return fv_arena_string(&s->arena, file);
}

/* Of fvmpi.h and fvmpi.hpp. */
static bool is_mark(const char *function)
{
    return function && (!strncmp(function, "fvmpi_section_", 14) || !strcmp(function, "fvmpi_label") ||
                        !strcmp(function, "fvmpi_keep") || !strncmp(function, "_ZN5fvmpi7section", 17));
}

/* What is inlined of fvmpi.h is its caller's; compilers count the call that follows it among it, too, whose line that
 * is. Returns how many frames are left. */
static size_t without_marks(struct fv_code_line *lines, size_t count)
{
    size_t left = 0;

    for (size_t i = 0; i < count; i++) {
        bool is_inlined = i + 1 < count;

        if (!is_inlined || !is_mark(lines[i].function)) {
            lines[left++] = lines[i];
        } else if (lines[i].file && strncmp(fv_base_name(lines[i].file), "fvmpi.h", 7)) {
            lines[i + 1].file = lines[i].file;
            lines[i + 1].line = lines[i].line;
        }
    }
    return left;
}

/* A signal handler returns to code that the C library has for that, and that has no name of its own:
 * "mov $SYS_rt_sigreturn, %rax; syscall". */
static bool is_signal_return(const struct fv_elf *object, uint64_t offset)
{
    static const uint8_t code[] = { 0x48, 0xc7, 0xc0, 0x0f, 0x00, 0x00, 0x00, 0x0f, 0x05 };
    const uint8_t *data = fv_elf_code(object, offset, sizeof(code));

    return data && !memcmp(data, code, sizeof(code));
}

static void add_frames(struct look_up *l, uint32_t module, uint64_t offset, struct fv_symbol *item)
{
    struct fv_code_line lines[INLINED_MAX];
    uint64_t address = offset - 1; /* of the call, not of where it returns to */
    size_t count =
        l->files.lines ? without_marks(lines, fv_lines_find(l->files.lines, address, lines, INLINED_MAX)) : 0;
    const struct fv_elf_symbol *symbol = fv_elf_find(&l->files.debug, address);
    struct fv_frame frame = { .module = module, .offset = offset };

    if (is_signal_return(&l->files.object, offset)) {
        frame.function = "(signal handler)";
        add_frame(l->symbols, &frame);
        return;
    }
    if (!symbol)
        symbol = fv_elf_find(&l->files.object, address);
    for (size_t i = 0; i + 1 < count; i++) {
        frame.function = lines[i].function ? fv_demangle(&l->symbols->arena, lines[i].function, l->fortran) : NULL;
        frame.file = lines[i].file ? keep_file(l->symbols, lines[i].file) : NULL;
        frame.line = lines[i].line;
        frame.inlined = true;
        add_frame(l->symbols, &frame);
    }
    const struct fv_code_line *last = count ? &lines[count - 1] : NULL;
    const char *name = symbol ? symbol->name : last ? last->function : NULL;
    if (symbol) {
        item->begin = symbol->begin;
        item->size = symbol->size;
    } else if (fv_unwind_table_find(&l->files.object, address, &item->begin, &item->size) && !name) {
        frame.begin = item->begin;
    }
    frame.function = name ? fv_demangle(&l->symbols->arena, name, l->fortran) : NULL;
    frame.file = last && last->file ? keep_file(l->symbols, last->file) : NULL;
    frame.line = last ? last->line : 0;
    frame.inlined = false;
    add_frame(l->symbols, &frame);
}

bool fv_module_is_code(const struct fv_module *m)
{
    return m->build_id_bytes == FV_CODE_ID_BYTES && !memcmp(m->build_id, FV_CODE_ID, sizeof(FV_CODE_ID) - 1);
}

/* FILE has its own colons twice (code_path.h). */
const char *fv_code_function(const struct fv_module *m)
{
    for (const char *at = m->path; *at; at++)
        if (*at == ':' && *++at != ':')
            return at;
    return NULL;
}

/* Ends FILE of "FILE:FUNCTION", with its colons once (fv_code_path()). FUNCTION; NULL: there is none. */
static char *split_code_path(char *path)
{
    char *end = path;

    for (char *at = path; *at; at++) {
        if (*at == ':' && *++at != ':') {
            *end = '\0';
            return at;
        }
        *end++ = *at;
    }
    *end = '\0';
    return NULL;
}

/* Whose path says all, "FILE:FUNCTION", with the line as its offset. FILE may be empty. */
static void add_code_frame(struct fv_symbols *s, uint32_t module, uint64_t offset)
{
    struct fv_frame frame = { .module = module, .offset = offset, .line = offset <= UINT32_MAX ? (uint32_t)offset : 0 };
    char *file = fv_arena_string(&s->arena, s->modules[module].path), *function = split_code_path(file);

    if (function) {
        frame.function = function;
        frame.file = *file ? keep_file(s, file) : NULL;
    }
    add_frame(s, &frame);
}

/* ---- all modules ---- */

struct place {
    uint64_t offset;
    uint32_t module, node;
};

static int by_module_and_offset(const void *a, const void *b)
{
    const struct place *x = a, *y = b;

    if (x->module != y->module)
        return x->module < y->module ? -1 : 1;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

/* A line that is written over itself, on a terminal, when it takes more than a second. */
struct progress {
    double begin_s, last_s;
    bool on, shown;
};

static void progress_show(struct progress *p, const char *module, size_t done, size_t all)
{
    double now = p->on ? fv_now_s() : 0;

    if (!p->on || now - p->begin_s < 1 || now - p->last_s < 0.1)
        return;
    p->last_s = now;
    p->shown = true;
    fprintf(stderr, "\r\033[Kfvmpi: looking up symbols: %zu %% (%.60s)", done * 100 / (all ? all : 1), module);
    fflush(stderr);
}

static void progress_end(struct progress *p)
{
    if (p->shown)
        fputs("\r\033[K", stderr);
}

static void close_module(struct look_up *l, uint32_t module, struct fv_problems *problems)
{
    if (module != FV_NONE)
        fv_module_files_tell(&l->files, &l->symbols->modules[module], problems);
    fv_module_files_close(&l->files);
}

static void resolve_sorted(struct fv_symbols *out, const struct place *places, size_t count, bool look_up,
                           struct fv_problems *problems)
{
    struct look_up l = { .symbols = out };
    struct progress progress = { .begin_s = fv_now_s(), .on = isatty(STDERR_FILENO) };
    uint32_t module = FV_NONE;
    bool usable = false, is_code = false;

    for (size_t i = 0; i < count; i++) {
        const struct place *p = &places[i];
        struct fv_symbol *symbol = &out->of_node[p->node];

        if (p->module != module) {
            close_module(&l, module, problems);
            module = p->module;
            progress_show(&progress, out->modules[module].name, i, count);
            is_code = fv_module_is_code(&out->modules[module]);
            usable = look_up && module >= FV_MODEL_FIRST_MODULE && !is_code &&
                     fv_module_files_open(&l.files, &out->modules[module], problems);
            l.fortran = l.files.object.fortran || l.files.debug.fortran;
        } else if (p->offset == p[-1].offset) {
            *symbol = out->of_node[p[-1].node];
            continue;
        }
        symbol->first = (uint32_t)out->frame_count;
        if (usable)
            add_frames(&l, module, p->offset, symbol);
        else if (is_code)
            add_code_frame(out, module, p->offset);
        else
            add_frame(out, &(struct fv_frame){ .module = module, .offset = p->offset });
        symbol->count = (uint32_t)out->frame_count - symbol->first;
        if (i % 16 == 0)
            progress_show(&progress, out->modules[module].name, i, count);
    }
    close_module(&l, module, problems);
    progress_end(&progress);
}

void fv_symbols_resolve(struct fv_symbols *out, const struct fv_module *modules, const struct fv_node *nodes,
                        size_t node_count, bool look_up, struct fv_problems *problems)
{
    struct place *places = fv_xcalloc(node_count, sizeof(*places));

    *out = (struct fv_symbols){ .modules = modules, .nodes = nodes, .looked_up = look_up };
    out->of_node = fv_xcalloc(node_count, sizeof(*out->of_node));
    for (uint32_t i = 0; i < node_count; i++)
        places[i] = (struct place){ nodes[i].offset, nodes[i].module, i };
    if (node_count)
        qsort(places, node_count, sizeof(*places), by_module_and_offset);
    resolve_sorted(out, places, node_count, look_up, problems);
    free(places);
}

void fv_symbols_release(struct fv_symbols *s)
{
    free(s->frames);
    free(s->of_node);
    fv_index_release(&s->alike);
    fv_arena_release(&s->arena);
    *s = (struct fv_symbols){ 0 };
}
