// ALIGNMENT: cannot plan the arena: alignment: expected a power of two, found 3
// CAPACITY: cannot plan the arena: capacity: expected 0 or more bytes, found -5
// BUDGET: cannot plan the arena: budget: expected 0 or more, found -1
func.func @one() {
  %a = memref.alloc() : memref<64xf32>
  memref.dealloc %a : memref<64xf32>
  return
}
