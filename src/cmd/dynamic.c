/* SPDX-License-Identifier: BSD-3-Clause */
/* See dynamic.h. */
#include "cmd/dynamic.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Real files stay far below these; damaged ones must not make us allocate gigabytes. */
enum { SEGMENTS_MOST = 4096, DYNAMIC_MOST = 65536, STRINGS_MOST = 64 << 20 };

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define OUR_ORDER ELFDATA2LSB
#else
#define OUR_ORDER ELFDATA2MSB
#endif

#if defined(__x86_64__)
#define OUR_MACHINE EM_X86_64
#elif defined(__aarch64__)
#define OUR_MACHINE EM_AARCH64
#elif defined(__powerpc64__)
#define OUR_MACHINE EM_PPC64
#elif defined(__riscv)
#define OUR_MACHINE EM_RISCV
#elif defined(__s390x__)
#define OUR_MACHINE EM_S390
#elif defined(__loongarch__)
#define OUR_MACHINE 258 /* EM_LOONGARCH, which older elf.h do not have */
#endif

/* ---- sources ---- */

static bool read_fd(const struct fv_source *source, uint64_t offset, void *out, size_t n)
{
    for (size_t done = 0; done < n;) {
        if (offset + done > INT64_MAX)
            return false;
        ssize_t got = pread(source->fd, (char *)out + done, n - done, (off_t)(offset + done));
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        done += (size_t)got;
    }
    return true;
}

static bool read_memory(const struct fv_source *source, uint64_t offset, void *out, size_t n)
{
    if (offset > source->size || n > source->size - offset)
        return false;
    if (n)
        memcpy(out, source->bytes + offset, n);
    return true;
}

struct fv_source fv_source_of_file(int fd)
{
    return (struct fv_source){ .read = read_fd, .fd = fd };
}

struct fv_source fv_source_of_memory(const void *bytes, size_t size)
{
    return (struct fv_source){ .read = read_memory, .fd = -1, .bytes = bytes, .size = size };
}

/* ---- parsing ---- */

struct file {
    const struct fv_source *source;
    Elf64_Phdr *segments;
    size_t segment_count;
    Elf64_Dyn *dynamic;
    size_t dynamic_count;
};

static int read_header(const struct fv_source *source, Elf64_Ehdr *out)
{
    unsigned char ident[EI_NIDENT];

    if (!source->read(source, 0, ident, sizeof(ident)) || memcmp(ident, ELFMAG, SELFMAG))
        return -FV_ENOENT;
    if (ident[EI_CLASS] != ELFCLASS64 || ident[EI_DATA] != OUR_ORDER)
        return -FV_EINVAL;
    if (!source->read(source, 0, out, sizeof(*out)))
        return -FV_EFORMAT;
#ifdef OUR_MACHINE
    if (out->e_machine != OUR_MACHINE)
        return -FV_EINVAL;
#endif
    if (out->e_phentsize != sizeof(Elf64_Phdr) || out->e_phnum > SEGMENTS_MOST)
        return out->e_phnum ? -FV_EFORMAT : 0; /* object files have no segments */
    return 0;
}

static void *read_array(const struct fv_source *source, uint64_t offset, size_t count, size_t size, int *err)
{
    void *array = malloc(count ? count * size : 1);

    *err = array ? 0 : -FV_ENOMEM;
    if (array && !source->read(source, offset, array, count * size)) {
        free(array);
        array = NULL;
        *err = -FV_EFORMAT;
    }
    return array;
}

static const Elf64_Phdr *find_segment(const struct file *file, uint32_t type)
{
    for (size_t i = 0; i < file->segment_count; i++)
        if (file->segments[i].p_type == type)
            return &file->segments[i];
    return NULL;
}

/* Where the byte at a virtual address stands in the file. */
static bool file_offset(const struct file *file, uint64_t address, uint64_t *out)
{
    for (size_t i = 0; i < file->segment_count; i++) {
        const Elf64_Phdr *s = &file->segments[i];
        if (s->p_type == PT_LOAD && address >= s->p_vaddr && address - s->p_vaddr < s->p_filesz)
            return !__builtin_add_overflow(s->p_offset, address - s->p_vaddr, out);
    }
    return false;
}

static bool dynamic_value(const struct file *file, int64_t tag, uint64_t *out)
{
    for (size_t i = 0; i < file->dynamic_count; i++)
        if (file->dynamic[i].d_tag == tag) {
            *out = file->dynamic[i].d_un.d_val;
            return true;
        }
    return false;
}

static int read_dynamic(struct file *file)
{
    const Elf64_Phdr *segment = find_segment(file, PT_DYNAMIC);
    int err;

    if (!segment)
        return 0;
    if (segment->p_filesz / sizeof(Elf64_Dyn) > DYNAMIC_MOST)
        return -FV_EFORMAT;
    file->dynamic_count = segment->p_filesz / sizeof(Elf64_Dyn);
    file->dynamic = read_array(file->source, segment->p_offset, file->dynamic_count, sizeof(Elf64_Dyn), &err);
    if (err)
        return err;
    for (size_t i = 0; i < file->dynamic_count; i++)
        if (file->dynamic[i].d_tag == DT_NULL)
            file->dynamic_count = i;
    return 0;
}

/* The string table, with a NUL of our own behind it. No table: an empty one. */
static int read_strings(const struct file *file, struct fv_dynamic *out, size_t *size)
{
    uint64_t address, bytes, offset = 0;
    bool there = dynamic_value(file, DT_STRTAB, &address) && dynamic_value(file, DT_STRSZ, &bytes);

    if (!there)
        bytes = 0;
    if (bytes > STRINGS_MOST || (bytes && !file_offset(file, address, &offset)))
        return -FV_EFORMAT;
    out->strings = malloc(bytes + 1);
    if (!out->strings)
        return -FV_ENOMEM;
    if (bytes && !file->source->read(file->source, offset, out->strings, bytes))
        return -FV_EFORMAT;
    out->strings[bytes] = '\0';
    *size = bytes;
    return 0;
}

static const char *string_of(const struct file *file, const struct fv_dynamic *elf, size_t size, int64_t tag)
{
    uint64_t at;

    return dynamic_value(file, tag, &at) && at < size ? elf->strings + at : NULL;
}

static bool has_name(const struct fv_dynamic *elf, size_t size, const char *name)
{
    return memmem(elf->strings, size + 1, name, strlen(name) + 1);
}

static int collect(const struct file *file, struct fv_dynamic *out)
{
    size_t size = 0;
    int err = read_strings(file, out, &size);

    if (err)
        return err;
    out->rpath = string_of(file, out, size, DT_RPATH);
    out->runpath = string_of(file, out, size, DT_RUNPATH);
    out->soname = string_of(file, out, size, DT_SONAME);
    out->has_asan = has_name(out, size, "__asan_init");
    out->has_tsan = has_name(out, size, "__tsan_init");
    out->needed = calloc(file->dynamic_count + 1, sizeof(*out->needed));
    if (!out->needed)
        return -FV_ENOMEM;
    for (size_t i = 0; i < file->dynamic_count; i++) {
        const Elf64_Dyn *d = &file->dynamic[i];
        if (d->d_tag != DT_NEEDED)
            continue;
        if (d->d_un.d_val >= size)
            return -FV_EFORMAT;
        out->needed[out->needed_count++] = out->strings + d->d_un.d_val;
    }
    return 0;
}

int fv_dynamic_read(const struct fv_source *source, struct fv_dynamic *out)
{
    struct file file = { .source = source };
    struct fv_dynamic elf = { .strings = NULL };
    Elf64_Ehdr header;
    int err = read_header(source, &header);

    if (!err) {
        file.segment_count = header.e_phnum;
        file.segments = read_array(source, header.e_phoff, header.e_phnum, sizeof(Elf64_Phdr), &err);
    }
    if (!err)
        err = read_dynamic(&file);
    if (!err)
        err = collect(&file, &elf);
    if (!err) {
        elf.machine = header.e_machine;
        elf.has_interpreter = find_segment(&file, PT_INTERP) != NULL;
        elf.is_program = header.e_type == ET_EXEC || (header.e_type == ET_DYN && header.e_entry);
        *out = elf;
    } else {
        fv_dynamic_release(&elf);
    }
    free(file.segments);
    free(file.dynamic);
    return err;
}

int fv_dynamic_read_file(const char *path, struct fv_dynamic *out)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* arguments may name pipes */
    struct stat st;

    if (fd < 0)
        return -FV_EIO;
    struct fv_source source = fv_source_of_file(fd);
    int err = !fstat(fd, &st) && S_ISREG(st.st_mode) ? fv_dynamic_read(&source, out) : -FV_ENOENT;
    close(fd);
    return err;
}

void fv_dynamic_release(struct fv_dynamic *elf)
{
    free(elf->strings);
    free(elf->needed);
    *elf = (struct fv_dynamic){ .strings = NULL };
}
