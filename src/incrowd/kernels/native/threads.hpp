// Share a loop among threads. What each of them writes is its own, so that results do not depend on their number.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

#include "arguments.hpp"

constexpr i64 WORTH_A_THREAD = 1 << 15;  // with fewer steps than this, starting a thread takes longer than they do

// Call work(part, first, last) for every part of the items, the parts at the same time. `bounds` are where parts begin,
// and the end of the last.
template <class Work> void in_parts(const std::vector<i64> &bounds, Work work) {
  const i64 parts = static_cast<i64>(bounds.size()) - 1;
  std::vector<std::exception_ptr> failed(static_cast<std::size_t>(parts));
  const auto run = [&](i64 part) {
    try {
      work(part, bounds[part], bounds[part + 1]);
    } catch (...) {
      failed[part] = std::current_exception();
    }
  };
  std::vector<std::thread> others;
  others.reserve(static_cast<std::size_t>(parts));  // or a thread that runs might have no place
  for (i64 part = 1; part < parts; ++part) {
    try {
      others.emplace_back(run, part);
    } catch (const std::system_error &) {  // there are no more threads to be had: it is done here
      run(part);
    }
  }
  run(0);
  for (std::thread &other : others) other.join();
  for (const std::exception_ptr &one : failed) {
    if (one) std::rethrow_exception(one);
  }
}

// Cut items into as many parts as there are threads, each with about as many steps; `steps(item)` are those of one.
template <class Steps> std::vector<i64> even_parts(i64 items, i64 threads, Steps steps) {
  i64 total = 0;
  for (i64 item = 0; item < items; ++item) total += steps(item);
  const i64 parts = std::max<i64>(1, std::min(threads, total / WORTH_A_THREAD));
  std::vector<i64> bounds{0};
  i64 before = 0;
  for (i64 item = 0; item < items && static_cast<i64>(bounds.size()) < parts; ++item) {
    before += steps(item);
    if (before * parts >= total * static_cast<i64>(bounds.size())) bounds.push_back(item + 1);
  }
  bounds.push_back(items);
  return bounds;
}

// The same where every item is one step.
inline std::vector<i64> even_parts(i64 items, i64 threads) {
  const i64 parts = std::max<i64>(1, std::min(threads, items / WORTH_A_THREAD));
  std::vector<i64> bounds;
  for (i64 part = 0; part <= parts; ++part) bounds.push_back(items * part / parts);
  return bounds;
}

// Tasks that are found while others are done. A thread takes one after the other until none is left and none is done
// that could bring another; when one fails, the others stop.
template <class Task> class Tasks {
 public:
  explicit Tasks(Task first) : waiting_{first} {}

  // Take the next task, whose predecessor is done; return false when there are no more.
  bool next(Task &task, bool &had_one) {
    std::unique_lock<std::mutex> lock(mutex_);
    if (had_one) --busy_;
    changed_.wait(lock, [&] { return !waiting_.empty() || busy_ == 0 || stopped_; });
    had_one = !waiting_.empty() && !stopped_;
    if (had_one) {
      task = waiting_.back();
      waiting_.pop_back();
      ++busy_;
    } else {
      changed_.notify_all();
    }
    return had_one;
  }
  void add(Task task) {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      waiting_.push_back(task);
    }
    changed_.notify_one();
  }
  void stop() {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      stopped_ = true;
    }
    changed_.notify_all();
  }

 private:
  std::vector<Task> waiting_;
  i64 busy_ = 0;
  bool stopped_ = false;
  std::mutex mutex_;
  std::condition_variable changed_;
};

// Work off a task and those that it brings: every thread calls make() once, for what does a task, do(task, add).
template <class Task, class Make> void work_off(i64 threads, Task first, Make make) {
  Tasks<Task> tasks(first);
  std::vector<i64> bounds;
  for (i64 part = 0; part <= threads; ++part) bounds.push_back(part);
  in_parts(bounds, [&](i64, i64, i64) {
    try {
      auto work = make();
      Task task = first;
      bool had_one = false;
      while (tasks.next(task, had_one)) work(task, [&](Task more) { tasks.add(more); });
    } catch (...) {
      tasks.stop();
      throw;
    }
  });
}
