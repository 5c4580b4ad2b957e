/* SPDX-License-Identifier: BSD-3-Clause */
/* Locks and routines of the model by their names. */
#include "profile/threads/lock_words.h"
#include "tool/words.h"

#include <stdio.h>
#include <string.h>

char *fv_view_routine(const struct fv_profile *v, uint32_t routine, char *out, size_t bytes)
{
    return fv_routine_words(routine == FV_NONE ? NULL : &v->model->addresses[routine], v->symbols, out, bytes);
}

char *fv_view_lock_name(const struct fv_profile *v, const struct fv_lock_view *k, char *out, size_t bytes)
{
    const struct fv_lock_place place = {
        .kind = k->kind,
        .rest = k->rest,
        .address = k->address == FV_NONE ? NULL : &v->model->addresses[k->address],
        .node = k->node,
        .objects = k->objects,
        .object = k->worst.address,
    };

    return fv_lock_words(&place, v->symbols, out, bytes);
}

/* A region that OMPT told of is known by its place in the function that forks it. Locks within a struct have such
 * names, too. */
static char *find_place(const struct fv_profile *v, const struct fv_lock_view *k, char *name)
{
    const struct fv_locks *l = fv_model_locks(v->model);
    char *plus = strrchr(name, '+');

    if (!k->sites || k->address == FV_NONE || !v->model->addresses[k->address].name) /* a module's name and an offset */
        return NULL;
    return l->sites[k->first_site].operation == FV_SYNC_WAIT && plus && !strncmp(plus, "+0x", 3) ? plus : NULL;
}

char *fv_view_lock_words(const struct fv_profile *v, const struct fv_lock_view *k, char *out, size_t bytes)
{
    static const char critical[] = ".gomp_critical_user_", variable[] = ".var", region[] = "._omp_fn.";
    char name[1200], of[700], *end, *place;

    fv_view_lock_name(v, k, name, sizeof(name));
    end = strstr(name, region);
    place = k->kind == FV_SYNC_OMP && !end ? find_place(v, k, name) : NULL;
    if (k->kind == FV_SYNC_OMP && !strncmp(name, critical, sizeof(critical) - 1)) {
        size_t length = strlen(name), more = sizeof(variable) - 1; /* that clang adds */

        if (!strcmp(name + length - more, variable))
            name[length - more] = '\0';
        if (name[sizeof(critical) - 1])
            snprintf(out, bytes, "critical (%s)", name + sizeof(critical) - 1);
        else
            snprintf(out, bytes, "critical");
    } else if (place) {
        *place = '\0';
        if (fv_words_is_region(name))
            snprintf(out, bytes, "region in %s", fv_words_region(name, of, sizeof(of)));
        else
            snprintf(out, bytes, "region %s%s%s", *name == '!' ? "" : "in ", name, fv_words_brackets(name));
    } else if (k->kind == FV_SYNC_OMP && end)
        snprintf(out, bytes, "region in %.*s()", (int)(end - name), name);
    else
        snprintf(out, bytes, "%s", name);
    return out;
}

char *fv_view_lock_label(const struct fv_profile *v, const struct fv_lock_view *k, char *out, size_t bytes)
{
    char place[1200];

    if (k->address != FV_NONE || k->kind == FV_SYNC_JOIN || k->rest)
        return fv_view_lock_words(v, k, out, bytes);
    snprintf(out, bytes, "used in %s", fv_path_words(v->symbols, k->node, 0, place, sizeof(place)));
    return out;
}

char *fv_view_phase_label(const struct fv_profile *v, const struct fv_phase *p, bool in_column, char *out, size_t bytes)
{
    char routine[300], place[700];

    if (p->kind == FV_PHASE_THREADS)
        snprintf(out, bytes, "%s%s%s", fv_view_routine(v, p->routine, routine, sizeof(routine)),
                 in_column ? " by " : ", created in ", fv_path_words(v->symbols, p->node, 0, place, sizeof(place)));
    else if (p->node)
        snprintf(out, bytes, "OpenMP %s%s", in_column ? "" : "region in ",
                 fv_path_words(v->symbols, p->node, 0, place, sizeof(place)));
    else
        snprintf(out, bytes, "OpenMP%s", in_column ? ", others" : " regions without a record of their own");
    return out;
}
