/* SPDX-License-Identifier: BSD-3-Clause */
/* A source file with the samples of each line beside it. */
#include "profile/samples/cost_profile.h"
#include "tool/table.h"
#include "tool/source_file.h"
#include "views/views.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CANDIDATES 8 /* named where the choice is the user's */

struct source {
    const struct fv_page *page;
    const struct fv_profile *view;
    const struct fv_cost_profile *c;
    const char *file;            /* as debug information has it */
    struct fv_cost_line **lines; /* of the file, by number */
    size_t count;
    uint64_t ticks; /* in the file itself */
    bool mpi, sync; /* is there any? */
};

/* ---- which file ---- */

static const char *without_dots(const char *name)
{
    while (!strncmp(name, "./", 2) || !strncmp(name, "../", 3))
        name += name[1] == '.' ? 3 : 2;
    return name;
}

/* Is it the end of the file's path, from a directory's name on? */
static bool is_suffix(const char *file, const char *name)
{
    size_t length = strlen(file), bytes = strlen(name);

    return bytes <= length && !strcmp(file + length - bytes, name) &&
           (bytes == length || name[0] == '/' || file[length - bytes - 1] == '/');
}

static size_t list_files(const struct fv_cost_profile *c, const char *name, const char **files, size_t room)
{
    size_t count = 0, k;

    for (size_t i = 0; i < c->line_count; i++) {
        const char *file = c->lines[i].file;

        if (name && !is_suffix(file, name))
            continue;
        if (name && !strcmp(file, name)) {
            files[0] = file;
            return 1;
        }
        for (k = 0; k < count && strcmp(files[k], file); k++)
            ;
        if (k == count && count < room)
            files[count++] = file;
    }
    return count;
}

static void join(const char *const *files, size_t count, char *text, size_t bytes)
{
    size_t used = 0;

    text[0] = '\0';
    for (size_t i = 0; i < count && i < CANDIDATES && used < bytes; i++)
        used += (size_t)snprintf(text + used, bytes - used, "%s%s", i ? ", " : "", files[i]);
    if (count > CANDIDATES && used < bytes)
        snprintf(text + used, bytes - used, ", ...");
}

/* Samples in code that has no line numbers, of all but fvmpi's own. */
static uint64_t without_lines(const struct fv_cost_profile *c)
{
    uint64_t known = c->fvmpi_ticks;

    for (size_t i = 0; i < c->line_count; i++)
        known += c->lines[i].sum.self.ticks;
    return c->all.ticks > known ? c->all.ticks - known : 0;
}

static int choose_file(struct source *s, const char *asked)
{
    char part[FV_WORD], lost[120] = "";
    uint64_t unknown = without_lines(s->c);
    const char *files[CANDIDATES + 1];
    char text[3000];
    size_t count = list_files(s->c, without_dots(asked), files, CANDIDATES + 1);

    if (count == 1) {
        s->file = files[0];
        return 0;
    }
    if (count > 1) {
        join(files, count, text, sizeof(text));
        fv_log("report: --source %s is one of several files: %s; give more of the path", asked, text);
        return -FV_EINVAL;
    }
    count = list_files(s->c, NULL, files, CANDIDATES + 1);
    join(files, count, text, sizeof(text));
    if (unknown)
        snprintf(lost, sizeof(lost), "; %s of all samples are in code without line numbers: compile it with -g",
                 fv_words_percent((double)unknown, (double)s->c->all.ticks, part));
    if (count)
        fv_log("report: --source %s: no samples in a file of that name; there are samples in %s%s", asked, text, lost);
    else
        fv_log("report: --source %s: no source lines are known; compile the program with -g%s", asked,
               s->c->all.ticks ? "" : ", and record it with --sample");
    return -FV_ENOENT;
}

/* ---- lines ---- */

static int by_line(const void *a, const void *b)
{
    const struct fv_cost_line *x = *(struct fv_cost_line *const *)a, *y = *(struct fv_cost_line *const *)b;

    return (x->line > y->line) - (x->line < y->line);
}

static void take_lines(struct source *s)
{
    s->lines = fv_xcalloc(s->c->line_count, sizeof(*s->lines));
    for (size_t i = 0; i < s->c->line_count; i++)
        if (!strcmp(s->c->lines[i].file, s->file)) {
            s->lines[s->count++] = &s->c->lines[i];
            s->ticks += s->c->lines[i].sum.self.ticks;
            s->mpi |= s->c->lines[i].sum.total.in_mpi;
            s->sync |= s->c->lines[i].sum.total.in_sync;
        }
    qsort(s->lines, s->count, sizeof(*s->lines), by_line);
}

static const char *share(uint64_t part, uint64_t whole, char word[FV_WORD])
{
    return part ? fv_words_percent((double)part, (double)whole, word) : "";
}

static void put_numbers(const struct source *s, const char *const cells[7])
{
    static const int widths[7] = { 7, 9, 7, 8, 9, 8, 8 };
    const bool shown[7] = { true, true, true, true, true, s->mpi, s->sync };

    for (unsigned i = 0; i < 7; i++)
        if (shown[i])
            fprintf(s->page->out, " %*s", widths[i], cells[i]);
}

static void put_line(const struct source *s, uint64_t number, const struct fv_cost_line *l, const char *text)
{
    char word[7][FV_WORD];
    const char *cells[7] = { "", "", "", "", "", "", "" };
    uint64_t all = s->c->all.ticks;
    bool hot = l && l->sum.self.ticks && l->sum.self.ticks * 20 >= all;

    if (l) {
        const struct fv_cost_sum *self = &l->sum.self, *total = &l->sum.total;

        cells[0] = share(self->ticks, all, word[0]);
        if (self->ticks) {
            cells[1] = fv_words_seconds((double)self->ticks * s->c->tick_s, word[1]);
            cells[2] = fv_words_count(self->ticks, word[2]);
        }
        cells[3] = share(total->ticks, all, word[3]);
        cells[4] = fv_words_seconds((double)total->ticks * s->c->tick_s, word[4]);
        cells[5] = share(total->in_mpi, total->ticks, word[5]);
        cells[6] = share(total->in_sync, total->ticks, word[6]);
    }
    fputs(hot ? fv_page_on(s->page, FV_YELLOW) : "", s->page->out);
    put_numbers(s, cells);
    fprintf(s->page->out, " %6llu%s%s%s\n", (unsigned long long)number, text && *text ? "  " : "", text ? text : "",
            hot ? fv_page_off(s->page) : "");
}

static void put_file(const struct source *s, FILE *in)
{
    char *text = NULL, *memory = NULL;
    size_t bytes = 0, room = 0, next = 0;
    uint64_t number = 1;

    for (; getline(&text, &bytes, in) >= 0; number++) {
        bool sampled = next < s->count && s->lines[next]->line == number;

        put_line(s, number, sampled ? s->lines[next] : NULL, fv_source_line(text, &memory, &room));
        next += sampled;
    }
    for (; next < s->count; next++) /* the file is shorter than it was */
        put_line(s, s->lines[next]->line, s->lines[next], NULL);
    free(text);
    free(memory);
}

static void put_heading(const struct source *s, const char *of)
{
    char a[FV_WORD], b[FV_WORD], c[FV_WORD], text[600];
    FILE *out = s->page->out;

    fprintf(out, "%s%s%s\n", fv_page_on(s->page, FV_BOLD), s->file, fv_page_off(s->page));
    snprintf(text, sizeof(text),
             "%s of %s samples of %s are in this file (%s). self: on the line itself; total: with what it "
             "calls. n "
             "samples may be off by 2 sqrt(n). in MPI, sync (waiting for threads): parts of total",
             fv_words_count(s->ticks, a), fv_words_count(s->c->all.ticks, b), of,
             fv_words_seconds((double)s->ticks * s->c->tick_s, c));
    fv_page_words(s->page, text, 0);
}

static void put_columns(const struct source *s)
{
    static const char *const titles[7] = { "self", "seconds", "samples", "total", "seconds", "in MPI", "sync" };

    fprintf(s->page->out, "\n%s", fv_page_on(s->page, FV_DIM));
    put_numbers(s, titles);
    fprintf(s->page->out, " %6s%s\n", "line", fv_page_off(s->page));
}

static void put_source(const struct source *s, const struct fv_source_options *o, const char *of)
{
    char path[FV_SOURCE_PATH], text[FV_SOURCE_PATH + 200];
    const char *why;
    struct stat st;
    FILE *in = fv_source_open(&o->place, s->file, path, &st, &why);

    put_heading(s, of);
    if (!in) {
        snprintf(text, sizeof(text), "%s: %s: lines are shown by number; --source-path OLD=NEW says where it is now",
                 path, why);
        fv_page_words(s->page, text, 0);
    } else if ((int64_t)st.st_mtim.tv_sec > s->view->model->origin_ns / 1000000000) {
        fv_page_words(s->page, "The file changed after the run began: lines may be wrong", 0);
    }
    put_columns(s);
    if (in) {
        put_file(s, in);
        fclose(in);
        return;
    }
    for (size_t i = 0; i < s->count; i++)
        put_line(s, s->lines[i]->line, s->lines[i], NULL);
}

/* ---- the view ---- */

static int find_rank(const struct fv_model *m, long world_rank, uint32_t *out)
{
    for (size_t i = 0; i < m->rank_count; i++)
        if (m->ranks[i].world_rank == world_rank) {
            *out = (uint32_t)i;
            return 0;
        }
    fv_log("report: --rank %ld: there is no such rank in this run", world_rank);
    return -FV_ENOENT;
}

int fv_view_source(const struct fv_profile *v, const struct fv_source_options *o, const struct fv_text_options *t,
                   FILE *out)
{
    const struct fv_page page = { .out = out, .width = t->width, .color = t->color, .utf8 = t->utf8 };
    struct source s = { .page = &page, .view = v };
    uint32_t rank = FV_COST_ALL_RANKS;
    struct fv_cost_profile of_rank = { 0 };
    char of[40] = "all ranks";
    int err = o->rank >= 0 ? find_rank(v->model, o->rank, &rank) : 0;

    if (err)
        return err;
    if (o->rank >= 0)
        snprintf(of, sizeof(of), "rank %ld", o->rank);
    if (o->rank >= 0)
        fv_cost_profile_init(&of_rank, v->model, v->symbols, rank);
    s.c = o->rank >= 0 ? &of_rank : v->costs;
    err = choose_file(&s, o->file);
    if (!err) {
        take_lines(&s);
        put_source(&s, o, of);
        if (fflush(out) || ferror(out)) {
            fv_log("stdout: %s; the source is cut", strerror(errno));
            err = -FV_EIO;
        }
    }
    free(s.lines);
    fv_cost_profile_release(&of_rank);
    return err;
}
