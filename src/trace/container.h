/* SPDX-License-Identifier: BSD-3-Clause */
/* A container: rank files of a node, one behind the other in one file, for file systems that many small files
 * overwhelm. All of its numbers are in the node's byte order.
 *
 *     EXPERIMENT/ranks-HOST.fvc
 *         0        struct fv_container_entry of the first file
 *         begin    its bytes, as they were in the rank file
 *         ...      the next entry, at the next multiple of FV_CONTAINER_STEP, and so on
 *
 * An entry is written when its file's bytes are on the disk. So what a crash leaves has no entry: it is passed by, and
 * written over by the next file. Everywhere a file in a container has a path: ranks-HOST.fvc/rank-000012.fvr. */
#ifndef FV_CONTAINER_H
#define FV_CONTAINER_H

#include <stdbool.h>
#include <stdint.h>

#define FV_CONTAINER_END   ".fvc"
#define FV_CONTAINER_MAGIC "FVCFILE1"
#define FV_CONTAINER_STEP  UINT64_C(4096)  /* between the end of a file and the next entry */
#define FV_CONTAINER_ALIGN UINT64_C(65536) /* of `begin`: a page, wherever it is read */

struct fv_container_entry {
    char magic[8]; /* FV_CONTAINER_MAGIC, without its end */
    uint64_t begin, bytes;
    char name[96];  /* of the rank file */
    uint64_t check; /* of begin, bytes and name: fv_mix2() of each number and letter, one after the other */
};

/* Calls the function for each entry until it says false, also behind damage. Returns where the next entry would be. */
uint64_t fv_container_each(int fd, bool (*visit)(void *context, const struct fv_container_entry *entry), void *context);

/* A file, or a part of one. */
struct fv_file_part {
    int fd; /* the caller closes it */
    uint64_t begin, bytes;
    bool is_whole; /* it is a file of its own */
};
/* Opens a regular file, or one in a container, by its path. 0, -FV_EIO: errno tells; -FV_EFORMAT: no regular file. */
int fv_file_part_open(const char *path, struct fv_file_part *out);
/* The file that has it, when its begin is known: its descriptor, or -1. */
int fv_file_part_again(const char *path, uint64_t begin);

/* Puts a file of that name behind the others in a container, which is made if needed; the lock of the container is held
 * meanwhile. A file that is there already is the same: nothing is done. 0, or -1: errno tells; EEXIST: there is another
 * one of that name, or the container is not this user's own regular file. */
int fv_container_append(int folder, const char *container, int from, const char *name);

/* Has one file from the begin on so many bytes as the other has from `begin` on, and the same ones? Not for threads. */
bool fv_same_bytes(int one, int other, uint64_t begin, uint64_t bytes);

/* "ranks-HOST.fvc" of this host. */
#define FV_CONTAINER_NAME_MAX 96
void fv_container_name(char out[FV_CONTAINER_NAME_MAX]);

#endif
