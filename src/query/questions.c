/* SPDX-License-Identifier: BSD-3-Clause */
/* See questions.h. */
#include "query/questions.h"

const struct fv_question fv_questions[] = {
    { "what_costs_most", "What costs the run most time, and what to do next?",
      "SELECT run, title, lost_s, text, next FROM findings" },
    { "how_efficient", "How much of the ranks' time is computing?",
      "SELECT run, parallel, load_balance, communication, serialization, transfer FROM efficiency" },
    { "longest_calls", "Which calls of MPI take most time, and where are they?",
      "SELECT run, number, function, file, line, time_sum_s, wait_s, count, path FROM callsites "
      "ORDER BY time_sum_s DESC" },
    { "mpi_by_function", "How much time does each function of MPI take?",
      "SELECT run, function, count, time_sum_s, wait_s, bytes_sent, bytes_received FROM mpi_functions "
      "ORDER BY time_sum_s DESC" },
    { "ranks_that_wait", "Which ranks wait, and how long?",
      "SELECT run, rank, host, wait_s, mpi_time_s, app_time_s FROM ranks ORDER BY wait_s DESC" },
    { "ranks_that_are_late", "Which ranks make others wait, and where?",
      "SELECT run, rank, \"where\", place, cost_s, share FROM culprits ORDER BY cost_s DESC" },
    { "uneven_call_sites", "At which call sites do ranks differ most?",
      "SELECT b.run, s.number, s.function, s.file, s.line, max(b.time_sum_s) - min(b.time_sum_s) AS difference_s FROM "
      "callsites_by_rank b "
      "JOIN callsites s ON s.row = b.parent GROUP BY b.parent ORDER BY difference_s DESC" },
    { "uneven_computing", "Which computing between two calls is uneven over ranks?",
      "SELECT run, place, max_rank, mean_s, max_s, imbalance_s FROM regions ORDER BY imbalance_s DESC" },
    { "hottest_functions", "Which functions use the processors (--sample)?",
      "SELECT run, \"procedure\", file, exclusive_time_s, inclusive_time_s FROM cpu_procedures "
      "ORDER BY exclusive_time_s DESC" },
    { "largest_traffic", "Which ranks exchange most bytes?",
      "SELECT run, \"from\", \"to\", messages, bytes FROM matrix ORDER BY bytes DESC" },
    { "slowest_files", "Which files take most time (--io)?",
      "SELECT run, io_file, kind, time_s, reads_bytes, writes_bytes, rank_count FROM io_files ORDER BY time_s DESC" },
    { "latest_arrivals", "Which collective operations had the latest comer, and who was it (--trace)?",
      "SELECT run, begin_s, function, comm_name, last_rank, spread_s, wait_s FROM trace_collectives "
      "WHERE complete ORDER BY spread_s DESC" },
    { "what_was_lost", "What of the recording is missing?", "SELECT run, kind, file, text FROM problems" },
};
const size_t fv_question_count = sizeof(fv_questions) / sizeof(*fv_questions);
