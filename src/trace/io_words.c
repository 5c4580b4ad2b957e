/* SPDX-License-Identifier: BSD-3-Clause */
/* See io_words.h. A file has few functions of its own, so they are searched one after the other. */
#include "trace/io_words.h"

#include <stdlib.h>
#include <string.h>

struct fv_io_function_words fv_io_function_in(const struct fv_reader *reader, uint64_t number,
                                              struct fv_io_function_record *room)
{
    const uint32_t known = number < FV_IO_FUNCTIONS ? (uint32_t)number : FV_IO_NO_FUNCTION;
    struct fv_cursor c = fv_cursor(reader, FV_CHUNK_IO_FUNCTIONS);

    if (number >= FV_IO_OTHER_FUNCTIONS && number < FV_IO_OTHER_FUNCTIONS + FV_IO_OTHERS_MOST)
        for (const void *p; (p = fv_cursor_next(&c));) {
            memcpy(room, p, sizeof(*room));
            room->name[sizeof(room->name) - 1] = '\0';
            if (room->number == number && room->operation < FV_IO_OPERATIONS && room->layer < FV_IO_LAYERS)
                return (struct fv_io_function_words){ room->name, room->operation, room->layer };
        }
    return (struct fv_io_function_words){ fv_io_function_name(known), fv_io_operation_of(known),
                                          fv_io_layer_of(known) };
}

static const struct {
    uint64_t type;
    const char *name;
} systems[] = {
    { 0x01021994, "tmpfs" },  { 0xef53, "ext4" },       { 0x58465342, "xfs" },        { 0x9123683e, "btrfs" },
    { 0x6969, "nfs" },        { 0x0bd00bd0, "lustre" }, { 0x47504653, "gpfs" },       { 0x794c7630, "overlay" },
    { 0x9fa0, "proc" },       { 0x62656572, "sysfs" },  { 0x19830326, "beegfs" },     { 0x00c36400, "ceph" },
    { 0xff534d42, "cifs" },   { 0x65735546, "fuse" },   { 0x2fc12fc1, "zfs" },        { 0x50495045, "pipe" },
    { 0x534f434b, "socket" }, { 0x1cd1, "devpts" },     { 0x09041934, "anon_inode" },
};

const char *fv_filesystem_name(uint64_t type)
{
    for (size_t i = 0; i < sizeof(systems) / sizeof(systems[0]); i++)
        if (systems[i].type == type)
            return systems[i].name;
    return NULL;
}

uint64_t fv_filesystem_of(const char *name)
{
    const size_t length = strcspn(name, ".");
    char *end;
    uint64_t number = strtoull(name, &end, 0);

    if (!strncmp(name, "0x", 2) && !*end)
        return number;
    for (size_t i = 0; i < sizeof(systems) / sizeof(systems[0]); i++)
        if (strlen(systems[i].name) == length && !strncmp(systems[i].name, name, length))
            return systems[i].type;
    return !strcmp(name, "nfs4") ? fv_filesystem_of("nfs") : 0;
}
