#include "harness/hakbench/options.hpp"

#include "harness/hakbench/split.hpp"

namespace hakbench {

namespace {

/// Index of a parameter among the workload's own and then the common ones.
std::size_t index_of(const Workload& workload, std::string_view name) {
  std::size_t index = 0;
  for (const Parameter& parameter : workload.parameters) {
    if (parameter.name == name) return index;
    ++index;
  }
  for (const Parameter& parameter : kCommonParameters) {
    if (parameter.name == name) return index;
    ++index;
  }
  return index;
}

}  // namespace

Options::Options(const Workload& workload) : workload_(&workload) {
  std::size_t index = 0;
  for (const Parameter& parameter : workload.parameters) values_[index++] = parameter.fallback;
  for (const Parameter& parameter : kCommonParameters) values_[index++] = parameter.fallback;
}

const std::uint64_t* Options::find(std::string_view name) const {
  return find_parameter(*workload_, name) == nullptr ? nullptr
                                                     : &values_[index_of(*workload_, name)];
}

std::uint64_t Options::operator[](std::string_view name) const {
  const std::uint64_t* value = find(name);
  return value == nullptr ? 0 : *value;
}

void Options::set(std::string_view name, std::uint64_t value) {
  values_[index_of(*workload_, name)] = value;
}

std::string_view Options::word(std::string_view name) const {
  const Parameter& parameter = *find_parameter(*workload_, name);
  std::string_view rest = parameter.words;
  for (std::uint64_t value = parameter.min; value < (*this)[name]; ++value) {
    rest = behind(rest, rest.find('|'));
  }
  return first_of(rest, rest.find('|'));
}

unsigned Options::threads() const {
  if (has("threads")) return small("threads");
  if (has("producers")) return small("producers") + small("consumers");
  return 1;
}

}  // namespace hakbench
