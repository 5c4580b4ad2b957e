/* SPDX-License-Identifier: BSD-3-Clause */
/* What happened meanwhile: relations labels, sensors, sensor_nodes, sensor_series, sensor_sections. */
#include "profile/build.h"
#include "profile/labels.h"
#include "profile/machine/sensors.h"
#include "profile/relations.h"

#include <stdio.h>

FV_DATA_BASE(sensors)
FV_DATA_BASE(labels)

#define RECORDED_BY "fvmpi run --sensors"

/* ---- labels ---- */

static const char *const origins[] = { "program", "outside", NULL };

static void get_origin(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->text = origins[((const struct fv_label_view *)row)->is_outside];
}

static const struct fv_column_def label_columns[] = {
    { "at_s", "at", "s", "When, from the begin of the run.", FV_FIELD(struct fv_label_view, at_s) },
    { "text", "label", "", "The text.", FV_FIELD(struct fv_label_view, text), .flags = FV_NAME },
    FV_RANK_COLUMN(struct fv_label_view, rank, "rank", "rank",
                   "The rank that called fvmpi_label(), or whose node's reader of sensors was told."),
    { "origin", "by", "", "program: fvmpi_label(); outside: fvmpi label.", FV_GET(FV_TYPE_TEXT, get_origin),
      .words = origins },
};
static const struct fv_relation labels_relation = {
    .name = "labels",
    .key = "labels",
    .title = "Labels",
    .doc = "Moments that the program marked (fvmpi_label()), or who ran it (fvmpi label), by time.",
    .recorded_by = "fvmpi_label() in the program, or fvmpi run --sensors and fvmpi label",
    FV_COLUMNS(label_columns),
    .base = labels_base,
    FV_ITEMS(struct fv_labels, items, count),
};

static const char *const kinds[] = { "counter", "gauge", NULL };

static const struct fv_machine_series *series_at(void *subject, uint32_t index)
{
    return &fv_model_sensors(fv_tables_model(subject))->series[index];
}

static void put_host(void *subject, const struct fv_machine_series *s, struct fv_value *v)
{
    const struct fv_model *m = fv_tables_model(subject);

    v->text = m->ranks[fv_model_sensors(m)->nodes[s->node].rank].host;
}

/* Of what is counted, in a second; of a gauge as it is. */
static void put_unit(void *subject, const struct fv_machine_series *s, struct fv_value *v)
{
    struct fv_tables *t = subject;

    snprintf(t->text, sizeof(t->text), "%s%s", s->unit, s->flags & FV_SENSOR_GAUGE ? "" : "/s");
    v->text = t->text;
}

/* ---- the events ---- */

static void get_host(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    put_host(subject, row, v);
}

static void get_unit(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    put_unit(subject, row, v);
}

static void get_kind(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->text = kinds[(((const struct fv_machine_series *)row)->flags & FV_SENSOR_GAUGE) != 0];
}

#define SERIES(k, t, m, f, d)                                                          \
    {                                                                                  \
        k, t, "", d, FV_FIELD(struct fv_machine_series, m), .flags = (f) | FV_NULLABLE \
    }
static const struct fv_column_def series_columns[] = {
    FV_DATA_ID_COLUMN(sensors, struct fv_machine, "id", series, "Index in this list, from 0."),
    { "host", "node", "", "The node.", FV_GET(FV_TYPE_TEXT, get_host), .flags = FV_NAME },
    { "event", "event", "",
      "Its name, as fvmpi stat --list has it; @ and a source: of that alone, else of all sources together.",
      FV_FIELD(struct fv_machine_series, label), .flags = FV_NAME },
    SERIES("mean", "mean", mean, 0,
           "Of a counter what it grew by in a second, of a gauge what it was; over the time of all samples; null: it "
           "was never known twice."),
    SERIES("least", "least", min, 0, "The least between two samples."),
    SERIES("most", "most", max, 0, "The most between two samples."),
    { "unit", "unit", "", "Of mean, least and most.", FV_GET(FV_TYPE_TEXT, get_unit) },
    SERIES("total", "in all", total, 0, "What a counter grew by, from its first sample to its last; null: a gauge."),
    { "kind", "kind", "", "counter, or gauge.", FV_GET(FV_TYPE_TEXT, get_kind), .words = kinds },
    { "intervals", "intervals", "", "Times between two samples that these are of.",
      FV_FIELD(struct fv_machine_series, intervals) },
};
static const struct fv_relation sensors_relation = {
    .name = "sensors",
    .key = "sensors",
    .title = "Sensors of the machine",
    .doc = "What each node counted or measured while the job ran, by node, in the order of --sensors. Read by one rank "
           "of the node: it is of the whole machine, not of this job "
           "alone.",
    .shown = "host/1 event mean least/2 most/2 unit total/3",
    .recorded_by = RECORDED_BY,
    FV_COLUMNS(series_columns),
    .base = sensors_base,
    FV_ITEMS(struct fv_machine, series, series_count),
};

/* ---- the nodes ---- */

static void get_node_host(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->text = fv_tables_model(subject)->ranks[((const struct fv_machine_node *)row)->rank].host;
}

static void get_cpu_share(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_machine_node *n = row;

    v->null = !(n->end_s > n->begin_s);
    v->real = v->null ? 0 : n->cpu_s / (n->end_s - n->begin_s);
}

#define NODE(k, t, u, m, f, d)                                        \
    {                                                                 \
        k, t, u, d, FV_FIELD(struct fv_machine_node, m), .flags = (f) \
    }
static const struct fv_column_def node_columns[] = {
    { "host", "node", "", "The node.", FV_GET(FV_TYPE_TEXT, get_node_host), .flags = FV_NAME },
    FV_RANK_COLUMN(struct fv_machine_node, rank, "rank", "read by rank", "The rank that recorded them."),
    NODE("interval_s", "interval", "s", interval_s, 0, "From sample to sample, as it was asked for."),
    NODE("begin_s", "from", "s", begin_s, FV_NULLABLE, "The first sample; null: there is none."),
    NODE("end_s", "to", "s", end_s, FV_NULLABLE, "The last one."),
    NODE("samples", "samples", "", samples, 0, "Samples that were taken."),
    NODE("late", "late", "", late, FV_BLANK, "Of them, more than a tenth of the interval after their time."),
    NODE("missed", "missed", "", missed, FV_BLANK, "Times that passed without a sample."),
    NODE("thinned", "thinned", "", thinned, FV_BLANK,
         "So often every second sample was dropped, because there was no room for more."),
    NODE("left_out", "left out", "", left_out, FV_BLANK, "Events that there was no room for."),
    NODE("not_found", "not found", "", not_found, FV_BLANK, "Names of --sensors that the node has not."),
    NODE("cpu_s", "CPU time", "s", cpu_s, 0, "CPU time of the thread that read them, which is in that of its rank."),
    { "cpu_share", "of a processor", "share", "The same of the time between the first and the last sample.",
      FV_GET(FV_TYPE_REAL, get_cpu_share), .flags = FV_NULLABLE },
};
static const struct fv_relation sensor_nodes_relation = {
    .name = "sensor_nodes",
    .key = "sensor_nodes",
    .title = "Nodes whose sensors were read",
    .doc = "How the sensors of each node were read.",
    .recorded_by = RECORDED_BY,
    FV_COLUMNS(node_columns),
    .base = sensors_base,
    FV_ITEMS(struct fv_machine, nodes, node_count),
};

/* ---- along time ---- */

#define OF_SERIES(S)                                                                                             \
    { "sensor_id", "sensor", "", "Index in sensors, from 0.", FV_FIELD(S, series) },                             \
        { "host",                                                                                                \
          "node",                                                                                                \
          "",                                                                                                    \
          "The node.",                                                                                           \
          FV_GET(FV_TYPE_TEXT, get_host_of),                                                                     \
          .flags = FV_FLAT,                                                                                      \
          .argument = offsetof(S, series) },                                                                     \
        { "event",                                                                                               \
          "event",                                                                                               \
          "",                                                                                                    \
          "Its name.",                                                                                           \
          FV_GET(FV_TYPE_TEXT, get_event_of),                                                                    \
          .flags = FV_FLAT,                                                                                      \
          .argument = offsetof(S, series) },                                                                     \
    {                                                                                                            \
        "unit", "unit", "", "Of its values.", FV_GET(FV_TYPE_TEXT, get_unit_of), .flags = FV_FLAT,               \
                                                                                 .argument = offsetof(S, series) \
    }

static const struct fv_machine_series *of_row(void *subject, const void *row, const struct fv_column_def *c)
{
    return series_at(subject, *(const uint32_t *)(const void *)((const char *)row + c->argument));
}

static void get_host_of(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    put_host(subject, of_row(subject, row, c), v);
}

static void get_event_of(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    v->text = of_row(subject, row, c)->label;
}

static void get_unit_of(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    put_unit(subject, of_row(subject, row, c), v);
}

#define POINT(k, t, u, m, d)                             \
    {                                                    \
        k, t, u, d, FV_FIELD(struct fv_machine_point, m) \
    }
static const struct fv_column_def point_columns[] = {
    OF_SERIES(struct fv_machine_point),
    POINT("begin_s", "begin", "s", begin_s, "A sample that read it."),
    POINT("end_s", "end", "s", end_s, "The next one, or a later one: a series has 512 rows at most."),
    POINT("mean", "mean", "", mean,
          "Of a counter what it grew by in a second, of a gauge what it was at the end of each interval between two "
          "samples; the mean over time."),
    POINT("most", "most", "", max, "The most of one interval between two samples."),
};
static const struct fv_relation sensor_series_relation = {
    .name = "sensor_series",
    .key = "sensor_series",
    .title = "Sensors along time",
    .doc = "What each event was along the run, by sensor and time.",
    .recorded_by = RECORDED_BY,
    .shape = FV_ROWS,
    FV_COLUMNS(point_columns),
    .base = sensors_base,
    FV_ITEMS(struct fv_machine, points, point_count),
};

/* ---- by section ---- */

static void get_section_total(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_machine_section *s = row;

    v->null = (series_at(subject, s->series)->flags & FV_SENSOR_GAUGE) != 0;
    v->real = v->null ? 0 : s->mean * s->seconds;
}

static const struct fv_column_def section_columns[] = {
    { "section", "section", "", "The section's name.", FV_FIELD(struct fv_machine_section, name), .flags = FV_NAME },
    { "number", "number", "", "Its number.", FV_FIELD(struct fv_machine_section, number) },
    OF_SERIES(struct fv_machine_section),
    { "mean", "mean", "", "As in sensors, while the section was open.", FV_FIELD(struct fv_machine_section, mean),
      .flags = FV_ESTIMATE },
    { "seconds", "time", "s",
      "Time between samples that this is of: half of the time before and behind each sample at which the section was "
      "open.",
      FV_FIELD(struct fv_machine_section, seconds), .flags = FV_ESTIMATE },
    { "total", "in all", "",
      "mean x seconds: what a counter grew by then, of the whole node: energy in J, bytes; null: a gauge.",
      FV_GET(FV_TYPE_REAL, get_section_total), .flags = FV_NULLABLE | FV_ESTIMATE },
};
static const struct fv_relation sensor_sections_relation = {
    .name = "sensor_sections",
    .key = "sensor_sections",
    .title = "Sensors by section",
    .doc = "What each event was while the rank that read it was in a section, by sensor. It is known at samples only, "
           "so sections that are shorter than some tens of intervals "
           "in all are told badly.",
    .shown = "section event mean unit seconds total/2 host/1",
    .recorded_by = RECORDED_BY,
    FV_COLUMNS(section_columns),
    .base = sensors_base,
    FV_ITEMS(struct fv_machine, sections, section_count),
};

/* ---- the subject ---- */

extern const struct fv_track fv_track_labels, fv_track_sensors;

const struct fv_subject fv_labels_subject = {
    .name = "labels",
    .bytes = sizeof(struct fv_labels),
    .tracks = { &fv_track_labels },
    .relations = { &labels_relation },
    .release = fv_labels_release,
};

const struct fv_subject fv_sensors_subject = {
    .name = "sensors",
    .bytes = sizeof(struct fv_machine),
    .tracks = { &fv_track_sensors },
    .relations = { &sensors_relation, &sensor_nodes_relation, &sensor_series_relation, &sensor_sections_relation },
    .release = fv_machine_release,
};
