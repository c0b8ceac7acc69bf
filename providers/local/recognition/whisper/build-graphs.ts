/**
 * Builds two ONNX graphs from Whisper's weights. The encoder takes any length up to 30 s. It returns the keys and
 * values for the decoder's attention to the audio, so the decoder needs only one graph, for one token.
 *
 *   mel ─► encoder ─► k0 v0 … ─► decoder ◄─ token, place, pk0 pv0 …
 *                                   └─► logits, nk0 nv0 … (the next step's pk0 pv0 …)
 */
import type { Ctranslate2Weights } from './ctranslate2.ts'
import { headWidth, roundRows, TransformerGraph } from './transformer-graph.ts'

export function buildEncoder(weights: Ctranslate2Weights): Buffer {
  const parts = new TransformerGraph(weights)
  const { graph, heads } = parts
  const mels = parts.matrix('encoder/conv1/weight').dims[1] as number
  const mel = graph.input('mel', 'float', [1, mels, 'frames'])
  const wide = convolution(parts, convolution(parts, mel, 1, 1), 2, 2)
  let x = addPositions(parts, graph.op('Transpose', [wide], { perm: [0, 2, 1] }))
  for (let layer = 0; layer < weights.layersOf('encoder'); layer++) {
    const from = `encoder/layer_${layer}`
    x = selfAttention(parts, `e${layer}`, x, from)
    x = parts.feedForward(`e${layer}f`, x, from)
  }
  x = parts.norm('en', x, 'encoder/layer_norm')
  for (let layer = 0; layer < weights.layersOf('decoder'); layer++) {
    const from = `decoder/layer_${layer}/attention/linear_1`
    for (const [part, kind] of (['k', 'v'] as const).entries()) {
      const name = `${kind}${layer}`
      const side = parts.linear(`x${name}`, x, from, [part * parts.width, (part + 1) * parts.width])
      graph.op('Identity', [parts.split(side)], {}, [name])
      graph.output(name, 'float', [1, heads, 'steps', headWidth])
    }
  }
  return graph.bytes()
}

export function buildDecoder(weights: Ctranslate2Weights): Buffer {
  const parts = new TransformerGraph(weights)
  const { graph } = parts
  const tokens = addTokens(parts)
  let x = embedded(parts)
  for (let layer = 0; layer < weights.layersOf('decoder'); layer++) {
    const from = `decoder/layer_${layer}`
    x = cachedSelfAttention(parts, layer, x, from)
    x = audioAttention(parts, layer, x, from)
    x = parts.feedForward(`d${layer}f`, x, from)
  }
  const last = parts.norm('dn', x, 'decoder/layer_norm')
  parts.product(last, graph.op('Transpose', ['tokens'], { perm: [1, 0] }), 'tokenScales', 'logits')
  graph.output('logits', 'float', [1, 1, tokens])
  return graph.bytes()
}

function convolution(parts: TransformerGraph, x: string, number: 1 | 2, stride: number): string {
  const from = `encoder/conv${number}`
  const weight = parts.floats(`c${number}w`, parts.matrix(`${from}/weight`))
  const bias = parts.floats(`c${number}b`, parts.matrix(`${from}/bias`))
  return parts.gelu(parts.graph.op('Conv', [x, weight, bias], { pads: [1, 1], strides: [stride], kernel_shape: [3] }))
}

/** Adds an encoding for each step's position. */
function addPositions(parts: TransformerGraph, x: string): string {
  const { graph } = parts
  const positions = parts.floats('positions', parts.matrix('encoder/position_encodings/encodings'))
  const steps = graph.op('Slice', [graph.op('Shape', [x]), graph.ints(1), graph.ints(2)])
  return graph.op('Add', [x, graph.op('Slice', [positions, graph.ints(0), steps, graph.ints(0)])])
}

function selfAttention(parts: TransformerGraph, name: string, x: string, from: string): string {
  const attention = `${from}/self_attention`
  const normed = parts.norm(`${name}n`, x, `${attention}/layer_norm`)
  const queries = parts.selfPart(`${name}q`, normed, attention, 0)
  const keys = parts.selfPart(`${name}k`, normed, attention, 1)
  const values = parts.selfPart(`${name}v`, normed, attention, 2)
  const attended = parts.attend(queries, keys, values)
  return parts.graph.op('Add', [x, parts.linear(`${name}o`, attended, `${attention}/linear_1`)])
}

/**
 * Adds the tokens' embedding table, and returns the number of tokens. The same table embeds the input token and rates
 * the next token.
 */
function addTokens(parts: TransformerGraph): number {
  const { dims, values } = parts.matrix('decoder/embeddings/weight')
  const rounded = roundRows(values, parts.width)
  parts.graph.tensor('tokens', 'int8', dims, rounded.values)
  parts.graph.tensor('tokenScales', 'float', [rounded.scales.length], rounded.scales)
  return rounded.scales.length
}

/** Looks up the token, and adds the encoding of its position. */
function embedded(parts: TransformerGraph): string {
  const { graph, width } = parts
  const token = graph.input('token', 'int64', [1])
  const place = graph.input('place', 'int64', [1])
  const row = graph.op('Cast', [graph.op('Gather', ['tokens', token])], { to: 1 })
  const scale = graph.op('Reshape', [graph.op('Gather', ['tokenScales', token]), graph.ints(-1, 1)])
  const places = parts.floats('places', parts.matrix('decoder/position_encodings/encodings'))
  const sum = graph.op('Add', [graph.op('Mul', [row, scale]), graph.op('Gather', [places, place])])
  return graph.op('Reshape', [sum, graph.ints(1, 1, width)])
}

/** Attention to the tokens so far. Their keys and values are an input and, with the new token's, an output. */
function cachedSelfAttention(parts: TransformerGraph, layer: number, x: string, from: string): string {
  const { graph, heads } = parts
  const attention = `${from}/self_attention`
  const normed = parts.norm(`d${layer}n`, x, `${attention}/layer_norm`)
  const queries = parts.selfPart(`d${layer}q`, normed, attention, 0)
  const joined = (kind: 'k' | 'v', part: 1 | 2) => {
    const past = graph.input(`p${kind}${layer}`, 'float', [1, heads, 'past', headWidth])
    const name = `n${kind}${layer}`
    graph.op('Concat', [past, parts.selfPart(`d${layer}${kind}`, normed, attention, part)], { axis: 2 }, [name])
    graph.output(name, 'float', [1, heads, 'next', headWidth])
    return name
  }
  const attended = parts.attend(queries, joined('k', 1), joined('v', 2))
  return graph.op('Add', [x, parts.linear(`d${layer}o`, attended, `${attention}/linear_1`)])
}

/** Attention to the audio. The encoder has computed its keys and values. */
function audioAttention(parts: TransformerGraph, layer: number, x: string, from: string): string {
  const { graph, heads } = parts
  const attention = `${from}/attention`
  const normed = parts.norm(`d${layer}m`, x, `${attention}/layer_norm`)
  const queries = parts.split(parts.linear(`d${layer}c`, normed, `${attention}/linear_0`))
  const side = (kind: 'k' | 'v') => graph.input(`${kind}${layer}`, 'float', [1, heads, 'steps', headWidth])
  const attended = parts.attend(queries, side('k'), side('v'))
  return graph.op('Add', [x, parts.linear(`d${layer}p`, attended, `${attention}/linear_2`)])
}
