/* SPDX-License-Identifier: BSD-3-Clause */
/* `fvmpi report --table`: any relation as it is asked for. Rows are chosen while they are read; what is kept
 * of them are the columns that are shown, and the one that they are sorted by. */
#include "tool/csv_stream.h"
#include "base/shell.h"
#include "tool/spans.h"
#include "tool/vec.h"
#include "tool/words.h"
#include "views/of_function.h"
#include "views/relations.h"
#include "views/sheet.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Longer ones first: "<=" is no "<". "==" is "=". */
enum operator{ OP_LESS_EQUAL, OP_MORE_EQUAL, OP_NOT, OP_LESS, OP_MORE, OP_EQUAL, OP_CONTAINS, OPERATORS };
static const char *const operators[] = { "<=", ">=", "!=", "<", ">", "=", "~" };

struct condition {
    size_t column;
    enum operator op;
    const char *text;
    double number;
    bool is_number;
};

/* Numbers that --rank or --thread names. */
struct query {
    const struct fv_query *asked;
    enum fv_query_form form;
    void *subject;
    struct fv_relation_place place;
    struct fv_flat flat;
    size_t *shown, shown_count;
    struct condition *conditions;
    struct fv_spans spans[2]; /* of ranks, of threads */
    bool *met[2];             /* had each of these a row? */
    size_t span_column[2];
    struct fv_of_function of;
    size_t sort; /* column; SIZE_MAX: none */
    bool falling;
    struct fv_arena arena;
    struct fv_string text; /* of a value that is being looked at */
    struct fv_value *kept; /* of each row: those shown, then the one to sort by */
    size_t rows, room, width;
    size_t chosen; /* rows; of which those are kept that can be shown */
    bool any;      /* row in the table, chosen or not */
};

/* ---- the question ---- */

static int wrong(const struct query *q, const char *what, size_t bytes, const char *why)
{
    fv_log("report: %.*s: %s; %s lists what there is", (int)bytes, what, why,
           FV_COMMAND("fvmpi", "report", "--table", q->asked->table, "--columns"));
    return -FV_EFORMAT;
}

/* By its key, or by its title, as it is printed, if that is one column's alone. `what`: to say what is wrong. SIZE_MAX:
 * said. */
static size_t find_column(const struct query *q, const char *name, size_t bytes, const char *what)
{
    size_t others, at = fv_flat_find(&q->flat, name, bytes);
    char why[300];

    if (at != SIZE_MAX)
        return at;
    at = fv_flat_find_titled(&q->flat, name, bytes, &others);
    if (at != SIZE_MAX && !others)
        return at;
    snprintf(why, sizeof(why), "the table has no such column%s", what);
    if (at != SIZE_MAX) {
        snprintf(why, sizeof(why), "several columns have that title; name one of:");
        for (size_t i = 0; i < q->flat.count; i++)
            if (strlen(q->flat.items[i].column->title) == bytes &&
                !strncasecmp(q->flat.items[i].column->title, name, bytes))
                fv_words_add(why, sizeof(why), " %s", q->flat.items[i].key);
    }
    wrong(q, name, bytes, why);
    return SIZE_MAX;
}

/* A page has no room for all columns of most tables: there it is the relation's own choice. */
static const char *chosen_keys(const struct query *q)
{
    const char *own = q->place.chain[q->place.depth - 1]->shown;

    return q->asked->columns ? q->asked->columns : q->form == FV_QUERY_TEXT && own ? own : "";
}

static int parse_columns(struct query *q)
{
    const char *p = q->asked->columns;
    uint8_t *weights = fv_xcalloc(q->flat.count + 1, sizeof(*weights));

    q->shown = fv_xcalloc(q->flat.count + 1, sizeof(*q->shown));
    if (!p)
        q->shown_count = fv_flat_choose(&q->flat, chosen_keys(q), q->shown, weights);
    free(weights);
    if (!p)
        return 0;
    for (;;) {
        size_t bytes = strcspn(p, ","), at = find_column(q, p, bytes, "");

        if (at == SIZE_MAX)
            return -FV_EFORMAT;
        if (q->shown_count == q->flat.count)
            return wrong(q, p, strlen(p), "--columns names more columns than the table has");
        q->shown[q->shown_count++] = at;
        if (!p[bytes])
            return 0;
        p += bytes + 1;
    }
}

static int parse_sort(struct query *q)
{
    const char *p = q->asked->sort;

    q->sort = SIZE_MAX;
    if (!p)
        return 0;
    q->falling = *p == '-';
    p += q->falling;
    q->sort = find_column(q, p, strlen(p), " to sort by");
    return q->sort == SIZE_MAX ? -FV_EFORMAT : 0;
}

static bool is_numeric(const struct fv_column_def *c)
{
    return c->type == FV_TYPE_WHOLE || c->type == FV_TYPE_NUMBER || c->type == FV_TYPE_REAL;
}

/* A number, of a share also "5%". */
static bool parse_number(const struct fv_column_def *c, struct condition *out)
{
    bool share = !strcmp(c->unit, "share");
    char *end;

    out->number = strtod(out->text, &end);
    out->is_number = end != out->text;
    end += strspn(end, " ");
    if (share && *end == '%') {
        out->number /= 100;
        end++;
    }
    out->is_number = out->is_number && !*end && isfinite(out->number);
    return out->is_number && (!share || (out->number >= 0 && out->number <= 1));
}

static bool parse_truth(struct condition *out)
{
    static const char *const words[][2] = { { "false", "true" }, { "no", "yes" }, { "0", "1" } };

    for (unsigned i = 0; i < 3; i++)
        for (unsigned truth = 0; truth < 2; truth++)
            if (!strcmp(out->text, words[i][truth])) {
                out->text = words[0][truth];
                return true;
            }
    return false;
}

static bool is_one_of(const char *word, const char *const *words)
{
    while (*words && strcmp(*words, word))
        words++;
    return *words;
}

/* The value behind the operator. NULL, or why it cannot be one of the column's. */
static const char *parse_value(const struct fv_column_def *c, struct condition *out, char why[200])
{
    bool equality = out->op == OP_EQUAL || out->op == OP_NOT;

    if (!*out->text)
        return equality ? NULL : "a value is missing; COLUMN= keeps rows where nothing is known, COLUMN!= the others";
    if (c->type == FV_TYPE_TRUTH)
        return equality && parse_truth(out) ? NULL : "the column takes = or !=, and true, false, yes, no, 1 or 0";
    if (is_numeric(c) && out->op != OP_CONTAINS)
        return parse_number(c, out)       ? NULL
               : strcmp(c->unit, "share") ? "the column takes a number, without a unit"
                                          : "the column takes a share, from 0 to 1, or from 0% to 100%";
    if (!c->words || !equality || is_one_of(out->text, c->words))
        return NULL;
    snprintf(why, 200, "the column takes");
    for (const char *const *word = c->words; *word; word++)
        fv_words_add(why, 200, "%s %s", word == c->words ? "" : word[1] ? "," : " or", *word);
    return why;
}

static int parse_condition(struct query *q, const char *text, struct condition *out)
{
    size_t bytes = strcspn(text, "<>=!~");
    const char *p = text + bytes, *why;
    char words[200];

    while (bytes && text[bytes - 1] == ' ')
        bytes--;
    for (out->op = 0; out->op < OPERATORS && strncmp(p, operators[out->op], strlen(operators[out->op]));)
        out->op++;
    if (out->op == OPERATORS)
        return wrong(q, text, strlen(text), "--where takes COLUMN, one of < <= = != >= > ~, and a value");
    out->column = find_column(q, text, bytes, "");
    if (out->column == SIZE_MAX)
        return -FV_EFORMAT;
    p += strlen(operators[out->op]);
    p += out->op == OP_EQUAL && *p == '=';
    out->text = p + strspn(p, " ");
    why = parse_value(q->flat.items[out->column].column, out, words);
    return why ? wrong(q, text, strlen(text), why) : 0;
}

static int parse_conditions(struct query *q)
{
    int err = 0;

    q->conditions = fv_xcalloc(q->asked->where_count + 1, sizeof(*q->conditions));
    for (size_t i = 0; i < q->asked->where_count && !err; i++)
        err = parse_condition(q, q->asked->where[i], &q->conditions[i]);
    return err;
}

/* The table that has a column with a flag, of those whose names begin as the asked one's first word. */
struct alike {
    const char *name;
    uint16_t flag;
    size_t best; /* bytes in common */
    const char *found;
};

static bool compare_names(void *context, const struct fv_relation_place *place)
{
    const struct fv_relation *r = place->chain[place->depth - 1];
    struct alike *a = context;
    bool has = false;
    size_t same = 0;

    while (r->name[same] && r->name[same] == a->name[same])
        same++;
    for (size_t i = fv_relation_flat_count(r); i-- > 0 && !has;)
        has = fv_relation_flat_column(r, i)->flags & a->flag;
    if (has && same > a->best) {
        a->best = same;
        a->found = r->name;
    }
    return true;
}

static int no_such_rows(const struct query *q, const struct fv_relation *const *set, uint16_t flag, const char *noun)
{
    const char *table = q->asked->table;
    const size_t word = strcspn(table, "_"), plural = word && table[word - 1] == 's';
    struct alike alike = { .name = table, .flag = flag, .best = word - 1 - plural };
    char why[200];

    fv_relations_visit(set, compare_names, &alike);
    snprintf(why, sizeof(why), "the table has no column of a %s to choose by%s%s%s", noun,
             alike.found ? "; table " : "", alike.found ? alike.found : "", alike.found ? " has one" : "");
    return wrong(q, table, strlen(table), why);
}

/* "0-3,7" */
static int parse_spans(struct query *q, const struct fv_relation *const *set, unsigned which, const char *text,
                       uint16_t flag, const char *noun)
{
    char why[120];

    if (!text)
        return 0;
    q->span_column[which] = SIZE_MAX;
    for (size_t i = q->flat.count; i-- > 0;)
        if (q->flat.items[i].column->flags & flag)
            q->span_column[which] = i;
    if (q->span_column[which] == SIZE_MAX)
        return no_such_rows(q, set, flag, noun);
    if (!fv_spans_parse(&q->spans[which], text)) {
        snprintf(why, sizeof(why), "it is a list of %ss such as 0-3,7", noun);
        return wrong(q, text, strlen(text), why);
    }
    q->met[which] = fv_xcalloc(q->spans[which].count, sizeof(*q->met[which]));
    return 0;
}

static int find_functions(struct query *q)
{
    fv_of_function_init(&q->of, &q->flat, q->asked->function);
    if (!q->asked->function || q->of.count || q->asked->met)
        return 0;
    return wrong(q, q->asked->table, strlen(q->asked->table), "the table has no functions to choose by");
}

static int parse(struct query *q, const struct fv_relation *const *set)
{
    if (!fv_relations_find(set, q->asked->table, &q->place))
        return fv_query_no_table(set, q->asked->table);
    fv_flat_init(&q->flat, q->place.chain[q->place.depth - 1]);
    int err = parse_columns(q);

    if (!err)
        err = parse_sort(q);
    if (!err)
        err = parse_conditions(q);
    if (!err)
        err = parse_spans(q, set, 0, q->asked->ranks, FV_IS_RANK, "rank");
    if (!err)
        err = parse_spans(q, set, 1, q->asked->threads, FV_IS_THREAD, "thread");
    if (!err)
        err = find_functions(q);
    q->width = q->shown_count + (q->sort != SIZE_MAX);
    return err;
}

/* ---- rows ---- */

static bool number_of(const struct fv_value *v, double *out)
{
    if (v->null)
        return false;
    switch (v->type) {
    case FV_TYPE_WHOLE: *out = (double)v->whole; return true;
    case FV_TYPE_NUMBER: *out = (double)v->number; return true;
    case FV_TYPE_REAL: *out = v->real; return true;
    default: return false;
    }
}

static const char *words_of(const struct fv_value *v, struct fv_string *out)
{
    char real[FV_REAL];

    fv_string_clear(out);
    if (v->null)
        return "";
    switch (v->type) {
    case FV_TYPE_TEXT: return v->text;
    case FV_TYPE_TRUTH: return v->truth ? "true" : "false";
    case FV_TYPE_WHOLE: fv_string_add(out, "%llu", (unsigned long long)v->whole); break;
    case FV_TYPE_NUMBER: fv_string_add(out, "%lld", (long long)v->number); break;
    case FV_TYPE_REAL: fv_string_add(out, "%.*s", (int)fv_words_real(v->real, real), real); break;
    default: fv_flat_text(v, out); break;
    }
    return out->text;
}

/* Of one column. */
static int compare(const struct fv_value *a, const struct fv_value *b)
{
    struct fv_string x = { 0 }, y = { 0 };
    double i, k;

    if (number_of(a, &i) && number_of(b, &k))
        return i < k ? -1 : i > k;
    int order = strcmp(words_of(a, &x), words_of(b, &y));
    fv_string_release(&x);
    fv_string_release(&y);
    return order;
}

/* What is not known is in no relation to anything, but unequal to every value. Without a value the question is whether
 * it is known. */
static bool holds(const struct condition *c, const struct fv_value *v, struct fv_string *text)
{
    double number;
    int order;

    if (!*c->text)
        return (v->null || !*words_of(v, text)) == (c->op == OP_EQUAL);
    if (v->null)
        return c->op == OP_NOT;
    if (c->op == OP_CONTAINS)
        return strstr(words_of(v, text), c->text);
    if (number_of(v, &number) && c->is_number)
        order = number < c->number ? -1 : number > c->number;
    else
        order = strcmp(words_of(v, text), c->text);
    switch (c->op) {
    case OP_LESS: return order < 0;
    case OP_LESS_EQUAL: return order <= 0;
    case OP_EQUAL: return !order;
    case OP_NOT: return order;
    case OP_MORE_EQUAL: return order >= 0;
    default: return order > 0;
    }
}

/* By --rank and --thread. */
static bool is_within(const struct query *q, const struct fv_flat_row *row)
{
    for (unsigned which = 0; which < 2; which++) {
        const struct fv_spans *spans = &q->spans[which];
        bool any = !spans->count;
        double number = -1;

        if (any)
            continue;
        struct fv_value v = fv_flat_read(&q->flat.items[q->span_column[which]], q->subject, row);
        for (size_t i = 0; number_of(&v, &number) && i < spans->count; i++) {
            bool met = number >= (double)spans->items[i].first && number <= (double)spans->items[i].last;

            q->met[which][i] = q->met[which][i] || met;
            any = any || met;
        }
        if (!any)
            return false;
    }
    return true;
}

static bool chosen(struct query *q, const struct fv_flat_row *row)
{
    if (!is_within(q, row) || !fv_of_function_has(&q->of, q->subject, row))
        return false;
    for (size_t i = 0; i < q->asked->where_count; i++) {
        struct fv_value v = fv_flat_read(&q->flat.items[q->conditions[i].column], q->subject, row);

        if (!holds(&q->conditions[i], &v, &q->text))
            return false;
    }
    return true;
}

static bool keep_row(void *context, const struct fv_flat_row *row)
{
    struct query *q = context;

    q->any = true;
    if (!chosen(q, row))
        return true;
    q->chosen++;
    if (q->sort == SIZE_MAX && q->rows == q->asked->top)
        return true;
    FV_GROW(q->kept, q->room, (q->rows + 1) * q->width);
    struct fv_value *to = q->kept + q->rows++ * q->width;

    for (size_t i = 0; i < q->width; i++) {
        to[i] = fv_flat_judge(&q->flat.items[i < q->shown_count ? q->shown[i] : q->sort], q->subject, row);
        if (to[i].null)
            continue;
        if (to[i].type == FV_TYPE_TEXT) {
            to[i].text = fv_arena_string(&q->arena, to[i].text);
        } else if (to[i].type == FV_TYPE_REALS && q->form == FV_QUERY_TEXT) {
            double *reals = fv_arena_take(&q->arena, (to[i].count + 1) * sizeof(*reals));

            to[i].items = memcpy(reals, to[i].items, to[i].count * sizeof(*reals)); /* may be drawn */
        } else if (to[i].type > FV_TYPE_TEXT) {
            const char *words = fv_flat_text(&to[i], &q->text);

            to[i] = (struct fv_value){ .type = FV_TYPE_TEXT, .text = fv_arena_string(&q->arena, words) };
        }
    }
    return true;
}

/* Rows that are equal keep their order; what is not known comes last. */
static int by_key(const void *a, const void *b, void *context)
{
    const struct query *q = context;
    size_t i = *(const size_t *)a, k = *(const size_t *)b;
    const struct fv_value *x = &q->kept[i * q->width + q->width - 1], *y = &q->kept[k * q->width + q->width - 1];
    int order = x->null != y->null ? (x->null ? 1 : -1) : x->null ? 0 : q->falling ? -compare(x, y) : compare(x, y);

    return order ? order : i < k ? -1 : i > k;
}

/* ---- the answer ---- */

static void print_text(const struct query *q, const size_t *order, size_t count, const struct fv_page *page)
{
    const struct fv_relation *r = q->place.chain[q->place.depth - 1];
    struct fv_sheet sheet;
    char remark[120];
    int n = snprintf(remark, sizeof(remark), "%zu row%s", count, fv_words_s(count));

    if (count < q->chosen)
        n += snprintf(remark + n, sizeof(remark) - (size_t)n, " of %zu", q->chosen);
    if (q->shown_count < q->flat.count && !q->asked->columns)
        snprintf(remark + n, sizeof(remark) - (size_t)n, ", %zu of %zu columns: --columns lists all", q->shown_count,
                 q->flat.count);
    fv_sheet_init(&sheet, page, r, chosen_keys(q), q->subject);
    sheet.table.keeps_empty = q->asked->columns;
    for (size_t i = 0; i < count; i++)
        fv_sheet_add_values(&sheet, &q->kept[order[i] * q->width], FV_PLAIN);
    fv_page_heading(page, r->name, remark);
    fv_sheet_print(&sheet);
    fv_sheet_release(&sheet);
}

static void print_csv(const struct query *q, const size_t *order, size_t count, FILE *out)
{
    struct fv_csv csv = { .out = out };

    for (size_t i = 0; i < q->shown_count; i++)
        fv_csv_text(&csv, q->flat.items[q->shown[i]].key);
    fv_csv_line(&csv);
    for (size_t i = 0; i < count; i++)
        fv_csv_values(&csv, &q->kept[order[i] * q->width], q->shown_count);
}

static int print_json(const struct query *q, const size_t *order, size_t count, FILE *out)
{
    struct fv_json json = { .out = out };

    fv_json_object(&json, NULL);
    fv_json_string(&json, "table", q->asked->table);
    fv_json_array(&json, "columns");
    for (size_t i = 0; i < q->shown_count; i++)
        fv_json_string(&json, NULL, q->flat.items[q->shown[i]].key);
    fv_json_end(&json);
    fv_json_array(&json, "rows");
    for (size_t i = 0; i < count; i++) {
        fv_json_array(&json, NULL);
        for (size_t k = 0; k < q->shown_count; k++)
            fv_json_value(&json, NULL, &q->kept[order[i] * q->width + k]);
        fv_json_end(&json);
    }
    fv_json_end(&json);
    fv_json_end(&json);
    return json.failed ? -FV_EIO : 0;
}

static int answer(struct query *q, const struct fv_page *page, FILE *out)
{
    size_t *order = fv_xcalloc(q->rows + 1, sizeof(*order)), count = q->rows < q->asked->top ? q->rows : q->asked->top;
    int err = 0;

    for (size_t i = 0; i < q->rows; i++)
        order[i] = i;
    if (q->sort != SIZE_MAX)
        qsort_r(order, q->rows, sizeof(*order), by_key, q);
    if (q->form == FV_QUERY_TEXT)
        print_text(q, order, count, page);
    else if (q->form == FV_QUERY_CSV)
        print_csv(q, order, count, out);
    else
        err = print_json(q, order, count, out);
    free(order);
    return fflush(out) || ferror(out) ? -FV_EIO : err;
}

/* Each option of "fvmpi run --counters --threads": to record with it again would change nothing. */
static bool were_asked_for(const struct query *q, const char *by)
{
    bool all = q->asked->asked_for;

    for (const char *flag = strstr(by, "--"); flag && all; flag = strstr(flag + 2, "--"))
        all = q->asked->asked_for(q->subject, flag, strcspn(flag, " ,"));
    return all && strstr(by, "--");
}

/* What the user might take for an answer: nothing was recorded, or not of these ranks. */
static void say_missing(const struct query *q)
{
    const struct fv_relation_place *place = &q->place;
    const char *by = NULL, *unseen = place->depth ? place->chain[place->depth - 1]->unseen : NULL;

    for (size_t i = 0; i < place->depth; i++)
        by = place->chain[i]->recorded_by ? place->chain[i]->recorded_by : by;
    if (!q->any && by && were_asked_for(q, by))
        fv_log("report: %s has no rows in this run, which was recorded by %s. The program did nothing of that kind, or "
               "a note of fvmpi report says why it is missing%s%s",
               q->asked->table, by, unseen ? "; " : "", unseen ? unseen : "");
    else if (!q->any && by)
        fv_log("report: %s has no rows in this run; it is recorded by %s", q->asked->table, by);
    for (unsigned which = 0; q->any && which < 2; which++)
        for (size_t i = 0; i < q->spans[which].count; i++) {
            const struct fv_span *span = &q->spans[which].items[i];
            const char *noun = which ? "thread" : "rank";

            if (!q->met[which][i] && span->first == span->last)
                fv_log("report: %s has no row of %s %lld; --table %ss lists what there is", q->asked->table, noun,
                       (long long)span->first, noun);
            else if (!q->met[which][i])
                fv_log("report: %s has no row of %ss %lld-%lld; --table %ss lists what there is", q->asked->table, noun,
                       (long long)span->first, (long long)span->last, noun);
        }
}

static void release(struct query *q)
{
    for (unsigned i = 0; i < 2; i++) {
        fv_spans_release(&q->spans[i]);
        free(q->met[i]);
    }
    free(q->conditions);
    free(q->shown);
    free(q->kept);
    fv_arena_release(&q->arena);
    fv_string_release(&q->text);
    fv_of_function_release(&q->of);
    fv_flat_release(&q->flat);
}

int fv_query_check(const struct fv_query *asked, const struct fv_relation *const *set)
{
    struct query q = { .asked = asked };
    int err = parse(&q, set);

    release(&q);
    return err;
}

int fv_query_print(const struct fv_query *asked, const struct fv_relation *const *set, void *subject,
                   enum fv_query_form form, const struct fv_page *page, FILE *out)
{
    struct query q = { .asked = asked, .form = form, .subject = subject };
    int err = parse(&q, set);

    if (!err) {
        if (!asked->met || !asked->function || q.of.count)
            fv_relation_each(&q.place, subject, keep_row, &q);
        if (!asked->met || q.chosen)
            err = answer(&q, page, out);
        if (!err && !asked->met)
            say_missing(&q);
        if (asked->met)
            *asked->met += q.chosen;
    }
    release(&q);
    return err;
}
