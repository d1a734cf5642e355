# kv_layer(<folder> [USES <lower layers or imported targets>...])
#
# One library per folder, of every source in it and below but main.cpp: a new file needs no line
# anywhere. Named kv_<folder> and exported as kvcheck::<folder>. Includes are written from the root
# ("sim/replay.h"), so the root is the only include directory.

# Without -Wrestrict: on g++ 12 it takes string concatenation for overlapping copies (GCC bug 105651).
add_library(kv_warnings INTERFACE)
target_compile_options(kv_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wnon-virtual-dtor
  -Wold-style-cast -Wcast-qual -Woverloaded-virtual -Wno-restrict
  $<$<BOOL:${KVCHECK_WERROR}>:-Werror>)

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

# The same bytes out on every machine: no fused multiply-add where the source says multiply, add.
add_compile_options(-ffp-contract=off)

find_program(KVCHECK_CCACHE ccache)
if(KVCHECK_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${KVCHECK_CCACHE}")
endif()

function(kv_layer name)
  cmake_parse_arguments(LAYER "" "" "USES" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp")
  list(FILTER sources EXCLUDE REGEX "/main\\.cpp$")
  # Loops of the plain kernels are for the compiler to unroll and to take several at once.
  set(plain ${sources})
  list(FILTER plain INCLUDE REGEX "_scalar\\.cpp$")
  set_source_files_properties(${plain} PROPERTIES COMPILE_OPTIONS -O3)
  add_library(kv_${name} STATIC ${sources})
  add_library(kvcheck::${name} ALIAS kv_${name})
  set_target_properties(kv_${name} PROPERTIES EXPORT_NAME ${name} OUTPUT_NAME kvcheck_${name})
  target_include_directories(kv_${name} PUBLIC
    "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>"
    "$<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/generated>"
    "$<INSTALL_INTERFACE:include/kvcheck>")
  target_compile_features(kv_${name} PUBLIC cxx_std_20)
  target_link_libraries(kv_${name} PUBLIC ${LAYER_USES} PRIVATE $<BUILD_INTERFACE:kv_warnings>)
  set_property(GLOBAL APPEND PROPERTY KVCHECK_LAYERS ${name})
endfunction()
