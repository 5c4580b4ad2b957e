/* fvmpi's public functions, for programs that are linked with -lfvmpi. A program need not use any of
 * them: it is profiled as it is. All may be called at any time, from any thread, also before MPI_Init and
 * after MPI_Finalize. */
#ifndef FVMPI_H
#define FVMPI_H

#define FVMPI_VERSION_MAJOR 0
#define FVMPI_VERSION_MINOR 1
#define FVMPI_VERSION_PATCH 0
#define FVMPI_VERSION "0.1.0"

#ifdef __cplusplus
extern "C" {
#endif

/* The version of the library that is loaded, "major.minor.patch"; FVMPI_VERSION is the header's. */
const char *fvmpi_version(void);

/* Stops recording in this process and starts it again, like MPI_Pcontrol(0) and MPI_Pcontrol(1). Repeated
 * calls count once. With --off-at-start recording begins at the first fvmpi_resume(). */
void fvmpi_pause(void);
void fvmpi_resume(void);

#ifdef __cplusplus
}
#endif

#endif
