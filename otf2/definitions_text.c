/* SPDX-License-Identifier: BSD-3-Clause */
/* The strings, command lines and nodes that an archive's global definitions name. */
#include "otf2/definitions_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t find_string(struct fv_strings *s, const char *text)
{
    if (!s->count) {
        FV_GROW(s->items, s->room, 1);
        s->items[s->count++] = "";
        fv_index_add(&s->index, fv_hash_bytes("", 0), 0);
    }
    uint64_t hash = fv_hash_bytes(text, strlen(text));
    struct fv_index_probe p = fv_index_probe(&s->index, hash);

    for (uint32_t i; (i = fv_index_next(&p)) != FV_NONE;)
        if (!strcmp(s->items[i], text))
            return i;
    FV_GROW(s->items, s->room, s->count + 1);
    s->items[s->count] = fv_arena_string(&s->arena, text);
    fv_index_add(&s->index, hash, (uint32_t)s->count);
    return (uint32_t)s->count++;
}

void fv_strings_release(struct fv_strings *s)
{
    free(s->items);
    fv_index_release(&s->index);
    fv_arena_release(&s->arena);
    *s = (struct fv_strings){ 0 };
}

/* The next word of a line that is quoted as a shell needs it; NULL: none. `out` has room for the line. */
static const char *next_word(const char *at, char *out)
{
    char quote = 0;

    at += strspn(at, " ");
    if (!*at)
        return NULL;
    for (; *at && (quote || *at != ' '); at++) {
        if (*at == quote)
            quote = 0;
        else if (!quote && (*at == '\'' || *at == '"'))
            quote = *at;
        else if (!quote && *at == '\\' && at[1])
            *out++ = *++at;
        else
            *out++ = *at;
    }
    *out = '\0';
    return at;
}

static void name_metrics(struct fv_archive *a)
{
    char name[64];

    a->metric_of = fv_xcalloc(a->defs->rank_count + 1, sizeof(*a->metric_of));
    for (size_t i = 0; i < a->defs->rank_count; i++)
        for (unsigned k = 0; k < FV_METRIC_EVENTS; k++)
            if (fv_def_event(a->defs->ranks[i].events, k, name))
                a->metric_of[i][k] = find_string(&a->metrics, name);
}

static void name_counters(struct fv_archive *a)
{
    char name[64];

    a->counter_of = fv_xcalloc(a->defs->rank_count + 1, sizeof(*a->counter_of));
    for (size_t i = 0; i < a->defs->rank_count; i++)
        for (unsigned k = 0; k < FV_COUNTERS; k++)
            if (fv_def_event(a->defs->ranks[i].counters, k, name))
                a->counter_of[i][k] = find_string(&a->counters, name);
}

/* Series of the same name on several nodes are of one class. */
static void name_sensors(struct fv_archive *a)
{
    a->first_sensor = fv_xcalloc(a->defs->rank_count + 1, sizeof(*a->first_sensor));
    for (uint32_t i = 0; i < a->defs->rank_count; i++) {
        const char *at = a->defs->ranks[i].sensors, *end;
        char line[256];

        a->first_sensor[i] = a->sensor_count;
        for (; fv_sensors_of_host(a->defs, i) && (end = strchr(at, '\n')); at = end + 1) {
            snprintf(line, sizeof(line), "%.*s", (int)(end - at), at);
            FV_GROW(a->sensor_class, a->sensor_room, a->sensor_count + 1);
            a->sensor_class[a->sensor_count++] = find_string(&a->sensors, line);
        }
    }
    a->first_sensor[a->defs->rank_count] = a->sensor_count;
}

static void name_memory(struct fv_archive *a)
{
    a->memory_metric = fv_xcalloc(a->defs->rank_count + 1, sizeof(*a->memory_metric));
    for (uint32_t i = 0; i < a->defs->rank_count; i++)
        if (a->defs->ranks[i].has_memory)
            a->memory_metric[i] = ++a->memory_count;
}

/* In all processes alike, for the events that tell of them. */
void fv_event_strings_init(struct fv_archive *a)
{
    const struct fv_defs *d = a->defs;

    name_metrics(a);
    name_counters(a);
    name_sensors(a);
    name_memory(a);
    for (unsigned i = 0; i < FV_WS_COUNT; i++)
        a->wait_kinds[i] = fv_is_completion(i) ? 0 : find_string(&a->strings, fv_wait_state_names[i]);
    for (unsigned i = 1; fv_defs_has_threads(d) && i < FV_TW_COUNT; i++)
        a->thread_wait_kinds[i] = find_string(&a->strings, fv_thread_wait_names[i]);

    for (unsigned i = 1; i < FV_FAILURE_KINDS; i++)
        a->errors[i] = find_string(&a->strings, fv_failure_names[i]);

    a->lock_strings = fv_xcalloc((size_t)a->locks->count + 1, sizeof(*a->lock_strings));
    for (uint32_t i = 0; i < a->locks->count; i++)
        if (a->locks->items[i].name)
            a->lock_strings[i] = find_string(&a->strings, a->locks->items[i].name);
    a->commands = fv_xcalloc(d->rank_count + 1, sizeof(*a->commands));
    for (size_t i = 0; i < d->rank_count; i++) {
        struct fv_command *c = &a->commands[i];
        char word[1200];
        size_t room = 0;

        if (i && !strcmp(d->ranks[i].command, d->ranks[i - 1].command) &&
            !strcmp(d->ranks[i].program, d->ranks[i - 1].program)) {
            *c = c[-1];
            continue;
        }
        c->program = find_string(&a->strings, d->ranks[i].program);
        if (strlen(d->ranks[i].command) >= sizeof(word))
            continue;
        const char *at = next_word(d->ranks[i].command, word);
        while (at && (at = next_word(at, word))) {
            c->arguments = fv_grow(c->arguments, &room, (size_t)c->argument_count + 1, sizeof(*c->arguments));
            c->arguments[c->argument_count++] = find_string(&a->strings, word);
        }
    }
}

void fv_event_strings_release(struct fv_archive *a)
{
    for (size_t i = 0; a->commands && i < a->defs->rank_count; i++)
        if (!i || a->commands[i].arguments != a->commands[i - 1].arguments)
            free(a->commands[i].arguments);
    free(a->commands);
    free(a->lock_strings);
    free(a->metric_of);
    free(a->counter_of);
    fv_strings_release(&a->counters);
    fv_strings_release(&a->metrics);
    free(a->sensor_class);
    free(a->first_sensor);
    free(a->memory_metric);
    fv_strings_release(&a->sensors);
}

OTF2_StringRef fv_writing_text(struct writing *w, const char *text)
{
    struct fv_strings *s = &w->archive->strings;
    uint32_t id = find_string(s, text);

    for (; w->strings < s->count; w->strings++)
        check(w, OTF2_GlobalDefWriter_WriteString(w->w, (OTF2_StringRef)w->strings, s->items[w->strings]));
    return id;
}

OTF2_SystemTreeNodeRef fv_writing_node(const struct writing *w, const char *host)
{
    for (size_t i = 0; i < w->d->rank_count; i++)
        if (!strcmp(w->d->ranks[i].host, host))
            return w->rank_nodes[i];
    return 0;
}
