/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames as JSON, see symbols.h. */
#include "symbols/symbols.h"
#include "tool/json_stream.h"

void fv_json_path(struct fv_json *j, const struct fv_symbols *s, struct fv_path *path, uint32_t node)
{
    fv_path_of(path, s, node);
    fv_json_array(j, "path");
    for (size_t i = 0; i < path->count; i++) {
        const struct fv_frame *f = &path->frames[i];
        char label[512];

        fv_json_object(j, NULL);
        fv_json_string(j, "function", fv_frame_label(f, s, label, sizeof(label)));
        fv_json_string(j, "file", f->file);
        if (f->line)
            fv_json_unsigned(j, "line", f->line);
        else
            fv_json_null(j, "line");
        fv_json_string(j, "module", f->module >= FV_MODEL_FIRST_MODULE ? s->modules[f->module].path : NULL);
        fv_json_unsigned(j, "offset", f->offset);
        fv_json_bool(j, "inlined", f->inlined);
        fv_json_end(j);
    }
    fv_json_end(j);
}
