/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of faults and the lines that say them. An error is what makes a reader wrong or fail; a warning
 * is what a correct writer may leave behind (a program that ended early, a recording that was switched off).
 */
#include "otf2/check_state.h"

#include <inttypes.h>
#include <stdarg.h>

enum { SHOWN = 10 }; /* of each kind, unless all are wanted */

static const struct {
    const char *name;
    bool warning;
} table[] = {
    [FV_DUPLICATE] = { "duplicate-definition", false },
    [FV_UNDEFINED] = { "undefined-reference", false },
    [FV_FORWARD] = { "forward-reference", false },
    [FV_CLOCK_MISSING] = { "clock-missing", false },
    [FV_CLOCK_TWICE] = { "clock-twice", false },
    [FV_CLOCK_RESOLUTION] = { "clock-resolution", false },
    [FV_CLOCK_RANGE] = { "clock-range", false },
    [FV_EMPTY_STRING] = { "empty-string", true },
    [FV_CYCLE] = { "cycle", false },
    [FV_PARADIGM] = { "paradigm-missing", true },
    [FV_ENUM] = { "unknown-value", true },
    [FV_LOCATION_GROUP] = { "empty-location-group", true },
    [FV_GROUP_MEMBER] = { "group-member", false },
    [FV_GROUP_TWICE] = { "group-twice", false },
    [FV_GROUP_SELF] = { "group-self", false },
    [FV_COMM_GROUP] = { "comm-group", false },
    [FV_COMM_PARENT] = { "comm-parent", true },
    [FV_METRIC_CLASS] = { "metric-class", false },
    [FV_TOPOLOGY] = { "topology", false },
    [FV_PRE_CREATED] = { "io-pre-created", true },
    [FV_DEFINITION_COUNT] = { "definition-count", false },
    [FV_LOCATION_COUNT] = { "location-count", false },
    [FV_LOCAL_MISSING] = { "local-definitions-missing", false },
    [FV_MAPPING] = { "mapping", false },
    [FV_UNREADABLE] = { "unreadable", false },
    [FV_UNKNOWN_RECORD] = { "unknown-record", true },
    [FV_EVENTS_MISSING] = { "events-missing", false },
    [FV_EVENT_COUNT] = { "event-count", false },
    [FV_TIME_ORDER] = { "time-order", false },
    [FV_TIME_RANGE] = { "time-range", false },
    [FV_LOCATION_TYPE] = { "location-type", false },
    [FV_ATTRIBUTE_TYPE] = { "attribute-type", false },
    [FV_LEAVE_UNMATCHED] = { "leave-unmatched", false },
    [FV_LEAVE_WRONG] = { "leave-wrong", false },
    [FV_REGION_OPEN] = { "region-open", false },
    [FV_MIXED] = { "mixed-enter", false },
    [FV_UNWIND] = { "unwind-distance", false },
    [FV_PROGRAM] = { "program", false },
    [FV_PROGRAM_REGION] = { "program-region", true },
    [FV_FLUSH] = { "buffer-flush", false },
    [FV_METRIC] = { "metric-values", false },
    [FV_PARAMETER] = { "parameter-type", false },
    [FV_RANK] = { "rank-range", false },
    [FV_MEMBER] = { "not-a-member", false },
    [FV_REQUEST_REUSED] = { "request-reused", false },
    [FV_REQUEST_UNKNOWN] = { "request-unknown", false },
    [FV_REQUEST_WRONG] = { "request-wrong", false },
    [FV_REQUEST_OPEN] = { "request-open", true },
    [FV_COLLECTIVE_PAIR] = { "collective-pair", false },
    [FV_COLLECTIVE_OPEN] = { "collective-open", false },
    [FV_ROOT] = { "collective-root", false },
    [FV_COLLECTIVE_ORDER] = { "collective-order", false },
    [FV_COLLECTIVE_COUNT] = { "collective-count", false },
    [FV_NOT_RECEIVED] = { "message-not-received", false },
    [FV_NOT_SENT] = { "message-not-sent", false },
    [FV_UNRECORDED] = { "message-unrecorded", true },
    [FV_MESSAGE_SIZE] = { "message-size", false },
    [FV_MESSAGE_TIME] = { "receive-before-send", true },
    [FV_COMM_LIFE] = { "handle-lifetime", false },
    [FV_RMA_REUSED] = { "rma-reused", false },
    [FV_RMA_UNKNOWN] = { "rma-unknown", false },
    [FV_RMA_OPEN] = { "rma-open", true },
    [FV_RMA_LOCK] = { "rma-lock", false },
    [FV_RMA_LOCK_HELD] = { "rma-lock-held", true },
    [FV_JOIN] = { "join-unmatched", false },
    [FV_FORK_OPEN] = { "fork-open", true },
    [FV_TEAM] = { "thread-team", false },
    [FV_THREAD_LINK] = { "thread-unmatched", false },
    [FV_THREAD_OPEN] = { "thread-open", true },
    [FV_THREAD_TIME] = { "thread-time", true },
    [FV_LOCK] = { "lock-unmatched", false },
    [FV_LOCK_HELD] = { "lock-held", true },
    [FV_LOCK_ORDER] = { "lock-order", false },
    [FV_IO_HANDLE] = { "io-handle", false },
    [FV_IO_REUSED] = { "io-reused", false },
    [FV_IO_UNKNOWN] = { "io-unknown", false },
    [FV_IO_OPEN] = { "io-open", true },
    [FV_IO_LOCK] = { "io-lock", false },
};
_Static_assert(sizeof(table) / sizeof(*table) == FV_FAULT_COUNT, "a row a fault");

static double seconds(const struct fv_check *c, uint64_t time)
{
    double ticks = time >= c->clock.offset ? (double)(time - c->clock.offset) : -(double)(c->clock.offset - time);

    return ticks / (c->clock.resolution ? (double)c->clock.resolution : 1);
}

/* Names come from the archive: whatever would break the line is shown as \xNN. */
static void print_name(FILE *out, const char *text)
{
    putc('"', out);
    for (; *text; text++)
        if ((unsigned char)*text < 0x20 || *text == 0x7f)
            fprintf(out, "\\x%02x", (unsigned char)*text);
        else
            putc(*text, out);
    putc('"', out);
}

static const char *location_name(const struct fv_check *c, uint32_t location)
{
    return fv_def_text(c, FV_DEF_LOCATION, c->definitions[FV_DEF_LOCATION].ids[location]);
}

static void print_line(const struct fv_check *c, const struct fv_fault_place *w, enum fv_fault fault, const char *what)
{
    FILE *out = c->faults.options->text;
    const char *separator = ": ";

    fputs(c->faults.archive, out);
    if (w->location != FV_NONE) {
        fprintf(out, "%slocation ", separator);
        print_name(out, location_name(c, w->location));
        fprintf(out, " (%" PRIu64 ")", c->definitions[FV_DEF_LOCATION].ids[w->location]);
        separator = ", ";
    }
    if (w->scope == FV_OF_EVENT && c->clock.resolution)
        fprintf(out, "%stime %.9f s", separator, seconds(c, w->time));
    else if (w->scope == FV_OF_EVENT)
        fprintf(out, "%stime %" PRIu64 " ticks", separator, w->time);
    separator = w->scope == FV_OF_EVENT ? ", " : separator;
    if (w->record && w->scope != FV_OF_ARCHIVE) {
        fprintf(out, "%s%s %s", separator, w->scope == FV_OF_DEFINITION ? "definition" : "record", w->record);
        if (w->scope == FV_OF_DEFINITION && w->id != FV_NO_ID)
            fprintf(out, " %" PRIu64, w->id);
    }
    fprintf(out, ": %s [%s %s]\n", what, table[fault].warning ? "warning" : "error", table[fault].name);
}

static void write_json(const struct fv_check *c, const struct fv_fault_place *w, enum fv_fault fault, const char *what)
{
    struct fv_json *json = c->faults.options->json;

    fv_json_object(json, NULL);
    fv_json_string(json, "fault", table[fault].name);
    fv_json_string(json, "severity", table[fault].warning ? "warning" : "error");
    if (w->location != FV_NONE) {
        fv_json_string(json, "location", location_name(c, w->location));
        fv_json_unsigned(json, "location_id", c->definitions[FV_DEF_LOCATION].ids[w->location]);
    }
    if (w->scope == FV_OF_EVENT) {
        fv_json_unsigned(json, "time_ticks", w->time);
        if (c->clock.resolution)
            fv_json_real(json, "time_s", seconds(c, w->time));
    }
    if (w->scope == FV_OF_EVENT || w->scope == FV_OF_DEFINITION)
        fv_json_string(json, w->scope == FV_OF_EVENT ? "record" : "definition", w->record);
    if (w->scope == FV_OF_DEFINITION && w->id != FV_NO_ID)
        fv_json_unsigned(json, "id", w->id);
    fv_json_string(json, "text", what);
    fv_json_end(json);
}

static void say(struct fv_check *c, const struct fv_fault_place *where, enum fv_fault fault, const char *format,
                va_list list)
{
    char what[512];

    *(table[fault].warning ? &c->result.warnings : &c->result.errors) += 1;
    if (++c->faults.counts[fault] > SHOWN && !c->faults.options->all)
        return;
    vsnprintf(what, sizeof(what), format, list);
    for (char *at = what; *at; at++)
        if ((unsigned char)*at < 0x20 || *at == 0x7f)
            *at = '?';
    if (c->faults.options->text)
        print_line(c, where, fault, what);
    if (c->faults.options->json)
        write_json(c, where, fault, what);
}

void fv_fault(struct fv_check *c, enum fv_fault fault, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    say(c, &c->where, fault, format, list);
    va_end(list);
}

void fv_fault_at(struct fv_check *c, const struct fv_fault_place *where, enum fv_fault fault, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    say(c, where, fault, format, list);
    va_end(list);
}

static void end_json(const struct fv_check *c, struct fv_json *json)
{
    const struct fv_check_result *r = &c->result;

    fv_json_end(json); /* of the faults */
    fv_json_object(json, "counts");
    for (unsigned i = 0; i < FV_FAULT_COUNT; i++)
        if (c->faults.counts[i])
            fv_json_unsigned(json, table[i].name, c->faults.counts[i]);
    fv_json_end(json);
    fv_json_unsigned(json, "locations", r->locations);
    fv_json_unsigned(json, "events", r->events);
    fv_json_unsigned(json, "definitions", r->definitions);
    fv_json_unsigned(json, "errors", r->errors);
    fv_json_unsigned(json, "warnings", r->warnings);
}

void fv_faults_end(struct fv_check *c)
{
    const struct fv_check_result *r = &c->result;
    FILE *out = c->faults.options->text;

    if (c->faults.options->json)
        end_json(c, c->faults.options->json);
    if (!out)
        return;
    for (unsigned i = 0; i < FV_FAULT_COUNT; i++)
        if (c->faults.counts[i] > SHOWN && !c->faults.options->all)
            fprintf(out, "%s: %" PRIu64 " more of this kind; --all shows them [%s %s]\n", c->faults.archive,
                    c->faults.counts[i] - SHOWN, table[i].warning ? "warning" : "error", table[i].name);
    fprintf(out,
            "%s: %" PRIu64 " locations, %" PRIu64 " events, %" PRIu64 " definitions: %" PRIu64 " errors, %" PRIu64
            " warnings\n",
            c->faults.archive, r->locations, r->events, r->definitions, r->errors, r->warnings);
}
