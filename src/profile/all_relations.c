/* Which relations a profile has. Each stands in the file of its subject. */
#include "profile/relations.h"

/* In the order of JSON. */
extern const struct fv_relation fv_run_relation;
extern const struct fv_relation fv_findings_relation;
extern const struct fv_relation fv_programs_relation;
extern const struct fv_relation fv_options_relation;
extern const struct fv_relation fv_machines_relation;
extern const struct fv_relation fv_environment_relation;
extern const struct fv_relation fv_affinity_relation;
extern const struct fv_relation fv_ranks_relation;
extern const struct fv_relation fv_callsites_relation;
extern const struct fv_relation fv_mpi_functions_relation;
extern const struct fv_relation fv_histograms_relation;
extern const struct fv_relation fv_message_sizes_relation;
extern const struct fv_relation fv_size_classes_relation;
extern const struct fv_relation fv_matrix_relation;
extern const struct fv_relation fv_communicators_relation;
extern const struct fv_relation fv_efficiency_relation;
extern const struct fv_relation fv_hybrid_efficiency_relation;
extern const struct fv_relation fv_waiting_relation;
extern const struct fv_relation fv_timeline_relation;
extern const struct fv_relation fv_sampling_relation;
extern const struct fv_relation fv_functions_relation;
extern const struct fv_relation fv_function_totals_relation;
extern const struct fv_relation fv_costs_relation;
extern const struct fv_relation fv_sections_relation;
extern const struct fv_relation fv_section_names_relation;
extern const struct fv_relation fv_sections_lost_relation;
extern const struct fv_relation fv_instrumented_relation;
extern const struct fv_relation fv_instrumented_paths_relation;
extern const struct fv_relation fv_instrumented_lost_relation;
extern const struct fv_relation fv_locks_relation;
extern const struct fv_relation fv_thread_waiting_relation;
extern const struct fv_relation fv_phases_relation;
extern const struct fv_relation fv_io_relation;
extern const struct fv_relation fv_works_relation;
extern const struct fv_relation fv_io_files_relation;
extern const struct fv_relation fv_io_ranks_relation;
extern const struct fv_relation fv_memory_relation;
extern const struct fv_relation fv_memory_ranks_relation;
extern const struct fv_relation fv_memory_series_relation;
extern const struct fv_relation fv_counters_relation;
extern const struct fv_relation fv_counter_sections_relation;
extern const struct fv_relation fv_counter_metrics_relation;
extern const struct fv_relation fv_counter_phases_relation;
extern const struct fv_relation fv_counter_phase_metrics_relation;
extern const struct fv_relation fv_labels_relation;
extern const struct fv_relation fv_sensors_relation;
extern const struct fv_relation fv_sensor_nodes_relation;
extern const struct fv_relation fv_sensor_series_relation;
extern const struct fv_relation fv_sensor_sections_relation;
extern const struct fv_relation fv_noise_relation;
extern const struct fv_relation fv_noise_ranks_relation;
extern const struct fv_relation fv_other_processes_relation;
extern const struct fv_relation fv_hang_relation;
extern const struct fv_relation fv_problems_relation;

const struct fv_relation *const fv_profile_relations[] = {
    &fv_run_relation,
    &fv_findings_relation,
    &fv_programs_relation,
    &fv_options_relation,
    &fv_machines_relation,
    &fv_environment_relation,
    &fv_affinity_relation,
    &fv_ranks_relation,
    &fv_callsites_relation,
    &fv_mpi_functions_relation,
    &fv_histograms_relation,
    &fv_message_sizes_relation,
    &fv_size_classes_relation,
    &fv_matrix_relation,
    &fv_communicators_relation,
    &fv_efficiency_relation,
    &fv_hybrid_efficiency_relation,
    &fv_waiting_relation,
    &fv_timeline_relation,
    &fv_sampling_relation,
    &fv_functions_relation,
    &fv_function_totals_relation,
    &fv_costs_relation,
    &fv_sections_relation,
    &fv_section_names_relation,
    &fv_sections_lost_relation,
    &fv_instrumented_relation,
    &fv_instrumented_paths_relation,
    &fv_instrumented_lost_relation,
    &fv_locks_relation,
    &fv_thread_waiting_relation,
    &fv_phases_relation,
    &fv_works_relation,
    &fv_io_relation,
    &fv_io_files_relation,
    &fv_io_ranks_relation,
    &fv_memory_relation,
    &fv_memory_ranks_relation,
    &fv_memory_series_relation,
    &fv_counters_relation,
    &fv_counter_sections_relation,
    &fv_counter_metrics_relation,
    &fv_counter_phases_relation,
    &fv_counter_phase_metrics_relation,
    &fv_labels_relation,
    &fv_sensors_relation,
    &fv_sensor_nodes_relation,
    &fv_sensor_series_relation,
    &fv_sensor_sections_relation,
    &fv_noise_relation,
    &fv_noise_ranks_relation,
    &fv_other_processes_relation,
    &fv_hang_relation,
    &fv_problems_relation,
    NULL,
};
