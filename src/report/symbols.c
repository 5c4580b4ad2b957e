/* See symbols.h. */
#include "report/symbols.h"
#include "report/lines.h"
#include "report/object.h"
#include "report/unwind_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define INLINED_MAX 64 /* frames at one address */

/* ---- names ---- */

static const char *demangle_fortran(struct fv_arena *arena, const char *name)
{
    const char *mod = !strncmp(name, "__", 2) && name[2] != '_' ? strstr(name + 2, "_MOD_") : NULL;

    if (mod)
        return fv_arena_printf(arena, "%.*s::%s", (int)(mod - name - 2), name + 2, mod + 5);
    return NULL;
}

static bool is_plain_fortran(const char *name, size_t length)
{
    if (length < 2 || name[length - 1] != '_' || name[length - 2] == '_' || name[0] == '_')
        return false;
    for (size_t i = 0; i < length; i++)
        if (!((name[i] >= 'a' && name[i] <= 'z') || (name[i] >= '0' && name[i] <= '9') || name[i] == '_'))
            return false;
    return true;
}

/* Less the version ("memcpy@@GLIBC_2.14") and what compilers append to copies of a function. */
static size_t plain_length(const char *name)
{
    static const char *const copies[] = { ".isra.", ".part.", ".constprop.", ".cold", ".lto_priv.",
                                          ".llvm.", "@" };
    size_t length = strlen(name);

    for (unsigned i = 0; i < sizeof(copies) / sizeof(*copies); i++) {
        const char *at = strstr(name + 1, copies[i]);

        if (at && (size_t)(at - name) < length)
            length = (size_t)(at - name);
    }
    return length;
}

const char *fv_demangle(struct fv_arena *arena, const char *name, bool fortran)
{
    size_t length = *name ? plain_length(name) : 0;
    char *plain = fv_arena_bytes(arena, name, length);
    const char *out = demangle_fortran(arena, plain);

    if (out)
        return out;
    if (fortran && is_plain_fortran(plain, length)) {
        plain[length - 1] = '\0';
        return plain;
    }
    char *demangled = plain[0] == '_' ? fv_lines_demangle(plain) : NULL;
    if (!demangled)
        return plain;
    out = fv_arena_string(arena, demangled);
    free(demangled);
    return out;
}

/* ---- one module ---- */

static bool has_id(const struct fv_object *o, const struct fv_module *m)
{
    return o->build_id_bytes == m->build_id_bytes && !memcmp(o->build_id, m->build_id, m->build_id_bytes);
}

/* <directory>/.build-id/xx/yyyy.debug with the right build-id inside. */
static bool open_debug_in(struct fv_module_files *l, const struct fv_module *m, const char *directory, char *path,
                          size_t bytes)
{
    int n = snprintf(path, bytes, "%s/.build-id/%02x/", directory, m->build_id[0]);

    if (n < 0 || (size_t)n + 2 * m->build_id_bytes + 7 > bytes)
        return false;
    for (uint32_t i = 1; i < m->build_id_bytes; i++)
        n += snprintf(path + n, bytes - (size_t)n, "%02x", m->build_id[i]);
    snprintf(path + n, bytes - (size_t)n, ".debug");
    if (fv_object_open(&l->debug, path))
        return false;
    if (has_id(&l->debug, m))
        return true;
    fv_object_close(&l->debug);
    return false;
}

static bool open_debug(struct fv_module_files *l, const struct fv_module *m, char *path, size_t bytes)
{
    const char *own = getenv("FVMPI_DEBUG_PATH");

    if (m->build_id_bytes < 2)
        return false;
    return (own && *own && open_debug_in(l, m, own, path, bytes)) ||
           open_debug_in(l, m, "/usr/lib/debug", path, bytes);
}

static void say_state(struct fv_problems *problems, const struct fv_module *m, bool there, bool changed, bool debug)
{
    const char *then = debug ? "; its debug file is used" : ", its functions are shown as offsets";

    if (!problems)
        return;
    if (changed)
        fv_problem_add(problems, FV_PROBLEM_NOTE, NULL, "%s: file changed since the run%s",
                       m->path, then);
    else if (!there && m->path[0] == '/')
        fv_problem_add(problems, FV_PROBLEM_NOTE, NULL, "%s: not there or not readable%s", m->path,
                       then);
}

bool fv_module_files_open(struct fv_module_files *l, const struct fv_module *m, struct fv_problems *problems)
{
    char debug_path[4096];
    bool there = !fv_object_open(&l->object, m->path), changed = false;

    if (there && m->build_id_bytes && !has_id(&l->object, m)) {
        fv_object_close(&l->object);
        there = false;
        changed = true;
    }
    bool debug = open_debug(l, m, debug_path, sizeof(debug_path));
    say_state(problems, m, there, changed, debug);
    if (!there && !debug)
        return false;
    if (debug && l->debug.has_lines)
        l->lines = fv_lines_open(debug_path);
    else if (there && l->object.has_lines)
        l->lines = fv_lines_open(m->path);
    if (debug)
        fv_object_symbols(&l->debug);
    if (there)
        fv_object_symbols(&l->object);
    return true;
}

void fv_module_files_close(struct fv_module_files *l)
{
    fv_lines_close(l->lines);
    l->lines = NULL;
    fv_object_close(&l->object);
    fv_object_close(&l->debug);
}

struct look_up {
    struct fv_symbols *symbols;
    struct fv_model *model;
    struct fv_module_files files;
    bool fortran;
};

static uint64_t hash_text(const char *text)
{
    return text ? fv_hash_bytes(text, strlen(text)) : 0;
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a && b && !strcmp(a, b));
}

static bool looks_like(const struct fv_frame *a, const struct fv_frame *b)
{
    return a->module == b->module && a->line == b->line && a->inlined == b->inlined &&
           (a->line || a->offset == b->offset) && same_text(a->function, b->function) &&
           same_text(a->file, b->file);
}

/* The index of the first frame that looks like this one, which is to become number `own`. */
static uint32_t find_alike(struct fv_symbols *s, const struct fv_frame *f, uint32_t own)
{
    uint64_t hash = fv_mix2(fv_mix2(f->module, f->line ? f->line : f->offset), hash_text(f->function));
    struct fv_index_probe p = fv_index_probe(&s->alike, fv_mix2(hash, hash_text(f->file)));

    for (uint32_t i; (i = fv_index_next(&p)) != FV_NONE;)
        if (looks_like(&s->frames[i], f))
            return i;
    fv_index_add(&s->alike, fv_mix2(hash, hash_text(f->file)), own);
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

static void add_frames(struct look_up *l, uint32_t module, uint64_t offset)
{
    struct fv_line lines[INLINED_MAX];
    uint64_t address = offset - 1; /* of the call, not of where it returns to */
    size_t count = l->files.lines ? fv_lines_find(l->files.lines, address, lines, INLINED_MAX) : 0;
    const struct fv_object_symbol *symbol = fv_object_find(&l->files.debug, address);
    struct fv_frame frame = { .module = module, .offset = offset };

    if (!symbol)
        symbol = fv_object_find(&l->files.object, address);
    for (size_t i = 0; i + 1 < count; i++) {
        frame.function =
            lines[i].function ? fv_demangle(&l->symbols->arena, lines[i].function, l->fortran) : NULL;
        frame.file = lines[i].file ? keep_file(l->symbols, lines[i].file) : NULL;
        frame.line = lines[i].line;
        frame.inlined = true;
        add_frame(l->symbols, &frame);
    }
    const struct fv_line *last = count ? &lines[count - 1] : NULL;
    const char *name = symbol ? symbol->name : last ? last->function : NULL;
    struct fv_symbol *item = &l->symbols->items[l->symbols->count];
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

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void progress_show(struct progress *p, const char *module, size_t done, size_t all)
{
    double now = p->on ? now_s() : 0;

    if (!p->on || now - p->begin_s < 1 || now - p->last_s < 0.1)
        return;
    p->last_s = now;
    p->shown = true;
    fprintf(stderr, "\r\033[Kfvmpi: looking up symbols: %zu %% (%.60s)", done * 100 / (all ? all : 1),
            module);
    fflush(stderr);
}

static void progress_end(struct progress *p)
{
    if (p->shown)
        fputs("\r\033[K", stderr);
}

static void resolve_sorted(struct fv_symbols *out, struct fv_model *m, const struct place *places,
                           bool look_up)
{
    struct look_up l = { .symbols = out, .model = m };
    struct progress progress = { .begin_s = now_s(), .on = isatty(STDERR_FILENO) };
    uint32_t module = FV_NONE;
    bool usable = false;

    for (size_t i = 0; i < m->node_count; i++) {
        const struct place *p = &places[i];

        if (p->module != module) {
            fv_module_files_close(&l.files);
            module = p->module;
            progress_show(&progress, m->modules[module].name, i, m->node_count);
            usable = look_up && module >= FV_MODEL_FIRST_MODULE &&
                     fv_module_files_open(&l.files, &m->modules[module], &m->problems);
            l.fortran = l.files.object.fortran || l.files.debug.fortran;
        } else if (p->offset == p[-1].offset) {
            m->nodes[p->node].symbol = m->nodes[p[-1].node].symbol;
            continue;
        }
        m->nodes[p->node].symbol = (uint32_t)out->count;
        out->items[out->count].first = (uint32_t)out->frame_count;
        if (usable)
            add_frames(&l, module, p->offset);
        else
            add_frame(out, &(struct fv_frame){ .module = module, .offset = p->offset });
        out->items[out->count].count = (uint32_t)out->frame_count - out->items[out->count].first;
        out->count++;
        if (i % 16 == 0)
            progress_show(&progress, m->modules[module].name, i, m->node_count);
    }
    fv_module_files_close(&l.files);
    progress_end(&progress);
}

void fv_symbols_resolve(struct fv_symbols *out, struct fv_model *m, bool look_up)
{
    struct place *places = fv_xcalloc(m->node_count, sizeof(*places));

    *out = (struct fv_symbols){ .looked_up = look_up };
    out->items = fv_xcalloc(m->node_count, sizeof(*out->items));
    for (uint32_t i = 0; i < m->node_count; i++)
        places[i] = (struct place){ m->nodes[i].offset, m->nodes[i].module, i };
    qsort(places, m->node_count, sizeof(*places), by_module_and_offset);
    resolve_sorted(out, m, places, look_up);
    free(places);
    if (look_up)
        fv_addresses_resolve(m);
}

void fv_symbols_release(struct fv_symbols *s)
{
    free(s->frames);
    free(s->items);
    fv_index_release(&s->alike);
    fv_arena_release(&s->arena);
    *s = (struct fv_symbols){ 0 };
}

/* ---- call paths ---- */

static bool is_named(const struct fv_frame *f, const char *const *names)
{
    for (; f->function && *names; names++)
        if (!strncmp(f->function, *names, strlen(*names)))
            return true;
    return false;
}

static bool is_libc(const struct fv_frame *f, const struct fv_model *m)
{
    const char *name = m->modules[f->module].name;

    return !strncmp(name, "libc.so", 7) || !strncmp(name, "libc-", 5) || !strncmp(name, "libpthread", 10) ||
           !strncmp(name, "ld-linux", 8) || !strncmp(name, "ld-musl", 7);
}

/* The MPI library's Fortran binding, which calls its C functions: not the user's code. */
bool fv_module_is_binding(const struct fv_module *module)
{
    const char *name = module->name;

    return !strncmp(name, "libmpichfort", 12) || !strncmp(name, "libmpifort", 10) ||
           !strncmp(name, "libmpi_mpifh", 12) || !strncmp(name, "libmpi_usempi", 13);
}

bool fv_module_is_fvmpi(const struct fv_module *module)
{
    return !strncmp(module->name, "libfvmpi", 8);
}

/* Drops the innermost frames that are the binding's, unless nothing would be left. */
static void trim_binding(struct fv_path *p, const struct fv_model *m)
{
    size_t skip = 0;

    while (skip < p->count && fv_module_is_binding(&m->modules[p->frames[skip].module]))
        skip++;
    if (skip == p->count)
        return;
    p->count -= skip;
    memmove(p->frames, p->frames + skip, p->count * sizeof(*p->frames));
}

/* Cuts the frames outside of main. Where main has no name (stripped programs), it is the function that
 * the C library's start-up code called, which in turn is called by the program's _start. */
static void trim(struct fv_path *p, const struct fv_model *m)
{
    static const char *const start_up[] = { "__libc_start_", "clone",       "__clone",
                                            "start_thread",  "__libc_init", NULL };
    struct fv_frame *f = p->frames;
    size_t count = p->count;

    for (size_t i = count; i-- > 0;)
        if (f[i].function && !strcmp(f[i].function, "main")) {
            p->count = i + 1;
            return;
        }
    bool started = count && f[count - 1].function && !strcmp(f[count - 1].function, "_start");
    if (started || (count > 2 && !f[count - 1].function && is_libc(&f[count - 2], m))) {
        count--;
        started = true;
    }
    while (count > 1 && (is_libc(&f[count - 1], m) || is_named(&f[count - 1], start_up)))
        count--;
    if (started && count && count + 1 < p->count && !f[count - 1].function &&
        f[count - 1].module >= FV_MODEL_FIRST_MODULE)
        f[count - 1].function = "main";
    if (count)
        p->count = count;
}

void fv_path_of(struct fv_path *p, const struct fv_symbols *s, const struct fv_model *m, uint32_t node)
{
    p->count = 0;
    for (; node; node = m->nodes[node].parent) {
        const struct fv_symbol *symbol = &s->items[m->nodes[node].symbol];

        FV_GROW(p->frames, p->room, p->count + symbol->count);
        memcpy(p->frames + p->count, s->frames + symbol->first, symbol->count * sizeof(*p->frames));
        p->count += symbol->count;
    }
    trim_binding(p, m);
    trim(p, m);
}

void fv_path_release(struct fv_path *p)
{
    free(p->frames);
    *p = (struct fv_path){ 0 };
}

const char *fv_frame_label(const struct fv_frame *f, const struct fv_model *m, char *buffer, size_t bytes)
{
    if (f->function)
        return f->function;
    if (f->module == FV_MODEL_CUT)
        return "(outer frames beyond the depth limit)";
    if (f->module == FV_MODEL_LOST)
        return "(frames lost in a damaged part of the file)";
    snprintf(buffer, bytes, "%s%s0x%llx", m->modules[f->module].name,
             f->module == FV_MODEL_NO_MODULE ? "" : "+", (unsigned long long)f->offset);
    return buffer;
}
