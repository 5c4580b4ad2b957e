/* What there is to know of the rank file's types and enumerations: the length of a chunk's records, and what messages and dumps
 * call things. */
#ifndef FV_FORMAT_WORDS_H
#define FV_FORMAT_WORDS_H

#include "trace/format.h"

#include <stdbool.h>

/* A type of chunks. With neither length nor `varies` it has no records that fv_cursor() goes through. */
struct fv_chunk_kind {
    const char *name;
    uint32_t record_bytes; /* 0: not of one length */
    bool varies;           /* each record begins with its length, 32 bits */
};
/* Never NULL: of types that only later versions know, "?". */
const struct fv_chunk_kind *fv_chunk_kind(unsigned type);

/* "?" for unknown ones. */
const char *fv_sync_kind_name(unsigned kind);           /* enum fv_sync_kind */
const char *fv_sync_operation_name(unsigned operation); /* enum fv_sync_operation */
const char *fv_state_name(unsigned state);
const char *fv_class_name(unsigned class);
const char *fv_wait_rule_name(unsigned rule);
const char *fv_fact_name(unsigned key); /* enum fv_fact_key */
const char *fv_drop_name(unsigned drop); /* enum fv_drop */
/* Why pieces of a rank file could not be had (fv_file_header.refused_error), and what to do. */
const char *fv_refused_words(uint32_t error);
/* The functions for files; unknown ones are "?" and do nothing. */
const char *fv_io_function_name(uint32_t function); /* enum fv_io_function */
enum fv_io_operation fv_io_operation_of(uint32_t function);
enum fv_io_layer fv_io_layer_of(uint32_t function);

#endif
