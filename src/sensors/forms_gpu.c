/* SPDX-License-Identifier: BSD-3-Clause */
/* See forms.h: GPUs, by their makers' libraries, NVML of NVIDIA and ROCm SMI of AMD. A library is looked for at run
 * time, when somebody asks for its sensor, and stays loaded: a program may use it, too, and both count their users. A
 * tree of files of another machine has no library. What is declared here follows the public manuals.
 *
 * A call may wait for the driver. A GPU that is lost, or does not know a number, has no value; a number that no GPU
 * knows is no event. */
#include "sensors/form_parts.h"
#include "sensors/forms.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { GPUS = 256, EVENTS = 16, ADDRESS = 32, NO_FUNCTION = -1 };

/* What a call says of a GPU, two numbers at most; else the library's code. */
typedef int call(void *gpu, uint64_t told[2]);

struct gpu_event {
    const char *name, *unit;
    double scale;
    bool is_gauge, is_mean;
    call *ask;
    size_t which; /* of what `ask` tells: neighbours share a call */
    call *most;   /* the most that it can be, or its rate; NULL: not known */
    double most_scale;
};

struct function {
    const char *name, *older; /* what it was called before; NULL: the same */
    void *found;
    bool is_needed;
};

struct fv_gpu_library {
    const char *remedy; /* where it cannot begin */
    const struct gpu_event *events;
    const struct function *functions;
    int (*begin)(void);
    const char *(*words)(int code);
    int (*count)(unsigned *count);
    int (*find)(unsigned index, void **gpu, char address[ADDRESS]);
    struct loaded {
        bool is_tried, is_there;
        char name[100], why[300]; /* why not */
    } * loaded;
};

/* Of a sensor that is open. */
struct gpus {
    const struct gpu_event *events[EVENTS];
    void *gpu[GPUS];
};

/* ---- loading ---- */

/* "librocm_smi64.so.7 librocm_smi64.so": the first that is there. NULL: the loader's words are in `why`. */
static void *open_first(const char *names, struct loaded *to)
{
    void *library = NULL;

    for (; *names && !library; names += strcspn(names, " "), names += strspn(names, " ")) {
        snprintf(to->name, sizeof(to->name), "%.*s", (int)strcspn(names, " "), names);
        library = dlopen(to->name, RTLD_NOW | RTLD_LOCAL);
        const char *words = library ? NULL : dlerror();
        snprintf(to->why, sizeof(to->why), "not on this machine: %s", words ? words : to->name);
    }
    return library;
}

static bool find_functions(const struct function *functions, void *library, struct loaded *to)
{
    for (const struct function *f = functions; f->name; f++) {
        void *found = dlsym(library, f->name);

        if (!found && f->older)
            found = dlsym(library, f->older);
        *(void **)f->found = found;
        if (!found && f->is_needed) {
            snprintf(to->why, sizeof(to->why), "cannot be read: %s has no %s; install a newer one", to->name, f->name);
            return false;
        }
    }
    return true;
}

static void say(const struct fv_gpu_library *of, const char *when, int code, const char *remedy)
{
    const char *words = code == NO_FUNCTION ? NULL : of->words(code);
    struct loaded *to = of->loaded;
    int length;

    if (!words)
        words = "there is no such function";
    length = (int)strlen(words);
    length -= length && words[length - 1] == '.';
    snprintf(to->why, sizeof(to->why), "cannot be read: %s%s: %.*s%s", to->name, when, length, words, remedy);
}

bool fv_gpu_load(const struct fv_sensor_kind *kind)
{
    const struct fv_gpu_library *of = kind->form->library;
    struct loaded *to = of->loaded;

    if (to->is_tried)
        return to->is_there;
    to->is_tried = true;
    if (*fv_sensors_root()) {
        snprintf(to->why, sizeof(to->why), "not on this machine: a tree of files has no libraries");
        return false;
    }
    void *library = open_first(kind->path, to);
    if (!library || !find_functions(of->functions, library, to))
        return false;
    int code = of->begin();
    if (code)
        say(of, "", code, of->remedy);
    return to->is_there = !code;
}

const char *fv_sensor_library_why(const struct fv_sensor_kind *kind)
{
    return kind->form->library ? kind->form->library->loaded->why : NULL;
}

/* ---- the form ---- */

/* The code of the last one that cannot be had, or 0. */
static int find_gpus(struct fv_sensor *sensor, struct gpus *own)
{
    const struct fv_gpu_library *of = sensor->kind->form->library;
    unsigned count = 0;
    int last = of->count(&count);

    for (unsigned i = 0; i < count && sensor->source_count < GPUS; i++) {
        char address[ADDRESS] = "", name[ADDRESS + 16];
        int code = of->find(i, &own->gpu[sensor->source_count], address);

        snprintf(name, sizeof(name), "gpu%u%s%s", i, *address ? "/" : "", address);
        if (code)
            last = code;
        else
            fv_form_add_source(sensor, name, strlen(name));
    }
    return last;
}

/* What one GPU at least tells. The last code of those that tell nothing. */
static int find_events(struct fv_sensor *sensor, struct gpus *own)
{
    int last = 0;

    for (const struct gpu_event *e = sensor->kind->form->library->events; e->name; e++) {
        uint64_t told[2];
        int code = 1;

        for (size_t i = 0; code && i < sensor->source_count; i++)
            code = e->ask(own->gpu[i], told);
        last = code ? code : last;
        if (code || !fv_form_add_event(sensor, e->name, strlen(e->name)))
            continue;
        own->events[sensor->event_count - 1] = e;
        sensor->events[sensor->event_count - 1] = (struct fv_sensor_event){
            .name = e->name, .unit = e->unit, .scale = e->scale, .is_gauge = e->is_gauge, .is_mean = e->is_mean
        };
    }
    return last;
}

static bool open_gpus(struct fv_sensor *sensor)
{
    const struct fv_gpu_library *of = sensor->kind->form->library;
    struct gpus *own = fv_sensor_take(sensor, sizeof(*own));

    if (!own || !fv_form_make_room(sensor) || !fv_gpu_load(sensor->kind))
        return false;
    sensor->state->own = own;
    int code = find_gpus(sensor, own);
    if (sensor->source_count)
        code = find_events(sensor, own);
    if (!sensor->event_count && code)
        say(of, " says of each GPU", code, "");
    else if (!sensor->event_count)
        snprintf(of->loaded->why, sizeof(of->loaded->why), "not on this machine: %s finds no GPU", of->loaded->name);
    return sensor->event_count;
}

static void read_gpus(struct fv_sensor *sensor, uint64_t *values)
{
    const struct gpus *own = sensor->state->own;

    for (size_t i = 0; i < sensor->source_count; i++) {
        uint64_t told[2];
        call *last = NULL;
        int code = 0;

        for (size_t e = 0; e < sensor->event_count; e++, values++) {
            const struct gpu_event *event = own->events[e];

            if (event->ask != last)
                code = event->ask(own->gpu[i], told);
            last = event->ask;
            *values = code ? FV_SENSOR_NONE : told[event->which];
        }
    }
}

double fv_gpu_maximum(const struct fv_sensor *sensor, size_t source, size_t event)
{
    const struct gpus *own = sensor->state->own;
    const struct gpu_event *e = own->events[event];
    uint64_t told[2];

    if (!e->most || e->most(own->gpu[source], told) || told[0] == FV_SENSOR_NONE)
        return NAN;
    return (double)told[0] * e->most_scale;
}

static int hundred(void *gpu, uint64_t told[2])
{
    (void)gpu;
    told[0] = 100;
    return 0;
}

/* "0000:3b:00.0", as the kernel names it. */
static void put_address(char address[ADDRESS], unsigned domain, unsigned bus, unsigned device, unsigned function)
{
    snprintf(address, ADDRESS, "%04x:%02x:%02x.%x", domain, bus, device, function);
}

/* ---- NVIDIA ---- */

enum { NVML_CLOCK_OF_SM = 1, NVML_TEMPERATURE_OF_GPU = 0 };

struct nvml_pci { /* of all versions of the call these are the first members; the rest has other lengths */
    char legacy[16];
    unsigned domain, bus, device;
    char rest[228];
};
struct nvml_utilization {
    unsigned gpu, memory;
};
struct nvml_memory {
    unsigned long long total, free, used;
};

static struct {
    int (*begin)(void), (*count)(unsigned *), (*find)(unsigned, void **), (*pci)(void *, struct nvml_pci *);
    int (*energy)(void *, unsigned long long *), (*utilization)(void *, struct nvml_utilization *);
    int (*memory)(void *, struct nvml_memory *), (*power)(void *, unsigned *), (*power_limit)(void *, unsigned *);
    int (*temperature)(void *, int, unsigned *), (*clock)(void *, int, unsigned *),
        (*clock_most)(void *, int, unsigned *);
    const char *(*words)(int);
} nvml;

static const struct function nvml_functions[] = {
    { "nvmlInit_v2", "nvmlInit", &nvml.begin, true },
    { "nvmlErrorString", NULL, &nvml.words, true },
    { "nvmlDeviceGetCount_v2", "nvmlDeviceGetCount", &nvml.count, true },
    { "nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex", &nvml.find, true },
    { "nvmlDeviceGetPciInfo_v3", "nvmlDeviceGetPciInfo_v2", &nvml.pci, false },
    { "nvmlDeviceGetTotalEnergyConsumption", NULL, &nvml.energy, false },
    { "nvmlDeviceGetPowerUsage", NULL, &nvml.power, false },
    { "nvmlDeviceGetEnforcedPowerLimit", NULL, &nvml.power_limit, false },
    { "nvmlDeviceGetUtilizationRates", NULL, &nvml.utilization, false },
    { "nvmlDeviceGetMemoryInfo", NULL, &nvml.memory, false },
    { "nvmlDeviceGetTemperature", NULL, &nvml.temperature, false },
    { "nvmlDeviceGetClockInfo", NULL, &nvml.clock, false },
    { "nvmlDeviceGetMaxClockInfo", NULL, &nvml.clock_most, false },
    { 0 },
};

static int nvml_begin(void)
{
    return nvml.begin();
}

static const char *nvml_words(int code)
{
    return nvml.words(code);
}

static int nvml_count(unsigned *count)
{
    return nvml.count(count);
}

static int nvml_find(unsigned index, void **gpu, char address[ADDRESS])
{
    struct nvml_pci pci = { 0 };
    int code = nvml.find(index, gpu);

    if (!code && nvml.pci && !nvml.pci(*gpu, &pci))
        put_address(address, pci.domain, pci.bus, pci.device, 0);
    return code;
}

/* All bits are set where a number is not available. */
static uint64_t known(unsigned value)
{
    return value == UINT32_MAX ? FV_SENSOR_NONE : value;
}

static int nvml_energy(void *gpu, uint64_t told[2])
{
    unsigned long long value = 0;
    int code = nvml.energy ? nvml.energy(gpu, &value) : NO_FUNCTION;

    told[0] = value;
    return code;
}

static int one(int (*ask)(void *, unsigned *), void *gpu, uint64_t told[2])
{
    unsigned value = 0;
    int code = ask ? ask(gpu, &value) : NO_FUNCTION;

    told[0] = known(value);
    return code;
}

static int one_of(int (*ask)(void *, int, unsigned *), void *gpu, int which, uint64_t told[2])
{
    unsigned value = 0;
    int code = ask ? ask(gpu, which, &value) : NO_FUNCTION;

    told[0] = known(value);
    return code;
}

static int nvml_power(void *gpu, uint64_t told[2])
{
    return one(nvml.power, gpu, told);
}

static int nvml_power_limit(void *gpu, uint64_t told[2])
{
    return one(nvml.power_limit, gpu, told);
}

static int nvml_utilization(void *gpu, uint64_t told[2])
{
    struct nvml_utilization value = { 0 };
    int code = nvml.utilization ? nvml.utilization(gpu, &value) : NO_FUNCTION;

    told[0] = known(value.gpu);
    told[1] = known(value.memory);
    return code;
}

static int nvml_memory(void *gpu, uint64_t told[2])
{
    struct nvml_memory value = { 0 };
    int code = nvml.memory ? nvml.memory(gpu, &value) : NO_FUNCTION;

    told[0] = value.total;
    told[1] = value.used;
    return code;
}

static int nvml_temperature(void *gpu, uint64_t told[2])
{
    return one_of(nvml.temperature, gpu, NVML_TEMPERATURE_OF_GPU, told);
}

static int nvml_clock(void *gpu, uint64_t told[2])
{
    return one_of(nvml.clock, gpu, NVML_CLOCK_OF_SM, told);
}

static int nvml_clock_most(void *gpu, uint64_t told[2])
{
    return one_of(nvml.clock_most, gpu, NVML_CLOCK_OF_SM, told);
}

static const struct gpu_event nvml_events[] = {
    { "energy", "J", 1e-3, false, false, nvml_energy, 0, nvml_power_limit, 1e-3 },
    { "power", "W", 1e-3, true, false, nvml_power, 0, nvml_power_limit, 1e-3 },
    { "gpu_busy", "%", 1, true, true, nvml_utilization, 0, hundred, 1 },
    { "memory_busy", "%", 1, true, true, nvml_utilization, 1, hundred, 1 },
    { "memory_used", "bytes", 1, true, false, nvml_memory, 1, nvml_memory, 1 },
    { "temperature", "C", 1, true, true, nvml_temperature, 0, NULL, 0 },
    { "sm_clock", "Hz", 1e6, true, true, nvml_clock, 0, nvml_clock_most, 1e6 },
    { 0 },
};

static struct loaded nvml_loaded;
static const struct fv_gpu_library nvml_library = { "; nvidia-smi has to work first",
                                                    nvml_events,
                                                    nvml_functions,
                                                    nvml_begin,
                                                    nvml_words,
                                                    nvml_count,
                                                    nvml_find,
                                                    &nvml_loaded };
const struct fv_sensor_form fv_form_nvidia = { open_gpus, read_gpus, &nvml_library };

/* ---- AMD ---- */

static struct {
    int (*begin)(uint64_t), (*words)(int, const char **), (*count)(uint32_t *), (*pci)(uint32_t, uint64_t *);
    int (*energy)(uint32_t, uint64_t *, float *, uint64_t *);
} rsmi;

static const struct function rsmi_functions[] = {
    { "rsmi_init", NULL, &rsmi.begin, true },
    { "rsmi_status_string", NULL, &rsmi.words, true },
    { "rsmi_num_monitor_devices", NULL, &rsmi.count, true },
    { "rsmi_dev_pci_id_get", NULL, &rsmi.pci, false },
    { "rsmi_dev_energy_count_get", NULL, &rsmi.energy, false },
    { 0 },
};

static int rsmi_begin(void)
{
    return rsmi.begin(0);
}

static const char *rsmi_words(int code)
{
    const char *words = NULL;

    return rsmi.words(code, &words) ? NULL : words;
}

static int rsmi_count(unsigned *count)
{
    return rsmi.count(count);
}

/* The domain is in the upper half; below it are 16 bits of bus, device and function. */
static int rsmi_find(unsigned index, void **gpu, char address[ADDRESS])
{
    uint64_t id = 0;

    *gpu = (void *)(uintptr_t)index;
    if (rsmi.pci && !rsmi.pci(index, &id))
        put_address(address, (unsigned)(id >> 32), id >> 8 & 0xff, id >> 3 & 0x1f, id & 7);
    return 0;
}

/* A count of pieces of so many microjoules. Versions of 2020 had no resolution, and put 8 bytes in its place. */
static int rsmi_energy(void *gpu, uint64_t told[2])
{
    uint64_t count = 0, time = 0;
    union {
        float microjoules;
        uint64_t time;
    } each = { .time = 0 };
    int code = rsmi.energy ? rsmi.energy((uint32_t)(uintptr_t)gpu, &count, &each.microjoules, &time) : NO_FUNCTION;

    if (!code && !(each.microjoules > 1e-3f && each.microjoules < 1e6f))
        return NO_FUNCTION;
    told[0] = (uint64_t)((double)count * (double)each.microjoules);
    return code;
}

static const struct gpu_event rsmi_events[] = {
    { "energy", "J", 1e-6, false, false, rsmi_energy, 0, NULL, 0 },
    { 0 },
};

static struct loaded rsmi_loaded;
static const struct fv_gpu_library rsmi_library = { "; rocm-smi has to work first",
                                                    rsmi_events,
                                                    rsmi_functions,
                                                    rsmi_begin,
                                                    rsmi_words,
                                                    rsmi_count,
                                                    rsmi_find,
                                                    &rsmi_loaded };
const struct fv_sensor_form fv_form_rocm = { open_gpus, read_gpus, &rsmi_library };
