// What the pass cannot place stays as it is, and a function without buffers gets no arena.

// CHECK-LABEL: func @returned(
// CHECK-NEXT:    memref.alloc() : memref<4xf32>
// CHECK-NEXT:    return
func.func @returned() -> memref<4xf32> {
  %a = memref.alloc() : memref<4xf32>
  return %a : memref<4xf32>
}

// CHECK-LABEL: func @dynamic(
// CHECK-NEXT:    memref.alloc(%{{.*}}) : memref<?xf32>
func.func @dynamic(%n: index) {
  %a = memref.alloc(%n) : memref<?xf32>
  memref.dealloc %a : memref<?xf32>
  return
}

// CHECK-LABEL: func @empty(
// CHECK-NEXT:    memref.alloc() : memref<0xf32>
func.func @empty() {
  %a = memref.alloc() : memref<0xf32>
  memref.dealloc %a : memref<0xf32>
  return
}

// CHECK-LABEL: func @elsewhere(
// CHECK-NEXT:    memref.alloc() : memref<4xf32, 3>
func.func @elsewhere() {
  %a = memref.alloc() : memref<4xf32, 3>
  memref.dealloc %a : memref<4xf32, 3>
  return
}

// CHECK-LABEL: func @freed_sometimes(
// CHECK-NEXT:    memref.alloc() : memref<4xf32>
func.func @freed_sometimes(%condition: i1) {
  %a = memref.alloc() : memref<4xf32>
  scf.if %condition {
    memref.dealloc %a : memref<4xf32>
  }
  return
}

// Iterations may run at once, and each needs its own buffer.

// CHECK-LABEL: func @parallel(
// CHECK:         scf.parallel
// CHECK-NEXT:      memref.alloc() : memref<4xf32>
func.func @parallel(%n: index) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  scf.parallel (%i) = (%zero) to (%n) step (%one) {
    %a = memref.alloc() : memref<4xf32>
    memref.dealloc %a : memref<4xf32>
    scf.yield
  }
  return
}
