/* SPDX-License-Identifier: BSD-3-Clause */
/* See program.h. */
#include "base/program.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct file {
    const char *bytes;
    size_t size;
};

/* size 0: it is no ELF file, or cannot be read. What is no regular file is not opened: that may wait (a FIFO), or do
 * something (a device). */
static struct file map_file(const char *path)
{
    struct stat st;
    void *bytes = MAP_FAILED;
    int fd = !stat(path, &st) && S_ISREG(st.st_mode) ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;

    if (fd >= 0 && !fstat(fd, &st) && S_ISREG(st.st_mode) && (size_t)st.st_size > sizeof(ElfW(Ehdr)))
        bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (fd >= 0)
        close(fd);
    if (bytes == MAP_FAILED)
        return (struct file){ NULL, 0 };
    if (!memcmp(bytes, ELFMAG, SELFMAG))
        return (struct file){ bytes, (size_t)st.st_size };
    munmap(bytes, (size_t)st.st_size);
    return (struct file){ NULL, 0 };
}

static void unmap_file(struct file file)
{
    if (file.size)
        munmap((void *)(uintptr_t)file.bytes, file.size);
}

static bool has_loader(struct file file)
{
    const ElfW(Ehdr) *header = (const ElfW(Ehdr) *)file.bytes;
    const ElfW(Phdr) *part = (const ElfW(Phdr) *)(file.bytes + header->e_phoff);

    if (header->e_phoff > file.size || header->e_phnum > (file.size - header->e_phoff) / sizeof(*part))
        return true;
    for (unsigned i = 0; i < header->e_phnum; i++)
        if (part[i].p_type == PT_INTERP)
            return true;
    return false;
}

/* Dynamic linkers start programs that are named to them: ld-linux-x86-64.so.2 */
static bool is_linker(const char *path)
{
    const char *name = fv_base_name(path);

    return !strncmp(name, "ld", 2) && strstr(name, ".so");
}

bool fv_program_is_static(const char *path)
{
    if (is_linker(path))
        return false;
    struct file file = map_file(path);
    bool is_static =
        file.size && file.bytes[EI_CLASS] == (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) && !has_loader(file);

    unmap_file(file);
    return is_static;
}

static bool has_any(const char *path, const char *const *texts)
{
    struct file file = map_file(path);
    bool found = false;

    for (; file.size && !found && *texts; texts++)
        found = memmem(file.bytes, file.size, *texts, strlen(*texts)) != NULL;
    unmap_file(file);
    return found;
}

bool fv_program_names_mpi(const char *path)
{
    static const char *const texts[] = { "MPI_Init", "mpi_init_", NULL };

    return has_any(path, texts);
}

bool fv_program_has_mpi(const char *path)
{
    static const char *const texts[] = { "PMPI_Init", "MPI_Init(argc=", "ompi_mpi_init", NULL };

    return has_any(path, texts);
}
