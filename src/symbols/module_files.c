/* SPDX-License-Identifier: BSD-3-Clause */
/* See module_files.h. */
#include "symbols/module_files.h"
#include "base/without.h"
#include "symbols/lines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool has_id(const struct fv_elf *o, const struct fv_module *m)
{
    return o->build_id_bytes == m->build_id_bytes && !memcmp(o->build_id, m->build_id, m->build_id_bytes);
}

static bool take_debug(struct fv_module_files *l, const struct fv_module *m, const char *path)
{
    if (fv_elf_open(&l->debug, path))
        return false;
    if (m->build_id_bytes && l->debug.build_id_bytes ? has_id(&l->debug, m) : fv_elf_is_linked(&l->object, &l->debug))
        return true;
    fv_elf_close(&l->debug);
    return false;
}

/* <directory>/.build-id/xx/yyyy.debug; the directory's name has `length` bytes. */
static bool open_by_id(struct fv_module_files *l, const struct fv_module *m, const char *directory, size_t length,
                       char *path, size_t bytes)
{
    if (m->build_id_bytes < 2)
        return false;
    int n = snprintf(path, bytes, "%.*s/.build-id/%02x/", (int)length, directory, m->build_id[0]);
    if (n < 0 || (size_t)n + 2 * m->build_id_bytes + 7 > bytes)
        return false;
    for (uint32_t i = 1; i < m->build_id_bytes; i++)
        n += snprintf(path + n, bytes - (size_t)n, "%02x", m->build_id[i]);
    snprintf(path + n, bytes - (size_t)n, ".debug");
    return take_debug(l, m, path);
}

/* By the name that the object has for it, .gnu_debuglink: <directory>/<the object's directory>/NAME. */
static bool open_by_name(struct fv_module_files *l, const struct fv_module *m, const char *directory, size_t length,
                         const char *below, char *path, size_t bytes)
{
    const char *name = fv_elf_debug_link(&l->object);
    int n = name ? snprintf(path, bytes, "%.*s%.*s%s%s", (int)length, directory, (int)(fv_base_name(m->path) - m->path),
                            m->path, below, name)
                 : -1;

    return n > 0 && (size_t)n < bytes && strcmp(path, m->path) && take_debug(l, m, path);
}

static bool open_debug(struct fv_module_files *l, const struct fv_module *m, char *path, size_t bytes)
{
    static const char usual[] = "/usr/lib/debug";
    const char *own = getenv("FVMPI_DEBUG_PATH");

    for (size_t length; own && *own; own += length + (own[length] == ':')) {
        length = strcspn(own, ":");
        if (length && length < bytes &&
            (open_by_id(l, m, own, length, path, bytes) || open_by_name(l, m, own, length, "", path, bytes)))
            return true;
    }
    bool is_usual = !fv_without("usr_lib_debug");

    return (is_usual && open_by_id(l, m, usual, sizeof(usual) - 1, path, bytes)) ||
           open_by_name(l, m, "", 0, "", path, bytes) || open_by_name(l, m, "", 0, ".debug/", path, bytes) ||
           (is_usual && open_by_name(l, m, usual, sizeof(usual) - 1, "", path, bytes));
}

static void say_state(struct fv_problems *problems, const struct fv_module *m, bool there, bool changed, bool debug)
{
    const char *then = debug ? "; its debug file is used" : ", its functions are shown as offsets";

    if (!problems)
        return;
    if (changed)
        fv_problem_add(problems, FV_PROBLEM_NOTE, NULL, "%s: file changed since the run%s", m->path, then);
    else if (!there && m->path[0] == '/')
        fv_problem_add(problems, FV_PROBLEM_NOTE, NULL, "%s: missing or not readable%s", m->path, then);
}

bool fv_module_object_open(struct fv_elf *object, const struct fv_module *m)
{
    if (fv_elf_open(object, m->path))
        return false;
    if (!m->build_id_bytes || has_id(object, m))
        return true;
    fv_elf_close(object);
    return false;
}

bool fv_module_files_open(struct fv_module_files *l, const struct fv_module *m, struct fv_problems *problems)
{
    char debug_path[4096];
    bool there = !fv_elf_open(&l->object, m->path), changed = false;

    if (there && m->build_id_bytes && !has_id(&l->object, m)) {
        fv_elf_close(&l->object);
        there = false;
        changed = true;
    }
    bool debug = open_debug(l, m, debug_path, sizeof(debug_path));
    say_state(problems, m, there, changed, debug);
    if (!there && !debug)
        return false;
    if (debug && l->debug.has_lines)
        l->lines = fv_lines_open(debug_path, there ? m->path : NULL);
    else if (there && l->object.has_lines)
        l->lines = fv_lines_open(m->path, m->path);
    if (debug)
        fv_elf_symbols(&l->debug);
    if (there)
        fv_elf_symbols(&l->object);
    return true;
}

void fv_module_files_tell(const struct fv_module_files *l, const struct fv_module *m, struct fv_problems *problems)
{
    char why[512];

    if (l->lines && fv_lines_unread(l->lines, why, sizeof(why)))
        fv_problem_add(problems, FV_PROBLEM_NOTE, NULL, "%s: %s", m->path, why);
}

void fv_module_files_close(struct fv_module_files *l)
{
    fv_lines_close(l->lines);
    l->lines = NULL;
    fv_elf_close(&l->object);
    fv_elf_close(&l->debug);
}
