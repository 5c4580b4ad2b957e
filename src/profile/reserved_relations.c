/* Keys of the schema that nothing fills yet. They are written, empty, so that a reader of JSON can rely on each key. */
#include "profile/relations.h"

static const void *nothing(void *subject, const void *parent)
{
    return NULL;
}

static const struct fv_column_def no_columns[] = {
    { "text", "text", "", "In words.", .type = FV_TYPE_TEXT, .stored = FV_STRING },
};
#define RESERVED(k, d)                                                                                        \
    const struct fv_relation fv_##k##_relation = {                                                            \
        .key = #k, .title = #k, .doc = d " Reserved: this version records nothing of it, and the list is empty.", \
        FV_COLUMNS(no_columns), .base = nothing,                                                              \
    }
RESERVED(counters, "Hardware counters.");
