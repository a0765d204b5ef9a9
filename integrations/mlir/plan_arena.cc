// SPDX-License-Identifier: Apache-2.0

#include "plan_arena.h"

#include <mlir/Dialect/Affine/IR/AffineOps.h>
#include <mlir/Dialect/Arith/IR/Arith.h>
#include <mlir/Dialect/Func/IR/FuncOps.h>
#include <mlir/Dialect/MemRef/IR/MemRef.h>
#include <mlir/Dialect/SCF/IR/SCF.h>
#include <mlir/IR/Builders.h>
#include <mlir/Interfaces/DataLayoutInterfaces.h>
#include <mlir/Interfaces/ViewLikeInterface.h>
#include <tessera/allocate.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// A buffer that is allocated and freed in one block is a range of operations, from its allocation
// to its last use, and a range of bytes once it has an offset. The free is not the end of the
// range, because bufferization frees late. Operations are numbered in the order of the text:
//
//     0  a = memref.alloc          a
//     1  b = memref.alloc          a b
//     2  use(a, b)                 a b
//     3  scf.for {                   b         bytes ^  .---.
//     4    c = memref.alloc          b c             |  | a |---.---.
//     5    use(b, c)                 b c             |  '---'   | c |
//     6    memref.dealloc c          b               |    .-----'---'-.
//     7  }                           b               |    |     b     |
//     8  memref.dealloc a                            |    '-----------'
//     9  memref.dealloc b                            '---------------------> operation
//
// Two buffers whose ranges are disjoint never hold contents at once. Between the start and the end
// of a range, control stays in its operations: in the block, and in the operations nested in them.
// A use inside a loop counts until the end of the loop, and a loop runs an inner range many times,
// but each time from its start to its end. This also holds for blocks that branch to each other, as
// a block is entered at its start. It does not hold if iterations run at the same time, so buffers
// inside operations that are not known to be sequential stay as they are, like those that are freed
// in another block, or never. Views count as their buffer. The range ends at the free if an
// operation may keep the address, or may work on after its end: a start of DMA, or a use inside an
// operation that is not known to wait for its body. A call is assumed to keep nothing beyond its
// results.
//
// The arena is a buffer of the function, so calls that overlap in time have separate arenas.
namespace tessera::mlir_pass {
namespace {

using mlir::memref::AllocOp;
using mlir::memref::DeallocOp;

struct Planned {
  AllocOp alloc;
  DeallocOp dealloc;
  std::int64_t bytes = 0;
  std::int64_t alignment = 1;  // that the allocation requests
};

// Returns the only free of the buffer, if it is in the block of the allocation.
DeallocOp FindDealloc(AllocOp alloc) {
  DeallocOp found;
  for (mlir::Operation* user : alloc->getUsers()) {
    if (llvm::isa<mlir::memref::ReallocOp>(user)) return {};
    auto dealloc = llvm::dyn_cast<DeallocOp>(user);
    if (!dealloc) continue;
    if (found || dealloc->getBlock() != alloc->getBlock()) return {};
    found = dealloc;
  }
  return found;
}

bool IsSequential(mlir::Operation* parent) {
  return llvm::isa<mlir::scf::ForOp, mlir::scf::WhileOp, mlir::scf::IfOp, mlir::scf::IndexSwitchOp,
                   mlir::scf::ExecuteRegionOp, mlir::AffineForOp, mlir::AffineIfOp,
                   mlir::memref::AllocaScopeOp>(parent);
}

// Whether the use may touch the buffer after the operation in this block that contains it.
bool MayWorkOn(mlir::Operation* user, const mlir::Block* block) {
  if (llvm::isa<mlir::memref::DmaStartOp, mlir::AffineDmaStartOp>(user)) return true;
  for (mlir::Operation* op = user; op->getBlock() != block;) {
    op = op->getParentOp();
    if (!IsSequential(op) && !llvm::isa<mlir::scf::ParallelOp, mlir::AffineParallelOp>(op))
      return true;
  }
  return false;
}

// The bytes of an element are a power of two, as widths in between are padded: 4 of i24.
std::optional<std::int64_t> BytesOf(AllocOp alloc) {
  const mlir::MemRefType type = alloc.getType();
  if (!type.hasStaticShape() || !type.getLayout().isIdentity() || type.getMemorySpace())
    return std::nullopt;
  const mlir::Type element = type.getElementType();
  if (!element.isIntOrIndexOrFloat()) return std::nullopt;
  const mlir::DataLayout layout = mlir::DataLayout::closest(alloc);
  auto bytes = static_cast<std::int64_t>(llvm::PowerOf2Ceil(layout.getTypeSize(element)));
  for (const std::int64_t extent : type.getShape()) {
    if (llvm::MulOverflow(bytes, extent, bytes)) return std::nullopt;
  }
  return bytes > 0 ? std::optional(bytes) : std::nullopt;
}

bool MayKeepAddress(mlir::Operation* user, mlir::Value buffer) {
  if (user->hasTrait<mlir::OpTrait::IsTerminator>() ||
      llvm::isa<mlir::memref::ExtractAlignedPointerAsIndexOp>(user))
    return true;
  if (auto store = llvm::dyn_cast<mlir::memref::StoreOp>(user)) {
    if (store.getValueToStore() == buffer) return true;
  }
  if (auto store = llvm::dyn_cast<mlir::AffineStoreOp>(user)) {
    if (store.getValueToStore() == buffer) return true;
  }
  return !llvm::all_of(user->getResultTypes(), [](mlir::Type type) {
    return type.isIntOrIndexOrFloat() || type.isa<mlir::VectorType>();
  });
}

// Returns the operation in the block of the buffer after which its contents are not needed.
mlir::Operation* EndOf(const Planned& planned) {
  AllocOp alloc = planned.alloc;
  mlir::Operation* last = alloc;
  llvm::SmallVector<mlir::Value> views = {alloc.getResult()};
  while (!views.empty()) {
    const mlir::Value view = views.pop_back_val();
    for (mlir::Operation* user : view.getUsers()) {
      if (llvm::isa<DeallocOp>(user)) continue;
      mlir::Operation* there = alloc->getBlock()->findAncestorOpInBlock(*user);
      if (there == nullptr || MayWorkOn(user, alloc->getBlock())) return planned.dealloc;
      if (last->isBeforeInBlock(there)) last = there;
      auto viewing = llvm::dyn_cast<mlir::ViewLikeOpInterface>(user);
      if (viewing && viewing.getViewSource() == view) {
        views.append(user->result_begin(), user->result_end());
      } else if (MayKeepAddress(user, view)) {
        return planned.dealloc;
      }
    }
  }
  return last->getNextNode();
}

std::vector<Planned> Collect(mlir::func::FuncOp function) {
  std::vector<Planned> planned;
  function.walk([&](AllocOp alloc) {
    for (auto* parent = alloc->getParentOp(); parent != function; parent = parent->getParentOp()) {
      if (!IsSequential(parent)) return;
    }
    const DeallocOp dealloc = FindDealloc(alloc);
    const std::optional<std::int64_t> bytes = BytesOf(alloc);
    if (dealloc && bytes)
      planned.push_back(
          {alloc, dealloc, *bytes, static_cast<std::int64_t>(alloc.getAlignment().value_or(1))});
  });
  return planned;
}

llvm::DenseMap<mlir::Operation*, std::int64_t> Number(mlir::func::FuncOp function) {
  llvm::DenseMap<mlir::Operation*, std::int64_t> numbers;
  function.walk<mlir::WalkOrder::PreOrder>(
      [&](mlir::Operation* op) { numbers.try_emplace(op, numbers.size()); });
  return numbers;
}

class PlanArena : public mlir::PassWrapper<PlanArena, mlir::OperationPass<mlir::func::FuncOp>> {
 public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PlanArena)

  PlanArena() = default;
  PlanArena(const PlanArena& other) : PassWrapper(other) {}

  llvm::StringRef getArgument() const final { return "tessera-plan-arena"; }
  llvm::StringRef getDescription() const final {
    return "Make buffers of static shapes views of one arena, at planned offsets";
  }
  void getDependentDialects(mlir::DialectRegistry& registry) const final {
    registry.insert<mlir::arith::ArithDialect, mlir::memref::MemRefDialect>();
  }

  void runOnOperation() final {
    if (!HasOptionsOfUse()) return signalPassFailure();
    std::vector<Planned> planned = Collect(getOperation());
    if (planned.empty()) return;
    const std::optional<tessera::Allocation> allocation = Place(planned);
    if (!allocation) return signalPassFailure();
    Rewrite(planned, *allocation);
  }

 private:
  std::optional<tessera::Allocation> Place(const std::vector<Planned>& planned) {
    const auto numbers = Number(getOperation());
    std::vector<tessera::Buffer> buffers;
    for (const Planned& one : planned) {
      tessera::Buffer& buffer = buffers.emplace_back();
      buffer.id = "b" + std::to_string(buffers.size() - 1);
      buffer.size = one.bytes;
      buffer.steps = {{numbers.lookup(one.alloc), numbers.lookup(EndOf(one))}};
      buffer.alignment = std::max<std::int64_t>(alignment_, one.alignment);
    }
    const auto problem = tessera::Problem::Make(buffers);
    if (!problem) return Refuse(problem.Error().text);
    tessera::AllocateOptions options;
    options.minimize = true;
    options.budget = budget_;
    if (capacity_ > 0) options.capacity = capacity_;
    const auto answer = tessera::Allocate(*problem, options);
    if (!answer) return Refuse(answer.Error().text);
    if (!answer->allocation) return Refuse(answer->reason);
    return answer->allocation;
  }

  bool HasOptionsOfUse() {
    if (alignment_ < 1 || !llvm::isPowerOf2_64(static_cast<std::uint64_t>(alignment_.getValue()))) {
      Refuse("alignment: expected a power of two, found " + std::to_string(alignment_));
    } else if (capacity_ < 0) {
      Refuse("capacity: expected 0 or more bytes, found " + std::to_string(capacity_));
    } else if (budget_ < 0) {
      Refuse("budget: expected 0 or more, found " + std::to_string(budget_));
    } else {
      return true;
    }
    return false;
  }

  std::nullopt_t Refuse(llvm::StringRef reason) {
    getOperation().emitError() << "cannot plan the arena: " << reason;
    return std::nullopt;
  }

  void Rewrite(std::vector<Planned>& planned, const tessera::Allocation& allocation) {
    mlir::func::FuncOp function = getOperation();
    mlir::OpBuilder builder(&function.getBody().front().front());
    std::int64_t alignment = alignment_;
    for (const Planned& one : planned) alignment = std::max(alignment, one.alignment);
    const auto type = mlir::MemRefType::get({allocation.Peak()}, builder.getI8Type());
    mlir::Value arena =
        builder.create<AllocOp>(function.getLoc(), type, builder.getI64IntegerAttr(alignment));
    for (std::size_t i = 0; i < planned.size(); ++i) {
      Planned& one = planned[i];
      builder.setInsertionPoint(one.alloc);
      mlir::Value offset =
          builder.create<mlir::arith::ConstantIndexOp>(one.alloc.getLoc(), allocation.Offsets()[i]);
      mlir::Value view = builder.create<mlir::memref::ViewOp>(
          one.alloc.getLoc(), one.alloc.getType(), arena, offset, mlir::ValueRange());
      one.dealloc.erase();
      one.alloc.replaceAllUsesWith(view);
      one.alloc.erase();
    }
    function.walk([&](mlir::func::ReturnOp end) {
      builder.setInsertionPoint(end);
      builder.create<DeallocOp>(end.getLoc(), arena);
    });
  }

  Option<std::int64_t> capacity_{*this, "capacity",
                                 llvm::cl::desc("Bytes that the arena may have; 0: no limit"),
                                 llvm::cl::init(0)};
  Option<std::int64_t> alignment_{*this, "alignment", llvm::cl::desc("Of each buffer, in bytes"),
                                  llvm::cl::init(64)};
  Option<std::int64_t> budget_{*this, "budget", llvm::cl::desc("Of work for each function"),
                               llvm::cl::init(20'000)};
};

}  // namespace

std::unique_ptr<mlir::Pass> CreatePlanArena() { return std::make_unique<PlanArena>(); }

}  // namespace tessera::mlir_pass
