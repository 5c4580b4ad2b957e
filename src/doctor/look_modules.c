/* SPDX-License-Identifier: BSD-3-Clause */
/* Modules of the kernel: those that are loaded and known to disturb, and those that are missing for sensors. */
#include "doctor/files.h"
#include "doctor/looks.h"
#include "tool/words.h"

#include <stdlib.h>

enum { MODULES = 4096 };

/* What they do meanwhile. */
static const struct {
    const char *name, *effect;
} disturbing[] = {
    { "ipmi_si", "a kernel thread polls the management controller" },
    { "intel_powerclamp", "idles processors to save power" },
    { "acpi_pad", "idles processors to save power" },
    { "softdog", "a timer that restarts a hanging machine" },
    { "hangcheck_timer", "a timer that looks for delays" },
    { "rcutorture", "a test that loads all processors" },
    { "locktorture", "a test that loads all processors" },
    { "hwlat_detector", "stops a processor to find interrupts of the firmware" },
    { "nfsd", "kernel threads serve files to other machines" },
    { "zfs", "kernel threads compress and write files" },
    { "drbd", "kernel threads copy disks to other machines" },
    { "raid456", "kernel threads compute parity" },
    { "vboxdrv", "timers of virtual machines" },
    { "btusb", "interrupts of a radio" },
    { "iwlwifi", "interrupts of a radio" },
    { "uvcvideo", "interrupts of a camera" },
    { "snd_hda_intel", "interrupts of a sound device" },
    { "nouveau", "interrupts of a display" },
    { "lttng_tracer", "traces the kernel" },
};

/* What they give, and the files that are there with them, also where they are part of the kernel. */
static const struct {
    const char *name, *gives, *files, *vendor; /* vendor: as in /proc/cpuinfo; NULL: of all */
} wanted[] = {
    { "intel_rapl_msr", "energy", "sys/class/powercap/*rapl:*", NULL },
    { "coretemp", "temperatures", "sys/class/hwmon/hwmon*/temp1_input", "GenuineIntel" },
    { "k10temp", "temperatures", "sys/class/hwmon/hwmon*/temp1_input", "AuthenticAMD" },
    { "intel_uncore", "traffic of memory and sockets", "sys/bus/event_source/devices/uncore_*", "GenuineIntel" },
    { "amd_uncore", "traffic of memory and sockets", "sys/bus/event_source/devices/amd_*", "AuthenticAMD" },
};

static const char *effect_of(const char *name)
{
    for (size_t i = 0; i < sizeof(disturbing) / sizeof(*disturbing); i++)
        if (!strcmp(name, disturbing[i].name))
            return disturbing[i].effect;
    return NULL;
}

/* "ext4 811008 1 - Live 0x0": name, bytes, users. False: the line has another form. */
static bool take(struct fv_doctor *d, const char *line)
{
    char name[64];
    unsigned long long bytes;
    long long users;

    if (sscanf(line, "%63s %llu %lld", name, &bytes, &users) != 3 || d->module_count == MODULES)
        return false;
    FV_GROW(d->modules, d->module_room, d->module_count + 1);
    d->modules[d->module_count++] = (struct fv_doctor_module){ fv_arena_string(&d->arena, name), effect_of(name), bytes,
                                                               users > 0 ? (uint32_t)users : 0 };
    return true;
}

static bool read_modules(struct fv_doctor *d)
{
    const char *text = fv_doctor_text(d, FV_DOCTOR_TEXT, "proc/modules"), *line = text;

    d->module_count = 0;
    for (; line && *line; line += strcspn(line, "\n"), line += *line == '\n')
        if (!take(d, line))
            return false;
    return text;
}

/* Without a hypervisor: what that does not show no module brings. */
static void list_missing(struct fv_doctor *d, struct fv_string *names, struct fv_string *fix)
{
    const char *cpuinfo = fv_doctor_text(d, FV_DOCTOR_LONG_TEXT, "proc/cpuinfo"),
               *vendor = cpuinfo ? strstr(cpuinfo, "vendor_id") : NULL;
    const char *line = vendor ? fv_arena_bytes(&d->arena, vendor, strcspn(vendor, "\n")) : NULL;

    if (!line || fv_doctor_has_hypervisor(d))
        return;
    for (size_t i = 0; i < sizeof(wanted) / sizeof(*wanted); i++) {
        if ((wanted[i].vendor && !strstr(line, wanted[i].vendor)) || *fv_doctor_glob(d, wanted[i].files))
            continue;
        fv_string_add(names, "%s%s (%s)", names->used ? ", " : "", wanted[i].name, wanted[i].gives);
        fv_string_add(fix, "%s%s", fix->used ? " " : "sudo modprobe -a ", wanted[i].name);
    }
}

static size_t list_disturbing(struct fv_doctor *d, struct fv_string *names, struct fv_string *fix)
{
    size_t count = 0;

    for (size_t i = 0; i < d->module_count; i++) {
        if (!d->modules[i].effect)
            continue;
        fv_string_add(names, "%s%s (%s)", count ? ", " : "", d->modules[i].name, d->modules[i].effect);
        fv_string_add(fix, "%s%s", count ? " " : "sudo modprobe -r ", d->modules[i].name);
        count++;
    }
    return count;
}

static void say(struct fv_doctor *d, struct fv_doctor_result *r, size_t count, const struct fv_string *disturb,
                const struct fv_string *missing, const struct fv_string *fix)
{
    const enum fv_doctor_state state = count ? FV_DOCTOR_BAD : missing->used ? FV_DOCTOR_NOTE : FV_DOCTOR_GOOD;

    fv_doctor_say(d, r, state, "%zu module%s; %s%s%s%s", d->module_count, fv_words_s(d->module_count),
                  count ? "may disturb: " : "none is known to disturb", count ? disturb->text : "",
                  missing->used ? "; not there for sensors: " : "", missing->used ? missing->text : "");
    if (fix->used)
        r->fix = fv_arena_string(&d->arena, fix->text);
}

void fv_doctor_look_modules(struct fv_doctor *d, struct fv_doctor_result *r)
{
    struct fv_string disturb = { 0 }, missing = { 0 }, fix = { 0 }, load = { 0 };

    if (read_modules(d)) {
        size_t count = list_disturbing(d, &disturb, &fix);

        list_missing(d, &missing, &load);
        if (load.used)
            fv_string_add(&fix, "%s%s", fix.used ? "; " : "", load.text);
        say(d, r, count, &disturb, &missing, &fix);
    } else {
        fv_doctor_say(d, r, FV_DOCTOR_UNKNOWN, "/proc/modules cannot be read, or has an unknown form");
    }
    fv_string_release(&disturb);
    fv_string_release(&missing);
    fv_string_release(&fix);
    fv_string_release(&load);
}
