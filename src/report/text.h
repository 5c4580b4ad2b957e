/* What the parts of the text report share. Each prints one section. */
#ifndef FV_TEXT_H
#define FV_TEXT_H

#include "report/table.h"
#include "report/views.h"

/* A program without MPI: sections that speak of MPI alone are left out. */
bool fv_text_serial(const struct fv_model *model);
/* text.c: what to read first */
void fv_text_summary(const struct fv_page *page, const struct fv_view *view);
/* text_identity.c */
void fv_text_identity(const struct fv_page *page, const struct fv_model *model);
/* text_notes.c: problems of the input, then what makes the numbers say less */
void fv_text_notes(const struct fv_page *page, const struct fv_model *model);
/* text_unfinished.c */
void fv_text_unfinished(const struct fv_page *page, const struct fv_view *view);
/* How many lines tell what went wrong, also with a small --top. */
size_t fv_text_losses_shown(const struct fv_page *page);
/* text_hang.c */
void fv_text_hang(const struct fv_page *page, const struct fv_model *model);
/* text_waiting.c */
void fv_text_waiting(const struct fv_page *page, const struct fv_view *view);
/* text_place.c: names of call sites in tables and sentences. As many callers are told as tell apart those
 * that were added. */
struct fv_places {
    const struct fv_view *view;
    struct fv_index index;
    struct fv_place_start *starts;
    size_t count, room;
};
void fv_places_add(struct fv_places *places, uint32_t site);
void fv_places_release(struct fv_places *places);
/* "solve() at cg.c:212": the function that calls MPI. Returns out. */
char *fv_place_inner(const struct fv_view *view, uint32_t site, char *out, size_t bytes);
/* "<- step() at cg.c:80 <- main() at cg.c:9": its callers, at least `least` of them where there are. "":
 * none. */
char *fv_place_outer(const struct fv_places *places, uint32_t site, size_t least, char *out, size_t bytes);
/* A frame the same way. Returns out. */
char *fv_place_frame(const struct fv_frame *frame, const struct fv_model *model, char *out, size_t bytes);
/* text_calls.c */
void fv_text_functions(const struct fv_page *page, const struct fv_model *model);
void fv_text_sites(const struct fv_page *page, const struct fv_view *view);
/* text_samples.c; nothing where nothing was sampled */
void fv_text_samples(const struct fv_page *page, const struct fv_view *view);
/* text_costs.c; the same */
void fv_text_costs(const struct fv_page *page, const struct fv_view *view);
/* text_sections.c */
void fv_text_sections(const struct fv_page *page, const struct fv_view *view);
/* text_phases.c; nothing where threads were not watched */
void fv_text_phases(const struct fv_page *page, const struct fv_view *view);
/* text_locks.c; the same */
void fv_text_locks(const struct fv_page *page, const struct fv_view *view);
/* Of the verdict: how long threads waited for each other, and for what most. */
char *fv_text_threads_waited(const struct fv_view *view, char *out, size_t bytes);
void fv_text_thread_waits(const struct fv_page *page,
                          const struct fv_view *view); /* of a run that hangs, or was killed */
/* text_ranks.c */
void fv_text_sizes(const struct fv_page *page, const struct fv_model *model);
void fv_text_peers(const struct fv_page *page, const struct fv_model *model);
void fv_text_comms(const struct fv_page *page, const struct fv_model *model);
void fv_text_ranks(const struct fv_page *page, const struct fv_model *model);

/* "file.c:12", without directories; where no file is known "module+0xoffset", unless that is the frame's
 * label already. Returns out. */
char *fv_text_location(const struct fv_frame *frame, const struct fv_model *model, char *out, size_t bytes);

#endif
