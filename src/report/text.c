/* The text report: a verdict, what run it was, how far it can be trusted, and how efficient it was. The
 * tables follow (text_calls.c, text_ranks.c). */
#include "report/text.h"
#include "report/hang.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LOSSES_SHOWN 20u /* of what went wrong, also with a small --top */

char *fv_text_location(const struct fv_frame *f, const struct fv_model *m, char *out, size_t bytes)
{
    const char *slash = f->file ? strrchr(f->file, '/') : NULL, *name = slash ? slash + 1 : f->file;
    char clean[256];

    out[0] = '\0';
    if (!name && (!f->function || f->module < FV_MODEL_FIRST_MODULE))
        return out;
    fv_words_clean(name ? name : m->modules[f->module].name, clean, sizeof(clean));
    if (!name)
        snprintf(out, bytes, "%s+0x%llx", clean, (unsigned long long)f->offset);
    else if (f->line)
        snprintf(out, bytes, "%s:%u", clean, f->line);
    else
        snprintf(out, bytes, "%s", clean);
    return out;
}

/* ---- verdict ---- */

static void put_bar(const struct fv_page *p, double compute, double mpi, double wait)
{
    static const char *const drawn[] = { "\xe2\x96\x88", "\xe2\x96\x93", "\xe2\x96\x91" }, *const plain[] = {
        "#", "=", "."
    };
    static const enum fv_color colors[] = { FV_GREEN, FV_CYAN, FV_YELLOW };
    const double parts[] = { compute, mpi - wait, wait };
    size_t width = p->width < 120 ? p->width : 120, at = 0;
    double total = compute + mpi, sum = 0;

    if (!(total > 0))
        return;
    for (unsigned i = 0; i < 3; i++) {
        sum += parts[i];
        size_t until = (size_t)(sum / total * (double)width + 0.5);

        fputs(fv_page_on(p, colors[i]), p->out);
        for (; at < until && at < width; at++)
            fputs((p->utf8 ? drawn : plain)[i], p->out);
        fputs(fv_page_off(p), p->out);
    }
    putc('\n', p->out);
}

bool fv_text_serial(const struct fv_model *m)
{
    return !strcmp(m->mpi, "none");
}

/* Of a run that did not end well, the first thing to know. */
static void put_end(const struct fv_page *p, const struct fv_model *m)
{
    char text[700];

    if (!fv_hang_headline(m, text, sizeof(text))[0])
        return;
    fprintf(p->out, "%s%s", fv_page_on(p, FV_BOLD), fv_page_on(p, FV_RED));
    fv_page_words(p, text, 2);
    fputs(fv_page_off(p), p->out);
}

/* MPI time that is not judged yet. */
static bool has_open_calls(const struct fv_model *m)
{
    for (size_t i = 0; i < m->rank_count; i++)
        if (m->ranks[i].state == FV_RANK_RUNNING && m->ranks[i].in_call.active)
            return true;
    return false;
}

/* Of a program without MPI: there are no parts of its time, unless threads were watched. */
static void put_serial_verdict(const struct fv_page *p, const struct fv_model *m)
{
    char elapsed[FV_WORD], cpu[FV_WORD], wait[FV_WORD], part[FV_WORD], text[300];
    double cpu_s = 0;
    int n;

    for (size_t i = 0; i < m->rank_count; i++)
        cpu_s += m->ranks[i].cpu_s;
    n = snprintf(text, sizeof(text), "%selapsed %s", m->ranks[0].state == FV_RANK_KILLED ? "killed; " : "",
                 fv_words_seconds(m->elapsed_s, elapsed));
    if (isfinite(cpu_s))
        n += snprintf(text + n, sizeof(text) - (size_t)n, ", CPU time %s", fv_words_seconds(cpu_s, cpu));
    else if (m->samples.cpu_s > 0)
        n += snprintf(text + n, sizeof(text) - (size_t)n, ", CPU time %s (by samples)",
                      fv_words_seconds(m->samples.cpu_s, cpu));
    if (m->locks.recorded)
        snprintf(text + n, sizeof(text) - (size_t)n, "; threads waited %s for each other, %s of their time",
                 fv_words_seconds(m->locks.wait_s, wait),
                 fv_words_percent(m->locks.wait_s, m->locks.thread_s, part));
    fputs(fv_page_on(p, FV_BOLD), p->out);
    fv_page_words(p, text, 2);
    fputs(fv_page_off(p), p->out);
}

static void put_verdict(const struct fv_page *p, const struct fv_model *m)
{
    const struct fv_efficiency *e = &m->efficiency;
    char compute[FV_WORD], mpi[FV_WORD], wait[FV_WORD];

    if (fv_text_serial(m)) {
        put_serial_verdict(p, m);
        return;
    }
    fv_words_percent(e->compute_s, e->total_s, compute);
    fv_words_percent(e->mpi_s, e->total_s, mpi);
    fv_words_percent(e->wait_s, e->mpi_s, wait);
    if (e->total_s > 0)
        fprintf(p->out, "%scompute %s, MPI %s%s,%sof which %s%s%s is waiting (%s%s)\n",
                fv_page_on(p, FV_BOLD), compute, mpi, fv_page_off(p), p->width < 70 ? "\n" : " ",
                fv_page_on(p, FV_BOLD), wait, fv_page_off(p), e->wait_exact ? "exact" : "estimate",
                has_open_calls(m) ? ", without the calls that go on" : "");
    else
        fprintf(p->out, "%snothing was recorded%s\n", fv_page_on(p, FV_BOLD), fv_page_off(p));
    put_bar(p, e->compute_s, e->mpi_s, e->wait_s);
}

/* ---- identity ---- */

static void put_field(const struct fv_page *p, const char *name, const char *text)
{
    char clean[2048];

    fprintf(p->out, "  %s%-10s%s ", fv_page_on(p, FV_DIM), name, fv_page_off(p));
    fv_page_words(p, fv_words_clean(text, clean, sizeof(clean)), 13);
}

static unsigned count_hosts(const struct fv_model *m)
{
    struct fv_index seen = { 0 };
    unsigned hosts = 0;

    for (uint32_t i = 0; i < m->rank_count; i++) {
        uint64_t hash = fv_hash_bytes(m->ranks[i].host, strlen(m->ranks[i].host));
        struct fv_index_probe probe = fv_index_probe(&seen, hash);
        bool known = false;

        for (uint32_t k; !known && (k = fv_index_next(&probe)) != FV_NONE;)
            known = !strcmp(m->ranks[k].host, m->ranks[i].host);
        if (!known) {
            fv_index_add(&seen, hash, i);
            hosts++;
        }
    }
    fv_index_release(&seen);
    return hosts;
}

static void put_overhead(const struct fv_page *p, const struct fv_model *m)
{
    char seconds[FV_WORD], part[FV_WORD], memory[FV_WORD], disk[FV_WORD], sampling[FV_WORD], text[400],
        own[80] = "";
    uint64_t memory_bytes = 0, file_bytes = 0;
    double paused_s = 0, tool_s = m->tool_s + m->samples.tool_s;

    for (size_t i = 0; i < m->rank_count; i++) {
        paused_s += m->ranks[i].paused_s;
        memory_bytes = m->ranks[i].memory_bytes > memory_bytes ? m->ranks[i].memory_bytes : memory_bytes;
        file_bytes += m->ranks[i].file_bytes;
    }
    if (m->samples.tool_s > 0)
        snprintf(own, sizeof(own), " (%s of it sampling, over all threads)",
                 fv_words_seconds(m->samples.tool_s, sampling));
    snprintf(text, sizeof(text), "%s over all ranks%s, %s of their time; memory %s a rank at most, files %s",
             fv_words_seconds(tool_s, seconds), own,
             fv_words_percent(tool_s, m->efficiency.total_s + paused_s, part),
             fv_words_bytes(memory_bytes, memory), fv_words_bytes(file_bytes, disk));
    put_field(p, "overhead", text);
}

static void put_trace(const struct fv_page *p, const struct fv_model *m)
{
    char count[FV_WORD], bytes[FV_WORD], stop[FV_WORD], text[512];
    uint64_t calls = 0, size = 0;
    double first_stop = INFINITY;
    unsigned ranks = 0, stopped = 0;

    for (size_t i = 0; i < m->rank_count; i++) {
        const struct fv_rank *r = &m->ranks[i];

        ranks += r->traced;
        calls += r->trace_calls;
        size += r->trace_bytes;
        stopped += r->trace_stop_s >= 0;
        first_stop = r->trace_stop_s < first_stop ? r->trace_stop_s : first_stop;
    }
    if (!ranks)
        return;
    size_t n = (size_t)snprintf(text, sizeof(text),
                                m->causes.source == FV_CAUSES_TRACE || m->causes.left_out
                                    ? "%s calls in %s"
                                    : "%s calls in %s; who waits for whom, and an OTF2 archive: fvunify %s",
                                fv_words_count(calls, count), fv_words_bytes(size, bytes), m->directory);
    if (stopped && n < sizeof(text))
        snprintf(text + n, sizeof(text) - n, "; ends early on %u rank%s, first after %s", stopped,
                 stopped == 1 ? "" : "s", fv_words_seconds(first_stop, stop));
    put_field(p, "trace", text);
}

/* The run is not the program's own. */
static void put_barriers(const struct fv_page *p, const struct fv_model *m)
{
    const char *before = m->barrier == FV_BARRIER_BEFORE ? "before" : "after";
    uint64_t inserted = 0;
    char text[512];
    int n;

    if (!m->barrier)
        return;
    for (size_t i = 0; i < m->site_count; i++)
        inserted += m->sites[i].barriers;
    if (m->barrier_ranks && !inserted)
        snprintf(text, sizeof(text), "no: there were no calls into which --barrier %s inserts a barrier",
                 before);
    else if (!m->barrier_ranks)
        snprintf(text, sizeof(text),
                 "no, though with --barrier %s: the ranks did not agree to insert barriers", before);
    else if ((n = snprintf(text, sizeof(text), "barriers were inserted %s collectives; %s", before,
                           m->barrier == FV_BARRIER_BEFORE
                               ? "the waiting of these calls is the time in the barrier, the rest is transfer"
                               : "the waiting of these calls includes the time in the barrier, for the last "
                                 "rank to be done")) > 0 &&
             m->barrier_ranks < (uint32_t)m->world_size)
        snprintf(text + n, sizeof(text) - (size_t)n,
                 "; by %u of %d ranks, on communicators that have no others", m->barrier_ranks,
                 m->world_size);
    put_field(p, "perturbed", text);
}

/* "0-3, 7" */
static void add_rank(char *out, size_t bytes, int *first, int *last, int rank)
{
    size_t used = strlen(out);

    if (*last != INT32_MIN && rank == *last + 1) {
        *last = rank;
        return;
    }
    if (*last != INT32_MIN && used < bytes) {
        if (*last > *first)
            snprintf(out + used, bytes - used, "%s%d-%d", used ? ", " : "", *first, *last);
        else
            snprintf(out + used, bytes - used, "%s%d", used ? ", " : "", *first);
    }
    *first = *last = rank;
}

/* The rank that lived longest was killed: nobody saw when. */
static bool ends_unseen(const struct fv_model *m)
{
    const struct fv_rank *last = &m->ranks[0];

    for (size_t i = 1; i < m->rank_count; i++)
        if (m->ranks[i].end_s > last->end_s)
            last = &m->ranks[i];
    return last->state == FV_RANK_KILLED && !last->aborted;
}

static void put_program(const struct fv_page *p, const struct fv_model *m, uint32_t program)
{
    const struct fv_program *g = &m->programs[program];
    char list[200] = "", text[1700], compute[FV_WORD], mpi[FV_WORD], wait[FV_WORD];
    int first = 0, last = INT32_MIN;

    for (size_t i = 0; i < m->rank_count; i++)
        if (m->ranks[i].program == program)
            add_rank(list, sizeof(list), &first, &last, m->ranks[i].world_rank);
    add_rank(list, sizeof(list), &first, &last, INT32_MIN + 1);
    snprintf(text, sizeof(text), "%s on rank%s %s: %s", g->label, fv_words_s(g->ranks), list, g->command);
    put_field(p, "program", text);
    snprintf(text, sizeof(text), "compute %s, MPI %s, of which %s is waiting (%s)",
             fv_words_percent(g->compute_s, g->total_s, compute), fv_words_percent(g->mpi_s, g->total_s, mpi),
             fv_words_percent(g->wait_s, g->mpi_s, wait), g->wait_exact ? "exact" : "estimate");
    put_field(p, "", text);
}

/* One program: how it was called. Several, in one launch: each with its ranks and its times. */
static void put_programs(const struct fv_page *p, const struct fv_model *m)
{
    size_t shown = 0, most = p->top > LOSSES_SHOWN ? p->top : LOSSES_SHOWN;
    char text[1200];

    if (m->program_count == 1) {
        uint32_t others = m->programs[0].commands - 1;

        snprintf(text, sizeof(text), "%s", m->command);
        if (others)
            snprintf(text + strlen(text), sizeof(text) - strlen(text), " (and %u other command line%s)",
                     others, fv_words_s(others));
        put_field(p, "command", text);
        return;
    }
    for (; shown < m->program_count && shown < most; shown++)
        put_program(p, m, (uint32_t)shown);
    fv_page_cut(p, shown, m->program_count, "program", "");
}

static void put_identity(const struct fv_page *p, const struct fv_model *m)
{
    char start[FV_WORD], elapsed[FV_WORD], text[1400];
    unsigned hosts = count_hosts(m), states[4] = { 0 };

    for (size_t i = 0; i < m->rank_count; i++)
        states[m->ranks[i].state]++;
    put_programs(p, m);
    if (hosts == 1)
        snprintf(text, sizeof(text), "%d on %s", m->world_size, m->ranks[0].host);
    else
        snprintf(text, sizeof(text), "%d on %u hosts (%s, ...)", m->world_size, hosts, m->ranks[0].host);
    put_field(p, "ranks", text);
    snprintf(text, sizeof(text), "%s, %s", m->mpi, m->ranks[0].thread_level);
    for (char *tab = text; (tab = strchr(tab, '\t'));)
        *tab = ' ';
    if (!fv_text_serial(m))
        put_field(p, "MPI", text);
    snprintf(text, sizeof(text), "%s, for %s%s", fv_words_time(m->origin_ns, start),
             fv_words_seconds(m->elapsed_s, elapsed),
             ends_unseen(m) ? " up to the last that was recorded" : "");
    put_field(p, "start", text);
    put_overhead(p, m);
    put_trace(p, m);
    put_barriers(p, m);
    snprintf(text, sizeof(text), "%zu of %d rank%s:", m->rank_count, m->world_size,
             fv_words_s((uint64_t)m->world_size));
    size_t used = strlen(text);
    if (!fv_text_serial(m))
        used +=
            (size_t)snprintf(text + used, sizeof(text) - used, " %u finalized", states[FV_RANK_FINALIZED]);
    for (unsigned i = FV_RANK_EXITED; i <= FV_RANK_RUNNING; i++)
        if (states[i] && fv_text_serial(m)) {
            used = 0;
            if (i == FV_RANK_EXITED && m->ranks[0].exit_seen)
                snprintf(text, sizeof(text), "exited with status %d", m->ranks[0].exit_status);
            else
                snprintf(text, sizeof(text), "%s", fv_rank_state_name((enum fv_rank_state)i));
        } else if (states[i])
            used += (size_t)snprintf(text + used, sizeof(text) - used, ", %u %s", states[i],
                                     fv_rank_state_name((enum fv_rank_state)i));
    fprintf(p->out, "%s", m->complete ? "" : fv_page_on(p, FV_RED));
    put_field(p, m->complete ? "complete" : "INCOMPLETE", text);
    fputs(fv_page_off(p), p->out);
}

/* ---- ranks that did not end well, by where they are ---- */

static bool same_place(const struct fv_rank *a, const struct fv_rank *b)
{
    const struct fv_in_call_view *x = &a->in_call, *y = &b->in_call;

    return a->state == b->state && a->aborted == b->aborted && a->exit_code == b->exit_code &&
           a->exit_seen == b->exit_seen && a->exit_status == b->exit_status && a->program == b->program &&
           x->active == y->active && x->function == y->function && x->node == y->node;
}

/* Ranks that are in the same call, or were last: since when, and for how long if they still run. */
struct place {
    char ranks[220];
    unsigned count;
    double first_s, last_s, longest_s;
};

static void put_peer(const struct fv_page *p, const struct fv_in_call_view *in)
{
    if (in->peer == FV_ANY_PEER)
        fputs(" (from any rank", p->out);
    else
        fprintf(p->out, " (peer %d", in->peer);
    if (in->tag < 0) /* MPI_ANY_TAG; tags are not negative */
        fputs(", any tag)", p->out);
    else
        fprintf(p->out, ", tag %d)", in->tag);
}

static void put_since(const struct fv_page *p, const struct fv_rank *r, const struct place *place)
{
    char first[FV_WORD], last[FV_WORD];

    if (place->count == 1 && r->in_call.peer != FV_NO_PEER)
        put_peer(p, &r->in_call);
    fv_words_seconds(place->first_s, first);
    fv_words_seconds(place->last_s, last);
    fprintf(p->out, ", entered at %s", first);
    if (strcmp(first, last))
        fprintf(p->out, " to %s", last);
    if (r->state == FV_RANK_RUNNING)
        fprintf(p->out, ", %s ago", fv_words_seconds(place->longest_s, first));
    putc('\n', p->out);
}

static void put_path(const struct fv_page *p, const struct fv_view *v, uint32_t node, struct fv_path *path)
{
    char label[512], clean[512], where[300];

    fv_path_of(path, v->symbols, v->model, node);
    for (size_t i = 0; i < path->count && i < 12; i++) {
        fv_words_clean(fv_frame_label(&path->frames[i], v->model, label, sizeof(label)), clean,
                       sizeof(clean));
        fv_words_fit(clean, p->width > 40 ? p->width - 30 : 20);
        fv_text_location(&path->frames[i], v->model, where, sizeof(where));
        fprintf(p->out, "      %s%s%s%s%s\n", clean, where[0] ? "  " : "", fv_page_on(p, FV_DIM), where,
                fv_page_off(p));
    }
    if (path->count > 12)
        fprintf(p->out, "      ... %zu outer frame%s; --json has all\n", path->count - 12,
                fv_words_s(path->count - 12));
}

/* What it does there no call tells; where it came from does. */
static void put_outside(const struct fv_page *p, const struct fv_view *v, const struct fv_rank *r,
                        struct fv_path *path)
{
    const struct fv_in_call_view *in = &r->in_call;
    char clean[512];

    fputs(", outside of MPI", p->out);
    if (in->function == FV_NONE) {
        putc('\n', p->out);
        return;
    }
    fprintf(p->out, ", last in %s%s%s%s\n", fv_page_on(p, FV_BOLD),
            fv_words_clean(v->model->functions[in->function].name, clean, sizeof(clean)), fv_page_off(p),
            in->node ? ":" : "");
    put_path(p, v, in->node, path);
}

static void put_place(const struct fv_page *p, const struct fv_view *v, const struct fv_rank *r,
                      const struct place *place, struct fv_path *path)
{
    const struct fv_in_call_view *in = &r->in_call;
    char clean[512];

    fprintf(p->out, "  %s%s%s", fv_page_on(p, FV_RED), place->ranks, fv_page_off(p));
    if (v->model->program_count > 1)
        fprintf(p->out, " (%s)", fv_words_clean(v->model->programs[r->program].label, clean, sizeof(clean)));
    if (r->aborted)
        fprintf(p->out, " called MPI_Abort with error code %d", r->exit_code);
    else
        fprintf(p->out, " %s", fv_rank_state_name(r->state));
    if (r->exit_seen && !r->aborted)
        fprintf(p->out, " with status %d", r->exit_status);
    if (!in->active && r->aborted) {
        putc('\n', p->out);
        return;
    }
    if (!in->active) {
        put_outside(p, v, r, path);
        return;
    }
    if (!r->aborted || strcmp(v->model->functions[in->function].name, "MPI_Abort"))
        fprintf(p->out, " in %s%s%s", fv_page_on(p, FV_BOLD),
                fv_words_clean(v->model->functions[in->function].name, clean, sizeof(clean)), fv_page_off(p));
    put_since(p, r, place);
    put_path(p, v, in->node, path);
}

/* The ranks that are where rank i is; marks them as done. */
static void gather_place(const struct fv_model *m, size_t i, bool *done, struct place *out)
{
    char list[200] = "";
    int first = 0, last = INT32_MIN;

    *out = (struct place){ .first_s = INFINITY };
    for (size_t k = i; k < m->rank_count; k++) {
        const struct fv_in_call_view *in = &m->ranks[k].in_call;

        if (done[k] || !same_place(&m->ranks[i], &m->ranks[k]))
            continue;
        done[k] = true;
        out->count++;
        add_rank(list, sizeof(list), &first, &last, m->ranks[k].world_rank);
        out->first_s = fmin(out->first_s, in->begin_s);
        out->last_s = fmax(out->last_s, in->begin_s);
        out->longest_s = fmax(out->longest_s, in->seconds);
    }
    add_rank(list, sizeof(list), &first, &last, INT32_MIN + 1);
    snprintf(out->ranks, sizeof(out->ranks), "rank%s %s", out->count > 1 ? "s" : "", list);
}

static void put_dead(const struct fv_page *p, const struct fv_view *v)
{
    const struct fv_model *m = v->model;
    bool *done = fv_xcalloc(m->rank_count, sizeof(*done));
    struct fv_path path = { 0 };
    size_t shown = 0, groups = 0, most = p->top > LOSSES_SHOWN ? p->top : LOSSES_SHOWN;
    struct place place;

    for (size_t i = 0; i < m->rank_count; i++) {
        if (done[i] || m->ranks[i].state == FV_RANK_FINALIZED || fv_text_serial(m))
            continue; /* a serial program has no MPI call to be in */
        if (groups++ == 0)
            fv_page_heading(p, "Ranks that did not finalize", "and the MPI call each is in, or was in last");
        gather_place(m, i, done, &place);
        if (shown >= most)
            continue;
        shown++;
        put_place(p, v, &m->ranks[i], &place, &path);
    }
    fv_page_cut(p, shown, groups, "group", " of ranks");
    fv_path_release(&path);
    free(done);
}

/* ---- problems and notes ---- */

static void put_note(const struct fv_page *p, enum fv_color color, const char *text)
{
    char clean[1400];

    fprintf(p->out, "  %s%s%s ", fv_page_on(p, color), color == FV_RED ? "!" : "-", fv_page_off(p));
    fv_page_words(p, fv_words_clean(text, clean, sizeof(clean)), 4);
}

static void put_problems(const struct fv_page *p, const struct fv_model *m)
{
    char text[1400];
    size_t shown = 0, most = p->top > LOSSES_SHOWN ? p->top : LOSSES_SHOWN;

    for (size_t i = 0; i < m->problems.count && shown < most; i++, shown++) {
        const struct fv_problem *problem = &m->problems.items[i];

        snprintf(text, sizeof(text), "%s%s%s", problem->file ? problem->file : "", problem->file ? ": " : "",
                 problem->text);
        put_note(p, fv_problem_is_loss(problem->kind) ? FV_RED : FV_YELLOW, text);
    }
    fv_page_cut(p, shown, m->problems.count, "remark", "");
}

/* More ranks than processors that they may run on together: then computing and waiting both hold time without
 * a processor. Of the first rank's host. */
static void put_crowded(const struct fv_page *p, const struct fv_model *m)
{
    const struct fv_rank *first = &m->ranks[0];
    uint64_t mask[sizeof(first->cpu_mask) / sizeof(*first->cpu_mask)] = { 0 };
    size_t ranks = 0, words = sizeof(mask) / sizeof(*mask);
    unsigned cpus = 0;
    char text[256];

    for (size_t i = 0; i < m->rank_count; i++) {
        if (strcmp(m->ranks[i].host, first->host))
            continue;
        ranks++;
        for (size_t k = 0; k < words; k++)
            mask[k] |= m->ranks[i].cpu_mask[k];
    }
    for (size_t k = 0; k < words; k++)
        cpus += (unsigned)__builtin_popcountll(mask[k]);
    if (!cpus || ranks <= cpus)
        return;
    snprintf(text, sizeof(text),
             "%zu ranks share the %u processor%s of %s: times include waiting for a processor", ranks, cpus,
             fv_words_s(cpus), first->host);
    put_note(p, FV_YELLOW, text);
}

static void put_notes(const struct fv_page *p, const struct fv_model *m)
{
    double init = 0, paused = 0, total = m->efficiency.total_s;
    char text[700], part[FV_WORD];
    bool completed = !fv_hang_headline(m, text, sizeof(text))[0];
    size_t threaded = 0;

    for (size_t i = 0; i < m->rank_count; i++) {
        init += m->ranks[i].init_s + m->ranks[i].finalize_s;
        paused += m->ranks[i].paused_s;
        threaded += m->ranks[i].mpi_threads > 1;
    }
    if (completed && init > 0.05 * total && init <= total) {
        snprintf(text, sizeof(text),
                 "%s of the time is in MPI_Init and MPI_Finalize: a longer run would tell more",
                 fv_words_percent(init, total, part));
        put_note(p, FV_YELLOW, text);
    }
    put_crowded(p, m);
    if (threaded) {
        snprintf(text, sizeof(text),
                 "%zu rank%s MPI from several threads: MPI time of a rank is its main thread's, "
                 "functions and call sites hold all threads",
                 threaded, threaded == 1 ? " calls" : "s call");
        put_note(p, FV_YELLOW, text);
    }
    if (paused > 0) {
        snprintf(text, sizeof(text), "recording was paused for %s over all ranks; that time is left out",
                 fv_words_seconds(paused, part));
        put_note(p, FV_YELLOW, text);
    }
}

/* ---- efficiency ---- */

static void put_efficiency(const struct fv_page *p, const struct fv_model *m)
{
    const struct fv_efficiency *e = &m->efficiency;
    const struct {
        const char *name, *meaning;
        double value;
    } rows[] = {
        { "parallel efficiency", "part of the time that all ranks compute: the product of the next two",
          e->parallel },
        { "  load balance", "mean over longest computing time of a rank", e->load_balance },
        { "  communication", "longest computing time of a rank over the elapsed time", e->communication },
        { "    serialization", "longest computing time over the time with instant messages",
          e->serialization },
        { "    transfer", "the time with instant messages over the elapsed time", e->transfer },
    };
    unsigned count = isfinite(e->serialization) || isfinite(e->transfer) ? 5 : 3;
    char percent[FV_WORD];

    fv_page_heading(p, "Efficiency", "POP metrics; 80 % and more is called acceptable");
    for (unsigned i = 0; i < count; i++) {
        bool known = isfinite(rows[i].value);

        fprintf(p->out, "  %-20s %s%8s%s", rows[i].name,
                fv_page_on(p, !known                ? FV_PLAIN
                              : rows[i].value < 0.8 ? FV_YELLOW
                                                    : FV_GREEN),
                known ? fv_words_percent(rows[i].value, 1, percent) : "-", fv_page_off(p));
        if (p->width >= 40 + strlen(rows[i].meaning))
            fprintf(p->out, "   %s%s%s", fv_page_on(p, FV_DIM), rows[i].meaning, fv_page_off(p));
        putc('\n', p->out);
    }
}

void fv_text_summary(const struct fv_page *p, const struct fv_view *v)
{
    put_end(p, v->model);
    put_verdict(p, v->model);
    putc('\n', p->out);
    put_identity(p, v->model);
    put_problems(p, v->model);
    put_notes(p, v->model);
    put_dead(p, v);
    fv_text_hang(p, v->model);
    fv_text_thread_waits(p, v);
    if (!fv_text_serial(v->model))
        put_efficiency(p, v->model);
    fv_text_waiting(p, v);
}

int fv_view_text(const struct fv_view *v, const struct fv_text_options *o, FILE *out)
{
    const struct fv_page page = {
        .out = out, .width = o->width, .top = o->top, .brief = o->brief, .color = o->color, .utf8 = o->utf8
    };

    fv_text_summary(&page, v);
    fv_text_samples(&page, v);
    fv_text_costs(&page, v);
    fv_text_sections(&page, v);
    fv_text_locks(&page, v);
    fv_text_phases(&page, v);
    if (!fv_text_serial(v->model) || v->model->site_count) {
        fv_text_functions(&page, v->model);
        fv_text_sites(&page, v);
    }
    fv_text_sizes(&page, v->model);
    fv_text_peers(&page, v->model);
    fv_text_comms(&page, v->model);
    if (!fv_text_serial(v->model) || v->model->rank_count > 1)
        fv_text_ranks(&page, v->model);
    return fflush(out) || ferror(out) ? -FV_EIO : 0;
}
