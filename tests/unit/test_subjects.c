/* The rows of subjects, which only the linker holds together: names are names of one thing, and what a track needs is
 * there. */
#include "profile/build.h"
#include "profile/relations.h"
#include "profile/samples/costs.h"
#include "unit.h"

#include <string.h>

static const struct fv_track *track_named(const char *name, size_t *count)
{
    const struct fv_track *found = NULL;

    *count = 0;
    for (size_t i = 0; i < FV_SUBJECT_COUNT; i++)
        for (size_t k = 0; k < FV_SUBJECT_TRACKS && fv_subjects[i]->tracks[k]; k++)
            if (!strcmp(fv_subjects[i]->tracks[k]->name, name)) {
                found = fv_subjects[i]->tracks[k];
                ++*count;
            }
    return found;
}

/* Does the track need itself, by others? */
static bool needs(const struct fv_track *track, const char *name, unsigned depth)
{
    size_t count;

    for (size_t i = 0; i < FV_TRACK_NEEDS && track->needs[i]; i++)
        if (depth > 20 || !strcmp(track->needs[i], name) ||
            needs(track_named(track->needs[i], &count), name, depth + 1))
            return true;
    return false;
}

static void tracks_need_what_there_is(void **state)
{
    (void)state;
    size_t count;

    for (size_t i = 0; i < FV_SUBJECT_COUNT; i++)
        for (size_t k = 0; k < FV_SUBJECT_TRACKS && fv_subjects[i]->tracks[k]; k++) {
            const struct fv_track *t = fv_subjects[i]->tracks[k];

            track_named(t->name, &count);
            assert_int_equal(count, 1);
            for (size_t n = 0; n < FV_TRACK_NEEDS && t->needs[n]; n++) {
                const struct fv_track *needed = track_named(t->needs[n], &count);

                assert_non_null(needed);
                assert_int_equal(needed->visit, t->visit); /* an earlier visit is over, a later one too late */
            }
            assert_false(needs(t, t->name, 0));
        }
}

static void relations_are_those_of_subjects(void **state)
{
    (void)state;
    size_t count = 0;

    for (size_t i = 0; i < FV_SUBJECT_COUNT; i++)
        for (size_t k = 0; k < FV_SUBJECT_RELATIONS && fv_subjects[i]->relations[k]; k++) {
            assert_ptr_equal(fv_profile_relations[count++], fv_subjects[i]->relations[k]);
            for (size_t other = 0; other + 1 < count; other++)
                assert_string_not_equal(fv_profile_relations[other]->key, fv_profile_relations[count - 1]->key);
        }
    assert_null(fv_profile_relations[count]);
}

/* The data of a model that has none are zeros. */
static void no_data(void **state)
{
    (void)state;
    const struct fv_model model = { 0 };

    for (size_t i = 0; i < FV_SUBJECT_COUNT; i++) {
        assert_that(fv_subjects[i]->bytes, <=, FV_SUBJECT_NO_DATA);
        assert_true(!fv_subjects[i]->release || fv_subjects[i]->bytes || fv_subjects[i]->complete);
    }
    assert_int_equal(fv_model_costs(&model)->ticks, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tracks_need_what_there_is),
        cmocka_unit_test(relations_are_those_of_subjects),
        cmocka_unit_test(no_data),
    };

    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests_name("subjects", tests, NULL, NULL);
}
