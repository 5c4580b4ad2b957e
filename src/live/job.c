/* SPDX-License-Identifier: BSD-3-Clause */
/* See job.h. */
#include "live/job.h"
#include "base/base.h"
#include "live/follower.h"
#include "live/job_where.h"
#include "profile/hang/hang.h"
#include "profile/machine/sensors.h"
#include "profile/profile.h"
#include "profile/verdict.h"
#include "tool/vec.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>

enum { TEXT_BYTES = 1500, FINDINGS = 8, PROBLEMS = 8, SENSORS = 256 };

struct fv_job {
    struct fv_live *live;
    char *path;
    struct fv_follower follower;
    struct fv_jsonl line;
    struct fv_job_where where;
    double elapsed_s; /* of the run, when it was read last */
};

/* What is read at one pace. */
struct pace {
    double least_s;
    struct fv_profile_options options;
    void (*put)(struct fv_job *job, const struct fv_profile *profile); /* to its line */
    int64_t due_ns;
    unsigned failures; /* one after the other */
};

/* ---- lists ---- */

static void put_truth(struct fv_jsonl *out, const char *key, bool value)
{
    fv_jsonl_text(out, key);
    fv_jsonl_text(out, value ? "true" : "false");
}

static void put_reals(struct fv_jsonl *out, const char *key, const struct fv_model *m,
                      double (*value)(const struct fv_rank *rank))
{
    fv_jsonl_text(out, key);
    for (size_t i = 0; i < m->rank_count; i++)
        fv_jsonl_key_real(out, i ? "," : "[", value(&m->ranks[i]));
    fv_jsonl_text(out, m->rank_count ? "]" : "[]");
}

static double elapsed_of(const struct fv_rank *rank)
{
    return rank->end_s - rank->begin_s;
}

static double mpi_of(const struct fv_rank *rank)
{
    return rank->mpi_time_s;
}

static double wait_of(const struct fv_rank *rank)
{
    return rank->wait_time_s;
}

static double cpu_of(const struct fv_rank *rank)
{
    return rank->cpu_s;
}

/* From here it is not seen whether a process on another host lives: one that has not ended by itself may run. */
static bool is_elsewhere(const struct fv_rank *rank, const char *host)
{
    return rank->state == FV_RANK_KILLED && !rank->signal.number && !rank->aborted && strcmp(rank->host, host) != 0;
}

static bool any_elsewhere(const struct fv_model *m)
{
    struct utsname name;

    uname(&name);
    for (size_t i = 0; i < m->rank_count; i++)
        if (is_elsewhere(&m->ranks[i], name.nodename))
            return true;
    return false;
}

static bool is_over(const struct fv_model *m)
{
    for (size_t i = 0; i < m->rank_count; i++)
        if (m->ranks[i].state == FV_RANK_RUNNING)
            return false;
    return !any_elsewhere(m);
}

static enum fv_hang_state state_of(const struct fv_model *m, size_t rank)
{
    if (fv_model_hang(m))
        return fv_model_hang(m)->ranks[rank].state;
    /* without MPI nobody waits for others */
    return m->ranks[rank].state == FV_RANK_RUNNING ? FV_HANG_ACTIVE : FV_HANG_ENDED;
}

/* ---- the two lines ---- */

static void put_numbers(struct fv_job *job, const struct fv_profile *profile)
{
    const struct fv_model *m = profile->model;
    struct fv_jsonl *out = &job->line;

    fv_jsonl_key_real(out, "\"job\":{\"elapsed_s\":", m->elapsed_s);
    put_truth(out, ",\"is_over\":", is_over(m));
    fv_jsonl_text(out, ",\"rank\":[");
    for (size_t i = 0; i < m->rank_count; i++) {
        fv_jsonl_text(out, i ? "," : "");
        fv_jsonl_real(out, m->ranks[i].world_rank);
    }
    fv_jsonl_text(out, "],\"state\":[");
    for (size_t i = 0; i < m->rank_count; i++)
        fv_jsonl_key_string(out, i ? "," : "", fv_hang_state_name(state_of(m, i)));
    fv_jsonl_text(out, "]");
    put_reals(out, ",\"elapsed_of_rank_s\":", m, elapsed_of);
    put_reals(out, ",\"mpi_s\":", m, mpi_of);
    put_reals(out, ",\"wait_s\":", m, wait_of);
    put_reals(out, ",\"cpu_s\":", m, cpu_of);
    fv_jsonl_text(out, "}");
}

static void put_waits(struct fv_jsonl *out, const struct fv_model *m)
{
    const struct fv_hang *h = fv_model_hang(m);
    char text[TEXT_BYTES];
    size_t told = 0;

    fv_jsonl_text(out, ",\"waits\":[");
    for (uint32_t i = 0; h && i < h->rank_count && told < FV_JOB_WAITS; i++)
        if (h->ranks[i].state == FV_HANG_WAITS)
            fv_jsonl_key_string(out, told++ ? "," : "", fv_hang_rank(m, i, text, sizeof(text)));
    fv_jsonl_text(out, "],\"causes\":[");
    for (size_t i = 0; h && i < h->mismatch_count && i < FV_JOB_WAITS; i++)
        fv_jsonl_key_string(out, i ? "," : "", fv_hang_mismatch(m, &h->mismatches[i], text, sizeof(text)));
    for (size_t i = 0; h && i < h->cause_count; i++)
        fv_jsonl_key_string(out, i || h->mismatch_count ? "," : "",
                            fv_hang_cause(m, &h->causes[i], text, sizeof(text)));
    fv_jsonl_key_real(out, "],\"waiting\":", h ? h->waiting : 0);
    fv_jsonl_key_real(out, ",\"stuck\":", h ? h->stuck : 0);
    put_truth(out, ",\"is_lasting\":", h && h->lasting);
}

static void put_findings(struct fv_jsonl *out, const struct fv_findings *findings)
{
    fv_jsonl_text(out, ",\"findings\":[");
    for (size_t i = 0; i < findings->count && i < FINDINGS; i++) {
        const struct fv_finding *f = &findings->items[i];

        fv_jsonl_key_string(out, i ? ",{\"name\":" : "{\"name\":", f->def->name);
        fv_jsonl_key_string(out, ",\"title\":", f->title);
        fv_jsonl_key_string(out, ",\"text\":", f->text);
        fv_jsonl_key_real(out, ",\"lost_s\":", f->lost_s);
        fv_jsonl_key_string(out, ",\"next\":", f->next ? f->next : "");
        fv_jsonl_text(out, "}");
    }
    fv_jsonl_text(out, "]");
}

static void put_problems(struct fv_jsonl *out, const struct fv_problems *problems)
{
    size_t told = 0;

    fv_jsonl_text(out, ",\"problems\":[");
    for (size_t i = 0; i < problems->count && told < PROBLEMS; i++)
        if (fv_problem_is_loss(problems->items[i].kind))
            fv_jsonl_key_string(out, told++ ? "," : "", problems->items[i].text);
    fv_jsonl_text(out, "]");
}

/* Neighbours on one host are told once. */
static void put_hosts(struct fv_jsonl *out, const struct fv_model *m)
{
    fv_jsonl_text(out, ",\"hosts\":[");
    for (size_t i = 0, next; i < m->rank_count; i = next) {
        for (next = i + 1; next < m->rank_count && !strcmp(m->ranks[next].host, m->ranks[i].host);)
            next++;
        fv_jsonl_key_string(out, i ? ",{\"host\":" : "{\"host\":", m->ranks[i].host);
        fv_jsonl_key_real(out, ",\"count\":", (double)(next - i));
        fv_jsonl_text(out, "}");
    }
    fv_jsonl_text(out, "]");
}

/* What the job itself records of its nodes (--sensors): the last that is known, and all so far. Points are by series
 * and time. */
static void put_sensors(struct fv_jsonl *out, const struct fv_model *m)
{
    const struct fv_machine *machine = fv_model_sensors(m);
    size_t last = 0;

    fv_jsonl_text(out, ",\"sensors\":[");
    for (size_t i = 0; i < machine->series_count && i < SENSORS; i++) {
        const struct fv_machine_series *s = &machine->series[i];

        while (last + 1 < machine->point_count && machine->points[last + 1].series <= i)
            last++;
        fv_jsonl_key_string(out, i ? ",{\"host\":" : "{\"host\":", m->ranks[machine->nodes[s->node].rank].host);
        fv_jsonl_key_string(out, ",\"event\":", s->label);
        fv_jsonl_key_string(out, ",\"unit\":", s->unit);
        fv_jsonl_text(out, s->flags & FV_SENSOR_GAUGE ? ",\"kind\":\"gauge\"" : ",\"kind\":\"counter\"");
        fv_jsonl_key_real(out, ",\"last\":",
                          last < machine->point_count && machine->points[last].series == i ? machine->points[last].mean
                                                                                           : NAN);
        fv_jsonl_key_real(out, ",\"mean\":", s->mean);
        fv_jsonl_key_real(out, ",\"most\":", s->max);
        fv_jsonl_text(out, "}");
    }
    fv_jsonl_key_real(out, "],\"sensors_all\":", (double)machine->series_count);
}

static void put_words(struct fv_job *job, const struct fv_profile *profile)
{
    const struct fv_model *m = profile->model;
    struct fv_jsonl *out = &job->line;
    char text[TEXT_BYTES];

    fv_jsonl_key_string(out, "\"told\":{\"command\":", m->command);
    fv_jsonl_key_real(out, ",\"elapsed_s\":", m->elapsed_s);
    fv_jsonl_key_string(out, ",\"headline\":", any_elsewhere(m) ? "" : fv_hang_headline(m, text, sizeof(text)));
    fv_jsonl_key_string(out, ",\"waiting_for\":", fv_verdict_waiting(profile, text, sizeof(text)));
    put_hosts(out, m);
    put_waits(out, m);
    put_findings(out, profile->findings);
    put_problems(out, &m->problems);
    put_sensors(out, m);
    fv_job_where_put(&job->where, profile, out);
    fv_jsonl_text(out, "}");
}

/* ---- reading ---- */

/* The first rank file there is: another run has another one, if only by its time. False: there is none yet, which is no
 * trouble. */
static bool find_file(const char *path, struct stat *out, bool *is_forbidden)
{
    struct fv_rank_files files;
    int err = fv_rank_files_list_here(&files, path);
    bool any = !err && files.count > 0 && !stat(files.paths[0], out);

    if (err && errno == EACCES && !*is_forbidden) {
        *is_forbidden = true; /* said once */
        fv_experiment_say_unreadable(path);
    }
    fv_rank_files_release(&files);
    return any;
}

static bool is_same_file(const struct stat *a, const struct stat *b)
{
    return a->st_ino == b->st_ino && a->st_dev == b->st_dev && a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
           a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

enum answer { READ, OVER, UNREADABLE, TOO_LONG };

static enum answer read_once(struct fv_job *job, const struct pace *pace)
{
    struct fv_profile_options options = pace->options;
    struct fv_experiment_places places;
    struct fv_profile *profile;
    enum answer answer;

    options.seen = job->where.looking.seen.request ? &job->where.looking.seen : NULL;
    fv_experiment_places(&places, job->path);
    int err = fv_profile_open(places.items, places.count, &options, &profile);
    fv_experiment_places_release(&places);
    if (err)
        return UNREADABLE;
    answer = is_over(profile->model) ? OVER : READ;
    job->elapsed_s = profile->model->elapsed_s;
    job->line.used = 0;
    pace->put(job, profile);
    fv_profile_close(profile);
    if (fv_live_tell(job->live, &job->line))
        return answer;
    fv_log("live: %s has more ranks than can be shown", job->path);
    return TOO_LONG;
}

/* What cannot be read, and says so each time, is tried ever less often. */
static void set_due(struct pace *pace, int64_t begin_ns, double took_s, double elapsed_s, bool is_unreadable)
{
    double rest_s = fmin(took_s / FV_JOB_SHARE, fmax(took_s / FV_JOB_SHARE_MOST, FV_JOB_AGE * elapsed_s));

    pace->failures = is_unreadable ? pace->failures + 1 : 0;
    pace->due_ns = begin_ns + (int64_t)(1e9 * fmax(ldexp(pace->least_s, (int)fmin(pace->failures, 6)), rest_s));
}

/* CPU time of this thread: on a busy machine reading takes longer, and no more of a processor. */
static double own_cpu_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

enum { NUMBERS, WORDS, PACES };

static void *follow(void *argument)
{
    struct fv_job *job = argument;
    struct pace paces[PACES] = { [NUMBERS] = { FV_JOB_LEAST_S, { .no_symbols = true }, put_numbers, 0, 0 },
                                 [WORDS] = { FV_JOB_TOLD_S, { 0 }, put_words, 0, 0 } };
    struct stat file, ended = { 0 }; /* ended: of the run that has */
    bool is_forbidden = false;

    while (fv_follower_wait(&job->follower, paces[NUMBERS].due_ns < paces[WORDS].due_ns ? paces[NUMBERS].due_ns
                                                                                        : paces[WORDS].due_ns)) {
        int64_t begin = fv_live_now_ns();
        double begin_cpu_s = own_cpu_s();
        struct pace *pace = &paces[paces[WORDS].due_ns < paces[NUMBERS].due_ns];
        bool is_there = find_file(job->path, &file, &is_forbidden) && !is_same_file(&file, &ended);
        enum answer answer = is_there ? read_once(job, pace) : READ;

        set_due(pace, begin, own_cpu_s() - begin_cpu_s, job->elapsed_s, answer == UNREADABLE);
        if (answer == TOO_LONG)
            pace->due_ns = INT64_MAX;
        if (pace == &paces[WORDS] && answer == READ && is_there && fv_job_where_look(&job->where, job->path))
            pace->due_ns = 0;
        if (answer == OVER) {
            for (size_t i = 0; i < PACES && fv_follower_wait(&job->follower, 0); i++)
                read_once(job, &paces[i]);
            fv_job_where_forget(&job->where);
            ended = file;
        }
    }
    return NULL;
}

/* ---- begin and end ---- */

struct fv_job *fv_job_start(struct fv_live *live, char *path)
{
    struct fv_job *job = fv_xcalloc(1, sizeof(*job));

    job->live = live;
    job->path = path;
    if (!fv_follower_start(&job->follower, follow, job)) {
        fv_log("live: no thread to follow %s", path);
        free(job);
        return NULL;
    }
    return job;
}

void fv_job_stop(struct fv_job *job)
{
    if (!job)
        return;
    fv_follower_stop(&job->follower);
    fv_jsonl_release(&job->line);
    fv_job_where_forget(&job->where);
    free(job);
}
