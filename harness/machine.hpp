// What the machine is, for the manifest: two results of machines that are not alike are not
// compared without being asked to.
#pragma once

#include <string>
#include <vector>

#include "harness/cpus.hpp"
#include "harness/placed_json.hpp"

namespace hakmem::harness {

/// The manifest's `machine`. Adds "machine.NAME": reason to `missing` for what cannot be had.
Json machine_json(const CpuPlan& plan, Json* missing);

/// What makes two machines alike: CPU, cores, kernel, memory in whole GiB (the kernel keeps some,
/// more or less by version), C library, virtualisation.
Json machine_identity();

/// Sixteen hexadecimal digits of the identity's hash.
std::string fingerprint(const Json& identity);

/// What differs between the identity of an earlier session and this machine's, or "". What was not
/// recorded then does not differ.
std::string machine_difference(const Json& before, const Json& now);

/// Hypervisor as systemd-detect-virt names it ("kvm", "vmware", "none", …), from CPUID and DMI.
std::string virtualisation();

/// The choice in brackets of a /sys file such as "always [madvise] never", else its first line.
std::string chosen_of(const std::string& path);

/// Identity of this boot.
std::string boot_id();

/// How hak and the libraries beside it were built.
Json build_json();

/// Profile of this build: standard, observe, debug.
std::string build_profile();

/// Commit and whether the tree was dirty; nulls where git cannot tell, with the reason in
/// `missing`.
Json git_json(const std::string& root, Json* missing);

}  // namespace hakmem::harness
