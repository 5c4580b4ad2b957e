/* SPDX-License-Identifier: BSD-3-Clause */
/* The rank file's types and enumerations as data, for the reader, fvmpi dump and share/format.md: what format*.h say,
 * which gen_records.py reads. */
#ifndef FV_FORMAT_WORDS_H
#define FV_FORMAT_WORDS_H

#include "trace/format.h"

#include <stdbool.h>
#include <stddef.h>

/* The values of an enumeration. Flags: a sum of them. */
struct fv_enum_value {
    uint64_t value;
    const char *word, *doc;
};
struct fv_enum {
    const char *name, *doc;
    const struct fv_enum_value *list;
    unsigned count;
    bool flags;
};

/* An array of which some elements are there. Text has a NUL behind them; without `by` somewhere in its room. */
struct fv_elements {
    uint32_t offset, element;
    uint32_t room; /* 0: to the end of the record */
    bool text;
    struct {
        uint32_t offset, bytes; /* 0 bytes: none */
    } by[2];                    /* fields that add up to how many. None, of what is not text: all that there is room
                                 * for */
};

enum fv_member_kind { FV_MEMBER_UNSIGNED, FV_MEMBER_SIGNED, FV_MEMBER_DOUBLE, FV_MEMBER_TEXT, FV_MEMBER_STRUCT };
struct fv_member {
    const char *name, *unit, *doc; /* unit "": a number, or no number */
    enum fv_member_kind kind;
    uint32_t offset, element; /* bytes of one element */
    uint32_t count;           /* elements of an array; 0: none, or of open length */
    uint32_t row;             /* of these in a row; 0: it has one dimension */
    uint8_t bits;             /* `words` are of so many; the others are a number. 0: of all */
    bool hex;
    const struct fv_enum *words, *by;   /* its values; what an array is indexed by */
    const struct fv_elements *elements; /* NULL: all that there is room for */
    const struct fv_layout *of;         /* FV_MEMBER_STRUCT */
};

struct fv_layout {
    const char *name, *doc; /* of the struct */
    const struct fv_member *member;
    unsigned members;
    const struct fv_elements *elements; /* arrays; of a record with a length of its own a reader checks the first
                                         * `counts` */
    unsigned counts;
    uint32_t bytes;
};

/* A type of chunks. With neither length nor `varies` it has no records that fv_cursor() goes through. */
struct fv_chunk_kind {
    const char *name, *doc;
    const struct fv_layout *layout; /* of its records; NULL: it has none */
    uint32_t record_bytes;          /* 0: not of one length */
    uint16_t number;                /* 0: not a type */
    bool varies;                    /* each record begins with its length, 32 bits */
    bool by_thread, one, ids, forgotten;
};

#include "trace/format-enums.h"

extern const struct fv_chunk_kind fv_chunk_kinds[FV_CHUNK_KINDS];
/* Never NULL: of types that only other versions know, "?". */
static inline const struct fv_chunk_kind *fv_chunk_kind(unsigned type)
{
    return &fv_chunk_kinds[type < FV_CHUNK_KINDS ? type : 0];
}
/* Of a record with a length of its own: are its arrays within these bytes, do its texts end? */
bool fv_record_is_whole(const struct fv_layout *layout, const void *record, uint64_t bytes);
/* How many elements of an array are there: at most as many as fit into the record. */
uint64_t fv_elements(const struct fv_elements *array, const void *record, uint64_t bytes);

/* "?" for unknown ones. */
const char *fv_enum_word(const struct fv_enum *words, uint64_t value);
#define fv_sync_kind_name(kind)           fv_enum_word(&fv_sync_kind_enum, kind)
#define fv_sync_operation_name(operation) fv_enum_word(&fv_sync_operation_enum, operation)
#define fv_memory_function_name(function) fv_enum_word(&fv_memory_function_enum, function)
#define fv_class_name(class)              fv_enum_word(&fv_function_class_enum, class)
/* Calls in which threads wait, and parts in worksharing of OpenMP, under one number. */
#define FV_THREAD_CALLS 256 /* enum fv_sync_kind | enum fv_sync_operation << 4 */

/* In place of an operation: the barrier at the end of a parallel region, which no call is of its own. */
#define FV_THREAD_IMPLICIT_BARRIER (FV_SYNC_OMP | 15 << 4)

/* A part in worksharing: enum fv_omp_work_kind. Kind 15 is none of enum fv_sync_kind. */
#define FV_THREAD_WORK(kind) (15u | (unsigned)(kind) << 4)

/* What waits there: the C library's function, or a name of OpenMP's. NULL: nothing does. */
const char *fv_thread_call_name(unsigned call);
/* Why pieces of a rank file were refused (fv_file_header.refused_error), and what to do. */
const char *fv_refused_words(uint32_t error);
/* Are a rank's `calls` missing from a trace that did not end early, and whose file got all pieces (`refused`: those
 * that it did not get)? The process that made them has the rank's memory, and cannot make the file longer. */
static inline bool fv_is_by_clone(uint64_t calls, uint64_t refused, bool has_ended)
{
    return calls && !refused && !has_ended;
}
#define FV_WORDS_BY_CLONE "a child of clone() or vfork() made them, and has no trace; let a thread call MPI"
/* The functions for files of enum fv_io_function; others are "?" and do nothing. io_words.h has those, too. */
const char *fv_io_function_name(uint32_t function); /* enum fv_io_function */
enum fv_io_operation fv_io_operation_of(uint32_t function);
enum fv_io_layer fv_io_layer_of(uint32_t function);

#endif
