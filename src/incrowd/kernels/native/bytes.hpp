// Look at 64 bytes of a text at a time.
#pragma once

#include "arguments.hpp"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

constexpr i64 BLOCK = 64;

// Which of the next 64 bytes are a certain one, one bit for each, the lowest bit for the first byte.
#if defined(__SSE2__)
inline u64 bytes_that_are(const i8 *data, i8 byte) {
  const __m128i wanted = _mm_set1_epi8(static_cast<char>(byte));
  u64 found = 0;
  for (int part = 0; part < 4; ++part) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i *>(data + 16 * part));
    found |= static_cast<u64>(_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, wanted))) << (16 * part);
  }
  return found;
}
#else
inline u64 bytes_that_are(const i8 *data, i8 byte) {
  constexpr u64 low = 0x0101010101010101u, high = 0x8080808080808080u;
  u64 found = 0;
  for (int part = 0; part < 8; ++part) {
    u64 word;
    std::memcpy(&word, data + 8 * part, sizeof word);
    word ^= low * byte;
    const u64 zeros = ~(((word & ~high) + ~high) | word | ~high);  // the highest bit of every byte that is zero
    found |= (((zeros >> 7) * 0x0102040810204080u) >> 56) << (8 * part);
  }
  return found;
}
#endif
