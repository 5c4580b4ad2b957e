/* SPDX-License-Identifier: BSD-3-Clause */
/* fvmpi dump: every record, one a line, `type key=value ...`. Strings are escaped; what is damaged is a line, too. */
#include "cmd/arguments.h"
#include "cmd/cmd.h"
#include "cmd/dump.h"
#include "experiment/experiment.h"
#include "trace/record_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static bool has_member(const struct fv_layout *layout, const char *name)
{
    for (unsigned i = 0; i < layout->members; i++)
        if (!strcmp(layout->member[i].name, name))
            return true;
    return false;
}

/* Whose it is and its number, unless a field of the same name says so, and its fields. */
static void print_record(const struct fv_cursor *c, const struct fv_chunk_kind *kind, const void *record)
{
    fputs(kind->name, stdout);
    if (c->thread != FV_NO_THREAD && !has_member(kind->layout, "thread"))
        printf(" thread=%u", c->thread);
    if (kind->ids)
        printf(" id=%" PRIu64, c->index + 1);
    else if (!kind->varies && !kind->one && !has_member(kind->layout, "index"))
        printf(" index=%" PRIu64, c->index);
    fv_text_members("", kind->layout, record, c->bytes);
    putchar('\n');
}

static void print_events(const struct fv_reader *reader, const struct fv_chunk *chunk)
{
    struct fv_unpacked_events unpacked = { 0 };
    struct fv_event_cursor c = fv_reader_events(reader, chunk, &unpacked);
    struct fv_event e;

    while (fv_event_next(&c, &e)) {
        const struct fv_event_form *form = &fv_event_forms[e.kind];

        printf("event thread=%u begin=%" PRIu64 " end=%" PRIu64 " kind=\"%s\"", chunk->thread, e.begin, e.end,
               form->name);
        for (unsigned i = 0; i < form->fields; i++)
            if (form->is_signed >> i & 1)
                printf(" %s=%" PRId64, form->field[i], (int64_t)e.field[i]);
            else
                printf(" %s=%" PRIu64, form->field[i], e.field[i]);
        putchar('\n');
    }
    if (c.damaged)
        puts("damage why=\"event chunk: bytes that are no event; the rest of the chunk is lost\"");
    fv_unpacked_events_release(&unpacked);
}

static void print_file(const char *name, const struct fv_reader *reader)
{
    size_t chunks, kept;
    uint64_t damages;
    const struct fv_chunk *chunk = fv_reader_chunks(reader, &chunks);
    const struct fv_damage *damage = fv_reader_damage(reader, &kept, &damages);

    printf("file name=");
    fv_text_quoted(name, strlen(name));
    printf(" bytes=%" PRIu64 " chunks=%zu damages=%" PRIu64 "\nheader", fv_reader_bytes(reader), chunks, damages);
    fv_text_members("", &fv_file_header_layout, fv_reader_header(reader), sizeof(struct fv_file_header));
    putchar('\n');
    for (size_t i = 0; i < kept; i++) {
        printf("damage offset=%" PRIu64 " why=", damage[i].offset);
        fv_text_quoted(damage[i].why, sizeof(damage[i].why));
        putchar('\n');
    }
    for (size_t i = 0; i < chunks; i++) {
        const struct fv_chunk_kind *kind = fv_chunk_kind(chunk[i].type);
        struct fv_cursor c = fv_cursor_chunk(reader, i);
        const void *record;

        printf("chunk offset=%" PRIu64 " type=%s used=%" PRIu64 "\n", chunk[i].offset, kind->name, chunk[i].used);
        if (fv_chunk_has_events(&chunk[i]))
            print_events(reader, &chunk[i]);
        while (kind->layout && (record = fv_cursor_next(&c)))
            print_record(&c, kind, record);
    }
}

static const char usage[] = "usage: fvmpi dump DIR|FILE...\n"
                            "Prints every record of the rank files of an experiment, one per line: type key=value ...\n"
                            "Times are ticks of the file's clock, unless the key ends with _ns.\n"
                            "\n"
                            "  -r, --records   explain the records and their fields, in Markdown; takes no DIR\n"
                            "  -h, --help      print this help\n";

static int wrong(const char *what, const char *why)
{
    return fv_arguments_wrong("fvmpi dump", what, why);
}

static int take_option(void *options, int option)
{
    (void)options;
    if (option == 'r')
        fv_dump_records();
    else if (option == 'h')
        fputs(usage, stdout);
    else
        return FV_UNKNOWN_OPTION;
    return FV_EXIT_OK;
}

int fv_cmd_dump(int argc, char **argv)
{
    static const struct option table[] = { { "help", no_argument, NULL, 'h' },
                                           { "records", no_argument, NULL, 'r' },
                                           { 0 } };
    static const struct fv_arguments arguments = { "hr", table, take_option, wrong, "experiment directory", false };
    struct fv_experiment experiment;
    struct fv_operands paths;
    int status = fv_arguments_take(&arguments, argc, argv, NULL, &paths);

    if (status >= 0)
        return status;
    if (fv_experiment_open_all(&experiment, paths.items, paths.count))
        return FV_EXIT_FAILED;
    for (size_t i = 0; i < experiment.count; i++) {
        int err = fv_reader_wake(experiment.files[i].reader);

        if (err)
            fv_log("%s: %s", experiment.files[i].name,
                   err == -FV_ENOMEM ? "out of memory" : "it changed while it was read");
        if (err == -FV_ENOMEM)
            continue;
        print_file(experiment.files[i].name, experiment.files[i].reader);
        fv_reader_rest(experiment.files[i].reader);
    }
    for (size_t i = 0; i < experiment.problems.count; i++)
        fv_log("%s: %s", experiment.problems.items[i].file ? experiment.problems.items[i].file : experiment.path,
               experiment.problems.items[i].text);
    fv_experiment_release(&experiment);
    if (fflush(stdout) || ferror(stdout)) {
        fv_log("dump: standard output: %s; write it elsewhere", fv_strerror(-FV_EIO));
        return FV_EXIT_FAILED;
    }
    return FV_EXIT_OK;
}
