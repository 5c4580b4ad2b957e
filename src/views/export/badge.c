/* SPDX-License-Identifier: BSD-3-Clause */
/* A badge of a run's parallel efficiency, as pages of projects show: a picture of 20 pixels' height, which needs no
 * font of its own. */
#include "views/views.h"

#include <errno.h>
#include <math.h>

#define NAME "parallel efficiency"
/* pixels of the two words, with 6 on each side; the text is stretched to it where a font is wider */
#define NAME_WIDTH  122
#define VALUE_WIDTH 58

int fv_view_badge(const struct fv_profile *view, FILE *out)
{
    double parallel = view->model->efficiency.parallel;
    bool known = isfinite(parallel);
    char value[16] = "unknown";

    if (known)
        snprintf(value, sizeof(value), "%.1f %%", 100 * parallel);
    fprintf(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"20\" role=\"img\" aria-label=\"" NAME
        ": %s\">\n"
        "<title>" NAME ": %s</title>\n"
        "<rect width=\"%d\" height=\"20\" fill=\"#444c56\"/><rect x=\"%d\" width=\"%d\" height=\"20\" fill=\"%s\"/>\n"
        "<g fill=\"#fff\" font-family=\"Verdana,DejaVu Sans,sans-serif\" font-size=\"11\" text-anchor=\"middle\">\n"
        "<text x=\"%d\" y=\"14\" textLength=\"%d\">" NAME "</text><text x=\"%d\" y=\"14\">%s</text>\n"
        "</g>\n"
        "</svg>\n",
        NAME_WIDTH + VALUE_WIDTH, value, value, NAME_WIDTH, NAME_WIDTH, VALUE_WIDTH,
        !known                    ? "#6e7781"
        : parallel >= FV_POP_GOOD ? "#00724f"
                                  : "#b34700",
        NAME_WIDTH / 2, NAME_WIDTH - 12, NAME_WIDTH + VALUE_WIDTH / 2, value);
    return fflush(out) || ferror(out) ? -FV_EIO : 0;
}
