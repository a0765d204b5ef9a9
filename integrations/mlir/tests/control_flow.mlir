func.func private @use(memref<16xi64>)

// Buffers of a loop body share bytes with each other and not with what lives around the loop.

// CHECK-LABEL: func @loop(
// CHECK:         memref.alloc() {alignment = 16 : i64} : memref<256xi8>
// CHECK:         memref.view {{.*}} to memref<16xi64>
// CHECK:         scf.for
// CHECK:           %[[A:.*]] = arith.constant [[OFFSET:[0-9]+]] : index
// CHECK-NEXT:      memref.view %{{.*}}[%[[A]]]
// CHECK:           %[[B:.*]] = arith.constant [[OFFSET]] : index
// CHECK-NEXT:      memref.view %{{.*}}[%[[B]]]
// CHECK:         }
// CHECK:         memref.dealloc
// CHECK-NEXT:    return
func.func @loop(%n: index) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %around = memref.alloc() : memref<16xi64>
  scf.for %i = %zero to %n step %one {
    %a = memref.alloc() : memref<16xi64>
    func.call @use(%a) : (memref<16xi64>) -> ()
    memref.dealloc %a : memref<16xi64>
    %b = memref.alloc() : memref<16xi64>
    func.call @use(%b) : (memref<16xi64>) -> ()
    memref.dealloc %b : memref<16xi64>
  }
  func.call @use(%around) : (memref<16xi64>) -> ()
  memref.dealloc %around : memref<16xi64>
  return
}

// Every end of a function frees the arena.

// CHECK-LABEL: func @branches(
// CHECK:         %[[ARENA:.*]] = memref.alloc() {{.*}} : memref<128xi8>
// CHECK:         memref.dealloc %[[ARENA]]
// CHECK-NEXT:    return
// CHECK:         memref.dealloc %[[ARENA]]
// CHECK-NEXT:    return
func.func @branches(%condition: i1) {
  cf.cond_br %condition, ^first, ^second
^first:
  %a = memref.alloc() : memref<16xi64>
  func.call @use(%a) : (memref<16xi64>) -> ()
  memref.dealloc %a : memref<16xi64>
  return
^second:
  %b = memref.alloc() : memref<16xi64>
  func.call @use(%b) : (memref<16xi64>) -> ()
  memref.dealloc %b : memref<16xi64>
  return
}

// The range of a buffer ends with its last use, not with its free; a use inside a loop lasts as long
// as the loop.

// CHECK-LABEL: func @last_use(
// CHECK:         memref.alloc() {{.*}} : memref<256xi8>
// CHECK-COUNT-3: memref.view
func.func @last_use(%n: index) {
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %a = memref.alloc() : memref<16xi64>
  scf.for %i = %zero to %n step %one {
    %b = memref.alloc() : memref<16xi64>
    func.call @use(%b) : (memref<16xi64>) -> ()
    func.call @use(%a) : (memref<16xi64>) -> ()
    memref.dealloc %b : memref<16xi64>
  }
  %c = memref.alloc() : memref<16xi64>
  func.call @use(%c) : (memref<16xi64>) -> ()
  memref.dealloc %a : memref<16xi64>
  memref.dealloc %c : memref<16xi64>
  return
}

// A view counts as its buffer.

// CHECK-LABEL: func @viewed(
// CHECK:         memref.alloc() {{.*}} : memref<256xi8>
func.func private @use_half(memref<8xi64, strided<[1]>>)
func.func @viewed() {
  %a = memref.alloc() : memref<16xi64>
  %half = memref.subview %a[0] [8] [1] : memref<16xi64> to memref<8xi64, strided<[1]>>
  %b = memref.alloc() : memref<16xi64>
  func.call @use(%b) : (memref<16xi64>) -> ()
  func.call @use_half(%half) : (memref<8xi64, strided<[1]>>) -> ()
  memref.dealloc %a : memref<16xi64>
  memref.dealloc %b : memref<16xi64>
  return
}

// An address that an operation may keep is in use until the free.

// CHECK-LABEL: func @kept_address(
// CHECK:         memref.alloc() {{.*}} : memref<256xi8>
func.func @kept_address() -> index {
  %a = memref.alloc() : memref<16xi64>
  %address = memref.extract_aligned_pointer_as_index %a : memref<16xi64> -> index
  %b = memref.alloc() : memref<16xi64>
  func.call @use(%b) : (memref<16xi64>) -> ()
  memref.dealloc %b : memref<16xi64>
  memref.dealloc %a : memref<16xi64>
  return %address : index
}

// The body of an asynchronous operation may run until it is awaited.

// CHECK-LABEL: func @asynchronous(
// CHECK:         memref.alloc() {{.*}} : memref<256xi8>
func.func @asynchronous() {
  %a = memref.alloc() : memref<16xi64>
  %token = async.execute {
    func.call @use(%a) : (memref<16xi64>) -> ()
    async.yield
  }
  %b = memref.alloc() : memref<16xi64>
  func.call @use(%b) : (memref<16xi64>) -> ()
  async.await %token : !async.token
  memref.dealloc %a : memref<16xi64>
  memref.dealloc %b : memref<16xi64>
  return
}

// A transfer goes on after its start.

// CHECK-LABEL: func @transferred(
// CHECK:         memref.alloc() {{.*}} : memref<256xi8>
func.func @transferred(%from: memref<16xi64, 1>) {
  %zero = arith.constant 0 : index
  %size = arith.constant 16 : index
  %tag = memref.alloca() : memref<1xi32>
  %a = memref.alloc() : memref<16xi64>
  memref.dma_start %from[%zero], %a[%zero], %size, %tag[%zero]
      : memref<16xi64, 1>, memref<16xi64>, memref<1xi32>
  %b = memref.alloc() : memref<16xi64>
  func.call @use(%b) : (memref<16xi64>) -> ()
  memref.dma_wait %tag[%zero], %size : memref<1xi32>
  memref.dealloc %a : memref<16xi64>
  memref.dealloc %b : memref<16xi64>
  return
}
