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
    { "at_s", "at", "s", "When it was set, from the begin of the run.", FV_FIELD(struct fv_label_view, at_s) },
    { "text", "label", "", "Text of the label.", FV_FIELD(struct fv_label_view, text), .flags = FV_NAME },
    FV_RANK_COLUMN(
        struct fv_label_view, rank, "rank", "rank",
        "The rank that called fvmpi_label(). For `fvmpi label`: the rank that reads the sensors of the node."),
    { "origin", "by", "", "program: by fvmpi_label(). outside: by `fvmpi label`.", FV_GET(FV_TYPE_TEXT, get_origin),
      .words = origins },
};
static const struct fv_relation labels_relation = {
    .name = "labels",
    .key = "labels",
    .title = "Labels",
    .doc = "Labels that the program (fvmpi_label()) or a user (fvmpi label) set, by time.",
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
    { "host", "node", "", "Name of the node.", FV_GET(FV_TYPE_TEXT, get_host), .flags = FV_NAME },
    { "event", "event", "",
      "Name of the event, as in `fvmpi stat --list`. With @SOURCE: of that source alone. Otherwise: of all sources "
      "together.",
      FV_FIELD(struct fv_machine_series, label), .flags = FV_NAME },
    SERIES("mean", "mean", mean, 0,
           "Mean over the time of all samples: a counter's increase a second, or a gauge's value. Null: fewer than two "
           "samples."),
    SERIES("least", "least", min, 0, "Smallest value between two samples."),
    SERIES("most", "most", max, 0, "Largest value between two samples."),
    { "unit", "unit", "", "Unit of mean, least and most.", FV_GET(FV_TYPE_TEXT, get_unit) },
    SERIES("total", "in all", total, 0, "Increase of a counter from its first to its last sample. Null: a gauge."),
    { "kind", "kind", "", "counter or gauge.", FV_GET(FV_TYPE_TEXT, get_kind), .words = kinds },
    { "about", "what it counts", "", "What the event counts, in a sentence. Empty: not known.",
      FV_FIELD(struct fv_machine_series, about) },
    { "intervals", "intervals", "", "Number of intervals between samples that the values describe.",
      FV_FIELD(struct fv_machine_series, intervals) },
};
static const struct fv_relation sensors_relation = {
    .name = "sensors",
    .key = "sensors",
    .title = "Sensors of the machine",
    .doc = "What each node counted or measured while the job ran, by node, in the order of --sensors. The values are "
           "of the whole machine, not of this job alone. One rank of the node reads them.",
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

static const char *const places[] = { FV_SENSOR_PLACE_KIND_WORDS, NULL };

static void get_place(void *subject, const void *row, const struct fv_column_def *c, struct fv_value *v)
{
    const struct fv_machine_node *n = row;

    v->null = !n->processors;
    v->text = v->null ? NULL : places[n->place];
}

#define NODE(k, t, u, m, f, d)                                        \
    {                                                                 \
        k, t, u, d, FV_FIELD(struct fv_machine_node, m), .flags = (f) \
    }
static const struct fv_column_def node_columns[] = {
    { "host", "node", "", "Name of the node.", FV_GET(FV_TYPE_TEXT, get_node_host), .flags = FV_NAME },
    FV_RANK_COLUMN(struct fv_machine_node, rank, "rank", "read by rank", "The rank that read the sensors."),
    NODE("interval_s", "interval", "s", interval_s, 0, "Requested interval between samples."),
    NODE("begin_s", "from", "s", begin_s, FV_NULLABLE, "Time of the first sample. Null: none."),
    NODE("end_s", "to", "s", end_s, FV_NULLABLE, "Time of the last sample."),
    NODE("samples", "samples", "", samples, 0, "Number of samples taken."),
    NODE("late", "late", "", late, FV_BLANK, "Samples that came more than a tenth of the interval too late."),
    NODE("missed", "missed", "", missed, FV_BLANK, "Samples that were not taken in time."),
    NODE("thinned", "thinned", "", thinned, FV_BLANK,
         "How often every second sample was dropped because there was no room for more."),
    NODE("left_out", "left out", "", left_out, FV_BLANK, "Number of events for which there was no room."),
    NODE("not_found", "not found", "", not_found, FV_BLANK, "Names given to --sensors that the node does not have."),
    NODE("cpu_s", "CPU time", "s", cpu_s, 0,
         "CPU time of the thread that reads sensors. The CPU time of its rank includes it."),
    { "cpu_share", "of a processor", "share", "cpu_s as a share of the time between the first and the last sample.",
      FV_GET(FV_TYPE_REAL, get_cpu_share), .flags = FV_NULLABLE },
    NODE("processors", "ran on", "", processors, FV_NULLABLE,
         "Processors on which the thread that reads sensors may run, a list such as 0-3. Null: not known."),
    { "place", "these are", "",
      "anywhere: no rank is pinned. free_core: of cores to which no thread of the job is pinned. free_processor: no "
      "thread is pinned to them, but one to their core. none_free: threads are pinned to every processor. Null: not "
      "known.",
      FV_GET(FV_TYPE_TEXT, get_place), .words = places, .flags = FV_NULLABLE },
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

#define OF_SERIES(S)                                                                                                  \
    { "sensor_id", "sensor", "", "Index in sensors, from 0.", FV_FIELD(S, series) },                                  \
        { "host",                                                                                                     \
          "node",                                                                                                     \
          "",                                                                                                         \
          "The node.",                                                                                                \
          FV_GET(FV_TYPE_TEXT, get_host_of),                                                                          \
          .flags = FV_FLAT,                                                                                           \
          .argument = offsetof(S, series) },                                                                          \
        { "event",                                                                                                    \
          "event",                                                                                                    \
          "",                                                                                                         \
          "Name of the event.",                                                                                       \
          FV_GET(FV_TYPE_TEXT, get_event_of),                                                                         \
          .flags = FV_FLAT,                                                                                           \
          .argument = offsetof(S, series) },                                                                          \
    {                                                                                                                 \
        "unit", "unit", "", "Unit of the values.", FV_GET(FV_TYPE_TEXT, get_unit_of), .flags = FV_FLAT,               \
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
    POINT("begin_s", "begin", "s", begin_s, "Time of a sample."),
    POINT("end_s", "end", "s", end_s, "Time of the next sample that is shown. A series has at most 512 rows."),
    POINT("mean", "mean", "", mean,
          "Mean over this time: a counter's increase a second, or a gauge's value at the end of each interval."),
    POINT("most", "most", "", max, "Largest value between two samples in this time."),
};
static const struct fv_relation sensor_series_relation = {
    .name = "sensor_series",
    .key = "sensor_series",
    .title = "Sensors along time",
    .doc = "Values of each event over time, by sensor and time.",
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
    { "number", "number", "", "Number of the section.", FV_FIELD(struct fv_machine_section, number) },
    OF_SERIES(struct fv_machine_section),
    { "mean", "mean", "", "Mean over the time in which the section was open, as in sensors.",
      FV_FIELD(struct fv_machine_section, mean), .flags = FV_ESTIMATE },
    { "seconds", "time", "s",
      "Time that the mean covers: half of the time before and after each sample at which the section was open.",
      FV_FIELD(struct fv_machine_section, seconds), .flags = FV_ESTIMATE },
    { "total", "in all", "", "mean x seconds, for the whole node: such as energy in J, or bytes. Null: a gauge.",
      FV_GET(FV_TYPE_REAL, get_section_total), .flags = FV_NULLABLE | FV_ESTIMATE },
};
static const struct fv_relation sensor_sections_relation = {
    .name = "sensor_sections",
    .key = "sensor_sections",
    .title = "Sensors by section",
    .doc = "Values of each event while the reading rank was in a section, by sensor. They are known at samples only. "
           "Results are poor for sections with less total time than some tens of intervals.",
    .shown = "section event mean unit seconds total/2 host/1",
    .recorded_by = RECORDED_BY,
    FV_COLUMNS(section_columns),
    .base = sensors_base,
    FV_ITEMS(struct fv_machine, sections, section_count),
};

/* ---- by instance of a section ---- */

#define OF_INSTANCE(k, t, u, m, f, d)                                     \
    {                                                                     \
        k, t, u, d, FV_FIELD(struct fv_machine_instance, m), .flags = (f) \
    }
static const struct fv_column_def instance_columns[] = {
    OF_INSTANCE("section", "section", "", name, FV_NAME, "The section's name."),
    OF_INSTANCE("number", "no.", "", section_number, 0, "Number of the section."),
    FV_RANK_COLUMN(struct fv_machine_instance, rank, "rank", "rank", "The rank."),
    OF_INSTANCE("thread", "thread", "", thread, FV_IS_THREAD, "The thread, as in table threads."),
    OF_INSTANCE("instance_number", "instance", "", number, 0, "Number of the instance on its thread, from 1."),
    OF_SERIES(struct fv_machine_instance),
    OF_INSTANCE("energy_j", "energy", "J", value, FV_ESTIMATE,
                "Energy while the instance was open. Between two readings the power counts as constant."),
    OF_INSTANCE("least_j", "least", "J", least, 0, "Energy from the first reading in it to the last one: the least."),
    OF_INSTANCE("most_j", "most", "J", most, 0,
                "Energy from the last reading before it to the first one after it: the most."),
    OF_INSTANCE("reading_count", "readings", "", readings, 0, "Readings of the counter in it."),
};
static const struct fv_relation sensor_instances_relation = {
    .name = "sensor_instances",
    .key = "sensor_instances",
    .title = "Energy of instances of sections",
    .doc = "Energy of the node while an instance of a section was open, by instance and sensor; other ranks use it, "
           "too. An instance is left out if most_j - least_j is over a quarter of energy_j: then sensor_sections has "
           "all instances together.",
    .shown = "section instance_number rank thread/1 event energy_j least_j/3 most_j/3 reading_count/2 host/1",
    .recorded_by = "fvmpi run --sensors energy --section-instances N",
    FV_COLUMNS(instance_columns),
    .base = sensors_base,
    FV_ITEMS(struct fv_machine, instances, instance_count),
};

/* ---- the subject ---- */

extern const struct fv_track fv_track_labels, fv_track_sensors;

const struct fv_subject fv_labels_subject = {
    .group = "Machine",
    .bytes = sizeof(struct fv_labels),
    .tracks = { &fv_track_labels },
    .relations = { &labels_relation },
    .release = fv_labels_release,
};

const struct fv_subject fv_sensors_subject = {
    .group = "Machine",
    .bytes = sizeof(struct fv_machine),
    .tracks = { &fv_track_sensors },
    .relations = { &sensors_relation, &sensor_nodes_relation, &sensor_series_relation, &sensor_sections_relation,
                   &sensor_instances_relation },
    .release = fv_machine_release,
};
