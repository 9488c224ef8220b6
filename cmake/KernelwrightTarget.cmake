# One library per folder. A folder's headers are reachable only by targets that link it: each library publishes an
# include root in the build tree that holds nothing but a link to its own folder, so `#include "graph/operator_graph.h"`
# compiles only for a target that names kernelwright_graph. All links are PRIVATE: what a target uses, it names.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g1 -DNDEBUG")

# The headers that nearly every file includes are compiled once, in kernelwright_base, and shared: a third of the build's
# time. ccache caches such files only when told that their defines may be trusted.
find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE_PROGRAM})
endif()
set(kernelwright_common_headers <nlohmann/json.hpp> <tl/expected.hpp> <algorithm> <functional> <map> <memory> <optional>
    <set> <string> <vector>)

# The warning flags every target of this project compiles with; warnings are errors.
function(kernelwright_warnings target)
    target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Werror -Wnon-virtual-dtor -Woverloaded-virtual
                           -Wno-missing-field-initializers)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        # The first lets ccache see through precompiled headers. The others silence what GCC 12 and 13 wrongly find inside
        # libstdc++'s std::string once its copies are inlined.
        target_compile_options(${target} PRIVATE -fpch-preprocess -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow
                               -Wno-stringop-overread)
    endif()
    # GCC 13 takes a reference from a temporary iterator or view into a container that lives on for a dangling one.
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 13)
        target_compile_options(${target} PRIVATE -Wno-dangling-reference)
    endif()
    if(KERNELWRIGHT_FUZZ)
        target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link,address,undefined
                               -fno-sanitize-recover=undefined -O1)
        target_link_options(${target} PRIVATE -fsanitize=address,undefined)
    endif()
    if(KERNELWRIGHT_SANITIZE)
        target_compile_options(${target} PRIVATE -fsanitize=address,undefined -fno-sanitize-recover=undefined
                               -fno-omit-frame-pointer -O1)
        target_link_options(${target} PRIVATE -fsanitize=address,undefined)
    endif()
endfunction()

# kernelwright_library(NAME FOLDER path-below-core-or-ui SOURCES a.cpp … LINK lib …)
# FOLDER is the include prefix too: the library in core/graph is included as "graph/…", that in core/engine/verify as
# "engine/verify/…", that in ui/models as "ui/models/…".
function(kernelwright_library name)
    cmake_parse_arguments(ARG "" "FOLDER" "SOURCES;LINK" ${ARGN})
    add_library(${name} STATIC ${ARG_SOURCES})
    kernelwright_warnings(${name})
    set(root ${CMAKE_BINARY_DIR}/include/${name})
    get_filename_component(parent ${root}/${ARG_FOLDER} DIRECTORY)
    file(MAKE_DIRECTORY ${parent})
    if(NOT EXISTS ${root}/${ARG_FOLDER})
        file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR} ${root}/${ARG_FOLDER} SYMBOLIC)
    endif()
    target_include_directories(${name} PUBLIC ${root})
    target_link_libraries(${name} PRIVATE ${ARG_LINK})
    if(name STREQUAL "kernelwright_base")
        target_precompile_headers(${name} PRIVATE ${kernelwright_common_headers})
    elseif(NOT "kernelwright_torch" IN_LIST ARG_LINK) # LibTorch's own flags would make it another header
        target_precompile_headers(${name} REUSE_FROM kernelwright_base)
    endif()
endfunction()

# kernelwright_test(NAME SOURCES a.cpp LINK lib … [LABELS gpu]): one Qt Test program registered with ctest.
function(kernelwright_test name)
    cmake_parse_arguments(ARG "" "" "SOURCES;LINK;LABELS" ${ARGN})
    add_executable(${name} ${ARG_SOURCES})
    kernelwright_warnings(${name})
    target_compile_options(${name} PRIVATE -O0) # tests run once per build: compiling them fast is what counts
    set_target_properties(${name} PROPERTIES AUTOMOC ON RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
    target_link_libraries(${name} PRIVATE ${ARG_LINK} Qt6::Core Qt6::Test)
    if(NOT TARGET kernelwright_test_headers)
        file(WRITE ${CMAKE_BINARY_DIR}/test_headers.cpp "")
        add_library(kernelwright_test_headers OBJECT ${CMAKE_BINARY_DIR}/test_headers.cpp)
        kernelwright_warnings(kernelwright_test_headers)
        target_compile_options(kernelwright_test_headers PRIVATE -O0)
        # Nothing of Qt's: it defines words like `slots`, and for <QTest> each test's own folder.
        target_link_libraries(kernelwright_test_headers PRIVATE nlohmann_json::nlohmann_json tl::expected)
        target_precompile_headers(kernelwright_test_headers PRIVATE ${kernelwright_common_headers})
    endif()
    target_precompile_headers(${name} REUSE_FROM kernelwright_test_headers)
    add_test(NAME ${name} COMMAND ${name})
    set_tests_properties(${name} PROPERTIES TIMEOUT 300 ENVIRONMENT
        "QT_QPA_PLATFORM=offscreen;KERNELWRIGHT_BIN=${CMAKE_BINARY_DIR}/bin;KERNELWRIGHT_SOURCE=${CMAKE_SOURCE_DIR};KERNELWRIGHT_RESOURCES=${CMAKE_SOURCE_DIR}/resources")
    if(ARG_LABELS)
        set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABELS}")
    endif()
endfunction()
