/* SPDX-License-Identifier: BSD-3-Clause */
/* What the ranks of one launch agree on without a message: the key of their job and the directory of
 * their experiment. Runs inside the application: no malloc, no stdio, no MPI; errno may change. */
#ifndef FV_EXPERIMENT_H
#define FV_EXPERIMENT_H

#include "base/process.h"

#define FV_EXPERIMENT_MAX 4096

/* Equal on all ranks of one launch, and on no other launch's; 0: cannot be known (several nodes and a
 * launcher that tells them nothing in common). */
uint64_t fv_experiment_job(void);

/* Of a program without MPI that `fvmpi run --throughput` runs several times at once (FVMPI_COPY): which one this is, of
 * how many, and the job of all, which is then fv_experiment_job(). Their experiment has a rank for each. False: it is
 * none. */
bool fv_experiment_copy(int *number, int *count, uint64_t *job);

/* Is this the job's rank 0, as far as its launcher tells before MPI does? Then it speaks for all. */
bool fv_first_rank(void);

/* The process that stands for the job on this node. */
struct fv_launcher {
    struct fv_process process; /* start 0: hidden, only its number is known */
    bool is_known;             /* it has a launcher's name; else it is the parent, or ourselves */
};

/* The nearest launcher among the ancestors, which `read` reads; it fails for those that are hidden. */
void fv_launcher_above(const struct fv_process *self, bool (*read)(pid_t pid, struct fv_process *out),
                       struct fv_launcher *out);

/* The contract's name: fvmpi-<program>-<ranks>p-<UTC time>, `program` being a path. -FV_EINVAL: no room. */
int fv_experiment_name(char *out, size_t size, const char *program, int ranks);

/* The same with a time of the caller's, in seconds since the epoch. */
int fv_experiment_name_at(char *out, size_t size, const char *program, int ranks, int64_t seconds);

/* Makes the directory that the ranks of this job write to, and gives its absolute path. `output` is what
 * the user wants, from the directory that the process started in, wherever the application has gone
 * since; NULL or "" for the contract's name there. A directory that holds
 * another job's experiment is left alone: this job's is then called NAME-2 (-3, ...), on all its ranks.
 * Every rank calls it; who comes first makes the directory: its owner's alone, or with `share` as the umask says.
 * Returns a descriptor of it, relative to which files are to be made, and which the caller closes. -FV_EIO: errno
 * tells; EPERM: it belongs to another user, who may have put links where our files go. */
int fv_experiment_claim(char *out, size_t size, const char *output, const char *program, int ranks, bool share);

/* How many directories there are that such a claim may have made, for this output, whosever: OUTPUT, OUTPUT-2 ..., or
 * of the contract's names those in the directory that the process started in. */
unsigned fv_experiment_count(const char *output);

/* Opens such a directory. -1: errno; EPERM: it belongs to another user. */
int fv_experiment_folder(const char *path);
/* Of large jobs the rank files are in folders of the experiment's directory, ranks-NNNNNN with that rank first. */
#define FV_RANKS_IN_FOLDER 1024
bool fv_experiment_is_rank_folder(const char *name);
/* Where a rank's file is, relative to the experiment's directory. */
void fv_experiment_rank_file(char out[48], int rank, int ranks);
/* Its folder, which is made if needed: the directory itself, or another. A descriptor, or -1: errno. */
int fv_experiment_rank_folder(int experiment, int rank, int ranks);

/* Makes a directory, if it is not there, and those above it. 0, or -FV_EIO: errno tells. */
int fv_make_directory(const char *path, unsigned mode);
/* Of a text, and of what came before it. */
uint64_t fv_hash_on(uint64_t hash, const char *text);

/* Seconds since the epoch as YYYYmmddTHHMMSSZ, without libc's time zones. */
void fv_format_utc(char *out, size_t size, int64_t seconds);

#endif
