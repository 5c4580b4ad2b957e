/* SPDX-License-Identifier: BSD-3-Clause */
/* Answers of fvmpi view for collective operations, files, and what rows spend their time on (viewer.h). */
#include "timeline/timeline_operations.h"
#include "viewer/answer.h"

#if FV_MICROHTTPD

#define FILES 2000 /* in an answer */
#define LEAST 4000 /* the part of a stretch of time from which on a region is told of a row: 1 / LEAST */

/* ---- collective operations ---- */

enum MHD_Result fv_viewer_collectives(void *context, struct MHD_Connection *connection, struct fv_web_request *r)
{
    const struct shown *v = shown_of(context, connection);
    const struct fv_timeline_window w = fv_viewer_window(v, connection, r);
    const uint64_t regions = v->timeline->header->regions.count;
    struct fv_timeline_kind *kinds = fv_xcalloc(regions + 1, sizeof(*kinds));
    struct answer *a = begin_answer();

    fv_timeline_kinds(v->timeline, &w, kinds);
    fv_json_array(&a->json, "kinds");
    for (uint64_t i = 0; i < regions; i++) {
        const struct fv_timeline_kind *k = &kinds[i];

        if (k->calls)
            TELL_NUMBERS(&a->json, i, k->operations, k->calls, k->ns, k->wait_ns, k->sent, k->received, k->alone,
                         k->partial, k->spread_ns, k->longest_ns, k->longest_begin_ns, k->longest_end_ns,
                         k->longest_row);
    }
    fv_json_end(&a->json);
    free(kinds);
    return end_answer(v, connection, a);
}

/* ---- files ---- */

static int by_time(const void *a, const void *b)
{
    const struct fv_timeline_io_sum *x = a, *y = b;

    return x->ns != y->ns ? (x->ns < y->ns) - (x->ns > y->ns) : (x->file > y->file) - (x->file < y->file);
}

static void tell_file(struct fv_json *json, const struct fv_timeline_file *t, const struct fv_timeline_io_sum *s)
{
    const struct fv_timeline_io_file *f = &t->files[s->file];

    fv_json_array(json, NULL);
    fv_json_string(json, NULL, fv_timeline_text(t, f->name));
    fv_json_string(json, NULL, fv_timeline_text(t, f->host));
    TELL_NUMBERS(json, s->interface, s->opens, s->reads, s->writes, s->others, s->read, s->written, s->unknown, s->ns,
                 s->moving_ns, s->longest_ns, s->longest_begin_ns, s->longest_row);
    fv_json_end(json);
}

enum MHD_Result fv_viewer_files(void *context, struct MHD_Connection *connection, struct fv_web_request *r)
{
    const struct shown *v = shown_of(context, connection);
    const struct fv_timeline_window w = fv_viewer_window(v, connection, r);
    struct fv_timeline_io_sums sums;
    struct answer *a = begin_answer();

    fv_timeline_io_make(v->timeline, &w, &sums);
    if (sums.count)
        qsort(sums.items, sums.count, sizeof(*sums.items), by_time);
    const size_t count = sums.count < FILES ? sums.count : FILES;
    fv_json_unsigned(&a->json, "left_out", sums.count - count);
    fv_json_array(&a->json, "files");
    for (size_t i = 0; i < count; i++)
        tell_file(&a->json, v->timeline, &sums.items[i]);
    fv_json_end(&a->json);
    fv_timeline_io_release(&sums);
    return end_answer(v, connection, a);
}

/* ---- what rows spend their time on ---- */

struct profiling {
    struct fv_json *json;
    uint64_t regions, least_ns;
};

static void tell_profile(void *context, uint32_t row, const struct fv_timeline_sum *sums)
{
    const struct profiling *p = context;
    uint64_t rest = 0;

    fv_json_array(p->json, NULL);
    fv_json_unsigned(p->json, NULL, row);
    for (uint64_t i = 0; i < p->regions; i++)
        if (sums[i].exclusive_ns >= p->least_ns) {
            fv_json_unsigned(p->json, NULL, i);
            fv_json_unsigned(p->json, NULL, sums[i].exclusive_ns);
        } else {
            rest += sums[i].exclusive_ns;
        }
    fv_json_unsigned(p->json, NULL, rest);
    fv_json_end(p->json);
}

enum MHD_Result fv_viewer_profiles(void *context, struct MHD_Connection *connection, struct fv_web_request *r)
{
    const struct shown *v = shown_of(context, connection);
    const struct fv_timeline_window w = fv_viewer_window(v, connection, r);
    struct answer *a = begin_answer();
    struct profiling p = { &a->json, v->timeline->header->regions.count, (w.to - w.from) / LEAST + 1 };

    fv_json_array(&a->json, "rows");
    fv_timeline_each_row(v->timeline, &w, tell_profile, &p);
    fv_json_end(&a->json);
    return end_answer(v, connection, a);
}
#endif
