# The parts of an installation that find_package(kvcheck COMPONENTS ...) can ask for one by one.
#
# Each component has rooms, the components that it builds on, and the libraries of others that it
# needs; a consumer of `conformance` needs no SQLite, libzip or ICU. Installed headers are those
# listed in kvcheck_public_headers.cmake.
set(KVCHECK_COMPONENTS core traces sim model reports conformance)

# The policies and the cache: what everything else is made of.
set(KVCHECK_core_ROOMS "base" "base/.*" "traces" "policies" "policies/.*" "sim/spec" "sim/cache"
    "sim/oracle")
set(KVCHECK_core_LAYERS base policies)
set(KVCHECK_core_PACKAGES boost_json threads)

# Trace files and synthetic streams.
set(KVCHECK_traces_ROOMS "traces/.*")
set(KVCHECK_traces_LAYERS traces)
set(KVCHECK_traces_USES core)
set(KVCHECK_traces_PACKAGES libzip xxhash)

# Replays of traces through policies.
set(KVCHECK_sim_ROOMS "sim/samples" "sim/replay" "sim/retained" "sim/steps")
set(KVCHECK_sim_LAYERS sim)
set(KVCHECK_sim_USES traces)
set(KVCHECK_sim_PACKAGES threads)

# Language models that run on what a policy keeps.
set(KVCHECK_model_ROOMS "model/.*")
set(KVCHECK_model_LAYERS model)
set(KVCHECK_model_USES sim)
set(KVCHECK_model_PACKAGES icu)

# Results files, tables, figures and pages.
set(KVCHECK_reports_ROOMS "reports/.*")
set(KVCHECK_reports_LAYERS reports)
set(KVCHECK_reports_USES sim)
set(KVCHECK_reports_PACKAGES sqlite zlib)

# The battery of laws for a cache of one's own, with the main function of a test program.
set(KVCHECK_conformance_ROOMS "properties" "properties/.*" "cli/options" "cli/check")
set(KVCHECK_conformance_LAYERS properties)
set(KVCHECK_conformance_USES core)
set(KVCHECK_conformance_PACKAGES threads rapidcheck)
