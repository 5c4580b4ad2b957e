/* SPDX-License-Identifier: BSD-3-Clause */
/* See dump.h: fvmpi dump --records. */
#include "cmd/dump.h"
#include "trace/format_words.h"

#include <stdio.h>
#include <string.h>

/* Structures within records, and enumerations, each in the order in which it is met. */
struct seen {
    const void *item[128];
    unsigned count;
};

static bool is_new(struct seen *s, const void *item)
{
    for (unsigned i = 0; i < s->count; i++)
        if (s->item[i] == item)
            return false;
    if (item && s->count < sizeof(s->item) / sizeof(*s->item))
        s->item[s->count++] = item;
    return item != NULL;
}

static void print_type(const struct fv_member *m)
{
    if (m->kind == FV_MEMBER_TEXT)
        fputs("text", stdout);
    else if (m->of)
        printf("`%s`", m->of->name);
    else if (m->words)
        printf("`%s`", m->words->name);
    else
        fputs(m->hex ? "hexadecimal" : *m->unit ? m->unit : "number", stdout);
    if (m->row)
        printf(", %u x %u", m->count / m->row, m->row);
    else if (m->count)
        printf(m->elements && m->kind != FV_MEMBER_TEXT ? ", at most %u" : ", %u", m->count);
    else if (m->elements && m->kind != FV_MEMBER_TEXT)
        fputs(", any number", stdout);
    if (m->by)
        printf(", by `%s`", m->by->name);
}

static void print_layout(const struct fv_layout *layout, struct seen *parts, struct seen *enums)
{
    puts("\n| field | value | what |\n|---|---|---|");
    for (unsigned i = 0; i < layout->members; i++) {
        const struct fv_member *m = &layout->member[i];

        printf("| `%s` | ", m->name);
        print_type(m);
        printf(" | %s |\n", m->doc);
        is_new(parts, m->of);
        is_new(enums, m->words);
        is_new(enums, m->by);
    }
}

static void print_enum(const struct fv_enum *of)
{
    printf("\n### %s\n\n%s%s| value | word | what |\n|---|---|---|\n", of->name, of->doc, *of->doc ? "\n\n" : "");
    for (unsigned i = 0; i < of->count; i++)
        printf("| %llu | `%s` | %s |\n", (unsigned long long)of->list[i].value, of->list[i].word, of->list[i].doc);
}

static void print_kind(const struct fv_chunk_kind *kind, struct seen *layouts, struct seen *parts, struct seen *enums)
{
    printf("\n### %u %s\n\n%s%s", kind->number, kind->name, kind->one ? "One " : "", kind->layout ? "`" : "Bytes");
    printf("%s%s, of %s%s%s: %s.", kind->layout ? kind->layout->name : "", kind->layout ? "`" : "",
           kind->by_thread ? "one thread" : "the process", kind->varies ? ", of its own length" : "",
           kind->ids ? ", numbered from 1" : "", kind->doc);
    printf("%s\n", kind->forgotten ? " MPI_Pcontrol(2) drops them." : "");
    if (!is_new(layouts, kind->layout))
        return;
    printf("%s%s%s", *kind->layout->doc ? "\n" : "", kind->layout->doc, *kind->layout->doc ? "\n" : "");
    print_layout(kind->layout, parts, enums);
}

void fv_dump_records(void)
{
    struct seen layouts = { .count = 0 }, parts = { .count = 0 }, enums = { .count = 0 };

    puts("## Headers of the file and of a chunk");
    print_layout(&fv_file_header_layout, &parts, &enums);
    print_layout(&fv_chunk_header_layout, &parts, &enums);
    puts("\n## Records");
    for (unsigned i = 0; i < FV_CHUNK_KINDS; i++)
        if (fv_chunk_kinds[i].number)
            print_kind(&fv_chunk_kinds[i], &layouts, &parts, &enums);
    puts("\n## Parts of records");
    for (unsigned i = 0; i < parts.count; i++) {
        const struct fv_layout *part = parts.item[i];

        if (is_new(&layouts, part)) {
            printf("\n### %s\n%s%s%s", part->name, *part->doc ? "\n" : "", part->doc, *part->doc ? "\n" : "");
            print_layout(part, &parts, &enums);
        }
    }
    puts("\n## Words");
    for (unsigned i = 0; i < enums.count; i++)
        print_enum(enums.item[i]);
}
