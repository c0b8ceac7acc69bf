/**
 * Writes the blocks in Whisper's transformer as ONNX operators. Linear layers multiply 8-bit integers: the weights are
 * rounded here, with one scale for each output, and the inputs are rounded when the graph runs. All other operators use
 * 32-bit floating point numbers.
 */
import type { Ctranslate2Weights, Matrix } from './ctranslate2.ts'
import { OnnxGraph } from './onnx-graph.ts'

export const headWidth = 64
/** The greatest rounded weight. */
const roundedMax = 127
/** A row of zeros gets this scale, because a scale must not be zero. */
const greatestMin = 1e-9
const layerNormEpsilon = 1e-5

type Rounded = { values: Int8Array; scales: Float32Array }

export class TransformerGraph {
  readonly graph = new OnnxGraph()
  readonly #weights: Ctranslate2Weights
  readonly #width: number
  /** The inputs that were rounded already, because several layers may have the same input. */
  readonly #roundedInputs = new Map<string, readonly [string, string, string]>()

  constructor(weights: Ctranslate2Weights) {
    this.#weights = weights
    this.#width = weights.matrix('encoder/position_encodings/encodings').dims[1] as number
  }

  get width(): number {
    return this.#width
  }

  get heads(): number {
    return this.#width / headWidth
  }

  /** Returns x · Wᵀ + b. If a part is given, only W's rows from `part[0]` to `part[1]` are used. */
  linear(name: string, x: string, from: string, part?: readonly [number, number]): string {
    const weight = this.#weights.matrix(`${from}/weight`)
    const [outputs = 0, inputs = 0] = weight.dims
    const [first, end] = part ?? [0, outputs]
    const { values, scales } = roundColumns(weight.values.subarray(first * inputs, end * inputs), inputs)
    this.graph.tensor(`${name}q`, 'int8', [inputs, end - first], values)
    this.graph.tensor(`${name}s`, 'float', [end - first], scales)
    const product = this.product(x, `${name}q`, `${name}s`)
    if (!this.#weights.has(`${from}/bias`)) return product
    return this.graph.op('Add', [product, this.floats(`${name}b`, this.#part(`${from}/bias`, first, end))])
  }

  /** Multiplies `x` with rounded weights, and returns floating point numbers. */
  product(x: string, weights: string, scales: string, output?: string): string {
    const [rounded, scale, zero] = this.#roundInput(x)
    const product = this.graph.op('MatMulInteger', [rounded, weights, zero])
    const factor = this.graph.op('Mul', [scale, scales])
    return this.graph.op(
      'Mul',
      [this.graph.op('Cast', [product], { to: 1 }), factor],
      {},
      output ? [output] : undefined,
    )
  }

  norm(name: string, x: string, from: string): string {
    const gamma = this.floats(`${name}g`, this.#weights.matrix(`${from}/gamma`))
    const beta = this.floats(`${name}h`, this.#weights.matrix(`${from}/beta`))
    return this.graph.op('LayerNormalization', [x, gamma, beta], { axis: -1, epsilon: layerNormEpsilon })
  }

  gelu(x: string): string {
    const { graph } = this
    const erf = graph.op('Erf', [graph.op('Div', [x, graph.scalar(Math.SQRT2)])])
    return graph.op('Mul', [graph.op('Mul', [x, graph.scalar(0.5)]), graph.op('Add', [erf, graph.scalar(1)])])
  }

  /** Splits [1, steps, width] into [1, heads, steps, headWidth]. */
  split(x: string): string {
    const { graph } = this
    return graph.op('Transpose', [graph.op('Reshape', [x, graph.ints(1, -1, this.heads, headWidth)])], {
      perm: [0, 2, 1, 3],
    })
  }

  /** Attention over split queries, keys and values. Returns [1, steps, width]. */
  attend(queries: string, keys: string, values: string): string {
    const { graph } = this
    const likeness = graph.op('MatMul', [queries, graph.op('Transpose', [keys], { perm: [0, 1, 3, 2] })])
    const shares = graph.op('Softmax', [graph.op('Mul', [likeness, graph.scalar(headWidth ** -0.5)])], { axis: -1 })
    const joined = graph.op('Transpose', [graph.op('MatMul', [shares, values])], { perm: [0, 2, 1, 3] })
    return graph.op('Reshape', [joined, graph.ints(1, -1, this.#width)])
  }

  /** Self attention's split queries (0), keys (1) or values (2), from one matrix with all three. */
  selfPart(name: string, x: string, from: string, part: 0 | 1 | 2): string {
    return this.split(this.linear(name, x, `${from}/linear_0`, [part * this.#width, (part + 1) * this.#width]))
  }

  feedForward(name: string, x: string, from: string): string {
    const normed = this.norm(`${name}n`, x, `${from}/ffn/layer_norm`)
    const inner = this.gelu(this.linear(`${name}1`, normed, `${from}/ffn/linear_0`))
    return this.graph.op('Add', [x, this.linear(`${name}2`, inner, `${from}/ffn/linear_1`)])
  }

  floats(name: string, { dims, values }: Matrix): string {
    return this.graph.tensor(name, 'float', dims, values)
  }

  matrix(name: string): Matrix {
    return this.#weights.matrix(name)
  }

  #part(name: string, first: number, end: number): Matrix {
    return { dims: [end - first], values: this.#weights.matrix(name).values.slice(first, end) }
  }

  #roundInput(x: string): readonly [string, string, string] {
    const known = this.#roundedInputs.get(x)
    if (known) return known
    const names = [`${x}_v`, `${x}_s`, `${x}_z`] as const
    this.graph.op('DynamicQuantizeLinear', [x], {}, names)
    this.#roundedInputs.set(x, names)
    return names
  }
}

/** Rounds each row, and returns the rows as columns, because the runtime multiplies from the left. */
function roundColumns(rows: Float32Array, inputs: number): Rounded {
  const { values, scales } = roundRows(rows, inputs)
  const outputs = scales.length
  const columns = new Int8Array(values.length)
  for (let row = 0; row < outputs; row++)
    for (let k = 0; k < inputs; k++) columns[k * outputs + row] = values[row * inputs + k] as number
  return { values: columns, scales }
}

export function roundRows(rows: Float32Array, width: number): Rounded {
  const values = new Int8Array(rows.length)
  const scales = new Float32Array(rows.length / width)
  for (let row = 0; row < scales.length; row++) {
    const first = row * width
    let greatest = greatestMin
    for (let at = first; at < first + width; at++) greatest = Math.max(greatest, Math.abs(rows[at] as number))
    scales[row] = greatest / roundedMax
    for (let at = first; at < first + width; at++)
      values[at] = Math.round((rows[at] as number) / (scales[row] as number))
  }
  return { values, scales }
}
