/* SPDX-License-Identifier: BSD-3-Clause */
/* What the recording was asked for: the options that were not at their defaults. Ranks may differ: each reads its
 * own environment. */
#include "profile/build.h"

#include "base/options.h"

#include <stdlib.h>
#include <string.h>

/* More than this are no options of ours. */
#define VALUES_MOST 1000

/* Lists of events are recorded as `fvmpi run` encodes them (base/perf_events.h): their names are what was asked for.
 * Returns the bytes that are left. */
static size_t leave_names(char *list, size_t bytes)
{
    size_t used = 0;

    for (size_t at = 0, next; at < bytes; at = next + 1) {
        size_t length = strcspn(list + at, "@,");

        next = at + strcspn(list + at, ",");
        if (!length)
            continue;
        if (used)
            list[used++] = ',';
        memmove(list + used, list + at, length);
        used += length;
    }
    list[used] = '\0';
    return used;
}

static bool is_list_of_events(const struct fv_option *option)
{
    return option && (!strcmp(option->variable, "FVMPI_COUNTERS") || !strcmp(option->variable, "FVMPI_EVENTS"));
}

/* False: it is one more, for which there is no room. */
static bool count_option(struct fv_model *m, const struct fv_option_record *r)
{
    size_t length = strnlen(r->variable, sizeof(r->variable)), bytes = strnlen(r->value, sizeof(r->value)), i = 0;
    const struct fv_option *option = fv_option_by_variable(r->variable, length);
    char value[sizeof(r->value) + 1];

    memcpy(value, r->value, bytes);
    value[bytes] = '\0';
    if (is_list_of_events(option))
        bytes = leave_names(value, bytes);
    for (; i < m->option_count; i++) {
        const struct fv_option_view *o = &m->options[i];
        if (strlen(o->variable) == length && !memcmp(o->variable, r->variable, length) && !strcmp(o->value, value))
            break;
    }
    if (i == VALUES_MOST)
        return false;
    if (i == m->option_count) {
        FV_GROW(m->options, m->option_room, m->option_count + 1);
        m->options[m->option_count++] =
            (struct fv_option_view){ .variable = fv_arena_bytes(&m->arena, r->variable, length),
                                     .flag = option ? option->flag : NULL,
                                     .value = fv_arena_bytes(&m->arena, value, bytes) };
    }
    m->options[i].ranks++;
    return true;
}

static void *begin_options(struct fv_build *b)
{
    (void)b;
    return fv_xcalloc(1, sizeof(size_t));
}

static void read_options(struct fv_build *b, void *state, uint32_t rank)
{
    struct fv_cursor c = fv_cursor(b->files[rank].reader, FV_CHUNK_OPTIONS);
    size_t *left_out = state;

    for (const void *r; (r = fv_cursor_next(&c));)
        *left_out += !count_option(b->model, r);
}

static int by_variable(const void *a, const void *b)
{
    const struct fv_option_view *x = a, *y = b;
    int order = strcmp(x->variable, y->variable);

    return order ? order : strcmp(x->value, y->value);
}

static void finish_options(struct fv_build *b, void *state)
{
    size_t *left_out = state;

    for (size_t i = 0; i < b->model->option_count; i++)
        b->model->calls_left_out |= !strcmp(b->model->options[i].variable, "FVMPI_MPI_CALLS");
    if (b->model->calls_left_out)
        fv_problem_add(&b->model->problems, FV_PROBLEM_NOTE, NULL,
                       "MPI's own calls were not recorded (--mpi-calls 0): time in them counts as computing");
    const char *not_recorded = fv_model_option(b->model, "FVMPI_LEFT_OUT");
    if (not_recorded)
        fv_problem_add(
            &b->model->problems, FV_PROBLEM_NOTE, NULL,
            "not recorded, since the program is built with a sanitizer: %s; build it without -fsanitize to record that",
            not_recorded);
    if (*left_out)
        fv_problem_add(&b->model->problems, FV_PROBLEM_NOTE, NULL,
                       "ranks were recorded with more than %d values of options: %zu more are not listed", VALUES_MOST,
                       *left_out);
    free(left_out);
    if (b->model->option_count)
        qsort(b->model->options, b->model->option_count, sizeof(*b->model->options), by_variable);
}

const char *fv_model_option(const struct fv_model *m, const char *variable)
{
    for (size_t i = 0; i < m->option_count; i++)
        if (!strcmp(m->options[i].variable, variable))
            return m->options[i].value;
    return NULL;
}

const struct fv_track fv_track_options = {
    .name = "options",
    .visit = FV_VISIT_CALLS,
    .types = { FV_CHUNK_OPTIONS },
    .begin = begin_options,
    .read = read_options,
    .finish = finish_options,
};
