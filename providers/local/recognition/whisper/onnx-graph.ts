/**
 * This class writes a graph in the ONNX format (protocol buffers) for the ONNX runtime. ONNX 1.12 defines the field
 * numbers in onnx.proto: format version 8, operator set 17.
 */

export const elementTypes = { float: 1, int8: 3, int64: 7 } as const
type ElementType = keyof typeof elementTypes
/** A number is a fixed size. A name is a size for each run to choose. */
type Shape = readonly (number | string)[]
type TensorData = Float32Array | Int8Array | BigInt64Array
/** Integers are written as integers. Numbers with a fraction are written as floats. */
type Attributes = Readonly<Record<string, number | readonly number[]>>

const formatVersion = 8
const operatorSet = 17
const attributeTypes = { float: 1, int: 2, ints: 7 }

export class OnnxGraph {
  readonly #nodes: Buffer[] = []
  readonly #tensors: Buffer[] = []
  readonly #inputs: Buffer[] = []
  readonly #outputs: Buffer[] = []
  readonly #constants = new Set<string>()
  #lastName = 0

  /** Adds an operator and returns its first output's name. Without `outputs` it has one output. */
  op(type: string, inputs: readonly string[], attributes: Attributes = {}, outputs?: readonly string[]): string {
    const names = outputs ?? [`t${this.#lastName++}`]
    this.#nodes.push(
      message(
        1,
        ...inputs.map((input) => text(1, input)),
        ...names.map((output) => text(2, output)),
        text(4, type),
        ...Object.entries(attributes).map(([name, value]) => message(5, text(1, name), attribute(value))),
      ),
    )
    return names[0] as string
  }

  tensor(name: string, type: ElementType, dims: readonly number[], data: TensorData): string {
    const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength)
    const sizes = dims.map((size) => int(1, size))
    this.#tensors.push(message(5, ...sizes, int(2, elementTypes[type]), text(8, name), message(9, bytes)))
    return name
  }

  /** Adds a list of whole numbers once, and returns its name. */
  ints(...values: readonly number[]): string {
    const name = `i${values.join('_')}`
    if (!this.#isKnown(name)) this.tensor(name, 'int64', [values.length], BigInt64Array.from(values, BigInt))
    return name
  }

  /** Adds a single number once, and returns its name. */
  scalar(value: number): string {
    const name = `c${value}`
    if (!this.#isKnown(name)) this.tensor(name, 'float', [], Float32Array.of(value))
    return name
  }

  input(name: string, type: ElementType, shape: Shape): string {
    this.#inputs.push(message(11, ...valueInfo(name, type, shape)))
    return name
  }

  output(name: string, type: ElementType, shape: Shape): void {
    this.#outputs.push(message(12, ...valueInfo(name, type, shape)))
  }

  /** Returns the model file. */
  bytes(): Buffer {
    const graph = message(7, ...this.#nodes, text(2, 'graph'), ...this.#tensors, ...this.#inputs, ...this.#outputs)
    const operators = message(8, text(1, ''), int(2, operatorSet))
    return Buffer.concat([int(1, formatVersion), text(2, 'parley'), graph, operators])
  }

  #isKnown(name: string): boolean {
    return this.#constants.size === this.#constants.add(name).size
  }
}

function attribute(value: number | readonly number[]): Buffer {
  if (typeof value !== 'number')
    return Buffer.concat([...value.map((item) => int(8, item)), int(20, attributeTypes.ints)])
  if (Number.isInteger(value)) return Buffer.concat([int(3, value), int(20, attributeTypes.int)])
  return Buffer.concat([float(2, value), int(20, attributeTypes.float)])
}

function valueInfo(name: string, type: ElementType, shape: Shape): Buffer[] {
  const sizes = shape.map((size) => message(1, typeof size === 'number' ? int(1, size) : text(2, size)))
  return [text(1, name), message(2, message(1, int(1, elementTypes[type]), message(2, ...sizes)))]
}

const wireTypes = { varint: 0, bytes: 2, fixed32: 5 }

function int(field: number, value: number): Buffer {
  return Buffer.concat([varint((field << 3) | wireTypes.varint), varint(value)])
}

function float(field: number, value: number): Buffer {
  return Buffer.concat([varint((field << 3) | wireTypes.fixed32), Buffer.from(Float32Array.of(value).buffer)])
}

function text(field: number, value: string): Buffer {
  return message(field, Buffer.from(value))
}

function message(field: number, ...parts: readonly Buffer[]): Buffer {
  const length = parts.reduce((sum, part) => sum + part.length, 0)
  return Buffer.concat([varint((field << 3) | wireTypes.bytes), varint(length), ...parts])
}

/** Negative numbers are written in two's complement with 64 bits, as protocol buffers require. */
function varint(value: number): Buffer {
  const bytes: number[] = []
  let rest = BigInt.asUintN(64, BigInt(value))
  do {
    const low = Number(rest & 127n)
    rest >>= 7n
    bytes.push(rest > 0n ? low | 128 : low)
  } while (rest > 0n)
  return Buffer.from(bytes)
}
