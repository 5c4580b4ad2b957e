/* SPDX-License-Identifier: BSD-3-Clause */
/* What the machine did during the run, and moments that were marked. */
#include "views/text/text.h"
#include "profile/machine/sensors.h"

/* What was read badly. */
static void put_losses(const struct fv_page *p, const struct fv_machine *m)
{
    struct fv_machine_node sum = { 0 };

    for (size_t i = 0; i < m->node_count; i++) {
        sum.missed += m->nodes[i].missed;
        sum.left_out += m->nodes[i].left_out;
        sum.not_found += m->nodes[i].not_found;
    }
    const struct fv_text_loss rows[] = {
        { sum.missed, "sample", "missed: the time for it had passed" },
        { sum.left_out, "event", "left out for lack of room" },
        { sum.not_found, "name", "of --sensors that a node does not have" },
    };
    fv_text_losses(p, "", rows, sizeof(rows) / sizeof(*rows));
}

static void put_labels(const struct fv_page *p, const struct fv_profile *v)
{
    struct fv_text_table t;

    fv_text_table_begin(&t, p, v, "labels");
    for (size_t i = 0; i < fv_model_labels(v->model)->count; i++)
        fv_text_table_add(&t, &fv_model_labels(v->model)->items[i], FV_PLAIN);
    if (t.sheet.table.rows)
        fv_page_heading(p, "Labels", "moments that were marked");
    fv_text_table_end(&t, "label", "");
}

FV_TEXT_SECTION(machine)
{
    const struct fv_machine *m = fv_model_sensors(v->model);
    struct fv_text_table t;

    put_labels(p, v);
    if (!m->node_count)
        return;
    fv_page_heading(p, "Machine", "sensors of the nodes during the run, with all that ran on them");
    fv_text_table_begin(&t, p, v, "sensors");
    for (size_t i = 0; i < m->series_count; i++)
        if (m->series[i].intervals)
            fv_text_table_add(&t, &m->series[i], FV_PLAIN);
    fv_text_table_end(&t, "event", "");
    put_losses(p, m);
}
