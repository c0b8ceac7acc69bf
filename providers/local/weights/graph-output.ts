/**
 * Makes a value inside an ONNX graph an output, because the runtime returns only outputs. The file is a message in
 * protocol buffers: ModelProto has the graph in field 7, and GraphProto has its outputs in field 12. A repeated field
 * may continue at the end of its message, and an output needs only a name, so the file is not parsed further.
 */

const graphField = 7
const outputField = 12
const nameField = 1
const lengthDelimited = 2
const wireTypes = { varint: 0, fixed64: 1 }

/** Returns a copy of the model file with one more output. */
export function withOutput(model: Buffer, name: string): Buffer {
  const output = field(outputField, field(nameField, Buffer.from(name)))
  for (let at = 0; at < model.length; ) {
    const tag = varintAt(model, at)
    const length = valueLength(model, tag.value & 7, tag.end)
    if (tag.value >> 3 !== graphField) {
      at = length.end + length.value
      continue
    }
    const [from, to] = [length.end, length.end + length.value]
    const graph = field(graphField, Buffer.concat([model.subarray(from, to), output]))
    return Buffer.concat([model.subarray(0, at), graph, model.subarray(to)])
  }
  throw new Error('the model file has no graph')
}

function field(number: number, value: Buffer): Buffer {
  return Buffer.concat([varint((number << 3) | lengthDelimited), varint(value.length), value])
}

/** Returns a value's length, and where the value begins. */
function valueLength(bytes: Buffer, wireType: number, at: number): { value: number; end: number } {
  if (wireType === lengthDelimited) return varintAt(bytes, at)
  if (wireType === wireTypes.varint) return { value: 0, end: varintAt(bytes, at).end }
  return { value: wireType === wireTypes.fixed64 ? 8 : 4, end: at }
}

function varint(value: number): Buffer {
  const bytes: number[] = []
  let rest = value
  for (; rest > 0x7f; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80)
  return Buffer.from([...bytes, rest])
}

function varintAt(bytes: Buffer, from: number): { value: number; end: number } {
  let value = 0
  let at = from
  for (let scale = 1; ; scale *= 128) {
    const byte = bytes.readUInt8(at++)
    value += (byte & 0x7f) * scale
    if (byte < 0x80) return { value, end: at }
  }
}
