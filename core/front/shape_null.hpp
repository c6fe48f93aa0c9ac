// Box shape_null, the control of shape experiments: its variant is the baseline's code, elsewhere.
#pragma once

#include "boxes/variant.hpp"
#include "front/front.hpp"

namespace hakmem::HAKMEM_VARIANT {

/// After malloc took a block: counted in the observe build, nothing in the others.
HAK_INLINE void shape_null_at_malloc(Front& front) {
  if constexpr (boxes::on(boxes::Id::shape_null) && kObserve) {
    ++front.box_uses[static_cast<std::size_t>(boxes::Id::shape_null)];
  }
}

}  // namespace hakmem::HAKMEM_VARIANT
