/* See page_timeline.h. */
#include "views/page/page_timeline.h"

#include <math.h>

static long long ns(double seconds)
{
    return llround(seconds * 1e9);
}

/* The calls of one thread: `count` of them. */
static size_t row_of(const struct fv_traced *t, size_t first)
{
    size_t end = first;

    while (end < t->call_count && t->calls[end].rank == t->calls[first].rank && t->calls[end].thread == t->calls[first].thread)
        end++;
    return end - first;
}

static void put_row(const struct fv_model *m, const struct fv_traced_call *calls, size_t count, FILE *out)
{
    long long last = 0;

    fprintf(out, "{\"rank\":%d,\"thread\":%u,\"sites\":[", m->ranks[calls->rank].world_rank, calls->thread);
    for (size_t i = 0; i < count; i++)
        if (calls[i].site == FV_NONE)
            fprintf(out, "%snull", i ? "," : "");
        else
            fprintf(out, "%s%u", i ? "," : "", calls[i].site);
    fputs("],\"gaps\":[", out);
    for (size_t i = 0; i < count; i++) {
        fprintf(out, "%s%lld", i ? "," : "", ns(calls[i].begin_s) - last);
        last = ns(calls[i].begin_s) + ns(calls[i].duration_s);
    }
    fputs("],\"durations\":[", out);
    for (size_t i = 0; i < count; i++)
        fprintf(out, "%s%lld", i ? "," : "", ns(calls[i].duration_s));
    fputs("],\"bytes\":[", out);
    for (size_t i = 0; i < count; i++)
        fprintf(out, "%s%llu", i ? "," : "", (unsigned long long)calls[i].bytes);
    fputs("]}", out);
}

#define PUT_ALL(key, format, value)                                                                          \
    do {                                                                                                     \
        fputs("\"" key "\":[", out);                                                                         \
        for (size_t i = 0; i < t->message_count; i++)                                                        \
            fprintf(out, "%s" format, i ? "," : "", value);                                                  \
        fputs("]", out);                                                                                     \
    } while (0)

static void put_messages(const struct fv_traced *t, FILE *out)
{
    const struct fv_traced_message *of = t->messages;

    fputc('{', out);
    PUT_ALL("from", "%u", of[i].from);
    fputc(',', out);
    PUT_ALL("to", "%u", of[i].to);
    fputc(',', out);
    PUT_ALL("sent", "%lld", ns(of[i].sent_s));
    fputc(',', out);
    PUT_ALL("flight", "%lld", ns(of[i].received_s) - ns(of[i].sent_s));
    fputc(',', out);
    PUT_ALL("bytes", "%llu", (unsigned long long)of[i].bytes);
    fputc('}', out);
}

bool fv_page_timeline_put(const struct fv_model *m, FILE *out)
{
    const struct fv_traced *t = &m->traced;

    fprintf(out, "{\"end\":%lld,\"left_out\":%llu,\"messages_left_out\":%llu,\"unmatched\":%llu,\"rows\":[", ns(m->elapsed_s),
            (unsigned long long)t->calls_left_out, (unsigned long long)t->messages_left_out, (unsigned long long)t->unmatched);
    for (size_t i = 0, count; i < t->call_count; i += count) {
        count = row_of(t, i);
        if (i)
            fputc(',', out);
        put_row(m, t->calls + i, count, out);
    }
    fputs("],\"messages\":", out);
    put_messages(t, out);
    fputc('}', out);
    return !ferror(out);
}
