/* SPDX-License-Identifier: BSD-3-Clause */
/* Which function of a path is the program's own; and names of call sites, for tables and sentences: the function that
 * calls MPI, and as much of the path to it as tells call sites apart. */
#ifndef FV_PLACES_H
#define FV_PLACES_H

#include "profile/profile.h"

/* Of Python not what is installed with it. */
bool fv_frame_is_of_program(const struct fv_model *model, const struct fv_frame *frame);
/* The innermost of the program's own functions on the path, of Python of none that is installed with it; a main() of
 * unknown line tells nothing. Where there is none the innermost of all; NULL: it is not known. */
const struct fv_frame *fv_path_caller(const struct fv_model *model, const struct fv_path *path);

/* As many callers are told as tell apart those that were added. */
struct fv_places {
    const struct fv_profile *view;
    struct fv_index index;
    struct fv_place_start *starts;
    size_t count, room;
};
void fv_places_add(struct fv_places *places, uint32_t site);
void fv_places_release(struct fv_places *places);
/* "solve() at cg.c:212": the function that calls MPI. Returns out. */
char *fv_place_inner(const struct fv_profile *view, uint32_t site, char *out, size_t bytes);
/* "<- step() at cg.c:80 <- main() at cg.c:9": its callers, at least `least` of them where there are. "":
 * none. */
char *fv_place_outer(const struct fv_places *places, uint32_t site, size_t least, char *out, size_t bytes);
/* "solve() at cg.c:200 to 212", "init() at cg.c:15 to solve() at cg.c:212": between two calls. `from` may be FV_NONE.
 * Returns out. */
char *fv_place_between(const struct fv_profile *view, uint32_t from, uint32_t site, char *out, size_t bytes);
/* For sentences: "from init() at cg.c:15 to solve() at cg.c:212"; "in solve() at cg.c:212, before MPI_Allreduce" where
 * both are in one place, or the first is not known. Returns out. */
char *fv_place_region(const struct fv_profile *view, uint32_t from, uint32_t site, char *out, size_t bytes);
/* The same in short, without parameters and outer scopes, with both MPI functions: "solve(): MPI_Recv:200 ->
 * MPI_Allreduce:212", "before solve(): MPI_Recv:200". */
char *fv_place_calls(const struct fv_profile *view, uint32_t from, uint32_t site, char *out, size_t bytes);
/* The MPI function. */
static inline const char *fv_place_function(const struct fv_model *model, uint32_t site)
{
    return model->functions[model->sites[site].function].name;
}
/* "before MPI_Allreduce", "in MPI_Send". Returns out. */
char *fv_place_when(const struct fv_model *model, uint32_t site, enum fv_place where, char out[160]);
/* For sentences: "solve() at cg.c:212 <- step() at cg.c:80, before MPI_Allreduce (#3)". Returns out. */
char *fv_place_words(const struct fv_places *places, uint32_t site, enum fv_place where, char *out, size_t bytes);

#endif
