// The instruction sets that the kernels are compiled for; before hwy/highway.h in every file of
// kernels. What is left out is a small step from a neighbour, or has vectors of unknown size.
#define HWY_DISABLED_TARGETS \
  (HWY_SSSE3 | HWY_AVX3_DL | HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128)
