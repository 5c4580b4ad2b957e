# SPDX-License-Identifier: BSD-3-Clause
# Written by python/stubs.py: ./dev docs.
from typing import Any, Iterator, Literal, Mapping, Optional

from ._table import Table

class KnownRow(Mapping[str, Any]):
    def __getitem__(self, name: str) -> Any: ...
    def __iter__(self) -> Iterator[str]: ...
    def __len__(self) -> int: ...

class RunRow(KnownRow):
    command: str
    program: str
    directory: str
    mpi: str
    fvmpi: str
    rank_count: int
    reported_count: int
    choice_read_ranks: Optional[str]
    choice_shown_ranks: Optional[str]
    choice_shown_threads: Optional[str]
    complete: bool
    ended: Optional[str]
    not_judged: Optional[str]
    not_recorded: Optional[str]
    iterations_unknown: Optional[str]
    start: Optional[str]
    elapsed_s: float
    clock_count: int
    rank_time_total_s: float
    rank_time_compute_s: float
    rank_time_polled_s: float
    rank_time_asked_s: float
    rank_time_mpi_s: float
    rank_time_wait_s: Optional[float]
    rank_time_wait_kind: Optional[Literal['exact', 'estimate']]
    overhead_time_s: Optional[float]
    overhead_sampling_s: Optional[float]
    overhead_once_s: Optional[float]
    overhead_share: Optional[float]
    overhead_memory_bytes: Optional[int]
    overhead_rank_memory_bytes: Optional[int]
    overhead_file_bytes: int

class ClockAlignmentRow(KnownRow):
    error_s: Optional[float]
    drift: bool
    contradiction_s: float
    clock_count: int
    group_count: int
    doubt_count: int
    doubt_wait_s: float

class FindingsRow(KnownRow):
    finding_id: str
    name: Literal['hang', 'no_processor', 'noise', 'late_rank', 'no_progress', 'blocked_rank', 'load_imbalance', 'moving_imbalance', 'slow_iterations', 'growing_iterations', 'instruction_balance', 'polling', 'small_messages', 'contended_lock', 'idle_workers', 'thread_imbalance', 'rare_slow_calls', 'varying_function', 'unexplained_waiting', 'startup', 'growing_memory', 'far_memory', 'allocator', 'file_io', 'own_cost', 'no_symbols']
    title: str
    lost_s: Optional[float]
    lost_share: Optional[float]
    evidence: Literal['exact', 'estimate', 'samples']
    rank: Optional[int]
    callsite_id: Optional[int]
    function: Optional[str]
    file: Optional[str]
    line: Optional[int]
    place: Optional[str]
    text: str
    next: str

class ProgramsRow(KnownRow):
    program: str
    command: str
    command_count: int
    rank_count: int
    rank_runs: str
    rank_time_total_s: float
    rank_time_compute_s: float
    rank_time_polled_s: float
    rank_time_asked_s: float
    rank_time_mpi_s: float
    rank_time_wait_s: Optional[float]
    rank_time_wait_kind: Optional[Literal['exact', 'estimate']]

class OptionsRow(KnownRow):
    option: Optional[str]
    variable: str
    value: str
    rank_count: int

class MachinesRow(KnownRow):
    host: str
    rank_count: int
    rank_runs: str
    processor: Optional[str]
    socket_count: Optional[int]
    processor_count: Optional[int]
    processors: Optional[str]
    core_threads: Optional[int]
    smt: Optional[bool]
    numa_processors: Optional[str]
    numa_distances: Optional[str]
    caches: Optional[str]
    mhz: Optional[int]
    mhz_min: Optional[int]
    mhz_max: Optional[int]
    governor: Optional[str]
    frequency_driver: Optional[str]
    turbo: Optional[bool]
    memory_bytes: Optional[int]
    hugepages: Optional[str]
    numa_balancing: Optional[bool]
    isolated: Optional[str]
    tickless: Optional[str]
    randomized: Optional[bool]
    kernel: Optional[str]
    clock_source: Optional[str]
    hypervisor: Optional[str]
    address: Optional[str]

class EnvironmentRow(KnownRow):
    variable: str
    value: str
    cut: bool
    rank_count: int
    rank_runs: str

class AffinityRow(KnownRow):
    rank: int
    thread: int
    host: str
    processors: str
    processor_count: int
    is_bound: Optional[bool]
    processors_last: Optional[str]
    numa_nodes: Optional[str]
    cpu: Optional[int]
    numa_node: Optional[int]
    other_ranks: int

class RanksRow(KnownRow):
    rank: int
    host: str
    pid: Optional[int]
    state: Literal['finalized', 'exited', 'replaced', 'killed', 'cut', 'running']
    app_time_s: float
    mpi_time_s: float
    polled_s: float
    asked_s: float
    wait_s: float
    wait_kind: Optional[Literal['exact', 'estimate']]
    compute_share: Optional[float]
    polled_share: Optional[float]
    thread_wait_share: Optional[float]
    mpi_share: Optional[float]
    wait_share: Optional[float]
    mpi_shares: str
    others_waited_s: Optional[float]
    others_waited_share: Optional[float]
    cpu_s: Optional[float]
    user_s: Optional[float]
    system_s: Optional[float]
    ready_s: Optional[float]
    stolen_s: float
    throttled_s: Optional[float]
    preempted: Optional[int]
    resident_peak: Optional[int]
    resident_first: Optional[int]
    resident_half: Optional[int]
    resident_half_s: Optional[float]
    in_call: Optional[str]
    in_call_s: Optional[float]
    lost_count: int
    dropped_cells: int
    dropped_paths: int
    dropped_collectives: int
    dropped_peers: int
    dropped_comms: int
    dropped_calls: int
    dropped_disk: int
    dropped_requests: int
    dropped_events: int
    dropped_marks: int
    aborted: bool
    exit_code: Optional[int]
    exit_status: Optional[int]
    signal: Optional[str]
    delay_s: float
    paused_s: float
    recording_wait_s: float
    forgotten_s: float
    init_s: float
    finalize_s: float
    begin_s: float
    end_s: float
    overhead_s: Optional[float]
    memory_bytes: Optional[int]
    file_bytes: int
    file: str
    thread_level: Optional[str]
    program_id: int
    program: str
    thread_count: int

class ThreadsRow(KnownRow):
    rank: int
    thread: int
    tid: Optional[int]
    main: bool
    used_count: int
    count: int
    elapsed_s: Optional[float]
    user_s: Optional[float]
    system_s: Optional[float]
    mpi_time_s: float
    overhead_s: Optional[float]

class CallsitesRow(KnownRow):
    id: int
    number: int
    key: str
    function: str
    file: Optional[str]
    line: Optional[int]
    path: str
    count: int
    time_sum_s: float
    time_min_s: Optional[float]
    time_max_s: Optional[float]
    time_mean_s: Optional[float]
    time_stddev_s: Optional[float]
    share: Optional[float]
    wait_s: Optional[float]
    wait_kind: Optional[Literal['exact', 'estimate']]
    barrier_s: Optional[float]
    bytes_sent: int
    bytes_received: int
    message_count: int
    message_min_bytes: Optional[int]
    message_mean_bytes: Optional[float]
    message_max_bytes: Optional[int]
    rank_count: int
    over_ranks_min_s: Optional[float]
    over_ranks_mean_s: Optional[float]
    over_ranks_max_s: Optional[float]
    cov: Optional[float]

class SiteSizesRow(KnownRow):
    callsite_id: int
    number: int
    function: str
    called_by: Optional[str]
    low_bytes: int
    below_bytes: Optional[int]
    smallest_bytes: Optional[int]
    largest_bytes: Optional[int]
    sent_count: int
    bytes_sent: int
    received_count: int
    bytes_received: int
    time_s: float

class CallsitesByRankRow(KnownRow):
    callsite_id: int
    function: str
    rank: int
    count: int
    time_sum_s: float
    time_min_s: Optional[float]
    time_max_s: Optional[float]
    time_mean_s: Optional[float]
    time_stddev_s: Optional[float]
    wait_s: Optional[float]
    wait_kind: Optional[Literal['exact', 'estimate']]
    barrier_s: Optional[float]
    bytes_sent: int
    bytes_received: int
    message_count: int
    message_min_bytes: Optional[int]
    message_mean_bytes: Optional[float]
    message_max_bytes: Optional[int]

class MpiFunctionsRow(KnownRow):
    function: str
    count: int
    time_sum_s: float
    time_min_s: Optional[float]
    time_max_s: Optional[float]
    time_mean_s: Optional[float]
    time_stddev_s: Optional[float]
    share: Optional[float]
    wait_s: Optional[float]
    wait_kind: Optional[Literal['exact', 'estimate']]
    bytes_sent: int
    bytes_received: int
    callsite_count: int
    rank_count: int

class SizesSentRow(KnownRow):
    function: str
    low_bytes: int
    high_bytes: int
    count: int
    bytes: int
    time_s: float

class SizesReceivedRow(KnownRow):
    function: str
    low_bytes: int
    high_bytes: int
    count: int
    bytes: int
    time_s: float

class DurationsRow(KnownRow):
    function: str
    low_s: float
    high_s: Optional[float]
    count: int

class MessageSizesRow(KnownRow):
    low_bytes: int
    below_bytes: Optional[int]
    sent_count: int
    bytes_sent: int
    received_count: int
    bytes_received: int
    time_s: float
    function: Optional[str]

class SizeClassesRow(KnownRow):
    function: str
    comm_size: Optional[int]
    low_bytes: int
    below_bytes: Optional[int]
    sent_count: int
    bytes_sent: int
    received_count: int
    bytes_received: int
    time_s: float

class MatrixRow(KnownRow):
    to: int
    messages: int
    bytes: int
    share: Optional[float]
    mean_bytes: Optional[float]

class CommunicatorsRow(KnownRow):
    uid: str
    parent_uid: Optional[str]
    name: Optional[str]
    label: str
    size: int
    remote_size: int
    inferred: bool
    freed: bool
    rank_count: int
    members: Optional[str]
    remote_members: Optional[str]
    collective_count: int
    count: int
    time_s: float
    share: Optional[float]
    wait_s: float
    bytes_sent: int
    bytes_received: int

class GridsRow(KnownRow):
    uid: str
    label: str
    size: int
    periodic: bool

class EfficiencyRow(KnownRow):
    parallel: Optional[float]
    load_balance: Optional[float]
    communication: Optional[float]
    serialization: Optional[float]
    transfer: Optional[float]

class HybridEfficiencyRow(KnownRow):
    parallel: Optional[float]
    mpi_parallel: Optional[float]
    mpi_load_balance: Optional[float]
    mpi_communication: Optional[float]
    omp_parallel: Optional[float]
    omp_load_balance: Optional[float]
    omp_scheduling: Optional[float]
    omp_serialization: Optional[float]
    useful_s: Optional[float]
    imbalance_s: Optional[float]
    scheduling_s: Optional[float]
    serialization_s: Optional[float]

class WaitingRow(KnownRow):
    source: Literal['trace', 'profile']
    wait_s: float
    wait_kind: Literal['exact', 'estimate']
    text: str
    coverage: Optional[float]
    unexplained_s: Optional[float]

class CulpritsRow(KnownRow):
    rank: int
    callsite_id: Optional[int]
    where: Literal['computing', 'mpi']
    place: str
    when: Optional[str]
    callsite_number: Optional[int]
    share: Optional[float]
    cost_s: float
    direct_s: Optional[float]
    propagated_s: Optional[float]
    wait_kind: Literal['exact', 'estimate']

class LateProceduresRow(KnownRow):
    rank: int
    procedure: Optional[str]
    file: Optional[str]
    callsite_id: Optional[int]
    callsite_number: Optional[int]
    cpu_s: float
    delay_s: float
    critical_s: float

class WaitingByRankRow(KnownRow):
    rank: int
    caused_s: Optional[float]
    charged_s: Optional[float]
    critical_s: Optional[float]
    wait_kind: Literal['exact', 'estimate']

class WaitKindsRow(KnownRow):
    kind: str
    label: str
    count: int
    share: Optional[float]
    wait_s: float
    wait_kind: Literal['exact', 'estimate']
    is_transfer: bool

class RegionsRow(KnownRow):
    from_callsite_id: Optional[int]
    callsite_id: int
    label: str
    place: str
    callsite_number: Optional[int]
    count: int
    rank_count: int
    mean_s: float
    max_s: float
    share: Optional[float]
    max_rank: int
    blocked_s: Optional[float]
    blocked_count: int
    preempted_s: Optional[float]
    preempted_count: int
    unseen_count: int
    balance: Optional[float]
    imbalance_s: float
    critical_computing_s: float
    critical_mpi_s: float
    critical_share: Optional[float]
    wait_kind: Literal['exact', 'estimate']

class RegionsByRankRow(KnownRow):
    from_callsite_id: Optional[int]
    callsite_id: int
    rank: int
    count: int
    time_s: float
    blocked_s: Optional[float]
    blocked_count: int
    preempted_s: Optional[float]
    preempted_count: int
    unseen_count: int
    wait_kind: Literal['exact', 'estimate']

class RegionProceduresRow(KnownRow):
    from_callsite_id: Optional[int]
    callsite_id: int
    procedure_id: int
    procedure: str
    rank: int
    ticks: int
    time_s: float
    others_s: float
    source: Literal['trace', 'profile']

class TimelineRow(KnownRow):
    rank: int
    begin_s: float
    end_s: float
    share: float

class IterationsRow(KnownRow):
    unit_id: int
    inside: Optional[int]
    function: Optional[str]
    place: Optional[str]
    callsite_id: int
    source: Literal['trace', 'collectives']
    count: int
    rank_count: int
    begin_s: float
    end_s: float
    mean_s: float
    p50_s: float
    p95_s: float
    longest_s: float
    longest_number: int
    longest_at_s: Optional[float]
    computing_s: Optional[float]
    mpi_s: Optional[float]
    wait_s: Optional[float]
    first_s: Optional[float]
    last_s: Optional[float]
    growth: Optional[float]
    period: Optional[int]
    period_first: Optional[int]
    period_factor: Optional[float]
    outliers: Optional[int]
    moves_every: Optional[float]

class IterationsByNumberRow(KnownRow):
    unit_id: int
    number: int
    merged: int
    begin_s: float
    duration_s: float
    longest_s: float
    computing_s: Optional[float]
    mpi_s: Optional[float]
    wait_s: Optional[float]
    imbalance_s: Optional[float]
    slowest_rank: Optional[int]

class SamplingRow(KnownRow):
    rate_hz: int
    thread_count: int
    mode: Literal['breakpoints', 'calls', 'costs only', 'clock', 'mixed']
    refusal: Optional[str]
    refused_thread_count: int
    stopped: Optional[str]
    stopped_thread_count: int
    ticks: int
    cpu_s: float
    computing_s: float
    trap_count: int
    entry_count: int
    return_count: int
    abandoned_count: int
    open_count: int
    lost_count: int
    lost_path_ticks: int
    log_lost_count: int
    samples_lost_count: int
    skipped_count: int
    held_back_ticks: int
    no_stack_ticks: int
    not_followed_count: int
    cut_count: int
    trap_s: float
    trap_spread_s: float
    resolution_s: float
    tool_time_s: float
    tool_time_share: Optional[float]
    migrations_exact: bool
    events_estimated_count: int
    events_unknown_count: int
    events_unshown_count: int

class SamplingEventsRow(KnownRow):
    event: str
    rank_count: int
    refused_rank_count: int
    refusal: Optional[str]
    user_only: bool

class SampledFunctionsRow(KnownRow):
    id: int
    key: str
    total_id: int
    function: Optional[str]
    file: Optional[str]
    line: Optional[int]
    path: str
    ticks: int
    mpi_ticks: int
    sync_ticks: int
    called_by: Optional[str]
    time_share: float
    within: Optional[float]
    between: Optional[float]
    verdict: Literal['varies', 'steady', 'too few', 'small share', 'waits', 'too short', 'by caller', 'loop at entry', 'events vary', 'rare long calls', 'single calls', 'trend']
    varies: bool
    varies_by: Optional[Literal['within', 'between', 'both']]
    judged: bool
    pooled: bool
    inside_mpi: bool
    waits: bool
    advice: Optional[str]
    entry_count: int
    return_count: int
    abandoned_count: int
    rank_count: int
    thread_count: int
    fast: bool
    mean_cpu_s: Optional[float]
    mean_time_s: Optional[float]
    mpi_share: Optional[float]
    sample_count: Optional[int]
    window_sample_count: Optional[int]
    bias: Optional[float]
    off_variance_share: Optional[float]
    off_variance_low: Optional[float]
    off_variance_high: Optional[float]

class SampledMetricsRow(KnownRow):
    function_id: int
    function: Optional[str]
    metric: str
    unit: Literal['s', 'bytes', 'count']
    sample_count: int
    mean: Optional[float]
    stddev: Optional[float]
    cov: Optional[float]
    window_sample_count: int
    window_mean: Optional[float]
    window_cov: Optional[float]
    bias: Optional[float]
    p50: Optional[float]
    p90: Optional[float]
    p99: Optional[float]
    trend_change: Optional[float]
    trend_error: Optional[float]
    trend_significant: Optional[bool]
    within: Optional[float]
    between: Optional[float]
    by_caller: Optional[float]
    varies: Optional[bool]

class SampledHistogramRow(KnownRow):
    function_id: int
    function: Optional[str]
    metric: str
    begin: float
    end: float
    count: int

class SampledByThreadRow(KnownRow):
    function_id: int
    function: Optional[str]
    metric: str
    rank: int
    thread: int
    sample_count: int
    mean: Optional[float]
    stddev: Optional[float]
    window_sample_count: int
    window_mean: Optional[float]

class SampledInstancesRow(KnownRow):
    function_id: int
    function: Optional[str]
    begin_s: float
    time_s: float
    cpu_s: float
    rank: int
    thread: int
    event_1: Optional[int]
    event_2: Optional[int]
    event_3: Optional[int]
    event_4: Optional[int]

class SampledRecentRow(KnownRow):
    function_id: int
    function: Optional[str]
    begin_s: float
    time_s: float
    cpu_s: float
    rank: int
    thread: int
    event_1: Optional[int]
    event_2: Optional[int]
    event_3: Optional[int]
    event_4: Optional[int]

class SampledTotalsRow(KnownRow):
    id: int
    function: Optional[str]
    name: Optional[str]
    called_by: Optional[str]
    first_context_id: int
    context_count: int
    file: Optional[str]
    line: Optional[int]
    ticks: int
    mpi_ticks: int
    sync_ticks: int
    time_share: float
    verdict: Literal['varies', 'steady', 'too few', 'small share', 'waits', 'too short', 'by caller', 'loop at entry', 'events vary', 'rare long calls', 'single calls', 'trend']
    within: Optional[float]
    by_caller: Optional[float]
    between: Optional[float]
    varies: bool
    varies_by: Optional[Literal['within', 'between', 'both']]
    judged: bool
    pooled: bool
    inside_mpi: bool
    waits: bool
    advice: Optional[str]
    call_count: Optional[float]
    call_share: Optional[float]
    long_call_count: int
    long_time_s: float
    entry_count: int
    return_count: int
    abandoned_count: int
    rank_count: int
    thread_count: int
    fast: bool
    mean_cpu_s: Optional[float]
    mean_time_s: Optional[float]
    mpi_share: Optional[float]
    sample_count: Optional[int]
    window_sample_count: Optional[int]
    bias: Optional[float]
    off_variance_share: Optional[float]
    off_variance_low: Optional[float]
    off_variance_high: Optional[float]

class SampledTotalMetricsRow(KnownRow):
    total_id: int
    function: Optional[str]
    metric: str
    unit: Literal['s', 'bytes', 'count']
    sample_count: int
    mean: Optional[float]
    stddev: Optional[float]
    cov: Optional[float]
    window_sample_count: int
    window_mean: Optional[float]
    window_cov: Optional[float]
    bias: Optional[float]
    p50: Optional[float]
    p90: Optional[float]
    p99: Optional[float]
    trend_change: Optional[float]
    trend_error: Optional[float]
    trend_significant: Optional[bool]
    within: Optional[float]
    between: Optional[float]
    by_caller: Optional[float]
    varies: Optional[bool]

class SampledTotalHistogramRow(KnownRow):
    total_id: int
    function: Optional[str]
    metric: str
    begin: float
    end: float
    count: int

class SampledTotalByThreadRow(KnownRow):
    total_id: int
    function: Optional[str]
    metric: str
    rank: int
    thread: int
    sample_count: int
    mean: Optional[float]
    stddev: Optional[float]
    window_sample_count: int
    window_mean: Optional[float]

class SampledThreadsRow(KnownRow):
    rank: int
    thread: int
    ticks: int
    time_s: float
    mpi_ticks: int
    lost_ticks: int

class CpuProceduresRow(KnownRow):
    id: int
    procedure: str
    file: Optional[str]
    first_line: Optional[int]
    last_line: Optional[int]
    module: Optional[str]
    inlined: bool
    library: bool
    exclusive_ticks: int
    exclusive_time_s: float
    exclusive_error_s: float
    exclusive_mpi_ticks: int
    exclusive_sync_ticks: int
    inclusive_ticks: int
    inclusive_time_s: float
    inclusive_error_s: float
    inclusive_mpi_ticks: int
    inclusive_sync_ticks: int
    exclusive_share: Optional[float]
    inclusive_share: Optional[float]
    inclusive_mpi_share: Optional[float]
    inclusive_sync_share: Optional[float]
    own_ticks: Optional[int]
    own_time_s: Optional[float]
    own_error_s: Optional[float]
    own_mpi_ticks: Optional[int]
    own_sync_ticks: Optional[int]
    rank_range_min_s: Optional[float]
    rank_range_max_s: float
    rank_range_max_rank: int

class CpuProceduresByThreadRow(KnownRow):
    procedure_id: int
    procedure: str
    rank: int
    thread: int
    exclusive_ticks: int
    exclusive_time_s: float
    inclusive_ticks: int
    inclusive_time_s: float
    inclusive_mpi_ticks: int
    inclusive_sync_ticks: int
    exclusive_mpi_ticks: int
    own_ticks: int
    own_mpi_ticks: int

class CpuLoopsRow(KnownRow):
    id: int
    place: str
    function: str
    file: Optional[str]
    first_line: Optional[int]
    last_line: Optional[int]
    module: Optional[str]
    offset: int
    depth: int
    parent_id: Optional[int]
    kind: Optional[Literal['for', 'while', 'do-while', 'do', 'do while', 'do concurrent', 'array']]
    parallelised: Optional[Literal['no', 'openmp', 'auto']]
    vectorised: bool
    exclusive_ticks: int
    exclusive_time_s: float
    exclusive_error_s: float
    exclusive_mpi_ticks: int
    exclusive_sync_ticks: int
    inclusive_ticks: int
    inclusive_time_s: float
    inclusive_error_s: float
    inclusive_mpi_ticks: int
    inclusive_sync_ticks: int
    exclusive_share: Optional[float]
    inclusive_share: Optional[float]
    inclusive_mpi_share: Optional[float]
    inclusive_sync_share: Optional[float]

class CpuLoopsByRankRow(KnownRow):
    loop_id: int
    function: str
    rank: int
    exclusive_ticks: int
    exclusive_time_s: float
    inclusive_ticks: int
    inclusive_time_s: float
    inclusive_mpi_ticks: int
    inclusive_sync_ticks: int

class CpuLinesRow(KnownRow):
    place: str
    file: str
    line: int
    procedure_id: int
    procedure: str
    exclusive_ticks: int
    exclusive_time_s: float
    exclusive_error_s: float
    exclusive_mpi_ticks: int
    exclusive_sync_ticks: int
    inclusive_ticks: int
    inclusive_time_s: float
    inclusive_error_s: float
    inclusive_mpi_ticks: int
    inclusive_sync_ticks: int
    exclusive_share: Optional[float]
    inclusive_share: Optional[float]
    inclusive_mpi_share: Optional[float]
    inclusive_sync_share: Optional[float]

class CpuLinesByRankRow(KnownRow):
    file: str
    line: int
    rank: int
    exclusive_ticks: int
    exclusive_time_s: float
    inclusive_ticks: int
    inclusive_time_s: float
    inclusive_mpi_ticks: int
    inclusive_sync_ticks: int

class CallTreeRow(KnownRow):
    id: int
    parent_id: Optional[int]
    procedure_id: int
    procedure: str
    exclusive_ticks: int
    exclusive_time_s: float
    inclusive_ticks: int
    inclusive_time_s: float
    inclusive_mpi_ticks: int
    inclusive_sync_ticks: int

class SectionsRow(KnownRow):
    id: int
    section: str
    number: int
    level: int
    whole: bool
    others: bool
    rank_count: int
    thread_count: int
    other_thread_count: int
    cpu_kind: Literal['exact', 'estimate']
    count: int
    too_short: bool
    instance_min_s: Optional[float]
    instance_max_s: Optional[float]
    instance_mean_s: Optional[float]
    instance_stddev_s: Optional[float]
    instance_p50_s: Optional[float]
    instance_p90_s: Optional[float]
    instance_p99_s: Optional[float]
    elapsed_sum_s: Optional[float]
    elapsed_mean_s: Optional[float]
    elapsed_min_s: Optional[float]
    elapsed_max_s: Optional[float]
    elapsed_max_rank: Optional[int]
    elapsed_share: Optional[float]
    imbalance: Optional[float]
    thread_time_sum_s: Optional[float]
    thread_time_mean_s: Optional[float]
    thread_time_min_s: Optional[float]
    thread_time_max_s: Optional[float]
    thread_time_max_rank: Optional[int]
    user_time_sum_s: Optional[float]
    user_time_mean_s: Optional[float]
    user_time_min_s: Optional[float]
    user_time_max_s: Optional[float]
    user_time_max_rank: Optional[int]
    system_time_sum_s: Optional[float]
    system_time_mean_s: Optional[float]
    system_time_min_s: Optional[float]
    system_time_max_s: Optional[float]
    system_time_max_rank: Optional[int]
    process_cpu_sum_s: Optional[float]
    process_cpu_mean_s: Optional[float]
    process_cpu_min_s: Optional[float]
    process_cpu_max_s: Optional[float]
    process_cpu_max_rank: Optional[int]
    mpi_time_sum_s: Optional[float]
    mpi_time_mean_s: Optional[float]
    mpi_time_min_s: Optional[float]
    mpi_time_max_s: Optional[float]
    mpi_time_max_rank: Optional[int]
    wait_sum_s: Optional[float]
    wait_mean_s: Optional[float]
    wait_min_s: Optional[float]
    wait_max_s: Optional[float]
    wait_max_rank: Optional[int]
    wait_kind: Optional[Literal['exact', 'estimate']]
    mpi_share: Optional[float]
    wait_share: Optional[float]
    lock_wait_sum_s: Optional[float]
    lock_wait_mean_s: Optional[float]
    lock_wait_min_s: Optional[float]
    lock_wait_max_s: Optional[float]
    lock_wait_max_rank: Optional[int]
    sampled_cpu_sum_s: Optional[float]
    sampled_cpu_mean_s: Optional[float]
    sampled_cpu_min_s: Optional[float]
    sampled_cpu_max_s: Optional[float]
    sampled_cpu_max_rank: Optional[int]
    thread_sampled_count: int
    thread_sampled_mean_s: Optional[float]
    thread_sampled_min_s: Optional[float]
    thread_sampled_max_s: Optional[float]
    mpi_calls_sum: Optional[int]
    mpi_calls_mean: Optional[float]
    mpi_calls_min: Optional[int]
    mpi_calls_max: Optional[int]
    mpi_calls_max_rank: Optional[int]
    faults_sum: Optional[int]
    faults_mean: Optional[float]
    faults_min: Optional[int]
    faults_max: Optional[int]
    faults_max_rank: Optional[int]
    switches_sum: Optional[int]
    switches_mean: Optional[float]
    switches_min: Optional[int]
    switches_max: Optional[int]
    switches_max_rank: Optional[int]
    sent_below_4k_sum: Optional[int]
    sent_below_4k_mean: Optional[float]
    sent_below_4k_min: Optional[int]
    sent_below_4k_max: Optional[int]
    sent_below_4k_max_rank: Optional[int]
    sent_below_64k_sum: Optional[int]
    sent_below_64k_mean: Optional[float]
    sent_below_64k_min: Optional[int]
    sent_below_64k_max: Optional[int]
    sent_below_64k_max_rank: Optional[int]
    sent_below_1m_sum: Optional[int]
    sent_below_1m_mean: Optional[float]
    sent_below_1m_min: Optional[int]
    sent_below_1m_max: Optional[int]
    sent_below_1m_max_rank: Optional[int]
    sent_1m_and_above_sum: Optional[int]
    sent_1m_and_above_mean: Optional[float]
    sent_1m_and_above_min: Optional[int]
    sent_1m_and_above_max: Optional[int]
    sent_1m_and_above_max_rank: Optional[int]
    received_below_4k_sum: Optional[int]
    received_below_4k_mean: Optional[float]
    received_below_4k_min: Optional[int]
    received_below_4k_max: Optional[int]
    received_below_4k_max_rank: Optional[int]
    received_below_64k_sum: Optional[int]
    received_below_64k_mean: Optional[float]
    received_below_64k_min: Optional[int]
    received_below_64k_max: Optional[int]
    received_below_64k_max_rank: Optional[int]
    received_below_1m_sum: Optional[int]
    received_below_1m_mean: Optional[float]
    received_below_1m_min: Optional[int]
    received_below_1m_max: Optional[int]
    received_below_1m_max_rank: Optional[int]
    received_1m_and_above_sum: Optional[int]
    received_1m_and_above_mean: Optional[float]
    received_1m_and_above_min: Optional[int]
    received_1m_and_above_max: Optional[int]
    received_1m_and_above_max_rank: Optional[int]
    messages_below_4k: Optional[int]
    messages_below_64k: Optional[int]
    messages_below_1m: Optional[int]
    messages_1m_and_above: Optional[int]
    unbalanced_open_at_end: int
    unbalanced_ended_by_thread_end: int
    unbalanced_ends_without_begin: int
    unbalanced_ends_on_another_thread: int
    unbalanced_nested_in_itself: int
    unbalanced_overlapped: int

class SectionFunctionsRow(KnownRow):
    section_id: int
    section: str
    number: int
    function: str
    count: int
    time_s: float
    wait_s: Optional[float]
    wait_kind: Optional[Literal['exact', 'estimate']]
    bytes_sent: int
    bytes_received: int
    sent_below_4k_count: int
    sent_below_64k_count: int
    sent_below_1m_count: int
    sent_1m_and_above_count: int
    received_below_4k_count: int
    received_below_64k_count: int
    received_below_1m_count: int
    received_1m_and_above_count: int
    unclassified_count: int
    rank_count: int
    rank_calls_mean_count: Optional[float]
    rank_calls_min_count: Optional[float]
    rank_calls_max_count: Optional[float]
    rank_calls_max_rank: Optional[int]
    rank_times_mean_s: Optional[float]
    rank_times_min_s: Optional[float]
    rank_times_max_s: Optional[float]
    rank_times_max_rank: Optional[int]
    rank_wait_mean_s: Optional[float]
    rank_wait_min_s: Optional[float]
    rank_wait_max_s: Optional[float]
    rank_wait_max_rank: Optional[int]
    rank_length_mean_bytes: Optional[float]
    rank_length_min_bytes: Optional[float]
    rank_length_max_bytes: Optional[float]
    rank_length_max_rank: Optional[int]

class SectionFunctionsByRankRow(KnownRow):
    section_id: int
    section: str
    number: int
    function: str
    rank: int
    count: int
    time_s: float
    wait_s: Optional[float]
    wait_kind: Optional[Literal['exact', 'estimate']]
    bytes_sent: int
    bytes_received: int
    length_bytes: Optional[float]
    below_4k_count: int
    below_64k_count: int
    below_1m_count: int
    from_1m_count: int

class SectionCallpathsRow(KnownRow):
    section_id: int
    section: str
    number: int
    function: str
    file: Optional[str]
    line: Optional[int]
    path: str
    count: int
    time_s: float
    wait_s: Optional[float]
    wait_kind: Optional[Literal['exact', 'estimate']]
    bytes_sent: int
    bytes_received: int
    sent_below_4k_count: int
    sent_below_64k_count: int
    sent_below_1m_count: int
    sent_1m_and_above_count: int
    received_below_4k_count: int
    received_below_64k_count: int
    received_below_1m_count: int
    received_1m_and_above_count: int
    unclassified_count: int

class SectionProceduresRow(KnownRow):
    section_id: int
    section: str
    number: int
    procedure_id: int
    procedure: str
    module: Optional[str]
    exclusive_ticks: int
    exclusive_time_s: float
    exclusive_error_s: float
    exclusive_mpi_ticks: int
    exclusive_sync_ticks: int
    inclusive_ticks: int
    inclusive_time_s: float
    inclusive_error_s: float
    inclusive_mpi_ticks: int
    inclusive_sync_ticks: int
    exclusive_share: Optional[float]
    inclusive_share: Optional[float]
    inclusive_mpi_share: Optional[float]
    inclusive_sync_share: Optional[float]

class SectionCostpathsRow(KnownRow):
    section_id: int
    section: str
    number: int
    file: Optional[str]
    line: Optional[int]
    path: str
    ticks: int
    time_s: float
    mpi_ticks: int

class SectionsByRankRow(KnownRow):
    section_id: int
    section: str
    number: int
    rank: int
    count: int
    thread_count: int
    other_thread_count: int
    cpu_kind: Literal['exact', 'estimate']
    instance_min_s: Optional[float]
    instance_max_s: Optional[float]
    instance_mean_s: Optional[float]
    instance_stddev_s: Optional[float]
    instance_p50_s: Optional[float]
    instance_p90_s: Optional[float]
    instance_p99_s: Optional[float]
    elapsed_s: Optional[float]
    thread_time_s: Optional[float]
    user_time_s: Optional[float]
    system_time_s: Optional[float]
    process_cpu_s: Optional[float]
    mpi_time_s: Optional[float]
    wait_s: Optional[float]
    wait_kind: Optional[Literal['exact', 'estimate']]
    lock_wait_s: Optional[float]
    sampled_cpu_s: Optional[float]
    thread_sampled_count: int
    thread_sampled_mean_s: Optional[float]
    thread_sampled_min_s: Optional[float]
    thread_sampled_max_s: Optional[float]
    mpi_call_count: Optional[int]
    fault_count: Optional[int]
    switch_count: Optional[int]
    sent_below_4k_count: Optional[int]
    sent_below_64k_count: Optional[int]
    sent_below_1m_count: Optional[int]
    sent_1m_and_above_count: Optional[int]
    received_below_4k_count: Optional[int]
    received_below_64k_count: Optional[int]
    received_below_1m_count: Optional[int]
    received_1m_and_above_count: Optional[int]
    unbalanced_open_at_end: int
    unbalanced_ended_by_thread_end: int
    unbalanced_ends_without_begin: int
    unbalanced_ends_on_another_thread: int
    unbalanced_nested_in_itself: int
    unbalanced_overlapped: int

class SectionThreadsRow(KnownRow):
    section_id: int
    section: str
    number: int
    rank: int
    thread: int
    opener: bool
    count: int
    time_s: Optional[float]
    cpu_s: Optional[float]
    user_s: Optional[float]
    system_s: Optional[float]
    mpi_s: Optional[float]
    sampled_s: Optional[float]
    page_faults: Optional[float]
    kind: Literal['exact', 'estimate']

class SectionSheetRow(KnownRow):
    section: str
    number: int
    rank: int
    thread: int
    time_s: Optional[float]
    work_s: Optional[float]
    mispredicted_s: Optional[float]
    restarts_s: Optional[float]
    thrown_away_s: Optional[float]
    late_fetch_s: Optional[float]
    narrow_fetch_s: Optional[float]
    fetch_s: Optional[float]
    l1_s: Optional[float]
    l2_s: Optional[float]
    l3_s: Optional[float]
    dram_s: Optional[float]
    stores_s: Optional[float]
    memory_s: Optional[float]
    core_s: Optional[float]
    backend_s: Optional[float]
    untold_s: Optional[float]
    kernel_s: Optional[float]
    off_cpu_s: Optional[float]
    instruction_rate: Optional[float]
    ipc: Optional[float]
    retired_none_share: Optional[float]
    retired_1_share: Optional[float]
    retired_2_share: Optional[float]
    retired_4_share: Optional[float]
    divider_busy: Optional[float]
    flop_rate: Optional[float]
    flop_of_peak: Optional[float]
    flop_share: Optional[float]
    l1_busy: Optional[float]
    l2_busy: Optional[float]
    memory_busy: Optional[float]
    l2_read_rate: Optional[float]
    memory_read_rate: Optional[float]
    write_back_rate: Optional[float]
    write_back_share: Optional[float]
    load_share: Optional[float]
    store_share: Optional[float]
    branch_share: Optional[float]
    integer_share: Optional[float]
    fp_scalar_share: Optional[float]
    fp_128_share: Optional[float]
    fp_256_share: Optional[float]
    fp_512_share: Optional[float]
    fp_vector_share: Optional[float]
    fp_share: Optional[float]
    rest_share: Optional[float]
    fma_share: Optional[float]
    fma_flop_share: Optional[float]
    vector_integer_share: Optional[float]
    prefetch_share: Optional[float]
    l1i_misses_per_1000: Optional[float]
    l1d_miss_share: Optional[float]
    l1d_demand_share: Optional[float]
    l1d_hardware_share: Optional[float]
    l1d_software_share: Optional[float]
    l2_miss_share: Optional[float]
    l2_misses_per_1000: Optional[float]
    l2_demand_share: Optional[float]
    l2_prefetch_share: Optional[float]
    dtlb_misses_per_1000: Optional[float]
    dtlb_walk_share: Optional[float]
    itlb_misses_per_1000: Optional[float]
    load_balance: Optional[float]
    instruction_balance: Optional[float]
    marked: Optional[str]
    mark: Optional[str]

class SectionSheetProcessesRow(KnownRow):
    section: str
    number: int
    rank: int
    elapsed_s: Optional[float]
    time_s: Optional[float]
    work_s: Optional[float]
    mispredicted_s: Optional[float]
    restarts_s: Optional[float]
    thrown_away_s: Optional[float]
    late_fetch_s: Optional[float]
    narrow_fetch_s: Optional[float]
    fetch_s: Optional[float]
    l1_s: Optional[float]
    l2_s: Optional[float]
    l3_s: Optional[float]
    dram_s: Optional[float]
    stores_s: Optional[float]
    memory_s: Optional[float]
    core_s: Optional[float]
    backend_s: Optional[float]
    untold_s: Optional[float]
    kernel_s: Optional[float]
    off_cpu_s: Optional[float]
    instruction_rate: Optional[float]
    ipc: Optional[float]
    retired_none_share: Optional[float]
    retired_1_share: Optional[float]
    retired_2_share: Optional[float]
    retired_4_share: Optional[float]
    divider_busy: Optional[float]
    flop_rate: Optional[float]
    flop_of_peak: Optional[float]
    flop_share: Optional[float]
    l1_busy: Optional[float]
    l2_busy: Optional[float]
    memory_busy: Optional[float]
    l2_read_rate: Optional[float]
    memory_read_rate: Optional[float]
    write_back_rate: Optional[float]
    write_back_share: Optional[float]
    load_share: Optional[float]
    store_share: Optional[float]
    branch_share: Optional[float]
    integer_share: Optional[float]
    fp_scalar_share: Optional[float]
    fp_128_share: Optional[float]
    fp_256_share: Optional[float]
    fp_512_share: Optional[float]
    fp_vector_share: Optional[float]
    fp_share: Optional[float]
    rest_share: Optional[float]
    fma_share: Optional[float]
    fma_flop_share: Optional[float]
    vector_integer_share: Optional[float]
    prefetch_share: Optional[float]
    l1i_misses_per_1000: Optional[float]
    l1d_miss_share: Optional[float]
    l1d_demand_share: Optional[float]
    l1d_hardware_share: Optional[float]
    l1d_software_share: Optional[float]
    l2_miss_share: Optional[float]
    l2_misses_per_1000: Optional[float]
    l2_demand_share: Optional[float]
    l2_prefetch_share: Optional[float]
    dtlb_misses_per_1000: Optional[float]
    dtlb_walk_share: Optional[float]
    itlb_misses_per_1000: Optional[float]
    load_balance: Optional[float]
    instruction_balance: Optional[float]
    marked: Optional[str]
    mark: Optional[str]

class SectionNamesRow(KnownRow):
    section: str
    number_count: int
    longest_number: int
    rank_count: int
    thread_count: int
    other_thread_count: int
    cpu_kind: Literal['exact', 'estimate']
    count: int
    too_short: bool
    instance_min_s: Optional[float]
    instance_max_s: Optional[float]
    instance_mean_s: Optional[float]
    instance_stddev_s: Optional[float]
    instance_p50_s: Optional[float]
    instance_p90_s: Optional[float]
    instance_p99_s: Optional[float]
    elapsed_sum_s: Optional[float]
    elapsed_mean_s: Optional[float]
    elapsed_min_s: Optional[float]
    elapsed_max_s: Optional[float]
    elapsed_max_rank: Optional[int]
    elapsed_share: Optional[float]
    imbalance: Optional[float]
    thread_time_sum_s: Optional[float]
    thread_time_mean_s: Optional[float]
    thread_time_min_s: Optional[float]
    thread_time_max_s: Optional[float]
    thread_time_max_rank: Optional[int]
    user_time_sum_s: Optional[float]
    user_time_mean_s: Optional[float]
    user_time_min_s: Optional[float]
    user_time_max_s: Optional[float]
    user_time_max_rank: Optional[int]
    system_time_sum_s: Optional[float]
    system_time_mean_s: Optional[float]
    system_time_min_s: Optional[float]
    system_time_max_s: Optional[float]
    system_time_max_rank: Optional[int]
    process_cpu_sum_s: Optional[float]
    process_cpu_mean_s: Optional[float]
    process_cpu_min_s: Optional[float]
    process_cpu_max_s: Optional[float]
    process_cpu_max_rank: Optional[int]
    mpi_time_sum_s: Optional[float]
    mpi_time_mean_s: Optional[float]
    mpi_time_min_s: Optional[float]
    mpi_time_max_s: Optional[float]
    mpi_time_max_rank: Optional[int]
    wait_sum_s: Optional[float]
    wait_mean_s: Optional[float]
    wait_min_s: Optional[float]
    wait_max_s: Optional[float]
    wait_max_rank: Optional[int]
    wait_kind: Optional[Literal['exact', 'estimate']]
    mpi_share: Optional[float]
    wait_share: Optional[float]
    lock_wait_sum_s: Optional[float]
    lock_wait_mean_s: Optional[float]
    lock_wait_min_s: Optional[float]
    lock_wait_max_s: Optional[float]
    lock_wait_max_rank: Optional[int]
    sampled_cpu_sum_s: Optional[float]
    sampled_cpu_mean_s: Optional[float]
    sampled_cpu_min_s: Optional[float]
    sampled_cpu_max_s: Optional[float]
    sampled_cpu_max_rank: Optional[int]
    thread_sampled_count: int
    thread_sampled_mean_s: Optional[float]
    thread_sampled_min_s: Optional[float]
    thread_sampled_max_s: Optional[float]
    mpi_calls_sum: Optional[int]
    mpi_calls_mean: Optional[float]
    mpi_calls_min: Optional[int]
    mpi_calls_max: Optional[int]
    mpi_calls_max_rank: Optional[int]
    faults_sum: Optional[int]
    faults_mean: Optional[float]
    faults_min: Optional[int]
    faults_max: Optional[int]
    faults_max_rank: Optional[int]
    switches_sum: Optional[int]
    switches_mean: Optional[float]
    switches_min: Optional[int]
    switches_max: Optional[int]
    switches_max_rank: Optional[int]
    sent_below_4k_sum: Optional[int]
    sent_below_4k_mean: Optional[float]
    sent_below_4k_min: Optional[int]
    sent_below_4k_max: Optional[int]
    sent_below_4k_max_rank: Optional[int]
    sent_below_64k_sum: Optional[int]
    sent_below_64k_mean: Optional[float]
    sent_below_64k_min: Optional[int]
    sent_below_64k_max: Optional[int]
    sent_below_64k_max_rank: Optional[int]
    sent_below_1m_sum: Optional[int]
    sent_below_1m_mean: Optional[float]
    sent_below_1m_min: Optional[int]
    sent_below_1m_max: Optional[int]
    sent_below_1m_max_rank: Optional[int]
    sent_1m_and_above_sum: Optional[int]
    sent_1m_and_above_mean: Optional[float]
    sent_1m_and_above_min: Optional[int]
    sent_1m_and_above_max: Optional[int]
    sent_1m_and_above_max_rank: Optional[int]
    received_below_4k_sum: Optional[int]
    received_below_4k_mean: Optional[float]
    received_below_4k_min: Optional[int]
    received_below_4k_max: Optional[int]
    received_below_4k_max_rank: Optional[int]
    received_below_64k_sum: Optional[int]
    received_below_64k_mean: Optional[float]
    received_below_64k_min: Optional[int]
    received_below_64k_max: Optional[int]
    received_below_64k_max_rank: Optional[int]
    received_below_1m_sum: Optional[int]
    received_below_1m_mean: Optional[float]
    received_below_1m_min: Optional[int]
    received_below_1m_max: Optional[int]
    received_below_1m_max_rank: Optional[int]
    received_1m_and_above_sum: Optional[int]
    received_1m_and_above_mean: Optional[float]
    received_1m_and_above_min: Optional[int]
    received_1m_and_above_max: Optional[int]
    received_1m_and_above_max_rank: Optional[int]
    messages_below_4k: Optional[int]
    messages_below_64k: Optional[int]
    messages_below_1m: Optional[int]
    messages_1m_and_above: Optional[int]
    unbalanced_open_at_end: int
    unbalanced_ended_by_thread_end: int
    unbalanced_ends_without_begin: int
    unbalanced_ends_on_another_thread: int
    unbalanced_nested_in_itself: int
    unbalanced_overlapped: int

class SectionInstancesRow(KnownRow):
    section: str
    number: int
    rank: int
    thread: int
    instance_number: int
    begin_s: float
    elapsed_s: float
    mpi_time_s: float
    calls: int
    mpi_bytes: int

class SectionWarmUpRow(KnownRow):
    section: str
    number: int
    thread_count: int
    warm_up_count: int
    instance_count: int
    warm_up_s: Optional[float]
    steady_s: Optional[float]
    excess_s: float

class SectionIterationsRow(KnownRow):
    section: str
    count: int
    is_part: bool
    rank_count: int
    begin_s: float
    end_s: float
    mean_s: float
    p50_s: float
    p95_s: float
    longest_s: float
    longest_number: int
    longest_at_s: float
    computing_s: float
    mpi_s: float
    first_s: Optional[float]
    last_s: Optional[float]
    growth: Optional[float]
    period: Optional[int]
    period_first: Optional[int]
    period_factor: Optional[float]
    outliers: Optional[int]
    moves_every: Optional[float]

class SectionsLostRow(KnownRow):
    above_level_count: int
    too_deep_count: int
    too_many_count: int
    calls_not_told_apart_count: int
    interrupted_count: int
    unmeasured_count: int
    not_apart_count: int
    untraced_count: int

class InstrumentedRow(KnownRow):
    id: int
    function: Optional[str]
    file: Optional[str]
    line: Optional[int]
    share: Optional[float]
    calls: int
    nested: int
    counted: int
    open_count: int
    time_s: float
    self_s: float
    computing_s: float
    mpi_s: float
    mean_s: Optional[float]
    min_s: Optional[float]
    max_s: Optional[float]
    rank_count: int
    rank_mean_s: float
    rank_max_s: float
    max_rank: Optional[int]
    imbalance_s: float

class InstrumentedRanksRow(KnownRow):
    function_id: int
    function: Optional[str]
    rank: int
    calls: int
    nested: int
    counted: int
    open_count: int
    time_s: float
    self_s: float
    computing_s: float
    mpi_s: float
    mean_s: Optional[float]
    min_s: Optional[float]
    max_s: Optional[float]

class InstrumentedPathsRow(KnownRow):
    id: int
    parent_id: Optional[int]
    function_id: int
    tree: str
    called_at: Optional[str]
    file: Optional[str]
    line: Optional[int]
    path: str
    share: Optional[float]
    calls: int
    nested: int
    counted: int
    open_count: int
    time_s: float
    self_s: float
    computing_s: float
    mpi_s: float
    mean_s: Optional[float]
    min_s: Optional[float]
    max_s: Optional[float]
    rank_count: int
    rank_max_s: float
    max_rank: Optional[int]

class FunctionWarmUpRow(KnownRow):
    function: Optional[str]
    thread_count: int
    warm_up_count: int
    warm_up_s: Optional[float]
    steady_s: Optional[float]
    steady_max_s: Optional[float]
    ratio: Optional[float]
    excess_s: float

class InstrumentedCountsRow(KnownRow):
    function_id: int
    function: Optional[str]
    event: str
    counted: int
    self_counted: Optional[int]
    mpi_counted: Optional[int]
    calls: int
    mean: float
    rank_max: int
    max_rank: Optional[int]

class InstrumentedLostRow(KnownRow):
    too_deep: int
    no_room: int
    left: int
    unbegun: int
    interrupted: int
    untraced: int

class StreamsRow(KnownRow):
    rank: int
    device: Optional[str]
    stream: Optional[str]
    function: Optional[str]
    kind: Literal['kernel', 'copy', 'other']
    calls: int
    time_s: float
    share: Optional[float]
    mean_s: Optional[float]
    min_s: Optional[float]
    max_s: Optional[float]

class LocksRow(KnownRow):
    id: int
    key: str
    kind: Literal['mutex', 'rwlock', 'spin', 'barrier', 'cond', 'sem', 'join', 'once', 'omp', '?']
    name: str
    label: str
    wait_s: float
    wait_share: Optional[float]
    idle_s: float
    wait_max_s: float
    count: int
    contended_count: int
    contended_share: Optional[float]
    failed_count: int
    signal_count: int
    last_count: int
    hold_s: Optional[float]
    hold_share: Optional[float]
    hold_max_s: Optional[float]
    held_at_end_count: int
    owner_change_count: Optional[int]
    worst_rank: Optional[int]
    worst_address: Optional[str]
    worst_wait_s: Optional[float]
    object_count: int
    inside_mpi: bool
    rest: bool
    process_shared: bool
    party_count: Optional[int]
    rank_count: int
    thread_count: int
    symbol: Optional[str]
    module: Optional[str]
    offset: Optional[int]
    file: Optional[str]
    line: Optional[int]
    path: str

class LockWaitsRow(KnownRow):
    lock_id: int
    kind: Literal['mutex', 'rwlock', 'spin', 'barrier', 'cond', 'sem', 'join', 'once', 'omp', '?']
    name: str
    low_s: float
    high_s: Optional[float]
    count: int

class LockSitesRow(KnownRow):
    lock_id: int
    kind: Literal['mutex', 'rwlock', 'spin', 'barrier', 'cond', 'sem', 'join', 'once', 'omp', '?']
    name: str
    role: Literal['waits', 'holds']
    operation: Literal['lock', 'try', 'timed', 'read', 'try_read', 'timed_read', 'wait', 'signal', 'broadcast', 'post', '?']
    file: Optional[str]
    line: Optional[int]
    path: str
    whole_path: bool
    count: int
    contended_count: Optional[int]
    failed_count: Optional[int]
    wait_s: Optional[float]
    wait_max_s: Optional[float]
    hold_s: Optional[float]
    hold_max_s: Optional[float]

class LocksByRankRow(KnownRow):
    lock_id: int
    kind: Literal['mutex', 'rwlock', 'spin', 'barrier', 'cond', 'sem', 'join', 'once', 'omp', '?']
    name: str
    rank: int
    thread_count: int
    count: int
    contended_count: int
    last_count: int
    wait_s: float
    hold_s: Optional[float]

class LocksByThreadRow(KnownRow):
    lock_id: int
    kind: Literal['mutex', 'rwlock', 'spin', 'barrier', 'cond', 'sem', 'join', 'once', 'omp', '?']
    name: str
    rank: int
    thread: int
    count: int
    contended_count: int
    last_count: int
    wait_s: float
    hold_s: Optional[float]

class ThreadWaitingRow(KnownRow):
    thread_s: float
    wait_s: float
    own_wait_s: float
    idle_s: float
    main_wait_s: float
    in_mpi_s: float
    holds_recorded: bool
    owners_recorded: bool
    lost_in_signal_handlers: int
    lost_without_record: int
    lost_holds: int
    lost_thread_lives: int

class ThreadWaitKindsRow(KnownRow):
    kind: Literal['mutex', 'rwlock', 'spin', 'barrier', 'cond', 'sem', 'join', 'once', 'omp', '?']
    wait_s: float

class ThreadWaitingByRankRow(KnownRow):
    rank: int
    thread_s: float
    wait_s: float
    own_wait_s: float
    idle_s: float
    main_wait_s: float
    in_mpi_s: float

class ThreadsWaitingNowRow(KnownRow):
    rank: int
    thread: int
    tid: int
    kind: Literal['mutex', 'rwlock', 'spin', 'barrier', 'cond', 'sem', 'join', 'once', 'omp', '?']
    operation: Literal['lock', 'try', 'timed', 'read', 'try_read', 'timed_read', 'wait', 'signal', 'broadcast', 'post', '?']
    lock_id: Optional[int]
    name: Optional[str]
    file: Optional[str]
    line: Optional[int]
    path: str
    since_s: float
    for_s: Optional[float]

class PhasesRow(KnownRow):
    id: int
    kind: Literal['threads', 'omp']
    function: str
    rank_count: int
    instance_count: int
    team_mean: Optional[float]
    team_min: int
    team_max: int
    elapsed_s: float
    longest_s: float
    longest_waitless_s: float
    thread_s: float
    wait_s: float
    cpu_s: Optional[float]
    off_cpu_s: Optional[float]
    creator_s: Optional[float]
    cpu_count: Optional[int]
    queue_s: float
    join_s: Optional[float]
    fork_s: Optional[float]
    lost_thread_count: Optional[int]
    untimed_task_count: Optional[int]
    speedup_without_waiting: Optional[float]
    speedup_bound: Optional[float]
    speedup_bound_waitless: Optional[float]
    speedup_lost_to_waiting: Optional[float]
    speedup_lost_to_imbalance: Optional[float]
    speedup_lost_to_few_cpus: Optional[float]
    label: str
    rank_elapsed_s: Optional[float]
    time_share: Optional[float]
    wait_share: Optional[float]
    off_cpu_share: Optional[float]
    busiest_rank: Optional[int]
    busiest_thread: Optional[int]
    busiest_useful_s: Optional[float]
    open: bool
    file: Optional[str]
    line: Optional[int]
    path: str

class PhasesByRankRow(KnownRow):
    phase_id: int
    kind: Literal['threads', 'omp']
    function: str
    rank: int
    instance_count: int
    team_mean: Optional[float]
    team_min: int
    team_max: int
    elapsed_s: float
    longest_s: float
    longest_waitless_s: float
    thread_s: float
    wait_s: float
    cpu_s: Optional[float]
    off_cpu_s: Optional[float]
    creator_s: Optional[float]
    cpu_count: Optional[int]
    queue_s: float
    join_s: Optional[float]
    fork_s: Optional[float]
    lost_thread_count: Optional[int]
    untimed_task_count: Optional[int]
    speedup_without_waiting: Optional[float]
    speedup_bound: Optional[float]
    speedup_bound_waitless: Optional[float]
    speedup_lost_to_waiting: Optional[float]
    speedup_lost_to_imbalance: Optional[float]
    speedup_lost_to_few_cpus: Optional[float]

class WorksharingRow(KnownRow):
    construct: Literal['for', 'sections', 'single', 'workshare', 'distribute', 'taskloop', 'scope', 'masked', 'task', 'target', 'target data']
    function: Optional[str]
    place: Optional[str]
    file: Optional[str]
    line: Optional[int]
    path: str
    times: int
    thread_count: int
    executed: int
    timed: int
    time_s: Optional[float]
    max_s: Optional[float]
    wait_s: Optional[float]
    thread_max_s: Optional[float]
    balance: Optional[float]
    max_rank: Optional[int]
    max_thread: Optional[int]

class IoRow(KnownRow):
    io_file: Optional[str]
    function: str
    operation: Literal['open', 'close', 'read', 'write', 'seek', 'stat', 'sync', 'truncate', 'map', 'async_read', 'async_write', 'lock', 'remove', 'rename', 'duplicate', 'other']
    in_mpi: bool
    file: Optional[str]
    line: Optional[int]
    path: str
    called_by: Optional[str]
    share: Optional[float]
    calls: int
    failed: Optional[int]
    bytes: int
    time_s: float
    max_s: float
    in_mpi_s: float
    untimed: int
    unsized: int
    empty: int
    consecutive: int
    forward: int
    placed: int
    sizes_100: int
    sizes_1K: int
    sizes_10K: int
    sizes_100K: int
    sizes_1M: int
    sizes_4M: int
    sizes_10M: int
    sizes_100M: int
    sizes_1G: int
    sizes_more: int
    rank_count: int
    rank_max_s: float
    max_rank: int

class IoFilesRow(KnownRow):
    io_file: str
    kind: Optional[Literal['regular', 'directory', 'terminal', 'device', 'pipe', 'socket', 'other']]
    filesystem: Optional[str]
    share: Optional[float]
    time_s: float
    in_mpi_s: float
    opens: int
    reads_calls: int
    reads_bytes: int
    reads_time_s: float
    reads_in_mpi_s: float
    reads_consecutive: int
    reads_forward: int
    reads_placed: int
    writes_calls: int
    writes_bytes: int
    writes_time_s: float
    writes_in_mpi_s: float
    writes_consecutive: int
    writes_forward: int
    writes_placed: int
    other_calls: int
    other_s: float
    seeks: int
    syncs: int
    stats: int
    rank_count: int
    rank_min_s: float
    min_rank: int
    rank_max_s: float
    max_rank: int

class IoRanksRow(KnownRow):
    rank: int
    time_s: float
    read_bytes: int
    written_bytes: int
    system_read_bytes: Optional[int]
    system_written_bytes: Optional[int]
    system_reads: Optional[int]
    system_writes: Optional[int]
    device_read_bytes: Optional[int]
    device_written_bytes: Optional[int]

class MemoryRow(KnownRow):
    id: int
    function: Optional[str]
    called_by: Optional[str]
    place: Optional[str]
    file: Optional[str]
    line: Optional[int]
    path: str
    kind: Literal['exact', 'exact from 4 KiB', 'estimate']
    at_peak_bytes: int
    live_bytes: int
    live_count: int
    live_error_bytes: int
    peak_bytes: int
    bytes: int
    allocations: int
    smallest_bytes: Optional[int]
    largest_bytes: Optional[int]
    time_s: Optional[float]
    min_s: Optional[float]
    mean_s: Optional[float]
    max_s: Optional[float]
    freed_bytes: int
    frees: int
    foreign_bytes: int
    foreign_frees: int
    share: Optional[float]
    rank_count: int
    rank_max_live_bytes: int
    max_rank: int

class MemoryPathRanksRow(KnownRow):
    memory_id: int
    rank: int
    kind: Literal['exact', 'exact from 4 KiB', 'estimate']
    at_peak_bytes: int
    live_bytes: int
    live_count: int
    live_error_bytes: int
    peak_bytes: int
    bytes: int
    allocations: int
    smallest_bytes: Optional[int]
    largest_bytes: Optional[int]
    time_s: Optional[float]
    min_s: Optional[float]
    mean_s: Optional[float]
    max_s: Optional[float]
    freed_bytes: int
    frees: int
    foreign_bytes: int
    foreign_frees: int

class MemoryLibrariesRow(KnownRow):
    library_path: Optional[str]
    kind: Literal['exact', 'exact from 4 KiB', 'estimate']
    at_peak_bytes: int
    live_bytes: int
    live_count: int
    live_error_bytes: int
    peak_bytes: int
    bytes: int
    allocations: int
    smallest_bytes: Optional[int]
    largest_bytes: Optional[int]
    time_s: Optional[float]
    min_s: Optional[float]
    mean_s: Optional[float]
    max_s: Optional[float]
    freed_bytes: int
    frees: int
    foreign_bytes: int
    foreign_frees: int
    mean_bytes: Optional[float]

class MemoryRanksRow(KnownRow):
    rank: int
    mode: Literal['sampled', 'exact']
    peak_bytes: int
    peak_s: float
    live_bytes: int
    before_bytes: int
    bytes: int
    malloc_calls: int
    calloc_calls: int
    realloc_calls: int
    aligned_calls: int
    free_calls: int
    allocator_s: float
    allocator_error_s: float
    timed_calls: int
    failed_calls: int
    unseen: int
    objects_lost: int
    paths_lost: int
    resident_bytes: Optional[int]
    huge_bytes: Optional[int]
    near_bytes: Optional[int]
    far_bytes: Optional[int]
    allocator: Optional[str]

class MemoryFunctionsRow(KnownRow):
    rank: int
    function: str
    calls: int
    failed_calls: int
    bytes: int
    smallest_bytes: Optional[int]
    mean_bytes: Optional[float]
    largest_bytes: Optional[int]
    time_s: Optional[float]
    time_error_s: Optional[float]
    min_s: Optional[float]
    mean_s: Optional[float]
    max_s: Optional[float]
    timed_calls: int

class MemorySectionsRow(KnownRow):
    section: str
    number: int
    rank: int
    thread: int
    count: int
    allocations: int
    bytes: int
    smallest_bytes: Optional[int]
    mean_bytes: Optional[float]
    largest_bytes: Optional[int]
    frees: int
    allocator_s: Optional[float]
    min_s: Optional[float]
    mean_s: Optional[float]
    max_s: Optional[float]
    begin_live_bytes: float
    end_live_bytes: float
    grown_bytes: float
    begin_heap_bytes: int
    end_heap_bytes: int
    heap_grown_bytes: float
    begin_chunks: int
    end_chunks: int
    begin_mapped_bytes: int
    end_mapped_bytes: int

class MemorySystemRow(KnownRow):
    rank: int
    begin_heap_bytes: int
    end_heap_bytes: int
    begin_chunks: Optional[int]
    end_chunks: Optional[int]
    begin_mapped_bytes: Optional[int]
    end_mapped_bytes: Optional[int]
    begin_arena_bytes: Optional[int]
    end_arena_bytes: Optional[int]
    begin_used_bytes: Optional[int]
    end_used_bytes: Optional[int]
    begin_free_bytes: Optional[int]
    end_free_bytes: Optional[int]
    end_top_bytes: Optional[int]
    end_free_chunks: Optional[int]

class MemoryPlacesRow(KnownRow):
    rank: int
    thread: int
    memory_kind: Literal['stack', 'heap']
    node: int
    near_bytes: int
    far_bytes: int
    far_node: Optional[int]

class MemorySeriesRow(KnownRow):
    rank: int
    begin_s: float
    end_s: float
    most_bytes: int
    last_bytes: int

class CountersRow(KnownRow):
    event: str
    quantity: Optional[str]
    mode: Optional[Literal['user', 'kernel', 'both']]
    counted: Optional[int]
    counted_in_mpi: Optional[int]
    rate_per_s: Optional[float]
    kind: Literal['exact', 'estimate', 'part']
    rank_count: int
    missing_threads: int
    counted_mean: Optional[float]
    counted_min: Optional[int]
    min_rank: Optional[int]
    counted_max: Optional[int]
    max_rank: Optional[int]
    refused_ranks: int
    reason: Optional[str]

class CounterRanksRow(KnownRow):
    event: str
    rank: int
    thread_count: int
    missing_threads: int
    counted: Optional[int]
    counted_in_mpi: Optional[int]
    time_s: float
    kind: Literal['exact', 'estimate', 'part']

class CounterThreadsRow(KnownRow):
    event: str
    rank: int
    thread: int
    counted: Optional[int]
    counted_in_mpi: Optional[int]
    time_s: float
    kind: Literal['exact', 'estimate', 'part']

class CounterSectionsRow(KnownRow):
    section: str
    number: int
    event: str
    too_short: bool
    counted: Optional[int]
    counted_in_mpi: Optional[int]
    rate_per_s: Optional[float]
    kind: Literal['exact', 'estimate', 'part']
    rank_count: int
    missing_threads: int
    counted_mean: Optional[float]
    counted_min: Optional[int]
    min_rank: Optional[int]
    counted_max: Optional[int]
    max_rank: Optional[int]

class CounterSectionRanksRow(KnownRow):
    section: str
    number: int
    event: str
    rank: int
    thread_count: int
    missing_threads: int
    counted: Optional[int]
    counted_in_mpi: Optional[int]
    time_s: float
    kind: Literal['exact', 'estimate', 'part']

class CounterSectionThreadsRow(KnownRow):
    section: str
    number: int
    event: str
    rank: int
    thread: int
    counted: Optional[int]
    counted_in_mpi: Optional[int]
    time_s: float
    kind: Literal['exact', 'estimate', 'part']

class CounterMetricsRow(KnownRow):
    section: str
    number: int
    too_short: bool
    group: str
    metric: str
    unit: str
    metric_value: Optional[float]
    rank_count: int
    outside_mpi: Optional[float]
    metric_mean: Optional[float]
    metric_min: Optional[float]
    min_rank: Optional[int]
    metric_max: Optional[float]
    max_rank: Optional[int]
    peak: Optional[float]
    of_peak: Optional[float]
    kind: Literal['exact', 'estimate', 'part']
    mark: Optional[str]
    doc: str
    formula: str

class CounterMetricThreadsRow(KnownRow):
    section: str
    number: int
    metric: str
    rank: int
    thread: int
    metric_value: Optional[float]

class CounterPhasesRow(KnownRow):
    phase_id: int
    kind_of_phase: Literal['threads', 'omp']
    function: str
    label: str
    event: str
    counted: Optional[int]
    counted_in_mpi: Optional[int]
    rate_per_s: Optional[float]
    kind: Literal['exact', 'estimate', 'part']
    rank_count: int
    missing_threads: int
    counted_mean: Optional[float]
    counted_min: Optional[int]
    min_rank: Optional[int]
    counted_max: Optional[int]
    max_rank: Optional[int]

class CounterPhaseRanksRow(KnownRow):
    phase_id: int
    kind_of_phase: Literal['threads', 'omp']
    function: str
    event: str
    rank: int
    thread_count: int
    missing_threads: int
    counted: Optional[int]
    counted_in_mpi: Optional[int]
    time_s: float
    thread_s: float
    kind: Literal['exact', 'estimate', 'part']

class CounterPhaseMetricsRow(KnownRow):
    phase_id: int
    kind_of_phase: Literal['threads', 'omp']
    function: str
    label: str
    group: str
    metric: str
    unit: str
    metric_value: Optional[float]
    rank_count: int
    outside_mpi: Optional[float]
    metric_mean: Optional[float]
    metric_min: Optional[float]
    min_rank: Optional[int]
    metric_max: Optional[float]
    max_rank: Optional[int]
    peak: Optional[float]
    of_peak: Optional[float]
    kind: Literal['exact', 'estimate', 'part']
    mark: Optional[str]
    doc: str
    formula: str

class LabelsRow(KnownRow):
    at_s: float
    text: str
    rank: int
    origin: Literal['program', 'outside']

class SensorsRow(KnownRow):
    id: int
    host: str
    event: str
    mean: Optional[float]
    least: Optional[float]
    most: Optional[float]
    unit: str
    total: Optional[float]
    kind: Literal['counter', 'gauge']
    about: str
    intervals: int

class SensorNodesRow(KnownRow):
    host: str
    rank: int
    interval_s: float
    begin_s: Optional[float]
    end_s: Optional[float]
    samples: int
    late: int
    missed: int
    thinned: int
    left_out: int
    not_found: int
    cpu_s: float
    cpu_share: Optional[float]
    processors: Optional[str]
    place: Optional[Literal['anywhere', 'free_core', 'free_processor', 'none_free']]

class SensorSeriesRow(KnownRow):
    sensor_id: int
    host: str
    event: str
    unit: str
    begin_s: float
    end_s: float
    mean: float
    most: float

class SensorSectionsRow(KnownRow):
    section: str
    number: int
    sensor_id: int
    host: str
    event: str
    unit: str
    mean: float
    seconds: float
    total: Optional[float]

class SensorInstancesRow(KnownRow):
    section: str
    number: int
    rank: int
    thread: int
    instance_number: int
    sensor_id: int
    host: str
    event: str
    unit: str
    energy_j: float
    least_j: float
    most_j: float
    reading_count: int

class NoiseRow(KnownRow):
    callsite_id: int
    place: str
    function: str
    callsite_number: int
    cost_s: Optional[float]
    cost_share: Optional[float]
    preempted_s: float
    preempted_count: int
    blocked_s: float
    rank: Optional[int]
    rank_preempted_s: float
    interval_count: int
    time_s: float
    sampled_count: int
    mean_s: Optional[float]
    p50_s: Optional[float]
    p90_s: Optional[float]
    p99_s: Optional[float]
    warm_up_count: int
    warm_up_s: Optional[float]
    variance_preempted_share: Optional[float]
    variance_preempted_low: Optional[float]
    variance_preempted_high: Optional[float]
    variance_blocked_share: Optional[float]
    variance_blocked_low: Optional[float]
    variance_blocked_high: Optional[float]
    variance_rest_share: Optional[float]
    variance_rest_low: Optional[float]
    variance_rest_high: Optional[float]

class NoiseProjectionRow(KnownRow):
    callsite_id: int
    place: str
    rank_count: int
    expected_s: float
    share: float

class NoiseRanksRow(KnownRow):
    rank: int
    cost_s: Optional[float]
    preempted_s: Optional[float]
    ready_s: Optional[float]
    stolen_s: float
    throttled_s: Optional[float]
    fault_count: int
    by: Optional[str]
    by_pid: Optional[int]
    by_count: Optional[int]
    by_cpu_s: Optional[float]

class OtherProcessesRow(KnownRow):
    host: str
    pid: int
    name: str
    cpu_s: float
    processors: Optional[str]
    cpu: int
    service: Optional[str]
    rank: Optional[int]
    started_by: Optional[int]

class LooksRow(KnownRow):
    at_s: Optional[float]
    look_count: int

class LookedThreadsRow(KnownRow):
    rank: int
    thread: Optional[int]
    tid: Optional[int]
    main: bool
    how: Literal['looked_at', 'no_signal', 'stopped', 'blocked', 'unrestartable', 'unseen_call', 'silent', 'elsewhere', 'foreign', 'dead', 'untold', 'ended']
    mpi_function: Optional[str]
    system_call: Optional[str]
    call_file: Optional[str]
    holder_tid: Optional[int]
    look_count: int
    answer_count: int
    text: str
    file: Optional[str]
    line: Optional[int]
    path: str

class LookedPlacesRow(KnownRow):
    rank_text: str
    place: str
    text: str
    suspect: bool
    rank_list: str
    thread_count: int
    node_id: int
    function: Optional[str]

class LookedTreeRow(KnownRow):
    id: int
    parent_id: Optional[int]
    rank_text: str
    label: str
    suspect: bool
    rank_count: int
    rank_list: str
    thread_count: int
    end_count: int
    function: Optional[str]
    file: Optional[str]
    line: Optional[int]

class HangRow(KnownRow):
    text: str
    waiting_count: int
    stuck_count: int
    lasting: bool

class HangCyclesRow(KnownRow):
    id: int
    rank_list: str
    rank_count: int
    lasting: bool

class HangCausesRow(KnownRow):
    hang_state: Literal['active', 'waits', 'matched', 'recent', 'untold', 'asks', 'ended', 'stopped', 'dead']
    rank_list: str
    waiting_count: int
    text: str

class HangMismatchesRow(KnownRow):
    communicator_uid: str
    rank_list: str
    roots_differ: bool
    text: str

class HangRanksRow(KnownRow):
    rank: int
    hang_state: Literal['active', 'waits', 'matched', 'recent', 'untold', 'asks', 'ended', 'stopped', 'dead']
    list_id: Optional[int]
    cycle_id: Optional[int]
    stuck: bool
    awaited_by_count: int
    text: str

class HangListsRow(KnownRow):
    id: int
    any: bool
    others: bool
    rank_list: str

class ProblemsRow(KnownRow):
    kind: Literal['unreadable', 'left_out', 'missing', 'damaged', 'dropped', 'note']
    file: Optional[str]
    text: str

class TraceCallsRow(KnownRow):
    rank: int
    thread: int
    begin_s: float
    end_s: float
    duration_s: float
    function: str
    depth: int
    wait_s: float
    late_rank: Optional[int]
    late_thread: Optional[int]
    comm: Optional[int]
    instance: Optional[int]
    root_rank: Optional[int]
    file: Optional[str]
    path: Optional[str]

class Tables:
    @property
    def run(self) -> Table[RunRow]:
        """The run as a whole."""
    @property
    def clock_alignment(self) -> Table[ClockAlignmentRow]:
        """How the clocks of several hosts were aligned, from the bounds that collective calls give. Null: there
        is one clock, or no call connects them."""
    @property
    def findings(self) -> Table[FindingsRow]:
        """What costs the run most time, with cause and next step, largest cost first. Findings without seconds
        follow. In a disturbed run, waiting without a known cause follows what has one, and findings about the
        machine come last. Empty: of what could be judged (run.not_judged), nothing costs 2 % of the ranks' time
        or is otherwise worth reporting."""
    @property
    def programs(self) -> Table[ProgramsRow]:
        """The executables of the launch, by their first rank. Ranks run the same program if name and build-id
        of their executables are equal. If a build-id is not known, the paths must be equal."""
    @property
    def options(self) -> Table[OptionsRow]:
        """Options of the recording that differ from their defaults, without the directory."""
    @property
    def machines(self) -> Table[MachinesRow]:
        """Hardware and settings of each node when recording began, as one of its ranks saw them. Sorted by the
        first rank."""
    @property
    def environment(self) -> Table[EnvironmentRow]:
        """Environment variables that affect MPI, OpenMP, networks, libraries and the placement of processes, by
        name and value. Variables that launchers set for their processes are left out. So are names that may be
        secret (TOKEN, KEY, PASS, SECRET, CRED, AUTH, COOKIE). At most 64 a rank."""
    @property
    def affinity(self) -> Table[AffinityRow]:
        """Processors that each recorded thread may use, by rank."""
    @property
    def ranks(self) -> Table[RanksRow]:
        """The ranks that have a rank file, by rank."""
    @property
    def threads(self) -> Table[ThreadsRow]:
        """Recorded threads: those that called MPI; with --threads or --sample all threads."""
    @property
    def callsites(self) -> Table[CallsitesRow]:
        """MPI functions with the call paths that lead to them, longest time first. Call paths that look the
        same are merged: equal module, function, file and line in each frame. If a line is not known, the offset
        must be equal too."""
    @property
    def site_sizes(self) -> Table[SiteSizesRow]:
        """The message-size histogram of a call site: calls and messages by size, in powers of two, over all
        ranks. The smallest first; empty buckets are left out."""
    @property
    def callsites_by_rank(self) -> Table[CallsitesByRankRow]:
        """The numbers of a call site on each rank that called it, by rank."""
    @property
    def mpi_functions(self) -> Table[MpiFunctionsRow]:
        """MPI functions, summed over their call sites, longest time first."""
    @property
    def sizes_sent(self) -> Table[SizesSentRow]:
        """Sizes that were sent, in powers of two. Empty buckets are left out."""
    @property
    def sizes_received(self) -> Table[SizesReceivedRow]:
        """Sizes that were received, in powers of two. Empty buckets are left out."""
    @property
    def durations(self) -> Table[DurationsRow]:
        """Durations of calls, in powers of two. Empty buckets are left out."""
    @property
    def message_sizes(self) -> Table[MessageSizesRow]:
        """Message sizes in powers of two, over all MPI functions and ranks. Empty buckets are left out. The
        first bucket is for 0 bytes, point to point."""
    @property
    def size_classes(self) -> Table[SizeClassesRow]:
        """Calls and messages of an MPI function by size of the communicator and message size, in powers of two.
        Sorted by function, longest time first, then by these sizes."""
    @property
    def matrix(self) -> Table[MatrixRow]:
        """Messages and bytes between each pair of ranks, by sender and receiver."""
    @property
    def communicators(self) -> Table[CommunicatorsRow]:
        """All communicators. MPI_COMM_SELF of all ranks is one of them."""
    @property
    def grids(self) -> Table[GridsRow]:
        """The dimensions of a communicator's Cartesian topology. The last dimension varies fastest with the
        rank. Empty: no such topology."""
    @property
    def efficiency(self) -> Table[EfficiencyRow]:
        """The efficiency metrics of the POP project. Null with --rank of one rank, and with --thread."""
    @property
    def hybrid_efficiency(self) -> Table[HybridEfficiencyRow]:
        """Efficiency metrics of the POP project for MPI and OpenMP together, as in TALP; formulas in
        src/tool/pop.h. Null: no OpenMP team was recorded. Also null with nested teams, teams of more than 256
        threads, regions open at the end, pauses, MPI calls in regions, or MPI calls by several threads of a
        rank."""
    @property
    def waiting(self) -> Table[WaitingRow]:
        """Which ranks made others wait. Null: not known."""
    @property
    def culprits(self) -> Table[CulpritsRow]:
        """Causes of waiting: ranks that were late and where, by waiting time, largest first. At most 1000."""
    @property
    def late_procedures(self) -> Table[LateProceduresRow]:
        """Functions of the program that made other ranks wait, from samples of the trace (--trace --sample,
        fvunify). Estimates, by delay, largest first. At most 1000."""
    @property
    def waiting_by_rank(self) -> Table[WaitingByRankRow]:
        """For which ranks others waited, by rank."""
    @property
    def wait_kinds(self) -> Table[WaitKindsRow]:
        """Waiting by kind, largest first."""
    @property
    def regions(self) -> Table[RegionsRow]:
        """Computing between two MPI calls of a thread. Sorted by the longest time of a rank, longest first."""
    @property
    def regions_by_rank(self) -> Table[RegionsByRankRow]:
        """Time that each rank computed there, by rank."""
    @property
    def region_procedures(self) -> Table[RegionProceduresRow]:
        """Functions that took the time of the region on its max_rank, by clock samples, longest first. At most
        20. With an analysed trace that has all samples: samples of this region. Otherwise: samples of all
        regions after the same call. A sample counts for the innermost function of the program. If that is only
        main(): for that of the libraries that call MPI. Threads without MPI calls are left out."""
    @property
    def timeline(self) -> Table[TimelineRow]:
        """Share of MPI in the time of each rank, by class of functions and bin."""
    @property
    def iterations(self) -> Table[IterationsRow]:
        """What the program repeats, found from the sequence of its MPI calls (share/analysis.md): at least 8
        times, and over half of the time between the first call and the last. Empty: nothing is."""
    @property
    def iterations_by_number(self) -> Table[IterationsByNumberRow]:
        """Each iteration, by unit and number: not of loops around or inside of the unit that findings are
        about. Without a trace, calls are blocking collective calls."""
    @property
    def sampling(self) -> Table[SamplingRow]:
        """How samples were taken. Null with --sample=off."""
    @property
    def sampling_events(self) -> Table[SamplingEventsRow]:
        """Events counted in calls of sampled functions (--events), by name. At most four."""
    @property
    def sampled_functions(self) -> Table[SampledFunctionsRow]:
        """Functions whose whole calls were sampled (fvmpi run --sample), by calling context. Ranks are merged
        if the whole context is equal (build-ids and offsets). Sorted by function as in sampled_totals, then by
        share. Empty: nothing was sampled."""
    @property
    def sampled_metrics(self) -> Table[SampledMetricsRow]:
        """What was measured in the calls of the function, by metric. time_s and cpu_time_s are always present;
        others only if not 0. An event is present only if a rank could count it."""
    @property
    def sampled_histogram(self) -> Table[SampledHistogramRow]:
        """Histogram of the calls in `instances`, in powers of two of ns or counts. Empty buckets are left out.
        Empty: the metric is not kept for single calls."""
    @property
    def sampled_by_thread(self) -> Table[SampledByThreadRow]:
        """The metric on each thread with measured calls, by rank and thread."""
    @property
    def sampled_instances(self) -> Table[SampledInstancesRow]:
        """A random choice of measured calls, about 1024 in all and at most the same number for each thread. By
        rank, thread and time."""
    @property
    def sampled_recent(self) -> Table[SampledRecentRow]:
        """The calls measured last on each of about the first 16 threads, in sequence, at most 64. Calls between
        them were not measured. By rank, thread and time."""
    @property
    def sampled_totals(self) -> Table[SampledTotalsRow]:
        """Sampled functions (fvmpi run --sample) over all their calling contexts. Functions that vary come
        first, by share times variation; those that wait come last. Empty: nothing was sampled."""
    @property
    def sampled_total_metrics(self) -> Table[SampledTotalMetricsRow]:
        """What was measured in the calls of the function, by metric. time_s and cpu_time_s are always present;
        others only if not 0. An event is present only if a rank could count it."""
    @property
    def sampled_total_histogram(self) -> Table[SampledTotalHistogramRow]:
        """Histogram of the calls in `instances`, in powers of two of ns or counts. Empty buckets are left out.
        Empty: the metric is not kept for single calls."""
    @property
    def sampled_total_by_thread(self) -> Table[SampledTotalByThreadRow]:
        """The metric on each thread with measured calls, by rank and thread."""
    @property
    def sampled_threads(self) -> Table[SampledThreadsRow]:
        """Threads with clock samples, by rank."""
    @property
    def cpu_procedures(self) -> Table[CpuProceduresRow]:
        """Procedures with clock samples, including inlined ones, most exclusive ticks first."""
    @property
    def cpu_procedures_by_thread(self) -> Table[CpuProceduresByThreadRow]:
        """Clock samples of the procedure on each thread, by rank and thread."""
    @property
    def cpu_loops(self) -> Table[CpuLoopsRow]:
        """Natural loops in the machine code of functions with at least 0.5 % of the samples, most inclusive
        ticks first. The compiler may make several loops from one by unrolling or vectorising. Null: none, or
        not looked for (loops_known)."""
    @property
    def cpu_loops_by_rank(self) -> Table[CpuLoopsByRankRow]:
        """Clock samples on each rank, by rank."""
    @property
    def cpu_lines(self) -> Table[CpuLinesRow]:
        """Source lines with clock samples, most exclusive ticks first."""
    @property
    def cpu_lines_by_rank(self) -> Table[CpuLinesByRankRow]:
        """Clock samples on each rank, by rank."""
    @property
    def call_tree(self) -> Table[CallTreeRow]:
        """Call tree of procedures, from main inwards. Callers come before what they call."""
    @property
    def sections(self) -> Table[SectionsRow]:
        """Parts of the program marked by fvmpi_section_begin() and _end() (fvmpi.h), by name and number. The
        first is the whole program: from entering MPI_Init to leaving MPI_Finalize, or from start to end without
        MPI. The others are sorted by elapsed time."""
    @property
    def section_functions(self) -> Table[SectionFunctionsRow]:
        """MPI calls of the section by function, longest time first: totals, and values over ranks."""
    @property
    def section_functions_by_rank(self) -> Table[SectionFunctionsByRankRow]:
        """MPI calls of the section, by function and rank."""
    @property
    def section_callpaths(self) -> Table[SectionCallpathsRow]:
        """MPI calls of the section by call path, longest time first. Empty for the whole program, which has
        them in callsites."""
    @property
    def section_procedures(self) -> Table[SectionProceduresRow]:
        """Clock samples of the section by procedure, most exclusive ticks first. Empty without samples, and for
        the whole program, which has them in costs."""
    @property
    def section_costpaths(self) -> Table[SectionCostpathsRow]:
        """Clock samples of the section by call path. Empty without samples, and for the whole program."""
    @property
    def sections_by_rank(self) -> Table[SectionsByRankRow]:
        """The section on each rank that was in it, by rank. Values are summed over the rank's threads, except
        elapsed_s."""
    @property
    def section_threads(self) -> Table[SectionThreadsRow]:
        """Threads that were in the section, or were recorded while other threads of their rank had it open,
        such as OpenMP workers; by rank and thread. A thread that waits for work is among them."""
    @property
    def section_sheet(self) -> Table[SectionSheetRow]:
        """Threads of the section, by rank and thread: time by cause of stall, how busy caches were, rates, the
        mix of instructions, and balance, as far as events were counted. --passes counts what needs several
        runs."""
    @property
    def section_sheet_processes(self) -> Table[SectionSheetProcessesRow]:
        """Processes in the section, by rank: the same of all their threads. Times are added up; rates and
        shares are of the sums of what the threads counted."""
    @property
    def section_names(self) -> Table[SectionNamesRow]:
        """Sections of the same name with different numbers, taken together, longest elapsed time first. The
        values of a rank are added first; means and extremes are then over ranks. A name with one number is in
        sections only."""
    @property
    def section_instances(self) -> Table[SectionInstancesRow]:
        """The first instances of each section on each thread, one by one, by section, rank, thread and time.
        Their waiting is in a trace."""
    @property
    def section_warm_up(self) -> Table[SectionWarmUpRow]:
        """Whether the first instances of sections took longer than later ones: caches, pages and branch
        predictors are cold at first. By section."""
    @property
    def section_iterations(self) -> Table[SectionIterationsRow]:
        """Sections of one name whose instances follow each other on the first thread of each rank, as
        iterations that the user named: at least 8 of them. By section."""
    @property
    def sections_lost(self) -> Table[SectionsLostRow]:
        """Begins and ends of sections that were not measured, or not completely."""
    @property
    def instrumented(self) -> Table[InstrumentedRow]:
        """Functions that the compiler instrumented, over all callers, ranks and threads, largest self_s first.
        Exact. If a function calls itself, only the outermost call is in time_s."""
    @property
    def instrumented_ranks(self) -> Table[InstrumentedRanksRow]:
        """Numbers of the function on each rank, by rank."""
    @property
    def instrumented_paths(self) -> Table[InstrumentedPathsRow]:
        """Instrumented functions as a call tree: each function is followed by those it calls, largest time_s
        first. Only instrumented functions are frames."""
    @property
    def function_warm_up(self) -> Table[FunctionWarmUpRow]:
        """Whether the first call of an instrumented function on a thread took longer than its later calls.
        Caches, pages and branch predictors are cold at first. Functions with at least 10 timed calls on a
        thread, in the order of instrumented. Exact."""
    @property
    def instrumented_counts(self) -> Table[InstrumentedCountsRow]:
        """Counts of functions in an archive, by function and event, in the order of instrumented. Counters must
        have been read at each begin and end of a function, or fvmpi counted single calls (--events). Exact."""
    @property
    def instrumented_lost(self) -> Table[InstrumentedLostRow]:
        """Calls of instrumented functions that could not be measured. Null: no functions were instrumented."""
    @property
    def streams(self) -> Table[StreamsRow]:
        """What ran on each stream of an accelerator, by rank and stream, longest first. Exact."""
    @property
    def locks(self) -> Table[LocksRow]:
        """Locks and other synchronization of POSIX threads and OpenMP that threads waited for (fvmpi run
        --threads). Longest waiting time first; those inside MPI come last. Spin locks on atomic operations are
        not seen. Static locks of different ranks are merged by build-id and offset. Locks on a heap or stack
        are merged by kind and by the call path of their first use. Joins are merged by the threads' first
        function. The call path is that of a first use; for a static lock, only its innermost frame."""
    @property
    def lock_waits(self) -> Table[LockWaitsRow]:
        """Durations of waits for each lock, in powers of two, shortest first. Empty buckets are left out."""
    @property
    def lock_sites(self) -> Table[LockSitesRow]:
        """Where each lock is used: call paths that waited, and those that acquired or signalled (role). Sorted
        by their own waiting plus that of others, longest first."""
    @property
    def locks_by_rank(self) -> Table[LocksByRankRow]:
        """Numbers of the lock on each rank that used it, by rank."""
    @property
    def locks_by_thread(self) -> Table[LocksByThreadRow]:
        """Numbers of each thread at barriers: which threads wait, and which come last. By rank and thread."""
    @property
    def thread_waiting(self) -> Table[ThreadWaitingRow]:
        """Time that threads waited for each other, over all ranks. Null without --threads."""
    @property
    def thread_wait_kinds(self) -> Table[ThreadWaitKindsRow]:
        """wait_s of thread_waiting by kind."""
    @property
    def thread_waiting_by_rank(self) -> Table[ThreadWaitingByRankRow]:
        """Time that the threads of each rank waited for each other, by rank."""
    @property
    def threads_waiting_now(self) -> Table[ThreadsWaitingNowRow]:
        """Threads that waited when their rank was last seen, for ranks that still run or were killed, by rank.
        No sum includes these waits."""
    @property
    def phases(self) -> Table[PhasesRow]:
        """Parallel phases of threads (fvmpi run --threads), longest total thread time first. An instance:
        threads that one thread created with the same first function, and whose lifetimes overlap. A phase:
        instances whose first thread was created at the same call path, which is shown. OpenMP regions form a
        phase if they were forked at one call path with one function. An empty path collects those for which
        there was no room. Sums are over instances; t is a thread's time and w its waits."""
    @property
    def phases_by_rank(self) -> Table[PhasesByRankRow]:
        """Numbers of the phase on each rank that had it, by rank."""
    @property
    def worksharing(self) -> Table[WorksharingRow]:
        """OpenMP loops, sections, singles, tasks, target regions and similar (fvmpi run --threads), over all
        ranks and threads, longest time_s first. By source place; tasks made by GCC by their function. Exact.
        libgomp reports loops with a schedule other than static, sections and singles. Run-time libraries with
        OMPT (LLVM, Intel, AMD) report all. A target region lasts while its thread waits for the device; with
        nowait, until it was started."""
    @property
    def io(self) -> Table[IoRow]:
        """File functions by call path and file, over all ranks and threads, longest time first (time_s +
        in_mpi_s). Exact. For stdio functions it is the time in the function, whether or not it makes system
        calls."""
    @property
    def io_files(self) -> Table[IoFilesRow]:
        """Files over all ranks that used them, longest time first (time_s + in_mpi_s). A file that several
        ranks use is one row."""
    @property
    def io_ranks(self) -> Table[IoRanksRow]:
        """Bytes read and written by each rank, by rank."""
    @property
    def memory(self) -> Table[MemoryRow]:
        """Allocations by call path, over all ranks and threads, largest at_peak_bytes first. For allocations in
        MPI, the path is that of the MPI call and of the allocator's caller. Bytes are as requested. Allocations
        of 4 KiB and more are exact. Smaller ones are estimated from samples, one in 512 KiB, unless
        --memory=exact records all."""
    @property
    def memory_path_ranks(self) -> Table[MemoryPathRanksRow]:
        """Memory that each rank allocated at the call path, by rank."""
    @property
    def memory_libraries(self) -> Table[MemoryLibrariesRow]:
        """Allocations by the program or library that called the allocator, over all ranks and threads, largest
        at_peak_bytes first. Exact and estimated as in memory."""
    @property
    def memory_ranks(self) -> Table[MemoryRanksRow]:
        """Memory that each rank allocated, by rank."""
    @property
    def memory_functions(self) -> Table[MemoryFunctionsRow]:
        """Calls of each function of the allocator, by rank. Counts and sizes are exact."""
    @property
    def memory_sections(self) -> Table[MemorySectionsRow]:
        """What the allocator did in each section, by section, rank and thread. begin and end: when the
        section's first instance began, and when its last one ended."""
    @property
    def memory_system(self) -> Table[MemorySystemRow]:
        """What the allocator had from the system when recording began, and at MPI_Finalize or exit, by rank."""
    @property
    def memory_places(self) -> Table[MemoryPlacesRow]:
        """How much of each thread's stack, and of its process's heap, is far from it, at MPI_Finalize or exit.
        No rows: there is one node."""
    @property
    def memory_series(self) -> Table[MemorySeriesRow]:
        """Memory that each rank had allocated over time, by rank and time. Exact to 64 KiB a thread."""
    @property
    def counters(self) -> Table[CountersRow]:
        """Events counted over whole threads (fvmpi run --counters), from begin to end of the recording of each
        thread, with pauses, over all ranks. In the order of the request. Events of the processor count in user
        mode, unless `mode` differs. Exact, except where `kind` is estimate or part."""
    @property
    def counter_ranks(self) -> Table[CounterRanksRow]:
        """Count of the event on each rank, by rank."""
    @property
    def counter_threads(self) -> Table[CounterThreadsRow]:
        """Count of the event on each thread, by rank and thread."""
    @property
    def counter_sections(self) -> Table[CounterSectionsRow]:
        """Events counted in completed instances of sections that the program marks, by section and event, over
        all threads that are recorded. Threads that did not open the section, such as OpenMP workers, count
        while it was open. Estimates where they were read for part of that time only (section_threads)."""
    @property
    def counter_section_ranks(self) -> Table[CounterSectionRanksRow]:
        """Count of the event in the section on each rank, all its threads, by rank."""
    @property
    def counter_section_threads(self) -> Table[CounterSectionThreadsRow]:
        """Count of the event in the section on each thread, by rank and thread. A thread that opened the
        section counts in its instances, any other while the section was open on some thread of the rank."""
    @property
    def counter_metrics(self) -> Table[CounterMetricsRow]:
        """Metrics computed from counters, for the whole program and its sections, by group. Only metrics with
        all quantities are listed. For a section, they include all threads while it was open. Rates by time add
        the counts of a rank's threads."""
    @property
    def counter_metric_threads(self) -> Table[CounterMetricThreadsRow]:
        """The metric for each thread that counted all its quantities, by rank and thread. Rates use the time of
        the thread."""
    @property
    def counter_phases(self) -> Table[CounterPhasesRow]:
        """Events counted in phases of parallel threads, by phase and event. Threads that the program created
        count from begin to end. In OpenMP regions, each thread counts from the begin of its function to the
        barrier at the end, including tasks that it runs there. Waits within the region are included, where a
        thread may spin; the wait at its end is not. Rates use longest_s of the phase."""
    @property
    def counter_phase_ranks(self) -> Table[CounterPhaseRanksRow]:
        """Count of the event in the phase on each rank, by rank."""
    @property
    def counter_phase_metrics(self) -> Table[CounterPhaseMetricsRow]:
        """Metrics of each phase (counter_phases), by group. Their time is longest_s of the phase."""
    @property
    def labels(self) -> Table[LabelsRow]:
        """Labels that the program (fvmpi_label()) or a user (fvmpi label) set, by time."""
    @property
    def sensors(self) -> Table[SensorsRow]:
        """What each node counted or measured while the job ran, by node, in the order of --sensors. The values
        are of the whole machine, not of this job alone. One rank of the node reads them."""
    @property
    def sensor_nodes(self) -> Table[SensorNodesRow]:
        """How the sensors of each node were read."""
    @property
    def sensor_series(self) -> Table[SensorSeriesRow]:
        """Values of each event over time, by sensor and time."""
    @property
    def sensor_sections(self) -> Table[SensorSectionsRow]:
        """Values of each event while the reading rank was in a section, by sensor. They are known at samples
        only. Results are poor for sections with less total time than some tens of intervals."""
    @property
    def sensor_instances(self) -> Table[SensorInstancesRow]:
        """Energy of the node while an instance of a section was open, by instance and sensor; other ranks use
        it, too. An instance is left out if most_j - least_j is over a quarter of energy_j: then sensor_sections
        has all instances together."""
    @property
    def noise(self) -> Table[NoiseRow]:
        """Cost of noise before blocking collective calls, by call site, largest cost first. At most 20. Empty:
        the kernel did not show context switches, or the run has no such calls."""
    @property
    def noise_projection(self) -> Table[NoiseProjectionRow]:
        """Expected cost of noise on more ranks: the mean maximum of one independent draw a rank from this run's
        preemptions. It assumes that noise is independent, equal on all ranks, and never longer than seen here.
        Rare long disturbances may therefore cost more. Empty: fewer than 30 intervals, or no preemption."""
    @property
    def noise_ranks(self) -> Table[NoiseRanksRow]:
        """Time that each rank lost to other processes, and to which, by rank."""
    @property
    def other_processes(self) -> Table[OtherProcessesRow]:
        """Processes with CPU time of at least 1 % of the run, by node and CPU time, most first. Ranks are
        included, without the observing rank. From /proc at begin and end; processes that ended before are
        missing. At most 256."""
    @property
    def looks(self) -> Table[LooksRow]:
        """Call paths of all threads when fvmpi where, or --hang-after, looked last. Null: nobody looked."""
    @property
    def looked_threads(self) -> Table[LookedThreadsRow]:
        """Threads of all ranks, by rank, the main thread first. Of a rank that could not be looked at there is
        one row."""
    @property
    def looked_places(self) -> Table[LookedPlacesRow]:
        """Ends of call paths: those that hold others up first, then by number of ranks, most first."""
    @property
    def looked_tree(self) -> Table[LookedTreeRow]:
        """From main inwards, each function behind its caller; branches with those that hold others up first. A
        thread that moves from look to look ends at what its places have in common."""
    @property
    def hang(self) -> Table[HangRow]:
        """For which ranks each rank waits where it was last seen, in a run that still runs or was killed. Null:
        all ranks finalized, or one called MPI_Abort. A running rank does not wait if it is in its call for less
        than a second. Point-to-point waits are derived from peer, tag and communicator of the call, for
        MPI_Wait and similar from up to 32 requests. Collective waits are derived from the number of collective
        calls of each member on the communicator."""
    @property
    def hang_cycles(self) -> Table[HangCyclesRow]:
        """Ranks that wait for each other."""
    @property
    def hang_causes(self) -> Table[HangCausesRow]:
        """Ranks that others wait for and that do not wait themselves. Sorted by the number of waiting ranks,
        most first."""
    @property
    def hang_mismatches(self) -> Table[HangMismatchesRow]:
        """Members of a communicator that are in different collective calls, or that name different roots."""
    @property
    def hang_ranks(self) -> Table[HangRanksRow]:
        """Where each rank was last seen, by rank."""
    @property
    def hang_lists(self) -> Table[HangListsRow]:
        """Ranks that others wait for. Ranks that wait for the same ranks share a list."""
    @property
    def problems(self) -> Table[ProblemsRow]:
        """Problems of the input that the reader of the report must know."""
