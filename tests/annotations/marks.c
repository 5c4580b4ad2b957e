/* Regions marked as Kokkos, NVTX and ITT have programs do it, by stand-ins of these that were written from the interfaces: what a program is compiled with, which asks the
 * environment for the library that wants to know. marks kokkos|nvtx|itt: prints how long it computed. Nobody listening, nothing is marked. With MPI, in `step`, an MPI_Barrier. */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#ifdef WITH_MPI
#include <mpi.h>
#endif

#define STEPS   20
#define KERNELS 5

static double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void compute(double seconds)
{
    double until = now_s() + seconds;

    while (now_s() < until)
        continue;
}

static void *tool(const char *variable, const char *function)
{
    const char *path = getenv(variable);
    void *library = path && *path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;

    return library ? dlsym(library, function) : NULL;
}

/* What marks a region, a nested one, and one that is ended by what its begin gave. */
struct marks {
    void (*begin_step)(void), (*end_step)(void);
    uint64_t (*begin_kernel)(const char *name);
    void (*end_kernel)(uint64_t id);
};

/* ---- Kokkos ---- */

#ifdef OLD_KOKKOS /* before 3.7 */
#define KOKKOS_VARIABLE "KOKKOS_PROFILE_LIBRARY"
#else
#define KOKKOS_VARIABLE "KOKKOS_TOOLS_LIBS"
#endif

static struct {
    void (*init)(int, uint64_t, uint32_t, void *);
    void (*settings)(uint32_t, char *);
    void (*push)(const char *), (*pop)(void);
    void (*begin_for)(const char *, uint32_t, uint64_t *), (*end_for)(uint64_t);
} kokkos;

static void kokkos_begin(void)
{
    if (kokkos.push)
        kokkos.push("step");
}
static void kokkos_end(void)
{
    if (kokkos.pop)
        kokkos.pop();
}
static uint64_t kokkos_kernel(const char *name)
{
    uint64_t id = 0;

    if (kokkos.begin_for)
        kokkos.begin_for(name, 0, &id);
    return id;
}
static void kokkos_end_kernel(uint64_t id)
{
    if (kokkos.end_for)
        kokkos.end_for(id);
}

static const struct marks *with_kokkos(void)
{
    static const struct marks marks = { kokkos_begin, kokkos_end, kokkos_kernel, kokkos_end_kernel };
    char fences[256] = { 1 };

    *(void **)&kokkos.init = tool(KOKKOS_VARIABLE, "kokkosp_init_library");
    *(void **)&kokkos.settings = tool(KOKKOS_VARIABLE, "kokkosp_request_tool_settings");
    *(void **)&kokkos.push = tool(KOKKOS_VARIABLE, "kokkosp_push_profile_region");
    *(void **)&kokkos.pop = tool(KOKKOS_VARIABLE, "kokkosp_pop_profile_region");
    *(void **)&kokkos.begin_for = tool(KOKKOS_VARIABLE, "kokkosp_begin_parallel_for");
    *(void **)&kokkos.end_for = tool(KOKKOS_VARIABLE, "kokkosp_end_parallel_for");
    if (kokkos.init)
        kokkos.init(0, 20211015, 0, NULL);
    if (kokkos.settings)
        kokkos.settings(1, fences);
    if (kokkos.settings && fences[0])
        printf("a fence around each kernel\n");
    return &marks;
}

/* ---- NVTX ---- */

typedef void function(void);
static function *nvtx_core[16], *nvtx_domains[16];
static function **core_places[16], **domain_places[16];

struct attributes {
    uint16_t version, bytes;
    uint32_t category, colour_kind, colour, payload_kind, reserved;
    uint64_t payload;
    uint32_t message_kind;
    const void *message;
};

static int table_of(int module, function ****out, unsigned *size)
{
    for (int i = 0; i < 16; i++) {
        core_places[i] = &nvtx_core[i];
        domain_places[i] = &nvtx_domains[i];
    }
    *out = module == 1 ? core_places : module == 5 ? domain_places : NULL;
    *size = *out ? 16 : 0;
    return *out != NULL;
}

static const void *export_table(uint32_t id)
{
    static const struct {
        size_t bytes;
        int (*table_of)(int, function ****, unsigned *);
    } callbacks = { sizeof(callbacks), table_of };

    return id == 1 ? &callbacks : NULL;
}

static const void *domain, *registered;

static void nvtx_begin(void)
{
    struct attributes a = { .version = 2, .bytes = sizeof(a), .message_kind = 3, .message = registered };

    if (nvtx_domains[4])
        ((int (*)(const void *, const struct attributes *))(void *)nvtx_domains[4])(domain, &a);
}
static void nvtx_end(void)
{
    if (nvtx_domains[5])
        ((int (*)(const void *))(void *)nvtx_domains[5])(domain);
}
static uint64_t nvtx_kernel(const char *name)
{
    if (!nvtx_core[5])
        return 0;
    ((int (*)(const char *))(void *)nvtx_core[9])("around");
    return ((uint64_t(*)(const char *))(void *)nvtx_core[5])(name);
}
static void nvtx_end_kernel(uint64_t id)
{
    if (!nvtx_core[7])
        return;
    ((int (*)(void))(void *)nvtx_core[11])(); /* before the range that began within it: they overlap */
    ((void (*)(uint64_t))(void *)nvtx_core[7])(id);
}

static const struct marks *with_nvtx(void)
{
    static const struct marks marks = { nvtx_begin, nvtx_end, nvtx_kernel, nvtx_end_kernel };
    int (*init)(const void *(*)(uint32_t));

    *(void **)&init = tool("NVTX_INJECTION64_PATH", "InitializeInjectionNvtx2");
    if (init && !init(export_table))
        printf("no table of NVTX\n");
    if (nvtx_domains[12])
        domain = ((const void *(*)(const char *))(void *)nvtx_domains[12])("app");
    if (nvtx_domains[10])
        registered = ((const void *(*)(const void *, const char *))(void *)nvtx_domains[10])(domain, "step");
    return &marks;
}

/* ---- ITT ---- */

struct itt_domain {
    volatile int flags;
    const char *name;
};
struct itt_text {
    const char *text;
};
struct itt_id {
    uint64_t parts[3];
};
static void *task_begin, *task_end, *domain_create = (void *)with_nvtx, *pause_all = (void *)with_nvtx;
static struct itt_domain itt_domain = { 1, "app" }, itt_off = { 0, "off" };

static void itt_mark(const struct itt_domain *of, const char *name)
{
    struct itt_id none = { { 0 } };
    struct itt_text text = { name };

    if (task_begin)
        ((void (*)(const struct itt_domain *, struct itt_id, struct itt_id, const struct itt_text *))task_begin)(of, none, none, name ? &text : NULL);
}
static void itt_done(const struct itt_domain *of)
{
    if (task_end)
        ((void (*)(const struct itt_domain *))task_end)(of);
}
static void itt_begin(void)
{
    itt_mark(&itt_domain, "step");
    itt_mark(&itt_domain, NULL); /* by its domain's name */
    itt_done(&itt_domain);
    itt_mark(&itt_off, "nobody");
    itt_done(&itt_off);
}
static void itt_end(void)
{
    itt_done(&itt_domain);
}
static uint64_t itt_kernel(const char *name)
{
    itt_mark(&itt_domain, name);
    return 0;
}
static void itt_end_kernel(uint64_t id)
{
    (void)id;
    itt_done(&itt_domain);
}

static const struct marks *with_itt(void)
{
    static const struct marks marks = { itt_begin, itt_end, itt_kernel, itt_end_kernel };
    static struct {
        const char *name;
        void **function;
        void *begins, *nothing;
        uint32_t group;
    } list[] = { { "__itt_task_begin", &task_begin, NULL, NULL, 0 }, { "__itt_task_end", &task_end, NULL, NULL, 0 },
                 { "__itt_pause", &pause_all, NULL, NULL, 0 },       { "__itt_domain_create", &domain_create, NULL, NULL, 0 },
                 { NULL, NULL, NULL, NULL, 0 } };
    static struct {
        unsigned char magic[8];
        unsigned long version[3];
        volatile long begun, has_mutex, counter;
        pthread_mutex_t mutex;
        void *library, *error_handler;
        const char **path;
        void *list;
    } module = { .magic = { 0xED, 0xAB, 0xAB, 0xEC, 0x0D, 0xEE, 0xDA, 0x30 }, .list = list };
    void (*init)(void *, uint32_t);

    *(void **)&init = tool("INTEL_LIBITTNOTIFY64", "__itt_api_init");
    if (init)
        init(&module, 0);
    if (init && (pause_all || domain_create != (void *)with_nvtx))
        printf("what nobody needs is not as it was\n");
    return &marks;
}

int main(int argc, char **argv)
{
    double step_s = 0, kernel_s = 0, in_step_s = 0, in_kernel_s = 0; /* in_: between the marks */
    int rank = 0;

#ifdef WITH_MPI
    MPI_Init(&argc, &argv);
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
#endif
    const char *which = argc > 1 ? argv[1] : "";
    const struct marks *marks = !strcmp(which, "nvtx") ? with_nvtx() : !strcmp(which, "itt") ? with_itt() : with_kokkos();

    for (int i = 0; i < STEPS; i++) {
        double step = now_s();

        marks->begin_step();
        double in_step = now_s();
        for (int k = 0; k < KERNELS; k++) {
            double begin = now_s();
            uint64_t id = marks->begin_kernel("axpy");
            double in_kernel = now_s();
            compute(0.001);
            in_kernel_s += now_s() - in_kernel;
            marks->end_kernel(id);
            kernel_s += now_s() - begin;
        }
#ifdef WITH_MPI
        MPI_Barrier(MPI_COMM_WORLD);
#endif
        in_step_s += now_s() - in_step;
        marks->end_step();
        step_s += now_s() - step;
    }
    if (!rank)
        printf("truth step %.6f to %.6f axpy %.6f to %.6f\n", in_step_s, step_s, in_kernel_s, kernel_s);
#ifdef WITH_MPI
    MPI_Finalize();
#endif
    return 0;
}
