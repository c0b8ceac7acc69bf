export class Resampler {
  constructor(fromHz: number, toHz: number)
  reset(): void
  push(samples: Float32Array): Float32Array
  flush(): Float32Array
}
