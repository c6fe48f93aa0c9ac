// What a library needs of its process before libc is ready: environment, messages, files.
#pragma once

#include "base/text.hpp"
#include "base/types.hpp"

namespace hakmem::os {

/// The environment, null-terminated: `environ`, or the initial stack while libc has not set it.
char** environment();

/// Set-user-id and the like: options are ignored there.
bool runs_privileged();

/// Random bits of this process, from the kernel (AT_RANDOM), without a system call.
std::uint64_t random_seed();

/// One line to stderr, in one write, so that lines of two threads do not mix.
void say(const Text& line);

/// Says the line and aborts: the heap is not to be trusted.
[[noreturn]] void fail(const Text& line);

/// Ends the process at once, without handlers.
[[noreturn]] void exit_now(int status);

/// Appends to a file, which is created when missing. False on failure.
bool append_to_file(const char* path, const char* data, std::size_t size);

/// Reads up to `capacity` bytes of a (proc) file; gives the count, 0 on failure.
std::size_t read_file(const char* path, char* buffer, std::size_t capacity);

/// Removes a file; nothing happens when there is none.
void remove_file(const char* path);

/// Puts `from` in the place of `to`; false when that fails.
bool rename_file(const char* from, const char* to);

/// Calls sink(argument, data, size) for each piece of a file.
void read_pieces(const char* path, void (*sink)(void*, const char*, std::size_t), void* argument);

int process_id();

void futex_wait(void* word, std::uint32_t value);
void futex_wake_one(void* word);

}  // namespace hakmem::os
