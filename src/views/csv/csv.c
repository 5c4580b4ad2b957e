/* SPDX-License-Identifier: BSD-3-Clause */
/* The profile, the comparison, and runs of several sizes, as comma-separated tables, one file for each relation. */
#include "diff/diff_relations.h"
#include "profile/relations.h"
#include "scaling/scaling_relations.h"
#include "scaling/speedup_relations.h"
#include "views/relations.h"
#include "views/views.h"

int fv_view_csv(const struct fv_profile *profile, const char *directory)
{
    struct fv_tables tables;

    fv_tables_init(&tables, profile);
    int err = fv_csv_relations(fv_profile_relations, &tables, directory);
    fv_tables_release(&tables);
    return err;
}

int fv_diff_csv(const struct fv_diff *diff, const char *directory)
{
    struct fv_diff_tables tables = { .diff = diff };
    int err = fv_csv_relations(fv_diff_relations, &tables, directory);

    fv_diff_tables_release(&tables);
    return err;
}

int fv_scaling_csv(const struct fv_scaling *scaling, const char *directory)
{
    struct fv_scaling_tables tables = { .scaling = scaling };

    return fv_csv_relations(fv_scaling_relations, &tables, directory);
}

int fv_speedup_csv(const struct fv_speedup *speedup, const char *directory)
{
    struct fv_speedup_tables tables = { .speedup = speedup };

    return fv_csv_relations(fv_speedup_relations, &tables, directory);
}
