/* Writes an OTF2 archive of two ranks with the metrics and samples that stdin says, in the order of time for each location:
 *
 *     metrics DIR < LINES        writes DIR/traces.otf2
 *
 * Lines: member NAME MODE TYPE BASE EXPONENT UNIT; class OCCURRENCE MEMBER...; instance CLASS SCOPE OF (metrics have numbers
 * from 0 on, classes and instances together); context REGION PARENT (-1: none); generator BASE EXPONENT PERIOD; and
 * LOCATION TIME enter REGION, leave REGION, sample CONTEXT, value METRIC VALUE... Modes, types and scopes are OTF2's numbers.
 * Locations: 0 and 1 are the ranks, 2 another thread of rank 0, 3 one of metrics alone in it. Regions: 0 main, 1 solve,
 * 2 MPI_Barrier. */
#include "making.h"

#include <string.h>

#define LOCATIONS 4
#define MOST      64
enum { S_NODE, S_MAIN, S_SOLVE, S_BARRIER, S_METRIC, S_FIRST };
static const char *strings[] = { "node", "main", "solve", "MPI_Barrier", "of the machine" };

static OTF2_EvtWriter *writers[LOCATIONS];
static uint64_t counts[LOCATIONS];
static OTF2_GlobalDefWriter *definitions;
static uint32_t string_count = S_FIRST, member_count, metric_count, context_count, generator_count;
static OTF2_Type types[MOST], member_types[MOST][8]; /* by member; by metric and value */
static uint8_t widths[MOST];

static uint32_t string(const char *text)
{
    MUST(OTF2_GlobalDefWriter_WriteString(definitions, string_count, text));
    return string_count++;
}

static uint64_t number(void)
{
    const char *word = strtok(NULL, " \n");

    return word ? (uint64_t)strtoll(word, NULL, 10) : 0;
}

static void member(void)
{
    uint32_t name = string(strtok(NULL, " \n"));
    uint8_t mode = (uint8_t)number(), type = (uint8_t)number(), base = (uint8_t)number();
    int64_t exponent = (int64_t)number();

    types[member_count] = type;
    MUST(OTF2_GlobalDefWriter_WriteMetricMember(definitions, member_count++, name, name, OTF2_METRIC_TYPE_OTHER, mode, type,
                                                base, exponent, string(strtok(NULL, " \n"))));
}

static void class(void)
{
    uint8_t occurrence = (uint8_t)number(), count = 0;
    uint32_t members[8];

    for (const char *word; count < 8 && (word = strtok(NULL, " \n")); count++) {
        members[count] = (uint32_t)atoi(word);
        member_types[metric_count][count] = types[members[count]];
    }
    widths[metric_count] = count;
    MUST(OTF2_GlobalDefWriter_WriteMetricClass(definitions, metric_count++, count, members, occurrence, OTF2_RECORDER_KIND_CPU));
}

static void instance(void)
{
    uint32_t of = (uint32_t)number();
    uint8_t scope = (uint8_t)number();

    widths[metric_count] = widths[of];
    memcpy(member_types[metric_count], member_types[of], sizeof(member_types[of]));
    MUST(OTF2_GlobalDefWriter_WriteMetricInstance(definitions, metric_count++, of, 0, scope, number()));
}

static void value(OTF2_EvtWriter *w, uint64_t time)
{
    uint32_t metric = (uint32_t)number();
    OTF2_MetricValue values[8];

    for (unsigned i = 0; i < widths[metric]; i++) {
        const char *word = strtok(NULL, " \n");

        if (member_types[metric][i] == OTF2_TYPE_DOUBLE)
            values[i].floating_point = strtod(word, NULL);
        else
            values[i].signed_int = strtoll(word, NULL, 10);
    }
    MUST(OTF2_EvtWriter_Metric(w, NULL, time, metric, widths[metric], member_types[metric], values));
}

static void event(OTF2_EvtWriter *w, uint64_t time, const char *what)
{
    if (!strcmp(what, "enter"))
        MUST(OTF2_EvtWriter_Enter(w, NULL, time, (uint32_t)number()));
    else if (!strcmp(what, "leave"))
        MUST(OTF2_EvtWriter_Leave(w, NULL, time, (uint32_t)number()));
    else if (!strcmp(what, "sample"))
        MUST(OTF2_EvtWriter_CallingContextSample(w, NULL, time, (uint32_t)number(), 1, 0));
    else
        value(w, time);
}

static void line(char *text)
{
    const char *word = strtok(text, " \n");

    if (!word)
        return;
    if (!strcmp(word, "member"))
        member();
    else if (!strcmp(word, "class"))
        class();
    else if (!strcmp(word, "instance"))
        instance();
    else if (!strcmp(word, "context")) {
        uint32_t region = (uint32_t)number();

        MUST(OTF2_GlobalDefWriter_WriteCallingContext(definitions, context_count++, region,
                                                      OTF2_UNDEFINED_SOURCE_CODE_LOCATION, (uint32_t)number()));
    } else if (!strcmp(word, "generator")) {
        uint8_t base = (uint8_t)number();
        int64_t exponent = (int64_t)number();

        MUST(OTF2_GlobalDefWriter_WriteInterruptGenerator(definitions, generator_count++, string("timer"),
                                                          OTF2_INTERRUPT_GENERATOR_MODE_TIME, base, exponent, number()));
    } else {
        OTF2_EvtWriter *w = writers[(unsigned)atoi(word) % LOCATIONS];
        uint64_t time = number();

        event(w, time, strtok(NULL, " \n"));
    }
}

static void begin_definitions(void)
{
    const uint64_t ranks[] = { 0, 1 };

    for (uint32_t i = 0; i < S_FIRST; i++)
        MUST(OTF2_GlobalDefWriter_WriteString(definitions, i, strings[i]));
    for (uint32_t i = 0; i < 3; i++)
        MUST(OTF2_GlobalDefWriter_WriteRegion(definitions, i, S_MAIN + i, S_MAIN + i, S_NODE, OTF2_REGION_ROLE_FUNCTION,
                                              i == 2 ? OTF2_PARADIGM_MPI : OTF2_PARADIGM_USER, OTF2_REGION_FLAG_NONE,
                                              OTF2_UNDEFINED_STRING, 0, 0));
    MUST(OTF2_GlobalDefWriter_WriteSystemTreeNode(definitions, 0, S_NODE, S_NODE, OTF2_UNDEFINED_SYSTEM_TREE_NODE));
    for (uint32_t i = 0; i < 2; i++)
        MUST(OTF2_GlobalDefWriter_WriteLocationGroup(definitions, i, S_NODE, OTF2_LOCATION_GROUP_TYPE_PROCESS, 0,
                                                     OTF2_UNDEFINED_LOCATION_GROUP));
    MUST(OTF2_GlobalDefWriter_WriteGroup(definitions, 0, S_NODE, OTF2_GROUP_TYPE_COMM_LOCATIONS, OTF2_PARADIGM_MPI,
                                         OTF2_GROUP_FLAG_NONE, 2, ranks));
}

static void end_definitions(void)
{
    MUST(OTF2_GlobalDefWriter_WriteClockProperties(definitions, 1000000000, 0, 100000, OTF2_UNDEFINED_TIMESTAMP));
    for (uint32_t i = 0; i < LOCATIONS; i++)
        MUST(OTF2_GlobalDefWriter_WriteLocation(definitions, i, i == 3 ? S_METRIC : S_NODE,
                                                i == 3 ? OTF2_LOCATION_TYPE_METRIC : OTF2_LOCATION_TYPE_CPU_THREAD, counts[i],
                                                i == 1));
}

int main(int argc, char **argv)
{
    char text[200];

    if (argc != 2)
        return 2;
    OTF2_Archive *archive = making_open(argv[1], 1 << 20);
    for (unsigned i = 0; i < LOCATIONS; i++)
        writers[i] = OTF2_Archive_GetEvtWriter(archive, i);
    definitions = OTF2_Archive_GetGlobalDefWriter(archive);
    begin_definitions();
    while (fgets(text, sizeof(text), stdin))
        line(text);
    for (unsigned i = 0; i < LOCATIONS; i++) {
        MUST(OTF2_EvtWriter_GetNumberOfEvents(writers[i], &counts[i]));
        MUST(OTF2_Archive_CloseEvtWriter(archive, writers[i]));
    }
    MUST(OTF2_Archive_CloseEvtFiles(archive));
    end_definitions();
    MUST(OTF2_Archive_Close(archive));
    return 0;
}
