/* SPDX-License-Identifier: BSD-3-Clause */
/* What a reader should know first: how the run ended, the verdict, and what it lost most time by. With at most three
 * findings these are not more lines than one takes in at once. A finding is "- TITLE, SECONDS (SHARE): TEXT", and what
 * to do in a line of its own. */
#include "views/text/verdict.h"
#include "profile/hang/hang.h"
#include "profile/threads/phases.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_LINES 15
#define MOST        3    /* findings */
#define THREADED    0.05 /* of the ranks' time: CPU time of other threads that is worth a word */

/* ---- so many lines ---- */

typedef void put_fn(const struct fv_page *page, const struct fv_profile *view, size_t number);

static size_t count_lines(const char *text)
{
    size_t lines = 0;

    for (; (text = strchr(text, '\n')); text++)
        lines++;
    return lines;
}

/* Prints what `put` prints if that has not more lines than `room`; returns how many it has. */
static size_t put_if_short(const struct fv_page *p, size_t room, put_fn *put, const struct fv_profile *v, size_t number)
{
    struct fv_page own = *p;
    char *text = NULL;
    size_t bytes, lines;

    own.out = open_memstream(&text, &bytes);
    if (!own.out) { /* no memory: then as it comes */
        put(p, v, number);
        return 0;
    }
    put(&own, v, number);
    fclose(own.out);
    lines = text ? count_lines(text) : 0;
    if (text && lines <= room)
        fputs(text, p->out);
    free(text);
    return lines;
}

/* ---- what comes first ---- */

static void put_top(const struct fv_page *p, const struct fv_profile *v, size_t number)
{
    (void)number;
    fv_text_verdict(p, v);
}

static void put_sentence(const struct fv_page *p, const struct fv_profile *v, size_t number)
{
    const struct fv_finding *f = &v->findings->items[number];
    char lost[FV_WORD], part[FV_WORD], cost[100] = "";

    if (isfinite(f->lost_s))
        snprintf(cost, sizeof(cost), ", %s%s (%s)", f->evidence == FV_EVIDENCE_ESTIMATE ? "about " : "",
                 fv_words_seconds(f->lost_s, lost), fv_words_percent(f->lost_s, v->model->efficiency.total_s, part));
    fv_page_item(p, FV_PLAIN, 0, "- %s%s: %s", f->title, cost, f->text);
}

/* A command that is on one line can be pasted. Where it does not fit behind the words before it, it has a line of its
 * own, however long. */
static void put_next(const struct fv_page *p, const char *next)
{
    const char *command = strstr(next, "fvmpi report "), *other = command ? NULL : strstr(next, "fvmpi stacks ");
    const bool fits = 7 + fv_words_columns(next) <= p->width;

    command = command ? command : other;
    if (command && !fits)
        fv_page_item(p, FV_DIM, 4, "-> %.*s", (int)(command - next), next);
    if (command)
        fprintf(p->out, "%*s%s%s%s%s\n", fits ? 4 : 6, "", fv_page_on(p, FV_DIM), fits ? "-> " : "",
                fits ? next : command, fv_page_off(p));
    else
        fv_page_item(p, FV_DIM, 4, "-> %s", next);
}

static void put_finding(const struct fv_page *p, const struct fv_profile *v, size_t number)
{
    const struct fv_finding *f = &v->findings->items[number];

    put_sentence(p, v, number);
    if (*f->next)
        put_next(p, f->next);
}

/* By the verdict. */
static bool is_said(const struct fv_finding *f)
{
    return !strcmp(f->def->name, FV_FINDING_DISTURBED);
}

static void put_rest(const struct fv_page *p, const struct fv_profile *v, size_t number)
{
    char text[2000];
    (void)number;

    if (fv_findings_rest(v, text, sizeof(text))[0])
        fv_page_item(p, FV_DIM, 0, "%s", text);
}

/* That something could not be judged is always said, if it has no room in one line. */
static void put_rest_within(const struct fv_page *p, const struct fv_profile *v, size_t room)
{
    char text[200];

    if (put_if_short(p, room, put_rest, v, 0) > room && fv_findings_rest_short(v, text, sizeof(text))[0])
        fv_page_item(p, FV_DIM, 0, "%s", text);
}

/* That there is no more than what the verdict says; of threads, a run without --threads knows their CPU time alone. */
static void put_none(const struct fv_page *p, const struct fv_profile *v)
{
    const struct fv_model *m = v->model;
    double own_s = 0;
    char cpu[FV_WORD];

    if (fv_model_phases(m)->alone.is)
        fv_page_item(p, FV_YELLOW, 0,
                     "no findings: threads, or ranks, worked one at a time in this run (fvmpi run --solo, "
                     "--throughput). Its times are not the program's. fvmpi stacks reads such runs");
    if (fv_model_phases(m)->alone.is || fv_model_hang(m) || !(m->efficiency.total_s > 0) || fv_text_serial(m))
        return;
    put_rest(p, v, 0);
    for (size_t i = 0; i < m->rank_count; i++)
        own_s += m->ranks[i].own_threads_s;
    if (!fv_model_locks(m)->recorded && own_s > THREADED * m->efficiency.total_s)
        fv_page_item(
            p, FV_DIM, 0,
            "threads other than the main ones used %s of CPU time; fvmpi run --threads shows what threads wait for",
            fv_words_seconds(own_s, cpu));
}

static void put_findings(const struct fv_page *p, const struct fv_profile *v, size_t before)
{
    const struct fv_findings *f = v->findings;
    size_t shown = 0, others = f->count, room = fv_page_all(p) ? SIZE_MAX : FIRST_LINES - before - 2;
    bool is_cut = false;
    char left[200];

    for (size_t i = 0; i < f->count; i++)
        others -= is_said(&f->items[i]);
    if (!others) {
        put_none(p, v);
        return;
    }
    if (room < SIZE_MAX && others > 1)
        room -= room > 0; /* how many more there are */
    const bool is_left = fv_findings_rest_short(v, left, sizeof(left))[0] && room < SIZE_MAX;
    const size_t kept = is_left && room > 0; /* for what was not judged */
    room -= kept;
    fv_page_heading(p, "Findings", fv_findings_order(f));
    for (size_t i = 0; i < f->count && (shown < MOST || fv_page_all(p)); i++) {
        if (is_said(&f->items[i]))
            continue;
        size_t lines = put_if_short(p, room, put_finding, v, i);
        if (shown && lines > room)
            break;
        if (lines > room) { /* the first one in any case, if without what to do next */
            is_cut = *f->items[i].next;
            lines = put_if_short(p, SIZE_MAX, put_sentence, v, i);
        }
        room = room > lines ? room - lines : 0;
        shown++;
    }
    fv_page_cut(p, shown, others, "finding", is_cut ? ", and what to do next" : "");
    if (is_cut && shown == others && room > 0) {
        fv_page_item(p, FV_DIM, 2, "... what to do next; %s shows it", fv_page_more(p, shown));
        room--;
    }
    put_rest_within(p, v, room + kept);
}

FV_TEXT_SECTION(first)
{
    size_t lines = put_if_short(p, SIZE_MAX, put_top, v, 0);

    put_findings(p, v, lines < FIRST_LINES - 2 ? lines : FIRST_LINES - 2);
}
