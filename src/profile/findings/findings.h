/* SPDX-License-Identifier: BSD-3-Clause */
/* Findings: what a run lost most time by, which rank and where, and what to do next. The catalogue (catalogue.c) has a
 * row for each kind; a row looks at the finished profile and adds what it found, if it costs enough to be worth a
 * reader's time.
 *
 * Lost seconds are of the ranks' time, added up over ranks: what they would have been spared if the cause were not
 * there, other things equal. Findings may overlap: a late rank costs time in waiting, and that is one finding; but
 * fixing two of them does not necessarily save the sum. If a cost cannot be determined, no finding is made.
 *
 * A finding is printed as "TITLE, SECONDS (SHARE): TEXT" and, in its own line, "-> NEXT". The title is the row's. The
 * text is one to three short sentences, what is known and how well (sampled, estimate); it begins in lower case and has
 * no full stop at its end. */
#ifndef FV_FINDINGS_H
#define FV_FINDINGS_H

#include "base/shell.h"
#include "profile/model.h"
#include "tool/vec.h"

/* What a finding rests on. */
#define FV_EVIDENCES(X)                                                               \
    X(EXACT, "exact")       /* measured */                                            \
    X(ESTIMATE, "estimate") /* computed by a rule that need not hold for each call */ \
    X(SAMPLES, "samples")   /* the place is by clock samples, and so are seconds of CPU time that were not \
                             * measured */
#define FV_EVIDENCE(name, word) FV_EVIDENCE_##name,
enum fv_evidence { FV_EVIDENCES(FV_EVIDENCE) };
extern const char *const fv_evidence_words[]; /* NULL behind the last */

struct fv_profile;
struct fv_findings;
struct fv_finding_def {
    const char *name;  /* as in JSON: "load_imbalance" */
    const char *title; /* before its text: "Load imbalance" */
    const char *doc;   /* what it is, and how its seconds are counted */
    void (*find)(const struct fv_profile *profile, struct fv_findings *findings);
    const char *tables; /* where its numbers stand (relation.h), with blanks between them; the most important first */
};
extern const struct fv_finding_def fv_finding_defs[];
extern const size_t fv_finding_def_count;
#define FV_FINDING_DEFS_MOST 64 /* room for their names; catalogue.c does not compile with more */

struct fv_finding {
    const struct fv_finding_def *def;
    const char *title; /* as the row's, or milder */
    double lost_s;     /* NAN: it costs no time by itself, or nobody can tell how much */
    enum fv_evidence evidence;
    uint32_t rank;               /* that it is about, in fv_model.ranks; FV_NONE: no single one */
    uint32_t site;               /* call site; FV_NONE: none */
    const char *function, *file; /* of the program; NULL: not known */
    uint32_t line;               /* 0: not known */
    const char *text;            /* sentences, without the seconds */
    const char *next;            /* what to do or type next */
    bool is_io;                  /* it is about the rank's functions for files */
    bool by_machine;             /* the rank was preempted: no fault of the program */
    double charged_s;            /* waiting that the trace puts down to its cause, beside lost_s; 0: none */
};

struct fv_findings {
    struct fv_arena arena;
    struct fv_finding *items; /* a hang; then by lost_s, most first; then those without. Of a disturbed run waiting
                               * without a known cause comes behind what has one, and what the machine did is last */
    size_t count, room;
    const char **left; /* what could not be judged, and why: a clause each */
    size_t left_count, left_room;
    const struct fv_finding_def *current; /* while they are made */
};

/* Looks for all of the catalogue. */
void fv_findings_make(struct fv_findings *out, const struct fv_profile *profile);
void fv_findings_release(struct fv_findings *findings);
/* The run was disturbed, which makes all its times say less: it is printed before any of them. */
#define FV_FINDING_DISTURBED "no_processor"
/* What a reader should know where there are none but those of the machine, or behind them: that nothing else costs
 * much, or what could not be judged. "": nothing. Returns out. */
char *fv_findings_rest(const struct fv_profile *profile, char *out, size_t bytes);
/* The same in a few words, where there is no room: "not judged: 2 questions (--all has them)". Returns out. */
char *fv_findings_rest_short(const struct fv_profile *profile, char *out, size_t bytes);
/* By what they are in order, for a heading. */
const char *fv_findings_order(const struct fv_findings *findings);
/* What names it among the findings of a run, each time that it is reported: its name, and behind the first of a name a
 * number: "late_rank.2". Returns out. */
#define FV_FINDING_ID 64
char *fv_finding_id(const struct fv_findings *findings, const struct fv_finding *finding, char out[FV_FINDING_ID]);
/* The largest of a name; NULL: there is none. */
const struct fv_finding *fv_findings_named(const struct fv_findings *findings, const char *name);

/* ---- for the catalogue's rows ---- */

/* Ranks had no processor for longer than that. */
bool fv_finding_is_disturbance(const struct fv_findings *findings, double lost_s);

/* A finding is worth a reader's time from this part of the ranks' time on. */
#define FV_FINDING_WORTH       0.02
#define FV_FINDING_WORTH_WORDS "2 % of the ranks' time"
/* A process that a rank started has the processor of one. */
#define FV_NEXT_OWN "leave processors for what ranks start: run fewer ranks on a host, or bind them to fewer processors"
bool fv_finding_worth(const struct fv_profile *profile, double lost_s);
/* The same of CPU time: of the time that ranks had a processor. */
bool fv_finding_worth_cpu(const struct fv_profile *profile, const struct fv_findings *findings, double lost_s);
/* A row could not judge something: nothing may then be said not to be there. */
void fv_findings_leave(struct fv_findings *findings, const char *format, ...) FV_PRINTF(2, 3);
/* A new finding, to be filled in: its texts by fv_finding_say(), fv_finding_next(). */
struct fv_finding *fv_finding_add(struct fv_findings *findings, double lost_s, enum fv_evidence evidence);
void fv_finding_say(struct fv_findings *findings, struct fv_finding *finding, const char *format, ...) FV_PRINTF(3, 4);
void fv_finding_next(struct fv_findings *findings, struct fv_finding *finding, const char *format, ...) FV_PRINTF(3, 4);
/* A command of fvmpi on the directories of this profile, for fv_finding_next(): FV_FINDING_COMMAND(model, "report",
 * "--table", "ranks"), valid in its block. */
char *fv_finding_command(char out[FV_SHELL_COMMAND], const struct fv_model *model, const char *const *words);
#define FV_FINDING_COMMAND(model, ...) \
    fv_finding_command((char[FV_SHELL_COMMAND]){ "" }, model, (const char *const[]){ __VA_ARGS__, NULL })

/* FV_FINDING(noise) { ... } defines fv_find_noise(v, f), which looks for that and adds what it finds. catalogue.c has
 * its row. */
typedef void fv_find_fn(const struct fv_profile *v, struct fv_findings *f);
#define FV_FINDING(name)       \
    fv_find_fn fv_find_##name; \
    void fv_find_##name(const struct fv_profile *v, struct fv_findings *f)

/* What the quota of its control group kept a rank from processors, an estimate: its part of what all ranks in it were
 * kept. */
double fv_throttled_s(const struct fv_model *model, uint32_t rank);
/* What the trace puts down to the preemption of that rank alone, before its calls; 0: nothing, or there is no trace.
 * The finding of noise says it. */
double fv_late_by_preemption_s(const struct fv_profile *profile, const struct fv_findings *findings, uint32_t rank);
/* More ranks than processors may run on those of a rank alone, and they had most of what these can do: they disturb
 * each other. */
bool fv_ranks_crowd(const struct fv_model *model, uint32_t rank);
/* Threads that ran in a rank at a time, at least. */
uint32_t fv_threads_at_least(const struct fv_model *model, const struct fv_rank *rank);

#endif
