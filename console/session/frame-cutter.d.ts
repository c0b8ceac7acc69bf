export class FrameCutter {
  constructor(rateHz: number, emit: (frame: Int16Array) => void)
  push(samples: Float32Array): void
}
