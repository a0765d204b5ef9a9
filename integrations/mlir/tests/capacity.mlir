func.func private @use(memref<16xf32>, memref<16xf32>)

// expected-error @+1 {{'b0' and 'b1' live together at step}}
func.func @two_of_64_bytes() {
  %a = memref.alloc() : memref<16xf32>
  %b = memref.alloc() : memref<16xf32>
  func.call @use(%a, %b) : (memref<16xf32>, memref<16xf32>) -> ()
  memref.dealloc %a : memref<16xf32>
  memref.dealloc %b : memref<16xf32>
  return
}
