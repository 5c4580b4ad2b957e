/* SPDX-License-Identifier: BSD-3-Clause */
/* The verdict: how the run ended, where its time went, and whether it had its processors. */
#include "views/text/verdict.h"
#include "profile/fatal.h"
#include "profile/samples/samples.h"

#include <math.h>
#include <string.h>

#define LITTLE 0.5 /* of the waiting: an estimate of more makes all of it one */

enum { COMPUTE, FOR_THREADS, MPI, FOR_RANKS, PARTS };
static void put_bar(const struct fv_page *p, const double parts[PARTS])
{
    static const char *const drawn[] = { "\xe2\x96\x88", "\xe2\x96\x92", "\xe2\x96\x93", "\xe2\x96\x91" };
    static const char *const plain[] = { "#", "-", "=", "." };
    static const enum fv_color colors[] = { FV_GREEN, FV_YELLOW, FV_CYAN, FV_YELLOW };
    size_t width = p->width < 120 ? p->width : 120, at = 0;
    double total = 0, sum = 0;

    for (unsigned i = 0; i < PARTS; i++)
        total += parts[i];
    if (!(total > 0))
        return;
    for (unsigned i = 0; i < PARTS; i++) {
        sum += parts[i];
        size_t until = (size_t)(sum / total * (double)width + 0.5);

        fputs(fv_page_on(p, colors[i]), p->out);
        for (; at < until && at < width; at++)
            fputs((p->utf8 ? drawn : plain)[i], p->out);
        fputs(fv_page_off(p), p->out);
    }
    putc('\n', p->out);
}

/* Of a run that did not end well, the first thing to know. */
static void put_end(const struct fv_page *p, const struct fv_profile *v)
{
    char text[3000], *rest = fv_end_words(v, text, sizeof(text));

    for (char *line; rest && *rest && (line = strsep(&rest, "\n"));) {
        fputs(fv_page_on(p, FV_BOLD), p->out);
        fv_page_item(p, FV_RED, 0, "%s", line);
    }
}

/* MPI time that is not judged yet: of calls that have not returned. */
static double open_calls_s(const struct fv_model *m)
{
    double seconds = 0;

    for (size_t i = 0; i < m->rank_count; i++)
        if (m->ranks[i].state != FV_RANK_FINALIZED && m->ranks[i].in_call.active)
            seconds += m->ranks[i].in_call.seconds;
    return seconds;
}

/* Of a program without MPI: there are no parts of its time, unless threads were watched. */
static char *serial_words(const struct fv_profile *v, char *out, size_t bytes)
{
    const struct fv_model *m = v->model;
    char elapsed[FV_WORD], cpu[FV_WORD], waited[500];
    double cpu_s = 0;

    for (size_t i = 0; i < m->rank_count; i++)
        cpu_s += m->ranks[i].cpu_s;
    snprintf(out, bytes, "%selapsed %s", m->ranks[0].state == FV_RANK_KILLED ? "killed; " : "",
             fv_words_seconds(m->elapsed_s, elapsed));
    if (isfinite(cpu_s) && !m->shown_threads)
        fv_words_add(out, bytes, ", CPU time %s", fv_words_seconds(cpu_s, cpu));
    else if (fv_model_samples(m)->cpu_s > 0)
        fv_words_add(out, bytes, ", CPU time %s (by samples)", fv_words_seconds(fv_model_samples(m)->cpu_s, cpu));
    if (fv_model_locks(m)->recorded)
        fv_words_add(out, bytes, "; %s", fv_text_threads_waited(v, waited, sizeof(waited)));
    return out;
}

/* Without calls that poll, which are waiting by another name. */
static double mpi_s(const struct fv_efficiency *e)
{
    return fmax(e->mpi_s - e->asked_s, 0);
}

/* There are calls of which it is not known whether they waited. */
static bool may_be_more(const struct fv_efficiency *e)
{
    return e->long_s + e->unjudged_s + e->files_s + e->elsewhere_s >= FV_FINDING_WORTH * e->total_s;
}

/* ", 12.3 % transfer and overhead": what a trace does not explain as waiting. Empty: nothing is known of that, as of
 * calls whose other side it does not have. */
static const char *transfer_part(const struct fv_model *m, char out[60])
{
    const struct fv_efficiency *e = &m->efficiency;
    char part[FV_WORD];

    *out = '\0';
    if (m->causes.source == FV_CAUSES_TRACE && e->wait_kind && mpi_s(e) > 0 && !may_be_more(e) && !m->causes.unmatched)
        snprintf(out, 60, ", %s transfer and overhead",
                 fv_words_percent(fmax(mpi_s(e) - e->wait_s, 0), mpi_s(e), part));
    return out;
}

/* "of which 85.5 % is waiting (exact but for 2.5 % of it)": by a trace of which little is an estimate. */
static char *waiting_part(const struct fv_model *m, char out[FV_TEXT_WAITING])
{
    const struct fv_efficiency *e = &m->efficiency;
    const double open_s = open_calls_s(m);
    const char *open = open_s > 0 ? ", open calls left out" : "";
    char remark[80], part[FV_WORD];
    double all_s = 0;

    if (open_s > LITTLE * mpi_s(e)) {
        snprintf(out, FV_TEXT_WAITING, "of which %s is in calls that have not returned",
                 fv_words_percent(fmin(open_s, mpi_s(e)), mpi_s(e), part));
        return out;
    }
    for (size_t i = 0; i < m->rank_count; i++)
        all_s += m->ranks[i].wait_time_s;
    if (e->wait_kind != FV_WAIT_ESTIMATE || !m->causes.is_whole || !(m->causes.estimated_s > 0) ||
        m->causes.estimated_s > LITTLE * all_s)
        return fv_text_waiting_part(e->wait_s, mpi_s(e), may_be_more(e), e->wait_kind, open, out);
    snprintf(remark, sizeof(remark), " but for %s of it%s", fv_words_percent(m->causes.estimated_s, all_s, part), open);
    return fv_text_waiting_part(e->wait_s, mpi_s(e), may_be_more(e), FV_WAIT_EXACT, remark, out);
}

/* Of main threads: neither computing nor in MPI. */
static double for_threads_s(const struct fv_model *m)
{
    return fmin(fv_model_locks(m)->main_s, m->efficiency.compute_s);
}

/* "compute 51.8 %, MPI 48.2 %, of which ..." */
static char *parts_words(const struct fv_model *m, char *out, size_t bytes)
{
    const struct fv_efficiency *e = &m->efficiency;
    const double threads_s = for_threads_s(m);
    char compute[FV_WORD], threads[FV_WORD], polled[FV_TEXT_POLLING], mpi[FV_WORD], wait[FV_TEXT_WAITING],
        told[100] = "", transfer[60];

    if (threads_s > FV_TEXT_TOLD * e->total_s)
        snprintf(told, sizeof(told), "waiting for threads %s, ", fv_words_percent(threads_s, e->total_s, threads));
    fv_words_add(told, sizeof(told), "%s", fv_text_polling_part(e->polled_s + e->asked_s, e->total_s, polled));
    snprintf(out, bytes, "compute %s, %sMPI %s, %s%s", fv_words_percent(e->compute_s - threads_s, e->total_s, compute),
             told, fv_words_percent(mpi_s(e), e->total_s, mpi), waiting_part(m, wait), transfer_part(m, transfer));
    return out;
}

static void put_verdict(const struct fv_page *p, const struct fv_profile *v)
{
    const struct fv_model *m = v->model;
    const struct fv_efficiency *e = &m->efficiency;
    const double threads_s = for_threads_s(m);
    char waited[500], text[1000];

    if (fv_text_serial(m)) {
        fv_page_item(p, FV_BOLD, 0, "%s", serial_words(v, text, sizeof(text)));
        return;
    }
    if (m->shown_threads)
        return;
    if (e->total_s > 0)
        fv_page_item(p, FV_BOLD, 0, "%s", parts_words(m, text, sizeof(text)));
    else
        fprintf(p->out, "%snothing was recorded%s\n", fv_page_on(p, FV_BOLD), fv_page_off(p));
    put_bar(p, (const double[PARTS]){ e->compute_s - threads_s, threads_s, fmax(mpi_s(e) - e->wait_s, 0),
                                      e->wait_s + e->polled_s + e->asked_s });
    if (fv_model_locks(m)->recorded && fv_model_locks(m)->own_wait_s > 0.01 * fv_model_locks(m)->thread_s)
        fv_page_words(p, fv_text_threads_waited(v, waited, sizeof(waited)), 2);
}

/* Before any percentage: these say little of a run without its processors. */
static void put_disturbed(const struct fv_page *p, const struct fv_profile *v)
{
    const struct fv_finding *f = fv_findings_named(v->findings, FV_FINDING_DISTURBED);

    if (!f)
        return;
    fv_page_item(p, FV_RED, 0, "noisy run: %s", f->text);
    fv_page_item(p, FV_RED, 4, "-> %s", f->next);
}

char *fv_text_verdict_words(const struct fv_profile *v, char *out, size_t bytes)
{
    const struct fv_model *m = v->model;
    const struct fv_finding *disturbed = fv_findings_named(v->findings, FV_FINDING_DISTURBED);
    char end[3000], parts[1000];

    snprintf(out, bytes, "%s", fv_end_words(v, end, sizeof(end)));
    if (disturbed)
        fv_words_add(out, bytes, "%snoisy run: %s", *out ? "\n" : "", disturbed->text);
    fv_words_add(out, bytes, "%s%s", *out ? "\n" : "",
                 fv_text_serial(m)           ? serial_words(v, parts, sizeof(parts))
                 : m->efficiency.total_s > 0 ? parts_words(m, parts, sizeof(parts))
                                             : "nothing was recorded");
    return out;
}

void fv_text_verdict(const struct fv_page *p, const struct fv_profile *v)
{
    put_end(p, v);
    put_disturbed(p, v);
    put_verdict(p, v);
}
