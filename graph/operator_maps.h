#pragma once

#include <vector>

#include "tessera/graph/axis_map.h"

// The axis maps of operators that move data or resample it; operator_maps.cc has the others.
namespace tessera::graph {

inline AxisMap WholeAxis(int64_t extent) { return {AxisMap::Whole{extent}, 0, 0}; }
inline AxisMap SameAxis(size_t source) { return {AxisMap::Same{}, source, 1}; }

// Of an input axis each.
std::vector<AxisMap> WholeAxes(const Shape& input);
std::vector<AxisMap> SameAxes(size_t rank);

std::vector<AxisMap> MapsOfSlice(const Operator& op);
std::vector<AxisMap> MapsOfPad(const Operator& op, const Shape& input);
std::vector<AxisMap> MapsOfGather(const Operator& op, const Shape& input, const Shape& output);
std::vector<AxisMap> MapsOfTranspose(const Operator& op);
std::vector<AxisMap> MapsOfReshape(const Shape& input, const Shape& output);
std::vector<AxisMap> MapsOfResize(const Operator& op, const Shape& input, const Shape& output);
std::vector<AxisMap> MapsOfDepthToSpace(const Operator& op, const Shape& input, const Shape& output);
std::vector<AxisMap> MapsOfSpaceToDepth(const Operator& op, const Shape& input);

}  // namespace tessera::graph
