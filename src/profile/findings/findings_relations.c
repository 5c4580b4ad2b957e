/* What the run lost most time by: relation findings. */
#include "profile/findings/findings.h"
#include "profile/places.h"
#include "profile/relations.h"
#include "tool/words.h"

#include <stdio.h>
#include <stdlib.h>

#define NAMES_MOST 100
static const char *names[NAMES_MOST + 1]; /* of the catalogue; NULL behind the last */

/* The words of the column `name`, which JSON's schema lists. */
__attribute__((constructor)) static void list_names(void)
{
    if (fv_finding_def_count > NAMES_MOST)
        abort(); /* none is left out: give them more room */
    for (size_t i = 0; i < fv_finding_def_count; i++)
        names[i] = fv_finding_defs[i].name;
}

static const void *the_findings(void *subject, const void *parent)
{
    return ((const struct fv_tables *)subject)->profile->findings;
}

static void get_name(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->text = ((const struct fv_finding *)row)->def->name;
}

static void get_evidence(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->text = fv_evidence_words[((const struct fv_finding *)row)->evidence];
}

static void get_finding_rank(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_finding *finding = row;

    v->null = finding->rank == FV_NONE;
    if (!v->null)
        v->number = fv_tables_model(subject)->ranks[finding->rank].world_rank;
}

/* Its function; without, its call site. */
static void get_place(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_finding *f = row;
    struct fv_tables *t = subject;

    if (f->function) {
        const char *file = f->file ? fv_base_name(f->file) : "";
        char line[FV_WORD] = "", name[300];

        if (f->line)
            snprintf(line, sizeof(line), ":%u", f->line);
        fv_words_brief(f->function, name, sizeof(name));
        snprintf(t->text, sizeof(t->text), "%s%s %s%s%s", name, strchr(name, '(') ? "" : "()",
                 !*file  ? ""
                 : *line ? "at "
                         : "in ",
                 file, line);
        v->text = t->text;
    } else if (f->site != FV_NONE) {
        v->text = fv_place_inner(t->profile, f->site, t->text, sizeof(t->text));
    }
}

static const struct fv_column_def columns[] = {
    { "name", "finding", "", "Which kind of the catalogue it is (fvmpi-report(1)).", FV_GET(FV_TYPE_TEXT, get_name),
      .words = names },
    { "lost_s", "lost", "s",
      "Time of the ranks that it costs, added up over them; findings may overlap. Null: none by itself, or not known.",
      FV_FIELD(struct fv_finding, lost_s), .flags = FV_NULLABLE },
    FV_SHARE_COLUMN("lost_share", "share", struct fv_finding, lost_s, FV_OF_RANKS, 0,
                    "lost_s of the time of all ranks."),
    { "evidence", "by", "",
      "What it rests on. exact: measured; estimate: by a rule that need not hold for each call; samples: the place "
      "is by clock samples, and so are seconds of CPU time that were not measured.",
      FV_GET(FV_TYPE_TEXT, get_evidence), .words = fv_evidence_words },
    { "rank", "rank", "", "The rank that it is about, of several the one with most of it; null: no single one.",
      FV_GET(FV_TYPE_NUMBER, get_finding_rank), .flags = FV_IS_RANK | FV_NULLABLE },
    { "callsite_id", "call site", "id", "Index in callsites; null: it is about none.",
      FV_FIELD(struct fv_finding, site), .flags = FV_UNLESS_NONE },
    { "function", "function", "", "The program's function that does it; null: not known.",
      FV_FIELD(struct fv_finding, function), .flags = FV_NULLABLE | FV_NAME },
    { "file", "file", "", "Its source file.", FV_FIELD(struct fv_finding, file), .flags = FV_NULLABLE },
    { "line", "line", "", "Its first line.", FV_FIELD(struct fv_finding, line), .flags = FV_UNLESS_0 },
    { "place", "where", "", "The function, or else the call site; null: it is about neither.",
      FV_GET(FV_TYPE_TEXT, get_place), .flags = FV_FLAT | FV_NULLABLE },
    { "text", "text", "", "In words, without the seconds.", FV_FIELD(struct fv_finding, text) },
    { "next", "next", "", "What to do or type next.", FV_FIELD(struct fv_finding, next) },
};
const struct fv_relation fv_findings_relation = {
    .name = "findings",
    .key = "findings",
    .title = "Findings",
    .doc = "What the run lost most time by, with the cause and the next step: most seconds first, then those without. "
           "In a disturbed run, waiting without a known cause stands behind what has one, and what the machine did "
           "comes last. Empty: of what could be judged (run.not_judged), nothing costs " FV_FINDING_WORTH_WORDS
           " or more.",
    .shown = "name lost_s lost_share evidence/2 rank function text/1",
    FV_COLUMNS(columns),
    .base = the_findings,
    FV_ITEMS(struct fv_findings, items, count),
};
