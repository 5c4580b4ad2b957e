/* What Caliper and LIKWID declare, as far as libraries.cpp marks with it. */
#include <stdint.h>

extern "C" {
void cali_begin_region(const char *name);
void cali_end_region(const char *name);
void cali_begin_phase(const char *name);
void cali_end_phase(const char *name);
void cali_begin_comm_region(const char *name);
void cali_end_comm_region(const char *name);
void cali_begin_string(uint64_t attribute, const char *text);
void cali_begin_int(uint64_t attribute, int value);
void cali_end(uint64_t attribute);
int likwid_markerStartRegion(const char *name);
int likwid_markerStopRegion(const char *name);
void marks_tell(void);
}

namespace cali
{
struct Function {
    Function(const char *name);
    ~Function();
};
struct ScopeAnnotation {
    ScopeAnnotation(const char *name);
    ~ScopeAnnotation();
};
struct Loop {
    Loop(const char *name);
    ~Loop();
    void end();
};
} // namespace cali
