/* SPDX-License-Identifier: BSD-3-Clause */
/* The profile and the comparison as JSON: what their relations are, and nothing else. */
#include "diff/diff_relations.h"
#include "scaling/scaling_relations.h"
#include "scaling/speedup_relations.h"
#include "profile/looks/looks_relations.h"
#include "views/relations.h"
#include "views/views.h"

enum fv_json_ranks fv_json_ranks_default(const struct fv_profile *profile)
{
    return profile->model->rank_count > FV_JSON_RANKS_MOST ? FV_JSON_RANKS_SUMMARY : FV_JSON_RANKS_ALL;
}

static int document(const char *schema, const struct fv_relation *const *set, void *subject, enum fv_json_ranks ranks,
                    FILE *out)
{
    struct fv_json json = { .out = out };

    fv_json_object(&json, NULL);
    fv_json_string(&json, "schema", schema);
    fv_json_relations(&json, set, subject, ranks);
    fv_json_end(&json);
    return fflush(out) || ferror(out) || json.failed ? -FV_EIO : 0;
}

int fv_view_json(const struct fv_profile *profile, enum fv_json_ranks ranks, FILE *out)
{
    struct fv_tables tables;

    fv_tables_init(&tables, profile);
    int err = document(FV_PROFILE_SCHEMA, fv_profile_relations, &tables, ranks, out);

    fv_tables_release(&tables);
    return err;
}

extern const struct fv_relation fv_hang_relation;
static const struct fv_relation *const where_relations[] = { &fv_looks_relation, &fv_hang_relation, NULL };

int fv_view_where_json(const struct fv_profile *profile, FILE *out)
{
    struct fv_tables tables;

    fv_tables_init(&tables, profile);
    int err = document(FV_WHERE_SCHEMA, where_relations, &tables, FV_JSON_RANKS_ALL, out);

    fv_tables_release(&tables);
    return err;
}

int fv_view_where_schema(FILE *out)
{
    return fv_json_schema(FV_WHERE_SCHEMA, "What fvmpi where --json FILE writes", where_relations, out);
}

int fv_diff_json(const struct fv_diff *diff, FILE *out)
{
    struct fv_diff_tables tables = { .diff = diff };

    int err = document(FV_DIFF_SCHEMA, fv_diff_relations, &tables, FV_JSON_RANKS_ALL, out);

    fv_diff_tables_release(&tables);
    return err;
}

int fv_scaling_json(const struct fv_scaling *scaling, FILE *out)
{
    struct fv_scaling_tables tables = { .scaling = scaling };

    return document(FV_SCALING_SCHEMA, fv_scaling_relations, &tables, FV_JSON_RANKS_ALL, out);
}

int fv_speedup_json(const struct fv_speedup *speedup, FILE *out)
{
    struct fv_speedup_tables tables = { .speedup = speedup };

    return document(FV_STACKS_SCHEMA, fv_speedup_relations, &tables, FV_JSON_RANKS_ALL, out);
}
