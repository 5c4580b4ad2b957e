/* See lines.h. */
#define PACKAGE "fvmpi" /* bfd.h insists */
#include <bfd.h>

#include "symbols/lines.h"
#include "tool/vec.h"

#include <stdarg.h>
#include <stdlib.h>

/* From libiberty's demangle.h, which not every distribution installs with bfd.h. */
enum { DEMANGLE_PARAMS = 1 << 0, DEMANGLE_ANSI = 1 << 1 };

#if defined(__SANITIZE_ADDRESS__)
/* libbfd does not free all it allocates; that must not hide what we do not. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libbfd";
}
#endif

struct fv_lines {
    bfd *bfd;
    asymbol **symbols;
};

/* libbfd's complaints about other people's debug information are not the user's business. */
static void say_nothing(const char *format, va_list args)
{
    (void)format;
    (void)args;
}

struct fv_lines *fv_lines_open(const char *path)
{
    static bool ready;

    if (!ready) {
        bfd_init();
        bfd_set_error_handler(say_nothing);
        ready = true;
    }
    bfd *b = bfd_openr(path, NULL);
    if (!b)
        return NULL;
    b->flags |= BFD_DECOMPRESS;
    if (!bfd_check_format(b, bfd_object)) {
        bfd_close(b);
        return NULL;
    }
    struct fv_lines *lines = fv_xcalloc(1, sizeof(*lines));
    lines->bfd = b;
    lines->symbols = fv_xcalloc(1, sizeof(*lines->symbols)); /* none: names come from fv_elf */
    return lines;
}

static asection *section_of(bfd *b, bfd_vma address)
{
    for (asection *s = b->sections; s; s = s->next)
        if (s->flags & SEC_ALLOC && address >= s->vma && address - s->vma < s->size)
            return s;
    return NULL;
}

size_t fv_lines_find(struct fv_lines *lines, uint64_t address, struct fv_line *out, size_t room)
{
    asection *s = section_of(lines->bfd, address);
    size_t count = 0;
    struct fv_line l = { 0 };

    if (!s || !bfd_find_nearest_line(lines->bfd, s, lines->symbols, address - s->vma, &l.file, &l.function,
                                     &l.line))
        return 0;
    do {
        if (l.file && !*l.file)
            l.file = NULL;
        if (count < room)
            out[count++] = l;
        l = (struct fv_line){ 0 };
    } while (count < room && bfd_find_inliner_info(lines->bfd, &l.file, &l.function, &l.line));
    return count;
}

void fv_lines_close(struct fv_lines *lines)
{
    if (!lines)
        return;
    free(lines->symbols);
    bfd_close(lines->bfd);
    free(lines);
}

char *fv_lines_demangle(const char *name)
{
    return bfd_demangle(NULL, name, DEMANGLE_ANSI | DEMANGLE_PARAMS);
}
