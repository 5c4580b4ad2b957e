/* What the parts of the text report share. Each prints one section. */
#ifndef FV_TEXT_H
#define FV_TEXT_H

#include "profile/places.h"
#include "profile/relations.h"
#include "tool/table.h"
#include "views/sheet.h"
#include "views/views.h"

/* A table of the report: rows of a relation, in the columns that it shows (fv_relation.shown). */
struct fv_text_table {
    struct fv_tables tables;
    struct fv_sheet sheet;
};
void fv_text_table_begin(struct fv_text_table *table, const struct fv_page *page,
                         const struct fv_profile *view, const char *relation);
/* As fv_sheet_add(): all rows that there are, in their order; the table takes what is to be shown. */
static inline bool fv_text_table_add(struct fv_text_table *t, const void *row, enum fv_color color)
{
    return fv_sheet_add(&t->sheet, NULL, row, color);
}
/* The rows of its relation, which stand in an array, by a column, largest first; to be freed by free(). */
const void **fv_text_table_sorted(struct fv_text_table *table, const char *key, size_t *count);
/* Prints it, unless it has no rows, and how many were left out ("function", " of it"; NULL: is not said), and
 * releases it. */
void fv_text_table_end(struct fv_text_table *table, const char *noun, const char *more);
/* All of that, with a heading, of a relation that has rows. */
void fv_text_relation(const struct fv_page *page, const struct fv_profile *view, const char *relation, const char *noun, const char *about);

struct fv_page fv_text_page(const struct fv_text_options *options, FILE *out);
/* "of which 12.3 % is waiting (exact)"; `remark` stands behind "exact". Returns out. */
#define FV_TEXT_WAITING 160
char *fv_text_waiting_part(double wait_s, double mpi_s, enum fv_wait_kind kind, const char *remark,
                           char out[FV_TEXT_WAITING]);
/* Rows of the less important tables. */
size_t fv_text_few(const struct fv_page *page);
/* A remark with a mark before it, "!" if it is red, else "-". */
void fv_text_note(const struct fv_page *page, enum fv_color color, const char *format, ...) FV_PRINTF(3, 4);
/* What was lost, a remark for each row that has any: of, count, noun, what. */
struct fv_text_loss {
    uint64_t count;
    const char *noun, *what;
};
void fv_text_losses(const struct fv_page *page, const char *of, const struct fv_text_loss *rows,
                    size_t count);
/* Of a table within a section. */
void fv_text_title(const struct fv_page *page, const char *title, const char *remark);
/* A name, `width` columns wide, and what there is to say. */
void fv_text_field(const struct fv_page *page, unsigned width, const char *name, const char *format, ...)
    FV_PRINTF(4, 5);
/* A frame of a call path; `clean` is cut to fit. */
void fv_text_frame(const struct fv_page *page, size_t indent, char *clean, bool inlined, const char *where);
/* How many frames further out there are. */
void fv_text_outer(const struct fv_page *page, size_t indent, size_t count);
/* The frames of a call path, innermost first: not more than `most`, unless all is asked for. */
void fv_text_path(const struct fv_page *page, const struct fv_profile *view, struct fv_path *path,
                  uint32_t node, size_t indent, size_t most);

/* A program without MPI, or whose calls of it were left out: sections that speak of MPI alone are left out. */
bool fv_text_serial(const struct fv_model *model);
/* How many lines tell what went wrong, also with a small --top. */
size_t fv_text_losses_shown(const struct fv_page *page);

/* text_verdict.c */
void fv_text_verdict(const struct fv_page *page, const struct fv_profile *view);
/* text_findings.c: the verdict and the findings */
void fv_text_first(const struct fv_page *page, const struct fv_profile *view);
/* text_identity.c */
void fv_text_identity(const struct fv_page *page, const struct fv_model *model);
/* text_notes.c: problems of the input, then what makes the numbers say less */
void fv_text_notes(const struct fv_page *page, const struct fv_profile *view);
/* text_unfinished.c */
void fv_text_unfinished(const struct fv_page *page, const struct fv_profile *view);
/* text_hang.c */
void fv_text_hang(const struct fv_page *page, const struct fv_model *model);
/* text_waiting.c */
void fv_text_waiting(const struct fv_page *page, const struct fv_profile *view);
/* text_calls.c */
void fv_text_functions(const struct fv_page *page, const struct fv_profile *view);
void fv_text_sites(const struct fv_page *page, const struct fv_profile *view);
/* text_memory.c; nothing where it was not recorded */
void fv_text_memory(const struct fv_page *page, const struct fv_profile *view);
/* text_counters.c; nothing without --counters */
void fv_text_counters(const struct fv_page *page, const struct fv_profile *view);
/* text_machine.c; nothing where no sensors were read */
void fv_text_machine(const struct fv_page *page, const struct fv_profile *view);
/* text_noise.c; nothing where it cost less than a hundredth of the time */
void fv_text_noise(const struct fv_page *page, const struct fv_profile *view);
/* text_instrumented.c; nothing where nothing was instrumented */
void fv_text_instrumented(const struct fv_page *page, const struct fv_profile *view);
/* text_io.c; nothing without --io */
void fv_text_io(const struct fv_page *page, const struct fv_profile *view);
/* text_samples.c; nothing where nothing was sampled */
void fv_text_samples(const struct fv_page *page, const struct fv_profile *view);
/* text_costs.c; the same */
void fv_text_costs(const struct fv_page *page, const struct fv_profile *view);
/* text_sections.c */
void fv_text_sections(const struct fv_page *page, const struct fv_profile *view);
/* text_phases.c; nothing where threads were not watched */
void fv_text_phases(const struct fv_page *page, const struct fv_profile *view);
/* text_locks.c; the same */
void fv_text_locks(const struct fv_page *page, const struct fv_profile *view);
/* Of the verdict: how long threads waited for each other, and for what most. */
char *fv_text_threads_waited(const struct fv_profile *view, char *out, size_t bytes);
void fv_text_thread_waits(const struct fv_page *page,
                          const struct fv_profile *view); /* of a run that hangs, or was killed */
/* text_ranks.c */
void fv_text_sizes(const struct fv_page *page, const struct fv_profile *view);
void fv_text_peers(const struct fv_page *page, const struct fv_profile *view);
void fv_text_comms(const struct fv_page *page, const struct fv_profile *view);
void fv_text_ranks(const struct fv_page *page, const struct fv_profile *view);

#endif
