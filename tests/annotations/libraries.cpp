/* Regions marked by Caliper and by LIKWID, in libraries that do something themselves (libraries_standin.cpp): what they are called for, and return, is printed, and
 * must be the same with fvmpi. Each region is marked COUNT times; those within others, twice as often. With -DLOADER: the program that loads the rest privately, from
 * the path that it gets. */
#include "libraries.hpp"

#include <dlfcn.h>
#include <stdio.h>

#define COUNT 10

#ifndef LOADER
static void function()
{
    cali::Function here("function");

    for (int i = 0; i < 2; i++) {
        cali::ScopeAnnotation scope("scope");
        cali_begin_region("region");
        cali_end_region("region");
    }
}

static void loops()
{
    cali::Loop ended("loop"), left("left loop");

    cali_begin_string(7, "c loop");
    for (int i = 0; i < 2; i++) {
        cali_begin_int(8, i);
        cali_end(8);
    }
    cali_end(7);
    ended.end();
}

extern "C" void mark_all(void)
{
    int codes = 0;

    for (int i = 0; i < COUNT; i++) {
        cali_begin_phase("phase");
        function();
        cali_begin_comm_region("exchange");
        loops();
        cali_end_comm_region("exchange");
        codes += likwid_markerStartRegion("first"); /* they may overlap */
        codes += likwid_markerStartRegion("second");
        codes += 1000 * likwid_markerStopRegion("first");
        codes += 1000 * likwid_markerStopRegion("second");
        cali_end_phase("phase");
    }
    printf("codes %d\n", codes);
    marks_tell();
}
#endif

int main(int argc, char **argv)
{
#ifdef LOADER
    void *library = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    void (*mark)(void) = library ? (void (*)(void))dlsym(library, "mark_all") : NULL;

    if (!mark)
        return 1;
    mark();
#else
    (void)argc, (void)argv;
    mark_all();
#endif
    return 0;
}
