/**
 * Reads a model's weights in CTranslate2's format, version 6: a list with named tensors. Only 16-bit floating point
 * tensors can be read as numbers, because Whisper's weights are stored in this form.
 *
 *   version u32 | specification str | revision u32 | count u32 | count × tensor
 *   tensor = name str | dimensions u8 | dimensions × u32 | type u8 | size u32 | bytes
 *   str = length u16, with a zero byte at the end
 */

export type Matrix = { dims: readonly number[]; values: Float32Array }

type Stored = { dims: readonly number[]; type: number; bytes: Buffer }

const float16Type = 4
const tensorsMax = 10_000

export class Ctranslate2Weights {
  readonly #tensors: ReadonlyMap<string, Stored>

  /** Throws Error if the file is damaged. */
  constructor(file: Buffer) {
    this.#tensors = readTensors(new Reader(file))
  }

  has(name: string): boolean {
    return this.#tensors.has(name)
  }

  /** Counts the layers on one side. */
  layersOf(side: 'encoder' | 'decoder'): number {
    let layers = 0
    while (this.has(`${side}/layer_${layers}/ffn/linear_0/weight`)) layers++
    return layers
  }

  /** Throws Error if the file has no such tensor. */
  matrix(name: string): Matrix {
    const stored = this.#tensors.get(name)
    if (stored?.type !== float16Type) throw new Error(`the weights have no 16-bit tensor ${name}`)
    const { dims, bytes } = stored
    const values = new Float32Array(bytes.length / 2)
    for (let i = 0; i < values.length; i++) values[i] = halves[bytes.readUInt16LE(2 * i)] as number
    return { dims, values }
  }
}

/** The values for all 16-bit floating point numbers (IEEE 754 binary16). */
const halves = Float32Array.from({ length: 65_536 }, (_, bits) => {
  const sign = bits >> 15 ? -1 : 1
  const exponent = (bits >> 10) & 31
  const fraction = bits & 1023
  if (exponent === 0) return sign * fraction * 2 ** -24
  if (exponent === 31) return sign * Number.POSITIVE_INFINITY
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15)
})

function readTensors(reader: Reader): Map<string, Stored> {
  reader.u32()
  reader.text()
  reader.u32()
  const count = reader.u32()
  if (count > tensorsMax) throw new Error(`the weights declare ${count} tensors`)
  const tensors = new Map<string, Stored>()
  for (let i = 0; i < count; i++) {
    const name = reader.text()
    const dims = Array.from({ length: reader.u8() }, () => reader.u32())
    const type = reader.u8()
    tensors.set(name, { dims, type, bytes: reader.bytes(reader.u32()) })
  }
  return tensors
}

class Reader {
  readonly #file: Buffer
  #at = 0

  constructor(file: Buffer) {
    this.#file = file
  }

  u8(): number {
    return this.bytes(1).readUInt8(0)
  }

  u32(): number {
    return this.bytes(4).readUInt32LE(0)
  }

  text(): string {
    const length = this.bytes(2).readUInt16LE(0)
    return this.bytes(length).toString('utf8', 0, length - 1)
  }

  bytes(length: number): Buffer {
    const bytes = this.#file.subarray(this.#at, this.#at + length)
    if (bytes.length < length) throw new Error('the file with the weights ends too early')
    this.#at += length
    return bytes
  }
}
