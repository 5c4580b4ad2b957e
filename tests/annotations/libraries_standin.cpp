/* Stand-ins of Caliper and LIKWID, by their interfaces: they count what they are called for, and marks_tell() says it. */
#include "libraries.hpp"

#include <stdio.h>

static int begun, ended;

void cali_begin_region(const char *) { begun++; }
void cali_end_region(const char *) { ended++; }
void cali_begin_phase(const char *) { begun++; }
void cali_end_phase(const char *) { ended++; }
void cali_begin_comm_region(const char *) { begun++; }
void cali_end_comm_region(const char *) { ended++; }
void cali_begin_string(uint64_t, const char *) { begun++; }
void cali_begin_int(uint64_t, int) { begun++; }
void cali_end(uint64_t) { ended++; }
int likwid_markerStartRegion(const char *) { return ++begun; }
int likwid_markerStopRegion(const char *) { return -++ended; }
cali::Function::Function(const char *) { begun++; }
cali::Function::~Function() { ended++; }
cali::ScopeAnnotation::ScopeAnnotation(const char *) { begun++; }
cali::ScopeAnnotation::~ScopeAnnotation() { ended++; }
cali::Loop::Loop(const char *) { begun++; }
void cali::Loop::end() { ended++; }
cali::Loop::~Loop() { ended++; }

void marks_tell(void)
{
    printf("the libraries begun %d ended %d\n", begun, ended);
}
