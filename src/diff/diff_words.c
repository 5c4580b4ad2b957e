/* SPDX-License-Identifier: BSD-3-Clause */
/* Values of a comparison and their changes, in words; see diff.h. */
#include "diff/diff.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

char *fv_diff_value_word(double value, enum fv_diff_unit unit, char out[FV_WORD])
{
    if (isnan(value))
        return strcpy(out, "");
    switch (unit) {
    case FV_UNIT_SECONDS: return fv_words_seconds(value, out);
    case FV_UNIT_BYTES: return fv_words_bytes(fv_words_whole(value), out);
    case FV_UNIT_SHARE: return fv_words_percent(value, 1, out);
    case FV_UNIT_COUNT: break;
    }
    return fv_words_mean(value, out);
}

/* "-2.20 s", "+10.1 points". */
char *fv_diff_change_word(double change, enum fv_diff_unit unit, char out[FV_WORD])
{
    char word[FV_WORD];

    if (isnan(change))
        return strcpy(out, "");
    if (unit == FV_UNIT_SHARE && change == 0)
        strcpy(out, "0 points");
    else if (unit == FV_UNIT_SHARE)
        snprintf(out, FV_WORD, "%+.1f points", 100 * change);
    else
        snprintf(out, FV_WORD, "%s%.28s",
                 change > 0   ? "+"
                 : change < 0 ? "-"
                              : "",
                 fv_diff_value_word(fabs(change), unit, word));
    return out;
}

char *fv_diff_percent_word(const struct fv_change *c, char out[FV_WORD])
{
    double percent = 100 * c->change / c->mean[0];

    if (isnan(c->change))
        return strcpy(out, "");
    if (c->change == 0)
        return strcpy(out, "same");
    if (!(c->mean[0] > 0))
        return strcpy(out, "new");
    if (percent >= 1000)
        snprintf(out, FV_WORD, "x %.3g", c->mean[1] / c->mean[0]);
    else
        snprintf(out, FV_WORD, "%+.1f %%", percent);
    return out;
}

/* "+- 20.0 ms"; "" where the noise is not known. */
char *fv_diff_half_word(const struct fv_change *c, enum fv_diff_unit unit, char out[FV_WORD])
{
    char word[FV_WORD];

    if (isnan(c->half))
        return strcpy(out, "");
    if (unit == FV_UNIT_SHARE)
        snprintf(out, FV_WORD, "+- %.1f", 100 * c->half);
    else
        snprintf(out, FV_WORD, "+- %.28s", fv_diff_value_word(c->half, unit, word));
    return out;
}
