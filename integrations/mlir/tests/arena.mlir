// Neighbours of a chain live together, others do not: a and c share bytes.

// CHECK-LABEL: func @chain(
// CHECK:         %[[ARENA:.*]] = memref.alloc() {alignment = 16 : i64} : memref<512xi8>
// CHECK:         %[[A:.*]] = arith.constant [[OFFSET:[0-9]+]] : index
// CHECK-NEXT:    memref.view %[[ARENA]][%[[A]]][] : memref<512xi8> to memref<64xf32>
// CHECK:         memref.view %[[ARENA]]{{.*}} to memref<8x8xi32>
// CHECK:         %[[C:.*]] = arith.constant [[OFFSET]] : index
// CHECK-NEXT:    memref.view %[[ARENA]][%[[C]]][] : memref<512xi8> to memref<64xf32>
// CHECK-NOT:     memref.alloc
// CHECK:         memref.dealloc %[[ARENA]]
// CHECK-NEXT:    return
func.func private @use(memref<64xf32>, memref<8x8xi32>)
func.func @chain() {
  %a = memref.alloc() : memref<64xf32>
  %b = memref.alloc() : memref<8x8xi32>
  func.call @use(%a, %b) : (memref<64xf32>, memref<8x8xi32>) -> ()
  memref.dealloc %a : memref<64xf32>
  %c = memref.alloc() : memref<64xf32>
  func.call @use(%c, %b) : (memref<64xf32>, memref<8x8xi32>) -> ()
  memref.dealloc %b : memref<8x8xi32>
  memref.dealloc %c : memref<64xf32>
  return
}

// Addresses are multiples of what an allocation asks for.

// CHECK-LABEL: func @aligned(
// CHECK:         memref.alloc() {alignment = 128 : i64} : memref<[[BYTES:129|132]]xi8>
// CHECK-NOT:     memref.alloc
func.func private @both(memref<4xi8>, memref<1xi8>)
func.func @aligned() {
  %a = memref.alloc() {alignment = 128 : i64} : memref<4xi8>
  %b = memref.alloc() {alignment = 128 : i64} : memref<1xi8>
  func.call @both(%a, %b) : (memref<4xi8>, memref<1xi8>) -> ()
  memref.dealloc %a : memref<4xi8>
  memref.dealloc %b : memref<1xi8>
  return
}

// An element of 48 bits lies in 8 bytes.

// CHECK-LABEL: func @padded(
// CHECK:         memref.alloc() {{.*}} : memref<800xi8>
func.func private @use_wide(memref<100xi48>)
func.func @padded() {
  %a = memref.alloc() : memref<100xi48>
  func.call @use_wide(%a) : (memref<100xi48>) -> ()
  memref.dealloc %a : memref<100xi48>
  return
}
