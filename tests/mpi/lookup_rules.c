/* What dlsym() and dlopen() promise their caller, without any MPI: prints what it finds. With -DLIBRARY the library that it is
 * linked with, and opens; with -DOWN the program has a dlsym() of its own, as some tools have. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#ifdef LIBRARY

const char *whose(void);
const char *whose(void)
{
    return "the library's";
}

/* RTLD_DEFAULT and RTLD_NEXT, as code of this library sees them. */
void *found_by_library(void *handle, const char *name);
void *found_by_library(void *handle, const char *name)
{
    void *volatile found = dlsym(handle, name);

    return found;
}

#else

typedef const char *text(void);
void *found_by_library(void *handle, const char *name);
const char *whose(void);

#ifdef OWN
static int asked;
void *dlsym(void *handle, const char *name)
{
    static void *(*real)(void *, const char *);

    for (const char *const *version = (const char *const[]){ "GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17", NULL }; !real && *version; version++)
        *(void **)&real = dlvsym(RTLD_NEXT, "dlsym", *version);
    asked++;
    return real(handle, name);
}
#endif

const char *whose(void)
{
    return "the program's";
}

static void say(const char *what, void *found)
{
    printf("%s: %s\n", what, found ? ((text *)found)() : "nothing");
}

static void error(const char *what)
{
    const char *said = dlerror();

    printf("%s: %s\n", what, !said ? "no error" : strstr(said, "no_such") ? "an error, of no_such" : said);
}

static void opened(const char *file, int mode)
{
    void *object = dlopen(file, mode);

    printf("%s, %s: %s\n", file, mode & RTLD_DEEPBIND ? "deep" : "plain", object ? "opened" : "not found");
    if (!object) {
        error("because");
        return;
    }
    dlsym(object, "MPI_no_such");
    error("a name that is not there");
    say("a name that is there", dlsym(object, "whose"));
    error("after it");
    dlsym(object, "MPI_no_such");
    dlsym(object, "whose");
    error("after both");
    dlclose(object);
}

int main(int argc, char **argv)
{
    void *volatile found;

    for (int i = 1; i < argc; i++) {
        opened(argv[i], RTLD_NOW);
        opened(argv[i], RTLD_LAZY | RTLD_DEEPBIND);
    }
    found = dlsym(RTLD_DEFAULT, "whose");
    say("default, by the program", found);
    found = dlsym(RTLD_NEXT, "whose");
    say("next, by the program", found);
    say("default, by the library", found_by_library(RTLD_DEFAULT, "whose"));
    say("next, by the library", found_by_library(RTLD_NEXT, "whose"));
    printf("the next malloc is %s\n", dlsym(RTLD_NEXT, "malloc") == found_by_library(RTLD_NEXT, "malloc") ? "one" : "two");
    found = dlvsym(RTLD_NEXT, "whose", "NO_VERSION");
    printf("next, of a version: %s\n", found ? "found" : "nothing");
    dlerror();
#ifdef OWN
    printf("asked %s\n", asked ? "often" : "never");
#endif
    return 0;
}

#endif
