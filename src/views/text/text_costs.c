/* SPDX-License-Identifier: BSD-3-Clause */
/* Where CPU time is, by clock samples: procedures, the hottest lines and loops, and the heaviest paths from
 * main down. Numbers that chance could as well have made otherwise come with how far. */
#include "symbols/loops.h"
#include "profile/samples/cost_profile.h"
#include "profile/samples/costs.h"
#include "views/text/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WORTH_A_LINE 0.01
#define TREE_SHARE   0.05  /* of all samples, for a branch to be shown, ... */
#define TREE_ALL     0.005 /* ... where all is asked for */
#define TREE_DEPTH   40

struct section {
    const struct fv_page *page;
    const struct fv_profile *view;
    const struct fv_cost_profile *c;
};

static const char *share(uint64_t part, uint64_t whole, char word[FV_WORD])
{
    return part ? fv_words_percent((double)part, (double)whole, word) : "";
}

/* ---- procedures, lines and loops ---- */

static void put_procedures(const struct section *s)
{
    const struct fv_cost_profile *c = s->c;
    struct fv_text_table t;

    fv_text_table_begin(&t, s->page, s->view, "cpu_procedures");
    if (c->rank_count < 2) {
        fv_sheet_hide(&t.sheet, "rank_range_min_s");
        fv_sheet_hide(&t.sheet, "rank_range_max_s");
    }
    for (size_t i = 0; i < c->procedure_count; i++)
        fv_text_table_add(&t, &c->procedures[i], FV_PLAIN);
    fv_text_table_end(&t, "procedure", "");
}

/* Lines and loops: few, of no less than 1 % of the samples, unless more, or a threshold, is asked for; then
 * it is said what is left out. */
static void begin_table(const struct section *s, struct fv_text_table *t, const char *relation)
{
    fv_text_table_begin(t, s->page, s->view, relation);
    t->sheet.top = fv_text_few(s->page);
    if (t->sheet.top != SIZE_MAX && !(s->page->threshold > 0))
        t->sheet.least = WORTH_A_LINE;
}

static void end_table(const struct section *s, struct fv_text_table *t, const char *title, const char *remark,
                      const char *noun)
{
    bool counted = s->page->threshold > 0 && t->sheet.all_rows;

    if (t->sheet.shown_rows || counted)
        fv_text_title(s->page, title, remark);
    fv_text_table_end(t, counted ? noun : NULL, "");
}

static void put_lines(const struct section *s)
{
    const struct fv_cost_profile *c = s->c;
    struct fv_text_table t;

    begin_table(s, &t, "cpu_lines");
    for (size_t i = 0; i < c->line_count; i++)
        fv_text_table_add(&t, &c->lines[i], FV_PLAIN);
    end_table(s, &t, "Lines", "fvmpi report DIR --source FILE shows them in their file", "line");
}

/* MPI's own loops, which wait, only where all is asked for. */
static void put_loops(const struct section *s)
{
    struct fv_text_table t;
    size_t count;

    begin_table(s, &t, "cpu_loops");
    const void **loops = fv_text_table_sorted(&t, s->c, "exclusive_ticks", &count);
    for (size_t i = 0; i < count; i++) {
        const struct fv_cost_sum *self = &((const struct fv_cost_loop *)loops[i])->sum.self;

        if (s->page->top == SIZE_MAX || self->in_mpi * 2 < self->ticks)
            fv_text_table_add(&t, loops[i], FV_PLAIN);
    }
    end_table(s, &t, "Loops", "as compiled; total: with what is called from them", "loop");
    free(loops);
}

/* ---- the call tree ---- */

struct branches {
    uint32_t *first, *next; /* children, those of most samples first */
};

struct ranked {
    uint64_t ticks;
    uint32_t branch;
};

static int by_ticks(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;

    if (x->ticks != y->ticks)
        return x->ticks < y->ticks ? -1 : 1; /* smallest first: each is put before the earlier ones */
    return (x->branch < y->branch) - (x->branch > y->branch);
}

static struct branches children_of(const struct fv_cost_profile *c)
{
    struct branches b = { fv_xcalloc(c->branch_count, sizeof(*b.first)), fv_xcalloc(c->branch_count, sizeof(*b.next)) };
    struct ranked *order = fv_xcalloc(c->branch_count, sizeof(*order));

    for (uint32_t i = 1; i < c->branch_count; i++)
        order[i - 1] = (struct ranked){ c->branches[i].sum.total.ticks, i };
    if (c->branch_count > 1)
        qsort(order, c->branch_count - 1, sizeof(*order), by_ticks);
    for (size_t i = 0; i + 1 < c->branch_count; i++) {
        uint32_t child = order[i].branch, parent = c->branches[child].parent;

        b.next[child] = b.first[parent];
        b.first[parent] = child;
    }
    free(order);
    return b;
}

static double least_share(const struct fv_page *p)
{
    return p->threshold > 0 ? p->threshold : p->top == SIZE_MAX ? TREE_ALL : TREE_SHARE;
}

static bool is_heavy(const struct fv_cost_profile *c, uint32_t branch, const struct fv_page *p)
{
    return branch && (double)c->branches[branch].sum.total.ticks >= least_share(p) * (double)c->all.ticks;
}

/* A call of MPI: what is inside is shown only where all is asked for. */
static bool is_mpi_call(const struct section *s, uint32_t branch)
{
    const struct fv_cost_branch *b = &s->c->branches[branch];
    const char *name = s->c->procedures[b->procedure].name;

    return !fv_page_all(s->page) && (!strncmp(name, "MPI_", 4) || !strncmp(name, "mpi_", 4)) &&
           b->sum.total.in_mpi * 2 > b->sum.total.ticks;
}

/* The names on one line: as long as all goes on into one callee, so that its numbers hold for each of them.
 * Returns the last branch of it; *last: where its name begins in the text. */
static uint32_t chain(const struct section *s, const struct branches *b, uint32_t branch, char *text, size_t bytes,
                      size_t *last)
{
    const struct fv_cost_profile *c = s->c;
    char name[512];
    size_t used = 0;

    for (;;) {
        uint32_t child = b->first[branch];

        if (used)
            used += (size_t)snprintf(text + used, bytes - used, " > ");
        *last = used;
        used += (size_t)snprintf(text + used, bytes - used, "%s",
                                 fv_words_brief(c->procedures[c->branches[branch].procedure].name, name, sizeof(name)));
        if (!child || used + 600 > bytes || is_mpi_call(s, branch) ||
            c->branches[child].sum.total.ticks != c->branches[branch].sum.total.ticks)
            return branch;
        branch = child;
    }
}

/* Long chains keep their ends. */
static void put_chain(const struct fv_page *p, char *text, size_t last, size_t room)
{
    if (fv_words_columns(text) > room && last) {
        char end[700];

        snprintf(end, sizeof(end), "> %.600s", text + last);
        size_t tail = fv_words_columns(end), head = room > tail + 6 ? room - tail - 5 : 0;
        if (head > 8) {
            fv_words_fit(text, head);
            fprintf(p->out, "%s %s\n", text, end);
            return;
        }
        snprintf(text, room + 16, "... %.*s", (int)(room + 8), end);
    }
    fv_words_fit(text, room);
    fprintf(p->out, "%s\n", text);
}

static void put_branch(const struct section *s, const struct branches *b, uint32_t branch, unsigned depth, size_t *rows)
{
    const struct fv_cost_profile *c = s->c;
    char text[4096], total[FV_WORD], self[FV_WORD], mpi[FV_WORD];
    size_t indent = 2 * (size_t)depth, used = 29 + indent, last;
    uint32_t end = chain(s, b, branch, text, sizeof(text), &last);
    const struct fv_cost_both *sum = &c->branches[end].sum;

    if (!*rows || depth > TREE_DEPTH)
        return;
    --*rows;
    fprintf(s->page->out, "  %7s  %7s  %7s  %*s",
            fv_words_percent((double)c->branches[branch].sum.total.ticks, (double)c->all.ticks, total),
            is_mpi_call(s, end) ? "" : share(sum->self.ticks, c->all.ticks, self),
            share(c->branches[branch].sum.total.in_mpi, c->branches[branch].sum.total.ticks, mpi), (int)indent, "");
    put_chain(s->page, text, last, s->page->width > used + 20 ? s->page->width - used : 20);
    for (uint32_t child = is_mpi_call(s, end) ? 0 : b->first[end]; is_heavy(c, child, s->page); child = b->next[child])
        put_branch(s, b, child, depth + 1, rows);
}

static void put_tree(const struct section *s)
{
    struct branches b = children_of(s->c);
    size_t rows = s->page->top > SIZE_MAX / 2 ? SIZE_MAX : 2 * s->page->top;
    char remark[80];

    snprintf(remark, sizeof(remark), "branches of %.3g %% of the samples and more", 100 * least_share(s->page));
    fv_text_title(s->page, "Call tree", remark);
    fprintf(s->page->out, "  %s%7s  %7s  %7s  %s%s\n", fv_page_on(s->page, FV_DIM), "total", "self", "in MPI",
            "call path", fv_page_off(s->page));
    for (uint32_t child = b.first[0]; is_heavy(s->c, child, s->page); child = b.next[child])
        put_branch(s, &b, child, 0, &rows);
    free(b.first);
    free(b.next);
}

/* ---- the section ---- */

/* " of 4.93 s with the kernel", where the kernel told the CPU time of all processes. */
static const char *of_all_cpu(const struct fv_model *m, char out[80])
{
    char seconds[FV_WORD];
    double all_s = 0;

    for (size_t i = 0; i < m->rank_count; i++)
        all_s += m->ranks[i].cpu_s;
    *out = '\0';
    if (isfinite(all_s) && all_s > 0 && !m->shown_threads)
        snprintf(out, 80, " of %s with the kernel", fv_words_seconds(all_s, seconds));
    return out;
}

static void put_summary(const struct section *s)
{
    const struct fv_cost_profile *c = s->c;
    const struct fv_costs *costs = fv_model_costs(s->view->model);
    char a[FV_WORD], b[FV_WORD], d[FV_WORD], e[FV_WORD], all[80], own[60] = "";

    if (c->fvmpi_ticks)
        snprintf(own, sizeof(own), ", %s in fvmpi itself",
                 fv_words_percent((double)c->fvmpi_ticks, (double)c->all.ticks, a));
    fv_page_paragraph(
        s->page, FV_PLAIN, 2,
        "%s sample%s of the CPU clock in user mode, on %zu thread%s: together %s%s, %s in MPI, %s waiting for threads "
        "(sync)%s. n samples may be off by 2 sqrt(n) (+-). Sleep, and time in the kernel, are not seen here",
        fv_words_count(c->all.ticks, a), fv_words_s(c->all.ticks), costs->thread_count, fv_words_s(costs->thread_count),
        fv_words_seconds((double)c->all.ticks * c->tick_s, b), of_all_cpu(s->view->model, all),
        fv_words_percent((double)c->all.in_mpi, (double)c->all.ticks, d),
        fv_words_percent((double)c->all.in_sync, (double)c->all.ticks, e), own);
    if (costs->lost)
        fv_page_item(s->page, FV_PLAIN, 2, "%s more sample%s no call path: a thread's table of paths was full",
                     fv_words_count(costs->lost, a), costs->lost == 1 ? " has" : "s have");
    if (!c->loops_known)
        fv_page_item(s->page, FV_PLAIN, 2, "loops are not known: %s",
                     fv_loops_available() ? "symbols were not looked up" : "fvmpi was built without libopcodes");
}

FV_TEXT_SECTION(costs)
{
    const struct section s = { p, v, v->costs };

    if (!fv_model_costs(v->model)->ticks)
        return;
    fv_page_heading(p, "CPU time", "self: in the procedure itself; total: with what it calls");
    put_summary(&s);
    put_procedures(&s);
    put_lines(&s);
    put_loops(&s);
    put_tree(&s);
}
