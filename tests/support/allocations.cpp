#include "support/allocations.h"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::size_t> largest{0};

}  // namespace

std::size_t penstock::test::largest_allocation() { return largest.exchange(0); }

void* operator new(std::size_t size, const std::nothrow_t& /*tag*/) noexcept {
  largest = std::max(largest.load(), size);
  return std::malloc(std::max<std::size_t>(size, 1));
}

void* operator new(std::size_t size) {
  if (void* memory = operator new(size, std::nothrow)) { return memory; }
  throw std::bad_alloc();
}

void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t /*size*/) noexcept { std::free(memory); }
