/* SPDX-License-Identifier: BSD-3-Clause */
/* What the run lost most time by: relation findings. */
#include "profile/findings/findings.h"
#include "profile/places.h"
#include "profile/relations.h"
#include "tool/words.h"

#include <stdio.h>

static const char *names[FV_FINDING_DEFS_MOST + 1]; /* of the catalogue; NULL behind the last */

/* The words of the column `name`, which JSON's schema lists. */
__attribute__((constructor)) static void list_names(void)
{
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

static void get_title(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->text = ((const struct fv_finding *)row)->title;
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

static void get_id(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    struct fv_tables *t = subject;

    v->text = fv_finding_id(t->profile->findings, row, t->text);
}

static const struct fv_column_def columns[] = {
    { "finding_id", "id", "",
      "What names the finding in this run (fvmpi explain): its name, from the second of a name on with a number.",
      FV_GET(FV_TYPE_TEXT, get_id) },
    { "name", "finding", "", "Name of the finding; fvmpi-report(1) has the catalogue.", FV_GET(FV_TYPE_TEXT, get_name),
      .words = names },
    { "title", "title", "", "Title of the finding, in words.", FV_GET(FV_TYPE_TEXT, get_title) },
    { "lost_s", "lost", "s",
      "Time lost, summed over ranks. Findings may overlap. Null: the finding has no cost of its own, or it is not "
      "known.",
      FV_FIELD(struct fv_finding, lost_s), .flags = FV_NULLABLE },
    FV_SHARE_COLUMN("lost_share", "share", struct fv_finding, lost_s, FV_OF_RANKS, 0,
                    "lost_s as a share of the time of all ranks."),
    { "evidence", "evidence", "",
      "Evidence. exact: measured. estimate: from a rule that may fail for single calls. samples: from clock samples, "
      "which give the place and CPU times that were not measured.",
      FV_GET(FV_TYPE_TEXT, get_evidence), .words = fv_evidence_words },
    { "rank", "rank", "", "The rank concerned; if several, the one with the most. Null: no single rank.",
      FV_GET(FV_TYPE_NUMBER, get_finding_rank), .flags = FV_IS_RANK | FV_NULLABLE },
    { "callsite_id", "call site", "id", "The call site concerned, an index in callsites. Null: none.",
      FV_FIELD(struct fv_finding, site), .flags = FV_UNLESS_NONE },
    { "function", "function", "", "The function of the program that causes it. Null: not known.",
      FV_FIELD(struct fv_finding, function), .flags = FV_NULLABLE | FV_NAME },
    { "file", "file", "", "Source file of the function.", FV_FIELD(struct fv_finding, file), .flags = FV_NULLABLE },
    { "line", "line", "", "First line of the function.", FV_FIELD(struct fv_finding, line), .flags = FV_UNLESS_0 },
    { "place", "where", "", "The function, or else the call site. Null: neither.", FV_GET(FV_TYPE_TEXT, get_place),
      .flags = FV_FLAT | FV_NULLABLE },
    { "text", "text", "", "The finding in words, without its cost.", FV_FIELD(struct fv_finding, text) },
    { "next", "next", "", "What to do or to run next.", FV_FIELD(struct fv_finding, next) },
};
const struct fv_relation fv_findings_relation = {
    .name = "findings",
    .key = "findings",
    .title = "Findings",
    .doc =
        "What costs the run most time, with cause and next step, largest cost first. Findings without seconds follow. "
        "In a disturbed run, waiting without a known cause follows what has one, and findings about the machine come "
        "last. Empty: of what could be judged (run.not_judged), nothing costs " FV_FINDING_WORTH_WORDS
        " or is otherwise worth reporting.",
    .shown = "name lost_s lost_share evidence/2 rank function text/1",
    FV_COLUMNS(columns),
    .base = the_findings,
    FV_ITEMS(struct fv_findings, items, count),
};
