/* SPDX-License-Identifier: BSD-3-Clause */
/* A relation is a table that fvmpi shows: its columns, each with key, unit and meaning, and how its rows are
 * found. It is written once, beside the code that computes it; JSON, CSV, `fvmpi report --table`, the JSON
 * Schema and the tables of share/ follow from it. The models are util-linux's lsblk and osquery's tables:
 * whoever adds a column adds a row here, and it is everywhere.
 *
 * A column is either a field of the row's struct, at an offset, or comes from a function. Its key may have
 * a group before a dot ("time.sum_s"): JSON makes an object of the columns of a group, which stand together;
 * flat forms join the parts by an underscore. A column may be a relation in turn, whose rows belong to this
 * row.
 *
 * A relation knows nothing of what it is a table of: `subject` is whatever the callbacks expect. Rows are
 * pointers that stay valid until the same callback makes the next one. One subject, one thread. */
#ifndef FV_RELATION_H
#define FV_RELATION_H

#include "base/base.h"
#include "trace/format.h"

#include <stdbool.h>
#include <stddef.h>

/* Getters and callbacks are all given the same, of which most need a part. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

/* What a column's values are. Each but FV_TYPE_RELATION may be null where the column says FV_NULLABLE. */
enum fv_type {
    FV_TYPE_WHOLE,    /* uint64_t */
    FV_TYPE_NUMBER,   /* int64_t */
    FV_TYPE_REAL,     /* double; what is not finite is null */
    FV_TYPE_TRUTH,    /* bool */
    FV_TYPE_TEXT,     /* bytes that should be UTF-8; NULL is null */
    FV_TYPE_HEX,      /* uint64_t, shown as 16 hexadecimal digits: keys, which JSON's numbers could not hold */
    FV_TYPE_REALS,    /* a list of double; in JSON only */
    FV_TYPE_RANKS,    /* a list of int */
    FV_TYPE_RUNS,     /* a list of struct fv_rank_run: [first, stride, count] each */
    FV_TYPE_RELATION, /* rows of another relation */
};

struct fv_value {
    enum fv_type type;
    bool null, estimate; /* estimate: as the row says (FV_AS_KIND; set where a flat form is read), or as `get` does */
    bool below;          /* it is null, but known to be less than `real`: text shows that */
    union {
        uint64_t whole; /* also FV_TYPE_HEX */
        int64_t number;
        double real;
        bool truth;
        const char *text;
        const void *items;
    };
    size_t count; /* of items */
};

enum fv_column_flags {
    FV_NULLABLE = 1,                    /* may be null, or left empty */
    FV_ESTIMATE = 2,                    /* computed from a sample, a model or bounds; else exact, or: */
    FV_AS_KIND = 4,                     /* as the column wait_kind of the row, or of the group, says */
    FV_FLAT = 8,                        /* in flat forms only: JSON has it otherwise */
    FV_IS_RANK = 32,                    /* a rank in MPI_COMM_WORLD: what --rank chooses by */
    FV_IS_THREAD = 64,                  /* a thread's number: what --thread chooses by */
    FV_UNLESS_0 = 128 | FV_NULLABLE,    /* null where it is 0 */
    FV_UNLESS_NONE = 256 | FV_NULLABLE, /* null where all bits are set: FV_NONE */
    FV_BLANK = 512,                     /* in text, 0 is left empty; what is true is marked by a star */
    FV_NAME = 1024,                     /* a function's name, of which text leaves out parameters and outer scopes */
    FV_FILE = 4096,                     /* a file's path, whose end tells most */
    FV_AMOUNT = 2048,                   /* text that is a number with its unit: aligned as numbers are */
};

/* How the field at `offset` is stored; FV_COMPUTED: `get` gives the value. */
enum fv_storage {
    FV_COMPUTED,
    FV_U8,
    FV_U32,
    FV_U64,
    FV_I32,
    FV_I64,
    FV_F64,
    FV_BOOLEAN,
    FV_STRING,
};

struct fv_relation;
struct fv_column_def {
    const char *key;   /* "wait_s", "time.sum_s" */
    const char *title; /* in text */
    const char *unit;  /* "s", "bytes", "share" (0 to 1), "ratio", "id", "count" (a mean of such); "": a count,
                        * or a word */
    const char *doc;   /* one or two sentences */
    uint8_t type;      /* enum fv_type */
    uint8_t stored;    /* enum fv_storage */
    uint16_t flags;    /* enum fv_column_flags */
    uint32_t offset;   /* of the field; of a relation: what is added to the row to make its parent */
    void (*get)(void *subject, const void *row, const struct fv_column_def *column, struct fv_value *out);
    bool (*known)(void *subject, const void *row, const struct fv_column_def *column); /* else null; NULL: yes */
    intptr_t argument;                                                                 /* for `get` and `known` */
    const struct fv_relation *nested;
    const char *const *words; /* the only texts it can be, NULL behind the last; NULL: any */
};

enum fv_shape {
    FV_LIST, /* JSON: a list of objects */
    FV_ONE,  /* JSON: an object, or null if there is no row */
    FV_MAP,  /* JSON: an object; a row's first column is its key there */
    FV_ROWS, /* JSON: {"columns": [...], "rows": [[...], ...]}: short where rows are many */
};

struct fv_relation {
    const char *name;  /* of the table: --table, CSV's file; NULL: none of its own */
    const char *key;   /* in JSON */
    const char *title; /* in text */
    const char *group; /* of the page: below which heading it stands; NULL: where the relation around it does, or the
                        * subject's (profile/subject.h) */
    const char *doc;   /* what a row is, and their order */
    uint8_t shape;     /* enum fv_shape */
    bool by_rank;      /* a row for each rank: --json-ranks may sum these up */
    bool of_ranks;     /* rows of single ranks or threads that are no numbers to sum up: --json-ranks=none leaves them
                        * out */
    bool nullable;     /* null in JSON where nothing was recorded; a list else is empty */
    const char *recorded_by; /* what records its rows, and those of relations within; NULL: every run */
    const char *unseen;      /* what may have been there, and makes no rows: a clause; NULL: nothing */
    /* The columns of a table of text unless others are asked for, the most important first: their flat keys,
     * with blanks between them. KEY/N may be left out on a narrow page, those of smaller N (1 to 255)
     * first. NULL: all, the last ones first. */
    const char *shown;
    /* The flat key of the column that says what part of the whole a row is, by which --threshold chooses rows
     * of text. NULL: there is none. */
    const char *share;
    const struct fv_column_def *columns;
    size_t column_count;
    /* In flat forms a nested relation begins with these columns of its parent. */
    const struct fv_column_def *outer;
    size_t outer_count;
    /* Where rows are, in one of four ways. FV_ITEMS: in an array that a member of `base` points to. FV_SLICE: in a
     * part of such an array, of which the parent says where it begins. `base` alone: one row, the base. Or as
     * `count` and `row` say, whose NULL is a row that is left out. `base` NULL: the parent. */
    const void *(*base)(void *subject, const void *parent); /* NULL: there are no rows */
    uint32_t items, item_bytes, items_first, items_count, count_bytes;
    bool sliced;
    size_t (*count)(void *subject, const void *parent);
    const void *(*row)(void *subject, const void *parent, size_t index);
};

/* ---- definition ---- */

/* FV_FIELD(struct, member): type and place of a column that a member holds. */
#define FV_STORED_AS(S, m) \
    _Generic(((const S *)0)->m, uint8_t: FV_U8, uint32_t: FV_U32, uint64_t: FV_U64, int32_t: FV_I32,          \
             int64_t: FV_I64, double: FV_F64, bool: FV_BOOLEAN, char *: FV_STRING, const char *: FV_STRING)
/* clang-format off */
#define FV_TYPE_OF(S, m) \
    _Generic(((const S *)0)->m, uint8_t: FV_TYPE_WHOLE, uint32_t: FV_TYPE_WHOLE, uint64_t: FV_TYPE_WHOLE, \
             int32_t: FV_TYPE_NUMBER, int64_t: FV_TYPE_NUMBER, double: FV_TYPE_REAL, bool: FV_TYPE_TRUTH, \
             char *: FV_TYPE_TEXT, const char *: FV_TYPE_TEXT)
/* clang-format on */
#define FV_FIELD(S, m)      .stored = FV_STORED_AS(S, m), .type = FV_TYPE_OF(S, m), .offset = offsetof(S, m)
#define FV_GET(t, function) .type = (t), .get = (function)
/* Rows of `relation`, whose parent is this row, or its member. */
#define FV_NEST(r)          .type = FV_TYPE_RELATION, .nested = &(r)
#define FV_NEST_IN(r, S, m) .type = FV_TYPE_RELATION, .nested = &(r), .offset = offsetof(S, m)
#define FV_COLUMNS(array)   .columns = (array), .column_count = sizeof(array) / sizeof((array)[0])
#define FV_OUTER(array)     .outer = (array), .outer_count = sizeof(array) / sizeof((array)[0])

#define FV_ITEMS(S, array, number)                                                                                 \
    .items = offsetof(S, array), .item_bytes = sizeof(*((const S *)0)->array), .items_count = offsetof(S, number), \
    .count_bytes = sizeof(((const S *)0)->number)
/* P: the parent, whose members `first` and `number` have one type. */
#define FV_SLICE(S, array, P, first, number)                                                   \
    .items = offsetof(S, array), .item_bytes = sizeof(*((const S *)0)->array), .sliced = true, \
    .items_first = offsetof(P, first), .items_count = offsetof(P, number),                     \
    .count_bytes = sizeof(((const P *)0)->number)

/* ---- use ---- */

size_t fv_relation_count(const struct fv_relation *relation, void *subject, const void *parent);
/* NULL: left out. */
const void *fv_relation_row(const struct fv_relation *relation, void *subject, const void *parent, size_t index);

struct fv_value fv_column_value(const struct fv_column_def *column, void *subject, const void *row);
/* The parent that rows of a nested relation have. */
const void *fv_column_parent(const struct fv_column_def *column, const void *row);

/* The key in flat forms: "time_sum_s". Returns out. */
#define FV_KEY_BYTES 80
char *fv_column_flat_key(const struct fv_column_def *column, char out[FV_KEY_BYTES]);
/* "exact", "estimate", "as wait_kind says"; NULL: that is no question. */
const char *fv_column_exactness(const struct fv_column_def *column);
/* Bytes of the group before the dot, 0 without one. */
size_t fv_column_group(const struct fv_column_def *column);

/* A relation of a set, with those around it, outermost first. */
#define FV_RELATION_DEPTH 4
struct fv_relation_place {
    const struct fv_relation *chain[FV_RELATION_DEPTH];
    const struct fv_column_def *links[FV_RELATION_DEPTH]; /* links[i]: the column of chain[i - 1] that is chain[i] */
    size_t depth;
};
typedef bool fv_place_fn(void *context, const struct fv_relation_place *place); /* false: no further */
/* Each relation of the set that has a name, nested ones included; a set ends with NULL. */
bool fv_relations_visit(const struct fv_relation *const *set, fv_place_fn *visit, void *context);
/* false: there is none of that name. */
bool fv_relations_find(const struct fv_relation *const *set, const char *name, struct fv_relation_place *out);

/* The columns of a flat form: those of the parent that the relation begins with, then its own. */
size_t fv_relation_flat_count(const struct fv_relation *relation);
const struct fv_column_def *fv_relation_flat_column(const struct fv_relation *relation, size_t index);

/* A row as a flat form sees it. */
struct fv_flat_row {
    const struct fv_relation *relation;
    const void *parent, *row; /* parent: the row of the relation around it; NULL: there is none */
};
typedef bool fv_flat_fn(void *context, const struct fv_flat_row *row);
/* All rows, in order, of all parents. False: the function wanted no more. */
bool fv_relation_each(const struct fv_relation_place *place, void *subject, fv_flat_fn *take, void *context);

#endif
