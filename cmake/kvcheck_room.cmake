# kv_room(USES <rooms...> [LIBRARIES <imported targets...>] [PRIVATE_LIBRARIES <targets...>])
#
# Adds one static library with the sources of the current folder, except main.cpp and the sources of
# folders below it. A new file therefore needs no line in any list. The room sim/cache becomes the
# target kv_sim_cache, exported as kvcheck::sim_cache. USES is the architecture: a room may include
# and link only the rooms that it names. tests/tidy reads these lists and checks every #include
# against them.
#
# Includes are written from the root with the project's name ("kvcheck/sim/cache/slots.h"), both in
# the tree and in an installation, so that they cannot find a user's folder of the same name. In the
# tree, this name is a link in the build folder.

file(MAKE_DIRECTORY "${PROJECT_BINARY_DIR}/include")
file(CREATE_LINK "${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}/include/kvcheck" SYMBOLIC)

# -Wrestrict is off because g++ 12 mistakes string concatenation for overlapping copies
# (GCC bug 105651).
add_library(kv_warnings INTERFACE)
target_compile_options(kv_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow -Wnon-virtual-dtor
  -Wold-style-cast -Wcast-qual -Woverloaded-virtual $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>
  $<$<BOOL:${KVCHECK_WERROR}>:-Werror>)

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

# The output must be the same on every machine, so the compiler may not fuse a multiplication and an
# addition of the source into one instruction.
add_compile_options(-ffp-contract=off)

find_program(KVCHECK_CCACHE ccache)
if(KVCHECK_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${KVCHECK_CCACHE}")
endif()

# The kernels use the headers of Highway alone, so neither the program nor a consumer of the libraries
# links its library.
add_library(kv_highway INTERFACE)
target_include_directories(kv_highway SYSTEM INTERFACE ${highway_INCLUDE_DIRS})

function(kv_room)
  cmake_parse_arguments(ROOM "" "" "USES;LIBRARIES;PRIVATE_LIBRARIES" ${ARGN})
  file(RELATIVE_PATH room "${PROJECT_SOURCE_DIR}" "${CMAKE_CURRENT_SOURCE_DIR}")
  kv_target_names(name "${room}")
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp")
  list(FILTER sources EXCLUDE REGEX "/main\\.cpp$")
  # The compiler should unroll and vectorise the loops of the scalar kernels.
  set(plain ${sources})
  list(FILTER plain INCLUDE REGEX "_scalar\\.cpp$")
  set_source_files_properties(${plain} PROPERTIES COMPILE_OPTIONS -O3)
  # Else the speed of a kernel of nanoseconds depends on where the code before it happens to end.
  set(by_hand ${sources})
  list(FILTER by_hand INCLUDE REGEX "_avx512\\.cpp$")
  set_source_files_properties(${by_hand} PROPERTIES COMPILE_OPTIONS "-falign-functions=64;-falign-loops=32")
  # Only x86 has AVX-512.
  if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
    list(FILTER sources EXCLUDE REGEX "_avx512\\.cpp$")
  endif()
  # With sanitizers these sources, which are compiled once per target, would take minutes each. Tests
  # with those of g++ run the scalar kernels (./dev), and with those of clang addresses are checked.
  set(by_target ${sources})
  list(FILTER by_target INCLUDE REGEX "_highway\\.cpp$")
  set_source_files_properties(${by_target} PROPERTIES COMPILE_OPTIONS
                              -fno-sanitize=$<IF:$<CXX_COMPILER_ID:GNU>,all,undefined>)

  add_library(kv_${name} STATIC ${sources})
  add_library(kvcheck::${name} ALIAS kv_${name})
  set_target_properties(kv_${name} PROPERTIES EXPORT_NAME ${name} OUTPUT_NAME kvcheck_${name})
  target_include_directories(kv_${name} PUBLIC
    "$<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>"
    "$<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/generated>"
    "$<INSTALL_INTERFACE:include>")
  target_compile_features(kv_${name} PUBLIC cxx_std_20)
  kv_target_names(used ${ROOM_USES})
  list(TRANSFORM used PREPEND kv_)
  target_link_libraries(kv_${name} PUBLIC ${used} ${ROOM_LIBRARIES}
                        PRIVATE ${ROOM_PRIVATE_LIBRARIES} $<BUILD_INTERFACE:kv_warnings>)
  set_property(GLOBAL APPEND PROPERTY KVCHECK_ROOMS ${room})
endfunction()

# The target names of rooms without the prefix kv_: sim_cache for sim/cache, and base_root for base,
# so that kv_base can be the whole layer.
function(kv_target_names result)
  set(names)
  foreach(room IN LISTS ARGN)
    if(NOT room MATCHES "/")
      set(room "${room}/root")
    endif()
    string(REPLACE "/" "_" name "${room}")
    list(APPEND names ${name})
  endforeach()
  set(${result} ${names} PARENT_SCOPE)
endfunction()

# kv_layers(): adds a target kv_<layer>, exported as kvcheck::<layer>, for each top folder with
# rooms. It links all rooms of that folder.
function(kv_layers)
  get_property(rooms GLOBAL PROPERTY KVCHECK_ROOMS)
  foreach(room IN LISTS rooms)
    string(REGEX REPLACE "/.*" "" layer "${room}")
    if(NOT TARGET kv_${layer})
      add_library(kv_${layer} INTERFACE)
      add_library(kvcheck::${layer} ALIAS kv_${layer})
      set_target_properties(kv_${layer} PROPERTIES EXPORT_NAME ${layer})
    endif()
    kv_target_names(name ${room})
    target_link_libraries(kv_${layer} INTERFACE kv_${name})
  endforeach()
endfunction()
