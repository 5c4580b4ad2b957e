/* SPDX-License-Identifier: BSD-3-Clause */
/* What `fvmpi run` was told: for each row of the option table a value, and where it came from. */
#ifndef FV_CONFIG_H
#define FV_CONFIG_H

#include "base/options.h"

/* X(origin, words) */
#define FV_ORIGINS(X)         X(DEFAULT, "default") X(ENVIRONMENT, "environment") X(COMMAND, "command line")
#define FV_ORIGIN(name, word) FV_FROM_##name,
enum fv_config_origin { FV_ORIGINS(FV_ORIGIN) };

struct fv_config {
    const char **values; /* [fv_option_count], never NULL; not owned, unless they are `output` */
    enum fv_config_origin *origins;
    char *output; /* absolute; NULL: none was given */
};

/* Defaults and environment. -FV_ENOMEM. Release it whatever the outcome. */
int fv_config_init(struct fv_config *config);
void fv_config_release(struct fv_config *config);

/* The options in argv, from argv[1]. *rest gets the index of the first word that is none. -FV_EINVAL: has
 * said why. */
int fv_config_parse(struct fv_config *config, int argc, char **argv, int *rest);

/* The value of an option by its flag, as text and as a switch. */
const char *fv_config_get(const struct fv_config *config, const char *flag);
bool fv_config_is(const struct fv_config *config, const char *flag);

/* Makes the output directory's name absolute, so that it means the same wherever the ranks start. */
int fv_config_resolve(struct fv_config *config);
/* Puts another value in place, as if given on the command line: the experiment's name. */
int fv_config_set_output(struct fv_config *config, const char *path);
/* Any other option's; the text stays the caller's, and must stay. */
void fv_config_put(struct fv_config *config, const char *flag, const char *text);

/* On stdout: --print-config, and the options part of --help. */
void fv_config_print(const struct fv_config *config);
void fv_config_help(void);

#endif
