/* SPDX-License-Identifier: BSD-3-Clause */
/* The relations of a profile (tool/relation.h): one definition of each table that any view shows of it. The
 * columns of a subject stand beside the code that computes them, in a file *_relations.c. */
#ifndef FV_PROFILE_RELATIONS_H
#define FV_PROFILE_RELATIONS_H

#include "profile/profile.h"
#include "profile/counters/counters.h"
#include "profile/functions/instrumentation.h"
#include "profile/io/io.h"
#include "profile/labels.h"
#include "profile/machine/facts.h"
#include "profile/machine/sensors.h"
#include "profile/memory/memory.h"
#include "profile/noise/noise.h"
#include "profile/samples/costs.h"
#include "profile/sections/sections.h"
#include "profile/threads/locks.h"
#include "tool/relation.h"

/* What the callbacks of a profile's relations are given, with room for what they make. */
struct fv_tables {
    const struct fv_profile *profile;
    const struct fv_model *model; /* of the profile */
    struct fv_path path;          /* of `path_node`, where `path_known` */
    uint32_t path_node;
    bool path_known;
    char text[4800], *words; /* words: of any length */
    size_t words_used, words_room;
    double *reals;
    size_t reals_room;
    double message_bytes; /* of the matrix; negative: not added up yet */
    void *look_rows;      /* of the tables of looks; NULL: not made yet */
    void (*free_look_rows)(void *rows);
    uint64_t row[16]; /* a row that is made, not stored */
    uint64_t inner[16];
};

/* Of all subjects, in the order of JSON; NULL behind the last. */
extern const struct fv_relation *fv_profile_relations[FV_SUBJECT_COUNT * FV_SUBJECT_RELATIONS + 1];
#define FV_PROFILE_SCHEMA "fvmpi-profile-2"

/* ---- what the relations of several subjects share ---- */

/* "path" of JSON: the frames of a call path. Its parent is the number of a node, uint32_t. */
extern const struct fv_relation fv_path_relation;
/* Of rows that are struct fv_frame. */
#define FV_FRAME_COLUMNS 6
extern const struct fv_column_def fv_frame_columns[FV_FRAME_COLUMNS];
/* The same in flat forms: file and line of the innermost frame, and the names outwards. `argument`: offset of
 * the node's number in the row. */
void fv_get_path_file(void *subject, const void *row, const struct fv_column_def *column, struct fv_value *out);
void fv_get_path_line(void *subject, const void *row, const struct fv_column_def *column, struct fv_value *out);
/* A frame's file and line in short: "solve.c:42"; null: not known. */
void fv_put_place(struct fv_tables *tables, const struct fv_frame *frame, struct fv_value *out);
/* Of the path's innermost frame. */
void fv_get_path_place(void *subject, const void *row, const struct fv_column_def *column, struct fv_value *out);
/* fv_path_caller(): "dump() at w.c:12". */
void fv_get_path_own(void *subject, const void *row, const struct fv_column_def *column, struct fv_value *value);
/* "dump": the name of that function, of a compiler's function for an OpenMP region only where it tells of which
 * function it is. */
void fv_get_path_function(void *subject, const void *row, const struct fv_column_def *column, struct fv_value *value);
void fv_get_path_text(void *subject, const void *row, const struct fv_column_def *column, struct fv_value *out);
#define FV_PATH_COLUMNS(S, m)                                                                                       \
    { "path", "path", "",                                                                                           \
      "The call path, innermost frame first, main last. Frames outside of main and those of MPI's Fortran binding " \
      "are left out. Empty: not recorded.",                                                                         \
      FV_NEST_IN(fv_path_relation, S, m) },                                                                         \
        { "file",                                                                                                   \
          "file",                                                                                                   \
          "",                                                                                                       \
          "Source file of the innermost frame.",                                                                    \
          FV_GET(FV_TYPE_TEXT, fv_get_path_file),                                                                   \
          .flags = FV_FLAT | FV_NULLABLE,                                                                           \
          .argument = offsetof(S, m) },                                                                             \
        { "line",                                                                                                   \
          "line",                                                                                                   \
          "",                                                                                                       \
          "Source line of the innermost frame.",                                                                    \
          FV_GET(FV_TYPE_WHOLE, fv_get_path_line),                                                                  \
          .flags = FV_FLAT | FV_NULLABLE,                                                                           \
          .argument = offsetof(S, m) },                                                                             \
    {                                                                                                               \
        "path", "path", "", "Names of the functions on the call path, innermost first, separated by <.",            \
            FV_GET(FV_TYPE_TEXT, fv_get_path_text), .flags = FV_FLAT, .argument = offsetof(S, m)                    \
    }

/* A rank's number in MPI_COMM_WORLD, of an index among the model's ranks: uint32_t at offset `argument` of
 * the row. */
void fv_get_rank(void *subject, const void *row, const struct fv_column_def *column, struct fv_value *out);
#define FV_RANK_COLUMN(S, m, k, t, d)                                                                     \
    {                                                                                                     \
        k, t, "", d, FV_GET(FV_TYPE_NUMBER, fv_get_rank), .flags = FV_IS_RANK, .argument = offsetof(S, m) \
    }
/* ... null where it is FV_NONE. */
#define FV_RANK_OR_NULL_COLUMN(S, m, k, t, d)                                                \
    {                                                                                        \
        k, t, "", d, FV_GET(FV_TYPE_NUMBER, fv_get_rank), .flags = FV_IS_RANK | FV_NULLABLE, \
                                                          .argument = offsetof(S, m)         \
    }

/* One number of the row over another, null where that is 0; mostly in flat forms, as JSON has both. Their
 * members are uint32_t, uint64_t or double. */
void fv_get_quotient(void *subject, const void *row, const struct fv_column_def *column, struct fv_value *out);
#define FV_QUOTIENT_COLUMN(k, t, u, S, part, whole, f, d)                                                         \
    {                                                                                                             \
        k, t, u, d, FV_GET(FV_TYPE_REAL, fv_get_quotient),                                                        \
            .flags = FV_NULLABLE | (f), .offset = offsetof(S, part),                                              \
            .argument = (intptr_t)(offsetof(S, whole) << 8 | FV_STORED_AS(S, part) << 4 | FV_STORED_AS(S, whole)) \
    }
/* The same over a number of the whole profile. */
enum fv_total {
    FV_OF_RUN,     /* its elapsed time */
    FV_OF_RANKS,   /* the time of all ranks */
    FV_OF_THREADS, /* the time of all threads that call MPI */
    FV_OF_WAITING, /* of relation waiting */
    FV_OF_CRITICAL_PATH,
    FV_OF_THREAD_LIVES,  /* of relation thread_waiting */
    FV_OF_TICKS,         /* clock samples */
    FV_OF_MESSAGE_BYTES, /* of relation matrix */
};
void fv_get_share(void *subject, const void *row, const struct fv_column_def *column, struct fv_value *out);
#define FV_SHARE_COLUMN(k, t, S, part, total, f, d)                                                                    \
    {                                                                                                                  \
        k, t, "share", d, FV_GET(FV_TYPE_REAL, fv_get_share), .flags = FV_NULLABLE | (f), .offset = offsetof(S, part), \
                                                              .argument = (total) << 4 | FV_STORED_AS(S, part)         \
    }

/* Waiting, and beside it how well it is known: of a struct with wait_s and wait_kind (enum fv_wait_kind, of
 * any size). */
void fv_get_wait(void *subject, const void *row, const struct fv_column_def *column, struct fv_value *out);
void fv_get_wait_kind(void *subject, const void *row, const struct fv_column_def *column, struct fv_value *out);
extern const char *const fv_wait_kind_words[];
extern const char *const fv_class_words[]; /* of enum fv_function_class */
#define FV_PLACE_OF(S, m) ((intptr_t)(offsetof(S, m) | sizeof(((const S *)0)->m) << 16))
#define FV_WAIT_COLUMNS(S, d)                                                                                    \
    { "wait_s",                                                                                                  \
      "waiting",                                                                                                 \
      "s",                                                                                                       \
      d,                                                                                                         \
      FV_GET(FV_TYPE_REAL, fv_get_wait),                                                                         \
      .flags = FV_NULLABLE | FV_AS_KIND,                                                                         \
      .offset = offsetof(S, wait_s),                                                                             \
      .argument = FV_PLACE_OF(S, wait_kind) },                                                                   \
    {                                                                                                            \
        "wait_kind", "kind", "", "Whether wait_s is exact or an estimate. Null: wait_s is not known.",           \
            FV_GET(FV_TYPE_TEXT, fv_get_wait_kind), .flags = FV_NULLABLE, .argument = FV_PLACE_OF(S, wait_kind), \
                                                    .words = fv_wait_kind_words                                  \
    }
/* "exact" or "estimate", of a bool. */
void fv_get_exact(void *subject, const void *row, const struct fv_column_def *column, struct fv_value *out);
#define FV_EXACT_COLUMN(k, S, m)                                                                      \
    {                                                                                                 \
        k, "kind", "", "Whether wait_s is exact or an estimate.", FV_GET(FV_TYPE_TEXT, fv_get_exact), \
            .argument = offsetof(S, m), .words = fv_wait_kind_words                                   \
    }

/* struct fv_call_stat at `m`: {sum_s, min_s, max_s, mean_s, stddev_s} of the calls' times. */
void fv_get_call_stat(void *subject, const void *row, const struct fv_column_def *column, struct fv_value *out);
#define FV_CALL_STAT_COLUMNS(S, m)                                                                                  \
    { "time.sum_s", "time", "s", "Total time in these calls.", FV_FIELD(S, m.sum_s) },                              \
        { "time.min_s", "min", "s", "Duration of the shortest call.", FV_FIELD(S, m.min_s), .flags = FV_NULLABLE }, \
        { "time.max_s", "max", "s", "Duration of the longest call.", FV_FIELD(S, m.max_s), .flags = FV_NULLABLE },  \
        { "time.mean_s",                                                                                            \
          "mean",                                                                                                   \
          "s",                                                                                                      \
          "Mean duration of the calls.",                                                                            \
          FV_GET(FV_TYPE_REAL, fv_get_call_stat),                                                                   \
          .flags = FV_NULLABLE,                                                                                     \
          .offset = offsetof(S, m) },                                                                               \
    {                                                                                                               \
        "time.stddev_s", "stddev", "s", "Standard deviation of the durations (of the population).",                 \
            FV_GET(FV_TYPE_REAL, fv_get_call_stat), .flags = FV_NULLABLE, .offset = offsetof(S, m), .argument = 1   \
    }
#define FV_BYTES_COLUMNS(S, m)                                                                      \
    { "bytes_sent", "sent", "bytes", "Bytes sent.", FV_FIELD(S, m.bytes_sent), .flags = FV_BLANK }, \
    {                                                                                               \
        "bytes_received", "received", "bytes",                                                      \
            "Bytes received. Those of a non-blocking receive count at the call that posted it.",    \
            FV_FIELD(S, m.bytes_received), .flags = FV_BLANK                                        \
    }

/* The module's path, of an index among the model's modules, uint32_t at offset `argument`; null: none. */
void fv_get_module(void *subject, const void *row, const struct fv_column_def *column, struct fv_value *out);

/* The row's index in `m`, an array of the model, of its hang, of the profile's costs or of a subject's data (S), whose
 * items it is one of. */
enum { FV_IN_MODEL, FV_IN_COSTS, FV_IN_DATA /* and the subject */ };
void fv_get_id(void *subject, const void *row, const struct fv_column_def *column, struct fv_value *out);
#define FV_ID_COLUMN_IN(where, S, k, m, d)                                                               \
    {                                                                                                    \
        k, "id", "id", d, FV_GET(FV_TYPE_WHOLE, fv_get_id),                                              \
            .offset = offsetof(S, m), .argument = (intptr_t)(sizeof(*((const S *)0)->m) | (where) << 24) \
    }
#define FV_ID_COLUMN(k, m, d)                  FV_ID_COLUMN_IN(FV_IN_MODEL, struct fv_model, k, m, d)
#define FV_DATA_ID_COLUMN(subject, S, k, m, d) FV_ID_COLUMN_IN(FV_IN_DATA + FV_SUBJECT_##subject, S, k, m, d)

static inline const struct fv_model *fv_tables_model(const void *subject)
{
    return ((const struct fv_tables *)subject)->model;
}

/* Buckets of times: the parent is the first of FV_TIME_BUCKETS counts. */
#define FV_TIME_BUCKET_COLUMNS 3
extern const struct fv_column_def fv_time_bucket_columns[FV_TIME_BUCKET_COLUMNS];
size_t fv_time_bucket_count(void *subject, const void *parent);
const void *fv_time_bucket_at(void *subject, const void *parent, size_t index);

/* What the reader must know: of struct fv_problem. */
#define FV_PROBLEM_COLUMNS 3
extern const struct fv_column_def fv_problem_columns[FV_PROBLEM_COLUMNS];

/* The base of relations of the whole profile: the model. */
const void *fv_tables_base(void *subject, const void *parent);
/* The base of a subject's: its data. FV_DATA_BASE(worksharing) declares worksharing_base(). */
#define FV_DATA_BASE(name)                                            \
    static const void *name##_base(void *subject, const void *parent) \
    {                                                                 \
        return fv_model_##name(fv_tables_model(subject));             \
    }

/* Makes the path of a node the subject's, unless it is that already. */
const struct fv_path *fv_tables_path(struct fv_tables *tables, uint32_t node);
/* Its functions from the frame `first` outwards, "f < g < main". */
const char *fv_path_text(struct fv_tables *tables, const struct fv_path *path, size_t first);
void fv_tables_init(struct fv_tables *tables, const struct fv_profile *profile);
/* Frees what the subject has made; the profile stays. */
void fv_tables_release(struct fv_tables *tables);

#endif
