/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI's share of the time by bins of the run: relation timeline. */
#include "profile/relations.h"

#include <math.h>

const char *const fv_class_words[] = { "p2p", "completion", "collective", "rma", "io", "comm", "init", "other", NULL };

/* A rank's part of the timeline: of a class that was called; and for flat forms one bin of it. */
struct strip {
    int32_t rank;
    uint32_t class;
    const float *bins;
    double begin_s, end_s, share;
};

static const void *the_timeline(void *subject, const void *parent)
{
    return &fv_tables_model(subject)->timeline;
}

static struct strip *strip_of(struct fv_tables *t, size_t rank, unsigned class)
{
    const struct fv_timeline *line = &t->model->timeline;
    struct strip *s = (void *)t->row;

    *s = (struct strip){ .rank = t->model->ranks[rank].world_rank,
                         .class = class,
                         .bins = line->share + (rank * FV_CLASS_COUNT + class) * line->bins };
    return line->used[class] ? s : NULL;
}

static size_t strip_count(void *subject, const void *parent)
{
    return fv_tables_model(subject)->rank_count * FV_CLASS_COUNT;
}

static const void *strip_at(void *subject, const void *parent, size_t i)
{
    return strip_of(subject, i / FV_CLASS_COUNT, i % FV_CLASS_COUNT);
}

static void get_strip_class(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->text = fv_class_name(((const struct strip *)row)->class);
}

/* Four decimals are what a bin knows. */
static double *room_for_bins(struct fv_tables *t)
{
    FV_GROW(t->reals, t->reals_room, t->model->timeline.bins + 1);
    return t->reals;
}

static double rounded(double share)
{
    return round(share * 1e4) / 1e4;
}

static void get_shares(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    struct fv_tables *t = subject;
    double *shares = room_for_bins(t);

    for (uint32_t i = 0; i < t->model->timeline.bins; i++)
        shares[i] = rounded((double)((const struct strip *)row)->bins[i]);
    v->items = shares;
    v->count = t->model->timeline.bins;
}

static size_t class_count(void *subject, const void *parent)
{
    return FV_CLASS_COUNT;
}

static const void *class_at(void *subject, const void *parent, size_t i)
{
    return fv_tables_model(subject)->rank_count ? strip_of(subject, 0, (unsigned)i) : NULL;
}

static void get_mean_shares(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    struct fv_tables *t = subject;
    const struct fv_timeline *line = &t->model->timeline;
    const struct strip *s = row;
    double *shares = room_for_bins(t);

    for (uint32_t i = 0; i < line->bins; i++) {
        double sum = 0;

        for (size_t rank = 0; rank < t->model->rank_count; rank++)
            sum += (double)line->share[(rank * FV_CLASS_COUNT + s->class) * line->bins + i];
        shares[i] = rounded(sum / (double)t->model->rank_count);
    }
    v->items = shares;
    v->count = line->bins;
}

static size_t bin_count(void *subject, const void *parent)
{
    return strip_count(subject, parent) * fv_tables_model(subject)->timeline.bins;
}

static const void *bin_at(void *subject, const void *parent, size_t i)
{
    const struct fv_timeline *line = &fv_tables_model(subject)->timeline;
    struct strip *s = strip_of(subject, i / line->bins / FV_CLASS_COUNT, i / line->bins % FV_CLASS_COUNT);
    size_t bin = i % line->bins;

    if (!s)
        return NULL;
    s->begin_s = (double)bin * line->bin_s;
    s->end_s = (double)(bin + 1) * line->bin_s;
    s->share = rounded((double)s->bins[bin]);
    return s;
}

#define STRIP_RANK                                                                         \
    {                                                                                      \
        "rank", "rank", "", "The rank.", FV_FIELD(struct strip, rank), .flags = FV_IS_RANK \
    }
#define STRIP_CLASS                                                                                 \
    {                                                                                               \
        "class", "class", "", "Class of the MPI functions.", FV_GET(FV_TYPE_TEXT, get_strip_class), \
            .words = fv_class_words                                                                 \
    }
static const struct fv_column_def strip_columns[] = {
    STRIP_RANK,
    STRIP_CLASS,
    { "shares", "shares", "share",
      "Share of each bin that the main thread of the rank spent in functions of this class, 0 to 1.",
      FV_GET(FV_TYPE_REALS, get_shares) },
};
static const struct fv_relation strips = {
    .key = "per_rank",
    .title = "Timeline by rank",
    .doc = "Share of time in each class of MPI functions, by rank and bin. Classes without calls are left out.",
    .shape = FV_ROWS,
    .by_rank = true,
    FV_COLUMNS(strip_columns),
    .count = strip_count,
    .row = strip_at,
};
static const struct fv_column_def mean_columns[] = {
    STRIP_CLASS,
    { "shares", "shares", "share", "Mean share of all ranks, for each bin.", FV_GET(FV_TYPE_REALS, get_mean_shares) },
};
static const struct fv_relation means = {
    .key = "over_ranks_mean",
    .doc = "Means over all ranks.",
    .shape = FV_ROWS,
    FV_COLUMNS(mean_columns),
    .count = class_count,
    .row = class_at,
};
static const struct fv_column_def bin_columns[] = {
    STRIP_RANK,
    STRIP_CLASS,
    { "begin_s", "begin", "s", "Begin of the bin.", FV_FIELD(struct strip, begin_s) },
    { "end_s", "end", "s", "End of the bin.", FV_FIELD(struct strip, end_s) },
    { "share", "share", "share", "Share of the bin that the main thread of the rank spent in functions of this class.",
      FV_FIELD(struct strip, share) },
};
static const struct fv_relation bins = {
    .name = "timeline",
    .key = "bins",
    .title = "Timeline",
    .doc = "Share of MPI in the time of each rank, by class of functions and bin.",
    FV_COLUMNS(bin_columns),
    .count = bin_count,
    .row = bin_at,
};
static const struct fv_column_def timeline_columns[] = {
    { "bin_count", "bins", "", "Number of bins of the run.", FV_FIELD(struct fv_timeline, bins) },
    { "bin_s", "bin", "s", "Length of a bin. The first bin begins at run.start.", FV_FIELD(struct fv_timeline, bin_s),
      .flags = FV_NULLABLE },
    { "over_ranks_mean", "mean", "", "", FV_NEST(means) },
    { "per_rank", "by rank", "", "", FV_NEST(strips) },
    { "bins", "bins", "", "", FV_NEST(bins), .flags = FV_FLAT },
};
extern const struct fv_relation fv_timeline_relation;
const struct fv_relation fv_timeline_relation = {
    .key = "timeline",
    .title = "Timeline",
    .group = "Timeline",
    .doc = "Share of MPI in the time of each rank, by class of functions. The recording has 256 bins; their length is "
           "rounded up to a power of two.",
    .shape = FV_ONE,
    FV_COLUMNS(timeline_columns),
    .base = the_timeline,
};
