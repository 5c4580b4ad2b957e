/* SPDX-License-Identifier: BSD-3-Clause */
/* See counters.h: the data. A new microarchitecture is a row of processors and, where generic events are not what
 * counts, an event in rows of quantities; a new metric is a row. tests/unit/test_counters.c asks libpfm4 for each
 * event. */
#include "counters/counters.h"

#include <math.h>
#include <string.h>
#include <strings.h>

/* Width, granules of SVE, flops in a cycle: the last are what two (Neoverse V2: four) units for multiply-adds do, of
 * 512, 256 or 128 bits (WikiChip, "flops"; the vendors' optimization guides). */
/* Accesses of the first level: load and store units (Intel's and Arm's optimization guides, AMD's "Software
 * Optimization Guide" of each family); bytes from the second level: the same, of Arm not published for these cores. */
/* A row is to be seen as one. */
/* clang-format off */
const struct fv_processor_row fv_processor_rows[FV_PROCESSOR_KINDS] = {
    [FV_ANY_PROCESSOR] = { "generic", "any other: the kernel's generic events", "perf", 0, 0, 0, 0, 0 },
    [FV_SKL] = { "skl", "Intel Skylake, Cascade Lake", "skl skx clx", 4, 0, 32, 3, 64 },
    [FV_ICL] = { "icl", "Intel Ice Lake", "icl icx", 5, 0, 32, 4, 64 },
    [FV_SPR] = { "spr", "Intel Sapphire Rapids, Emerald Rapids", "spr emr adl_glc", 6, 0, 32, 5, 64 },
    [FV_ZEN2] = { "zen2", "AMD Zen 2", "amd64_fam17h_zen2", 6, 0, 16, 3, 32 },
    [FV_ZEN3] = { "zen3", "AMD Zen 3", "amd64_fam19h_zen3", 6, 0, 16, 3, 32 },
    [FV_ZEN4] = { "zen4", "AMD Zen 4", "amd64_fam19h_zen4", 6, 0, 16, 3, 32 },
    [FV_ZEN5] = { "zen5", "AMD Zen 5", "amd64_fam1ah_zen5", 8, 0, 32, 4, 64 },
    [FV_N1] = { "n1", "Arm Neoverse N1", "arm_n1", 4, 0, 8, 2, 0 },
    [FV_V1] = { "v1", "Arm Neoverse V1", "arm_v1", 8, 2, 16, 3, 0 },
    [FV_N2] = { "n2", "Arm Neoverse N2", "arm_n2", 5, 1, 8, 3, 0 },
    [FV_V2] = { "v2", "Arm Neoverse V2", "arm_v2", 8, 1, 16, 3, 0 },
};
/* clang-format on */

#define ANY            [FV_ANY_PROCESSOR]
#define INTEL(text)    [FV_SKL] = (text), [FV_ICL] = (text), [FV_SPR] = (text)
#define NEOVERSE(text) [FV_N1] = (text), [FV_V1] = (text), [FV_N2] = (text), [FV_V2] = (text)
#define SVE(text)      [FV_V1] = (text), [FV_N2] = (text), [FV_V2] = (text)
#define FP             "FP_ARITH_INST_RETIRED:"
#define FPU            "RETIRED_MMX_FP_INSTRUCTIONS:SSE_INSTR:MMX_INSTR:X87_INSTR"
#define L2             "CORE_TO_L2_CACHEABLE_REQUEST_ACCESS_STATUS:"
#define WALKS          "L1_DTLB_MISS:TLB_RELOAD_4K_L2_MISS:TLB_RELOAD_2M_L2_MISS"
#define BY_WIDTH       "RETIRED_FP_OPS_BY_WIDTH:"
/* Lines into the first level from anywhere: the second level, other caches, memory, near and far, for loads and stores,
 * prefetch instructions or the hardware. */
#define FILLS(code) [FV_ZEN2] = "r5b" code, [FV_ZEN3] = "r5f" code, [FV_ZEN4] = "rdf" code, [FV_ZEN5] = "rdf" code

/* A code, rNNN, stands for what libpfm4 has no name for, or a longer one than a file has room for: several unit masks
 * of an event together, such as SW_PREFETCH_ACCESS:NTA and :T0; or, of Zen 5,
 * CYCLES_NO_RETIRE:NOT_COMPLETE_MISSING_LOAD, which is in the PPR. */
/* A row is to be seen as one. */
/* clang-format off */
const struct fv_quantity fv_quantities[] = {
    { "instructions", "instructions retired", { ANY = "INSTRUCTIONS" } },
    { "cycles", "cycles in which the thread ran", { ANY = "CYCLES" } },
    { "cpu_ns", "CPU time of the thread, ns", { ANY = "TASK-CLOCK" } },
    { "page_faults", "page faults, minor and major", { ANY = "PAGE-FAULTS" } },
    { "major_faults", "page faults that read a file", { ANY = "MAJOR-FAULTS" } },
    { "switches", "context switches, voluntary and not", { ANY = "CONTEXT-SWITCHES" } },
    { "migrations", "moves to another processor", { ANY = "CPU-MIGRATIONS" } },
    { "branches", "branches retired", { ANY = "BRANCH-INSTRUCTIONS" } },
    { "branch_misses", "of them mispredicted", { ANY = "BRANCH-MISSES" } },
    { "loads", "loads; on AMD and Arm issued loads",
      { ANY = "L1-DCACHE-LOADS", INTEL("MEM_INST_RETIRED:ALL_LOADS"), [FV_ZEN2] = "LS_DISPATCH:LD_DISPATCH",
        [FV_ZEN3] = "LS_DISPATCH:LD_DISPATCH", [FV_ZEN4] = "LS_DISPATCH:LD_DISPATCH",
        [FV_ZEN5] = "LS_DISPATCH:LD_DISPATCH", NEOVERSE("LD_SPEC") } },
    { "stores", "stores; on AMD and Arm issued stores",
      { ANY = "L1-DCACHE-STORES", INTEL("MEM_INST_RETIRED:ALL_STORES"), [FV_ZEN2] = "LS_DISPATCH:STORE_DISPATCH",
        [FV_ZEN3] = "LS_DISPATCH:STORE_DISPATCH", [FV_ZEN4] = "LS_DISPATCH:STORE_DISPATCH",
        [FV_ZEN5] = "LS_DISPATCH:STORE_DISPATCH", NEOVERSE("ST_SPEC") } },
    { "l1d_misses", "lines missing in the first-level data cache",
      { ANY = "L1-DCACHE-LOAD-MISSES", INTEL("L1D:REPLACEMENT"), NEOVERSE("L1D_CACHE_REFILL") } },
    { "l2_misses", "lines missing in the second-level cache; on AMD for loads and stores only",
      { ANY = "-", INTEL("L2_LINES_IN:ALL"), [FV_ZEN2] = L2 "LS_RD_BLK_C", [FV_ZEN3] = L2 "LS_RD_BLK_C",
        [FV_ZEN4] = L2 "LS_RD_BLK_C", [FV_ZEN5] = L2 "LS_RD_BLK_C", NEOVERSE("L2D_CACHE_REFILL") } },
    { "l1i_misses", "lines missing in the first-level instruction cache",
      { ANY = "L1-ICACHE-LOAD-MISSES", [FV_SKL] = "ICACHE_64B:IFTAG_MISS", [FV_ICL] = "ICACHE_64B:IFTAG_MISS",
        [FV_SPR] = "L2_RQSTS:ALL_CODE_RD", [FV_ZEN2] = "r0764",
        [FV_ZEN3] = "IC_TAG_HIT_MISS:IC_MISS", [FV_ZEN4] = "IC_TAG_HIT_MISS:IC_MISS",
        [FV_ZEN5] = "IC_TAG_HIT_MISS:IC_MISS", NEOVERSE("L1I_CACHE_REFILL") } },
    { "l1d_demand", "lines that came into the first-level data cache for loads and stores; on Intel retired loads that "
      "missed there",
      { ANY = "-", INTEL("MEM_LOAD_RETIRED:L1_MISS"), FILLS("43") } },
    { "l1d_hardware", "lines that came there for prefetches of the hardware",
      { ANY = "-", FILLS("5a") } },
    { "l1d_software", "lines that came there for prefetch instructions",
      { ANY = "-", FILLS("59") } },
    { "l2_demand", "misses of the second level for loads, stores and instructions, on Intel",
      { ANY = "-", INTEL("L2_RQSTS:ALL_DEMAND_MISS") } },
    { "l2_prefetch", "misses of the second level for prefetches, on Intel Skylake",
      { ANY = "-", [FV_SKL] = "L2_RQSTS:PF_MISS" } },
    { "l2_prefetch_l3", "prefetches of the second level that hit in the third, on AMD",
      { ANY = "-", [FV_ZEN2] = "L2_PREFETCH_HIT_L3:ANY", [FV_ZEN3] = "L2_PREFETCH_HIT_L3:L2_HW_PREFETCHER",
        [FV_ZEN4] = "r1f71", [FV_ZEN5] = "L2_PREFETCH_HIT_L3:L2_HW_PF" } },
    { "l2_prefetch_memory", "prefetches of the second level that missed in the third, on AMD",
      { ANY = "-", [FV_ZEN2] = "L2_PREFETCH_MISS_L3:ANY", [FV_ZEN3] = "L2_PREFETCH_MISS_L3:L2_HW_PREFETCHER",
        [FV_ZEN4] = "r1f72", [FV_ZEN5] = "L2_PREFETCH_MISS_L3:L2_HW_PF" } },
    { "l2_written", "changed lines that the second level wrote back",
      { ANY = "-", INTEL("L2_LINES_OUT:NON_SILENT"), NEOVERSE("L2D_CACHE_WB") } },
    { "memory_lines", "lines missing in all caches; Intel: without prefetches of the last level; AMD: lines that came "
      "into the first level (Zen 2: from the socket's own memory); Arm: for reads",
      { ANY = "CACHE-MISSES", INTEL("LONGEST_LAT_CACHE:MISS"),
        [FV_ZEN2] = "DATA_CACHE_REFILLS_FROM_SYSTEM:LS_MABRESP_LCL_DRAM",
        [FV_ZEN3] = "ANY_DATA_CACHE_FILLS_FROM_SYSTEM:MEM_IO_LCL:MEM_IO_RMT",
        [FV_ZEN4] = "ANY_DATA_CACHE_FILLS_FROM_SYSTEM:DRAM_IO_NEAR:DRAM_IO_FAR",
        [FV_ZEN5] = "ANY_DATA_CACHE_FILLS_FROM_SYSTEM:DRAM_IO_NEAR:DRAM_IO_FAR", NEOVERSE("LL_CACHE_MISS_RD") } },
    { "dtlb_misses", "page table walks for data; on Intel for loads",
      { ANY = "DTLB-LOAD-MISSES", INTEL("DTLB_LOAD_MISSES:WALK_COMPLETED"), [FV_ZEN2] = WALKS, [FV_ZEN3] = WALKS,
        [FV_ZEN4] = WALKS, [FV_ZEN5] = WALKS, NEOVERSE("DTLB_WALK") } },
    { "dtlb_walk_cycles", "cycles with a page table walk for a load",
      { ANY = "-", INTEL("DTLB_LOAD_MISSES:WALK_ACTIVE") } },
    { "itlb_misses", "page table walks for instructions",
      { ANY = "ITLB-LOAD-MISSES", INTEL("ITLB_MISSES:WALK_COMPLETED"), NEOVERSE("ITLB_WALK") } },
    { "fp_ops", "floating-point operations",
      { ANY = "-", [FV_ZEN2] = "RETIRED_SSE_AVX_FLOPS:ANY", [FV_ZEN3] = "RETIRED_SSE_AVX_FLOPS:ANY",
        [FV_ZEN4] = "RETIRED_SSE_AVX_FLOPS:ANY", [FV_ZEN5] = "RETIRED_SSE_AVX_FLOPS:ANY" } },
    { "fp_scalar",
      "floating-point instructions of one operation; a multiply-add counts twice, also below",
      { ANY = "-", [FV_SKL] = FP "SCALAR_DOUBLE:SCALAR_SINGLE", [FV_ICL] = FP "SCALAR", [FV_SPR] = FP "SCALAR" } },
    { "fp_2", "of two operations", { ANY = "-", INTEL(FP "128B_PACKED_DOUBLE") } },
    { "fp_4", "of four operations",
      { ANY = "-", [FV_SKL] = FP "128B_PACKED_SINGLE:256B_PACKED_DOUBLE", [FV_ICL] = FP "4_FLOPS",
        [FV_SPR] = FP "4_FLOPS" } },
    { "fp_8", "of eight operations",
      { ANY = "-", [FV_SKL] = FP "256B_PACKED_SINGLE:512B_PACKED_DOUBLE", [FV_ICL] = FP "8_FLOPS",
        [FV_SPR] = FP "8_FLOPS" } },
    { "fp_16", "of sixteen operations", { ANY = "-", INTEL(FP "512B_PACKED_SINGLE") } },
    { "fp_128", "floating-point instructions on 128 bits; on AMD operations",
      { ANY = "-", [FV_SKL] = FP "128B_PACKED_DOUBLE:128B_PACKED_SINGLE", [FV_ICL] = "r0cc7", [FV_SPR] = "r0cc7",
        [FV_ZEN4] = BY_WIDTH "PACK128_UOPS_RETIRED", [FV_ZEN5] = BY_WIDTH "PACK128_UOPS_RETIRED" } },
    { "fp_256", "the same on 256 bits",
      { ANY = "-", [FV_SKL] = FP "256B_PACKED_DOUBLE:256B_PACKED_SINGLE", [FV_ICL] = "r30c7", [FV_SPR] = "r30c7",
        [FV_ZEN4] = BY_WIDTH "PACK256_UOPS_RETIRED", [FV_ZEN5] = BY_WIDTH "PACK256_UOPS_RETIRED" } },
    { "fp_512", "the same on 512 bits",
      { ANY = "-", [FV_SKL] = FP "512B_PACKED_DOUBLE:512B_PACKED_SINGLE", [FV_ICL] = "rc0c7", [FV_SPR] = "rc0c7",
        [FV_ZEN4] = BY_WIDTH "PACK512_UOPS_RETIRED", [FV_ZEN5] = BY_WIDTH "PACK512_UOPS_RETIRED" } },
    { "fp_fma", "multiply-adds, of single numbers and vectors, on AMD",
      { ANY = "-", [FV_ZEN4] = "r440a", [FV_ZEN5] = "r440a" } },
    { "fma_ops", "floating-point operations of multiply-adds, each as two, on AMD",
      { ANY = "-", [FV_ZEN2] = "RETIRED_SSE_AVX_FLOPS:MAC_FLOPS", [FV_ZEN3] = "RETIRED_SSE_AVX_FLOPS:MAC_FLOPS",
        [FV_ZEN4] = "RETIRED_SSE_AVX_FLOPS:MAC_FLOPS", [FV_ZEN5] = "RETIRED_SSE_AVX_FLOPS:MAC_FLOPS" } },
    { "vector_integers", "vector instructions on integers; on AMD operations",
      { ANY = "-", [FV_SPR] = "rbfe7", [FV_ZEN4] = "RETIRED_INT_OPS:SSE_AVX_ALL",
        [FV_ZEN5] = "RETIRED_INT_OPS:SSE_AVX_ALL" } },
    { "prefetches", "prefetch instructions; on AMD issued",
      { ANY = "-", [FV_SKL] = "r0f32", [FV_ICL] = "r0f32", [FV_SPR] = "r0f40",
        [FV_ZEN2] = "PREFETCH_INSTRUCTIONS_DISPATCHED:ANY",
        [FV_ZEN3] = "PREFETCH_INSTRUCTIONS_DISPATCHED:ANY", [FV_ZEN4] = "PREFETCH_INSTRUCTIONS_DISPATCHED:ANY",
        [FV_ZEN5] = "PREFETCH_INSTRUCTIONS_DISPATCHED:ANY" } },
    { "fp_fixed", "floating-point operations outside SVE", { ANY = "-", SVE("FP_FIXED_OPS_SPEC") } },
    { "fp_scale", "floating-point operations of SVE, for each 128 bits of a vector", { ANY = "-",
      SVE("FP_SCALE_OPS_SPEC") } },
    { "simd_instructions", "instructions of Advanced SIMD", { ANY = "-", NEOVERSE("ASE_SPEC") } },
    { "fp_instructions", "scalar floating-point instructions", { ANY = "-", NEOVERSE("VFP_SPEC") } },
    { "sve_instructions", "instructions of SVE", { ANY = "-", SVE("SVE_INST_SPEC") } },
    { "fpu_instructions", "floating-point and vector instructions: x87, MMX, SSE and AVX, on AMD",
      { ANY = "-", [FV_ZEN2] = FPU, [FV_ZEN3] = FPU, [FV_ZEN4] = FPU } },
    { "int_instructions", "integer instructions: arithmetic, logic, addresses", { ANY = "-", NEOVERSE("DP_SPEC") } },
    { "fp_vector_ops", "operations of the processor for vectors",
      { ANY = "-", [FV_ZEN4] = "RETIRED_FP_OPS_BY_TYPE:VECTOR_ALL", [FV_ZEN5] = "RETIRED_FP_OPS_BY_TYPE:VECTOR_ALL" } },
    { "fp_scalar_ops", "for single numbers",
      { ANY = "-", [FV_ZEN4] = "RETIRED_FP_OPS_BY_TYPE:SCALAR_ALL", [FV_ZEN5] = "RETIRED_FP_OPS_BY_TYPE:SCALAR_ALL" } },
    { "slots", "operations that the processor could issue",
      { ANY = "-", [FV_ICL] = "TOPDOWN:SLOTS_P", [FV_SPR] = "TOPDOWN:SLOTS_P" } },
    { "slots_undelivered", "slots that the front end left empty",
      { ANY = "-", INTEL("IDQ_UOPS_NOT_DELIVERED:CORE"), [FV_ZEN4] = "DISPATCH_STALLS_1:FE_NO_OPS",
        [FV_ZEN5] = "DISPATCH_STALLS_1:FE_NO_OPS", SVE("STALL_SLOT_FRONTEND") } },
    { "slots_backend", "slots that waited for data or for a free unit",
      { ANY = "-", [FV_ICL] = "TOPDOWN:BACKEND_BOUND_SLOTS", [FV_SPR] = "TOPDOWN:BACKEND_BOUND_SLOTS",
        [FV_ZEN4] = "DISPATCH_STALLS_1:BE_STALLS", [FV_ZEN5] = "DISPATCH_STALLS_1:BE_STALLS",
        SVE("STALL_SLOT_BACKEND") } },
    { "slots_issued", "operations taken on",
      { ANY = "-", [FV_SKL] = "UOPS_ISSUED:ANY", [FV_ZEN4] = "OPS_SOURCE_DISPATCHED_FROM_DECODER:DECODER:OPCACHE",
        SVE("OP_SPEC") } },
    { "slots_retired", "useful operations",
      { ANY = "-", [FV_SKL] = "UOPS_RETIRED:RETIRE_SLOTS", [FV_ICL] = "UOPS_RETIRED:SLOTS",
        [FV_SPR] = "UOPS_RETIRED:SLOTS", [FV_ZEN4] = "RETIRED_OPS", [FV_ZEN5] = "RETIRED_OPS", SVE("OP_RETIRED") } },
    { "recovery_cycles", "cycles after a misprediction until execution continued",
      { ANY = "-", [FV_SKL] = "INT_MISC:RECOVERY_CYCLES" } },
    { "fetch_none", "cycles in which the front end delivered nothing although there was room",
      { ANY = "-", [FV_SKL] = "IDQ_UOPS_NOT_DELIVERED:CYCLES_0_UOPS_DELIV_CORE",
        [FV_ICL] = "IDQ_UOPS_NOT_DELIVERED:CYCLES_0_UOPS_DELIV_CORE", [FV_ZEN4] = "DISPATCH_STALLS_1:FE_NO_OPS:c=6",
        [FV_ZEN5] = "DISPATCH_STALLS_1:FE_NO_OPS:c=8" } },
    { "slots_dropped", "slots whose operations were dropped before they were issued",
      { ANY = "-", [FV_ICL] = "INT_MISC:UOP_DROPPING" } },
    { "slots_memory", "part of slots_backend that waited for loads and stores",
      { ANY = "-", [FV_SPR] = "TOPDOWN:MEMORY_BOUND_SLOTS" } },
    { "slots_mispredicted", "slots thrown away after a misprediction, or lost until execution continued",
      { ANY = "-", [FV_SPR] = "TOPDOWN:BR_MISPREDICT_SLOTS" } },
    { "clears", "restarts of the pipeline without a branch, such as for a memory access out of order; on Intel",
      { ANY = "-", [FV_SKL] = "MACHINE_CLEARS:COUNT", [FV_ICL] = "MACHINE_CLEARS:COUNT" } },
    { "resyncs", "restarts of the pipeline, on AMD", { ANY = "-", [FV_ZEN4] = "RESYNCS" } },
    { "stalls_all", "cycles in which nothing was executed",
      { ANY = "-", [FV_SKL] = "CYCLE_ACTIVITY:STALLS_TOTAL", [FV_ICL] = "CYCLE_ACTIVITY:STALLS_TOTAL" } },
    { "stalls_memory", "part of them with a load in progress",
      { ANY = "-", [FV_SKL] = "CYCLE_ACTIVITY:STALLS_MEM_ANY", [FV_ICL] = "CYCLE_ACTIVITY:STALLS_MEM_ANY",
        [FV_SPR] = "EXE_ACTIVITY:BOUND_ON_LOADS" } },
    { "stalls_l1", "the same with a load that missed in the first level",
      { ANY = "-", [FV_SKL] = "CYCLE_ACTIVITY:STALLS_L1D_MISS", [FV_ICL] = "CYCLE_ACTIVITY:STALLS_L1D_MISS",
        [FV_SPR] = "MEMORY_ACTIVITY:STALLS_L1D_MISS" } },
    { "stalls_l2", "the same with one that missed in the second",
      { ANY = "-", [FV_SKL] = "CYCLE_ACTIVITY:STALLS_L2_MISS", [FV_ICL] = "CYCLE_ACTIVITY:STALLS_L2_MISS",
        [FV_SPR] = "MEMORY_ACTIVITY:STALLS_L2_MISS" } },
    { "stalls_l3", "the same with one that missed in the third",
      { ANY = "-", [FV_SKL] = "CYCLE_ACTIVITY:STALLS_L3_MISS", [FV_ICL] = "CYCLE_ACTIVITY:STALLS_L3_MISS",
        [FV_SPR] = "MEMORY_ACTIVITY:STALLS_L3_MISS" } },
    { "stalls_stores", "cycles in which no store could be issued and no load was in progress",
      { ANY = "-", INTEL("EXE_ACTIVITY:BOUND_ON_STORES") } },
    { "ports_1", "cycles in which one operation was executed",
      { ANY = "-", [FV_SKL] = "EXE_ACTIVITY:1_PORTS_UTIL", [FV_ICL] = "EXE_ACTIVITY:1_PORTS_UTIL" } },
    { "ports_2", "cycles in which two were",
      { ANY = "-", [FV_SKL] = "EXE_ACTIVITY:2_PORTS_UTIL", [FV_ICL] = "EXE_ACTIVITY:2_PORTS_UTIL" } },
    { "unretired", "cycles in which nothing retired because the oldest operation was not complete; Arm: nothing was "
      "issued because data or a unit was not available",
      { ANY = "-", [FV_ZEN4] = "CYCLES_NO_RETIRE:NOT_COMPLETE_LOAD_AND_ALU",
        [FV_ZEN5] = "CYCLES_NO_RETIRE:NOT_COMPLETE_LOAD_AND_ALU", SVE("STALL_BACKEND") } },
    { "unretired_loads", "part of them in which it was a load; Arm: in which memory was the cause",
      { ANY = "-", [FV_ZEN4] = "CYCLES_NO_RETIRE:NOT_COMPLETE_MISSING_LOAD",
        [FV_ZEN5] = "ra2d6", SVE("STALL_BACKEND_MEM") } },
    { "retired_1", "cycles in which at least one operation retired",
      { ANY = "-", [FV_SKL] = "UOPS_RETIRED:RETIRE_SLOTS:c=1", [FV_ICL] = "UOPS_RETIRED:SLOTS:c=1",
        [FV_SPR] = "UOPS_RETIRED:SLOTS:c=1", [FV_ZEN2] = "RETIRED_UOPS:c=1", [FV_ZEN3] = "RETIRED_OPS:c=1",
        [FV_ZEN4] = "RETIRED_OPS:c=1", [FV_ZEN5] = "RETIRED_OPS:c=1" } },
    { "retired_2", "cycles in which at least two did",
      { ANY = "-", [FV_SKL] = "UOPS_RETIRED:RETIRE_SLOTS:c=2", [FV_ICL] = "UOPS_RETIRED:SLOTS:c=2",
        [FV_SPR] = "UOPS_RETIRED:SLOTS:c=2", [FV_ZEN2] = "RETIRED_UOPS:c=2", [FV_ZEN3] = "RETIRED_OPS:c=2",
        [FV_ZEN4] = "RETIRED_OPS:c=2", [FV_ZEN5] = "RETIRED_OPS:c=2" } },
    { "retired_4", "cycles in which at least four did",
      { ANY = "-", [FV_SKL] = "UOPS_RETIRED:RETIRE_SLOTS:c=4", [FV_ICL] = "UOPS_RETIRED:SLOTS:c=4",
        [FV_SPR] = "UOPS_RETIRED:SLOTS:c=4", [FV_ZEN2] = "RETIRED_UOPS:c=4", [FV_ZEN3] = "RETIRED_OPS:c=4",
        [FV_ZEN4] = "RETIRED_OPS:c=4", [FV_ZEN5] = "RETIRED_OPS:c=4" } },
    { "divider_cycles", "cycles in which the divider was busy; on AMD that of integers",
      { ANY = "-", INTEL("ARITH:DIVIDER_ACTIVE"), [FV_ZEN2] = "DIV_CYCLES_BUSY_COUNT",
        [FV_ZEN3] = "DIV_CYCLES_BUSY_COUNT", [FV_ZEN4] = "DIV_CYCLES_BUSY_COUNT",
        [FV_ZEN5] = "DIV_CYCLES_BUSY_COUNT" } },
    { "frontend_cycles", "cycles stalled because no instructions came",
      { ANY = "STALLED-CYCLES-FRONTEND", INTEL("-"), [FV_ZEN2] = "UOPS_QUEUE_EMPTY", [FV_ZEN3] = "UOPS_QUEUE_EMPTY",
        [FV_ZEN4] = "-", [FV_ZEN5] = "-", [FV_N1] = "STALL_FRONTEND", SVE("-") } },
    { "backend_cycles", "cycles stalled because data or a unit was not available",
      { ANY = "STALLED-CYCLES-BACKEND", INTEL("-"), [FV_ZEN4] = "-", [FV_ZEN5] = "-", [FV_N1] = "STALL_BACKEND",
        SVE("-") } },
};
/* clang-format on */
const size_t fv_quantity_count = sizeof(fv_quantities) / sizeof(*fv_quantities);

/* A row is to be seen as one. */
/* clang-format off */
const struct fv_counter_group fv_counter_groups[] = {
    { "statistics", "instructions, cycles, floating-point operations: rates, and per cycle",
      "instructions cycles cpu_ns fp_ops fp_scalar fp_2 fp_4 fp_8 fp_fixed fp_scale" },
    { "cache", "misses of the caches", "instructions cycles loads l1d_misses l2_misses memory_lines" },
    { "l1", "misses of the first level: instructions, and data by demand and prefetch",
      "instructions cycles l1i_misses l1d_demand l1d_hardware l1d_software" },
    { "l2", "misses of the second level by demand and prefetch, and lines written back",
      "instructions cycles l2_misses l2_demand l2_prefetch l2_prefetch_l3 l2_prefetch_memory l2_written" },
    { "tlb", "page table walks", "instructions cycles dtlb_misses dtlb_walk_cycles itlb_misses" },
    { "memory", "lines from memory, loads and stores", "instructions cycles memory_lines loads stores" },
    { "simd", "part of the work done by vectors", "instructions cycles fp_scalar fp_2 fp_4 fp_8 simd_instructions "
                                             "fp_instructions sve_instructions fp_vector_ops fp_scalar_ops" },
    { "width", "floating point by the width of vectors",
      "instructions cycles fp_scalar fp_scalar_ops fp_128 fp_256 fp_512" },
    { "vectors", "multiply-adds, vectors of integers and of 16 numbers, prefetch instructions",
      "instructions cycles fp_16 fp_fma fma_ops vector_integers prefetches" },
    { "mix", "instructions by kind; together with simd on Intel and Arm, with width for floating point by width",
      "instructions cycles loads stores branches fpu_instructions int_instructions" },
    { "stalls", "top-down, level 1: what became of the slots of the processor",
      "instructions cycles slots slots_undelivered slots_backend slots_issued slots_retired recovery_cycles "
      "frontend_cycles backend_cycles" },
    { "frontend", "top-down, level 2: is the front end late, or too slow",
      "instructions cycles slots slots_undelivered fetch_none slots_dropped" },
    { "backend",
      "top-down, level 2: does the back end wait for memory; on Intel before Sapphire Rapids together with stalls and "
      "ports",
      "instructions cycles slots slots_backend slots_memory stalls_stores unretired unretired_loads" },
    { "ports", "cycles in which none, one or two operations were executed",
      "instructions cycles stalls_all ports_1 ports_2 stalls_memory" },
    { "levels", "top-down, level 3: which cache, memory or stores, on Intel; together with backend, stalls and ports",
      "instructions cycles stalls_memory stalls_l1 stalls_l2 stalls_l3" },
    { "completion", "cycles in which no operation, one, two or three, or more retired; how busy the divider was",
      "instructions cycles retired_1 retired_2 retired_4 divider_cycles" },
    { "speculation",
      "top-down, level 2: are mispredicted branches the cause; on Intel before Sapphire Rapids together with stalls",
      "instructions cycles slots slots_mispredicted slots_issued slots_retired branch_misses clears resyncs" },
    { "branches", "branches and their misprediction", "instructions cycles branches branch_misses" },
    { "software", "page faults, context switches, migrations, CPU time: on any machine",
      "cpu_ns page_faults major_faults switches migrations" },
};
/* clang-format on */
const size_t fv_counter_group_count = sizeof(fv_counter_groups) / sizeof(*fv_counter_groups);

#define FLOPS_OVER(x)                                                                     \
    "fp_ops / " x "; (fp_scalar + 2 * fp_2 + 4 * fp_4 + 8 * fp_8 + 16 * fp_16) / " x "; " \
    "(fp_scalar + 2 * fp_2 + 4 * fp_4 + 8 * fp_8) / " x "; (fp_fixed + granules * fp_scale) / " x

/* Top-down: Intel from Ice Lake on by slots that are counted, before and else by width times cycles. */
#define STILL "(1 - (slots_undelivered + slots_backend) / (width * cycles))"

/* Level 2. Intel: TMA, version 4.x, as the kernel has it in
 * tools/perf/pmu-events/arch/x86/{skylakex,icelakex,sapphirerapids}/\*-metrics.json: tma_fetch_latency,
 * tma_fetch_bandwidth, tma_memory_bound, tma_core_bound, tma_branch_mispredicts, tma_machine_clears, without the
 * minimum of 0; of Sapphire Rapids by TOPDOWN's events of the same slots, which has none for fetch. Ice Lake has an
 * event TOPDOWN:BR_MISPREDICT_SLOTS in libpfm4, which Intel withdrew. AMD: arch/x86/{amdzen4,amdzen5}/pipeline.json of
 * the same, and the PPR, "Pipeline Utilization". Arm publishes none for these cores: its back end is divided likewise,
 * by cycles in which memory was the cause (STALL_BACKEND_MEM).
 *
 * The part of the back end that is memory, of what stands still or nearly does: */
#define NEARLY(retiring) \
    "(stalls_memory + stalls_stores) / (stalls_all + ports_1 + " retiring " * ports_2 + stalls_stores)"
#define OF_ICL NEARLY("slots_retired / slots")
#define OF_SKL NEARLY("slots_retired / (width * cycles)")
/* Level 3 of the same: loads that wait for a level have missed in those before it. */
#define MEMORY_OF(waits)                                                                                              \
    "slots_memory / slots * " waits " / (stalls_memory + stalls_stores); " OF_ICL " * slots_backend / slots * " waits \
    " / (stalls_memory + stalls_stores); " OF_SKL " * " BACKEND_SKL " * " waits " / (stalls_memory + stalls_stores)"
#define BACKEND_SKL              "(1 - (slots_undelivered + slots_issued + width * recovery_cycles) / (width * cycles))"
#define BAD_ICL                  "(1 - (slots_undelivered + slots_backend + slots_retired) / slots)"
#define BAD_SKL                  "(slots_issued - slots_retired + width * recovery_cycles) / (width * cycles)"
#define BAD_AMD                  "(slots_issued - slots_retired) / (width * cycles)"
#define BRANCHES_OF(bad, others) bad " * branch_misses / (branch_misses + " others ")"
#define OTHERS_OF(bad, others)   bad " * " others " / (branch_misses + " others ")"

/* A row is to be seen as one. */
/* clang-format off */
const struct fv_metric_row fv_metric_rows[] = {
    { "statistics", "instruction_rate", "instructions/s", "/s",
      "Instructions of all threads, divided by the time of the longest thread.", "instructions / time" },
    { "statistics", "ipc", "IPC", "ratio", "Instructions per cycle.", "instructions / cycles" },
    { "statistics", "frequency", "frequency", "Hz",
      "Cycles in user mode divided by CPU time, which is of both modes: too low with much time in the kernel.",
      "cycles / cpu_ns * 1e9" },
    { "statistics", "flop_rate", "flop/s", "/s",
      "Floating-point operations of all threads, divided by the time of the longest thread. Peak: double-precision "
      "multiply-adds at the measured clock.", FLOPS_OVER("time") },
    { "statistics", "flops_per_cycle", "flop/cycle", "ratio", "Floating-point operations per cycle.",
      FLOPS_OVER("cycles") },
    { "statistics", "flop_share", "flop of all", "share",
      "Floating-point operations as a share of all operations, where each number of a vector is one; on Intel.",
      "(fp_scalar + 2 * fp_2 + 4 * fp_4 + 8 * fp_8 + 16 * fp_16) / (instructions + fp_2 + 3 * fp_4 + 7 * fp_8 + 15 * "
      "fp_16); "
      "(fp_scalar + 2 * fp_2 + 4 * fp_4 + 8 * fp_8) / (instructions + fp_2 + 3 * fp_4 + 7 * fp_8)" },
    { "cache", "l1d_misses_per_1000", "L1D misses", "ratio",
      "Misses of the first-level data cache per 1,000 instructions.", "1000 * l1d_misses / instructions" },
    { "cache", "l1d_miss_share", "L1D miss share", "share",
      "Misses of the first-level data cache per load. Prefetches are included, so it may be above 1.",
      "l1d_misses / loads" },
    { "cache", "l2_misses_per_1000", "L2 misses", "ratio", "Misses of the second-level cache per 1,000 instructions.",
      "1000 * l2_misses / instructions" },
    { "cache", "l2_miss_share", "L2 miss share", "share", "Misses of the second-level cache per load and store.",
      "l2_misses / (loads + stores)" },
    { "cache", "memory_lines_per_1000", "lines from memory", "ratio",
      "Lines missing in all caches per 1,000 instructions.",
      "1000 * memory_lines / instructions" },
    { "cache", "l2_busy", "L2 busy", "share",
      "Lines that came into the first level, as a share of what the path from the second level can carry in the "
      "cycles. Lines from beyond the second level are included.", "64 * l1d_misses / (l2_bytes * cycles)" },
    { "cache", "l2_read_rate", "from L2", "B/s",
      "64 bytes for each line that came into the first level, of all threads, divided by the time of the longest "
      "thread. Peak: the widest path at the measured clock.", "64 * l1d_misses / time" },
    { "l1", "l1i_misses_per_1000", "L1I misses", "ratio",
      "Misses of the first-level instruction cache per 1,000 instructions.", "1000 * l1i_misses / instructions" },
    { "l1", "l1d_demand_share", "L1D by demand", "share",
      "Share of lines that came into the first level for loads and stores (Intel: retired loads).",
      "l1d_demand / (l1d_demand + l1d_hardware + l1d_software); l1d_demand / l1d_misses" },
    { "l1", "l1d_hardware_share", "by hardware", "share",
      "Share of lines that came for prefetches of the hardware, on AMD.",
      "l1d_hardware / (l1d_demand + l1d_hardware + l1d_software)" },
    { "l1", "l1d_software_share", "by instructions", "share",
      "Share of lines that came for prefetch instructions, on AMD.",
      "l1d_software / (l1d_demand + l1d_hardware + l1d_software)" },
    { "l2", "l2_demand_share", "L2 by demand", "share",
      "Share of misses of the second level that were not prefetches. On AMD prefetches of the first level are in it.",
      "l2_demand / (l2_demand + l2_prefetch); l2_demand / l2_misses; "
      "l2_misses / (l2_misses + l2_prefetch_l3 + l2_prefetch_memory)" },
    { "l2", "l2_prefetch_share", "L2 by prefetch", "share", "Share of misses of the second level for prefetches.",
      "l2_prefetch / (l2_demand + l2_prefetch); 1 - l2_demand / l2_misses; "
      "(l2_prefetch_l3 + l2_prefetch_memory) / (l2_misses + l2_prefetch_l3 + l2_prefetch_memory)" },
    { "l2", "write_back_share", "written back", "share",
      "Lines that the second level wrote back, as a share of all lines between it and what lies beyond.",
      "l2_written / (l2_misses + l2_written)" },
    { "l2", "write_back_rate", "write-back", "B/s",
      "64 bytes for each of these lines, of all threads, divided by the time of the longest thread.",
      "64 * l2_written / time" },
    { "tlb", "dtlb_misses_per_1000", "DTLB walks", "ratio", "Page table walks for data per 1,000 instructions.",
      "1000 * dtlb_misses / instructions" },
    { "tlb", "itlb_misses_per_1000", "ITLB walks", "ratio",
      "Page table walks for instructions per 1,000 instructions.", "1000 * itlb_misses / instructions" },
    { "tlb", "dtlb_walk_share", "in DTLB walks", "share",
      "Share of cycles with a page table walk for a load.", "dtlb_walk_cycles / cycles" },
    { "memory", "memory_read_rate", "from memory", "B/s",
      "64 bytes for each line missing in all caches, of all threads, divided by the time of the longest thread. Bytes "
      "written back are not included.", "64 * memory_lines / time" },
    { "memory", "l1_busy", "L1 busy", "share",
      "Loads and stores as a share of those that the first-level data cache can take in the cycles.",
      "(loads + stores) / (l1_accesses * cycles)" },
    { "memory", "load_share", "loads", "share", "Loads per instruction.", "loads / instructions" },
    { "memory", "store_share", "stores", "share", "Stores per instruction.", "stores / instructions" },
    { "simd", "vector_share", "vectors", "share",
      "Share of vector instructions in floating-point instructions (AMD: operations; Arm: integers included).",
      "(fp_2 + fp_4 + fp_8) / (fp_scalar + fp_2 + fp_4 + fp_8); fp_vector_ops / (fp_vector_ops + fp_scalar_ops); "
      "(simd_instructions + sve_instructions) / (simd_instructions + sve_instructions + fp_instructions); "
      "simd_instructions / (simd_instructions + fp_instructions)" },
    { "width", "fp_128_share", "128 bits", "share",
      "Floating-point instructions on 128 bits per instruction. On Intel a multiply-add counts twice; on AMD "
      "operations.",
      "fp_128 / instructions" },
    { "width", "fp_256_share", "256 bits", "share", "The same on 256 bits.", "fp_256 / instructions" },
    { "width", "fp_512_share", "512 bits", "share", "The same on 512 bits.", "fp_512 / instructions" },
    { "vectors", "fma_share", "multiply-adds", "share", "Multiply-adds per instruction, on AMD from Zen 4 on.",
      "fp_fma / instructions" },
    { "vectors", "fma_flop_share", "flop by FMA", "share",
      "Share of floating-point operations that multiply-adds do, on AMD.", "fma_ops / fp_ops" },
    { "vectors", "vector_integer_share", "vectors of integers", "share",
      "Vector instructions on integers per instruction, on Intel from Sapphire Rapids, on AMD from Zen 4 on.",
      "vector_integers / instructions" },
    { "vectors", "prefetch_share", "prefetches", "share", "Prefetch instructions per instruction.",
      "prefetches / instructions" },
    { "mix", "fp_scalar_share", "scalar FP", "share",
      "Scalar floating-point instructions per instruction. On Intel a multiply-add counts twice; on AMD operations.",
      "fp_scalar / instructions; fp_scalar_ops / instructions; fp_instructions / instructions" },
    { "mix", "fp_vector_share", "vectors", "share",
      "Vector instructions per instruction; on Intel of floating point alone, and a multiply-add counts twice; on AMD "
      "operations of floating point.",
      "(fp_2 + fp_4 + fp_8) / instructions; fp_vector_ops / instructions; "
      "(simd_instructions + sve_instructions) / instructions; simd_instructions / instructions" },
    { "mix", "fp_share", "FP and vectors", "share",
      "Floating-point and vector instructions per instruction; on Intel without vectors of integers.",
      "fpu_instructions / instructions; (fp_scalar + fp_2 + fp_4 + fp_8) / instructions; "
      "(simd_instructions + sve_instructions + fp_instructions) / instructions; "
      "(simd_instructions + fp_instructions) / instructions" },
    { "mix", "integer_share", "integer", "share", "Integer instructions per instruction, on Arm.",
      "int_instructions / instructions" },
    { "mix", "rest_share", "rest", "share",
      "Instructions that are neither loads, stores, branches nor counted by the metrics of floating point, vectors and "
      "integers. On Intel and AMD an instruction that loads and computes is counted twice, so this may be too small.",
      "1 - (loads + stores + branches + fp_scalar + fp_2 + fp_4 + fp_8) / instructions; "
      "1 - (loads + stores + branches + fpu_instructions) / instructions; "
      "1 - (loads + stores + branches + int_instructions + simd_instructions + sve_instructions + fp_instructions) / "
      "instructions; "
      "1 - (loads + stores + branches + int_instructions + simd_instructions + fp_instructions) / instructions" },
    { "stalls", "retiring", "retiring", "share",
      "Top-down: share of slots with useful operations.",
      "slots_retired / slots; slots_retired / slots_issued * " STILL " + 0 * granules; slots_retired / (width * "
                                                                     "cycles)" },
    { "stalls", "bad_speculation", "bad speculation", "share",
      "Top-down: share of slots thrown away after a misprediction.",
      "1 - (slots_undelivered + slots_backend + slots_retired) / slots; (slots_issued - slots_retired + width * "
      "recovery_cycles) / (width * cycles); (1 - slots_retired / slots_issued) * " STILL " + 0 * granules; "
                                                                                         "(slots_issued - "
                                                                                         "slots_retired) / (width * "
                                                                                         "cycles) + 0 * slots_backend; "
                                                                                         "(slots_issued - "
                                                                                         "slots_retired) / (width * "
                                                                                         "cycles) + 0 * resyncs" },
    { "stalls", "frontend_bound", "front end", "share",
      "Top-down: share of slots without instructions. If slots are not counted: share of stalled cycles.",
      "slots_undelivered / slots; slots_undelivered / (width * cycles); frontend_cycles / cycles" },
    { "stalls", "backend_bound", "back end", "share",
      "Top-down: share of slots that waited for data or for a unit. If slots are not counted: share of stalled cycles.",
      "slots_backend / slots; slots_backend / (width * cycles); 1 - (slots_undelivered + slots_issued + width * "
      "recovery_cycles) / (width * cycles); backend_cycles / cycles" },
    { "frontend", "fetch_latency", "late fetch", "share",
      "Top-down, level 2, part of front end: no instruction came in the cycle, as after misses of the instruction "
      "cache.",
      "(width * fetch_none - slots_dropped) / slots; fetch_none / cycles" },
    { "frontend", "fetch_bandwidth", "narrow fetch", "share",
      "Top-down, level 2, part of front end: too few instructions came in the cycle, as from decoding.",
      "(slots_undelivered - width * fetch_none) / slots; (slots_undelivered - width * fetch_none) / (width * cycles)" },
    { "backend", "memory_bound", "memory", "share",
      "Top-down, level 2, part of back end: slots that waited for loads and stores.",
      "slots_memory / slots; " OF_ICL " * slots_backend / slots; " OF_SKL " * " BACKEND_SKL "; "
      "slots_backend / (width * cycles) * unretired_loads / unretired" },
    { "backend", "core_bound", "core", "share",
      "Top-down, level 2, part of back end: slots that waited for a unit, or for its result.",
      "(slots_backend - slots_memory) / slots; (1 - " OF_ICL ") * slots_backend / slots; (1 - " OF_SKL ") * "
      BACKEND_SKL "; slots_backend / (width * cycles) * (1 - unretired_loads / unretired)" },
    { "levels", "l1_bound", "L1", "share",
      "Top-down, level 3, part of memory: slots that waited for a load in the first level.",
      MEMORY_OF("(stalls_memory - stalls_l1)") },
    { "levels", "l2_bound", "L2", "share", "For a load that missed in the first level.",
      MEMORY_OF("(stalls_l1 - stalls_l2)") },
    { "levels", "l3_bound", "L3", "share", "For a load that missed in the second level.",
      MEMORY_OF("(stalls_l2 - stalls_l3)") },
    { "levels", "dram_bound", "memory", "share", "For a load that missed in all caches.", MEMORY_OF("stalls_l3") },
    { "levels", "store_bound", "stores", "share", "For room for a store.",
      MEMORY_OF("(stalls_stores + 0 * stalls_l1)") },
    { "completion", "retired_none_share", "none retired", "share", "Share of cycles in which no operation retired.",
      "1 - retired_1 / cycles" },
    { "completion", "retired_1_share", "one", "share", "Share of cycles in which one did.",
      "(retired_1 - retired_2) / cycles" },
    { "completion", "retired_2_share", "two or three", "share", "Share of cycles in which two or three did.",
      "(retired_2 - retired_4) / cycles" },
    { "completion", "retired_4_share", "four or more", "share", "Share of cycles in which four or more did.",
      "retired_4 / cycles" },
    { "completion", "divider_busy", "divider busy", "share",
      "Share of cycles in which the divider was busy (AMD: that of integers).", "divider_cycles / cycles" },
    { "ports", "stall_share", "nothing executed", "share", "Share of cycles in which nothing was executed.",
      "stalls_all / cycles" },
    { "ports", "few_ports_share", "little executed", "share",
      "Share of cycles in which one or two operations were executed.", "(ports_1 + ports_2) / cycles" },
    { "speculation", "branch_mispredicts", "by branches", "share",
      "Top-down, level 2, part of bad speculation: slots thrown away for mispredicted branches.",
      "slots_mispredicted / slots; " BRANCHES_OF(BAD_ICL, "clears") "; " BRANCHES_OF(BAD_SKL, "clears") "; "
      BRANCHES_OF(BAD_AMD, "resyncs") },
    { "speculation", "pipeline_restarts", "by restarts", "share",
      "Top-down, level 2, part of bad speculation: slots thrown away for other restarts of the pipeline.",
      "1 - (slots_undelivered + slots_backend + slots_retired + slots_mispredicted) / slots; "
      OTHERS_OF(BAD_ICL, "clears") "; " OTHERS_OF(BAD_SKL, "clears") "; " OTHERS_OF(BAD_AMD, "resyncs") },
    { "branches", "branch_share", "branches", "share", "Branches per instruction.", "branches / instructions" },
    { "branches", "branch_miss_share", "mispredicted", "share", "Share of branches that were mispredicted.",
      "branch_misses / branches" },
    { "branches", "branch_misses_per_1000", "mispredictions", "ratio", "Mispredicted branches per 1,000 instructions.",
      "1000 * branch_misses / instructions" },
    { "software", "cpu_share", "CPU time", "share",
      "CPU time of the threads divided by their time. Null: the section's instances are too short, as reading the CPU "
      "clock takes longer.", "cpu_ns / thread_time / 1e9" },
    { "software", "page_fault_rate", "page faults/s", "/s",
      "Page faults of all threads, divided by the time of the longest thread.",
      "page_faults / time" },
    { "software", "switch_rate", "switches/s", "/s",
      "Context switches of all threads, divided by the time of the longest thread.",
      "switches / time" },
    { "software", "migration_rate", "migrations/s", "/s",
      "Migrations of all threads to another processor, divided by the time of the longest thread.",
      "migrations / time" },
};
/* clang-format on */
const size_t fv_metric_row_count = sizeof(fv_metric_rows) / sizeof(*fv_metric_rows);

static const struct {
    const char *metric, *formula;
} peaks[] = {
    { "ipc", "width" },
    { "flop_rate", "flops * cycles / time" },
    { "flops_per_cycle", "flops" },
    { "l2_read_rate", "l2_bytes * cycles / time" },
};

const char *fv_metric_peak(const struct fv_metric_row *metric)
{
    for (size_t i = 0; i < sizeof(peaks) / sizeof(peaks[0]); i++)
        if (!strcmp(peaks[i].metric, metric->name))
            return peaks[i].formula;
    return NULL;
}

bool fv_metric_is_part(const struct fv_metric_row *metric)
{
    return !strcmp(metric->name, "cpu_share");
}

/* The shares of top-down that are usual in HPC are from Intel, "Tuning Applications Using a Top-down Microarchitecture
 * Analysis Method": back end 20 to 40 %, front end 5 to 10 %, bad speculation 1 to 5 %. A mark stands well above. That
 * walks are marked from a tenth on is VTune's rule (DTLB overhead). A part of level 2 is marked where the whole is,
 * from the limits on that Intel publishes for its metrics (Linux, tools/perf/pmu-events, MetricThreshold), of the core
 * from twice that one on: a tenth is so in much that waits for memory; the same holds for parts of level 3. That a
 * cache or memory is marked from 70 % of what it can do is our choice: queues grow long from there on. */
/* A row is to be seen as one. */
/* clang-format off */
const struct fv_mark_row fv_mark_rows[] = {
    { "ipc", FV_BELOW, 1, "backend_bound", 0.3,
      "less than one instruction per cycle, with many waits for data or units: look at caches and memory" },
    { "backend_bound", FV_ABOVE, 0.5, NULL, 0, "half of the slots wait for data or for units" },
    { "frontend_bound", FV_ABOVE, 0.2, NULL, 0,
      "a fifth of the slots has no instructions: large code, or many jumps" },
    { "bad_speculation", FV_ABOVE, 0.1, NULL, 0,
      "a tenth of the slots is thrown away, mostly after mispredicted branches" },
    { "memory_bound", FV_ABOVE, 0.2, "backend_bound", 0.5,
      "a fifth of the slots waits for loads and stores: look at caches and the layout of data" },
    { "core_bound", FV_ABOVE, 0.2, "backend_bound", 0.5,
      "a fifth of the slots waits for units or their results: divisions, or long chains of dependences" },
    { "l1_bound", FV_ABOVE, 0.1, "memory_bound", 0.2,
      "a tenth of the slots waits for loads that hit in the first level: stores to the same place, or split lines" },
    { "l2_bound", FV_ABOVE, 0.05, "memory_bound", 0.2, "a twentieth of the slots waits for the second-level cache" },
    { "l3_bound", FV_ABOVE, 0.05, "memory_bound", 0.2,
      "a twentieth of the slots waits for the third-level cache, or for lines of other cores" },
    { "dram_bound", FV_ABOVE, 0.1, "memory_bound", 0.2,
      "a tenth of the slots waits for memory: use what is loaded more often, or less of it" },
    { "store_bound", FV_ABOVE, 0.2, "memory_bound", 0.2, "a fifth of the slots waits for room for stores" },
    { "l1_busy", FV_ABOVE, 0.7, NULL, 0, "the first-level cache does 70 % of the loads and stores that it can do" },
    { "l2_busy", FV_ABOVE, 0.7, NULL, 0, "the path from the second-level cache carries 70 % of what it can carry" },
    { "memory_read_rate", FV_OF_PEAK, 0.7, NULL, 0, "memory delivers 70 % of what it can deliver" },
    { "fetch_latency", FV_ABOVE, 0.1, "frontend_bound", 0.2,
      "in a tenth of the cycles no instructions come: large code, or many jumps" },
    { "fetch_bandwidth", FV_ABOVE, 0.2, "frontend_bound", 0.2,
      "a fifth of the slots has too few instructions: they are decoded again and again" },
    { "branch_mispredicts", FV_ABOVE, 0.1, "bad_speculation", 0.1,
      "a tenth of the slots is thrown away after mispredicted branches" },
    { "pipeline_restarts", FV_ABOVE, 0.1, "bad_speculation", 0.1,
      "a tenth of the slots is thrown away for restarts, such as loads that ran before stores they depend on" },
    { "dtlb_walk_share", FV_ABOVE, 0.1, NULL, 0,
      "a tenth of the cycles is in page table walks: huge pages may help" },
};
/* clang-format on */
const size_t fv_mark_row_count = sizeof(fv_mark_rows) / sizeof(*fv_mark_rows);

/* ---- look-up ---- */

static bool is_word_of(const char *words, const char *word, size_t length)
{
    while (*words) {
        size_t n = strcspn(words, " ");

        if (n == length && !strncasecmp(words, word, n))
            return true;
        words += n + (words[n] == ' ');
    }
    return false;
}

enum fv_processor_kind fv_processor_named(const char *name)
{
    for (unsigned i = 1; i < FV_PROCESSOR_KINDS; i++)
        if (!strcasecmp(fv_processor_rows[i].name, name) || is_word_of(fv_processor_rows[i].pmus, name, strlen(name)))
            return (enum fv_processor_kind)i;
    return FV_ANY_PROCESSOR;
}

bool fv_processor_number(enum fv_processor_kind kind, const char *name, size_t length, double *number)
{
    const struct fv_processor_row *row = &fv_processor_rows[kind];
    const struct {
        const char *name;
        unsigned value;
    } numbers[] = { { "width", row->width },
                    { "granules", row->granules },
                    { "flops", row->flops },
                    { "l1_accesses", row->l1_accesses },
                    { "l2_bytes", row->l2_bytes } };

    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        if (strlen(numbers[i].name) == length && !memcmp(name, numbers[i].name, length)) {
            *number = numbers[i].value ? numbers[i].value : NAN;
            return true;
        }
    return false;
}

const char *fv_quantity_event(const struct fv_quantity *q, enum fv_processor_kind kind)
{
    const char *event = q->event[kind] ? q->event[kind] : q->event[FV_ANY_PROCESSOR];

    return strcmp(event, "-") ? event : NULL;
}

/* Without the PMU before it, and :u behind it, which is what is counted anyway. */
static size_t strip(const char **event)
{
    const char *colons = strstr(*event, "::");
    size_t length;

    *event = colons ? colons + 2 : *event;
    length = strlen(*event);
    return length > 2 && !strcasecmp(*event + length - 2, ":u") ? length - 2 : length;
}

/* What other tools record, by PAPI's names, and getrusage(2)'s. PAPI_BR_MSP is not here: of conditional branches. */
static const struct {
    const char *name, *quantity;
} foreign_events[] = {
    { "PAPI_TOT_INS", "instructions" }, { "PAPI_TOT_CYC", "cycles" },      { "PAPI_BR_INS", "branches" },
    { "PAPI_LD_INS", "loads" },         { "PAPI_SR_INS", "stores" },       { "PAPI_L1_DCM", "l1d_misses" },
    { "PAPI_L2_TCM", "l2_misses" },     { "PAPI_L3_TCM", "memory_lines" }, { "PAPI_TLB_DM", "dtlb_misses" },
    { "PAPI_TLB_IM", "itlb_misses" },   { "PAPI_FP_OPS", "fp_ops" },       { "ru_majflt", "major_faults" },
};

static bool counts(const struct fv_quantity *q, enum fv_processor_kind kind, const char *event, size_t length)
{
    const char *name = fv_quantity_event(q, kind);

    return name && strlen(name) == length && !strncasecmp(name, event, length);
}

const struct fv_quantity *fv_quantity_of_event(enum fv_processor_kind here, const char *event)
{
    size_t length = strip(&event);

    for (size_t i = 0; i < sizeof(foreign_events) / sizeof(*foreign_events); i++)
        if (!strcmp(foreign_events[i].name, event))
            return fv_quantity_named(foreign_events[i].quantity, strlen(foreign_events[i].quantity));
    for (size_t i = 0; i < fv_quantity_count; i++)
        if (counts(&fv_quantities[i], here, event, length))
            return &fv_quantities[i];
    for (size_t i = 0; i < fv_quantity_count; i++)
        for (unsigned k = 0; k < FV_PROCESSOR_KINDS; k++)
            if (counts(&fv_quantities[i], (enum fv_processor_kind)k, event, length))
                return &fv_quantities[i];
    return NULL;
}

const struct fv_quantity *fv_quantity_named(const char *name, size_t length)
{
    for (size_t i = 0; i < fv_quantity_count; i++) {
        const char *known = fv_quantities[i].name;

        if (*known == *name && !strncmp(known, name, length) && !known[length])
            return &fv_quantities[i];
    }
    return NULL;
}

const struct fv_counter_group *fv_counter_group_named(const char *name, size_t length)
{
    for (size_t i = 0; i < fv_counter_group_count; i++)
        if (strlen(fv_counter_groups[i].name) == length && !strncasecmp(fv_counter_groups[i].name, name, length))
            return &fv_counter_groups[i];
    return NULL;
}
