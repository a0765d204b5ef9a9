// Two convolutions with a sum around the second, and the mean of each channel.

#map = affine_map<(n, h, w, c) -> (n, h, w, c)>
#channels = affine_map<(n, h, w, c) -> (n, c)>

func.func private @printMemrefF32(tensor<*xf32>)

func.func private @relu(%x: tensor<1x8x8x4xf32>) -> tensor<1x8x8x4xf32> {
  %zero = arith.constant 0.0 : f32
  %init = tensor.empty() : tensor<1x8x8x4xf32>
  %y = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%x : tensor<1x8x8x4xf32>) outs(%init : tensor<1x8x8x4xf32>) {
  ^bb0(%value: f32, %unused: f32):
    %positive = arith.maxf %value, %zero : f32
    linalg.yield %positive : f32
  } -> tensor<1x8x8x4xf32>
  return %y : tensor<1x8x8x4xf32>
}

func.func private @conv(%x: tensor<1x8x8x4xf32>, %filter: tensor<3x3x4x4xf32>) -> tensor<1x8x8x4xf32> {
  %zero = arith.constant 0.0 : f32
  %padded = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%n: index, %h: index, %w: index, %c: index):
    tensor.yield %zero : f32
  } : tensor<1x8x8x4xf32> to tensor<1x10x10x4xf32>
  %empty = tensor.empty() : tensor<1x8x8x4xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x8x8x4xf32>) -> tensor<1x8x8x4xf32>
  %y = linalg.conv_2d_nhwc_hwcf {dilations = dense<1> : tensor<2xi64>, strides = dense<1> : tensor<2xi64>}
      ins(%padded, %filter : tensor<1x10x10x4xf32>, tensor<3x3x4x4xf32>)
      outs(%init : tensor<1x8x8x4xf32>) -> tensor<1x8x8x4xf32>
  return %y : tensor<1x8x8x4xf32>
}

func.func private @network(%x: tensor<1x8x8x4xf32>, %f: tensor<3x3x4x4xf32>, %g: tensor<3x3x4x4xf32>) -> tensor<1x4xf32> {
  %zero = arith.constant 0.0 : f32
  %a = func.call @conv(%x, %f) : (tensor<1x8x8x4xf32>, tensor<3x3x4x4xf32>) -> tensor<1x8x8x4xf32>
  %b = func.call @relu(%a) : (tensor<1x8x8x4xf32>) -> tensor<1x8x8x4xf32>
  %c = func.call @conv(%b, %g) : (tensor<1x8x8x4xf32>, tensor<3x3x4x4xf32>) -> tensor<1x8x8x4xf32>
  %init = tensor.empty() : tensor<1x8x8x4xf32>
  %d = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%b, %c : tensor<1x8x8x4xf32>, tensor<1x8x8x4xf32>) outs(%init : tensor<1x8x8x4xf32>) {
  ^bb0(%first: f32, %second: f32, %unused: f32):
    %sum = arith.addf %first, %second : f32
    linalg.yield %sum : f32
  } -> tensor<1x8x8x4xf32>
  %empty = tensor.empty() : tensor<1x4xf32>
  %start = linalg.fill ins(%zero : f32) outs(%empty : tensor<1x4xf32>) -> tensor<1x4xf32>
  %e = linalg.generic {indexing_maps = [#map, #channels], iterator_types = ["parallel", "reduction", "reduction", "parallel"]}
      ins(%d : tensor<1x8x8x4xf32>) outs(%start : tensor<1x4xf32>) {
  ^bb0(%value: f32, %sum: f32):
    %next = arith.addf %value, %sum : f32
    linalg.yield %next : f32
  } -> tensor<1x4xf32>
  return %e : tensor<1x4xf32>
}

// Each element is a function of its indices: ((7 * i + 3 * j + 5 * k + m) mod 11 - 5) / 8.
func.func private @value(%i: index, %j: index, %k: index, %m: index) -> f32 {
  %three = arith.constant 3 : index
  %five = arith.constant 5 : index
  %seven = arith.constant 7 : index
  %eleven = arith.constant 11 : index
  %middle = arith.constant 5.0 : f32
  %scale = arith.constant 0.125 : f32
  %a = arith.muli %i, %seven : index
  %b = arith.muli %j, %three : index
  %c = arith.muli %k, %five : index
  %ab = arith.addi %a, %b : index
  %abc = arith.addi %ab, %c : index
  %sum = arith.addi %abc, %m : index
  %rest = arith.remui %sum, %eleven : index
  %integer = arith.index_cast %rest : index to i32
  %float = arith.sitofp %integer : i32 to f32
  %centred = arith.subf %float, %middle : f32
  %value = arith.mulf %centred, %scale : f32
  return %value : f32
}

func.func @main() {
  %x = tensor.generate {
  ^bb0(%n: index, %h: index, %w: index, %c: index):
    %v = func.call @value(%n, %h, %w, %c) : (index, index, index, index) -> f32
    tensor.yield %v : f32
  } : tensor<1x8x8x4xf32>
  %f = tensor.generate {
  ^bb0(%h: index, %w: index, %c: index, %o: index):
    %v = func.call @value(%h, %w, %c, %o) : (index, index, index, index) -> f32
    tensor.yield %v : f32
  } : tensor<3x3x4x4xf32>
  %g = tensor.generate {
  ^bb0(%h: index, %w: index, %c: index, %o: index):
    %v = func.call @value(%o, %c, %w, %h) : (index, index, index, index) -> f32
    tensor.yield %v : f32
  } : tensor<3x3x4x4xf32>
  %y = func.call @network(%x, %f, %g) : (tensor<1x8x8x4xf32>, tensor<3x3x4x4xf32>, tensor<3x3x4x4xf32>) -> tensor<1x4xf32>
  %shown = tensor.cast %y : tensor<1x4xf32> to tensor<*xf32>
  func.call @printMemrefF32(%shown) : (tensor<*xf32>) -> ()
  return
}
