/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of `fvmpi report` that prints single tables: --table and what goes with it. */
#ifndef FV_CMD_TABLES_H
#define FV_CMD_TABLES_H

#include "views/relations.h"
#include "views/views.h"

#define FV_TABLES_MOST     16 /* that one call can print */
#define FV_CONDITIONS_MOST 32
struct fv_tables_asked {
    const char *names[FV_TABLES_MOST];
    size_t count;
    const char *where[FV_CONDITIONS_MOST];
    struct fv_query query; /* what applies to all of them */
};

/* How tables are printed there. */
struct fv_page fv_tables_page(const struct fv_text_options *text, FILE *out);
/* `report --columns` and `report --schema`, which need no experiment. FV_GO_ON: neither was asked for; else
 * the exit status. */
int fv_tables_describe(int argc, char **argv, const struct fv_text_options *text);
/* Before anything is read: do the tables, columns and conditions exist? FV_GO_ON, or the exit status. */
int fv_tables_check(struct fv_tables_asked *asked);
/* Was the run, of these struct fv_tables, recorded with it? */
bool fv_tables_asked_for(const void *tables, const char *flag, size_t bytes);
/* Logs what is missing of the recording: a table looks the same with half of the ranks. */
void fv_tables_say_losses(const struct fv_problems *problems);
/* Prints the tables: to `csv` or `json` where that is given ("-": stdout), else as text. Has logged when it
 * fails; the exit status. */
int fv_tables_print(struct fv_tables_asked *asked, const struct fv_profile *profile, const struct fv_text_options *text,
                    const char *csv, const char *json);

#endif
