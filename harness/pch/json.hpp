// Precompiled for every file of the harness: what most of them include and what takes longest.
#pragma once

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>
