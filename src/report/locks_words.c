/* Names of locks and of where they are used, as views show them. */
#include "report/text.h"

#include <stdio.h>
#include <string.h>

#define NAME_BYTES    300
#define NAMED_CALLERS 2u /* of the path that first used a lock */

/* std::mutex::lock() says less than who calls it. Names of templates come with the type that they return. */
static bool is_library(const struct fv_frame *f)
{
    static const char *const begins[] = { "std::", "__gthread", "__glibcxx_", "__gnu_cxx::", "pthread_" };
    const char *name = f->function ? f->function : "";

    for (const char *end = name + strcspn(name, "<("), *at = name; at < end; at++)
        if (*at == ' ')
            name = at + 1;
    for (unsigned i = 0; i < sizeof(begins) / sizeof(*begins); i++)
        if (!strncmp(name, begins[i], strlen(begins[i])))
            return true;
    return false;
}

static bool is_cxx(const struct fv_module *module)
{
    return !strncmp(module->name, "libstdc++.", 10);
}

/* Where std::thread begins is no caller. */
char *fv_view_path_words(const struct fv_view *v, uint32_t node, unsigned callers, char *out, size_t bytes)
{
    struct fv_path path = { 0 };
    size_t first = 0, used = 0;
    char frame[600];

    fv_path_of(&path, v->symbols, v->model, node);
    while (path.count > 1 && is_cxx(&v->model->modules[path.frames[path.count - 1].module]))
        path.count--;
    while (first + 1 < path.count && is_library(&path.frames[first]))
        first++;
    snprintf(out, bytes, "a call path that is not known");
    for (size_t i = first; i < path.count && i <= first + callers && used < bytes; i++)
        used += (size_t)snprintf(out + used, bytes - used, "%s%s", i > first ? " <- " : "",
                                 fv_place_frame(&path.frames[i], v->model, frame, sizeof(frame)));
    fv_path_release(&path);
    return out;
}

char *fv_view_routine(const struct fv_view *v, uint32_t routine, char *out, size_t bytes)
{
    char buffer[NAME_BYTES], clean[NAME_BYTES];
    const struct fv_address *a = routine == FV_NONE ? NULL : &v->model->addresses[routine];

    if (!a) {
        snprintf(out, bytes, "a function that is not known");
        return out;
    }
    if (!strncmp(v->model->modules[a->module].name, "libstdc++.",
                 10)) { /* all of them begin with one function of its */
        snprintf(out, bytes, "std::thread");
        return out;
    }
    fv_words_short(fv_address_label(a, v->model, buffer, sizeof(buffer)), clean, sizeof(clean));
    snprintf(out, bytes, "%s%s", clean, a->name && !strpbrk(clean, "(+") ? "()" : "");
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

char *fv_view_lock_name(const struct fv_view *v, const struct fv_lock *k, char *out, size_t bytes)
{
    char buffer[NAME_BYTES], clean[NAME_BYTES], place[700];

    if (k->rest)
        snprintf(out, bytes, "%s without a record of their own", plural(k->kind));
    else if (k->kind == FV_SYNC_JOIN)
        snprintf(out, bytes, "threads of %s", fv_view_routine(v, k->address, clean, sizeof(clean)));
    else if (k->address != FV_NONE)
        fv_words_short(fv_address_label(&v->model->addresses[k->address], v->model, buffer, sizeof(buffer)),
                       out, bytes);
    else {
        fv_view_path_words(v, k->node, NAMED_CALLERS, place, sizeof(place));
        if (k->objects == 1)
            snprintf(out, bytes, "0x%llx first used in %s", (unsigned long long)k->worst.address, place);
        else
            snprintf(out, bytes, "%u %s first used in %s", k->objects, plural(k->kind), place);
    }
    return out;
}
