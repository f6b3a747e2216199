// What passes between Python and a loop: numbers and arrays, each with its type and shape.
//
// A loop is a plain function of numbers and views of arrays. EXPORT(loop) makes it callable from Python: what is given
// is compared with the loop's own parameters, one by one, so that a wrong type is an error and never a wrong number.
// See `calling.py` for the other side.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#if defined(_WIN32)
#define INCROWD_VISIBLE extern "C" __declspec(dllexport)
#else
#define INCROWD_VISIBLE extern "C" __attribute__((visibility("default")))
#endif

#if defined(__linux__)
#include <sys/mman.h>
#endif

using i8 = std::uint8_t;  // a truth value in NumPy
using i32 = std::int32_t;
using i64 = std::int64_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using f64 = double;

enum Type : i64 {
  INTEGER = 1, REAL = 2, ARRAY_I8 = 3, ARRAY_I32 = 4, ARRAY_I64 = 5, ARRAY_U64 = 6, ARRAY_F64 = 7, ARRAY_U16 = 8,
  ARRAY_U32 = 9
};

template <class T> constexpr i64 array_type() {
  using Element = std::remove_const_t<T>;
  if constexpr (std::is_same_v<Element, i8>) return ARRAY_I8;
  if constexpr (std::is_same_v<Element, i32>) return ARRAY_I32;
  if constexpr (std::is_same_v<Element, i64>) return ARRAY_I64;
  if constexpr (std::is_same_v<Element, u16>) return ARRAY_U16;
  if constexpr (std::is_same_v<Element, u32>) return ARRAY_U32;
  if constexpr (std::is_same_v<Element, u64>) return ARRAY_U64;
  return ARRAY_F64;
}

// One argument or result: a number in `content`, or the address of an array's first element.
struct Passed {
  i64 type, content, dimensions, shape[3];
};

// Views of arrays that Python owns, in C order.
template <class T> struct Vector {
  T *data;
  i64 length;
  T &operator[](i64 place) const { return data[place]; }
  T *begin() const { return data; }
  T *end() const { return data + length; }
  Vector from(i64 first, i64 last) const { return {data + first, last - first}; }
};

template <class T> struct Matrix {
  T *data;
  i64 rows, columns;
  T *operator[](i64 row) const { return data + row * columns; }
};

template <class T> struct Cube {
  T *data;
  i64 blocks, rows, columns;
  T *at(i64 block, i64 row) const { return data + (block * rows + row) * columns; }
};

// Ask for large pages where much memory was just taken: the system then hands it out in fewer pieces. NumPy does so too.
inline void *in_large_pages(void *room, std::size_t bytes) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  constexpr std::size_t worth = std::size_t{1} << 22, page = 4096;
  if (room != nullptr && bytes >= worth) {
    const std::size_t offset = page - reinterpret_cast<std::uintptr_t>(room) % page;
    madvise(static_cast<char *>(room) + offset, bytes - offset, MADV_HUGEPAGE);  // without it, all is only slower
  }
#else
  (void)bytes;
#endif
  return room;
}
template <class T> T *take_room(i64 length) {
  const std::size_t bytes = static_cast<std::size_t>(length) * sizeof(T);
  void *room = in_large_pages(std::malloc(bytes), bytes);
  if (room == nullptr) throw std::bad_alloc();
  return static_cast<T *>(room);
}

// An array that a loop makes, and that grows. It is given to Python as it is, `columns` elements to a row.
template <class T> class Growing {
 public:
  explicit Growing(i64 columns = 1, i64 room = 16) : columns_(columns), room_(room) {
    data_ = take_room<T>(room_ * columns_ + 1);
  }
  Growing(Growing &&other) noexcept { swap(other); }
  Growing &operator=(Growing &&other) noexcept {
    swap(other);
    return *this;
  }
  ~Growing() { std::free(data_); }
  void swap(Growing &other) noexcept {
    std::swap(data_, other.data_);
    std::swap(columns_, other.columns_);
    std::swap(length_, other.length_);
    std::swap(room_, other.room_);
  }
  T *add() {  // the next row, whose elements are still undefined
    if (length_ == room_) lengthen(2 * room_);
    return data_ + columns_ * length_++;
  }
  void make_room(i64 more) {  // so that this many rows are added without another look for memory
    if (length_ + more > room_) lengthen(length_ + more);
  }
  void push(T value) { *add() = value; }
  void set_length(i64 length) { length_ = length; }  // for which there is room; new elements are still undefined
  i64 length() const { return length_; }
  i64 columns() const { return columns_; }
  T &operator[](i64 place) const { return data_[place]; }
  T *row(i64 row) const { return data_ + row * columns_; }
  T *give_away() { return std::exchange(data_, nullptr); }

 private:
  void lengthen(i64 room) {
    const std::size_t bytes = static_cast<std::size_t>(room * columns_ + 1) * sizeof(T);
    void *longer = in_large_pages(std::realloc(data_, bytes), bytes);
    if (longer == nullptr) throw std::bad_alloc();
    data_ = static_cast<T *>(longer);
    room_ = room;
  }

  T *data_ = nullptr;
  i64 columns_ = 1, length_ = 0, room_ = 0;
};

// Scratch space of one loop.
template <class T> class Scratch {
 public:
  explicit Scratch(i64 length) : data_(take_room<T>(length + 1)), length_(length) {}
  Scratch(i64 length, T value) : Scratch(length) { fill(value); }
  Scratch(const Scratch &) = delete;
  Scratch &operator=(const Scratch &) = delete;
  ~Scratch() { std::free(data_); }
  void fill(T value) {
    for (i64 place = 0; place < length_; ++place) data_[place] = value;
  }
  T &operator[](i64 place) const { return data_[place]; }
  i64 length() const { return length_; }
  T *begin() const { return data_; }
  T *end() const { return data_ + length_; }
  Vector<T> view() const { return {data_, length_}; }

 private:
  T *data_;
  i64 length_;
};

struct Mismatch : std::runtime_error {
  using std::runtime_error::runtime_error;
};

inline void require(const Passed &given, i64 type, i64 dimensions) {
  if (given.type != type || given.dimensions != dimensions) {
    throw Mismatch("type " + std::to_string(given.type) + " in " + std::to_string(given.dimensions) +
                   " dimensions in place of type " + std::to_string(type) + " in " + std::to_string(dimensions));
  }
}

template <class T> T *address(const Passed &given) { return reinterpret_cast<T *>(static_cast<std::intptr_t>(given.content)); }

template <class T> struct Taken;
template <> struct Taken<i64> {
  static i64 from(const Passed &given) { return require(given, INTEGER, 0), given.content; }
};
template <> struct Taken<bool> {
  static bool from(const Passed &given) { return require(given, INTEGER, 0), given.content != 0; }
};
template <> struct Taken<f64> {
  static f64 from(const Passed &given) {
    require(given, REAL, 0);
    f64 value;
    std::memcpy(&value, &given.content, sizeof value);
    return value;
  }
};
template <class T> struct Taken<Vector<T>> {
  static Vector<T> from(const Passed &given) { return require(given, array_type<T>(), 1), Vector<T>{address<T>(given), given.shape[0]}; }
};
template <class T> struct Taken<Matrix<T>> {
  static Matrix<T> from(const Passed &given) {
    return require(given, array_type<T>(), 2), Matrix<T>{address<T>(given), given.shape[0], given.shape[1]};
  }
};
template <class T> struct Taken<Cube<T>> {
  static Cube<T> from(const Passed &given) {
    return require(given, array_type<T>(), 3), Cube<T>{address<T>(given), given.shape[0], given.shape[1], given.shape[2]};
  }
};

inline void give(Passed &result, i64 value) { result = {INTEGER, value, 0, {0, 0, 0}}; }
inline void give(Passed &result, bool value) { result = {INTEGER, value, 0, {0, 0, 0}}; }
inline void give(Passed &result, f64 value) {
  result = {REAL, 0, 0, {0, 0, 0}};
  std::memcpy(&result.content, &value, sizeof value);
}
template <class T> void give(Passed &result, Growing<T> &value) {
  result = {array_type<T>(), 0, value.columns() == 1 ? 1 : 2, {value.length(), value.columns(), 0}};
  result.content = static_cast<i64>(reinterpret_cast<std::intptr_t>(value.give_away()));
}

inline std::string &what_failed() {
  thread_local std::string text;
  return text;
}

constexpr i64 FAILED = -1;

template <class... Parameters, class Function, std::size_t... Places>
auto call(Function loop, const Passed *given, std::index_sequence<Places...>) {
  return loop(Taken<Parameters>::from(given[Places])...);
}

// Return how many results there are.
template <class Result, class... Parameters>
i64 called(Result (*loop)(Parameters...), const Passed *given, i64 number, Passed *results) {
  constexpr auto places = std::index_sequence_for<Parameters...>{};
  try {
    if (number != static_cast<i64>(sizeof...(Parameters))) {
      throw Mismatch(std::to_string(number) + " arguments in place of " + std::to_string(sizeof...(Parameters)));
    }
    if constexpr (std::is_void_v<Result>) {
      call<Parameters...>(loop, given, places);
      return 0;
    } else if constexpr (std::is_arithmetic_v<Result>) {
      give(results[0], call<Parameters...>(loop, given, places));
      return 1;
    } else {
      Result all = call<Parameters...>(loop, given, places);
      i64 written = 0;
      std::apply([&](auto &...each) { (give(results[written++], each), ...); }, all);
      return written;
    }
  } catch (const std::exception &error) {
    what_failed() = error.what();
    return FAILED;
  }
}

#define EXPORT(loop)                                                                        \
  INCROWD_VISIBLE i64 incrowd_##loop(const Passed *given, i64 number, Passed *results) {    \
    return called(loop, given, number, results);                                            \
  }
