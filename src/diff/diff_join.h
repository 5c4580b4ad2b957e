/* SPDX-License-Identifier: BSD-3-Clause */
/* Call paths of different experiments, made comparable. A path of a model is (module, offset) by frame; two
 * builds of a program share none of these, so paths are compared by what they mean to the programmer:
 *
 *   position  the MPI function is the same, and of each frame function, file and line, or where no line is
 *             known function, module and offset. Directories of files and modules do not count, nor does
 *             the name of the program itself: builds stand beside each other.
 *
 *   names     the MPI function is the same, and each frame's function, where the frame is of another build
 *             of its module; a frame of the very same build must have the same position, because there
 *             another line is another call. Several such paths are paired in the order of the source.
 *             A function without a name (stripped, or the file is gone) in another build equals none.
 *
 * Rejected: matching by likeness (counts, bytes), which joins what the change was meant to tell apart. */
#ifndef FV_DIFF_JOIN_H
#define FV_DIFF_JOIN_H

#include "profile/model.h"

struct fv_diff_frame {
    const char *function; /* NULL: not known */
    const char *file;     /* base name; NULL: not known */
    const char *module;   /* base name, or FV_DIFF_PROGRAM; "": none */
    uint32_t line;        /* 0: not known */
    uint64_t offset;
    uint8_t build_id[32];
    uint32_t build_id_bytes; /* 0: not known */
    bool inlined;
};
#define FV_DIFF_PROGRAM "(program)"

/* By whom: the rank files alone; fvunify's analysis of the trace, where there is one, of the rest the rank
 * files. */
enum fv_diff_waits { FV_WAITS_PROFILE, FV_WAITS_ANALYSIS, FV_WAITS };

/* What one run has of a call path: sums over ranks divided by their number. */
struct fv_diff_sample {
    bool there;
    double time_s, calls, bytes; /* bytes: sent and received */
    double wait_s[FV_WAITS];     /* NAN: not known */
    double balance;              /* mean over longest time of a rank; NAN: no time */
    enum fv_wait_kind wait_kind[FV_WAITS];
};

/* Strings and frames belong to the arena that they were made in. */
struct fv_diff_path {
    const char *function; /* of MPI */
    struct fv_diff_frame *frames;
    size_t count;
    uint64_t position_hash, names_hash;
    struct fv_diff_sample *samples; /* by run; malloc'ed */
    size_t sample_count, sample_room;
};
/* `count` and `function` are set: computes the hashes. */
void fv_diff_path_seal(struct fv_diff_path *path);

/* Call paths of one side, each position once. */
struct fv_diff_paths {
    struct fv_diff_path *items;
    size_t count, room;
    struct fv_index index;
};
/* FV_NONE: not there. */
uint32_t fv_diff_paths_find(const struct fv_diff_paths *paths, const struct fv_diff_path *path);
uint32_t fv_diff_paths_add(struct fv_diff_paths *paths, const struct fv_diff_path *path);
void fv_diff_paths_release(struct fv_diff_paths *paths);

struct fv_diff_partner {
    uint32_t item; /* in b; FV_NONE: there is none */
    bool by_name;
    bool uneven; /* a and b have different numbers of paths of these names: which is which is a guess */
};
/* For each path of a its counterpart in b; out holds a->count items. No path of b is given twice. */
void fv_diff_paths_join(const struct fv_diff_paths *a, const struct fv_diff_paths *b, struct fv_diff_partner *out);

/* How rows of A and B were joined. */
#define FV_DIFF_JOIN_KINDS(X)         X(POSITION, "position") X(NAMES, "names") X(ONLY_A, "only_a") X(ONLY_B, "only_b")
#define FV_DIFF_JOIN_KIND(name, word) FV_JOIN_##name,
enum fv_diff_join { FV_DIFF_JOIN_KINDS(FV_DIFF_JOIN_KIND) FV_DIFF_JOINS };
extern const char *const fv_diff_join_names[FV_DIFF_JOINS + 1]; /* NULL behind the last */
static inline bool fv_diff_only(enum fv_diff_join join)
{
    return join == FV_JOIN_ONLY_A || join == FV_JOIN_ONLY_B;
}

#endif
