/* SPDX-License-Identifier: BSD-3-Clause */
/* See doctor.h. */
#include "doctor/doctor.h"
#include "doctor/files.h"

#include <stdlib.h>

/* Those that the kernel keeps free. */
static void remove_free(struct fv_doctor *d, struct fv_cpus *from, const char *file)
{
    const char *list = fv_doctor_value(d, "sys/devices/system/cpu/%s", file);
    struct fv_cpus cpus;

    if (list && fv_cpus_from_list(list, &cpus))
        fv_cpus_remove(from, &cpus);
}

static struct fv_cpus find_keepers(struct fv_doctor *d)
{
    struct fv_cpus cpus = d->online, first = { 0 };

    remove_free(d, &cpus, "isolated");
    remove_free(d, &cpus, "nohz_full");
    if (!fv_cpus_same(&cpus, &d->online) || !fv_cpus_count(&cpus))
        return cpus;
    fv_cpus_set(&first, fv_cpus_first(&cpus));
    return first;
}

void fv_doctor_init(struct fv_doctor *d)
{
    *d = (struct fv_doctor){ 0 };
    d->host = fv_doctor_value(d, "proc/sys/kernel/hostname");
    d->kernel = fv_doctor_value(d, "proc/sys/kernel/osrelease");
    d->processors = fv_doctor_value(d, "sys/devices/system/cpu/online");
    if (!d->processors || !fv_cpus_from_list(d->processors, &d->online) || !fv_cpus_count(&d->online)) {
        d->online = (struct fv_cpus){ 0 };
        d->processors = NULL;
    }
    d->keepers = find_keepers(d);
}

void fv_doctor_release(struct fv_doctor *d)
{
    free(d->results);
    free(d->writes);
    free(d->processes);
    free(d->threads);
    free(d->services);
    free(d->modules);
    fv_string_release(&d->text);
    fv_arena_release(&d->arena);
    *d = (struct fv_doctor){ 0 };
}

/* The row's words with this machine's processors. */
static const char *fill(struct fv_doctor *d, const char *words)
{
    struct fv_cpus others = d->online;
    struct fv_string text = { 0 };

    fv_cpus_remove(&others, &d->keepers);
    if (!words || !fv_cpus_count(&others))
        return words;
    const struct {
        const char *word, *value;
    } names[] = { { "KEEPERS", fv_cpus_list(&d->keepers, &d->arena) },
                  { "MASK", fv_cpus_mask(&d->keepers, &d->arena) },
                  { "LIST", fv_cpus_list(&others, &d->arena) } };
    fv_string_clear(&text);
    while (*words) {
        size_t i = 0;

        while (i < 3 && strncmp(words, names[i].word, strlen(names[i].word)))
            i++;
        fv_string_add(&text, "%.*s", i < 3 ? (int)strlen(names[i].value) : 1, i < 3 ? names[i].value : words);
        words += i < 3 ? strlen(names[i].word) : 1;
    }
    words = fv_arena_string(&d->arena, text.text);
    fv_string_release(&text);
    return words;
}

static void look(struct fv_doctor *d, const struct fv_doctor_check *check)
{
    struct fv_doctor_result r = { .check = check };

    check->look(d, &r);
    if (r.state == FV_DOCTOR_BAD || r.state == FV_DOCTOR_NOTE) {
        r.fix = fill(d, r.fix ? r.fix : check->fix);
        r.boot = fill(d, check->boot);
    }
    FV_GROW(d->results, d->result_room, d->result_count + 1);
    d->results[d->result_count++] = r;
}

static bool is_one_of(const struct fv_doctor_check *check, const struct fv_doctor_check *const *only, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (only[i] == check)
            return true;
    return !count;
}

void fv_doctor_look(struct fv_doctor *d, const struct fv_doctor_check *const *only, size_t count)
{
    for (const struct fv_doctor_check *c = fv_doctor_checks; c->name; c++)
        if (is_one_of(c, only, count) && (!c->of_processes || d->process_count))
            look(d, c);
}

size_t fv_doctor_count(const struct fv_doctor *d, enum fv_doctor_state state)
{
    size_t count = 0;

    for (size_t i = 0; i < d->result_count; i++)
        count += d->results[i].state == state;
    return count;
}
