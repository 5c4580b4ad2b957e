/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks whose state is a word or a number in a file, or in one of each processor. */
#include "doctor/files.h"
#include "doctor/looks.h"
#include "tool/words.h"

#include <ctype.h>

enum { VALUES = 6 };

struct seen {
    char file[40], value[40];
    size_t count;
};
struct tally {
    struct seen seen[VALUES];
    size_t kinds, more, good, bad, other; /* more: values that `seen` has no room for */
};

static const char *word_in(const char *words, const char *word)
{
    size_t length = strlen(word);

    for (const char *at = words; (at = strstr(at, word)); at += length)
        if ((at == words || at[-1] == ' ') && (at[length] == ' ' || !at[length]))
            return at;
    return NULL;
}

/* One word, and a number where numbers are good. */
static bool is_plausible(const char *value, const char *good)
{
    bool is_number = isdigit((unsigned char)*good);

    for (const char *c = value; *c; c++)
        if (!(isdigit((unsigned char)*c) || (!is_number && (isalpha((unsigned char)*c) || strchr("_+-", *c)))))
            return false;
    return *value && strlen(value) < sizeof(((struct seen *)0)->value);
}

static void note(struct tally *t, const char *path, const char *value)
{
    const char *file = fv_base_name(path);
    size_t i = 0;

    while (i < t->kinds && (strcmp(t->seen[i].file, file) || strcmp(t->seen[i].value, value)))
        i++;
    if (i == VALUES) {
        t->more++;
        return;
    }
    snprintf(t->seen[i].file, sizeof(t->seen[i].file), "%s", file);
    snprintf(t->seen[i].value, sizeof(t->seen[i].value), "%s", value);
    t->seen[i].count++;
    t->kinds += i == t->kinds;
}

static void look_at(struct fv_doctor *d, struct fv_doctor_result *r, const struct fv_doctor_file *file, struct tally *t,
                    struct fv_string *fix)
{
    const char *const *path = fv_doctor_glob(d, file->path);
    char first[40];
    size_t bad = t->bad;

    snprintf(first, sizeof(first), "%.*s", (int)strcspn(file->good, " "), file->good);
    for (; *path; path++) {
        const char *value = fv_doctor_value(d, "%s", *path);

        if (!value || !is_plausible(value, first)) {
            t->other++;
            continue;
        }
        note(t, *path, value);
        if (word_in(file->good, value)) {
            t->good++;
            continue;
        }
        t->bad++;
        fv_doctor_want(d, r, *path, first);
    }
    if (t->bad > bad)
        fv_string_add(fix, "%secho %s | sudo tee /%s", fix->used ? "; " : "", first, file->path);
}

static void describe(const struct tally *t, struct fv_string *out)
{
    fv_string_clear(out);
    for (size_t i = 0; i < t->kinds; i++) {
        fv_string_add(out, "%s%s %s", i ? ", " : "", t->seen[i].file, t->seen[i].value);
        if (t->seen[i].count > 1)
            fv_string_add(out, " (%zu times)", t->seen[i].count);
    }
    if (t->more)
        fv_string_add(out, ", and other values (%zu time%s)", t->more, fv_words_s(t->more));
}

void fv_doctor_look_files(struct fv_doctor *d, struct fv_doctor_result *r)
{
    const struct fv_doctor_file *files = r->check->files;
    size_t most = sizeof(r->check->files) / sizeof(files[0]);
    struct fv_string words = { 0 }, fix = { 0 };
    struct tally tally = { .kinds = 0 };

    for (size_t i = 0; i < most && files[i].path; i++)
        look_at(d, r, &files[i], &tally, &fix);
    describe(&tally, &words);
    if (tally.bad) {
        fv_doctor_say(d, r, FV_DOCTOR_BAD, "%s", words.text);
        r->fix = r->check->fix ? r->check->fix : fv_arena_string(&d->arena, fix.text);
    } else if (tally.other) {
        fv_doctor_say(d, r, FV_DOCTOR_UNKNOWN, "/%s cannot be read, or has an unknown form", files[0].path);
    } else if (!tally.good) {
        fv_doctor_say(d, r, FV_DOCTOR_UNKNOWN, "cannot read /%s", files[0].path);
    } else {
        fv_doctor_say(d, r, FV_DOCTOR_GOOD, "%s", words.text);
    }
    fv_string_release(&words);
    fv_string_release(&fix);
}
