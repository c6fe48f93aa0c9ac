// Precompiled for every file of the harness: what most of them include and what takes longest.
// (No guard: it is compiled as a file of its own, and included by the compiler alone.)
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>
