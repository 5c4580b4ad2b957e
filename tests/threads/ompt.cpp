// The same as a program in C++, with exceptions; functions have the same names.
extern "C" {
#include "ompt.c"
}
