/* SPDX-License-Identifier: BSD-3-Clause */
/* See doctor_page.h. */
#include "cmd/doctor_page.h"
#include "cmd/measure_html.h"
#include "doctor/doctor_relations.h"
#include "views/relations.h"

#include <stdlib.h>

int fv_doctor_json(struct fv_doctor *d, FILE *out)
{
    struct fv_json json = { .out = out };

    fv_json_object(&json, NULL);
    fv_json_string(&json, "schema", FV_DOCTOR_SCHEMA);
    fv_json_relations(&json, fv_doctor_relations, d, FV_JSON_RANKS_ALL);
    fv_json_end(&json);
    return fflush(out) || ferror(out) || json.failed ? -FV_EIO : 0;
}

int fv_doctor_page(struct fv_doctor *d, FILE *out)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *stream = open_memstream(&text, &bytes);
    int err = stream ? fv_doctor_json(d, stream) : -FV_EIO;

    if (stream && fclose(stream))
        err = -FV_EIO;
    if (!err) {
        fwrite(fv_page_head, 1, fv_page_head_bytes, out);
        fputs("<script type=\"application/json\" id=\"data\">", out);
        for (size_t i = 0; i < bytes; i++) /* nothing in it ends the script: JSON has '<' in strings alone */
            if (text[i] == '<')
                fputs("\\u003c", out);
            else
                fputc(text[i], out);
        fputs("</script>\n", out);
        fwrite(fv_page_tail, 1, fv_page_tail_bytes, out);
    }
    free(text);
    return err || fflush(out) || ferror(out) ? -FV_EIO : 0;
}

json_t *fv_doctor_read(const char *file, const char *wanted)
{
    json_error_t error;
    json_t *all = json_load_file(file, 0, &error);
    const char *schema = json_string_value(json_object_get(all, "schema"));

    if (all && schema && !strcmp(schema, FV_DOCTOR_SCHEMA))
        return all;
    fv_log("%s: %s; %s", file, all ? "its schema is not " FV_DOCTOR_SCHEMA : error.text, wanted);
    json_decref(all);
    return NULL;
}
