/* Stands in for the libraries of the makers of GPUs (gpus.t): NVML, with -DROCM ROCm SMI, with -DOLD an NVML of before some functions.
 *
 * What it answers is in the folder GPU_ANSWERS: FUNCTION.INDEX has the numbers of one answer, CODE.FUNCTION.INDEX a code in place of it; a function without a
 * file is not supported. SLEEP has milliseconds that the first function lasts. Like its model it opens what it reads from once, for all of the process,
 * registers a destructor, and nobody may call it after that. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifdef ROCM
#define NOT_SUPPORTED 2
#else
#define NOT_SUPPORTED 3
#endif
#define BAD_FILES 999

static int folder = -1, is_over;

static int numbers(const char *name, unsigned long long out[3])
{
    char text[200] = "";
    int fd = openat(folder, name, O_RDONLY | O_CLOEXEC), count = 0;

    if (fd < 0)
        return 0;
    if (read(fd, text, sizeof(text) - 1) > 0)
        count = sscanf(text, "%llu %llu %llu", &out[0], &out[1], &out[2]);
    close(fd);
    return count;
}

static int answer(const char *function, unsigned index, unsigned long long out[3])
{
    unsigned long long code[3];
    char name[100];
    void *some = malloc(100); /* of the application's allocator */

    snprintf(some, 100, "CODE.%s.%u", function, index);
    snprintf(name, sizeof(name), "%s.%u", function, index);
    int failed = numbers(some, code);
    free(some);
    if (faccessat(folder, "count.0", F_OK, 0))
        return BAD_FILES; /* who opened the folder has another table of descriptors */
    if (is_over)
        abort();
    if (failed)
        return (int)code[0];
    return numbers(name, out) ? 0 : NOT_SUPPORTED;
}

static void sleep_ms(void)
{
    unsigned long long ms[3] = { 0 };

    if (numbers("SLEEP", ms))
        nanosleep(&(struct timespec){ .tv_sec = (time_t)(ms[0] / 1000), .tv_nsec = (long)(ms[0] % 1000) * 1000000 }, NULL);
    if (is_over)
        abort();
}

/* Takes a while, as one that waits for a driver. */
static void over(void)
{
    unsigned long long ms[3];

    is_over = 1;
    if (numbers("SLEEP", ms))
        nanosleep(&(struct timespec){ .tv_nsec = 200000000 }, NULL);
}

__attribute__((constructor)) static void loaded(void)
{
    char name[300];

    snprintf(name, sizeof(name), "%s/LOADED", getenv("GPU_ANSWERS"));
    close(open(name, O_CREAT | O_WRONLY, 0600));
}

static int begin(void)
{
    unsigned long long told[3];

    if (folder < 0) {
        folder = open(getenv("GPU_ANSWERS"), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        atexit(over);
    }
    return numbers("CODE.init.0", told) ? (int)told[0] : 0;
}

static int count(unsigned *out)
{
    unsigned long long told[3] = { 0 };
    int code = answer("count", 0, told);

    *out = (unsigned)told[0];
    return code;
}

#ifdef ROCM
int rsmi_init(uint64_t flags)
{
    return flags ? 1 : begin();
}

int rsmi_status_string(int code, const char **out)
{
    static char words[100];

    snprintf(words, sizeof(words), "RSMI_STATUS of %d.", code);
    *out = words;
    return 0;
}

int rsmi_num_monitor_devices(uint32_t *out)
{
    return count(out);
}

int rsmi_dev_pci_id_get(uint32_t index, uint64_t *id)
{
    *id = UINT64_C(1) << 32 | (0x40 + index) << 8 | 2 << 3 | 1;
    return 0;
}

int rsmi_dev_energy_count_get(uint32_t index, uint64_t *out, float *resolution, uint64_t *time)
{
    unsigned long long told[3] = { 0 };
    int code = answer("energy", index, told);

    *out = told[0];
    *resolution = 15.25f;
    *time = 1;
    return code;
}
#else
struct gpu {
    unsigned index;
};
static struct gpu all[8];

static unsigned index_of(const void *gpu)
{
    return ((const struct gpu *)gpu)->index;
}

#ifdef OLD
#define NAME(name) name
#else
#define NAME(name) name##_v2
#endif

int NAME(nvmlInit)(void)
{
    return begin();
}

const char *nvmlErrorString(int code)
{
    static char words[100];

    snprintf(words, sizeof(words), "Words of NVML for %d", code);
    return words;
}

int NAME(nvmlDeviceGetCount)(unsigned *out)
{
    return count(out);
}

int NAME(nvmlDeviceGetHandleByIndex)(unsigned index, void **out)
{
    unsigned long long told[3];

    all[index].index = index;
    *out = &all[index];
    return answer("gpu", index, told);
}

static int one(const char *function, void *gpu, unsigned *out)
{
    unsigned long long told[3] = { 0 };
    int code = answer(function, index_of(gpu), told);

    *out = (unsigned)told[0];
    return code;
}

int nvmlDeviceGetPowerUsage(void *gpu, unsigned *out)
{
    return one("power", gpu, out);
}

int nvmlDeviceGetTemperature(void *gpu, int sensor, unsigned *out)
{
    return sensor ? 2 : one("temperature", gpu, out);
}

int nvmlDeviceGetClockInfo(void *gpu, int clock, unsigned *out)
{
    return clock != 1 ? 2 : one("clock", gpu, out);
}

int nvmlDeviceGetUtilizationRates(void *gpu, unsigned out[2])
{
    unsigned long long told[3] = { 0 };
    int code = answer("utilization", index_of(gpu), told);

    out[0] = (unsigned)told[0];
    out[1] = (unsigned)told[1];
    return code;
}

int nvmlDeviceGetMemoryInfo(void *gpu, unsigned long long out[3])
{
    return answer("memory", index_of(gpu), out);
}

#ifndef OLD
int nvmlDeviceGetPciInfo_v3(void *gpu, char *out)
{
    unsigned where[3] = { 0, 0x3b + index_of(gpu), 0 };

    memset(out, 0, 68);
    memcpy(out + 16, where, sizeof(where));
    return 0;
}

int nvmlDeviceGetTotalEnergyConsumption(void *gpu, unsigned long long *out)
{
    unsigned long long told[3] = { 0 };
    int code = answer("energy", index_of(gpu), told);

    sleep_ms();
    *out = told[0];
    return code;
}

int nvmlDeviceGetEnforcedPowerLimit(void *gpu, unsigned *out)
{
    return one("limit", gpu, out);
}

int nvmlDeviceGetMaxClockInfo(void *gpu, int clock, unsigned *out)
{
    return clock != 1 ? 2 : one("most", gpu, out);
}
#endif
#endif
