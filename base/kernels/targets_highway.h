// What Highway compiles the *_highway.cpp sources for. They include this first.
//
// Each of them is compiled once per target: it names itself in HWY_TARGET_INCLUDE, and Highway's
// header for this includes it again for every target. What stands between HWY_BEFORE_NAMESPACE()
// and HWY_AFTER_NAMESPACE() under `#if KV_HAS_LANES` is code of that target, in a namespace named
// after it; KV_OF_TARGET selects among these namespaces when the program runs.
//
// Only the headers of Highway are used, so the program needs no library of it.
#pragma once

#include "kvcheck/base/kernels/kernels_detail.h"

// Highway compiles for the base machine too, on x86 as its scalar fallback. It is empty, because
// the *_scalar.cpp sources serve that machine. Every 64-bit ARM has NEON. AVX-512 has sources of
// its own, and vectors of SVE, whose size is not known here, cannot be members of a struct.
#define KV_HAS_LANES (HWY_TARGET != HWY_SCALAR && HWY_TARGET != HWY_EMU128)
#ifdef __x86_64__
#define HWY_DISABLED_TARGETS (~(HWY_AVX2 | HWY_SSE4 | HWY_SCALAR | HWY_EMU128))
#define HWY_DISABLE_PCLMUL_AES
#define KV_OF_TARGET(target, function) \
  ((target) == Target::avx2 ? N_AVX2::function : N_SSE4::function)
#else
#define HWY_COMPILE_ONLY_STATIC
#define KV_OF_TARGET(target, function) (static_cast<void>(target), HWY_STATIC_DISPATCH(function))
#endif

// Its assertions, which sanitizers would switch on, call its library.
#define HWY_IS_DEBUG_BUILD 0

// After the parameters of a lambda: without it clang does not compile the lambda for the target,
// and g++ 12 leaves calls, which take registers through memory.
#define KV_INLINE HWY_ATTR __attribute__((always_inline))
